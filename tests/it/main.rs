//! Integration tests, one module for each matter. See the crate's lib for what they stand on.

mod beside;
mod bracket;
mod checkpoints;
mod common;
mod cost;
mod cron;
mod disks;
mod dump;
mod environment;
mod findings;
mod fsync;
mod helper;
mod iostat;
mod kept;
mod lab;
mod luck;
mod maintenance;
mod noticed;
mod preload;
mod refusals;
mod rights;
mod scan;
mod smoke;
mod space;
mod statistics;
mod steady;
