//! The server's messages about checkpoints, read as bytes: no allocation, no panic, since this happens in the middle of the
//! server's own logging. What cannot be read is not known.

/// The events that messages tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A checkpoint begins, or a restartpoint.
    Starting {
        /// True for a restartpoint.
        is_restartpoint: bool,
    },
    /// It is complete.
    Complete {
        /// True for a restartpoint.
        is_restartpoint: bool,
    },
}

/// The event that a message tells, by the untranslated text of its format.
pub fn event(message_id: &[u8]) -> Option<Event> {
    let (is_restartpoint, rest) = match message_id.strip_prefix(b"checkpoint ") {
        Some(rest) => (false, rest),
        None => (true, message_id.strip_prefix(b"restartpoint ")?),
    };
    if rest.starts_with(b"starting:") {
        Some(Event::Starting { is_restartpoint })
    } else if rest.starts_with(b"complete:") {
        Some(Event::Complete { is_restartpoint })
    } else {
        None
    }
}

/// Words of causes and manners of checkpoints, in the order of the server's messages; of each, the bit that stands for it is
/// its place here. They are never translated.
const WORDS: [&str; 10] = [
    "shutdown",
    "end-of-recovery",
    "immediate",
    "fast",
    "force",
    "wait",
    "wal",
    "time",
    "flush-all",
    "flush-unlogged",
];

/// The words of a cause.
pub fn cause_words(bits: u32) -> impl Iterator<Item = &'static str> {
    WORDS
        .iter()
        .enumerate()
        .filter(move |(bit, _)| bits & (1 << bit) != 0)
        .map(|(_, word)| *word)
}

/// The cause at the end of `checkpoint starting: ...`, in whatever language that begins; 0 when there is none.
pub fn cause(message: &[u8]) -> u32 {
    let mut bits = 0;
    for word in message.rsplit(|byte| *byte == b' ') {
        // The translated part comes before, and can end with anything.
        match WORDS.iter().position(|known| known.as_bytes() == word) {
            Some(bit) => bits |= 1 << bit,
            None if word.is_empty() && bits == 0 => {}
            None => break,
        }
    }
    bits
}

/// Distance and estimate (kB) in `checkpoint complete: ...`; None each where the message does not say so in English.
pub fn distance_and_estimate(message: &[u8]) -> (Option<u64>, Option<u64>) {
    (
        kilobytes(message, b" distance="),
        kilobytes(message, b" estimate="),
    )
}

fn kilobytes(message: &[u8], name: &[u8]) -> Option<u64> {
    let at = message.windows(name.len()).position(|part| part == name)?;
    let rest = message.get(at + name.len()..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = rest.split_at_checked(digits)?;
    if number.is_empty() || !unit.starts_with(b" kB") {
        return None;
    }
    number.iter().try_fold(0_u64, |sum, digit| {
        sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}
