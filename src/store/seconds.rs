//! Seconds of a run: what was counted in each, and what the clients were seen waiting for.

use pgfsbench_core::{
    board::Sample,
    seconds::{self, Second},
};

use super::insert;
use crate::{errors::Fault, pg::usage};

/// Rows that are passed on in one document.
const AT_ONCE: usize = 1000;

/// Stores the records of each second, with what was counted of transactions if the run has any.
pub fn insert_samples(
    run_id: i64,
    samples: &[Sample],
    has_transactions: bool,
) -> Result<(), Fault> {
    samples.chunks(AT_ONCE).try_for_each(|samples| {
        let rows: Vec<Second> = samples
            .iter()
            .map(|sample| Second::of(sample, has_transactions))
            .collect();
        insert(run_id, &rows)
    })
}

/// Stores the records of each second, with operations that are no transactions: `operations` gives those from one second to before another.
pub fn insert_operations(
    run_id: i64,
    samples: &[Sample],
    operations: impl Fn(u32, u32) -> Option<f64>,
) -> Result<(), Fault> {
    // A second that has no record belongs to the one before.
    let next = samples.iter().skip(1).map(|sample| sample.second);
    let last = samples.last().map(Sample::end);
    let rows: Vec<Second> = samples
        .iter()
        .zip(next.chain(last))
        .map(|(sample, end)| Second::of_operations(sample, operations(sample.second, end)))
        .collect();
    rows.chunks(AT_ONCE)
        .try_for_each(|rows| insert(run_id, rows))
}

/// Stores what the clients were seen waiting for in each second.
pub fn insert_waits(run_id: i64, samples: &[Sample]) -> Result<(), Fault> {
    let name = |event: Option<u32>| {
        event.map_or_else(|| ("other".into(), "other".into()), usage::wait_name)
    };
    samples
        .chunks(AT_ONCE)
        .try_for_each(|samples| insert(run_id, &seconds::waits(samples, name)))
}
