//! Findings: power cuts that have failed, and batches that show nothing.

use serde::Deserialize;

use crate::{
    finding_row::{Finding, Severity},
    texts::finding::power_cut as text,
};

/// A part of a batch, as `facts.sql` reads it from the table of results.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub part: String,
    pub control: bool,
    pub outcome: String,
    pub cuts: u64,
    pub failed: u64,
    pub says: String,
}

/// Findings by the parts of a batch.
pub fn judge(parts: &[Facts]) -> Vec<Finding> {
    [failed(parts), void(parts)].into_iter().flatten().collect()
}

/// The tests of a batch with this outcome, each with its sentence; None where there are none.
fn tests_that<'a>(parts: &'a [Facts], outcome: &str) -> Option<Vec<(&'a str, &'a str)>> {
    let tests: Vec<_> = (parts.iter())
        .filter(|part| !part.control && part.outcome == outcome)
        .map(|part| (part.part.as_str(), part.says.as_str()))
        .collect();
    (!tests.is_empty()).then_some(tests)
}

fn failed(parts: &[Facts]) -> Option<Finding> {
    let tests = tests_that(parts, "failed")?;
    Some(Finding::new(Severity::Invalid, text::failed(&tests)))
}

fn void(parts: &[Facts]) -> Option<Finding> {
    let tests = tests_that(parts, "void")?;
    Some(Finding::new(Severity::Invalid, text::void(&tests)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(part: &str, outcome: &str) -> Facts {
        Facts {
            part: part.into(),
            control: part.ends_with("off"),
            outcome: outcome.into(),
            cuts: 20,
            failed: 0,
            says: "says".into(),
        }
    }

    fn codes(parts: &[Facts]) -> Vec<String> {
        judge(parts)
            .into_iter()
            .map(|finding| finding.code)
            .collect()
    }

    #[test]
    fn controls_that_fail_are_no_finding() {
        assert!(codes(&[part("commits", "passed"), part("fsync_off", "failed")]).is_empty());
        assert!(codes(&[]).is_empty());
    }

    #[test]
    fn failed_and_void_tests_are_findings() {
        assert_eq!(
            codes(&[part("commits", "failed"), part("pages", "passed")]),
            ["power_cut_failed"]
        );
        assert_eq!(
            codes(&[part("commits", "void"), part("pages", "void")]),
            ["power_cuts_void"]
        );
        let both = judge(&[part("commits", "failed"), part("pages", "void")]);
        assert_eq!(both.len(), 2);
        assert_eq!(both[0].message, "power cuts have failed: commits: says");
    }
}
