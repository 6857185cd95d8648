//! Facts about power cuts on the same target.

use serde::{Deserialize, Serialize};

/// Tests of all runs of power cuts with this definition of the target, machine, kernel, server and settings. Void tests do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerCutFacts {
    /// Power cuts of all these runs; None where no such run is known.
    pub cuts: Option<u64>,
    /// Power cuts after which something was missing or damaged.
    pub failed: Option<u64>,
}
