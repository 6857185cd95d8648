//! The workload `script`: its arguments, and the document that they become.

use super::*;
use crate::{
    refusal::{Kind, Refusal, check},
    spec::{Cache, ScriptArguments as Arguments},
    workload::{
        self,
        mix::grace_ns,
        script::{Document, Settings, measures_commands},
    },
};

fn arguments(script: Arguments) -> RunArguments {
    RunArguments {
        workload: Some("script".into()),
        script,
        ..RunArguments::default()
    }
}

fn scripts(text: &str) -> Arguments {
    Arguments {
        scripts: Some(text.into()),
        ..Arguments::default()
    }
}

fn refused(script: Arguments) -> Refusal {
    let refusal = resolve(&arguments(script), &facts()).expect_err("it is refused");
    check::style(&refusal);
    refusal
}

fn named(document: &Document) -> Vec<(&str, u32)> {
    let scripts = document.scripts.iter();
    scripts.map(|s| (s.name.as_str(), s.weight)).collect()
}

#[test]
fn a_text_is_one_script_and_an_array_several() {
    let of = |text: &str| Document::of(&scripts(text)).unwrap();
    let one = of("SELECT 1;");
    assert_eq!(named(&one), [("script", 1)]);
    assert_eq!(named(&of(" select-only ")), [("select-only", 1)]);
    let several = of(
        r#" ["tpcb-like", {"name": "simple-update", "weight": 3}, {"text": "SELECT 1;", "weight": 0}]"#,
    );
    assert_eq!(
        named(&several),
        [("tpcb-like", 1), ("simple-update", 3), ("script 3", 0)]
    );
    assert!(several.scripts[1].text.contains("UPDATE pgbench_accounts"));
    // The document of a run on a target is that of the run here.
    let again = of(&json!(several.scripts).to_string());
    assert_eq!(again, several);
}

#[test]
fn a_document_has_at_most_a_megabyte() {
    let long = |bytes: usize| format!("SELECT '{}';", "x".repeat(bytes));
    assert!(Document::of(&scripts(&long(990_000))).is_ok());
    let refusal = Document::of(&scripts(&long(1_000_000))).unwrap_err();
    crate::refusal::check::style(&refusal);
    assert_eq!(refusal.message, "the scripts are too large");
}

#[test]
fn a_specification_keeps_the_hash_and_no_text() {
    let spec = resolved(arguments(Arguments {
        init_script: Some("CREATE TABLE t (a int);".into()),
        sha256: Some("abc".into()),
        max_tries: Some(5),
        variables: Some(json!({"a": 1, "b": "x", "c": true, "d": null})),
        checks: Some(json!([{"sql": "SELECT 1", "expected": 1}])),
        ..scripts(r#"["tpcb-like", "select-only"]"#)
    }));
    let settings = Settings::of(&spec);
    assert_eq!(settings.names, "tpcb-like + select-only");
    assert_eq!((settings.max_tries, settings.sha256.as_str()), (5, "abc"));
    assert!(settings.has_init && settings.has_checks && !settings.continue_on_error);
    assert_eq!((spec.scale, spec.data_bytes()), (1, 0));
    assert!(!json!(spec).to_string().contains("CREATE TABLE"));
    // Data of a script are those of that document alone; without one they are pgbench's, and shared with its workloads.
    assert_eq!(spec.workload.contents(&spec), "script abc");
    let on_pgbench = resolved(arguments(scripts("select-only")));
    assert_eq!(on_pgbench.workload.contents(&on_pgbench), "pgbench");
    assert_eq!(on_pgbench.options.cache, Cache::Warm);
    let argument = spec.options.to_argument(spec.workload);
    assert_eq!(argument.get("script"), None);
}

#[test]
fn a_document_travels_with_its_run_and_makes_the_same_arguments_elsewhere() {
    let given = arguments(Arguments {
        init_script: Some("CREATE TABLE t (a int);".into()),
        sha256: Some("abc".into()),
        protocol: Some("simple".into()),
        max_tries: Some(5),
        variables: Some(json!({"a": 1})),
        checks: Some(json!([{"name": "one", "sql": "SELECT 1", "expected": "1"}])),
        ..scripts(r#"["tpcb-like", {"text": "SELECT :a;", "name": "own", "weight": 3}]"#)
    });
    let document = workload::document(&given).unwrap().unwrap();
    let spec = resolved(given);
    assert_eq!(spec.workload.document_hash(&spec), Some("abc".into()));
    let there = spec.workload.arguments_of_document(&spec, &document);
    let there = arguments(there.unwrap());
    assert_eq!(workload::document(&there).unwrap().unwrap(), document);
    let (here, there) = (Settings::of(&spec), Settings::of(&resolved(there)));
    assert_eq!(
        there,
        Settings {
            sha256: String::new(),
            ..here
        }
    );
    let broken = spec.workload.arguments_of_document(&spec, "{");
    assert!(broken.is_err());
}

#[test]
fn only_scripts_have_a_document() {
    assert_eq!(workload::document(&RunArguments::default()), Ok(None));
    let wrong = arguments(scripts("[1]"));
    assert!(workload::document(&wrong).is_err());
    let spec = resolved(RunArguments::default());
    assert_eq!(spec.workload.document_hash(&spec), None);
}

#[test]
fn wrong_texts_are_refused_with_their_place() {
    let refusal = refused(scripts("SELECT 1;\n\\set x 1 +* 2\n"));
    assert_eq!(refusal.kind, Kind::Syntax);
    assert!(refusal.message.starts_with("script \"script\", line 2: "));
    let detail = refusal.detail.unwrap();
    assert!(detail.contains("column 11, at \"*\""), "{detail}");
    let wrong = Arguments {
        init_script: Some("\\nothing".into()),
        ..scripts("SELECT 1;")
    };
    assert!(refused(wrong).message.contains("\"init_script\""));
}

#[test]
fn wrong_arguments_are_refused() {
    for wrong in [
        Arguments::default(),
        scripts("[1]"),
        scripts("["),
        scripts("[]"),
        scripts(r#"["nothing"]"#),
        scripts(r#"["select-only", "select-only"]"#),
        scripts(r#"[{"name": "", "text": "SELECT 1;"}]"#),
        scripts(r#"["select-only", {"name": "script", "text": "SELECT 1;"}]"#),
        scripts(r#"[{"name": "a", "text": "SELECT 1;", "weight": 0}]"#),
        Arguments {
            protocol: Some("extended".into()),
            ..scripts("SELECT 1;")
        },
        Arguments {
            max_tries: Some(0),
            ..scripts("SELECT 1;")
        },
        Arguments {
            variables: Some(json!({"a": [1]})),
            ..scripts("SELECT 1;")
        },
        Arguments {
            checks: Some(json!({"sql": "SELECT 1"})),
            ..scripts("SELECT 1;")
        },
        Arguments {
            checks: Some(json!([{"sql": "SELECT 1"}])),
            ..scripts("SELECT 1;")
        },
    ] {
        assert_eq!(refused(wrong).kind, Kind::InvalidArgument);
    }
    for weight in ["-1", "1.5", "\"2\"", "4294967296"] {
        let given = format!(r#"[{{"name": "a", "text": "SELECT 1;", "weight": {weight}}}]"#);
        let detail = refused(scripts(&given)).detail.unwrap();
        assert!(
            detail.starts_with("The weight of script 1 is ")
                && detail.ends_with("it has to be a whole number from 0 to 4294967295."),
            "{detail}"
        );
    }
    let other = RunArguments {
        workload: Some("tpcb".into()),
        script: scripts("SELECT 1;"),
        ..RunArguments::default()
    };
    assert_eq!(
        resolve(&other, &facts()).unwrap_err().hint.as_deref(),
        Some("Give workload => 'script', or leave it out.")
    );
}

#[test]
fn each_script_is_a_transaction_type_with_its_commands() {
    let document = Document::of(&scripts(
        r#"[{"name": "order", "weight": 3, "text": "\\set a 1\n\nSELECT :a\n\\gset x_\n\\if :a\nSELECT 2;\n\\endif"}, "select-only"]"#,
    ))
    .unwrap();
    let program = document.compile(crate::script::Protocol::Prepared).unwrap();
    let mix = document.mix(&program);
    let order = &mix.types[0];
    assert_eq!((order.name.as_str(), order.weight), ("order", 3));
    let commands: Vec<_> = order.commands.iter().map(|c| (c.line, c.kind)).collect();
    assert_eq!(
        commands,
        [
            (1, "\\set"),
            (3, "SQL"),
            (5, "\\if"),
            (6, "SQL"),
            (7, "\\endif")
        ]
    );
    assert_eq!(
        (mix.types[1].name.as_str(), mix.counts_rollbacks),
        ("select-only", false)
    );
}

#[test]
fn grace_and_figures_of_commands_are_options() {
    let with = |options| {
        resolved(RunArguments {
            options,
            ..arguments(scripts("SELECT 1;"))
        })
    };
    let spec = with(None);
    assert_eq!(
        (grace_ns(&spec), measures_commands(&spec)),
        (Some(10_000_000_000), true)
    );
    let spec = with(Some(json!({"grace_ms": 1500, "commands": false})));
    assert_eq!(
        (grace_ns(&spec), measures_commands(&spec)),
        (Some(1_500_000_000), false)
    );
    let argument = spec.options.to_argument(spec.workload);
    assert_eq!(
        (
            argument["grace_ms"].as_u64(),
            argument["commands"].as_bool()
        ),
        (Some(1500), Some(false))
    );
    // The others have no statements of unknown length.
    assert_eq!(grace_ns(&resolved(RunArguments::default())), None);
}

#[test]
fn more_counters_than_memory_should_have_are_refused() {
    let text = "SELECT 1;\n".repeat(2000);
    let wide = |options| RunArguments {
        clients: Some(60),
        options,
        ..arguments(scripts(&text))
    };
    let many = Facts {
        free_worker_slots: 100,
        max_worker_processes: 128,
        ..facts()
    };
    let refusal = resolve(&wide(None), &many).expect_err("it is refused");
    check::style(&refusal);
    assert!(refusal.hint.unwrap().contains("\"commands\": false"));
    resolve(&wide(Some(json!({"commands": false}))), &many).unwrap();
    // Whole scripts have counters, too.
    let all: Vec<_> = (0..128)
        .map(|n| json!({"name": format!("s{n}"), "text": "SELECT 1;"}))
        .collect();
    let wide = RunArguments {
        clients: Some(800),
        options: Some(json!({"commands": false})),
        ..arguments(scripts(&json!(all).to_string()))
    };
    let many = Facts {
        free_worker_slots: 1000,
        max_clients: 1000,
        max_worker_processes: 1000,
        ..facts()
    };
    let refusal = resolve(&wide, &many).expect_err("it is refused");
    check::style(&refusal);
    assert_eq!(refusal.message, "there are too many scripts");
}

#[test]
fn a_null_character_is_refused_wherever_it_stands() {
    let check_of = |sql: &str, expected: &str| Arguments {
        checks: Some(json!([{"name": "c", "sql": sql, "expected": expected}])),
        ..scripts("SELECT 1;")
    };
    for wrong in [
        scripts(r#"[{"name": "a", "text": "SELECT 'x\u0000';"}]"#),
        Arguments {
            variables: Some(json!({"a": "x\0"})),
            ..scripts("SELECT 1;")
        },
        Arguments {
            init_script: Some("SELECT 'x\0';".into()),
            ..scripts("SELECT 1;")
        },
        check_of("SELECT 'x\0'", "x"),
        check_of("SELECT 'x'", "x\0"),
    ] {
        let refusal = Document::of(&wrong).expect_err("it is refused");
        check::style(&refusal);
        assert!(refusal.message.ends_with(" contains a null character"));
    }
}

#[test]
fn scripts_are_tried_again_after_the_errors_of_pgbench_only() {
    let spec = resolved(arguments(scripts("SELECT 1;")));
    let tries = Settings::of(&spec).tries();
    for (sqlstate, is_retryable) in [("40001", true), ("40P01", true), ("55P03", false)] {
        assert_eq!(tries.is_retryable(sqlstate), is_retryable, "{sqlstate}");
    }
}
