//! For which experiment this process starts runs.

use std::sync::atomic::{
    AtomicI64,
    Ordering::{Acquire, Release},
};

/// The experiment that this process starts runs of; 0 for none.
static FOR_EXPERIMENT: AtomicI64 = AtomicI64::new(0);

/// From now on, what this process starts are runs of that experiment.
pub fn start_for_experiment(experiment_id: i64) {
    FOR_EXPERIMENT.store(experiment_id, Release);
}

/// The experiment that this process starts runs of; 0 for none.
pub fn starts_for_experiment() -> i64 {
    FOR_EXPERIMENT.load(Acquire)
}
