use super::*;
use proptest::prelude::*;

const TPCB: &str = "tpcb";

fn columns(value: Value) -> Columns {
    value.as_object().expect("an object").clone()
}

/// A server with these latencies in milliseconds, in a window of a second.
fn instance(latencies_ms: &[u64], began_ms: f64) -> Instance {
    let mut histogram = Histogram::new();
    for ms in latencies_ms {
        histogram.record(ms * 1_000_000);
    }
    let n = latencies_ms.len() as u64;
    let row = |measure| columns(json!(histogram.to_row(TPCB, measure)));
    let sample = columns(
        json!({"run_id": 7, "second": 0, "interval_ms": 1000.0, "transactions": n,
        "latency_avg_ms": histogram.mean_ns().unwrap_or(0.0) / 1e6, "latency_p99_ms": 5.0, "device_writes": 40, "cpu_idle_percent": 20.0}),
    );
    let checkpoint = |start: i64, end: i64| {
        columns(json!({"number": 1, "start_second": start, "end_second": end}))
    };
    Instance {
        run: columns(
            json!({"run_id": 7, "status": "done", "workload": TPCB, "clients": 2, "scale": 3, "rate": null,
            "measured_ms": 1000.0 + began_ms, "transactions_total": n, "skipped": 0, "failed": 0, "tps": n as f64,
            "wal_bytes": 100 * n, "wal_start_lsn": "0/1", "device_write_bytes": 5000, "changed_bytes": 10 * n,
            "complete_checkpoints": n, "balances": {"accounts": 1}, "cpu_seconds": 0.5, "io_read_bytes": null,
            "facts": {"fsync": true, "flush": {"before_us": 100.0 + began_ms, "after_us": 50.0, "quiet_after": true}, "storage": {"files_bytes": n}, "machine": {"cpu_sampler": 0.02, "cpu_others": 0.5}, "wal": {"begun": n, "created": null}}}),
        ),
        tables: BTreeMap::from([
            (
                "histogram",
                vec![row(Measure::Latency), row(Measure::Commit)],
            ),
            ("sample", vec![sample]),
            (
                "wait_event",
                vec![columns(
                    json!({"second": 0, "wait_event_type": "IO", "wait_event": "WALSync", "samples": n}),
                )],
            ),
            (
                "statistic",
                vec![
                    columns(
                        json!({"view": "pg_stat_wal", "object": "", "counter": "wal_sync", "value": 2.5}),
                    ),
                    columns(
                        json!({"view": "pg_stat_io", "object": "client backend/relation/normal", "counter": "op_bytes", "value": 8192.0}),
                    ),
                ],
            ),
            ("checkpoint", vec![checkpoint(0, 10 - n as i64)]),
            (
                "verification",
                vec![columns(
                    json!({"moment": "window", "position": 1, "name": "history", "passed": true}),
                )],
            ),
            ("environment", vec![columns(json!({"kernel": "6.1"}))]),
            (
                "statement",
                vec![columns(json!({"queryid": 1, "calls": 5}))],
            ),
            (
                "finding",
                vec![
                    columns(json!({"code": "loop_device", "severity": "info"})),
                    columns(json!({"code": "too_short", "severity": "warning"})),
                ],
            ),
        ]),
        began_ms,
    }
}

fn tpcb() -> Workload {
    Workload::parse(TPCB).expect("a workload")
}

#[test]
fn figures_of_servers_are_added_up_and_those_of_the_machine_are_not() {
    let all = vec![instance(&[1, 2, 3], 0.0), instance(&[100], 4.0)];
    let Together {
        run,
        tables,
        instances,
    } = together(&all, tpcb());
    let is = |column: &str, value: Value| assert_eq!(run[column], value, "{column}");
    is("tps", json!(4.0));
    is("transactions_total", json!(4));
    is("wal_bytes", json!(400));
    is("device_write_bytes", json!(5000));
    is("device_bytes_per_transaction", json!(1250.0));
    is("write_amplification", json!(125.0));
    is("cpu_ms_per_transaction", json!(250.0));
    is("complete_checkpoints", json!(1));
    is("measured_ms", json!(1004.0));
    is("io_read_bytes", Value::Null);
    is("latency_max_ms", json!(100.0));
    is("latency_avg_ms", json!(26.5));
    is("stall_seconds", json!(0));
    // No figure of one server stands for all of them.
    for column in ["balances", "wal_start_lsn"] {
        assert!(!run.contains_key(column), "{column}");
    }
    assert!(!tables.contains_key("statement"));
    let facts = &run["facts"];
    assert_eq!(
        facts["wal"],
        json!({"begun": 4, "ready": null, "left": null, "created": null})
    );
    assert_eq!(
        facts["instances"],
        json!({"skew_ms": 4.0, "window_ms": 1004.0, "findings": []})
    );
    assert_eq!(
        facts["flush"],
        json!({"before_us": 100.0, "after_us": null, "quiet_after": false})
    );
    assert_eq!(
        facts["storage"],
        json!({"files_bytes": 4, "files_bytes_at_end": null})
    );
    // Each server has a sampler; the rest of the machine is the same for all of them.
    assert_eq!(
        facts["machine"],
        json!({"cpu_sampler": 0.04, "cpu_others": 0.5})
    );
    let shares: Vec<_> = instances
        .iter()
        .map(|one| (one.instance, one.share, one.began_after_ms))
        .collect();
    assert_eq!(shares, [(1, Some(0.75), 0.0), (2, Some(0.25), 4.0)]);
    assert_eq!(instances[1].findings, ["too_short"]);
}

#[test]
fn tables_of_all_servers_become_those_of_one_run() {
    let all = vec![instance(&[1, 2, 3], 0.0), instance(&[100], 4.0)];
    let tables = together(&all, tpcb()).tables;
    let sample = &tables["sample"][0];
    assert_eq!(
        (&sample["transactions"], &sample["device_writes"]),
        (&json!(4), &json!(40))
    );
    assert_eq!(sample["latency_avg_ms"], json!(26.5));
    assert!(!sample.contains_key("latency_p99_ms"));
    assert_eq!(tables["wait_event"][0]["samples"], json!(4));
    let statistics: BTreeMap<_, _> = tables["statistic"]
        .iter()
        .map(|row| (row["counter"].as_str(), &row["value"]))
        .collect();
    // The size of an operation is the same in each server.
    assert_eq!(statistics[&Some("wal_sync")], &json!(5.0));
    assert_eq!(statistics[&Some("op_bytes")], &json!(8192.0));
    let checkpoints: Vec<_> = tables["checkpoint"]
        .iter()
        .map(|row| (&row["number"], &row["end_second"]))
        .collect();
    assert_eq!(
        checkpoints,
        [(&json!(1), &json!(7)), (&json!(2), &json!(9))]
    );
    let names: Vec<_> = tables["verification"]
        .iter()
        .map(|row| (&row["position"], &row["name"]))
        .collect();
    assert_eq!(
        names,
        [
            (&json!(1), &json!("instance 1: history")),
            (&json!(2), &json!("instance 2: history"))
        ]
    );
    assert_eq!(tables["environment"].len(), 1);
    assert_eq!(tables["histogram"].len(), 2);
}

#[test]
fn a_second_that_one_server_lacks_or_has_longer_has_no_sum() {
    let mut late = instance(&[1], 0.0);
    late.tables.get_mut("sample").unwrap()[0].insert("interval_ms".into(), json!(2000.0));
    let with_late = together(&[instance(&[1], 0.0), late], tpcb());
    let sample = &with_late.tables["sample"][0];
    assert!(!sample.contains_key("transactions") && sample.contains_key("device_writes"));
    assert_eq!(with_late.run["stall_seconds"], Value::Null);
    let mut missing = instance(&[1], 0.0);
    missing.tables.remove("sample");
    let with_missing = together(&[instance(&[1], 0.0), missing], tpcb());
    assert!(!with_missing.tables["sample"][0].contains_key("transactions"));
}

#[test]
fn warnings_of_another_server_are_told_once() {
    let mut second = instance(&[1], 0.0);
    let findings = second.tables.get_mut("finding").unwrap();
    findings.push(columns(
        json!({"code": "lock_waits", "severity": "warning"}),
    ));
    findings.push(columns(json!({"code": "dead_rows", "severity": "info"})));
    let all = vec![instance(&[1], 0.0), second.clone(), second];
    let Together { run, instances, .. } = together(&all, tpcb());
    assert_eq!(run["facts"]["instances"]["findings"], json!(["lock_waits"]));
    // All findings of a server are in its row.
    assert_eq!(
        instances[1].findings,
        ["too_short", "lock_waits", "dead_rows"]
    );
}

proptest! {
    /// Merging is counting: percentiles are those of all latencies in one histogram.
    #[test]
    fn latencies_are_those_of_all_transactions(
        of_each in prop::collection::vec(prop::collection::vec(1u64..5000, 1..40), 1..5),
    ) {
        let all: Vec<u64> = of_each.iter().flatten().copied().collect();
        let instances: Vec<Instance> = of_each.iter().map(|ms| instance(ms, 0.0)).collect();
        let run = together(&instances, tpcb()).run;
        let alone = together(&[instance(&all, 0.0)], tpcb()).run;
        for column in ["latency_p50_ms", "latency_p99_ms", "latency_max_ms", "commit_p99_ms", "transactions_total", "tps"] {
            prop_assert_eq!(&run[column], &alone[column], "{}", column);
        }
        let fairness: f64 = run["tps"].as_f64().unwrap();
        prop_assert_eq!(fairness, all.len() as f64);
    }
}
