//! DROP EXTENSION pgfsbench, seen before and after.
//!
//! The hook is called for each utility statement of the server: all others pass it at once, and without a guard of pgrx's, since
//! nothing in it panics then; their errors pass a frame that has nothing to drop.

use std::{
    ffi::{CStr, c_char},
    sync::OnceLock,
};

use pgrx::{PgList, pg_sys};

/// Decides before the statement, in its transaction, what is done after it if it succeeds.
pub type Look = fn() -> Option<Box<dyn FnOnce()>>;

static mut PREVIOUS: pg_sys::ProcessUtility_hook_type = None;
static LOOK: OnceLock<Look> = OnceLock::new();

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

/// Has `look` called before each DROP EXTENSION pgfsbench. From `_PG_init`, while shared libraries are preloaded.
pub fn install_hook(look: Look) {
    let _ = LOOK.set(look);
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
        if drops_extension(statement) {
            pg_sys::panic::pgrx_extern_c_guard(|| watched(run));
        } else {
            run();
        }
    }
}

/// Runs the statement between the look and what follows from it.
fn watched(run: impl FnOnce()) {
    let after = LOOK.get().and_then(|look| look());
    // SAFETY: the statement is C code, whose errors are made panics of, so that `after` is dropped.
    unsafe { pg_sys::ffi::pg_guard_ffi_boundary(run) };
    if let Some(after) = after {
        after();
    }
}

/// # Safety
/// A statement of the server's, with its tree.
unsafe fn drops_extension(statement: *mut pg_sys::PlannedStmt) -> bool {
    // SAFETY: nodes are read as what their tags say; the names of extensions are strings.
    unsafe {
        let node = (*statement).utilityStmt;
        if node.is_null() || (*node).type_ != pg_sys::NodeTag::T_DropStmt {
            return false;
        }
        let drop = node as *mut pg_sys::DropStmt;
        (*drop).removeType == pg_sys::ObjectType::OBJECT_EXTENSION
            && PgList::<pg_sys::String>::from_pg((*drop).objects)
                .iter_ptr()
                .any(|name| CStr::from_ptr((*name).sval) == c"pgfsbench")
    }
}
