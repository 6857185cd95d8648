//! Settings of `make soak` for tests.

use std::env;

/// Whether everything is tried: `make soak` says so by `PGFSBENCH_SOAK`.
pub fn is_soak() -> bool {
    env::var_os("PGFSBENCH_SOAK").is_some()
}

/// The number of kills at random moments that a test does, and the seed of those moments: `PGFSBENCH_KILLS` and
/// `PGFSBENCH_KILLS_SEED`, which `make soak` sets.
pub fn kills() -> (u64, u64) {
    let number = |variable| env::var(variable).ok()?.parse().ok();
    (
        number("PGFSBENCH_KILLS").unwrap_or(100),
        number("PGFSBENCH_KILLS_SEED").unwrap_or(20_261_121),
    )
}

/// Seconds of a run that is long: `PGFSBENCH_SOAK_SECONDS`, or an hour.
pub fn seconds() -> u64 {
    let given = env::var("PGFSBENCH_SOAK_SECONDS").ok();
    given.map_or(3600, |given| {
        given.parse().expect("PGFSBENCH_SOAK_SECONDS is a number")
    })
}
