//! The checkpointer's reports of its checkpoints: written in the middle of the server's own logging, read by coordinators.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use crate::checkpoint::{Checkpoint, OpenCheckpoint};

const WORDS: usize = 20;

/// Some words that are written and read as one. One writer; a reader who overlaps with it sees that it did. All bytes zero is
/// a cell in which nothing has been written.
#[repr(C)]
struct SeqCell {
    /// Odd while the words are written; then the even number that the writer gives. Written by the checkpointer.
    sequence: AtomicU64,
    /// Written by the checkpointer.
    words: [AtomicU64; WORDS],
}

impl SeqCell {
    const fn new() -> Self {
        Self {
            sequence: AtomicU64::new(0),
            words: [const { AtomicU64::new(0) }; WORDS],
        }
    }

    fn write(&self, even: u64, words: [u64; WORDS]) {
        self.sequence.store(even.wrapping_sub(1), Relaxed);
        fence(Release);
        for (word, value) in self.words.iter().zip(words) {
            word.store(value, Relaxed);
        }
        self.sequence.store(even, Release);
    }

    /// The words and the number that belongs to them; None while they are written.
    fn read(&self) -> Option<(u64, [u64; WORDS])> {
        let before = self.sequence.load(Acquire);
        let words = std::array::from_fn(|i| self.words[i].load(Relaxed));
        fence(Acquire);
        let after = self.sequence.load(Relaxed);
        (before == after && before.is_multiple_of(2)).then_some((before, words))
    }
}

/// The last N checkpoints, and the one that goes on. One writer, the server's checkpointer; any number of readers, each with a cursor of its own. Nothing is locked or allocated.
#[repr(C)]
pub struct CheckpointRing<const N: usize> {
    /// Checkpoints written so far. Written by the checkpointer, after the cell.
    written: AtomicU64,
    /// The checkpoint that goes on; its first word is 0 when none does. Written by the checkpointer.
    going: SeqCell,
    /// Number `n` is in cell `n % N`, with the sequence `2 * (n + 1)`.
    cells: [SeqCell; N],
}

/// The result of reading a [`CheckpointRing`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedCheckpoints {
    /// Checkpoints that have ended, in their order.
    pub ended: Vec<Checkpoint>,
    /// Checkpoints that were overwritten before they were read.
    pub lost: u64,
}

impl<const N: usize> CheckpointRing<N> {
    /// An empty ring.
    pub const fn new() -> Self {
        Self {
            written: AtomicU64::new(0),
            going: SeqCell::new(),
            cells: [const { SeqCell::new() }; N],
        }
    }

    /// A checkpoint has begun. By the checkpointer.
    pub fn begin(&self, going: &OpenCheckpoint) {
        let mut words = [0; WORDS];
        words[0] = 1 + u64::from(going.is_restartpoint);
        words[1] = u64::from(going.cause);
        words[2] = going.started_us as u64;
        words[3] = going.start_ns;
        self.set_going(words);
    }

    /// The checkpoint that has begun will not be completed. Called by the checkpointer.
    pub fn give_up(&self) {
        self.set_going([0; WORDS]);
    }

    /// A checkpoint is complete. By the checkpointer.
    pub fn complete(&self, checkpoint: &Checkpoint) {
        let number = self.written.load(Relaxed);
        if let Some(cell) = self.cells.get((number % N as u64) as usize) {
            cell.write(2 * (number + 1), to_words(checkpoint));
        }
        self.written.store(number + 1, Release);
        self.give_up();
    }

    fn set_going(&self, words: [u64; WORDS]) {
        let even = self.going.sequence.load(Relaxed).wrapping_add(2);
        self.going.write(even, words);
    }

    /// The checkpoint that goes on. None also while it is being written: then one is just over, or just beginning.
    pub fn going(&self) -> Option<OpenCheckpoint> {
        let (_, words) = self.going.read()?;
        (words[0] != 0).then(|| OpenCheckpoint {
            is_restartpoint: words[0] == 2,
            cause: words[1] as u32,
            started_us: words[2] as i64,
            start_ns: words[3],
        })
    }

    /// Number of the next checkpoint: where a reader begins who wants what is to come.
    pub fn written(&self) -> u64 {
        self.written.load(Acquire)
    }

    /// The checkpoints since this number, which is moved behind them.
    pub fn read_since(&self, cursor: &mut u64) -> EndedCheckpoints {
        let mut found = EndedCheckpoints::default();
        let written = self.written();
        for number in *cursor..written {
            let cell = self.cells.get((number % N as u64) as usize);
            match cell.and_then(SeqCell::read) {
                Some((sequence, words)) if sequence == 2 * (number + 1) => {
                    found.ended.push(from_words(words));
                }
                _ => found.lost += 1,
            }
        }
        *cursor = written;
        found
    }
}

impl<const N: usize> Default for CheckpointRing<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// A number that may be unknown, as one that is 0 then.
fn or_zero(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.saturating_add(1))
}

fn to_words(c: &Checkpoint) -> [u64; WORDS] {
    [
        u64::from(c.is_restartpoint),
        u64::from(c.cause),
        c.started_us as u64,
        c.ended_us as u64,
        c.start_ns,
        c.end_ns,
        c.write_ms,
        c.sync_ms,
        c.total_ms,
        c.buffers,
        or_zero(c.slru.map(u64::from)),
        c.sync_files,
        c.longest_ms,
        c.average_ms,
        c.sync_sum_us,
        c.wal_added,
        c.wal_removed,
        c.wal_recycled,
        or_zero(c.distance_kb),
        or_zero(c.estimate_kb),
    ]
}

fn from_words(words: [u64; WORDS]) -> Checkpoint {
    let known = |word: u64| word.checked_sub(1);
    Checkpoint {
        is_restartpoint: words[0] != 0,
        cause: words[1] as u32,
        started_us: words[2] as i64,
        ended_us: words[3] as i64,
        start_ns: words[4],
        end_ns: words[5],
        write_ms: words[6],
        sync_ms: words[7],
        total_ms: words[8],
        buffers: words[9],
        slru: known(words[10]).map(|n| n as u32),
        sync_files: words[11],
        longest_ms: words[12],
        average_ms: words[13],
        sync_sum_us: words[14],
        wal_added: words[15],
        wal_removed: words[16],
        wal_recycled: words[17],
        distance_kb: known(words[18]),
        estimate_kb: known(words[19]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One whose every field says which it is.
    fn numbered(n: u64) -> Checkpoint {
        from_words(std::array::from_fn(|i| {
            if i == 0 { n % 2 } else { n * 100 + i as u64 }
        }))
    }

    #[test]
    fn words_hold_every_field() {
        let words = std::array::from_fn(|i| i as u64 + 1);
        assert_eq!(to_words(&from_words(words))[1..], words[1..]);
        let unknown = Checkpoint::default();
        assert_eq!(from_words(to_words(&unknown)), unknown);
        let none = Checkpoint {
            slru: Some(0),
            distance_kb: Some(0),
            ..unknown
        };
        assert_eq!(from_words(to_words(&none)), none);
    }

    #[test]
    fn each_reader_gets_each_once_and_knows_what_it_has_missed() {
        let ring = CheckpointRing::<4>::new();
        let (mut one, mut other) = (ring.written(), ring.written());
        assert_eq!(ring.read_since(&mut one), EndedCheckpoints::default());
        for n in 0..3 {
            ring.complete(&numbered(n));
        }
        assert_eq!(ring.read_since(&mut one).ended, [0, 1, 2].map(numbered));
        assert_eq!(ring.read_since(&mut one), EndedCheckpoints::default());
        for n in 3..6 {
            ring.complete(&numbered(n));
        }
        assert_eq!(ring.read_since(&mut one).ended, [3, 4, 5].map(numbered));
        assert_eq!(
            ring.read_since(&mut other),
            EndedCheckpoints {
                ended: [2, 3, 4, 5].map(numbered).into(),
                lost: 2
            }
        );
    }

    #[test]
    fn what_goes_on_is_seen_until_it_is_over() {
        let ring = CheckpointRing::<2>::new();
        assert_eq!(ring.going(), None);
        for is_restartpoint in [false, true] {
            let going = OpenCheckpoint {
                is_restartpoint,
                cause: 5,
                started_us: -1,
                start_ns: 7,
            };
            ring.begin(&going);
            assert_eq!(ring.going(), Some(going));
            ring.complete(&numbered(1));
            assert_eq!(ring.going(), None);
            ring.begin(&going);
            ring.give_up();
            assert_eq!(ring.going(), None);
        }
        assert_eq!(ring.written(), 2);
    }

    #[test]
    fn a_reader_beside_the_writer_sees_whole_ones_only() {
        let ring = CheckpointRing::<2>::new();
        const COUNT: u64 = 20_000;
        std::thread::scope(|scope| {
            scope.spawn(|| (0..COUNT).for_each(|n| ring.complete(&numbered(n))));
            let (mut cursor, mut seen) = (0, 0);
            while cursor < COUNT {
                let found = ring.read_since(&mut cursor);
                seen += found.lost + found.ended.len() as u64;
                for checkpoint in found.ended {
                    assert_eq!(checkpoint, numbered((checkpoint.cause / 100).into()));
                }
            }
            assert_eq!(seen, COUNT);
        });
    }
}
