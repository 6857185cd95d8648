//! The outcome of a run: the narrow row that `run` and `wait` return, or the error that they raise.

use pgfsbench_core::{board::truncate_for_json, finding::Severity};
use serde::{Deserialize, Serialize};

use crate::{
    board::{Board, Request},
    errors::Fault,
};

/// Bytes of a text of a row in shared memory.
const LONGEST_TEXT: usize = 1000;

/// The narrow row; `fsbench.result` has the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub run_id: i64,
    pub target: String,
    /// Filesystem of the data.
    pub filesystem: Option<String>,
    pub workload: String,
    /// Transactions per second.
    pub tps: Option<f64>,
    /// 99th percentile of latency.
    pub latency_p99_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
    /// 99th percentile of COMMIT.
    pub commit_p99_ms: Option<f64>,
    pub stall_seconds: Option<i32>,
    pub findings: u32,
    /// Severity of the worst.
    pub worst: Option<Severity>,
    /// Code of the heaviest of that severity.
    pub worst_code: String,
}

impl Row {
    /// Shortens texts so that they fit into shared memory: another server can have sent texts of any length.
    fn shortened(&self) -> Self {
        let truncate = |text: &str| truncate_for_json(text, LONGEST_TEXT);
        Self {
            target: truncate(&self.target),
            filesystem: self.filesystem.as_deref().map(truncate),
            workload: truncate(&self.workload),
            worst_code: truncate(&self.worst_code),
            ..self.clone()
        }
    }
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
    /// Writes it to shared memory, as JSON, for the session that waits for the request; long texts are cut.
    pub fn tell(&self, board: &Board, request: &Request) {
        let Some(texts) = board.texts(request) else {
            return;
        };
        let cell = &texts.outcome;
        let short = match self {
            Self::Done(row) => Self::Done(row.shortened()),
            Self::Failed(fault) => Self::Failed(fault.shortened(cell.capacity())),
        };
        cell.set(&serde_json::to_string(&short).unwrap_or_default());
    }

    pub fn from_json(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|_| Self::Failed(Fault::from_json(text)))
    }
}
