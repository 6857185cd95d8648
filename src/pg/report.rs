//! Messages that are no errors: to the caller as a NOTICE, to the server's log as a WARNING. Exact SQLSTATEs of errors.

use pgrx::{PgLogLevel, PgSqlErrorCode, pg_guard, pg_sys, pg_sys::panic::ErrorReport};

use crate::{
    errors::{self, Fault},
    pg::{text, xact},
};

impl From<Fault> for ErrorReport {
    fn from(fault: Fault) -> Self {
        let code = PgSqlErrorCode::from(errors::pack(&fault.sqlstate));
        let mut report = ErrorReport::new(code, text::for_report(&fault.message), "pgfsbench");
        if let Some(detail) = fault.detail {
            report = report.set_detail(text::for_report(&detail));
        }
        if let Some(hint) = fault.hint {
            report = report.set_hint(text::for_report(&hint));
        }
        report
    }
}

/// Tells the caller something that is not an error.
pub fn notice(message: String, hint: Option<String>) {
    let mut report = ErrorReport::new(
        pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        text::for_report(&message),
        "pgfsbench",
    );
    if let Some(hint) = hint {
        report = report.set_hint(text::for_report(&hint));
    }
    report.report(PgLogLevel::NOTICE);
}

/// A NOTICE with DETAIL and HINT, of several lines each.
pub fn notice_in_full(message: &'static str, detail: String, hint: String) {
    ErrorReport::new(
        pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        message,
        "pgfsbench",
    )
    .set_detail(detail)
    .set_hint(hint)
    .report(PgLogLevel::NOTICE);
}

/// Writes a line to the server's log.
pub fn log(message: String) {
    ErrorReport::new(
        pgrx::PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
        message,
        "pgfsbench",
    )
    .report(PgLogLevel::LOG);
}

/// Writes a fault to the server's log.
pub fn log_warning(fault: &Fault) {
    let report: ErrorReport = fault.clone().into();
    report.report(PgLogLevel::WARNING);
}

/// Runs `f` in a transaction; logs what goes wrong. For what is done on the way out.
pub fn or_log<R>(what: &str, f: impl FnOnce() -> Result<R, Fault>) -> Option<R> {
    match xact::catch(f).and_then(|result| result) {
        Ok(result) => Some(result),
        Err(fault) => {
            xact::abort();
            log_warning(&fault.context(what));
            None
        }
    }
}

/// A value that a run can do without: an error is logged, unless the run is to end.
pub fn or_unknown<T>(result: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(fault) if fault.is_cancel() => Err(fault),
        Err(fault) => {
            log_warning(&fault.context("some statistics of the run are not known"));
            Ok(None)
        }
    }
}

/// Has each report of this process leave its SQLSTATE where a caught error finds it, and whether it has a CONTEXT. In a process that runs statements
/// of users.
pub fn remember_codes() {
    let callback = Box::leak(Box::new(pg_sys::ErrorContextCallback {
        previous: std::ptr::null_mut(),
        callback: Some(remember_code),
        arg: std::ptr::null_mut(),
    }));
    // SAFETY: the entry lives as long as the process, and calls a function that raises no error.
    unsafe {
        callback.previous = pg_sys::error_context_stack;
        pg_sys::error_context_stack = callback;
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn remember_code(_argument: *mut std::ffi::c_void) {
    // SAFETY: called while a report is made, after the functions that add to its CONTEXT; the copy is freed in the memory context that it is made in.
    unsafe {
        let before = pg_sys::MemoryContextSwitchTo(pg_sys::TopMemoryContext);
        let report = pg_sys::CopyErrorData();
        let has_context = !(*report).context.is_null();
        pg_sys::FreeErrorData(report);
        pg_sys::MemoryContextSwitchTo(before);
        errors::remember_reported(pg_sys::geterrcode(), has_context);
    }
}
