//! A target server whose power is cut: the acknowledgments that its clients keep outside of the target, and its pages after a cut.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::TargetServer;
use crate::{
    errors::{Fault, of_file},
    pg::libpq::{CheckInterrupts, Connection},
};

/// The file in which a client keeps the times of its acknowledgments; the directory is that of the server's socket, which is not on the target.
pub fn acknowledgments_file(directory: &Path, client: u32) -> PathBuf {
    directory.join(format!("acknowledged.{client}"))
}

impl TargetServer {
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
