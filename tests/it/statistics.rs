//! Core's statistics and pg_stat_statements over the measured window: they agree with what is known otherwise, and what is not
//! known is NULL.

use crate::common::{execute, row, rows, run, server, set};
use crate::held::Held;
use pgfsbench_tests::{LONG, SHOWN, TestServer, assert_columns, wait_until};
use postgres::Client;

const SPEC: &str = r#"scale => 2, clients => 2, seed => 1, options => '{"sample": false}'"#;
pub const STATEMENTS: (&str, &str) = ("shared_preload_libraries", "pg_stat_statements, pgfsbench");

/// The time of the clients' flushes of WAL: PostgreSQL 18 has moved it.
const WAL_SYNC_TIME: &str = "(counter = 'wal_sync_time' OR view = 'pg_stat_io' AND object = 'background worker/wal/normal' AND counter = 'fsync_time')";

/// A counter of a run, as text; `NULL` when it is stored as not known, nothing when it is not stored.
fn counter(client: &mut Client, id: &str, view: &str, counter: &str) -> String {
    rows(
        client,
        &format!(
            "SELECT coalesce(value::text, 'NULL') FROM fsbench.statistic \
             WHERE run_id = {id} AND view = '{view}' AND object = '' AND counter = '{counter}'"
        ),
    )
    .join(",")
}

fn finding(client: &mut Client, id: &str, code: &str) -> String {
    rows(
        client,
        &format!(
            "SELECT severity || ' ' || message || ' ' || hint FROM fsbench.finding WHERE run_id = {id} AND code = '{code}'"
        ),
    )
    .join("\n")
}

#[test]
fn wal_of_the_statistics_is_its_distance_and_its_records() {
    let server = server(&[
        ("track_wal_io_timing", "on"),
        ("max_wal_size", "4GB"),
        ("wal_keep_size", "4GB"),
    ]);
    wal_of_the_statistics_is_the_distance_in_wal_within_two_percent(&server);
    wal_of_the_statistics_and_its_distance_are_those_of_the_records_in_it(&server);
}

/// pg_stat_wal counts the lengths of records. The distance in WAL also has the padding of each to 8 bytes and the
/// header of each page: under 2 % where whole pages are written, as after the checkpoint that a run begins with.
fn wal_of_the_statistics_is_the_distance_in_wal_within_two_percent(server: &TestServer) {
    let mut client = server.connect("postgres");
    // With a warm-up, whose work the statistics get before the window; and without one. So few that most of it are whole pages.
    for how in [
        "warmup => '1 s', duration => '3 s', rate => 2000",
        "warmup => '0', transactions => 4000",
    ] {
        let spec = format!("{}, {how}", SPEC.replace("scale => 2", "scale => 10"));
        // The clients do not wait for the coordinator: where it was late, both do not begin at one moment, or the one is not known.
        let id = wait_until("the window has begun in time", LONG, || {
            let id = run(&mut client, &spec);
            let in_time = format!(
                "SELECT coalesce(bool_and((p->>'ms')::float8 < 1020), true) FROM fsbench.run_log, jsonb_array_elements(phases) p \
                 WHERE run_id = {id} AND p->>'phase' = 'warmup'"
            );
            let is_known = counter(&mut client, &id, "pg_stat_wal", "wal_bytes") != "NULL";
            (is_known && row(&mut client, &in_time) == "t").then_some(id)
        });
        assert_columns(
            &mut client,
            &format!(
                "FROM fsbench.result r JOIN fsbench.statistic s USING (run_id) \
                 WHERE run_id = {id} AND s.view = 'pg_stat_wal' AND s.counter = 'wal_bytes'"
            ),
            &[
                ("abs(s.value / r.wal_bytes - 1) < 0.02", "t"),
                ("r.wal_bytes > 100000", "t"),
                ("r.wal_bytes = r.wal_end_lsn - r.wal_start_lsn", "t"),
                ("track_wal_io_timing", "t"),
                ("track_io_timing", "f"),
                ("clock_read_ns BETWEEN 1 AND 100000", "t"),
                (
                    "(SELECT value >= r.transactions_total AND value <= r.transactions_total + 100 FROM fsbench.statistic \
                      WHERE run_id = r.run_id AND view = 'pg_stat_database' AND counter = 'xact_commit')",
                    "t",
                ),
                (
                    &format!(
                        "(SELECT value > 0 FROM fsbench.statistic WHERE run_id = r.run_id AND {WAL_SYNC_TIME})"
                    ),
                    "t",
                ),
                (
                    "(SELECT value IS NULL FROM fsbench.statistic WHERE run_id = r.run_id AND counter = 'blk_read_time')",
                    "t",
                ),
                ("s.value / r.wal_bytes", SHOWN),
            ],
        );
    }
}

fn wal_of_the_statistics_and_its_distance_are_those_of_the_records_in_it(server: &TestServer) {
    let mut client = server.connect("postgres");
    // No whole pages, so that alignment shows.
    set(server, &mut client, "full_page_writes", "off");
    set(server, &mut client, "autovacuum", "off");
    execute(&mut client, "CREATE EXTENSION pg_walinspect");
    let id = run(
        &mut client,
        &format!("{SPEC}, warmup => '0', transactions => 4000"),
    );
    // Others than clients may have reported a little earlier or later.
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.result r JOIN fsbench.statistic s USING (run_id), \
               LATERAL (SELECT sum(record_length) AS length, sum((record_length + 7) / 8 * 8) AS aligned \
                        FROM pg_get_wal_records_info(r.wal_start_lsn, r.wal_end_lsn)) i \
             WHERE run_id = {id} AND s.view = 'pg_stat_wal' AND s.counter = 'wal_bytes'"
        ),
        &[
            ("abs(s.value / i.length - 1) < 0.002", "t"),
            (
                "abs((i.aligned + 24 * r.wal_bytes / 8192) / r.wal_bytes::float8 - 1) < 0.002",
                "t",
            ),
            ("i.aligned > i.length", "t"),
            ("s.value / i.length", SHOWN),
            ("i.aligned / r.wal_bytes::float8", SHOWN),
        ],
    );
}

#[test]
fn statistics_that_are_reset_meanwhile_are_not_known_and_that_is_told() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let held = Held::in_window(
        &server,
        &format!("{SPEC}, warmup => '0', transactions => 100, rate => 100"),
    );
    // Which of them can be reset by itself depends on the version.
    let views = rows(
        &mut client,
        "SELECT 'pg_stat_' || name FROM unnest('{checkpointer,io,wal}'::text[]) AS name \
         WHERE to_regclass('pg_catalog.pg_stat_' || name) IS NOT NULL ORDER BY 1",
    );
    assert!(views.contains(&"pg_stat_wal".to_owned()), "{views:?}");
    for view in &views {
        let reset = view.trim_start_matches("pg_stat_");
        execute(
            &mut client,
            &format!("SELECT pg_stat_reset_shared('{reset}')"),
        );
    }
    let id = held.end();
    let unknown = format!(
        "SELECT view FROM fsbench.statistic WHERE run_id = {id} GROUP BY view HAVING bool_and(value IS NULL) ORDER BY 1"
    );
    assert_eq!(rows(&mut client, &unknown), views);
    assert_eq!(
        counter(&mut client, &id, "pg_stat_bgwriter", "maxwritten_clean"),
        "0"
    );
    let told = finding(&mut client, &id, "statistics_reset");
    assert!(
        told.starts_with("warning ") && views.iter().all(|view| told.contains(view.as_str())),
        "{told}"
    );

    // Without a reset nothing is found. A counter that a version lacks has no row, and a time that is not taken is not known.
    let id = run(
        &mut client,
        &format!("{SPEC}, warmup => '0', transactions => 100"),
    );
    assert_eq!(finding(&mut client, &id, "statistics_reset"), "");
    let told = finding(&mut client, &id, "statements_not_recorded");
    assert!(
        told.starts_with("info ")
            && told.contains("not loaded")
            && told.contains("shared_preload_libraries"),
        "{told}"
    );
    let untold = format!(
        "SELECT value IS NULL FROM fsbench.statistic WHERE run_id = {id} AND {WAL_SYNC_TIME}"
    );
    assert_eq!(row(&mut client, &untold), "t");
    assert_ne!(
        counter(&mut client, &id, "pg_stat_wal", "wal_bytes"),
        "NULL"
    );
    let is_missing = "SELECT to_regclass('pg_catalog.pg_stat_checkpointer') IS NULL";
    let told = counter(&mut client, &id, "pg_stat_checkpointer", "num_timed");
    assert_eq!(told.is_empty(), row(&mut client, is_missing) == "t");
}

#[test]
fn statements_of_the_workload_are_those_of_the_window_only() {
    let server = server(&[STATEMENTS]);
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE SCHEMA s; CREATE EXTENSION pg_stat_statements SCHEMA s; SELECT 'of somebody else'",
    );
    let id = run(
        &mut client,
        &format!("{SPEC}, transactions => 300, warmup => '0'"),
    );
    let statements = "SELECT concat_ws(' ', substring(query, '^\\w+'), substring(query, 'pgbench_\\w+')) FROM fsbench.statement ORDER BY 1";
    assert_eq!(
        rows(&mut client, statements),
        [
            "INSERT pgbench_history",
            "SELECT pgbench_accounts",
            "UPDATE pgbench_accounts",
            "UPDATE pgbench_branches",
            "UPDATE pgbench_tellers",
        ]
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.statement WHERE run_id = {id}"),
        &[
            ("bool_and(calls = 600)", "t"),
            ("bool_and(rows = 600)", "t"),
            ("bool_and(toplevel)", "t"),
            (
                "bool_and(min_exec_ms <= mean_exec_ms AND mean_exec_ms <= max_exec_ms)",
                "t",
            ),
            (
                "bool_and(abs(total_exec_ms / calls - mean_exec_ms) < 0.001)",
                "t",
            ),
            (
                "bool_and(stddev_exec_ms BETWEEN (max_exec_ms - min_exec_ms) / sqrt(2.02 * calls) AND (max_exec_ms - min_exec_ms) / 1.98)",
                "t",
            ),
            ("bool_and(stddev_exec_ms > 0)", "t"),
            ("bool_and(wal_bytes > 0 OR query ~ '^SELECT')", "t"),
            ("bool_and(shared_blks_hit > 0)", "t"),
            ("bool_and(blk_read_ms IS NULL)", "t"),
        ],
    );
    assert_eq!(finding(&mut client, &id, "statements_not_recorded"), "");
    // Other people's are as they were, and of the work database nothing is left.
    assert_columns(
        &mut client,
        "FROM s.pg_stat_statements",
        &[
            (
                "count(*) FILTER (WHERE query = 'SELECT $1' AND calls = 1)",
                "1",
            ),
            (
                "count(*) FILTER (WHERE NOT EXISTS (SELECT FROM pg_database d WHERE d.oid = dbid))",
                "0",
            ),
        ],
    );
    // With a warm-up, what is done in it does not count.
    let id = held_into_the_window(
        &server,
        &format!(
            "{SPEC}, transactions => 200, warmup => '2 s', settings => '{{\"track_io_timing\": \"on\"}}'"
        ),
        "s.pg_stat_statements",
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.statement JOIN fsbench.result USING (run_id) WHERE run_id = {id}"),
        &[
            ("count(*)", "5"),
            // Each client was in a transaction of the warm-up.
            (
                "bool_and(calls BETWEEN transactions_total AND transactions_total + 2)",
                "t",
            ),
            ("bool_and(blk_read_ms IS NOT NULL)", "t"),
            ("bool_and(track_io_timing)", "t"),
            ("min(calls)", SHOWN),
            ("min(transactions_total)", SHOWN),
        ],
    );
}

/// A run whose clients wait from their warm-up into the window, until its statements count.
fn held_into_the_window(server: &TestServer, spec: &str, view: &str) -> String {
    let mut client = server.connect("postgres");
    let of_clients = format!(
        "SELECT count(*) FROM {view} JOIN pg_database d ON d.oid = dbid \
         WHERE datname LIKE 'fsbench_work%' AND query ~ '^(SELECT|UPDATE)'"
    );
    wait_until("a run is held in its warm-up", LONG, || {
        let mut held = Held::in_warm_up(server, spec, 20);
        let has_worked = row(&mut client, &of_clients) != "0";
        held.comes_into_window();
        wait_until("the statements of the warm-up are gone", LONG, || {
            (row(&mut client, &of_clients) == "0").then_some(())
        });
        let id = held.end();
        has_worked.then_some(id)
    })
}

#[test]
fn statements_of_others_and_resets_do_not_mislead() {
    let server = server(&[STATEMENTS]);
    functions_that_others_have_put_beside_those_of_pg_stat_statements_are_not_called(&server);
    server.start_anew();
    that_pg_stat_statements_fails_is_told_and_keeps_no_run_from_ending(&server);
    server.start_anew();
    statements_count_from_the_start_of_the_window_though_the_clients_are_not_ready_for_it(&server);
}

fn functions_that_others_have_put_beside_those_of_pg_stat_statements_are_not_called(
    server: &TestServer,
) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE SCHEMA s; CREATE EXTENSION pg_stat_statements SCHEMA s; \
         CREATE TABLE public.called (function text); GRANT INSERT ON public.called TO PUBLIC; \
         CREATE ROLE other; GRANT USAGE, CREATE ON SCHEMA s TO other; SET ROLE other",
    );
    for function in [
        "pg_stat_statements_reset(integer, oid, integer)",
        "pg_stat_statements_reset(oid, oid, integer)",
        "pg_stat_statements_reset(bigint, oid, bigint)",
        "pg_stat_statements_reset(oid, oid, VARIADIC bigint[])",
        "pg_stat_statements_reset()",
        "pg_stat_statements_info(VARIADIC boolean[])",
        "pg_stat_statements(text)",
        "pg_stat_statements(VARIADIC boolean[])",
        "pg_stat_statements()",
    ] {
        execute(
            &mut client,
            &format!(
                "CREATE FUNCTION s.{function} RETURNS void LANGUAGE sql AS $$INSERT INTO public.called VALUES ('{function}')$$"
            ),
        );
    }
    execute(&mut client, "RESET ROLE");
    let id = run(
        &mut client,
        &format!("{SPEC}, transactions => 100, warmup => '0'"),
    );
    let calls =
        format!("SELECT string_agg(calls::text, ' ') FROM fsbench.statement WHERE run_id = {id}");
    assert_eq!(row(&mut client, &calls).split(' ').count(), 5);
    assert_eq!(
        rows(&mut client, "SELECT function FROM public.called"),
        [""; 0]
    );
}

/// A run near the end of whose window this is done: how many statements it has, and what is told of them. Hardly a transaction comes
/// after it: the clients wait from before it on, until the window is over.
fn statements_after(server: &TestServer, act: &str) -> (String, String, String) {
    let spec = format!("{SPEC}, warmup => '0', duration => '5 s'");
    let mut client = server.connect("postgres");
    let id = wait_until("it was done in the window", LONG, || {
        let mut held = Held::after(server, &spec, 50);
        execute(&mut client, act);
        let was_in_it = held.progress("done < total").as_deref() == Some("t");
        held.wait_for("done = total");
        let id = held.end();
        was_in_it.then_some(id)
    });
    let stored = format!("SELECT count(*) FROM fsbench.statement WHERE run_id = {id}");
    (
        row(&mut client, &stored),
        finding(&mut client, &id, "statistics_reset"),
        finding(&mut client, &id, "statements_not_recorded"),
    )
}

#[test]
fn statements_that_are_removed_in_the_window_are_not_stored_and_that_is_told() {
    let server = server(&[STATEMENTS]);
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE EXTENSION pg_stat_statements");
    // Entries of one database are removed without a trace but their calls.
    for act in [
        "SELECT pg_stat_statements_reset()",
        "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname LIKE 'fsbench_work%'",
    ] {
        let (stored, reset, missing) = statements_after(&server, act);
        assert_eq!(stored, "0", "{act}");
        assert!(
            reset.starts_with("warning ") && reset.contains(": pg_stat_statements "),
            "{act}: {reset}"
        );
        assert_eq!(missing, "", "{act}");
    }
    // Entries of other databases are not ours.
    let others =
        "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = 'postgres'";
    let (stored, reset, missing) = statements_after(&server, others);
    assert_eq!((&*stored, &*reset, &*missing), ("5", "", ""));
    // More statements than there is room for.
    server.configure(&[("pg_stat_statements.max", "100")]);
    server.restart();
    let many = "DO $$ BEGIN FOR n IN 1..200 LOOP EXECUTE 'SELECT ' || repeat('1, ', n) || '1'; END LOOP; END $$";
    let all = "SET pg_stat_statements.track = 'all'";
    let (stored, reset, missing) = statements_after(&server, &format!("{all}; {many}"));
    assert_eq!((&*stored, &*reset), ("0", ""));
    assert!(
        missing.starts_with("info ") && missing.contains("pg_stat_statements.max"),
        "{missing}"
    );
}

fn that_pg_stat_statements_fails_is_told_and_keeps_no_run_from_ending(server: &TestServer) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE EXTENSION pg_stat_statements VERSION '1.4'",
    );
    let spec = format!("{SPEC}, transactions => 50");
    let id = run(&mut client, &spec);
    let told = finding(&mut client, &id, "statements_not_recorded");
    assert!(
        told.starts_with("info ") && told.contains("ALTER EXTENSION pg_stat_statements UPDATE"),
        "{told}"
    );
    execute(&mut client, "ALTER EXTENSION pg_stat_statements UPDATE");
    let fail = "CREATE OR REPLACE FUNCTION pg_stat_statements_info(OUT dealloc bigint, OUT stats_reset timestamptz) RETURNS record \
        LANGUAGE plpgsql AS $$ BEGIN RAISE 'not today'; END $$";
    // When it is read at the end, and when it is reset at the start.
    let (stored, reset, missing) = statements_after(server, fail);
    assert_eq!((&*stored, &*reset), ("0", ""));
    let id = run(&mut client, &spec);
    for told in [
        missing,
        finding(&mut client, &id, "statements_not_recorded"),
    ] {
        assert!(
            told.starts_with("info ") && told.contains("could not be asked"),
            "{told}"
        );
    }
    assert!(server.log().contains("not today"));
}

fn statements_count_from_the_start_of_the_window_though_the_clients_are_not_ready_for_it(
    server: &TestServer,
) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()",
    );
    let id = held_into_the_window(
        server,
        "workload => 'select-only', scale => 1, clients => 2, warmup => '2 s', transactions => 200, seed => 1",
        "pg_stat_statements",
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.statement JOIN fsbench.result USING (run_id) WHERE run_id = {id}"),
        &[
            (
                "calls BETWEEN transactions_total AND transactions_total + 2",
                "t",
            ),
            ("calls", SHOWN),
            ("transactions_total", SHOWN),
        ],
    );

    // A cancelled run leaves nothing, either.
    let id = row(
        &mut client,
        &format!("SELECT fsbench.start({SPEC}, duration => '5 min', rate => 20)"),
    );
    server.wait_for_phase("measure");
    execute(&mut client, &format!("SELECT fsbench.cancel({id})"));
    assert!(server.ending(&id).starts_with("cancelled"));
    let over = "SELECT FROM pg_stat_activity WHERE backend_type = 'fsbench coordinator'";
    wait_until("the run is cleared up", LONG, || {
        rows(&mut client, over).is_empty().then_some(())
    });
    let left = "SELECT count(*) FROM pg_stat_statements s WHERE NOT EXISTS (SELECT FROM pg_database d WHERE d.oid = dbid)";
    assert_eq!(row(&mut client, left), "0");
}

pub fn statistics_come_home(server: &TestServer) {
    let mut client = server.connect("postgres");
    let id = row(
        &mut client,
        &format!(
            "SELECT fsbench.start(target => 'here', {SPEC}, warmup => '0', transactions => 15000, settings => '{{\"fsync\": \"off\", \"max_wal_size\": \"32MB\", \"min_wal_size\": \"32MB\"}}')"
        ),
    );
    assert_eq!(server.ending(&id), "done");
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result r WHERE run_id = {id}"),
        &[
            (
                "(SELECT count(*) FROM fsbench.statement s WHERE s.run_id = r.run_id)",
                "5",
            ),
            (
                "(SELECT count(*) FROM fsbench.checkpoint c WHERE c.run_id = r.run_id AND NOT started_before AND NOT ended_after) = complete_checkpoints",
                "t",
            ),
            ("checkpoints_logged", "t"),
            ("complete_checkpoints > 0", "t"),
            (
                "(SELECT value > 0 FROM fsbench.statistic s WHERE s.run_id = r.run_id AND counter = 'wal_bytes')",
                "t",
            ),
            ("clock_read_ns > 0", "t"),
        ],
    );
}
