//! When prepared data are orphaned: for a day no database of a server has had the extension, which could use or remove them.

/// Seconds for which no database must have had the extension.
pub const DAY: u64 = 24 * 60 * 60;

/// The action at a start of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// They are wanted: nothing is counted any more.
    Forget,
    /// They are unwanted from now on, as far as is known: the time is noted.
    Note,
    /// It was not a day yet.
    Wait,
    /// They go.
    Remove,
}

/// Decides by whether a database has the extension, and since when none has had it as far as was noted (seconds since
/// 1970). A time to come is none: the clock was wrong then, or is now.
pub fn step(somebody_has_it: bool, since: Option<u64>, now: u64) -> Step {
    match since {
        _ if somebody_has_it => Step::Forget,
        Some(since) if since <= now && now - since >= DAY => Step::Remove,
        Some(since) if since <= now => Step::Wait,
        _ => Step::Note,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_after_it_was_noted_and_not_before() {
        assert_eq!(step(false, None, 1000), Step::Note);
        assert_eq!(step(false, Some(1000), 1000), Step::Wait);
        assert_eq!(step(false, Some(1000), 1000 + DAY - 1), Step::Wait);
        assert_eq!(step(false, Some(1000), 1000 + DAY), Step::Remove);
    }

    #[test]
    fn never_while_somebody_has_the_extension() {
        for since in [None, Some(0), Some(1000)] {
            assert_eq!(step(true, since, 1000 + DAY), Step::Forget);
        }
    }

    #[test]
    fn a_clock_that_was_ahead_begins_anew() {
        assert_eq!(step(false, Some(2000), 1000), Step::Note);
        assert_eq!(step(false, Some(u64::MAX), 1000), Step::Note);
    }
}
