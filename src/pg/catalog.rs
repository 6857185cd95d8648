//! Shared catalogs, read by a process without a database, and what a crash in CREATE DATABASE leaves behind.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::{errors::Fault, pg::xact};

unsafe extern "C-unwind" {
    /// md.h
    fn ForgetDatabaseSyncRequests(database: pg_sys::Oid);
}

/// A database of the server.
#[derive(Clone, Debug)]
pub struct DatabaseEntry {
    pub oid: u32,
    /// Whether one can connect to it.
    pub allows_connections: bool,
    /// Whether no session can connect to it now, though something may be in it: not so of template0, and of the rest of an interrupted DROP DATABASE.
    pub is_closed: bool,
}

/// All databases. In a worker that is connected, to whatever; in a transaction of its own.
pub fn databases() -> Result<Vec<DatabaseEntry>, Fault> {
    xact::transaction(|| {
        let mut found = Vec::new();
        // SAFETY: in a transaction; relation and scan are closed here, or by the transaction's abort; the tuples are read
        // before the scan goes on.
        unsafe {
            let relation =
                pg_sys::table_open(pg_sys::DatabaseRelationId, pg_sys::AccessShareLock as i32);
            let scan = pg_sys::table_beginscan_catalog(relation, 0, std::ptr::null_mut());
            loop {
                let tuple = pg_sys::heap_getnext(scan, pg_sys::ScanDirection::ForwardScanDirection);
                if tuple.is_null() {
                    break;
                }
                let form = pg_sys::GETSTRUCT(tuple) as *const pg_sys::FormData_pg_database;
                let valid = (*form).datconnlimit != -2;
                let name = CStr::from_ptr((*form).datname.data.as_ptr());
                found.push(DatabaseEntry {
                    oid: (*form).oid.to_u32(),
                    allows_connections: (*form).datallowconn && valid,
                    is_closed: !(*form).datallowconn && valid && name != c"template0",
                });
            }
            // As the macro table_endscan does.
            if let Some(end) = (*(*(*scan).rs_rd).rd_tableam).scan_end {
                end(scan);
            }
            pg_sys::table_close(relation, pg_sys::AccessShareLock as i32);
        }
        Ok(found)
    })
}

/// An OID that no object has had since the counter last went round, for a database to come.
pub fn new_oid() -> u32 {
    // SAFETY: takes the next value of the server's counter, under its own lock.
    unsafe { pg_sys::GetNewObjectId().to_u32() }
}

/// Forgets pages and sync requests of a database that never came to be, so that its files can be removed: what DROP
/// DATABASE does before it removes them.
pub fn forget_database(oid: u32) {
    // SAFETY: there is no database of that OID, so no process can be using these pages. The second function is not one of pgrx's, so its errors are
    // caught here.
    unsafe {
        pg_sys::DropDatabaseBuffers(pg_sys::Oid::from(oid));
        pg_sys::ffi::pg_guard_ffi_boundary(|| ForgetDatabaseSyncRequests(pg_sys::Oid::from(oid)));
        let barrier = pg_sys::EmitProcSignalBarrier(
            pg_sys::ProcSignalBarrierType::PROCSIGNAL_BARRIER_SMGRRELEASE,
        );
        pg_sys::WaitForProcSignalBarrier(barrier);
    }
}
