//! Activity around a run makes findings: each kind is brought about, and is not found of a run that was left alone.

use crate::common::{execute, owned_directory, row, rows, run, server, server_in, set};
use crate::held::Held;
use pgfsbench_tests::{LONG, LoopFs, TestServer, assert_columns, skip, wait_until, write_as_owner};
use postgres::Client;
use std::fs;
use std::process::{Child, Command};

const STEADY: &str = "scale => 2, clients => 2, transactions => 50, seed => 1";

/// The finding of this code, if there is one: severity and message.
fn found(client: &mut Client, run_id: &str, code: &str) -> Option<String> {
    let rows = rows(
        client,
        &format!(
            "SELECT severity || ': ' || message FROM fsbench.finding WHERE run_id = {run_id} AND code = '{code}'"
        ),
    );
    rows.into_iter().next()
}

fn files_of_the_probe(server: &TestServer) -> usize {
    let names = fs::read_dir(server.data().join("pg_wal")).expect("pg_wal");
    let names = names
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with("pgfsbench")).count()
}

fn autovacuum_that_is_off_and_dead_rows_are_told(server: &TestServer) {
    let mut client = server.connect("postgres");
    set(server, &mut client, "autovacuum", "off");
    let id = run(&mut client, STEADY);
    assert_eq!(
        found(&mut client, &id, "autovacuum_off").as_deref(),
        Some("warning: autovacuum is off")
    );
    set(server, &mut client, "autovacuum", "on");
    let id = run(&mut client, STEADY);
    for code in [
        "autovacuum_off",
        "server_restarted",
        "archiving",
        "replication",
        "dead_rows",
        "allocated_less",
    ] {
        assert_eq!(found(&mut client, &id, code), None);
    }
    // Conditions that a test cannot bring about are judged from the facts that would have been stored.
    let judged = |facts: &str| {
        format!(
            "UPDATE fsbench.run_log SET facts = facts || '{facts}' WHERE run_id = {id}; \
             SELECT severity || ': ' || message FROM fsbench.judge({id}) WHERE code = 'dead_rows'"
        )
    };
    assert_eq!(
        rows(
            &mut client,
            &judged(r#"{"server": {"dead_rows_at_start": 300}}"#)
        ),
        ["warning: the tables had 300 dead rows before the clients began"]
    );
}

#[test]
fn what_goes_on_around_a_run_is_found() {
    let server = TestServer::with_extension(&[]);
    vacuums_of_the_tables_of_the_run_are_counted(&server);
    server.start_anew();
    flushes_are_timed_before_and_after_and_nothing_is_left_of_that(&server);
    server.start_anew();
    clients_that_wait_for_each_other_and_rates_that_cannot_be_kept_are_told(&server);
    server.start_anew();
    others_that_use_the_processors_are_told(&server);
    autovacuum_that_is_off_and_dead_rows_are_told(&server);
    settings_are_those_of_the_database_in_which_the_clients_work(&server);
    fsync_that_is_turned_off_in_the_window_is_told(&server);
}

fn vacuums_of_the_tables_of_the_run_are_counted(server: &TestServer) {
    let mut client = server.connect("postgres");
    let mut held = Held::in_window(
        server,
        "scale => 2, clients => 2, transactions => 50, rate => 100, warmup => '0'",
    );
    execute(
        &mut server.connect(&held.database()),
        "VACUUM pgbench_tellers",
    );
    let id = held.end();
    let told = found(&mut client, &id, "vacuums").expect("a finding");
    assert!(
        told.starts_with("info: the tables of the run were vacuumed "),
        "{told}"
    );
}

fn fsync_that_is_turned_off_in_the_window_is_told(server: &TestServer) {
    let mut client = server.connect("postgres");
    let held = Held::in_window(
        server,
        "scale => 1, clients => 2, transactions => 50, rate => 100, warmup => '0'",
    );
    set(server, &mut client, "fsync", "off");
    let id = held.end();
    assert!(found(&mut client, &id, "fsync_off").is_some());
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {id}"),
        &[("durability LIKE 'not durable: fsync off%'", "t")],
    );
}

fn settings_are_those_of_the_database_in_which_the_clients_work(server: &TestServer) {
    let mut client = server.connect("postgres");
    set(server, &mut client, "jit", "off");
    execute(
        &mut client,
        "ALTER DATABASE postgres SET jit = on; ALTER DATABASE postgres SET random_page_cost = 7",
    );
    let id = run(&mut client, STEADY);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.environment WHERE run_id = {id}"),
        &[
            ("settings #>> '{jit,setting}'", "off"),
            ("settings #>> '{jit,source}'", "configuration file"),
            ("settings ? 'random_page_cost'", "f"),
        ],
    );
}

/// Processors of the machine; fewer of them may be allowed here.
fn processors() -> usize {
    let stat = fs::read_to_string("/proc/stat").expect("/proc/stat");
    let is_one = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    stat.lines().filter(is_one).count()
}

/// Programs that use all processors, and more.
struct Busy(Vec<Child>);

impl Busy {
    fn start(processors: usize) -> Self {
        let shell = |_| {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while kill -0 $PPID; do :; done"]);
            shell.spawn().expect("a shell")
        };
        Self((0..processors * 3).map(shell).collect())
    }

    fn end(&mut self) {
        for mut process in self.0.drain(..) {
            process.kill().expect("it is ours");
            process.wait().expect("it ends");
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.end();
    }
}

/// Why not all processors may be used here, if so.
fn is_restricted() -> Option<String> {
    let (allowed, processors) = (
        std::thread::available_parallelism().map_or(0, usize::from),
        processors(),
    );
    (allowed < processors).then(|| format!("{allowed} of {processors} processors may be used here"))
}

fn others_that_use_the_processors_are_told(server: &TestServer) {
    if let Some(reason) = is_restricted() {
        return skip("others_that_use_the_processors_are_told", &reason);
    }
    let processors = processors();
    let mut client = server.connect("postgres");
    let busy = Busy::start(processors);
    let window = "scale => 2, clients => 2, duration => '3 s', warmup => '0'";
    let id = run(&mut client, window);
    drop(busy);
    let saturated = found(&mut client, &id, "cpu_saturated").expect("a finding");
    assert!(
        saturated.starts_with("warning: the processors were idle or waiting for storage in "),
        "{saturated}"
    );
    let told = found(&mut client, &id, "noisy_neighbour");
    // Where the kernel's threads are not to be seen, their work cannot be told from that of others.
    if fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        let told = told.expect("a finding");
        assert!(
            told.starts_with("warning: processes that are none of the server used "),
            "{told}"
        );
    } else {
        assert_eq!(told, None);
    }
}

fn flushes_are_timed_before_and_after_and_nothing_is_left_of_that(server: &TestServer) {
    let mut client = server.connect("postgres");
    // One that was left when a server was killed.
    server.stop(pgfsbench_tests::Stop::Fast);
    let left = server.data().join("pg_wal/pgfsbench_flush_probe");
    write_as_owner(&left, "x");
    server.start_again();
    client = {
        drop(client);
        server.connect("postgres")
    };
    wait_until("the janitor has cleared up", LONG, || {
        (files_of_the_probe(server) == 0).then_some(())
    });
    let id = run(&mut client, STEADY);
    // Others on the machine may write just then: then there is no figure.
    assert_eq!(
        row(
            &mut client,
            &format!(
                "SELECT facts #> '{{flush,before_us}}' > '0' \
                    AND (facts #> '{{flush,after_us}}' > '0') = (facts #>> '{{flush,quiet_after}}')::bool \
                 FROM fsbench.run_log WHERE run_id = {id}"
            )
        ),
        "t"
    );
    assert_eq!(files_of_the_probe(server), 0);
}

fn clients_that_wait_for_each_other_and_rates_that_cannot_be_kept_are_told(server: &TestServer) {
    let mut client = server.connect("postgres");
    let crowded = "scale => 1, clients => 12, duration => '2 s', warmup => '0'";
    let id = run(&mut client, crowded);
    let told = found(&mut client, &id, "lock_waits").expect("a finding");
    assert!(
        told.starts_with("warning: clients waited for locks in "),
        "{told}"
    );
    // There is no other client to wait for.
    let alone = "scale => 1, clients => 1, duration => '2 s', warmup => '0', rate => 5";
    let id = run(&mut client, alone);
    assert_eq!(found(&mut client, &id, "lock_waits"), None);
    // As if the machine had not stood still: the rate is easily kept.
    let in_time = format!(
        "UPDATE fsbench.run_log r SET latency_avg_ms = (SELECT sum_ms / transactions FROM fsbench.histogram h \
           WHERE h.run_id = r.run_id AND measure = 'service') WHERE run_id = {id}; \
         SELECT code FROM fsbench.judge({id}) WHERE code = 'behind_schedule'"
    );
    assert_eq!(rows(&mut client, &in_time), [""; 0]);
    let hopeless = r#"scale => 1, clients => 1, transactions => 5000, warmup => '0', rate => 60000, settings => '{"synchronous_commit": "off"}'"#;
    let id = run(&mut client, hopeless);
    let told = found(&mut client, &id, "behind_schedule").expect("a finding");
    assert!(told.starts_with("warning: transactions started "), "{told}");
}

#[test]
fn the_doctor_sees_beforehand_what_would_be_found() {
    let server = server(&[
        ("autovacuum", "off"),
        ("log_checkpoints", "off"),
        ("max_wal_size", "64MB"),
        // More than any filesystem has.
        ("pgfsbench.reserved_space", "1000TB"),
    ]);
    let mut client = server.connect("postgres");
    let said = |client: &mut Client| {
        rows(
            client,
            "SELECT item || ' ' || state FROM fsbench.doctor() \
             WHERE item IN ('autovacuum', 'log_checkpoints', 'checkpoints', 'old transactions', 'track_io_timing', \
               'track_wal_io_timing', 'room for data', 'room for WAL', 'load', 'pg_stat_statements') ORDER BY item",
        )
    };
    let mut busy = Busy::start(processors());
    let mut first = said(&mut client);
    busy.end();
    // Where few of the processors may be used, they cannot be kept busy.
    if is_restricted().is_some() {
        first.retain(|line| !line.starts_with("load "));
    } else {
        assert!(first.contains(&"load warning".to_owned()), "{first:?}");
        first.retain(|line| line != "load warning");
    }
    assert_eq!(
        first,
        [
            "autovacuum warning",
            "checkpoints info",
            "log_checkpoints info",
            "old transactions ok",
            "pg_stat_statements info",
            "room for WAL missing",
            "room for data missing",
            "track_io_timing info",
            "track_wal_io_timing info",
        ]
    );
    let mut writer = server.connect("postgres");
    execute(&mut writer, "BEGIN; SELECT pg_current_xact_id()");
    let mut other = server.connect("postgres");
    execute(
        &mut other,
        "CREATE PROCEDURE burn() LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..10010 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$; \
         SET synchronous_commit = off",
    );
    execute(&mut other, "CALL burn()");
    execute(&mut other, "ALTER SYSTEM SET autovacuum = on");
    execute(&mut other, "ALTER SYSTEM SET log_checkpoints = on");
    execute(&mut other, "ALTER SYSTEM SET max_wal_size = '16GB'");
    execute(&mut other, "ALTER SYSTEM SET track_io_timing = on");
    execute(&mut other, "ALTER SYSTEM SET track_wal_io_timing = on");
    execute(
        &mut other,
        "ALTER SYSTEM SET pgfsbench.reserved_space = '1MB'",
    );
    server.reload();
    wait_until("the settings are in force", LONG, || {
        (row(&mut client, "SHOW max_wal_size") == "16GB").then_some(())
    });
    // Whether others are quiet by now is not ours to say.
    let mut said = said(&mut client);
    said.retain(|line| !line.starts_with("load "));
    assert_eq!(
        said,
        [
            "autovacuum ok",
            "checkpoints ok",
            "log_checkpoints ok",
            "old transactions warning",
            "pg_stat_statements info",
            "room for WAL ok",
            "room for data ok",
            "track_io_timing ok",
            "track_wal_io_timing ok",
        ]
    );
    // Filesystems are known as the kernel lists them, and programs as they are found.
    let known = fs::read_to_string("/proc/filesystems").expect("filesystems");
    let lines = rows(
        &mut client,
        "SELECT item, state, detail FROM fsbench.doctor() WHERE subject = 'filesystem'",
    );
    assert!(lines.len() > 3, "{lines:?}");
    for line in lines {
        let mut parts = line.splitn(3, '|');
        let [name, state, detail] = [(); 3].map(|()| parts.next().expect("three columns"));
        let is_known = known
            .lines()
            .any(|line| line.split_whitespace().last() == Some(name));
        assert_eq!(detail.starts_with("kernel: yes;"), is_known, "{line}");
        let mkfs = detail.split([';', ',']).nth(1).expect("a program").trim();
        let is_there = fs::exists(mkfs).unwrap_or(false);
        assert_eq!(mkfs.ends_with(" is missing"), !is_there, "{line}");
        if is_known && is_there {
            assert_eq!(state, "ok", "{line}");
        } else if detail.starts_with("kernel: no") || !is_there {
            assert_eq!(state, "missing", "{line}");
        }
    }
}

#[test]
fn the_doctor_says_of_statements_and_checkpoints_what_each_run_will_find_of_them() {
    let server = server(&[("shared_preload_libraries", "pg_stat_statements, pgfsbench")]);
    let mut client = server.connect("postgres");
    let foretold = |client: &mut Client, item: &str| {
        let doctor = "SELECT state, coalesce(hint, '') FROM fsbench.doctor() WHERE item";
        row(client, &format!("{doctor} = '{item}'"))
    };
    let found = |client: &mut Client, code: &str| {
        let id = run(client, STEADY);
        let hint = "SELECT hint FROM fsbench.finding WHERE run_id";
        rows(client, &format!("{hint} = {id} AND code = '{code}'")).join("")
    };
    for (act, words) in [
        ("", "CREATE EXTENSION"),
        (
            "CREATE EXTENSION pg_stat_statements VERSION '1.4'",
            "ALTER EXTENSION pg_stat_statements UPDATE",
        ),
        (
            "ALTER EXTENSION pg_stat_statements UPDATE",
            "pg_stat_statements.track",
        ),
    ] {
        execute(&mut client, act);
        if act.ends_with("UPDATE") {
            set(&server, &mut client, "pg_stat_statements.track", "none");
        }
        let hint = found(&mut client, "statements_not_recorded");
        assert_eq!(
            foretold(&mut client, "pg_stat_statements"),
            format!("info|{hint}"),
            "{act}"
        );
        assert!(hint.contains(words), "{act}: {hint}");
    }
    set(&server, &mut client, "pg_stat_statements.track", "top");
    assert_eq!(found(&mut client, "statements_not_recorded"), "");
    assert_eq!(foretold(&mut client, "pg_stat_statements"), "ok|");

    assert_eq!(foretold(&mut client, "log_checkpoints"), "ok|");
    set(&server, &mut client, "log_min_messages", "fatal");
    let hint = found(&mut client, "log_checkpoints_off");
    assert!(hint.contains("Set log_min_messages"), "{hint}");
    assert_eq!(
        foretold(&mut client, "log_checkpoints"),
        format!("info|{hint}")
    );
}

#[test]
fn the_doctor_says_of_the_filesystem_what_each_run_will_find_of_it() {
    let name = "the_doctor_says_of_the_filesystem_what_each_run_will_find_of_it";
    let fs = match LoopFs::ext4(700) {
        Ok(fs) => fs,
        Err(reason) => return skip(name, &reason),
    };
    let wal = owned_directory("pgfsbench-wal.");
    let server = server_in(&fs.path(), Some(wal.path()), &[]);
    let mut client = server.connect("postgres");
    let foretold = rows(
        &mut client,
        "SELECT item, state, detail, hint FROM fsbench.doctor() WHERE subject = 'machine' AND item ~ '^(atime|loop_|barriers|almost|wal_on)' ORDER BY item",
    );
    let codes: Vec<&str> = foretold
        .iter()
        .filter_map(|line| line.split('|').next())
        .collect();
    assert_eq!(
        codes,
        ["atime", "loop_without_direct_io", "wal_on_other_filesystem"]
    );
    let id = run(&mut client, "scale => 1, transactions => 50, seed => 1");
    assert_eq!(
        rows(
            &mut client,
            &format!(
                "SELECT code, severity, message, hint FROM fsbench.finding WHERE run_id = {id} AND code IN ('atime', 'loop_without_direct_io', 'wal_on_other_filesystem') ORDER BY code"
            )
        ),
        foretold
    );
}

#[test]
fn a_server_in_memory_is_told_and_has_no_device() {
    let test = "a_server_in_memory_is_told_and_has_no_device";
    let Some(memory) = pgfsbench_tests::on_tmpfs() else {
        return skip(test, "needs a tmpfs on /dev/shm");
    };
    let place = tempfile::TempDir::with_prefix_in("pgfsbench.", memory).expect("a directory");
    let server = server_in(place.path(), None, &[]);
    let mut client = server.connect("postgres");
    let id = run(&mut client, STEADY);
    assert_eq!(
        found(&mut client, &id, "in_memory").as_deref(),
        Some("warning: the data are in memory (tmpfs)")
    );
    for code in [
        "fsync_too_fast",
        "loop_device",
        "discard_mount_option",
        "atime",
    ] {
        assert_eq!(found(&mut client, &id, code), None);
    }
    assert_columns(
        &mut client,
        &format!("FROM fsbench.environment WHERE run_id = {id}"),
        &[
            ("filesystem", "tmpfs"),
            ("journal_mode IS NULL", "t"),
            ("layers IS NULL", "t"),
            ("rotational IS NULL", "t"),
            ("fua IS NULL", "t"),
            ("device_model IS NULL", "t"),
            ("durability", "not durable: tmpfs is in memory"),
        ],
    );
}
