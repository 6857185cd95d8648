//! How much of a series of kills is done: a sample of it, or all of it in `make soak`.

use std::env;

/// Whether everything is tried: `make soak` says so by `PGFSBENCH_SOAK`.
pub fn is_soak() -> bool {
    env::var_os("PGFSBENCH_SOAK").is_some()
}

/// How many kills at random moments a test does, and the seed of those moments: those of `PGFSBENCH_KILLS` and
/// `PGFSBENCH_KILLS_SEED`, else this number and a fixed seed.
pub fn kills(usual: u64) -> (u64, u64) {
    let number = |variable| env::var(variable).ok()?.parse().ok();
    (
        number("PGFSBENCH_KILLS").unwrap_or(usual),
        number("PGFSBENCH_KILLS_SEED").unwrap_or(20_261_121),
    )
}
