//! Robustness: whatever is cancelled, terminated, dropped, stopped or killed, in whichever phase, nothing is left of the run, its
//! row says why, the server stays usable, and the next run works.

mod caller;
mod clone;
mod connection;
mod databases;
mod foreign;
pub mod hold;
mod hostile_server;
mod phases;
mod processes;
mod queue;
mod scan;
mod target;
