//! Factors: parameters that are varied, in place of targets or beside them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    refusal::{Refusal, quoted},
    spec::DEFAULT_TARGET,
};

/// One of what is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its name in the experiment.
    pub name: String,
    /// Its name in `fsbench.target`.
    pub target: String,
    /// Parameters of `run` that are its own.
    pub own: Map<String, Value>,
}

/// The arguments that are the same for all targets.
pub struct Fixed {
    /// The parameters of `run`.
    pub run: Value,
    /// Whether a cycle is.
    pub cycle: bool,
}

/// Parameters of `run` that can be a factor. The seed is the same for all of a block, and label and keep change nothing.
const PARAMETERS: &[&str] = &[
    "workload",
    "scale",
    "size",
    "clients",
    "rate",
    "latency_limit_ms",
    "warmup",
    "transactions",
];
/// Objects of which one member can be a factor.
const OBJECTS: &[&str] = &["settings", "options"];

struct Factor {
    /// Its name as it was given.
    name: String,
    values: Vec<Value>,
}

/// The candidates that come of targets and factors: each target with the first values, and with each other value of one factor at a time; with all
/// combinations in a grid.
pub fn cross(
    targets: &[Candidate],
    factors: &Value,
    is_grid: bool,
    fixed: &Fixed,
) -> Result<Vec<Candidate>, Refusal> {
    let factors = parse(factors)?;
    for factor in &factors {
        contradicts(factor, fixed)?;
    }
    let combinations = match is_grid {
        true => grid(&factors),
        false => one_at_a_time(&factors),
    };
    let alone = [Candidate {
        name: String::new(),
        target: DEFAULT_TARGET.into(),
        own: Map::new(),
    }];
    let targets = if targets.is_empty() { &alone } else { targets };
    let mut candidates = Vec::new();
    for target in targets {
        for combination in &combinations {
            candidates.push(candidate(target, &factors, combination));
        }
    }
    Ok(candidates)
}

fn parse(factors: &Value) -> Result<Vec<Factor>, Refusal> {
    let hint = "Give an object of names and arrays, such as {\"settings.wal_compression\": [\"off\", \"on\"]}; the first value of each is the base.";
    let refusal =
        |message: String, detail: &str| Err(Refusal::argument(message).detail(detail).hint(hint));
    let Some(object) = factors.as_object().filter(|object| !object.is_empty()) else {
        return refusal(
            "factors is no JSON object with members".into(),
            "Each member is a parameter that is varied.",
        );
    };
    let mut parsed = Vec::new();
    for (name, values) in object {
        let is_known = match name.split_once('.') {
            Some((object, member)) => OBJECTS.contains(&object) && !member.is_empty(),
            None => PARAMETERS.contains(&name.as_str()),
        };
        if !is_known {
            return refusal(
                format!("{} cannot be a factor", quoted(name)),
                "A factor is settings.NAME, options.NAME, or a parameter of fsbench.run() that changes what is measured. What defines a target is varied by several targets.",
            );
        }
        let Some(values) = values.as_array().filter(|values| values.len() >= 2) else {
            return refusal(
                format!("factor {} has no two values", quoted(name)),
                "It is varied from the first value to each other one.",
            );
        };
        for (i, value) in values.iter().enumerate() {
            if value.is_null()
                || value.is_object()
                || value.is_array()
                || values[..i].contains(value)
            {
                return refusal(
                    format!("value {} of factor {} cannot be used", i + 1, quoted(name)),
                    "Values are texts, numbers or booleans, each of them once.",
                );
            }
        }
        parsed.push(Factor {
            name: name.clone(),
            values: values.clone(),
        });
    }
    Ok(parsed)
}

/// Refuses an argument that is both varied and given.
fn contradicts(factor: &Factor, fixed: &Fixed) -> Result<(), Refusal> {
    let run = &fixed.run;
    let given = match factor.name.split_once('.') {
        Some((object, member)) => run[object]
            .get(member)
            .is_some_and(|value| !value.is_null()),
        None => {
            let member = match factor.name.as_str() {
                "warmup" => "warmup_us",
                name => name,
            };
            run.get(member).is_some_and(|value| !value.is_null())
        }
    };
    let cycle = factor.name == "settings.checkpoint_timeout" && fixed.cycle;
    if given || cycle {
        return Err(Refusal::argument(format!(
            "factor {} contradicts what is given besides",
            quoted(&factor.name)
        ))
        .detail("A parameter is varied, or the same for all targets.")
        .hint("Leave one of them out."));
    }
    Ok(())
}

fn one_at_a_time(factors: &[Factor]) -> Vec<Vec<usize>> {
    let base = vec![0; factors.len()];
    let mut combinations = vec![base.clone()];
    for (i, factor) in factors.iter().enumerate() {
        for value in 1..factor.values.len() {
            let mut changed = base.clone();
            changed[i] = value;
            combinations.push(changed);
        }
    }
    combinations
}

fn grid(factors: &[Factor]) -> Vec<Vec<usize>> {
    let mut combinations = vec![Vec::new()];
    for factor in factors {
        combinations = combinations
            .into_iter()
            .flat_map(|before: Vec<usize>| {
                (0..factor.values.len()).map(move |value| {
                    let mut longer = before.clone();
                    longer.push(value);
                    longer
                })
            })
            .collect();
    }
    combinations
}

fn candidate(target: &Candidate, factors: &[Factor], combination: &[usize]) -> Candidate {
    let mut own = target.own.clone();
    let mut words = Vec::new();
    if !target.name.is_empty() {
        words.push(target.name.clone());
    }
    for (factor, &value) in factors.iter().zip(combination) {
        let value = &factor.values[value];
        match factor.name.split_once('.') {
            Some((object, member)) => {
                let members = own
                    .entry(object)
                    .or_insert_with(|| Value::Object(Map::new()));
                if let Some(members) = members.as_object_mut() {
                    members.insert(member.into(), value.clone());
                }
            }
            None => {
                own.insert(factor.name.clone(), value.clone());
            }
        }
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let short = factor
            .name
            .split_once('.')
            .map_or(factor.name.as_str(), |(_, member)| member);
        words.push(format!("{short}={text}"));
    }
    Candidate {
        name: words.join(" "),
        target: target.target.clone(),
        own,
    }
}
