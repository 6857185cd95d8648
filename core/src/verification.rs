//! Checks of the data of a run: each has a name and an expected value, and is stored with its outcome in `fsbench.verification`.
//!
//! A workload makes the checks; a run stores all of them before the first failed one ends it.

use serde::{Deserialize, Serialize};

use crate::{
    refusal::{Kind, Refusal},
    rows::Row,
};

/// When the data of a run are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// After loading, before the clients begin.
    Load,
    /// After the measured window.
    #[default]
    Window,
    /// After a crash and the recovery from it.
    Crash,
}

/// A check and its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Name, unique among the checks of one moment.
    pub name: String,
    /// The expected value; None is NULL.
    pub expected: Option<String>,
    /// The value that was found; None is NULL, or not known.
    pub found: Option<String>,
    /// Whether the two agree; None for a check that was not made.
    pub passed: Option<bool>,
    /// The reason why a check was not made, or why a value is not known; or what it was made for.
    pub note: Option<String>,
    /// The difference, as a clause of the DETAIL of an error. None without a difference.
    pub difference: Option<String>,
}

impl Check {
    /// Compares two values; `difference` describes how they differ.
    pub fn compared<T: PartialEq + ToString>(
        name: &str,
        expected: &T,
        found: &T,
        difference: impl FnOnce() -> String,
    ) -> Self {
        let passed = expected == found;
        Self {
            name: name.into(),
            expected: Some(expected.to_string()),
            found: Some(found.to_string()),
            passed: Some(passed),
            note: None,
            difference: (!passed).then(difference),
        }
    }

    /// A check that was left out, and the reason: it takes too long, or a value is not known.
    pub fn not_made(name: &str, expected: Option<String>, note: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            expected,
            note: Some(note.into()),
            ..Self::default()
        }
    }

    /// The check with a note.
    pub fn with_note(self, note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..self
        }
    }

    /// True for a check that was made and has failed.
    pub fn has_failed(&self) -> bool {
        self.passed == Some(false)
    }
}

/// A row of `fsbench.verification`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Place among the checks of its moment, from 1.
    pub position: u32,
    pub name: String,
    pub moment: Moment,
    pub expected: Option<String>,
    pub found: Option<String>,
    pub passed: Option<bool>,
    pub note: Option<String>,
}

impl Row for Verification {
    const TABLE: &'static str = "verification";
}

/// The rows of these checks, in their order.
pub fn rows(moment: Moment, checks: &[Check]) -> Vec<Verification> {
    (1..)
        .zip(checks)
        .map(|(position, check)| Verification {
            position,
            name: check.name.clone(),
            moment,
            expected: check.expected.clone(),
            found: check.found.clone(),
            passed: check.passed,
            note: check.note.clone(),
        })
        .collect()
}

/// The differences of the checks that have failed, as one sentence; None if none has failed.
pub fn differences(checks: &[Check]) -> Option<String> {
    let failed = checks.iter().filter(|check| check.has_failed());
    let clauses: Vec<&str> = failed
        .map(|check| check.difference.as_deref().unwrap_or(&check.name))
        .collect();
    (!clauses.is_empty()).then(|| format!("After the run {}.", clauses.join("; ")))
}

/// The refusal of data of which a check has failed.
pub fn refusal(checks: &[Check]) -> Option<Refusal> {
    let detail = differences(checks)?;
    Some(
        Refusal::new(
            Kind::WrongData,
            "the data does not agree with what was measured",
        )
        .detail(detail)
        .hint("Do not trust this storage, or report a bug in pgfsbench."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    fn three() -> [Check; 3] {
        [
            Check::compared("rows", &5, &4, || "a row is missing".into()),
            Check::compared("sum", &7, &7, || "the sum differs".into()),
            Check::not_made("pages", None, "Reading all pages takes too long."),
        ]
    }

    #[test]
    fn each_check_has_a_row_with_its_outcome() {
        let rows = rows(Moment::Crash, &three());
        let outcomes: Vec<_> = rows.iter().map(|row| (row.position, row.passed)).collect();
        assert_eq!(outcomes, [(1, Some(false)), (2, Some(true)), (3, None)]);
        assert_eq!(rows[0].expected.as_deref(), Some("5"));
        assert_eq!(rows[0].found.as_deref(), Some("4"));
        assert_eq!(
            rows[2].note.as_deref(),
            Some("Reading all pages takes too long.")
        );
        let json = serde_json::to_value(&rows[0]).unwrap();
        assert_eq!(json["moment"], "crash");
    }

    #[test]
    fn only_failed_checks_are_a_reason_to_refuse_data() {
        let refusal = refusal(&three()).unwrap();
        check::style(&refusal);
        assert_eq!(
            refusal.detail.as_deref(),
            Some("After the run a row is missing.")
        );
        assert_eq!(super::refusal(&three()[1..]), None);
    }
}
