//! The finding that connects fio with the database: calls of fdatasync per second and commits per second of the same target. Runs of both
//! workloads, `io` and `commit`, have it: the later one of the two.

use serde::Deserialize;

use crate::{
    finding_row::{Finding, Severity},
    texts::finding::syncs_and_commits::{self as text, EarlierRun, Rates},
};

/// The query of the facts below, for the run $1.
pub const QUERY: &str = include_str!("syncs_and_commits.sql");

/// Both rates may differ by this factor.
const UNLIKE: f64 = 3.0;

/// A job that calls fdatasync() after each write, and commits of as many clients without a rate, on the same target.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Facts {
    /// Calls of fdatasync() per second, all copies of the job together.
    syncs_per_second: f64,
    /// Copies of the job, and clients.
    jobs: u32,
    commits_per_second: f64,
    /// The earlier one of the two runs.
    other_run_id: i64,
    /// Whether that one made the commits; else it made the syncs.
    has_other_commits: bool,
    /// Whether WAL is on another filesystem than the data, which explains a difference.
    is_wal_elsewhere: bool,
}

/// The finding that these facts make. The error says that they cannot be read.
pub fn findings(facts: &str) -> serde_json::Result<Vec<Finding>> {
    let facts: Facts = serde_json::from_str(facts)?;
    Ok(commits_unlike_syncs(&facts).into_iter().collect())
}

fn commits_unlike_syncs(facts: &Facts) -> Option<Finding> {
    let (syncs, commits) = (facts.syncs_per_second, facts.commits_per_second);
    let factor = (commits / syncs).max(syncs / commits);
    if facts.is_wal_elsewhere || !factor.is_finite() || factor <= UNLIKE {
        return None;
    }
    let rates = Rates {
        jobs: facts.jobs,
        syncs,
        commits,
        factor,
        earlier: match facts.has_other_commits {
            true => EarlierRun::Commits(facts.other_run_id),
            false => EarlierRun::Syncs(facts.other_run_id),
        },
    };
    Some(Finding::new(
        Severity::Warning,
        text::commits_unlike_syncs(rates),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(jobs: u32, syncs: f64, commits: f64, more: serde_json::Value) -> Option<String> {
        let mut facts = json!({"jobs": jobs, "syncs_per_second": syncs, "commits_per_second": commits,
            "other_run_id": 3, "has_other_commits": true, "is_wal_elsewhere": false});
        let more = more.as_object().cloned().unwrap_or_default();
        facts.as_object_mut().unwrap().extend(more);
        let mut found = findings(&facts.to_string()).unwrap();
        let finding = found.pop()?;
        assert_eq!(
            (finding.code.as_str(), found),
            ("commits_unlike_syncs", vec![])
        );
        Some(finding.message)
    }

    #[test]
    fn commits_and_syncs_of_files() {
        let none = json!({});
        assert_eq!(
            found(1, 200.0, 900.0, none.clone()).unwrap(),
            "1 job made 200 calls of fdatasync per second, and as many clients 900 commits per second in run 3: a factor of 4.5"
        );
        // The later run made the commits.
        assert_eq!(
            found(8, 2000.0, 500.0, json!({"has_other_commits": false})).unwrap(),
            "8 jobs made 2000 calls of fdatasync per second in run 3, and as many clients 500 commits per second: a factor of 4.0"
        );
        assert_eq!(found(1, 300.0, 900.0, none.clone()), None);
        assert_eq!(found(1, 0.0, 900.0, none), None);
        assert_eq!(
            found(1, 1.0, 900.0, json!({"is_wal_elsewhere": true})),
            None
        );
        assert!(findings("{}").is_err());
    }
}
