//! Connection strings, taken apart by libpq itself.

use std::ffi::{CStr, CString, c_char, c_int};

/// PQconninfoOption of libpq-fe.h.
#[repr(C)]
struct RawOption {
    keyword: *const c_char,
    _envvar: *const c_char,
    _compiled: *const c_char,
    value: *const c_char,
    _label: *const c_char,
    dispchar: *const c_char,
    _dispsize: c_int,
}

#[link(name = "pq")]
unsafe extern "C" {
    fn PQconninfoParse(text: *const c_char, message: *mut *mut c_char) -> *mut RawOption;
    fn PQconninfoFree(options: *mut RawOption);
    fn PQfreemem(memory: *mut std::ffi::c_void);
}

/// A keyword that was given a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// libpq's name of it.
    pub keyword: String,
    pub value: String,
    /// Whether libpq takes it for a secret, which is not to be shown.
    pub is_secret: bool,
}

/// The keywords and values of a connection string; what is not given is not there. An error is libpq's own text.
pub fn parse(text: &str) -> Result<Vec<Parameter>, String> {
    let text = CString::new(text).map_err(|_| "it contains a null byte".to_owned())?;
    let mut message = std::ptr::null_mut();
    // SAFETY: a text that ends with a null byte; the array that comes back ends with an option without a keyword, all its
    // texts end with a null byte, and it is freed after they were copied; so is the message, of which there is one when there is
    // no array and memory has sufficed.
    unsafe {
        let options = PQconninfoParse(text.as_ptr(), &mut message);
        if options.is_null() {
            let said = copy(message).unwrap_or_else(|| "out of memory".to_owned());
            PQfreemem(message.cast());
            return Err(said.trim().to_owned());
        }
        let mut parameters = Vec::new();
        let mut next = options;
        while let Some(keyword) = copy((*next).keyword) {
            parameters.extend(copy((*next).value).map(|value| Parameter {
                keyword,
                value,
                is_secret: copy((*next).dispchar).is_some_and(|how| how.contains('*')),
            }));
            next = next.add(1);
        }
        PQconninfoFree(options);
        Ok(parameters)
    }
}

/// A text of C's.
///
/// # Safety
/// It is null, or ends with a null byte.
unsafe fn copy(text: *const c_char) -> Option<String> {
    // SAFETY: as above.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text).to_string_lossy().into_owned() })
}
