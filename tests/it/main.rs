//! Integration tests, one module for each matter. See the crate's lib for what they stand on.

// A test tells a story from its beginning to its end.
#![allow(clippy::too_many_lines)]

mod bracket;
mod checkpoints;
mod cloned;
mod coexistence;
mod commit;
mod common;
mod cost;
mod cron;
mod cron_debian;
mod definition;
mod directory_target;
mod disks;
mod dump;
mod encodings;
mod environment;
mod experiment;
mod findings;
mod findings_of_stored;
mod forged_files;
mod fsync;
mod held;
mod helper;
mod hints;
mod iostat;
mod kept_database;
mod lab;
mod long_queue;
mod machine_figures;
mod maintenance;
mod manual;
mod plan;
mod preload;
mod queue_order;
mod refusals;
mod report;
mod report_in_a_browser;
mod rights;
mod robustness;
mod scan;
mod scan_cache;
mod scan_table;
mod smoke;
mod space;
mod statistics;
mod study;
mod surroundings;
mod sustainable_rate;
mod targets;
mod terminal_output;
mod undisturbed;
mod uninstall;
mod waits;
