//! What is seen while a run is on: the server's statistics, checkpoints, statements, and what others do beside it.

pub mod cost;
pub mod promises;
pub mod seen;
pub mod statements;
pub mod statistics;
pub mod surroundings;

pub use pgfsbench_core::run::checkpoints;
