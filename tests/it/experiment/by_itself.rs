//! An experiment goes on by itself after whatever has happened, or says why it does not.

use super::{
    LONGER, SHORT, STORES, outcomes, start_and_hold_run, targets, wait_for, wait_for_no_run,
    wait_for_runs,
};
use crate::common::{execute, program, row, rows, server};
use pgfsbench_tests::{LONG, Stop, TestServer, assert_columns, is_soak, wait_until};

#[test]
fn after_a_restart_a_crash_and_the_end_of_its_processes() {
    let server = server(&[("restart_after_crash", "on")]);
    after_a_restart_of_the_server(&server);
    after_its_processes_were_terminated(&server);
}

fn after_a_restart_of_the_server(server: &TestServer) {
    // An immediate stop asks no process, like a kill: `make soak` tests it.
    let immediate = is_soak().then_some(Some(Stop::Immediate));
    for stop in [Some(Stop::Fast), None].into_iter().chain(immediate) {
        let mut client = server.connect("postgres");
        let _places = targets(&mut client, &["a", "b"]);
        let second = start_and_hold_run(server, &mut client, 2);
        drop(client);
        match stop {
            Some(how) => server.stop(how),
            None => server.kill(),
        }
        drop(second);
        server.start_again();
        let mut client = server.connect("postgres");
        wait_for(&mut client, "e");
        let others = "SELECT run_id, x.outcome, x.why, r.status, r.error_code, r.error, r.error_detail \
            FROM fsbench.experiment_run x LEFT JOIN fsbench.run_log r USING (run_id) WHERE x.outcome <> 'measured'";
        let others = rows(&mut client, others);
        let wanted = ["interrupted 1", "measured 6"];
        assert_eq!(outcomes(&mut client, "e"), wanted, "{others:?}");
        let twice = "SELECT block, target_number FROM fsbench.experiment_run WHERE outcome = 'measured' GROUP BY 1, 2 HAVING count(*) > 1";
        assert_eq!(rows(&mut client, twice), [""; 0]);
        drop(client);
        server.start_anew();
    }
}

#[test]
fn blocks_are_made_again() {
    let server = TestServer::with_extension(&[]);
    a_block_in_which_settings_change_is_made_again(&server);
    server.start_anew();
    blocks_before_a_disk_was_throttled_are_made_again(&server);
}

fn a_block_in_which_settings_change_is_made_again(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let first = start_and_hold_run(server, &mut client, 1);
    for change in [
        "ALTER SYSTEM SET bgwriter_delay = '300ms'",
        "SELECT pg_reload_conf()",
    ] {
        execute(&mut client, change);
    }
    server.wait_for(
        "postgres",
        "SELECT current_setting('bgwriter_delay') = '300ms'",
        LONG,
    );
    drop(first);
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6", "repeated 1"]);
    let logged = "SELECT block, message FROM fsbench.experiment_log WHERE event = 'repeated'";
    assert_eq!(
        rows(&mut client, logged),
        ["1|settings of the server changed within its block; fsbench.diff() tells which"]
    );
    let differs = "SELECT count(*) FROM fsbench.comparison WHERE says LIKE '%differs%'";
    assert_eq!(row(&mut client, differs), "0");
}

fn after_its_processes_were_terminated(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', max_blocks => 3, {LONGER})"),
    );
    crate::common::wait_for_phase(&mut client, "measure");
    let terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE backend_type IN ('fsbench coordinator', 'fsbench conductor', 'fsbench janitor')";
    execute(&mut client, terminate);
    wait_for_runs(&mut client, "e", 2);
    wait_for(&mut client, "e");
    let made = outcomes(&mut client, "e");
    assert_eq!(
        made.last().map(String::as_str),
        Some("measured 6"),
        "{made:?}"
    );
}

#[test]
#[ignore = "`make soak` has it"]
fn what_is_cut_off_ten_times_is_paused_and_goes_on_with_that_run() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    // No run ends by itself; none comes before the first block, since the windows are too short for a verdict.
    execute(
        &mut client,
        "SELECT fsbench.experiment('e', '{a,b}', scale => 1, clients => 1, duration => '2 min', warmup => '0', rate => 20)",
    );
    for done in 1..=10 {
        crate::common::wait_for_phase(&mut client, "measure");
        let terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'fsbench coordinator'";
        assert_eq!(row(&mut client, terminate), "1");
        wait_until("it is told", LONG, || {
            let told = format!("interrupted {done}");
            (outcomes(&mut client, "e").contains(&told)).then_some(())
        });
    }
    let status = "SELECT status, block, status_reason FROM fsbench.experiments";
    let told = row(&mut client, status);
    assert!(told.starts_with("paused|1|10 runs of \""), "{told}");
    assert!(
        told.ends_with("resume_experiment goes on with it"),
        "{told}"
    );
    wait_for_no_run(&mut client);
    execute(&mut client, "SELECT fsbench.resume_experiment('e')");
    crate::common::wait_for_phase(&mut client, "measure");
    assert_eq!(
        row(
            &mut client,
            "SELECT e.status, x.block, x.attempt FROM fsbench.experiments e JOIN fsbench.experiment_run x USING (experiment_id) WHERE x.outcome IS NULL"
        ),
        "running|1|11"
    );
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    wait_for_no_run(&mut client);
}

#[test]
fn a_restored_dump_and_a_copy_of_the_database_do_not_go_on() {
    let server = server(&[]);
    a_restored_dump_is_paused_until_somebody_resumes_it(&server);
    server.start_anew();
    a_copy_of_the_database_does_not_go_on(&server);
}

fn a_restored_dump_is_paused_until_somebody_resumes_it(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let second = start_and_hold_run(server, &mut client, 2);
    let dump = program(server, "pg_dump", &["postgres"]);
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    drop(second);
    wait_for_no_run(&mut client);
    execute(&mut client, "CREATE DATABASE other");
    crate::common::paste_into_psql(server, "other", &dump);
    let mut other = server.connect("other");
    let shown = row(
        &mut other,
        "SELECT status, status_reason FROM fsbench.experiments",
    );
    assert!(
        shown.starts_with("paused|its row was copied while it was running"),
        "{shown}"
    );
    execute(&mut other, "SELECT fsbench.resume_experiment('e')");
    wait_for(&mut other, "e");
    let measured = "SELECT count(*) FROM fsbench.experiment_run WHERE outcome = 'measured'";
    assert_eq!(row(&mut other, measured), "6");
}

fn a_copy_of_the_database_does_not_go_on(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(&mut client, "CREATE DATABASE first");
    let mut first = server.connect("first");
    execute(&mut first, "CREATE EXTENSION pgfsbench");
    let _more = targets(&mut first, &["a", "b"]);
    execute(
        &mut first,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', start => false, {SHORT})"),
    );
    execute(
        &mut first,
        "UPDATE fsbench.experiment SET status = 'running'",
    );
    drop(first);
    wait_until("nobody is connected", LONG, || {
        client
            .batch_execute("CREATE DATABASE second TEMPLATE first")
            .ok()
    });
    let mut second = server.connect("second");
    // A change, so that the conductor wakes.
    let _others = targets(&mut second, &["c", "d"]);
    execute(
        &mut second,
        &format!("SELECT fsbench.experiment('f', '{{c,d}}', {SHORT})"),
    );
    wait_for(&mut second, "f");
    let shown = row(
        &mut second,
        "SELECT status, status_reason FROM fsbench.experiments WHERE experiment = 'e'",
    );
    assert!(
        shown.starts_with("paused|it was not started in this database"),
        "{shown}"
    );
}

fn a_paused_one_goes_on_where_it_was_and_a_cancelled_one_says_what_is_known(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', max_blocks => 24, {LONGER})"),
    );
    wait_for_runs(&mut client, "e", 1);
    assert_eq!(
        row(&mut client, "SELECT fsbench.pause_experiment('e')"),
        "paused"
    );
    wait_for_no_run(&mut client);
    let runs = row(&mut client, "SELECT count(*) FROM fsbench.run_log");
    execute(&mut client, "SELECT fsbench.resume_experiment('e')");
    server.wait_for(
        "postgres",
        &format!("SELECT count(*) > {runs} FROM fsbench.run_log"),
        LONG,
    );
    wait_for_runs(&mut client, "e", 4);
    assert_eq!(
        row(&mut client, "SELECT fsbench.cancel_experiment('e')"),
        "cancelled"
    );
    let said = rows(
        &mut client,
        "SELECT verdict, says FROM fsbench.compare('e')",
    );
    assert!(
        !said.is_empty()
            && said
                .iter()
                .all(|said| said.contains("cancelled") || said.contains("too_short")),
        "{said:?}"
    );
    wait_for_no_run(&mut client);
    assert_eq!(row(&mut client, "SELECT fsbench.drop_experiment('e')"), "e");
    assert_ne!(
        row(&mut client, "SELECT count(*) FROM fsbench.run_log"),
        "0",
        "results stay"
    );
}

#[test]
fn an_experiment_ends_with_its_time_is_paused_and_cancelled_and_waits_for_another() {
    let server = TestServer::with_extension(&[]);
    a_paused_one_goes_on_where_it_was_and_a_cancelled_one_says_what_is_known(&server);
    server.start_anew();
    a_second_one_waits(&server);
    server.start_anew();
    max_duration_ends_it_between_two_runs(&server);
    server.start_anew();
    the_answer_says_where_max_duration_will_end_it(&server);
}

fn a_second_one_waits(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let mut second = server.hold_at_after(STORES, 1);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', {SHORT})"),
    );
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('f', '{{a,b}}', {SHORT})"),
    );
    second.wait_for(1);
    let status = row(
        &mut client,
        "SELECT status FROM fsbench.experiments WHERE experiment = 'f'",
    );
    assert_eq!(status, "queued");
    drop(second);
    wait_for(&mut client, "f");
    let apart = "SELECT max(run_id) FILTER (WHERE experiment_id = 1) < min(run_id) FILTER (WHERE experiment_id = 2) FROM fsbench.experiment_run";
    assert_eq!(row(&mut client, apart), "t");
}

fn max_duration_ends_it_between_two_runs(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('e', '{{a,b}}', max_duration => '12 s', max_blocks => 3, {LONGER})"
        ),
    );
    wait_for(&mut client, "e");
    assert_columns(
        &mut client,
        "FROM fsbench.experiments",
        &[
            ("status", "done"),
            ("runs < 6", "t"),
            (
                "status_reason",
                "another run would not have ended within max_duration",
            ),
        ],
    );
    // Extended, it has that time once more, and a day in which it was paused, or over, is none of it.
    let runs: u32 = row(&mut client, "SELECT runs FROM fsbench.experiments")
        .parse()
        .unwrap();
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET started_at = started_at - interval '1 day', asked = asked || '{\"max_duration_us\": 600000000}'; \
         SELECT fsbench.extend_experiment('e', 4)",
    );
    wait_for_runs(&mut client, "e", runs + 1);
    assert_eq!(
        row(&mut client, "SELECT fsbench.pause_experiment('e')"),
        "paused"
    );
    let on = "SELECT on_since IS NULL AND fsbench._on_seconds(e) = on_seconds AND on_seconds > 0 AND max_seconds > 600 FROM fsbench.experiment e";
    assert_eq!(row(&mut client, on), "t");
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    wait_for_no_run(&mut client);
}

fn the_answer_says_where_max_duration_will_end_it(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let held = server.hold_at_after(STORES, 5);
    let many = SHORT.replace("max_blocks => 3", "max_blocks => 12");
    // Nothing is decided: the one is nine times the other, in turn.
    execute(
        &mut client,
        &format!(
            "CREATE FUNCTION in_turn() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN NEW.tps := 1 + 8 * (((SELECT max(block) FROM fsbench.experiment_run) + (NEW.target = ''a'')::int) % 2); RETURN NEW; END'; \
             CREATE TRIGGER in_turn BEFORE UPDATE ON fsbench.run_log FOR EACH ROW WHEN (NEW.status = 'done') EXECUTE FUNCTION in_turn(); \
             SELECT fsbench.experiment('e', '{{a,b}}', {many})"
        ),
    );
    wait_for_runs(&mut client, "e", 5);
    // Time for some of the 18 runs that are left and not for all, however long the one that is held takes, and if it has to be made again.
    execute(
        &mut client,
        "UPDATE fsbench.experiment e SET too_short = false, run_seconds = 0, max_seconds = fsbench._on_seconds(e) + 12 * fsbench._on_seconds(e) / 5",
    );
    drop(held);
    let answer = "SELECT answer FROM fsbench.experiments";
    let said = wait_until("there is an answer", LONG, || {
        Some(row(&mut client, answer)).filter(|said| !said.is_empty())
    });
    assert!(
        said.contains("; max_duration will end it after about block ")
            && said.ends_with(", and not after block 12"),
        "{said}"
    );
    let logged = "SELECT message FROM fsbench.experiment_log WHERE event = 'look' AND block = 3";
    assert_eq!(rows(&mut client, logged), [said]);
    // Without one there is nothing to be said.
    execute(&mut client, "SELECT fsbench.extend_experiment('e', 16)");
    let said = row(&mut client, answer);
    assert!(!said.is_empty() && !said.contains("max_duration"), "{said}");
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    wait_for_no_run(&mut client);
}

fn blocks_before_a_disk_was_throttled_are_made_again(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', {SHORT})"),
    );
    wait_for(&mut client, "e");
    // Since the second block a flush takes a second.
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET too_short = false; \
         UPDATE fsbench.run_log r SET facts = facts || jsonb_build_object('flush', jsonb_build_object('before_us', CASE WHEN x.block = 1 THEN 1 ELSE 1e6 END)) \
           FROM fsbench.experiment_run x WHERE x.run_id = r.run_id",
    );
    execute(&mut client, "SELECT fsbench.extend_experiment('e', 4)");
    wait_for(&mut client, "e");
    let why = "SELECT DISTINCT block, why FROM fsbench.experiment_run WHERE outcome = 'repeated'";
    assert_eq!(
        rows(&mut client, why),
        ["1|throttled: flushes take 1000000.0 times as long from block 2 on"]
    );
    let logged = "SELECT block FROM fsbench.experiment_log WHERE event = 'throttled'";
    assert_eq!(rows(&mut client, logged), ["2"]);
    let again = "SELECT count(*) FROM fsbench.experiment_run WHERE block = 1 AND outcome = 'measured' AND attempt > 1";
    assert_eq!(row(&mut client, again), "2");
}
