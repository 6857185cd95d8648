//! A server that has stopped answering, but keeps the connection open, would keep this process forever: the protocol has no
//! deadline of its own. So each exchange with it has one, after which the process ends, and is started again.

use crate::output::log;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than statement_timeout and lock_timeout together.
const PATIENCE: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(500);

static SINCE: Mutex<Option<Instant>> = Mutex::new(None);
static STARTED: AtomicBool = AtomicBool::new(false);

/// Does something that speaks with the server.
pub fn limited<T>(act: impl FnOnce() -> T) -> T {
    if !STARTED.swap(true, Ordering::SeqCst) {
        thread::spawn(|| {
            loop {
                thread::sleep(TICK);
                if since().is_some_and(|since| since.elapsed() > PATIENCE) {
                    log!(None; "the server does not answer any more");
                    std::process::exit(1);
                }
            }
        });
    }
    set(Some(Instant::now()));
    let result = act();
    set(None);
    result
}

fn set(to: Option<Instant>) {
    *SINCE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner()) = to;
}

fn since() -> Option<Instant> {
    *SINCE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
