//! The arguments of a function by the names that the catalog has: its signature then stands in SQL alone, and not once more in the order
//! of its C function.

use std::{ffi::CStr, ptr};

use pgrx::{Array, FromDatum, datum::Interval, pg_sys};
use serde_json::{Map, Number, Value};

use crate::{
    errors::{Fault, sqlstate},
    pg::{
        guc,
        text::{self, Document, Text},
    },
};

/// A function's argument as it is declared.
struct DeclaredArgument {
    name: String,
    kind: pg_sys::Oid,
}

/// The arguments of the function that is called; those that are NULL are left out. `call` is what the server calls it with.
pub fn named(call: pg_sys::FunctionCallInfo) -> Result<Map<String, Value>, Fault> {
    // SAFETY: the server gives the function that it calls, and a datum of the declared type for each of its arguments.
    unsafe {
        let declared = declared((*(*call).flinfo).fn_oid)?;
        let given = (*call)
            .args
            .as_slice(usize::try_from((*call).nargs).unwrap_or(0));
        let given = declared
            .into_iter()
            .zip(given)
            .filter(|(_, datum)| !datum.isnull);
        given
            .map(|(declared, datum)| {
                let value = value(datum.value, declared.kind)?;
                Ok((declared.name, value))
            })
            .collect()
    }
}

/// The arguments that a function declares, in their order.
///
/// # Safety
/// `function` is one that is in the catalog.
unsafe fn declared(function: pg_sys::Oid) -> Result<Vec<DeclaredArgument>, Fault> {
    const IN: [u8; 3] = [b'i', b'b', b'v'];
    let (mut kinds, mut names, mut modes) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: what is written there are copies, as many as it says; names and modes can be absent.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::PROCOID as _,
            pg_sys::Datum::from(function),
        );
        if tuple.is_null() {
            return Err(Fault::new(sqlstate::INTERNAL, "the function is unknown"));
        }
        let n = pg_sys::get_func_arg_info(tuple, &mut kinds, &mut names, &mut modes);
        pg_sys::ReleaseSysCache(tuple);
        (0..usize::try_from(n).unwrap_or(0))
            .filter(|&index| modes.is_null() || IN.contains(&(*modes.add(index) as u8)))
            .map(|index| {
                let name = (!names.is_null()).then(|| CStr::from_ptr(*names.add(index)));
                let name = name.and_then(|name| name.to_str().ok()).map(str::to_owned);
                Ok(DeclaredArgument {
                    name: name
                        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "an argument has no name"))?,
                    kind: *kinds.add(index),
                })
            })
            .collect()
    }
}

/// An argument as JSON; of a type that JSON does not have, the text that the server shows.
///
/// # Safety
/// The datum is of that type, and not NULL.
unsafe fn value(datum: pg_sys::Datum, kind: pg_sys::Oid) -> Result<Value, Fault> {
    // SAFETY: the caller's duty.
    unsafe {
        let known = match kind {
            pg_sys::BOOLOID => bool::from_datum(datum, false).map(Value::Bool),
            pg_sys::INT4OID => i32::from_datum(datum, false).map(Value::from),
            pg_sys::INT8OID => i64::from_datum(datum, false).map(Value::from),
            pg_sys::FLOAT8OID => f64::from_datum(datum, false)
                .and_then(Number::from_f64)
                .map(Value::Number),
            // In microseconds; one beyond what fits is as wrong as the longest that does.
            pg_sys::INTERVALOID => Interval::from_datum(datum, false).map(|interval| {
                let micros = interval.as_micros();
                Value::from(micros.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
            }),
            pg_sys::TEXTOID => {
                Text::from_polymorphic_datum(datum, false, kind).map(|text| Value::String(text.0))
            }
            pg_sys::JSONBOID => {
                Document::from_polymorphic_datum(datum, false, kind).map(|document| document.0)
            }
            pg_sys::TEXTARRAYOID => {
                check_one_dimension(datum)?;
                // As bytes: in the encoding of the database, which need not be UTF-8.
                let array = Array::<&[u8]>::from_polymorphic_datum(datum, false, kind);
                let texts = |array: Array<&[u8]>| {
                    let texts = array
                        .iter()
                        .map(|text| text.map(text::from_server).transpose());
                    texts.collect::<Result<Vec<Option<String>>, Fault>>()
                };
                array.map(texts).transpose()?.map(Value::from)
            }
            _ => None,
        };
        match known {
            Some(value) => Ok(value),
            None => Ok(Value::String(shown(datum, kind)?)),
        }
    }
}

/// Refuses an array of several dimensions: its elements are no list.
///
/// # Safety
/// The datum is an array, and not NULL.
unsafe fn check_one_dimension(datum: pg_sys::Datum) -> Result<(), Fault> {
    // SAFETY: the caller's duty; the header of the detoasted array is only read.
    let dimensions = unsafe {
        let array: *const pg_sys::ArrayType = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast();
        (*array).ndim
    };
    if dimensions <= 1 {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::INVALID_PARAMETER,
        "an array has more than one dimension",
    )
    .detail(format!("It has {dimensions} dimensions."))
    .hint("Give a list such as '{ext4,xfs}'."))
}

/// The text of a value, as the server shows it.
///
/// # Safety
/// The datum is of that type, and not NULL.
unsafe fn shown(datum: pg_sys::Datum, kind: pg_sys::Oid) -> Result<String, Fault> {
    let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
    guc::with_ours(|| {
        // SAFETY: the type's own function writes a text that ends.
        let bytes = unsafe {
            pg_sys::getTypeOutputInfo(kind, &mut output, &mut is_varlena);
            CStr::from_ptr(pg_sys::OidOutputFunctionCall(output, datum)).to_bytes()
        };
        text::from_server(bytes)
    })
}
