//! Pair by pair: do two variants stand to each other as they did there? Figures of two machines are compared in their order alone.

use super::{
    definition::{Figure, Question},
    evidence::Evidence,
    figure::KNEE,
    not_tested::StudyContext,
};
use crate::experiment::answer;

/// The figures of ours beside which published ones stand: the one that decides a question first.
pub(super) fn beside<'a>(here: &StudyContext<'a>, question: &'a Question) -> Vec<&'a str> {
    let mut metrics = vec![question.metric.as_str()];
    let figures = here.study.figures_of(question);
    for beside in figures.filter_map(|figure| figure.beside.as_deref()) {
        if !metrics.contains(&beside) {
            metrics.push(beside);
        }
    }
    metrics
}

/// How two targets stand to each other by a figure that their experiment does not decide by: all runs of one are above all of the other, or
/// the intervals of their knees are apart. None without runs.
pub(super) fn by_ranges(
    here: &StudyContext<'_>,
    found: &Evidence,
    metric: &str,
    [this, with]: [usize; 2],
) -> Option<answer::Row> {
    let is_there = |number: usize| match (metric == KNEE, found.knees.get(&number)) {
        (true, knee) => knee.is_some_and(|k| !k.is_of_processors(here.facts.processors)),
        (false, _) => !found.values_of(metric, number).is_empty(),
    };
    if !is_there(this) || !is_there(with) {
        return None;
    }
    let spreads = found.spread(metric, this).zip(found.spread(metric, with));
    let verdict = match (found.undecided(this, Some(with)), spreads) {
        (None, Some((a, b))) if a.low > b.high => "more",
        (None, Some((a, b))) if a.high < b.low => "less",
        _ => "inconclusive",
    };
    let ratio = spreads.and_then(|(a, b)| a.ratio(b));
    Some(answer::Row {
        number: this,
        against: Some(with),
        ratio: ratio.map(|r| r.0),
        low: ratio.map(|r| r.1),
        high: ratio.map(|r| r.2),
        verdict: verdict.into(),
        ..answer::Row::default()
    })
}

/// How two figures stood to each other there; None where their runs overlap.
fn there(figure: &Figure, with: &Figure) -> Option<&'static str> {
    let range = |figure: &Figure| {
        let runs = figure.runs.clone().unwrap_or_else(|| vec![figure.value]);
        let low = runs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    };
    let ((low, high), (with_low, with_high)) = (range(figure), range(with));
    match (low > with_high, high < with_low) {
        (true, _) => Some("more"),
        (_, true) => Some("less"),
        _ => None,
    }
}

/// Whether two stand to each other as they did there.
pub(super) fn compared(figure: &Figure, with: &Figure, row: &answer::Row) -> &'static str {
    let Some(there) = there(figure, with) else {
        return "not told apart there";
    };
    match row.verdict.as_str() {
        here @ ("more" | "less") if here == there => "same order",
        "more" | "less" => "reversed",
        _ => "not told apart here",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::study::{arguments::StudyArguments, builtin, evidence::Knee, not_tested::Facts};

    #[test]
    fn two_variants_are_compared_by_their_order() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let question = &study.questions[0];
        let figure = |variant: &str| {
            let is_it = |figure: &&Figure| figure.variant == variant && figure.beside.is_some();
            study.figures_of(question).find(is_it).unwrap()
        };
        let of = |variant, with, verdict: &str| {
            let row = answer::Row {
                verdict: verdict.into(),
                ..answer::Row::default()
            };
            compared(figure(variant), figure(with), &row)
        };
        assert_eq!(of("ext3", "ext2", "less"), "same order");
        assert_eq!(of("ext4", "ext3", "more"), "reversed");
        assert_eq!(of("ext4", "ext2", "equivalent"), "not told apart here");
        // Their runs overlap.
        assert_eq!(of("xfs", "ext2", "less"), "not told apart there");
    }

    /// digoal published times at degrees and knees, and the experiment decides by neither.
    #[test]
    fn figures_that_the_experiment_does_not_decide_by_are_compared_by_ranges() {
        let study = builtin::find("digoal-2016").unwrap().unwrap();
        let arguments = StudyArguments::default();
        let verdict = |processors: u32, status: &str, metric: &str| {
            let facts = Facts {
                processors,
                ..Facts::default()
            };
            let here = StudyContext::new(&study, &arguments, &facts);
            let knee = |degree: u32, low: f64, high: f64| Knee {
                verdict: "knee".into(),
                degree: Some(degree),
                low: Some(low),
                high: Some(high),
                ..Knee::default()
            };
            let times = |ext4: [f64; 3], xfs: [f64; 3]| vec![ext4.to_vec(), xfs.to_vec()];
            let found = Evidence {
                status: Some(status.into()),
                targets: ["ext4", "xfs"].map(|v| format!("digoal-2016.{v}")).to_vec(),
                values: BTreeMap::from([
                    (
                        "scan_ms_at_17".into(),
                        times([9.0, 9.5, 10.0], [4.0, 4.5, 5.0]),
                    ),
                    (
                        "scan_ms_at_32".into(),
                        times([3.0, 3.0, 3.0], [4.0, 4.5, 5.0]),
                    ),
                    (
                        "scan_ms_at_64".into(),
                        times([4.5, 9.0, 9.0], [4.0, 4.5, 5.0]),
                    ),
                ]),
                knees: BTreeMap::from([(0, knee(16, 14.0, 17.0)), (1, knee(21, 17.5, 32.0))]),
                ..Evidence::default()
            };
            by_ranges(&here, &found, metric, [1, 0]).map(|row| (row.verdict, row.ratio))
        };
        let done = |metric: &str| verdict(64, "done", metric).unwrap();
        assert_eq!(done("scan_ms_at_17"), ("less".into(), Some(4.5 / 9.5)));
        assert_eq!(done("scan_ms_at_32").0, "more");
        assert_eq!(done("scan_ms_at_64").0, "inconclusive");
        // 17.5 is below 18 workers, and 17 is where the other one ends.
        assert_eq!(done("knee").0, "inconclusive");
        assert_eq!(verdict(20, "done", "knee"), None);
        let running = verdict(64, "running", "scan_ms_at_17").unwrap();
        assert_eq!(running.0, "inconclusive");
    }
}
