//! Programs that run in a target server's directory, and what they said.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use pgfsbench_core::target::{inherited::handed_on, server_log::excerpt};
use rustix::process::Signal;

use super::TargetServer;
use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::{libpq::CheckInterrupts, process},
};

impl TargetServer {
    /// A program that works in the directory, by which it is found should this process die, and whose output is there.
    pub(super) fn command(&self, program: &Path, name: &str) -> Result<Command, Fault> {
        self.command_with_output(program, &self.directory.join(name))
    }

    /// Such a program, whose output is in files of this path, with an end.
    pub(super) fn command_with_output(
        &self,
        program: &Path,
        files: &Path,
    ) -> Result<Command, Fault> {
        let output = |end: &str| {
            let path = files.with_extension(end);
            // A new file, so that no link of another user is followed.
            OpenOptions::new()
                .append(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
                .map_err(|e| of_file("create", &path, &e))
        };
        let mut command = in_own_environment(program);
        command
            .current_dir(&self.directory)
            .stdout(output("out")?)
            .stderr(output("err")?);
        Ok(command)
    }

    pub(super) fn run(
        &self,
        mut command: Command,
        name: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        let program = PathBuf::from(command.get_program());
        let mut child =
            process::spawn_bound(&mut command, Signal::TERM).map_err(|e| not_run(&program, &e))?;
        let status = loop {
            let ended = child
                .try_wait()
                .map_err(|e| of_file("wait for", &program, &e))?;
            match ended {
                Some(status) => break status,
                None => process::wait(Duration::from_millis(20)),
            }
            if let Err(fault) = check_interrupts() {
                let _ = child.kill();
                let _ = child.wait();
                return Err(fault);
            }
        };
        if status.success() {
            return Ok(());
        }
        let said = ["err", "out"]
            .iter()
            .map(|end| end_of(&self.directory.join(format!("{name}.{end}"))))
            .find(|text| !text.trim().is_empty())
            .unwrap_or_default();
        Err(
            Fault::new(sqlstate::SYSTEM, format!("{name} failed on the target")).detail(format!(
                "It ended with {status}, and said{}",
                match said.is_empty() {
                    true => " nothing.".to_owned(),
                    false => format!(": {}", excerpt(&said)),
                }
            )),
        )
    }
}

/// A program of a target in its environment, without input.
pub(super) fn in_own_environment(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    // This process's environment is that of the postmaster: a worker runs nothing of a session.
    for (name, value) in std::env::vars_os() {
        if let Some(value) = handed_on(&name, &value) {
            command.env(name, value);
        }
    }
    command
}

/// The error of a program that was not started: this machine lacks something, whatever is on the target.
pub(super) fn not_run(program: &Path, error: &io::Error) -> Fault {
    Fault {
        sqlstate: sqlstate::NO_RESOURCES.into(),
        ..of_file("run", program, error)
    }
}

/// The first of a file.
pub(super) fn beginning_of(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(64 << 10).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// The last of a file: enough for the log of a server that goes down, which says why long before its end.
pub(super) fn end_of(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(64 << 10);
        file.seek(io::SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}
