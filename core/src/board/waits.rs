//! Waits of the clients in one second.

/// Wait events that are kept apart in one second; further ones are counted together.
const EVENTS: usize = 24;

/// Words in shared memory: those, and the one of the others.
pub const WAIT_WORDS: usize = EVENTS + 1;

/// Counts of wait events, PostgreSQL's `wait_event_info` each; 0 is a client that waits for nothing: it is on a processor, or
/// wants one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits([u64; WAIT_WORDS]);

impl Waits {
    /// Counts of no process.
    pub const fn new() -> Self {
        Self([0; WAIT_WORDS])
    }

    /// Counts a client that was seen with this event.
    pub fn add(&mut self, event: u32) {
        let (others, events) = self.0.split_last_mut().expect("there is one");
        for word in events {
            // The event in the upper half, how often in the lower.
            if *word == 0 || (*word >> 32) as u32 == event {
                *word = u64::from(event) << 32 | u64::from((*word as u32).saturating_add(1));
                return;
            }
        }
        *others = others.saturating_add(1);
    }

    /// Event and how often it was seen; None is all the others.
    pub fn iter(&self) -> impl Iterator<Item = (Option<u32>, u64)> {
        let (others, events) = self.0.split_last().expect("there is one");
        let events = events.iter().take_while(|word| **word != 0);
        let others = (*others > 0).then_some((None, *others));
        events
            .map(|word| (Some((word >> 32) as u32), word & u64::from(u32::MAX)))
            .chain(others)
    }

    /// The words, for shared memory.
    pub fn to_words(self) -> [u64; WAIT_WORDS] {
        self.0
    }

    /// From words that [`Self::to_words`] has given.
    pub fn from_words(words: [u64; WAIT_WORDS]) -> Self {
        Self(words)
    }
}

impl Default for Waits {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_event() {
        let mut waits = Waits::default();
        assert_eq!(waits.iter().count(), 0);
        for event in [0, 7, 0, u32::MAX, 0, 7] {
            waits.add(event);
        }
        let counted: Vec<_> = Waits::from_words(waits.to_words()).iter().collect();
        assert_eq!(counted, [(Some(0), 3), (Some(7), 2), (Some(u32::MAX), 1)]);
    }

    #[test]
    fn what_is_too_many_is_counted_together() {
        let mut waits = Waits::new();
        for event in 1..=30 {
            waits.add(event);
            waits.add(event);
        }
        let counted: Vec<_> = waits.iter().collect();
        assert_eq!(counted.len(), 25);
        assert_eq!(counted[0], (Some(1), 2));
        assert_eq!(counted[24], (None, 12));
        assert_eq!(counted.iter().map(|(_, n)| n).sum::<u64>(), 60);
    }
}
