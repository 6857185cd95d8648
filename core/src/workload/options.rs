//! The argument `options`: what each workload takes, checked.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ALL;
use crate::{
    refusal::{Refusal, quoted},
    spec::{
        Cache, DEFAULT_TARGET, Data, FEWEST_PERCENT, MOST_PERCENT, OPTIONS_OF_ALL, Options,
        Workload, json, values,
    },
};

/// A week.
const LONGEST_WAIT_MS: u64 = 7 * 24 * 3_600_000;
/// A terabyte, where they have the usual size.
const MOST_WAL_SEGMENTS: u64 = 65_536;
/// Servers of one run.
const MOST_INSTANCES: u64 = 64;
/// It is renewed twice a second.
const SHORTEST_LEASE_MS: u64 = 2_000;

/// Where scripts of one's own are run.
pub const OWN_SCRIPTS: &str =
    "For a script of your own, use workload => 'script' and give it as scripts.";

/// The options of all workloads, in the order of their names.
fn known() -> BTreeSet<&'static str> {
    let of_one = |workload: &Workload| {
        let own = workload.own_options().iter().map(|option| option.name);
        own.chain(workload.shared_options().iter().copied())
    };
    ALL.iter().flat_map(of_one).chain(OPTIONS_OF_ALL).collect()
}

/// The options, each checked; what is not given has its default.
pub fn options(value: Option<&Value>, workload: Workload) -> Result<Options, Refusal> {
    let mut options = Options::default();
    for (name, value) in json::object("options", value, r#"'{"fillfactor": 90}'"#)? {
        if !known().contains(name.as_str()) {
            return Err(unknown_option(name));
        }
        if !workload.takes_option(name) {
            let refusal = workload.refusal_of("option", name);
            return Err(match name.as_str() {
                "instances" => refusal
                    .detail("Its figures cannot be added up over several servers.")
                    .hint("Use one of the workloads tpcb, tpcb-simple-update, select-only and commit."),
                _ => refusal,
            });
        }
        if let Some(own) = workload.own_option(name) {
            options.own.insert(name.clone(), (own.check)(name, value)?);
            continue;
        }
        match name.as_str() {
            "fillfactor" => options.fillfactor = values::whole_number(name, value, 10, 100)? as u8,
            "unlogged" => options.unlogged = values::boolean(name, value)?,
            "sample" => options.sample = values::boolean(name, value)?,
            "maintenance" => options.maintenance = values::boolean(name, value)?,
            "sustain" => {
                options.sustain = values::number(name, value, FEWEST_PERCENT, MOST_PERCENT)?
            }
            "data" => options.data = values::word(name, value, &["copied", "cloned", "loaded"])?,
            "cache" if workload.sets_cache() => {
                options.cache = values::word(name, value, &["warm", "shared_buffers", "cold"])?;
            }
            "crash" => options.crash = values::boolean(name, value)?,
            "cache" => options.cache = values::word(name, value, &["warm", "cold"])?,
            "wait_for_helper_ms" => {
                options.wait_for_helper_ms = values::whole_number(name, value, 0, LONGEST_WAIT_MS)?;
            }
            "lease_ms" => {
                options.lease_ms =
                    values::whole_number(name, value, SHORTEST_LEASE_MS, LONGEST_WAIT_MS)?;
            }
            "wal_segments" => {
                options.wal_segments =
                    values::whole_number(name, value, 0, MOST_WAL_SEGMENTS)? as u32;
            }
            "instances" => {
                options.instances = values::whole_number(name, value, 1, MOST_INSTANCES)? as u32;
            }
            "wait_turn" => options.wait_turn = values::boolean(name, value)?,
            _ => return Err(unknown_option(name)),
        }
    }
    Ok(options)
}

/// Options that mean nothing where no server is made.
pub fn check_place(options: &Options, workload: Workload, target: &str) -> Result<(), Refusal> {
    // A workload that sets the cache by itself has it warm or cold wherever it is run, and however the data came there.
    if !workload.sets_cache() && options.data == Data::Loaded && options.cache == Cache::Cold {
        return Err(Refusal::argument(
            "option \"cache\" cannot be \"cold\" when \"data\" is \"loaded\"",
        )
        .detail("What has just been loaded is in memory.")
        .hint("Leave out the option \"data\": copies can be forgotten by the kernel."));
    }
    let Some(name) = options.of_made_server(workload) else {
        return Ok(());
    };
    if target != DEFAULT_TARGET {
        return Ok(());
    }
    Err(Refusal::argument(format!("option \"{name}\" needs a target"))
        .detail("The target \"default\" is this server itself: nothing is made, mounted or copied for it.")
        .hint("Leave out the option, or give the argument \"target\"."))
}

fn unknown_option(name: &str) -> Refusal {
    let known: Vec<String> = known()
        .into_iter()
        .map(|name| format!("\"{name}\""))
        .collect();
    let known = match known.as_slice() {
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
        [] => String::new(),
    };
    Refusal::argument(format!("option {} does not exist", quoted(name)))
        .detail("Names of options are in lower case.")
        .hint(match name.to_lowercase().as_str() {
            "script" | "scripts" | "file" | "sql" => OWN_SCRIPTS.to_owned(),
            _ => format!("Known options are {known}."),
        })
}
