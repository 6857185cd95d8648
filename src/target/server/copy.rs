//! A server on a copy of a user's server: it reaches nothing of the original.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use pgfsbench_core::target::{
    backup,
    original::{REMOVED, SLOTS, TABLESPACES, Tablespace, hba},
};

use super::TargetServer;
use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::libpq::{CheckInterrupts, Connection},
};

/// How long the first start of a copy may take: it replays the WAL that was written while the copy was made.
const FIRST_START: Duration = Duration::from_secs(24 * 60 * 60);

impl TargetServer {
    /// The server in a directory that ends with `end` until it is renamed.
    pub fn ending_with(mut self, end: &str) -> Self {
        self.directory.set_extension(end);
        self
    }

    /// Has pg_basebackup make the data directory, by this command, from a server of this operating system user.
    pub fn back_up(
        &self,
        argv: &[String],
        user: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        let mut command = self.command(Path::new(&argv[0]), "pg_basebackup")?;
        command.args(&argv[1..]).env("PGREQUIREPEER", user);
        let done = self.run(command, "pg_basebackup", check_interrupts);
        done.map_err(|fault| match fault.sqlstate == sqlstate::SYSTEM {
            true => Fault {
                message: "could not copy this server".into(),
                ..fault
            }
            .hint("The program pg_basebackup connects by the local socket: pg_hba.conf has to let the operating system user in for replication, max_wal_senders has to leave room for two, and max_replication_slots for one."),
            false => fault,
        })
    }

    /// The output of pg_controldata for a data directory; `name` is that of its files.
    pub fn control(
        &self,
        bindir: &Path,
        data: &Path,
        name: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<String, Fault> {
        let mut command = self.command(&bindir.join("pg_controldata"), name)?;
        command.arg("-D").arg(data);
        self.run(command, name, check_interrupts)?;
        let mut text = String::new();
        for end in ["err", "out"] {
            let path = self.directory.join(format!("{name}.{end}"));
            text += &fs::read_to_string(&path).map_err(|e| of_file("read", &path, &e))?;
        }
        Ok(text)
    }

    /// Has pg_verifybackup compare the copy of a backup with its manifest. WAL is read by the server that recovers the copy.
    pub fn verify_backup(
        &self,
        bindir: &Path,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        let mut command = self.command(&bindir.join("pg_verifybackup"), "verify")?;
        command.args(["--no-parse-wal", "--quiet"]).arg(self.data());
        let done = self.run(command, "verify", check_interrupts);
        done.map_err(|fault| match fault.sqlstate == sqlstate::SYSTEM {
            true => Fault {
                sqlstate: sqlstate::CORRUPTED.into(),
                message: "the backup is not as its manifest says".into(),
                ..fault
            }
            .hint("Make another backup: files are missing, or others than when it was made."),
            false => fault,
        })
    }

    /// Has pg_waldump look for tablespaces that recovery would make or drop: outside of the copy, where the original may have its own.
    pub fn check_wal(
        &self,
        bindir: &Path,
        names: &[String],
        segment_bytes: u64,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        let wal = self.data().join("pg_wal");
        for (file, next) in backup::wal_files(names, segment_bytes) {
            let name = format!("wal-{file}");
            let mut command = self.command(&bindir.join("pg_waldump"), &name)?;
            command.args(["--rmgr=Tablespace", "--limit=1", "--path"]);
            command.arg(&wal).arg(&file).args(next);
            let done = self.run(command, &name, check_interrupts);
            // The error may be one of this machine, or an interrupt.
            if done
                .as_ref()
                .is_err_and(|fault| fault.sqlstate != sqlstate::SYSTEM)
            {
                return done;
            }
            let [records, said] = ["out", "err"].map(|end| {
                let path = self.directory.join(format!("{name}.{end}"));
                let text = fs::read(&path).map_err(|e| of_file("read", &path, &e))?;
                remove_any(&path)?;
                Ok::<_, Fault>(String::from_utf8_lossy(&text).into_owned())
            });
            let failure = done.err().map(|fault| match &said {
                Ok(said) if !said.trim().is_empty() => said.clone(),
                _ => fault.detail.unwrap_or(fault.message),
            });
            backup::check_wal(&file, &records?, failure.as_deref())?;
        }
        Ok(())
    }

    /// Forbids or allows new entries in the directory of a copy's tablespaces, by its mode.
    pub fn close_tablespaces(&self, are_closed: bool) -> Result<(), Fault> {
        let path = self.data().join(TABLESPACES);
        let mode = if are_closed { 0o500 } else { 0o700 };
        let set = fs::set_permissions(&path, fs::Permissions::from_mode(mode));
        set.map_err(|e| of_file("set the mode of", &path, &e))
    }

    /// Puts the tablespaces of a copy into its data directory.
    pub fn take_in(&self, tablespaces: &[Tablespace]) -> Result<(), Fault> {
        let all = self.data().join(TABLESPACES);
        for tablespace in tablespaces {
            let (from, to) = (
                tablespace.copied_to(&self.directory),
                all.join(tablespace.oid.to_string()),
            );
            remove_any(&to)?;
            fs::rename(&from, &to).map_err(|e| of_file("rename", &from, &e))?;
        }
        check_tablespaces(&self.data())
    }

    /// Takes from a copy what is the original's own, and lets in nothing but the operating system user. `removed` are further paths below the data
    /// directory.
    pub fn cut_off(&self, removed: &[PathBuf], user: &str) -> Result<(), Fault> {
        let data = self.data();
        let named = removed.iter().map(PathBuf::as_path);
        for path in REMOVED.map(Path::new).into_iter().chain(named) {
            remove_any(&data.join(path))?;
        }
        let slots = data.join(SLOTS);
        for slot in entries(&slots)? {
            remove_any(&slot)?;
        }
        // Settings are in postgresql.auto.conf alone.
        for (name, contents) in [
            ("postgresql.conf", String::new()),
            ("pg_ident.conf", String::new()),
            ("pg_hba.conf", hba(user)),
        ] {
            let path = data.join(name);
            fs::write(&path, contents).map_err(|e| of_file("write", &path, &e))?;
        }
        Ok(())
    }

    /// Starts a copy for the first time, and waits until it has recovered.
    pub fn start_copy(
        &self,
        bindir: &Path,
        user: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        self.start_within(FIRST_START, bindir, user, check_interrupts)
    }
}

/// Refuses the data directory of a copy if a link leads from its tablespaces out of it: a server there would write the original's files.
pub fn check_tablespaces(data: &Path) -> Result<(), Fault> {
    let is_outside = |path: &PathBuf| path.is_symlink() || !path.is_dir();
    let tablespaces = entries(&data.join(TABLESPACES))?;
    match tablespaces.into_iter().find(is_outside) {
        None => Ok(()),
        Some(path) => Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "a tablespace is outside of the copy",
        )
        .detail(format!(
            "\"{}\" is no directory: its files may be those of the server that was copied.",
            path.display()
        ))
        .hint("Drop the data with fsbench.drop_data(), and copy the server again.")),
    }
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, Fault> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(directory)?;
        entries.map(|entry| Ok(entry?.path())).collect()
    };
    read().map_err(|e| of_file("read directory", directory, &e))
}

/// Removes a file, a link or a directory. Nothing is wrong when there is none.
fn remove_any(path: &Path) -> Result<(), Fault> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    };
    removed.map_err(|e| of_file("remove", path, &e))
}
