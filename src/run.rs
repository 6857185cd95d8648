//! A run's life, in no process: whether it may begin, what it will do, the journal, cleaning up, what is judged of it.

pub mod cancellation;
pub mod cleanup;
pub mod dropped_copies;
pub mod experiment;
pub mod journal;
pub mod judgement;
pub mod marker;
pub mod own_directory;
pub mod plan;
pub mod preflight;
pub mod wal_file;
pub mod worker_slots;
