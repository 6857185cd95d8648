//! Output for people: rows that fit a terminal, the list of verbs, and its examples, each of which works.

use crate::common::{QUICK, assert_refused, execute, owned_directory, program, row, rows, run};
use pgfsbench_tests::{TestServer, refusal, wait_until};
use postgres::Client;

/// The columns of a terminal.
const COLUMNS: usize = 120;

/// Output of psql, and its width.
fn printed(server: &TestServer, sql: &str) -> (String, usize) {
    let said = program(server, "psql", &["-X", "-c", sql]);
    let width = said.lines().map(|line| line.chars().count()).max();
    (said, width.unwrap_or(0))
}

/// Asserts that it fits, and gives what is printed.
fn assert_fits(server: &TestServer, sql: &str) -> String {
    let (said, width) = printed(server, sql);
    assert!(width <= COLUMNS, "{width} columns:\n{said}");
    said
}

#[test]
fn what_a_terminal_shows() {
    let server = TestServer::with_extension(&[]);
    lists_fit_a_terminal(&server);
    server.start_anew();
    several_targets_are_looked_at_with_one_statement(&server);
    server.start_anew();
    every_example_of_the_help_works(&server);
}

fn lists_fit_a_terminal(server: &TestServer) {
    assert_fits(server, "SELECT * FROM fsbench.help('all')");
}

/// The example with what its reader has instead of xfs, run 7 and bob.
fn substituted(example: &str, run_id: &str, other: &str, directory: &str) -> String {
    example
        .replace(
            "'a', directory => '/mnt/a'",
            &format!("'a', directory => '{directory}'"),
        )
        .replace(
            "run(target => 'xfs')",
            &format!("run(target => 'a', {QUICK})"),
        )
        .replace(
            "start(scale => 10, clients => 8)",
            &format!("start({QUICK})"),
        )
        .replace(
            "'new', '{ext4,xfs}'",
            &format!("'new', '{{a,default}}', max_blocks => 3, {QUICK}"),
        )
        .replace(
            ":'file'",
            "(SELECT string_agg(line, E'\\n') FROM fsbench.export('new') line)",
        )
        .replace("study('heron-2010', '4GB')", "study('own', start => false)")
        .replace("study_plan('heron-2010', '4GB')", "study_plan('own')")
        .replace("'heron-2010'", "'own'")
        .replace(r#"'{"study": "own"}'"#, &format!("'{STUDY}'"))
        .replace("(7, 8)", &format!("({run_id}, {other})"))
        .replace("{7,8}", &format!("{{{run_id}}}"))
        .replace("(7)", &format!("({run_id})"))
        .replace("(7, 'new disk'", &format!("({run_id}, 'new disk'"))
        .replace(", 7)", &format!(", {run_id})"))
}

/// A study of targets that are there.
const STUDY: &str = r#"{"study": "own", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "all", 
    "claims": [{"claim": "c", "says": "s", "seen": "s", "not_tested": "w"}], 
    "variants": [{"variant": "a", "target": "a"}, {"variant": "b", "target": "default"}], 
    "questions": [{"question": "q", "part": "p", "asks": "a", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 1, "metric": "tps", 
    "margin": 0.05, "is_published": false, "full": {"scale": 1, "transactions": 10, "max_blocks": 3}, "quick": {"scale": 1, "transactions": 10, "max_blocks": 3}}], 
    "published": []}"#;

/// Verbs that need the helper; tests/it/helper/manual_examples.rs and power_cut_runs.rs run them with one.
const OF_THE_HELPER: [&str; 4] = [
    "prepare_target",
    "release_target",
    "describe_devices",
    "power_cut",
];

fn every_example_of_the_help_works(server: &TestServer) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE ROLE bob; CREATE EXTENSION pgfsbench_report CASCADE",
    );
    let directory = owned_directory("pgfsbench-help");
    let directory = directory.path().display().to_string();
    let finished = run(&mut client, &format!("{QUICK}, label => 'nightly'"));
    let scans = run(
        &mut client,
        r#"workload => 'scan', scale => 1, options => '{"degrees": [1, 2], "repeats": 1, "readers": []}'"#,
    );
    let examples = rows(
        &mut client,
        "SELECT verb || '|' || example FROM fsbench.help('all') WITH ORDINALITY ORDER BY verb = 'run', ordinality",
    );
    assert!(examples.len() > 20, "{examples:?}");
    let mut before = None;
    // A target must be there before it is used, and goes at last.
    for (verb, example) in in_order(&examples) {
        let id = if verb.contains("scan") {
            &scans
        } else {
            &finished
        };
        let sql = substituted(example, id, &scans, &directory);
        // Until it has been paused and resumed, the experiment waits for this one.
        if verb == "experiment" {
            let long =
                "SELECT fsbench.start(scale => 1, clients => 1, duration => '10 min', rate => 10)";
            before = Some(row(&mut client, long));
        }
        if OF_THE_HELPER.contains(&verb)
            || sql.contains("plan('xfs')")
            || sql.contains("sustainable_rate('xfs'")
        {
            assert_no_helper(&mut client, &sql);
        } else if verb == "script_from_statements" {
            // This server does not load pg_stat_statements.
            assert_refused(&mut client, &sql, "55000", &["pg_stat_statements"]);
        } else if verb == "power_cut_watch" {
            // tests/it/power_cut_watch.rs has another server.
            assert_eq!(
                refusal(&mut client, &sql).message(),
                "target \"db2\" has no connection"
            );
        } else {
            execute(&mut client, &sql);
        }
        if verb == "resume_experiment" {
            let long = before.take().expect("it was started");
            execute(&mut client, &format!("SELECT fsbench.cancel({long})"));
        }
    }
    execute(
        &mut client,
        "SELECT fsbench.cancel_experiment('new, again')",
    );
    wait_until("all runs are over", pgfsbench_tests::LONG, || {
        rows(&mut client, "SELECT run_id FROM fsbench.progress")
            .is_empty()
            .then_some(())
    });
    // fsbench.sustainable_rate('xfs') gets as far as a run.
    let bad = "SELECT run_id, error FROM fsbench.result WHERE status NOT IN ('done', 'cancelled') AND error <> 'pgfsbench-helper is not running'";
    assert_eq!(rows(&mut client, bad), [""; 0]);
}

/// Verbs and examples: what makes targets first, what drops them last.
fn in_order(examples: &[String]) -> Vec<(&str, &str)> {
    let mut split: Vec<_> = examples
        .iter()
        .filter_map(|line| line.split_once('|'))
        .collect();
    // An experiment is asked for, waited for, read, made once more, and goes.
    let of_experiments = [
        "plan_experiment",
        "experiment",
        "pause_experiment",
        "resume_experiment",
        "wait_experiment",
        "compare",
        "chart_experiment",
        "recommend",
        "report",
        "chart_svg",
        "export",
        "import",
        "drop_imported",
        "confirm_experiment",
        "extend_experiment",
        "cancel_experiment",
        "drop_experiment",
    ];
    split.sort_by_key(|(verb, _)| match *verb {
        "create_target" | "define_study" => 0,
        "alter_target" => 2,
        "drop_target" | "revoke_operator" => 99,
        verb => match of_experiments.iter().position(|of| *of == verb) {
            Some(place) => 3 + place,
            None => 1,
        },
    });
    split
}

fn assert_no_helper(client: &mut Client, sql: &str) {
    crate::common::assert_refused(client, sql, "55000", &["pgfsbench-helper"]);
}

fn several_targets_are_looked_at_with_one_statement(server: &TestServer) {
    let mut client = server.connect("postgres");
    let directories = ["ext4", "xfs"].map(|name| (name, owned_directory("pgfsbench-lateral")));
    for (name, directory) in &directories {
        let directory = directory.path().display();
        execute(
            &mut client,
            &format!("SELECT fsbench.create_target('{name}', directory => '{directory}')"),
        );
    }
    let sql = format!(
        "SELECT t.target, r.tps FROM fsbench.target t, LATERAL fsbench.run(t.target, {QUICK}) r \
         WHERE t.kind = 'directory' ORDER BY t.target"
    );
    let found = rows(&mut client, &sql);
    let targets: Vec<&str> = found
        .iter()
        .filter_map(|row| row.split('|').next())
        .collect();
    assert_eq!(targets, ["ext4", "xfs"]);
    let runs =
        "SELECT string_agg(target, ' ' ORDER BY run_id) FROM fsbench.result WHERE status = 'done'";
    assert_eq!(row(&mut client, runs), "ext4 xfs");
}
