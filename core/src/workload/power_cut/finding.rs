//! Findings: power cuts that have failed, and batches that show nothing.

use serde::Deserialize;

use crate::finding_row::{Finding, Severity};

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

/// The tests of a batch with this outcome, each with its sentence.
fn tests_that(parts: &[Facts], outcome: &str) -> Option<String> {
    let those = parts
        .iter()
        .filter(|part| !part.control && part.outcome == outcome);
    let says: Vec<String> = those
        .map(|part| format!("{}: {}", part.part, part.says))
        .collect();
    (!says.is_empty()).then(|| says.join("; "))
}

fn failed(parts: &[Facts]) -> Option<Finding> {
    let says = tests_that(parts, "failed")?;
    Some(Finding::new(
        "power_cut_failed",
        Severity::Invalid,
        format!("power cuts have failed: {says}"),
        "With these options a power cut loses or damages data. Do not use them for data that you want to keep. See fsbench.power_cut_point.",
    ))
}

fn void(parts: &[Facts]) -> Option<Finding> {
    let says = tests_that(parts, "void")?;
    Some(Finding::new(
        "power_cuts_void",
        Severity::Invalid,
        format!("the power cuts show nothing: {says}"),
        "A control without fsync or full_page_writes has to fail. This one has not, so the cuts are too gentle. Give more cuts, or a longer duration.",
    ))
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
