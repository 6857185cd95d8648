//! A long queue, and what becomes of those that wait: 500 runs, and in `make soak` 4000, the most that may wait. And what needs no long queue.

use crate::common::{
    QUICK, assert_ended, assert_refused, execute, row, rows, server, wait_for_window,
};
use pgfsbench_tests::{LONG, TestServer, ending, wait_for_phase, wait_until};
use postgres::{Client, SimpleQueryMessage};
use std::time::Duration;

/// The most runs that may wait.
const MOST: usize = 4000;
const SESSIONS: usize = 4;
const LONG_RUN: &str = "scale => 1, clients => 1, duration => '2 h', warmup => '0', rate => 1";
/// For what has to be done for each of them.
const VERY_LONG: Duration = LONG.saturating_mul(3);

/// A server for that many.
fn server_for(many: usize) -> TestServer {
    server(&[("pgfsbench.max_queued", &many.to_string())])
}

/// Keeps the place with a long run, and fills the queue from several sessions. Gives the id of the long run.
fn fill(server: &TestServer, client: &mut Client, many: usize) -> String {
    let database = row(client, "SELECT current_database()");
    let long = row(client, &format!("SELECT fsbench.start({LONG_RUN})"));
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|_| {
            server.background(
                &database,
                &format!(
                    "SELECT count(fsbench.start({QUICK})) FROM generate_series(1, {})",
                    many / SESSIONS
                ),
            )
        })
        .collect();
    for session in sessions {
        session.join().expect("the queue has room");
    }
    long
}

const OPEN: &str = "SELECT count(*) FROM fsbench.progress";

#[test]
fn five_hundred_wait_in_their_order_and_can_be_cancelled() {
    wait_in_their_order_and_can_be_cancelled(500);
}

#[test]
#[ignore = "`make soak` has it"]
fn as_many_as_may_wait_in_their_order_and_can_be_cancelled() {
    wait_in_their_order_and_can_be_cancelled(MOST);
}

fn wait_in_their_order_and_can_be_cancelled(many: usize) {
    let server = server_for(many);
    let mut client = server.connect("postgres");
    execute(&mut client, "SET client_min_messages = warning");
    let long = fill(&server, &mut client, many);
    let places = "SELECT count(*), count(DISTINCT runs_before), min(runs_before), max(runs_before) \
                  FROM fsbench.progress WHERE status = 'queued'";
    let all = format!("{many}|{many}|1|{many}");
    assert_eq!(row(&mut client, places), all);
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({QUICK})"),
        "53400",
        &[
            "too many benchmark runs are queued",
            &format!("{many} runs wait for their turn"),
            &format!("pgfsbench.max_queued is {many}"),
            "HINT: ",
            "fsbench.cancel()",
        ],
    );
    // All but the first, one in the middle, and the last.
    let stay = rows(
        &mut client,
        &format!(
            "SELECT run_id FROM fsbench.progress WHERE runs_before IN (1, {}, {many}) ORDER BY runs_before",
            many / 2
        ),
    );
    let cancel = format!(
        "SELECT count(*) FROM (SELECT fsbench.cancel(run_id) AS is_cancelled FROM fsbench.progress \
         WHERE status = 'queued' AND run_id NOT IN ({})) c WHERE is_cancelled",
        stay.join(", ")
    );
    let others = many - stay.len();
    assert_eq!(row(&mut client, &cancel), others.to_string());
    wait_until("the others are gone", VERY_LONG, || {
        (row(&mut client, OPEN) == "4").then_some(())
    });
    row(&mut client, &format!("SELECT fsbench.cancel({long})"));
    wait_until("the queue is empty", VERY_LONG, || {
        (row(&mut client, OPEN) == "0").then_some(())
    });
    let made = "SELECT run_id FROM fsbench.run_log WHERE status = 'done' ORDER BY started_at";
    assert_eq!(rows(&mut client, made), stay);
    let ends = "SELECT status, count(*) FROM fsbench.run_log GROUP BY 1 ORDER BY 1";
    assert_eq!(
        rows(&mut client, ends),
        [
            format!("cancelled|{}", many + 1 - stay.len()),
            format!("done|{}", stay.len())
        ]
    );
    server.nothing_is_left_at_once();
}

#[test]
#[ignore = "`make soak` has it"]
fn many_that_wait_end_with_the_server_or_their_database() {
    let many = MOST;
    let server = server_for(many);
    let mut client = server.connect("postgres");
    execute(&mut client, "SET client_min_messages = warning");
    fill(&server, &mut client, many);
    drop(client);
    server.restart();
    let mut client = server.connect("postgres");
    execute(&mut client, "SET client_min_messages = warning");
    let open = "SELECT count(*) FROM fsbench.run_log WHERE status IN ('queued', 'running')";
    wait_until("the rows say so", VERY_LONG, || {
        (row(&mut client, open) == "0").then_some(())
    });
    let ends = "SELECT status, count(*) FROM fsbench.run_log GROUP BY 1";
    assert_eq!(row(&mut client, ends), format!("failed|{}", many + 1));
    execute(&mut client, "CREATE DATABASE other");
    let mut other = server.connect("other");
    execute(&mut other, "CREATE EXTENSION pgfsbench");
    fill(&server, &mut other, many);
    assert_refused(
        &mut other,
        "DROP EXTENSION pgfsbench",
        "55006",
        &[
            "cannot drop extension \"pgfsbench\" while runs are queued or on",
            &format!("of run 1 to {}.", many + 1),
            "SELECT fsbench.cancel_experiment(experiment) FROM fsbench.experiments",
            "SELECT fsbench.cancel(run_id) FROM fsbench.progress",
        ],
    );
    drop(other);
    execute(&mut client, "DROP DATABASE other WITH (FORCE)");
    // The janitor sees it when it looks around.
    let start = format!("SELECT fsbench.start({QUICK})");
    let next: String = wait_until("the queue has room again", VERY_LONG, || {
        let messages = client.simple_query(&start).ok()?;
        messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
    });
    assert_eq!(ending(&mut client, &next), "done");
    server.nothing_is_left_at_once();
}

/// Without a worker slot, the run that is on does what a worker would.
#[test]
fn a_run_is_queued_and_taken_out_while_the_one_that_is_on_has_the_last_slot() {
    // The janitor, the launcher of logical replication, and a run's own: its coordinator, sampler and client.
    let server = server(&[("max_worker_processes", "5")]);
    let mut client = server.connect("postgres");
    let long = row(&mut client, &format!("SELECT fsbench.start({LONG_RUN})"));
    wait_for_phase(&mut client, "measure");
    wait_for_window(&mut client, 1);
    let mut start = || row(&mut client, &format!("SELECT fsbench.start({QUICK})"));
    let (first, second) = (start(), start());
    assert_eq!(
        row(&mut client, &format!("SELECT fsbench.cancel({first})")),
        "t"
    );
    assert_ended(&mut client, &first, "cancelled 57014; the run was canceled");
    let runs = "SELECT status, run_id FROM fsbench.progress ORDER BY run_id";
    assert_eq!(
        rows(&mut client, runs),
        [format!("running|{long}"), format!("queued|{second}")]
    );
    // In another database nobody can.
    execute(&mut client, "CREATE DATABASE other");
    let mut other = server.connect("other");
    execute(&mut other, "CREATE EXTENSION pgfsbench");
    assert_refused(
        &mut other,
        &format!("SELECT fsbench.start({QUICK})"),
        "53000",
        &[
            "could not register background process",
            "there was no slot for it",
            "wait for the run that is on",
        ],
    );
    assert_eq!(
        row(&mut client, &format!("SELECT fsbench.cancel({long})")),
        "t"
    );
    assert_eq!(ending(&mut client, &second), "done");
    server.nothing_is_left_at_once();
}

#[test]
fn a_run_of_a_database_that_is_closed_keeps_its_place_and_others_go_first() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE closed");
    let mut inside = server.connect("closed");
    execute(&mut inside, "CREATE EXTENSION pgfsbench");
    let long = row(&mut client, &format!("SELECT fsbench.start({LONG_RUN})"));
    let waits = row(&mut inside, &format!("SELECT fsbench.start({QUICK})"));
    let goes_first = row(&mut client, &format!("SELECT fsbench.start({QUICK})"));
    execute(&mut client, "ALTER DATABASE closed ALLOW_CONNECTIONS false");
    row(&mut client, &format!("SELECT fsbench.cancel({long})"));
    assert_eq!(ending(&mut client, &goes_first), "done");
    let status = format!("SELECT status FROM fsbench.run_log WHERE run_id = {waits}");
    assert_eq!(row(&mut inside, &status), "queued");
    execute(&mut client, "ALTER DATABASE closed ALLOW_CONNECTIONS true");
    assert_eq!(ending(&mut inside, &waits), "done");
}
