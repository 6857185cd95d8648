//! Evidence for claims: the experiment of each question, as far as it has come.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{definition::Study, figure, plan::target_name};
use crate::{
    experiment::answer::{self, Cause},
    series::median,
    texts::study::claims as text,
};

/// Fewest runs of each of two whose ranges are compared: if nothing differed, all of one would be above all of the other in one of twenty.
pub(super) const FEWEST: usize = 3;

/// The experiment goes on, or can.
const ON: [&str; 4] = ["queued", "running", "paused", "recorded"];

/// The experiment of a question, as far as it is.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Status of the experiment; None when the experiment was deleted.
    pub status: Option<String>,
    /// Each variant against the baseline, by the declared metric.
    pub rows: Vec<answer::Row>,
    /// Each pair of variants, by the declared metric.
    pub pairs: Vec<answer::Row>,
    /// Names of its targets, by number.
    pub targets: Vec<String>,
    /// Figures of the runs that count, by metric and number of target.
    pub values: BTreeMap<String, Vec<Vec<f64>>>,
    /// Knees of scans, by number of target.
    pub knees: BTreeMap<usize, Knee>,
    /// Whose disk it was: on an image, in a virtual machine.
    pub where_made: Option<String>,
    /// Runs that count.
    pub runs: usize,
}

/// A figure of a target: its middle, and between which ends it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub middle: f64,
    pub low: f64,
    pub high: f64,
}

impl Evidence {
    /// The number of a variant's target in an experiment.
    pub fn number_of(&self, study: &Study, variant: &str) -> Option<usize> {
        let name = target_name(&study.study, study.variant(variant)?);
        self.targets.iter().position(|target| *target == name)
    }

    /// The values of a figure of a target's runs that count.
    pub fn values_of(&self, metric: &str, number: usize) -> &[f64] {
        let values = self.values.get(metric).and_then(|v| v.get(number));
        values.map_or(&[], Vec::as_slice)
    }

    /// The status of an experiment that is not over.
    pub(super) fn on(&self) -> Option<&str> {
        self.status.as_deref().filter(|status| ON.contains(status))
    }

    /// Why other arithmetic than the experiment's own decides nothing of a target, compared with another one or by itself: it is not over,
    /// or it withholds its verdict.
    pub(super) fn undecided(&self, this: usize, with: Option<usize>) -> Option<String> {
        if let Some(status) = self.on() {
            return Some(text::status(status));
        }
        let is_of_them = |row: &answer::Row| match (row.number, row.against) {
            (number, _) if with.is_none() || row.is_set_aside() => {
                number == this || Some(number) == with
            }
            (number, against) => {
                (number == this && against == with)
                    || (Some(number) == with && against == Some(this))
            }
        };
        let withheld = self.rows.iter().chain(&self.pairs).find_map(|row| {
            let reason = row.reason.as_ref().filter(|cause| !cause.figures_stand())?;
            // That is of all of them, also of the baseline.
            (*reason == Cause::TooShort || is_of_them(row)).then_some(reason)
        });
        withheld.map(|reason| text::no_verdict(&reason.says()))
    }

    /// Between which ends a figure of a target is: the range of its runs, of a knee its interval. None with too few runs, or no knee.
    pub(super) fn spread(&self, metric: &str, number: usize) -> Option<Spread> {
        if metric == figure::KNEE {
            let knee = self.knees.get(&number).filter(|k| k.verdict == "knee")?;
            return Some(Spread {
                middle: knee.degree?.into(),
                low: knee.low?.floor(),
                high: knee.high?.ceil(),
            });
        }
        let values = self.values_of(metric, number);
        let ends =
            |best: f64, better: fn(f64, f64) -> f64| values.iter().copied().fold(best, better);
        (values.len() >= FEWEST).then_some(Spread {
            middle: median(values)?,
            low: ends(f64::INFINITY, f64::min),
            high: ends(f64::NEG_INFINITY, f64::max),
        })
    }
}

impl Spread {
    /// The ratio to another one, with its ends; None where one can be zero.
    pub(super) fn ratio(self, other: Self) -> Option<(f64, f64, f64)> {
        (self.low > 0.0 && other.low > 0.0).then(|| {
            (
                self.middle / other.middle,
                self.low / other.high,
                self.high / other.low,
            )
        })
    }
}

/// The result of `fsbench.knee` over all scans of a target.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Knee {
    pub verdict: String,
    pub degree: Option<u32>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub says: String,
}

impl Knee {
    /// The degree at which it is, or beyond which it lies.
    fn at(&self) -> Option<f64> {
        match self.verdict.as_str() {
            "knee" => self.degree.map(f64::from),
            "still_rising" => self.low,
            _ => None,
        }
    }

    /// Whether more workers than processors were needed for it: then it is these that end the curve.
    pub fn is_of_processors(&self, processors: u32) -> bool {
        self.at().is_some_and(|at| at >= f64::from(processors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A corner of two lines is at no whole degree.
    #[test]
    fn the_ends_of_a_knee_are_fractions() {
        let text = r#"{"verdict": "knee", "degree": 16, "low": 14.25, "high": 17.5, "tolerance": 0.05, "says": "between 14 and 18"}"#;
        let knee: Knee = serde_json::from_str(text).unwrap();
        assert!(!knee.is_of_processors(17) && knee.is_of_processors(16));
        let found = Evidence {
            knees: BTreeMap::from([(0, knee)]),
            ..Evidence::default()
        };
        let spread = found.spread(figure::KNEE, 0).unwrap();
        assert_eq!((spread.middle, spread.low, spread.high), (16.0, 14.0, 18.0));
    }

    #[test]
    fn what_is_withheld_of_one_is_not_of_another() {
        let row = |number, against, reason: Option<&str>| answer::Row {
            number,
            against: Some(against),
            verdict: "inconclusive".into(),
            reason: reason.map(Into::into),
            ..answer::Row::default()
        };
        // With the baseline 0, and of the pair that has not that in it.
        let undecided = |reasons: [Option<&str>; 2], this, with| {
            let found = Evidence {
                status: Some("done".into()),
                rows: vec![row(1, 0, reasons[0]), row(2, 0, None)],
                pairs: vec![row(2, 1, reasons[1])],
                ..Evidence::default()
            };
            found.undecided(this, with)
        };
        assert_eq!(undecided([None, None], 1, Some(0)), None);
        assert_eq!(undecided([Some("max_blocks"), None], 1, Some(0)), None);
        for reason in ["too_short", "differs: kernel", "set_aside"] {
            let why = format!("its experiment gives no verdict ({reason})");
            for (this, with) in [(1, Some(0)), (0, Some(1)), (1, None)] {
                let found = undecided([Some(reason), None], this, with);
                assert_eq!(found.as_ref(), Some(&why), "{this} {with:?}");
            }
        }
        let differs = "differs: kernel";
        assert_eq!(undecided([Some(differs), None], 2, Some(0)), None);
        assert_eq!(undecided([Some(differs), None], 2, Some(1)), None);
        assert!(undecided([None, Some(differs)], 1, Some(2)).is_some());
        // A reason of one target opens all its pairs. A reason of the experiment opens all pairs, the baseline's too.
        assert!(undecided([Some("set_aside"), None], 2, Some(1)).is_some());
        assert!(undecided([Some("too_short"), None], 0, None).is_some());
        let running = Evidence {
            status: Some("running".into()),
            ..Evidence::default()
        };
        let why = running.undecided(1, Some(0)).unwrap();
        assert_eq!(why, "its experiment is running");
    }
}
