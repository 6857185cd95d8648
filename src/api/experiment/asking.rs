//! `experiment` and `plan_experiment`: from arguments to rows.

mod budget;
mod made;
mod parameters;
mod planned;
mod runs;
mod targets;

use made::OwnTargets;
use parameters::cycle_seconds;
use pgfsbench_core::{
    experiment::{
        arguments::{self as experiment_arguments, Checked, ExperimentArguments},
        plan::{
            self, Length, RunsBefore,
            budget::{BudgetPlan, BudgetRequest},
        },
        row, variants,
    },
    refusal::quoted,
    spec::Spec,
    texts::plan::TOO_SHORT,
};
use pgrx::{
    iter::TableIterator,
    name, pg_extern,
    pg_sys::{FunctionCallInfo, panic::ErrorReport},
};
use runs::Runs;
use serde_json::{Map, Value};

use super::{tell_conductor, too_many_databases, unknown};
use crate::{
    api::{
        guard,
        guard::Ready,
        request::{self, check_own_data},
        run,
    },
    errors::{Fault, read_stored, sqlstate, wrong_arguments},
    pg::{arguments, report, session, sql, text::ReturnedText, xact},
    random,
    run::marker,
    store::experiment as store,
    target::helper_job,
};

#[pg_extern(sql = false)]
fn fsbench_experiment(call: FunctionCallInfo) -> Result<i64, ErrorReport> {
    Ok(record(&arguments_of(call)?)?)
}

#[pg_extern(sql = false)]
fn fsbench_plan_experiment(
    call: FunctionCallInfo,
) -> Result<
    TableIterator<
        'static,
        (
            name!(part, ReturnedText),
            name!(item, ReturnedText),
            name!(says, ReturnedText),
        ),
    >,
    ErrorReport,
> {
    let arguments = arguments_of(call)?;
    // Everything that planning makes is undone.
    let lines = xact::attempt(|| planned::plan_only_of(&arguments)).and_then(|planned| planned)?;
    let rows = lines.into_iter();
    Ok(TableIterator::new(rows.map(|line| {
        (line.part.into(), line.item.into(), line.says.into())
    })))
}

/// Parameters of the runs among the arguments of an experiment.
const OF_RUNS: [&str; 14] = [
    "workload",
    "scale",
    "size",
    "clients",
    "duration",
    "transactions",
    "warmup",
    "latency_limit_ms",
    "seed",
    "settings",
    "options",
    "force",
    "data",
    "database",
];

/// Parameters of the runs that are about scripts.
const OF_SCRIPTS: [&str; 7] = [
    "scripts",
    "variables",
    "init_script",
    "checks",
    "protocol",
    "max_tries",
    "continue_on_error",
];

/// The arguments of a call of `fsbench.experiment` or `plan_experiment`. Floats come as they are, and not by way of text.
fn arguments_of(call: FunctionCallInfo) -> Result<ExperimentArguments, Fault> {
    let mut given = arguments::named(call)?;
    let mut run = Map::new();
    for name in OF_RUNS {
        if let Some(value) = given.remove(name) {
            run.insert(in_microseconds(name).into(), value);
        }
    }
    let mut script = Map::new();
    for name in OF_SCRIPTS {
        if let Some(value) = given.remove(name) {
            script.insert(name.into(), value);
        }
    }
    run.insert("script".into(), Value::Object(script));
    for name in ["max_duration", "cycle", "budget"] {
        if let Some(value) = given.remove(name) {
            given.insert(in_microseconds(name).into(), value);
        }
    }
    given.insert("run".into(), Value::Object(run));
    let mut arguments: ExperimentArguments = serde_json::from_value(Value::Object(given))
        .map_err(|e| wrong_arguments("an argument of an experiment", e))?;
    arguments.run = request::with_hash(arguments.run)?;
    Ok(experiment_arguments::with_rate(arguments)?)
}

/// The name of an argument among those of an experiment: of an interval it says the unit.
fn in_microseconds(name: &str) -> &str {
    match name {
        "duration" => "duration_us",
        "warmup" => "warmup_us",
        "max_duration" => "max_duration_us",
        "cycle" => "cycle_us",
        "budget" => "budget_us",
        other => other,
    }
}

/// An experiment as it would be stored.
pub struct Planned {
    /// Whether filesystems are made for its runs.
    needs_helper: bool,
    own_targets: OwnTargets,
    /// The arguments, with what was chosen for a budget in place of that.
    pub arguments: ExperimentArguments,
    pub checked: Checked,
    pub specs: Vec<Spec>,
    pub length: Length,
    /// The request that a plan for another time is fitted to.
    pub wish: BudgetRequest,
    /// The budget, with what it was spent on.
    pub budget: Option<(f64, BudgetPlan)>,
    parameters: Value,
    pub seed: i64,
}

impl Planned {
    /// In one line, for a NOTICE.
    pub fn announced(&self) -> String {
        let announced = plan::announced(&self.checked, self.length, self.before());
        match self.budget {
            Some((_, fit)) => format!("{announced}; {}", fit.says()),
            None => announced,
        }
    }

    /// Runs before the first block.
    pub fn before(&self) -> RunsBefore {
        self.wish.before()
    }

    /// Whether its windows are to have whole checkpoint cycles.
    fn is_too_short(&self) -> bool {
        self.wish.has_cycles && self.length.is_too_short()
    }
}

/// Why there is no plan.
pub enum PlanError {
    /// A wrong argument, or an error.
    Refused(Fault),
    /// Requirements that this machine lacks: the first, and all others.
    Lacking(Fault, Vec<Fault>),
}

impl<E: Into<Fault>> From<E> for PlanError {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl PlanError {
    /// As one error, with what would tell the others.
    pub fn into_fault(self, teller: Option<&str>) -> Fault {
        let (fault, others) = match self {
            Self::Refused(fault) => return fault,
            Self::Lacking(fault, others) => (fault, others.len()),
        };
        if others == 0 {
            return fault;
        }
        let hint = fault.hint.clone().unwrap_or_default();
        let all = teller.map(|teller| format!(": {teller} tells all"));
        fault.hint(format!(
            "{hint} This is the first of {} errors{}.",
            others + 1,
            all.unwrap_or_default()
        ))
    }
}

fn record(arguments: &ExperimentArguments) -> Result<i64, Fault> {
    let ready = guard::ready()?;
    xact::check_may_write(c"fsbench.experiment()");
    let teller = "fsbench.plan_experiment() with the same arguments";
    let planned =
        planned(&ready, arguments, Targets::Held).map_err(|why| why.into_fault(Some(teller)))?;
    guard::janitor_is_there(ready.board)?;
    let starts = arguments.start.unwrap_or(true);
    let not_made = targets::not_made(&ready, &planned.checked)?;
    if starts {
        check_has_place(&ready)?;
        // Failures at night would stay unseen.
        if let Some(why) = not_made.into_iter().next() {
            return Err(why.into());
        }
    } else {
        for why in not_made {
            report::notice(why.message, why.hint);
        }
    }
    let id = insert(&ready, &planned, None)?;
    planned.own_targets.tell()?;
    if let Some(spec) = planned.specs.first() {
        run::tell_remarks(spec.workload, &arguments.run);
    }
    let on_top = match planned.checked.neighbours.has_repeats() {
        true => {
            " A run that other programs disturb is made again, at most twice: that comes on top of the time above."
        }
        false => "",
    };
    report::notice(
        planned.announced(),
        Some(match (starts, planned.is_too_short()) {
            (_, true) => TOO_SHORT.into(),
            (true, _) => format!(
                "See fsbench.experiments, and SELECT * FROM fsbench.compare({}).{on_top}",
                literal(&planned.checked.experiment)
            ),
            (false, _) => format!(
                "It is only recorded: SELECT fsbench.resume_experiment({}) starts it.",
                literal(&planned.checked.experiment)
            ),
        }),
    );
    if starts {
        tell_of_helper(&ready, &planned)?;
        start(&ready, id)?;
    }
    Ok(id)
}

/// Says that runs will wait for a helper that is not there.
fn tell_of_helper(ready: &Ready, planned: &Planned) -> Result<(), Fault> {
    if let Some(missing) = helper_that_lacks(ready, planned)? {
        report::notice(missing.message, missing.hint);
    }
    Ok(())
}

/// The error for runs that need a helper, where none is running.
fn helper_that_lacks(ready: &Ready, planned: &Planned) -> Result<Option<Fault>, Fault> {
    let (is_there, has_served) = session::with_rights_of(ready.owner, || -> Result<_, Fault> {
        let version = helper_job::helper_version()?;
        Ok((version.is_some(), helper_job::has_served()?))
    })?;
    Ok((planned.needs_helper && !is_there).then(|| {
        let missing = helper_job::not_running(has_served);
        let message = format!("{}; the runs wait for it", missing.message);
        Fault { message, ..missing }
    }))
}

fn literal(text: &str) -> String {
    pgfsbench_core::quoting::sql_literal(text)
}

/// Refuses to start an experiment that no conductor would continue.
fn check_has_place(ready: &Ready) -> Result<(), Fault> {
    match ready
        .board
        .experiment_slots
        .has_room_for(session::database())
    {
        true => Ok(()),
        false => Err(too_many_databases()),
    }
}

/// Has an experiment that is recorded go on.
pub fn start(ready: &Ready, id: i64) -> Result<(), Fault> {
    check_has_place(ready)?;
    let (mark, role, data): (String, u32, Option<String>) = session::with_rights_of(
        ready.owner,
        || {
            let text = sql::write(
                "SELECT jsonb_build_array(e.mark, coalesce(r.oid::bigint, 0), e.asked -> 'run' ->> 'data') FROM fsbench.experiment e \
                   LEFT JOIN pg_catalog.pg_roles r ON r.rolname = e.requested_by WHERE e.experiment_id = $1::bigint",
                &[Some(&id.to_string())],
            )?;
            read_stored("experiment", &text.unwrap_or_default())
        },
    )?;
    // The right to use the data may have been revoked since.
    check_own_data(data.as_deref())?;
    session::with_rights_of(ready.owner, || {
        marker::write(id, &mark, ready.extension, role, data)?;
        store::set_status(id, "queued", None)
    })?;
    tell_conductor();
    Ok(())
}

/// Repeats an experiment under a new name.
pub fn again(ready: &Ready, of: &store::ExperimentControl) -> Result<String, Fault> {
    let text = session::with_rights_of(ready.owner, || {
        sql::read_latest(
            "SELECT asked || jsonb_build_object('experiment', (SELECT left($1, 50) || ', again' || CASE WHEN n > 1 THEN ' ' || n ELSE '' END \
               FROM generate_series(1, 1000) n WHERE NOT EXISTS (SELECT FROM fsbench.experiment o \
                 WHERE o.experiment = left($1, 50) || ', again' || CASE WHEN n > 1 THEN ' ' || n ELSE '' END) ORDER BY n LIMIT 1)) \
             FROM fsbench.experiment WHERE experiment = $1",
            &[Some(&of.experiment)],
        )
    })?;
    let text = text.ok_or_else(|| unknown(&of.experiment))?;
    let mut arguments: ExperimentArguments = read_stored("experiment", &text)?;
    // The targets exist already; targets of factors are made anew from the same ones.
    let are_made_anew = variants::are_made(arguments.factors.as_ref());
    if !are_made_anew && arguments.filesystems.take().is_some() {
        let targets = session::with_rights_of(ready.owner, || {
            sql::read_latest(
                "SELECT jsonb_agg(t.target_name ORDER BY t.number) FROM (SELECT target_name, min(target_number) AS number FROM fsbench.experiment_target \
                   WHERE experiment_id = $1::bigint GROUP BY target_name) t",
                &[Some(&of.experiment_id.to_string())],
            )
        })?;
        arguments.targets = Some(read_stored("targets", &targets.unwrap_or_default())?);
        (arguments.device, arguments.image_size) = (None, None);
        if let (Some(baseline), Some(targets)) = (&arguments.baseline, &arguments.targets) {
            let is_its = |target: &&Option<String>| {
                target
                    .as_ref()
                    .is_some_and(|t| t.ends_with(&format!(".{baseline}")))
            };
            arguments.baseline = targets.iter().find(is_its).cloned().flatten();
        }
    }
    arguments.run.seed = None;
    let planned = planned(ready, &arguments, Targets::Held).map_err(|why| why.into_fault(None))?;
    let id = insert(ready, &planned, Some(of.experiment_id))?;
    planned.own_targets.tell()?;
    start(ready, id)?;
    Ok(planned.checked.experiment)
}

/// Whether the targets of a plan are to stay as they are until the transaction ends.
#[derive(Clone, Copy, PartialEq)]
pub enum Targets {
    /// They are locked before they are looked at.
    Held,
    /// Nothing is recorded, so nothing waits.
    Free,
}

/// Plans an experiment from its arguments, and makes the targets of its factors.
pub fn planned(
    ready: &Ready,
    arguments: &ExperimentArguments,
    targets: Targets,
) -> Result<Planned, PlanError> {
    let made = experiment_arguments::made_targets(arguments)?;
    // Before anything is made: a wrong argument is wrong whatever there is.
    let checked = experiment_arguments::check(arguments, &made)?;
    check_name_is_free(ready, &checked.experiment)?;
    if targets == Targets::Held {
        hold(ready, &made, &checked)?;
    }
    // Each with a snapshot from after the wait.
    let own_targets = xact::seeing_own_changes(|| made::make(ready, arguments, &made, &checked))?;
    xact::seeing_own_changes(|| planned_on(ready, arguments, &made, checked, own_targets))
}

/// Locks the targets that the experiment uses, those that its own are made of, and those of its own that are there already. Of one that is
/// not there, planning tells.
fn hold(ready: &Ready, made: &[(String, String)], checked: &Checked) -> Result<(), Fault> {
    let candidates = checked.candidates.iter().map(|c| &c.target);
    let variants = checked.variants.iter().flat_map(|v| [&v.of, &v.name]);
    let made = made.iter().map(|(_, name)| name);
    let names = candidates.chain(variants).chain(made);
    let names: Vec<&str> = names.map(String::as_str).collect();
    session::with_rights_of(ready.owner, || store::hold(&names))
}

/// Plans an experiment whose targets all exist.
fn planned_on(
    ready: &Ready,
    arguments: &ExperimentArguments,
    made: &[(String, String)],
    mut checked: Checked,
    own_targets: OwnTargets,
) -> Result<Planned, PlanError> {
    targets::check_targets(ready, &checked)?;
    targets::wait_for_helper(ready, arguments, &mut checked)?;
    targets::warn_of_devices(ready, &checked, arguments.run.force)?;
    let seed = arguments
        .run
        .seed
        .unwrap_or_else(|| random::seed() & i64::from(i32::MAX));
    let arguments = ExperimentArguments {
        budget_us: None,
        ..arguments.clone()
    };
    let own_cycle = cycle_seconds(ready, &arguments, &checked)?;
    let may_choose = parameters::may_choose_windows(ready, &arguments, &checked)?;
    let (mut arguments, mut budget) = (arguments, None);
    let mut runs = match (checked.budget_seconds, may_choose) {
        // The shortest windows are those that any target has room for.
        (Some(_), true) => Runs::of(ready, &budget::shortest(&arguments), &checked, own_cycle)?,
        _ => Runs::of(ready, &arguments, &checked, own_cycle)?,
    };
    let wish = runs.wish(&arguments, &checked, own_cycle, may_choose);
    if let Some(seconds) = checked.budget_seconds {
        let fit = wish.spend(seconds)?;
        arguments = budget::spent(arguments, seconds, &wish, &fit);
        checked = experiment_arguments::check(&arguments, made)?;
        targets::wait_for_helper(ready, &arguments, &mut checked)?;
        let cycle = cycle_seconds(ready, &arguments, &checked)?;
        runs = Runs::of(ready, &arguments, &checked, cycle)?;
        budget = Some((seconds, fit));
    }
    runs::check_power_cuts(ready, &checked, &runs.parameters)?;
    // All runs of a block have the same: as those of the first one.
    for spec in &mut runs.specs {
        spec.seed = seed.wrapping_add(1) & i64::MAX;
    }
    targets::check_transaction_ids(ready, &checked, &runs.specs, arguments.run.force)?;
    Ok(Planned {
        needs_helper: runs.kinds.iter().flatten().any(|kind| kind.is_made()),
        own_targets,
        arguments,
        checked,
        specs: runs.specs,
        length: runs.length,
        wish,
        budget,
        parameters: runs.parameters,
        seed,
    })
}

fn check_name_is_free(ready: &Ready, name: &str) -> Result<(), Fault> {
    match session::with_rights_of(ready.owner, || store::find(name))? {
        None => Ok(()),
        Some(_) => Err(Fault::new(
            sqlstate::EXISTS_ALREADY,
            format!("experiment {} already exists", quoted(name)),
        )
        .detail("Names of experiments are unique in a database.")
        .hint("Use another name, or fsbench.drop_experiment() (the results of its runs stay).")),
    }
}

/// Records an experiment, and gives its number.
pub fn insert(ready: &Ready, planned: &Planned, confirms: Option<i64>) -> Result<i64, Fault> {
    let runs = row::Runs {
        length: planned.length,
        parameters: planned.parameters.clone(),
        seed: planned.seed,
        burn_in: planned.wish.burn_in,
        pilot_cycle: planned.wish.pilot_cycle,
        too_short: planned.is_too_short(),
        budget_seconds: planned.budget.map(|(seconds, _)| seconds),
    };
    let role = session::role_name(session::role());
    let by = row::RequestedBy {
        role: role.clone(),
        mark: format!("{:016x}", random::seed()),
        confirms,
    };
    let (row, targets) = row::recorded(&planned.arguments, &planned.checked, runs, by);
    session::with_rights_of(ready.owner, || {
        let id = store::insert(&row, &targets)?;
        let what = planned.announced();
        store::log(id, "recorded", None, Some(&what), Some(&role))?;
        Ok(id)
    })
}
