//! Counters of the measured transactions of each type, which clients keep in a segment of shared memory that all of a run share.
//!
//! The segment has the types of the first client, those of the next, and so on; then the commands of all types of the first client,
//! those of the next, and so on. Each client writes its own counters only. All bytes zero is nothing counted.

use std::{
    ops::Range,
    sync::atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed},
    },
};

use super::Outcome;
use crate::{board::add, hist::AtomicHistogram};

/// Different SQLSTATEs that are counted apart, for each client and type.
const CODES: usize = 15;

/// Sizes of the counters of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub clients: usize,
    pub types: usize,
    /// Commands of all types together.
    pub commands: usize,
}

impl Shape {
    /// Bytes of all counters; None if they are more than memory can have.
    pub fn bytes(&self) -> Option<usize> {
        let types = self.types.checked_mul(size_of::<TypeCounters>())?;
        let commands = self.commands.checked_mul(size_of::<CommandCounters>())?;
        types.checked_add(commands)?.checked_mul(self.clients)
    }

    /// Where the commands begin, in bytes from the first type.
    pub fn bytes_of_types(&self) -> usize {
        self.clients * self.types * size_of::<TypeCounters>()
    }

    /// The types of a client among those of all.
    pub fn types_of(&self, client: usize) -> Range<usize> {
        client * self.types..(client + 1) * self.types
    }

    /// The commands of a client among those of all.
    pub fn commands_of(&self, client: usize) -> Range<usize> {
        client * self.commands..(client + 1) * self.commands
    }
}

/// Counters of one client, or of all.
#[derive(Clone, Copy)]
pub struct Counted<'a> {
    pub types: &'a [TypeCounters],
    pub commands: &'a [CommandCounters],
}

impl Counted<'_> {
    /// Counters of a client that counts no types apart.
    pub const NONE: Counted<'static> = Counted {
        types: &[],
        commands: &[],
    };
}

/// The measured transactions of one type by one client.
#[repr(C)]
#[derive(Default)]
pub struct TypeCounters {
    /// Latency of those that were carried out to their end. Written by the client.
    pub latency: AtomicHistogram,
    /// Durations of the commits of transactions that were committed. Written by the client.
    pub commit: AtomicHistogram,
    /// Transactions that were rolled back as intended. Written by the client.
    pub rolled_back: AtomicU64,
    /// Transactions that were tried more than once. Written by the client.
    pub retried: AtomicU64,
    /// All further tries. Written by the client.
    pub retries: AtomicU64,
    /// Transactions that took longer than the limit. Written by the client.
    pub late: AtomicU64,
    /// The limit in nanoseconds; 0 for none. Written by the coordinator, before it launches the client.
    pub limit_ns: AtomicU64,
    failures: [Failure; CODES],
    /// Failures with SQLSTATEs for which no place was left.
    others: Failure,
}

/// Failures with one SQLSTATE. Written by the client.
#[repr(C)]
#[derive(Default)]
struct Failure {
    /// The five characters of the SQLSTATE, the first one highest; 0 for a free place.
    code: AtomicU64,
    /// Transactions whose last try failed with it.
    failed: AtomicU64,
    /// Tries that failed with it and were followed by another one.
    retried: AtomicU64,
}

impl TypeCounters {
    /// Counts a transaction that was carried out to its end, with the durations of its commits.
    #[inline]
    pub fn count(&self, outcome: Outcome, latency_ns: u64, commits: &[u64], retries: u64) {
        self.latency.record(latency_ns);
        match outcome {
            Outcome::Committed => commits.iter().for_each(|&ns| self.commit.record(ns)),
            Outcome::RolledBack => add(&self.rolled_back, 1),
        }
        let limit = self.limit_ns.load(Relaxed);
        if limit > 0 && latency_ns > limit {
            add(&self.late, 1);
        }
        self.count_retries(retries);
    }

    /// Counts a transaction whose last try failed.
    pub fn count_failed(&self, sqlstate: &str, retries: u64) {
        add(&self.failure(sqlstate).failed, 1);
        self.count_retries(retries);
    }

    /// Counts a try that failed and is followed by another one.
    pub fn count_retry(&self, sqlstate: &str) {
        add(&self.failure(sqlstate).retried, 1);
    }

    #[inline]
    fn count_retries(&self, retries: u64) {
        if retries > 0 {
            add(&self.retried, 1);
            add(&self.retries, retries);
        }
    }

    /// Transactions that failed, whatever their SQLSTATE.
    pub fn failed(&self) -> u64 {
        self.failures().map(|(_, failed, _)| failed).sum()
    }

    /// SQLSTATE, transactions that failed with it, and tries that failed with it and were followed by another one. None is all others.
    pub fn failures(&self) -> impl Iterator<Item = (Option<String>, u64, u64)> + '_ {
        let all = self.failures.iter().chain([&self.others]);
        all.filter_map(|failure| {
            let counts = [&failure.failed, &failure.retried].map(|word| word.load(Acquire));
            let code = failure.code.load(Acquire);
            (counts != [0, 0]).then(|| (shown(code), counts[0], counts[1]))
        })
    }

    /// The place of a SQLSTATE; takes a free one for a new SQLSTATE.
    fn failure(&self, sqlstate: &str) -> &Failure {
        let code = packed(sqlstate);
        let mut places = self.failures.iter();
        let place = places.find(|place| [0, code].contains(&place.code.load(Relaxed)));
        match place {
            Some(place) => {
                place.code.store(code, Relaxed);
                place
            }
            None => &self.others,
        }
    }
}

fn packed(sqlstate: &str) -> u64 {
    let bytes = sqlstate.bytes().take(5);
    bytes.fold(0, |word, byte| word << 8 | u64::from(byte))
}

fn shown(code: u64) -> Option<String> {
    let bytes = code.to_be_bytes();
    let text = std::str::from_utf8(&bytes[3..]).unwrap_or_default();
    (code != 0).then(|| text.trim_start_matches('\0').to_owned())
}

/// The executions of one command in measured transactions of one client.
#[repr(C)]
#[derive(Default)]
pub struct CommandCounters {
    /// Durations of executions without an error. Written by the client.
    pub latency: AtomicHistogram,
    /// Executions that ended with an error. Written by the client.
    pub failures: AtomicU64,
}
