//! Names of the operating system's users and groups, from wherever it has them: /etc/passwd, LDAP, systemd.

use std::{
    ffi::{CStr, c_char},
    io,
    mem::MaybeUninit,
};

/// The longest entry that is looked at.
const LONGEST: usize = 1 << 20;

/// An entry that a function of the C library writes to `entry`, with its texts in a buffer; None when there is none. `look_up` gives an
/// error number, and `take` is called while the buffer is there.
fn entry_of<E, T>(
    mut look_up: impl FnMut(*mut E, *mut c_char, usize, *mut *mut E) -> i32,
    take: impl Fn(&E) -> T,
) -> io::Result<Option<T>> {
    let mut buffer: Vec<c_char> = vec![0; 1024];
    loop {
        let mut entry = MaybeUninit::<E>::uninit();
        let mut found = std::ptr::null_mut();
        let error = look_up(
            entry.as_mut_ptr(),
            buffer.as_mut_ptr(),
            buffer.len(),
            &mut found,
        );
        match error {
            // SAFETY: it points to the entry, which the function has written.
            0 if !found.is_null() => return Ok(Some(take(unsafe { &*found }))),
            0 => return Ok(None),
            libc::ERANGE if buffer.len() < LONGEST => buffer.resize(buffer.len() * 4, 0),
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// A text of an entry.
///
/// # Safety
/// It ends with a null byte.
unsafe fn text(pointer: *const c_char) -> String {
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}

/// The name of a user; None when it has none.
pub fn name_of(uid: u32) -> io::Result<Option<String>> {
    entry_of::<libc::passwd, _>(
        // SAFETY: an entry, and a buffer of the given length to write to.
        |entry, buffer, length, found| unsafe {
            libc::getpwuid_r(uid, entry, buffer, length, found)
        },
        // SAFETY: a text of an entry that was found.
        |entry| unsafe { text(entry.pw_name) },
    )
}

/// The name of a group; None when it has none.
pub fn group_name(gid: u32) -> io::Result<Option<String>> {
    Ok(group_of(gid)?.map(|(name, _)| name))
}

/// Name and listed members of a group.
fn group_of(gid: u32) -> io::Result<Option<(String, Vec<String>)>> {
    entry_of::<libc::group, _>(
        // SAFETY: an entry, and a buffer of the given length to write to.
        |entry, buffer, length, found| unsafe {
            libc::getgrgid_r(gid, entry, buffer, length, found)
        },
        |entry| {
            let mut members = Vec::new();
            let mut next = entry.gr_mem;
            // SAFETY: texts of an entry that was found; a null pointer ends the list of its members.
            unsafe {
                while !next.is_null() && !(*next).is_null() {
                    members.push(text(*next));
                    next = next.add(1);
                }
                (text(entry.gr_name), members)
            }
        },
    )
}

/// The members of a group but root and the user `own`: those that the group lists, and the users whose first group it is. A service of
/// users that does not list them (LDAP as many configure it) tells the former only.
pub fn members_of(gid: u32, own: u32) -> io::Result<Vec<String>> {
    let mut others = group_of(gid)?.map_or_else(Vec::new, |(_, members)| members);
    let mut known = vec!["root".to_owned()];
    // SAFETY: nothing else in this process, which has one thread, goes through the users; each entry stays until the next call.
    unsafe {
        libc::setpwent();
        loop {
            let entry = libc::getpwent();
            if entry.is_null() {
                break;
            }
            let name = text((*entry).pw_name);
            match (*entry).pw_uid {
                uid if uid == 0 || uid == own => known.push(name),
                _ if (*entry).pw_gid == gid => others.push(name),
                _ => {}
            }
        }
        libc::endpwent();
    }
    known.extend(name_of(own)?);
    others.retain(|name| !known.contains(name));
    others.sort();
    others.dedup();
    Ok(others)
}
