//! Reads the settings from which [`pgfsbench_core::run::promises`] derives the durability that a COMMIT of a run promises.

use pgfsbench_core::{
    run::promises::{OfRun, Promises},
    spec::Spec,
};

use crate::{
    errors::Fault,
    host::{durability, location},
    pg::sql,
    watch::statistics,
};

/// [`Promises`], JSON. In the work database, where the clients work: settings of the home database do not hold there.
pub fn read() -> Result<String, Fault> {
    let text = sql::read(
        &format!(
            "SELECT jsonb_build_object('fsync', current_setting('fsync')::bool, \
               'full_page_writes', current_setting('full_page_writes')::bool, \
               'synchronous_commit', current_setting('synchronous_commit'), 'timing', {})",
            statistics::TIMING
        ),
        &[],
    )?;
    Ok(text.unwrap_or_default())
}

/// Whether a run is durable, and why not.
pub fn in_words(promises: &Promises, spec: &Spec) -> String {
    let places = [location::data_location(), location::wal_location()];
    let of = OfRun {
        durable: spec.workload.durable(),
        unlogged: spec.options.unlogged,
        below: places
            .iter()
            .flatten()
            .flat_map(durability::reasons)
            .collect(),
    };
    promises.in_words(&spec.settings, &of)
}
