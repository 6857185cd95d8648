//! The report of `doctor()`: requirements of benchmarks, whether they are met here, and findings that can be foreseen.
//! Each part is judged from facts.

pub mod filesystems;
pub mod helper;
pub mod machine;
pub mod report;
pub mod server;
pub mod target;
