//! What is known of the data after a crash.

use serde::{Deserialize, Serialize};

/// What was committed before a crash, and what is there after it. None is: not known, or there was no crash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CrashFacts {
    /// Transactions that were committed.
    pub committed: Option<u64>,
    /// Of these, what is there.
    pub found: Option<u64>,
    /// What is different; None when nothing is.
    pub problem: Option<String>,
    /// What a commit promised, as fsbench.environment says.
    pub durability: Option<String>,
}
