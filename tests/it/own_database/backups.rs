//! A backup in a directory becomes data with a name, and nothing of it acts by itself.

use super::run;
use crate::common::{assert_refused, execute, owned_directory, row};
use crate::directory_target::Place;
use pgfsbench_tests::{
    LONG, Leaves, TestServer, in_single_user_mode, initialize, refusal, wait_until,
};
use postgres::Client;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn prepare_from(path: &Path) -> String {
    format!(
        "SELECT fsbench.prepare_data('shop', from_directory => '{}') > 1000000",
        path.display()
    )
}

/// A server of which a backup is made that would act by itself wherever a server starts on it.
fn acting_by_itself() -> TestServer {
    let server = TestServer::with_extension(&[("max_prepared_transactions", "3")]);
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE shop");
    execute(
        &mut server.connect("shop"),
        "CREATE FUNCTION act() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'it acts'; END$$; \
         CREATE EVENT TRIGGER act ON ddl_command_start EXECUTE FUNCTION act(); ALTER EVENT TRIGGER act ENABLE ALWAYS",
    );
    // No session can begin after that: it comes last.
    execute(
        &mut client,
        "CREATE ROLE clerk; ALTER ROLE clerk IN DATABASE shop SET local_preload_libraries = 'evil'; \
         ALTER DATABASE shop SET session_preload_libraries = '/nonexistent/evil'; \
         ALTER ROLE ALL SET session_preload_libraries = '/nonexistent/evil'",
    );
    server
}

/// Has the backup name a program, and a library, in its settings.
fn name_programs(backup: &Path, trace: &Path) {
    let settings = format!(
        "restore_command = 'touch {0}'\narchive_mode = on\narchive_command = 'touch {0}'\nshared_preload_libraries = '/nonexistent/evil'\n",
        trace.display()
    );
    fs::write(backup.join("postgresql.auto.conf"), settings).expect("a file");
    fs::write(backup.join("recovery.signal"), "").expect("a file");
    fs::write(backup.join("pg_hba.conf"), "local all all trust\n").expect("a file");
}

/// All other servers of the tests are copies of one cluster, with its identifier.
fn roles_of_another_server_are_refused(place: &Place, backups: &Path) {
    let another = backups.join("another");
    initialize(&another);
    in_single_user_mode(&another, "CREATE DATABASE shop");
    let mut client = place.server.connect("postgres");
    assert_eq!(row(&mut client, &prepare_from(&another)), "t");
    execute(
        &mut client,
        "CREATE ROLE op LOGIN; SELECT fsbench.grant_operator('op'); GRANT EXECUTE ON FUNCTION fsbench.prepare_data TO op",
    );
    assert_refused(
        &mut place.server.connect_as("op", "postgres"),
        &run("SELECT 1;", ""),
        "42501",
        &["data \"shop\" are of another server", "superuser"],
    );
    execute(&mut client, "SELECT fsbench.drop_data('shop')");
}

/// Has the settings of the backup name a key and logs, which are there.
fn name_secrets(backup: &Path) {
    let path = backup.join("postgresql.conf");
    let settings = "ssl_key_file = 'pki/db.pem'\nlog_directory = 'mylogs'\n";
    fs::write(path, settings).expect("a file");
    for (directory, file) in [("pki", "db.pem"), ("mylogs", "monday.log")] {
        let directory = backup.join(directory);
        fs::create_dir(&directory).expect("a directory");
        fs::write(directory.join(file), "secret").expect("a file");
    }
}

/// A session that serves as the helper does, and says that backups in this directory may be copied.
fn allow_backups(server: &TestServer, client: &mut Client, directory: &Path) -> Client {
    // A copy of a server has the row too.
    let allow = format!(
        r#"INSERT INTO fsbench.helper_description (seen_at, helper_version, description) VALUES (now(), '0', '{{"backups": ["{}"]}}')"#,
        directory.display()
    );
    execute(client, &allow);
    let words = ["no pgfsbench-helper says", "fsbench.doctor()"];
    let call = prepare_from(&directory.join("base"));
    assert_refused(client, &call, "55000", &words);
    let mut helper = server.connect("postgres");
    execute(
        &mut helper,
        "SET application_name = 'pgfsbench-helper 0'; INSERT INTO fsbench.helper_session (pid, backend_start, helper_version) \
         SELECT pid, backend_start, '0' FROM pg_stat_activity WHERE pid = pg_backend_pid()",
    );
    // It has not described this machine yet.
    assert_refused(client, &call, "55000", &words);
    execute(
        &mut helper,
        "UPDATE fsbench.helper_description SET seen_at = clock_timestamp()",
    );
    helper
}

#[test]
fn a_backup_whose_wal_makes_a_tablespace_is_refused_before_it_recovers() {
    let original = TestServer::with_extension(&[("wal_keep_size", "1GB")]);
    let place = Place::new("");
    let backups = owned_directory("pgfsbench-backups.");
    let backup = backups.path().join("base");
    original.back_up(&backup);
    let tablespace = owned_directory("pgfsbench-tablespace.");
    let mut there = original.connect("postgres");
    let make = format!(
        "CREATE TABLESPACE live LOCATION '{}'",
        tablespace.path().display()
    );
    execute(&mut there, &make);
    execute(&mut there, "SELECT pg_switch_wal()");
    // A restore that goes on until now.
    for file in fs::read_dir(original.data().join("pg_wal")).expect("it is there") {
        let file = file.expect("it is there").path();
        if file.is_file() {
            let to = backup
                .join("pg_wal")
                .join(file.file_name().expect("a name"));
            fs::copy(&file, &to).expect("a file");
            fs::set_permissions(to, fs::Permissions::from_mode(0o644)).expect("a mode");
        }
    }
    let mut client = place.server.connect("postgres");
    let _helper = allow_backups(&place.server, &mut client, backups.path());
    assert_refused(
        &mut client,
        &prepare_from(&backup),
        "55000",
        &["makes or drops a tablespace", "CREATE", "test server"],
    );
    place.nothing_is_left("copies of a backup");
}

#[test]
fn a_backup_in_a_directory_becomes_data_and_runs_nothing_of_its_own() {
    let original = acting_by_itself();
    let place = Place::new("");
    let backups = owned_directory("pgfsbench-backups.");
    let backup = backups.path().join("base");
    original.back_up(&backup);
    let trace = backups.path().join("trace");
    let mut client = place.server.connect("postgres");
    let helper = allow_backups(&place.server, &mut client, backups.path());
    assert_refused(
        &mut client,
        &prepare_from(Path::new("/nonexistent")),
        "42501",
        &["are not allowed", "--allow-backup"],
    );
    symlink(&backup, backups.path().join("link")).expect("a link");
    fs::create_dir(backups.path().join("empty")).expect("a directory");
    for (name, words) in [
        ("link", "is a link"),
        ("empty", "no data directory"),
        ("gone", "could not open"),
    ] {
        let said = refusal(&mut client, &prepare_from(&backups.path().join(name)));
        assert!(format!("{said:?}").contains(words), "{said:?}");
    }
    let version = backup.join("PG_VERSION");
    let others = fs::Permissions::from_mode(0o666);
    let own = fs::metadata(&version).expect("it is there").permissions();
    fs::set_permissions(&version, others).expect("a mode");
    assert_refused(
        &mut client,
        &prepare_from(&backup),
        "42501",
        &["other users can change"],
    );
    fs::set_permissions(&version, own).expect("a mode");
    // Files have to be as the manifest says.
    let map = backup.join("global/pg_filenode.map");
    let kept = fs::read(&map).expect("a file");
    fs::write(&map, &kept[1..]).expect("a file");
    assert_refused(
        &mut client,
        &prepare_from(&backup),
        "XX001",
        &["not as its manifest says"],
    );
    fs::write(&map, &kept).expect("a file");
    fs::remove_file(backup.join("backup_manifest")).expect("it is there");
    name_programs(&backup, &trace);
    name_secrets(&backup);
    assert_eq!(row(&mut client, &prepare_from(&backup)), "t");
    let checks = r#", init_script => 'CREATE TABLE item (id int); INSERT INTO item VALUES (1);', checks => '[
        {"name": "libraries", "sql": "SELECT count(*) FROM pg_db_role_setting", "expected": 0},
        {"name": "archive", "sql": "SHOW archive_mode", "expected": "off"},
        {"name": "prepared", "sql": "SHOW max_prepared_transactions", "expected": 3}]'"#;
    let id = row(&mut client, &run("SELECT * FROM item;", checks));
    let status = format!("SELECT status FROM fsbench.result WHERE run_id = {id}");
    assert_eq!(row(&mut client, &status), "done");
    assert!(!trace.exists());
    let directory = row(&mut client, "SELECT directory FROM fsbench.prepared_data");
    let copy = Path::new(&directory).join("data");
    assert!(copy.join("PG_VERSION").exists());
    for name in ["pki", "mylogs"] {
        assert!(!copy.join(name).exists(), "{name}");
    }
    execute(&mut client, "SELECT fsbench.drop_data('shop')");
    roles_of_another_server_are_refused(&place, backups.path());
    // A backup without the WAL that it needs does not become data.
    fs::remove_dir_all(backup.join("pg_wal")).expect("it is there");
    assert_refused(
        &mut client,
        &prepare_from(&backup),
        "55000",
        &["is not complete", "pg_wal"],
    );
    // The permission ends with the session of the helper.
    drop(helper);
    wait_until("the helper has gone", LONG, || {
        let said = refusal(&mut client, &prepare_from(&backup));
        let words = "no pgfsbench-helper says which backups may be copied";
        (said.message() == words).then_some(())
    });
    place.nothing_is_left("copies of a backup");
}
