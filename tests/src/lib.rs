//! What the integration tests stand on: throwaway servers of a private PostgreSQL, filesystems in files, and
//! waiting for a condition instead of for a time.
//!
//! Nothing here touches a server, a port or a directory that it did not make; what it made is gone when the value is
//! dropped, also when a test fails.

#![forbid(unsafe_code)]

mod background;
mod loopfs;
mod process;
mod server;
mod wait;
mod watchdog;

pub use background::Background;
pub use loopfs::LoopFs;
pub use process::Process;
pub use rustix::process::Signal;
pub use server::{PRELOADED, Server, Stop, controldata, program, server_owner};
pub use wait::{LONG, SHORT, wait_until};

use postgres::Client;
use postgres::error::DbError;
use std::io::Write;

/// Say that a test cannot run on this machine, and why; the test then returns. `tools/check` counts these lines.
/// Written past the test harness, which would keep the output of a test that passes to itself.
pub fn skip(name: &str, reason: &str) {
    let line = format!("\nskipped: {name}: {reason}\n");
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

/// The error with which the server answers this statement. Panics if it succeeds.
pub fn refusal(client: &mut Client, sql: &str) -> DbError {
    match client.batch_execute(sql) {
        Ok(()) => panic!("this should have been refused: {sql}"),
        Err(error) => match error.as_db_error() {
            Some(answer) => answer.clone(),
            None => panic!("the connection failed during {sql}: {error}"),
        },
    }
}
