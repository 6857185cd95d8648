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
    /// What is different, or what went wrong on the way; None when nothing is and did.
    pub problem: Option<String>,
    /// Whether the data are what was committed; None when nobody could see.
    pub verified: Option<bool>,
    /// What a commit promised, as fsbench.environment says.
    pub durability: Option<String>,
}
