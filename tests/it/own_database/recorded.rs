//! Recorded statements become scripts.

use crate::common::{assert_refused, execute, row};
use pgfsbench_tests::TestServer;

/// The statements of an application, each often enough to be among the first.
fn work(server: &TestServer) {
    let mut shop = server.connect("shop");
    execute(
        &mut shop,
        "ROLLBACK; CREATE TABLE IF NOT EXISTS item (id int PRIMARY KEY, stock int NOT NULL, note text); INSERT INTO item SELECT n, 1000 FROM generate_series(1, 500) n; ANALYZE item",
    );
    // Statements within a function are recorded, and come with the function.
    execute(
        &mut shop,
        "SET pg_stat_statements.track = 'all'; DO $$BEGIN FOR n IN 1..99 LOOP PERFORM stock FROM item WHERE note = 'nested'; END LOOP; END$$",
    );
    for n in 1..=40 {
        execute(&mut shop, &format!("SELECT stock FROM item WHERE id = {n}"));
    }
    for n in 1..=10 {
        execute(
            &mut shop,
            &format!(
                "UPDATE item SET stock = stock - 1 WHERE id = {n} AND note IS DISTINCT FROM '4711'"
            ),
        );
    }
}

#[test]
fn recorded_statements_become_a_script_that_can_be_run() {
    let libraries = "pg_stat_statements, pgfsbench";
    let server = TestServer::with_extension(&[("shared_preload_libraries", libraries)]);
    let mut client = server.connect("postgres");
    let call = "SELECT fsbench.script_from_statements(database => 'shop', top => 3)";
    execute(&mut client, "CREATE DATABASE shop; ");
    assert_refused(
        &mut client,
        call,
        "55000",
        &[
            "does not record statements",
            "CREATE EXTENSION pg_stat_statements",
        ],
    );
    execute(&mut client, "CREATE EXTENSION pg_stat_statements");
    assert_refused(
        &mut client,
        call,
        "55000",
        &["no statements of database \"shop\" are recorded"],
    );
    execute(
        &mut client,
        "CREATE ROLE op LOGIN; SELECT fsbench.grant_operator('op')",
    );
    work(&server);
    let text = row(&mut client, call);
    let scripts: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let scripts = scripts.as_array().expect("an array");
    assert_eq!(scripts.len(), 3, "{text}");
    let first = &scripts[0];
    let text_of =
        |script: &serde_json::Value| script["text"].as_str().unwrap_or_default().to_owned();
    assert_eq!(first["weight"], 1000);
    assert!(
        text_of(first)
            .ends_with("\\set p1 random(1, 500)\nSELECT stock FROM item WHERE id = :p1;\n"),
        "{text}"
    );
    let update = scripts
        .iter()
        .map(text_of)
        .find(|text| text.contains("UPDATE item"));
    let update = update.expect("it has many calls");
    assert!(
        update.contains("-- choose: $1\n") && update.contains("\\set p2 random(1, 500)"),
        "{update}"
    );
    assert!(!text.contains("4711") && !text.contains("note ="), "{text}");
    // Who may not read statements and columns gets none of them.
    let mut operator = server.connect_as("op", "postgres");
    assert_refused(&mut operator, call, "55000", &["no statements"]);
    execute(&mut client, "GRANT pg_read_all_stats TO op");
    let of_operator = row(&mut operator, call);
    assert!(
        of_operator.contains("item") && !of_operator.contains("random("),
        "{of_operator}"
    );
    assert_refused(
        &mut client,
        "SELECT fsbench.script_from_statements(top => 0)",
        "22023",
        &["top is out of range"],
    );
    assert_refused(
        &mut client,
        "SELECT fsbench.script_from_statements('gone')",
        "3D000",
        &["does not exist"],
    );
}
