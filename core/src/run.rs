//! A run: what is decided in its life, and what its row says of it.

pub mod checkpoint_watch;
pub mod cost;
pub mod instances;
pub mod janitor;
pub mod phase;
pub mod plan;
pub mod preflight;
pub mod progress;
pub mod promises;
pub mod rate_search;
pub mod remote_request;
pub mod request;
pub mod room;
pub mod row;
pub mod surroundings;
pub mod table_files;
pub mod wal_segments;
