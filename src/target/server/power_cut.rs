//! A target server whose power is cut: the acknowledgments that its clients keep outside of the target, and its pages after a cut.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use pgfsbench_core::helper::record::FaultOn;

use super::{TargetServer, crash::Recovered};
use crate::{
    errors::{Fault, of_file},
    pg::libpq::{CheckInterrupts, Connection},
};

/// The file in which a client keeps the times of its acknowledgments; the directory is that of the server's socket, which is not on the target.
pub fn acknowledgments_file(directory: &Path, client: u32) -> PathBuf {
    directory.join(format!("acknowledged.{client}"))
}

/// For a server under which the disk fails: its end is seen, and is not undone by itself.
const FOR_ERRORS: &str = "restart_after_crash = off\n";

impl TargetServer {
    /// The log of a server under which an operation of the disk fails: the target itself may take no more writes then.
    fn error_log(&self, on: FaultOn) -> PathBuf {
        self.socket_directory()
            .join(format!("error-{}", on.as_str()))
    }

    /// Starts the server on a cut, so that an operation of the disk can fail under it.
    pub fn start_to_fail(
        &self,
        bindir: &Path,
        session: (&str, &str),
        on: FaultOn,
        check_interrupts: CheckInterrupts,
    ) -> Result<Recovered, Fault> {
        let file = self.settings_file();
        OpenOptions::new()
            .append(true)
            .open(&file)
            .and_then(|mut file| file.write_all(FOR_ERRORS.as_bytes()))
            .map_err(|e| of_file("write", &file, &e))?;
        self.recover_with_log(bindir, session, "", &self.error_log(on), check_interrupts)
    }

    /// The log of that server.
    pub fn log_until_error(&self, on: FaultOn) -> Result<String, Fault> {
        let path = self.error_log(on).with_extension("err");
        let text = fs::read(&path).map_err(|e| of_file("read", &path, &e))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Has everything on its filesystem on disk, so that the next write is that of a commit.
    pub fn sync_before_error(&self, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        self.run_sync("sync-error", check_interrupts)
    }

    /// The files of acknowledgments of all clients. A client that never began has none.
    pub fn acknowledgments(&self, clients: u32) -> Result<Vec<Vec<u8>>, Fault> {
        let read = |client| {
            let path = acknowledgments_file(&self.socket_directory(), client);
            match fs::read(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(of_file("read", &path, &error))
                }
                other => Ok(other.unwrap_or_default()),
            }
        };
        (0..clients).map(read).collect()
    }

    /// Connects to a database of the server.
    pub fn connect_to(
        &self,
        user: &str,
        database: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        self.connect(user, database, check_interrupts)
    }

    /// Has all that was written without fsync on disk.
    pub fn sync_after_control(&self, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        self.run_sync("sync-control", check_interrupts)
    }

    /// Removes the file of the postmaster that has ended with the power: by now its number may be that of another process.
    pub fn forget_postmaster(&self) -> Result<(), Fault> {
        let path = self.data().join("postmaster.pid");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(of_file("remove", &path, &error))
            }
            _ => Ok(()),
        }
    }

    /// Shuts the server down, and has pg_checksums read all of its pages.
    pub fn check_pages(
        &self,
        bindir: &Path,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        self.shut_down(bindir, check_interrupts)?;
        let mut command = self.command(&bindir.join("pg_checksums"), "pg_checksums")?;
        command.args(["--check", "-D"]).arg(self.data());
        self.run(command, "pg_checksums", check_interrupts)
    }
}
