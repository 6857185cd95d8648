//! Waiting for something to become true, with a deadline.

use std::time::{Duration, Instant};

/// For what takes a healthy server well under a second. A busy machine may let one process stand still for many.
pub const SHORT: Duration = Duration::from_secs(60);
/// For what may take a slow machine long: recovery, loading, a whole run.
pub const LONG: Duration = Duration::from_secs(300);

/// Ask again and again until there is an answer; panics, with what was waited for, when the deadline has passed.
pub fn wait_until<T>(what: &str, deadline: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(
            began.elapsed() < deadline,
            "waited {deadline:?} in vain until {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
