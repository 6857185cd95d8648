//! `plan_experiment`: what an experiment would do.

use pgfsbench_core::{
    experiment::{
        asked::{Asked, Checked},
        plan,
        state::Goal,
    },
    spec::Spec,
    units::format_bytes,
};
use serde_json::{Value, json};

use super::planned;
use crate::{api::guard, errors::Fault};

/// The rows of `plan_experiment`.
#[allow(clippy::too_many_lines)]
pub fn plan_only_of(asked: &Asked) -> Result<Vec<Value>, Fault> {
    let ready = guard::ready()?;
    let planned = planned(&ready, asked)?;
    let checked = &planned.checked;
    let targets = checked.candidates.len() + usize::from(checked.control);
    let run_seconds = planned.length.run_seconds();
    let mut rows =
        vec![json!({"part": "plan", "item": "experiment", "says": planned.announced(asked)})];
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
            .map(|spec| spec.transactions_at(plan::ASSUMED_TPS))
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
