//! Statements that refuse to run inside a function or SPI (CREATE DATABASE, DROP DATABASE, VACUUM, CHECKPOINT): run as if
//! they had been typed.

use std::ffi::CString;

use pgrx::{PgList, pg_sys};

use crate::{
    errors::{Fault, sqlstate},
    pg::{points::point, xact},
};

/// Runs the statements in one transaction of their own, in a background worker.
///
/// More than one statement is for those that are sound together: a database and its comment appear at the same moment.
pub fn run(statements: &[&str]) -> Result<(), Fault> {
    let result = xact::catch(|| -> Result<(), Fault> {
        point!(
            "before {}",
            statements.join(" ").split(' ').next().unwrap_or_default()
        );
        xact::begin();
        for sql in statements {
            run_one(sql)?;
        }
        xact::commit();
        Ok(())
    })
    .and_then(|result| result);
    if result.is_err() {
        xact::abort();
    }
    delete_memory();
    result
}

/// The parse trees must outlive the transaction: VACUUM ends it and goes on, and would read freed memory.
fn memory() -> pg_sys::MemoryContext {
    // SAFETY: made below TopMemoryContext, whose children live until they are deleted.
    unsafe {
        if pg_sys::PortalContext.is_null() {
            pg_sys::PortalContext = pg_sys::AllocSetContextCreateInternal(
                pg_sys::TopMemoryContext,
                c"pgfsbench utility statement".as_ptr(),
                pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            );
        }
        pg_sys::PortalContext
    }
}

fn delete_memory() {
    // SAFETY: made by `memory`, and nothing in it is used after the statements.
    unsafe {
        if !pg_sys::PortalContext.is_null() {
            pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
            pg_sys::MemoryContextDelete(pg_sys::PortalContext);
            pg_sys::PortalContext = std::ptr::null_mut();
        }
    }
}

fn run_one(sql: &str) -> Result<(), Fault> {
    let text = CString::new(sql).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))?;
    // SAFETY: in a transaction; tree and text live until `delete_memory`, the text until this function returns, and
    // nothing keeps a pointer to it longer than the statement runs. The snapshot is pushed as PortalRunUtility does, and
    // popped unless the statement has ended the transaction that it belonged to.
    unsafe {
        // Also what the statement allocates for itself must outlive the transaction.
        pg_sys::MemoryContextSwitchTo(memory());
        let trees = PgList::<pg_sys::RawStmt>::from_pg(pg_sys::pg_parse_query(text.as_ptr()));
        let Some(tree) = trees.get_ptr(0) else {
            return Err(Fault::new(sqlstate::INTERNAL, "no statement"));
        };
        let statement =
            pg_sys::palloc0(size_of::<pg_sys::PlannedStmt>()) as *mut pg_sys::PlannedStmt;
        (*statement).type_ = pg_sys::NodeTag::T_PlannedStmt;
        (*statement).commandType = pg_sys::CmdType::CMD_UTILITY;
        (*statement).canSetTag = true;
        (*statement).utilityStmt = (*tree).stmt;
        (*statement).stmt_location = (*tree).stmt_location;
        (*statement).stmt_len = (*tree).stmt_len;
        pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        pg_sys::ProcessUtility(
            statement,
            text.as_ptr(),
            false,
            pg_sys::ProcessUtilityContext::PROCESS_UTILITY_TOPLEVEL,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            pg_sys::None_Receiver,
            std::ptr::null_mut(),
        );
        if pg_sys::ActiveSnapshotSet() {
            pg_sys::PopActiveSnapshot();
        }
        pg_sys::CommandCounterIncrement();
    }
    Ok(())
}
