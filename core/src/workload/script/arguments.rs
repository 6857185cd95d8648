//! The arguments that are about scripts, checked.

use super::{Document, Settings};
use crate::{
    refusal::{Refusal, quoted},
    script::Protocol,
    spec::ScriptArguments,
    workload::mix::Mix,
};

/// Names of scripts in the line that shows a run.
const LONGEST_NAMES: usize = 100;

/// Checks all arguments and compiles the scripts; gives their types of transactions, too.
pub fn settings(arguments: &ScriptArguments) -> Result<(Settings, Mix), Refusal> {
    let document = Document::of(arguments)?;
    let (name, protocol) = protocol(arguments)?;
    let program = document.compile(protocol)?;
    document.init()?;
    let names: Vec<&str> = (document.scripts.iter())
        .map(|script| script.name.as_str())
        .collect();
    let names: String = names.join(" + ").chars().take(LONGEST_NAMES).collect();
    let settings = Settings {
        sha256: arguments.sha256.clone().unwrap_or_default(),
        names,
        has_init: document.init_script.is_some(),
        has_checks: !document.checks.is_empty(),
        protocol: name.into(),
        max_tries: max_tries(arguments)?,
        continue_on_error: arguments.continue_on_error.unwrap_or(false),
    };
    Ok((settings, document.mix(&program)))
}

fn protocol(arguments: &ScriptArguments) -> Result<(&'static str, Protocol), Refusal> {
    match arguments.protocol.as_deref() {
        None | Some("prepared") => Ok(("prepared", Protocol::Prepared)),
        Some("simple") => Ok(("simple", Protocol::Simple)),
        Some(other) => Err(
            Refusal::argument(format!("protocol {} does not exist", quoted(other)))
                .detail("Statements get variables as parameters (prepared) or as text (simple).")
                .hint("Give 'prepared' or 'simple'."),
        ),
    }
}

fn max_tries(arguments: &ScriptArguments) -> Result<u32, Refusal> {
    match arguments.max_tries.unwrap_or(1) {
        tries @ 1.. => Ok(tries.cast_unsigned()),
        wrong => Err(Refusal::argument("max_tries is out of range")
            .detail(format!(
                "It is {wrong}; a transaction is tried once at least."
            ))
            .hint("Give 1 for no retries, or more.")),
    }
}
