//! Room for copies of the server while several are made at once, and while a slow one grows.

use crate::common::{assert_refused, execute, row, set};
use crate::directory_target;
use pgfsbench_tests::{LONG, Leaves, TestServer, wait_until, write_as_owner};
use postgres::Client;
use std::fs;
use std::path::Path;

/// Copies that are being made.
fn under_way(server: &TestServer) -> usize {
    let place = server.data().join("pgfsbench/pgsql_tmp_prepared_data");
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let is_copy = |entry: &fs::DirEntry| {
        entry
            .path()
            .extension()
            .is_some_and(|end| end == "incoming")
    };
    entries.filter(is_copy).count()
}

#[test]
fn a_copy_counts_while_it_is_made_and_ends_before_it_takes_the_reserve() {
    // Each copy asks for more than 512 MB.
    let server = TestServer::with_extension(&[("pgfsbench.prepared_data_limit", "1GB")]);
    let mut client = server.connect("postgres");
    let slow = server.background(
        "postgres",
        "SELECT fsbench.prepare_data('slow', from_server => true, max_rate => '32k')",
    );
    wait_until("a copy is being made", LONG, || {
        (under_way(&server) == 1).then_some(())
    });
    assert_refused(
        &mut client,
        "SELECT fsbench.prepare_data('second', from_server => true)",
        "53100",
        &[
            "there is no room for the copy",
            "of copies that are being made",
            "pgfsbench.prepared_data_limit is 1024 MB",
        ],
    );
    assert!(!slow.is_finished());
    set(&server, &mut client, "pgfsbench.reserved_space", "1000TB");
    let error = slow.join().expect_err("no filesystem has that much");
    let said = error.as_db_error().expect("the server says why");
    assert_eq!(said.code().code(), "53100", "{said:?}");
    assert_eq!(said.message(), "the copy takes too much room");
    let detail = said.detail().unwrap_or_default();
    assert!(detail.contains("pgfsbench.reserved_space"), "{detail}");
    server.nothing_is_left("a copy that was ended");
    assert_eq!(under_way(&server), 0);
}

const NAMES: &str = "SELECT string_agg(data, ' ' ORDER BY data) FROM fsbench.prepared_data";

fn copy(name: &str) -> String {
    format!("SELECT fsbench.prepare_data('{name}', from_server => true)")
}

/// As if that copy had a terabyte.
fn make_large(client: &mut Client, name: &str) {
    let place = format!("SELECT directory FROM fsbench.prepared_data WHERE data = '{name}'");
    let note = Path::new(&row(client, &place)).join("note.json");
    let text = fs::read_to_string(&note).expect("the note");
    let mut contents: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    contents["bytes"] = (1u64 << 40).into();
    write_as_owner(&note, &contents.to_string());
}

#[test]
fn beyond_the_limit_a_copy_goes_unless_an_experiment_uses_it_or_the_role_may_not_drop_it() {
    let place = directory_target::Place::beside(TestServer::with_extension(&[]), "");
    let server = &place.server;
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE shop");
    execute(&mut client, &copy("a"));
    execute(
        &mut client,
        "SELECT fsbench.experiment('of a', targets => '{here}', factors => '{\"clients\": [1, 2]}', workload => 'script', scripts => 'SELECT 1;', \
         data => 'a', database => 'shop', duration => '1 s', start => false); \
         CREATE ROLE op LOGIN; SELECT fsbench.grant_operator('op'); GRANT EXECUTE ON FUNCTION fsbench.prepare_data TO op",
    );
    make_large(&mut client, "a");
    set(server, &mut client, "pgfsbench.prepared_data_limit", "1TB");
    let no_room = &["there is no room for the copy", "of named data"];
    assert_refused(&mut client, &copy("b"), "53100", no_room);
    execute(&mut client, "SELECT fsbench.cancel_experiment('of a')");
    assert_refused(
        &mut server.connect_as("op", "postgres"),
        &copy("b"),
        "53100",
        no_room,
    );
    assert_eq!(row(&mut client, NAMES), "a");
    execute(&mut client, &copy("b"));
    assert_eq!(row(&mut client, NAMES), "b");
}
