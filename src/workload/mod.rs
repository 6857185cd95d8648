//! The workloads: how each creates and loads its tables, what a transaction does, and how a run is verified.

pub mod fsync;
pub mod maintenance;
pub mod pgbench;
pub mod post;
pub mod scan;
