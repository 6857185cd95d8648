//! Programs that run as the servers' owner: PostgreSQL refuses to run as root.

// A child makes a session of its own between fork and exec.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io::Error;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// The user that servers run as where it is another one: postgres, if this is root.
pub fn server_owner() -> Option<u32> {
    owner().map(|owner| owner.user)
}

struct Owner {
    user: u32,
    group: u32,
    /// All groups: the key of Debian's clusters can be read by the group ssl-cert only.
    groups: Vec<u32>,
}

fn owner() -> Option<&'static Owner> {
    static OWNER: OnceLock<Option<Owner>> = OnceLock::new();
    let found = OWNER.get_or_init(|| {
        let numbers = |what: &str| -> Vec<u32> {
            let id = Command::new("id").args([what, "postgres"]).output();
            let id = String::from_utf8(id.expect("id runs").stdout).expect("numbers");
            let numbers = id.split_whitespace().map(|number| number.parse());
            numbers
                .collect::<Result<_, _>>()
                .expect("there is a user postgres")
        };
        let is_root = rustix::process::geteuid().is_root();
        is_root.then(|| Owner {
            user: numbers("-u")[0],
            group: numbers("-g")[0],
            groups: numbers("-G"),
        })
    });
    found.as_ref()
}

/// A command that runs as the servers' owner, without the programs that would start it as that user.
pub(crate) fn as_server(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some(owner) = owner() {
        // SAFETY: these are system calls without memory or locks.
        unsafe {
            command.pre_exec(|| {
                // That user may trace the program, and would have the terminal of root's session.
                rustix::process::setsid()?;
                let failed = libc::setgroups(owner.groups.len(), owner.groups.as_ptr()) != 0
                    || libc::setgid(owner.group) != 0
                    || libc::setuid(owner.user) != 0;
                match failed {
                    true => Err(Error::last_os_error()),
                    false => Ok(()),
                }
            });
        }
    }
    // The postmaster would hand it on, and the extension's errors would carry a backtrace in their DETAIL.
    command.env_remove("RUST_BACKTRACE").current_dir("/");
    command
}
