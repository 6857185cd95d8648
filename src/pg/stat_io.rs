//! Counters of pg_stat_io for relations, read without a database: all bytes that the processes of the server have read and written, as far
//! as they have reported them. A process reports at most once a second.

use pgfsbench_core::board::{Figure, Figures};

/// Bytes so far; None where this version does not count them.
#[derive(Clone, Copy, Default)]
pub struct IoBytes {
    read: Option<u64>,
    write: Option<u64>,
    extend: Option<u64>,
}

impl IoBytes {
    /// Sets the figures of the time since `before`. Counters that were set to 0 meanwhile tell nothing.
    pub fn since(&self, before: &Self, figures: &mut Figures) {
        for (figure, now, before) in [
            (Figure::IoReadBytes, self.read, before.read),
            (Figure::IoWriteBytes, self.write, before.write),
            (Figure::IoExtendBytes, self.extend, before.extend),
        ] {
            let bytes = now.zip(before);
            figures.set(
                figure,
                bytes.and_then(|(now, before)| now.checked_sub(before)),
            );
        }
    }

    /// By now.
    #[cfg(not(since = "16"))]
    pub fn now() -> Self {
        Self::default()
    }

    /// By now.
    #[cfg(since = "16")]
    pub fn now() -> Self {
        use pgrx::pg_sys::{self, IOObject::*, IOOp::*};

        // SAFETY: the answer is a copy in memory of this process, which stays until it asks again. Without the setting it would be
        // that of the first time.
        let statistics = unsafe {
            pg_sys::pgstat_fetch_consistency =
                pg_sys::PgStat_FetchConsistency::PGSTAT_FETCH_CONSISTENCY_NONE as i32;
            &*pg_sys::pgstat_fetch_stat_io()
        };
        let sum = |objects: &[u32], operation: u32| {
            let mut bytes = 0;
            for of_kind in &statistics.stats {
                for object in objects {
                    #[cfg(since = "18")]
                    let each = of_kind.bytes[*object as usize];
                    #[cfg(not(since = "18"))]
                    let each = of_kind.counts[*object as usize]
                        .map(|context| context.map(|blocks| blocks as u64));
                    bytes += each
                        .iter()
                        .map(|context| context[operation as usize])
                        .sum::<u64>();
                }
            }
            // Before 18 these are blocks.
            #[cfg(not(since = "18"))]
            return bytes * u64::from(pg_sys::BLCKSZ);
            #[cfg(since = "18")]
            bytes
        };
        let relations = [IOOBJECT_RELATION, IOOBJECT_TEMP_RELATION];
        Self {
            read: Some(sum(&relations, IOOP_READ)),
            write: Some(sum(&relations, IOOP_WRITE)),
            extend: Some(sum(&relations, IOOP_EXTEND)),
        }
    }
}
