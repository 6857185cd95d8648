//! Settings of the server: checked with somebody's rights, applied in this process.

use std::ffi::CString;

use pgrx::{PgLogLevel, pg_sys};

use crate::{
    errors::{Fault, sqlstate},
    pg::xact,
};

fn c_string(text: &str) -> Result<CString, Fault> {
    CString::new(text).map_err(|_| {
        Fault::new(
            sqlstate::INVALID_PARAMETER,
            "a setting contains a null byte",
        )
    })
}

/// Raises PostgreSQL's own error when the session's role may not set that, or the value is wrong. Changes nothing.
pub fn check(name: &str, value: &str) -> Result<(), Fault> {
    set(name, value, false)
}

/// Sets it in this process, with the rights of a superuser: it has been checked before.
pub fn apply(name: &str, value: &str) -> Result<(), Fault> {
    let set = xact::catch(|| set(name, value, true));
    set.and_then(|result| result)
}

fn set(name: &str, value: &str, change: bool) -> Result<(), Fault> {
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
            pg_sys::GucAction::GUC_ACTION_SET,
            change,
            PgLogLevel::ERROR as i32,
            false,
        );
    }
    Ok(())
}
