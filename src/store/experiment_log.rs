//! The log of experiments.

use crate::{errors::Fault, pg::sql};

/// Notes what has happened.
pub fn log(
    experiment_id: i64,
    event: &str,
    block: Option<u32>,
    message: Option<&str>,
    by: Option<&str>,
) -> Result<(), Fault> {
    sql::write(
        "INSERT INTO fsbench.experiment_log (experiment_id, event, block, message, by) \
         VALUES ($1::bigint, $2, $3::integer, $4, $5)",
        &[
            Some(&experiment_id.to_string()),
            Some(event),
            block.map(|block| block.to_string()).as_deref(),
            message,
            by,
        ],
    )?;
    Ok(())
}
