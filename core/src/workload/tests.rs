use super::*;
use crate::{
    spec::{Bound, Facts, Options, Spec, Stage},
    units,
};
use serde_json::json;

mod docs;
mod fsync;
mod io;
mod own_database;
mod properties;
mod refusals;
mod scan;
mod script;

pub fn facts() -> Facts {
    Facts {
        processors: 2,
        server_version_num: 150_020,
        memory_bytes: 4 << 30,
        shared_buffers_bytes: 128 << 20,
        free_worker_slots: 40,
        max_worker_processes: 64,
        max_parallel_workers: 8,
        server_is_another: false,
        checkpoint_timeout_ms: 300_000,
        max_clients: 64,
        data_free_bytes: 100 << 30,
        targets: vec!["nfs".into()],
        random_seed: 42,
        by_connection: false,
        own_data: None,
    }
}

pub fn resolved(arguments: RunArguments) -> Spec {
    resolve(&arguments, &facts()).unwrap()
}

#[test]
fn nothing_asked_is_a_quick_look() {
    let spec = resolved(RunArguments::default());
    assert_eq!(
        (spec.target.as_str(), spec.workload.as_str()),
        ("default", "tpcb")
    );
    assert_eq!((spec.clients, spec.scale, spec.seed), (8, 10, 42));
    assert_eq!(
        (spec.bound, spec.warmup_ms, spec.within_ms),
        (Bound::DurationMs(20_000), 5_000, Some(55_000))
    );
    assert_eq!(
        spec.chosen,
        ["scale", "clients", "duration", "warmup", "seed"]
    );
    assert_eq!(
        spec.plan_text(),
        "tpcb, scale 10, 8 clients, 5 s warm-up, 20 s measured, seed 42 (chosen: scale, clients, duration, warmup, seed)"
    );
    assert!(spec.is_quick());
}

#[test]
fn everything_asked_is_taken() {
    let spec = resolved(RunArguments {
        target: Some("default".into()),
        workload: Some("simple-update".into()),
        scale: Some(20_000),
        clients: Some(1),
        transactions: Some(1),
        warmup_us: Some(1_500_001),
        rate: Some(500.0),
        latency_limit_ms: Some(2.5),
        seed: Some(-1),
        settings: Some(
            json!({"Work_Mem": "64MB", "synchronous_commit": false, "commit_delay": 10}),
        ),
        options: Some(json!({"fillfactor": 90, "unlogged": true, "sample": false})),
        label: Some("größer".into()),
        keep: true,
        force: true,
        ..RunArguments::default()
    });
    assert_eq!(
        spec.plan_text(),
        "tpcb-simple-update, scale 20000, 1 client, 1.5 s warm-up, 1 transaction per client, 500 transactions per second scheduled, latency limit 2.5 ms, seed -1"
    );
    assert!(
        tpcb::aid_is_bigint(spec.scale)
            && spec.keep
            && spec.force
            && spec.chosen.is_empty()
            && !spec.is_quick()
    );
    assert_eq!((spec.warmup_ms, spec.workers()), (1501, 3));
    assert_eq!(
        (spec.rate_per_client(), spec.skip_limit_ns()),
        (Some(500.0), Some(2_500_000))
    );
    let settings: Vec<_> = spec
        .settings
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(
        settings,
        [
            ("commit_delay", "10"),
            ("synchronous_commit", "off"),
            ("work_mem", "64MB")
        ]
    );
    assert_eq!(
        spec.options,
        Options {
            fillfactor: 90,
            unlogged: true,
            sample: false,
            ..Options::default()
        }
    );
    assert_eq!(spec.data_bytes(), units::bytes_for_scale_at(20_000, 90));
    assert_eq!(spec.label.as_deref(), Some("größer"));
}

#[test]
fn the_warmup_follows_the_bound() {
    let warmup = |arguments| resolved(arguments).warmup_ms;
    assert_eq!(
        warmup(RunArguments {
            transactions: Some(1000),
            ..RunArguments::default()
        }),
        0
    );
    for (seconds, ms) in [(2, 1_000), (30, 3_000), (600, 10_000)] {
        assert_eq!(
            warmup(RunArguments {
                duration_us: Some(seconds * 1_000_000),
                ..RunArguments::default()
            }),
            ms
        );
    }
    assert_eq!(
        warmup(RunArguments {
            warmup_us: Some(0),
            ..RunArguments::default()
        }),
        0
    );
}

#[test]
fn only_a_run_that_is_all_chosen_promises_to_end_soon() {
    for arguments in [
        RunArguments {
            scale: Some(1000),
            ..RunArguments::default()
        },
        RunArguments {
            size: Some("1GB".into()),
            ..RunArguments::default()
        },
        RunArguments {
            warmup_us: Some(1),
            ..RunArguments::default()
        },
        RunArguments {
            duration_us: Some(1),
            ..RunArguments::default()
        },
        RunArguments {
            transactions: Some(1),
            ..RunArguments::default()
        },
    ] {
        assert_eq!(resolved(arguments).within_ms, None);
    }
    assert!(
        resolved(RunArguments {
            clients: Some(3),
            ..RunArguments::default()
        })
        .is_quick()
    );
}

#[test]
fn clients_fit_the_server() {
    let clients = |facts: Facts| resolve(&RunArguments::default(), &facts).unwrap().clients;
    assert_eq!(
        clients(Facts {
            processors: 64,
            ..facts()
        }),
        16
    );
    assert_eq!(
        clients(Facts {
            free_worker_slots: 6,
            ..facts()
        }),
        4
    );
    assert_eq!(
        clients(Facts {
            free_worker_slots: 3,
            ..facts()
        }),
        1
    );
    assert_eq!(
        clients(Facts {
            max_clients: 5,
            ..facts()
        }),
        5
    );
    assert_eq!(
        clients(Facts {
            processors: 0,
            ..facts()
        }),
        1
    );
}

#[test]
fn chosen_clients_do_not_outnumber_branches() {
    let clients = |workload: &str, scale| {
        resolved(RunArguments {
            workload: Some(workload.into()),
            scale: Some(scale),
            ..RunArguments::default()
        })
        .clients
    };
    assert_eq!(
        (
            clients("tpcb", 3),
            clients("select-only", 3),
            clients("tpcb", 300)
        ),
        (3, 8, 8)
    );
    let arguments = RunArguments {
        clients: Some(32),
        ..RunArguments::default()
    };
    assert_eq!(
        resolved(arguments).scale,
        32,
        "a chosen scale gives each client a branch"
    );
}

#[test]
fn a_size_is_a_scale() {
    let spec = resolved(RunArguments {
        size: Some("50% ram".into()),
        ..RunArguments::default()
    });
    assert!(
        units::bytes_for_scale(spec.scale) >= 2 << 30
            && units::bytes_for_scale(spec.scale - 1) < 2 << 30
    );
    assert_eq!(spec.chosen, ["clients", "duration", "warmup", "seed"]);
}

#[test]
fn workloads_are_their_names() {
    for &workload in ALL {
        assert_eq!(Workload::parse(workload.as_str()), Some(workload));
        assert_eq!(
            serde_json::to_value(workload).unwrap(),
            json!(workload.as_str())
        );
    }
    assert_eq!(Workload::parse("tpcb-like"), Workload::parse("tpcb"));
    assert_eq!((Workload::parse("TPCB"), Workload::parse("")), (None, None));
    let writing = ALL.iter().filter(|workload| workload.writes());
    let writing: Vec<&str> = writing.map(|workload| workload.as_str()).collect();
    assert!(writing.starts_with(&["tpcb", "tpcb-simple-update"]));
    for reading in ["select-only", "fsync", "scan"] {
        assert!(!writing.contains(&reading));
    }
}

#[test]
fn nothing_is_skipped_without_a_rate() {
    let spec = resolved(RunArguments {
        latency_limit_ms: Some(5.0),
        ..RunArguments::default()
    });
    assert_eq!(
        (spec.latency_limit_ns(), spec.skip_limit_ns()),
        (Some(5_000_000), None)
    );
}

#[test]
fn what_depends_on_the_machine_is_left_to_the_machine_that_is_measured() {
    let remote = Facts {
        by_connection: true,
        ..facts()
    };
    let of = |arguments: RunArguments| {
        let arguments = RunArguments {
            target: Some("nfs".into()),
            ..arguments
        };
        resolve(&arguments, &remote).unwrap()
    };
    let open = of(RunArguments::default());
    assert_eq!(open.chosen_there, ["scale", "clients"]);
    assert_eq!(
        open.plan_text(),
        "tpcb, 5 s warm-up, 20 s measured, seed 42 (chosen: duration, warmup, seed; chosen there: scale, clients)"
    );
    let by_size = of(RunArguments {
        size: Some("2x ram".into()),
        clients: Some(3),
        ..RunArguments::default()
    });
    assert_eq!(by_size.chosen_there, ["scale"]);
    let given = of(RunArguments {
        scale: Some(7),
        clients: Some(3),
        ..RunArguments::default()
    });
    assert!(given.chosen_there.is_empty());
}

#[test]
fn transactions_are_those_of_the_warmup_and_of_the_window() {
    let spec = |rate, duration_us, transactions| {
        resolved(RunArguments {
            clients: Some(4),
            scale: Some(4),
            warmup_us: Some(2_000_000),
            rate,
            duration_us,
            transactions,
            ..RunArguments::default()
        })
    };
    let ten_seconds = Some(10_000_000);
    assert_eq!(
        spec(None, ten_seconds, None).transactions_at(1000.0),
        12_000.0
    );
    // The number that comes does not depend on how many could.
    assert_eq!(
        spec(Some(50.0), ten_seconds, None).transactions_at(1000.0),
        600.0
    );
    // A number of them is one of each client; the warm-up is a time all the same.
    assert_eq!(
        spec(None, None, Some(300)).transactions_at(1000.0),
        2000.0 + 4.0 * 300.0
    );
}

#[test]
fn wal_of_a_window_is_each_page_once_and_the_records() {
    let arguments = |workload: &str, unlogged| RunArguments {
        workload: Some(workload.into()),
        clients: Some(4),
        scale: Some(4),
        warmup_us: Some(2_000_000),
        duration_us: Some(10_000_000),
        options: Some(json!({ "unlogged": unlogged })),
        ..RunArguments::default()
    };
    let spec = resolved(arguments("tpcb", false));
    // 500 bytes of each of 12,000 transactions.
    assert_eq!(
        spec.window_wal_bytes(1000.0),
        units::bytes_for_scale_at(4, 100) + 6_000_000
    );
    assert_eq!(
        spec.window_wal_bytes(0.0),
        units::bytes_for_scale_at(4, 100)
    );
    // Tables that are not logged or not written have none.
    for (workload, unlogged) in [("tpcb", true), ("select-only", false)] {
        let spec = resolved(arguments(workload, unlogged));
        assert_eq!(spec.window_wal_bytes(1000.0), 0, "{workload}");
    }
    let scan = RunArguments {
        workload: Some("scan".into()),
        ..RunArguments::default()
    };
    assert_eq!(resolved(scan).window_wal_bytes(1000.0), 0);
}
