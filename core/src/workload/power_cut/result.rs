//! Results of a batch: a row for each power cut, and a row for each part with its sentence.

use serde::Serialize;

use super::{
    judge::{Losses, Outcome},
    part::{Filesystem, Part},
};
use crate::{
    helper::record::Tear,
    rows::Row,
    texts::power_cut::{self as text, Failed, Failure},
};

/// A power cut, a row of `fsbench.power_cut_point`; its columns say what they are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Point {
    pub part: &'static str,
    pub number: u32,
    pub entry: u64,
    pub unflushed: u64,
    pub tear: Option<u64>,
    pub acknowledged: u64,
    pub lost: Option<u64>,
    pub holes: Option<u64>,
    pub outcome: &'static str,
    pub problem: Option<String>,
    pub pages_checked: bool,
    pub relations_checked: Option<u64>,
    pub ms: f64,
}

impl Row for Point {
    const TABLE: &'static str = "power_cut_point";
}

impl Point {
    /// Takes over what the rows have shown.
    pub fn take(&mut self, judged: Losses) {
        self.outcome = judged.outcome().as_str();
        self.lost = Some(judged.lost);
        self.holes = Some(judged.holes);
        self.problem = judged.problem;
    }

    /// Notes that the rows could not be read.
    pub fn fail(&mut self, outcome: Outcome, problem: String) {
        self.outcome = outcome.as_str();
        self.problem = Some(problem);
    }
}

/// A part of a batch, a row of `fsbench.power_cut_result`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    pub part: &'static str,
    pub control: bool,
    pub cuts: u64,
    pub failed: u64,
    pub lost: u64,
    pub holes: u64,
    pub torn: u64,
    pub corrupt: u64,
    pub unbootable: u64,
    pub first_failed: Option<u32>,
    pub loss_below: Option<f64>,
    pub outcome: &'static str,
    pub says: String,
}

impl Row for Summary {
    const TABLE: &'static str = "power_cut_result";
}

/// The share of cuts that fail is below this with a confidence of 95 %, when none of so many has failed.
pub fn loss_below(cuts: u64) -> Option<f64> {
    (cuts > 0).then(|| 1.0 - 0.05f64.powf(1.0 / cuts as f64))
}

/// All cuts of a run.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub points: Vec<Point>,
}

impl Batch {
    /// A row for each part that has cuts, on this filesystem. Tests that have passed are void where a control has not failed.
    pub fn summaries(&self, filesystem: &Filesystem) -> Vec<Summary> {
        let mut parts: Vec<(Part, Summary)> = Part::ALL
            .into_iter()
            .map(|part| (part, self.of_part(part, filesystem)))
            .collect();
        let idle: Vec<&str> = parts
            .iter()
            .filter(|(part, _)| part.must_fail(filesystem) && !self.has_failed(*part))
            .map(|(part, _)| part.as_str())
            .collect();
        for (part, summary) in &mut parts {
            let is_void = !part.is_control() && summary.failed == 0 && !idle.is_empty();
            if is_void {
                summary.outcome = "void";
                summary.loss_below = None;
                summary.says = text::void(&idle);
            }
        }
        let has_cuts = |summary: &Summary| summary.cuts > 0;
        parts
            .into_iter()
            .map(|(_, summary)| summary)
            .filter(has_cuts)
            .collect()
    }

    /// Whether a cut of a test, which is no control, has lost or damaged something.
    pub fn has_failed_test(&self) -> bool {
        let tests = Part::ALL.into_iter().filter(|part| !part.is_control());
        let mut points = tests.flat_map(|part| self.of(part));
        points.any(|point| point.outcome != Outcome::Survived.as_str())
    }

    fn of(&self, part: Part) -> impl Iterator<Item = &Point> {
        self.points
            .iter()
            .filter(move |point| point.part == part.as_str())
    }

    /// Whether a control has failed in the way that it has to. Without checksums the server reads a torn page, and rows of one transaction are there
    /// in part. A server that does not start shows neither.
    fn has_failed(&self, part: Part) -> bool {
        self.of(part).any(|point| {
            let is_some = |count: Option<u64>| count.is_some_and(|count| count > 0);
            let (has_lost, has_hole) = (is_some(point.lost), is_some(point.holes));
            match part {
                Part::FullPageWritesOff => {
                    point.outcome == Outcome::Torn.as_str() || (has_hole && !has_lost)
                }
                // The filesystem itself depends on barriers.
                Part::BarriersOff => point.outcome != Outcome::Survived.as_str(),
                _ => has_lost || has_hole,
            }
        })
    }

    fn of_part(&self, part: Part, filesystem: &Filesystem) -> Summary {
        let points: Vec<&Point> = self.of(part).collect();
        let count = |counts: &dyn Fn(&Point) -> bool| {
            points.iter().filter(|point| counts(point)).count() as u64
        };
        let of = |outcome: Outcome| count(&|point| point.outcome == outcome.as_str());
        let has_failed = |point: &Point| point.outcome != Outcome::Survived.as_str();
        let failed = count(&has_failed);
        let first = points.iter().find(|point| has_failed(point));
        let mut summary = Summary {
            part: part.as_str(),
            control: part.is_control(),
            cuts: points.len() as u64,
            failed,
            lost: count(&|point| point.lost.is_some_and(|lost| lost > 0)),
            holes: count(&|point| point.holes.is_some_and(|holes| holes > 0)),
            torn: of(Outcome::Torn),
            corrupt: of(Outcome::Corrupt),
            unbootable: of(Outcome::Unbootable),
            first_failed: first.map(|point| point.number),
            loss_below: loss_below(points.len() as u64).filter(|_| failed == 0),
            outcome: match failed {
                0 => "passed",
                _ => "failed",
            },
            says: String::new(),
        };
        let sectors = Tear::Sector.unit();
        let mut failures = points.iter().filter(|point| has_failed(point));
        let only_sectors = failures.all(|point| point.tear == sectors);
        summary.says = says(part, filesystem, &summary, (first.copied(), only_sectors));
        summary
    }
}

fn says(
    part: Part,
    filesystem: &Filesystem,
    summary: &Summary,
    (first, only_sectors): (Option<&Point>, bool),
) -> String {
    let is_control = part.is_control();
    let Some(first) = first else {
        if is_control && !part.must_fail(filesystem) {
            return text::need_not_tear(summary.cuts, &filesystem.name);
        }
        let loss_below = summary.loss_below.filter(|_| !is_control);
        return text::none_failed(summary.cuts, part.writes_pages(), loss_below);
    };
    text::failed(&Failed {
        failed: summary.failed,
        cuts: summary.cuts,
        is_control,
        only_sectors,
        kinds: [
            (summary.lost, Failure::LostCommits),
            (summary.holes, Failure::Hole),
            (summary.torn, Failure::TornPage),
            (summary.corrupt, Failure::Corrupt),
            (summary.unbootable, Failure::Unbootable),
        ],
        first: (
            first.number,
            first.problem.as_deref().unwrap_or(first.outcome),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording;

    fn point(part: Part, number: u32, outcome: Outcome) -> Point {
        let mut point = Point {
            part: part.as_str(),
            number,
            entry: 1,
            unflushed: 1,
            tear: None,
            acknowledged: 10,
            lost: None,
            holes: None,
            outcome: "",
            problem: None,
            pages_checked: false,
            relations_checked: None,
            ms: 1.0,
        };
        match outcome {
            Outcome::Torn | Outcome::Corrupt | Outcome::Unbootable => {
                point.fail(outcome, "the server said so".into())
            }
            _ => point.take(Losses {
                acknowledged: 10,
                lost: u64::from(outcome == Outcome::Lost),
                holes: u64::from(outcome == Outcome::Hole),
                problem: (outcome != Outcome::Survived)
                    .then(|| "commit 3 of client 1 was acknowledged, and is missing".into()),
            }),
        }
        assert_eq!(point.outcome, outcome.as_str());
        point
    }

    fn on(filesystem: &str) -> Filesystem {
        Filesystem {
            name: filesystem.into(),
            mount_options: "noatime".into(),
            is_logged: false,
        }
    }

    fn batch(outcomes: &[(Part, u32, Outcome)]) -> Batch {
        let each = outcomes.iter().flat_map(|&(part, cuts, outcome)| {
            (1..=cuts).map(move |number| point(part, number, outcome))
        });
        Batch {
            points: each.collect(),
        }
    }

    fn with_controls(fsync: Outcome, pages: Outcome) -> Batch {
        batch(&[
            (Part::Commits, 300, Outcome::Survived),
            (Part::Pages, 20, Outcome::Survived),
            (Part::FsyncOff, 20, fsync),
            (Part::FullPageWritesOff, 20, pages),
            (Part::BarriersOff, 20, Outcome::Unbootable),
        ])
    }

    #[test]
    fn the_bound_is_that_of_no_failure_in_so_many() {
        let close = |cuts, share: f64| (loss_below(cuts).unwrap() - share).abs() < 1e-4;
        assert!(close(300, 0.009_936) && close(1, 0.95) && close(20, 0.139_1));
        assert_eq!(loss_below(0), None);
        let shown = |cuts| {
            let rows = batch(&[(Part::Commits, cuts, Outcome::Survived)]);
            rows.of_part(Part::Commits, &on("ext4")).says
        };
        for (cuts, below) in [
            (300, "1 %"),
            (299, "1 %"),
            (20, "14 %"),
            (58, "5.1 %"),
            (3000, "0.1 %"),
        ] {
            assert_eq!(
                shown(cuts),
                format!("0 of {cuts} lost: less than {below} at 95 %")
            );
        }
    }

    #[test]
    fn outcomes_are_the_same_where_each_text_is_its_code() {
        let calm = with_controls(Outcome::Survived, Outcome::Torn);
        let lost = with_controls(Outcome::Lost, Outcome::Lost);
        for batch in [calm, lost] {
            let decide = || batch.summaries(&on("ext4"));
            let (rows, coded) = (decide(), wording::without(decide));
            assert_eq!(rows.len(), coded.len());
            for (row, coded) in rows.into_iter().zip(coded) {
                assert!(!coded.says.contains(' '), "{coded:?}");
                let says = coded.says.clone();
                assert_eq!(coded, Summary { says, ..row });
            }
        }
    }

    #[test]
    fn a_batch_whose_controls_fail_has_its_bound() {
        let rows = with_controls(Outcome::Lost, Outcome::Torn).summaries(&on("ext4"));
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[0].says, "0 of 300 lost: less than 1 % at 95 %");
        assert_eq!(rows[1].says, "0 of 20 torn: less than 14 % at 95 %");
        assert!(
            rows[2].says.starts_with(
                "20 of 20 failed, as a control must: 20 lost commits; cut 1: commit 3"
            )
        );
        let outcomes: Vec<_> = rows.iter().map(|row| (row.outcome, row.control)).collect();
        assert_eq!(
            outcomes,
            [
                ("passed", false),
                ("passed", false),
                ("failed", true),
                ("failed", true),
                ("failed", true)
            ]
        );
    }

    #[test]
    fn a_control_that_does_not_fail_makes_the_batch_void() {
        let outcomes = |batch: Batch, filesystem| -> Vec<&'static str> {
            batch
                .summaries(&on(filesystem))
                .iter()
                .map(|row| row.outcome)
                .collect()
        };
        let calm = with_controls(Outcome::Survived, Outcome::Torn);
        let rows = calm.summaries(&on("ext4"));
        assert_eq!(
            rows[0].says,
            "void: nothing is shown by the control fsync_off"
        );
        assert_eq!(rows[0].loss_below, None);
        assert_eq!(
            outcomes(calm, "ext4"),
            ["void", "void", "passed", "failed", "failed"]
        );
        let whole = || with_controls(Outcome::Lost, Outcome::Survived);
        assert_eq!(
            outcomes(whole(), "ext4"),
            ["void", "void", "failed", "passed", "failed"]
        );
        // A filesystem that copies on write tears nothing.
        assert_eq!(
            outcomes(whole(), "btrfs"),
            ["passed", "passed", "failed", "passed", "failed"]
        );
        assert_eq!(outcomes(whole(), "xfs")[0], "void");
        assert_eq!(
            whole().summaries(&on("btrfs"))[3].says,
            "0 of 20 torn: btrfs need not tear a page"
        );
        let journaled = Filesystem {
            mount_options: "noatime,data=journal".into(),
            ..on("ext4")
        };
        assert_eq!(whole().summaries(&journaled)[0].outcome, "passed");
        let logged = Filesystem {
            is_logged: true,
            ..on("ext4")
        };
        assert!(
            Part::BarriersOff.is_made_on(&on("ext4")) && !Part::BarriersOff.is_made_on(&logged)
        );
        // A control that loses its commits has torn no page.
        let lost = with_controls(Outcome::Lost, Outcome::Lost);
        assert_eq!(outcomes(lost, "ext4")[..2], ["void", "void"]);
        // Without checksums a torn page shows as rows of two transactions.
        let hole = with_controls(Outcome::Lost, Outcome::Hole);
        assert_eq!(outcomes(hole, "ext4")[0], "passed");
        // Barriers must matter where the filesystem can do without them.
        let mut idle = with_controls(Outcome::Lost, Outcome::Torn);
        idle.points.retain(|point| point.part != "barriers_off");
        let kept = (1..=20).map(|number| point(Part::BarriersOff, number, Outcome::Survived));
        idle.points.extend(kept);
        let rows = idle.summaries(&on("ext4"));
        assert_eq!(
            rows[0].says,
            "void: nothing is shown by the control barriers_off"
        );
        assert_eq!(idle.summaries(&on("xfs"))[0].outcome, "passed");
        // A server that does not start has lost no commit.
        let unbootable = with_controls(Outcome::Unbootable, Outcome::Torn);
        assert_eq!(outcomes(unbootable, "ext4")[0], "void");
    }

    #[test]
    fn the_tear_is_named_if_all_failures_have_it() {
        let says = |tears: [u64; 2]| {
            let mut lost = batch(&[(Part::Commits, 2, Outcome::Lost)]);
            for (point, tear) in lost.points.iter_mut().zip(tears) {
                point.tear = Some(tear);
            }
            lost.summaries(&on("ext4")).remove(0).says
        };
        assert!(says([512, 512]).starts_with("2 of 2 failed, all torn at 512 bytes: 2 lost"));
        assert!(says([512, 4096]).starts_with("2 of 2 failed: 2 lost"));
    }

    #[test]
    fn a_missing_control_makes_the_batch_void() {
        let rows = batch(&[(Part::Commits, 5, Outcome::Survived)]).summaries(&on("xfs"));
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].outcome, "void");
    }

    #[test]
    fn a_failure_stays_one_whatever_the_controls_show() {
        let outcomes = [
            (Part::Commits, 3, Outcome::Survived),
            (Part::Commits, 2, Outcome::Lost),
            (Part::Commits, 1, Outcome::Hole),
            (Part::Commits, 1, Outcome::Unbootable),
        ];
        let rows = batch(&outcomes).summaries(&on("ext4"));
        let row = &rows[0];
        assert!(batch(&outcomes).has_failed_test());
        assert!(!with_controls(Outcome::Lost, Outcome::Torn).has_failed_test());
        assert_eq!((row.outcome, row.failed, row.lost), ("failed", 4, 2));
        assert_eq!((row.holes, row.unbootable, row.loss_below), (1, 1, None));
        assert_eq!(
            row.says,
            "4 of 7 failed: 2 lost commits, 1 left a hole, 1 left no server that starts; cut 1: commit 3 of client 1 was acknowledged, and is missing"
        );
    }
}
