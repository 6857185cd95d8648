//! The workload `fsync`: what it takes, and what is chosen for it.

use super::*;
use crate::refusal::{Kind as RefusalKind, Refusal, check};
use crate::workload::fsync::{FsyncOptions, Method, tests_of};

fn arguments(options: serde_json::Value) -> RunArguments {
    RunArguments {
        workload: Some("fsync".into()),
        options: Some(options),
        ..RunArguments::default()
    }
}

fn own(spec: &Spec) -> FsyncOptions {
    spec.options.own()
}

fn refused(arguments: RunArguments) -> Refusal {
    let refusal = resolve(&arguments, &facts()).expect_err("refused");
    check::style(&refusal);
    assert_eq!(refusal.kind, RefusalKind::InvalidArgument);
    refusal
}

#[test]
fn nothing_asked_is_all_methods_within_a_minute() {
    let spec = resolved(arguments(json!({})));
    assert_eq!(
        spec.plan_text(),
        "fsync, open_datasync fdatasync fsync open_sync none, writers 1 2 4 8, 36 s measured, seed 42 (chosen: duration, seed, methods, writers)"
    );
    assert_eq!((spec.clients, spec.scale, spec.warmup_ms), (8, 0, 0));
    assert_eq!((spec.data_bytes(), tests_of(&spec).len()), (0, 36));
    assert!(spec.is_quick() && !spec.has_tables());
}

#[test]
fn what_is_given_is_put_in_order() {
    let spec = resolved(RunArguments {
        duration_us: Some(3_000_000),
        ..arguments(json!({"methods": ["none", "fsync", "none"], "writers": [5, 1]}))
    });
    assert_eq!(own(&spec).methods, [Method::Fsync, Method::None]);
    assert_eq!(
        (own(&spec).writers.as_slice(), spec.clients),
        ([1, 5].as_slice(), 5)
    );
    assert_eq!(spec.chosen, ["seed"]);
    assert_eq!(tests_of(&spec).len(), 6);
    assert!(!spec.is_quick());
}

#[test]
fn options_go_to_another_server_without_those_of_other_workloads() {
    let spec = resolved(arguments(json!({"writers": [2]})));
    assert_eq!(
        spec.options.to_argument(spec.workload),
        json!({
            "sample": true, "methods": ["open_datasync", "fdatasync", "fsync", "open_sync", "none"], "writers": [2],
        })
    );
    let again = resolved(arguments(spec.options.to_argument(spec.workload)));
    assert_eq!(again.options, spec.options);
    let other = resolved(RunArguments::default());
    assert_eq!(
        other.options.to_argument(other.workload),
        json!({"fillfactor": 100, "unlogged": false, "sample": true})
    );
}

#[test]
fn writers_are_chosen_that_fit_the_server() {
    let writers = |facts: Facts| own(&resolve(&arguments(json!({})), &facts).unwrap()).writers;
    let with_slots = |free_worker_slots| Facts {
        free_worker_slots,
        ..facts()
    };
    assert_eq!(writers(with_slots(7)), [1, 2, 4]);
    assert_eq!(writers(with_slots(3)), [1]);
    assert_eq!(
        writers(Facts {
            max_clients: 3,
            ..facts()
        }),
        [1, 2]
    );
    let remote = resolve(
        &arguments(json!({})),
        &Facts {
            by_connection: true,
            ..facts()
        },
    )
    .unwrap();
    assert_eq!(remote.chosen_there, ["writers"]);
    let few = resolve(&arguments(json!({"writers": [8]})), &with_slots(6)).unwrap_err();
    check::style(&few);
    assert_eq!(few.kind, RefusalKind::NoWorkerSlot);
    assert!(few.detail.unwrap().contains("writers: 8"));
    assert!(few.hint.unwrap().ends_with("or ask for at most 4 writers."));
}

#[test]
fn parameters_of_transactions_are_refused() {
    let plain = arguments(json!({}));
    for (name, arguments) in [
        (
            "scale",
            RunArguments {
                scale: Some(1),
                ..plain.clone()
            },
        ),
        (
            "size",
            RunArguments {
                size: Some("1GB".into()),
                ..plain.clone()
            },
        ),
        (
            "clients",
            RunArguments {
                clients: Some(1),
                ..plain.clone()
            },
        ),
        (
            "transactions",
            RunArguments {
                transactions: Some(1),
                ..plain.clone()
            },
        ),
        (
            "warmup",
            RunArguments {
                warmup_us: Some(0),
                ..plain.clone()
            },
        ),
        (
            "rate",
            RunArguments {
                rate: Some(1.0),
                ..plain.clone()
            },
        ),
        (
            "latency_limit_ms",
            RunArguments {
                latency_limit_ms: Some(1.0),
                ..plain.clone()
            },
        ),
        (
            "settings",
            RunArguments {
                settings: Some(json!({})),
                ..plain.clone()
            },
        ),
        (
            "keep",
            RunArguments {
                keep: true,
                ..plain.clone()
            },
        ),
    ] {
        let refusal = refused(arguments);
        assert_eq!(
            refusal.message,
            format!("workload \"fsync\" has no parameter \"{name}\"")
        );
        assert_eq!(refusal.hint.unwrap().contains("writers"), name == "clients");
    }
    for name in ["fillfactor", "unlogged", "data", "cache"] {
        assert_eq!(
            refused(arguments(json!({name: 1}))).message,
            format!("workload \"fsync\" has no option \"{name}\"")
        );
    }
    let other = RunArguments {
        workload: None,
        ..arguments(json!({"writers": [1]}))
    };
    assert_eq!(
        refused(other).message,
        "workload \"tpcb\" has no option \"writers\""
    );
}

#[test]
fn wrong_methods_and_writers_are_refused() {
    for (options, detail) in [
        (json!({"methods": "fsync"}), "It is a text."),
        (json!({"methods": []}), "It is an empty array."),
        (json!({"methods": ["sync"]}), "It holds \"sync\"."),
        (json!({"methods": [1]}), "It holds a number."),
        (
            json!({"methods": ["fsync_writethrough"]}),
            "Linux has no fsync_writethrough.",
        ),
        (json!({"writers": 4}), "It is a number."),
        (json!({"writers": []}), "It is an empty array."),
        (json!({"writers": [0]}), "It holds 0."),
        (json!({"writers": [65]}), "It holds 65."),
        (json!({"writers": [5, 1, 5]}), "It holds 5 twice."),
        (json!({"writers": [1.5]}), "It holds 1.5."),
        (json!({"writers": ["1"]}), "It holds a text."),
    ] {
        let refusal = refused(arguments(options));
        assert!(refusal.message.starts_with("invalid value of option"));
        assert_eq!(refusal.detail.unwrap(), detail);
    }
    let short = refused(RunArguments {
        duration_us: Some(100_000),
        ..arguments(json!({}))
    });
    assert_eq!(short.message, "duration 100 ms is too short for 36 tests");
    let many = resolve(
        &arguments(json!({"writers": [9]})),
        &Facts {
            max_clients: 8,
            ..facts()
        },
    );
    assert_eq!(
        many.unwrap_err().message,
        "number of writers 9 is out of range"
    );
}
