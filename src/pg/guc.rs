//! Settings of this process by the server's C functions: checked with the rights of a role, or applied.

use std::ffi::CString;

use pgfsbench_core::session_settings::READING_AND_PRINTING;
use pgrx::{PgLogLevel, pg_sys};

use crate::{
    errors::{Fault, sqlstate},
    pg::{text, xact},
};

/// Refuses undefined settings of this prefix: a typing error is not silent. At server start, after ours are defined.
pub fn reserve_prefix() {
    // SAFETY: a text that lives as long as the process, which the call copies.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"pgfsbench".as_ptr()) }
}

/// Raises PostgreSQL's own error when the session's role may not set that, or the value is wrong. Changes nothing.
pub fn check(name: &str, value: &str) -> Result<(), Fault> {
    set(name, value, pg_sys::GucAction::GUC_ACTION_SET, false)
}

/// PostgreSQL's own error when a server of this version would not start with that in its configuration file. Changes nothing.
pub fn check_of_server(name: &str, value: &str) -> Result<(), Fault> {
    let (name, value) = (c_string(name)?, c_string(value)?);
    // SAFETY: the texts live until the call returns. Nothing is set, only checked; as the postmaster would, so that settings
    // of the whole server can be.
    xact::catch(|| unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_POSTMASTER,
            pg_sys::GucSource::PGC_S_TEST,
            pg_sys::GucAction::GUC_ACTION_SET,
            false,
            PgLogLevel::ERROR as i32,
            false,
        );
    })
}

/// Sets it in this process, with the rights of a superuser: it has been checked before.
pub fn apply(name: &str, value: &str) -> Result<(), Fault> {
    let set = xact::catch(|| set(name, value, pg_sys::GucAction::GUC_ACTION_SET, true));
    set.and_then(|result| result)
}

/// Sets it in this process, with the rights of the session's role. In a transaction.
pub fn apply_as_session(name: &str, value: &str) -> Result<(), Fault> {
    check(name, value)?;
    apply(name, value)
}

/// Sets it until the innermost level of settings ends (NewGUCNestLevel, AtEOXact_GUC), as the SET clause of a function does.
fn set_until_level_ends(name: &str, value: &str) -> Result<(), Fault> {
    set(name, value, pg_sys::GucAction::GUC_ACTION_SAVE, true)
}

/// Carries out `f` with the settings under which our SQL is written, and a search_path of pg_catalog. An error in it that unwinds takes them back
/// with its transaction.
pub fn with_ours<R>(f: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
    // SAFETY: a level that ends below, or with the transaction.
    let level = unsafe { pg_sys::NewGUCNestLevel() };
    let result = set_ours().and_then(|()| f());
    // SAFETY: the level that was begun above.
    unsafe { pg_sys::AtEOXact_GUC(result.is_ok(), level) };
    result
}

fn set_ours() -> Result<(), Fault> {
    set_until_level_ends("search_path", "pg_catalog, pg_temp")?;
    READING_AND_PRINTING
        .iter()
        .try_for_each(|(name, value)| set_until_level_ends(name, value))
}

/// Whether this server has a setting of that name.
pub fn is_known(name: &str) -> Result<bool, Fault> {
    let name = c_string(name)?;
    // SAFETY: the text lives until the call returns; without the setting it gives null.
    Ok(!unsafe { pg_sys::GetConfigOption(name.as_ptr(), true, false) }.is_null())
}

/// Sets it until the transaction ends, as SET LOCAL does.
pub fn set_locally(name: &str, value: &str) -> Result<(), Fault> {
    set(name, value, pg_sys::GucAction::GUC_ACTION_LOCAL, true)
}

fn set(
    name: &str,
    value: &str,
    action: pg_sys::GucAction::Type,
    change: bool,
) -> Result<(), Fault> {
    let (name, value) = (c_string(name)?, c_string(value)?);
    // SAFETY: the texts live until the call returns. With `change` false nothing is set, only checked.
    unsafe {
        let context = if change || pg_sys::superuser() {
            pg_sys::GucContext::PGC_SUSET
        } else {
            pg_sys::GucContext::PGC_USERSET
        };
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            context,
            pg_sys::GucSource::PGC_S_SESSION,
            action,
            change,
            PgLogLevel::ERROR as i32,
            false,
        );
    }
    Ok(())
}

fn c_string(text: &str) -> Result<CString, Fault> {
    CString::new(text::to_server(text)).map_err(|_| {
        Fault::new(
            sqlstate::INVALID_PARAMETER,
            "a setting contains a null byte",
        )
    })
}
