//! Observations while a run is on: the server's statistics, checkpoints, statements, and activity of others.

pub mod cost;
pub mod observations;
pub mod promises;
pub mod statements;
pub mod statistics;
pub mod surroundings;
pub mod table_files;
pub mod wal_segments;

pub use pgfsbench_core::run::checkpoint_watch;
