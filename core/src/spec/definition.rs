//! The definition of a workload, as far as it needs no server: the one thing that a specification, a check or a finding knows of
//! it. Each workload answers in its folder of `workload`, where they are also listed.

use std::{collections::BTreeMap, fmt, ops::Deref};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Asked, Bound, Facts, Options, ScriptArguments, Spec, Stage, Step, check};
use crate::{refusal::Refusal, units};

/// A workload. A few methods ask what it is; most have an answer that fits transactions of clients in a database.
pub trait Definition: Sync {
    /// Its name in SQL.
    fn name(&self) -> &'static str;

    /// Other names that are taken for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The parameters of `run` that it takes, of those that not every workload does.
    fn parameters(&self) -> &'static [&'static str];

    /// The members of `options` that it takes as other workloads do, beside those of all.
    fn shared_options(&self) -> &'static [&'static str];

    /// The members of `options` that are its own.
    fn own_options(&self) -> &'static [OwnOption] {
        &[]
    }

    /// Why it has no such parameter or option (DETAIL), and what to give instead (HINT).
    fn lacks(&self, _name: &str) -> (&'static str, &'static str) {
        ("Other workloads have it.", "Leave it out.")
    }

    /// The parameter or option that says how many clients there are; None where their number says nothing.
    fn clients_come_from(&self) -> Option<&'static str> {
        Some("clients")
    }

    /// The scale that is given, as such or as a size. Not both are.
    fn scale(
        &self,
        asked: &Asked,
        _options: &Options,
        facts: &Facts,
    ) -> Result<Option<u32>, Refusal> {
        match (asked.scale, asked.size.as_deref()) {
            (Some(scale), _) => check::scale(scale).map(Some),
            (None, Some(size)) => {
                units::scale_for_size(units::parse_size(size, facts.memory_bytes)?).map(Some)
            }
            (None, None) => Ok(None),
        }
    }

    /// Chooses what was not given, and refuses what the server does not allow.
    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        names: &mut Names,
    ) -> Result<Chosen, Refusal>;

    /// Worker slots that a run takes at its peak.
    fn workers(&self, spec: &Spec) -> u32 {
        spec.clients + super::OVERHEAD_WORKERS
    }

    /// Its own part of the run in one line.
    fn shown(&self, _spec: &Spec) -> Vec<String> {
        Vec::new()
    }

    /// Bytes of the freshly loaded tables and keys.
    fn data_bytes(&self, _spec: &Spec) -> u64 {
        0
    }

    /// About the same at a scale, when nothing else is known of a run but the options that are given.
    fn bytes_at(&self, scale: u32, _options: &Value) -> u64 {
        units::bytes_for_scale(scale)
    }

    /// Bytes that a run adds to its tables, if it runs so many transactions.
    fn added_bytes(&self, spec: &Spec, _transactions: f64) -> u64 {
        // Dead rows, and pgbench's history.
        self.data_bytes(spec) / 4
    }

    /// The contents of its tables beside the scale: they tell data apart that were loaded once.
    fn contents(&self, _spec: &Spec) -> String {
        self.name().into()
    }

    /// Whether it works in a database; else on files beside it, without WAL and transaction ids.
    fn uses_database(&self) -> bool {
        true
    }

    /// Whether it runs transactions that write.
    fn writes(&self) -> bool;

    /// Whether checkpoints write much of what its transactions have written: a verdict then needs windows of whole checkpoint cycles.
    fn depends_on_checkpoints(&self) -> bool {
        self.writes()
    }

    /// The clients' work in the measured window.
    fn clients_do(&self) -> ClientsDo {
        ClientsDo::Transactions
    }

    /// The name of its transaction, beside `commit` and `service`, which are parts of it.
    fn transaction(&self) -> &'static str {
        self.name()
    }

    /// Whether its transactions leave dead rows, which somebody has to remove.
    fn leaves_dead_rows(&self) -> bool {
        self.writes()
    }

    /// Whether it reads data from storage if they are larger than memory, and is meant to.
    fn reads_storage(&self) -> bool {
        true
    }

    /// Whether it is measured how fast something is written, so that what a commit promises matters.
    fn measures_writes(&self) -> bool {
        true
    }

    /// Whether it puts its table into the cache or out of it by itself before each unit of work, as the option `cache` says.
    fn sets_cache(&self) -> bool {
        false
    }

    /// Refuses a filesystem on which the cache cannot be as the option wants it. `is_cached_below`: it lies in an image that is read
    /// through the page cache of another filesystem.
    fn check_cache(
        &self,
        _spec: &Spec,
        _filesystem: &str,
        _is_cached_below: bool,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// Refuses data that a server with so much shared_buffers cannot hold as the option `cache` wants it.
    fn check_buffers(&self, _spec: &Spec, _shared_buffers_bytes: u64) -> Result<(), Refusal> {
        Ok(())
    }

    /// Settings that a target's server needs for it, beside those for its workers.
    fn server_settings(&self, _spec: &Spec) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Bytes of user data that one transaction changes; None for what changes no rows.
    fn changed_bytes(&self, _spec: &Spec) -> Option<u64> {
        None
    }

    /// How many rows at this scale all clients change, and what one of them is called, if each transaction changes one of them.
    fn contended_rows(&self, _scale: u32) -> Option<(u64, &'static str)> {
        None
    }

    /// Advice for a run in which the processors were saturated.
    fn when_saturated(&self) -> &'static str {
        "The processors were the limit, not the storage: use data beyond RAM, fewer clients, or a rate."
    }

    /// True if it syncs files by itself, so that settings of the server do not count.
    fn syncs_itself(&self) -> bool {
        false
    }

    /// Tables of results that only this workload has rows in, beside those of all.
    fn tables(&self) -> &'static [ResultTable] {
        &[]
    }

    /// The figure that an experiment decides by, where that is not one of transactions.
    fn metric(&self) -> Option<&'static str> {
        None
    }

    /// Names of the kinds of transactions that a run with these arguments measures; empty if all are alike.
    fn transaction_names(&self, _asked: &Asked, _options: &Map<String, Value>) -> Vec<String> {
        Vec::new()
    }

    /// Refuses an experiment that varies these parameters, if its runs would then not do comparable work.
    fn check_varied(&self, _asked: &Asked, _varied: &[&str]) -> Result<(), Refusal> {
        Ok(())
    }

    /// Remarks about the arguments that are no errors, told before the run.
    fn remarks(&self, _asked: &Asked) -> Vec<Remark> {
        Vec::new()
    }

    /// The place of a run's details, in half a sentence.
    fn details(&self, _run_id: i64) -> String {
        "each second is in fsbench.sample".into()
    }

    /// How it is verified after a crash.
    fn verified_after_crash(&self) -> &'static str {
        "compare what is there with what was committed"
    }

    /// All steps of the workload in the measured server, in order, from its work database, if it has one, to its results. The plan of a run leaves
    /// out those that the run does not need.
    fn steps(&self) -> &'static [Step];
}

/// The clients' work in the measured window, which decides when they are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientsDo {
    /// They run transactions from its start to its end. These are counted, and what they cost.
    Transactions,
    /// They are there all the time. For each part of it some of them begin at the same moment.
    Parts,
    /// They come for parts of it, in which some of them take part at once, and leave.
    Visits,
}

/// A member of `options` that one workload has.
#[derive(Clone, Copy)]
pub struct OwnOption {
    pub name: &'static str,
    /// A description for people.
    pub help: &'static str,
    /// Whether what is chosen for it depends on the machine that is measured.
    pub depends_on_machine: bool,
    /// Checks a value that is given, and puts it in order.
    pub check: fn(&str, &Value) -> Result<Value, Refusal>,
}

/// A remark about arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub message: String,
    pub hint: &'static str,
}

/// A table with rows of a run, beside `run_log`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultTable {
    /// Its name in the schema.
    pub name: &'static str,
    /// The columns that tell the rows of a run apart, in the order of the rows.
    pub key: &'static str,
}

/// The arguments of a run, each checked by itself, and the facts of the server.
pub struct Given<'a> {
    /// This server, now.
    pub facts: &'a Facts,
    /// Which part of the run this server does.
    pub stage: &'a Stage,
    /// Settings of the clients' sessions.
    pub settings: &'a BTreeMap<String, String>,
    pub scale: Option<u32>,
    /// The number of clients.
    pub clients: Option<u32>,
    /// The bound that ends the window.
    pub bound: Option<Bound>,
    /// Length of the warm-up.
    pub warmup_ms: Option<u64>,
    /// Scripts and how they are run.
    pub script: &'a ScriptArguments,
}

impl Given<'_> {
    /// The scale of the data that are there already; else the one that is given.
    pub fn loaded_or_given_scale(&self) -> Option<u32> {
        match self.stage {
            Stage::OnLoaded { scale, .. } => Some(*scale),
            Stage::Whole | Stage::WholeOfTarget | Stage::LoadOnly => self.scale,
        }
    }
}

/// The values that a workload chooses for a run, of those that every specification has.
pub struct Chosen {
    /// Clients, at least 1.
    pub clients: u32,
    /// Scale; 0 when there are no tables.
    pub scale: u32,
    /// The bound that ends the window.
    pub bound: Bound,
    /// Length of the warm-up.
    pub warmup_ms: u64,
}

/// The names of what pgfsbench chose.
#[derive(Default)]
pub struct Names {
    /// All of them.
    pub chosen: Vec<String>,
    /// The names of those that another machine chooses for itself.
    pub there: Vec<String>,
}

impl Names {
    /// An option that was not given.
    pub fn add(&mut self, option: &OwnOption, facts: &Facts) {
        self.chosen.push(option.name.into());
        if option.depends_on_machine && facts.by_connection {
            self.there.push(option.name.into());
        }
    }
}

/// One of the workloads. Two are equal that have the same name; as JSON it is that.
#[derive(Clone, Copy)]
pub struct Workload(&'static dyn Definition);

impl Workload {
    /// The workload of that definition.
    pub const fn of(definition: &'static dyn Definition) -> Self {
        Self(definition)
    }

    /// Its name in SQL.
    pub fn as_str(self) -> &'static str {
        self.0.name()
    }

    /// Whether it takes a parameter; only to be asked of those that not every workload does.
    pub fn takes(self, parameter: &str) -> bool {
        self.0.parameters().contains(&parameter)
    }

    /// Whether its clients run transactions.
    pub fn runs_transactions(self) -> bool {
        self.0.clients_do() == ClientsDo::Transactions
    }

    /// Its own option of this name.
    pub fn own_option(self, name: &str) -> Option<&'static OwnOption> {
        self.0
            .own_options()
            .iter()
            .find(|option| option.name == name)
    }

    /// The refusal of a parameter or an option that another workload takes.
    pub fn refusal_of(self, what: &str, name: &str) -> Refusal {
        let (detail, hint) = self.0.lacks(name);
        Refusal::argument(format!(
            "workload \"{}\" has no {what} \"{name}\"",
            self.as_str()
        ))
        .detail(detail)
        .hint(hint)
    }

    /// Whether it takes an option.
    pub fn takes_option(self, name: &str) -> bool {
        super::OPTIONS_OF_ALL.contains(&name)
            || self.0.shared_options().contains(&name)
            || self.own_option(name).is_some()
    }
}

impl Deref for Workload {
    type Target = dyn Definition;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Workload {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Workload {}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Workload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
