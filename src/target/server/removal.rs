//! The end of a target server: its processes, its directories, and whose they are.

use std::{
    fs::{self, File},
    io,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use pgfsbench_core::target::commands;
use rustix::{
    fs::{AtFlags, CWD, StatxFlags, statx},
    process::{Pid, Signal, kill_process},
};
use serde::{Deserialize, Serialize};

use super::{TargetServer, shared_memory};
use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::{process, report, session},
    target,
};

/// How long its processes may take to end before they are killed, and the removal of files that go with their filesystem anyway.
pub(super) const STOP: Duration = Duration::from_secs(60);

/// The asking server's data directory: which one of which machine. A copy of that server has a copy of the journal, and must
/// leave alone what is not its own. A device number would not do: it can be another one after a reboot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    machine: String,
    inode: u64,
    born_ns: i128,
}

impl Owner {
    /// The identity of this data directory, now.
    pub fn of(directory: &Path) -> io::Result<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        let found = statx(CWD, directory, AtFlags::empty(), wanted)?;
        let born = found.stx_btime;
        Ok(Self {
            machine: fs::read_to_string("/etc/machine-id")
                .unwrap_or_default()
                .trim()
                .to_owned(),
            inode: found.stx_ino,
            born_ns: i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec),
        })
    }
}

impl TargetServer {
    /// Whether it was made by this data directory's server, and not by one of which that is a copy.
    fn is_own(&self) -> Result<bool, Fault> {
        let own = session::data_directory();
        let owner = Owner::of(&own).map_err(|e| of_file("look at", &own, &e))?;
        Ok(owner == self.owner)
    }

    /// Ends whatever runs in the directory. Nothing is wrong when there is nothing.
    pub fn stop(&self) -> Result<(), Fault> {
        if !self.is_own()? {
            return Ok(());
        }
        self.end_processes()?;
        if let Err(error) = shared_memory::remove_left(&self.data()) {
            let path = self.data();
            report::log_warning(&of_file("remove shared memory of", &path, &error));
        }
        Ok(())
    }

    /// Removes the directory, in which nothing runs any more. Nothing is wrong when there is nothing; false when its filesystem is
    /// not mounted now, so that what is on it is not known. `goes_with_filesystem`: the helper removes that next, and what cannot
    /// be removed here does not matter.
    pub fn remove(&self, goes_with_filesystem: bool) -> Result<bool, Fault> {
        let mut is_known = true;
        if self.is_own()? {
            if goes_with_filesystem {
                self.remove_what_goes_anyway();
            } else if self.is_reachable() {
                remove_tree(&self.directory)?;
            } else {
                is_known = false;
                report::log_warning(
                    &Fault::new(
                        sqlstate::NOT_IN_THIS_STATE,
                        format!(
                            "directory \"{}\" of an earlier benchmark run is not reachable",
                            self.directory.display()
                        ),
                    )
                    .detail("Its filesystem is not mounted where it was.")
                    .hint("It is removed at the next start of the server at which it is mounted."),
                );
            }
        } else if self.directory.exists() {
            report::log_warning(
                &Fault::new(
                    sqlstate::NOT_IN_THIS_STATE,
                    format!(
                        "directory \"{}\" of an earlier benchmark run is left alone",
                        self.directory.display()
                    ),
                )
                .detail("It was made by a server of which this one is a copy, or that was moved.")
                .hint("Remove it by hand when no server uses it."),
            );
        }
        remove_tree(&self.socket_directory())?;
        Ok(is_known)
    }

    /// Removes files that go with their filesystem, so that unmounting it need not write what of them is in memory only. By a program, which
    /// can be given up: it may have to wait for a disk that does not answer.
    fn remove_what_goes_anyway(&self) {
        let argv = commands::remove(&self.directory);
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = process::spawn_bound(&mut command, Signal::KILL) else {
            return;
        };
        let began = Instant::now();
        // A failure changes nothing, on a read-only filesystem for instance: the files stay as they were.
        while matches!(child.try_wait(), Ok(None)) {
            if began.elapsed() > STOP {
                let _ = child.kill();
                return;
            }
            process::wait(Duration::from_millis(5));
        }
    }

    /// Whether the directory is there, or is known not to be: its filesystem is mounted.
    fn is_reachable(&self) -> bool {
        let now = self.directory.parent().and_then(target::mount_point);
        self.directory.exists() || self.mount_point.is_none() || now == self.mount_point
    }

    /// Ends its processes: the postmaster by an immediate shutdown, since its data are removed, or what else is there.
    fn end_processes(&self) -> Result<(), Fault> {
        let began = Instant::now();
        let mut asked = Vec::new();
        loop {
            let left = self.processes()?;
            if left.is_empty() {
                return Ok(());
            }
            let signal = match began.elapsed() {
                t if t > STOP * 2 => {
                    return Err(Fault::new(
                        sqlstate::SYSTEM,
                        "the processes of the target server do not end",
                    )
                    .detail(format!("They are {left:?}.")));
                }
                t if t > STOP => Signal::KILL,
                _ => Signal::QUIT,
            };
            for pid in left {
                if (signal == Signal::KILL || !asked.contains(&pid))
                    && let Some(process) = Pid::from_raw(pid)
                {
                    asked.push(pid);
                    // It may have ended just now, which is what is wanted.
                    let _ = kill_process(process, signal);
                }
            }
            process::wait(Duration::from_millis(20));
        }
    }

    /// Processes that work in the directory: a PostgreSQL process stays in its data directory from its first moment to its last. They are
    /// known by the random mark in its name: once the filesystem is unmounted lazily, the kernel no longer tells what is above it.
    pub(super) fn processes(&self) -> Result<Vec<i32>, Fault> {
        let proc = Path::new("/proc");
        let entries = fs::read_dir(proc).map_err(|e| of_file("read", proc, &e))?;
        Ok(entries
            .flatten()
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
                self.is_within(&cwd).then_some(pid)
            })
            .collect())
    }
}

impl TargetServer {
    /// Whether a path leads into the directory, wherever its filesystem is mounted.
    fn is_within(&self, path: &Path) -> bool {
        let name = self.directory.file_name();
        name.is_some() && path.iter().any(|part| Some(part) == name)
    }

    /// Whether it was put on this place.
    pub fn is_on(&self, place: &Path) -> bool {
        self.directory.parent() == Some(place)
    }
}

/// Removes a directory with what is in it, for good.
fn remove_tree(directory: &Path) -> Result<(), Fault> {
    match fs::remove_dir_all(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(of_file("remove directory", directory, &e)),
        Ok(()) => {}
    }
    // The journal forgets it next, and must not do so first.
    directory
        .parent()
        .map_or(Ok(()), |parent| File::open(parent)?.sync_all())
        .map_err(|e| of_file("sync the parent of", directory, &e))
}
