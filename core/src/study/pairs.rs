//! Pair by pair: do two variants stand to each other as they did there? Figures of two machines are compared in their order alone.

use std::collections::BTreeMap;

use super::{
    definition::{Figure, Question},
    evidence::Evidence,
    figure::KNEE,
    left_out::Here,
};
use crate::experiment::answer;

/// Two variants of which the author has published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub question: String,
    pub variant: String,
    /// The variant that it is compared with.
    pub with: String,
    pub metric: String,
    /// The author's figure of the variant, divided by that of the other one.
    pub published_ratio: Option<f64>,
    pub there: &'static str,
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub here: String,
    pub compared: &'static str,
}

/// It was not told apart there.
const NOT_TOLD_APART: &str = "not told apart";

/// All pairs of published figures beside which ours stand, in the order of questions and variants. `evidence` is by question.
pub fn pairs(here: &Here<'_>, evidence: &BTreeMap<String, Evidence>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for question in &here.study.questions {
        let found = evidence.get(&question.question);
        for metric in beside(here, question) {
            let figures: Vec<&Figure> = (question.variants.iter())
                .filter_map(|variant| figure_of(here, question, variant, metric))
                .collect();
            for (place, with) in figures.iter().enumerate() {
                let others = figures[place + 1..].iter();
                let of = |figure: &&Figure| pair(here, question, metric, [*figure, *with], found);
                pairs.extend(others.map(of));
            }
        }
    }
    pairs
}

/// The figures of ours beside which published ones stand: the one that decides a question first.
pub(super) fn beside<'a>(here: &Here<'a>, question: &'a Question) -> Vec<&'a str> {
    let mut metrics = vec![question.metric.as_str()];
    let figures = here.study.figures_of(question);
    for beside in figures.filter_map(|figure| figure.beside.as_deref()) {
        if !metrics.contains(&beside) {
            metrics.push(beside);
        }
    }
    metrics
}

/// The published figure of a variant beside which a metric stands.
fn figure_of<'a>(
    here: &Here<'a>,
    question: &'a Question,
    variant: &str,
    metric: &str,
) -> Option<&'a Figure> {
    let is_it =
        |figure: &&Figure| figure.variant == variant && figure.beside.as_deref() == Some(metric);
    here.study.figures_of(question).find(is_it)
}

fn pair(
    here: &Here<'_>,
    question: &Question,
    metric: &str,
    of: [&Figure; 2],
    found: Option<&Evidence>,
) -> Pair {
    let said = found.and_then(|found| {
        let numbers = of.map(|figure| found.number_of(here.study, &figure.variant));
        let (this, with) = (numbers[0]?, numbers[1]?);
        match metric == question.metric {
            true => said_of(&found.pairs, this, with).filter(|row| {
                let has_runs = |number| !found.values_of(metric, number).is_empty();
                row.ratio.is_some() || (has_runs(this) && has_runs(with))
            }),
            false => by_ranges(here, found, metric, [this, with]),
        }
    });
    let [figure, with] = of;
    let ratio = figure.value / with.value;
    Pair {
        question: question.question.clone(),
        variant: figure.variant.clone(),
        with: with.variant.clone(),
        metric: metric.to_owned(),
        published_ratio: Some(ratio).filter(|ratio| ratio.is_finite()),
        there: there(figure, with).unwrap_or(NOT_TOLD_APART),
        ratio: said.as_ref().and_then(|row| row.ratio),
        low: said.as_ref().and_then(|row| row.low),
        high: said.as_ref().and_then(|row| row.high),
        here: (said.as_ref()).map_or_else(|| "not tested".into(), |row| row.verdict.clone()),
        compared: match &said {
            None => "not tested",
            Some(row) => compared(figure, with, row),
        },
    }
}

/// What the experiment says of one target compared with another one, which may stand in it the other way round.
fn said_of(rows: &[answer::Row], this: usize, with: usize) -> Option<answer::Row> {
    let find = |number: usize, against: usize| {
        let is_it = |row: &&answer::Row| row.number == number && row.against == Some(against);
        rows.iter().find(is_it).cloned()
    };
    find(this, with).or_else(|| find(with, this).map(turned))
}

/// How two targets stand to each other by a figure that their experiment does not decide by: all runs of one are above all of the other, or
/// the intervals of their knees are apart. None without runs.
pub(super) fn by_ranges(
    here: &Here<'_>,
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

fn turned(row: answer::Row) -> answer::Row {
    let verdict = match row.verdict.as_str() {
        "more" => "less".to_owned(),
        "less" => "more".to_owned(),
        _ => row.verdict,
    };
    answer::Row {
        ratio: row.ratio.map(f64::recip),
        low: row.high.map(f64::recip),
        high: row.low.map(f64::recip),
        verdict,
        ..row
    }
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
    use super::*;
    use crate::study::{asked::Asked, builtin, evidence::Knee, left_out::Facts};

    fn said(number: usize, against: usize, verdict: &str, ratio: f64) -> answer::Row {
        answer::Row {
            number,
            against: Some(against),
            ratio: Some(ratio),
            low: Some(ratio * 0.8),
            high: Some(ratio * 1.25),
            verdict: verdict.into(),
            blocks: Some(3),
            kept: Some(3),
            ..answer::Row::default()
        }
    }

    #[test]
    fn what_has_no_runs_is_not_compared() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let (asked, facts) = (Asked::default(), Facts::default());
        let here = Here {
            study: &study,
            asked: &asked,
            facts: &facts,
        };
        let without = answer::Row {
            ratio: None,
            ..said(0, 1, "inconclusive", 1.0)
        };
        let found = Evidence {
            targets: ["ext2", "xfs"]
                .map(|name| format!("heron-2010.{name}"))
                .to_vec(),
            pairs: vec![without],
            ..Evidence::default()
        };
        let pairs = pairs(&here, &BTreeMap::from([("published".into(), found)]));
        assert!(
            pairs.iter().all(|pair| pair.compared == "not tested"),
            "{pairs:?}"
        );
    }

    #[test]
    fn each_two_that_were_published_are_compared() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let (asked, facts) = (Asked::default(), Facts::default());
        let here = Here {
            study: &study,
            asked: &asked,
            facts: &facts,
        };
        let names = ["ext2", "ext3", "ext4", "xfs"];
        let found = Evidence {
            targets: names.map(|name| format!("heron-2010.{name}")).to_vec(),
            pairs: vec![
                said(0, 3, "more", 2.0),
                said(1, 3, "inconclusive", 0.9),
                said(2, 3, "less", 0.5),
                said(1, 0, "less", 0.5),
                said(2, 0, "equivalent", 1.0),
                said(2, 1, "more", 2.0),
            ],
            ..Evidence::default()
        };
        let pairs = pairs(&here, &BTreeMap::from([("published".into(), found)]));
        assert_eq!(pairs.len(), 7 * 6 / 2);
        let of = |variant: &str, with: &str| {
            let is_it = |pair: &&Pair| pair.variant == variant && pair.with == with;
            let pair = pairs.iter().find(is_it).unwrap();
            (pair.there, pair.here.as_str(), pair.compared)
        };
        assert_eq!(of("ext3", "ext2"), ("less", "less", "same order"));
        assert_eq!(of("ext4", "ext3"), ("less", "more", "reversed"));
        assert_eq!(
            of("ext4", "ext2"),
            ("less", "equivalent", "not told apart here")
        );
        // It stands in the experiment the other way round; their runs overlap.
        assert_eq!(
            of("xfs", "ext2"),
            ("not told apart", "less", "not told apart there")
        );
        assert_eq!(
            of("xfs", "ext3"),
            ("more", "inconclusive", "not told apart here")
        );
        assert_eq!(of("xfs", "ext4"), ("more", "more", "same order"));
        assert_eq!(of("jfs", "ext2").2, "not tested");
        let xfs = (pairs.iter()).find(|p| p.variant == "xfs" && p.with == "ext4");
        let xfs = xfs.unwrap();
        assert_eq!(
            (xfs.ratio, xfs.low, xfs.high),
            (Some(2.0), Some(1.6), Some(2.5))
        );
        assert!((xfs.published_ratio.unwrap() - 551.75 / 106.0).abs() < 1e-9);
    }

    /// digoal published times at degrees and knees, and the experiment decides by neither.
    #[test]
    fn figures_that_the_experiment_does_not_decide_by_are_compared_by_ranges() {
        let study = builtin::find("digoal-2016").unwrap().unwrap();
        let asked = Asked::default();
        let with_processors = |processors: u32, status: &str| {
            let facts = Facts {
                processors,
                ..Facts::default()
            };
            let here = Here {
                study: &study,
                asked: &asked,
                facts: &facts,
            };
            let knee = |degree: u32, low: f64, high: f64| Knee {
                verdict: "knee".into(),
                degree: Some(degree),
                low: Some(low),
                high: Some(high),
                ..Knee::default()
            };
            let times = |ext4: &[f64], xfs: &[f64]| vec![ext4.to_vec(), xfs.to_vec()];
            let found = Evidence {
                status: Some(status.into()),
                targets: ["ext4", "xfs"].map(|v| format!("digoal-2016.{v}")).to_vec(),
                values: BTreeMap::from([
                    (
                        "scan_ms_at_17".into(),
                        times(&[9.0, 9.5, 10.0], &[4.0, 4.5, 5.0]),
                    ),
                    (
                        "scan_ms_at_32".into(),
                        times(&[3.0, 3.0, 3.0], &[4.0, 4.5, 5.0]),
                    ),
                    (
                        "scan_ms_at_64".into(),
                        times(&[4.5, 9.0, 9.0], &[4.0, 4.5, 5.0]),
                    ),
                ]),
                knees: BTreeMap::from([(0, knee(16, 14.0, 17.0)), (1, knee(21, 17.5, 32.0))]),
                ..Evidence::default()
            };
            let rows = pairs(&here, &BTreeMap::from([("scans".into(), found)]));
            assert!(rows.iter().all(|p| p.with == "ext4"), "{rows:?}");
            rows
        };
        let at = |rows: &[Pair], metric: &str| {
            let found = rows.iter().find(|row| row.metric == metric).unwrap();
            (found.there, found.here.clone(), found.compared)
        };
        let rows = with_processors(64, "done");
        assert_eq!(rows.len(), 4, "at 21 workers he has only xfs: {rows:?}");
        let row = |there, here: &str, compared| (there, here.to_owned(), compared);
        assert_eq!(
            at(&rows, "scan_ms_at_17"),
            row("less", "less", "same order")
        );
        assert_eq!(rows[0].ratio, Some(4.5 / 9.5));
        assert_eq!(at(&rows, "scan_ms_at_32"), row("less", "more", "reversed"));
        let open = row("less", "inconclusive", "not told apart here");
        assert_eq!(at(&rows, "scan_ms_at_64"), open);
        // 17.5 is below 18 workers, and 17 is where the other one ends.
        let open = row("more", "inconclusive", "not told apart here");
        assert_eq!(at(&rows, "knee"), open);
        let rows = with_processors(20, "done");
        let not_tested = row("more", "not tested", "not tested");
        assert_eq!(at(&rows, "knee"), not_tested);
        let rows = with_processors(64, "running");
        let open = row("less", "inconclusive", "not told apart here");
        assert_eq!(at(&rows, "scan_ms_at_17"), open);
    }
}
