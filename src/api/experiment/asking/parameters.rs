//! The parameters of an experiment's runs.

use pgfsbench_core::{
    experiment::{
        arguments::{self, Candidate, Checked, ExperimentArguments},
        plan::Length,
    },
    refusal::quoted,
    spec::{Bound, Spec, Workload},
    workload,
};
use serde_json::{Map, Value};

use crate::{
    api::{guard::Ready, request},
    errors::{Fault, sqlstate},
    pg::{session, sql},
    target,
};

/// Seconds that are reckoned for a run that a number of transactions ends.
const TRANSACTIONS_SECONDS: f64 = 60.0;
/// Window and warm-up in seconds, where neither is given and the workload does not depend on checkpoints.
const WITHOUT_CYCLES: (f64, f64) = (60.0, 10.0);

/// The option that an experiment sets by itself.
const WAL_SEGMENTS: &str = "wal_segments";

/// A checkpoint cycle: what was asked for, or checkpoint_timeout as it will be; the longest, where candidates have others.
pub fn cycle_seconds(
    ready: &Ready,
    arguments: &ExperimentArguments,
    checked: &Checked,
) -> Result<f64, Fault> {
    if let Some(seconds) = checked.cycle_seconds {
        return Ok(seconds);
    }
    let mut longest: Option<f64> = None;
    for candidate in &checked.candidates {
        let seconds = cycle_of(ready, arguments, candidate)?;
        longest = Some(longest.map_or(seconds, |known| known.max(seconds)));
    }
    Ok(longest.unwrap_or(300.0))
}

/// The checkpoint cycle of a candidate.
fn cycle_of(
    ready: &Ready,
    arguments: &ExperimentArguments,
    candidate: &Candidate,
) -> Result<f64, Fault> {
    let given = |settings: Option<&Value>| {
        settings
            .and_then(|s| s.get("checkpoint_timeout"))
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
    };
    let own = given(candidate.own.get("settings"));
    let mut text = own.or_else(|| given(arguments.run.settings.as_ref()));
    if text.is_none() {
        let row = session::with_rights_of(ready.owner, || target::read(&candidate.target))?;
        text = given(row.and_then(|row| row.settings).as_ref());
    }
    let seconds = match text {
        Some(text) => sql::read(
            "SELECT CASE WHEN $1 ~ '^ *[0-9]+ *$' THEN $1::float8 ELSE extract(epoch FROM $1::interval) END",
            &[Some(&text)],
        )?,
        None => sql::read(
            "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'checkpoint_timeout'",
            &[],
        )?,
    };
    Ok(seconds.and_then(|s| s.parse().ok()).unwrap_or(300.0))
}

/// Whether checkpoint cycle and windows may be chosen: the caller has given neither, and all servers take the cycle of the experiment.
pub fn may_choose_windows(
    ready: &Ready,
    arguments: &ExperimentArguments,
    checked: &Checked,
) -> Result<bool, Fault> {
    const TIMEOUT: &str = "checkpoint_timeout";
    let run = &arguments.run;
    let has_timeout = |settings: Option<&Value>| settings.is_some_and(|s| s.get(TIMEOUT).is_some());
    let is_given = checked.cycle_seconds.is_some()
        || run.duration_us.is_some()
        || run.transactions.is_some()
        || has_timeout(run.settings.as_ref());
    if is_given || !has_window(arguments) {
        return Ok(false);
    }
    for candidate in &checked.candidates {
        let row = session::with_rights_of(ready.owner, || target::read(&candidate.target))?;
        let kind = row.as_ref().map(target::Row::kind).transpose()?;
        let is_of_another = kind.is_none_or(|kind| kind == target::Kind::Connection);
        let settings = row.as_ref().and_then(|row| row.settings.as_ref());
        let own = candidate.own.get("settings");
        if candidate.own.keys().any(|name| name.starts_with("warmup")) {
            return Ok(false);
        }
        if is_of_another || has_timeout(settings) || has_timeout(own) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn workload_of(arguments: &ExperimentArguments) -> Option<Workload> {
    match arguments.run.workload.as_deref() {
        Some(name) => Workload::parse(name),
        None => Some(workload::ALL[0]),
    }
}

/// Whether a duration ends the windows: a search chooses the length of its cycles by itself.
fn has_window(arguments: &ExperimentArguments) -> bool {
    workload_of(arguments).is_some_and(Workload::runs_transactions)
        && !arguments::searches(arguments)
}

/// The parameters of all runs: those given, and a window when none is. It has whole checkpoint cycles, unless the workload does not depend on
/// checkpoints.
pub fn parameters(arguments: &ExperimentArguments, checked: &Checked, cycle: f64) -> Value {
    let mut run = arguments.run.clone();
    (run.target, run.seed, run.label) = (None, None, None);
    run.options = arguments::options_of_runs(run.options);
    let us = |seconds: f64| (seconds * 1e6) as i64;
    let has_window = has_window(arguments);
    if run.duration_us.is_none() && run.transactions.is_none() && has_window {
        let depends =
            workload_of(arguments).is_none_or(|workload| workload.depends_on_checkpoints());
        let (window, warmup) = match depends || checked.cycle_seconds.is_some() {
            true => (3.0 * cycle, cycle),
            false => WITHOUT_CYCLES,
        };
        run.duration_us = Some(us(window));
        run.warmup_us = run.warmup_us.or(Some(us(warmup)));
    }
    // Who names a cycle means it for the warm-up, too, where the window has some.
    let has_cycles = (run.duration_us).is_some_and(|duration| duration >= us(2.0 * cycle));
    if checked.cycle_seconds.is_some() && has_cycles && has_window {
        run.warmup_us = run.warmup_us.or(Some(us(cycle)));
    }
    if checked.cycle_seconds.is_some() {
        let mut settings = object(run.settings.take());
        settings.insert("checkpoint_timeout".into(), format!("{cycle:.0}s").into());
        run.settings = Some(Value::Object(settings));
    }
    let mut parameters = object(serde_json::to_value(&run).ok());
    parameters.retain(|_, value| !value.is_null());
    Value::Object(parameters)
}

/// The members of an object; none of anything else.
pub fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// The specification of a run on a candidate; refused as the run would be.
pub fn specified(ready: &Ready, parameters: &Value, candidate: &Candidate) -> Result<Spec, Fault> {
    let mut merged = object(Some(parameters.clone()));
    for (name, value) in &candidate.own {
        match (merged.get_mut(name), value) {
            (Some(Value::Object(all)), Value::Object(own)) => all.extend(own.clone()),
            _ => {
                merged.insert(name.clone(), value.clone());
            }
        }
    }
    merged.remove("warmup");
    let mut run: pgfsbench_core::spec::RunArguments = serde_json::from_value(Value::Object(merged))
        .map_err(|e| {
            Fault::new(
                sqlstate::INVALID_PARAMETER,
                "a factor has a value of the wrong type",
            )
            .detail(format!("{e}."))
            .hint("Give numbers where fsbench.run() takes numbers.")
        })?;
    run.target = Some(candidate.target.clone());
    request::specify(ready, &run).map_err(|fault| match fault.sqlstate.as_str() {
        sqlstate::NOT_ALLOWED => fault,
        _ => fault.context(&format!("target {}", quoted(&candidate.name))),
    })
}

/// Chooses once the values that would be chosen anew for each run, so that they are the same for all. True if a run gets another
/// value than it has chosen.
pub fn fix(parameters: &mut Value, specs: &[Spec]) -> bool {
    let first = &specs[0];
    let is_here = specs.iter().all(|spec| spec.chosen_there.is_empty());
    if !is_here {
        return false;
    }
    let is_same = |of: fn(&Spec) -> u32| specs.iter().all(|spec| of(spec) == of(first));
    let is_chosen = |name: &str| first.chosen.iter().any(|chosen| chosen == name);
    if is_chosen("clients") && is_same(|spec| spec.clients) && parameters["clients"].is_null() {
        parameters["clients"] = first.clients.into();
    }
    let Some(scale) = arguments::one_scale(specs) else {
        return false;
    };
    parameters["scale"] = scale.into();
    !is_same(|spec| spec.scale)
}

/// How long a run takes, by what decides that.
pub fn length(specs: &[Spec], cycle_seconds: f64) -> Length {
    let window = |spec: &Spec| match spec.bound {
        // A search ends somewhere between.
        Bound::DurationMs(ms) => {
            let cycles = (spec.fewest_cycles() + spec.most_cycles()) as f64 / 2.0;
            ms as f64 / 1000.0 * cycles
        }
        Bound::Transactions(_) => TRANSACTIONS_SECONDS,
    };
    let most = |of: &dyn Fn(&Spec) -> f64| specs.iter().map(of).fold(0.0, f64::max);
    Length {
        warmup_seconds: most(&|spec| spec.warmup_ms as f64 / 1000.0),
        window_seconds: most(&window),
        data_bytes: most(&|spec| spec.data_bytes() as f64) as u64,
        cycle_seconds,
    }
}

/// Whether a run of one checkpoint cycle is to tell first how much WAL that takes, where the windows are of such cycles: the caller has not said how many
/// segments are to be ready.
pub fn has_pilot_cycle(arguments: &ExperimentArguments, specs: &[Spec]) -> bool {
    let fills = |spec: &Spec| spec.workload.writes() && spec.workload.takes_option(WAL_SEGMENTS);
    let options = arguments.run.options.as_ref();
    let is_given = options.is_some_and(|options| options.get(WAL_SEGMENTS).is_some());
    let is_unlogged = specs.iter().any(|spec| spec.options.unlogged);
    specs.iter().all(fills) && !is_given && !is_unlogged && !arguments::searches(arguments)
}
