//! Settings that make a COMMIT promise less.

use super::{
    super::{Finding, RunFacts, Severity},
    commits,
};

pub fn fsync_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.fsync? && commits(facts)).then(|| {
        let hint = "Set fsync to on and reload: without it nothing waits for storage, and a crash loses the database.";
        Finding::new("fsync_off", Severity::Invalid, "fsync is off", hint)
    })
}

pub fn synchronous_commit_off(facts: &RunFacts) -> Option<Finding> {
    (facts.synchronous_commit.as_deref()? == "off" && commits(facts)).then(|| {
        let hint = "Commits did not wait for WAL to be on disk: compare such a run only with others like it.";
        Finding::new("synchronous_commit_off", Severity::Warning, "synchronous_commit is off", hint)
    })
}

pub fn full_page_writes_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.full_page_writes? && commits(facts)).then(|| {
        let hint = "Keep it off only on a filesystem that never tears a page; else set full_page_writes to on and reload.";
        Finding::new("full_page_writes_off", Severity::Warning, "full_page_writes is off", hint)
    })
}

pub fn unlogged(facts: &RunFacts) -> Option<Finding> {
    (facts.unlogged? && commits(facts)).then(|| {
        let hint = "Commits did not wait for storage, and a crash empties the tables: compare such a run only with others like it.";
        Finding::new("unlogged", Severity::Warning, "the tables are unlogged", hint)
    })
}
