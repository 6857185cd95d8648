//! A budget becomes the arguments that it is spent on.

use pgfsbench_core::experiment::{
    asked::Asked,
    plan::budget::{Fit, Wish},
};

/// The shortest window, by which it is found out how large the data are, microseconds.
const SHORTEST_US: i64 = 60_000_000;

fn us(seconds: f64) -> i64 {
    (seconds * 1e6) as i64
}

/// These arguments with the shortest windows.
pub fn shortest(asked: &Asked) -> Asked {
    let mut asked = asked.clone();
    asked.run.duration_us = Some(SHORTEST_US);
    asked
}

/// The arguments, with what was chosen: so the same experiment can be made again.
pub fn spent(mut asked: Asked, seconds: f64, wish: &Wish, fit: &Fit) -> Asked {
    asked.cycle_us = fit.cycle_seconds.map(us).or(asked.cycle_us);
    if wish.may_choose {
        asked.run.duration_us = Some(us(fit.length.window_seconds));
        asked.run.warmup_us = asked.run.warmup_us.or(Some(us(fit.length.warmup_seconds)));
    }
    asked.max_blocks = Some(fit.blocks as i32);
    asked.max_duration_us = Some(us(seconds));
    asked
}
