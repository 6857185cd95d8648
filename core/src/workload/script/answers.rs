//! Answers to the caller's checks, as the worker that makes them reports them in a cell of shared memory.

use serde::{Deserialize, Serialize};

use super::Check;
use crate::{
    refusal::{Kind, Refusal, quoted},
    verification,
};

/// Characters of a found value that are kept.
const LONGEST_VALUE: usize = 200;
/// Bytes of found values, as JSON. The cell has 16 kB.
const MOST_BYTES: usize = 8_000;

/// Answers to the first checks, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// Checks that were made.
    made: usize,
    failed: Vec<Failed>,
    /// Bytes of the found values.
    bytes: usize,
}

/// A check that has failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Failed {
    /// Number of the check, from 0.
    number: usize,
    /// The value of the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    found: Option<String>,
    /// Rows of the query, where it gave not exactly one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
}

impl Answers {
    /// Adds the answer to the next check: the value of the first row, and the number of rows, which has to be one.
    pub fn add(&mut self, check: &Check, found: Option<String>, rows: u64) {
        if found != check.expected || rows != 1 {
            let found = found.map(|value| value.chars().take(LONGEST_VALUE).collect::<String>());
            // Numbers, names and punctuation take at most 80 bytes.
            self.bytes += 80 + serde_json::json!(found).to_string().len();
            self.failed.push(Failed {
                number: self.made,
                found,
                rows: (rows != 1).then_some(rows),
            });
        }
        self.made += 1;
    }

    /// Whether there is no room for the answers to further failed checks.
    pub fn is_full(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// The checks with their outcomes. `error`: why the first check that has no answer could not be made.
    pub fn checks(&self, checks: &[Check], error: Option<&str>) -> Vec<verification::Check> {
        let all = checks.iter().enumerate();
        all.map(|(number, check)| self.outcome(number, check, error))
            .collect()
    }

    fn outcome(&self, number: usize, check: &Check, error: Option<&str>) -> verification::Check {
        let name = &check.name;
        let expected = check.expected.clone();
        if number >= self.made {
            let note = match error {
                Some(error) if number == self.made => error,
                Some(_) => "A check before it ended with an error.",
                None => "Too many checks before it have failed.",
            };
            return verification::Check::not_made(name, expected, note);
        }
        let failed = self.failed.iter().find(|failed| failed.number == number);
        verification::Check {
            name: name.clone(),
            found: match failed {
                Some(failed) => failed.found.clone(),
                None => expected.clone(),
            },
            expected,
            passed: Some(failed.is_none()),
            note: failed.and_then(|failed| failed.rows).map(wrong_rows),
            difference: failed.map(|failed| {
                let found = failed.in_words(check);
                format!("check {} {found}", quoted(name))
            }),
        }
    }

    /// The refusal of data of which a check of the caller's has failed: it names the first one.
    pub fn refusal(&self, checks: &[Check]) -> Option<Refusal> {
        let failed = self.failed.first()?;
        let check = checks.get(failed.number)?;
        let detail = match failed.rows {
            Some(rows) => wrong_rows(rows),
            None => format!("It {}.", failed.in_words(check)),
        };
        Some(
            Refusal::new(
                Kind::WrongData,
                format!("check {} has failed", quoted(&check.name)),
            )
            .detail(detail)
            .hint("See whether the scripts keep what the check expects."),
        )
    }
}

impl Failed {
    /// The expected and the found value, or the wrong number of rows.
    fn in_words(&self, check: &Check) -> String {
        let shown = |value: &Option<String>| match value {
            Some(text) => quoted(text),
            None => "NULL".to_owned(),
        };
        match self.rows {
            Some(rows) => format!("expected one row, and its query gave {rows}"),
            None => format!(
                "expected {}, and found {}",
                shown(&check.expected),
                shown(&self.found)
            ),
        }
    }
}

/// Why a check with this number of rows has failed.
fn wrong_rows(rows: u64) -> String {
    format!("Its query gave {rows} rows, and a check has one.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::Moment;

    fn check(name: &str, expected: Option<&str>) -> Check {
        Check {
            name: name.into(),
            sql: "SELECT 1".into(),
            expected: expected.map(str::to_owned),
            moment: Moment::Window,
        }
    }

    fn answered(checks: &[Check], found: &[Option<&str>]) -> Answers {
        let mut answers = Answers::default();
        for (check, found) in checks.iter().zip(found) {
            answers.add(check, found.map(str::to_owned), 1);
        }
        let json = serde_json::to_string(&answers).unwrap();
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn checks_after_a_failed_one_are_made() {
        let checks = [
            check("a", Some("1")),
            check("b", None),
            check("c", Some("3")),
        ];
        let answers = answered(&checks, &[Some("2"), None, Some("3")]);
        let outcomes = answers.checks(&checks, None);
        let passed: Vec<_> = outcomes.iter().map(|check| check.passed).collect();
        assert_eq!(passed, [Some(false), Some(true), Some(true)]);
        assert_eq!(outcomes[0].found.as_deref(), Some("2"));
        assert_eq!(
            verification::differences(&outcomes).as_deref(),
            Some("After the run check \"a\" expected \"1\", and found \"2\".")
        );
        let refusal = answers.refusal(&checks).unwrap();
        crate::refusal::check::style(&refusal);
        assert_eq!(refusal.message, "check \"a\" has failed");
        assert_eq!(
            refusal.detail.as_deref(),
            Some("It expected \"1\", and found \"2\".")
        );
    }

    #[test]
    fn null_and_the_empty_text_differ() {
        let checks = [check("a", None), check("b", Some(""))];
        let answers = answered(&checks, &[Some(""), None]);
        let outcomes = answers.checks(&checks, None);
        assert!(outcomes.iter().all(verification::Check::has_failed));
    }

    #[test]
    fn no_row_and_several_rows_are_failed_checks() {
        let checks = [check("none", None), check("two", Some("1"))];
        let mut answers = Answers::default();
        answers.add(&checks[0], None, 0);
        answers.add(&checks[1], Some("1".into()), 2);
        let outcomes = answers.checks(&checks, None);
        assert!(outcomes.iter().all(verification::Check::has_failed));
        assert_eq!(
            outcomes[1].note.as_deref(),
            Some("Its query gave 2 rows, and a check has one.")
        );
        assert_eq!(
            outcomes[0].difference.as_deref(),
            Some("check \"none\" expected one row, and its query gave 0")
        );
        let refusal = answers.refusal(&checks).unwrap();
        crate::refusal::check::style(&refusal);
        assert_eq!(
            refusal.detail.as_deref(),
            Some("Its query gave 0 rows, and a check has one.")
        );
    }

    #[test]
    fn a_check_with_an_error_is_not_made_nor_are_those_after_it() {
        let checks = [check("a", None), check("b", None), check("c", None)];
        let answers = answered(&checks, &[None]);
        let outcomes = answers.checks(&checks, Some("no such table"));
        let passed: Vec<_> = outcomes.iter().map(|check| check.passed).collect();
        assert_eq!(passed, [Some(true), None, None]);
        assert_eq!(outcomes[1].note.as_deref(), Some("no such table"));
        assert!(outcomes[2].note.is_some());
        assert_eq!(answers.refusal(&checks), None);
    }

    #[test]
    fn a_report_fits_into_its_cell_however_long_the_values_are() {
        let long = "\u{1}".repeat(100_000);
        let checks = vec![check("a", None); 1_000];
        let mut answers = Answers::default();
        for check in &checks {
            if answers.is_full() {
                break;
            }
            answers.add(check, Some(long.clone()), 1);
        }
        assert!(serde_json::to_string(&answers).unwrap().len() < 16_384);
        let outcomes = answers.checks(&checks, None);
        assert_eq!(outcomes.len(), 1_000);
        assert_eq!(outcomes.last().unwrap().passed, None);
    }
}
