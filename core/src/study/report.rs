//! The author's table next to ours. Absolute figures of two machines are not compared: each column is also given as a share of its best one, and
//! pairs are compared in their order alone.

use std::collections::BTreeMap;

use super::{
    definition::{Figure, Question, Variant},
    evidence::Evidence,
    figure::{self, KNEE},
    not_tested::{SkipReason, StudyContext},
    pairs,
};
use crate::texts::study as text;

/// A line of the report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub question: Option<String>,
    pub variant: String,
    pub metric: String,
    pub published: Option<f64>,
    pub unit: Option<String>,
    pub published_percent: Option<f64>,
    pub measured: Option<f64>,
    pub measured_percent: Option<f64>,
    pub runs: Option<i32>,
    pub ratio: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Whether the variant stands to the baseline as it did there.
    pub order: Option<&'static str>,
    pub remark: Option<String>,
    /// Why the variant was not tested.
    pub not_tested: Option<String>,
}

/// The report of a study. `evidence` is by question.
pub fn report(here: &StudyContext<'_>, evidence: &BTreeMap<String, Evidence>) -> Vec<Row> {
    let mut rows = Vec::new();
    for question in &here.study.questions {
        let found = evidence.get(&question.question);
        if found.is_none() && !here.study.figures_of(question).any(|_| true) {
            continue;
        }
        for metric in metrics(here, question) {
            rows.extend(table(here, question, &metric, found));
        }
    }
    // Published figures without one of ours.
    let mut alone: Vec<&Figure> = Vec::new();
    alone.extend(here.study.published.iter().filter(|f| f.question.is_none()));
    for figure in &alone {
        let of_metric = alone.iter().filter(|f| f.metric == figure.metric);
        let best = best(of_metric.map(|f| f.value), figure.less_is_better);
        let variant = here.study.variant(&figure.variant);
        let why = variant.and_then(|v| here.variant(v));
        rows.push(Row {
            variant: figure.variant.clone(),
            metric: figure.metric.clone(),
            published: Some(figure.value),
            unit: Some(figure.unit.clone()),
            published_percent: percent(figure.value, best, figure.less_is_better),
            remark: remark(variant, why.as_ref(), Some(figure)),
            not_tested: why.map(|why| why.to_string()),
            ..Row::default()
        });
    }
    rows
}

/// The declared metric of a question, and those of its published figures. A second pass has those of the first one.
pub fn metrics(here: &StudyContext<'_>, question: &Question) -> Vec<String> {
    let first = question.today_of.as_ref();
    let question = first
        .and_then(|name| here.study.question(name))
        .unwrap_or(question);
    let beside = pairs::beside(here, question).into_iter();
    let mut metrics: Vec<String> = beside.map(str::to_owned).collect();
    let claims = here.study.claims.iter().filter_map(|c| c.decision.as_ref());
    for decision in claims.filter(|d| d.question == question.question) {
        if !metrics.contains(&decision.metric) {
            metrics.push(decision.metric.clone());
        }
    }
    metrics
}

fn best(values: impl Iterator<Item = f64>, less: bool) -> Option<f64> {
    let better = |a: f64, b: f64| if less { a.min(b) } else { a.max(b) };
    values.reduce(better)
}

fn percent(value: f64, best: Option<f64>, less: bool) -> Option<f64> {
    let share = match less {
        true => best? / value,
        false => value / best?,
    };
    share.is_finite().then_some(100.0 * share)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn table(
    here: &StudyContext<'_>,
    question: &Question,
    metric: &str,
    found: Option<&Evidence>,
) -> Vec<Row> {
    let less = figure::less_is_better(metric);
    let published = |variant: &str| {
        let is_it = |f: &&Figure| f.variant == variant && f.beside.as_deref() == Some(metric);
        here.study.figures_of(question).find(is_it)
    };
    let figures = question.variants.iter().filter_map(|v| published(v));
    let best_published = best(figures.map(|f| f.value), less);
    let at = |variant: &str| found.and_then(|f| Some((f, f.number_of(here.study, variant)?)));
    let measured = |variant: &str| {
        let (found, number) = at(variant)?;
        match metric {
            KNEE => found.knees.get(&number)?.degree.map(f64::from),
            _ => mean(found.values_of(metric, number)),
        }
    };
    // A knee counts the runs of all scans.
    let of_runs = if metric == KNEE {
        &question.metric
    } else {
        metric
    };
    let count = |variant: &str| at(variant).map_or(0, |(f, n)| f.values_of(of_runs, n).len());
    let best_measured = best(question.variants.iter().filter_map(|v| measured(v)), less);
    let row = |name: &String| {
        let (figure, ours) = (published(name), measured(name));
        let said = at(name).and_then(|(found, number)| {
            let with = at(&question.baseline)?.1;
            match metric == question.metric {
                true => found.rows.iter().find(|row| row.number == number).cloned(),
                false if number == with => None,
                false => pairs::by_ranges(here, found, metric, [number, with]),
            }
        });
        let have_runs = count(name) > 0 && count(&question.baseline) > 0;
        let said = said.filter(|_| have_runs);
        let order = figure.zip(published(&question.baseline)).zip(said.as_ref());
        let variant = here.study.variant(name);
        let why = variant.and_then(|v| here.variant_of(question, v));
        Row {
            question: Some(question.question.clone()),
            variant: name.clone(),
            metric: metric.to_owned(),
            published: figure.map(|f| f.value),
            unit: figure.map(|f| f.unit.clone()),
            published_percent: figure.and_then(|f| percent(f.value, best_published, less)),
            measured: ours,
            measured_percent: ours.and_then(|ours| percent(ours, best_measured, less)),
            runs: found.map(|_| count(name) as i32),
            ratio: said.as_ref().and_then(|row| row.ratio),
            low: said.as_ref().and_then(|row| row.low),
            high: said.as_ref().and_then(|row| row.high),
            order: order.map(|((figure, base), row)| pairs::compared(figure, base, row)),
            remark: remark(variant, why.as_ref(), figure),
            not_tested: why.map(|why| why.to_string()),
        }
    };
    question.variants.iter().map(row).collect()
}

/// The remark on a figure: why we have none, which options of the variant are gone, and the author's words.
fn remark(
    variant: Option<&Variant>,
    why_not: Option<&SkipReason>,
    figure: Option<&Figure>,
) -> Option<String> {
    let why_not = why_not.map(SkipReason::to_string);
    let gone = variant.map_or(&[][..], |variant| &variant.gone);
    let gone = gone
        .iter()
        .map(|g| [&g.option, &g.since, &g.instead].map(String::as_str));
    let gone: Vec<_> = gone.collect();
    let author = figure.and_then(|f| f.remark.as_deref());
    text::remark(why_not.as_deref(), &gone, author)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiment::answer,
        study::{arguments::StudyArguments, builtin, evidence::Knee, not_tested::Facts},
    };

    #[test]
    fn figures_stand_beside_each_other_as_shares_of_the_best() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let arguments = StudyArguments {
            image_size: Some("4GB".into()),
            ..StudyArguments::default()
        };
        let facts = Facts {
            kernel: "6.18.4".into(),
            ..Facts::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let said = |number, verdict: &str, ratio: f64| answer::Row {
            number,
            against: Some(0),
            ratio: Some(ratio),
            low: Some(ratio * 0.9),
            high: Some(ratio * 1.1),
            verdict: verdict.into(),
            blocks: Some(3),
            kept: Some(3),
            ..answer::Row::default()
        };
        let target = |v: &str| format!("heron-2010.{v}");
        let found = Evidence {
            status: Some("done".into()),
            rows: vec![
                said(1, "more", 2.0),
                said(2, "more", 1.5),
                said(3, "equivalent", 1.0),
            ],
            targets: vec![
                target("xfs"),
                target("ext4"),
                target("ext2"),
                target("xfs-tuned"),
            ],
            values: BTreeMap::from([(
                "tps".into(),
                vec![
                    vec![900.0, 1100.0],
                    vec![2000.0],
                    vec![1500.0, 1500.0],
                    vec![],
                ],
            )]),
            ..Evidence::default()
        };
        let rows = report(&here, &BTreeMap::from([("published".into(), found)]));
        let row = |variant: &str| {
            rows.iter()
                .find(|r| r.variant == variant && r.question.as_deref() == Some("published"))
                .unwrap()
        };
        assert_eq!(row("ext2").published_percent, Some(100.0));
        assert!((row("ext3").published_percent.unwrap() - 46.36).abs() < 0.01);
        assert_eq!(
            (
                row("xfs").measured,
                row("xfs").measured_percent,
                row("xfs").order
            ),
            (Some(1000.0), Some(50.0), None)
        );
        assert_eq!(
            (row("ext4").measured_percent, row("ext4").order),
            (Some(100.0), Some("reversed"))
        );
        // Their runs overlap: 542 to 701 against 509 to 588.
        assert_eq!(row("ext2").order, Some("not told apart there"));
        assert_eq!(
            (row("xfs-tuned").measured, row("xfs-tuned").runs),
            (None, Some(0))
        );
        assert!(
            row("xfs-tuned")
                .remark
                .as_ref()
                .unwrap()
                .contains("nobarrier is gone since Linux 4.19")
        );
        assert!(
            row("reiserfs")
                .remark
                .as_ref()
                .unwrap()
                .starts_with("not tested: reiserfs is gone")
        );
    }

    #[test]
    fn what_is_only_published_has_its_lines() {
        let study = builtin::find("deckelmann-2009").unwrap().unwrap();
        let arguments = StudyArguments {
            image_size: Some("4GB".into()),
            ..StudyArguments::default()
        };
        let facts = Facts::default();
        let rows = report(
            &StudyContext::new(&study, &arguments, &facts),
            &BTreeMap::new(),
        );
        let notpm = rows
            .iter()
            .find(|r| r.metric == "NOTPM with rollbacks" && r.variant == "dbt2-pgtune")
            .unwrap();
        assert_eq!(
            (notpm.published, notpm.published_percent),
            (Some(9260.37), Some(100.0))
        );
        // The committed ones stand beside ours.
        let beside = rows
            .iter()
            .find(|r| r.metric == "notpm" && r.variant == "dbt2-pgtune")
            .unwrap();
        assert_eq!(
            (beside.question.as_deref(), beside.published, beside.runs),
            (Some("oltp"), Some(9171.46), None)
        );
    }

    /// digoal's knees, and his times at degrees: neither is what his question decides by.
    #[test]
    fn knees_and_figures_that_are_not_declared_stand_beside_the_published_ones() {
        let study = builtin::find("digoal-2016").unwrap().unwrap();
        let arguments = StudyArguments {
            image_size: Some("4GB".into()),
            ..StudyArguments::default()
        };
        let facts = Facts {
            kernel: "6.18.4".into(),
            processors: 64,
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
        let found = Evidence {
            status: Some("done".into()),
            targets: ["ext4", "xfs"].map(|v| format!("digoal-2016.{v}")).to_vec(),
            values: BTreeMap::from([
                ("scan_bytes_per_s".into(), vec![vec![1.0; 3], vec![2.0; 3]]),
                ("scan_ms_at_17".into(), vec![vec![8.0; 3], vec![4.0; 3]]),
            ]),
            knees: BTreeMap::from([(0, knee(8, 7.5, 9.0)), (1, knee(16, 14.25, 17.0))]),
            ..Evidence::default()
        };
        let rows = report(&here, &BTreeMap::from([("scans".into(), found)]));
        let row = |variant: &str, metric: &str| {
            let is_it = |r: &&Row| r.variant == variant && r.metric == metric;
            let row = rows.iter().find(is_it).unwrap();
            assert_eq!(row.question.as_deref(), Some("scans"));
            (row.published, row.measured, row.runs, row.order)
        };
        let same = Some("same order");
        assert_eq!(
            row("xfs", "scan_ms_at_17"),
            (Some(8905.51), Some(4.0), Some(3), same)
        );
        assert_eq!(row("xfs", "knee"), (Some(22.0), Some(16.0), Some(3), same));
        assert_eq!(row("ext4", "knee"), (Some(17.0), Some(8.0), Some(3), None));
        let of_xfs = rows.iter().find(|r| r.variant == "xfs" && r.metric == KNEE);
        let (low, high) = of_xfs.map(|r| (r.low, r.high)).unwrap();
        assert_eq!((low, high), (Some(14.0 / 9.0), Some(17.0 / 7.0)));
    }
}
