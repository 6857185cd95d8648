//! Factors: parameters that are varied, in place of targets or in addition to them. Factors of runs belong to a candidate; for factors of targets the
//! experiment makes variants.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::variants::{self, Variant, VariedValue};
use crate::{
    refusal::{Refusal, quoted},
    spec::DEFAULT_TARGET,
    target::parameter,
};

/// Most targets of an experiment.
pub const MOST_TARGETS: usize = 24;

/// One of what is compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Name in the experiment.
    pub name: String,
    /// Name in `fsbench.target`.
    pub target: String,
    /// Parameters of `run` that are its own.
    pub own: Map<String, Value>,
}

/// Targets and factors, crossed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Combinations {
    /// Targets that are compared, each with its arguments.
    pub candidates: Vec<Candidate>,
    /// Targets that are made for it.
    pub variants: Vec<Variant>,
}

/// The arguments that are the same for all targets.
pub struct Fixed {
    /// The name of the experiment.
    pub experiment: String,
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
/// Parameters that say how long is measured.
const LENGTHS: &[&str] = &["duration", "cycle"];

/// The DETAIL for an unknown factor.
fn known() -> String {
    format!(
        "A factor is a parameter of fsbench.run() that changes what is measured, settings.NAME, options.NAME, or a parameter of targets: {}. \
         Filesystems and places are compared by several targets.",
        parameter::factors().join(", ")
    )
}

struct Factor {
    /// Name as it was given.
    name: String,
    /// Type of its values, if it varies targets.
    of_target: Option<VariedValue>,
    values: Vec<Value>,
}

/// The candidates that come of targets and factors: each target with the first values, and with each other value of one factor at a time; with all
/// combinations in a grid.
pub fn cross(
    targets: &[Candidate],
    factors: &Value,
    is_grid: bool,
    fixed: &Fixed,
) -> Result<Combinations, Refusal> {
    let factors = parse(factors)?;
    for factor in &factors {
        contradicts(factor, fixed)?;
    }
    check_number(targets.len().max(1), &factors, is_grid)?;
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
    let mut crossed = Combinations::default();
    for target in targets {
        for combination in &combinations {
            let place = place(&mut crossed.variants, target, &factors, combination, fixed)?;
            let candidate = candidate(target, place, &factors, combination);
            crossed.candidates.push(candidate);
        }
    }
    Ok(crossed)
}

/// Refuses more targets than are compared, before they are made up one by one.
fn check_number(targets: usize, factors: &[Factor], is_grid: bool) -> Result<(), Refusal> {
    let values = || factors.iter().map(|factor| factor.values.len());
    let combinations = match is_grid {
        true => values().fold(1, usize::saturating_mul),
        false => 1 + values().map(|n| n - 1).sum::<usize>(),
    };
    check_not_too_many(targets.saturating_mul(combinations))
}

/// Refuses more targets than are compared.
pub fn check_not_too_many(targets: usize) -> Result<(), Refusal> {
    if targets <= MOST_TARGETS {
        return Ok(());
    }
    Err(Refusal::argument("there are too many targets")
        .detail(format!(
            "There are {targets}, and at most {MOST_TARGETS} are compared."
        ))
        .hint("Compare the most different ones first, and then those next to the best."))
}

/// The name of the target of a candidate: a variant, of which there is one for all that have the same values, where any of them is a target's.
fn place(
    variants: &mut Vec<Variant>,
    target: &Candidate,
    factors: &[Factor],
    combination: &[usize],
    fixed: &Fixed,
) -> Result<String, Refusal> {
    let chosen = factors.iter().zip(combination);
    let of_target = chosen.filter(|(factor, _)| factor.of_target.is_some());
    let values: Vec<(String, Value)> = of_target
        .map(|(factor, &value)| (factor.name.clone(), factor.values[value].clone()))
        .collect();
    let Some((factor, _)) = values.first() else {
        return Ok(target.target.clone());
    };
    if target.target == DEFAULT_TARGET {
        return Err(Refusal::argument(format!(
            "factor {} cannot vary target {}",
            quoted(factor),
            quoted(DEFAULT_TARGET)
        ))
        .detail("That is this server itself, of which nothing is made anew.")
        .hint("Give targets of fsbench.target, or filesystems with device or image_size."));
    }
    let is_same = |v: &&Variant| v.of == target.target && v.values == values;
    if let Some(known) = variants.iter().find(is_same) {
        return Ok(known.name.clone());
    }
    let rest = format!("{}.{}", variants::part(&target.name), variants.len() + 1);
    let name = variants::name_of_target(&fixed.experiment, &rest);
    variants.push(Variant {
        name: name.clone(),
        of: target.target.clone(),
        values,
    });
    Ok(name)
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
    check_not_too_many(object.len())?;
    let mut parsed = Vec::new();
    for (name, values) in object {
        let is_of_run = match name.split_once('.') {
            Some((object, member)) => OBJECTS.contains(&object) && !member.is_empty(),
            None => PARAMETERS.contains(&name.as_str()),
        };
        let of_target = variants::takes(name);
        if LENGTHS.contains(&name.as_str()) {
            return Err(no_length(name));
        }
        if !is_of_run && of_target.is_none() {
            return refusal(format!("{} cannot be a factor", quoted(name)), &known());
        }
        let Some(values) = values.as_array().filter(|values| values.len() >= 2) else {
            return refusal(
                format!("factor {} has no two values", quoted(name)),
                "It is varied from the first value to each other one.",
            );
        };
        check_not_too_many(values.len())?;
        for (i, value) in values.iter().enumerate() {
            if let Some(takes) = of_target.filter(|takes| !takes.fits(value)) {
                return refusal(
                    format!("value {} of factor {} cannot be used", i + 1, quoted(name)),
                    takes.in_words(),
                );
            }
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
            of_target,
            values: values.clone(),
        });
    }
    Ok(parsed)
}

/// Windows of several lengths are no same conditions.
fn no_length(name: &str) -> Refusal {
    Refusal::argument(format!("{} cannot be a factor", quoted(name)))
        .detail("All runs of an experiment are measured alike. What differs between a long and a short window is how much of the checkpoints is in it, and no target.")
        .hint("Make an experiment of each length.")
}

/// Refuses an argument that is both varied and given.
fn contradicts(factor: &Factor, fixed: &Fixed) -> Result<(), Refusal> {
    let run = &fixed.run;
    let given = match factor.name.split_once('.') {
        // The settings of runs come before those of their target.
        Some(("target_settings", member)) => run["settings"]
            .get(member)
            .is_some_and(|value| !value.is_null()),
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
    let settings = ["settings", "target_settings"].map(|of| format!("{of}.checkpoint_timeout"));
    let cycle = settings.contains(&factor.name) && fixed.cycle;
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

fn candidate(
    target: &Candidate,
    place: String,
    factors: &[Factor],
    combination: &[usize],
) -> Candidate {
    let mut own = target.own.clone();
    let mut words = Vec::new();
    if !target.name.is_empty() {
        words.push(target.name.clone());
    }
    for (factor, &value) in factors.iter().zip(combination) {
        let value = &factor.values[value];
        match factor.name.split_once('.') {
            // It is in the definition of its target.
            _ if factor.of_target.is_some() => {}
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
        words.push(match (factor.of_target, text.is_empty()) {
            (Some(VariedValue::Text), true) => format!("no {short}"),
            _ => format!("{short}={text}"),
        });
    }
    Candidate {
        name: words.join(" "),
        target: place,
        own,
    }
}
