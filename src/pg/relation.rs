//! A table, opened by its name.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::errors::{Fault, sqlstate};

/// Opens a table of schema public.
///
/// # Safety
/// In a transaction; the caller closes it.
pub unsafe fn open(table: &str, lock: u32) -> Result<pg_sys::Relation, Fault> {
    let name = CString::new(table).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))?;
    // SAFETY: looks the name up, and raises an error when there is none.
    unsafe {
        let oid = pg_sys::get_relname_relid(
            name.as_ptr(),
            pg_sys::get_namespace_oid(c"public".as_ptr(), false),
        );
        Ok(pg_sys::table_open(oid, lock as i32))
    }
}
