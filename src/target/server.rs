//! A server of its own on a target: made, started, stopped and removed. It lives in a directory whose name is random and in
//! the journal before it is there, and nothing outside that directory is touched.

pub mod copy;
mod crash;
pub mod power_cut;
mod program;
pub mod programs;
mod removal;
pub mod settings;
mod shared_memory;

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use pgfsbench_core::{
    run::preflight::HugePages,
    target::{
        cluster::Cluster,
        commands,
        server_log::{
            Ended, before_sessions, ending_of, lacks_library, lacks_rings, lacks_shared_memory,
            lines_on_copy, why_ended, why_not_started,
        },
    },
};
use pgrx::pg_sys;
use rustix::{
    fs::{Advice, fadvise},
    process::{Pid, Signal, kill_process},
};
use serde::{Deserialize, Serialize};

use crate::{
    errors::{Fault, of_file, sqlstate},
    host::{files, location::Location},
    pg::{
        libpq::{CheckInterrupts, Connection},
        process, session,
    },
    target::{self, remote_run},
};
use crash::RECOVERY;
use program::{beginning_of, end_of};
pub use removal::Owner;
use settings::Settings;

/// How long a server may take to answer after its start.
const START: Duration = Duration::from_secs(60);
/// How long a shutdown may take that writes a checkpoint.
const SHUT_DOWN: Duration = Duration::from_secs(600);
/// Unix sockets have paths of at most 107 bytes.
const LONGEST_SOCKET: usize = 107;
/// The number in the name of its socket: there is no other server in that directory.
const PORT: &str = "5432";
/// The database with the tables of pgfsbench. Runs on a copy of a user's server work in another one.
const EXTENSION_DATABASE: &str = "postgres";
/// In a copy of a user's server, settings of a role or a database may name libraries, which a superuser's session would load.
const NO_LIBRARIES: &str = "-c session_preload_libraries= -c local_preload_libraries=";

/// A target server: what the journal knows of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetServer {
    /// The directory that holds everything of it; its name ends with a random mark.
    pub directory: PathBuf,
    /// Name of the directory of its socket, beside the asking server's journal.
    socket_name: String,
    owner: Owner,
    /// Mount point of the filesystem of the directory. If something else is mounted there, nothing is known of the directory.
    #[serde(default)]
    mount_point: Option<String>,
    /// Whether a run works on a user's own data there, so that words of statements and sessions may have values.
    #[serde(default)]
    is_on_own: bool,
}

impl TargetServer {
    /// The server of this mark on a target; nothing is made.
    pub fn at(place: &Path, mark: &str) -> Result<Self, Fault> {
        let own = session::data_directory();
        let server = Self {
            directory: place.join(format!("pgfsbench-{mark}")),
            socket_name: format!("s{}", &mark[..8]),
            owner: Owner::of(&own).map_err(|e| of_file("look at", &own, &e))?,
            mount_point: target::mount_point(place),
            is_on_own: false,
        };
        let longest = server.socket_directory().join(format!(".s.PGSQL.{PORT}"));
        let text = longest.to_string_lossy();
        if text.len() > LONGEST_SOCKET || text.contains([',', '"', '\\']) {
            return Err(Fault::new(
                sqlstate::NOT_IN_THIS_STATE,
                "the path of this server's data directory cannot hold a socket",
            )
            .detail(format!(
                "The socket of a target server would be \"{text}\": more than {LONGEST_SOCKET} bytes, or with a comma, a quote or a backslash.",
            ))
            .hint("Move the data directory to a place with a shorter or plainer path."));
        }
        Ok(server)
    }

    /// The server, with whether a run works on a user's own data there.
    pub fn on_own(mut self, is_on_own: bool) -> Self {
        self.is_on_own = is_on_own;
        self
    }

    fn socket_directory(&self) -> PathBuf {
        session::data_directory()
            .join("pgfsbench")
            .join(&self.socket_name)
    }

    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Log file since its latest start.
    fn log(&self) -> PathBuf {
        let of = |name: &str| self.directory.join(format!("{name}.err"));
        let latest = of(RECOVERY);
        match latest.exists() {
            true => latest,
            false => of("server"),
        }
    }

    /// The command that makes the cluster.
    pub fn initdb(&self, bindir: &Path, user: &str, cluster: Cluster) -> Vec<String> {
        cluster.initdb(bindir, &self.data(), user, pg_sys::PG_VERSION_NUM)
    }

    /// The command that copies a data directory to its place, or has it share the blocks of that one.
    pub fn copy(&self, from: &Path, shares_blocks: bool) -> Vec<String> {
        commands::copy(from, &self.data(), shares_blocks)
    }

    /// The command that runs it.
    pub fn postgres(&self, bindir: &Path) -> Vec<String> {
        commands::postgres(bindir, &self.data())
    }

    /// The file of its settings, which win over those of postgresql.conf.
    pub fn settings_file(&self) -> PathBuf {
        self.data().join("postgresql.auto.conf")
    }

    /// The contents of that file.
    pub fn settings_text(&self, settings: &Settings) -> String {
        settings.to_file(&self.socket_directory(), PORT)
    }

    /// Makes the directories of the server and of its socket.
    pub fn make_directories(&self) -> Result<(), Fault> {
        for directory in [&self.directory, &self.socket_directory()] {
            DirBuilder::new()
                .mode(0o700)
                .create(directory)
                .map_err(|e| of_file("create directory", directory, &e))?;
        }
        Ok(())
    }

    /// Makes an empty cluster; see [`Self::sync`].
    pub fn make_cluster(
        &self,
        bindir: &Path,
        user: &str,
        cluster: Cluster,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        let argv = self.initdb(bindir, user, cluster);
        let mut command = self.command(Path::new(&argv[0]), "initdb")?;
        command.args(&argv[1..]);
        self.run(command, "initdb", check_interrupts)
    }

    /// Copies the data directory of a server that was shut down; see [`Self::sync`]. No blocks are shared with it, and none left
    /// out: a filesystem would have to part or to allocate them in the measured window.
    pub fn copy_cluster(
        &self,
        from: &Path,
        shares_blocks: bool,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        let argv = self.copy(from, shares_blocks);
        let mut command = self.command(Path::new(&argv[0]), "cp")?;
        command.args(&argv[1..]);
        self.run(command, "cp", check_interrupts)
    }

    /// Has the kernel forget the files of the cluster, which are on disk: the server begins with a cold page cache.
    pub fn forget_pages(&self) -> Result<(), Fault> {
        forget_pages_below(&self.data()).map_err(|e| of_file("read", &self.data(), &e))
    }

    /// Has everything on its filesystem on disk: all at once is faster than file by file, and nothing of it is to be written
    /// back in the measured window. By a program, which can be ended while it waits for the disk. Once in a server's life.
    pub fn sync(&self, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        self.run_sync("sync", check_interrupts)
    }

    /// Syncs, with the program's output in new files of this name.
    fn run_sync(&self, name: &str, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        let argv = self.sync_command();
        let mut command = self.command(Path::new(&argv[0]), name)?;
        command.args(&argv[1..]);
        self.run(command, "sync", check_interrupts)
    }

    /// The command for it.
    pub fn sync_command(&self) -> Vec<String> {
        commands::sync(&self.directory)
    }

    /// The command that tells how much shared memory the server will take.
    pub fn memory_command(&self, bindir: &Path) -> Vec<String> {
        commands::value_of(bindir, &self.data(), commands::MEMORY)
    }

    /// Which settings these programs know.
    pub fn known_settings(
        &self,
        bindir: &Path,
        check_interrupts: CheckInterrupts,
    ) -> Result<Vec<String>, Fault> {
        let argv = commands::describe(bindir);
        let mut command = self.command(Path::new(&argv[0]), "describe")?;
        command.args(&argv[1..]);
        self.run(command, "describe", check_interrupts)?;
        let path = self.directory.join("describe.out");
        let text = fs::read_to_string(&path).map_err(|e| of_file("read", &path, &e))?;
        Ok(commands::described(&text))
    }

    /// Whether these programs come with an extension that is also a library to be preloaded. Where they do not tell: no.
    pub fn offers(
        &self,
        bindir: &Path,
        extension: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<bool, Fault> {
        let told = self.configured(bindir, "config", check_interrupts)?;
        Ok(told.is_some_and(|[libraries, share]| programs::have(&libraries, &share, extension)))
    }

    /// Directory of the libraries of these programs; None where they do not tell.
    pub fn libraries(
        &self,
        bindir: &Path,
        check_interrupts: CheckInterrupts,
    ) -> Result<Option<PathBuf>, Fault> {
        let told = self.configured(bindir, "libraries", check_interrupts)?;
        Ok(told.map(|[libraries, _]| libraries))
    }

    /// Directories of libraries and of shared files of these programs; None where they do not tell. `output` names the files of the answer.
    fn configured(
        &self,
        bindir: &Path,
        output: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Option<[PathBuf; 2]>, Fault> {
        let argv = commands::config(bindir);
        let mut command = self.command(Path::new(&argv[0]), output)?;
        command.args(&argv[1..]);
        let told = self.run(command, "pg_config", check_interrupts);
        check_interrupts()?;
        let answer = self.directory.join(format!("{output}.out"));
        let text = fs::read_to_string(answer).unwrap_or_default();
        Ok(told.ok().and_then(|()| commands::configured(&text)))
    }

    /// Shared memory that it will take with its settings; None where its programs do not tell.
    pub fn shared_memory_bytes(
        &self,
        bindir: &Path,
        check_interrupts: CheckInterrupts,
    ) -> Result<Option<u64>, Fault> {
        let text = self.value_of(bindir, commands::MEMORY, "memory", check_interrupts)?;
        Ok(text.and_then(|text| commands::memory_bytes(&text)))
    }

    /// Huge pages without which it will not start; None where it does not need any, or its programs do not tell.
    pub fn huge_pages(
        &self,
        bindir: &Path,
        check_interrupts: CheckInterrupts,
    ) -> Result<Option<HugePages>, Fault> {
        let mut ask = |name: &str| self.value_of(bindir, name, name, &mut *check_interrupts);
        if ask("huge_pages")?.is_none_or(|value| value.trim() != "on") {
            return Ok(None);
        }
        let count = ask("shared_memory_size_in_huge_pages")?;
        let kilobytes = ask("huge_page_size")?;
        let number = |text: Option<String>| text.and_then(|text| text.trim().parse().ok());
        Ok(number(count)
            .zip(number(kilobytes))
            .map(|(count, kilobytes)| HugePages { count, kilobytes }))
    }

    /// A setting as it will be; None where its programs do not tell. `output` names the files of the answer.
    fn value_of(
        &self,
        bindir: &Path,
        name: &str,
        output: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Option<String>, Fault> {
        let argv = commands::value_of(bindir, &self.data(), name);
        let mut command = self.command(Path::new(&argv[0]), output)?;
        command.args(&argv[1..]);
        // With wrong settings it fails, and the start will say why.
        let told = self.run(command, "postgres -C", check_interrupts);
        check_interrupts()?;
        let answer = self.directory.join(format!("{output}.out"));
        let text = fs::read_to_string(answer).unwrap_or_default();
        Ok(told.ok().map(|()| text))
    }

    /// Writes its settings.
    pub fn configure(&self, settings: &Settings) -> Result<(), Fault> {
        let path = self.settings_file();
        fs::write(&path, self.settings_text(settings)).map_err(|e| of_file("write", &path, &e))
    }

    /// Starts it, and waits until it takes a connection. It ends with this process.
    pub fn start(
        &self,
        bindir: &Path,
        user: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        self.start_within(START, bindir, user, check_interrupts)
    }

    /// Starts it, and waits that long until it takes a connection.
    fn start_within(
        &self,
        patience: Duration,
        bindir: &Path,
        user: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        let argv = self.postgres(bindir);
        let program = PathBuf::from(&argv[0]);
        let mut command = self.command(&program, "server")?;
        command.args(&argv[1..]);
        let mut child = process::spawn_bound(&mut command, Signal::QUIT)
            .map_err(|e| of_file("run", &program, &e))?;
        let deadline = Instant::now() + patience;
        loop {
            let mut in_time = || {
                check_interrupts()?;
                if Instant::now() > deadline {
                    return Err(Fault::new(
                        sqlstate::CONNECTION_LOST,
                        "the target server does not answer",
                    )
                    .detail(format!("It was started {} s ago.", patience.as_secs())));
                }
                Ok(())
            };
            match self.connect(user, EXTENSION_DATABASE, &mut in_time) {
                Err(fault) if fault.sqlstate == sqlstate::CONNECTION_LOST => {
                    let ended = child.try_wait().is_ok_and(|ended| ended.is_some());
                    if ended || Instant::now() > deadline {
                        return Err(self.did_not_start(&fault));
                    }
                }
                other => return other,
            }
            process::wait(Duration::from_millis(50));
            check_interrupts()?;
        }
    }

    /// Shuts it down, so that its data directory can be copied.
    pub fn shut_down(&self, bindir: &Path, check_interrupts: CheckInterrupts) -> Result<(), Fault> {
        self.end(Signal::INT, SHUT_DOWN, check_interrupts)?;
        let mut command = self.command(&bindir.join("pg_controldata"), "controldata")?;
        command.arg("-D").arg(self.data());
        self.run(command, "pg_controldata", check_interrupts)?;
        let said = end_of(&self.directory.join("controldata.out"));
        if commands::is_shut_down(&said) {
            return Ok(());
        }
        Err(Fault::new(
            sqlstate::CRASHED,
            "the target server was stopped or crashed",
        )
        .detail(ending_of(&end_of(&self.log()))))
    }

    /// Has the postmaster end everything, and waits until all of it has ended.
    fn end(
        &self,
        signal: Signal,
        patience: Duration,
        check_interrupts: CheckInterrupts,
    ) -> Result<(), Fault> {
        let began = Instant::now();
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(&file).map_err(|e| of_file("read", &file, &e))?;
        let postmaster = text.lines().next().and_then(|line| line.parse().ok());
        if let Some(postmaster) = postmaster.and_then(Pid::from_raw) {
            // The end of the process is seen below.
            let _ = kill_process(postmaster, signal);
        }
        while !self.processes()?.is_empty() {
            check_interrupts()?;
            if began.elapsed() > patience {
                return Err(Fault::new(
                    sqlstate::SYSTEM,
                    "the target server does not shut down",
                ));
            }
            process::wait(Duration::from_millis(5));
        }
        Ok(())
    }

    fn connect(
        &self,
        user: &str,
        database: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        let options = format!("{NO_LIBRARIES} {}", remote_run::session());
        self.connect_as(user, user, database, &options, check_interrupts)
    }

    /// Connects as a role. `user` is the operating system user of the server.
    fn connect_as(
        &self,
        role: &str,
        user: &str,
        database: &str,
        options: &str,
        check_interrupts: CheckInterrupts,
    ) -> Result<Connection, Fault> {
        let socket = self.socket_directory().to_string_lossy().into_owned();
        let opened = Connection::open(
            &[
                ("host", &socket),
                ("port", PORT),
                ("dbname", database),
                ("user", role),
                ("requirepeer", user),
                ("application_name", "pgfsbench"),
                ("client_encoding", "UTF8"),
                ("options", options),
            ],
            check_interrupts,
        );
        // The database of pgfsbench has no data of the user, and its refusals are those of pgfsbench.
        match self.is_on_own && database != EXTENSION_DATABASE {
            true => opened.map(Connection::hiding_values),
            false => opened,
        }
    }

    fn did_not_start(&self, fault: &Fault) -> Fault {
        let log = match self.is_on_own {
            true => before_sessions(&beginning_of(&self.log())).to_owned(),
            false => end_of(&self.log()),
        };
        Fault::new(sqlstate::SYSTEM, "the target server did not start")
            .detail(if log.trim().is_empty() {
                fault.detail.clone().unwrap_or_else(|| ending_of(&log))
            } else {
                why_not_started(&log)
            })
            .hint(if lacks_library(&log) {
                "Install pgfsbench for the PostgreSQL of the target's bindir: make install PG_CONFIG=BINDIR/pg_config. Or leave bindir out."
            } else if lacks_shared_memory(&log) {
                "The memory has to hold both servers: lower shared_buffers of the target, or, where it has huge_pages = on, raise vm.nr_hugepages."
            } else {
                "See whether the settings of the target fit this machine."
            })
    }

    /// Whether it did not start because it could not get memory for its rings of io_uring.
    pub fn lacks_rings(&self) -> bool {
        lacks_rings(&end_of(&self.log()))
    }

    /// Whether nothing can be written to its filesystem any more. Some filesystems that have stopped themselves still say rw (ext4 before
    /// Linux 6.15, xfs, f2fs): so it is tried.
    fn is_read_only(&self) -> bool {
        let location = Location::of(&self.directory);
        let mount = location.as_ref().and_then(Location::mount);
        let says_so = mount.is_some_and(|mount| {
            let mut options = mount.options.split(',');
            options.any(|option| READ_ONLY.contains(&option))
        });
        says_so || files::refuses_writes(&self.directory)
    }

    /// Lines at the end of its log that have no values of a user's data.
    fn lines_on_copy(&self, end: &str) -> String {
        // The first line may have been cut.
        let whole = end.split_once('\n').map_or("", |(_, whole)| whole);
        lines_on_copy(&beginning_of(&self.log()), whole)
    }

    /// Why it does not answer, when it has ended by itself; else the fault as it is.
    pub fn explain(&self, fault: Fault) -> Fault {
        if fault.sqlstate != sqlstate::CONNECTION_LOST {
            return fault;
        }
        let log = end_of(&self.log());
        let ended = why_ended(&log, || self.is_read_only());
        let ended = match self.is_on_own {
            true => ended.without_values(&self.lines_on_copy(&log)),
            false => ended,
        };
        match ended {
            Ended::Full(says) => {
                Fault::new(sqlstate::DISK_FULL, "the filesystem of the target is full")
                    .detail(says)
                    .hint("Use a smaller scale or a shorter run, or raise image_size with fsbench.alter_target().")
            }
            Ended::ReadOnly => Fault::new(
                sqlstate::IO,
                "the filesystem of the target has become read-only",
            )
            .detail("The kernel makes it so, or stops it, after an error of the filesystem or of its device. The target server can write nothing there, its log neither.")
            .hint("See the kernel's log for the error."),
            Ended::Crashed(says) => Fault::new(
                sqlstate::CRASHED,
                "the target server was stopped or crashed",
            )
            .detail(says)
            .hint("See the kernel's log, too: storage that fails or memory that runs out ends servers."),
        }
    }
}

/// Options that a filesystem has been given by the kernel when nothing can be written to it any more.
const READ_ONLY: [&str; 3] = ["ro", "emergency_ro", "shutdown"];

/// Forgets the pages of all files below a directory. The files are on disk.
fn forget_pages_below(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            forget_pages_below(&entry.path())?;
        } else if kind.is_file() {
            let file = File::open(entry.path())?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}
