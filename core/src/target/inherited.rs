//! The environment of the programs that a server starts for a target: nothing but what they need to find their libraries and
//! their user's name.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The beginning of the names of nss_wrapper's own variables.
const WRAPPER: &[u8] = b"NSS_WRAPPER_";
/// The library of nss_wrapper, which gives a name to a user whom the operating system does not know.
const LIBRARY: &[u8] = b"libnss_wrapper.so";

/// The value with which a variable of the server's environment is handed on; None for one that is not.
pub fn handed_on(name: &OsStr, value: &OsStr) -> Option<OsString> {
    match name.as_bytes() {
        b"LD_LIBRARY_PATH" => Some(value.to_owned()),
        b"LD_PRELOAD" => wrapper_in(value),
        name => name.starts_with(WRAPPER).then(|| value.to_owned()),
    }
}

/// The library of nss_wrapper in a list of libraries. Others are no program's business.
fn wrapper_in(preloaded: &OsStr) -> Option<OsString> {
    let mut libraries = preloaded
        .as_bytes()
        .split(|byte| *byte == b':' || byte.is_ascii_whitespace());
    let is_wrapper = |path: &&[u8]| {
        let name = path.rsplit(|byte| *byte == b'/').next();
        name.is_some_and(|name| name.starts_with(LIBRARY))
    };
    let found = libraries.find(is_wrapper)?;
    Some(OsString::from_vec(found.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(name: &str, value: &str) -> Option<String> {
        let value = handed_on(OsStr::new(name), OsStr::new(value))?;
        value.into_string().ok()
    }

    #[test]
    fn the_users_name_and_the_libraries() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            handed("NSS_WRAPPER_PASSWD", "/tmp/passwd"),
            some("/tmp/passwd")
        );
        assert_eq!(
            handed("NSS_WRAPPER_GROUP", "/tmp/group"),
            some("/tmp/group")
        );
        assert_eq!(handed("LD_LIBRARY_PATH", "/opt/lib"), some("/opt/lib"));
        assert_eq!(
            handed("LD_PRELOAD", "libnss_wrapper.so"),
            some("libnss_wrapper.so")
        );
        for list in [
            "/usr/lib/libjemalloc.so.2:/usr/lib64/libnss_wrapper.so.0",
            "/usr/lib64/libnss_wrapper.so.0 /usr/lib/libjemalloc.so.2",
        ] {
            assert_eq!(
                handed("LD_PRELOAD", list),
                some("/usr/lib64/libnss_wrapper.so.0")
            );
        }
    }

    #[test]
    fn nothing_else() {
        for (name, value) in [
            ("LD_PRELOAD", "/usr/lib/libjemalloc.so.2"),
            ("LD_PRELOAD", ""),
            ("LD_PRELOAD", "/libnss_wrapper.so/other.so"),
            ("LD_AUDIT", "libnss_wrapper.so"),
            ("PATH", "/bin"),
            ("PGDATA", "/data"),
            ("PGPASSWORD", "secret"),
            ("XNSS_WRAPPER_PASSWD", "/tmp/passwd"),
        ] {
            assert_eq!(handed(name, value), None, "{name}={value}");
        }
    }
}
