//! Options of workloads whose clients run statements of unknown length.

use serde::{Deserialize, Serialize};

use crate::spec::{OwnOption, Spec, values};

/// Ten seconds.
pub const GRACE_MS: u64 = 10_000;
/// An hour.
const LONGEST_GRACE_MS: u64 = 3_600_000;

/// The grace of statements.
pub const GRACE: OwnOption = OwnOption {
    name: "grace_ms",
    depends_on_machine: false,
    check: |name, value| Ok(values::whole_number(name, value, 0, LONGEST_GRACE_MS)?.into()),
};

#[derive(Serialize, Deserialize)]
#[serde(default)]
struct MixOptions {
    grace_ms: u64,
}

impl Default for MixOptions {
    fn default() -> Self {
        Self { grace_ms: GRACE_MS }
    }
}

/// How long a statement may go on after the end of the window, in nanoseconds; None without a limit.
pub fn grace_ns(spec: &Spec) -> Option<u64> {
    spec.workload
        .own_option(GRACE.name)
        .map(|_| spec.options.own::<MixOptions>().grace_ms * 1_000_000)
}
