//! The work of a client's transactions, from that process's own counters: WAL and blocks.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::add;

macro_rules! work {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Counters of one process, or what they have counted in a time. Times are nanoseconds.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Work { $($(#[$doc])* pub $field: u64,)* }

        impl Work {
            /// The counts since `before`. A counter that went back has begun again at 0.
            #[inline]
            pub fn since(&self, before: &Self) -> Self {
                Self { $($field: self.$field.checked_sub(before.$field).unwrap_or(self.$field),)* }
            }

            /// Both together.
            pub fn plus(&self, other: &Self) -> Self {
                Self { $($field: self.$field + other.$field,)* }
            }
        }

        /// /// Its form in shared memory, with one writer.
        #[repr(C)]
        #[derive(Debug, Default)]
        pub struct AtomicWork { $($field: AtomicU64,)* }

        impl AtomicWork {
            /// Nothing.
            pub const fn new() -> Self {
                Self { $($field: AtomicU64::new(0),)* }
            }

            /// Adds to it. For the client.
            #[inline]
            pub fn add(&self, work: &Work) {
                $(add(&self.$field, work.$field);)*
            }

            /// The present values.
            pub fn get(&self) -> Work {
                Work { $($field: self.$field.load(Acquire),)* }
            }

            /// Begins again. By the coordinator, while no client owns the slot.
            pub fn reset(&self) {
                $(self.$field.store(0, Relaxed);)*
            }
        }
    };
}

work! {
    /// WAL records written.
    wal_records,
    /// Full-page images among them.
    wal_fpi,
    /// Bytes of the records.
    wal_bytes,
    /// Writes of WAL buffers to the file.
    wal_writes,
    /// Flushes of the file.
    wal_syncs,
    /// Time of the writes, while track_wal_io_timing is on.
    wal_write_ns,
    /// Time of the flushes, likewise.
    wal_sync_ns,
    /// Blocks found in shared buffers.
    blocks_hit,
    /// Blocks read from the operating system.
    blocks_read,
    /// Blocks that became dirty.
    blocks_dirtied,
    /// Blocks that the client had to write itself.
    blocks_written,
    /// Time of the reads, while track_io_timing is on.
    block_read_ns,
    /// Time of the writes, likewise.
    block_write_ns,
}

/// The counters of [`Work`] that a client has, as bits: the others are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts(u32);

impl Counts {
    /// Records, bytes and blocks.
    pub const WORK: Self = Self(1);
    /// Writes and flushes of WAL.
    pub const WAL_IO: Self = Self(2);
    /// Times of writing and flushing WAL.
    pub const WAL_TIMES: Self = Self(4);
    /// Times of reading and writing blocks.
    pub const BLOCK_TIMES: Self = Self(8);
    /// Everything.
    pub const ALL: Self = Self(15);

    /// These bits.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// As bits.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Both, where `more` holds.
    pub fn with(self, other: Self, more: bool) -> Self {
        if more { Self(self.0 | other.0) } else { self }
    }

    /// The counters that both have.
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True if all of `other` is counted.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_and_begins_again() {
        let work = AtomicWork::new();
        let one = Work {
            wal_bytes: 100,
            blocks_hit: 3,
            ..Work::default()
        };
        work.add(&one);
        work.add(&one);
        assert_eq!(work.get(), one.plus(&one));
        assert_eq!(work.get().since(&one), one);
        work.reset();
        assert_eq!(work.get(), Work::default());
    }

    #[test]
    fn a_counter_that_was_reset_has_begun_again() {
        let before = Work {
            wal_syncs: 10,
            ..Work::default()
        };
        let now = Work {
            wal_syncs: 2,
            ..Work::default()
        };
        assert_eq!(now.since(&before).wal_syncs, 2);
    }

    #[test]
    fn what_all_count_is_counted() {
        let some = Counts::WORK
            .with(Counts::WAL_IO, true)
            .with(Counts::WAL_TIMES, false);
        assert!(some.has(Counts::WORK) && some.has(Counts::WAL_IO) && !some.has(Counts::WAL_TIMES));
        assert_eq!(Counts::ALL.and(some), Counts::from_bits(some.bits()));
        assert!(!Counts::default().has(Counts::WORK));
    }
}
