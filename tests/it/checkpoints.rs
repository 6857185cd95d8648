//! The rows of checkpoints are what the server's log says of them; and where it says nothing, the run says so.

use crate::common::{execute, row, rows, run, server, set, wait_for_window};
use crate::held::Held;
use pgfsbench_tests::{LONG, TestServer, assert_columns, wait_for_phase, wait_until};
use postgres::Client;

const SPEC: &str = r#"scale => 2, clients => 2, seed => 1, options => '{"sample": false}'"#;

fn start(client: &mut Client, arguments: &str) -> String {
    let id = row(
        client,
        &format!("SELECT fsbench.start({SPEC}, {arguments})"),
    );
    wait_for_phase(client, "measure");
    id
}

/// A line of the log about a finished checkpoint, in the words of a row.
fn of_line(line: &str) -> String {
    // Since 16 it goes on with where WAL was.
    let line = line.split_once("; lsn=").map_or(line, |(line, _)| line);
    let mut numbers: Vec<f64> = line
        .split_once(" complete: ")
        .expect("a line of a checkpoint")
        .1
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .filter_map(|part| part.parse().ok())
        .collect();
    // Told since PostgreSQL 18.
    if line.contains("SLRU buffers") {
        numbers.remove(2);
    }
    let [buffers, _percent, added, removed, recycled, times @ ..] = &numbers[..] else {
        panic!("{line}");
    };
    let [
        write,
        sync,
        total,
        files,
        longest,
        average,
        distance,
        estimate,
    ] = times
    else {
        panic!("{line}");
    };
    let ms = |seconds: &f64| (seconds * 1000.0).round();
    let kb = |kb: &f64| kb * 1024.0;
    [
        *buffers,
        *added,
        *removed,
        *recycled,
        ms(write),
        ms(sync),
        ms(total),
        *files,
        ms(longest),
        ms(average),
        kb(distance),
        kb(estimate),
    ]
    .map(|number| number.to_string())
    .join(" ")
}

/// The stored figures of a run's complete checkpoints, in the form of the log's.
fn of_rows(client: &mut Client, id: &str) -> Vec<String> {
    rows(
        client,
        &format!(
            "SELECT concat_ws(' ', cause, buffers_written, wal_files_added, wal_files_removed, wal_files_recycled, write_ms, sync_ms, \
               total_ms, sync_files, longest_sync_ms, average_sync_ms, distance_bytes, estimate_bytes) \
             FROM fsbench.checkpoint WHERE run_id = {id} AND NOT started_before AND NOT ended_after ORDER BY number"
        ),
    )
}

/// The lines of the log, from here on, about checkpoints that are complete, each with its cause.
fn lines(server: &TestServer, from: usize) -> Vec<String> {
    let mut cause = String::new();
    let mut found = Vec::new();
    for line in server.log()[from..].lines() {
        if let Some((_, words)) = line.split_once("checkpoint starting: ") {
            cause = words.to_owned();
        } else if line.contains("checkpoint complete: ") {
            found.push(format!("{cause} {}", of_line(line)));
        }
    }
    found
}

#[test]
fn rows_of_checkpoints_are_the_lines_of_the_log_to_the_millisecond() {
    // A small max_wal_size forces some checkpoints; requests force others, and one is due by time.
    let server = server(&[
        ("max_wal_size", "32MB"),
        ("min_wal_size", "32MB"),
        ("shared_buffers", "16MB"),
        ("checkpoint_completion_target", "0"),
    ]);
    let mut client = server.connect("postgres");
    let spec = format!("{SPEC}, warmup => '0', transactions => 6000");
    let mut held = Held::in_window(&server, &spec);
    // The shortest that the server takes, from the run's own CHECKPOINT on.
    let from = server.log().len();
    set(&server, &mut client, "checkpoint_timeout", "30s");
    wait_until("the time has come", LONG, || {
        let logged = lines(&server, from);
        let mut causes = logged.iter();
        causes.any(|line| line.starts_with("time ")).then_some(())
    });
    set(&server, &mut client, "checkpoint_timeout", "1h");
    execute(&mut client, "CHECKPOINT");
    held.again_after(1500);
    execute(&mut client, "CHECKPOINT");
    let id = held.end();
    let found = of_rows(&mut client, &id);
    // All of them: one may have begun before the window.
    let logged = lines(&server, 0);
    assert!(found.len() >= 2, "{found:?}");
    // Those before it were of loading; the drop of the work database comes last, and is not in the window.
    let first = logged.iter().position(|line| *line == found[0]);
    let first = first.unwrap_or_else(|| panic!("{found:?}\n{logged:?}"));
    assert_eq!(found, logged[first..first + found.len()]);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {id}"),
        &[
            ("complete_checkpoints", &found.len().to_string()),
            ("checkpoints_timed", "1"),
            ("checkpoints_logged", "t"),
            (
                "checkpoints_requested + 1 - (SELECT count(*) FROM fsbench.checkpoint c WHERE c.run_id = r.run_id AND NOT started_before)",
                "0",
            ),
        ],
    );
    // Times that agree with each other and with the window.
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.checkpoint c JOIN fsbench.run_log USING (run_id) WHERE run_id = {id}"
        ),
        &[
            (
                "count(*) FILTER (WHERE cause ~ '^(immediate|fast) force wait')",
                "2",
            ),
            ("count(*) FILTER (WHERE cause = 'time')", "1"),
            (
                "count(*) FILTER (WHERE cause !~ '^((immediate|fast) force wait|wal|time)')",
                "0",
            ),
            ("bool_and(kind = 'checkpoint')", "t"),
            (
                "bool_and(abs(extract(epoch FROM c.ended_at - c.started_at) * 1000 - total_ms) <= 1)",
                "t",
            ),
            (
                "bool_and(abs(extract(epoch FROM c.started_at - measured_from) - start_second - 0.5) <= 0.6)",
                "t",
            ),
            (
                "bool_and(started_before OR ended_after OR c.started_at >= measured_from)",
                "t",
            ),
            (
                "bool_and((slru_written IS NULL) = (current_setting('server_version_num')::int < 180000))",
                "t",
            ),
            (
                "bool_and(aggregate_sync_ms <= sync_files * longest_sync_ms)",
                "t",
            ),
        ],
    );
}

#[test]
fn checkpoints_of_the_window_are_told_whatever_ends_it_and_where_none_is_logged() {
    let server = server(&[("checkpoint_timeout", "1h")]);
    checkpoints_over_the_start_and_the_end_of_the_window_are_marked(&server);
    server.start_anew();
    a_run_that_is_cancelled_keeps_the_checkpoints_of_its_window(&server);
    server.start_anew();
    checkpoints_that_are_not_logged_are_counted_and_told(&server);
    server.start_anew();
    after_a_crash_in_a_checkpoint_the_next_run_has_its_own_rows_only(&server);
}

fn checkpoints_over_the_start_and_the_end_of_the_window_are_marked(server: &TestServer) {
    let mut client = server.connect("postgres");
    // Each would take most of an hour without a request for an immediate one.
    let slow = || {
        let from = server.log().len();
        let asked = server.background("postgres", "SELECT pg_backup_start('x')");
        wait_until("the checkpoint has begun", LONG, || {
            server.log()[from..]
                .contains("checkpoint starting: force wait")
                .then_some(())
        });
        asked
    };
    let spec = format!("{SPEC}, warmup => '3 s', transactions => 400, rate => 400");
    let (id, second) = wait_until("they are over start and end", LONG, || {
        // Some pages are dirty by then.
        let mut held = Held::in_warm_up(server, &spec, 200);
        let first = slow();
        let was_before = held.progress("phase = 'warmup'").as_deref() == Some("t");
        held.comes_into_window();
        assert!(!first.is_finished(), "it was to be spread over an hour");
        execute(&mut client, "CHECKPOINT");
        first.join().expect("a backup begins");
        held.again_after(200);
        let second = slow();
        let id = held.end();
        if was_before {
            return Some((id, second));
        }
        execute(&mut client, "CHECKPOINT");
        second.join().expect("a backup begins");
        None
    });
    // The one that went on when the run was stored is known by its start, and complete only later.
    for (number, cause, started_before, ended_after) in [
        ("1", "force wait", "t", "f"),
        ("2", "immediate force wait", "f", "f"),
        ("3", "force wait", "f", "t"),
    ] {
        assert_columns(
            &mut client,
            &format!("FROM fsbench.checkpoint WHERE run_id = {id} AND number = {number}"),
            &[
                // The word is another one since PostgreSQL 19.
                ("replace(cause, 'fast', 'immediate')", cause),
                ("started_before", started_before),
                ("ended_after", ended_after),
                ("start_second < 0", started_before),
                ("end_second IS NULL", ended_after),
                ("total_ms IS NULL", ended_after),
                ("ended_at IS NULL", ended_after),
                ("distance_bytes IS NULL", ended_after),
            ],
        );
    }
    let count = format!("SELECT count(*) FROM fsbench.checkpoint WHERE run_id = {id}");
    assert_eq!(row(&mut client, &count), "3");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {id}"),
        &[
            ("complete_checkpoints", "1"),
            ("checkpoints_timed", "0"),
            ("checkpoints_requested", "2"),
        ],
    );
    execute(&mut client, "CHECKPOINT");
    second.join().expect("a backup begins");
}

fn a_run_that_is_cancelled_keeps_the_checkpoints_of_its_window(server: &TestServer) {
    let mut client = server.connect("postgres");
    let id = start(
        &mut client,
        "warmup => '0', duration => '10 min', rate => 100",
    );
    wait_for_window(&mut client, 500);
    execute(&mut client, "CHECKPOINT");
    execute(&mut client, &format!("SELECT fsbench.cancel({id})"));
    assert!(server.ending(&id).starts_with("cancelled "));
    // They come after the row says how it ended.
    let stored = format!("FROM fsbench.checkpoint WHERE run_id = {id}");
    wait_until("they are stored", LONG, || {
        let count = format!("SELECT count(*) {stored}");
        (row(&mut client, &count) != "0").then_some(())
    });
    assert_columns(
        &mut client,
        &stored,
        &[
            ("number", "1"),
            ("started_before", "f"),
            ("ended_after", "f"),
        ],
    );
}

fn checkpoints_that_are_not_logged_are_counted_and_told(server: &TestServer) {
    let mut client = server.connect("postgres");
    for (setting, value, usual, words) in [
        ("log_checkpoints", "off", "on", "log_checkpoints is off"),
        ("log_min_messages", "fatal", "warning", "does not log"),
    ] {
        set(server, &mut client, setting, value);
        let held = Held::in_window(
            server,
            &format!("{SPEC}, warmup => '0', transactions => 100, rate => 100"),
        );
        execute(&mut client, "CHECKPOINT");
        let id = held.end();
        assert_columns(
            &mut client,
            &format!("FROM fsbench.result WHERE run_id = {id}"),
            &[
                ("complete_checkpoints", "1"),
                ("checkpoints_logged", "f"),
                ("(SELECT count(*) FROM fsbench.checkpoint)", "0"),
                ("checkpoints_timed", "0"),
                ("checkpoints_requested", "1"),
                (
                    &format!(
                        "(SELECT value > 0 FROM fsbench.statistic WHERE run_id = {id} AND (view, counter) IN (('pg_stat_bgwriter', \
             'buffers_checkpoint'), ('pg_stat_checkpointer', 'buffers_written')))"
                    ),
                    "t",
                ),
                (
                    &format!(
                        "(SELECT severity FROM fsbench.finding WHERE run_id = {id} AND code = 'too_short')"
                    ),
                    "warning",
                ),
            ],
        );
        let found = row(
            &mut client,
            &format!(
                "SELECT severity || ' ' || message || ' ' || hint FROM fsbench.finding WHERE run_id = {id} AND code = 'log_checkpoints_off'"
            ),
        );
        assert!(
            found.starts_with("info ") && found.contains(words) && found.contains(setting),
            "{found}"
        );
        set(server, &mut client, setting, usual);
    }
}

fn after_a_crash_in_a_checkpoint_the_next_run_has_its_own_rows_only(server: &TestServer) {
    let mut client = server.connect("postgres");
    let id = start(
        &mut client,
        "warmup => '0', duration => '10 min', rate => 100",
    );
    wait_for_window(&mut client, 1000);
    let from = server.log().len();
    let slow = server.background("postgres", "SELECT pg_backup_start('x')");
    wait_until("the checkpoint has begun", LONG, || {
        server.log()[from..]
            .contains("checkpoint starting: force wait")
            .then_some(())
    });
    let checkpointer = row(
        &mut client,
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'",
    );
    server.crash(checkpointer.parse().expect("a pid"));
    slow.join().expect_err("its session ended");
    let mut client = server.connect("postgres");
    assert!(server.ending(&id).starts_with("failed 57P02;"));
    let id = run(
        &mut client,
        &format!("{SPEC}, transactions => 50, warmup => '0'"),
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {id}"),
        &[
            ("checkpoints_logged", "t"),
            ("complete_checkpoints", "0"),
            ("(SELECT count(*) FROM fsbench.checkpoint)", "0"),
        ],
    );
}
