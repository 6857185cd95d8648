//! Findings: power cuts that have failed, batches that show nothing, and errors of the device that lose data or are not reported.

use serde::Deserialize;

use crate::{
    finding_row::{Finding, Severity},
    texts::finding::power_cut as text,
};

/// A part of a batch, or an error of the device, as `facts.sql` reads it from the tables of results.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub part: String,
    pub control: bool,
    /// Whether it is an error of the device.
    pub is_error: bool,
    pub outcome: String,
    pub cuts: u64,
    pub failed: u64,
    pub says: String,
}

/// Findings by the parts of a batch.
pub fn judge(parts: &[Facts]) -> Vec<Finding> {
    let (errors, parts): (Vec<Facts>, Vec<Facts>) =
        parts.iter().cloned().partition(|part| part.is_error);
    [
        failed(&parts),
        void(&parts),
        error_lost(&errors),
        error_hidden(&errors),
    ]
    .into_iter()
    .flatten()
    .collect()
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

fn error_lost(errors: &[Facts]) -> Option<Finding> {
    let lost = tests_that(errors, "failed")?;
    Some(Finding::new(Severity::Invalid, text::error_lost(&lost)))
}

fn error_hidden(errors: &[Facts]) -> Option<Finding> {
    let hidden = tests_that(errors, "hidden")?;
    // One finding of a code is enough.
    let is_alone = tests_that(errors, "failed").is_none();
    is_alone.then(|| Finding::new(Severity::Warning, text::error_hidden(&hidden)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(part: &str, outcome: &str) -> Facts {
        Facts {
            part: part.into(),
            control: part.ends_with("off"),
            is_error: part.ends_with("error"),
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
    fn an_error_that_loses_or_is_hidden_is_a_finding() {
        for calm in ["passed", "not_tried"] {
            assert!(codes(&[part("flush_error", calm), part("commits", "passed")]).is_empty());
        }
        let severities = |parts: &[Facts]| -> Vec<Severity> {
            let found = judge(parts).into_iter();
            found
                .inspect(|finding| assert_eq!(finding.code, "fsync_error"))
                .map(|finding| finding.severity)
                .collect()
        };
        let hidden = part("write_error", "hidden");
        assert_eq!(
            severities(std::slice::from_ref(&hidden)),
            [Severity::Warning]
        );
        let both = [part("flush_error", "failed"), hidden];
        assert_eq!(severities(&both), [Severity::Invalid]);
        assert_eq!(
            judge(&both)[0].message,
            "an error of the device has lost data: flush_error: says"
        );
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
