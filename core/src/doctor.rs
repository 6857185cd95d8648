//! The report of `doctor()`: what benchmarks need, what of it is here, and what can be seen beforehand of what findings would tell.
//! Each part is judged from facts.

pub mod filesystems;
pub mod helper;
pub mod machine;
pub mod report;
pub mod server;
