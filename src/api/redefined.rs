//! What is said when a target is not what its results have measured.

use pgfsbench_core::units::format_count;
use serde_json::Value;

use crate::{
    errors::Fault,
    pg::report,
    store::definition::{self, Results},
};

/// After a target was created or changed: which of its results its next runs stand beside. `before` is how it was defined
/// before the change; one that changes nothing is nothing to tell.
pub fn tell(target: &str, before: Option<&Value>) -> Result<(), Fault> {
    let Some(now) = definition::results_of(target)? else {
        return Ok(());
    };
    if now.results > 0 && before != Some(&now.definition) {
        let (message, hint) = in_words(target, &now);
        report::notice(message, Some(hint));
    }
    Ok(())
}

fn in_words(target: &str, now: &Results) -> (String, String) {
    let label = match now.version {
        1 => target.to_owned(),
        version => format!("{target}#{version}"),
    };
    if now.same > 0 {
        let results = format_count(now.same, "earlier result");
        return (
            format!("target \"{target}\" is defined as it was for {results}"),
            format!("What it measures from now on is \"{label}\" in fsbench.result again."),
        );
    }
    let results = format_count(now.results, "earlier result");
    let changed = changed(now.last.as_ref().unwrap_or(&Value::Null), &now.definition);
    (
        format!(
            "target \"{target}\" is not defined as for its last result: {}",
            changed.join(", ")
        ),
        format!(
            "What it measures from now on is \"{label}\" in fsbench.result, apart from {results}."
        ),
    )
}

/// Names of what two definitions do not have alike.
fn changed<'a>(a: &'a Value, b: &'a Value) -> Vec<&'a str> {
    let names = |value: &'a Value| value.as_object().into_iter().flatten();
    let mut changed: Vec<&str> = names(a)
        .chain(names(b))
        .map(|(name, _)| name.as_str())
        .filter(|name| a.get(name) != b.get(name))
        .collect();
    changed.sort_unstable();
    changed.dedup();
    changed
}
