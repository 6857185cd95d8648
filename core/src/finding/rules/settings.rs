//! Settings that make a COMMIT promise less.

use super::{
    super::{Finding, RunFacts, Severity},
    commits,
};
use crate::texts::finding::settings as text;

pub fn fsync_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.fsync? && commits(facts)).then(|| Finding::new(Severity::Invalid, text::fsync_off()))
}

pub fn synchronous_commit_off(facts: &RunFacts) -> Option<Finding> {
    (facts.synchronous_commit.as_deref()? == "off" && commits(facts))
        .then(|| Finding::new(Severity::Warning, text::synchronous_commit_off()))
}

pub fn full_page_writes_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.full_page_writes? && commits(facts))
        .then(|| Finding::new(Severity::Warning, text::full_page_writes_off()))
}

pub fn unlogged(facts: &RunFacts) -> Option<Finding> {
    (facts.unlogged? && commits(facts)).then(|| Finding::new(Severity::Warning, text::unlogged()))
}
