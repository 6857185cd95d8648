//! Figures of a run that a claim by ranges or a published table may be about: metrics of experiments, and some that are none.

use crate::{experiment::metric, refusal::Refusal, workload};

/// The knee of the curve of all scans of a variant: a degree.
pub const KNEE: &str = "knee";
/// With whether more of it is better. `fsbench._metric()` has all but the knee, which is of no single run.
const OTHERS: &[(&str, bool)] = &[
    (KNEE, true),
    ("latency_max_ms", false),
    ("commit_max_ms", false),
    ("tps_cv", false),
];

/// Whether more of it is better; a refusal of a name that is no figure.
fn more_is_better(name: &str) -> Result<bool, Refusal> {
    let other = OTHERS.iter().find(|(other, _)| *other == name);
    match (other, workload::find_metric(name)) {
        (Some((_, more_is_better)), _) => Ok(*more_is_better),
        (None, Some((own, _))) => Ok(own.more_is_better),
        (None, None) => metric::find(name).map(|metric| metric.more_is_better),
    }
}

/// Refuses a name that is no figure.
pub fn check(name: &str) -> Result<(), Refusal> {
    more_is_better(name).map(|_| ())
}

/// Whether less of it is better.
pub fn less_is_better(name: &str) -> bool {
    !more_is_better(name).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_known_with_their_direction() {
        for (name, less) in [
            ("tps", false),
            ("latency_max_ms", true),
            ("load_gb_per_s", false),
            ("load_ms", true),
            ("knee", false),
            ("scan_ms_at_17", true),
        ] {
            check(name).unwrap();
            assert_eq!(less_is_better(name), less, "{name}");
        }
        for name in ["scan_ms_at_", "scan_ms_at_017", "scan_ms_at_x", "speed"] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
