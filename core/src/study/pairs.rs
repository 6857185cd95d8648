//! Pair by pair: do two variants stand to each other as they did there? Figures of two machines are compared in their order alone.

use std::collections::BTreeMap;

use super::{
    definition::{Figure, Question},
    evidence::Evidence,
    left_out::Here,
};
use crate::experiment::answer;

/// Two variants of which the author has published figures.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
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
        let figures: Vec<&Figure> = (question.variants.iter())
            .filter_map(|variant| figure_of(here, question, variant))
            .collect();
        for (place, with) in figures.iter().enumerate() {
            let others = figures[place + 1..].iter();
            pairs.extend(others.map(|figure| pair(here, question, [figure, with], found)));
        }
    }
    pairs
}

/// The published figure of the metric that decides a question.
fn figure_of<'a>(here: &Here<'a>, question: &'a Question, variant: &str) -> Option<&'a Figure> {
    let is_it = |figure: &&Figure| {
        figure.variant == variant && figure.beside.as_ref() == Some(&question.metric)
    };
    here.study.figures_of(question).find(is_it)
}

fn pair(here: &Here<'_>, question: &Question, of: [&Figure; 2], found: Option<&Evidence>) -> Pair {
    let said = found.and_then(|found| {
        let numbers = of.map(|figure| found.number_of(here.study, &figure.variant));
        said_of(&found.pairs, numbers[0]?, numbers[1]?)
    });
    let [figure, with] = of;
    let ratio = figure.value / with.value;
    Pair {
        question: question.question.clone(),
        variant: figure.variant.clone(),
        with: with.variant.clone(),
        metric: question.metric.clone(),
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
    use crate::study::{asked::Asked, builtin, left_out::Facts};

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
}
