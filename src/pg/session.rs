//! The session that calls a function: who it is, whether it is still there, and how it is called.

use pgrx::pg_sys;

use crate::{
    errors::{Fault, read_json},
    pg::{sql, text},
};

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

/// Whether that role is a superuser.
pub fn is_superuser() -> bool {
    // SAFETY: in a transaction; reads this backend's state and the catalog.
    unsafe { pg_sys::superuser() }
}

/// Name of a role, or its number when it is gone.
pub fn role_name(role: u32) -> String {
    // SAFETY: in a transaction; the name is allocated in the current memory context.
    unsafe {
        let name = pg_sys::GetUserNameFromId(pg_sys::Oid::from(role), true);
        if name.is_null() {
            role.to_string()
        } else {
            text::from_server(std::ffi::CStr::from_ptr(name).to_bytes())
                .unwrap_or_else(|_| role.to_string())
        }
    }
}

/// Names of roles and attributes by which a role, no superuser, can do more than work with the data of the server. In a transaction.
pub fn powers_of(role: &str) -> Result<Vec<String>, Fault> {
    let query = include_str!("queries/powers_of_role.sql");
    let powers = sql::read_latest(query, &[Some(role)])?;
    read_json("rights of a role", &powers.unwrap_or_default())
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

/// Runs `f` with the rights of `role`, as the server calls functions of indexes: they cannot change the role, leave temporary objects or set
/// anything for later statements. In a transaction.
pub fn restricted_to<R>(role: u32, f: impl FnOnce() -> R) -> R {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    // SAFETY: put back right after; an error in between ends the transaction, which puts it back too.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        let settings = pg_sys::NewGUCNestLevel();
        pg_sys::SetUserIdAndSecContext(
            pg_sys::Oid::from(role),
            context | pg_sys::SECURITY_RESTRICTED_OPERATION as i32,
        );
        let result = f();
        pg_sys::AtEOXact_GUC(false, settings);
        pg_sys::SetUserIdAndSecContext(user, context);
        result
    }
}

/// Whether the procedure that has called this function may commit.
pub fn may_commit() -> bool {
    // SAFETY: reads this backend's state.
    unsafe { pg_sys::SPI_inside_nonatomic_context() }
}

/// The identifier that initdb gave the server.
pub fn system_identifier() -> u64 {
    // SAFETY: reads the control file's copy in shared memory, which is there since the server's start.
    unsafe { pg_sys::GetSystemIdentifier() }
}

/// The data directory of the server.
pub fn data_directory() -> std::path::PathBuf {
    // SAFETY: set at server start.
    let dir = unsafe { std::ffi::CStr::from_ptr(pg_sys::DataDir) };
    std::path::PathBuf::from(dir.to_string_lossy().into_owned())
}
