//! The workload `power-cut`: clients commit on a filesystem whose writes and flushes are recorded, and the power is cut at moments of
//! that record. After each cut the server of the target starts on the device as the cut has left it, and is judged.
//!
//! Two parts of a batch test the server as it is, the others are controls that have to fail ([`part::Part`]). With the option `fsync_error` an operation
//! of the device fails, too ([`storage_error`]).

mod finding;
mod history;
mod judge;
mod part;
mod result;
mod storage_error;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{commit::Commit, transactions};
use crate::{
    finding_row::Finding,
    refusal::Refusal,
    spec::{
        Bound, Chosen, Estimate, Given, Limit, Names, Options, OwnOption, Parameters, Plan,
        ResultTable, Results, Spec, Step, values,
    },
};

pub use history::{History, MOST_ACKNOWLEDGMENTS};
pub use judge::{
    Losses, Outcome, Pages, Survivors, is_of_the_machine, judge, judge_pages, torn_page,
};
pub use part::{CONTROL_COMMITS, Filesystem, PAGES, Part};
pub use result::{Batch, Point, Summary, loss_below};
pub use storage_error::{Course, StorageError};

/// Cuts when no number is given: 0 of 300 that lose mean less than 1 % at 95 %.
const CUTS: u32 = 300;
/// The helper chooses at most 1000 moments, those of the other parts included.
const MOST_CUTS: u64 = 900;
/// The measured window when no bound is given, in milliseconds.
const WINDOW_MS: u64 = 5_000;

const OPTIONS: [OwnOption; 2] = [
    OwnOption {
        name: "cuts",
        help: "how many times the power is cut",
        depends_on_machine: false,
        check: |name, value| Ok(json!(checked_cuts(name, value)?)),
    },
    OwnOption {
        name: "fsync_error",
        help: "whether a flush and a write of the device fail, too",
        depends_on_machine: false,
        check: |name, value| Ok(json!(values::boolean(name, value)?)),
    },
];

/// Seconds of a run without its power cuts: it makes the filesystem and the commits.
const SECONDS_BEFORE_CUTS: f64 = 60.0;

/// A number of power cuts, as an option has it.
pub fn checked_cuts(name: &str, value: &Value) -> Result<u32, Refusal> {
    values::whole_number(name, value, 1, MOST_CUTS).map(|cuts| cuts as u32)
}

/// Seconds of a run, as reckoned beforehand: about one for each power cut.
pub fn run_seconds(cuts: u32) -> f64 {
    let all: u32 = Part::ALL.into_iter().map(|part| part.cuts(cuts)).sum();
    SECONDS_BEFORE_CUTS + f64::from(all)
}

/// The options of this workload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerCutOptions {
    /// Power cuts of the part that tests commits.
    pub cuts: u32,
    /// Whether a flush and a write of the device fail, too.
    pub fsync_error: bool,
}

impl Default for PowerCutOptions {
    fn default() -> Self {
        Self {
            cuts: CUTS,
            fsync_error: false,
        }
    }
}

pub struct PowerCut;

impl Parameters for PowerCut {
    fn name(&self) -> &'static str {
        "power-cut"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &[
            "clients",
            "duration",
            "transactions",
            "rate",
            "settings",
            "keep",
        ]
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &[]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &OPTIONS
    }

    fn lacks(&self, _name: &str) -> (&'static str, &'static str) {
        (
            "Its clients insert rows and commit. A power cut decides what is left of them.",
            "Leave it out.",
        )
    }

    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        if !options.own.contains_key(OPTIONS[0].name) {
            names.add(&OPTIONS[0], given.facts);
        }
        options.set_own(&options.own::<PowerCutOptions>());
        let chosen = transactions::choose(given, options, u32::MAX)?;
        Ok(Chosen {
            bound: given.bound.unwrap_or(Bound::DurationMs(WINDOW_MS)),
            warmup_ms: 0,
            ..chosen
        })
    }

    fn shown(&self, spec: &Spec) -> Vec<String> {
        let own: PowerCutOptions = spec.options.own();
        let error = own.fsync_error.then(|| "errors of the device".into());
        [format!("{} power cuts", own.cuts)]
            .into_iter()
            .chain(error)
            .collect()
    }
}

impl Estimate for PowerCut {
    fn added_bytes(&self, spec: &Spec, transactions: f64) -> u64 {
        Commit.added_bytes(spec, transactions)
    }

    fn changed_bytes(&self, spec: &Spec) -> Option<u64> {
        Commit.changed_bytes(spec)
    }
}

impl Plan for PowerCut {
    fn writes(&self) -> bool {
        true
    }

    fn depends_on_checkpoints(&self) -> bool {
        false
    }

    fn leaves_dead_rows(&self) -> bool {
        false
    }

    fn reads_storage(&self) -> bool {
        false
    }

    fn cuts_power(&self) -> bool {
        true
    }

    fn steps(&self) -> &'static [Step] {
        Commit.steps()
    }
}

impl Results for PowerCut {
    fn transaction(&self) -> &'static str {
        Commit.transaction()
    }

    fn when_saturated(&self) -> &'static str {
        Commit.when_saturated()
    }

    fn tables(&self) -> &'static [ResultTable] {
        const PARTS: Limit = Limit::OneOf(&[
            "commits",
            "pages",
            "fsync_off",
            "full_page_writes_off",
            "barriers_off",
        ]);
        const {
            &[
                ResultTable::new("power_cut_result", "part").limits(&[
                    ("part", PARTS),
                    ("cuts", Limit::NUMBER),
                    ("failed", Limit::COUNT),
                    ("lost", Limit::COUNT),
                    ("holes", Limit::COUNT),
                    ("torn", Limit::COUNT),
                    ("corrupt", Limit::COUNT),
                    ("unbootable", Limit::COUNT),
                    ("first_failed", Limit::NUMBER),
                    ("loss_below", Limit::Range("0", "1")),
                    ("outcome", Limit::OneOf(&["passed", "failed", "void"])),
                ]),
                ResultTable::new("power_cut_point", "part, number").limits(&[
                    ("part", PARTS),
                    ("number", Limit::NUMBER),
                    ("entry", Limit::COUNT),
                    ("unflushed", Limit::COUNT),
                    ("tear", Limit::Range("512", "4096")),
                    ("acknowledged", Limit::COUNT),
                    ("lost", Limit::COUNT),
                    ("holes", Limit::COUNT),
                    ("relations_checked", Limit::COUNT),
                    (
                        "outcome",
                        Limit::OneOf(&["passed", "lost", "hole", "torn", "corrupt", "unbootable"]),
                    ),
                ]),
                ResultTable::new("power_cut_error", "operation").limits(&[
                    ("operation", Limit::OneOf(&["flush", "write"])),
                    ("errors", Limit::COUNT),
                    ("reported", Limit::OneOf(&["panic", "error"])),
                    ("acknowledged", Limit::COUNT),
                    ("lost", Limit::COUNT),
                    (
                        "outcome",
                        Limit::OneOf(&["passed", "failed", "hidden", "not_tried"]),
                    ),
                ]),
            ]
        }
    }

    fn operator_routines(&self) -> &'static [&'static str] {
        &[
            "power_cut",
            "power_cut_watch",
            "power_cut_verify",
            "_watch_begin",
            "_watch_commit",
            "_watch_verify",
            "_witness",
        ]
    }

    fn facts_query(&self) -> Option<&'static str> {
        Some(include_str!("power_cut/facts.sql"))
    }

    fn findings(&self, facts: &str) -> serde_json::Result<Vec<Finding>> {
        Ok(finding::judge(
            &serde_json::from_str::<Vec<finding::Facts>>(facts)?,
        ))
    }

    fn details(&self, _run_id: i64) -> String {
        "the parts of the batch are in fsbench.power_cut_result, each power cut in fsbench.power_cut_point, failed flushes and writes in fsbench.power_cut_error".into()
    }
}
