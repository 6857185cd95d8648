//! Targets in directories: a server of its own is put there, measured, and gone again. What is no such place is refused.

use crate::common::{assert_refused, execute, rows, wait_for_phase};
use crate::directory_target::Place;
use pgfsbench_tests::{
    Leaves, TestServer, assert_columns, controldata, in_single_user_mode, refusal, server_owner,
    skip, value,
};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const SHORT_RUN: &str = "target => 'here', scale => 1, clients => 2, transactions => 50, seed => 1";
const LONG_RUN: &str =
    "target => 'here', scale => 1, clients => 2, duration => '5 min', warmup => '0', rate => 10";

fn the_extension_of_prepared_data_is_created_anew_only_if_another_script_has_created_it(
    place: &Place,
) {
    let run = format!("SELECT tps > 0 FROM fsbench.run({SHORT_RUN})");
    assert_eq!(place.server.value(&run), "t");
    let prepared = place.data().join("pgfsbench/pgsql_tmp_prepared_data");
    let kept = fs::read_dir(prepared)
        .expect("data were prepared")
        .flatten();
    let mut kept: Vec<PathBuf> = kept.map(|entry| entry.path()).collect();
    kept.retain(|path| path.is_dir());
    let [kept] = &kept[..] else {
        panic!("{kept:?}");
    };
    // The run finds the data that were copied.
    in_single_user_mode(
        &kept.join("data"),
        "CREATE OR REPLACE FUNCTION fsbench.version() RETURNS text LANGUAGE sql STABLE AS $$SELECT 'that of the copy'$$",
    );
    let mut client = place.server.connect("postgres");
    assert_refused(
        &mut client,
        &run,
        "55000",
        &["another version", "that of the copy"],
    );
    let path = kept.join("note.json");
    let note = fs::read_to_string(&path).expect("the note");
    let mut note: serde_json::Value = serde_json::from_str(&note).expect("JSON");
    let script = note["script"].as_str().unwrap_or_default();
    assert_eq!(script.len(), 32, "{note}");
    // The data are of another build, or of one whose notes had no digest.
    for other in [Some("0123456789abcdef0123456789abcdef"), None] {
        let fields = note.as_object_mut().expect("an object");
        fields.remove("script");
        fields.extend(other.map(|other| ("script".to_owned(), other.into())));
        fs::write(&path, note.to_string()).expect("the note can be written");
        assert_eq!(value(&mut client, &run), "t", "{other:?}");
    }
    place.nothing_is_left("runs on a target");
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
    // This server itself makes the same transactions.
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

/// Gives the settings that PostgreSQL 18 has brought values of their own, as far as this version knows them: the lines that a target
/// server gets for them.
fn set_those_of_newer_versions(server: &TestServer) -> Vec<String> {
    const NAMES: &str = "{file_copy_method,io_max_combine_limit,io_max_concurrency}";
    let mut client = server.connect("postgres");
    let known = format!(
        "SELECT format('ALTER SYSTEM SET %I = %L', name, coalesce(enumvals[cardinality(enumvals)], '5')) FROM pg_settings \
         WHERE name = ANY ('{NAMES}') ORDER BY name"
    );
    let statements = rows(&mut client, &known);
    let is_new = value(
        &mut client,
        "SELECT current_setting('server_version_num')::integer >= 180000",
    );
    assert_eq!(statements.len() == 3, is_new == "t", "{statements:?}");
    for statement in statements {
        execute(&mut client, &statement);
    }
    drop(client);
    server.restart();
    let lines = format!(
        "SELECT format('%s = %L', name, current_setting(name)) FROM pg_settings WHERE name = ANY ('{NAMES}') ORDER BY name"
    );
    rows(&mut server.connect("postgres"), &lines)
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
    let of_version = set_those_of_newer_versions(&server);
    let place = Place::beside(server, ", data_checksums => false");
    let value = |sql: &str| place.server.value(sql);
    let planned = value("SELECT command FROM fsbench.plan('here') WHERE action = 'write settings'");
    let wanted = [
        "work_mem = '7MB'",
        "max_wal_size = '2GB'",
        "listen_addresses = ''",
    ];
    for line in wanted
        .into_iter()
        .chain(of_version.iter().map(String::as_str))
    {
        assert!(planned.lines().any(|l| l == line), "{line}: {planned}");
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
        "cp.out",
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
    // The directory of the socket, which other users cannot enter; and no address.
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
    // Before anything is made.
    assert_eq!(value("SELECT count(*) FROM fsbench.run_log"), "2");
}

#[test]
fn targets_and_data_in_use() {
    let place = Place::new("");
    a_target_in_use_is_neither_changed_nor_dropped(&place);
    prepared_data_are_anybodys_again_once_they_are_copied(&place);
    a_server_in_a_directory_is_crashed_without_its_filesystem(&place);
    the_extension_of_prepared_data_is_created_anew_only_if_another_script_has_created_it(&place);
    a_target_server_that_cannot_start_says_why(&place);
}

fn a_target_server_that_cannot_start_says_why(place: &Place) {
    let mut client = place.server.connect("postgres");
    let few = r#"SELECT fsbench.alter_target('here', settings => '{"max_connections": 1}')"#;
    value(&mut client, few);
    assert_refused(
        &mut client,
        &format!("SELECT * FROM fsbench.run({SHORT_RUN})"),
        "58000",
        &[
            "the target server did not start",
            "DETAIL: ",
            "must be less than max_connections",
        ],
    );
    place.nothing_is_left("a server that did not start");
}

fn a_target_in_use_is_neither_changed_nor_dropped(place: &Place) {
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

fn prepared_data_are_anybodys_again_once_they_are_copied(place: &Place) {
    let run = place.server.start_run(LONG_RUN);
    let mut client = place.server.connect("postgres");
    wait_for_phase(&mut client, "measure");
    let drop = "SELECT fsbench.drop_prepared_data() > 0";
    assert_eq!(value(&mut client, drop), "t");
    let cancel = format!("SELECT fsbench.cancel({run})");
    assert_eq!(value(&mut client, &cancel), "t");
    place.nothing_is_left("a run whose data were dropped");
}

#[test]
fn places_that_are_taken_and_places_that_are_refused() {
    let place = Place::new("");
    a_volume_whose_group_is_the_servers_own_is_taken(&place);
    let _ = fs::remove_dir(place.path().join("volume"));
    a_place_that_others_can_exchange_or_that_is_gone_is_refused(&place);
}

fn a_volume_whose_group_is_the_servers_own_is_taken(place: &Place) {
    const NAME: &str = "a_volume_whose_group_is_the_servers_own_is_taken";
    let Some(owner) = server_owner() else {
        return skip(NAME, "only root makes directories of root");
    };
    let mut client = place.server.connect("postgres");
    let volume = place.path().join("volume");
    fs::create_dir(&volume).expect("a directory");
    // The postmaster has made it.
    let made = fs::metadata(place.data().join("postmaster.pid"));
    let group = made.expect("a file of the postmaster").gid();
    let mut create = |owner: u32, group: u32| {
        std::os::unix::fs::chown(&volume, Some(owner), Some(group)).expect("chown");
        fs::set_permissions(&volume, fs::Permissions::from_mode(0o2775)).expect("chmod");
        let sql = format!(
            "SELECT fsbench.create_target('volume', directory => '{}')",
            volume.display()
        );
        let answer = client.simple_query(&sql);
        let answer = answer.map_err(|error| {
            let error = error.as_db_error().expect("an error of the server");
            error.detail().unwrap_or_default().to_owned()
        });
        answer.err().unwrap_or_default()
    };
    // The server's user is not in this group.
    let others = create(owner, group + 54_321);
    assert!(
        others.contains("which is not the server's, can exchange"),
        "{others}"
    );
    let own = create(0, group);
    if own.contains("Other members of group") || own.contains("cannot list all members") {
        return skip(NAME, &own);
    }
    assert_eq!(own, "");
}

fn a_place_that_others_can_exchange_or_that_is_gone_is_refused(place: &Place) {
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

fn a_server_in_a_directory_is_crashed_without_its_filesystem(place: &Place) {
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
