use super::*;
use serde_json::json;

const ON: Timing = Timing {
    io: true,
    wal: true,
};
const OFF: Timing = Timing {
    io: false,
    wal: false,
};

fn rows(value: Value) -> Vec<Row> {
    serde_json::from_value(value).expect("rows")
}

/// As PostgreSQL 15 has them.
fn of_15(wal_bytes: u64, timed: u64, fetched: u64) -> Vec<Row> {
    rows(json!([
        ["pg_stat_wal", "", {"wal_records": 10, "wal_bytes": wal_bytes, "wal_sync_time": 1.5, "stats_reset": "2026-01-01"}],
        ["pg_stat_bgwriter", "", {"checkpoints_timed": timed, "checkpoints_req": 2, "checkpoint_sync_time": 7, "buffers_backend_fsync": 0,
            "stats_reset": "2026-01-01"}],
        ["pg_stat_database", "", {"datid": 5, "datname": "w", "numbackends": 9, "tup_fetched": fetched, "blk_read_time": 0,
            "session_time": 4, "checksum_failures": null, "stats_reset": null}],
    ]))
}

/// As PostgreSQL 18 has them.
fn of_18(writes: u64, wal_time: f64) -> Vec<Row> {
    rows(json!([
        ["pg_stat_checkpointer", "", {"num_timed": writes, "num_requested": 1, "num_done": 3, "stats_reset": "2026-01-01"}],
        ["pg_stat_io", "background worker/relation/normal", {"backend_type": "background worker", "writes": writes, "write_time": writes,
            "extends": null, "stats_reset": "2026-01-01"}],
        ["pg_stat_io", "background worker/wal/normal", {"fsyncs": 3, "fsync_time": wal_time, "stats_reset": "2026-01-01"}],
        ["pg_stat_io", "checkpointer/relation/normal", {"writes": writes, "write_time": writes, "op_bytes": 8192, "stats_reset": "2026-01-01"}],
        ["pg_stat_io", "walsender/relation/normal", {"writes": 7, "op_bytes": 8192, "stats_reset": "2026-01-01"}],
    ]))
}

fn of(difference: &Difference, object: &str) -> Vec<(String, Option<f64>)> {
    let rows = difference.rows.iter().filter(|row| row.object == object);
    rows.map(|row| (row.counter.clone(), row.value)).collect()
}

#[test]
fn counters_are_differences_whatever_a_view_has() {
    let found = difference(&of_15(100, 3, 50), &of_15(1_000_100, 5, 70), ON, ON);
    assert_eq!(
        value(&found.rows, "pg_stat_wal", "wal_bytes"),
        Some(1_000_000.0)
    );
    assert_eq!(value(&found.rows, "pg_stat_wal", "wal_records"), Some(0.0));
    assert_eq!(
        value(&found.rows, "pg_stat_database", "tup_fetched"),
        Some(20.0)
    );
    assert_eq!(checkpoints(&found.rows), Some((2, 0)));
    assert_eq!(found.reset, [""; 0]);
    // Names, dates and numbers that count nothing are not in it, nor what is null.
    let names: Vec<&str> = found.rows.iter().map(|row| row.counter.as_str()).collect();
    for name in [
        "datid",
        "datname",
        "numbackends",
        "stats_reset",
        "checksum_failures",
    ] {
        assert!(!names.contains(&name), "{name}");
    }
    assert_eq!(names.len(), 3 + 4 + 3);
}

#[test]
fn times_that_nobody_took_are_not_known() {
    let found = difference(&of_15(0, 0, 0), &of_15(0, 0, 0), OFF, OFF);
    assert_eq!(value(&found.rows, "pg_stat_wal", "wal_sync_time"), None);
    assert_eq!(
        value(&found.rows, "pg_stat_database", "blk_read_time"),
        None
    );
    // Those that are always taken.
    assert_eq!(
        value(&found.rows, "pg_stat_bgwriter", "checkpoint_sync_time"),
        Some(0.0)
    );
    assert_eq!(
        value(&found.rows, "pg_stat_database", "session_time"),
        Some(0.0)
    );
    assert_eq!(found.rows.len(), 10);
}

#[test]
fn of_input_and_output_only_what_happened_is_told() {
    let found = difference(&of_18(1, 1.0), &of_18(6, 3.5), ON, OFF);
    assert_eq!(
        of(&found, "background worker/relation/normal"),
        [
            ("write_time".into(), Some(5.0)),
            ("writes".into(), Some(5.0))
        ]
    );
    assert_eq!(
        of(&found, "background worker/wal/normal"),
        [
            ("fsync_time".into(), Some(2.5)),
            ("fsyncs".into(), Some(0.0))
        ]
    );
    // Whether a time was taken is a matter of the process.
    assert_eq!(
        of(&found, "checkpointer/relation/normal"),
        [
            ("op_bytes".into(), Some(8192.0)),
            ("write_time".into(), None),
            ("writes".into(), Some(5.0))
        ]
    );
    assert_eq!(of(&found, "walsender/relation/normal"), []);
    assert_eq!(checkpoints(&found.rows), Some((5, 0)));
    let wal_only = Timing {
        io: false,
        wal: true,
    };
    let found = difference(&of_18(1, 1.0), &of_18(6, 3.5), wal_only, OFF);
    assert_eq!(of(&found, "background worker/wal/normal")[0].1, Some(2.5));
    assert_eq!(of(&found, "background worker/relation/normal")[0].1, None);
}

#[test]
fn what_was_reset_meanwhile_is_unknown_and_told() {
    let mut end = of_15(1_000, 5, 70);
    end[0].2.insert(RESET.into(), json!("2026-01-02"));
    let found = difference(&of_15(100, 3, 50), &end, ON, ON);
    assert_eq!(found.reset, ["pg_stat_wal"]);
    assert_eq!(value(&found.rows, "pg_stat_wal", "wal_bytes"), None);
    assert!(
        found
            .rows
            .iter()
            .any(|row| row.counter == "wal_bytes" && row.value.is_none())
    );
    assert_eq!(
        value(&found.rows, "pg_stat_database", "tup_fetched"),
        Some(20.0)
    );
    // One that went down without a word of it, and one that was never reset before.
    let found = difference(&of_15(100, 3, 50), &of_15(99, 2, 50), ON, ON);
    assert_eq!(value(&found.rows, "pg_stat_wal", "wal_bytes"), None);
    assert_eq!(checkpoints(&found.rows), None);
    let mut end = of_15(100, 3, 50);
    end[2].2.insert(RESET.into(), json!("2026-01-02"));
    assert_eq!(
        difference(&of_15(100, 3, 50), &end, ON, ON).reset,
        ["pg_stat_database"]
    );
}

#[test]
fn without_a_start_nothing_is_known() {
    let found = difference(&[], &of_15(100, 3, 50), ON, ON);
    assert_eq!(found.rows.len(), 10);
    assert!(found.rows.iter().all(|row| row.value.is_none()));
    assert_eq!(
        difference(&of_15(100, 3, 50), &[], ON, ON),
        Difference::default()
    );
    // Also of those that are left out when nothing happened.
    assert!(
        !of(
            &difference(&[], &of_18(1, 1.0), ON, ON),
            "walsender/relation/normal"
        )
        .is_empty()
    );
}

#[test]
fn bytes_of_io_are_told_by_operations_or_as_such() {
    let of = |view: &str, object: &str, counter: &str, value| Counter {
        view: view.into(),
        object: object.into(),
        counter: counter.into(),
        value,
    };
    let row = |object: &str, counter: &str, value| of("pg_stat_io", object, counter, value);
    let (client, checkpointer) = (
        "background worker/relation/normal",
        "checkpointer/relation/normal",
    );
    // 16 and 17.
    let mut rows = vec![
        of("pg_stat_wal", "", "reads", Some(7.0)),
        row(client, "op_bytes", Some(8192.0)),
        row(client, "reads", Some(2.0)),
        row(client, "writes", Some(1.0)),
        row(client, "extends", Some(3.0)),
        row(checkpointer, "op_bytes", Some(8192.0)),
        row(checkpointer, "writes", Some(10.0)),
    ];
    let bytes = |read, write, extend, wal_write| IoBytes {
        read,
        write,
        extend,
        wal_write,
    };
    let blocks = |n: u64| Some(n * 8192);
    assert_eq!(
        io_bytes(&rows),
        bytes(blocks(2), blocks(11), blocks(3), None)
    );
    // Reset meanwhile.
    rows.push(row("walsender/relation/normal", "op_bytes", Some(8192.0)));
    rows.push(row("walsender/relation/normal", "reads", None));
    assert_eq!(io_bytes(&rows), bytes(None, blocks(11), blocks(3), None));
    // 18: what is read at once may be several blocks.
    let rows = [
        row(client, "reads", Some(2.0)),
        row(client, "read_bytes", Some(131_072.0)),
        row(client, "write_bytes", Some(8192.0)),
        row(checkpointer, "write_bytes", Some(16_384.0)),
        row(
            "background worker/wal/normal",
            "write_bytes",
            Some(24_576.0),
        ),
        row(
            "background worker/wal/init",
            "write_bytes",
            Some(16_777_216.0),
        ),
    ];
    assert_eq!(
        io_bytes(&rows),
        bytes(Some(131_072), blocks(3), Some(0), Some(24_576 + 16_777_216))
    );
    assert_eq!(io_bytes(&[]), IoBytes::default());
}
