//! The processes of a server, found by their working directory: a PostgreSQL process stays in its data directory
//! from its first moment to its last, also when its postmaster is gone.

use rustix::process::{
    Pid, Signal, WaitOptions, geteuid, getpid, kill_process, set_child_subreaper, waitpid,
};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Once;

use crate::as_server::server_owner;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    /// Title in ps: `postgres: checkpointer`, or the command line of the postmaster.
    pub title: String,
}

/// All processes that work in this data directory.
pub(crate) fn processes_in(data: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    // The kernel names it without symbolic links.
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
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

/// Send a signal to a process of a server; false if no process has this id any more, or one of another user. The id comes from files and views that
/// the servers' owner writes.
pub fn send(pid: i32, signal: Signal) -> bool {
    let Some(process) = Pid::from_raw(pid) else {
        return false;
    };
    is_of_a_server(pid) && kill_process(process, signal).is_ok()
}

fn is_of_a_server(pid: i32) -> bool {
    let owner = server_owner().unwrap_or_else(|| geteuid().as_raw());
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|process| process.uid() == owner)
}

/// Make this process the parent of every orphan that its servers leave. A process that was killed keeps its id until
/// its parent takes note, and until then a new postmaster believes that the old one lives; the machine's first
/// process can be slow at it, in a container it may never do it.
pub(crate) fn adopt_orphans() {
    static ADOPTED: Once = Once::new();
    ADOPTED.call_once(|| {
        set_child_subreaper(Some(getpid())).expect("Linux lets a process adopt orphans");
    });
}

/// Take note of the server processes that have ended.
pub(crate) fn reap() {
    let own = getpid().as_raw_pid().to_string();
    let Ok(entries) = fs::read_dir("/proc") else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // `PID (NAME) STATE PARENT ...`: only servers are called so, so no child of Command is taken away from it.
        let Some((pid, rest)) = stat.split_once(" (postgres) Z ") else {
            continue;
        };
        if rest.split(' ').next() == Some(own.as_str())
            && let Some(pid) = pid.parse().ok().and_then(Pid::from_raw)
        {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}
