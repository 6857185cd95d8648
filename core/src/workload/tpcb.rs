//! pgbench's three built-in scripts on pgbench's tables.
//!
//! Arguments that are not given are chosen as by all workloads of transactions, and besides: for `tpcb` with a given scale no more clients
//! than branches, so that storage is measured and not row locks; a scale of as many as clients, at least 10.

mod balance;

use super::transactions;
use crate::{
    refusal::Refusal,
    spec::{Act, Chosen, Estimate, Given, Names, Options, Parameters, Plan, Results, Spec, Step},
    units,
};

pub use balance::{Balances, checks};

/// Scale that is chosen, at least.
const CHOSEN_SCALE: u32 = 10;
/// From this scale on, `aid` is a bigint, as in pgbench (its SCALE_32BIT_THRESHOLD).
const BIGINT_SCALE: u32 = 20_000;

/// One of pgbench's scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Updates of an account, its teller and its branch, and a row of history.
    Tpcb,
    /// Like `Tpcb`, without teller and branch, and so without their locks.
    SimpleUpdate,
    /// Reads one account.
    SelectOnly,
}

impl Script {
    /// The script of a run.
    pub fn of(spec: &Spec) -> Self {
        let all = [Self::Tpcb, Self::SimpleUpdate, Self::SelectOnly];
        let is_it = |script: &Self| script.name() == spec.workload.as_str();
        all.into_iter().find(is_it).unwrap_or(Self::Tpcb)
    }
}

/// Whether `aid` is a bigint at this scale, as in pgbench.
pub fn aid_is_bigint(scale: u32) -> bool {
    scale >= BIGINT_SCALE
}

impl Parameters for Script {
    fn name(&self) -> &'static str {
        match self {
            Self::Tpcb => "tpcb",
            Self::SimpleUpdate => "tpcb-simple-update",
            Self::SelectOnly => "select-only",
        }
    }

    /// pgbench's own names.
    fn aliases(&self) -> &'static [&'static str] {
        match self {
            Self::Tpcb => &["tpcb-like"],
            Self::SimpleUpdate => &["simple-update"],
            Self::SelectOnly => &[],
        }
    }

    fn parameters(&self) -> &'static [&'static str] {
        &transactions::PARAMETERS
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &[
            "fillfactor",
            "unlogged",
            "sample",
            "data",
            "cache",
            "crash",
            "maintenance",
            "sustain",
            "wal_segments",
            "instances",
        ]
    }

    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        _names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        let branches = match self {
            Self::Tpcb => given.scale.unwrap_or(u32::MAX),
            Self::SimpleUpdate | Self::SelectOnly => u32::MAX,
        };
        let chosen = transactions::choose(given, options, branches)?;
        let scale = given.loaded_or_given_scale();
        Ok(Chosen {
            scale: scale.unwrap_or(chosen.clients.max(CHOSEN_SCALE)),
            ..chosen
        })
    }

    fn contents(&self, _spec: &Spec) -> String {
        "pgbench".into()
    }
}

impl Estimate for Script {
    fn data_bytes(&self, spec: &Spec) -> u64 {
        units::bytes_for_scale_at(spec.scale, spec.options.fillfactor)
    }

    /// The columns that a transaction sets, by their types, without headers, padding and indexes.
    ///
    /// The statements and tables are those of pgbench's built-in scripts (src/bin/pgbench/pgbench.c, `builtin_script` and
    /// `initCreateTables`): each balance is an int of 4 bytes; a row of history has tid, bid and delta of 4 bytes each, aid
    /// of 4 or 8, mtime of 8, and a filler that is NULL.
    fn changed_bytes(&self, spec: &Spec) -> Option<u64> {
        const BALANCE: u64 = 4;
        let aid = if aid_is_bigint(spec.scale) { 8 } else { 4 };
        let history = 3 * 4 + aid + 8;
        match self {
            Self::Tpcb => Some(3 * BALANCE + history),
            Self::SimpleUpdate => Some(BALANCE + history),
            Self::SelectOnly => None,
        }
    }

    fn contended_rows(&self, scale: u32) -> Option<(u64, &'static str)> {
        (*self == Self::Tpcb).then_some((scale.into(), "branch"))
    }
}

impl Plan for Script {
    fn writes(&self) -> bool {
        matches!(self, Self::Tpcb | Self::SimpleUpdate)
    }

    fn steps(&self) -> &'static [Step] {
        const {
            &[
                Step::new(
                    Act::Load,
                    "create and fill the tables of the workload, as pgbench -i does",
                ),
                Step::new(
                    Act::Vacuum,
                    "VACUUM (ANALYZE) them, and add their primary keys",
                ),
                Step::FILL_WAL,
                Step::CHECKPOINT,
                Step::LAUNCH,
                Step::new(Act::WarmUp, "transactions of all clients"),
                Step::new(Act::Measure, "transactions of all clients"),
                Step::new(
                    Act::Verify,
                    "compare the sums of accounts, tellers, branches and history",
                ),
                Step::new(
                    Act::Maintain,
                    "load another table, build its index, VACUUM, CHECKPOINT: each timed",
                ),
            ]
        }
    }
}

impl Results for Script {
    fn verified_after_crash(&self) -> &'static str {
        "compare what is there with what was committed, and the sums of accounts, tellers, branches and history"
    }
}
