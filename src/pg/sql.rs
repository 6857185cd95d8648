//! SQL by SPI, with texts going in and one text coming out: everything that is stored or asked is passed as text or JSON, and
//! PostgreSQL does the conversions.
//!
//! Every statement runs under a search_path of pg_catalog alone, and under the settings with which it was written: some run with the rights of
//! the extension's owner in the session of another role, or in databases where others may create functions and operators.

use std::{
    borrow::Cow,
    ffi::{CStr, CString},
};

use pgrx::{IntoDatum, pg_sys};

use crate::{
    errors::{Fault, sqlstate},
    pg::{guc, text},
};

/// Runs a statement that writes, and gives the first column of its first row as text.
pub fn write(sql: &str, arguments: &[Option<&str>]) -> Result<Option<String>, Fault> {
    execute(sql, arguments, false)
}

/// Runs a statement that writes, with arguments in the encoding of the database. They are not copied again: a file may be long.
pub fn write_raw(sql: &str, arguments: &[Option<&[u8]>]) -> Result<Option<String>, Fault> {
    let arguments: Vec<Option<Cow<'_, [u8]>>> =
        (arguments.iter()).map(|a| a.map(Cow::Borrowed)).collect();
    execute_raw(sql, &arguments, false)
}

/// Runs a query with the snapshot that is active; assigns no transaction id.
pub fn read(sql: &str, arguments: &[Option<&str>]) -> Result<Option<String>, Fault> {
    execute(sql, arguments, true)
}

/// Runs a query with a snapshot taken now, which sees what was committed since the statement began.
pub fn read_latest(sql: &str, arguments: &[Option<&str>]) -> Result<Option<String>, Fault> {
    // SAFETY: in a transaction; pushed and popped in pairs, and by the transaction's abort on errors.
    unsafe {
        pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
        let result = execute(sql, arguments, true);
        pg_sys::PopActiveSnapshot();
        result
    }
}

fn execute(
    sql: &str,
    arguments: &[Option<&str>],
    read_only: bool,
) -> Result<Option<String>, Fault> {
    let arguments: Vec<Option<Cow<'_, [u8]>>> = (arguments.iter())
        .map(|a| a.map(|text| Cow::Owned(text::to_server(text))))
        .collect();
    execute_raw(sql, &arguments, read_only)
}

fn execute_raw(
    sql: &str,
    arguments: &[Option<Cow<'_, [u8]>>],
    read_only: bool,
) -> Result<Option<String>, Fault> {
    let text = CString::new(text::to_server(sql))
        .map_err(|_| Fault::new(sqlstate::INTERNAL, "SQL text contains a null byte"))?;
    let mut types = vec![pg_sys::TEXTOID; arguments.len()];
    let nulls: Vec<std::ffi::c_char> = arguments
        .iter()
        .map(|a| if a.is_some() { b' ' } else { b'n' } as std::ffi::c_char)
        .collect();
    // SAFETY: SPI is connected for the time of the call, in a transaction with an active snapshot (the callers' duty); the
    // arrays live until it returns; what it gives is copied before SPI_finish. Errors unwind through here, and the abort
    // of the transaction closes SPI and puts the settings back.
    guc::with_ours(|| unsafe {
        pg_sys::SPI_connect();
        let mut values: Vec<pg_sys::Datum> = arguments
            .iter()
            .map(|a| {
                // A text and a bytea have the same layout.
                a.as_deref()
                    .and_then(IntoDatum::into_datum)
                    .unwrap_or(pg_sys::Datum::null())
            })
            .collect();
        let code = pg_sys::SPI_execute_with_args(
            text.as_ptr(),
            arguments.len() as i32,
            types.as_mut_ptr(),
            values.as_mut_ptr(),
            nulls.as_ptr(),
            read_only,
            0,
        );
        if code < 0 {
            pg_sys::SPI_finish();
            return Err(Fault::new(
                sqlstate::INTERNAL,
                format!("SPI_execute_with_args failed with code {code} for: {sql}"),
            ));
        }
        let mut result = None;
        let table = pg_sys::SPI_tuptable;
        if !table.is_null() && (*table).numvals > 0 {
            let value = pg_sys::SPI_getvalue(*(*table).vals, (*table).tupdesc, 1);
            if !value.is_null() {
                result = Some(text::shown_from_server(CStr::from_ptr(value).to_bytes()));
            }
        }
        pg_sys::SPI_finish();
        Ok(result)
    })
}
