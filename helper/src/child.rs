//! Processes that are somebody else: this program again, which becomes the servers' user before it speaks with a server. Whoever
//! takes one over, or is that user already, finds nothing of root's in it: no terminal, no descriptor, no environment.

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

/// Where Linux has the program that runs.
pub const OWN_PROGRAM: &str = "/proc/self/exe";
/// What is taken of a line that it says.
const LONGEST_LINE: u64 = 8 << 10;

/// What it is to do.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Part {
    /// Take jobs from a database.
    Database,
    /// See for setup whether a server is there, and what it lacks.
    Visit,
}

/// Whom to become, and what for.
#[derive(clap::Args)]
pub struct Role {
    uid: u32,
    gid: u32,
    #[arg(value_enum)]
    part: Part,
    /// For tests: what does it instead.
    program: Option<PathBuf>,
}

/// What else it is handed: how to speak with it, and what is done with each line that it says.
pub struct Tie<'a> {
    pub stream: UnixStream,
    pub program: &'a Path,
    pub ids: (u32, u32),
}

/// Starts one. It has no environment but for where services and passwords are. What it says comes line by line, and the
/// receiver hangs up when it has said all.
pub fn start(
    part: Part,
    tie: Tie,
    hear: impl Fn(&[u8]) + Send + 'static,
) -> io::Result<(Child, Receiver<()>)> {
    let (uid, gid) = tie.ids;
    let name = match part {
        Part::Database => "database",
        Part::Visit => "visit",
    };
    let mut command = Command::new(OWN_PROGRAM);
    command
        .args(["_as", &uid.to_string(), &gid.to_string(), name])
        .env_clear()
        .env("LC_ALL", "C")
        .envs(
            connection::ENVIRONMENT
                .iter()
                .filter_map(|&name| Some((name, env::var_os(name)?))),
        )
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(tie.stream)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    if tie.program != Path::new(OWN_PROGRAM) {
        command.arg(tie.program);
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

/// A line without end is cut, so that nobody's memory is filled.
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

/// Becomes somebody else, for good: as root, and before there is a second thread. What it is to do then.
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
    // First, while nobody else may touch this process: who could trace it would type on root's terminal.
    setsid()?;
    set_no_new_privs(true)?;
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    // The change of the user has set it anew. Until the next exec nobody traces this process or reads its memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
