//! A table, opened by its name.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::errors::{Fault, sqlstate};

/// Opens a table of schema public.
///
/// # Safety
/// In a transaction; the caller closes it.
pub unsafe fn open(table: &str, lock: u32) -> Result<pg_sys::Relation, Fault> {
    // SAFETY: raises an error when there is no such table.
    unsafe { Ok(pg_sys::table_open(oid(table)?, lock as i32)) }
}

/// Number of a table of schema public; 0 when there is none. In a transaction.
pub fn oid_of(table: &str) -> Result<u32, Fault> {
    // SAFETY: in a transaction, the caller's duty.
    unsafe { Ok(oid(table)?.to_u32()) }
}

/// Opens an index of schema public.
///
/// # Safety
/// In a transaction; the caller closes it.
pub unsafe fn open_index(index: &str, lock: u32) -> Result<pg_sys::Relation, Fault> {
    // SAFETY: raises an error when there is no such index.
    unsafe { Ok(pg_sys::index_open(oid(index)?, lock as i32)) }
}

/// Oid of a relation of schema public; 0 when there is none.
///
/// # Safety
/// In a transaction.
unsafe fn oid(name: &str) -> Result<pg_sys::Oid, Fault> {
    let name = CString::new(name).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))?;
    // SAFETY: looks a name up that lives until the call returns.
    unsafe {
        Ok(pg_sys::get_relname_relid(
            name.as_ptr(),
            pg_sys::get_namespace_oid(c"public".as_ptr(), false),
        ))
    }
}
