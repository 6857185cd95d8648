//! Checks the arguments of the SQL functions. They are bounded, so that none of the functions works for long.

use crate::refusal::Refusal;

use super::Run;
use super::looks::{LOOKS, Looks};
use super::rate::Cycle;
use super::student_t;

/// Most targets of one call.
pub const MOST_TARGETS: usize = 50;
/// Most values of the other arrays.
pub const MOST_VALUES: usize = 10_000;
/// Most ratios of one target.
pub const MOST_RATIOS: usize = 1000;

/// An array of SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Length of each dimension; empty for an empty array.
    pub dimensions: Vec<usize>,
    /// All values, the last dimension first.
    pub values: Vec<Option<f64>>,
}

const HINT_TARGETS: &str = "Give a row a target and a column a block, NULL where a run is missing, such as '{{101,103,99},{98,NULL,97}}'.";

/// Metrics of targets, a row each, as ln; `fewest` rows at least.
pub fn targets(array: &Array, fewest: usize) -> Result<Vec<Vec<Run>>, Refusal> {
    let (rows, blocks) = match array.dimensions[..] {
        [] => (0, 0),
        [rows, blocks] => (rows, blocks),
        _ => {
            return Err(Refusal::argument("targets is not a two-dimensional array")
                .detail(format!(
                    "The array has {}.",
                    count(array.dimensions.len(), "dimension")
                ))
                .hint(HINT_TARGETS));
        }
    };
    if rows < fewest {
        return Err(Refusal::argument("there are too few targets")
            .detail(format!(
                "The array has {}, and it takes {fewest} at least.",
                count(rows, "row")
            ))
            .hint(HINT_TARGETS));
    }
    if rows > MOST_TARGETS {
        return Err(Refusal::argument("there are too many targets")
            .detail(format!(
                "There are {rows}, and at most {MOST_TARGETS} are compared."
            ))
            .hint("Leave out those that are of no interest."));
    }
    let row = |(i, values): (usize, &[Option<f64>])| runs(&format!("target {}", i + 1), values);
    array
        .values
        .chunks(blocks.max(1))
        .enumerate()
        .map(row)
        .collect()
}

/// Metrics of the baseline, as ln.
pub fn baseline(array: &Array) -> Result<Vec<Run>, Refusal> {
    if array.dimensions.len() > 1 {
        return Err(Refusal::argument("baseline is not a one-dimensional array")
            .detail(format!(
                "The array has {} dimensions.",
                array.dimensions.len()
            ))
            .hint(
                "Give a number a block, NULL where the run is missing, such as '{100,102,101}'.",
            ));
    }
    runs("the baseline", &array.values)
}

fn runs(whose: &str, values: &[Option<f64>]) -> Result<Vec<Run>, Refusal> {
    let run = |(block, value): (usize, &Option<f64>)| match value {
        None => Ok(Run::Missing),
        Some(x) if *x > 0.0 && x.is_finite() => Ok(Run::Measured(x.ln())),
        Some(x) => Err(Refusal::argument("a metric is not above zero")
            .detail(format!("It is {x}, of {whose} in block {}.", block + 1))
            .hint(
                "Give NULL where a run has no value. What can be zero is not decided by a ratio.",
            )),
    };
    values.iter().enumerate().map(run).collect()
}

/// Baseline and targets have the same blocks, and no more than are planned.
pub fn same_blocks(baseline: &[Run], targets: &[Vec<Run>]) -> Result<(), Refusal> {
    let blocks = targets.first().map_or(0, Vec::len);
    if baseline.len() == blocks {
        return Ok(());
    }
    Err(
        Refusal::argument("baseline and targets do not have the same blocks")
            .detail(format!(
                "The baseline has {}, the targets have {blocks}.",
                count(baseline.len(), "block")
            ))
            .hint("Give NULL where a run is missing."),
    )
}

/// The looks of at most this many blocks, when there are no more.
pub fn looks(max_blocks: i32, blocks: usize) -> Result<Looks, Refusal> {
    let planned = u32::try_from(max_blocks).ok().and_then(Looks::planned);
    let Some(looks) = planned else {
        return Err(Refusal::argument("after max_blocks there is no look")
            .detail(format!(
                "It is {max_blocks}, and the looks are after {} blocks.",
                list()
            ))
            .hint("Give one of these numbers."));
    };
    if blocks > max_blocks.unsigned_abs() as usize {
        return Err(Refusal::argument("there are more blocks than max_blocks")
            .detail(format!("There are {blocks} blocks, and max_blocks is {max_blocks}."))
            .hint("Give the number of blocks that was planned before the first run as max_blocks, and no others."));
    }
    Ok(looks)
}

fn list() -> String {
    let words: Vec<String> = LOOKS.iter().map(u32::to_string).collect();
    let (last, others) = words
        .split_last()
        .map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
    format!("{} or {last}", others.join(", "))
}

/// ln(1 + margin).
pub fn margin(margin: f64) -> Result<f64, Refusal> {
    if margin > 0.0 && margin <= 1.0 {
        return Ok(margin.ln_1p());
    }
    Err(Refusal::argument("margin is not above zero and at most 1")
        .detail(format!(
            "It is {margin}; it is the difference that does not count, as a share."
        ))
        .hint("Give 0.05 for 5 %."))
}

/// The numbers of an array, without those that are NULL; at most this many.
pub fn numbers(what: &str, values: &[Option<f64>], most: usize) -> Result<Vec<f64>, Refusal> {
    nullable(what, values, most).map(|values| values.into_iter().flatten().collect())
}

/// The numbers of an array; at most this many.
pub fn nullable(
    what: &str,
    values: &[Option<f64>],
    most: usize,
) -> Result<Vec<Option<f64>>, Refusal> {
    if values.len() > most {
        return Err(Refusal::argument(format!("{what} is too long"))
            .detail(format!(
                "It has {} values, and at most {most} are taken.",
                values.len()
            ))
            .hint("Give the last ones."));
    }
    match values.iter().flatten().find(|x| !x.is_finite()) {
        Some(x) => Err(
            Refusal::argument(format!("a value of {what} is not finite"))
                .detail(format!("It is {x}."))
                .hint("Give NULL where there is no value."),
        ),
        None => Ok(values.to_vec()),
    }
}

/// Cycles of a search of rates, and the share of misses that is allowed.
pub fn cycles(
    [rates, scheduled, misses]: [&[Option<f64>]; 3],
    quantile: f64,
) -> Result<Vec<Cycle>, Refusal> {
    if !(quantile > 0.0 && quantile < 1.0) {
        return Err(Refusal::argument("quantile is not between 0 and 1")
            .detail(format!(
                "It is {quantile}; it is the share of transactions that may be late."
            ))
            .hint("Give 0.01 for the 99th percentile."));
    }
    if rates.len() != scheduled.len() || rates.len() != misses.len() {
        return Err(
            Refusal::argument("rates, scheduled and misses are not equally many")
                .detail(format!(
                    "There are {}, {} and {}.",
                    rates.len(),
                    scheduled.len(),
                    misses.len()
                ))
                .hint("Give one of each for each cycle."),
        );
    }
    nullable("rates", rates, MOST_VALUES)?;
    let cycle = |i: usize| cycle(i, rates[i], scheduled[i], misses[i]);
    (0..rates.len()).map(cycle).collect()
}

fn cycle(
    i: usize,
    rate: Option<f64>,
    scheduled: Option<f64>,
    misses: Option<f64>,
) -> Result<Cycle, Refusal> {
    let positive = |x: &f64| *x > 0.0 && x.is_finite();
    let rate = rate.filter(positive);
    let scheduled = scheduled.filter(positive);
    match (rate, scheduled, misses) {
        (Some(rate), Some(scheduled), Some(misses)) if (0.0..=scheduled).contains(&misses) => {
            Ok(Cycle {
                rate,
                scheduled,
                misses,
            })
        }
        _ => Err(Refusal::argument("a cycle has no meaning")
            .detail(format!("It is number {}: rate and scheduled are finite and above zero, misses from zero to scheduled.", i + 1))
            .hint("Leave out cycles in which nothing was scheduled.")),
    }
}

/// The quantile of Student's t.
pub fn student_t(upper_p: f64, degrees_of_freedom: f64) -> Result<f64, Refusal> {
    student_t::upper_quantile(upper_p, degrees_of_freedom).ok_or_else(|| {
        Refusal::argument("there is no such quantile of Student's t")
            .detail(format!("The upper probability is {upper_p}, and there are {degrees_of_freedom} degrees of freedom."))
            .hint("Give a probability from 1e-100 to below 1, and from 1 to 1e6 degrees of freedom.")
    })
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
