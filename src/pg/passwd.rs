//! Names of the operating system's users, from wherever it has them: /etc/passwd, LDAP, systemd.

use std::{
    ffi::{CStr, c_char},
    io,
    mem::MaybeUninit,
};

/// The longest entry that is looked at.
const LONGEST: usize = 1 << 20;

/// The name of a user; None when it has none.
pub fn name_of(uid: u32) -> io::Result<Option<String>> {
    let mut buffer: Vec<c_char> = vec![0; 1024];
    loop {
        let mut entry = MaybeUninit::<libc::passwd>::uninit();
        let mut found = std::ptr::null_mut();
        // SAFETY: an entry and a buffer of the given length to write to; `found` is null, or points to the entry, whose name
        // then lies in the buffer and ends with a null byte.
        let (error, name) = unsafe {
            let error = libc::getpwuid_r(
                uid,
                entry.as_mut_ptr(),
                buffer.as_mut_ptr(),
                buffer.len(),
                &mut found,
            );
            let name = (error == 0 && !found.is_null()).then(|| {
                CStr::from_ptr((*found).pw_name)
                    .to_string_lossy()
                    .into_owned()
            });
            (error, name)
        };
        match error {
            0 => return Ok(name),
            libc::ERANGE if buffer.len() < LONGEST => buffer.resize(buffer.len() * 4, 0),
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}
