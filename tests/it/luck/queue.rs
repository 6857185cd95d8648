//! Runs that wait for their turn, and two who want to run at the same time.

use crate::luck::bench::{Bench, value};
use crate::luck::hold::{Hold, Phase, wait_for_lock};
use pgfsbench_tests::{Background, LONG, Signal, Stop, refusal, wait_until};

const LONG_RUN: &str = "scale => 1, clients => 1, duration => '5 min', warmup => '0'";
const SHORT_RUN: &str = "scale => 1, clients => 1, transactions => 5, warmup => '0'";

fn status(bench: &Bench, run: &str) -> String {
    bench
        .ending_where(&format!("run_id = {run}"))
        .map_or_else(String::new, |ending| ending.status)
}

fn wait_for_status(bench: &Bench, run: &str, wanted: &str) {
    wait_until(&format!("run {run} is {wanted}"), LONG, || {
        (status(bench, run) == wanted).then_some(())
    });
}

fn cancel(bench: &Bench, run: &str) {
    assert_eq!(bench.value(&format!("SELECT fsbench.cancel({run})")), "t");
}

/// Its statement has come so far as to wait for a run: a request to cancel that comes before a statement does nothing.
fn wait_until_it_waits(bench: &Bench, caller: &Background) {
    bench.server.wait_for(
        "postgres",
        &format!(
            "SELECT wait_event = 'Extension' FROM pg_stat_activity WHERE pid = {}",
            caller.pid
        ),
        LONG,
    );
}

#[test]
fn queued_runs_are_run_in_their_order_and_survive_the_failure_of_the_one_before() {
    let bench = Bench::start();
    let first = bench.run_started(LONG_RUN);
    let second = bench.run_started(SHORT_RUN);
    let third = bench.run_started(LONG_RUN);
    let fourth = bench.run_started(SHORT_RUN);
    for run in [&second, &third, &fourth] {
        assert_eq!(status(&bench, run), "queued");
    }
    bench.wait_for_phase(Phase::Measure);
    // It fails, and by the death of its own coordinator at that.
    bench.server.terminate(bench.pid_of("fsbench coordinator"));
    wait_for_status(&bench, &second, "done");
    assert_eq!(status(&bench, &first), "failed");
    // Cancelled while it waits, and while it runs.
    wait_for_status(&bench, &third, "running");
    let fifth = bench.run_started(SHORT_RUN);
    cancel(&bench, &fifth);
    wait_for_status(&bench, &fifth, "cancelled");
    assert_eq!(status(&bench, &fourth), "queued");
    cancel(&bench, &third);
    wait_for_status(&bench, &fourth, "done");
    for run in [&third, &fifth] {
        let ending = bench
            .ending_where(&format!("run_id = {run}"))
            .expect("a row");
        assert_eq!(
            ending.reason,
            "57014; the run was canceled; It was canceled by fsbench.cancel() of role \"postgres\"."
        );
    }
    let order = bench.value(
        "SELECT string_agg(run_id::text, ' ' ORDER BY started_at) FROM fsbench.run_log WHERE started_at IS NOT NULL",
    );
    assert_eq!(order, [first, second, third, fourth].join(" "));
    // Nothing to cancel.
    assert_eq!(bench.value("SELECT fsbench.cancel(1)"), "f");
    assert_eq!(bench.value("SELECT fsbench.cancel(4711)"), "f");
    bench.nothing_is_left("a queue");
    bench.every_slot_is_free();
}

#[test]
fn a_rollback_does_not_undo_start() {
    let bench = Bench::start();
    let mut client = bench.server.connect("postgres");
    client.batch_execute("BEGIN").expect("BEGIN");
    let run = value(&mut client, &format!("SELECT fsbench.start({SHORT_RUN})"));
    client.batch_execute("ROLLBACK").expect("ROLLBACK");
    wait_for_status(&bench, &run, "done");
    bench.nothing_is_left("a rollback");
}

#[test]
fn a_started_run_survives_the_loss_of_its_caller() {
    let bench = Bench::start();
    let mut client = bench.server.connect("postgres");
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
    bench.wait_for_phase(Phase::Measure);
    bench.server.terminate(pid);
    wait_until("the session is gone", LONG, || {
        (bench.value(&format!(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}"
        )) == "0")
            .then_some(())
    });
    // So has a session that only waits for it.
    let waiter = bench
        .server
        .background("postgres", &format!("SELECT * FROM fsbench.wait({run})"));
    wait_until_it_waits(&bench, &waiter);
    waiter.cancel();
    assert!(waiter.join().is_err());
    let seconds = "SELECT coalesce(max(done), 0) FROM fsbench.progress WHERE phase = 'measure'";
    let before: i64 = bench.value(seconds).parse().expect("a number");
    wait_until("the run goes on for a second", LONG, || {
        let now: i64 = bench.value(seconds).parse().expect("a number");
        (now > before + 1000).then_some(())
    });
    cancel(&bench, &run);
    bench.nothing_is_left("a started run");
    assert_eq!(status(&bench, &run), "cancelled");
}

#[test]
fn a_second_run_is_refused_or_waits_for_one_that_is_just_clearing_up() {
    let bench = Bench::start();
    let run = format!("SELECT * FROM fsbench.run({SHORT_RUN})");
    let first = bench.run_started(LONG_RUN);
    bench.wait_for_phase(Phase::Measure);
    let refused = refusal(&mut bench.server.connect("postgres"), &run);
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
    bench.value("CREATE DATABASE other");
    let mut other = bench.server.connect("other");
    other
        .batch_execute("CREATE EXTENSION pgfsbench")
        .expect("CREATE EXTENSION");
    let refused = refusal(&mut other, &run);
    assert_eq!(
        refused.detail(),
        Some(format!("It is run {first} in database \"postgres\", phase measure.").as_str())
    );
    // The first one's database cannot be dropped as long as this is open.
    let mut hold = Hold::lock(
        &bench,
        &format!("COMMENT ON DATABASE fsbench_work_{first} IS 'held'"),
    );
    cancel(&bench, &first);
    bench.wait_for_phase(Phase::Cleanup);
    wait_for_lock(&bench);
    let second = bench.server.background("postgres", &run);
    // Of which nothing is to be seen yet but that it waits.
    wait_until_it_waits(&bench, &second);
    assert_eq!(bench.value("SELECT count(*) FROM fsbench.run_log"), "1");
    hold.release();
    assert!(second.join().is_ok());
    bench.nothing_is_left("a run that waited");
}

#[test]
fn a_run_goes_on_and_ends_well_without_the_janitor() {
    let bench = Bench::start();
    let janitor = bench.pid_of("fsbench janitor");
    let run = bench.run_started("scale => 1, clients => 2, duration => '3 s', warmup => '0'");
    let next = bench.run_started(SHORT_RUN);
    bench.wait_for_phase(Phase::Measure);
    bench.server.signal(janitor, Signal::INT);
    bench.server.terminate(janitor);
    wait_until("there is a new janitor", LONG, || {
        let now = bench
            .value("SELECT min(pid) FROM pg_stat_activity WHERE backend_type = 'fsbench janitor'");
        now.parse().ok().filter(|&pid: &i32| pid != janitor)
    });
    wait_for_status(&bench, &run, "done");
    wait_for_status(&bench, &next, "done");
    bench.nothing_is_left("a janitor's end");
    bench.every_slot_is_free();
}

#[test]
fn a_request_whose_caller_has_gone_before_the_janitor_came_leaves_nothing() {
    let bench = Bench::start();
    let janitor = bench.pid_of("fsbench janitor");
    bench.server.hold(janitor);
    let run = format!("SELECT * FROM fsbench.run({LONG_RUN})");
    let start = format!("SELECT fsbench.start({LONG_RUN})");
    let callers = [&start, &start, &run].map(|sql| bench.server.background("postgres", sql));
    // The last one has no right to queue, and may come before the others or not.
    wait_until(
        "they wait for the janitor, but for those refused",
        LONG,
        || {
            let waiting: usize = bench
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
            bench.server.terminate(caller.pid);
        } else {
            caller.cancel();
        }
    }
    for caller in callers {
        assert!(caller.join().is_err());
    }
    bench.server.signal(janitor, Signal::CONT);
    bench.nothing_is_left("callers that have gone early");
    bench.a_run_works("callers that have gone early");
    bench.every_slot_is_free();
}

#[test]
fn a_request_survives_the_death_of_the_process_that_was_to_queue_it() {
    let bench = Bench::start();
    let first = bench.run_started(LONG_RUN);
    bench.wait_for_phase(Phase::Measure);
    let mut hold = Hold::lock(&bench, "LOCK TABLE fsbench.run_log IN EXCLUSIVE MODE");
    let start = bench
        .server
        .background("postgres", &format!("SELECT fsbench.start({SHORT_RUN})"));
    wait_for_lock(&bench);
    let second = bench.value(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'fsbench coordinator' AND wait_event_type = 'Lock'",
    );
    bench.server.terminate(second.parse().expect("a pid"));
    bench.server.wait_for(
        "postgres",
        &format!(
            "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'fsbench coordinator' \
             AND wait_event_type = 'Lock' AND pid <> {second}"
        ),
        LONG,
    );
    hold.release();
    assert!(start.join().is_ok());
    // The one that runs has not noticed.
    assert_eq!(status(&bench, &first), "running");
    assert_eq!(status(&bench, "2"), "queued");
    cancel(&bench, &first);
    wait_for_status(&bench, "2", "done");
    assert_eq!(status(&bench, &first), "cancelled");
    bench.nothing_is_left("a queueing process's death");
}

#[test]
fn a_kept_database_survives_a_crash_and_a_queued_run_fails_with_the_one_before() {
    let bench = Bench::start();
    let kept = bench.run_started(&format!("{SHORT_RUN}, keep => true"));
    wait_for_status(&bench, &kept, "done");
    let kept = format!("fsbench_work_{kept}");
    let running = bench.run_started(LONG_RUN);
    let queued = bench.run_started(SHORT_RUN);
    bench.wait_for_phase(Phase::Measure);
    bench.server.kill();
    bench.server.start_again();
    bench.nothing_is_left_but(&[&kept], "a crash");
    for run in [&running, &queued] {
        let ending = bench
            .ending_where(&format!("run_id = {run}"))
            .expect("a row");
        assert_eq!(ending.status, "failed");
        assert!(ending.reason.starts_with("57P02; "), "{ending:?}");
    }
    let rows = value(
        &mut bench.server.connect(&kept),
        "SELECT count(*) FROM pgbench_accounts",
    );
    assert_eq!(rows, "100000");
    // And what the user does with it is the user's.
    bench.server.stop(Stop::Fast);
    bench.server.start_again();
    bench.a_run_works("a crash with a kept database");
    bench.nothing_is_left_but(&[&kept], "a restart");
    bench.value(&format!("DROP DATABASE {kept}"));
}
