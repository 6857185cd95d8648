//! The workloads: each has a folder with everything that can be decided about it without a server. Other code asks a workload's
//! [`Definition`](crate::spec::Definition).

pub mod commit;
pub mod fsync;
pub mod io;
pub mod mix;
mod options;
pub mod power_cut;
mod resolve;
pub mod scan;
pub mod script;
mod syncs_and_commits;
mod tables;
pub mod tpcb;
pub mod tpcc_like;
mod transactions;

use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    refusal::{Refusal, quoted},
    spec::{OwnMetric, RunArguments, Workload},
};

pub use power_cut::{checked_cuts, loss_below, run_seconds as power_cut_seconds};
pub use resolve::resolve;
pub use tables::{
    VERIFICATION, document_tables, measured_tables, operator_routines, result_tables, tables,
};

/// The registry: all of them, in the order in which they are listed to people. The first is the default.
pub static ALL: &[Workload] = &[
    Workload::of(&tpcb::Script::Tpcb),
    Workload::of(&tpcb::Script::SimpleUpdate),
    Workload::of(&tpcb::Script::SelectOnly),
    Workload::of(&fsync::Fsync),
    Workload::of(&scan::Scans),
    Workload::of(&commit::Commit),
    Workload::of(&script::Script),
    Workload::of(&io::Io),
    Workload::of(&tpcc_like::TpccLike),
    Workload::of(&power_cut::PowerCut),
];

impl Workload {
    /// The workload of this name.
    pub fn parse(name: &str) -> Option<Self> {
        let is_it =
            |workload: &&Self| workload.as_str() == name || workload.aliases().contains(&name);
        ALL.iter().find(is_it).copied()
    }
}

impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name)
            .ok_or_else(|| D::Error::custom(format!("workload {} does not exist", quoted(&name))))
    }
}

/// The document that travels with a run of these arguments, as JSON. Each workload is asked, since an experiment may vary the workload.
pub fn document(arguments: &RunArguments) -> Result<Option<String>, Refusal> {
    let documents = ALL.iter().map(|workload| workload.document(arguments));
    documents.filter_map(Result::transpose).next().transpose()
}

/// Figures that only runs of one workload have.
pub fn metrics() -> impl Iterator<Item = &'static OwnMetric> {
    ALL.iter().flat_map(|workload| workload.metrics())
}

/// The figure of one workload that has this name, and the parameter in it.
pub fn find_metric(name: &str) -> Option<(&'static OwnMetric, &str)> {
    metrics().find_map(|metric| Some((metric, metric.parameter_in(name)?)))
}

/// Options for which the machine that is measured chooses, whatever the workload.
pub fn options_of_machine() -> Vec<&'static str> {
    let own = ALL.iter().flat_map(|workload| workload.own_options());
    own.filter(|option| option.depends_on_machine)
        .map(|option| option.name)
        .collect()
}

/// The workload that is asked for.
fn named(name: Option<&str>) -> Result<Workload, Refusal> {
    let Some(name) = name else {
        return Ok(ALL[0]);
    };
    Workload::parse(name).ok_or_else(|| {
        let known: Vec<String> = ALL.iter().map(|w| format!("\"{}\"", w.as_str())).collect();
        Refusal::argument(format!("workload {} does not exist", quoted(name)))
            .detail("Names of workloads are in lower case, as pgbench's.")
            .hint(format!(
                "Use one of {}. {}",
                known.join(", "),
                options::OWN_SCRIPTS
            ))
    })
}

/// Refuses parameters that mean nothing for a workload.
fn check_parameters(workload: Workload, arguments: &RunArguments) -> Result<(), Refusal> {
    let script = &arguments.script;
    let given = [
        ("scale", arguments.scale.is_some()),
        ("size", arguments.size.is_some()),
        ("clients", arguments.clients.is_some()),
        ("duration", arguments.duration_us.is_some()),
        ("transactions", arguments.transactions.is_some()),
        ("warmup", arguments.warmup_us.is_some()),
        ("rate", arguments.rate.is_some()),
        ("latency_limit_ms", arguments.latency_limit_ms.is_some()),
        ("settings", arguments.settings.is_some()),
        ("keep", arguments.keep),
        ("scripts", script.scripts.is_some()),
        ("variables", script.variables.is_some()),
        ("init_script", script.init_script.is_some()),
        ("checks", script.checks.is_some()),
        ("protocol", script.protocol.is_some()),
        ("max_tries", script.max_tries.is_some()),
        ("continue_on_error", script.continue_on_error.is_some()),
        ("data", arguments.data.is_some()),
        ("database", arguments.database.is_some()),
    ];
    let wrong = given
        .into_iter()
        .find(|(name, given)| *given && !workload.takes(name));
    wrong.map_or(Ok(()), |(name, _)| {
        let refusal = workload.refusal_of("parameter", name);
        // Only scripts have what no other workload takes.
        let takers = ALL.iter().filter(|workload| workload.takes(name));
        let takers: Vec<&str> = takers.map(|workload| workload.as_str()).collect();
        Err(match takers[..] {
            [only] => refusal.hint(format!("Give workload => '{only}', or leave it out.")),
            _ => refusal,
        })
    })
}

/// Only what runs transactions can be given a rate, which a search tries.
fn check_rate(workload: Workload, arguments: &RunArguments) -> Result<(), Refusal> {
    let options = arguments.options.as_ref();
    let searches = options.is_some_and(|options| options.get("sustain").is_some());
    if !searches || workload.takes("rate") {
        return Ok(());
    }
    Err(Refusal::argument(format!(
        "workload \"{}\" has no rate that could be sustained",
        workload.as_str()
    ))
    .detail("It runs no transactions that could be due at certain times.")
    .hint("Use a workload that takes the argument \"rate\"."))
}

#[cfg(test)]
pub(crate) mod tests;
