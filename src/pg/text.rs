//! Texts of SQL and texts of Rust, which are always UTF-8: a database may have another encoding, or none that it knows of
//! (SQL_ASCII), of whose bytes only those are taken that are UTF-8.

use std::ffi::CStr;

use pgrx::{
    FromDatum, PgLogLevel,
    callconv::{Arg, ArgAbi},
    impl_sql_translatable,
    nullable::Nullable,
    pg_sys,
    pg_sys::panic::ErrorReport,
};
use serde_json::Value;

use crate::errors::{Fault, sqlstate};

/// An argument of type text.
pub struct Text(pub String);

/// An argument of type jsonb.
pub struct Document(pub Value);

impl_sql_translatable!(Text, "text");
impl_sql_translatable!(Document, "jsonb");

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

fn encoding() -> i32 {
    // SAFETY: reads this backend's state.
    unsafe { pg_sys::GetDatabaseEncoding() }
}

/// A text of the database in UTF-8.
pub fn from_server(bytes: &[u8]) -> Result<String, Fault> {
    if bytes.is_ascii() {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    let converted = convert(bytes, encoding(), pg_sys::pg_enc::PG_UTF8 as i32);
    String::from_utf8(converted).map_err(|_| {
        Fault::new(sqlstate::NOT_IN_REPERTOIRE, "a text is not valid UTF-8")
            .detail("The database does not say what its bytes mean (SQL_ASCII), and pgfsbench takes those for UTF-8 that are not ASCII.")
            .hint("Give a text in UTF-8, or in ASCII.")
    })
}

/// The same, to be shown: names of other databases may stand in shared catalogs in encodings of their own.
pub fn shown_from_server(bytes: &[u8]) -> String {
    let converted = convert(bytes, encoding(), pg_sys::pg_enc::PG_UTF8 as i32);
    String::from_utf8_lossy(&converted).into_owned()
}

/// A text of UTF-8 in the encoding of the database; PostgreSQL's own error when that does not have one of its characters.
pub fn to_server(text: &str) -> Vec<u8> {
    if text.is_ascii() {
        return text.as_bytes().to_vec();
    }
    convert(text.as_bytes(), pg_sys::pg_enc::PG_UTF8 as i32, encoding())
}

/// A text for an error message: PostgreSQL takes it as it is, so that what could be wrong in the database's encoding is escaped.
pub fn for_report(text: &str) -> String {
    let as_it_is = [
        pg_sys::pg_enc::PG_UTF8 as i32,
        pg_sys::pg_enc::PG_SQL_ASCII as i32,
    ];
    if text.is_ascii() || as_it_is.contains(&encoding()) {
        return text.to_owned();
    }
    let shown = |c: char| match c {
        c if c.is_ascii() => c.to_string(),
        c => format!("\\u{:04x}", u32::from(c)),
    };
    text.chars().map(shown).collect()
}

fn convert(bytes: &[u8], from: i32, to: i32) -> Vec<u8> {
    let unknown = pg_sys::pg_enc::PG_SQL_ASCII as i32;
    if from == to || [from, to].contains(&unknown) {
        return bytes.to_vec();
    }
    let mut terminated = bytes.to_vec();
    terminated.push(0);
    // SAFETY: in a transaction; the text ends with a null byte and lives until the call returns; what that gives is a text of
    // the current memory context, or the one that went in, and is copied.
    unsafe {
        let converted = pg_sys::pg_do_encoding_conversion(
            terminated.as_mut_ptr(),
            bytes.len() as i32,
            from,
            to,
        );
        CStr::from_ptr(converted.cast()).to_bytes().to_vec()
    }
}

fn or_raise<T>(result: Result<T, Fault>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(fault) => {
            ErrorReport::from(fault).report(PgLogLevel::ERROR);
            None
        }
    }
}

impl FromDatum for Text {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        kind: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the bytes of a text are those of a bytea.
        let bytes = unsafe { <&[u8]>::from_polymorphic_datum(datum, is_null, kind)? };
        or_raise(from_server(bytes)).map(Self)
    }
}

impl FromDatum for Document {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _kind: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: the argument is of type jsonb; its text is copied.
        let text = unsafe {
            pgrx::direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(datum)])?.to_bytes()
        };
        let value = from_server(text).and_then(|text| {
            serde_json::from_str(&text).map_err(|e| {
                Fault::new(
                    sqlstate::INVALID_PARAMETER,
                    "an argument holds JSON that cannot be used",
                )
                .detail(format!("{e}."))
            })
        });
        or_raise(value).map(Self)
    }
}

macro_rules! argument {
    ($kind:ty) => {
        // SAFETY: converts a datum of the type that the function is declared with.
        unsafe impl<'fcx> ArgAbi<'fcx> for $kind {
            unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
                // SAFETY: the caller's duty.
                let value = unsafe { arg.unbox_arg_using_from_datum() };
                value.unwrap_or_else(|| panic!("an argument must not be null"))
            }

            unsafe fn unbox_nullable_arg(arg: Arg<'_, 'fcx>) -> Nullable<Self> {
                // SAFETY: the caller's duty.
                unsafe { arg.unbox_arg_using_from_datum().into() }
            }
        }
    };
}
argument!(Text);
argument!(Document);
