//! Reads the settings of the clients on which durability depends.

use crate::{errors::Fault, pg::sql, watch::statistics};

/// [`Promises`](pgfsbench_core::run::promises::Promises), JSON. In the work database, where the clients work: settings of the home database do not hold there.
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
