//! Only what is committed happens to an experiment: a ROLLBACK takes everything back.

use super::{LONGER, SHORT, STORES, outcomes, targets, wait_for_no_run, wait_for_runs};
use crate::common::{assert_refused, execute, row, rows, server, wait_for_phase};
use pgfsbench_tests::{LONG, Leaves, TestServer, assert_columns, wait_until};
use postgres::Client;

/// How many experiments this server goes on with by itself.
const MARKS: &str =
    "SELECT count(*) FROM pg_ls_dir('pgfsbench') AS name WHERE name LIKE 'experiment-%.json'";

fn wait_for_marks(client: &mut Client, wanted: &str) {
    wait_until("marks are removed", LONG, || {
        (row(client, MARKS) == wanted).then_some(())
    });
}

#[test]
fn what_is_undone_ends_runs_when_it_is_committed() {
    let server = TestServer::with_extension(&[]);
    marks_go_with_what_is_committed(&server);
    server.start_anew();
    a_cancel_ends_the_run_when_it_is_committed_and_not_before(&server);
    server.start_anew();
    a_run_of_an_experiment_that_is_dropped_ends(&server);
}

fn a_cancel_ends_the_run_when_it_is_committed_and_not_before(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', max_blocks => 3, {LONGER})"),
    );
    wait_for_phase(&mut client, "measure");
    execute(
        &mut client,
        "BEGIN; SELECT fsbench.cancel_experiment('e'); ROLLBACK",
    );
    assert_eq!(row(&mut client, MARKS), "1");
    // The runs to come do not end by themselves.
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET parameters = parameters || '{\"duration_us\": 300000000}'",
    );
    wait_for_runs(&mut client, "e", 1);
    assert_eq!(outcomes(&mut client, "e")[0], "measured 1");
    wait_for_phase(&mut client, "measure");
    execute(
        &mut client,
        "CREATE ROLE bob; GRANT postgres TO bob; SET ROLE bob; SELECT fsbench.cancel_experiment('e'); RESET ROLE",
    );
    wait_for_no_run(&mut client);
    assert_columns(
        &mut client,
        "FROM fsbench.run_log ORDER BY run_id DESC LIMIT 1",
        &[
            ("status", "cancelled"),
            ("error_detail ~ 'of role \"bob\"'", "t"),
        ],
    );
    assert_columns(
        &mut client,
        "FROM fsbench.experiment",
        &[
            ("status", "cancelled"),
            ("ended_by", "cancelled"),
            ("status_reason", "role \"bob\" has cancelled it"),
        ],
    );
    assert_eq!(outcomes(&mut client, "e"), ["interrupted 1", "measured 1"]);
    server.nothing_is_left("a cancelled experiment");
}

fn a_run_of_an_experiment_that_is_dropped_ends(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    // The runs do not end by themselves.
    let long = LONGER.replace("'2 s'", "'300 s'");
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', max_blocks => 3, {long})"),
    );
    // After this transaction the run belongs to no experiment.
    wait_for_phase(&mut client, "measure");
    execute(
        &mut client,
        "BEGIN; SELECT fsbench.cancel_experiment('e'); SELECT fsbench.drop_experiment('e'); COMMIT",
    );
    wait_for_no_run(&mut client);
    assert_columns(
        &mut client,
        "FROM fsbench.run_log ORDER BY run_id DESC LIMIT 1",
        &[("status", "cancelled")],
    );
    wait_for_marks(&mut client, "0");
    server.nothing_is_left("an experiment that was dropped");
}

fn marks_go_with_what_is_committed(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    // It is never gone on with, so that its mark stays as it is.
    execute(
        &mut client,
        &format!(
            "BEGIN; SELECT fsbench.experiment('f', '{{a,b}}', {SHORT}); SELECT fsbench.pause_experiment('f'); COMMIT"
        ),
    );
    execute(
        &mut client,
        "BEGIN; SELECT fsbench.drop_experiment('f'); ROLLBACK",
    );
    assert_eq!(row(&mut client, MARKS), "1");
    execute(
        &mut client,
        &format!("BEGIN; SELECT fsbench.experiment('g', '{{a,b}}', {SHORT}); ROLLBACK"),
    );
    // An experiment that is not committed yet keeps its mark, too.
    let mut other = server.connect("postgres");
    execute(
        &mut other,
        &format!("BEGIN; SELECT fsbench.experiment('h', '{{a,b}}', {SHORT})"),
    );
    execute(&mut client, "SELECT fsbench.drop_experiment('f')");
    wait_for_marks(&mut client, "1");
    execute(&mut other, "COMMIT");
    wait_for_runs(&mut client, "h", 1);
    // One that is gone on with is not resumed.
    assert_refused(
        &mut client,
        "SELECT fsbench.resume_experiment('h')",
        "55000",
        &["cannot be resumed", "running"],
    );
    execute(&mut client, "SELECT fsbench.cancel_experiment('h')");
    wait_for_marks(&mut client, "0");
    server.nothing_is_left("experiments that are over");
}

#[test]
fn data_that_an_experiment_copies_again_stay() {
    let server = server(&[("pgfsbench.prepared_data_limit", "320MB")]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let mut second = server.hold_at_after(STORES, 1);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', {SHORT})"),
    );
    second.wait_for(1);
    execute(&mut client, "SELECT fsbench.pause_experiment('e')");
    drop(second);
    wait_for_no_run(&mut client);
    let refused = |client: &mut Client, words: &[&str]| {
        let drop = "SELECT fsbench.drop_prepared_data()";
        assert_refused(client, drop, "55006", words);
    };
    refused(
        &mut client,
        &[
            "prepared data are in use",
            "Experiment \"e\" is not over",
            "cancel_experiment",
        ],
    );
    execute(&mut client, "CREATE DATABASE other");
    let mut other = server.connect("other");
    execute(&mut other, "CREATE EXTENSION pgfsbench");
    refused(&mut other, &["An experiment of database \"postgres\""]);
    // Nor do they make room for others, which are loaded where they are used then.
    let kept = "SELECT scale, fillfactor FROM fsbench.prepared_data";
    assert_eq!(rows(&mut client, kept), ["1|100"]);
    execute(
        &mut client,
        "SELECT FROM fsbench.run('a', scale => 1, clients => 1, transactions => 10, options => '{\"fillfactor\": 50}')",
    );
    assert_eq!(rows(&mut client, kept), ["1|100"]);
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    assert_eq!(
        row(&mut client, "SELECT fsbench.drop_prepared_data() > 0"),
        "t"
    );
}
