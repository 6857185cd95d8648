use super::*;
use crate::refusal::{Kind, Refusal, check};

fn refused(arguments: RunArguments) -> Refusal {
    let refusal = resolve(&arguments, &facts()).expect_err("refused");
    check::style(&refusal);
    refusal
}

fn message(arguments: RunArguments) -> String {
    let refusal = refused(arguments);
    assert_eq!(refusal.kind, Kind::InvalidArgument);
    refusal.message
}

macro_rules! says {
    ($($field:ident: $value:expr),+ => $message:expr) => {
        assert_eq!(message(RunArguments { $($field: Some($value)),+, ..RunArguments::default() }), $message)
    };
}

#[test]
fn names_that_do_not_exist() {
    says!(target: "xfs".into() => r#"target "xfs" does not exist"#);
    says!(target: String::new() => r#"target "" does not exist"#);
    let other = refused(RunArguments {
        target: Some("xfs".into()),
        ..RunArguments::default()
    });
    assert!(other.detail.unwrap().ends_with("The others are nfs."));
    let kept = refused(RunArguments {
        target: Some("nfs".into()),
        keep: true,
        ..RunArguments::default()
    });
    assert_eq!(
        kept.message,
        r#"the work database on target "nfs" cannot be kept"#
    );
    let turn = serde_json::json!({"wait_turn": true});
    let workload = Workload::parse("tpcb").unwrap();
    let turn = crate::workload::options::options(Some(&turn), workload).unwrap();
    assert_eq!(
        turn.of_made_server(workload),
        None,
        "it is of this server's queue"
    );
    says!(options: serde_json::json!({"wait_for_helper_ms": 1000}) => r#"option "wait_for_helper_ms" needs a target"#);
    says!(options: serde_json::json!({"cache": "cold"}) => r#"option "cache" needs a target"#);
    says!(options: serde_json::json!({"data": "loaded"}) => r#"option "data" needs a target"#);
    says!(options: serde_json::json!({"cache": "cold", "data": "loaded"}) => r#"option "cache" cannot be "cold" when "data" is "loaded""#);
    says!(options: serde_json::json!({"crash": true, "maintenance": true}) => r#"options "crash" and "maintenance" cannot both be given"#);
    says!(options: serde_json::json!({"cache": "hot"}) => r#"invalid value of option "cache""#);
    says!(options: serde_json::json!({"wait_for_helper_ms": -1}) => r#"invalid value of option "wait_for_helper_ms""#);
    says!(workload: "tpcc".into() => r#"workload "tpcc" does not exist"#);
    let hint = refused(RunArguments {
        workload: Some("x".into()),
        ..RunArguments::default()
    })
    .hint
    .unwrap();
    let all: Vec<String> = ALL.iter().map(|w| format!("\"{}\"", w.as_str())).collect();
    assert_eq!(
        hint,
        format!(
            "Use one of {}. For a script of your own, use workload => 'script' and give it as scripts.",
            all.join(", ")
        )
    );
    let own = refused(RunArguments {
        options: Some(serde_json::json!({"script": "my.sql"})),
        ..RunArguments::default()
    });
    assert!(own.hint.unwrap().contains("workload => 'script'"));
}

#[test]
fn several_instances_are_refused_where_they_have_no_common_window() {
    use serde_json::json;
    let on = |workload: &str, options: serde_json::Value, transactions| {
        message(RunArguments {
            target: Some("nfs".into()),
            workload: Some(workload.into()),
            options: Some(options),
            transactions,
            ..RunArguments::default()
        })
    };
    says!(options: json!({"instances": 2}) => r#"option "instances" needs a target with servers of its own"#);
    assert_eq!(
        on("tpcb", json!({"instances": 2}), Some(5)),
        "several instances take no number of transactions"
    );
    for (name, value) in [("crash", json!(true)), ("maintenance", json!(true))] {
        assert_eq!(
            on("tpcb", json!({"instances": 2, name: value}), None),
            format!("options \"instances\" and \"{name}\" cannot both be given")
        );
    }
    for wrong in [json!(0), json!(65), json!(1.5), json!("two")] {
        let says = on("commit", json!({"instances": wrong}), None);
        assert_eq!(says, r#"invalid value of option "instances""#);
    }
    for workload in ["scan", "script", "tpcc-like", "power-cut", "io", "fsync"] {
        assert_eq!(
            on(workload, json!({"instances": 2}), None),
            format!("workload \"{workload}\" has no option \"instances\"")
        );
    }
    let arguments = RunArguments {
        target: Some("nfs".into()),
        options: Some(json!({"instances": 2})),
        ..RunArguments::default()
    };
    let by_connection = Facts {
        by_connection: true,
        ..facts()
    };
    assert!(resolve(&arguments, &by_connection).is_err());
    // The window is the same for all servers, so that none of them cuts it to fit a minute.
    let spec = resolved(arguments);
    assert!(!spec.is_quick() && spec.plan_text().contains("2 instances"));
    let one = resolved(RunArguments {
        target: Some("nfs".into()),
        options: Some(json!({"instances": 1})),
        ..RunArguments::default()
    });
    assert!(one.is_quick() && one.stored()["options"]["instances"].is_null());
}

#[test]
fn scale_and_size_out_of_range() {
    says!(scale: 1, size: "1GB".into() => "scale and size cannot both be given");
    says!(scale: 0 => "scale 0 is out of range");
    says!(scale: -5 => "scale -5 is out of range");
    says!(scale: i32::MAX => "scale 2147483647 is out of range");
    says!(size: "lots".into() => r#"invalid size "lots""#);
    says!(size: "8000 TB".into() => "size 8000 TB is too large");
}

#[test]
fn clients_out_of_range() {
    says!(clients: 0 => "number of clients 0 is out of range");
    says!(clients: -1 => "number of clients -1 is out of range");
    says!(clients: 65 => "number of clients 65 is out of range");
    let hint = refused(RunArguments {
        clients: Some(65),
        ..RunArguments::default()
    })
    .hint
    .unwrap();
    assert!(
        hint.starts_with(r#"Raise "pgfsbench.max_clients" to at least 65"#),
        "{hint}"
    );
}

#[test]
fn too_few_worker_slots() {
    let refuse = |clients, free_worker_slots| {
        let facts = Facts {
            free_worker_slots,
            max_worker_processes: 8,
            ..facts()
        };
        let refusal = resolve(
            &RunArguments {
                clients,
                ..RunArguments::default()
            },
            &facts,
        )
        .unwrap_err();
        check::style(&refusal);
        assert_eq!(refusal.kind, Kind::NoWorkerSlot);
        assert_eq!(refusal.message, "could not register background processes");
        (refusal.detail.unwrap(), refusal.hint.unwrap())
    };
    let (detail, hint) = refuse(Some(8), 6);
    assert_eq!(
        detail,
        "The run needs 10 worker slots (clients: 8, its own: 2); 6 are free, 4 are missing."
    );
    assert_eq!(
        hint,
        r#"Increase "max_worker_processes" to at least 12 and restart the server, or ask for at most 4 clients."#
    );
    let (_, hint) = refuse(Some(8), 3);
    assert!(hint.ends_with("or ask for 1 client."), "{hint}");
    let (_, hint) = refuse(None, 0);
    assert_eq!(
        hint,
        r#"Increase "max_worker_processes" to at least 11 and restart the server."#
    );
}

#[test]
fn bounds_out_of_range() {
    says!(duration_us: 1, transactions: 1 => "duration and transactions cannot both be given");
    says!(duration_us: 0 => "duration 0 s is out of range");
    says!(duration_us: -1_000_000 => "duration -1 s is out of range");
    says!(duration_us: 31 * 86_400_000_000 => "duration 31 d is out of range");
    says!(duration_us: i64::MIN => "duration -106751991 d 4 h is out of range");
    says!(transactions: 0 => "number of transactions 0 is out of range");
    says!(transactions: (1 << 40) + 1 => "number of transactions 1099511627777 is out of range");
    says!(warmup_us: -1 => "warmup -1 us is out of range");
    says!(warmup_us: i64::MAX => "warmup 106751991 d 4 h is out of range");
}

#[test]
fn rates_and_limits_out_of_range() {
    says!(rate: 0.0 => "rate 0 is out of range");
    says!(rate: -1.5 => "rate -1.5 is out of range");
    says!(rate: f64::NAN => "rate NaN is out of range");
    says!(rate: f64::INFINITY => "rate inf is out of range");
    says!(rate: 1e10 => "rate 10000000000 is out of range");
    says!(latency_limit_ms: 0.0 => "latency_limit_ms 0 is out of range");
    says!(latency_limit_ms: f64::NAN => "latency_limit_ms NaN is out of range");
    says!(latency_limit_ms: 1e12 => "latency_limit_ms 1000000000000 is out of range");
}

#[test]
fn settings_that_are_none() {
    says!(settings: json!([1]) => "settings is not a JSON object");
    says!(settings: json!(null) => "settings is not a JSON object");
    says!(settings: json!({"work_mem": null}) => r#"invalid value of setting "work_mem""#);
    says!(settings: json!({"work_mem": {"a": 1}}) => r#"invalid value of setting "work_mem""#);
    says!(settings: json!({"": "1"}) => r#"invalid name of a setting """#);
    says!(settings: json!({"a b\n": "1"}) => r#"invalid name of a setting "a b\n""#);
    says!(settings: json!({"work_mem": 1, "WORK_MEM": 2}) => r#"setting "work_mem" is given more than once"#);
}

#[test]
fn options_that_are_none() {
    says!(options: json!("x") => "options is not a JSON object");
    says!(options: json!({"fill": 1}) => r#"option "fill" does not exist"#);
    for value in [
        json!(9),
        json!(101),
        json!(90.5),
        json!("90"),
        json!(null),
        json!(-1),
        json!(u64::MAX),
    ] {
        says!(options: json!({"fillfactor": value}) => r#"invalid value of option "fillfactor""#);
    }
    says!(options: json!({"unlogged": 1}) => r#"invalid value of option "unlogged""#);
    says!(options: json!({"sample": "on"}) => r#"invalid value of option "sample""#);
}

#[test]
fn labels_that_are_none() {
    says!(label: String::new() => "label is empty");
    says!(label: " \t".into() => "label is empty");
    says!(label: "é".repeat(201) => "label is too long");
    says!(label: "a\nb".into() => "label contains a control character");
    says!(label: "a\u{202e}b".into() => "label contains a mark of direction");
    assert_eq!(
        resolved(RunArguments {
            label: Some("é".repeat(200)),
            ..RunArguments::default()
        })
        .label
        .map(|l| l.len()),
        Some(400)
    );
}

#[test]
fn only_a_server_of_its_own_is_crashed() {
    use crate::spec::Stage;
    let crash = |further: serde_json::Value| {
        let mut options = serde_json::json!({"crash": true});
        options
            .as_object_mut()
            .unwrap()
            .extend(further.as_object().unwrap().clone());
        RunArguments {
            options: Some(options),
            ..RunArguments::default()
        }
    };
    let plain = || crash(serde_json::json!({}));
    let on = |target: &str| RunArguments {
        target: Some(target.into()),
        ..plain()
    };
    assert_eq!(
        message(plain()),
        "this server is not crashed by a run of its own"
    );
    says!(options: serde_json::json!({"crash": 1}) => r#"invalid value of option "crash""#);
    assert!(resolve(&on("nfs"), &facts()).unwrap().options.crash);
    let remote = Facts {
        by_connection: true,
        ..facts()
    };
    let refusal = resolve(&on("nfs"), &remote).expect_err("refused");
    check::style(&refusal);
    assert!(refusal.message.contains("reached by a connection"));
    let unlogged = RunArguments {
        target: Some("nfs".into()),
        ..crash(serde_json::json!({"unlogged": true}))
    };
    assert_eq!(
        message(unlogged),
        r#"options "crash" and "unlogged" cannot both be given"#
    );
    // The server itself that is to be crashed.
    let of_target = RunArguments {
        stage: Stage::WholeOfTarget,
        ..plain()
    };
    assert!(resolve(&of_target, &facts()).unwrap().options.crash);
}

#[test]
fn wal_is_written_ahead_only_into_a_server_of_its_own() {
    use crate::spec::Stage;
    let arguments = |target: Option<&str>, stage: Stage| RunArguments {
        target: target.map(Into::into),
        options: Some(serde_json::json!({"wal_segments": 3})),
        stage,
        ..RunArguments::default()
    };
    let refused = "option \"wal_segments\" needs a target with a server of its own";
    assert_eq!(message(arguments(None, Stage::Whole)), refused);
    let remote = Facts {
        by_connection: true,
        ..facts()
    };
    let refusal = resolve(&arguments(Some("nfs"), Stage::Whole), &remote).expect_err("refused");
    assert_eq!(refusal.message, refused);
    check::style(&refusal);
    for (target, stage) in [(Some("nfs"), Stage::Whole), (None, Stage::WholeOfTarget)] {
        let spec = resolve(&arguments(target, stage), &facts()).unwrap();
        assert_eq!(spec.options.wal_segments, 3);
    }
}
