//! The user postgres owns what servers write. Root, which starts and stops servers here, believes nothing that stands there: a
//! forged file or link makes it neither delete, nor signal, nor write.

use crate::common::row;
use pgfsbench_tests::{PRELOADED, SHORT, Stop, TestServer, send, server_owner, skip, wait_until};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Things that only root may touch: a directory with a file, and a process.
struct Victim {
    place: TempDir,
    process: Child,
}

impl Victim {
    fn new(test: &str) -> Option<Self> {
        if server_owner().is_none() {
            skip(test, "needs root");
            return None;
        }
        let place = TempDir::with_prefix_in("pgfsbench-victim.", pgfsbench_tests::scratch())
            .expect("a directory");
        fs::write(place.path().join("file"), "root's\n").expect("a file");
        let process = Command::new("sleep").arg("600").spawn().expect("sleep");
        Some(Self { place, process })
    }

    fn file(&self) -> PathBuf {
        self.place.path().join("file")
    }

    fn assert_untouched(&mut self) {
        let text = fs::read_to_string(self.file());
        assert_eq!(text.expect("the file is there"), "root's\n");
        let ended = self.process.try_wait().expect("it is ours");
        assert_eq!(ended, None, "the process was signalled");
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Has the user postgres run a script with these arguments; what it may not do fails.
fn as_postgres(script: &str, arguments: &[&Path]) {
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--", "sh", "-c", script, "sh"]);
    let output = command.args(arguments).current_dir("/").output();
    output.expect("runuser");
}

/// A server of tools/server, and a private PostgreSQL if another than the usual is to be used.
struct Scripted {
    book: PathBuf,
    sockets: PathBuf,
    data: PathBuf,
}

impl Scripted {
    fn start(prefix: Option<&Path>) -> Self {
        let mut start = Command::new("bash");
        start.arg("-c").arg(
            "environment=$(\"$0\" start) && eval \"$environment\" && printf '%s\\n' \"$PGFSBENCH_SERVER\" \"$PGHOST\" \
             && psql -XAtc 'SHOW data_directory'",
        );
        start.arg(root().join("tools/server"));
        if let Some(prefix) = prefix {
            start.env("PGFSBENCH_PREFIX", prefix);
        }
        let output = start.output().expect("bash");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = said.lines().map(PathBuf::from);
        let mut next = || lines.next().unwrap_or_else(|| panic!("{output:?}"));
        Self {
            book: next(),
            sockets: next(),
            data: next(),
        }
    }

    fn stop(&self) {
        let mut stop = Command::new(root().join("tools/server"));
        let output = stop.arg("stop").arg(&self.book).output().expect("stop");
        assert!(output.status.success(), "{output:?}");
    }

    /// Processes that work in its data directory, also when that is gone.
    fn processes(&self) -> usize {
        let data = self.data.to_str().expect("UTF-8");
        let works_there = |process: &fs::DirEntry| {
            let cwd = fs::read_link(process.path().join("cwd"));
            cwd.is_ok_and(|cwd| cwd.to_str().is_some_and(|cwd| cwd.starts_with(data)))
        };
        let processes = fs::read_dir("/proc").expect("/proc").flatten();
        processes.filter(works_there).count()
    }

    fn assert_gone(&self) {
        wait_until("the server is gone", SHORT, || {
            (self.processes() == 0).then_some(())
        });
        assert!(!self.book.exists() && !self.data.exists());
    }
}

#[test]
fn what_postgres_forges_in_its_directories_harms_nobody_when_a_server_is_stopped() {
    let test = "what_postgres_forges_in_its_directories_harms_nobody_when_a_server_is_stopped";
    let Some(mut victim) = Victim::new(test) else {
        return;
    };
    let server = Scripted::start(None);
    // Whatever could be taken for a note of what is to be removed or ended.
    as_postgres(
        "for file in \"$1/sockets\" \"$2/sockets\" \"$(dirname \"$2\")/sockets\"; do rm -f \"$file\"; echo \"$3\" > \"$file\"; done
         pid=$4; sed -i \"1s/.*/${pid#/}/\" \"$2/postmaster.pid\"; echo ${pid#/} > \"$1/pid\"",
        &[
            &server.book,
            &server.data,
            victim.place.path(),
            &Path::new("/").join(victim.process.id().to_string()),
        ],
    );
    server.stop();
    victim.assert_untouched();
    server.assert_gone();
}

#[test]
fn directories_that_postgres_has_replaced_by_links_are_not_followed() {
    let test = "directories_that_postgres_has_replaced_by_links_are_not_followed";
    let Some(mut victim) = Victim::new(test) else {
        return;
    };
    let server = Scripted::start(None);
    as_postgres(
        "mv \"$1\" \"$1.old\"; ln -s \"$2\" \"$1\"; d=$(dirname \"$3\"); mv \"$d\" \"$d.old\" && ln -s \"$2\" \"$d\"",
        &[&server.sockets, victim.place.path(), &server.data],
    );
    server.stop();
    victim.assert_untouched();
    as_postgres(
        "kill -QUIT $(head -n1 \"$(dirname \"$2\").old/data/postmaster.pid\"); rm -rf \"$1\" \"$1.old\"; d=$(dirname \"$2\"); rm -rf \"$d\" \"$d.old\"",
        &[&server.sockets, &server.data],
    );
}

/// A private PostgreSQL of which the empty cluster, which belongs to postgres, has a link in place of its configuration.
fn prefix_with_link(to: &Path) -> TempDir {
    let prefix = TempDir::with_prefix_in("pgfsbench-prefix.", pgfsbench_tests::scratch())
        .expect("a directory");
    fs::set_permissions(prefix.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
    let real = std::env::var_os("PGFSBENCH_PREFIX").map(PathBuf::from);
    let real = real.unwrap_or_else(|| root().join("target/pg15"));
    let real = real.canonicalize().expect("the prefix");
    symlink(real.join("bin"), prefix.path().join("bin")).expect("a link");
    let template = prefix.path().join("template");
    let copied = Command::new("cp")
        .arg("-a")
        .arg(real.join("template"))
        .arg(&template)
        .status();
    assert!(copied.expect("cp").success());
    as_postgres(
        "ln -sf \"$1\" \"$2/postgresql.conf\"",
        &[to, template.as_path()],
    );
    prefix
}

#[test]
fn settings_are_not_written_through_a_link_that_postgres_planted() {
    let test = "settings_are_not_written_through_a_link_that_postgres_planted";
    let Some(mut victim) = Victim::new(test) else {
        return;
    };
    let prefix = prefix_with_link(&victim.file());
    let mut start = Command::new(root().join("tools/server"));
    start.args(["run", "--", "true"]);
    start.env("PGFSBENCH_PREFIX", prefix.path());
    // It cannot start with a configuration that it cannot read.
    let output = start.output().expect("tools/server");
    assert!(!output.status.success(), "{output:?}");
    victim.assert_untouched();
}

#[test]
fn the_servers_of_the_tests_write_and_signal_nothing_of_others_either() {
    let test = "the_servers_of_the_tests_write_and_signal_nothing_of_others_either";
    let Some(mut victim) = Victim::new(test) else {
        return;
    };
    let server = TestServer::start(PRELOADED);
    assert!(!send(
        victim.process.id() as i32,
        pgfsbench_tests::Signal::USR1
    ));
    server.stop(Stop::Fast);
    // Each file in turn that root could write to, as it is before the server starts again.
    let conf = server.data().join("postgresql.conf");
    let file = victim.file();
    as_postgres(
        "mv \"$1\" \"$1.kept\"; ln -s \"$2\" \"$1\"",
        &[&conf, &file],
    );
    server.configure(&[("work_mem", "5MB")]);
    victim.assert_untouched();
    as_postgres("mv -f \"$1.kept\" \"$1\"", &[&conf]);
    server.start_again();
    let mut client = server.connect("postgres");
    assert_eq!(row(&mut client, "SHOW work_mem"), "5MB");

    // A postmaster's id that is another process' is neither signalled nor waited for when the server is dropped.
    let pid = victim.process.id().to_string();
    let pid_file = server.data().join("postmaster.pid");
    as_postgres(
        "pid=$2; sed -i \"1s/.*/${pid#/}/\" \"$1\"",
        &[&pid_file, &Path::new("/").join(pid)],
    );
    let data = server.data();
    drop(server);
    victim.assert_untouched();
    assert!(!data.exists());
}
