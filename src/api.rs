//! The functions of SQL: take the arguments, call what does the work, convert what comes back. Their SQL declarations, with
//! names, defaults and comments, are in sql/schema.

// pgrx wants its own ErrorReport from a function, whatever its size.
#![allow(clippy::result_large_err)]

mod cancel;
mod chart;
mod diff;
mod doctor;
mod experiment;
mod file_line;
mod guard;
mod helper;
mod imported;
mod in_use;
pub mod install;
mod judge;
mod knee;
mod limits;
mod own_target;
mod power_cut_watch;
mod prepared_data;
mod progress;
mod redefined;
mod renew_lease;
mod request;
mod run;
mod script_from_statements;
mod session_settings;
mod start_together;
mod started;
mod study;
mod sustainable_rate;
mod target;
pub mod uninstall;
mod verdict;
mod wait;
