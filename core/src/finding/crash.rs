//! Findings about a crash that has ended a run: commits were lost, or could not be checked.

use super::{Durability, Finding, RunFacts, Severity};
use crate::texts::finding::crash as text;

/// Committed transactions that are not there after a crash, or data that are not what they were. With settings under which a
/// commit promises nothing that may be; it is the same finding, and says so.
pub fn lost_transactions(facts: &RunFacts) -> Option<Finding> {
    let crash = facts.crash.verified.map(|_| &facts.crash)?;
    let problem = crash.problem.as_deref()?;
    let counts = crash.committed.zip(crash.found);
    let lost = counts.filter(|(committed, found)| found < committed);
    let reasons = Durability::of(facts).and_then(|durability| durability.why_not());
    let text = text::lost_transactions(lost, problem, reasons);
    Some(Finding::new(Severity::Invalid, text))
}

/// The committed transactions were not verified after the crash: the filesystem did not mount, the server did not start, or the helper,
/// which does all that, was not there.
pub fn recovery_failed(facts: &RunFacts) -> Option<Finding> {
    let crash = &facts.crash;
    let problem = crash.problem.as_deref()?;
    crash
        .verified
        .is_none()
        .then(|| Finding::new(Severity::Invalid, text::recovery_failed(problem)))
}

#[cfg(test)]
mod tests {
    use super::super::CrashFacts;
    use super::*;

    fn found(found: Option<u64>, problem: Option<&str>, fsync: Option<bool>) -> RunFacts {
        RunFacts {
            fsync,
            full_page_writes: Some(true),
            synchronous_commit: Some("on".into()),
            crash: CrashFacts {
                committed: Some(7),
                found,
                problem: problem.map(str::to_owned),
                verified: Some(problem.is_none()),
            },
            ..RunFacts::default()
        }
    }

    #[test]
    fn what_was_lost_is_told_and_whether_it_might_be() {
        let facts = found(Some(5), Some("After the run so many."), Some(false));
        let finding = lost_transactions(&facts).unwrap();
        assert_eq!(
            (finding.code.as_str(), finding.severity),
            ("lost_transactions", Severity::Invalid)
        );
        assert_eq!(
            finding.message,
            "2 of 7 committed transactions were lost in the crash: after the run so many"
        );
        assert!(finding.hint.contains("fsync off"), "{}", finding.hint);
        for fsync in [None, Some(true)] {
            let facts = found(Some(7), Some("Account 3 is wrong."), fsync);
            let finding = lost_transactions(&facts).unwrap();
            assert_eq!(
                finding.message,
                "the data after the crash are not what was committed: account 3 is wrong"
            );
            assert!(finding.hint.contains("do not trust this storage"));
        }
    }

    #[test]
    fn nothing_is_found_when_all_is_there_or_there_was_no_crash() {
        for facts in [RunFacts::default(), found(Some(7), None, Some(false))] {
            assert_eq!(lost_transactions(&facts), None);
            assert_eq!(recovery_failed(&facts), None);
        }
    }

    #[test]
    fn what_nobody_could_compare_is_not_lost() {
        let mut facts = found(None, Some("mount failed: wrong fs type.\nSee dmesg."), None);
        assert_eq!(recovery_failed(&facts), None);
        facts.crash.verified = None;
        assert_eq!(lost_transactions(&facts), None);
        let finding = recovery_failed(&facts).unwrap();
        assert_eq!(
            (finding.code.as_str(), finding.severity),
            ("recovery_failed", Severity::Invalid)
        );
        assert_eq!(
            finding.message,
            "recovery failed after the crash, and what was committed could not be compared: mount failed: wrong fs type. See dmesg"
        );
    }
}
