//! Which programs and which operating system user servers on targets have.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use pgfsbench_core::target::commands;
use rustix::process::Signal;

use super::program::{in_own_environment, not_run};
use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::{passwd, process, sql},
    target::Target,
};

/// Programs of a target's server.
pub struct Programs {
    /// Their directory.
    pub bindir: PathBuf,
    /// Superuser of the server; the programs run as this user.
    pub user: String,
}

impl Programs {
    /// Programs of that target. In a transaction.
    pub fn of(target: &Target) -> Result<Self, Fault> {
        let bindir = match &target.bindir {
            Some(bindir) => bindir.clone(),
            None => server_bindir()?,
        };
        Ok(Self {
            bindir,
            user: operating_system_user()?,
        })
    }

    /// The major version of the programs; None where they do not tell.
    pub fn major(&self) -> Result<Option<u32>, Fault> {
        let argv = commands::version(&self.bindir);
        let program = Path::new(&argv[0]);
        let mut command = in_own_environment(program);
        command.args(&argv[1..]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let child =
            process::spawn_bound(&mut command, Signal::KILL).map_err(|e| not_run(program, &e))?;
        let output = child
            .wait_with_output()
            .map_err(|e| of_file("wait for", program, &e))?;
        Ok(commands::major(&String::from_utf8_lossy(&output.stdout)))
    }
}

/// Directory of this server's programs.
pub fn server_bindir() -> Result<PathBuf, Fault> {
    own_directory("BINDIR")
}

/// Directory of the libraries of this server's programs. In a transaction.
pub fn own_libraries() -> Result<PathBuf, Fault> {
    own_directory("PKGLIBDIR")
}

fn own_directory(name: &str) -> Result<PathBuf, Fault> {
    let text = sql::read(
        "SELECT setting FROM pg_config() WHERE name = $1",
        &[Some(name)],
    )?;
    Ok(PathBuf::from(text.unwrap_or_default()))
}

/// Whether this server's programs come with an extension that is also a library to be preloaded. In a transaction.
pub fn own_have(extension: &str) -> Result<bool, Fault> {
    Ok(have(
        &own_libraries()?,
        &own_directory("SHAREDIR")?,
        extension,
    ))
}

/// Whether such an extension is in these directories.
pub fn have(libraries: &Path, share: &Path, extension: &str) -> bool {
    let library = libraries.join(format!("{extension}.so"));
    let control = share.join("extension").join(format!("{extension}.control"));
    library.exists() && control.exists()
}

/// The superuser of target servers: who may connect there is decided by the operating system.
pub fn operating_system_user() -> Result<String, Fault> {
    let uid = rustix::process::geteuid().as_raw();
    passwd::name_of(uid)
        .map_err(|e| {
            Fault::new(
                sqlstate::SYSTEM,
                format!("could not look up the server's operating system user {uid}: {e}"),
            )
        })?
        .ok_or_else(|| {
            Fault::new(
                sqlstate::SYSTEM,
                format!("the server's operating system user {uid} has no name"),
            )
            .detail("Neither /etc/passwd nor another source of users (nsswitch.conf) knows it.")
            .hint("Give the user a name, in /etc/passwd or by nss_wrapper (LD_PRELOAD and NSS_WRAPPER_PASSWD in this server's environment): a target's server lets users in by their names.")
        })
}
