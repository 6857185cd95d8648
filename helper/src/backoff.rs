//! Waiting ever longer for what does not come back by itself soon.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The pauses between attempts, from the beginning of a trouble.
#[derive(Default)]
pub struct Backoff {
    last: Option<Duration>,
}

impl Backoff {
    /// Twice as long as the last time, up to a minute.
    pub fn next(&mut self) -> Duration {
        let next = self.last.map_or(FIRST, |last| (last * 2).min(LONGEST));
        self.last = Some(next);
        next
    }

    pub fn has_waited(&self) -> bool {
        self.last.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_up_to_a_minute() {
        let mut backoff = Backoff::default();
        assert!(!backoff.has_waited());
        let seconds: Vec<u64> = (0..9).map(|_| backoff.next().as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert!(backoff.has_waited());
    }
}
