//! Runs that wait for their turn, and two who want to run at the same time.

use crate::robustness::hold::Phase;
use pgfsbench_tests::{
    Background, LONG, Leaves, Signal, Stop, TestServer, refusal, value, wait_until,
};
use std::time::{Duration, Instant};

const LONG_RUN: &str = "scale => 1, clients => 1, duration => '1 h', warmup => '0', rate => 20";
const SHORT_RUN: &str = "scale => 1, clients => 1, transactions => 5, warmup => '0'";

fn status(server: &TestServer, run: &str) -> String {
    server
        .ending_where(&format!("run_id = {run}"))
        .map_or_else(String::new, |ending| ending.status)
}

fn wait_for_status(server: &TestServer, run: &str, wanted: &str) {
    wait_until(&format!("run {run} is {wanted}"), LONG, || {
        (status(server, run) == wanted).then_some(())
    });
}

fn cancel(server: &TestServer, run: &str) {
    assert_eq!(server.value(&format!("SELECT fsbench.cancel({run})")), "t");
}

/// The statement waits for a run already: a request to cancel before a statement does nothing.
fn wait_until_it_waits(server: &TestServer, caller: &Background) {
    server.wait_for(
        "postgres",
        &format!(
            "SELECT wait_event = 'Extension' FROM pg_stat_activity WHERE pid = {}",
            caller.pid
        ),
        LONG,
    );
}

#[test]
fn runs_wait_in_their_order() {
    let server = TestServer::with_extension(&[]);
    queued_runs_are_run_in_their_order_and_survive_the_failure_of_the_one_before(&server);
    server.start_anew();
    a_rollback_does_not_undo_start(&server);
    server.start_anew();
    a_second_run_is_refused_or_waits_for_one_that_is_just_clearing_up(&server);
}

fn queued_runs_are_run_in_their_order_and_survive_the_failure_of_the_one_before(
    server: &TestServer,
) {
    let first = server.start_run(LONG_RUN);
    let second = server.start_run(SHORT_RUN);
    let third = server.start_run(LONG_RUN);
    let fourth = server.start_run(SHORT_RUN);
    for run in [&second, &third, &fourth] {
        assert_eq!(status(server, run), "queued");
    }
    server.wait_for_phase(Phase::Measure.name());
    // It fails, and by the death of its own coordinator at that.
    server.terminate(server.coordinator());
    wait_for_status(server, &second, "done");
    assert_eq!(status(server, &first), "failed");
    // Cancelled while it waits, and while it runs.
    wait_for_status(server, &third, "running");
    let fifth = server.start_run(SHORT_RUN);
    cancel(server, &fifth);
    wait_for_status(server, &fifth, "cancelled");
    assert_eq!(status(server, &fourth), "queued");
    cancel(server, &third);
    wait_for_status(server, &fourth, "done");
    for run in [&third, &fifth] {
        let ending = server
            .ending_where(&format!("run_id = {run}"))
            .expect("a row");
        assert_eq!(
            ending.reason,
            "57014; the run was canceled; It was canceled by fsbench.cancel() of role \"postgres\"."
        );
    }
    let order = server.value(
        "SELECT string_agg(run_id::text, ' ' ORDER BY started_at) FROM fsbench.run_log WHERE started_at IS NOT NULL",
    );
    assert_eq!(order, [first, second, third, fourth].join(" "));
    // Nothing to cancel.
    assert_eq!(server.value("SELECT fsbench.cancel(1)"), "f");
    assert_eq!(server.value("SELECT fsbench.cancel(4711)"), "f");
    server.nothing_is_left("a queue");
    server.every_slot_is_free();
}

fn a_rollback_does_not_undo_start(server: &TestServer) {
    let mut client = server.connect("postgres");
    client.batch_execute("BEGIN").expect("BEGIN");
    let run = value(&mut client, &format!("SELECT fsbench.start({SHORT_RUN})"));
    client.batch_execute("ROLLBACK").expect("ROLLBACK");
    wait_for_status(server, &run, "done");
    server.nothing_is_left("a rollback");
}

#[test]
fn runs_and_requests_survive_the_loss_of_processes() {
    let server = TestServer::with_extension(&[]);
    a_started_run_survives_the_loss_of_its_caller(&server);
    server.start_anew();
    a_run_goes_on_and_ends_well_without_the_janitor(&server);
    server.start_anew();
    a_request_whose_caller_has_gone_before_the_janitor_came_leaves_nothing(&server);
    server.start_anew();
    a_request_survives_the_death_of_the_process_that_was_to_queue_it(&server);
}

fn a_started_run_survives_the_loss_of_its_caller(server: &TestServer) {
    let mut client = server.connect("postgres");
    let run = value(
        &mut client,
        &format!(
            "SELECT fsbench.start({})",
            Phase::Measure.arguments("started")
        ),
    );
    let pid: i32 = value(&mut client, "SELECT pg_backend_pid()")
        .parse()
        .expect("a pid");
    server.wait_for_phase(Phase::Measure.name());
    server.terminate(pid);
    wait_until("the session is gone", LONG, || {
        (server.value(&format!(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}"
        )) == "0")
            .then_some(())
    });
    // So has a session that only waits for it.
    let waiter = server.background("postgres", &format!("SELECT * FROM fsbench.wait({run})"));
    wait_until_it_waits(server, &waiter);
    waiter.cancel();
    assert!(waiter.join().is_err());
    let seconds = "SELECT coalesce(max(done), 0) FROM fsbench.progress WHERE phase = 'measure'";
    let before: i64 = server.value(seconds).parse().expect("a number");
    wait_until("the run goes on for a second", LONG, || {
        let now: i64 = server.value(seconds).parse().expect("a number");
        (now > before + 1000).then_some(())
    });
    cancel(server, &run);
    server.nothing_is_left("a started run");
    assert_eq!(status(server, &run), "cancelled");
}

fn a_second_run_is_refused_or_waits_for_one_that_is_just_clearing_up(server: &TestServer) {
    let run = format!("SELECT * FROM fsbench.run({SHORT_RUN})");
    let first = server.start_run(LONG_RUN);
    server.wait_for_phase(Phase::Measure.name());
    let refused = refusal(&mut server.connect("postgres"), &run);
    assert_eq!(refused.code().code(), "55000");
    assert_eq!(
        refused.detail(),
        Some(format!("It is run {first}, phase measure.").as_str())
    );
    assert!(
        refused
            .hint()
            .is_some_and(|hint| hint.contains("fsbench.start()"))
    );
    // From another database too, which says where it is.
    server.value("CREATE DATABASE other");
    let mut other = server.connect("other");
    other
        .batch_execute("CREATE EXTENSION pgfsbench")
        .expect("CREATE EXTENSION");
    let refused = refusal(&mut other, &run);
    assert_eq!(
        refused.detail(),
        Some(format!("It is run {first} in database \"postgres\", phase measure.").as_str())
    );
    // It waits for ten seconds and no longer: on a machine that stands still for so long it is refused, and comes once more.
    let mut first = first;
    loop {
        let mut hold = server.hold_at("before DROP");
        cancel(server, &first);
        hold.wait_for(1);
        let runs = "SELECT count(*) FROM fsbench.run_log";
        let before = server.value(runs);
        let began = Instant::now();
        let second = server.background("postgres", &run);
        // All that is visible of this run so far is that it waits.
        wait_until("it waits", LONG, || {
            let waits = format!(
                "SELECT count(*) FROM pg_stat_activity WHERE pid = {} AND wait_event = 'Extension'",
                second.pid
            );
            (second.is_finished() || server.value(&waits) == "1").then_some(())
        });
        assert_eq!(server.value(runs), before);
        drop(hold);
        let Err(refused) = second.join() else {
            break;
        };
        assert!(
            began.elapsed() > Duration::from_secs(10),
            "it has not waited: {refused:?}"
        );
        server.nothing_is_left("a run that did not wait long enough");
        first = server.start_run(LONG_RUN);
        server.wait_for_phase(Phase::Measure.name());
    }
    server.nothing_is_left("a run that waited");
}

fn a_run_goes_on_and_ends_well_without_the_janitor(server: &TestServer) {
    let janitor = server.pid_of("fsbench janitor");
    let mut hold = server.hold_at("transaction of the window");
    let run = &server.start_run("scale => 1, clients => 2, transactions => 20, warmup => '0'");
    hold.wait_for(2);
    let next = server.start_run(SHORT_RUN);
    server.signal(janitor, Signal::INT);
    server.terminate(janitor);
    wait_until("there is a new janitor", LONG, || {
        let now = server
            .value("SELECT min(pid) FROM pg_stat_activity WHERE backend_type = 'fsbench janitor'");
        now.parse().ok().filter(|&pid: &i32| pid != janitor)
    });
    assert_eq!(status(server, run), "running");
    drop(hold);
    wait_for_status(server, run, "done");
    wait_for_status(server, &next, "done");
    server.nothing_is_left("a janitor's end");
    server.every_slot_is_free();
}

fn a_request_whose_caller_has_gone_before_the_janitor_came_leaves_nothing(server: &TestServer) {
    let mut hold = server.hold_at("janitor on patrol");
    hold.wait_for(1);
    let run = format!("SELECT * FROM fsbench.run({LONG_RUN})");
    let start = format!("SELECT fsbench.start({LONG_RUN})");
    let callers = [&start, &start, &run].map(|sql| server.background("postgres", sql));
    // The last one has no right to queue, and may come before the others or not.
    wait_until(
        "they wait for the janitor, but for those refused",
        LONG,
        || {
            let waiting: usize = server
            .value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'Extension' AND backend_type = 'client backend'")
            .parse()
            .ok()?;
            let refused = callers.iter().filter(|caller| caller.is_finished()).count();
            (waiting > 0 && waiting + refused == callers.len()).then_some(())
        },
    );
    for (i, caller) in callers.iter().enumerate() {
        if caller.is_finished() {
        } else if i == 0 {
            server.terminate(caller.pid);
        } else {
            caller.cancel();
        }
    }
    for caller in callers {
        assert!(caller.join().is_err());
    }
    drop(hold);
    server.nothing_is_left("callers that have gone early");
    server.a_run_works("callers that have gone early");
    server.every_slot_is_free();
}

fn a_request_survives_the_death_of_the_process_that_was_to_queue_it(server: &TestServer) {
    let first = server.start_run(LONG_RUN);
    server.wait_for_phase(Phase::Measure.name());
    let mut hold = server.hold_at("coordinator before the row");
    let start = server.background("postgres", &format!("SELECT fsbench.start({SHORT_RUN})"));
    server.terminate(hold.wait_for(1));
    hold.wait_for(2);
    drop(hold);
    assert!(start.join().is_ok());
    // The one that runs has not noticed.
    assert_eq!(status(server, &first), "running");
    assert_eq!(status(server, "2"), "queued");
    cancel(server, &first);
    wait_for_status(server, "2", "done");
    assert_eq!(status(server, &first), "cancelled");
    server.nothing_is_left("a queueing process's death");
}

#[test]
fn runs_and_kept_databases_after_a_crash() {
    let server = TestServer::with_extension(&[]);
    a_crash_from_which_the_server_recovers_is_told_with_its_cause(&server);
    server.start_anew();
    a_kept_database_survives_a_crash_and_a_queued_run_fails_with_the_one_before(&server);
}

/// The postmaster goes on, and pg_postmaster_start_time() with it.
fn a_crash_from_which_the_server_recovers_is_told_with_its_cause(server: &TestServer) {
    let running = server.start_run(LONG_RUN);
    let queued = server.start_run(SHORT_RUN);
    server.wait_for_phase(Phase::Measure.name());
    server.crash(server.coordinator());
    server.nothing_is_left("a crash");
    let reason = |run: &str| {
        let ending = server.ending_where(&format!("run_id = {run}"));
        ending.expect("a row").reason
    };
    let told = reason(&running);
    let start =
        "57P02; the server crashed during the run, has recovered, and serves again; Its log says: ";
    assert!(told.starts_with(start), "{told}");
    assert!(told.contains("was terminated by signal 9"), "{told}");
    assert!(reason(&queued).starts_with("57P02; "));
}

fn a_kept_database_survives_a_crash_and_a_queued_run_fails_with_the_one_before(
    server: &TestServer,
) {
    let kept = server.start_run(&format!("{SHORT_RUN}, keep => true"));
    wait_for_status(server, &kept, "done");
    let kept = format!("fsbench_work_{kept}");
    let running = server.start_run(LONG_RUN);
    let queued = server.start_run(SHORT_RUN);
    server.wait_for_phase(Phase::Measure.name());
    server.kill();
    server.start_again();
    server.nothing_is_left_but(&[&kept], "a crash");
    for run in [&running, &queued] {
        let ending = server
            .ending_where(&format!("run_id = {run}"))
            .expect("a row");
        assert_eq!(ending.status, "failed");
        assert!(ending.reason.starts_with("57P02; "), "{ending:?}");
    }
    let rows = value(
        &mut server.connect(&kept),
        "SELECT count(*) FROM pgbench_accounts",
    );
    assert_eq!(rows, "100000");
    // And what the user does with it is the user's.
    server.stop(Stop::Fast);
    server.start_again();
    server.a_run_works("a crash with a kept database");
    server.nothing_is_left_but(&[&kept], "a restart");
    server.value(&format!("DROP DATABASE {kept}"));
}
