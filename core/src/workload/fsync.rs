//! The workload `fsync`: in which ways WAL can be written and synced, and which tests a run consists of.
//!
//! The tests are those of pg_test_fsync: one write of 8 kB and one sync, two writes of 8 kB and one sync (or two synced writes,
//! where each write is synced by itself), and the write alone as reference; each with 1 to N writers at the same time.

mod measured;
mod options;

use serde::{Deserialize, Serialize};

use crate::{
    random::{Purpose, Stream},
    refusal::Refusal,
    spec::{
        Act, Bound, Chosen, ClientsDo, Estimate, Given, Limit, Names, Options, OwnOption,
        Parameters, Plan, ResultTable, Results, Spec, Step, check,
    },
    units,
};

pub use measured::{Measured, Row};
pub use options::FsyncOptions;

/// Bytes of one write: a page of WAL.
pub const BLOCK_BYTES: u64 = units::PAGE;
/// Most writes of a test before it syncs.
pub const MOST_WRITES: u32 = 2;
/// Most writers: the smallest segment has room for so many, each with blocks of its own.
pub const MOST_WRITERS: u32 = 64;
/// The shortest time of a test.
pub const SHORTEST_TEST_MS: u64 = 10;

/// How what is written comes to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// O_DSYNC: each write waits for its data.
    OpenDatasync,
    /// fdatasync() after the writes.
    Fdatasync,
    /// fsync() after the writes.
    Fsync,
    /// O_SYNC: each write waits for its data and all of the file's metadata.
    OpenSync,
    /// It does not: the reference.
    None,
}

impl Method {
    /// All of them, in pg_test_fsync's order. What Linux does not have (fsync_writethrough) is not among them.
    pub const ALL: [Method; 5] = [
        Self::OpenDatasync,
        Self::Fdatasync,
        Self::Fsync,
        Self::OpenSync,
        Self::None,
    ];

    /// Name: that of wal_sync_method, or `none`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenDatasync => "open_datasync",
            Self::Fdatasync => "fdatasync",
            Self::Fsync => "fsync",
            Self::OpenSync => "open_sync",
            Self::None => "none",
        }
    }

    /// The method of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }

    /// Whether the file is opened so that each write is synced, past the page cache (O_DIRECT) where the filesystem can.
    pub fn syncs_each_write(self) -> bool {
        matches!(self, Self::OpenDatasync | Self::OpenSync)
    }
}

pub struct Fsync;

impl Parameters for Fsync {
    fn name(&self) -> &'static str {
        "fsync"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["duration"]
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &["sample"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &options::OPTIONS
    }

    fn lacks(&self, name: &str) -> (&'static str, &'static str) {
        let hint = match name {
            "clients" => {
                r#"Leave it out, and say how many write at the same time by options => '{"writers": [1, 4]}'."#
            }
            _ => "Leave it out.",
        };
        (
            "It writes and syncs a file, and runs no transactions.",
            hint,
        )
    }

    fn clients_come_from(&self) -> Option<&'static str> {
        Some("writers")
    }

    /// The clients are the most writers.
    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        let own = FsyncOptions::chosen(options.own(), given.facts, names);
        options.set_own(&own);
        let clients = own.check(given.bound, given.facts)?;
        check::client_slots(clients, "writer", given.facts)?;
        Ok(Chosen {
            clients,
            scale: 0,
            bound: given.bound.unwrap_or(Bound::DurationMs(own.quick_ms())),
            warmup_ms: 0,
        })
    }

    fn shown(&self, spec: &Spec) -> Vec<String> {
        let own: FsyncOptions = spec.options.own();
        let methods: Vec<&str> = own.methods.iter().map(|m| m.as_str()).collect();
        let mut parts = vec![methods.join(" ")];
        if !spec.is_chosen_remotely("writers") {
            let writers: Vec<String> = own.writers.iter().map(u32::to_string).collect();
            parts.push(format!("writers {}", writers.join(" ")));
        }
        parts
    }
}

impl Estimate for Fsync {}

impl Plan for Fsync {
    fn uses_database(&self) -> bool {
        false
    }

    fn writes(&self) -> bool {
        false
    }

    fn clients_do(&self) -> ClientsDo {
        ClientsDo::Parts
    }

    fn syncs_itself(&self) -> bool {
        true
    }

    fn steps(&self) -> &'static [Step] {
        const {
            &[
                Step::new(
                    Act::MakeFile,
                    "write a file of the size of a WAL segment beside the WAL",
                ),
                Step::CHECKPOINT,
                Step::new(Act::Launch, "launch the sampler and the writers"),
                Step::new(
                    Act::Measure,
                    "write and sync that file, in each way and with each number of writers",
                ),
            ]
        }
    }
}

impl Results for Fsync {
    fn when_saturated(&self) -> &'static str {
        "The processors were the limit, not the storage: use fewer writers, and leave out the method none, which waits for nothing."
    }

    fn tables(&self) -> &'static [ResultTable] {
        const {
            &[ResultTable::new("fsync", "position").limits(&[(
                "method",
                Limit::OneOf(&[
                    "open_datasync",
                    "fdatasync",
                    "fsync",
                    "fsync_writethrough",
                    "open_sync",
                    "none",
                ]),
            )])]
        }
    }

    fn details(&self, _run_id: i64) -> String {
        "each test is in fsbench.fsync".into()
    }
}

/// One test of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Test {
    /// How it syncs.
    pub method: Method,
    /// Writes of [`BLOCK_BYTES`] before it syncs.
    pub writes: u32,
    /// How many write at the same time.
    pub writers: u32,
}

/// How many tests there are; see [`tests`].
fn count(methods: &[Method], writers: &[u32]) -> u64 {
    let of = |method: &Method| if *method == Method::None { 1 } else { 2 };
    methods.iter().map(of).sum::<u64>() * writers.len() as u64
}

/// The tests of a run, in their order.
pub fn tests_of(spec: &Spec) -> Vec<Test> {
    let own: FsyncOptions = spec.options.own();
    tests(&own.methods, &own.writers, spec.seed)
}

/// The tests, in an order that follows from the seed.
fn tests(methods: &[Method], writers: &[u32], seed: i64) -> Vec<Test> {
    let mut tests = Vec::new();
    for &method in methods {
        // Writes that wait for nothing are as fast by twos: pg_test_fsync has one reference.
        let most = if method == Method::None {
            1
        } else {
            MOST_WRITES
        };
        for writes in 1..=most {
            tests.extend(writers.iter().map(|&writers| Test {
                method,
                writes,
                writers,
            }));
        }
    }
    let mut random = Stream::new(seed as u64, 0, Purpose::Order);
    random.shuffle(&mut tests);
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn methods_are_their_names() {
        for method in Method::ALL {
            assert_eq!(Method::parse(method.as_str()), Some(method));
            assert_eq!(
                serde_json::to_value(method).unwrap(),
                serde_json::json!(method.as_str())
            );
        }
        assert_eq!(Method::parse("fsync_writethrough"), None);
    }

    #[test]
    fn each_test_comes_once_in_an_order_of_the_seed() {
        let (methods, writers) = (Method::ALL, [1, 2, 4, 8]);
        let of = |seed| super::tests(&methods, &writers, seed);
        let all: BTreeSet<Test> = of(1).into_iter().collect();
        assert_eq!((all.len(), of(1).len()), (36, 36));
        assert_eq!(count(&methods, &writers), 36);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_eq!(all, of(2).into_iter().collect());
        assert!(
            all.iter()
                .all(|test| test.method != Method::None || test.writes == 1)
        );
    }

    #[test]
    fn the_blocks_of_all_writers_fit_the_smallest_segment() {
        let bytes = u64::from(MOST_WRITERS * MOST_WRITES) * BLOCK_BYTES;
        assert!(bytes <= 1 << 20, "{bytes}");
    }
}
