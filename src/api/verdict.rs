//! `verdict` and its kin: the arithmetic of verdicts, on arrays.

use pgfsbench_core::verdict::{
    Estimate, best, compare,
    compare::Verdict,
    nights, rate, set_aside,
    table::{self, MOST_RATIOS, MOST_VALUES},
};
use pgrx::{Array, iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use crate::{
    errors::Fault,
    pg::{array, process::check_interrupts},
};

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_verdict(
    baseline: Array<'_, f64>,
    targets: Array<'_, f64>,
    margin: f64,
    max_blocks: i32,
) -> Result<
    TableIterator<
        'static,
        (
            name!(target, i32),
            name!(verdict, String),
            name!(reason, Option<String>),
            name!(ratio, Option<f64>),
            name!(low, Option<f64>),
            name!(high, Option<f64>),
            name!(blocks, Option<i32>),
            name!(kept, Option<i32>),
            name!(half_width, Option<f64>),
            name!(beyond_margin, Option<bool>),
            name!(blocks_needed, Option<i32>),
        ),
    >,
    ErrorReport,
> {
    let delta = table::margin(margin).map_err(Fault::from)?;
    let baseline = table::baseline(&shaped(baseline)).map_err(Fault::from)?;
    let targets = table::targets(&shaped(targets), 1).map_err(Fault::from)?;
    table::same_blocks(&baseline, &targets).map_err(Fault::from)?;
    let looks = table::looks(max_blocks, baseline.len()).map_err(Fault::from)?;
    let compared = compare::compare(&baseline, &targets, delta, &looks);
    check_interrupts();
    let rows: Vec<_> = (1..)
        .zip(compared)
        .map(|(target, c)| {
            let e = c.estimate;
            (
                target,
                c.verdict.as_str().to_owned(),
                match c.verdict {
                    Verdict::Inconclusive(reason) => Some(reason.as_str().to_owned()),
                    _ => None,
                },
                e.map(|e| e.mean.exp()),
                e.map(|e| e.low().exp()),
                e.map(|e| e.high().exp()),
                e.map(|e| e.blocks as i32),
                e.map(|e| e.kept as i32),
                e.map(|e| e.half_width),
                c.beyond_margin(delta),
                c.blocks_needed(targets.len(), delta).map(|n| n as i32),
            )
        })
        .collect();
    Ok(TableIterator::new(rows))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_verdict_best(
    targets: Array<'_, f64>,
    margin: f64,
    max_blocks: i32,
) -> Result<
    TableIterator<
        'static,
        (
            name!(target, i32),
            name!(shown, String),
            name!(against, Option<i32>),
            name!(worse_by, Option<f64>),
            name!(low, Option<f64>),
            name!(high, Option<f64>),
            name!(blocks, Option<i32>),
        ),
    >,
    ErrorReport,
> {
    let delta = table::margin(margin).map_err(Fault::from)?;
    let targets = table::targets(&shaped(targets), 2).map_err(Fault::from)?;
    let looks = table::looks(max_blocks, targets[0].len()).map_err(Fault::from)?;
    let ranked = best::best(&targets, delta, &looks);
    check_interrupts();
    // The share that is missing to the other one.
    let worse = |e: Option<Estimate>, x: fn(&Estimate) -> f64| e.map(|e| -(-x(&e)).exp_m1());
    let rows: Vec<_> = (1..)
        .zip(ranked)
        .map(|(target, r)| {
            (
                target,
                r.standing.as_str().to_owned(),
                r.against.map(|against| against as i32 + 1),
                worse(r.estimate, |e| e.mean),
                worse(r.estimate, Estimate::low),
                worse(r.estimate, Estimate::high),
                r.estimate.map(|e| e.blocks as i32),
            )
        })
        .collect();
    Ok(TableIterator::new(rows))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_set_aside(
    d: Vec<Option<f64>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(kept, i32),
            name!(mean, Option<f64>),
            name!(sd, Option<f64>),
        ),
    >,
    ErrorReport,
> {
    let d = table::numbers("d", &d, MOST_RATIOS).map_err(Fault::from)?;
    let kept = set_aside::set_aside(&d);
    Ok(TableIterator::once((
        kept.count as i32,
        Some(kept.mean).filter(|x| !x.is_nan()),
        Some(kept.variance.sqrt()).filter(|x| !x.is_nan()),
    )))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_change_points(
    x: Vec<Option<f64>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(night, i32),
            name!(before, f64),
            name!(after, f64),
            name!(size, f64),
            name!(seen_after, i32),
        ),
    >,
    ErrorReport,
> {
    let x = table::nullable("x", &x, MOST_VALUES).map_err(Fault::from)?;
    let changes = nights::change_points(&x);
    check_interrupts();
    Ok(TableIterator::new(changes.into_iter().map(|change| {
        (
            change.night as i32 + 1,
            change.before,
            change.after,
            change.after - change.before,
            change.seen_after as i32,
        )
    })))
}

#[pg_extern(sql = false)]
fn fsbench_rate_estimate(
    rates: Vec<Option<f64>>,
    scheduled: Vec<Option<f64>>,
    misses: Vec<Option<f64>>,
    quantile: f64,
) -> Result<Option<f64>, ErrorReport> {
    let cycles = table::cycles([&rates, &scheduled, &misses], quantile).map_err(Fault::from)?;
    Ok(rate::estimate::estimate(&cycles, quantile))
}

#[pg_extern(sql = false)]
fn fsbench_student_t(upper_p: f64, degrees_of_freedom: f64) -> Result<f64, ErrorReport> {
    Ok(table::student_t(upper_p, degrees_of_freedom).map_err(Fault::from)?)
}

fn shaped(array: Array<'_, f64>) -> table::Array {
    let (dimensions, values) = array::shaped(array);
    table::Array { dimensions, values }
}
