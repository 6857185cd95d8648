//! What a run comes to: the narrow row that `run` and `wait` return, or the error that they raise.

use serde::{Deserialize, Serialize};

use crate::errors::Fault;

/// The narrow row; `fsbench.result` has the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The run.
    pub run_id: i64,
    /// Its target.
    pub target: String,
    /// Filesystem of the data.
    pub filesystem: Option<String>,
    /// Its workload.
    pub workload: String,
    /// Transactions per second.
    pub tps: Option<f64>,
    /// 99th percentile of latency.
    pub latency_p99_ms: Option<f64>,
    /// Longest latency.
    pub latency_max_ms: Option<f64>,
    /// 99th percentile of COMMIT.
    pub commit_p99_ms: Option<f64>,
    /// Seconds of stall.
    pub stall_seconds: Option<i32>,
    /// Number of findings, and the severity and codes of the worst, at most three of them.
    pub findings: String,
}

/// How a request ended, as the coordinator tells the caller through shared memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The run is done.
    Done(Row),
    /// It failed or was cancelled, or could not start.
    Failed(Fault),
}

impl Outcome {
    /// As JSON, for shared memory.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// From JSON.
    pub fn from_json(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|_| Self::Failed(Fault::from_json(text)))
    }
}
