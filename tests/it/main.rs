//! Integration tests, one module for each matter. See the crate's lib for what they stand on.

mod luck;
mod rights;
mod smoke;
mod steady;
