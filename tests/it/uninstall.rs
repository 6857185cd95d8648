//! The way out: the messages of DROP EXTENSION, orphaned prepared data, and the message of the package before its files go.

use crate::common::{QUICK, execute, owned_directory, row, run, server};
use pgfsbench_tests::{
    DebianCluster, LONG, OwnedDirectory, TestServer, refusal, skip, write_as_owner,
};
use postgres::{Client, NoTls};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A session, and the messages that it gets: message, DETAIL and HINT.
fn listening(server: &TestServer) -> (Client, Arc<Mutex<Vec<String>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let client = server
        .config("postgres", "postgres")
        .notice_callback(move |notice| {
            let (detail, hint) = (notice.detail(), notice.hint());
            let said = [Some(notice.message()), detail, hint];
            let said: Vec<&str> = said.into_iter().flatten().collect();
            sink.lock().expect("one thread").push(said.join("\n"));
        })
        .connect(NoTls)
        .expect("a session");
    (client, told)
}

/// Notices of a statement, which must succeed.
fn told_by(server: &TestServer, sql: &str) -> String {
    let (mut client, told) = listening(server);
    execute(&mut client, sql);
    let told = told.lock().expect("one thread");
    told.join("\n")
}

/// A run on a directory, so that data are prepared. The directory goes with the value.
fn prepare_data(client: &mut Client) -> OwnedDirectory {
    let place = owned_directory("pgfsbench-uninstall");
    let directory = place.path().display();
    execute(
        client,
        &format!("SELECT fsbench.create_target('there', directory => '{directory}')"),
    );
    run(client, &format!("target => 'there', {QUICK}"));
    place
}

fn prepared(server: &TestServer) -> usize {
    loaded_at(&server.data().join("pgfsbench/pgsql_tmp_prepared_data")).len()
}

#[test]
fn drop_extension_tells_what_it_leaves() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let nothing = "DROP EXTENSION IF EXISTS pgfsbench";
    let told = told_by(&server, nothing);
    assert!(told.contains("The library is preloaded."), "{told}");
    assert!(told.contains("shared_preload_libraries"), "{told}");
    assert!(
        !told.contains("Prepared data") && !told.contains("Work databases"),
        "{told}"
    );
    // It is not there, or it is another one.
    assert!(!told_by(&server, nothing).contains("leaves"));
    let other = "CREATE EXTENSION pgcrypto; DROP EXTENSION pgcrypto";
    assert_eq!(told_by(&server, other), "");

    execute(&mut client, "CREATE EXTENSION pgfsbench");
    let _place = prepare_data(&mut client);
    let kept = run(&mut client, &format!("{QUICK}, keep => true"));
    // A dump has jobs of runs: those of another database, in the same server.
    execute(
        &mut client,
        "INSERT INTO fsbench.helper_job (run_id, target, action, request, status, ended_at, result) \
         VALUES (7, 'other', 'prepare', '{}', 'done', now() - interval '1 s', '{\"mount_point\": \"/mnt\"}')",
    );
    assert_eq!(
        row(&mut client, "SELECT count(*) FROM fsbench.prepared_target"),
        "0"
    );
    // Mounts by root are known from the helper's last description.
    execute(
        &mut client,
        "INSERT INTO fsbench.helper_description (seen_at, helper_version, description) \
         VALUES (now(), '0', '{\"prepared\": [{\"target\": \"xfs\", \"mount_point\": \"/mnt\"}]}')",
    );
    // A role that may not drop it learns nothing.
    execute(
        &mut client,
        "CREATE ROLE somebody LOGIN; GRANT USAGE ON SCHEMA fsbench TO somebody",
    );
    let mut somebody = server.connect_as("somebody", "postgres");
    assert_eq!(
        refusal(&mut somebody, "DROP EXTENSION pgfsbench")
            .code()
            .code(),
        "42501"
    );

    let told = told_by(&server, "DROP EXTENSION pgfsbench");
    for words in [
        "extension \"pgfsbench\" leaves what is outside of this database",
        "Mounted targets: xfs.",
        &format!("Work databases of runs with keep: fsbench_work_{kept}."),
        "Prepared data of ",
        "pgsql_tmp_prepared_data",
        "The library is preloaded.",
        "pgfsbench-helper cleanup",
        "for a day",
    ] {
        assert!(told.contains(words), "no {words} in:\n{told}");
    }
    // It fails as it did: no word of what is left.
    let (mut client, told) = listening(&server);
    execute(
        &mut client,
        "CREATE EXTENSION pgfsbench; CREATE VIEW mine AS SELECT * FROM fsbench.result",
    );
    assert_eq!(
        refusal(&mut client, "DROP EXTENSION pgfsbench")
            .code()
            .code(),
        "2BP01"
    );
    assert_eq!(*told.lock().expect("one thread"), [""; 0]);
    execute(&mut client, "DROP EXTENSION pgfsbench CASCADE");
    assert_eq!(
        row(
            &mut client,
            "SELECT count(*) FROM pg_extension WHERE extname = 'pgfsbench'"
        ),
        "0"
    );
}

fn since(server: &TestServer) -> PathBuf {
    server.data().join("pgfsbench/without_extension")
}

/// As if it had been noted that many hours ago.
fn age(file: &Path, hours: u32) {
    let mut touch = Command::new("touch");
    touch
        .args(["-h", "-d", &format!("{hours} hours ago")])
        .arg(file);
    assert!(touch.status().expect("touch").success());
}

/// Restarts the server, and waits until the janitor has checked everything.
fn restart(server: &TestServer) {
    server.restart();
    let looked = "SELECT bool_and(query = 'pgfsbench janitor') FROM pg_stat_activity WHERE backend_type = 'fsbench janitor'";
    server.wait_for("postgres", looked, LONG);
}

#[test]
fn prepared_data_go_when_no_database_has_had_the_extension_for_a_day() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _place = prepare_data(&mut client);
    assert_eq!(prepared(&server), 1);
    execute(&mut client, "CREATE DATABASE other");
    execute(&mut server.connect("other"), "CREATE EXTENSION pgfsbench");
    execute(&mut client, "DROP EXTENSION pgfsbench");
    drop(client);

    // Another database has it: nothing is noted, however often the server starts.
    restart(&server);
    assert!(!since(&server).exists());
    execute(&mut server.connect("other"), "DROP EXTENSION pgfsbench");
    // It is noted, and stays as it was noted.
    restart(&server);
    assert!(since(&server).exists());
    age(&since(&server), 23);
    restart(&server);
    assert_eq!(prepared(&server), 1);
    // A database has the extension again, and drops it: counted anew.
    execute(&mut server.connect("other"), "CREATE EXTENSION pgfsbench");
    assert!(!since(&server).exists());
    execute(&mut server.connect("other"), "DROP EXTENSION pgfsbench");
    restart(&server);
    assert!(since(&server).exists());
    assert_eq!(prepared(&server), 1);

    // A database that does not allow connections may have it.
    age(&since(&server), 25);
    let mut client = server.connect("postgres");
    execute(&mut client, "ALTER DATABASE other ALLOW_CONNECTIONS false");
    drop(client);
    restart(&server);
    assert!(!since(&server).exists());
    assert_eq!(prepared(&server), 1);
    let mut client = server.connect("postgres");
    execute(&mut client, "ALTER DATABASE other ALLOW_CONNECTIONS true");
    drop(client);

    restart(&server);
    assert!(since(&server).exists());
    age(&since(&server), 25);
    restart(&server);
    assert_eq!(prepared(&server), 0);
    assert!(!since(&server).exists());
    let log = server.log();
    assert!(
        log.contains("no database has had the extension pgfsbench for a day"),
        "{log}"
    );
}

#[test]
fn copies_of_the_server_go_with_the_extension_that_has_made_them() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _place = prepare_data(&mut client);
    execute(&mut client, "CREATE DATABASE other");
    let mut other = server.connect("other");
    execute(&mut other, "CREATE EXTENSION pgfsbench");
    for (client, name) in [(&mut client, "ours"), (&mut other, "theirs")] {
        let copy = format!("SELECT fsbench.prepare_data('{name}', from_server => true)");
        execute(client, &copy);
    }
    assert_eq!(prepared(&server), 3);
    // The janitor looks when each of these is over.
    let looked = "SELECT count(*) = 0 FROM pg_ls_dir('pgfsbench') f WHERE f LIKE 'dropped-%'";
    let files = "SELECT count(*) > 0 FROM pg_ls_dir('pgfsbench') f WHERE f LIKE 'dropped-%'";
    let drop = "DROP EXTENSION pgfsbench";
    execute(
        &mut client,
        &format!("BEGIN; SAVEPOINT s; {drop}; ROLLBACK TO s"),
    );
    assert_eq!(row(&mut client, files), "t");
    execute(&mut client, "COMMIT");
    server.wait_for("postgres", looked, LONG);
    assert_eq!(prepared(&server), 3);

    let told = told_by(&server, drop);
    assert!(
        told.contains("copies of this server go with the extension: \"ours\""),
        "{told}"
    );
    server.wait_for("postgres", looked, LONG);
    let left =
        "SELECT string_agg(coalesce(data, 'loaded'), ' ' ORDER BY data) FROM fsbench.prepared_data";
    assert_eq!(row(&mut other, left), "theirs loaded");
    let log = server.log();
    assert!(log.contains("the extension pgfsbench was dropped"), "{log}");
}

/// Names of directories with data at a place.
fn loaded_at(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "loaded"))
        .collect()
}

#[test]
fn a_place_stays_remembered_until_it_was_emptied_and_another_servers_data_stay() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _place = prepare_data(&mut client);
    let inside = server.data().join("pgfsbench/pgsql_tmp_prepared_data");
    let [made] = &loaded_at(&inside)[..] else {
        panic!("one run, one directory");
    };
    // The setting has named these; the second is another server's now, and the last is on a disk that is not mounted.
    let (own, foreign) = (owned_directory("own"), owned_directory("foreign"));
    let missing = own.path().join("missing");
    for place in [own.path(), foreign.path()] {
        as_owner("cp", &[Path::new("-R"), made, place]);
        as_owner("touch", &[place.join("lock")]);
    }
    let note = loaded_at(foreign.path())[0].join("note.json");
    let text = fs::read_to_string(&note).expect("the note");
    let mut contents: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(contents["made_by"].is_u64(), "{text}");
    contents["made_by"] = 1.into();
    write_as_owner(&note, &contents.to_string());
    let places = server
        .data()
        .join("pgfsbench/pgsql_tmp_prepared_data_places");
    let lines = |paths: &[&Path]| {
        let lines = paths.iter().map(|path| path.display().to_string());
        lines.collect::<Vec<_>>().join("\n")
    };
    write_as_owner(&places, &lines(&[own.path(), foreign.path(), &missing]));
    let count = "SELECT count(*) FROM fsbench.prepared_data";
    assert_eq!(row(&mut client, count), "3");
    row(&mut client, "SELECT fsbench.drop_prepared_data()");
    assert_eq!(prepared(&server), 0);
    assert_eq!(loaded_at(own.path()), [""; 0].map(PathBuf::from));
    assert_eq!(loaded_at(foreign.path()).len(), 1);
    let stay = fs::read_to_string(&places).expect("the file of places");
    assert_eq!(stay, lines(&[foreign.path(), &missing]));
}

/// Has the servers' owner run a program of the system.
fn as_owner<P: AsRef<Path>>(program: &str, arguments: &[P]) {
    let mut command = Command::new(program);
    if rustix::process::geteuid().is_root() {
        command = Command::new("runuser");
        command.args(["-u", "postgres", "--", program]);
    }
    command.args(arguments.iter().map(|argument| argument.as_ref()));
    assert!(command.output().expect("runuser").status.success());
}

/// The package's script, as tools/deb puts it there.
fn prerm(cluster: &DebianCluster, argument: &str) -> String {
    let script = include_str!("../../tools/deb.d/extension.prerm").replace("@MAJOR@", "15");
    let output = cluster
        .tool("sh")
        .args(["-c", &script, "prerm", argument])
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn the_package_says_before_which_servers_will_not_start_without_it() {
    let test = "the_package_says_before_which_servers_will_not_start_without_it";
    let Some(cluster) = DebianCluster::create() else {
        return skip(test, "this is not root, or there is no pg_createcluster");
    };
    assert_eq!(prerm(&cluster, "remove"), "");
    let fragment = cluster.configuration().join("conf.d/a.conf");
    write_as_owner(&fragment, "shared_preload_libraries = 'pgfsbench' # ours\n");
    let told = prerm(&cluster, "remove");
    for words in [
        "15/bench",
        "conf.d/a.conf: 'pgfsbench'",
        "will not start",
        "Uninstall",
    ] {
        assert!(told.contains(words), "no {words} in {told}");
    }
    // Not for an upgrade, which brings the library again.
    assert_eq!(prerm(&cluster, "upgrade"), "");
    // ALTER SYSTEM has the last word.
    cluster.start();
    cluster.psql(
        "postgres",
        "ALTER SYSTEM SET shared_preload_libraries = 'auto_explain'",
    );
    assert_eq!(prerm(&cluster, "remove"), "");
    cluster.psql(
        "postgres",
        "ALTER SYSTEM SET shared_preload_libraries = 'auto_explain', '$libdir/pgfsbench'",
    );
    assert!(prerm(&cluster, "remove").contains("auto.conf: 'auto_explain, \"$libdir/pgfsbench\"'"));
    // Another library, and one that only a comment names.
    cluster.psql(
        "postgres",
        "ALTER SYSTEM SET shared_preload_libraries = 'pgfsbench_not'",
    );
    assert_eq!(prerm(&cluster, "remove"), "");
    cluster.psql("postgres", "ALTER SYSTEM RESET shared_preload_libraries");
    write_as_owner(&fragment, "shared_preload_libraries = '' # pgfsbench\n");
    assert_eq!(prerm(&cluster, "remove"), "");
    // Prepared data that no database's extension removes any more.
    let prepared = cluster
        .path("data")
        .join("pgfsbench/pgsql_tmp_prepared_data");
    assert!(!prerm(&cluster, "remove").contains("prepared"));
    as_owner("mkdir", &[Path::new("-p"), &prepared]);
    assert!(!prerm(&cluster, "remove").contains("prepared"));
    // A run that has looked for data left that.
    as_owner("touch", &[prepared.join("lock")]);
    assert!(!prerm(&cluster, "remove").contains("prepared"));
    as_owner("mkdir", &[prepared.join("1.loaded")]);
    let told = prerm(&cluster, "remove");
    assert!(
        told.contains(&format!("  15/bench: {} (", prepared.display())) && told.contains("by hand"),
        "{told}"
    );
    assert_eq!(prerm(&cluster, "upgrade"), "");
    as_owner("rmdir", &[prepared.join("1.loaded")]);
    // Text that would hold up or mislead root's terminal does not.
    let hostile = "\u{1b}[2Jshared_preload_libraries = 'pgfsbench'\nshared_preload_libraries = 'pgfsbench\u{1b}[2J'\n";
    write_as_owner(&fragment, hostile);
    assert!(!prerm(&cluster, "remove").contains('\u{1b}'));
    fs::remove_file(&fragment).expect("it goes");
    // The owner of the files chooses their names: none is read as a program.
    let odd = cluster
        .configuration()
        .join("conf.d/a|w &\\1'\n$(id)`id`.conf");
    write_as_owner(&odd, "shared_preload_libraries = 'pgfsbench|w &\\1'\n");
    let told = prerm(&cluster, "remove");
    let shown = "conf.d/a|w &\\1'?$(id)`id`.conf: 'pgfsbench|w &\\1'\n";
    assert!(told.contains(shown), "{told}");
    as_owner("mv", &[&odd, &fragment]);
    assert!(prerm(&cluster, "remove").contains("conf.d/a.conf: 'pgfsbench|w &\\1'\n"));
    // The last of these files is read with the rights of their owner: root's is not read.
    let hidden = fragment.with_file_name("z.conf");
    as_owner(
        "ln",
        &[
            Path::new("-s"),
            cluster.path("root.conf").as_path(),
            &hidden,
        ],
    );
    fs::write(cluster.path("root.conf"), "shared_preload_libraries = ''\n").expect("a file");
    fs::set_permissions(cluster.path("root.conf"), Permissions::from_mode(0o600)).expect("chmod");
    assert!(prerm(&cluster, "remove").contains("conf.d/a.conf: 'pgfsbench|w"));
    as_owner("rm", &[&hidden, &fragment]);
    assert!(
        Command::new("mkfifo")
            .arg(&fragment)
            .status()
            .expect("mkfifo")
            .success()
    );
    assert_eq!(prerm(&cluster, "remove"), "");
}
