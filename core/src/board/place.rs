//! A place in shared memory that processes of a run have one after the other.

use std::sync::atomic::{
    AtomicI32,
    Ordering::{AcqRel, Acquire},
};

/// Has the process `own` leave a place, of which `pid` is the process that has it. `end` says how it ended, which is called for if it has not said
/// so itself: `is_open` asks whether that is still to be said.
///
/// When a process has said that it is done the next one is launched, and may be at work before the first one leaves. It writes its pid
/// before it says that it works: a place that was found open and then has the pid of the process that leaves is that one's.
pub fn leave(pid: &AtomicI32, own: i32, is_open: impl FnOnce() -> bool, end: impl FnOnce()) {
    if is_open() && pid.load(Acquire) == own {
        end();
    }
    let _ = pid.compare_exchange(own, 0, AcqRel, Acquire);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the end of process 7 is said when it leaves, and who has the place then.
    fn left(pid: &AtomicI32, is_open: impl FnOnce() -> bool) -> (bool, i32) {
        let mut is_said = false;
        leave(pid, 7, is_open, || is_said = true);
        (is_said, pid.load(Acquire))
    }

    #[test]
    fn the_end_of_a_process_that_has_not_said_it_is_said() {
        assert_eq!(left(&AtomicI32::new(7), || true), (true, 0));
        assert_eq!(left(&AtomicI32::new(7), || false), (false, 0));
    }

    #[test]
    fn nothing_is_said_of_the_next_process_and_it_keeps_the_place() {
        assert_eq!(left(&AtomicI32::new(8), || true), (false, 8));
        assert_eq!(left(&AtomicI32::new(8), || false), (false, 8));
        // The place was cleared for one that has not come yet.
        assert_eq!(left(&AtomicI32::new(0), || false), (false, 0));
    }

    #[test]
    fn nothing_is_said_of_one_that_comes_in_between() {
        let pid = AtomicI32::new(7);
        let comes = || {
            pid.store(8, std::sync::atomic::Ordering::Release);
            true
        };
        assert_eq!(left(&pid, comes), (false, 8));
    }
}
