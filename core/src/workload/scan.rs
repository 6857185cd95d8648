//! The workload `scan`: what is scanned, and in which order at which degrees.

mod blocks_from;
mod cache;
mod definition;
mod facts;
mod findings;
mod judged;
mod options;
mod own_table;
mod reads;

use serde::{Deserialize, Serialize};

pub use blocks_from::{BlocksFrom, UnexpectedReads, part_of_table};
pub use cache::{check_cache, check_fits};
pub use definition::Scans;
pub use judged::{JudgedScan, Reading, Report, Row, State, Waiting};
pub use options::ScanOptions;
pub use own_table::{FoundTable, Parts, TableName};
pub use reads::read_for_others;

use crate::random::{Purpose, Stream};
use crate::units::{PAGE, rows_per_page};

/// Rows of one unit of scale.
pub const ROWS: u64 = 1_000_000;
/// Most workers of a parallel query (MAX_PARALLEL_WORKER_LIMIT).
pub const MOST_DEGREE: u32 = 1024;
/// Most repeats of a degree.
pub const MOST_REPEATS: u32 = 1000;
/// Repeats when they are not given.
pub const REPEATS: u32 = 5;
/// How often a scan is made before it is given up, while the cache does not stay as it was asked for.
pub const TRIES: u32 = 3;
/// Longest row of bytes: it has to fit on a page.
pub const LONGEST_PAYLOAD: u32 = 8000;
/// Most scans of a run, with those that are made again: each look at a knee takes all of them, a thousand times.
pub const MOST_SCANS: u32 = 10_000;
/// Bytes of one read without the executor, each of which is measured.
pub const READ_BYTES: [u64; 3] = [PAGE, 128 << 10, 1 << 20];

const TUPLE_HEADER: u64 = 24;

/// The contents of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Payload {
    /// One of those with a name.
    Named(Named),
    /// This many random bytes, which do not compress.
    Bytes(u32),
}

/// Rows with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Named {
    /// `id bit(200)`, all alike, as in digoal's study of 2016.
    Bit200,
    /// The columns of pgbench_accounts, without its key.
    Accounts,
}

/// The one of that study.
impl Default for Payload {
    fn default() -> Self {
        Self::Named(Named::Bit200)
    }
}

impl Payload {
    /// The columns of the table.
    pub fn columns(self) -> &'static str {
        match self {
            Self::Named(Named::Bit200) => "id bit(200)",
            Self::Named(Named::Accounts) => "aid bigint, bid int, abalance int, filler char(84)",
            Self::Bytes(_) => "payload bytea",
        }
    }

    /// In a few words, which tell data apart that were loaded once.
    pub fn name(self) -> String {
        match self {
            Self::Named(Named::Bit200) => "bit200".into(),
            Self::Named(Named::Accounts) => "accounts".into(),
            Self::Bytes(n) => format!("{n} bytes"),
        }
    }

    /// Rows on a full page.
    pub fn rows_per_page(self) -> u64 {
        let data = match self {
            // A header of one byte, the number of bits, and the bits.
            Self::Named(Named::Bit200) => 1 + 4 + 25,
            // 8 + 4 + 4, and 84 letters behind a header of one byte.
            Self::Named(Named::Accounts) => 16 + 85,
            // One byte up to 126, else four.
            Self::Bytes(n) if n <= 126 => u64::from(n) + 1,
            Self::Bytes(n) => u64::from(n) + 4,
        };
        let tuple = (TUPLE_HEADER + data).next_multiple_of(8);
        rows_per_page(tuple, 100)
    }

    /// Bytes of the freshly loaded table.
    pub fn bytes(self, scale: u32) -> u64 {
        (u64::from(scale) * ROWS).div_ceil(self.rows_per_page()) * PAGE
    }

    /// The smallest scale whose table is at least this large, at least 1; None when it does not fit an integer.
    pub fn scale_for(self, bytes: u64) -> Option<u32> {
        let rows = bytes.div_ceil(PAGE).checked_mul(self.rows_per_page())?;
        let scale = u32::try_from(rows.div_ceil(ROWS).max(1)).ok()?;
        // Rounding up to whole rows may have gone one too far.
        Some(match scale {
            2.. if self.bytes(scale - 1) >= bytes => scale - 1,
            _ => scale,
        })
    }
}

/// One scan of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Workers asked for.
    pub degree: u32,
    /// Which repeat of that degree, from 1.
    pub repeat: u32,
}

/// The scans of a run: each degree once in a random order, and that as often as it is repeated, each time in an order of its
/// own. What changes slowly meanwhile then meets all degrees alike.
pub fn order(degrees: &[u32], repeats: u32, seed: i64) -> Vec<Scan> {
    let mut random = Stream::new(seed as u64, 0, Purpose::Order);
    let mut scans = Vec::new();
    for repeat in 1..=repeats {
        let mut block = degrees.to_vec();
        random.shuffle(&mut block);
        scans.extend(block.into_iter().map(|degree| Scan { degree, repeat }));
    }
    scans
}

/// The degrees that are measured when none are given: doubling up to twice the processors, within what may be used.
pub fn chosen_degrees(processors: u32, most: u32) -> Vec<u32> {
    let most = processors.saturating_mul(2).max(4).min(most).max(1);
    (0..).map(|i| 1 << i).take_while(|&d| d <= most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Study 4: 1.6 billion rows are 90 GB. The others as `relpages` of PostgreSQL 15 says after loading a million rows.
    #[test]
    fn sizes_are_those_of_postgresql() {
        let of = |payload: Payload, scale| payload.bytes(scale);
        assert_eq!(of(Payload::default(), 1600) >> 30, 89);
        assert_eq!(of(Payload::default(), 1) / PAGE, 7353);
        assert_eq!(of(Payload::Named(Named::Accounts), 1) / PAGE, 16394);
        assert_eq!(of(Payload::Bytes(100), 1) / PAGE, 16394);
        assert_eq!(of(Payload::Bytes(LONGEST_PAYLOAD), 1) / PAGE, 1_000_000);
    }

    #[test]
    fn payloads_have_names() {
        for (payload, json) in [
            (Payload::default(), "\"bit200\""),
            (Payload::Named(Named::Accounts), "\"accounts\""),
            (Payload::Bytes(100), "100"),
        ] {
            assert_eq!(serde_json::to_string(&payload).unwrap(), json);
            assert_eq!(serde_json::from_str::<Payload>(json).unwrap(), payload);
        }
    }

    #[test]
    fn each_repeat_has_each_degree_in_an_order_of_its_own() {
        let degrees = [1, 2, 4, 8, 16, 17, 21, 32, 64];
        let scans = order(&degrees, 5, 7);
        assert_eq!(scans, order(&degrees, 5, 7), "by the seed");
        assert_ne!(scans, order(&degrees, 5, 8));
        let mut orders = std::collections::HashSet::new();
        for (i, block) in scans.chunks(degrees.len()).enumerate() {
            assert!(block.iter().all(|scan| scan.repeat == i as u32 + 1));
            let mut block: Vec<u32> = block.iter().map(|scan| scan.degree).collect();
            orders.insert(block.clone());
            block.sort_unstable();
            assert_eq!(block, degrees);
        }
        assert_eq!(orders.len(), 5);
    }

    #[test]
    fn degrees_that_are_chosen() {
        assert_eq!(chosen_degrees(2, 8), [1, 2, 4]);
        assert_eq!(chosen_degrees(16, 64), [1, 2, 4, 8, 16, 32]);
        assert_eq!(chosen_degrees(16, 8), [1, 2, 4, 8]);
        assert_eq!(chosen_degrees(16, 0), [1]);
    }

    proptest! {
        #[test]
        fn a_scale_is_found_back_from_its_size(scale in 1u32..1_000_000, n in 1u32..=LONGEST_PAYLOAD) {
            for payload in [Payload::default(), Payload::Named(Named::Accounts), Payload::Bytes(n)] {
                prop_assert_eq!(payload.scale_for(payload.bytes(scale)), Some(scale));
            }
        }
    }
}
