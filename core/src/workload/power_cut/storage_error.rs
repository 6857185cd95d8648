//! Failing storage: one flush or one write of the target's device fails under a server that commits. The server must not acknowledge the
//! commit, and after its restart all acknowledged commits must be there.

use serde::Serialize;

use super::judge::Losses;
use crate::{
    helper::record::FaultOn,
    rows::Row,
    texts::power_cut::{self as text, Reported},
};

/// The first line of a log in which a server stops all of its processes.
const PANIC: &str = "PANIC:";

/// A failed operation and what came of it, a row of `fsbench.power_cut_error`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StorageError {
    pub operation: &'static str,
    pub errors: u64,
    pub reported: Option<&'static str>,
    pub message: Option<String>,
    pub acknowledged: u64,
    pub lost: Option<u64>,
    pub outcome: &'static str,
    pub says: String,
    pub ms: f64,
}

impl Row for StorageError {
    const TABLE: &'static str = "power_cut_error";
}

/// The course of a test.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// Operations that the device has failed.
    pub errors: u64,
    /// The error of a statement.
    pub error: Option<String>,
    /// Log of the server from before the operation failed.
    pub log: String,
    /// Commits that were acknowledged.
    pub acknowledged: u64,
    /// Rows after the restart, or why they could not be read.
    pub after: Option<Result<Losses, String>>,
    /// Why the server could not begin to commit.
    pub not_begun: Option<String>,
}

impl StorageError {
    /// Judges a test.
    pub fn of(on: FaultOn, course: Course, ms: f64) -> Self {
        let operation = on.as_str();
        let panic = course.log.lines().find(|line| line.contains(PANIC));
        let (reported, message) = match (panic, course.error) {
            (Some(panic), _) => (Reported::Panic, Some(panic.to_owned())),
            (None, Some(error)) => (Reported::Error, Some(error)),
            (None, None) => (Reported::Nothing, None),
        };
        let problem = match &course.after {
            Some(Ok(judged)) => judged.problem.as_deref(),
            Some(Err(problem)) => Some(problem.as_str()),
            None => None,
        };
        let (outcome, says) = match (course.after.is_some() && course.errors > 0, problem) {
            (false, _) => {
                let why = course.not_begun.as_deref();
                ("not_tried", text::error_not_tried(operation, why))
            }
            (true, Some(problem)) => ("failed", text::error_lost(operation, reported, problem)),
            (true, None) => {
                let outcome = match reported {
                    Reported::Nothing => "hidden",
                    Reported::Panic | Reported::Error => "passed",
                };
                let says = text::error_survived(operation, reported, course.acknowledged);
                (outcome, says)
            }
        };
        let lost = match &course.after {
            Some(Ok(judged)) => Some(judged.lost),
            _ => None,
        };
        Self {
            operation,
            errors: course.errors,
            reported: reported.as_str(),
            message,
            acknowledged: course.acknowledged,
            lost,
            outcome,
            says,
            ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "1700000000.1 LOG:  database system is ready to accept connections\n\
        1700000000.2 PANIC:  could not fdatasync file \"000000010000000000000001\": Input/output error\n";

    fn course(log: &str, error: Option<&str>, lost: u64) -> Course {
        Course {
            errors: 1,
            error: error.map(str::to_owned),
            log: log.into(),
            acknowledged: 7,
            after: Some(Ok(Losses {
                acknowledged: 7,
                lost,
                holes: 0,
                problem: (lost > 0).then(|| "commit 3 of client 0 is missing".into()),
            })),
            not_begun: None,
        }
    }

    fn judged(on: FaultOn, course: Course) -> (&'static str, Option<&'static str>, String) {
        let row = StorageError::of(on, course, 1.0);
        (row.outcome, row.reported, row.says)
    }

    #[test]
    fn a_panic_with_all_commits_passes() {
        let (outcome, reported, says) = judged(FaultOn::Flush, course(LOG, Some("lost"), 0));
        assert_eq!((outcome, reported), ("passed", Some("panic")));
        assert_eq!(
            says,
            "a flush failed: the server stopped with PANIC, and after its restart all 7 acknowledged commits were there"
        );
        let row = StorageError::of(FaultOn::Flush, course(LOG, None, 0), 1.0);
        assert!(row.message.unwrap().contains("could not fdatasync"));
        assert_eq!((row.acknowledged, row.lost), (7, Some(0)));
    }

    #[test]
    fn an_error_that_nothing_reports_is_hidden() {
        let (outcome, reported, says) = judged(FaultOn::Write, course("LOG:  ready\n", None, 0));
        assert_eq!((outcome, reported), ("hidden", None));
        assert!(
            says.starts_with("a write failed: neither the filesystem nor the server reported it")
        );
        let error = course("", Some("could not extend file"), 0);
        let (outcome, reported, _) = judged(FaultOn::Write, error);
        assert_eq!((outcome, reported), ("passed", Some("error")));
    }

    #[test]
    fn a_missing_commit_fails_whatever_was_reported() {
        for (log, reported) in [(LOG, Some("panic")), ("", None)] {
            let (outcome, found, says) = judged(FaultOn::Flush, course(log, None, 1));
            assert_eq!((outcome, found), ("failed", reported));
            assert!(says.ends_with("commit 3 of client 0 is missing"), "{says}");
        }
        let mut dead = course(LOG, None, 0);
        dead.after = Some(Err("the target server did not recover".into()));
        let row = StorageError::of(FaultOn::Write, dead, 1.0);
        assert_eq!((row.outcome, row.lost), ("failed", None));
    }

    #[test]
    fn without_a_failed_operation_nothing_was_tried() {
        let mut calm = course("", None, 0);
        calm.errors = 0;
        let (outcome, _, says) = judged(FaultOn::Write, calm);
        assert_eq!(
            (outcome, says.as_str()),
            ("not_tried", "no write failed while the server committed")
        );
        let not_begun = Course {
            not_begun: Some("the filesystem did not mount".into()),
            ..Course::default()
        };
        let (outcome, _, says) = judged(FaultOn::Flush, not_begun);
        assert_eq!(outcome, "not_tried");
        assert!(says.ends_with(": the filesystem did not mount"), "{says}");
    }
}
