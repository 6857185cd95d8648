//! Refusals: their places, and what is refused here although pgbench runs into it.

use pgfsbench_core::script::{Protocol, ScriptError};

use super::client::{End, Run};

fn refusal(script: &str, protocol: Protocol) -> ScriptError {
    let run = Run {
        protocol,
        ..Run::of(script)
    };
    match run.outcome().end {
        End::Refused(error) => error,
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn a_refusal_names_line_column_and_part() {
    for (script, place, part, sqlstate) in [
        ("select 1;\n\\set x 1 +\n", (2, 11), "", "42601"),
        ("\\set x 1 + \\\n nope(2)\n", (2, 2), "nope", "42601"),
        ("select 'é'; \\set x 1 $\n", (1, 22), "$", "42601"),
        (
            "\\set x 99999999999999999999\n",
            (1, 8),
            "99999999999999999999",
            "22023",
        ),
        ("\\set x 1e999\n", (1, 8), "1e999", "22023"),
        ("\\set x hash()\n", (1, 8), "hash", "42601"),
        ("\\sleep 1 h\n", (1, 10), "h", "42601"),
        ("\\sleep 1h\n", (1, 9), "h", "42601"),
        ("\n\\set 1a 5\n", (2, 6), "1a", "42601"),
        ("select 1;\n  \\foo\n", (2, 4), "foo", "42601"),
        ("\\if true\n\\endif x\n", (2, 8), "x", "42601"),
        ("select 1;\n\\gset\n\\gset p\n", (3, 1), "\\gset p", "42601"),
        ("\\if true\nselect 1;\n", (1, 1), "\\if true", "42601"),
        ("select 1;\nselect (2;\nselect 3;\n", (2, 8), "(", "42601"),
        ("\\setshell x echo 1\n", (1, 2), "setshell", "22023"),
    ] {
        let error = refusal(script, Protocol::Simple);
        let found = (
            (error.line, error.column),
            error.part.as_str(),
            error.sqlstate,
        );
        assert_eq!(found, (place, part, sqlstate), "{script}: {error}");
    }
}

/// There is no client whose rows COPY could read.
#[test]
fn a_copy_from_or_to_the_client_is_refused_where_it_is_compiled() {
    for (script, place, part) in [
        ("select 1;\ncopy t from stdin;\n", (2, 13), "stdin"),
        (
            "COPY t (a, \"from\") FROM\n STDIN (FORMAT csv);",
            (2, 2),
            "STDIN",
        ),
        (
            "copy (select 1 from t) to /* x */ stdout;",
            (1, 35),
            "stdout",
        ),
        ("select 1\\; copy t to StdOut;", (1, 22), "StdOut"),
    ] {
        let error = refusal(script, Protocol::Simple);
        assert_eq!(
            (error.line, error.column, &*error.part),
            (place.0, place.1, part)
        );
        assert_eq!(error.sqlstate, "22023");
        assert!(error.hint.is_some_and(|hint| hint.contains("INSERT")));
    }
    for script in [
        "copy t from '/tmp/stdin';",
        "copy t from program 'cat' with (format csv);",
        "copy t (\"from\", stdin) from '/x';",
        "copy t from :stdin;",
        "select 'copy t from stdin';",
        "select \"copy\" from stdin;",
        "do $$begin copy t from stdin; end$$;",
        "-- copy t from stdin\nselect 1;",
        "select 1 as copy; select 2 as a from stdin;",
    ] {
        assert_eq!(Run::of(script).outcome().end, End::Over, "{script}");
    }
}

/// With parameters a word in quotes ends pgbench's client, and the statement is sent with text in its place only.
#[test]
fn a_parameter_in_quotes_is_refused_with_the_way_out() {
    for (script, place, part) in [
        ("select 1;\nselect '{\"a\":true}';\n", (2, 13), ":true"),
        ("select 1 -- at :y\n;\n", (1, 16), ":y"),
        ("select 1 /* :x */;\n", (1, 13), ":x"),
        ("select a:x;\n", (1, 9), ":x"),
        ("select \"a:x\";\n", (1, 10), ":x"),
    ] {
        let error = refusal(script, Protocol::Prepared);
        assert_eq!(
            (error.line, error.column, &*error.part),
            (place.0, place.1, part)
        );
        assert!(
            error.hint.is_some_and(|hint| hint.contains("'simple'")),
            "{error:?}"
        );
        assert_eq!(Run::of(script).outcome().end, End::Over, "{script}");
    }
}

#[test]
fn a_blank_behind_a_backslash_has_a_hint() {
    let error = refusal("\\set x 1 \\ \n + 2\n", Protocol::Simple);
    assert_eq!(
        error.message,
        "unexpected character (\\) in command \"set\""
    );
    assert!(
        error.hint.is_some_and(|hint| hint.contains("blank")),
        "{error:?}"
    );
}

#[test]
fn deep_nesting_is_refused_and_long_sums_are_not() {
    let deep = format!("\\set x {}1{}\n", "(".repeat(10_000), ")".repeat(10_000));
    let error = refusal(&deep, Protocol::Simple);
    assert!(error.message.contains("nested too deeply"), "{error}");
    let long = format!("\\set x debug(1{})\n", " + 1".repeat(100_000));
    assert_eq!(Run::of(&long).outcome().debug, ["int 100001"]);
}

/// As pgbench has it: the last character or number that cannot be one is named, before other faults.
#[test]
fn of_several_faults_one_is_named_as_pgbench_does() {
    for (expression, message) in [
        ("nope(1) + 1e999", "double constant overflow (1e999)"),
        ("1 1 $ @", "unexpected character (@)"),
        ("exp(,1)", ""),
    ] {
        let script = format!("\\set x {expression}\n");
        match Run::of(&script).outcome().end {
            End::Refused(error) => assert!(error.message.starts_with(message), "{error}"),
            end => assert_eq!((end, message), (End::Over, "")),
        }
    }
}
