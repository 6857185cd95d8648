//! Targets in directories: a server of its own is put there, measured, and gone again, whatever happens.

use crate::helper::processes::{self, Process};
use pgfsbench_tests::{
    LONG, Leaves, OwnedDirectory, Signal, Stop, TestServer, assert_columns, controldata, refusal,
    server_owner, value, wait_until,
};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const SHORT_RUN: &str = "target => 'here', scale => 1, clients => 2, transactions => 50, seed => 1";
const LONG_RUN: &str =
    "target => 'here', scale => 1, clients => 2, duration => '5 min', warmup => '0'";

/// A server, and a target in a directory beside it.
pub struct Place {
    pub server: TestServer,
    directory: OwnedDirectory,
}

impl Place {
    pub fn new(arguments: &str) -> Self {
        Self::beside(TestServer::with_extension(&[]), arguments)
    }

    fn beside(server: TestServer, arguments: &str) -> Self {
        let directory = crate::common::owned_directory("pgfsbench-target.");
        let place = Self { server, directory };
        let created = place.server.value(&format!(
            "SELECT fsbench.create_target('here', directory => '{}'{arguments})",
            place.path().display()
        ));
        assert_eq!(created, "here");
        assert!(place.is_empty(), "create_target has written something");
        place
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(self.path()).expect("the directory").count() == 0
    }

    /// Processes of target servers.
    fn processes(&self) -> Vec<i32> {
        let there = processes::below(self.path()).into_iter();
        there.map(|process| process.pid).collect()
    }

    /// A process with this in its title, once it is there, of a target server, or of one that loads what is copied.
    pub fn process(&self, title: &str) -> Process {
        let prepared = self.server.data().join("pgfsbench");
        wait_until(title, LONG, || {
            let there = processes::below(self.path()).into_iter();
            let mut all = there.chain(processes::below(&prepared));
            all.find(|process| process.title.contains(title))
        })
    }

    /// The postmaster of the target server, once it has one.
    fn postmaster(&self) -> i32 {
        wait_until("the target server is there", LONG, || {
            let run = fs::read_dir(self.path()).ok()?.flatten().next()?;
            let file = fs::read_to_string(run.path().join("data/postmaster.pid")).ok()?;
            file.lines().next()?.parse().ok()
        })
    }
}

impl Deref for Place {
    type Target = TestServer;

    fn deref(&self) -> &TestServer {
        &self.server
    }
}

impl Leaves for Place {
    fn left(&self) -> Vec<String> {
        let mut left = self.server.left();
        let processes = self.processes();
        left.extend(processes.iter().map(|pid| format!("target process {pid}")));
        if !self.is_empty() {
            left.push("something in the directory of the target".to_owned());
        }
        left
    }
}

#[test]
fn a_directory_is_measured_by_a_server_of_its_own() {
    let place = Place::new(r#", settings => '{"wal_level": "minimal", "max_wal_senders": 0}'"#);
    let mut client = place.server.connect("postgres");
    let run = value(
        &mut client,
        &format!("SELECT run_id FROM fsbench.run({SHORT_RUN})"),
    );
    place.nothing_is_left("a run on a target");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {run}"),
        &[
            ("target", "here"),
            ("status", "done"),
            ("transactions_total", "100"),
            ("tps > 0", "t"),
            ("scope", "data and WAL"),
            ("findings > 0", "t"),
            (
                &format!("starts_with(data_directory, '{}')", place.path().display()),
                "t",
            ),
            ("settings->'wal_level'->>'setting'", "minimal"),
            ("work_database IS NULL", "t"),
            (
                "(SELECT sum(transactions) FROM fsbench.sample s WHERE s.run_id = r.run_id)",
                "100",
            ),
            (
                "(SELECT count(*) FROM fsbench.histogram h WHERE h.run_id = r.run_id)",
                "2",
            ),
        ],
    );
    // The same transactions as in this server itself.
    let here = SHORT_RUN.replace("'here'", "'default'");
    let other = value(
        &mut client,
        &format!("SELECT run_id FROM fsbench.run({here})"),
    );
    let balances = format!(
        "SELECT count(DISTINCT balances) FROM fsbench.run_log WHERE run_id IN ({run}, {other})"
    );
    assert_eq!(value(&mut client, &balances), "1");
    assert_eq!(
        value(&mut client, "SELECT fsbench.drop_target('here')"),
        "here"
    );
    assert_eq!(
        value(&mut client, "SELECT count(*) FROM fsbench.target"),
        "1"
    );
}

/// Another installation: a copy of the programs of this server. Gives the directory of the programs.
fn other_programs(server: &TestServer, place: &Path) -> PathBuf {
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).expect("chmod");
    let psql = server.client_program("psql");
    let bin = Path::new(psql.get_program()).parent().expect("a directory");
    let bin = bin.canonicalize().expect("it is there");
    let prefix = bin.ancestors().find(|above| above.join("share").is_dir());
    let prefix = prefix.expect("a prefix");
    let of_programs = bin.strip_prefix(prefix).expect("below it");
    // In Debian's layout the programs are below lib, in others beside it.
    let top = of_programs.iter().next().expect("a name");
    for part in BTreeSet::from([OsStr::new("lib"), OsStr::new("share"), top]) {
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(prefix.join(part)).arg(place);
        assert!(copy.status().expect("cp").success());
    }
    place.join(of_programs)
}

#[test]
fn a_server_on_a_target_has_what_the_target_says_and_what_may_be_copied_and_is_nobody_elses() {
    let server = TestServer::with_extension(&[
        ("work_mem", "7MB"),
        ("max_wal_size", "2GB"),
        ("archive_mode", "on"),
        ("archive_command", "true"),
        ("shared_preload_libraries", "auto_explain, pgfsbench"),
        ("auto_explain.log_min_duration", "0"),
        ("statement_timeout", "1h"),
    ]);
    let place = Place::beside(server, ", data_checksums => false");
    let value = |sql: &str| place.server.value(sql);
    let planned = value("SELECT command FROM fsbench.plan('here') WHERE action = 'write settings'");
    for line in [
        "work_mem = '7MB'",
        "max_wal_size = '2GB'",
        "listen_addresses = ''",
    ] {
        assert!(planned.lines().any(|l| l == line), "{planned}");
    }
    for word in ["archive", "auto_explain", "statement_timeout"] {
        assert!(!planned.contains(word), "{planned}");
    }

    let planned = value(
        "SELECT string_agg(action, ', ' ORDER BY step) FROM fsbench.plan('here') WHERE who = 'coordinator'",
    );
    let before = "load the data once, make directory, copy the data, sync, write settings, ask for shared memory, start the server";
    assert!(planned.starts_with(before), "{planned}");

    let run = place.server.start_run(LONG_RUN);
    place.wait_for_phase("measure");
    let directory = fs::read_dir(place.path()).expect("it").flatten().next();
    let directory = directory.expect("a server").path();
    // Output of the program that has all of it on disk.
    let said = fs::read_to_string(directory.join("sync.err")).expect("it was started");
    assert_eq!(said, "");
    let data = directory.join("data");
    // It was done in the order of the plan: by the ages of what each step has left.
    let left = [
        "copy.out",
        "sync.out",
        "data/postgresql.auto.conf",
        "memory.out",
        "server.out",
    ];
    let ages = left.map(|file| {
        let file = fs::metadata(directory.join(file)).expect(file);
        file.modified().expect("a time")
    });
    assert!(ages.is_sorted(), "{ages:?}");
    assert!(controldata(&data).contains("Data page checksum version:           0"));
    let file = fs::read_to_string(data.join("postmaster.pid")).expect("it runs");
    let lines: Vec<&str> = file.lines().collect();
    // The directory of the socket, which nobody else may enter; and no address.
    let mode = fs::metadata(lines[4])
        .expect("a directory")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700, "{}", lines[4]);
    assert_eq!(lines[5], "", "listens on TCP");
    value(&format!("SELECT fsbench.cancel({run})"));
    place.nothing_is_left("a cancelled run");

    // Two builds are two targets, with data of their own.
    let copy = TempDir::with_prefix_in("pgfsbench-programs.", pgfsbench_tests::scratch())
        .expect("a directory");
    let bindir = other_programs(&place.server, copy.path());
    let other = format!("bindir => '{}'", bindir.display());
    value(&format!("SELECT fsbench.alter_target('here', {other})"));
    let run = value(&format!("SELECT run_id FROM fsbench.run({SHORT_RUN})"));
    assert_columns(
        &mut place.server.connect("postgres"),
        &format!("FROM fsbench.result WHERE run_id = {run}"),
        &[
            ("status", "done"),
            ("settings->'work_mem'->>'setting'", "7MB"),
            ("settings->'max_wal_size'->>'setting'", "2GB"),
            (
                "coalesce(settings->'archive_mode'->>'setting', 'off')",
                "off",
            ),
            (
                "settings->'shared_preload_libraries'->>'setting'",
                "pgfsbench",
            ),
        ],
    );
    assert_eq!(
        value(
            "SELECT string_agg(concat_ws(' ', postgres LIKE '%/pgfsbench-programs.%', data_checksums), ', ' ORDER BY created_at) FROM fsbench.prepared_data"
        ),
        "f f, t f"
    );
    place.nothing_is_left("a run by other programs");

    // Both servers' memory is that of one machine.
    value(r#"SELECT fsbench.alter_target('here', settings => '{"shared_buffers": "900TB"}')"#);
    let error = refusal(
        &mut place.server.connect("postgres"),
        &format!("SELECT * FROM fsbench.run({SHORT_RUN})"),
    );
    assert_eq!(
        (error.code().code(), error.message()),
        ("53000", "not enough memory for both servers")
    );
    let detail = error.detail().unwrap_or_default();
    assert!(detail.contains("900 TB on the target"), "{detail}");
}

#[test]
fn a_run_on_a_target_that_is_cancelled_or_loses_its_coordinator_leaves_nothing() {
    let place = Place::new("");
    for phase in ["provision", "load", "measure"] {
        for terminated in [false, true] {
            let run = place.server.start_run(LONG_RUN);
            if phase == "provision" {
                place.postmaster();
            } else if phase == "load" {
                // Over before it can be seen, so that any moment after the start will do.
                let of_its_own = place.postmaster();
                wait_until("the target server has clients", LONG, || {
                    (place.processes().len() > 8 || !place.processes().contains(&of_its_own))
                        .then_some(())
                });
            } else {
                place.wait_for_phase(phase);
            }
            let (wanted, how) = if terminated {
                place.server.terminate(place.server.coordinator());
                ("failed 57P01", "terminated")
            } else {
                let cancelled = place.server.value(&format!("SELECT fsbench.cancel({run})"));
                assert_eq!(cancelled, "t");
                ("cancelled 57014", "cancelled")
            };
            let what = format!("{how} in {phase}");
            place.nothing_is_left(&what);
            let ending = place.told(&run);
            assert!(ending.starts_with(wanted), "{what}: {ending}");
        }
    }
    let works = place
        .server
        .value(&format!("SELECT tps > 0 FROM fsbench.run({SHORT_RUN})"));
    assert_eq!(works, "t");
}

#[test]
fn a_target_server_that_dies_fails_the_run_and_leaves_nothing() {
    let place = Place::new("");
    let run = place.server.start_run(LONG_RUN);
    place.wait_for_phase("measure");
    place.server.signal(place.postmaster(), Signal::QUIT);
    place.nothing_is_left("the target server's death");
    let ending = place.told(&run);
    assert!(
        ending.starts_with("failed 57P02; the target server was stopped or crashed"),
        "{ending}"
    );
}

#[test]
fn a_target_server_whose_log_is_gone_is_told_so() {
    let place = Place::new("");
    let run = place.server.start_run(LONG_RUN);
    place.wait_for_phase("measure");
    let postmaster = place.postmaster();
    let log = fs::read_link(format!("/proc/{postmaster}/fd/2")).expect("a log");
    fs::remove_file(&log).expect("remove");
    place.server.signal(postmaster, Signal::QUIT);
    place.nothing_is_left("the target server's death without a log");
    let ending = place.told(&run);
    assert!(
        ending.starts_with(
            "failed 57P02; the target server was stopped or crashed; Its log says nothing"
        ),
        "{ending}"
    );
}

/// Shared memory of a server that would outlive it: the number of its System V segment, and files. None if it
/// has none yet, or has gone.
pub fn shared_memory_of(data: &Path, postmaster: i32) -> Option<(String, Vec<String>)> {
    let file = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    let segment = file.lines().nth(6)?.split_whitespace().nth(1)?;
    let maps = fs::read_to_string(format!("/proc/{postmaster}/maps")).ok()?;
    let files = maps
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .filter(|file| file.starts_with("/dev/shm/PostgreSQL."))
        .map(str::to_owned)
        .collect();
    Some((segment.to_owned(), files))
}

#[test]
fn shared_memory_of_a_target_server_that_was_killed_goes_with_it() {
    let place = Place::new("");
    let run = place.server.start_run(LONG_RUN);
    place.wait_for_phase("measure");
    let postmaster = place.postmaster();
    let data = fs::read_link(format!("/proc/{postmaster}/cwd")).expect("its directory");
    let (segment, files) = shared_memory_of(&data, postmaster).expect("its memory");
    let segments = || {
        let table = fs::read_to_string("/proc/sysvipc/shm").expect("the kernel's table");
        let numbers = table
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1));
        numbers.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(segments().contains(&segment) && !files.is_empty());
    place.server.signal(postmaster, Signal::KILL);
    place.nothing_is_left("the target server was killed");
    let ending = place.told(&run);
    assert!(ending.starts_with("failed 57P02"), "{ending}");
    assert!(!segments().contains(&segment), "segment {segment} is left");
    let left: Vec<_> = files
        .iter()
        .filter(|file| Path::new(file).exists())
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // Of this server itself, nothing was touched.
    let own = place.server.postmaster();
    let (segment, files) = shared_memory_of(&place.server.data(), own).expect("its memory");
    assert!(segments().contains(&segment));
    assert!(files.iter().all(|file| Path::new(file).exists()));
}

#[test]
fn a_target_server_goes_with_the_server_that_asked() {
    let place = Place::new("");
    for how in [Some(Stop::Fast), Some(Stop::Immediate), None] {
        let run = place.server.start_run(LONG_RUN);
        place.wait_for_phase("measure");
        match how {
            Some(how) => place.server.stop(how),
            None => place.server.kill(),
        }
        // At once, whether or not that server is ever started again.
        wait_until("the target server has ended", LONG, || {
            place.processes().is_empty().then_some(())
        });
        place.server.start_again();
        place.nothing_is_left("a restart of the asking server");
        assert!(place.told(&run).starts_with("failed 57P0"));
    }
}

#[test]
fn a_target_server_that_cannot_start_says_why() {
    let place = Place::new(r#", settings => '{"max_connections": 1}'"#);
    let mut client = place.server.connect("postgres");
    let error = client
        .simple_query(&format!("SELECT * FROM fsbench.run({SHORT_RUN})"))
        .expect_err("some are reserved");
    let error = error.as_db_error().expect("an error of the server");
    assert_eq!(error.code().code(), "58000");
    assert_eq!(error.message(), "the target server did not start");
    let detail = error.detail().unwrap_or_default();
    assert!(
        detail.contains("must be less than max_connections"),
        "{detail}"
    );
    place.nothing_is_left("a server that did not start");
    // Settings that cannot fit are refused before anything is made.
    let altered = r#"SELECT fsbench.alter_target('here', settings => '{"shared_buffers": "7TB"}')"#;
    assert_eq!(value(&mut client, altered), "here");
    let error = client
        .simple_query(&format!("SELECT * FROM fsbench.run({SHORT_RUN})"))
        .expect_err("no machine has so much memory");
    assert_eq!(error.code().map(|code| code.code()), Some("53000"));
    assert_eq!(
        value(&mut client, "SELECT count(*) FROM fsbench.run_log"),
        "1"
    );
}

#[test]
fn a_target_in_use_is_neither_changed_nor_dropped() {
    let place = Place::new("");
    let run = place.server.start_run(LONG_RUN);
    let mut client = place.server.connect("postgres");
    for sql in [
        "SELECT fsbench.drop_target('here')",
        "SELECT fsbench.alter_target('here', power_loss_protected => true)",
    ] {
        let error = client.simple_query(sql).expect_err("it is in use");
        assert_eq!(error.code().map(|code| code.code()), Some("55006"));
    }
    assert_eq!(
        place.server.value(&format!("SELECT fsbench.cancel({run})")),
        "t"
    );
    place.nothing_is_left("a target in use");
    let altered = "SELECT fsbench.alter_target('here', power_loss_protected => true)";
    assert_eq!(value(&mut client, altered), "here");
    let is_set = "SELECT power_loss_protected FROM fsbench.target WHERE target = 'here'";
    assert_eq!(value(&mut client, is_set), "t");
}

#[test]
fn a_place_that_others_can_exchange_or_that_is_gone_is_refused() {
    let place = Place::new("");
    let mut client = place.server.connect("postgres");
    let mut refused = |sql: &str, code: &str, words: &str| {
        let error = client.simple_query(sql).expect_err(sql);
        let error = error.as_db_error().expect("an error of the server");
        assert_eq!(error.code().code(), code, "{sql}: {error:?}");
        assert!(error.message().contains(words), "{sql}: {error:?}");
    };
    let open = place.path().join("open");
    let shell = place.path().join("$(true)");
    for directory in [&open, &shell] {
        fs::create_dir(directory).expect("a directory");
        if let Some(owner) = server_owner() {
            std::os::unix::fs::chown(directory, Some(owner), None).expect("chown");
        }
    }
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("chmod");
    for (directory, words) in [
        (&open, "cannot be trusted"),
        (&shell, "has a name that cannot be used"),
    ] {
        let sql = format!(
            "SELECT fsbench.create_target('other', directory => '{}')",
            directory.display()
        );
        refused(&sql, "22023", words);
    }
    // Checked again whenever it is used: also what was written by others than these functions.
    let run = format!("SELECT * FROM fsbench.run({SHORT_RUN})");
    for (column, value, code, words) in [
        (
            "directory",
            format!("'{}'", open.display()),
            "22023",
            "cannot be trusted",
        ),
        (
            "directory",
            "'/does/not/exist'".to_owned(),
            "22023",
            "cannot be used",
        ),
        (
            "mount_point",
            "'/mnt/elsewhere'".to_owned(),
            "55000",
            "is not mounted as it was",
        ),
        (
            "bindir",
            format!("'{}'", open.display()),
            "22023",
            "PostgreSQL programs",
        ),
        (
            "settings",
            r#"'{"work_mem": "1MB\nfsync = off"}'"#.to_owned(),
            "22023",
            "control character",
        ),
    ] {
        let keep = place.server.value(&format!(
            "SELECT {column} FROM fsbench.target WHERE target = 'here'"
        ));
        place.server.value(&format!(
            "UPDATE fsbench.target SET {column} = {value} WHERE target = 'here'"
        ));
        refused(&run, code, words);
        place.server.value(
            &format!(
                "UPDATE fsbench.target SET {column} = nullif('{keep}', '') WHERE target = 'here'"
            )
            .replace("nullif('', '')", "NULL"),
        );
    }
    fs::remove_dir(open).expect("rmdir");
    fs::remove_dir(shell).expect("rmdir");
    assert_eq!(
        place
            .server
            .value(&format!("SELECT tps > 0 FROM fsbench.run({SHORT_RUN})")),
        "t"
    );
    // Rights on all tables are not enough to have the server start programs.
    place.server.value("CREATE ROLE writer; GRANT pg_write_all_data TO writer; GRANT USAGE ON SCHEMA fsbench TO writer");
    refused(
        "SET ROLE writer; UPDATE fsbench.target SET bindir = '/tmp/evil'",
        "42501",
        "permission denied to change table",
    );
    place.nothing_is_left("refused places");
}

#[test]
fn a_server_in_a_directory_is_crashed_without_its_filesystem() {
    let place = Place::new("");
    let mut client = place.server.connect("postgres");
    let run = value(
        &mut client,
        &format!(r#"SELECT run_id FROM fsbench.run({SHORT_RUN}, options => '{{"crash": true}}')"#),
    );
    place.nothing_is_left("a run with a crash");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.recovery JOIN fsbench.run_log USING (run_id) WHERE run_id = {run}"),
        &[
            ("unmounted", "f"),
            ("unmount_ms IS NULL", "t"),
            ("mount_ms IS NULL", "t"),
            ("cache_cold IS NULL", "t"),
            ("recovery_ms > 0", "t"),
            ("first_transaction_ms > 0", "t"),
            ("wal_replayed_bytes > wal_bytes", "t"),
            ("transactions_committed", "100"),
            ("transactions_found", "100"),
            ("balances_verified", "t"),
        ],
    );
    // Loaded on the target, and not copied, it is the same.
    let run = value(
        &mut client,
        &format!(
            r#"SELECT run_id FROM fsbench.run({SHORT_RUN}, options => '{{"crash": true, "data": "loaded"}}')"#
        ),
    );
    place.nothing_is_left("a run that loads and crashes");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.recovery WHERE run_id = {run}"),
        &[
            ("transactions_found", "100"),
            ("balances_verified", "t"),
            (
                "(SELECT count(DISTINCT balances) FROM fsbench.run_log)",
                "1",
            ),
        ],
    );
}
