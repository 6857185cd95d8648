//! The parts of pgfsbench that need no PostgreSQL: everything that can be decided, computed or parsed without a server is
//! here, in plain safe Rust, and is tested here in seconds. It knows neither pgrx nor SQLSTATE.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod board;
pub mod hist;
pub mod pacing;
pub mod proc;
pub mod random;
pub mod refusal;
pub mod spec;
pub mod stats;
pub mod units;
