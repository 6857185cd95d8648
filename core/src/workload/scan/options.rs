//! Its options one by one, what is chosen of them, and what the server must allow.
//!
//! Chosen values: degrees 1, 2, 4, … up to twice the processors (at least 4), within `max_parallel_workers` and the free worker slots, each
//! 5 times; as many loaders as processors, at most 8; 1 reader, as many as processors, and as many as the largest degree, within
//! `pgfsbench.max_clients` and the free worker slots.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    LONGEST_PAYLOAD, MOST_DEGREE, MOST_REPEATS, MOST_SCANS, Named, Payload, REPEATS, TRIES,
    TableName, cache, chosen_degrees, own_table,
};
use crate::{
    refusal::{Kind, Refusal, quoted},
    spec::{Facts, Given, Names, Options, OwnOption, RunArguments, Stage, check, values},
    units::{MAX_SCALE, format_bytes, parse_size},
    work_database,
};

/// Loaders that are chosen at most: more than that wait for each other to make the file longer.
const CHOSEN_LOADERS: u32 = 8;

const DEGREES: OwnOption = OwnOption {
    name: "degrees",
    depends_on_machine: true,
    check: |name, value| Ok(json!(values::numbers(name, value, 1, MOST_DEGREE)?)),
};
const REPEATED: OwnOption = OwnOption {
    name: "repeats",
    depends_on_machine: false,
    check: |name, value| {
        Ok(json!(values::whole_number(
            name,
            value,
            1,
            MOST_REPEATS.into()
        )?))
    },
};
const LEADER: OwnOption = OwnOption {
    name: "leader",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::boolean(name, value)?)),
};
const PAYLOAD: OwnOption = OwnOption {
    name: "payload",
    depends_on_machine: false,
    check: payload,
};
const LOADERS: OwnOption = OwnOption {
    name: "loaders",
    depends_on_machine: true,
    check: |name, value| {
        Ok(json!(values::whole_number(
            name,
            value,
            1,
            MOST_DEGREE.into()
        )?))
    },
};
const READERS: OwnOption = OwnOption {
    name: "readers",
    depends_on_machine: true,
    check: |name, value| Ok(json!(values::numbers(name, value, 0, MOST_DEGREE)?)),
};

const TABLE: OwnOption = OwnOption {
    name: "table",
    depends_on_machine: false,
    check: own_table::option,
};

pub const OPTIONS: [OwnOption; 7] = [DEGREES, REPEATED, LEADER, PAYLOAD, LOADERS, READERS, TABLE];

/// The options of this workload. Empty, or None: not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScanOptions {
    /// Numbers of parallel workers, in ascending order.
    pub degrees: Vec<u32>,
    /// How often each degree is measured.
    pub repeats: Option<u32>,
    /// Whether the leader takes part.
    pub leader: Option<bool>,
    /// The contents of a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Payload>,
    /// How many load at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaders: Option<u32>,
    /// How many processes at a time read the table's files without the executor, one number after the other.
    pub readers: Option<Vec<u32>>,
    /// Name of a table of the user's own that is scanned; None: the run loads a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
}

/// The contents of a row.
fn payload(name: &str, value: &Value) -> Result<Value, Refusal> {
    let known = match value {
        Value::String(text) if text == "bit200" => Some(Payload::Named(Named::Bit200)),
        Value::String(text) if text == "accounts" => Some(Payload::Named(Named::Accounts)),
        value => value
            .as_u64()
            .filter(|n| (1..=u64::from(LONGEST_PAYLOAD)).contains(n))
            .map(|n| Payload::Bytes(n as u32)),
    };
    known.map(|payload| json!(payload)).ok_or_else(|| {
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(match value {
                Value::String(text) => format!("It is {}.", quoted(text)),
                Value::Number(n) => format!("It is {n}."),
                other => format!("It is {}.", values::kind(other)),
            })
            .hint(format!(
                "Give \"bit200\", \"accounts\", or a number of random bytes between 1 and {LONGEST_PAYLOAD}."
            ))
    })
}

/// Millions of rows, given as such or as the size of the table.
pub fn scale(
    arguments: &RunArguments,
    payload: Payload,
    facts: &Facts,
) -> Result<Option<u32>, Refusal> {
    let most = || {
        let bytes = format_bytes(payload.bytes(MAX_SCALE));
        format!("The scale must be between 1 and {MAX_SCALE}, which takes {bytes}.")
    };
    let hint = format!(
        "One unit of scale is a million rows, {} of them.",
        format_bytes(payload.bytes(1))
    );
    if let Some(scale) = arguments.scale {
        let given = u32::try_from(scale).ok();
        return match given.filter(|scale| (1..=MAX_SCALE).contains(scale)) {
            Some(scale) => Ok(Some(scale)),
            None => Err(Refusal::argument(format!("scale {scale} is out of range"))
                .detail(most())
                .hint(hint)),
        };
    }
    let Some(size) = arguments.size.as_deref() else {
        return Ok(None);
    };
    let bytes = parse_size(size, facts.memory_bytes)?;
    match payload.scale_for(bytes).filter(|scale| *scale <= MAX_SCALE) {
        Some(scale) => Ok(Some(scale)),
        None => Err(
            Refusal::argument(format!("size {} is too large", format_bytes(bytes)))
                .detail(most())
                .hint(hint),
        ),
    }
}

impl ScanOptions {
    /// The contents of a row.
    pub fn payload(&self) -> Payload {
        self.payload.unwrap_or_default()
    }

    /// The name of the user's table that is scanned.
    pub fn own_table(&self) -> Option<TableName> {
        TableName::parse(self.table.as_deref()?)
    }

    /// The highest degree.
    pub fn largest(&self) -> u32 {
        self.degrees.last().copied().unwrap_or(1)
    }

    fn most_readers(&self) -> Option<u32> {
        self.readers.iter().flatten().copied().max()
    }

    /// With what was not given.
    pub(super) fn chosen(mut self, sample: bool, given: &Given, names: &mut Names) -> Self {
        let facts = given.facts;
        let free = facts
            .free_worker_slots
            .saturating_sub(own_workers(sample))
            .max(1);
        if self.degrees.is_empty() {
            let most = most_degree(given.settings, facts).min(free);
            self.degrees = chosen_degrees(facts.processors, most);
            names.add(&DEGREES, facts);
        }
        if self.repeats.is_none() {
            self.repeats = Some(REPEATS);
            names.add(&REPEATED, facts);
        }
        self.leader.get_or_insert(true);
        let slots = facts.max_clients.min(free).max(1);
        if self.table.is_none() {
            self.payload.get_or_insert_default();
        }
        if self.loaders.is_none() && self.table.is_none() {
            self.loaders = Some(facts.processors.clamp(1, CHOSEN_LOADERS).min(slots));
            names.add(&LOADERS, facts);
        }
        if self.readers.is_none() {
            let mut readers: Vec<u32> = [1, facts.processors, self.largest()]
                .into_iter()
                .filter(|n| (1..=slots).contains(n))
                .collect();
            readers.sort_unstable();
            readers.dedup();
            self.readers = Some(readers);
            names.add(&READERS, facts);
        }
        self
    }

    /// Slots of clients that the run takes: those of its loaders, and of its readers.
    pub(super) fn clients(&self) -> u32 {
        self.most_readers().max(self.loaders).unwrap_or(1)
    }

    /// Worker slots that the run takes at its peak: of loaders, scans or readers, and its own.
    pub(super) fn workers(&self, sample: bool) -> (u32, u32) {
        let scanning = self.degrees.last().copied().max(self.most_readers());
        let scanning = scanning.unwrap_or(1);
        let (loaders, own) = (self.loaders.unwrap_or(1), own_workers(sample));
        // Loaders run with the coordinator alone.
        match loaders + 1 > scanning + own {
            true => (loaders, 1),
            false => (scanning, own),
        }
    }

    /// Refuses a table of the user's own without a copy that has it, and arguments for a table that the run loads.
    pub(super) fn check_table(&self, options: &Options, given: &Given) -> Result<(), Refusal> {
        let refuse = |message: &str, detail: &str, hint: &str| {
            Err(Refusal::argument(message).detail(detail).hint(hint))
        };
        match (self.table.is_some(), given.is_on_own) {
            (false, true) => {
                return refuse(
                    "the option \"table\" is missing",
                    "On a copy of a server, the workload scans a table of the copy.",
                    r#"Give its name, such as options => '{"table": "sales.orders"}'."#,
                );
            }
            (true, false) => {
                return refuse(
                    "the option \"table\" needs the argument \"data\"",
                    "A run scans a table in a copy of a database, and never in the database itself.",
                    "Give data and database as well, or leave out the option.",
                );
            }
            (false, false) => return Ok(()),
            (true, true) => {}
        }
        // The server of a target is asked with what was chosen.
        let is_asked = *given.stage == Stage::Whole;
        let other = [
            ("argument \"scale\" or \"size\"", given.scale.is_some()),
            ("option \"payload\"", self.payload.is_some()),
            ("option \"loaders\"", self.loaders.is_some()),
            ("option \"unlogged\"", options.unlogged),
        ];
        match other
            .into_iter()
            .find(|(_, is_given)| *is_given && is_asked)
        {
            Some((what, _)) => refuse(
                &format!("the {what} and the option \"table\" contradict each other"),
                "The table is that of the copied database.",
                "Leave one of them out.",
            ),
            None => Ok(()),
        }
    }

    /// Refuses more scans than results have room for.
    fn check_number(&self) -> Result<(), Refusal> {
        let (degrees, repeats) = (self.degrees.len(), self.repeats.unwrap_or(REPEATS));
        let most = MOST_SCANS / TRIES;
        if degrees as u64 * u64::from(repeats) <= u64::from(most) {
            return Ok(());
        }
        Err(
            Refusal::argument(format!("too many scans: {degrees} degrees of {repeats}"))
                .detail(format!("A run makes at most {most} scans."))
                .hint("Give fewer degrees, or a lower option \"repeats\"."),
        )
    }

    /// Refuses what the server does not allow, or its memory cannot hold. The table takes this many bytes; None: not known yet.
    pub(super) fn check(
        &self,
        options: &Options,
        given: &Given,
        bytes: Option<u64>,
    ) -> Result<(), Refusal> {
        self.check_number()?;
        let facts = given.facts;
        let (largest, most_degree) = (self.largest(), most_degree(given.settings, facts));
        if !facts.by_connection {
            check_release(facts.server_version_num)?;
        }
        check::slots("loaders", self.loaders.unwrap_or(0), facts)?;
        check::slots("readers", self.most_readers().unwrap_or(0), facts)?;
        if largest > most_degree {
            return Err(Refusal::new(
                Kind::NoWorkerSlot,
                format!("degree {largest} is above max_parallel_workers"),
            )
            .detail(format!(
                "The setting \"max_parallel_workers\" allows at most {most_degree}."
            ))
            .hint(format!(
                "Give settings => '{{\"max_parallel_workers\": {largest}}}', raise it in the server, or use a target: a server of its own gets what it needs."
            )));
        }
        let (workers, own) = self.workers(options.sample);
        check::worker_slots(
            workers,
            own,
            &format!(
                "degree {largest}, at most {} loaders or readers",
                self.clients()
            ),
            |_| {
                ", ask for a lower degree or fewer loaders and readers, or use a target: a server of its own gets what it needs"
                    .into()
            },
            facts,
        )?;
        if *given.stage == Stage::LoadOnly || facts.by_connection {
            return Ok(());
        }
        bytes.map_or(Ok(()), |bytes| {
            cache::check_memory(options.cache, bytes, facts)
        })
    }
}

/// Refuses a server whose parallel workers do not start in the database of a run.
fn check_release(version_num: i64) -> Result<(), Refusal> {
    if work_database::lets_parallel_workers_in(version_num) {
        return Ok(());
    }
    let (major, minor) = (version_num / 10_000, version_num % 10_000);
    Err(Refusal::new(
        Kind::NotInThisState,
        format!("PostgreSQL {major}.{minor} cannot scan in parallel in the database of a run"),
    )
    .detail("Its parallel workers do not start in a database that allows no connections; those of PostgreSQL 15.11, 16.7, 17.3 and later ones do.")
    .hint(format!("Install the latest release of PostgreSQL {major}, and restart the server.")))
}

/// The value of `max_parallel_workers` in the run's sessions: its own settings win.
fn most_degree(settings: &BTreeMap<String, String>, facts: &Facts) -> u32 {
    let given = settings.get("max_parallel_workers");
    given
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(facts.max_parallel_workers)
}

/// Worker slots of the run without scans and readers: the coordinator, the worker that scans or prepares the table, and the sampler.
fn own_workers(sample: bool) -> u32 {
    2 + u32::from(sample)
}
