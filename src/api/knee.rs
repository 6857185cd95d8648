//! `knee`: where a scaling curve stops rising.

use std::collections::BTreeMap;

use pgfsbench_core::knee::{self, Point};
use pgrx::{
    check_for_interrupts, iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport,
};

use crate::errors::{Fault, sqlstate};

/// Some times what a run of scans has.
const MOST_MEASUREMENTS: usize = 100_000;

/// Makes the bootstrap the same each time.
const SEED: u64 = 1;

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_knee(
    degrees: Vec<Option<i32>>,
    ms: Vec<Option<f64>>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(verdict, String),
            name!(degree, Option<i32>),
            name!(low, Option<f64>),
            name!(high, Option<f64>),
            name!(tolerance, f64),
            name!(says, String),
        ),
    >,
    ErrorReport,
> {
    let found = knee::find(&points(&degrees, &ms)?, SEED, || {
        check_for_interrupts!();
    });
    Ok(TableIterator::once((
        found.verdict.as_str().to_owned(),
        found.degree.map(|degree| degree as i32),
        found.low,
        found.high,
        found.tolerance,
        found.text,
    )))
}

/// One entry of each array is one measurement; those of a degree are its repeats.
fn points(degrees: &[Option<i32>], ms: &[Option<f64>]) -> Result<Vec<Point>, Fault> {
    let refusal = |message: &str, detail: String| {
        Err(Fault::new(sqlstate::INVALID_PARAMETER, message)
            .detail(detail)
            .hint("Give the degree and the time of each scan, such as knee('{1,2,4}', '{100,50,49}')."))
    };
    if degrees.len() != ms.len() {
        return refusal(
            "degrees and times are not equally many",
            format!(
                "There are {} degrees and {} times.",
                degrees.len(),
                ms.len()
            ),
        );
    }
    if degrees.len() > MOST_MEASUREMENTS {
        return refusal(
            "too many times",
            format!(
                "There are {}; at most {MOST_MEASUREMENTS} are taken.",
                degrees.len()
            ),
        );
    }
    let mut points: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (degree, ms) in degrees.iter().zip(ms) {
        let Some(degree) = degree
            .and_then(|d| u32::try_from(d).ok())
            .filter(|&d| d > 0)
        else {
            return refusal(
                "a degree is not above zero",
                "Degrees are whole numbers from 1 on.".into(),
            );
        };
        let Some(ms) = ms.filter(|ms| *ms > 0.0 && ms.is_finite()) else {
            return refusal(
                "a time is not above zero",
                "Times are finite numbers of milliseconds.".into(),
            );
        };
        points.entry(degree).or_default().push(ms);
    }
    let point = |(degree, times_ms)| Point { degree, times_ms };
    Ok(points.into_iter().map(point).collect())
}
