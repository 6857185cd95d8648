//! Room for copies of the server while several are made at once, and while a slow one grows.

use crate::common::{assert_refused, set};
use pgfsbench_tests::{LONG, Leaves, TestServer, wait_until};
use std::fs;

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
