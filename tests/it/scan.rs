//! Parallel scans: the same plan and workers as psql's, warm and cold, on targets too, and interrupted.

use crate::common::{
    assert_refused, create_remote_target, create_target, execute, row, rows, run,
    server_on_disk as server, work_database,
};
use pgfsbench_tests::{LONG, OwnedDirectory, TestServer, assert_columns, on_disk, wait_until};

const SETTINGS: &[(&str, &str)] = &[("max_worker_processes", "24"), ("shared_buffers", "32MB")];

/// A million rows.
const SMALL: &str = "workload => 'scan', scale => 1, seed => 1";

fn options(options: &str) -> String {
    format!("{SMALL}, options => '{{{options}}}'")
}

#[test]
fn scans_have_the_plans_and_rows_that_were_said_and_end_cleanly() {
    let server = server(SETTINGS);
    a_scan_has_the_plan_and_the_workers_that_psql_has(&server);
    server.start_anew();
    every_kind_of_row_is_as_large_as_was_said_and_does_not_compress_where_it_must_not(&server);
    server.start_anew();
    cancelled_in_the_load_or_in_a_scan_it_leaves_nothing(&server);
}

/// With the least WAL, the end of a transaction that creates a table reads its pages into shared buffers, of large ones, too, if wal_skip_threshold says so.
/// Loaders write past them.
#[test]
fn loaders_fill_a_table_of_which_no_empty_page_is_in_shared_buffers() {
    let minimal = [
        ("wal_level", "minimal"),
        ("max_wal_senders", "0"),
        ("wal_skip_threshold", "1GB"),
    ];
    let server = server(&[SETTINGS, &minimal].concat());
    let mut client = server.connect("postgres");
    let arguments = options(r#""degrees": [1], "repeats": 1, "readers": [2], "loaders": 2"#);
    let id = run(&mut client, &arguments);
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id} AND used"),
        &[("min(rows)", "1000000")],
    );
    server.nothing_is_left_at_once();
}

fn a_scan_has_the_plan_and_the_workers_that_psql_has(server: &TestServer) {
    let mut client = server.connect("postgres");
    let arguments = options(r#""degrees": [1, 3], "repeats": 1, "readers": [], "loaders": 2"#);
    let id = run(&mut client, &format!("{arguments}, keep => true"));
    let database = work_database(&mut client, &id);
    let mut psql = server.connect(&database);
    for degree in [1, 3] {
        execute(
            &mut psql,
            &format!(
                "SET max_parallel_workers_per_gather = {degree}; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; \
                 SET min_parallel_table_scan_size = 0"
            ),
        );
        let explained = rows(
            &mut psql,
            "EXPLAIN (FORMAT JSON) SELECT count(*) FROM fsbench_scan",
        )
        .join("\n");
        assert_columns(
            &mut client,
            &format!("FROM fsbench.scan WHERE run_id = {id} AND degree = {degree} AND used"),
            &[
                (&format!("plan = $plan${explained}$plan$::jsonb"), "t"),
                ("workers_launched", &degree.to_string()),
            ],
        );
        let analyzed = rows(
            &mut psql,
            "EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT count(*) FROM fsbench_scan",
        )
        .join("\n");
        assert!(
            analyzed.contains(&format!("Workers Launched: {degree}")),
            "{analyzed}"
        );
    }
    // Two loaders leave what one would: every row, visible to all, on as many pages, and sound.
    assert_columns(
        &mut psql,
        "FROM fsbench_scan",
        &[
            ("count(*)", "1000000"),
            ("count(DISTINCT id)", "1"),
            ("min(bit_length(id))", "200"),
            (
                "(SELECT relpages FROM pg_class WHERE relname = 'fsbench_scan')",
                "7353",
            ),
            (
                "(SELECT relallvisible = relpages FROM pg_class WHERE relname = 'fsbench_scan')",
                "t",
            ),
            (
                "(SELECT reloptions @> '{autovacuum_enabled=off,parallel_workers=3}' FROM pg_class WHERE relname = 'fsbench_scan')",
                "t",
            ),
            (
                "(SELECT relpersistence FROM pg_class WHERE relname = 'fsbench_scan')",
                "p",
            ),
        ],
    );
    execute(
        &mut psql,
        "CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility",
    );
    assert_columns(
        &mut psql,
        "",
        &[
            ("(SELECT count(*) FROM verify_heapam('fsbench_scan'))", "0"),
            (
                "(SELECT count(*) FROM pg_check_frozen('fsbench_scan'))",
                "0",
            ),
            (
                "(SELECT count(*) FROM pg_check_visible('fsbench_scan'))",
                "0",
            ),
            ("(SELECT count(DISTINCT ctid) FROM fsbench_scan)", "1000000"),
        ],
    );
    drop(psql);
    execute(&mut client, &format!("DROP DATABASE {database}"));
    server.nothing_is_left_at_once();
}

fn every_kind_of_row_is_as_large_as_was_said_and_does_not_compress_where_it_must_not(
    server: &TestServer,
) {
    let mut client = server.connect("postgres");
    for (payload, loaders) in [("\"accounts\"", 2), ("100", 3), ("300", 1)] {
        let arguments = options(&format!(
            r#""degrees": [2], "repeats": 1, "readers": [], "loaders": {loaders}, "payload": {payload}, "unlogged": true"#
        ));
        let id = run(&mut client, &format!("{arguments}, keep => true"));
        let database = work_database(&mut client, &id);
        let mut psql = server.connect(&database);
        let rows_of_payload = match payload {
            "\"accounts\"" => [
                ("count(DISTINCT aid)", "1000000"),
                ("max(aid)", "1000000"),
                ("count(*)", "1000000"),
                ("min(bid) = 1", "t"),
            ],
            length => [
                ("count(*)", "1000000"),
                ("min(length(payload))", length),
                ("max(length(payload))", length),
                // Random.
                (
                    "(SELECT count(DISTINCT payload) FROM (SELECT payload FROM fsbench_scan LIMIT 20000) s)",
                    "20000",
                ),
            ],
        };
        assert_columns(&mut psql, "FROM fsbench_scan", &rows_of_payload);
        let persistence = "SELECT relpersistence FROM pg_class WHERE relname = 'fsbench_scan'";
        assert_eq!(row(&mut psql, persistence), "u");
        if payload != "\"accounts\"" {
            // The server's own compression makes nothing of it.
            execute(
                &mut psql,
                "CREATE TABLE together AS SELECT string_agg(payload, '') AS rows FROM (SELECT payload FROM fsbench_scan LIMIT 10000) s",
            );
            assert_columns(
                &mut psql,
                "FROM together",
                &[
                    ("pg_column_compression(rows) IS NULL", "t"),
                    ("pg_column_size(rows) >= octet_length(rows)", "t"),
                ],
            );
        }
        drop(psql);
        execute(&mut client, &format!("DROP DATABASE {database}"));
    }
    server.nothing_is_left_at_once();
}

#[test]
fn a_run_may_have_more_workers_by_its_own_setting_or_on_a_target_than_the_server_allows() {
    let server = server(&[
        ("max_worker_processes", "16"),
        ("max_parallel_workers", "2"),
    ]);
    a_run_may_have_more_workers_by_its_own_setting_than_the_server_allows(&server);
    on_a_target_the_server_allows_the_degrees_and_the_table_is_copied(&server);
}

fn a_run_may_have_more_workers_by_its_own_setting_than_the_server_allows(server: &TestServer) {
    let mut client = server.connect("postgres");
    let arguments = options(r#""degrees": [2, 4], "repeats": 1, "readers": []"#);
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({arguments})"),
        "53000",
        &[
            "degree 4 is above max_parallel_workers",
            "\"max_parallel_workers\": 4",
        ],
    );
    let id = run(
        &mut client,
        &format!("{arguments}, settings => '{{\"max_parallel_workers\": 4}}'"),
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id}"),
        &[
            ("max(workers_launched)", "4"),
            ("bool_and(workers_launched = degree)", "t"),
        ],
    );
    server.nothing_is_left_at_once();
}

#[test]
fn a_degree_whose_workers_are_not_all_there_does_not_count() {
    let server = server(&[("max_worker_processes", "10")]);
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE TABLE held AS SELECT generate_series(1, 8) AS n; \
         ALTER TABLE held SET (parallel_workers = 4); ANALYZE held",
    );
    // Another session's query takes a worker before the table is loaded: for that the run has to wait.
    let mut first = server.connect("postgres");
    execute(&mut first, "BEGIN; COMMENT ON DATABASE template0 IS 'held'");
    let id = row(
        &mut client,
        &format!(
            "SELECT fsbench.start({})",
            options(r#""degrees": [1, 2, 5], "repeats": 1, "loaders": 1, "readers": []"#)
        ),
    );
    server.wait_for_phase("provision");
    let holder = server.background(
        "postgres",
        "SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; \
         SET parallel_leader_participation = off; SELECT count(*) FROM held WHERE pg_sleep(120) IS NOT NULL",
    );
    server.wait_for(
        "postgres",
        "SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = 'PgSleep'",
        LONG,
    );
    drop(first);
    assert_eq!(server.ending(&id), "done");
    holder.cancel();
    let _ = holder.join();
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan WHERE run_id = {id}"),
        &[
            ("bool_and(used = (workers_launched = degree))", "t"),
            ("bool_and(used = (why_not IS NULL))", "t"),
            ("bool_or(NOT used AND degree = 5)", "t"),
            ("bool_and(rows = 1000000)", "t"),
        ],
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.scan_curve({id}) WHERE degree = 5"),
        &[
            ("degree", "5"),
            ("repeats", "0"),
            ("not_used", "1"),
            ("median_ms IS NULL", "t"),
        ],
    );
    assert_eq!(
        row(
            &mut client,
            &format!(
                "SELECT severity FROM fsbench.finding WHERE run_id = {id} AND code = 'workers_not_launched'"
            )
        ),
        "warning"
    );
    server.nothing_is_left_at_once();
}

fn cancelled_in_the_load_or_in_a_scan_it_leaves_nothing(server: &TestServer) {
    let mut client = server.connect("postgres");
    for loaders in [1, 3] {
        let id = row(
            &mut client,
            &format!(
                "SELECT fsbench.start(workload => 'scan', scale => 50, options => '{{\"degrees\": [1], \"loaders\": {loaders}, \"unlogged\": true}}')"
            ),
        );
        wait_until("some rows are loaded", LONG, || {
            let done = rows(
                &mut client,
                "SELECT done > 0 AND done <= total FROM fsbench.progress WHERE phase = 'load'",
            );
            (done == ["t"]).then_some(())
        });
        execute(&mut client, &format!("SELECT fsbench.cancel({id})"));
        assert!(server.ending(&id).starts_with("cancelled 57014;"));
        server.nothing_is_left_at_once();
    }
    let many = options(r#""degrees": [1, 2, 3], "repeats": 1000, "readers": []"#);
    let id = row(&mut client, &format!("SELECT fsbench.start({many})"));
    server.wait_for_phase("measure");
    wait_until("some scans are made", LONG, || {
        let done = rows(
            &mut client,
            "SELECT done > 1 AND total = 3000 FROM fsbench.progress WHERE phase = 'measure'",
        );
        (done == ["t"]).then_some(())
    });
    execute(&mut client, &format!("SELECT fsbench.cancel({id})"));
    assert!(server.ending(&id).starts_with("cancelled 57014;"));
    server.nothing_is_left_at_once();
}

#[test]
#[ignore = "`make soak` has it"]
fn a_worker_that_dies_fails_the_run_and_leaves_nothing() {
    let server = server(SETTINGS);
    let mut client = server.connect("postgres");
    for (phase, scale, backend_type, words) in [
        // It takes long.
        ("load", 50, "fsbench client", "client"),
        ("measure", 3, "parallel worker", "worker failed"),
        ("measure", 3, "fsbench worker", "worker failed"),
    ] {
        let id = row(
            &mut client,
            &format!(
                "SELECT fsbench.start(workload => 'scan', scale => {scale}, options => '{{\"degrees\": [1, 2], \"repeats\": 1000, \
                   \"loaders\": 2, \"unlogged\": true, \"readers\": []}}')"
            ),
        );
        server.wait_for_phase(phase);
        // One that has just ended does not mind.
        wait_until("one is terminated that minds", LONG, || {
            let terminate = format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = '{backend_type}' LIMIT 1"
            );
            rows(&mut client, &terminate);
            let goes_on = format!("SELECT FROM fsbench.progress WHERE phase = '{phase}'");
            rows(&mut client, &goes_on).is_empty().then_some(())
        });
        let ended = server.ending(&id);
        assert!(
            ended.starts_with("failed 57P01;") && ended.contains(words),
            "{backend_type}: {ended}"
        );
        server.nothing_is_left_at_once();
    }
}

fn on_a_target_the_server_allows_the_degrees_and_the_table_is_copied(server: &TestServer) {
    let mut client = server.connect("postgres");
    let place = OwnedDirectory::within(on_disk(), "pgfsbench-target.");
    create_target(&mut client, "here", place.path());
    let arguments = |payload: &str| {
        format!(
            "target => 'here', {}",
            options(&format!(
                r#""degrees": [1, 12], "repeats": 2, "readers": [1], "loaders": 2, "cache": "cold", "payload": {payload}"#
            ))
        )
    };
    assert_refused(
        &mut client,
        &format!("SELECT fsbench.start({})", options(r#""degrees": [1, 12]"#)),
        "53000",
        &[
            "degree 12 is above max_parallel_workers",
            "HINT: ",
            "target",
        ],
    );
    // How far clearing up has come, there and here, when its row is read is chance.
    let phases = |id: &str| {
        format!(
            "SELECT string_agg(p ->> 'phase', ' ') FROM fsbench.result, jsonb_array_elements(phases) p \
             WHERE run_id = {id} AND p ->> 'phase' NOT IN ('cleanup', 'release')"
        )
    };
    let first = run(&mut client, &arguments("\"bit200\""));
    assert_eq!(
        row(&mut client, &phases(&first)),
        "load_once filesystem copy server provision checkpoint verify measure collect"
    );
    let again = run(&mut client, &arguments("\"bit200\""));
    assert_eq!(
        row(&mut client, &phases(&again)),
        "filesystem copy server provision checkpoint verify measure collect"
    );
    // Other rows are other data.
    let other = run(&mut client, &arguments("10"));
    assert!(row(&mut client, &phases(&other)).starts_with("load_once "));
    for id in [&first, &again, &other] {
        assert_columns(
            &mut client,
            &format!("FROM fsbench.scan WHERE run_id = {id} AND used"),
            &[
                ("count(*)", "4"),
                ("bool_and(rows = 1000000)", "t"),
                ("max(workers_launched)", "12"),
                ("bool_and(cached_bytes <= bytes * 0.01)", "t"),
                (
                    &format!("(SELECT count(*) FROM fsbench.scan_read WHERE run_id = {id})"),
                    "3",
                ),
                (
                    &format!("(SELECT count(*) FROM fsbench.scan_curve({id}))"),
                    "2",
                ),
                (
                    &format!("(SELECT count(*) FROM fsbench.scan_knee({id}))"),
                    "1",
                ),
            ],
        );
    }
    assert_eq!(
        rows(
            &mut client,
            "SELECT contents, scale FROM fsbench.prepared_data ORDER BY 1"
        ),
        ["scan, 10 bytes|1", "scan, bit200|1"]
    );
    execute(&mut client, "SELECT fsbench.drop_prepared_data()");
    server.nothing_is_left_at_once();
}

#[test]
fn another_server_chooses_its_degrees_and_its_scans_come_home() {
    let there = server(&[("max_worker_processes", "12")]);
    let here = server(SETTINGS);
    let mut client = here.connect("postgres");
    create_remote_target(&mut client, "there", &there);
    let id = run(
        &mut client,
        &format!(
            "target => 'there', {}",
            options(r#""repeats": 1, "payload": 10, "unlogged": true"#)
        ),
    );
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.result r JOIN fsbench.scan s USING (run_id) WHERE run_id = {id} GROUP BY r.status, r.scale, r.used"
        ),
        &[
            ("r.status", "done"),
            ("r.scale", "1"),
            ("bool_and(s.used)", "t"),
            ("bool_and(s.rows = 1000000)", "t"),
            (
                "count(*) = jsonb_array_length(r.used #> '{options,degrees}')",
                "t",
            ),
            (
                &format!(
                    "(SELECT count(*) = 3 * jsonb_array_length(r.used #> '{{options,readers}}') FROM fsbench.scan_read WHERE run_id = {id})"
                ),
                "t",
            ),
        ],
    );
    here.nothing_is_left_at_once();
    there.nothing_is_left_at_once();
}
