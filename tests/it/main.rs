//! Integration tests, one module for each matter. See the crate's lib for what they stand on.

// A test tells a story from its beginning to its end.
#![allow(clippy::too_many_lines)]

mod beside;
mod bracket;
mod checkpoints;
mod cloned;
mod commit;
mod common;
mod cost;
mod cron;
mod cron_debian;
mod definition;
mod disks;
mod dump;
mod encodings;
mod environment;
mod experiment;
mod findings;
mod fsync;
mod helper;
mod hints;
mod iostat;
mod kept;
mod lab;
mod looks;
mod luck;
mod machine_figures;
mod maintenance;
mod manual;
mod noticed;
mod plan;
mod preload;
mod queue;
mod recorded;
mod refusals;
mod rights;
mod scan;
mod scan_cache;
mod scan_table;
mod smoke;
mod space;
mod statistics;
mod steady;
mod trust;
mod turn;
mod uninstall;
mod waits;
