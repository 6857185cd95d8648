//! The helper on a terminal of root's: its processes of other users cannot reach that terminal, and no user can write to it.

use super::bench::Bench;
use super::lab::{Lab, write_program};
use super::processes::{self, Process};
use pgfsbench_tests::{LONG, Signal, server_owner, wait_until};
use rustix::process::{Pid, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{JoinHandle, spawn};
use tempfile::TempDir;

/// A program that has a terminal, as a root that has logged in: also on a descriptor that it has not asked for.
pub struct OnTerminal {
    child: Child,
    said: JoinHandle<String>,
}

impl OnTerminal {
    pub fn start(plain: &Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a terminal");
        grantpt(&master)
            .and_then(|()| unlockpt(&master))
            .expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let terminal = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name.to_str().expect("UTF-8"))
            .expect("the terminal");
        let end = || Stdio::from(terminal.try_clone().expect("a descriptor"));
        let child = Command::new("setsid")
            .args(["--ctty", "sh", "-c", "exec 7<>/dev/tty; exec \"$@\"", "sh"])
            .arg(plain.get_program())
            .args(plain.get_args())
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("setsid");
        Self {
            child,
            said: spawn(move || all_of(master)),
        }
    }

    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// Exit code, and what is to be read on the terminal.
    pub fn ends(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().expect("it ends").code();
        (code, self.said.join().expect("it was read"))
    }
}

/// Until no process has the terminal any more, which is an error.
fn all_of(master: OwnedFd) -> String {
    let (mut master, mut said, mut piece) = (File::from(master), Vec::new(), [0; 4096]);
    while let Ok(n @ 1..) = master.read(&mut piece) {
        said.extend_from_slice(&piece[..n]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

fn status(pid: i32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().trim().to_owned()
}

/// The number of its session, and of its controlling terminal.
fn session(pid: i32) -> (String, String) {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let (_, rest) = stat.rsplit_once(") ").expect("a state");
    let fields: Vec<&str> = rest.split(' ').collect();
    (fields[3].to_owned(), fields[4].to_owned())
}

/// The process that this one has started as the servers' user.
fn unprivileged(root: i32) -> Option<Process> {
    let owner = vec![server_owner().expect("root").to_string(); 4].join("\t");
    let mut children = processes::descendants(&[root]).into_iter();
    children.find(|child| status(child.pid, "Uid:") == owner)
}

fn as_owner(arguments: &[&str]) -> std::process::Output {
    let owner = server_owner().expect("root").to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &owner, "--clear-groups"]);
    command.args(arguments).output().expect("setpriv")
}

/// Nothing of it is on the terminal, and its user cannot get into it.
fn assert_apart(root: i32, child: i32) {
    let ((of_root, terminal), (own, none)) = (session(root), session(child));
    assert_ne!(terminal, "0", "the helper has a terminal");
    assert_ne!(own, of_root);
    assert_eq!(none, "0");
    assert_eq!(status(child, "NoNewPrivs:"), "1");
    assert_eq!(status(child, "Groups:"), "");
    let open = fs::read_dir(format!("/proc/{child}/fd")).expect("descriptors");
    let open = open
        .flatten()
        .filter_map(|fd| fs::read_link(fd.path()).ok());
    for path in open {
        assert!(
            !path.starts_with("/dev") || path == Path::new("/dev/null"),
            "{path:?}"
        );
    }
    // A process that may read these files may trace it.
    for file in ["environ", "mem", "fd/2"] {
        let output = as_owner(&["cat", &format!("/proc/{child}/{file}")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("ermission denied"), "{file}: {said}");
    }
}

#[test]
fn who_speaks_with_a_database_has_no_way_to_roots_terminal() {
    let Some(bench) = Bench::new("who_speaks_with_a_database_has_no_way_to_roots_terminal") else {
        return;
    };
    let helper = OnTerminal::start(&bench.lab.command(&["serve"]));
    let is_there = "SELECT EXISTS (SELECT FROM fsbench.helper_description)";
    bench.server.wait_for("postgres", is_there, LONG);
    let child = unprivileged(helper.pid()).expect("a process for the database");
    assert_apart(helper.pid(), child.pid);
    let root = Pid::from_raw(helper.pid()).expect("a pid");
    kill_process(root, Signal::TERM).expect("kill");
    assert_eq!(helper.ends().0, Some(0));
}

#[test]
fn who_looks_for_setup_has_no_way_to_roots_terminal() {
    let Some(bench) =
        Bench::with_extension("who_looks_for_setup_has_no_way_to_roots_terminal", &[])
    else {
        return;
    };
    let (sockets, port) = bench.server.socket();
    let setup = [
        "setup",
        "--no-unit",
        "--database",
        "postgres",
        "--socket",
        &sockets,
        "--port",
        &port,
    ];
    // It waits for an answer meanwhile.
    let postmaster = bench.server.postmaster();
    bench.server.signal(postmaster, Signal::STOP);
    let helper = OnTerminal::start(&bench.lab.command(&setup));
    let child = wait_until("setup asks the server", LONG, || {
        unprivileged(helper.pid()).filter(|child| is_connected(child.pid))
    });
    assert_apart(helper.pid(), child.pid);
    bench.server.signal(bench.server.postmaster(), Signal::CONT);
    let (code, said) = helper.ends();
    assert_eq!(code, Some(0), "{said}");
}

/// Whether it has more sockets than the one to root.
fn is_connected(pid: i32) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    let links = open.filter_map(|fd| fs::read_link(fd.path()).ok());
    let is_socket = |path: &std::path::PathBuf| path.to_string_lossy().starts_with("socket:");
    links.filter(is_socket).count() > 1
}

#[test]
fn whoever_takes_the_place_of_that_process_types_nothing_and_forges_nothing() {
    let test = "whoever_takes_the_place_of_that_process_types_nothing_and_forges_nothing";
    let Some(lab) = Lab::new(test) else {
        return;
    };
    let place = TempDir::with_prefix_in("pgfsbench-intruder.", pgfsbench_tests::scratch())
        .expect("a directory");
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).expect("chmod");
    chown(place.path(), server_owner(), None).expect("chown");
    let path = |name: &str| place.path().join(name);
    let script = format!(
        "#!/bin/sh\ncd {}\n\
         (echo forged > /dev/tty) 2> tty\n\
         for fd in 0 1 2 3 4 5 6 7 8 9; do readlink /proc/self/fd/$fd; done > fds\n\
         perl -e 'for (0..9) {{ open(F, \"+<&=\", $_) && ioctl(F, 0x5412, \"x\") && print \"typed $_\" }}' > typed 2> /dev/null\n\
         printf 'first\\n2026-11-22 10:00:00.000 UTC pgfsbench-helper: erased /dev/sda\\n\\033[2J\\302\\2331A\\342\\200\\256x\\377\\n' >&2\n\
         head -c 100000 /dev/zero | tr '\\0' y >&2\n",
        place.path().display()
    );
    write_program(&path("script"), &script);
    let program = path("script").display().to_string();
    let helper = OnTerminal::start(&lab.command(&["run-once", "--database-program", &program]));
    let (_, said) = helper.ends();
    let found = |name: &str| fs::read_to_string(path(name)).expect("it was written");
    assert!(found("tty").contains("/dev/tty"), "{}", found("tty"));
    assert!(!found("fds").contains("/dev/pts"), "{}", found("fds"));
    assert_eq!(found("typed"), "");
    // All that it says is a line that says who says it.
    assert!(!said.contains('\u{1b}') && !said.contains('\u{9b}') && !said.contains('\u{202e}'));
    let forged = said.lines().find(|line| line.contains("erased /dev/sda"));
    let forged = forged.expect("it was forwarded");
    let (_, after) = forged
        .split_once(" UTC pgfsbench-helper")
        .expect("a prefix");
    assert!(
        after.starts_with(" [bench] session: 2026-11-22"),
        "{forged}"
    );
    assert!(said.contains("\\u{1b}[2J\\u{9b}1A\\u{202e}x"), "{said}");
    assert!(said.lines().all(|line| line.len() < 10_000));
}
