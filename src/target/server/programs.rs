//! Which programs and which operating system user servers on targets have.

use std::path::{Path, PathBuf};

use crate::{
    errors::{Fault, sqlstate},
    pg::{passwd, sql},
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
}

/// Directory of this server's programs.
pub fn server_bindir() -> Result<PathBuf, Fault> {
    let text = sql::read("SELECT setting FROM pg_config() WHERE name = 'BINDIR'", &[])?;
    Ok(Path::new(&text.unwrap_or_default()).to_path_buf())
}

/// Whether this server's programs come with an extension that is also a library to be preloaded. In a transaction.
pub fn own_have(extension: &str) -> Result<bool, Fault> {
    let directory = |name| {
        let text = sql::read(
            "SELECT setting FROM pg_config() WHERE name = $1",
            &[Some(name)],
        )?;
        Ok::<_, Fault>(PathBuf::from(text.unwrap_or_default()))
    };
    Ok(have(
        &directory("PKGLIBDIR")?,
        &directory("SHAREDIR")?,
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
