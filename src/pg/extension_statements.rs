//! DROP EXTENSION pgfsbench, seen before and after; CREATE EXTENSION pgfsbench_report, likewise; and ALTER EXTENSION UPDATE of both.
//!
//! The hook is called for each utility statement of the server: all others pass it at once, and without a guard of pgrx's, since
//! nothing in it panics then; their errors pass a frame that has nothing to drop.

use std::{
    ffi::{CStr, c_char},
    sync::OnceLock,
};

use pgrx::{
    PgList, pg_sys,
    pg_sys::panic::{ErrorReport, ErrorReportable},
};

/// Decides before the statement, in its transaction, what is done after it if it succeeds.
pub type BeforeDrop = fn() -> Option<Box<dyn FnOnce()>>;

/// Follows an update of the extension, in its transaction.
pub type AfterUpdate = Box<dyn FnOnce() -> Result<(), ErrorReport>>;

/// Decides before the statement, in its transaction, what is done after it if it succeeds.
pub type BeforeUpdate = fn() -> Result<Option<AfterUpdate>, ErrorReport>;

/// Refuses what cannot succeed, in its transaction.
pub type Check = fn() -> Result<(), ErrorReport>;

/// Functions that are called around statements about the extension.
pub struct StatementHooks {
    /// Before each DROP EXTENSION pgfsbench.
    pub before_drop: BeforeDrop,
    /// Before each ALTER EXTENSION UPDATE of pgfsbench or pgfsbench_report, and CREATE EXTENSION pgfsbench_report.
    pub before_update: BeforeUpdate,
    /// Before each CREATE EXTENSION pgfsbench_report.
    pub check_report: Check,
}

/// The hook of another library, if there is one. Written by the postmaster alone, before it has children.
static mut PREVIOUS: pg_sys::ProcessUtility_hook_type = None;
/// Written once, by the postmaster.
static HOOKS: OnceLock<StatementHooks> = OnceLock::new();

// pgrx's own of this name catches errors, which takes time in each statement.
unsafe extern "C-unwind" {
    #[link_name = "standard_ProcessUtility"]
    fn standard_process_utility(
        statement: *mut pg_sys::PlannedStmt,
        text: *const c_char,
        read_only_tree: bool,
        context: pg_sys::ProcessUtilityContext::Type,
        parameters: pg_sys::ParamListInfo,
        environment: *mut pg_sys::QueryEnvironment,
        to: *mut pg_sys::DestReceiver,
        completion: *mut pg_sys::QueryCompletion,
    );
}

/// Has these called. From `_PG_init`, while shared libraries are preloaded.
pub fn install_hook(hooks: StatementHooks) {
    let _ = HOOKS.set(hooks);
    // SAFETY: the postmaster is single-threaded here, and hooks are meant to be chained like this.
    unsafe {
        PREVIOUS = pg_sys::ProcessUtility_hook;
        pg_sys::ProcessUtility_hook = Some(on_utility);
    }
}

#[allow(clippy::too_many_arguments)]
unsafe extern "C-unwind" fn on_utility(
    statement: *mut pg_sys::PlannedStmt,
    text: *const c_char,
    read_only_tree: bool,
    context: pg_sys::ProcessUtilityContext::Type,
    parameters: pg_sys::ParamListInfo,
    environment: *mut pg_sys::QueryEnvironment,
    to: *mut pg_sys::DestReceiver,
    completion: *mut pg_sys::QueryCompletion,
) {
    // SAFETY: what the server has called this with; the previous hook was set by another library.
    unsafe {
        let run = || {
            PREVIOUS.unwrap_or(standard_process_utility)(
                statement,
                text,
                read_only_tree,
                context,
                parameters,
                environment,
                to,
                completion,
            );
        };
        match of_extension(statement) {
            Some(Statement::Drop) => pg_sys::panic::pgrx_extern_c_guard(|| dropped(run)),
            Some(Statement::Update) => pg_sys::panic::pgrx_extern_c_guard(|| updated(run)),
            Some(Statement::CreateReport) => pg_sys::panic::pgrx_extern_c_guard(|| {
                check_report();
                updated(run);
            }),
            None => run(),
        }
    }
}

/// Runs the statement between the look and what follows from it.
fn dropped(run: impl FnOnce()) {
    let after = HOOKS.get().and_then(|hooks| (hooks.before_drop)());
    // SAFETY: the statement is C code, whose errors are made panics of, so that `after` is dropped.
    unsafe { pg_sys::ffi::pg_guard_ffi_boundary(run) };
    if let Some(after) = after {
        after();
    }
}

/// Runs the statement between the look and what follows from it.
fn updated(run: impl FnOnce()) {
    let after = HOOKS
        .get()
        .and_then(|hooks| (hooks.before_update)().unwrap_or_report());
    // SAFETY: the statement is C code, whose errors are made panics of, so that `after` is dropped.
    unsafe { pg_sys::ffi::pg_guard_ffi_boundary(run) };
    if let Some(after) = after {
        after().unwrap_or_report();
    }
}

fn check_report() {
    if let Some(hooks) = HOOKS.get() {
        (hooks.check_report)().unwrap_or_report();
    }
}

/// A statement about the extension.
enum Statement {
    Drop,
    Update,
    CreateReport,
}

/// # Safety
/// A statement of the server's, with its tree.
unsafe fn of_extension(statement: *mut pg_sys::PlannedStmt) -> Option<Statement> {
    const NAME: &CStr = c"pgfsbench";
    const REPORT: &CStr = c"pgfsbench_report";
    // SAFETY: nodes are read as what their tags say; the names of extensions are strings.
    unsafe {
        let node = (*statement).utilityStmt;
        if node.is_null() {
            return None;
        }
        match (*node).type_ {
            pg_sys::NodeTag::T_DropStmt => {
                let drop = node as *mut pg_sys::DropStmt;
                let is_it = (*drop).removeType == pg_sys::ObjectType::OBJECT_EXTENSION
                    && PgList::<pg_sys::String>::from_pg((*drop).objects)
                        .iter_ptr()
                        .any(|name| CStr::from_ptr((*name).sval) == NAME);
                is_it.then_some(Statement::Drop)
            }
            pg_sys::NodeTag::T_AlterExtensionStmt => {
                let alter = node as *mut pg_sys::AlterExtensionStmt;
                let name = CStr::from_ptr((*alter).extname);
                (name == NAME || name == REPORT).then_some(Statement::Update)
            }
            pg_sys::NodeTag::T_CreateExtensionStmt => {
                let create = node as *mut pg_sys::CreateExtensionStmt;
                (CStr::from_ptr((*create).extname) == REPORT).then_some(Statement::CreateReport)
            }
            _ => None,
        }
    }
}
