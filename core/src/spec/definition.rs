//! The definition of a workload, as far as it needs no server: the one thing that a specification, a check or a finding knows of
//! it. Each workload answers in its folder of `workload`, where they are also listed.

mod estimate;
mod metric;
mod parameters;
mod plan;
mod results;

use std::{collections::BTreeMap, fmt, ops::Deref};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{Act, Bound, Facts, ScriptArguments, Stage};
use crate::refusal::Refusal;

pub use estimate::Estimate;
pub use metric::{Lack, OwnMetric};
pub use parameters::Parameters;
pub use plan::Plan;
pub use results::Results;

/// The definition of a workload: four traits, each with answers that fit transactions of clients in a database.
pub trait Definition: Parameters + Estimate + Plan + Results {}

impl<T: Parameters + Estimate + Plan + Results> Definition for T {}

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

/// A table with rows of a run, beside `run_log`. The SQL function `fsbench._result_tables()` has the same list for triggers, export and
/// import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultTable {
    /// Name in the schema.
    pub name: &'static str,
    /// The columns that tell the rows of a run apart, in the order of the rows; `run_id` where a run has one row.
    pub key: &'static str,
    /// Limits of values from elsewhere, by column, where they are narrower than those of the column's type.
    pub limits: &'static [(&'static str, Limit)],
}

impl ResultTable {
    /// A table whose values have the limits of their types.
    pub const fn new(name: &'static str, key: &'static str) -> Self {
        let limits = &[];
        Self { name, key, limits }
    }

    /// The table with limits of some columns.
    pub const fn limits(self, limits: &'static [(&'static str, Limit)]) -> Self {
        Self { limits, ..self }
    }
}

/// A table of texts, with the columns `sha256` and `document`: a run refers to a text by its hash. The SQL function
/// `fsbench._document_tables()` has the same list for triggers, export and import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentTable {
    /// Name in the schema.
    pub name: &'static str,
    /// The option of a run that has the hash, as its member `sha256`. Arguments of calls have a member of this name, too.
    pub option: &'static str,
    /// The members of those arguments that are texts.
    pub texts: &'static [&'static str],
}

/// The values that a column from elsewhere may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Numbers from the first to the second, as SQL writes them.
    Range(&'static str, &'static str),
    /// These texts.
    OneOf(&'static [&'static str]),
    /// Texts of at most this number of characters, all of them visible.
    Short(u32),
    /// A JSON array or object.
    Document,
}

impl Limit {
    /// Bytes, and events that are counted.
    pub const COUNT: Self = Self::Range("0", "1e15");
    /// Numbers of things, from 1.
    pub const NUMBER: Self = Self::Range("1", "2147483647");
    /// Names and codes.
    pub const NAME: Self = Self::Short(200);
}

/// The arguments of a run, each checked by itself, and the facts of the server.
pub struct Given<'a> {
    /// This server, now.
    pub facts: &'a Facts,
    /// Which part of the run this server does.
    pub stage: &'a Stage,
    /// Whether the run works in a database of a user's own.
    pub is_on_own: bool,
    /// Settings of the clients' sessions.
    pub settings: &'a BTreeMap<String, String>,
    pub scale: Option<u32>,
    /// The number of clients.
    pub clients: Option<u32>,
    /// The bound that ends the window.
    pub bound: Option<Bound>,
    /// Length of the warm-up.
    pub warmup_ms: Option<u64>,
    /// Transactions per second of all clients together.
    pub rate: Option<f64>,
    /// Scripts and how they are run.
    pub script: &'a ScriptArguments,
}

impl Given<'_> {
    /// The scale of the data that are there already; else the one that is given.
    pub fn loaded_or_given_scale(&self) -> Option<u32> {
        match self.stage {
            Stage::OnLoaded { scale, .. } => Some(*scale),
            Stage::Whole | Stage::WholeOfTarget | Stage::LoadOnly | Stage::OnOwn { .. } => {
                self.scale
            }
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

    /// Name in SQL.
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

    /// Whether its runs load tables.
    pub fn loads_tables(self) -> bool {
        self.0.steps().iter().any(|step| step.act == Act::Load)
    }

    /// The workload's own option of this name.
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

    /// Which of `scale` and `clients` mean nothing to it: runs do not store them.
    pub fn lacking_counts(self) -> &'static [&'static str] {
        match (self.takes("scale"), self.clients_come_from().is_some()) {
            (true, true) => &[],
            (true, false) => &["clients"],
            (false, true) => &["scale"],
            (false, false) => &["scale", "clients"],
        }
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
