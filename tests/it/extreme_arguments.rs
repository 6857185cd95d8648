//! Extreme input. Every function of the schema is called with extreme values of each argument: none ends in an internal error or takes
//! the server down, and each error has an SQLSTATE of pgfsbench's own table or one that PostgreSQL gives to wrong input. A file with a long line
//! takes little memory.

use crate::common::{execute, row, rows, server};
use postgres::Client;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Functions that no caller can call: their arguments or results exist inside of the server only.
const NOT_CALLED: [(&str, &str); 3] = [
    ("trigger", "the server calls it for a change of a row"),
    ("cstring", "the server calls it for a text of a type"),
    ("internal", "the server calls it"),
];

/// No function may work longer on wrong arguments: a machine that stands still for a while is no reason.
const LONGEST: Duration = Duration::from_secs(60);

/// Rows for the functions to find. Some hold what no version of pgfsbench writes.
const ROWS: &str = r#"
    SET client_min_messages = error;
    INSERT INTO fsbench.run_log (run_id, status, target, workload, requested_by, tps, label, target_definition, target_version, facts, phases, steps, used, asked)
        VALUES (1, 'done', 'default', 'tpcb', 'postgres', 'NaN', 'text', '"x"', 1, '[1]', '1', '"x"', '1', '1'),
               (2, 'done', 'default', 'scan', 'postgres', 'Infinity', 'text', '{}', 1, '{"flush": "x"}', '[]', '[]', '{}', '{}');
    INSERT INTO fsbench.histogram (run_id, transaction, measure, transactions, sum_ms, sum_squares_ms, buckets, counts, min_ms, max_ms)
        VALUES (1, 'all', 'latency', 1, 'NaN', 1e308, '{32767,-5,NULL}', '{1,2,3,4}', 0, 1);
    INSERT INTO fsbench.experiment (experiment, status, goal, metric, margin, max_blocks, looks, run_order, seed, parameters, asked, run_seconds, requested_by, mark)
        VALUES ('text', 'paused', 'best', 'tps', 0.05, 12, '[]', '[]', 1, '{}', '{}', 'NaN', 'postgres', '');
    INSERT INTO fsbench.experiment_target (experiment_id, target_number, target, target_name) VALUES (1, 0, 'a', 'default'), (1, 7, 'b', 'default');
"#;

/// Values of a type, the first one an ordinary one.
fn values(kind: &str, version: u32) -> Option<Vec<String>> {
    let texts = "'text' | NULL | '' | ' ' | repeat('x', 1000000) | E'a\\nb\\x1b[2J' | U&'a\\202Eb' | '%s%n$(id)' | '-1' | '{' | 'default' | 'tps' | 'ext4'";
    let given = match kind {
        "text" => texts,
        "integer" => "1 | NULL | 0 | -1 | 2147483647 | -2147483648 | 1000",
        "bigint" => "1 | NULL | 0 | -1 | 9223372036854775807 | -9223372036854775808 | 2",
        "double precision" => {
            "1 | NULL | 0 | -1 | 0.5 | 'NaN' | 'Infinity' | '-Infinity' | 1e308 | -1e308 | 5e-324"
        }
        "boolean" => "true | NULL | false",
        "interval" => {
            "'1 min' | NULL | '0' | '-1 s' | '1 us' | '178000000 years' | '-178000000 years' | '2000000000 days'"
        }
        "jsonb" => {
            r#"'{"a": 1}' | NULL | 'null' | '{}' | '[]' | '1' | '"x"' | '{"a": 1e400}' | '{"a": {"b": [null, true]}}' | repeat('[', 3000) || repeat(']', 3000)
               | '{"a": "' || repeat('x', 1000000) || '"}' | (SELECT jsonb_object_agg('k' || n, n)::text FROM generate_series(1, 20000) n)
               | (SELECT jsonb_build_object('clients', jsonb_agg(n))::text FROM generate_series(1, 50000) n)"#
        }
        "text[]" | "name[]" => {
            "'{a,b}' | NULL | '{}' | '{NULL}' | '{{a,b},{c,d}}' | '[5:6]={a,b}' | '{\"\"}' | array_fill('x'::text, '{20000}')::text | '{a,' || repeat('x', 1000000) || '}'"
        }
        "integer[]" => {
            "'{1,2,4}' | NULL | '{}' | '{NULL}' | '{{1,2},{3,4}}' | '[5:6]={1,2}' | '{2147483647,-2147483648,0}' | array_fill(1, '{20000}')::text"
        }
        "bigint[]" => {
            "'{1,2}' | NULL | '{}' | '{NULL}' | '{{1,2},{3,4}}' | '[5:6]={1,2}' | '{9223372036854775807,-9223372036854775808,0}' | array_fill(1, '{2000}')::text"
        }
        "double precision[]" => {
            "'{1,2,3}' | NULL | '{}' | '{NULL}' | '{NaN,1,2}' | '{Infinity,-Infinity,1}' | '{{1,2,3},{3,4,5}}' | '[5:7]={1,2,3}' | '{1e308,-1e308,5e-324}' | '{0,0,0}'
               | array_fill(1.5, '{20000}')::text | (SELECT array_agg(1 + n % 7)::text FROM generate_series(1, 9000) n)"
        }
        "jsonb[]" => {
            r#"'{"{\"a\": 1}"}' | NULL | '{}' | '{NULL}' | '{1,"\"x\"",[]}' | '[5:6]={1,2}' | '{{1,2},{3,4}}' | array_fill('{}'::jsonb, '{20000}')::text"#
        }
        "name" => "'postgres' | NULL | '' | 'x'",
        "bytea" => "'\\x00' | NULL | '' | repeat('x', 1000000)",
        "oid" => "1 | NULL | 0 | 4294967295",
        "regrole" => "'postgres' | NULL | 0 | 4294967295 | 'pg_monitor'",
        "fsbench.rate" => "'100' | NULL | '' | 'NaN' | '-1' | '0' | '1e999' | '70%' | '-1%' | '101%' | '%' | repeat('9', 1000000)",
        "fsbench.target" => "SELECT t FROM fsbench.target t LIMIT 1 | NULL",
        "fsbench.experiment" => "SELECT e FROM fsbench.experiment e LIMIT 1 | NULL",
        _ => return None,
    };
    let is_row = ["fsbench.target", "fsbench.experiment"].contains(&kind);
    let mut values: Vec<String> = (given
        .split(" | ")
        .flat_map(|part| part.split("\n               | ")))
    .map(|value| match value.trim() {
        "NULL" => format!("NULL::{kind}"),
        row if is_row => format!("({row})"),
        value => format!("({value})::{kind}"),
    })
    .collect();
    if kind == "interval" && version >= 17 {
        values.push("'infinity'::interval".into());
        values.push("'-infinity'::interval".into());
    }
    Some(values)
}

struct Function {
    name: String,
    is_procedure: bool,
    is_variadic: bool,
    kinds: Vec<String>,
}

impl Function {
    fn call(&self, arguments: &[&str]) -> String {
        let last = arguments.len().saturating_sub(1);
        let shown =
            arguments
                .iter()
                .enumerate()
                .map(|(i, value)| match self.is_variadic && i == last {
                    true => format!("VARIADIC {value}"),
                    false => (*value).to_owned(),
                });
        let shown: Vec<String> = shown.collect();
        match self.is_procedure {
            true => format!("CALL fsbench.{}({})", self.name, shown.join(", ")),
            false => format!("SELECT * FROM fsbench.{}({})", self.name, shown.join(", ")),
        }
    }

    /// One argument is extreme at a time, and the others are ordinary ones or NULL.
    fn calls(&self, version: u32) -> Vec<String> {
        let of_kind = |kind: &String| {
            values(kind, version)
                .unwrap_or_else(|| panic!("no values of type {kind} for {}", self.name))
        };
        let values: Vec<Vec<String>> = self.kinds.iter().map(of_kind).collect();
        let mut calls = BTreeSet::new();
        for base in 0..2 {
            let ordinary: Vec<&str> = values.iter().map(|values| values[base].as_str()).collect();
            calls.insert(self.call(&ordinary));
            for (i, extremes) in values.iter().enumerate() {
                for extreme in extremes {
                    let mut arguments = ordinary.clone();
                    arguments[i] = extreme;
                    calls.insert(self.call(&arguments));
                }
            }
        }
        calls.into_iter().collect()
    }
}

/// All functions of the schema but those of [`NOT_CALLED`].
fn functions(client: &mut Client) -> Vec<Function> {
    let not_called: Vec<String> = (NOT_CALLED.iter())
        .map(|(kind, _)| format!("'{kind}'::regtype"))
        .collect();
    let found = rows(
        client,
        &format!(
            "SELECT p.proname, p.prokind = 'p', p.provariadic <> 0, (SELECT string_agg(format_type(t.oid, NULL), ';' ORDER BY t.n) FROM unnest(p.proargtypes) WITH ORDINALITY t (oid, n)) \
             FROM pg_proc p WHERE p.pronamespace = 'fsbench'::regnamespace AND NOT p.prorettype = ANY (ARRAY[{0}]) \
               AND NOT p.proargtypes::oid[] && ARRAY[{0}]::oid[] ORDER BY p.oid::regprocedure::text COLLATE \"C\"",
            not_called.join(", ")
        ),
    );
    let function = |line: String| {
        let mut parts = line.split('|');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        Function {
            name: next(),
            is_procedure: next() == "t",
            is_variadic: next() == "t",
            kinds: next()
                .split(';')
                .filter(|kind| !kind.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    };
    found.into_iter().map(function).collect()
}

/// SQLSTATEs of the table of pgfsbench, but those of bugs.
fn own_codes() -> BTreeSet<String> {
    let table = include_str!("../../core/src/sqlstate.rs");
    let codes = table
        .lines()
        .filter_map(|line| line.split_once(": &str = \""));
    let codes = codes.filter_map(|(_, rest)| rest.split('"').next());
    let codes: BTreeSet<String> = codes
        .filter(|code| code.len() == 5)
        .map(str::to_owned)
        .collect();
    assert!(codes.contains("22023") && codes.len() > 20);
    codes.into_iter().filter(|code| code != "XX000").collect()
}

/// Whether PostgreSQL gives this class to wrong input: data, a limit of its own, a database that cannot take a value.
fn is_of_input(code: &str) -> bool {
    ["22", "54"].iter().any(|class| code.starts_with(class))
}

#[test]
fn no_function_takes_extreme_arguments_for_a_bug() {
    // No run begins: the slots are those of the janitor, of what it launches, and of the launcher of logical replication.
    let bench = server(&[("max_worker_processes", "3"), ("log_statement", "none")]);
    let mut client = bench.connect("postgres");
    execute(&mut client, ROWS);
    execute(
        &mut client,
        &format!("SET statement_timeout = {}", LONGEST.as_millis()),
    );
    let version: u32 = row(
        &mut client,
        "SELECT current_setting('server_version_num')::integer / 10000",
    )
    .parse()
    .expect("a number");
    let started = row(&mut client, "SELECT pg_postmaster_start_time()");
    let codes = own_codes();
    let functions = functions(&mut client);
    assert!(functions.len() > 100, "{}", functions.len());
    let (mut made, mut wrong) = (0, Vec::new());
    for function in &functions {
        let began = Instant::now();
        for call in function.calls(version) {
            let short: String = call.chars().take(300).collect();
            made += 1;
            // The changes are undone. A procedure that commits says that it cannot, here.
            let answer = client.simple_query(&format!("BEGIN; {call}"));
            if let Err(error) = answer {
                match error.as_db_error() {
                    None => panic!("the server has ended the session: {short}: {error:?}"),
                    Some(error) => {
                        let code = error.code().code();
                        if !(codes.contains(code) || is_of_input(code)) || code == "57014" {
                            wrong.push(format!("{code} {}: {short}", error.message()));
                        }
                    }
                }
            }
            execute(&mut client, "ROLLBACK");
        }
        if began.elapsed() > Duration::from_secs(5) {
            println!("{}: {:.0} s", function.name, began.elapsed().as_secs_f64());
        }
    }
    println!("{made} calls of {} functions", functions.len());
    assert!(
        wrong.is_empty(),
        "{} calls:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(
        row(&mut client, "SELECT pg_postmaster_start_time()"),
        started
    );
    assert_eq!(
        row(&mut client, "SELECT count(*) FROM fsbench.run_log"),
        "2"
    );
    for (kind, why) in NOT_CALLED {
        println!("not called, of type {kind}: {why}");
    }
}

/// Peak memory of a server process, bytes: without what it shares with others, as it is now.
fn peak(client: &mut Client) -> u64 {
    let pid = row(client, "SELECT pg_backend_pid()");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("its status");
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kb = line.and_then(|line| line.trim().strip_suffix(" kB"));
        1024 * kb
            .and_then(|kb| kb.trim().parse::<u64>().ok())
            .expect("a number")
    };
    bytes("VmHWM:") - bytes("RssShmem:") - bytes("RssFile:")
}

/// Makes files as fsbench.export() does, out of lines without their numbers.
const SIGNED: &str = r#"
    CREATE TABLE file (name text, content text);
    CREATE FUNCTION add_file(name text, VARIADIC lines text[]) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        hash bytea := '';
        line text;
        content text := '';
    BEGIN
        FOR n IN 1 .. cardinality(lines) LOOP
            line := format('{"n": %s, %s}', n, lines[n]);
            hash := fsbench._line_hash(hash, line);
            content := content || line || E'\n';
        END LOOP;
        INSERT INTO file VALUES (name, content || format('{"n": %s, "end": {"lines": %s, "sha256": "%s"}}', cardinality(lines) + 1, cardinality(lines), encode(hash, 'hex')));
    END
    $$;
    SELECT add_file(f.name, format('"pgfsbench_export": {"format": 1, "pgfsbench": "0.9.0", "exported_at": "2026-01-01T00:00:00+00:00", "hostname": "h", "host_fingerprints": [], "runs": 1, "experiments": 0}'),
        format('"table": "run_log", "columns": ["run_id", "status", "target", "workload", "used", "asked", "facts"], "rows": [%s]', f.rows))
    FROM (VALUES ('small', (SELECT format('[1, "done", "t", "tpcb", {}, {}, {"a": [%s]}]', string_agg('1', ', ')) FROM generate_series(1, 10000))),
        -- Numbers of one digit are what takes most memory for its length.
        ('longest', (SELECT string_agg(format('[%s, "done", "t", "tpcb", {}, {}, {"a": [%s]}]', 10 + r, ones), ', ') FROM generate_series(1, 20) r,
            (SELECT string_agg('1', ', ') AS ones FROM generate_series(1, 33000)) o)),
        ('row too long', (SELECT format('[20, "done", "t", "tpcb", {}, {}, {"a": [%s]}]', string_agg('1', ', ')) FROM generate_series(1, 40000))),
        ('line too long', (SELECT format('[30, "done", "t", "tpcb", {}, {}, {"a": [%s]}]', string_agg('1', ', ')) FROM generate_series(1, 6700000)))) f (name, rows);
"#;

#[test]
fn a_file_takes_at_most_ten_times_its_longest_line() {
    let bench = server(&[]);
    let mut client = bench.connect("postgres");
    execute(&mut client, SIGNED);
    let longest =
        "SELECT max(length(l)) FROM file, string_to_table(content, E'\n') l WHERE name = ";
    let line: u64 = row(&mut client, &format!("{longest} 'longest'"))
        .parse()
        .expect("a number");
    assert!((1_900_000..2_000_000).contains(&line), "{line}");
    let import = |name: &str| {
        format!(
            "SELECT runs FROM fsbench.import((SELECT content FROM file WHERE name = '{name}'), 'h')"
        )
    };
    for (name, refusal) in [
        ("longest", None),
        ("row too long", Some("a row has")),
        ("line too long", Some("A line has")),
    ] {
        // Each in a session of its own, that has imported something before.
        let mut client = bench.connect("postgres");
        execute(&mut client, &import("small"));
        let line: u64 = row(&mut client, &format!("{longest} '{name}'"))
            .parse()
            .expect("a number");
        let before = peak(&mut client);
        match refusal {
            None => assert_eq!(row(&mut client, &import(name)), "20"),
            Some(words) => {
                let error = pgfsbench_tests::refusal(&mut client, &import(name));
                assert_eq!(error.code().code(), "22P04", "{error:?}");
                let detail = error.detail().unwrap_or_default().to_lowercase();
                assert!(detail.contains(&words.to_lowercase()), "{error:?}");
            }
        }
        let grown = peak(&mut client) - before;
        println!(
            "{name}: a line of {line} bytes took {grown}, {:.1} times as many",
            grown as f64 / line as f64
        );
        assert!(grown < 10 * line, "{name}: {line} {grown}");
    }
}
