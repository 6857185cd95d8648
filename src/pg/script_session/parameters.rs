//! Parameters of a prepared statement: their types, and their values from texts and whole numbers.

use pgrx::pg_sys;

use super::c_string;
use crate::{
    errors::{Fault, sqlstate},
    pg::xact,
};

/// How a parameter gets its value from a text.
pub struct Input {
    type_: pg_sys::Oid,
    function: pg_sys::Oid,
    /// The type that the function is given.
    type_parameter: pg_sys::Oid,
}

/// The value of a parameter.
pub enum Parameter {
    Null,
    Integer(i64),
    /// The text that was written.
    Text,
}

/// Types whose input functions read no table, and so need no snapshot.
const WITHOUT_SNAPSHOT: [pg_sys::Oid; 11] = [
    pg_sys::BOOLOID,
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
    pg_sys::FLOAT4OID,
    pg_sys::FLOAT8OID,
    pg_sys::NUMERICOID,
    pg_sys::TEXTOID,
    pg_sys::VARCHAROID,
    pg_sys::BPCHAROID,
    pg_sys::UUIDOID,
];

/// The input functions of parameters; an error if a type could not be inferred.
///
/// # Safety
/// So many types.
pub unsafe fn inputs(types: *mut pg_sys::Oid, count: i32) -> Result<Vec<Input>, Fault> {
    (0..count.max(0) as usize)
        .map(|index| {
            // SAFETY: the caller's duty; a type that the parser has found is in the catalog.
            unsafe {
                let type_ = *types.add(index);
                if type_ == pg_sys::InvalidOid || type_ == pg_sys::UNKNOWNOID {
                    return Err(Fault::new(
                        sqlstate::INDETERMINATE_TYPE,
                        format!("could not determine data type of parameter ${}", index + 1),
                    ));
                }
                let (mut function, mut type_parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
                pg_sys::getTypeInputInfo(type_, &mut function, &mut type_parameter);
                Ok(Input {
                    type_,
                    function,
                    type_parameter,
                })
            }
        })
        .collect()
}

/// Values for the parameters, in the current memory.
///
/// # Safety
/// In a transaction.
pub unsafe fn bind(
    inputs: &[Input],
    parameter: &mut impl FnMut(usize, &mut String) -> Parameter,
) -> Result<pg_sys::ParamListInfo, Fault> {
    if inputs.is_empty() {
        return Ok(std::ptr::null_mut());
    }
    let is_simple = |input: &Input| WITHOUT_SNAPSHOT.contains(&input.type_);
    match inputs.iter().all(is_simple) {
        // SAFETY: the caller's duty.
        true => unsafe { bind_each(inputs, parameter) },
        // SAFETY: the caller's duty.
        false => xact::with_snapshot(|| unsafe { bind_each(inputs, parameter) }),
    }
}

/// # Safety
/// In a transaction, with a snapshot if an input function needs one.
unsafe fn bind_each(
    inputs: &[Input],
    parameter: &mut impl FnMut(usize, &mut String) -> Parameter,
) -> Result<pg_sys::ParamListInfo, Fault> {
    // SAFETY: the caller's duty; the list has a place for each of so many parameters.
    unsafe {
        let list = pg_sys::makeParamList(inputs.len() as i32);
        let places = (*list).params.as_mut_ptr();
        let mut text = String::new();
        for (index, input) in inputs.iter().enumerate() {
            let given = parameter(index, &mut text);
            places.add(index).write(pg_sys::ParamExternData {
                isnull: matches!(given, Parameter::Null),
                value: input.value(given, &mut text)?,
                pflags: pg_sys::PARAM_FLAG_CONST as u16,
                ptype: input.type_,
            });
        }
        Ok(list)
    }
}

impl Input {
    /// The value that the type's input function makes of it; a whole number of a fitting type needs no text.
    ///
    /// # Safety
    /// In a transaction, with a snapshot if the input function needs one.
    unsafe fn value(&self, given: Parameter, text: &mut String) -> Result<pg_sys::Datum, Fault> {
        let text = match given {
            Parameter::Null => None,
            Parameter::Integer(number) if self.holds(number) => {
                // An int4 in a Datum is the low half of an int8 of the same value.
                return Ok(pg_sys::Datum::from(number));
            }
            Parameter::Integer(number) => {
                *text = number.to_string();
                Some(c_string(text)?)
            }
            Parameter::Text => Some(c_string(text)?),
        };
        let pointer = text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
        // SAFETY: the caller's duty; the text lives until the call returns.
        Ok(unsafe {
            pg_sys::OidInputFunctionCall(self.function, pointer.cast_mut(), self.type_parameter, -1)
        })
    }

    /// Whether the type is an integer that can have this value.
    fn holds(&self, number: i64) -> bool {
        match self.type_ {
            pg_sys::INT8OID => true,
            pg_sys::INT4OID => i32::try_from(number).is_ok(),
            _ => false,
        }
    }
}
