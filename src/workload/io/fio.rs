//! One process of fio: started on a job file of ours in the directory of the run, with an empty environment, and killed when its owner
//! gives it up or dies.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use pgfsbench_core::workload::io::{
    document::{self, Measured},
    failure::Ended,
    job::Job,
};
use rustix::{
    fs::OFlags,
    process::{Pid, Signal, kill_process_group},
};

use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::process,
};

/// Bytes of messages that are read.
const MOST_MESSAGES: u64 = 65_536;
/// Bytes of a log that are read: a week of seconds, with room.
pub const MOST_LOG: u64 = 64 << 20;

/// Names of the files in the directory of the run, beside those of the jobs.
const JOBS: &str = "jobs.fio";
const DOCUMENT: &str = "document.json";
const MESSAGES: &str = "messages";

/// A process of fio that runs, or has ended.
pub struct Fio {
    child: Child,
    directory: PathBuf,
    status: Option<ExitStatus>,
}

impl Fio {
    /// Starts it on the jobs of a job file.
    pub fn start(program: &Path, directory: &Path, jobs: &str) -> Result<Self, Fault> {
        let write = |name: &str| {
            let path = directory.join(name);
            let open = || -> io::Result<File> {
                // The run starts fio twice. A new file is no link that was put in its place.
                match fs::remove_file(&path) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                    _ => {}
                }
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(0o600).open(&path)
            };
            open().map_err(|e| of_file("write file", &path, &e))
        };
        io::Write::write_all(&mut write(JOBS)?, jobs.as_bytes())
            .map_err(|e| of_file("write file", &directory.join(JOBS), &e))?;
        drop(write(DOCUMENT)?);
        let messages = write(MESSAGES)?;
        let of_errors = messages
            .try_clone()
            .map_err(|e| of_file("open file", &directory.join(MESSAGES), &e))?;
        let mut command = Command::new(program);
        command
            .arg(format!("--output={DOCUMENT}"))
            .args(["--output-format=json+", JOBS])
            .env_clear()
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(messages)
            .stderr(of_errors);
        let child = process::spawn_bound(&mut command, Signal::KILL).map_err(|e| {
            Fault::new(sqlstate::SYSTEM, format!("could not start fio: {e}"))
                .detail(format!("The program is \"{}\".", program.display()))
        })?;
        Ok(Self {
            child,
            directory: directory.to_owned(),
            status: None,
        })
    }

    /// Process id of fio.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(0)
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> Result<bool, Fault> {
        if self.status.is_none() {
            self.status = self.child.try_wait().map_err(|e| {
                Fault::new(sqlstate::SYSTEM, format!("could not wait for fio: {e}"))
            })?;
        }
        Ok(self.status.is_some())
    }

    /// How it has ended.
    fn ended(&self) -> Ended {
        let is_success = self.status.is_some_and(|status| status.success());
        let output = match is_success {
            true => Vec::new(),
            false => [MESSAGES, DOCUMENT]
                .map(|name| self.read(name, MOST_MESSAGES).unwrap_or_default())
                .concat(),
        };
        Ended {
            is_success,
            is_killed: self.status.is_some_and(|status| status.code().is_none()),
            status: self.status.map(|s| s.to_string()).unwrap_or_default(),
            output: String::from_utf8_lossy(&output).into_owned(),
        }
    }

    /// Refuses an end that is no success.
    pub fn check(&self) -> Result<(), Fault> {
        Ok(self.ended().check()?)
    }

    /// The figures of these jobs, from its end and the document that it has written.
    pub fn measured(&self, jobs: &[Job]) -> Result<Vec<Measured>, Fault> {
        let document = self.read(DOCUMENT, document::MOST_BYTES)?;
        Ok(document::of_ended(&self.ended(), &document, jobs)?)
    }

    /// A file in its directory, up to so many bytes. A symbolic link is none.
    pub fn read(&self, name: &str, most: u64) -> Result<Vec<u8>, Fault> {
        let path = self.directory.join(name);
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            if fs::symlink_metadata(&path)?.is_file() {
                let mut options = OpenOptions::new();
                let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
                let file = options.read(true).custom_flags(no_link).open(&path)?;
                file.take(most).read_to_end(&mut bytes)?;
            }
            Ok(bytes)
        };
        read().map_err(|e| of_file("read file", &path, &e))
    }
}

impl Drop for Fio {
    /// Kills it with everything that it may have started, and waits for its end: nothing writes files that are then removed.
    fn drop(&mut self) {
        if self.status.is_none() {
            if let Some(group) = Pid::from_raw(self.pid()) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}
