//! Reads the settings of the clients on which durability depends.

use pgfsbench_core::run::promises::DurabilitySettings;

use crate::{
    errors::{Fault, read_json},
    pg::{sql, xact},
    watch::statistics,
};

/// [`Promises`](pgfsbench_core::run::promises::Promises), JSON. In the work database, where the clients work: settings of the home database do not hold there.
pub fn read() -> Result<String, Fault> {
    let text = sql::read(
        &format!(
            "SELECT jsonb_build_object('fsync', current_setting('fsync')::bool, \
               'full_page_writes', current_setting('full_page_writes')::bool, \
               'synchronous_commit', current_setting('synchronous_commit'), 'synchronous_commit_follows', \
               (SELECT source IN ('default', 'configuration file') FROM pg_settings WHERE name = 'synchronous_commit'), 'timing', {})",
            statistics::TIMING
        ),
        &[],
    )?;
    Ok(text.unwrap_or_default())
}

/// The settings as this process has them now.
pub fn in_force() -> Result<DurabilitySettings, Fault> {
    let text = xact::transaction(|| {
        sql::read(
            "SELECT jsonb_build_object('fsync', current_setting('fsync')::bool, \
               'full_page_writes', current_setting('full_page_writes')::bool, \
               'synchronous_commit', current_setting('synchronous_commit'))",
            &[],
        )
    })?;
    read_json("settings", &text.unwrap_or_default())
}
