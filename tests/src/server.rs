//! A throwaway server: data directory and socket of its own, no TCP.

use crate::as_server::{as_server, server_owner};
use crate::background::Background;
use crate::owned::{OwnedDirectory, make_owned, make_owned_file, open_directory, write_as_owner};
use crate::process::{Process, adopt_orphans, processes_in, reap, send};
use crate::scratch::scratch;
use crate::wait::{LONG, SHORT, wait_until, wait_with};
use crate::watchdog::Watchdog;
use postgres::{Client, Config, NoTls};
use rustix::process::Signal;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The settings with which the extension works.
pub const PRELOADED: &[(&str, &str)] = &[
    ("shared_preload_libraries", "pgfsbench"),
    ("max_worker_processes", "32"),
];

const PORT: u16 = 65432;

/// The ways to stop a server.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    Fast,
    Immediate,
}

pub struct TestServer {
    /// Ours. In it are data directory and log, which belong to the servers' owner, and settings.conf: writing them follows no name of theirs. The
    /// cluster of tools/prefix includes them.
    place: TempDir,
    /// The socket: its path has to be short, whatever the data's is.
    sockets: OwnedDirectory,
    _watchdog: Watchdog,
}

impl TestServer {
    /// A new server with these settings, in `scratch`.
    pub fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_in(scratch(), settings)
    }

    /// A new server with its data below this directory, which the servers' owner must be able to enter.
    pub fn start_in(directory: &Path, settings: &[(&str, &str)]) -> Self {
        Self::start_apart(directory, None, settings)
    }

    /// A new server with its WAL below another directory, if one is given.
    pub fn start_apart(directory: &Path, wal: Option<&Path>, settings: &[(&str, &str)]) -> Self {
        Self::start_copy("template", directory, wal, settings)
    }

    /// A new server with the extension preloaded, and in its database postgres.
    pub fn with_extension(settings: &[(&str, &str)]) -> Self {
        Self::with_extension_in(scratch(), None, settings)
    }

    /// A server with the extension, its data below this directory, and its WAL below another one, if one is given.
    pub fn with_extension_in(
        directory: &Path,
        wal: Option<&Path>,
        settings: &[(&str, &str)],
    ) -> Self {
        let settings = [PRELOADED, settings].concat();
        Self::start_copy("template.extension", directory, wal, &settings)
    }

    /// A new server with a copy of a cluster that tools/prefix has made.
    fn start_copy(
        cluster: &str,
        directory: &Path,
        wal: Option<&Path>,
        settings: &[(&str, &str)],
    ) -> Self {
        adopt_orphans();
        let server = Self::in_directories(directory);
        must(
            as_server("cp")
                .args(["-R", "--reflink=auto"])
                .arg(prefix().join(cluster).join("."))
                .arg(server.data()),
        );
        if let Some(wal) = wal {
            let (inside, outside) = (server.data().join("pg_wal"), wal.join("pg_wal"));
            must(as_server("mv").arg(&inside).arg(&outside));
            must(as_server("ln").arg("-s").arg(&outside).arg(&inside));
        }
        server.configure_socket();
        server.configure(settings);
        server.start_again();
        server
    }

    /// Runs on targets need neither make a cluster nor load it: data of scale 1 were loaded when the prefix was made.
    pub fn give_prepared_data(&self) {
        give_prepared_data(&self.data());
    }

    fn in_directories(directory: &Path) -> Self {
        let place = open_directory("pgfsbench-test.", directory);
        make_owned(&data_in(&place));
        make_owned_file(&place.path().join("log"));
        Self {
            _watchdog: Watchdog::of(data_in(&place)),
            sockets: OwnedDirectory::new("pgfsbench-socket."),
            place,
        }
    }

    /// A copy of this server as it runs, by pg_basebackup with these options besides. It is not started.
    pub fn copy(&self, options: &[&str]) -> Self {
        let copy = Self::in_directories(scratch());
        must(
            as_server(prefix().join("bin/pg_basebackup"))
                .arg("-h")
                .arg(self.sockets.path())
                .args(["-p", &PORT.to_string(), "--checkpoint=fast", "--no-sync"])
                .arg("-D")
                .arg(copy.data())
                .args(options),
        );
        fs::copy(self.settings(), copy.settings()).expect("settings.conf can be copied");
        copy.configure_socket();
        copy
    }

    fn configure_socket(&self) {
        let sockets = self.sockets.path().display().to_string();
        self.configure(&[
            ("listen_addresses", ""),
            ("unix_socket_directories", &sockets),
            ("port", &PORT.to_string()),
        ]);
    }

    /// Append settings to those of postgresql.conf; what comes later wins. They hold from the next start, or `reload`.
    pub fn configure(&self, settings: &[(&str, &str)]) {
        let mut lines = String::new();
        for (name, value) in settings {
            lines += &format!("{name} = '{}'\n", value.replace('\'', "''"));
        }
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.settings())
            .and_then(|mut file| file.write_all(lines.as_bytes()))
            .expect("settings.conf can be written");
    }

    /// Start the server after it was stopped or killed, and wait until it takes connections.
    pub fn start_again(&self) {
        if let Err(message) = self.try_start() {
            panic!("{message}");
        }
    }

    /// As `start_again`; the server's messages if it does not start.
    pub fn try_start(&self) -> Result<(), String> {
        self.try_start_with(&[])
    }

    /// Starts the server with variables in its environment.
    pub fn try_start_with(&self, environment: &[(&str, &str)]) -> Result<(), String> {
        let before = self.log().len();
        let log = OpenOptions::new().append(true).open(self.log_path());
        let log = log.expect("the log");
        let mut postgres = as_server(prefix().join("bin/postgres"));
        postgres.arg("-D").arg(self.data());
        postgres.envs(environment.iter().copied());
        postgres
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("the log"));
        let mut postmaster = postgres.stdout(log).spawn().expect("postgres");
        let pid = postmaster.id().to_string();
        wait_until("the server has started, or ended", LONG, || {
            if self.is_ready(&pid) {
                return Some(Ok(()));
            }
            // Another test may have taken note of its end.
            let is_over = !matches!(postmaster.try_wait(), Ok(None));
            is_over.then(|| Err(self.log()[before..].to_owned()))
        })
    }

    /// Whether the postmaster of this pid takes connections, by its own file.
    fn is_ready(&self, pid: &str) -> bool {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let mut lines = file.lines().map(str::trim);
        lines.next() == Some(pid) && matches!(lines.nth(6), Some("ready" | "standby"))
    }

    /// Start the server where each of these files of /proc is another one: this path, empty when it is /dev/null. Takes root.
    pub fn start_again_with_files(&self, files: &[(&str, &Path)]) {
        let mut script = crate::LET_GO_OF_OTHERS_DEVICES.to_owned();
        for (file, instead) in files {
            script += &format!("mount --bind {} {file} && ", instead.display());
        }
        let mut start = Command::new("unshare");
        start.args(["--mount", "sh", "-c"]);
        start.arg(format!("{script} exec \"$@\"")).arg("sh");
        if server_owner().is_some() {
            start.args(["setsid", "--wait", "runuser", "-u", "postgres", "--"]);
        }
        start.arg(prefix().join("bin/pg_ctl"));
        start
            .args(["start", "-s", "-w", "-t", "120", "-D"])
            .arg(self.data());
        start.env_remove("RUST_BACKTRACE").current_dir("/");
        must(start.arg("-l").arg(self.log_path()));
    }

    /// Stop the server and wait until every process of it is gone.
    pub fn stop(&self, how: Stop) {
        let postmaster = self.postmaster();
        self.signal(
            postmaster,
            match how {
                Stop::Fast => Signal::INT,
                Stop::Immediate => Signal::QUIT,
            },
        );
        self.wait_until_gone(postmaster);
    }

    pub fn restart(&self) {
        self.stop(Stop::Fast);
        self.start_again();
    }

    /// Give the server WAL segments of this size, for which it is stopped and started again.
    pub fn change_wal_segments(&self, megabytes: u32) {
        self.stop(Stop::Fast);
        must(
            as_server(prefix().join("bin/pg_resetwal"))
                .arg(format!("--wal-segsize={megabytes}"))
                .arg(self.data()),
        );
        let least = format!("{}MB", 2 * megabytes);
        self.configure(&[("min_wal_size", &least)]);
        self.start_again();
    }

    /// Move the data directory to another name, and have its own name lead there, as on a machine whose data have moved to another disk.
    pub fn put_data_behind_a_link(&self) {
        self.stop(Stop::Fast);
        let elsewhere = self.place.path().join("data-elsewhere");
        fs::rename(self.data(), &elsewhere).expect("the data directory can be moved");
        std::os::unix::fs::symlink(&elsewhere, self.data()).expect("a link");
        self.start_again();
    }

    pub fn reload(&self) {
        self.signal(self.postmaster(), Signal::HUP);
    }

    /// Kill the postmaster as a power cut would (its children notice and end), and wait until all are gone.
    pub fn kill(&self) {
        let postmaster = self.postmaster();
        assert!(
            send(postmaster, Signal::KILL),
            "the postmaster was gone already"
        );
        self.wait_until_gone(postmaster);
    }

    /// After a crash: wait until the server has recovered by itself, or start it again if it has given up.
    pub fn settle(&self, postmaster: i32) {
        let began = Instant::now();
        while self.config("postgres", "postgres").connect(NoTls).is_err() {
            reap();
            if !Path::new(&format!("/proc/{postmaster}")).exists() {
                self.wait_until_gone(postmaster);
                return self.start_again();
            }
            assert!(
                began.elapsed() < LONG,
                "the server neither ends nor recovers"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kill one child with SIGKILL, which makes the postmaster restart all others, and wait until the server has
    /// recovered.
    pub fn crash(&self, pid: i32) {
        let ready = |log: String| log.matches("ready to accept connections").count();
        let before = ready(self.log());
        self.signal(pid, Signal::KILL);
        wait_until("the server has recovered", LONG, || {
            (ready(self.log()) > before).then_some(())
        });
    }

    /// Send a child SIGTERM.
    pub fn terminate(&self, pid: i32) {
        self.signal(pid, Signal::TERM);
    }

    /// Send a child any signal. SIGSTOP hits it anywhere, where it may have what every session needs: no test may ask this server anything before it
    /// goes on. `hold` is for the others.
    pub fn signal(&self, pid: i32, signal: Signal) {
        assert!(send(pid, signal), "process {pid} was gone already");
    }

    /// A signal to one that may be gone; false if it is.
    pub fn try_signal(&self, pid: i32, signal: Signal) -> bool {
        send(pid, signal)
    }

    pub fn postmaster(&self) -> i32 {
        self.postmaster_pid().expect("the server runs")
    }

    /// Every process of this server, the postmaster too.
    pub fn processes(&self) -> Vec<Process> {
        processes_in(&self.data())
    }

    /// A session of the superuser.
    pub fn connect(&self, database: &str) -> Client {
        self.connect_as("postgres", database)
    }

    pub fn connect_as(&self, user: &str, database: &str) -> Client {
        self.config(user, database)
            .connect(NoTls)
            .unwrap_or_else(|error| panic!("cannot connect to {database} as {user}: {error}"))
    }

    /// For sessions with something special about them: notices, an application name.
    pub fn config(&self, user: &str, database: &str) -> Config {
        let mut config = Config::new();
        config
            .host_path(self.sockets.path())
            .port(PORT)
            .user(user)
            .dbname(database)
            .connect_timeout(SHORT);
        config
    }

    /// The directory of its socket, and its port.
    pub fn socket(&self) -> (String, String) {
        (self.sockets.path().display().to_string(), PORT.to_string())
    }

    /// Records of WAL between two positions, as pg_waldump shows them.
    pub fn wal(&self, from: &str, to: &str) -> Vec<String> {
        let mut command = as_server(prefix().join("bin/pg_waldump"));
        command.args(["--start", from, "--end", to, "--path"]);
        let dumped = command.arg(self.data().join("pg_wal")).output();
        let dumped = dumped.expect("pg_waldump runs");
        assert!(dumped.status.success(), "pg_waldump: {dumped:?}");
        let text = String::from_utf8_lossy(&dumped.stdout);
        text.lines().map(str::to_owned).collect()
    }

    /// Makes a base backup in a directory that is not there yet.
    pub fn back_up(&self, to: &Path) {
        let (socket, port) = self.socket();
        let mut command = as_server(prefix().join("bin/pg_basebackup"));
        command.args([
            "--checkpoint=fast",
            "--host",
            &socket,
            "--port",
            &port,
            "-D",
        ]);
        let done = command.arg(to).status().expect("pg_basebackup runs");
        assert!(done.success(), "pg_basebackup");
    }

    /// How another server connects to this one as a user, in libpq's words.
    pub fn connection(&self, user: &str) -> String {
        format!(
            "host={} port={PORT} dbname=postgres user={user}",
            self.sockets.path().display()
        )
    }

    /// Put a line before all others of pg_hba.conf.
    pub fn put_first_in_hba(&self, line: &str) {
        let path = self.data().join("pg_hba.conf");
        let others = fs::read_to_string(&path).expect("pg_hba.conf can be read");
        write_as_owner(&path, &format!("{line}\n{others}"));
        self.reload();
    }

    /// A statement in a session of its own, while the test goes on.
    pub fn background(&self, database: &str, sql: &str) -> Background {
        Background::start(self.connect(database), sql)
    }

    /// Wait until this query, asked in a new transaction each time, says true.
    pub fn wait_for(&self, database: &str, condition: &str, deadline: Duration) {
        let mut client = self.connect(database);
        // Asked in a row, it is not planned each time.
        let question = client
            .prepare(condition)
            .unwrap_or_else(|error| panic!("{condition}: {error}"));
        wait_until(condition, deadline, || {
            let row = client
                .query_one(&question, &[])
                .unwrap_or_else(|error| panic!("{condition}: {error}"));
            row.get::<_, Option<bool>>(0).unwrap_or(false).then_some(())
        });
    }

    /// Everything that the server has logged.
    pub fn log(&self) -> String {
        fs::read(self.log_path())
            .map(|log| String::from_utf8_lossy(&log).into_owned())
            .unwrap_or_default()
    }

    pub fn data(&self) -> PathBuf {
        data_in(&self.place)
    }

    /// One of PostgreSQL's programs, set up to talk to this server: psql, pg_dump, pgbench, ...
    pub fn client_program(&self, name: &str) -> Command {
        let mut command = Command::new(prefix().join("bin").join(name));
        command
            .env("PGHOST", self.sockets.path())
            .env("PGPORT", PORT.to_string())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", "postgres");
        command
    }

    fn settings(&self) -> PathBuf {
        self.place.path().join("settings.conf")
    }

    fn log_path(&self) -> PathBuf {
        self.place.path().join("log")
    }

    fn postmaster_pid(&self) -> Option<i32> {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    /// Wait until no process works in the data directory, and the postmaster's id is free again: it is in postmaster.pid, and a new postmaster does
    /// not start while another process has it.
    fn wait_until_gone(&self, postmaster: i32) {
        wait_with(
            LONG,
            |_| std::thread::sleep(Duration::from_millis(5)),
            || {
                reap();
                let left = self.processes();
                let is_gone =
                    left.is_empty() && !Path::new(&format!("/proc/{postmaster}")).exists();
                if is_gone { Ok(()) } else { Err(left) }
            },
            |left| {
                format!("postmaster {postmaster} was to end; these processes are left: {left:?}")
            },
        );
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            let tail = lines[lines.len().saturating_sub(60)..].join("\n");
            eprintln!("--- end of the server's log ---\n{tail}\n---");
        }
        // As harsh as a postmaster may be stopped; its pid counts only if it works in this data directory.
        let running = self.processes();
        let postmaster = self.postmaster_pid();
        if running
            .iter()
            .any(|process| Some(process.pid) == postmaster)
        {
            postmaster.map(|pid| send(pid, Signal::QUIT));
        }
        for polls in 0..750 {
            reap();
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            for process in left.iter().filter(|_| polls > 500) {
                send(process.pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        eprintln!("processes are left: {:?}", self.processes());
    }
}

/// The private copy of PostgreSQL that tools/prefix made.
pub(crate) fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let given = std::env::var_os("PGFSBENCH_PREFIX").map(PathBuf::from);
        let prefix =
            given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pg15"));
        prefix.canonicalize().unwrap_or_else(|error| {
            panic!(
                "no private PostgreSQL in {}: {error}; run tools/prefix",
                prefix.display()
            )
        })
    })
}

/// Executes a statement in the database postgres of a data directory that no server uses.
pub fn in_single_user_mode(data: &Path, sql: &str) {
    let mut postgres = as_server(prefix().join("bin/postgres"));
    // An error does not end it.
    postgres.args(["--single", "-c", "shared_preload_libraries=", "-D"]);
    postgres.arg(data).arg("postgres");
    let mut child = postgres
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("postgres");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(sql.as_bytes()).expect("postgres reads");
    drop(stdin);
    let output = child.wait_with_output().expect("postgres ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !said.contains("ERROR:"),
        "{sql}: {said}"
    );
}

fn data_in(place: &TempDir) -> PathBuf {
    place.path().join("data")
}

/// Output of pg_controldata for a cluster.
pub fn controldata(data: &Path) -> String {
    let mut command = Command::new(prefix().join("bin/pg_controldata"));
    let said = command.arg("-D").arg(data).env("LC_ALL", "C").output();
    String::from_utf8_lossy(&said.expect("pg_controldata runs").stdout).into_owned()
}

/// Makes an empty cluster, with an identifier of its own.
pub fn initialize(data: &Path) {
    let mut command = as_server(prefix().join("bin/initdb"));
    command.args(["--no-sync", "--auth=peer", "-D"]);
    must(command.arg(data));
}

/// Path of a program of the system, also in the directories that only root's PATH has.
pub fn program(name: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| path.exists())
}

/// Run a command to its end; if it fails, what it was and what it said.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    // Not through pipes: a server that pg_ctl starts would hold them open.
    let mut said = tempfile::tempfile().map_err(|error| error.to_string())?;
    let both = |file: &fs::File| file.try_clone().map_err(|error| error.to_string());
    let status = command
        .stdin(std::process::Stdio::null())
        .stdout(both(&said)?)
        .stderr(both(&said)?)
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() {
        return Ok(());
    }
    let mut text = String::new();
    use std::io::{Read, Seek};
    let _ = said.rewind();
    let _ = said.read_to_string(&mut text);
    Err(format!("{command:?}: {status}\n{text}"))
}

/// Puts data of scale 1 where the server of this data directory looks for prepared data, if it has none.
pub fn give_prepared_data(data: &Path) {
    let loaded = prefix().join("template.data");
    if loaded.exists() && !data.join("pgfsbench/pgsql_tmp_prepared_data").exists() {
        must(as_server("cp").arg("-R").arg(loaded.join(".")).arg(data));
    }
}

pub(crate) fn must(command: &mut Command) {
    if let Err(message) = run(command) {
        panic!("{message}");
    }
}
