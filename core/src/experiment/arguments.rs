//! The arguments of `fsbench.experiment`, checked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use super::factors::Candidate;
use super::{
    factors::{self, Combinations},
    metric,
    state::{Goal, Neighbours},
    variants::{self, Variant},
};
use crate::{
    escape::is_refused,
    refusal::{Refusal, quoted},
    spec::{self, RunArguments, Spec, Stage, Workload, any_float, check},
    verdict::{
        looks::{DEFAULT_MAX_BLOCKS, FEWEST_BLOCKS, LOOKS},
        table,
    },
    workload,
};

/// The option of an experiment by which the power of each target is cut before the first block. Its runs do not have it.
pub const POWER_CUT: &str = "power_cut";
/// checkpoint_timeout cannot be shorter.
const SHORTEST_CYCLE_US: i64 = 30_000_000;
const LONGEST_CYCLE_US: i64 = 86_400_000_000;
const LONGEST_NAME: usize = 63;

/// The arguments as they were given; None is NULL or not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExperimentArguments {
    pub experiment: Option<String>,
    pub targets: Option<Vec<Option<String>>>,
    pub filesystems: Option<Vec<Option<String>>>,
    pub device: Option<String>,
    pub image_size: Option<String>,
    pub goal: Option<String>,
    pub baseline: Option<String>,
    pub metric: Option<String>,
    #[serde(deserialize_with = "any_float")]
    pub margin: Option<f64>,
    pub max_blocks: Option<i32>,
    pub max_duration_us: Option<i64>,
    pub control: Option<bool>,
    pub start: Option<bool>,
    pub factors: Option<Value>,
    pub grid: Option<bool>,
    pub cycle_us: Option<i64>,
    /// Time from which cycle, windows and blocks follow; they take its place once they are known.
    pub budget_us: Option<i64>,
    pub neighbours: Option<String>,
    /// As it is given: a number, or a share such as '70%'; see [`with_rate`].
    #[serde(skip_serializing)]
    pub rate: Option<String>,
    /// The rate as a share of what the slowest target does without one.
    pub rate_share: Option<f64>,
    /// The parameters of `run`.
    pub run: spec::RunArguments,
}

/// The arguments after the checks that need no server.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub experiment: String,
    pub candidates: Vec<Candidate>,
    /// Targets that are to be made for it, of others.
    pub variants: Vec<Variant>,
    pub goal: Goal,
    /// Number of the baseline among the candidates.
    pub baseline: Option<usize>,
    pub control: bool,
    pub metric: metric::Metric,
    pub margin: f64,
    pub max_blocks: u32,
    pub max_seconds: Option<f64>,
    pub cycle_seconds: Option<f64>,
    pub budget_seconds: Option<f64>,
    pub neighbours: Neighbours,
    /// Power cuts of each target before the first block; None without any.
    pub power_cuts: Option<u32>,
}

/// Reads the text of `rate`: a number, or a share.
pub fn with_rate(mut arguments: ExperimentArguments) -> Result<ExperimentArguments, Refusal> {
    let Some(text) = arguments.rate.take() else {
        return Ok(arguments);
    };
    let wrong = |detail: &str| {
        Err(
            Refusal::argument(format!("rate {} is out of range", quoted(&text)))
                .detail(detail)
                .hint("Give transactions per second of all clients together, or a share of what the slowest target does without a rate, such as '70%'."),
        )
    };
    match text.trim().strip_suffix('%') {
        None => match text.trim().parse() {
            Ok(rate) => arguments.run.rate = Some(rate),
            Err(_) => return wrong("It is neither a number nor a percentage."),
        },
        Some(percent) => match percent.trim().parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => {
                arguments.rate_share = Some(percent / 100.0);
            }
            _ => return wrong("A percentage must be above 0, and at most 100."),
        },
    }
    Ok(arguments)
}

/// A workload without transactions has no rate, and a search chooses its own. A confirmed experiment takes its arguments from its row.
fn check_share(arguments: &ExperimentArguments, workload: Option<Workload>) -> Result<(), Refusal> {
    let Some(share) = arguments.rate_share else {
        return Ok(());
    };
    if !(share > 0.0 && share <= 1.0) {
        return Err(Refusal::argument("rate is out of range")
            .detail(format!(
                "As a share it is {share}; it must be above 0, and at most 1."
            ))
            .hint("Give a share such as '70%'."));
    }
    if let Some(workload) = workload.filter(|workload| !workload.takes("rate")) {
        return Err(workload.refusal_of("parameter", "rate"));
    }
    if arguments
        .factors
        .as_ref()
        .is_some_and(|f| f.get("rate").is_some())
    {
        return Err(Refusal::argument("rate is given, and a factor, too")
            .detail("What is varied has no value of its own.")
            .hint("Leave one of them out."));
    }
    if searches(arguments) {
        return Err(
            Refusal::argument("a search for the sustainable rate takes no rate")
                .detail("It tries one rate after the other.")
                .hint("Leave out the argument \"rate\"."),
        );
    }
    Ok(())
}

/// The targets that an experiment with `filesystems` makes for itself: filesystem and name, in the order given.
pub fn made_targets(arguments: &ExperimentArguments) -> Result<Vec<(String, String)>, Refusal> {
    let Some(filesystems) = &arguments.filesystems else {
        for (name, given) in [
            ("device", &arguments.device),
            ("image_size", &arguments.image_size),
        ] {
            if given.is_some() {
                return Err(Refusal::argument(format!("{name} means nothing without filesystems"))
                    .detail("It says where the experiment makes filesystems of its own; targets say so themselves.")
                    .hint(format!("Leave {name} out, or give filesystems in place of targets.")));
            }
        }
        return Ok(Vec::new());
    };
    if arguments.targets.is_some() {
        return Err(Refusal::argument("targets and filesystems exclude each other")
            .detail("Targets are recorded already; of filesystems the experiment makes targets of its own.")
            .hint("Give one of them."));
    }
    if arguments.device.is_some() == arguments.image_size.is_some() {
        return Err(
            Refusal::argument("filesystems take a device or an image_size")
                .detail(match arguments.device {
                    Some(_) => "Both are given.",
                    None => "Nothing says where they are to be made.",
                })
                .hint("Give the path of a block device, which each run erases, or the size of an image, such as '4GB'."),
        );
    }
    let filesystems = names("filesystems", filesystems)?;
    let experiment = name(arguments)?;
    let target = |filesystem: &String| {
        let name = variants::name_of_target(&experiment, filesystem);
        (filesystem.clone(), name)
    };
    Ok(filesystems.iter().map(target).collect())
}

fn name(arguments: &ExperimentArguments) -> Result<String, Refusal> {
    let refusal = |message: String, detail: &str| {
        Err(Refusal::argument(message)
            .detail(detail)
            .hint("Give a name such as 'new server'."))
    };
    match arguments.experiment.as_deref() {
        None => refusal(
            "the name of an experiment must not be null".into(),
            "By its name it is found again.",
        ),
        Some(name) if name.trim().is_empty() => refusal(
            "the name of an experiment is empty".into(),
            "By its name it is found again.",
        ),
        Some(name) if name.chars().count() > LONGEST_NAME || name.chars().any(is_refused) => {
            refusal(
                format!("{} is no name of an experiment", quoted(name)),
                "A name has at most 63 characters. Control characters and marks of direction are not allowed.",
            )
        }
        Some(name) => Ok(name.to_owned()),
    }
}

/// Names of an array, none of which is NULL, empty or there twice.
fn names(what: &str, given: &[Option<String>]) -> Result<Vec<String>, Refusal> {
    factors::check_not_too_many(given.len())?;
    let mut seen = BTreeMap::new();
    for (i, name) in given.iter().enumerate() {
        let Some(name) = name.as_deref().filter(|name| !name.is_empty()) else {
            return Err(
                Refusal::argument(format!("a name in {what} is null or empty"))
                    .detail(format!("It is number {}.", i + 1))
                    .hint("Leave it out."),
            );
        };
        if seen.insert(name, i).is_some() {
            return Err(Refusal::argument(format!("{} is in {what} twice", quoted(name)))
                .detail("Each is compared with the others once a block.")
                .hint("Leave one out. With control => true the baseline runs twice in each block, which tells how noisy the machine is."));
        }
    }
    Ok(given.iter().flatten().cloned().collect())
}

/// Checks the arguments. `made` are the names of the targets that the experiment has made for itself.
pub fn check(
    arguments: &ExperimentArguments,
    made: &[(String, String)],
) -> Result<Checked, Refusal> {
    let experiment = name(arguments)?;
    let Combinations {
        candidates,
        variants,
    } = candidates(arguments, made, &experiment)?;
    let control = arguments.control.unwrap_or(false);
    factors::check_not_too_many(candidates.len())?;
    let (goal, baseline) = goal(arguments, &candidates)?;
    let workload = workload_of(arguments.run.workload.as_deref());
    // NaN and infinity are refused here: JSON has neither.
    check::rate(arguments.run.rate)?;
    check::latency_limit(arguments.run.latency_limit_ms)?;
    check_share(arguments, workload)?;
    if arguments.run.stage != Stage::Whole {
        return Err(Refusal::argument("a run of an experiment is a whole run")
            .detail("Only pgfsbench itself asks a target's server for less.")
            .hint("Leave stage out."));
    }
    let has_rate = arguments.run.rate.is_some() || arguments.rate_share.is_some();
    let metric = match arguments.metric.as_deref() {
        Some(name) => metric::find(name)?,
        None if searches(arguments) => metric::find(metric::SUSTAINABLE_RATE)?,
        None => metric::find(metric::of_workload(workload, has_rate))?,
    };
    metric.decides(has_rate)?;
    check_search(arguments, metric)?;
    check_measured(arguments, metric, &candidates)?;
    let margin = arguments.margin.unwrap_or(0.05);
    table::margin(margin)?;
    Ok(Checked {
        experiment,
        candidates,
        variants,
        goal,
        baseline,
        control,
        metric,
        margin,
        max_blocks: max_blocks(arguments.max_blocks)?,
        max_seconds: positive(
            "max_duration",
            arguments.max_duration_us,
            "It ends the experiment between two runs.",
            "'8 h'",
        )?,
        cycle_seconds: cycle(arguments)?,
        budget_seconds: budget(arguments)?,
        neighbours: neighbours(arguments.neighbours.as_deref())?,
        power_cuts: power_cuts(arguments)?,
    })
}

fn power_cuts(arguments: &ExperimentArguments) -> Result<Option<u32>, Refusal> {
    let options = arguments.run.options.as_ref();
    let Some(value) = options.and_then(|options| options.get(POWER_CUT)) else {
        return Ok(None);
    };
    if workload_of(arguments.run.workload.as_deref()).is_some_and(|w| w.cuts_power()) {
        return Err(Refusal::argument(format!(
            "option \"{POWER_CUT}\" means nothing for workload \"power-cut\""
        ))
        .detail("Each run of this workload cuts the power.")
        .hint("Leave the option out."));
    }
    workload::checked_cuts(POWER_CUT, value).map(Some)
}

/// The options of an experiment's runs: those given, without options of the experiment itself.
pub fn options_of_runs(given: Option<Value>) -> Option<Value> {
    match given {
        Some(Value::Object(mut options)) => {
            let is_alone = options.remove(POWER_CUT).is_some() && options.is_empty();
            (!is_alone).then_some(Value::Object(options))
        }
        given => given,
    }
}

/// The parameters of a target's run of power cuts: those of the experiment's runs that decide about durability.
pub fn of_power_cuts(parameters: &Value, cuts: u32) -> Value {
    let mut of_cuts = Map::new();
    of_cuts.insert("workload".into(), "power-cut".into());
    of_cuts.insert("options".into(), serde_json::json!({"cuts": cuts}));
    for name in ["settings", "force"] {
        let given = parameters.get(name).filter(|value| !value.is_null());
        of_cuts.extend(given.map(|value| (name.to_owned(), value.clone())));
    }
    Value::Object(of_cuts)
}

/// The parameters that a target has of its own for its run of power cuts, of those for all of its runs.
pub fn own_of_power_cuts(own: &Map<String, Value>) -> Map<String, Value> {
    let settings = own.get_key_value("settings").into_iter();
    settings
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The time that cycle, windows and blocks are chosen for. What would contradict it is refused.
fn budget(arguments: &ExperimentArguments) -> Result<Option<f64>, Refusal> {
    let budget = positive(
        "budget",
        arguments.budget_us,
        "The experiment ends within it.",
        "'20 min'",
    )?;
    let contradicts = |what: &str, why: &str| {
        Refusal::argument(format!("budget and {what} exclude each other"))
            .detail(why.to_owned())
            .hint("Give one of them.")
    };
    let run = &arguments.run;
    let factors = arguments.factors.as_ref();
    let is_varied = |name| factors.is_some_and(|factors| factors.get(name).is_some());
    match budget {
        None => Ok(None),
        Some(_) if arguments.max_duration_us.is_some() => Err(contradicts(
            "max_duration",
            "The budget is the time that the experiment may take at most.",
        )),
        Some(_) if run.transactions.is_some() || is_varied("transactions") => Err(contradicts(
            "transactions",
            "How long a number of transactions takes is not known beforehand.",
        )),
        Some(_) if searches(arguments) || is_varied("options.sustain") => Err(contradicts(
            "the option \"sustain\"",
            "A search chooses the length of its runs by itself.",
        )),
        budget => Ok(budget),
    }
}

fn neighbours(given: Option<&str>) -> Result<Neighbours, Refusal> {
    let Some(name) = given else {
        return Ok(Neighbours::default());
    };
    let known = Neighbours::GIVEN.into_iter().find(|n| n.as_str() == name);
    known.ok_or_else(|| {
        Refusal::argument(format!("neighbours {} is not known", quoted(name)))
            .detail("It says whether other programs are expected to use the machine while runs are measured.")
            .hint("Use \"unexpected\" (a run beside some is made again, twice at most) or \"expected\" (none is).")
    })
}

/// Whether each run is to search for the sustainable rate.
pub fn searches(arguments: &ExperimentArguments) -> bool {
    let options = arguments.run.options.as_ref();
    options.is_some_and(|options| options.get("sustain").is_some())
}

/// The scale of all runs, where each would choose its own: the largest, so that a factor `clients` does not vary the data, too. None where
/// it is given, or some run has none.
pub fn one_scale(specs: &[Spec]) -> Option<u32> {
    let is_chosen = |spec: &Spec| spec.scale > 0 && spec.chosen.iter().any(|name| name == "scale");
    let largest = specs.iter().map(|spec| spec.scale).max();
    largest.filter(|_| specs.iter().all(is_chosen))
}

fn check_search(arguments: &ExperimentArguments, metric: metric::Metric) -> Result<(), Refusal> {
    let finds = metric.name == metric::SUSTAINABLE_RATE;
    if finds == searches(arguments) {
        return Ok(());
    }
    let hint =
        "Give latency_limit_ms => 20 and options => '{\"sustain\": 99}', and no other metric.";
    Err(match finds {
        true => Refusal::argument(format!("metric \"{}\" needs option \"sustain\"", metric.name))
            .detail("It is found by runs that search for it."),
        false => Refusal::argument(format!("metric \"{}\" is not what a search finds", metric.name))
            .detail("A run with option \"sustain\" goes through rates of its own choice, and finds the sustainable rate."),
    }
    .hint(hint))
}

/// The workload of that name, or the one that is taken when none is named; None of one that there is not.
fn workload_of(name: Option<&str>) -> Option<Workload> {
    match name {
        Some(name) => Workload::parse(name),
        None => Some(workload::ALL[0]),
    }
}

/// Refuses a metric that the runs of a candidate would not have, and factors that change the work of its runs. What is wrong with a workload or an option itself is told by the specification of a run.
fn check_measured(
    arguments: &ExperimentArguments,
    metric: metric::Metric,
    candidates: &[Candidate],
) -> Result<(), Refusal> {
    let object = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
    let factors = arguments.factors.as_ref().and_then(Value::as_object);
    let varied: Vec<&str> = (factors.into_iter().flat_map(Map::keys))
        .map(String::as_str)
        .collect();
    for candidate in candidates {
        let own = candidate.own.get("workload").and_then(Value::as_str);
        let Some(workload) = workload_of(own.or(arguments.run.workload.as_deref())) else {
            continue;
        };
        let mut options = object(arguments.run.options.as_ref()).unwrap_or_default();
        options.extend(object(candidate.own.get("options")).unwrap_or_default());
        let transactions = workload.transaction_names(&arguments.run, &options);
        metric.is_measured_by(&metric::PlannedRun {
            workload,
            options: &options,
            target: &candidate.target,
            transactions: &transactions,
            loads_on_own: loads_on_own(workload, &arguments.run),
        })?;
        workload.check_varied(&arguments.run, &varied)?;
    }
    Ok(())
}

/// Whether a run loads tables into a copy of a user's server. Scripts find tables there, and make some if the caller has a script for that.
fn loads_on_own(workload: Workload, run: &RunArguments) -> bool {
    let makes_tables = !workload.takes("init_script") || run.script.init_script.is_some();
    run.data.is_some() && makes_tables
}

fn candidates(
    arguments: &ExperimentArguments,
    made: &[(String, String)],
    experiment: &str,
) -> Result<Combinations, Refusal> {
    let plain = |name: &str, target: &str| Candidate {
        name: name.to_owned(),
        target: target.to_owned(),
        own: Map::new(),
    };
    let targets: Vec<Candidate> = match &arguments.targets {
        _ if arguments.filesystems.is_some() => {
            made.iter().map(|(fs, target)| plain(fs, target)).collect()
        }
        Some(targets) => {
            let targets = names("targets", targets)?;
            targets.iter().map(|t| plain(t, t)).collect()
        }
        None => Vec::new(),
    };
    let factors = arguments.factors.as_ref();
    let crossed = match factors {
        Some(factors) => {
            let fixed = factors::Fixed {
                experiment: experiment.to_owned(),
                run: serde_json::to_value(&arguments.run).unwrap_or_default(),
                cycle: arguments.cycle_us.is_some(),
            };
            factors::cross(&targets, factors, arguments.grid.unwrap_or(false), &fixed)?
        }
        None => Combinations {
            candidates: targets,
            variants: Vec::new(),
        },
    };
    match crossed.candidates.len() {
        0 => Err(Refusal::argument("an experiment needs targets")
            .detail("Neither targets nor filesystems name anything that could be compared.")
            .hint("Give the names of two or more targets of fsbench.target, or filesystems with device or image_size, or factors.")),
        1 => Err(Refusal::argument("one target alone is no experiment")
            .detail(format!("There is nothing that {} could be compared with.", quoted(&crossed.candidates[0].name)))
            .hint("Use fsbench.run() for one target, or name another one, or factors in which it varies.")),
        _ => Ok(crossed),
    }
}

fn goal(
    arguments: &ExperimentArguments,
    candidates: &[Candidate],
) -> Result<(Goal, Option<usize>), Refusal> {
    let names = || {
        let names: Vec<String> = candidates.iter().map(|c| quoted(&c.name)).collect();
        names.join(", ")
    };
    let goal = match arguments.goal.as_deref() {
        None => None,
        Some("best") => Some(Goal::Best),
        Some("baseline") => Some(Goal::Baseline),
        Some(other) => {
            return Err(Refusal::argument(format!("goal {} does not exist", quoted(other)))
                .detail("The goal is what the experiment is to find out.")
                .hint("Use \"best\" (which target is best, and which are as good) or \"baseline\" (is each more, less or the same as one of them)."));
        }
    };
    let baseline =
        match arguments.baseline.as_deref() {
            None => None,
            Some(name) => Some(candidates.iter().position(|c| c.name == name).ok_or_else(
                || {
                    Refusal::argument(format!(
                        "baseline {} is not among the targets",
                        quoted(name)
                    ))
                    .detail(format!("Compared are {}.", names()))
                    .hint("Name one of them.")
                },
            )?),
        };
    match (goal, baseline) {
        (Some(Goal::Best), Some(_)) => Err(Refusal::argument("goal \"best\" has no baseline")
            .detail("It compares each target with each other one.")
            .hint("Leave the baseline out, or use goal \"baseline\".")),
        (Some(Goal::Baseline), None) => {
            Err(Refusal::argument("goal \"baseline\" needs a baseline")
                .detail(format!("Compared are {}.", names()))
                .hint("Name the one that the others are compared with as baseline."))
        }
        (_, Some(baseline)) => Ok((Goal::Baseline, Some(baseline))),
        // Values that were changed one at a time are compared with the one that they were changed from.
        (None, None) if is_one_at_a_time(arguments) => Ok((Goal::Baseline, Some(0))),
        (_, None) => Ok((Goal::Best, None)),
    }
}

fn is_one_at_a_time(arguments: &ExperimentArguments) -> bool {
    arguments.factors.is_some()
        && !arguments.grid.unwrap_or(false)
        && arguments.filesystems.is_none()
        && arguments
            .targets
            .as_ref()
            .is_none_or(|targets| targets.len() < 2)
}

fn max_blocks(given: Option<i32>) -> Result<u32, Refusal> {
    let blocks = given.unwrap_or(DEFAULT_MAX_BLOCKS as i32);
    let known = u32::try_from(blocks).ok().filter(|n| LOOKS.contains(n));
    known.ok_or_else(|| {
        Refusal::argument(match blocks {
            ..3 => format!("max_blocks is {blocks}, and under {FEWEST_BLOCKS} nothing is ever decided"),
            25.. => format!("max_blocks is {blocks}, and at most 24 are made"),
            _ => format!("after max_blocks there is no look: it is {blocks}"),
        })
        .detail("A block has one run of each target. The looks are after 3, 4, 6, 8, 12, 16 and 24 blocks.")
        .hint("Give one of these numbers.")
    })
}

fn positive(what: &str, us: Option<i64>, why: &str, example: &str) -> Result<Option<f64>, Refusal> {
    match us {
        Some(us) if us <= 0 => Err(Refusal::argument(format!("{what} is not above zero"))
            .detail(why)
            .hint(format!(
                "Give an interval such as {example}, or leave it out."
            ))),
        us => Ok(us.map(|us| us as f64 / 1e6)),
    }
}

fn cycle(arguments: &ExperimentArguments) -> Result<Option<f64>, Refusal> {
    let Some(us) = arguments.cycle_us else {
        return Ok(None);
    };
    if !(SHORTEST_CYCLE_US..=LONGEST_CYCLE_US).contains(&us) {
        return Err(Refusal::argument("cycle is not between 30 s and 1 d")
            .detail("It becomes checkpoint_timeout, which cannot be shorter or longer.")
            .hint("Give an interval such as '1 min', or leave it out."));
    }
    let given = arguments
        .run
        .settings
        .as_ref()
        .and_then(|s| s.get("checkpoint_timeout"));
    if given.is_some() {
        return Err(Refusal::argument(
            "cycle and the setting \"checkpoint_timeout\" exclude each other",
        )
        .detail("Both say how long a checkpoint cycle is.")
        .hint("Give one of them."));
    }
    Ok(Some(us as f64 / 1e6))
}
