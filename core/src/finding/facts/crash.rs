//! Facts about the data after a crash.

use serde::{Deserialize, Serialize};

/// Data committed before a crash, and found after it. None: not known, or there was no crash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CrashFacts {
    /// Transactions that were committed.
    pub committed: Option<u64>,
    /// Committed transactions that are there afterwards.
    pub found: Option<u64>,
    /// The difference, or what went wrong on the way. None when the data are right.
    pub problem: Option<String>,
    /// True if the data are what was committed; None when they could not be compared.
    pub verified: Option<bool>,
}
