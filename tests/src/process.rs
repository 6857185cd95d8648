//! The processes of a server, found by their working directory: a PostgreSQL process stays in its data directory
//! from its first moment to its last, also when its postmaster is gone.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    /// What ps shows: `postgres: checkpointer`, or the command line of the postmaster.
    pub title: String,
}

/// All processes that work in this data directory.
pub(crate) fn processes_in(data: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut found: Vec<Process> = entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            if fs::read_link(entry.path().join("cwd")).ok()? != data {
                return None;
            }
            // A process that has ended and waits for its parent has no working directory, so it is not counted.
            let title = fs::read(entry.path().join("cmdline")).ok()?;
            let title = String::from_utf8_lossy(&title).replace('\0', " ");
            Some(Process {
                pid,
                title: title.trim_end().to_owned(),
            })
        })
        .collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// Send a signal; false if there is no such process any more.
pub(crate) fn send(pid: i32, signal: Signal) -> bool {
    let pid = Pid::from_raw(pid).expect("a process id is positive");
    kill_process(pid, signal).is_ok()
}
