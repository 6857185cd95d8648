//! `plan_experiment`: what an experiment would do.

use std::iter;

use pgfsbench_core::{
    experiment::{
        arguments::ExperimentArguments,
        plan::rows::{Line, Plan, line, rows, without_plan},
    },
    spec::Spec,
};

use super::{PlanError, Targets, planned, targets};
use crate::{
    api::{guard, own_target},
    errors::Fault,
    pg::{session, xact},
    run::{plan, preflight},
    target::prepared_data,
};

/// The rows of `plan_experiment`.
pub fn plan_only_of(arguments: &ExperimentArguments) -> Result<Vec<Line>, Fault> {
    let ready = guard::ready()?;
    let planned = match own_target::quietly(|| planned(&ready, arguments, Targets::Free)) {
        Ok(planned) => planned,
        Err(PlanError::Refused(fault)) => return Err(fault),
        Err(PlanError::Lacking(first, others)) => {
            let all = iter::once(first).chain(others);
            return Ok(without_plan(all.map(|why| trouble("a target", why))));
        }
    };
    let not_made = targets::not_made(&ready, &planned.checked)?;
    let not_made = not_made.into_iter().map(Fault::from);
    let lacks = super::helper_that_lacks(&ready, &planned)?;
    let needed = |spec: &Spec| {
        let needed = || preflight::needed_on_target(spec);
        xact::seeing_own_changes(|| session::with_rights_of(ready.owner, needed))
    };
    let needed: Vec<u64> = planned.specs.iter().map(needed).collect::<Result<_, _>>()?;
    let to_prepare = |spec: &Spec| {
        let to_prepare = || plan::to_prepare(spec);
        xact::seeing_own_changes(|| session::with_rights_of(ready.owner, to_prepare))
    };
    let data_keys = planned.specs.iter().map(to_prepare);
    let data_keys = data_keys
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten();
    let plan = Plan {
        checked: &planned.checked,
        specs: &planned.specs,
        needed: &needed,
        copied: prepared_data::look_for_all(data_keys.collect())?,
        length: planned.length,
        before: planned.before(),
        seed: planned.seed,
        seed_is_given: arguments.run.seed.is_some(),
        wish: planned.wish,
        budget: planned.budget,
        too_short: planned.is_too_short(),
    };
    let of_helper = not_made.chain(lacks).map(|why| trouble("the helper", why));
    Ok(rows(&plan, of_helper.collect()))
}

fn trouble(item: &str, why: Fault) -> Line {
    let words = [Some(format!("{}.", why.message)), why.detail, why.hint];
    let words: Vec<String> = words.into_iter().flatten().collect();
    line("trouble", item, words.join(" "))
}
