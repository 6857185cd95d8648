//! Texts of SQL and texts of Rust, which are always UTF-8: a database may have another encoding, or none that it knows of
//! (SQL_ASCII), of whose bytes only those are taken that are UTF-8.

use std::ffi::CStr;

use pgrx::{
    FromDatum, IntoDatum, PgLogLevel,
    callconv::{Arg, ArgAbi, BoxRet, FcInfo},
    datum::Datum,
    impl_sql_translatable,
    nullable::Nullable,
    pg_sys,
    pg_sys::panic::ErrorReport,
};
use serde_json::Value;

use crate::errors::{Fault, sqlstate};

/// An argument of type text.
pub struct Text(pub String);

/// A text of a result. A character that the encoding of the database lacks is escaped.
pub struct ReturnedText(pub String);

/// An argument of type jsonb.
pub struct Document(pub Value);

/// Nothing can be cancelled while a document is read. A chart of the longest run, 30 days of seconds, has 83 MB.
const LONGEST_DOCUMENT: usize = 96 << 20;

impl_sql_translatable!(Text, "text");
impl_sql_translatable!(Document, "jsonb");
impl_sql_translatable!(ReturnedText, "text");

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl From<String> for ReturnedText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for ReturnedText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl IntoDatum for ReturnedText {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        said_to_server(&self.0).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TEXTOID
    }
}

// SAFETY: gives the datum of a text, or null, as the function is declared.
unsafe impl BoxRet for ReturnedText {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        match self.into_datum() {
            // SAFETY: a datum of the current memory context, of the type that the function is declared with.
            Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
            None => fcinfo.return_null(),
        }
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

/// A text of the server in UTF-8, for display: shared catalogs may hold names in the encodings of other databases.
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
    if text.is_ascii() || takes_utf8(encoding()) {
        return text.to_owned();
    }
    let shown = |c: char| match c {
        c if c.is_ascii() => c.to_string(),
        c => escaped(c),
    };
    text.chars().map(shown).collect()
}

/// A text of UTF-8 in the encoding of the database; characters that it does not have are escaped.
fn said_to_server(text: &str) -> Vec<u8> {
    let (from, to) = (pg_sys::pg_enc::PG_UTF8 as i32, encoding());
    if text.is_ascii() || takes_utf8(to) {
        return text.as_bytes().to_vec();
    }
    // SAFETY: in a transaction; it looks the function up that converts.
    let conversion = unsafe { pg_sys::FindDefaultConversionProc(from, to) };
    let mut said = Vec::with_capacity(text.len());
    for c in text.chars() {
        let mut bytes = [0; 4];
        let utf8 = c.encode_utf8(&mut bytes);
        match utf8.is_ascii() {
            true => said.extend(utf8.as_bytes()),
            false => said
                .extend(character(conversion, utf8, to).unwrap_or_else(|| escaped(c).into_bytes())),
        }
    }
    said
}

/// One character in another encoding; None if that does not have it.
fn character(conversion: pg_sys::Oid, utf8: &str, to: i32) -> Option<Vec<u8>> {
    if conversion == pg_sys::InvalidOid {
        return None;
    }
    let mut source = utf8.as_bytes().to_vec();
    source.push(0);
    let mut made = [0u8; 4 * pg_sys::MAX_CONVERSION_GROWTH as usize + 1];
    // SAFETY: both buffers live until the call returns, and are as long as is said; with noError it raises nothing for a character
    // that cannot be converted.
    let taken = unsafe {
        pg_sys::pg_do_encoding_conversion_buf(
            conversion,
            pg_sys::pg_enc::PG_UTF8 as i32,
            to,
            source.as_mut_ptr(),
            utf8.len() as i32,
            made.as_mut_ptr(),
            made.len() as i32,
            true,
        )
    };
    let end = made.iter().position(|byte| *byte == 0)?;
    (taken as usize == utf8.len()).then(|| made[..end].to_vec())
}

/// Whether a text of UTF-8 stays as it is.
fn takes_utf8(encoding: i32) -> bool {
    [
        pg_sys::pg_enc::PG_UTF8 as i32,
        pg_sys::pg_enc::PG_SQL_ASCII as i32,
    ]
    .contains(&encoding)
}

fn escaped(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
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
        // SAFETY: the argument is of type jsonb, whose header is read.
        let bytes = unsafe { pg_sys::toast_raw_datum_size(datum) };
        if bytes > LONGEST_DOCUMENT {
            return or_raise(Err(Fault::new(
                sqlstate::INVALID_PARAMETER,
                "an argument of type jsonb is too long",
            )
            .detail(format!(
                "It has {bytes} bytes, and at most {LONGEST_DOCUMENT} are read."
            ))
            .hint(
                "No function of pgfsbench needs so much: leave out what it does not name.",
            )));
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
