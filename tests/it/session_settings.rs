//! Settings that decide how SQL is read and how values are printed: neither CREATE EXTENSION nor a figure nor a text of ours depends on them,
//! wherever they are set.

use crate::common::{execute, owned_directory, row, rows};
use crate::report::{FIGURES, OTHERS};
use pgfsbench_tests::{Leaves, TestServer, assert_columns};
use postgres::Client;
use std::fmt::Write;

/// Settings that a session may set and that are left as they are, by the reason.
const LEFT: &[(&str, &str)] = &[
    ("exit_on_error", "it ends the session at the first error"),
    (
        "default_transaction_read_only",
        "it forbids what is called here",
    ),
    ("transaction_", "it is the current transaction's"),
    ("client_min_messages", "it only says what is sent"),
    ("log_", "it only says what the server logs"),
    ("debug_parallel_query", "it is for developers of PostgreSQL"),
    ("force_parallel_mode", "it is for developers of PostgreSQL"),
    ("debug_print", "it only says what the server logs"),
    ("debug_pretty_print", "it only says what the server logs"),
    ("trace_", "it only says what the server logs"),
    ("jit_dump_bitcode", "it writes files"),
    ("pgfsbench.", "it is ours"),
];

/// Values of settings that are texts or numbers, in the order of the rounds.
const VALUES: &[(&str, &[&str])] = &[
    ("DateStyle", &["German", "SQL, DMY", "Postgres, YMD"]),
    ("TimeZone", &["Asia/Kathmandu", "America/St_Johns"]),
    ("default_text_search_config", &["german"]),
    ("extra_float_digits", &["-15", "0"]),
    ("plpgsql.extra_errors", &["all"]),
    ("plpgsql.extra_warnings", &["all"]),
    ("search_path", &["pg_temp", "information_schema, public"]),
    ("timezone_abbreviations", &["India", "Australia"]),
];

type Round = Vec<(String, String)>;

/// In each round each of these settings has another value than by default; all values of an enum come in some round.
fn rounds(client: &mut Client) -> Vec<Round> {
    // The settings are known when it is loaded.
    execute(client, "LOAD 'plpgsql'");
    let other = rows(
        client,
        "SELECT concat_ws('|', name, CASE vartype WHEN 'bool' THEN CASE setting WHEN 'on' THEN 'off' ELSE 'on' END \
           ELSE array_to_string(array_remove(enumvals, setting), ',') END) \
         FROM pg_settings WHERE context IN ('user', 'superuser') AND vartype IN ('bool', 'enum') \
           AND (name <> 'standard_conforming_strings' OR current_setting('server_version_num')::int < 190000) ORDER BY name",
    );
    let is_left = |name: &str| LEFT.iter().any(|(left, _)| name.starts_with(left));
    let mut settings: Vec<(String, Vec<String>)> = other
        .iter()
        .filter_map(|line| line.split_once('|'))
        .filter(|(name, _)| !is_left(name))
        .map(|(name, values)| (name.into(), values.split(',').map(Into::into).collect()))
        .collect();
    // Locales are those that the machine has, which may be hundreds.
    let locales = rows(
        client,
        "SELECT DISTINCT collcollate FROM pg_collation WHERE collprovider = 'c' AND collcollate NOT IN ('C', 'POSIX') ORDER BY 1 LIMIT 4",
    );
    for name in ["lc_messages", "lc_monetary", "lc_numeric", "lc_time"] {
        if !locales.is_empty() {
            settings.push((name.into(), locales.clone()));
        }
    }
    for (name, values) in VALUES {
        let values = values.iter().map(|value| (*value).to_owned());
        settings.push(((*name).into(), values.collect()));
    }
    let most = settings.iter().map(|(_, values)| values.len()).max();
    (0..most.unwrap_or(0))
        .map(|round| {
            let of_round = |(name, values): &(String, Vec<String>)| {
                (name.clone(), values[round % values.len()].clone())
            };
            settings.iter().map(of_round).collect()
        })
        .collect()
}

/// A session with these settings.
fn with(server: &TestServer, database: &str, round: &[(String, String)]) -> Client {
    let mut client = server.connect(database);
    let mut set = String::from("LOAD 'plpgsql';");
    for (name, value) in round {
        match name.as_str() {
            "search_path" | "DateStyle" => write!(set, "SET {name} = {value};"),
            _ => write!(set, "SET {name} = '{value}';"),
        }
        .expect("a text");
    }
    execute(&mut client, &set);
    client
}

/// All that CREATE EXTENSION makes, with its definition.
const OBJECTS: &str = "\
    SELECT o.said FROM pg_namespace n, LATERAL ( \
        SELECT 'function ' || pg_get_functiondef(p.oid) || coalesce(p.proacl::text, '') AS said FROM pg_proc p WHERE p.pronamespace = n.oid \
        UNION ALL SELECT format('relation %s %s %s %s', c.relname, c.relkind, c.reloptions, c.relacl) || CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) ELSE '' END \
            FROM pg_class c WHERE c.relnamespace = n.oid \
        UNION ALL SELECT format('column %s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) \
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum \
            WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'v') \
        UNION ALL SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = n.oid \
        UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = n.oid AND NOT tgisinternal \
        UNION ALL SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = n.oid) o \
    WHERE n.nspname = 'fsbench' \
    UNION ALL SELECT format('%s: %s', pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description) FROM pg_description d \
    JOIN pg_depend e ON e.classid = d.classoid AND e.objid = d.objoid AND e.deptype = 'e' AND e.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pgfsbench') \
    ORDER BY 1";

/// Makes the extension in a new database, with these settings, and tells what is there then.
fn objects(server: &TestServer, round: &[(String, String)]) -> Vec<String> {
    execute(&mut server.connect("postgres"), "CREATE DATABASE another");
    execute(
        &mut with(server, "another", round),
        "CREATE EXTENSION pgfsbench",
    );
    let made = rows(&mut server.connect("another"), OBJECTS);
    execute(&mut server.connect("postgres"), "DROP DATABASE another");
    made
}

/// Queries of stored runs and experiments, and a plan. None depends on the time or on how fast the machine is.
const CALLS: &[&str] = &[
    "SELECT * FROM fsbench.result",
    "SELECT * FROM fsbench.comparison",
    "SELECT * FROM fsbench.chart_verdict",
    "SELECT * FROM fsbench.chart_block",
    "SELECT * FROM fsbench.chart_target",
    "SELECT * FROM fsbench.chart_second WHERE second < 5",
    "SELECT * FROM fsbench.chart_checkpoint",
    "SELECT * FROM fsbench.chart_latency",
    "SELECT * FROM fsbench.chart_wait WHERE second < 5",
    "SELECT * FROM fsbench.chart_scan_speed",
    "SELECT * FROM fsbench.chart_fsync",
    "SELECT * FROM fsbench.chart_recovery",
    "SELECT * FROM fsbench.studies",
    "SELECT * FROM fsbench.study_definitions",
    "SELECT * FROM fsbench.published",
    "SELECT * FROM fsbench.compare('new server')",
    "SELECT * FROM fsbench.recommend('new server')",
    "SELECT * FROM fsbench.compare_runs(200, 201)",
    "SELECT * FROM fsbench.evidence(202)",
    "SELECT * FROM fsbench.findings('{200,202}')",
    "SELECT * FROM fsbench.diff(200, 201)",
    "SELECT * FROM fsbench.diff(401, 424)",
    "SELECT * FROM fsbench.wait_profile(200)",
    "SELECT * FROM fsbench.scan_curve(300)",
    "SELECT * FROM fsbench.scan_knee(300)",
    "SELECT * FROM fsbench.knee('{1,2,4,8}', '{4000,2000,1000,1000}')",
    "SELECT fsbench.percentile(0.99, '{200,203}'::bigint[]) AS one, fsbench.percentile(0.5, 200, 'commit') AS two",
    "SELECT * FROM fsbench.history('nightly')",
    "SELECT * FROM fsbench.history('weekly')",
    "SELECT * FROM fsbench.check_history('nightly', due => '1000 years')",
    "SELECT fsbench.chart(200, ascii => true) AS says",
    "SELECT fsbench.chart_experiment('new server', ascii => true) AS says",
    "SELECT * FROM fsbench.help('all')",
    "SELECT * FROM fsbench.verdict('{1000,1010,990,1005}', '{{1110,1120,1100,1115}}')",
    "SELECT * FROM fsbench.verdict_best('{{1000,1010,990,1005},{1110,1120,1100,1115}}')",
    "SELECT s.*, fsbench.student_t(0.025, 7) AS t FROM fsbench.set_aside('{1,1.1,0.9,1,7}') s",
    // The first line has the time, and its last one a hash of all.
    "SELECT line FROM (SELECT line, row_number() OVER () AS n, count(*) OVER () AS lines FROM fsbench.export('new server') line) e WHERE n > 1 AND n < lines",
    "SELECT * FROM fsbench.plan_experiment('again', '{ext4,xfs}', seed => 7, scale => 2, clients => 3, duration => '90 s', warmup => '5 s', max_duration => '30 h')",
];

/// The answer in a session with these settings, as a session with the default settings shows it; the error where there is one.
fn answer(server: &TestServer, round: &[(String, String)], call: &str) -> Vec<String> {
    let mut client = with(server, "postgres", round);
    match client.batch_execute(&format!("CREATE TEMPORARY TABLE answer AS {call}")) {
        Err(error) => vec![format!("{:?}", error.as_db_error())],
        Ok(()) => {
            execute(&mut client, "RESET ALL");
            let mut lines = rows(
                &mut client,
                "SELECT to_jsonb(a)::text FROM pg_temp.answer a",
            );
            // The order is the view's matter where it has one, and the planner's else.
            lines.sort();
            lines
        }
    }
}

/// A question to a session that has these settings.
type Ask<'a> = &'a dyn Fn(&[(String, String)]) -> Vec<String>;

/// Asserts that a session with these settings gets what the default one gets; else names those that do that alone.
fn assert_same(server: &TestServer, round: &Round, what: &str, expected: &[String], ask: Ask) {
    let got = ask(round);
    if got == expected {
        return;
    }
    let alone = |setting: &&(String, String)| ask(std::slice::from_ref(*setting)) != expected;
    let guilty: Vec<_> = round.iter().filter(alone).collect();
    let other = got.iter().find(|line| !expected.contains(line));
    let lost = expected.iter().find(|line| !got.contains(line));
    panic!(
        "{what}\nchanged by {guilty:?}\nby default: {lost:?}\nnow: {other:?}\nin {server}",
        server = server.data().display()
    );
}

#[test]
fn neither_the_extension_nor_what_is_asked_depends_on_settings_of_sessions() {
    let server = TestServer::with_extension(&[]);
    let mut client = server.connect("postgres");
    execute(&mut client, FIGURES);
    execute(&mut client, OTHERS);
    let rounds = rounds(&mut client);
    drop(client);
    assert!(rounds.len() > 2 && rounds[0].len() > 60, "{rounds:?}");
    let made = objects(&server, &[]);
    let answers: Vec<_> = CALLS
        .iter()
        .map(|call| answer(&server, &[], call))
        .collect();
    for (call, answer) in CALLS.iter().zip(&answers) {
        assert!(
            !answer.is_empty() && !answer[0].starts_with("Some("),
            "{call}: {answer:?}"
        );
    }
    for round in &rounds {
        assert_same(&server, round, "CREATE EXTENSION", &made, &|round| {
            objects(&server, round)
        });
        for (call, expected) in CALLS.iter().zip(&answers) {
            assert_same(&server, round, call, expected, &|round| {
                answer(&server, round, call)
            });
        }
    }
}

/// Columns of a run that do not depend on how fast the machine is. Times and figures are what they must be.
const OF_RUN: &[(&str, &str)] = &[
    ("status", "done"),
    ("transactions_total", "200"),
    ("failed", "0"),
    ("used ->> 'scale'", "1"),
    (
        "ended_at BETWEEN started_at AND now() AND now() - started_at < interval '10 min'",
        "t",
    ),
    (
        "abs(tps * measured_ms / 1000 / transactions_total - 1) < 0.001",
        "t",
    ),
    (
        "latency_p50_ms BETWEEN 0 AND measured_ms AND latency_max_ms > 0",
        "t",
    ),
    (
        "(SELECT sum(s.transactions) FROM fsbench.sample s WHERE s.run_id = r.run_id)",
        "200",
    ),
    (
        "(SELECT sum(h.transactions) FROM fsbench.histogram h WHERE h.run_id = r.run_id AND measure = 'latency')",
        "200",
    ),
];

#[test]
fn runs_do_not_depend_on_settings_in_the_file() {
    let server = TestServer::with_extension(&[]);
    server.give_prepared_data();
    let mut client = server.connect("postgres");
    let first = rounds(&mut client).swap_remove(0);
    drop(client);
    let given = first.iter().filter(|(name, _)| {
        // A developer's setting, for which parallel workers would have to be allowed into the work database.
        !["debug_parallel_query", "force_parallel_mode"].contains(&name.as_str())
    });
    let given: Vec<(&str, &str)> = given
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    server.configure(&given);
    server.restart();
    let mut client = server.connect("postgres");
    assert_eq!(row(&mut client, "SHOW standard_conforming_strings"), "off");
    // A session that keeps one snapshot cannot wait for a run.
    execute(
        &mut client,
        "SET default_transaction_isolation = 'read committed'",
    );
    let directory = owned_directory("pgfsbench-target.");
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.create_target('here', directory => E'{}')",
            directory.path().display()
        ),
    );
    for target in ["default", "here"] {
        let run = crate::common::run(
            &mut client,
            &format!(
                "target => '{target}', scale => 1, clients => 1, transactions => 200, warmup => '0', seed => 1"
            ),
        );
        assert_columns(
            &mut client,
            &format!("FROM fsbench.result r WHERE run_id = {run}"),
            OF_RUN,
        );
    }
    // The server's values are stored, and not those that a worker has.
    assert_columns(
        &mut client,
        "FROM fsbench.result WHERE target = 'default'",
        &[
            ("settings #>> '{extra_float_digits,setting}'", "-15"),
            ("settings #>> '{DateStyle,setting}'", "German, DMY"),
        ],
    );
    server.nothing_is_left("runs with other settings");
}
