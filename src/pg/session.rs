//! The session that calls a function: who it is, whether it is still there, and how it is called.

use pgrx::pg_sys;

unsafe extern "C-unwind" {
    /// libpq.h: false when the kernel knows that the client has closed the connection.
    fn pq_check_connection() -> bool;
}

/// Whether the client is still connected; true for a background worker, which has none.
pub fn is_connected() -> bool {
    // SAFETY: MyProcPort is set once at the start of the process; the check needs a connection. The function is not one of
    // pgrx's, so that its errors are caught here.
    unsafe {
        pg_sys::MyProcPort.is_null() || pg_sys::ffi::pg_guard_ffi_boundary(|| pq_check_connection())
    }
}

/// OID of the session's database.
pub fn database() -> u32 {
    // SAFETY: set at the start of the process.
    unsafe { pg_sys::MyDatabaseId.to_u32() }
}

/// OID of the role with whose rights the session works now.
pub fn role() -> u32 {
    // SAFETY: reads this backend's state.
    unsafe { pg_sys::GetUserId().to_u32() }
}

/// Name of a role, or its number when it is gone.
pub fn role_name(role: u32) -> String {
    // SAFETY: in a transaction; the name is allocated in the current memory context.
    unsafe {
        let name = pg_sys::GetUserNameFromId(pg_sys::Oid::from(role), true);
        if name.is_null() {
            role.to_string()
        } else {
            std::ffi::CStr::from_ptr(name)
                .to_string_lossy()
                .into_owned()
        }
    }
}

/// Runs `f` with the rights of `owner`, as a SECURITY DEFINER function does.
pub fn with_rights_of<R>(owner: u32, f: impl FnOnce() -> R) -> R {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: put back right after; an error in between ends the transaction, which puts it back too.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(
            pg_sys::Oid::from(owner),
            context | pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32,
        );
        let result = f();
        pg_sys::SetUserIdAndSecContext(user, context);
        result
    }
}

/// What tells one statement from the next: the next transaction id that its snapshot knows, and its command number.
pub fn snapshot_of_statement() -> Option<(u32, u32)> {
    // SAFETY: the active snapshot, if any, is valid during the call.
    unsafe {
        if !pg_sys::ActiveSnapshotSet() {
            return None;
        }
        let snapshot = pg_sys::GetActiveSnapshot();
        Some(((*snapshot).xmax.into_inner(), (*snapshot).curcid))
    }
}

/// Where in its statement a function is called.
pub struct Place {
    /// Only compared, never followed: the expression may be gone by then.
    address: usize,
    expression: String,
}

impl Place {
    /// Whether two calls stand at different places of a statement, but look the same: what `(f()).*` makes of one.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        self.address != other.address && self.expression == other.expression
    }
}

/// The place of this call; None when it is not called by an expression.
pub fn place_of(call: pg_sys::FunctionCallInfo) -> Option<Place> {
    // SAFETY: the function manager passes a valid call with its function information, and an expression that lives as long
    // as the call; its text is made in the current memory context.
    unsafe {
        if call.is_null() || (*call).flinfo.is_null() || (*(*call).flinfo).fn_expr.is_null() {
            return None;
        }
        let expression = (*(*call).flinfo).fn_expr;
        let text = pg_sys::nodeToString(expression.cast());
        Some(Place {
            address: expression as usize,
            expression: std::ffi::CStr::from_ptr(text)
                .to_string_lossy()
                .into_owned(),
        })
    }
}

/// The data directory of the server.
pub fn data_directory() -> std::path::PathBuf {
    // SAFETY: set at server start.
    let dir = unsafe { std::ffi::CStr::from_ptr(pg_sys::DataDir) };
    std::path::PathBuf::from(dir.to_string_lossy().into_owned())
}
