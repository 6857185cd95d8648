//! `experiment` and `plan_experiment`: from arguments to rows.

use pgfsbench_core::{
    experiment::{
        asked::{self, Asked, Candidate, Checked},
        plan::{self, Length},
        state::Goal,
    },
    refusal::quoted,
    spec::{Bound, DEFAULT_TARGET, Spec, Workload},
    units::format_bytes,
    workload,
};
use pgrx::{pg_extern, pg_sys::panic::ErrorReport};
use serde_json::{Map, Value, json};

use super::{tell_conductor, unknown};
use crate::{
    api::{guard, guard::Ready, request},
    errors::{Fault, read_json, sqlstate, unreadable},
    pg::{report, session, sql, text::Document, xact},
    random,
    run::marker,
    store::experiment as store,
    target,
};

/// How long a run waits for the helper.
const HELPER_MS: u64 = 3_600_000;
/// Seconds that are reckoned for a run that a number of transactions ends.
const TRANSACTIONS_SECONDS: f64 = 60.0;

#[pg_extern(sql = false)]
fn fsbench_experiment(
    asked: Option<Document>,
    plan_only: Option<bool>,
) -> Result<String, ErrorReport> {
    let asked: Asked = serde_json::from_value(asked.map(|json| json.0).unwrap_or_default())
        .map_err(|e| unreadable("arguments of an experiment", e))?;
    let asked = asked::with_rate(asked).map_err(Fault::from)?;
    if plan_only.unwrap_or(false) {
        // Everything that planning makes is undone.
        let planned = xact::attempt(|| plan_only_of(&asked)).and_then(|planned| planned)?;
        return Ok(json!({"plan": planned}).to_string());
    }
    let id = record(&asked)?;
    Ok(json!({"experiment_id": id}).to_string())
}

/// An experiment as it would be stored.
struct Planned {
    /// Whether a disk is to be burnt in.
    burn_in: bool,
    checked: Checked,
    specs: Vec<Spec>,
    length: Length,
    parameters: Value,
    seed: i64,
}

fn record(asked: &Asked) -> Result<i64, Fault> {
    let ready = guard::ready()?;
    xact::check_may_write(c"fsbench.experiment()");
    let planned = planned(&ready, asked)?;
    guard::janitor_is_there(ready.board)?;
    let id = insert(&ready, asked, &planned, None)?;
    let run_seconds = planned.length.run_seconds();
    let starts = asked.start.unwrap_or(true);
    report::notice(
        plan::announced(&planned.checked, run_seconds),
        Some(match (starts, planned.length.is_too_short()) {
            (_, true) => "The windows have fewer than two checkpoint cycles: whatever comes out, the verdict is inconclusive (too_short).".into(),
            (true, _) => format!("See fsbench.experiments, and SELECT * FROM fsbench.compare({}).", literal(&planned.checked.experiment)),
            (false, _) => format!("It is only recorded: SELECT fsbench.resume_experiment({}) starts it.", literal(&planned.checked.experiment)),
        }),
    );
    if starts {
        start(&ready, id)?;
    }
    Ok(id)
}

fn literal(text: &str) -> String {
    pgfsbench_core::quoting::sql_literal(text)
}

/// Has an experiment that is recorded go on.
pub fn start(ready: &Ready, id: i64) -> Result<(), Fault> {
    session::with_rights_of(ready.owner, || {
        let mark = sql::write(
            "SELECT mark FROM fsbench.experiment WHERE experiment_id = $1::bigint",
            &[Some(&id.to_string())],
        )?;
        marker::write(id, &mark.unwrap_or_default(), ready.extension)?;
        store::set_status(id, "queued", None)
    })?;
    tell_conductor();
    Ok(())
}

/// The same experiment again, under a name of its own.
pub fn again(ready: &Ready, of: &store::Steered) -> Result<String, Fault> {
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
    let mut asked: Asked = read_json("experiment", &text)?;
    // Its targets are there already.
    if asked.filesystems.take().is_some() {
        let targets = session::with_rights_of(ready.owner, || {
            sql::read_latest(
                "SELECT jsonb_agg(t.target ORDER BY t.number) FROM (SELECT target, min(number) AS number FROM fsbench.experiment_target \
                   WHERE experiment_id = $1::bigint GROUP BY target) t",
                &[Some(&of.experiment_id.to_string())],
            )
        })?;
        asked.targets = Some(read_json("targets", &targets.unwrap_or_default())?);
        (asked.device, asked.image_size) = (None, None);
        if let (Some(baseline), Some(targets)) = (&asked.baseline, &asked.targets) {
            let is_its = |target: &&Option<String>| {
                target
                    .as_ref()
                    .is_some_and(|t| t.ends_with(&format!(".{baseline}")))
            };
            asked.baseline = targets.iter().find(is_its).cloned().flatten();
        }
    }
    asked.run.seed = None;
    let planned = planned(ready, &asked)?;
    let id = insert(ready, &asked, &planned, Some(&of.experiment))?;
    start(ready, id)?;
    Ok(planned.checked.experiment)
}

fn planned(ready: &Ready, asked: &Asked) -> Result<Planned, Fault> {
    let made = asked::made_targets(asked)?;
    // Before anything is made: a wrong argument is wrong whatever there is.
    let checked = asked::check(asked, &made)?;
    check_name_is_free(ready, &checked.experiment)?;
    for (filesystem, target) in &made {
        create_target(asked, filesystem, target)?;
    }
    xact::seeing_own_changes(|| planned_on(ready, asked, checked))
}

/// The same, when all targets are there.
fn planned_on(ready: &Ready, asked: &Asked, mut checked: Checked) -> Result<Planned, Fault> {
    check_targets(ready, &checked)?;
    wait_for_helper(ready, asked, &mut checked)?;
    warn_of_devices(ready, &checked, asked.run.force)?;
    let cycle = cycle_seconds(ready, asked, &checked)?;
    let seed = asked
        .run
        .seed
        .unwrap_or_else(|| random::seed() & i64::from(i32::MAX));
    let mut parameters = parameters(asked, &checked, cycle);
    let mut specs = Vec::new();
    for candidate in &checked.candidates {
        specs.push(specified(ready, &parameters, candidate)?);
    }
    fix(&mut parameters, &specs);
    let length = length(&specs, cycle);
    let is_on_device = |candidate: &Candidate| -> Result<bool, Fault> {
        let kind = session::with_rights_of(ready.owner, || target::kind_of(&candidate.target))?;
        Ok(kind == Some(target::Kind::Device))
    };
    let mut burn_in = false;
    for candidate in &checked.candidates {
        burn_in |= is_on_device(candidate)?;
    }
    Ok(Planned {
        burn_in,
        checked,
        specs,
        length,
        parameters,
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

/// With the caller's own rights, as anybody makes a target.
fn create_target(asked: &Asked, filesystem: &str, target: &str) -> Result<(), Fault> {
    sql::write(
        "SELECT fsbench.create_target($1, $2, device => $3, image_size => $4)",
        &[
            Some(target),
            Some(filesystem),
            asked.device.as_deref(),
            asked.image_size.as_deref(),
        ],
    )?;
    Ok(())
}

fn check_targets(ready: &Ready, checked: &Checked) -> Result<(), Fault> {
    for candidate in &checked.candidates {
        let name = &candidate.target;
        let kind = session::with_rights_of(ready.owner, || target::kind_of(name))?;
        if kind.is_none() && name != DEFAULT_TARGET {
            return Err(Fault::new(
                sqlstate::INVALID_PARAMETER,
                format!("target {} does not exist", quoted(name)),
            )
            .detail("An experiment compares targets of fsbench.target.")
            .hint("Create it with fsbench.create_target(), or give filesystems with device or image_size."));
        }
        let is_of_another = kind == Some(target::Kind::Connection) || kind.is_none();
        if checked.cycle_seconds.is_some() && is_of_another {
            return Err(Fault::new(
                sqlstate::INVALID_PARAMETER,
                format!("cycle cannot be set for target {}", quoted(name)),
            )
            .detail("That server is there already, and its checkpoint_timeout is its own.")
            .hint("Leave cycle out, or leave the target out."));
        }
    }
    Ok(())
}

/// At night a helper that is down is not noticed: runs wait for it, `HELPER_MS` long unless the caller has said how long.
fn wait_for_helper(ready: &Ready, asked: &Asked, checked: &mut Checked) -> Result<(), Fault> {
    let option = "wait_for_helper_ms";
    let is_given = asked
        .run
        .options
        .as_ref()
        .is_some_and(|o| o.get(option).is_some());
    for candidate in checked.candidates.iter_mut().filter(|_| !is_given) {
        let kind = session::with_rights_of(ready.owner, || target::kind_of(&candidate.target))?;
        if kind.is_some_and(target::Kind::is_made) {
            let mut options = object(candidate.own.remove("options"));
            options.insert(option.into(), HELPER_MS.into());
            candidate.own.insert("options".into(), options.into());
        }
    }
    Ok(())
}

/// Warns beforehand if the targets are on different devices, whose differences will pass for theirs.
fn warn_of_devices(ready: &Ready, checked: &Checked, forced: bool) -> Result<(), Fault> {
    let names: Vec<&str> = checked
        .candidates
        .iter()
        .map(|c| c.target.as_str())
        .collect();
    let text = session::with_rights_of(ready.owner, || {
        sql::read_latest(
            "SELECT count(DISTINCT coalesce(device, connection, kind)) FROM fsbench.target \
             WHERE target IN (SELECT jsonb_array_elements_text($1::jsonb)) AND kind <> 'directory'",
            &[Some(&json!(names).to_string())],
        )
    })?;
    if text.as_deref().is_some_and(|n| n != "0" && n != "1") && !forced {
        report::log_warning(
            &Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                "the targets are on different devices or servers",
            )
            .detail("What the devices do cannot be told from what the filesystems do: the verdicts will be inconclusive (device confounded).")
            .hint("Let the targets take turns on one device, or use force => true if the devices are what you compare."),
        );
    }
    Ok(())
}

/// A checkpoint cycle: what was asked for, or checkpoint_timeout as it will be.
fn cycle_seconds(ready: &Ready, asked: &Asked, checked: &Checked) -> Result<f64, Fault> {
    if let Some(seconds) = checked.cycle_seconds {
        return Ok(seconds);
    }
    let given = |settings: Option<&Value>| {
        settings
            .and_then(|s| s.get("checkpoint_timeout"))
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            })
    };
    let mut text = given(asked.run.settings.as_ref());
    if text.is_none() {
        let first = &checked.candidates[0].target;
        let row = session::with_rights_of(ready.owner, || target::read(first))?;
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

/// The parameters of all runs: those given, and the window of whole checkpoint cycles when none is.
fn parameters(asked: &Asked, checked: &Checked, cycle: f64) -> Value {
    let mut run = asked.run.clone();
    (run.target, run.seed, run.label) = (None, None, None);
    let us = |seconds: f64| (seconds * 1e6) as i64;
    let workload = match run.workload.as_deref() {
        Some(name) => Workload::parse(name),
        None => Some(workload::ALL[0]),
    };
    // A search chooses the length of its cycles by itself.
    let has_window = workload.is_some_and(Workload::runs_transactions) && !asked::searches(asked);
    if run.duration_us.is_none() && run.transactions.is_none() && has_window {
        run.duration_us = Some(us(3.0 * cycle));
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

fn object(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// The specification of a run on a candidate; refused as the run would be.
fn specified(ready: &Ready, parameters: &Value, candidate: &Candidate) -> Result<Spec, Fault> {
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
    let mut run: pgfsbench_core::spec::Asked = serde_json::from_value(Value::Object(merged))
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

/// Chooses once the values that would be chosen anew for each run, so that they are the same for all.
fn fix(parameters: &mut Value, specs: &[Spec]) {
    let first = &specs[0];
    let is_here = specs.iter().all(|spec| spec.chosen_there.is_empty());
    if !is_here {
        return;
    }
    let is_same = |of: fn(&Spec) -> u32| specs.iter().all(|spec| of(spec) == of(first));
    let is_chosen = |name: &str| first.chosen.iter().any(|chosen| chosen == name);
    if is_chosen("clients") && is_same(|spec| spec.clients) && parameters["clients"].is_null() {
        parameters["clients"] = first.clients.into();
    }
    if is_chosen("scale") && is_same(|spec| spec.scale) && first.scale > 0 {
        parameters["scale"] = first.scale.into();
    }
}

fn length(specs: &[Spec], cycle_seconds: f64) -> Length {
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

fn insert(
    ready: &Ready,
    asked: &Asked,
    planned: &Planned,
    confirms: Option<&str>,
) -> Result<i64, Fault> {
    let checked = &planned.checked;
    let mut targets: Vec<Value> = (checked.candidates.iter().enumerate())
        .map(|(number, c)| json!({"number": number, "name": c.name, "target": c.target, "own": c.own}))
        .collect();
    let mut control = None;
    if checked.control {
        let twin = &checked.candidates[checked.baseline.unwrap_or(0)];
        control = Some(targets.len());
        targets.push(
            json!({"number": targets.len(), "name": format!("{} (control)", twin.name),
            "target": twin.target, "own": twin.own}),
        );
    }
    let has_checkpoints = |spec: &Spec| spec.workload.runs_transactions() && spec.workload.writes();
    let decides_by_cycles = planned.specs.iter().all(has_checkpoints);
    let row = json!({
        "experiment": checked.experiment, "status": "recorded", "goal": checked.goal.as_str(), "baseline": checked.baseline,
        "control": control, "metric": checked.metric.name, "margin": checked.margin, "max_blocks": checked.max_blocks,
        "looks": plan::looks(checked.max_blocks), "run_order": plan::run_order(targets.len(), planned.seed), "seed": planned.seed,
        "parameters": planned.parameters, "asked": asked, "run_seconds": planned.length.run_seconds(),
        "cycle_seconds": planned.length.cycle_seconds, "window_seconds": planned.length.window_seconds,
        "max_seconds": checked.max_seconds, "too_short": decides_by_cycles && planned.length.is_too_short(),
        "rate_share": asked.rate_share, "burn_in": planned.burn_in, "probe_wait_seconds": checked.probe_wait_seconds, "probe_waited_seconds": 0,
        "forced": asked.run.force, "confirms": confirms, "requested_by": session::role_name(session::role()),
        "mark": format!("{:016x}", random::seed()),
    });
    let by = session::role_name(session::role());
    session::with_rights_of(ready.owner, || {
        let id = store::insert(&row, &targets)?;
        store::log(id, "recorded", None, None, Some(&by))?;
        Ok(id)
    })
}

/// The rows of `plan_experiment`.
#[allow(clippy::too_many_lines)]
fn plan_only_of(asked: &Asked) -> Result<Vec<Value>, Fault> {
    let ready = guard::ready()?;
    let planned = planned(&ready, asked)?;
    let checked = &planned.checked;
    let targets = checked.candidates.len() + usize::from(checked.control);
    let run_seconds = planned.length.run_seconds();
    let mut rows = vec![
        json!({"part": "plan", "item": "experiment", "says": plan::announced(checked, run_seconds)}),
    ];
    let mut add = |part: &str, item: String, says: String| {
        rows.push(json!({"part": part, "item": item, "says": says}));
    };
    for (candidate, spec) in checked.candidates.iter().zip(&planned.specs) {
        add(
            "run",
            candidate.name.clone(),
            format!("target {}: {}", candidate.target, spec.plan_text()),
        );
    }
    let order = plan::run_order(targets, planned.seed);
    let name = |number: &usize| match checked.candidates.get(*number) {
        Some(candidate) => candidate.name.clone(),
        None => "control".to_owned(),
    };
    for (block, order) in (1..).zip(order.iter().take(3)) {
        let names: Vec<String> = order.iter().map(name).collect();
        add("order", format!("block {block}"), names.join(", "));
    }
    let bytes = planned
        .specs
        .iter()
        .map(Spec::data_bytes)
        .max()
        .unwrap_or(0);
    add(
        "needs",
        "room on a target".into(),
        format!(
            "about {} of data, and as much again for WAL and what is added",
            format_bytes(bytes)
        ),
    );
    if planned.specs.iter().any(Spec::is_here) {
        let runs = f64::from(checked.max_blocks) * targets as f64;
        let ids = planned
            .specs
            .iter()
            .map(|spec| spec.transactions_at(5000.0))
            .fold(0.0, f64::max);
        add(
            "needs",
            "transaction ids of this server".into(),
            format!(
                "up to {:.0} million at 5000 tps, for the runs on target default",
                ids * runs / 1e6
            ),
        );
    } else {
        add(
            "needs",
            "transaction ids of this server".into(),
            "none: the runs have servers of their own".into(),
        );
    }
    for offer in plan::OFFERS {
        let short = offer.seconds <= 1800.0;
        let run_seconds = match (short, asked.cycle_us) {
            // Half an hour is for a first look, with the shortest cycles.
            (true, None) => run_seconds.min(
                4.0 * 30.0 + run_seconds
                    - planned.length.warmup_seconds
                    - planned.length.window_seconds,
            ),
            _ => run_seconds,
        };
        add(
            "time",
            offer.name.into(),
            offered(checked, targets, offer.seconds, run_seconds, short),
        );
    }
    Ok(rows)
}

/// The hint that offers what fits into a time.
fn offered(
    checked: &Checked,
    targets: usize,
    seconds: f64,
    run_seconds: f64,
    short: bool,
) -> String {
    let blocks = plan::blocks_within(seconds, targets, run_seconds);
    let reached = plan::looks(24)
        .into_iter()
        .map(|look| look.blocks)
        .filter(|n| *n <= blocks);
    let reached: Vec<u32> = reached.collect();
    let Some(last) = reached.last() else {
        return format!("{blocks} blocks: too few for a verdict");
    };
    let looks: Vec<String> = reached.iter().map(u32::to_string).collect();
    let goal: Goal = checked.goal;
    let finds: Vec<String> = [0.015, 0.03, 0.05]
        .into_iter()
        .map(
            |noise| match plan::smallest_difference(goal, targets, *last, noise) {
                Some(share) => format!(
                    "{} % at {} % noise",
                    plan::percent(share),
                    plan::percent(noise)
                ),
                None => format!("nothing at {} % noise", plan::percent(noise)),
            },
        )
        .collect();
    let how = match short {
        true => "with cycle => '30 s', provisional: ",
        false => "",
    };
    format!(
        "{how}looks after {}; finds {}",
        looks.join(", "),
        finds.join(", ")
    )
}
