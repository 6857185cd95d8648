//! Kinds of workloads: what is measured, and so which parameters and options mean anything.

use std::collections::BTreeSet;

use super::{Asked, Workload, check};
use crate::refusal::Refusal;

/// What a workload measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Transactions of clients, on pgbench's tables.
    Transactions,
    /// Writes to a file as those of WAL, and what it takes to have them on disk.
    Fsync,
    /// Parallel scans of one table.
    Scan,
}

/// Options of every workload: they concern where it is run.
const OF_ALL: [&str; 3] = ["wait_for_helper_ms", "lease_ms", "wait_turn"];

impl Kind {
    /// The parameters of `run` that this kind takes, of those that not every kind does.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Transactions => &[
                "scale",
                "size",
                "clients",
                "duration",
                "transactions",
                "warmup",
                "rate",
                "latency_limit_ms",
                "settings",
                "keep",
            ],
            Self::Fsync => &["duration"],
            Self::Scan => &["scale", "size", "settings", "keep"],
        }
    }

    /// The members of `options` that this kind takes, beside those of all.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Transactions => &[
                "fillfactor",
                "unlogged",
                "sample",
                "sample_alternately",
                "data",
                "cache",
                "crash",
                "maintenance",
            ],
            Self::Fsync => &["sample", "methods", "writers"],
            Self::Scan => &[
                "unlogged", "sample", "data", "cache", "degrees", "repeats", "leader", "payload",
                "loaders", "readers",
            ],
        }
    }

    /// Whether this kind takes a parameter; only to be asked of those that not every kind does.
    pub fn takes(self, parameter: &str) -> bool {
        self.parameters().contains(&parameter)
    }

    /// Whether this kind takes an option.
    pub fn takes_option(self, option: &str) -> bool {
        OF_ALL.contains(&option) || self.options().contains(&option)
    }

    /// Whether any kind takes an option.
    pub fn is_option(option: &str) -> bool {
        Self::all_options().contains(option)
    }

    /// The options of all kinds, in the order of their names.
    pub fn all_options() -> BTreeSet<&'static str> {
        let kinds = [Self::Transactions, Self::Fsync, Self::Scan].into_iter();
        let all = kinds.flat_map(Self::options).chain(&OF_ALL);
        all.copied().collect()
    }
}

impl Workload {
    /// What it measures.
    pub fn kind(self) -> Kind {
        match self {
            Self::Tpcb | Self::TpcbSimpleUpdate | Self::SelectOnly => Kind::Transactions,
            Self::Fsync => Kind::Fsync,
            Self::Scan => Kind::Scan,
        }
    }
}

/// Refuses parameters that mean nothing for a workload.
pub fn check_parameters(workload: Workload, asked: &Asked) -> Result<(), Refusal> {
    let given = [
        ("scale", asked.scale.is_some()),
        ("size", asked.size.is_some()),
        ("clients", asked.clients.is_some()),
        ("duration", asked.duration_us.is_some()),
        ("transactions", asked.transactions.is_some()),
        ("warmup", asked.warmup_us.is_some()),
        ("rate", asked.rate.is_some()),
        ("latency_limit_ms", asked.latency_limit_ms.is_some()),
        ("settings", asked.settings.is_some()),
        ("keep", asked.keep),
    ];
    let wrong = given
        .into_iter()
        .find(|(name, given)| *given && !workload.kind().takes(name));
    wrong.map_or(Ok(()), |(name, _)| {
        Err(check::not_of_workload(workload, "parameter", name))
    })
}
