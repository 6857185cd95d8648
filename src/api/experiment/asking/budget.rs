//! A budget becomes the arguments that it is spent on.

use pgfsbench_core::experiment::{
    arguments::ExperimentArguments,
    plan::budget::{BudgetPlan, BudgetRequest},
};

/// The shortest window, by which it is found out how large the data are, microseconds.
const SHORTEST_US: i64 = 60_000_000;

fn us(seconds: f64) -> i64 {
    (seconds * 1e6) as i64
}

/// These arguments with the shortest windows.
pub fn shortest(arguments: &ExperimentArguments) -> ExperimentArguments {
    let mut arguments = arguments.clone();
    arguments.run.duration_us = Some(SHORTEST_US);
    arguments
}

/// The arguments, with what was chosen: so the same experiment can be made again.
pub fn spent(
    mut arguments: ExperimentArguments,
    seconds: f64,
    wish: &BudgetRequest,
    fit: &BudgetPlan,
) -> ExperimentArguments {
    arguments.cycle_us = fit.cycle_seconds.map(us).or(arguments.cycle_us);
    if wish.may_choose {
        arguments.run.duration_us = Some(us(fit.length.window_seconds));
        arguments.run.warmup_us = arguments
            .run
            .warmup_us
            .or(Some(us(fit.length.warmup_seconds)));
    }
    arguments.max_blocks = Some(fit.blocks as i32);
    arguments.max_duration_us = Some(us(seconds));
    arguments
}
