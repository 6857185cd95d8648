//! Statements of a run, from rows of pg_stat_statements of whatever version.

use serde_json::{Map, Value, json};

/// More of a statement's text is not stored.
const LONGEST: usize = 8_192;

/// Columns that are stored under the names that they have.
const SAME: [&str; 16] = [
    "calls",
    "rows",
    "shared_blks_hit",
    "shared_blks_read",
    "shared_blks_dirtied",
    "shared_blks_written",
    "local_blks_hit",
    "local_blks_read",
    "local_blks_dirtied",
    "local_blks_written",
    "temp_blks_read",
    "temp_blks_written",
    "wal_records",
    "wal_fpi",
    "wal_bytes",
    "wal_buffers_full",
];

/// Times that are always taken: column here, column there.
const TIMES: [(&str, &str); 5] = [
    ("total_exec_ms", "total_exec_time"),
    ("mean_exec_ms", "mean_exec_time"),
    ("min_exec_ms", "min_exec_time"),
    ("max_exec_ms", "max_exec_time"),
    ("stddev_exec_ms", "stddev_exec_time"),
];

/// Times that are taken with track_io_timing only: column here, and the columns there that make it up. Up to 16 one column tells
/// of shared and local blocks, from 17 on there are two.
const IO_TIMES: [(&str, &[&str]); 4] = [
    (
        "blk_read_ms",
        &[
            "blk_read_time",
            "shared_blk_read_time",
            "local_blk_read_time",
        ],
    ),
    (
        "blk_write_ms",
        &[
            "blk_write_time",
            "shared_blk_write_time",
            "local_blk_write_time",
        ],
    ),
    ("temp_blk_read_ms", &["temp_blk_read_time"]),
    ("temp_blk_write_ms", &["temp_blk_write_time"]),
];

/// Rows to be stored, without the run, from objects of the view's columns; of a statement that is there twice (of several users)
/// the one with more calls. What the view does not have is null.
pub fn rows(view: &[Map<String, Value>], io_timing: bool) -> Vec<Value> {
    let mut entries: Vec<&Map<String, Value>> = view
        .iter()
        .filter(|entry| entry.get("queryid").is_some_and(Value::is_i64))
        .collect();
    let calls = |entry: &Map<String, Value>| entry.get("calls").and_then(Value::as_i64);
    entries.sort_by_key(|entry| std::cmp::Reverse(calls(entry)));
    let mut rows: Vec<Value> = Vec::new();
    for entry in entries {
        let row = row(entry, io_timing);
        let is_there = |other: &Value| {
            other["queryid"] == row["queryid"] && other["toplevel"] == row["toplevel"]
        };
        if !rows.iter().any(is_there) {
            rows.push(row);
        }
    }
    rows
}

fn row(entry: &Map<String, Value>, io_timing: bool) -> Value {
    let query = entry.get("query").and_then(Value::as_str);
    let mut row = json!({
        "queryid": entry.get("queryid"),
        "toplevel": entry.get("toplevel").and_then(Value::as_bool).unwrap_or(true),
        "query": query.map(|text| &text[..text.floor_char_boundary(LONGEST)]),
    });
    let number = |name: &str| entry.get(name).filter(|value| value.is_number());
    for name in SAME {
        row[name] = json!(number(name));
    }
    for (here, there) in TIMES {
        row[here] = json!(number(there));
    }
    for (here, there) in IO_TIMES {
        let known: Vec<f64> = there
            .iter()
            .filter_map(|name| number(name)?.as_f64())
            .collect();
        let sum = (io_timing && !known.is_empty()).then(|| known.iter().sum::<f64>());
        row[here] = json!(sum);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).expect("an object")
    }

    /// Columns as PostgreSQL 15 and 17 have them.
    fn of_15() -> Map<String, Value> {
        entry(
            json!({"userid": 10, "dbid": 5, "toplevel": true, "queryid": -7, "query": "SELECT $1", "plans": 0, "total_plan_time": 0,
            "calls": 3, "total_exec_time": 6.0, "min_exec_time": 1.0, "max_exec_time": 3.0, "mean_exec_time": 2.0,
            "stddev_exec_time": 0.8, "rows": 3, "shared_blks_hit": 9, "blk_read_time": 0.5, "blk_write_time": 0.25,
            "temp_blk_read_time": 0.0, "wal_bytes": 120}),
        )
    }

    fn of_17() -> Map<String, Value> {
        let mut entry = of_15();
        for (old, new) in [
            ("blk_read_time", "shared_blk_read_time"),
            ("blk_write_time", "shared_blk_write_time"),
        ] {
            let time = entry.remove(old).expect("a time");
            entry.insert(new.into(), time);
        }
        entry.insert("local_blk_read_time".into(), json!(0.25));
        entry
    }

    #[test]
    fn columns_of_each_version_come_to_the_same() {
        let found = rows(&[of_15()], true);
        assert_eq!(found.len(), 1);
        for (column, value) in [
            ("queryid", json!(-7)),
            ("query", json!("SELECT $1")),
            ("calls", json!(3)),
            ("mean_exec_ms", json!(2.0)),
            ("blk_read_ms", json!(0.5)),
            ("blk_write_ms", json!(0.25)),
            ("temp_blk_read_ms", json!(0.0)),
            ("wal_bytes", json!(120)),
            ("temp_blk_write_ms", json!(null)),
            ("wal_buffers_full", json!(null)),
            ("toplevel", json!(true)),
        ] {
            assert_eq!(found[0][column], value, "{column}");
        }
        let found = rows(&[of_17()], true);
        assert_eq!(
            (&found[0]["blk_read_ms"], &found[0]["blk_write_ms"]),
            (&json!(0.75), &json!(0.25))
        );
    }

    #[test]
    fn times_that_nobody_took_are_not_known() {
        let found = rows(&[of_15()], false);
        assert_eq!(
            (&found[0]["blk_read_ms"], &found[0]["total_exec_ms"]),
            (&json!(null), &json!(6.0))
        );
    }

    #[test]
    fn a_statement_is_there_once() {
        let mut nested = of_15();
        nested.insert("toplevel".into(), json!(false));
        let mut of_other = of_15();
        of_other.insert("calls".into(), json!(100));
        let found = rows(&[of_15(), nested, of_other], true);
        let calls: Vec<_> = found
            .iter()
            .map(|row| (row["toplevel"].as_bool(), row["calls"].as_i64()))
            .collect();
        assert_eq!(calls, [(Some(true), Some(100)), (Some(false), Some(3))]);
    }

    #[test]
    fn what_is_no_statement_is_left_out_and_a_long_one_cut() {
        let hidden =
            entry(json!({"queryid": null, "query": "<insufficient privilege>", "calls": 1}));
        assert_eq!(rows(&[hidden, Map::new()], true), [json!(null); 0]);
        let mut long = of_15();
        long.insert("query".into(), json!("ä".repeat(LONGEST)));
        let found = rows(&[long], true);
        assert_eq!(found[0]["query"].as_str().map(str::len), Some(LONGEST));
    }
}
