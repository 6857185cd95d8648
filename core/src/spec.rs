//! The specification of a run: what the caller asked for, checked once at the edge, with everything left open chosen.
//!
//! `workload::resolve` turns [`RunArguments`] (arguments as they were given) and [`Facts`] (this server, now) into a [`Spec`], or refuses.
//! A resolved [`Spec`] holds only values that can be run; nothing further inside checks them again.

mod act;
mod arguments;
pub(crate) mod check;
mod definition;
pub(crate) mod json;
mod script_arguments;
pub(crate) mod values;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{units, verdict::rate::search};

pub use act::{Act, Actor, HelperTask, Step};
pub(crate) use arguments::any_float;
pub use arguments::{Arguments, Facts, OwnData, RunArguments};
pub use definition::{
    Chosen, ClientsDo, Definition, DocumentTable, Estimate, Given, Lack, Limit, Names, OwnMetric,
    OwnOption, Parameters, Plan, Remark, ResultTable, Results, Workload,
};
pub use script_arguments::ScriptArguments;

/// WAL of a transaction of pgbench's without whole pages, about.
const RECORDS_BYTES: f64 = 500.0;

/// Worker slots that a run takes beside its clients': the coordinator and the sampler. The loader has ended before the
/// clients start.
pub const OVERHEAD_WORKERS: u32 = 2;

/// Percentiles of latency that a search for the sustainable rate can be about.
pub const FEWEST_PERCENT: f64 = 50.0;
pub const MOST_PERCENT: f64 = 99.9;

/// The target that is this server's own data directory.
pub const DEFAULT_TARGET: &str = "default";

/// Options of every workload: they concern where it is run.
pub const OPTIONS_OF_ALL: [&str; 3] = ["wait_for_helper_ms", "lease_ms", "wait_turn"];

/// The bound that ends the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The window is this many milliseconds long.
    DurationMs(u64),
    /// Each client runs this many transactions.
    Transactions(u64),
}

/// The origin of the data of a run on a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// A copy of data that were loaded once.
    #[default]
    Copied,
    /// Copied, sharing blocks until one is changed.
    Cloned,
    /// Loaded on the target.
    Loaded,
}

/// Which part of a run this server does: how a target's server gets its data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// All of it.
    #[default]
    Whole,
    /// All of it, in a server of a target's own.
    WholeOfTarget,
    /// Loads the data, and leaves them.
    LoadOnly,
    /// All but loading: the data are in this database, which an earlier run has left.
    OnLoaded {
        database: String,
        /// The scale that it was loaded with.
        scale: u32,
    },
    /// All of it, in this database of a copy of a user's server. Scripts run as this role of the copy; None: as a role that is made for them.
    OnOwn {
        database: String,
        role: Option<RoleOfOriginal>,
    },
}

impl Stage {
    /// Whether what the server has made is removed with the whole server.
    pub fn goes_with_its_server(&self) -> bool {
        matches!(
            self,
            Self::WholeOfTarget | Self::OnLoaded { .. } | Self::OnOwn { .. }
        )
    }

    /// Whether the database is there before the run.
    pub fn takes_database(&self) -> bool {
        matches!(self, Self::OnLoaded { .. } | Self::OnOwn { .. })
    }

    /// Whether the database is a user's own.
    pub fn is_on_own(&self) -> bool {
        matches!(self, Self::OnOwn { .. })
    }
}

/// A role that has asked for a run: in a copy of its server it has this number and this name. Another role may have been given the name since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleOfOriginal {
    pub oid: u32,
    pub name: String,
    /// Rights that reach beyond the data of a server, and that the role has here. In the copy it may have had others.
    #[serde(default)]
    pub powers: Vec<String>,
}

/// A database of a user's own, in a copy of the user's server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnDatabase {
    /// Name of the prepared data.
    pub data: String,
    pub database: String,
    /// Bytes of the whole copy.
    pub bytes: u64,
}

/// How the tables are made and what is measured beside: the argument `options`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Fillfactor of the tables in percent, 10 to 100.
    pub fillfactor: u8,
    /// Whether the tables are unlogged.
    pub unlogged: bool,
    /// Whether a sampler runs.
    pub sample: bool,
    /// Whether bulk load, index build, VACUUM and CHECKPOINT are timed after the measured window.
    #[serde(skip_serializing_if = "is_default")]
    pub maintenance: bool,
    /// Percentile of latency that is to stay under the limit: the run searches for the highest rate at which it does; 0 for no search.
    #[serde(skip_serializing_if = "is_default")]
    pub sustain: f64,
    /// Segments of WAL that the server of a target makes ready before the warm-up, for the window to use again.
    #[serde(skip_serializing_if = "is_default")]
    pub wal_segments: u32,
    /// How long a run on a target waits for pgfsbench-helper to be there, in milliseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_for_helper_ms: u64,
    /// The origin of the data of a run on a target.
    #[serde(skip_serializing_if = "is_default")]
    pub data: Data,
    /// The contents of the page cache when the server of a target starts.
    #[serde(skip_serializing_if = "is_default")]
    pub cache: Cache,
    /// Whether the server of a target is crashed after the measured window, and its recovery measured. That server hands the
    /// balances over to be compared after the crash, and compares none itself.
    #[serde(skip_serializing_if = "is_default")]
    pub crash: bool,
    /// The run is cancelled if the server that started it has not renewed its lease for this many milliseconds; 0 for no lease. A
    /// run on a target hands it on to the server there.
    #[serde(skip_serializing_if = "is_default")]
    pub lease_ms: u64,
    /// Servers that are measured at the same time, on one filesystem of the target. Scale, clients and rate are those of each.
    #[serde(skip_serializing_if = "is_one")]
    pub instances: u32,
    /// Whether `run` waits for its turn when another run is on or waits; `start` always does.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_turn: bool,
    /// Options that only this run's workload has, each checked.
    #[serde(flatten)]
    pub own: Map<String, Value>,
}

/// Options that concern targets only are not stored with other runs.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One server is what every run has.
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// The contents of the page cache when the server of a target starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cache {
    /// The data, as far as they fit.
    #[default]
    Warm,
    /// Nothing of the data.
    Cold,
    /// Warm, with all of the data in shared buffers; for workloads that load them there.
    SharedBuffers,
}

impl Options {
    /// A workload's own options. They were checked when they were put there.
    pub fn own<T: DeserializeOwned + Default>(&self) -> T {
        serde_json::from_value(Value::Object(self.own.clone())).unwrap_or_default()
    }

    /// The number of servers, if several.
    fn instances_text(&self) -> Option<String> {
        (self.instances > 1).then(|| format!("{} instances", self.instances))
    }

    /// Puts there what a workload has of its own.
    pub fn set_own(&mut self, own: &impl Serialize) {
        if let Ok(Value::Object(own)) = serde_json::to_value(own) {
            self.own = own;
        }
    }

    /// The first option that was given and that means something only where a server is made for the run.
    pub fn of_made_server(&self, workload: Workload) -> Option<&'static str> {
        let own = Self::default();
        let given = [
            (
                "wait_for_helper_ms",
                self.wait_for_helper_ms != own.wait_for_helper_ms,
            ),
            ("data", self.data != own.data),
            ("cache", self.cache != own.cache && !workload.sets_cache()),
        ];
        let mut given = given.into_iter();
        given.find_map(|(name, is_given)| is_given.then_some(name))
    }

    /// These options without those that only matter to the asking server.
    pub fn for_target_server(&self, workload: Workload) -> Self {
        let own = Self::default();
        Self {
            wait_for_helper_ms: own.wait_for_helper_ms,
            wait_turn: own.wait_turn,
            data: own.data,
            // A workload that sees to it by itself does so wherever it is run.
            cache: if workload.sets_cache() {
                self.cache
            } else {
                own.cache
            },
            ..self.clone()
        }
    }
}

impl Options {
    /// Gives the object that can be passed as the argument `options` for that workload.
    pub fn to_argument(&self, workload: Workload) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| workload.takes_option(name));
        }
        value
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            fillfactor: 100,
            unlogged: false,
            sample: true,
            maintenance: false,
            sustain: 0.0,
            wal_segments: 0,
            wait_for_helper_ms: 0,
            lease_ms: 0,
            instances: 1,
            wait_turn: false,
            data: Data::Copied,
            cache: Cache::Warm,
            own: Map::new(),
            crash: false,
        }
    }
}

/// A run, specified in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Name of the target.
    pub target: String,
    pub workload: Workload,
    /// pgbench's scale, 1 to [`units::MAX_SCALE`]; 0 when the workload has no tables.
    pub scale: u32,
    /// Clients, at least 1; for the workload `fsync` the most writers.
    pub clients: u32,
    /// The bound that ends the measured window.
    pub bound: Bound,
    /// Length of the warm-up in milliseconds, 0 for none.
    pub warmup_ms: u64,
    /// Transactions a second of all clients together that are scheduled; None: as fast as it goes.
    pub rate: Option<f64>,
    /// Transactions that take longer are late; under a rate those that are already later before they start are skipped.
    pub latency_limit_ms: Option<f64>,
    /// Seed of all random numbers.
    pub seed: i64,
    /// Settings of the clients' sessions: names in lower case, values as SET takes them.
    pub settings: BTreeMap<String, String>,
    /// The argument `options`.
    pub options: Options,
    /// Which part of it this server does.
    #[serde(default)]
    pub stage: Stage,
    /// The user's own database that the run works in; None: a database of the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_database: Option<OwnDatabase>,
    /// A text of the caller's.
    pub label: Option<String>,
    /// Whether the work database is kept.
    pub keep: bool,
    /// Whether the run is done although it may harm others on this server.
    pub force: bool,
    /// Names of the parameters that were not given and that pgfsbench chose by itself.
    pub chosen: Vec<String>,
    /// The whole run should end within this many milliseconds: the quick look, when nothing was given that may make it
    /// longer (no bound, warm-up, scale or size).
    pub within_ms: Option<u64>,
    /// Names of the parameters that the server of a target of kind `connection` chooses by itself, since it is another
    /// machine: what stands here for them is not what is run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen_there: Vec<String>,
}

impl Spec {
    /// The document that is stored of a run that is done: without a scale or clients where these mean nothing.
    pub fn stored(&self) -> serde_json::Value {
        let mut document = serde_json::json!(self);
        if let Some(members) = document.as_object_mut() {
            let lacks = self.workload.lacking_counts();
            members.retain(|name, _| !lacks.contains(&name.as_str()));
        }
        document
    }

    /// Bytes of the freshly loaded tables and keys, and of the copy of a user's server. 0 when there are none.
    pub fn data_bytes(&self) -> u64 {
        let own = self.own_database.as_ref().map_or(0, |own| own.bytes);
        self.workload.data_bytes(self).saturating_add(own)
    }

    /// Whether it works in a database of a user's own.
    pub fn is_on_own(&self) -> bool {
        self.own_database.is_some() || self.stage.is_on_own()
    }

    /// Whether the tables of the workload are there before the run.
    pub fn finds_tables(&self) -> bool {
        match &self.stage {
            Stage::OnLoaded { .. } => true,
            Stage::OnOwn { .. } => !self.workload.loads_on_own(self),
            Stage::Whole | Stage::WholeOfTarget | Stage::LoadOnly => false,
        }
    }

    /// Bytes that warm-up and measured window add to the tables.
    pub fn added_bytes(&self, assumed_tps: f64) -> u64 {
        self.workload
            .added_bytes(self, self.transactions_at(assumed_tps))
    }

    /// Bytes of the table, and its key, that maintenance loads; 0 without.
    pub fn maintenance_bytes(&self) -> u64 {
        if self.options.maintenance {
            self.data_bytes()
        } else {
            0
        }
    }

    /// Transactions of warm-up and measured window together, at the rate that is asked for or else is assumed.
    pub fn transactions_at(&self, assumed_tps: f64) -> f64 {
        let tps = self.rate.unwrap_or(assumed_tps);
        let warmup = self.warmup_ms as f64 / 1000.0 * tps;
        warmup
            + match self.bound {
                Bound::Transactions(n) => n as f64 * f64::from(self.clients),
                Bound::DurationMs(ms) => ms as f64 / 1000.0 * self.most_cycles() as f64 * tps,
            }
    }

    /// The percentile of latency that is to stay under the limit, in a run that searches for the highest rate at which it does.
    pub fn searched_percentile(&self) -> Option<f64> {
        Some(self.options.sustain).filter(|percentile| *percentile > 0.0)
    }

    /// How often the bound's time goes by at most: each cycle of a search takes it.
    pub fn most_cycles(&self) -> u64 {
        match self.searched_percentile() {
            Some(_) => search::MOST_CYCLES_IN_ALL as u64,
            None => 1,
        }
    }

    /// The fewest cycles of a search.
    pub fn fewest_cycles(&self) -> u64 {
        match self.searched_percentile() {
            Some(_) => search::FEWEST_CYCLES as u64,
            None => 1,
        }
    }

    /// WAL of warm-up and measured window, roughly: each page once in full after the checkpoint that comes before, and the records
    /// of the transactions.
    pub fn window_wal_bytes(&self, assumed_tps: f64) -> u64 {
        if !self.workload.writes() || self.options.unlogged {
            return 0;
        }
        self.data_bytes() + (self.transactions_at(assumed_tps) * RECORDS_BYTES) as u64
    }

    /// Whether it works on tables, which have to be loaded.
    pub fn has_tables(&self) -> bool {
        self.workload.takes("scale")
    }

    /// Worker slots that the run takes at its peak.
    pub fn workers(&self) -> u32 {
        self.workload.workers(self)
    }

    /// Scheduled transactions a second of one client. None without a rate.
    pub fn rate_per_client(&self) -> Option<f64> {
        self.rate.map(|rate| rate / f64::from(self.clients))
    }

    /// The latency limit in nanoseconds. None without a limit.
    pub fn latency_limit_ns(&self) -> Option<u64> {
        self.latency_limit_ms.map(|ms| (ms * 1e6).round() as u64)
    }

    /// The limit beyond which a transaction that has not started is skipped, in nanoseconds: the latency limit, under a
    /// rate only. It is what [`crate::pacing::is_missed`] takes.
    pub fn skip_limit_ns(&self) -> Option<u64> {
        self.rate.and(self.latency_limit_ns())
    }

    /// Whether the database on a target is read again, after a crash or a power cut.
    pub fn keeps_database_of_target(&self) -> bool {
        self.options.crash || self.workload.cuts_power()
    }

    /// Whether it runs in this server, and not in one of its own on another target.
    pub fn is_here(&self) -> bool {
        self.target == DEFAULT_TARGET
    }

    /// Whether the server of the target chooses this parameter.
    pub fn is_chosen_remotely(&self, parameter: &str) -> bool {
        self.chosen_there.iter().any(|name| name == parameter)
    }

    /// Whether this is the quick look, in which a window without checkpoints is expected.
    pub fn is_quick(&self) -> bool {
        self.within_ms.is_some()
    }

    /// Whether a parameter is told: scripts on data of a user's own have the scale as a variable only.
    fn is_told(&self, parameter: &str) -> bool {
        let has_scale = self.scale != 1 || !self.is_on_own() || self.workload.loads_on_own(self);
        !self.is_chosen_remotely(parameter) && (parameter != "scale" || has_scale)
    }

    /// The run in one line, and the values that pgfsbench chose, for a NOTICE.
    pub fn plan_text(&self) -> String {
        let workload = self.workload;
        let mut parts = vec![self.workload.as_str().to_owned()];
        if workload.takes("scale") && self.is_told("scale") {
            parts.push(format!("scale {}", self.scale));
        }
        if workload.takes("clients") && !self.is_chosen_remotely("clients") {
            parts.push(units::format_count(self.clients.into(), "client"));
        }
        if workload.takes("warmup") {
            parts.push(match self.warmup_ms {
                0 => "no warm-up".into(),
                ms => format!("{} warm-up", seconds(ms)),
            });
        }
        parts.extend(self.options.instances_text());
        parts.extend(workload.shown(self));
        if let Some(own) = &self.own_database {
            parts.push(format!(
                "database {} of the data {}",
                own.database, own.data
            ));
        }
        match self.bound {
            _ if !workload.takes("duration") => {}
            Bound::DurationMs(ms) if self.searched_percentile().is_some() => {
                let (fewest, most) = (self.fewest_cycles(), self.most_cycles());
                parts.push(match self.is_chosen_remotely("duration") {
                    true => format!("{fewest} to {most} checkpoint cycles measured"),
                    false => format!("{fewest} to {most} cycles of {} measured", seconds(ms)),
                });
            }
            Bound::DurationMs(ms) => parts.push(format!("{} measured", seconds(ms))),
            Bound::Transactions(n) => {
                let each = units::format_count(n, "transaction");
                parts.push(format!("{each} per client"));
            }
        }
        parts.extend(
            self.rate
                .map(|rate| format!("{rate} transactions per second scheduled")),
        );
        parts.extend(
            self.latency_limit_ms
                .map(|ms| match self.searched_percentile() {
                    Some(percentile) => format!(
                        "searches for the rate at which {percentile} % take at most {ms} ms"
                    ),
                    None => format!("latency limit {ms} ms"),
                }),
        );
        parts.push(format!("seed {}", self.seed));
        let chosen: Vec<&str> = self
            .chosen
            .iter()
            .filter(|name| self.is_told(name))
            .map(String::as_str)
            .collect();
        let mut remarks = Vec::new();
        if !chosen.is_empty() {
            remarks.push(format!("chosen: {}", chosen.join(", ")));
        }
        if !self.chosen_there.is_empty() {
            remarks.push(format!("chosen there: {}", self.chosen_there.join(", ")));
        }
        let mut text = parts.join(", ");
        if !remarks.is_empty() {
            text += &format!(" ({})", remarks.join("; "));
        }
        text
    }
}

fn seconds(ms: u64) -> String {
    units::format_seconds(ms as f64 / 1000.0)
}
