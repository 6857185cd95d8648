//! This machine, as a run finds it: where the data lie, what storage is below, what the kernel tells.

pub mod disk_counters;
pub mod environment;
pub mod files;
pub mod fio;
pub mod flush_probe;
pub mod lengths;
pub mod location;
pub mod machine;
pub mod own_log;
pub mod storage;
pub mod tree;
