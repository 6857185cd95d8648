//! The workload `scan`: parallel count(*) at several degrees.

pub mod cache;
pub mod scanner;
pub mod storage;
pub mod table;
