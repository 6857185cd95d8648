//! Programs that run as the servers' owner: PostgreSQL refuses to run as root.

// A child makes a session of its own between fork and exec.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// The user that servers run as where it is another one: postgres, if this is root.
pub fn server_owner() -> Option<u32> {
    owner().map(|(user, _)| user)
}

/// User and group.
fn owner() -> Option<(u32, u32)> {
    static OWNER: OnceLock<Option<(u32, u32)>> = OnceLock::new();
    *OWNER.get_or_init(|| {
        let number = |what: &str| -> u32 {
            let id = Command::new("id").args([what, "postgres"]).output();
            let id = String::from_utf8(id.expect("id runs").stdout).expect("a number");
            id.trim().parse().expect("there is a user postgres")
        };
        let is_root = rustix::process::geteuid().is_root();
        is_root.then(|| (number("-u"), number("-g")))
    })
}

/// A command that runs as the servers' owner, without the programs that would start it as that user.
pub(crate) fn as_server(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some((user, group)) = owner() {
        // Root's further groups are dropped with it.
        command.uid(user).gid(group);
        // SAFETY: setsid is a system call without memory or locks.
        unsafe {
            command.pre_exec(|| {
                // That user may trace the program, and would have the terminal of root's session.
                rustix::process::setsid()?;
                Ok(())
            });
        }
    }
    // The postmaster would hand it on, and the extension's errors would carry a backtrace in their DETAIL.
    command.env_remove("RUST_BACKTRACE").current_dir("/");
    command
}
