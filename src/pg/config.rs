//! Settings of the server, as SQL shows them.

use pgfsbench_core::units::whole_number;
use pgrx::pg_sys;

use crate::{errors::Fault, pg::sql};

/// A setting as SHOW shows it; None when there is none of this name. In a transaction.
pub fn shown(name: &str) -> Result<Option<String>, Fault> {
    sql::read("SELECT pg_catalog.current_setting($1, true)", &[Some(name)])
}

/// A setting that is a size, in bytes. In a transaction.
pub fn bytes(name: &str) -> Result<Option<u64>, Fault> {
    let text = sql::read(
        "SELECT pg_catalog.pg_size_bytes(pg_catalog.current_setting($1, true))",
        &[Some(name)],
    )?;
    let bytes = text.map(|text| whole_number(name, Some(&text)));
    Ok(bytes.transpose()?.map(|bytes| bytes.max(0) as u64))
}

/// Bytes of a WAL segment of this server.
pub fn wal_segment_bytes() -> u64 {
    // SAFETY: set at server start.
    unsafe { pg_sys::wal_segment_size as u64 }
}
