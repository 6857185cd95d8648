//! The plan of an experiment. Sizes are bytes, times seconds.

use crate::units::{format_bytes, format_count, format_seconds, format_tenths};

/// Warning about windows that are too short.
pub const TOO_SHORT: &str = "The windows have fewer than two checkpoint cycles: whatever comes out, the verdict is inconclusive (too_short).";

/// A share in percent, with as few digits as say it.
pub fn percent(share: f64) -> String {
    format_tenths(share * 100.0)
}

/// An experiment in one line.
#[derive(Clone, Debug)]
pub struct Announced<'a> {
    pub targets: u64,
    pub has_control: bool,
    /// Name of the baseline; None for goal best.
    pub baseline: Option<&'a str>,
    pub metric: &'a str,
    pub margin: f64,
    /// Blocks after which verdicts are sought.
    pub looks: Vec<u32>,
    /// The fewest and the most runs, and their times.
    pub runs: [u64; 2],
    pub seconds: [f64; 2],
    /// Runs before the first block.
    pub uncounted: u32,
    pub max_seconds: Option<f64>,
}

impl Announced<'_> {
    pub fn words(&self) -> String {
        let control = match self.has_control {
            true => " and a control",
            false => "",
        };
        let question = match self.baseline {
            None => "which is best".to_owned(),
            Some(baseline) => format!("each against {baseline}"),
        };
        let question = format!(
            "{}{control}, {question}, metric {}, margin {} %",
            format_count(self.targets, "target"),
            self.metric,
            percent(self.margin)
        );
        let at_most = self.max_seconds.map(format_seconds);
        let at_most = at_most.map(|time| format!("at most {time}"));
        let parts = [question, self.looks(), self.runs()];
        let parts: Vec<String> = parts.into_iter().chain(at_most).collect();
        parts.join("; ")
    }

    fn looks(&self) -> String {
        let looks: Vec<String> = self.looks.iter().map(u32::to_string).collect();
        match looks.split_last() {
            Some((last, [])) => format!("3 blocks, one look after {last}"),
            Some((last, others)) => format!(
                "3 to {last} blocks, looks after {} and {last}; a target that is decided is not run again",
                others.join(", ")
            ),
            None => String::new(),
        }
    }

    fn runs(&self) -> String {
        let uncounted = match self.uncounted {
            0 => String::new(),
            1 => " and 1 before them that does not count".to_owned(),
            n => format!(" and {n} before them that do not count"),
        };
        let [least, most] = self.runs;
        let [shortest, longest] = self.seconds.map(format_seconds);
        match least == most {
            true => format!("{}{uncounted}, about {longest}", format_count(most, "run")),
            false => format!("{least} to {most} runs{uncounted}, about {shortest} to {longest}"),
        }
    }
}

/// A budget, and what it is spent on.
pub fn budget(seconds: f64, spent_on: &str) -> String {
    format!("{}: {spent_on}", format_seconds(seconds))
}

/// Power cuts of each target before the first block, and the time that all of them take.
pub fn power_cuts(cuts: u32, targets: u32, seconds: f64) -> String {
    format!(
        "{} of {}, with controls, before the first block: about {}",
        format_count(cuts.into(), "power cut"),
        format_count(targets.into(), "target"),
        format_seconds(seconds)
    )
}

/// The cycle, where it is not that of the server, the window, and the blocks.
pub fn fit(cycle: Option<f64>, window: f64, blocks: u32) -> String {
    let cycle = cycle.map_or(String::new(), |seconds| {
        format!("checkpoint cycles of {}, ", format_seconds(seconds))
    });
    let blocks = format_count(blocks.into(), "block");
    format!("{cycle}windows of {}, {blocks}", format_seconds(window))
}

/// Targets that fit into a time with so many blocks; None if not even two do.
pub fn instead(targets: Option<u32>, blocks: u32) -> String {
    match targets {
        Some(targets) => format!(
            "{}, {} fit",
            format_count(targets.into(), "target"),
            format_count(blocks.into(), "block")
        ),
        None => "two targets do not fit either".into(),
    }
}

pub fn cannot_start() -> &'static str {
    "it cannot be started as it is asked for; the rest of the plan comes when what is missing is there"
}

pub fn run(target: &str, plan: &str) -> String {
    format!("target {target}: {plan}")
}

pub fn drawn_seed(seed: i64) -> String {
    format!(
        "seed => {seed} has this order; without a seed it is drawn when the experiment is asked for"
    )
}

pub const ROOM_ON_A_TARGET: &str = "room on a target";

/// The room that the largest run takes, the data of it, and transactions a second that are assumed.
pub fn room(needed: u64, data: u64, tps: f64) -> String {
    format!(
        "about {}, of which {} are data when a run begins; the rest is WAL, what is added at {tps:.0} tps, an empty cluster, and on btrfs as much again; with room for twice max_wal_size besides, WAL need not force checkpoints",
        format_bytes(needed),
        format_bytes(data)
    )
}

/// The data that are copied to targets are here already, are loaded first, or find no room.
pub const ROOM_HERE: &str = "room beside this server";

pub fn data_are_there() -> String {
    "no more than there is: the data are there, to be copied to each target".into()
}

pub fn loaded_first(bytes: u64, limit: u64) -> String {
    format!(
        "about {}, where the data are loaded once, to be copied to each target (pgfsbench.prepared_data_limit is {})",
        format_bytes(bytes),
        format_bytes(limit)
    )
}

pub fn no_room(why: &str) -> String {
    format!(
        "none that is enough. {why} So runs load data on their targets, which takes longer than a copy, and fail where they ask for a cold cache or cloned data; raise the limit, or make room"
    )
}

pub const TRANSACTION_IDS: &str = "transaction ids of this server";

pub fn no_transaction_ids() -> String {
    "none: the runs have servers of their own".into()
}

/// Transaction ids that the runs take at so many transactions a second.
pub fn transaction_ids(ids: f64, tps: f64) -> String {
    let millions = ids / 1e6;
    format!("up to {millions:.0} million at {tps:.0} tps, for the runs on target default")
}

pub fn repeats_are_extra() -> &'static str {
    "runs that are made again since others disturbed them, each twice at most"
}

/// A time that is offered, where max_duration is shorter.
fn within(max_duration: Option<f64>) -> String {
    max_duration.map_or(String::new(), |most| {
        format!("max_duration {}: ", format_seconds(most))
    })
}

pub fn too_short_for_a_verdict(max_duration: Option<f64>, instead: &str) -> String {
    let within = within(max_duration);
    format!("{within}too short for a verdict: {instead}")
}

/// An experiment that fits into a time.
#[derive(Clone, Debug)]
pub struct Offer {
    /// max_duration, where it is shorter than the time.
    pub max_duration: Option<f64>,
    /// max_blocks, where it is more than was asked for.
    pub max_blocks: Option<u32>,
    /// The cycle, where it is not that of the server.
    pub cycle: Option<f64>,
    pub window: f64,
    pub is_provisional: bool,
    /// Blocks after which verdicts are sought.
    pub looks: Vec<u32>,
    /// The smallest difference that is found at each noise, both as shares; None where nothing is decided.
    pub finds: Option<Vec<(Option<f64>, f64)>>,
}

impl Offer {
    pub fn words(&self) -> String {
        let within = within(self.max_duration);
        let more = self.max_blocks.map_or(String::new(), |blocks| {
            format!("with max_blocks => {blocks}: ")
        });
        let looks: Vec<String> = self.looks.iter().map(u32::to_string).collect();
        let looks = looks.join(", ");
        let Some(finds) = &self.finds else {
            return format!("{within}{more}looks after {looks}; decides nothing (too_short)");
        };
        let provisional = match self.is_provisional {
            true => "provisional, ",
            false => "",
        };
        let cycle = self.cycle.map_or(String::new(), |cycle| {
            format!(
                "with cycle => '{}', windows of {}: ",
                format_seconds(cycle),
                format_seconds(self.window)
            )
        });
        let finds = finds.iter().map(|(found, noise)| {
            let found = found.map_or("nothing".into(), |share| format!("{} %", percent(share)));
            format!("{found} at {} % noise", percent(*noise))
        });
        format!(
            "{within}{more}{cycle}{provisional}looks after {looks}; finds {}",
            finds.collect::<Vec<_>>().join(", ")
        )
    }
}
