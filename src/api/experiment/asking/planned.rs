//! `plan_experiment`: what an experiment would do.

use pgfsbench_core::{
    experiment::{
        asked::{Asked, Checked},
        plan::{self, Before, Length},
        state::Goal,
    },
    spec::Spec,
    units::{format_bytes, format_count, format_seconds},
};
use serde_json::{Value, json};

use super::{planned, targets};
use crate::{
    api::{guard, own_target},
    errors::Fault,
    pg::{session, xact},
    run::preflight,
};

/// The rows of `plan_experiment`.
#[allow(clippy::too_many_lines)]
pub fn plan_only_of(asked: &Asked) -> Result<Vec<Value>, Fault> {
    let ready = guard::ready()?;
    let planned = own_target::quietly(|| planned(&ready, asked))?;
    let not_made = targets::not_made(&ready, &planned.checked)?;
    let not_made = not_made.into_iter().map(Fault::from);
    let lacks = super::helper_that_lacks(&ready, &planned)?;
    let trouble: Vec<Fault> = not_made.chain(lacks).collect();
    let checked = &planned.checked;
    let many = checked.candidates.len() + usize::from(checked.control);
    let mut rows =
        vec![json!({"part": "plan", "item": "experiment", "says": planned.announced(asked)})];
    let mut add = |part: &str, item: String, says: String| {
        rows.push(json!({"part": part, "item": item, "says": says}));
    };
    for why in trouble {
        let words = [Some(why.message), why.detail, why.hint];
        let words: Vec<String> = words.into_iter().flatten().collect();
        add("trouble", "the helper".into(), words.join("; "));
    }
    for (candidate, spec) in checked.candidates.iter().zip(&planned.specs) {
        add(
            "run",
            candidate.name.clone(),
            format!("target {}: {}", candidate.target, spec.plan_text()),
        );
    }
    let order = plan::run_order(many, planned.seed);
    let name = |number: &usize| match checked.candidates.get(*number) {
        Some(candidate) => candidate.name.clone(),
        None => "control".to_owned(),
    };
    for (block, order) in (1..).zip(order.iter().take(3)) {
        let names: Vec<String> = order.iter().map(name).collect();
        add("order", format!("block {block}"), names.join(", "));
    }
    if asked.run.seed.is_none() {
        add(
            "order",
            "of this plan".into(),
            format!(
                "seed => {} has this order; without a seed it is drawn when the experiment is asked for",
                planned.seed
            ),
        );
    }
    let needed = |spec: &Spec| {
        let needed = || preflight::needed_on_target(spec);
        xact::seeing_own_changes(|| session::with_rights_of(ready.owner, needed))
    };
    let needed: Vec<u64> = planned.specs.iter().map(needed).collect::<Result<_, _>>()?;
    let largest = planned
        .specs
        .iter()
        .zip(needed)
        .max_by_key(|(_, needed)| *needed);
    if let Some((spec, needed)) = largest {
        add(
            "needs",
            "room on a target".into(),
            format!(
                "about {}, of which {} are data when a run begins; the rest is WAL, what is added at {:.0} tps, an empty cluster, and on btrfs as much again; with room for twice max_wal_size besides, WAL need not force checkpoints",
                format_bytes(needed),
                format_bytes(spec.data_bytes()),
                preflight::DISK_TPS,
            ),
        );
    }
    if planned.specs.iter().any(Spec::is_here) {
        let runs = f64::from(checked.max_blocks) * many as f64;
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
        let length = match (short, asked.cycle_us) {
            // Half an hour is for a first look, with the shortest cycles.
            (true, None) => planned.length.with_shortest_cycles(),
            _ => planned.length,
        };
        let says = offered(
            checked,
            many,
            offer.seconds,
            (length, planned.before(asked)),
            short,
        );
        add("time", offer.name.into(), says);
    }
    if !planned.is_too_short() {
        add(
            "time",
            "not in these".into(),
            "runs that are made again since others disturbed them, each twice at most, and waits for the processors to be as before".into(),
        );
    }
    Ok(rows)
}

/// The hint that offers what fits into a time, of which the experiment may have less.
fn offered(
    checked: &Checked,
    targets: usize,
    seconds: f64,
    (length, before): (Length, Before),
    short: bool,
) -> String {
    let most = checked.max_seconds.filter(|most| *most < seconds);
    let blocks = plan::blocks_within(most.unwrap_or(seconds), targets, length, before);
    let within = most.map_or(String::new(), |most| {
        format!("max_duration {}: ", format_seconds(most))
    });
    let reached = plan::looks(24)
        .into_iter()
        .map(|look| look.blocks)
        .filter(|n| *n <= blocks);
    let reached: Vec<u32> = reached.collect();
    let Some(last) = reached.last() else {
        return format!(
            "{within}{}: too few for a verdict",
            format_count(blocks.into(), "block")
        );
    };
    // It would have to be asked for so many, or extended to them.
    let more = match *last > checked.max_blocks {
        true => format!("with max_blocks => {last}: "),
        false => String::new(),
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
        "{within}{more}{how}looks after {}; finds {}",
        looks.join(", "),
        finds.join(", ")
    )
}
