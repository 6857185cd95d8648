//! Facts about syncs of files, and about commits on the same target.

use serde::{Deserialize, Serialize};

/// A job that calls fdatasync() after each write, and the latest run of commits before it. None: not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoFacts {
    /// Calls of fdatasync() per second, all copies of the job together.
    pub syncs_per_second: Option<f64>,
    /// Copies of the job.
    pub jobs: Option<u32>,
    /// Commits per second of a run of as many clients, without a rate.
    pub commits_per_second: Option<f64>,
    /// That run.
    pub commit_run_id: Option<i64>,
}
