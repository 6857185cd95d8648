//! The library is not preloaded or has too few slots: each says what to do, and doing it helps.

use crate::common::{QUICK, assert_refused, execute, paste_into_psql, row, run};
use pgfsbench_tests::TestServer;
use postgres::NoTls;
use std::sync::{Arc, Mutex};

/// The warning of CREATE EXTENSION, as message and HINT.
pub fn warning_of_create_extension(server: &TestServer) -> Option<(String, String)> {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&warnings);
    let mut client = server
        .config("postgres", "postgres")
        .notice_callback(move |notice| {
            if notice.severity() == "WARNING" {
                let hint = notice.hint().unwrap_or_default().to_owned();
                let mut all = sink.lock().expect("one thread");
                all.push((notice.message().to_owned(), hint));
            }
        })
        .connect(NoTls)
        .expect("a session");
    execute(&mut client, "CREATE EXTENSION pgfsbench");
    let warnings = warnings.lock().expect("one thread");
    assert!(warnings.len() <= 1, "{warnings:?}");
    warnings.first().cloned()
}

/// The statements in a HINT of the form `Run ...; and restart the server.`
fn statements(hint: &str) -> &str {
    hint.split_once("Run ")
        .and_then(|(_, rest)| rest.split_once(" and restart the server."))
        .map(|(statements, _)| statements)
        .unwrap_or_else(|| panic!("no statements in the HINT: {hint}"))
}

#[test]
fn not_preloaded_every_function_says_so_and_its_hint_helps() {
    let server = TestServer::start(&[
        (
            "shared_preload_libraries",
            "pg_stat_statements, auto_explain",
        ),
        ("max_worker_processes", "32"),
    ]);
    let (message, hint) = warning_of_create_extension(&server).expect("a warning");
    assert!(message.contains("shared_preload_libraries"), "{message}");
    assert!(!hint.contains("max_worker_processes"), "{hint}");

    let mut client = server.connect("postgres");
    let mut said = String::new();
    for sql in [
        "SELECT * FROM fsbench.run()",
        "SELECT fsbench.start()",
        "SELECT * FROM fsbench.wait(1)",
        "CALL fsbench.wait(1)",
        "SELECT fsbench.cancel(1)",
        "SELECT * FROM fsbench.progress",
    ] {
        said = assert_refused(
            &mut client,
            sql,
            "55000",
            &["pgfsbench must be loaded", "shared memory", "Run "],
        );
    }
    assert_eq!(
        row(&mut client, "SELECT fsbench.version()"),
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(row(&mut client, "SELECT count(*) FROM fsbench.result"), "0");

    // An operator, who may not see what is preloaded, gets the error too, and not one about that.
    execute(
        &mut client,
        "CREATE ROLE operator; SELECT fsbench.grant_operator('operator'); SET ROLE operator",
    );
    assert_refused(
        &mut client,
        "SELECT * FROM fsbench.run()",
        "55000",
        &["pgfsbench must be loaded", "shared_preload_libraries"],
    );
    execute(&mut client, "RESET ROLE");

    assert_eq!(statements(&said), statements(&hint));
    paste_into_psql(&server, "postgres", statements(&hint));
    drop(client);
    server.restart();
    let mut client = server.connect("postgres");
    assert_eq!(
        row(&mut client, "SHOW shared_preload_libraries"),
        "pg_stat_statements, auto_explain, pgfsbench"
    );
    run(&mut client, QUICK);
    server.nothing_is_left_at_once();
}

#[test]
fn nothing_preloaded_and_few_slots_one_hint_helps_with_both() {
    let server = TestServer::start(&[("max_worker_processes", "4")]);
    let (message, hint) = warning_of_create_extension(&server).expect("a warning");
    assert!(message.contains("max_worker_processes"), "{message}");
    paste_into_psql(&server, "postgres", statements(&hint));
    server.restart();
    let mut client = server.connect("postgres");
    assert_eq!(
        row(&mut client, "SHOW shared_preload_libraries"),
        "pgfsbench"
    );
    run(
        &mut client,
        "scale => 1, clients => 20, transactions => 5, seed => 1",
    );
}
