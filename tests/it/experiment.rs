//! Experiments from their first run to their answer, and what may happen to them on the way.

mod at_once;
mod busy;
mod by_itself;
mod held_targets;
mod odd_rows;
mod places;
mod rights;
mod said;
mod undone;
mod versions;

use crate::common::{assert_refused, execute, owned_directory, row, rows, run, server};
use pgfsbench_tests::{
    LONG, Leaves, OwnedDirectory, Point, SHOWN, TestServer, assert_columns, give_prepared_data,
    wait_until,
};
use postgres::Client;
use std::path::Path;

/// Arguments of an experiment of the shortest runs that there are.
const SHORT: &str = "scale => 1, clients => 1, transactions => 20, max_blocks => 3";

/// Arguments with runs that are long enough to be met while they measure.
const LONGER: &str = "scale => 1, clients => 1, duration => '2 s', warmup => '0', rate => 20";

/// The injection point before a run stores what it has found.
const STORES: &str = "coordinator in collect";

/// Targets of those names, directories of this machine.
fn targets(client: &mut Client, names: &[&str]) -> Vec<OwnedDirectory> {
    let data = row(client, "SELECT current_setting('data_directory')");
    give_prepared_data(Path::new(&data));
    let made = |name: &&str| {
        let directory = owned_directory("pgfsbench-experiment");
        let path = directory.path().display().to_string();
        execute(
            client,
            &format!("SELECT fsbench.create_target('{name}', directory => '{path}')"),
        );
        directory
    };
    names.iter().map(made).collect()
}

/// Waits for the end of an experiment.
fn wait_for(client: &mut Client, name: &str) {
    execute(client, &format!("CALL fsbench.wait_experiment('{name}')"));
}

/// Waits until so many runs of an experiment are over.
fn wait_for_runs(client: &mut Client, name: &str, runs: u32) {
    let condition =
        format!("SELECT runs >= {runs} FROM fsbench.experiments WHERE experiment = '{name}'");
    wait_until("so many runs are over", LONG, || {
        (rows(client, &condition) == ["t"]).then_some(())
    });
}

/// Starts an experiment of a and b, and keeps its run of this number from storing what it has found.
fn start_and_hold_run(server: &TestServer, client: &mut Client, number: u32) -> Point {
    let mut held = server.hold_at_after(STORES, number - 1);
    execute(
        client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', {SHORT})"),
    );
    held.wait_for(1);
    held
}

/// Starts an experiment of a and b, and holds its first run.
fn hold_first_run(server: &TestServer, client: &mut Client) -> Point {
    start_and_hold_run(server, client, 1)
}

/// Makes the target a, and starts an experiment f of it, in which these factors are varied.
fn vary(client: &mut Client, factors: &str) -> Vec<OwnedDirectory> {
    let places = targets(client, &["a"]);
    execute(
        client,
        &format!("SELECT fsbench.experiment('f', '{{a}}', factors => '{factors}', {SHORT})"),
    );
    places
}

/// Outcomes of the runs of an experiment.
fn outcomes(client: &mut Client, name: &str) -> Vec<String> {
    rows(
        client,
        &format!(
            "SELECT x.outcome || ' ' || count(*) FROM fsbench.experiment_run x JOIN fsbench.experiment USING (experiment_id) \
             WHERE experiment = '{name}' GROUP BY x.outcome ORDER BY 1"
        ),
    )
}

#[test]
fn rates_and_windows_of_an_experiment() {
    let server = TestServer::with_extension(&[]);
    a_share_becomes_the_rate_of_all_runs(&server);
    server.start_anew();
    the_rate_that_a_search_finds_is_a_metric(&server);
    server.start_anew();
    what_cannot_keep_a_rate_without_a_limit_says_so(&server);
    server.start_anew();
    windows_without_two_cycles_decide_nothing(&server);
    server.start_anew();
    what_is_rolled_back_was_never_asked_for(&server);
}

fn a_share_becomes_the_rate_of_all_runs(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('e', '{{a,b}}', rate => '50%', control => true, {SHORT})"
        ),
    );
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 9", "pilot 2"]);
    let slowest = "(SELECT min(p.tps) FROM fsbench.experiment_run y JOIN fsbench.run_log p USING (run_id) WHERE y.outcome = 'pilot')";
    let rates = format!(
        "SELECT x.outcome, bool_and(CASE x.outcome WHEN 'pilot' THEN r.rate IS NULL AND x.block = 0 ELSE abs(r.rate / {slowest} - 0.5) < 1e-6 END) \
         FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) GROUP BY 1 ORDER BY 1"
    );
    assert_eq!(rows(&mut client, &rates), ["measured|t", "pilot|t"]);
    let said = "SELECT metric, rate_share FROM fsbench.experiment WHERE experiment = 'e'";
    assert_eq!(row(&mut client, said), "latency_p99_ms|0.5");
    let logged = "SELECT count(*) FROM fsbench.experiment_log WHERE event = 'rate' AND message LIKE '% tps, 50 % of the % that the slowest target does without a rate (%)'";
    assert_eq!(row(&mut client, logged), "1");
    server.nothing_is_left("a rate by share");
}

fn the_rate_that_a_search_finds_is_a_metric(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    // Everything keeps this limit, so that each search goes the same way on every machine.
    execute(
        &mut client,
        r#"SELECT fsbench.experiment('e', '{a,b}', baseline => 'a', metric => 'sustainable_rate', latency_limit_ms => 1000000, options => '{"sustain": 99}',
            scale => 1, clients => 1, duration => '1 s', warmup => '0', max_blocks => 3)"#,
    );
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6"]);
    assert_columns(
        &mut client,
        "FROM fsbench.probe JOIN fsbench.run_log r USING (run_id)",
        &[
            ("count(*) > 12", "t"),
            ("bool_and(r.sustainable_rate > 0)", "t"),
            ("bool_and(r.tps IS NULL)", "t"),
            ("count(DISTINCT run_id)", "6"),
        ],
    );
    assert_columns(
        &mut client,
        "FROM fsbench.compare('e') WHERE target = 'b'",
        &[("ratio > 0", "t"), ("low < ratio", "t"), ("blocks", "3")],
    );
    server.nothing_is_left("an experiment of searches");
}

fn what_cannot_keep_a_rate_without_a_limit_says_so(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    // All are due at once, and each COMMIT waits a tenth of a second: the last ones start more than ten seconds later.
    let arguments = "scale => 1, clients => 1, transactions => 115, rate => 1e6, settings => '{\"commit_delay\": 100000, \"commit_siblings\": 0}'";
    let slow = run(&mut client, &format!("target => 'a', {arguments}"));
    let counted = format!(
        "SELECT transactions_total, skipped, behind BETWEEN 2 AND 114, latency_p99_ms > 10000 FROM fsbench.result WHERE run_id = {slow}"
    );
    assert_eq!(row(&mut client, &counted), "115|0|t|t");
    // Such runs of one target, and those of one that can, as if the experiment had just made them.
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('e', '{{a,b}}', baseline => 'a', start => false, max_blocks => 3, {arguments}); \
             UPDATE fsbench.experiment SET too_short = false; \
             INSERT INTO fsbench.run_log SELECT p.* FROM fsbench.run_log r, generate_series(0, 5) n, \
                jsonb_populate_record(r, jsonb_build_object('run_id', 100 + n, 'behind', CASE n % 2 WHEN 0 THEN 1 ELSE r.behind END)) p \
               WHERE r.run_id = {slow}; \
             INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id) \
               SELECT 1, 1 + n / 2, 1 + n % 2, n % 2, 1, 100 + n FROM generate_series(0, 5) n; \
             SELECT fsbench.resume_experiment('e')"
        ),
    );
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["behind 3", "measured 3"]);
    assert_columns(
        &mut client,
        "FROM fsbench.compare('e')",
        &[
            ("target", "b"),
            ("ratio", ""),
            ("verdict", "cannot keep the rate"),
        ],
    );
    server.nothing_is_left("a rate that is not kept");
}

#[test]
fn an_experiment_comes_to_an_answer() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let id = row(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', {SHORT})"),
    );
    assert_eq!(id, "1");
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["measured 6"]);
    let made = "SELECT e.run_order -> (x.block - 1) -> (x.position - 1) = to_jsonb(x.target_number) \
        FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id)";
    assert_eq!(rows(&mut client, made), ["t"; 6], "in the stored order");
    let seeds = "SELECT count(DISTINCT seed) FROM fsbench.experiment_run JOIN fsbench.run_log USING (run_id) GROUP BY block";
    assert_eq!(rows(&mut client, seeds), ["1"; 3], "one seed a block");
    let blocks = "SELECT count(DISTINCT seed) FROM fsbench.experiment_run JOIN fsbench.run_log USING (run_id)";
    assert_eq!(row(&mut client, blocks), "3");
    let said = rows(
        &mut client,
        "SELECT target, blocks, verdict <> '', says <> '' FROM fsbench.compare('e')",
    );
    assert_eq!(said.len(), 2, "{said:?}");
    assert_columns(
        &mut client,
        "FROM fsbench.experiments WHERE experiment = 'e'",
        &[
            ("status", "done"),
            ("block", "3"),
            ("runs", "6"),
            ("repeated", "0"),
            ("answer", SHOWN),
        ],
    );
    let advice = rows(&mut client, "SELECT part FROM fsbench.recommend('e')");
    assert_eq!(advice[0], "choice", "{advice:?}");
    assert!(advice.iter().any(|part| part == "not tested"), "{advice:?}");
    let events = rows(
        &mut client,
        "SELECT event FROM fsbench.experiment_log ORDER BY at",
    );
    assert_eq!(events, ["recorded", "started", "done"]);
}

/// The caller's own scripts and fio, on two directories.
#[test]
fn scripts_and_fio_come_to_an_answer() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    scripts_are_compared(&mut client);
    fio_is_compared(&mut client);
    server.nothing_is_left("experiments of scripts and fio");
}

fn scripts_are_compared(client: &mut Client) {
    let scripts = r#"[{"name": "order", "weight": 2, "text": "UPDATE shop SET sold = sold + 1;"}, {"name": "stock", "text": "SELECT sold FROM shop;"}]"#;
    execute(
        client,
        &format!(
            "SELECT fsbench.experiment('shop', '{{a,b}}', workload => 'script', clients => 2, transactions => 20, max_blocks => 3, scripts => $s${scripts}$s$, \
             init_script => 'CREATE TABLE shop (sold int); INSERT INTO shop VALUES (0);', checks => '[{{\"sql\": \"SELECT sold > 0 FROM shop\", \"expected\": true}}]')"
        ),
    );
    wait_for(client, "shop");
    // Runs that other programs disturb are made again.
    let ended = outcomes(client, "shop");
    assert_eq!(
        ended.last().map(String::as_str),
        Some("measured 6"),
        "{ended:?}"
    );
    let results = "SELECT t.transaction, count(*), sum(committed) > 0, bool_and(tps > 0) FROM fsbench.transaction_result t \
        JOIN fsbench.experiment_run USING (run_id) WHERE outcome = 'measured' GROUP BY 1 ORDER BY 1";
    assert_eq!(rows(client, results), ["order|6|t|t", "stock|6|t|t"]);
    for metric in [
        "tps",
        "tps of order",
        "tps of stock",
        "commit_p99_ms of order",
    ] {
        let compared = format!(
            "SELECT count(*), max(blocks), bool_and(verdict <> '' AND says <> '') FROM fsbench.compare('shop', '{metric}')"
        );
        assert_eq!(row(client, &compared), "2|3|t", "{metric}");
    }
    let file = "SELECT count(*) FILTER (WHERE line LIKE '%\"table\": \"script\"%' AND line LIKE '%UPDATE shop%'), \
        count(*) FILTER (WHERE line LIKE '%\"table\": \"transaction_result\"%') FROM fsbench.export('shop') line";
    assert_eq!(row(client, file), "1|1");
    let has_python = "SELECT count(*) FROM pg_available_extensions WHERE name = 'plpython3u'";
    if row(client, has_python) == "1" {
        execute(client, "CREATE EXTENSION pgfsbench_report CASCADE");
        let page = row(client, "SELECT fsbench.report('shop')");
        for word in [
            "UPDATE shop SET sold",
            ">order</th>",
            ">stock</th>",
            "deviation",
        ] {
            assert!(page.contains(word), "{word}");
        }
    }
}

fn fio_is_compared(client: &mut Client) {
    execute(
        client,
        r#"SELECT fsbench.experiment('fio', '{a,b}', workload => 'io', metric => 'read_mb_per_s', duration => '3 s', max_blocks => 3,
            options => '{"pattern": "read", "size": "4MB", "jobs": 1, "rate": 200}')"#,
    );
    wait_for(client, "fio");
    // Runs that other programs disturb are made again.
    let ended = outcomes(client, "fio");
    assert_eq!(
        ended.last().map(String::as_str),
        Some("measured 6"),
        "{ended:?}"
    );
    let compared = "SELECT count(*), max(blocks), bool_and(verdict <> '' AND says <> '') FROM fsbench.compare('fio', 'read_mb_per_s')";
    assert_eq!(row(client, compared), "2|3|t");
    let measured = "SELECT count(*), bool_and(mb_per_second > 0) FROM fsbench.io_job JOIN fsbench.experiment_run USING (run_id) WHERE direction = 'read' AND outcome = 'measured'";
    assert_eq!(row(client, measured), "6|t");
}

fn windows_without_two_cycles_decide_nothing(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        "SELECT fsbench.experiment('e', '{a,b}', baseline => 'a', max_blocks => 3, scale => 1, clients => 1, duration => '1 s', warmup => '0')",
    );
    wait_for(&mut client, "e");
    assert_columns(
        &mut client,
        "FROM fsbench.compare('e')",
        &[
            ("target", "b"),
            ("verdict", "inconclusive"),
            ("says LIKE 'inconclusive (too_short): %'", "t"),
            ("says", SHOWN),
        ],
    );
    let choice = row(
        &mut client,
        "SELECT says FROM fsbench.recommend('e') WHERE part = 'choice'",
    );
    assert!(choice.contains("windows too short"), "{choice}");
}

fn what_is_rolled_back_was_never_asked_for(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("BEGIN; SELECT fsbench.experiment('e', '{{a,b}}', {SHORT}); ROLLBACK"),
    );
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('f', '{{a,b}}', start => false, {SHORT})"),
    );
    assert_columns(
        &mut client,
        "FROM fsbench.experiments",
        &[("experiment", "f"), ("status", "recorded")],
    );
    execute(
        &mut client,
        &format!("SELECT * FROM fsbench.plan_experiment('g', '{{a,b}}', {SHORT})"),
    );
    assert_columns(
        &mut client,
        "FROM fsbench.experiments",
        &[("experiment", "f"), ("status", "recorded")],
    );
    assert_eq!(
        rows(&mut client, "SELECT run_id FROM fsbench.run_log"),
        [""; 0]
    );
    assert_refused(
        &mut client,
        "CALL fsbench.wait_experiment('f')",
        "55000",
        &["is recorded", "resume_experiment"],
    );
}

#[test]
fn others_and_failures_do_not_stop_an_experiment() {
    let server = TestServer::with_extension(&[]);
    others_go_between_two_blocks_and_targets_in_use_stay(&server);
    server.start_anew();
    a_target_that_fails_is_set_aside_and_the_others_go_on(&server);
    server.start_anew();
    what_cannot_go_on_says_why_and_is_paused_at_last(&server);
}

fn others_go_between_two_blocks_and_targets_in_use_stay(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let first = hold_first_run(server, &mut client);
    assert_refused(
        &mut client,
        "SELECT * FROM fsbench.run(scale => 1, clients => 1, transactions => 5)",
        "55000",
        &["in progress", "experiment \"e\""],
    );
    for change in [
        "drop_target('a')",
        "alter_target('a', drop_caches => false)",
    ] {
        assert_refused(
            &mut client,
            &format!("SELECT fsbench.{change}"),
            "55006",
            &["is in use"],
        );
    }
    let other = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 1, transactions => 5)",
    );
    drop(first);
    wait_for(&mut client, "e");
    let before = format!(
        "SELECT count(*) FROM fsbench.run_log r, fsbench.run_log o WHERE o.run_id = {other} AND r.run_id <> {other} \
           AND r.started_at < o.started_at"
    );
    let before: u32 = row(&mut client, &before).parse().unwrap();
    assert!(
        before > 0 && before < 6 && before.is_multiple_of(2),
        "{before} runs before it"
    );
    // It is planned anew with a target that another session drops.
    held_targets::beside(
        server,
        "drop_target('a')",
        "confirm_experiment('e')",
        |sql| {
            let mut client = server.connect("postgres");
            assert_refused(&mut client, sql, "22023", &["target \"a\" does not exist"]);
        },
    );
    assert_eq!(
        rows(&mut client, "SELECT experiment FROM fsbench.experiments"),
        ["e"]
    );
}

fn a_target_that_fails_is_set_aside_and_the_others_go_on(server: &TestServer) {
    let mut client = server.connect("postgres");
    let places = targets(&mut client, &["a", "b", "c"]);
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('e', '{{a,b,c}}', baseline => 'a', start => false, {SHORT})"
        ),
    );
    // The directory is not the server's any more.
    std::fs::remove_dir_all(places[2].path()).unwrap();
    execute(&mut client, "SELECT fsbench.resume_experiment('e')");
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["failed 3", "measured 6"]);
    let said = rows(
        &mut client,
        "SELECT target, says FROM fsbench.compare('e') WHERE target = 'c'",
    );
    assert!(
        said[0].starts_with("c|set aside: 3 runs in a row failed"),
        "{said:?}"
    );
}

#[test]
fn what_is_varied_is_what_its_runs_have_on_targets_of_their_own() {
    let server = TestServer::with_extension(&[]);
    what_is_varied_is_what_its_runs_have(&server);
    server.start_anew();
    a_parameter_of_a_target_is_varied_on_targets_of_its_own(&server);
}

fn what_is_varied_is_what_its_runs_have(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = vary(
        &mut client,
        r#"{"settings.wal_compression": ["off", "on"]}"#,
    );
    wait_for(&mut client, "f");
    let made = "SELECT DISTINCT t.target, r.used #>> '{settings,wal_compression}' FROM fsbench.experiment_run x \
        JOIN fsbench.experiment_target t USING (experiment_id, target_number) JOIN fsbench.run_log r USING (run_id) ORDER BY 1";
    assert_eq!(
        rows(&mut client, made),
        ["a wal_compression=off|off", "a wal_compression=on|on"]
    );
    assert_eq!(
        rows(&mut client, "SELECT target FROM fsbench.comparison"),
        ["a wal_compression=on"]
    );
    let (a, b) = (
        row(&mut client, "SELECT min(run_id) FROM fsbench.run_log"),
        row(&mut client, "SELECT max(run_id) FROM fsbench.run_log"),
    );
    let said = rows(
        &mut client,
        &format!("SELECT metric, says FROM fsbench.compare_runs({a}, {b})"),
    );
    assert!(
        said[0].starts_with("tps|inconclusive (one run each)"),
        "{said:?}"
    );
}

fn a_parameter_of_a_target_is_varied_on_targets_of_its_own(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = vary(&mut client, r#"{"data_checksums": [true, false]}"#);
    assert_refused(
        &mut client,
        "SELECT fsbench.drop_target('f.a.1')",
        "55006",
        &["is in use"],
    );
    wait_for(&mut client, "f");
    let made = "SELECT DISTINCT t.target, r.target, v.data_checksums FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) \
        JOIN fsbench.run_log r USING (run_id) JOIN fsbench.environment v USING (run_id) ORDER BY 1";
    assert_eq!(
        rows(&mut client, made),
        [
            "a data_checksums=false|f.a.2|f",
            "a data_checksums=true|f.a.1|t"
        ]
    );
    // The experiment again, on targets that are made anew.
    execute(
        &mut client,
        "SELECT fsbench.confirm_experiment('f'); SELECT fsbench.cancel_experiment('f, again')",
    );
    let again = "SELECT target, target_name FROM fsbench.experiment_target WHERE experiment_id = 2 ORDER BY target_number";
    assert_eq!(
        rows(&mut client, again),
        [
            "a data_checksums=true|f--again.a.1",
            "a data_checksums=false|f--again.a.2"
        ]
    );
    wait_for_no_run(&mut client);
}

#[test]
fn each_run_finds_the_wal_of_a_checkpoint_cycle_ready() {
    let server = server(&[("max_wal_size", "32MB"), ("min_wal_size", "32MB")]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        "SELECT fsbench.experiment('e', '{a,b}', start => false, cycle => '30 s', max_blocks => 3, scale => 1, clients => 1)",
    );
    // As it was planned, but for its length; and so none is made again because others were busy.
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET cycle_seconds = 2, too_short = true, parameters = parameters || '{\"duration_us\": 500000, \"warmup_us\": 0}'; \
         SELECT fsbench.resume_experiment('e')",
    );
    // One pilot of each target, and the first that counts.
    wait_for_runs(&mut client, "e", 3);
    assert_columns(
        &mut client,
        "FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) ORDER BY run_id LIMIT 1",
        &[
            ("x.outcome", "pilot"),
            ("x.block", "0"),
            ("r.duration", "00:00:02"),
            ("r.warmup", "00:00:00"),
            (r#"phases @> '[{"phase": "fill_wal"}]'"#, "f"),
        ],
    );
    assert_columns(
        &mut client,
        "FROM fsbench.experiment_log JOIN fsbench.experiment USING (experiment_id) WHERE event = 'wal'",
        &[
            (
                "message ~ '^a checkpoint cycle takes .* of WAL: [1-9][0-9]* segments? .* ready before each warm-up'",
                "t",
            ),
            (
                "(message ~ 'is raised from 32 MB') = ((parameters #>> '{settings,max_wal_size}') IS NOT NULL)",
                "t",
            ),
        ],
    );
    assert_columns(
        &mut client,
        "FROM fsbench.experiment e JOIN fsbench.experiment_run x USING (experiment_id) JOIN fsbench.run_log r USING (run_id) \
         WHERE x.block > 0 AND r.status = 'done'",
        &[
            (
                "bool_and(r.used #> '{options,wal_segments}' IS NOT DISTINCT FROM e.parameters #> '{options,wal_segments}')",
                "t",
            ),
            (
                "bool_and(coalesce(phases @> '[{\"phase\": \"fill_wal\"}]', false))",
                "t",
            ),
            (
                "bool_and(coalesce((r.facts #>> '{wal,ready}')::integer >= (e.parameters #>> '{options,wal_segments}')::integer - 1, false))",
                "t",
            ),
        ],
    );
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    wait_for_no_run(&mut client);
    server.nothing_is_left("segments of WAL");
}

fn what_cannot_go_on_says_why_and_is_paused_at_last(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!(
            "ALTER TABLE fsbench.experiment_run ADD CONSTRAINT no_more CHECK (block < 0); \
             SELECT fsbench.experiment('e', '{{a,b}}', {SHORT}), fsbench.experiment('f', '{{a,b}}', {SHORT})"
        ),
    );
    let reason = |name: &str| {
        format!("SELECT status, status_reason FROM fsbench.experiments WHERE experiment = '{name}'")
    };
    wait_until("it says why it does not go on", LONG, || {
        let said = row(&mut client, &reason("e"));
        let begins = "running|it could not go on, ";
        (said.starts_with(begins) && said.contains("\"no_more\"")).then_some(())
    });
    // A change of an experiment has it tried at once.
    wait_until("it is paused", LONG, || {
        let again = "SELECT fsbench.pause_experiment('f'), fsbench.resume_experiment('f')";
        let said = row(&mut client, &reason("e"));
        match said.starts_with("paused|it could not go on, 10 times by now: ") {
            true => Some(()),
            false => {
                assert!(said.starts_with("running|"), "{said}");
                execute(&mut client, again);
                None
            }
        }
    });
    execute(
        &mut client,
        "ALTER TABLE fsbench.experiment_run DROP CONSTRAINT no_more",
    );
    wait_for_runs(&mut client, "f", 1);
    assert_eq!(row(&mut client, &reason("f")), "running|");
    execute(&mut client, "SELECT fsbench.cancel_experiment('f')");
    wait_for_no_run(&mut client);
}

/// Waits until no run is on.
fn wait_for_no_run(client: &mut Client) {
    wait_until("no run is on", LONG, || {
        rows(client, "SELECT run_id FROM fsbench.progress")
            .is_empty()
            .then_some(())
    });
}
