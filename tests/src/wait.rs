//! Waiting for something to become true, with a deadline.

use std::time::{Duration, Instant};

/// For what takes a healthy server well under a second. A busy machine may let one process stand still for many.
pub const SHORT: Duration = Duration::from_secs(60);
/// For what may take a slow machine long: recovery, loading, a whole run.
pub const LONG: Duration = Duration::from_secs(300);

/// Ask again and again until there is an answer; panics, with what was waited for, when the deadline has passed.
pub fn wait_until<T>(what: &str, deadline: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    wait_with(
        deadline,
        pause,
        || ask().ok_or(()),
        |()| format!("waited {deadline:?} in vain until {what}"),
    )
}

/// Asks with other pauses; its panic tells the last answer.
pub fn wait_with<T, E>(
    deadline: Duration,
    pause: impl Fn(Instant),
    mut ask: impl FnMut() -> Result<T, E>,
    told: impl Fn(E) -> String,
) -> T {
    let began = Instant::now();
    loop {
        match ask() {
            Ok(answer) => return answer,
            Err(instead) if began.elapsed() >= deadline => panic!("{}", told(instead)),
            Err(_) => pause(began),
        }
    }
}

/// Pauses before something is asked again: as long as a tenth of what was waited already, since each question takes a processor from what it
/// waits for.
pub(crate) fn pause(began: Instant) {
    const FIRST: Duration = Duration::from_millis(5);
    const LATER: Duration = Duration::from_millis(50);
    std::thread::sleep((began.elapsed() / 10).clamp(FIRST, LATER));
}

/// Pauses briefly, for states of a few hundredths of a second that must not be missed.
pub fn pause_briefly(began: Instant) {
    const FIRST: Duration = Duration::from_millis(1);
    const LATER: Duration = Duration::from_millis(4);
    std::thread::sleep((began.elapsed() / 100).clamp(FIRST, LATER));
}
