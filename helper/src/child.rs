//! Child processes that run as another user: this program again, which becomes the servers' user before it speaks with a server.
//! It has nothing of root's that this user could take: no terminal, no descriptor, no environment.

use crate::connection;
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::process::{DumpableBehavior, Gid, Uid, set_dumpable_behavior, setsid};
use rustix::thread::{set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Linux' name for the program that runs.
pub const OWN_PROGRAM: &str = "/proc/self/exe";
/// The longest line that is taken from a child, in bytes.
const LONGEST_LINE: u64 = 8 << 10;

/// The task of a child.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Part {
    /// Take jobs from a database.
    Database,
    /// For setup: see whether a server is there, and what it lacks.
    Visit,
}

/// The arguments of `_as`: the user to become, and the task.
#[derive(clap::Args)]
pub struct Role {
    uid: u32,
    gid: u32,
    #[arg(value_enum)]
    part: Part,
    /// For tests: a program that is run instead.
    program: Option<PathBuf>,
}

/// A child's stream to its parent, its program, and the user and group that it becomes.
pub struct ChildSetup<'a> {
    pub stream: UnixStream,
    pub program: &'a Path,
    pub ids: (u32, u32),
}

/// Starts a child. Its environment has only the variables for services and passwords. `hear` gets each line that it prints; the
/// receiver hangs up after the last one.
pub fn start(
    part: Part,
    setup: ChildSetup,
    hear: impl Fn(&[u8]) + Send + 'static,
) -> io::Result<(Child, Receiver<()>)> {
    let (uid, gid) = setup.ids;
    let name = match part {
        Part::Database => "database",
        Part::Visit => "visit",
    };
    let mut command = Command::new(OWN_PROGRAM);
    command
        .args(["_as", &uid.to_string(), &gid.to_string(), name])
        .env_clear()
        .env("LC_ALL", "C")
        .envs(env::var_os(connection::PASSFILE).map(|file| (connection::PASSFILE, file)))
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(setup.stream)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    if setup.program != Path::new(OWN_PROGRAM) {
        command.arg(setup.program);
    }
    let mut child = command.spawn()?;
    let (hung, up) = channel();
    if let Some(said) = child.stderr.take() {
        thread::spawn(move || {
            listen(said, hear);
            drop(hung);
        });
    }
    Ok((child, up))
}

/// Cuts a line without end, so that it cannot fill the memory.
fn listen(from: ChildStderr, hear: impl Fn(&[u8])) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = Read::take(&mut from, LONGEST_LINE);
        match limited.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => hear(line.strip_suffix(b"\n").unwrap_or(&line)),
        }
    }
}

/// Becomes another user, for good. Call it as root, and before there is a second thread. Returns the task.
pub fn become_other(role: &Role) -> Result<Part, Refusal> {
    if role.uid == 0 {
        return Err(
            Refusal::new(Kind::NotAllowed, "this part never runs as root")
                .hint("Run pgfsbench-helper serve, which starts it."),
        );
    }
    let failed = |e: io::Error| {
        Refusal::new(Kind::System, "could not become another user").detail(format!("{e}."))
    };
    confine(Uid::from_raw(role.uid), Gid::from_raw(role.gid))
        .map_err(|e| failed(io::Error::from(e)))?;
    match &role.program {
        Some(program) => Err(failed(Command::new(program).arg("_database").exec())),
        None => Ok(role.part),
    }
}

fn confine(uid: Uid, gid: Gid) -> rustix::io::Result<()> {
    // First, while no other user may touch this process: a tracer could type on root's terminal.
    setsid()?;
    set_no_new_privs(true)?;
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    // The change of the user has set it anew. Until the next exec no process can trace this one or read its memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
