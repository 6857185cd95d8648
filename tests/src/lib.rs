//! The base of the integration tests: throwaway servers of a private PostgreSQL, filesystems in files, and
//! waiting for a condition instead of for a time.
//!
//! Nothing here touches a server, a port or a directory that it did not make; what it made is gone when the value is
//! dropped, also when a test fails.

#![deny(unsafe_code)]

mod as_server;
mod background;
mod browser;
mod columns;
mod debian;
mod extension;
pub mod fake_server;
mod left;
mod loop_device;
mod loopfs;
mod namespace;
mod owned;
mod partition;
mod point;
mod process;
#[cfg(test)]
mod rooms;
mod scratch;
mod server;
mod soak;
mod wait;
mod watchdog;

pub use as_server::server_owner;
pub use background::Background;
pub use browser::Browser;
pub use columns::{SHOWN, assert_columns};
pub use debian::DebianCluster;
pub use extension::{Ending, ending, wait_for_phase};
pub use left::Leaves;
pub use loop_device::{attach, lacks_loop_devices};
pub use loopfs::LoopFs;
pub use namespace::LET_GO_OF_OTHERS_DEVICES;
pub use owned::{OwnedDirectory, write_as_owner};
pub use partition::Partition;
pub use point::Point;
pub use process::{Process, send};
pub use rustix::process::Signal;
pub use scratch::{for_images, on_disk, on_tmpfs, scratch};
pub use server::{
    PRELOADED, Stop, TestServer, controldata, give_prepared_data, in_single_user_mode, initialize,
    program,
};
pub use soak::{is_soak, kills, seconds};
pub use wait::{LONG, SHORT, pause_briefly, wait_until, wait_with};

use postgres::error::DbError;
use postgres::{Client, SimpleQueryMessage};
use std::io::Write;

/// Say that a test cannot run on this machine, and why; the test then returns. `tools/check` counts these lines.
/// Written past the test harness, which would keep the output of a test that passes to itself.
pub fn skip(name: &str, reason: &str) {
    let line = format!("\nskipped: {name}: {reason}\n");
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

/// Whether a helper, whose command to plan this is, can make and mount a filesystem here; why not.
pub fn can_make(plan: &mut std::process::Command, filesystem: &str) -> Result<(), String> {
    plan.args([
        "--target",
        "t",
        "--image",
        "320MB",
        "--filesystem",
        filesystem,
    ]);
    let output = plan.output().expect("the helper runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let reason = said.lines().next().unwrap_or("it cannot be planned");
    output.status.success().then_some(()).ok_or(reason.into())
}

/// The mounts, as in /proc/self/mounts. A name on a machine that others use need not be UTF-8.
pub fn mounts() -> String {
    let mounts = std::fs::read("/proc/self/mounts").expect("mounts");
    String::from_utf8_lossy(&mounts).into_owned()
}

/// The first column of the first row as text; nothing if there is none.
pub fn value(client: &mut Client, sql: &str) -> String {
    let messages = client
        .simple_query(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let first = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
        _ => None,
    });
    first.unwrap_or_default()
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
