//! Databases of others stay, whatever rows, comments and journals say of them.

use pgfsbench_tests::{Leaves, Stop, TestServer, refusal, server_owner};
use std::fs;
use std::path::Path;

/// A database of another user, with a comment; its OID.
fn database(server: &TestServer, name: &str, comment: &str) -> String {
    server.value(&format!("CREATE DATABASE {name}"));
    server.value(&format!("COMMENT ON DATABASE {name} IS '{comment}'"));
    server.value(&format!(
        "SELECT oid FROM pg_database WHERE datname = '{name}'"
    ))
}

fn databases(server: &TestServer) -> String {
    server.value(
        "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE datname ~ '^(shop|fsbench_work)'",
    )
}

/// The journal's file of a run in database postgres.
fn write_entry(server: &TestServer, home: &str, run: u32, name: &str, oid: &str, comment: &str) {
    let directory = server.data().join("pgfsbench");
    let entry = directory.join(format!("{home}-{run}.json"));
    let text = format!(
        r#"{{"home": {home}, "run_id": {run}, "work_database": "{name}", "work_database_oid": {oid}, "comment": "{comment}", "directory_existed": true}}"#
    );
    let own = |path: &Path| {
        if let Some(owner) = server_owner() {
            std::os::unix::fs::chown(path, Some(owner), None).expect("chown");
        }
    };
    fs::create_dir_all(&directory).expect("the journal's directory");
    own(&directory);
    fs::write(&entry, text).expect("an entry");
    own(&entry);
}

#[test]
fn databases_of_others_stay() {
    let server = TestServer::with_extension(&[]);
    a_row_of_run_log_drops_no_database(&server);
    server.start_anew();
    the_journal_drops_what_has_its_name_and_its_comment_and_nothing_else(&server);
}

fn a_row_of_run_log_drops_no_database(server: &TestServer) {
    let oid = database(server, "shop", "the shop; mark 12ab");
    server.value("CREATE ROLE writer; GRANT pg_write_all_data, pg_read_all_data TO writer; GRANT USAGE ON SCHEMA fsbench TO writer");
    let forge = |mark: &str| {
        format!(
            "INSERT INTO fsbench.run_log (status, target, workload, asked, used, requested_by, work_database, work_database_oid, work_mark) \
             VALUES ('running', 'default', 'tpcb', '{{}}', '{{}}', 'postgres', 'shop', {oid}, '{mark}')"
        )
    };
    server.a_run_works("nothing");
    // Rights on all tables do not reach what clearing up looks at.
    let mut writer = server.connect("postgres");
    for sql in [
        forge("12ab").as_str(),
        "UPDATE fsbench.run_log SET status = 'running'",
        "DELETE FROM fsbench.run_log",
        "MERGE INTO fsbench.run_log r USING (SELECT 1) s ON true WHEN MATCHED THEN UPDATE SET kept = true",
    ] {
        let refused = refusal(&mut writer, &format!("SET ROLE writer; {sql}"));
        assert_eq!(refused.code().code(), "42501", "{sql}: {refused:?}");
    }
    // A superuser may write what he likes, as a dump of another server does: it still drops nothing.
    for mark in ["12ab", "shop", "", "the shop; mark 12ab"] {
        server.value(&forge(mark));
    }
    server.value("UPDATE fsbench.run_log SET status = 'running', error_code = NULL WHERE work_database = 'shop'");
    server.restart();
    server.nothing_is_left("rows that were forged");
    assert_eq!(databases(server), "shop");
    let failed =
        "SELECT count(*) FROM fsbench.run_log WHERE status = 'failed' AND error_code = '57P02'";
    assert_eq!(server.value(failed), "4");
}

fn the_journal_drops_what_has_its_name_and_its_comment_and_nothing_else(server: &TestServer) {
    let home = server.value("SELECT oid FROM pg_database WHERE datname = 'postgres'");
    let ours =
        |run: u32| format!("pgfsbench: work database of run {run} in database postgres; mark 12ab");
    let made = [
        // The database of a run, as it was made.
        ("fsbench_work_101", ours(101), "fsbench_work_101", ours(101)),
        // No database of a run by its name, or by its comment.
        ("shop1", ours(102), "shop1", ours(102)),
        (
            "fsbench_work_103",
            "mine".into(),
            "fsbench_work_103",
            "mine".into(),
        ),
        // A database that another user has taken over.
        ("shop2", ours(104), "fsbench_work_104", ours(104)),
        (
            "fsbench_work_105",
            format!("{} mine now", ours(105)),
            "fsbench_work_105",
            ours(105),
        ),
    ];
    let oids: Vec<String> = made
        .iter()
        .map(|(name, comment, ..)| database(server, name, comment))
        .collect();
    server.stop(Stop::Fast);
    for (run, ((.., name, comment), oid)) in (101..).zip(made.iter().zip(&oids)) {
        write_entry(server, &home, run, name, oid, comment);
    }
    server.start_again();
    let kept = ["fsbench_work_103", "fsbench_work_105"];
    server.nothing_is_left_but(&kept, "forged entries");
    assert_eq!(
        databases(server),
        "fsbench_work_103 fsbench_work_105 shop1 shop2"
    );
}
