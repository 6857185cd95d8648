//! The library and the extension of an experiment's database have different versions.

use super::{SHORT, hold_first_run, outcomes, targets, wait_for, wait_for_no_run, wait_for_runs};
use crate::common::{execute, row, server};
use pgfsbench_tests::{LONG, Stop, TestServer, wait_until};
use postgres::Client;

fn set_version(client: &mut Client, version: &str) {
    execute(
        client,
        &format!("UPDATE pg_extension SET extversion = '{version}' WHERE extname = 'pgfsbench'"),
    );
}

#[test]
fn with_another_version_it_is_paused_and_says_why() {
    for restarts in [false, true] {
        let server = server(&[]);
        let mut client = server.connect("postgres");
        let _places = targets(&mut client, &["a", "b"]);
        let first = hold_first_run(&server, &mut client);
        set_version(&mut client, "0.0.9");
        if restarts {
            server.stop(Stop::Fast);
            server.start_again();
            client = server.connect("postgres");
        }
        drop(first);
        let status = "SELECT status, status_reason FROM fsbench.experiment";
        wait_until("it is paused", LONG, || {
            let said = row(&mut client, status);
            let begins = format!(
                "paused|the library that the server has loaded is version {}, the extension in this database version 0.0.9; ",
                env!("CARGO_PKG_VERSION")
            );
            (said.starts_with(&begins) && said.contains("ALTER EXTENSION pgfsbench UPDATE"))
                .then_some(())
        });
        let logged = "SELECT count(*) FROM fsbench.experiment_log WHERE event = 'paused' AND message LIKE '%0.0.9%'";
        assert_eq!(row(&mut client, logged), "1");
        set_version(&mut client, env!("CARGO_PKG_VERSION"));
        execute(&mut client, "SELECT fsbench.resume_experiment('e')");
        wait_for_runs(&mut client, "e", 2);
        let made = outcomes(&mut client, "e");
        let was_cut_off = made.iter().any(|made| made.starts_with("interrupted"));
        assert_eq!(was_cut_off, restarts, "{made:?}");
        execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
        wait_for_no_run(&mut client);
        if !restarts {
            what_nobody_goes_on_with_is_resumed(&mut client);
        }
    }
}

#[test]
fn an_update_while_an_experiment_is_on() {
    let server = TestServer::with_extension(&[]);
    an_update_while_it_is_being_paused_lets_it_go_on(&server);
    server.start_anew();
    an_update_while_it_goes_on_pauses_it_and_fails_no_run(&server);
}

fn an_update_while_it_is_being_paused_lets_it_go_on(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let first = hold_first_run(server, &mut client);
    set_version(&mut client, "0.0.9");
    let mut held = server.hold_at("conductor of another version");
    drop(first);
    held.wait_for(1);
    set_version(&mut client, env!("CARGO_PKG_VERSION"));
    drop(held);
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6"]);
    let paused = "SELECT count(*) FROM fsbench.experiment_log WHERE event = 'paused'";
    assert_eq!(row(&mut client, paused), "0");
}

fn an_update_while_it_goes_on_pauses_it_and_fails_no_run(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let first = hold_first_run(server, &mut client);
    // The conductor has seen that the version is the right one.
    let mut held = server.hold_at("conductor before an outcome");
    drop(first);
    held.wait_for(1);
    set_version(&mut client, "9.9.9");
    drop(held);
    wait_until("it is paused", LONG, || {
        let status = "SELECT status FROM fsbench.experiment";
        (row(&mut client, status) == "paused").then_some(())
    });
    assert_eq!(outcomes(&mut client, "e"), ["measured 1"]);
    set_version(&mut client, env!("CARGO_PKG_VERSION"));
    execute(&mut client, "SELECT fsbench.resume_experiment('e')");
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6"]);
}

/// The row says that the experiment is running, and no conductor knows of it.
fn what_nobody_goes_on_with_is_resumed(client: &mut Client) {
    execute(
        client,
        &format!(
            "SELECT fsbench.experiment('f', '{{a,b}}', start => false, {SHORT}); UPDATE fsbench.experiment SET status = 'running' WHERE experiment = 'f'"
        ),
    );
    // The place of the one before may still be given back.
    wait_until("it is resumed", LONG, || {
        let resume = "SELECT fsbench.resume_experiment('f')";
        client.batch_execute(resume).ok()
    });
    wait_for_runs(client, "f", 1);
    execute(client, "SELECT fsbench.cancel_experiment('f')");
    wait_for_no_run(client);
}
