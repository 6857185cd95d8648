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
    /// Numbers of the failed ones, from 0, with the value that was found.
    failed: Vec<(usize, Option<String>)>,
    /// Bytes of the found values.
    bytes: usize,
}

impl Answers {
    /// Adds the answer to the next check.
    pub fn add(&mut self, check: &Check, found: Option<String>) {
        if found != check.expected {
            let found = found.map(|value| value.chars().take(LONGEST_VALUE).collect::<String>());
            // The number and its punctuation take at most 30 bytes.
            self.bytes += 30 + serde_json::json!(found).to_string().len();
            self.failed.push((self.made, found));
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
        let failed = self.failed.iter().find(|(failed, _)| *failed == number);
        verification::Check {
            name: name.clone(),
            found: match failed {
                Some((_, found)) => found.clone(),
                None => expected.clone(),
            },
            expected,
            passed: Some(failed.is_none()),
            ..verification::Check::default()
        }
    }

    /// The refusal of data of which a check of the caller's has failed: it names the first one.
    pub fn refusal(&self, checks: &[Check]) -> Option<Refusal> {
        let (number, found) = self.failed.first()?;
        let check = checks.get(*number)?;
        let shown = |value: &Option<String>| match value {
            Some(text) => quoted(text),
            None => "NULL".to_owned(),
        };
        let (expected, found) = (shown(&check.expected), shown(found));
        Some(
            Refusal::new(
                Kind::WrongData,
                format!("check {} has failed", quoted(&check.name)),
            )
            .detail(format!("It expected {expected}, and found {found}."))
            .hint("See whether the scripts keep what the check expects."),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<&str>) -> Check {
        Check {
            name: name.into(),
            sql: "SELECT 1".into(),
            expected: expected.map(str::to_owned),
        }
    }

    fn answered(checks: &[Check], found: &[Option<&str>]) -> Answers {
        let mut answers = Answers::default();
        for (check, found) in checks.iter().zip(found) {
            answers.add(check, found.map(str::to_owned));
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
            answers.add(check, Some(long.clone()));
        }
        assert!(serde_json::to_string(&answers).unwrap().len() < 16_384);
        let outcomes = answers.checks(&checks, None);
        assert_eq!(outcomes.len(), 1_000);
        assert_eq!(outcomes.last().unwrap().passed, None);
    }
}
