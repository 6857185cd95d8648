//! The workload `fsync`: what a sync of WAL costs.

pub mod file;
pub mod writer;
