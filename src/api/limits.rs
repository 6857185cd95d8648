//! Limits of a cgroup in words, for evidence and the page.

use pgfsbench_core::sys::cgroup::Limits;
use pgrx::{pg_extern, pg_sys::panic::ErrorReport};

use crate::pg::text::{Document, ReturnedText};

#[pg_extern(sql = false)]
fn fsbench_limits_in_words(limits: Document) -> Result<Option<ReturnedText>, ErrorReport> {
    // A file of another version may have others.
    let limits: Limits = serde_json::from_value(limits.0).unwrap_or_default();
    Ok(limits.in_words().map(ReturnedText))
}
