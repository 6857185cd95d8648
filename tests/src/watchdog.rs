//! A test that waits for an answer that never comes would wait for ever: a session that waits for a lightweight lock cannot
//! even be cancelled. So a server does not live longer than any test takes.

use crate::process::{processes_in, send};
use crate::soak::{is_soak, seconds};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Several times as long as the longest test.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// Kills the processes of a server that lives too long, until it is dropped. The test's sessions then break, and it fails.
pub(crate) struct Watchdog {
    _over: Sender<()>,
}

impl Watchdog {
    pub(crate) fn of(data: PathBuf) -> Self {
        let (over, is_over) = channel::<()>();
        let limit = limit();
        std::thread::spawn(move || {
            while is_over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                kill_all(&data);
            }
        });
        Self { _over: over }
    }
}

/// `make soak` has a test that is longer.
fn limit() -> Duration {
    match is_soak() {
        true => LIMIT + Duration::from_secs(seconds()),
        false => LIMIT,
    }
}

fn kill_all(data: &Path) {
    eprintln!(
        "--- the server lives for {:?}, and is killed; its processes, where they are, and their state:",
        limit()
    );
    let processes = processes_in(data);
    for process in &processes {
        let of =
            |file| fs::read_to_string(format!("/proc/{}/{file}", process.pid)).unwrap_or_default();
        let status = of("status");
        let state = status.lines().find(|line| line.starts_with("State:"));
        eprintln!(
            "{} {}: {} {}",
            process.pid,
            process.title,
            of("wchan"),
            state.unwrap_or_default()
        );
    }
    for process in processes {
        send(process.pid, Signal::KILL);
    }
}
