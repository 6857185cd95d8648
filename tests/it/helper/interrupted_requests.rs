//! Interrupted requests to the helper outside of runs: the caller gets an error, no process waits for ever, and nothing is left.

use super::bench::{Bench, Serving};
use super::requests::{CREATE, JOBS, PREPARE, assert_nobody_asks, served};
use crate::common::{assert_refused, execute, row, rows};
use pgfsbench_tests::{LONG, Signal, refusal, wait_until};
use postgres::Client;
use rustix::process::{Pid, kill_process};
use std::time::Instant;

/// No job is there, and the helper has looked at the machine since the last one: it can take the next one.
fn forget_jobs(bench: &Bench) {
    let has_looked = "SELECT seen_at > coalesce((SELECT max(ended_at) FROM fsbench.helper_job), '-infinity') FROM fsbench.helper_description";
    bench.server.wait_for("postgres", has_looked, LONG);
    execute(&mut bench.client(), "DELETE FROM fsbench.helper_job");
}

fn signal(pid: Pid, signal: Signal) {
    kill_process(pid, signal).expect("kill");
}

#[test]
fn without_a_helper_those_who_ask_are_told_within_five_seconds() {
    let Some(bench) = Bench::with_extension(
        "without_a_helper_those_who_ask_are_told_within_five_seconds",
        &[],
    ) else {
        return;
    };
    let mut client = bench.client();
    execute(&mut client, CREATE);
    for statement in [
        PREPARE,
        "SELECT fsbench.release_target('t')",
        "SELECT * FROM fsbench.plan('t')",
        "SELECT * FROM fsbench.describe_devices()",
    ] {
        // A busy machine may take longer now and then.
        wait_until("they are told in time", LONG, || {
            let began = Instant::now();
            assert_refused(
                &mut client,
                statement,
                "55000",
                &[
                    "pgfsbench-helper is not running",
                    "systemctl start pgfsbench-helper",
                ],
            );
            (began.elapsed().as_secs() < 5).then_some(())
        });
    }
    // Nothing waits for a helper to come.
    assert_eq!(
        rows(
            &mut client,
            "SELECT DISTINCT status, error FROM fsbench.helper_job"
        ),
        ["failed|pgfsbench-helper is not running"]
    );
    assert_nobody_asks(&mut client);
    // Requests that need no slot work.
    assert_eq!(
        row(
            &mut client,
            "SELECT count(*) > 0 FROM fsbench.plan('default')"
        ),
        "t"
    );
}

#[test]
fn a_request_ends_with_its_caller() {
    let Some((bench, serving, mut client)) = served("a_request_ends_with_its_caller") else {
        return;
    };
    a_job_that_was_not_begun_is_withdrawn_with_its_caller(&bench, &serving, &mut client);
    forget_jobs(&bench);
    what_was_begun_for_a_caller_who_has_gone_is_released(&bench, &serving, &mut client);
    forget_jobs(&bench);
    a_process_that_asks_and_is_terminated_is_replaced(&bench, &serving, &mut client);
}

fn a_job_that_was_not_begun_is_withdrawn_with_its_caller(
    bench: &Bench,
    serving: &Serving,
    client: &mut Client,
) {
    let database = serving.database_process();
    signal(database, Signal::STOP);
    let queued = "SELECT count(*) = 1 FROM fsbench.helper_job WHERE status = 'queued'";
    let withdrawn = "SELECT count(*) = 0 FROM fsbench.helper_job WHERE status <> 'failed' OR error <> 'the request was canceled'";
    // Canceled, and terminated.
    let asking = bench.server.background("postgres", PREPARE);
    bench.server.wait_for("postgres", queued, LONG);
    asking.cancel();
    let error = asking.join().expect_err("canceled");
    assert_eq!(error.code().map(|c| c.code()), Some("57014"));
    bench.server.wait_for("postgres", withdrawn, LONG);
    let asking = bench.server.background("postgres", PREPARE);
    bench.server.wait_for("postgres", queued, LONG);
    bench.server.terminate(asking.pid);
    assert!(asking.join().is_err());
    bench.server.wait_for("postgres", withdrawn, LONG);
    signal(database, Signal::CONT);
    // The helper goes on with what comes next.
    assert_eq!(row(client, "SELECT fsbench.release_target('t')"), "f");
    assert_nobody_asks(client);
    bench.lab.nothing_is_left_at_once();
    assert_eq!(
        rows(client, JOBS),
        [
            "prepare|failed|the request was canceled",
            "prepare|failed|the request was canceled",
            "release|done|"
        ]
    );
}

fn what_was_begun_for_a_caller_who_has_gone_is_released(
    bench: &Bench,
    serving: &Serving,
    client: &mut Client,
) {
    let running = "SELECT count(*) = 1 FROM fsbench.helper_job WHERE status = 'running'";
    let over = "SELECT bool_and(status = 'done') AND max(action) = 'release' AND count(*) % 2 = 0 FROM fsbench.helper_job";
    type End<'a> = &'a dyn Fn(&pgfsbench_tests::Background);
    let ends: [End; 2] = [&|asking| asking.cancel(), &|asking| {
        bench.server.terminate(asking.pid);
    }];
    for end in ends {
        // It looks at the machine after each job, and is to take one now.
        bench.server.wait_for(
            "postgres",
            "SELECT seen_at > coalesce((SELECT max(ended_at) FROM fsbench.helper_job), '-infinity') FROM fsbench.helper_description",
            LONG,
        );
        signal(serving.root_process(), Signal::STOP);
        let asking = bench.server.background("postgres", PREPARE);
        bench.server.wait_for("postgres", running, LONG);
        end(&asking);
        assert!(asking.join().is_err());
        signal(serving.root_process(), Signal::CONT);
        bench.server.wait_for("postgres", over, LONG);
        bench.lab.nothing_is_left_at_once();
    }
    assert_nobody_asks(client);
}

fn a_process_that_asks_and_is_terminated_is_replaced(
    bench: &Bench,
    serving: &Serving,
    client: &mut Client,
) {
    signal(serving.root_process(), Signal::STOP);
    let asking = bench.server.background("postgres", PREPARE);
    let worker = "SELECT coalesce((SELECT max(pid) FROM pg_stat_activity WHERE backend_type = 'fsbench helper worker' \
       AND EXISTS (SELECT FROM fsbench.helper_job WHERE status = 'running')), 0)";
    let find = |client: &mut Client, not: &str| {
        wait_until("a process asks", LONG, || {
            let pid = row(client, worker);
            (pid != "0" && pid != not).then_some(pid)
        })
    };
    let first = find(client, "");
    execute(client, &format!("SELECT pg_terminate_backend({first})"));
    let second = find(client, &first);
    assert!(!asking.is_finished());
    signal(serving.root_process(), Signal::CONT);
    asking.join().expect("it is prepared");
    assert_eq!(rows(client, JOBS), ["prepare|done|"], "{second}");
    assert_eq!(row(client, "SELECT fsbench.release_target('t')"), "t");
    bench.lab.nothing_is_left_at_once();
    assert_nobody_asks(client);
}

#[test]
fn without_a_worker_slot_nobody_is_asked() {
    let Some(bench) = Bench::with_extension(
        "without_a_worker_slot_nobody_is_asked",
        &[("max_worker_processes", "2")],
    ) else {
        return;
    };
    let mut client = bench.client();
    execute(&mut client, CREATE);
    assert_refused(
        &mut client,
        PREPARE,
        "53000",
        &[
            "could not register background process",
            "\"max_worker_processes\"",
        ],
    );
    assert_eq!(rows(&mut client, JOBS), [""; 0]);
}

#[test]
fn the_owner_alone_asks_and_is_answered_each_time() {
    let Some((bench, _serving, mut client)) =
        served("the_owner_alone_asks_and_is_answered_each_time")
    else {
        return;
    };
    only_the_owner_has_something_made_and_nobody_waits_for_what_he_has_not_committed(
        &bench,
        &mut client,
    );
    whoever_asks_twice_in_one_transaction_is_answered_twice(&bench, &mut client);
}

fn only_the_owner_has_something_made_and_nobody_waits_for_what_he_has_not_committed(
    bench: &Bench,
    client: &mut Client,
) {
    execute(
        client,
        "CREATE ROLE operator LOGIN; SELECT fsbench.grant_operator('operator')",
    );
    let mut operator = bench.server.connect_as("operator", "postgres");
    for readable in ["fsbench.device", "fsbench.doctor()"] {
        execute(&mut operator, &format!("SELECT * FROM {readable}"));
    }
    let statements = [
        PREPARE,
        "SELECT fsbench.release_target('t')",
        "SELECT * FROM fsbench.plan('t')",
        "SELECT * FROM fsbench.describe_devices()",
    ];
    for statement in statements {
        let error = refusal(&mut operator, statement);
        assert_eq!(error.code().code(), "42501", "{statement}");
    }
    // Nor by a right that somebody has given away.
    execute(
        client,
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fsbench TO operator",
    );
    for statement in statements {
        assert_refused(
            &mut operator,
            statement,
            "42501",
            &["permission denied for fsbench.", "superuser"],
        );
    }
    assert_eq!(rows(client, JOBS), [""; 0]);

    execute(client, "BEGIN; CREATE TABLE x (); ");
    assert_refused(
        client,
        PREPARE,
        "55000",
        &["in a transaction that has written", "Commit first."],
    );
    execute(client, "ROLLBACK");
    // A lock that the caller holds himself does not keep him waiting for ever.
    execute(client, "BEGIN; LOCK TABLE fsbench.helper_job IN SHARE MODE");
    assert_refused(
        client,
        PREPARE,
        "55000",
        &["could not be asked", "nor this transaction"],
    );
    execute(client, "ROLLBACK");
    assert_nobody_asks(client);
    bench.lab.nothing_is_left_at_once();
}

fn whoever_asks_twice_in_one_transaction_is_answered_twice(bench: &Bench, client: &mut Client) {
    let jobs = "SELECT count(*) FROM fsbench.helper_job WHERE action = 'plan' AND status = 'done'";
    // The first number that is taken from a sequence after a checkpoint is logged, by a transaction that has an id then.
    execute(client, "CHECKPOINT; BEGIN");
    for _ in 0..2 {
        assert!(rows(client, "SELECT * FROM fsbench.plan('t')").len() > 10);
    }
    execute(client, "COMMIT");
    assert_eq!(row(client, jobs), "2");
    bench.lab.nothing_is_left_at_once();
}
