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
    Ok(user_of(uid)?.map(|(name, _)| name))
}

/// Name and first group of a user.
fn user_of(uid: u32) -> io::Result<Option<(String, u32)>> {
    entry_of::<libc::passwd, _>(
        // SAFETY: an entry, and a buffer of the given length to write to.
        |entry, buffer, length, found| unsafe {
            libc::getpwuid_r(uid, entry, buffer, length, found)
        },
        // SAFETY: a text of an entry that was found.
        |entry| (unsafe { text(entry.pw_name) }, entry.pw_gid),
    )
}

/// The name of a group; None when it has none.
pub fn group_name(gid: u32) -> io::Result<Option<String>> {
    entry_of::<libc::group, _>(
        // SAFETY: an entry, and a buffer of the given length to write to.
        |entry, buffer, length, found| unsafe {
            libc::getgrgid_r(gid, entry, buffer, length, found)
        },
        // SAFETY: a text of an entry that was found.
        |entry| unsafe { text(entry.gr_name) },
    )
}

/// Hands each entry to `take` until there is none. A list that ends with an error is not complete.
fn each<E>(next: impl Fn() -> *mut E, mut take: impl FnMut(&E)) -> io::Result<()> {
    loop {
        // SAFETY: the error number of this thread.
        unsafe { *libc::__errno_location() = 0 };
        let entry = next();
        if !entry.is_null() {
            // SAFETY: it stays until the next call.
            take(unsafe { &*entry });
            continue;
        }
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            // There is no such file, and so no entry in it.
            Some(0 | libc::ENOENT) => Ok(()),
            _ => Err(error),
        };
    }
}

/// Members of a group but root and the user `own`, as far as the system lists them: those that any entry of that number lists, and
/// the users whose first group it is.
pub fn members_of(gid: u32, own: u32) -> io::Result<Vec<String>> {
    let mut others = Vec::new();
    let mut known = vec!["root".to_owned()];
    // SAFETY: nothing else in this process, which has one thread, goes through users and groups; texts of an entry end with null
    // bytes, and a null pointer ends the list of a group's members.
    unsafe {
        libc::setgrent();
        let groups = each(
            || libc::getgrent(),
            |group| {
                let mut next = group.gr_mem;
                while group.gr_gid == gid && !next.is_null() && !(*next).is_null() {
                    others.push(text(*next));
                    next = next.add(1);
                }
            },
        );
        libc::endgrent();
        groups?;
        libc::setpwent();
        let users = each(
            || libc::getpwent(),
            |user| match user.pw_uid {
                uid if uid == 0 || uid == own => known.push(text(user.pw_name)),
                _ if user.pw_gid == gid => others.push(text(user.pw_name)),
                _ => {}
            },
        );
        libc::endpwent();
        users?;
    }
    known.extend(name_of(own)?);
    others.retain(|name| !known.contains(name));
    others.sort();
    others.dedup();
    Ok(others)
}

/// Whether a group is the private one of a user: the first group, with the user's name.
pub fn is_private(gid: u32, user: u32) -> io::Result<bool> {
    let group = group_name(gid)?;
    let user = user_of(user)?;
    Ok(user.is_some_and(|(name, first)| first == gid && group == Some(name)))
}
