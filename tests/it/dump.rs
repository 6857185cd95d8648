//! Results are stored for good: dumped, restored elsewhere, and added to there.

use crate::common::{
    QUICK, assert_refused, execute, program, row, rows, run, server, server_on_disk,
};
use pgfsbench_tests::{PRELOADED, TestServer, assert_columns, refusal};
use postgres::Client;

/// Tables whose rows a dump has.
const DUMPED: &str = "SELECT c.relname FROM pg_extension e, unnest(e.extconfig) AS t (oid) JOIN pg_class c USING (oid) \
    WHERE e.extname = 'pgfsbench' AND c.relkind = 'r' ORDER BY 1";

/// Rows that rows of other tables refer to.
const REFERRED: &str = "
    INSERT INTO fsbench.imported_file (import_id, host, format, sha256, imported_by) VALUES (1, 'db1', 1, 'x', 'x');
    INSERT INTO fsbench.script (sha256, document) VALUES ('x', '{\"scripts\": []}');
    INSERT INTO fsbench.imported_experiment SELECT experiment_id, 1, 'x' FROM fsbench.experiment";

/// A row in each table of runs that has none. The test of upgrades does the same.
const ONE_ROW_EACH: &str = include_str!("../../tools/upgrade.d/one_row_each.sql");

/// A study of targets that are there.
const STUDY: &str = r#"{"study": "own", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "all", 
    "claims": [{"claim": "c", "says": "s", "seen": "s", "not_tested": "w"}], 
    "variants": [{"variant": "a", "target": "there"}, {"variant": "b", "target": "there-too"}], 
    "questions": [{"question": "q", "part": "p", "asks": "a", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 1, "metric": "tps", 
    "margin": 0.05, "is_published": false, "full": {"scale": 1, "transactions": 10, "max_blocks": 3}, "quick": {"scale": 1, "transactions": 10, "max_blocks": 3}}], 
    "published": []}"#;

/// Everything that is stored, in a form to compare.
fn everything(client: &mut Client) -> Vec<String> {
    let mut stored = Vec::new();
    for table in rows(client, DUMPED) {
        // The target of each database is there from the start.
        let of_runs = if table == "target" {
            "kind <> 'default'"
        } else {
            "true"
        };
        // That a row was copied is known by where it is.
        let sql = format!(
            "SELECT '{table} ' || (to_jsonb(t) - 'copied')::text FROM fsbench.{table} t WHERE {of_runs} ORDER BY 1"
        );
        let rows = rows(client, &sql);
        assert!(!rows.is_empty(), "nothing in {table}");
        stored.extend(rows);
    }
    stored.extend(rows(
        client,
        "SELECT fsbench.percentile(0.99, run_id, measure, transaction) FROM fsbench.histogram ORDER BY run_id, measure, transaction",
    ));
    stored
}

#[test]
fn dumped_restored_and_run_again() {
    let old = server_on_disk(&[]);
    let mut client = old.connect("postgres");
    execute(
        &mut client,
        "CREATE ROLE operator; SELECT fsbench.grant_operator('operator')",
    );
    run(&mut client, QUICK);
    run(
        &mut client,
        "scale => 1, clients => 2, transactions => 100, rate => 1000, latency_limit_ms => 10000, label => 'näme'",
    );
    let failed = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 1, duration => '5 min', rate => 10)",
    );
    execute(&mut client, &format!("SELECT fsbench.cancel({failed})"));
    execute(&mut client, &format!("CALL fsbench.wait({failed})"));
    run(
        &mut client,
        r#"workload => 'fsync', duration => '100 ms', options => '{"writers": [1]}'"#,
    );
    // The helper's description of this machine is not dumped.
    execute(
        &mut client,
        "SELECT fsbench.create_target('made', filesystem => 'xfs', image_size => '1GB', mount_options => 'noatime'); \
         SELECT fsbench.create_target('there', directory => '/tmp', settings => '{\"wal_compression\": \"on\"}'); \
         INSERT INTO fsbench.helper_job (run_id, target, action, request) VALUES (7, 'made', 'release', '{}'); \
         INSERT INTO fsbench.helper_description (seen_at, helper_version, description) VALUES (now(), '0', '{}')",
    );
    execute(
        &mut client,
        "SELECT fsbench.create_target('there-too', directory => '/tmp'); \
         SELECT fsbench.experiment('planned', targets => '{there,there-too}', duration => '1 s', start => false)",
    );
    execute(
        &mut client,
        &format!("SELECT fsbench.define_study('{STUDY}')"),
    );
    execute(
        &mut client,
        "SELECT fsbench.study('own', start => false); INSERT INTO fsbench.study_target VALUES ('own', 'a', 'there')",
    );
    execute(&mut client, REFERRED);
    execute(&mut client, ONE_ROW_EACH);
    let stored = everything(&mut client);

    let dump = old.data().with_file_name("dump.sql");
    let dump = dump.to_str().expect("a path");
    program(&old, "pg_dump", &["-f", dump, "postgres"]);
    let globals = program(&old, "pg_dumpall", &["--globals-only"]);
    assert!(globals.contains("operator"), "{globals}");

    // Into a new server, where a run has been made in another database; and into another database of the old one.
    let new = TestServer::start(PRELOADED);
    execute(&mut new.connect("postgres"), "CREATE ROLE operator");
    for server in [&new, &old] {
        program(server, "createdb", &["restored"]);
        program(
            server,
            "psql",
            &["-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", dump, "restored"],
        );
        let mut client = server.connect("restored");
        assert_eq!(everything(&mut client), stored);
        let copied = "SELECT bool_and(copied) FROM fsbench.run_log";
        assert_eq!(row(&mut client, copied), "t");
        let of_the_machine = "SELECT count(*) FROM fsbench.helper_description";
        assert_eq!(row(&mut client, of_the_machine), "0");
        // Ids go on, and an operator is one still.
        execute(&mut client, "SET ROLE operator");
        assert_eq!(run(&mut client, QUICK), "5");
        assert_columns(
            &mut client,
            "FROM fsbench.result",
            &[
                ("count(*)", "5"),
                ("count(*) FILTER (WHERE status = 'done')", "4"),
            ],
        );
        assert_eq!(
            row(
                &mut client,
                "SELECT fsbench.percentile(0.5, ARRAY[1, 2, 5]::bigint[]) > 0"
            ),
            "t"
        );
        let error = refusal(&mut client, "SELECT * FROM fsbench.wait(3)");
        assert_eq!(error.code().code(), "57014");
    }
}

#[test]
fn two_databases_of_one_server_do_not_confuse_each_other() {
    let server = server(&[]);
    let mut first = server.connect("postgres");
    execute(&mut first, "CREATE DATABASE second");
    let mut second = server.connect("second");
    execute(&mut second, "CREATE EXTENSION pgfsbench");

    let keep = "scale => 1, clients => 1, transactions => 20, seed => 1, keep => true";
    for client in [&mut first, &mut second] {
        // Each counts its own runs, and the work database of one is not that of the other.
        assert_eq!(run(client, keep), "1");
    }
    let database = "SELECT work_database FROM fsbench.result WHERE run_id = 1";
    assert_eq!(row(&mut first, database), "fsbench_work_1");
    assert_eq!(row(&mut second, database), "fsbench_work_1_2");
    for name in ["fsbench_work_1", "fsbench_work_1_2"] {
        let mut kept = server.connect(name);
        assert_eq!(row(&mut kept, "SELECT count(*) FROM pgbench_history"), "20");
    }

    // A run of one is in the way of the other, which says where it is, and is not shown there.
    let long = "SELECT fsbench.start(scale => 1, clients => 1, duration => '5 min', rate => 10)";
    assert_eq!(row(&mut first, long), "2");
    assert_refused(
        &mut second,
        &format!("SELECT * FROM fsbench.run({QUICK})"),
        "55000",
        &[
            "another benchmark run is in progress",
            "run 2 in database \"postgres\"",
            "fsbench.start()",
        ],
    );
    assert_refused(
        &mut first,
        &format!("SELECT * FROM fsbench.run({QUICK})"),
        "55000",
        &["It is run 2, phase"],
    );
    let progress = "SELECT run_id, status FROM fsbench.progress";
    assert_eq!(rows(&mut second, progress), [""; 0]);
    assert_eq!(rows(&mut first, progress), ["2|running"]);
    // Nor is it cancelled or waited for there.
    assert_eq!(row(&mut second, "SELECT fsbench.cancel(2)"), "f");
    assert_refused(
        &mut second,
        "SELECT * FROM fsbench.wait(2)",
        "22023",
        &["run 2 does not exist"],
    );
    // A queued one has the same id, and is another run.
    assert_eq!(
        row(&mut second, &format!("SELECT fsbench.start({QUICK})")),
        "2"
    );
    assert_eq!(rows(&mut second, progress), ["2|queued"]);
    assert_eq!(row(&mut second, "SELECT fsbench.cancel(2)"), "t");
    execute(&mut second, "CALL fsbench.wait(2)");
    assert_eq!(rows(&mut first, progress), ["2|running"]);
    assert_eq!(row(&mut first, "SELECT fsbench.cancel(2)"), "t");
    execute(&mut first, "CALL fsbench.wait(2)");
    let last = "SELECT status FROM fsbench.result WHERE run_id = 2";
    assert_eq!(row(&mut first, last), "cancelled");
    assert_eq!(row(&mut second, last), "cancelled");
    // The kept ones are still there.
    for name in ["fsbench_work_1", "fsbench_work_1_2"] {
        execute(&mut first, &format!("DROP DATABASE {name}"));
    }
}
