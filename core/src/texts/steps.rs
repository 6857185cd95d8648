//! Steps of an experiment: why a run is made again or counts, and why the experiment ends, waits or takes longer.

use crate::units::{format_bytes, format_seconds};

/// The resources that neighbours took from a run, as shares of its time. None: not known.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourUse {
    pub processors: Option<f64>,
    /// Whether that is only the least that they took.
    pub is_least: bool,
    pub disk: Option<f64>,
}

impl NeighbourUse {
    fn words(self) -> String {
        let at_least = if self.is_least { "at least " } else { "" };
        let processors = self.processors.map(|share| {
            let percent = share * 100.0;
            format!("{at_least}{percent:.0} % of the processors' time")
        });
        let disk = self.disk.map(|share| share * 100.0);
        let disk = disk.map(|percent| format!("{percent:.0} % of the disk's"));
        let parts: Vec<String> = processors.into_iter().chain(disk).collect();
        match parts.is_empty() {
            true => "an unknown share of the machine".into(),
            false => parts.join(" and "),
        }
    }
}

pub fn disturbed(taken: NeighbourUse) -> String {
    format!("others used {} (noisy_neighbour)", taken.words())
}

/// A disturbed run that counts: the least disturbed of so many attempts.
pub fn counts_though_disturbed(taken: NeighbourUse, attempts: usize) -> String {
    let taken = taken.words();
    match attempts {
        1 => format!("it counts, though others used {taken}"),
        n => format!(
            "it counts: of {n} attempts that others disturbed it was disturbed least ({taken})"
        ),
    }
}

/// Disturbed runs of a block, and all.
pub fn no_more_repeats(disturbed: usize, all: usize, block: u32) -> String {
    format!(
        "others disturbed {disturbed} of {all} runs of block {block}: from now on no run is made again for that"
    )
}

/// A change of the machine or of its software within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Restart,
    Versions,
    Settings,
}

pub fn changed(change: Change) -> &'static str {
    match change {
        Change::Restart => "the machine was started again within its block",
        Change::Versions => "kernel, server or extension changed within its block",
        Change::Settings => {
            "settings of the server changed within its block; fsbench.diff() tells which"
        }
    }
}

/// Names of conditions that changed between the blocks of a target.
pub fn changed_between_blocks(names: &str) -> String {
    format!("changed between blocks: {names}")
}

/// Transactions a second that a target does without a rate.
pub fn pilot(tps: f64) -> String {
    format!("{tps:.1} tps without a rate")
}

pub fn pilot_cycle() -> String {
    "one checkpoint cycle".into()
}

pub fn no_pilot() -> String {
    "no target has done a run without a rate".into()
}

/// The rate of all runs: a share of what the slowest target does, in transactions a second.
pub fn rate(share: f64, tps: f64, slowest: &str) -> String {
    format!(
        "{:.1} tps, {} % of the {tps:.1} that the slowest target does without a rate ({slowest})",
        share * tps,
        share * 100.0
    )
}

/// The cause of a later end.
#[derive(Clone, Debug)]
pub enum Later<'a> {
    /// A run is made again, for this reason where it is known.
    Again(Option<&'a str>),
    /// A run took longer than was planned. Seconds.
    Long { took: f64, planned: f64 },
}

/// A run by its id, where that is known, and its target.
pub fn later(run_id: Option<i64>, target: &str, cause: Later<'_>) -> String {
    let run = match run_id {
        Some(run_id) => format!("run {run_id} on {target}"),
        None => format!("a run on {target}"),
    };
    match cause {
        Later::Again(why) => format!(
            "{run} is made again: {}",
            why.unwrap_or("its block is made again")
        ),
        Later::Long { took, planned } => format!(
            "{run} took {}, and {} were planned",
            format_seconds(took),
            format_seconds(planned)
        ),
    }
}

pub fn other_work() -> String {
    "other work came between two runs".into()
}

pub fn row_is_gone() -> String {
    "its row is gone".into()
}

pub fn invalid(findings: &[String]) -> String {
    format!("findings: {}", findings.join(", "))
}

pub fn not_in_time(late: u64, scheduled: u64) -> String {
    format!("{late} of {scheduled} transactions were not done in time")
}

pub fn without_metric(metric: &str) -> String {
    format!("the run has no {metric}")
}

pub fn failed_in_a_row(runs: usize, last: &str) -> String {
    format!("{runs} runs in a row failed, the last one: {last}")
}

/// The end by max_duration: after a block, of all that were planned, or within the next one.
pub fn max_duration_ends_after(reached: u32, last: u32) -> String {
    format!("max_duration will end it after about block {reached}, and not after block {last}")
}

pub fn max_duration_ends_within(block: u32) -> String {
    format!("max_duration will end it within block {block}")
}

pub fn blocks_are_made(blocks: u32) -> String {
    format!("{blocks} blocks are made")
}

pub fn max_duration() -> String {
    "another run would not have ended within max_duration".into()
}

pub fn baseline_is_excluded(baseline: &str, why: &str) -> String {
    format!("baseline \"{baseline}\" is set aside: {why}")
}

/// Targets that were set aside, with the reasons.
pub fn too_few_targets(excluded: &[(&str, &str)]) -> String {
    let excluded = excluded.iter();
    let excluded = excluded.map(|(name, why)| format!("{name} was set aside ({why})"));
    let excluded = excluded.collect::<Vec<_>>().join("; ");
    match excluded.is_empty() {
        true => "fewer than two targets are left".into(),
        false => format!("fewer than two targets are left: {excluded}"),
    }
}

/// Runs of a place that were cut off, and the reason of the last one.
pub fn often_cut_off(runs: usize, target: &str, block: u32, last: &str) -> String {
    format!(
        "{runs} runs of \"{target}\" in block {block} were cut off, the last one: {last}; once that is mended, resume_experiment goes on with it"
    )
}

/// The WAL of a checkpoint cycle was not measured.
pub fn wal_not_known() -> String {
    "no run has told how much WAL a checkpoint cycle takes: each run begins without segments to be used again".into()
}

/// The measured WAL of a checkpoint cycle, and what follows from it. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct Wal {
    pub cycle: u64,
    /// Segments that are made ready before each warm-up, and the size of all of them; None where wal_recycle is off.
    pub ready: Option<(u64, u64)>,
    pub forced: Option<ForcedBy>,
}

/// max_wal_size, where WAL forced checkpoints. Bytes.
#[derive(Clone, Copy, Debug)]
pub enum ForcedBy {
    Raised {
        from: u64,
        to: u64,
    },
    /// It stays at this size.
    AsGiven(u64),
    IsEnough(u64),
    NoRoom {
        stays: u64,
        needed: u64,
    },
}

pub fn wal(of: Wal) -> String {
    let ready = match of.ready {
        None => "wal_recycle is off: none are made ready".to_owned(),
        Some((segments, bytes)) => format!(
            "{} ({}) ready before each warm-up",
            crate::units::format_count(segments, "segment"),
            format_bytes(bytes)
        ),
    };
    let stays = |bytes: u64, why: String| {
        let bytes = format_bytes(bytes);
        format!("; it forced checkpoints, and max_wal_size stays {bytes}, {why}")
    };
    let forced = of.forced.map_or(String::new(), |forced| match forced {
        ForcedBy::Raised { from, to } => format!(
            "; it forced checkpoints: max_wal_size of all runs is raised from {} to {}",
            format_bytes(from),
            format_bytes(to)
        ),
        ForcedBy::AsGiven(bytes) => stays(bytes, "as it was given".into()),
        ForcedBy::IsEnough(bytes) => {
            stays(bytes, "which is enough for what the runs will write".into())
        }
        ForcedBy::NoRoom {
            stays: bytes,
            needed,
        } => stays(
            bytes,
            format!(
                "since there is no room for more: {} would do, for which twice as much has to be free",
                format_bytes(needed)
            ),
        ),
    });
    let cycle = format_bytes(of.cycle);
    format!("a checkpoint cycle takes {cycle} of WAL: {ready}{forced}")
}
