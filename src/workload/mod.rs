//! The workloads: how each creates and loads its tables, what a transaction does, and how a run is verified.

pub mod maintenance;
pub mod pgbench;
pub mod scan;
