//! Statements of a run, from rows of pg_stat_statements of whatever version.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::{recorded_statements, rows};

/// The name of pg_stat_statements, as a library and as an extension.
pub const EXTENSION: &str = "pg_stat_statements";

/// More of a statement's text is not stored.
const LONGEST: usize = 8_192;

/// Has pg_stat_statements told of the statements of a run? If not, why?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statements {
    /// It has.
    Recorded,
    /// The server has not loaded it.
    NotLoaded,
    /// The database of pgfsbench lacks the extension pg_stat_statements.
    NotCreated,
    /// It has recorded nothing.
    Nothing,
    /// It had no room for all entries, so that some were removed while the run was measured.
    Evicted,
    /// The records of the extension were reset while the run was measured.
    Reset,
    /// The extension pg_stat_statements and its library have different functions.
    Outdated,
    /// It could not be asked.
    Failed,
}

/// A row of `fsbench.statement`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statement {
    pub queryid: i64,
    pub toplevel: bool,
    pub query: Option<String>,
    pub calls: Option<u64>,
    pub total_exec_ms: Option<f64>,
    pub mean_exec_ms: Option<f64>,
    pub min_exec_ms: Option<f64>,
    pub max_exec_ms: Option<f64>,
    pub stddev_exec_ms: Option<f64>,
    pub rows: Option<u64>,
    pub shared_blks_hit: Option<u64>,
    pub shared_blks_read: Option<u64>,
    pub shared_blks_dirtied: Option<u64>,
    pub shared_blks_written: Option<u64>,
    pub local_blks_hit: Option<u64>,
    pub local_blks_read: Option<u64>,
    pub local_blks_dirtied: Option<u64>,
    pub local_blks_written: Option<u64>,
    pub temp_blks_read: Option<u64>,
    pub temp_blks_written: Option<u64>,
    pub blk_read_ms: Option<f64>,
    pub blk_write_ms: Option<f64>,
    pub temp_blk_read_ms: Option<f64>,
    pub temp_blk_write_ms: Option<f64>,
    pub wal_records: Option<u64>,
    pub wal_fpi: Option<u64>,
    /// A `numeric` there, of any size.
    pub wal_bytes: Option<Number>,
    pub wal_buffers_full: Option<u64>,
}

impl rows::Row for Statement {
    const TABLE: &'static str = "statement";
}

/// The rows of a run on a user's own data: no text has values of them.
pub fn without_values(rows: Vec<Statement>) -> Vec<Statement> {
    let of = |row: Statement| Statement {
        query: row
            .query
            .as_deref()
            .and_then(recorded_statements::without_values),
        ..row
    };
    rows.into_iter().map(of).collect()
}

/// Rows to be stored, without the run, from objects of the view's columns; of a statement that is there twice (of several users)
/// the one with more calls. What the view does not have is None.
pub fn rows(view: &[Map<String, Value>], io_timing: bool) -> Vec<Statement> {
    let mut all: Vec<Statement> = view
        .iter()
        .filter_map(|entry| Statement::of(entry, io_timing))
        .collect();
    all.sort_by_key(|statement| std::cmp::Reverse(statement.calls));
    let mut rows: Vec<Statement> = Vec::new();
    for row in all {
        let is_there =
            |other: &Statement| (other.queryid, other.toplevel) == (row.queryid, row.toplevel);
        if !rows.iter().any(is_there) {
            rows.push(row);
        }
    }
    rows
}

impl Statement {
    /// None for an entry whose query this user may not see.
    fn of(entry: &Map<String, Value>, io_timing: bool) -> Option<Self> {
        let query = entry.get("query").and_then(Value::as_str);
        let count = |name: &str| entry.get(name).and_then(Value::as_u64);
        let ms = |name: &str| entry.get(name).and_then(Value::as_f64);
        // Taken with track_io_timing only. Up to 16 one column tells of shared and local blocks, from 17 on there are two.
        let io_ms = |names: &[&str]| {
            let known: Vec<f64> = names.iter().filter_map(|name| ms(name)).collect();
            (io_timing && !known.is_empty()).then(|| known.iter().sum::<f64>())
        };
        Some(Self {
            queryid: entry.get("queryid")?.as_i64()?,
            toplevel: entry
                .get("toplevel")
                .and_then(Value::as_bool)
                .unwrap_or(true),
            query: query.map(|text| text[..text.floor_char_boundary(LONGEST)].to_owned()),
            calls: count("calls"),
            total_exec_ms: ms("total_exec_time"),
            mean_exec_ms: ms("mean_exec_time"),
            min_exec_ms: ms("min_exec_time"),
            max_exec_ms: ms("max_exec_time"),
            stddev_exec_ms: ms("stddev_exec_time"),
            rows: count("rows"),
            shared_blks_hit: count("shared_blks_hit"),
            shared_blks_read: count("shared_blks_read"),
            shared_blks_dirtied: count("shared_blks_dirtied"),
            shared_blks_written: count("shared_blks_written"),
            local_blks_hit: count("local_blks_hit"),
            local_blks_read: count("local_blks_read"),
            local_blks_dirtied: count("local_blks_dirtied"),
            local_blks_written: count("local_blks_written"),
            temp_blks_read: count("temp_blks_read"),
            temp_blks_written: count("temp_blks_written"),
            blk_read_ms: io_ms(&[
                "blk_read_time",
                "shared_blk_read_time",
                "local_blk_read_time",
            ]),
            blk_write_ms: io_ms(&[
                "blk_write_time",
                "shared_blk_write_time",
                "local_blk_write_time",
            ]),
            temp_blk_read_ms: io_ms(&["temp_blk_read_time"]),
            temp_blk_write_ms: io_ms(&["temp_blk_write_time"]),
            wal_records: count("wal_records"),
            wal_fpi: count("wal_fpi"),
            wal_bytes: entry.get("wal_bytes").and_then(Value::as_number).cloned(),
            wal_buffers_full: count("wal_buffers_full"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        let statement = &found[0];
        assert_eq!((statement.queryid, statement.toplevel), (-7, true));
        assert_eq!(statement.query.as_deref(), Some("SELECT $1"));
        assert_eq!(statement.calls, Some(3));
        assert_eq!(statement.mean_exec_ms, Some(2.0));
        assert_eq!(statement.blk_read_ms, Some(0.5));
        assert_eq!(statement.blk_write_ms, Some(0.25));
        assert_eq!(statement.temp_blk_read_ms, Some(0.0));
        assert_eq!(statement.temp_blk_write_ms, None);
        assert_eq!(statement.wal_bytes, Some(120.into()));
        assert_eq!(statement.wal_buffers_full, None);
        let found = rows(&[of_17()], true);
        assert_eq!(found[0].blk_read_ms, Some(0.75));
        assert_eq!(found[0].blk_write_ms, Some(0.25));
    }

    #[test]
    fn times_that_nobody_took_are_not_known() {
        let found = rows(&[of_15()], false);
        assert_eq!(found[0].blk_read_ms, None);
        assert_eq!(found[0].total_exec_ms, Some(6.0));
    }

    #[test]
    fn a_text_on_a_users_own_data_has_no_values() {
        let mut entry = of_15();
        entry.insert("query".into(), json!("SET app.tenant = '4711'"));
        let found = without_values(rows(&[entry], true));
        assert_eq!(found[0].query.as_deref(), Some("SET"));
        assert_eq!(found[0].calls, Some(3));
    }

    #[test]
    fn a_statement_is_there_once() {
        let mut nested = of_15();
        nested.insert("toplevel".into(), json!(false));
        let mut of_other = of_15();
        of_other.insert("calls".into(), json!(100));
        let found = rows(&[of_15(), nested, of_other], true);
        let calls: Vec<_> = found.iter().map(|row| (row.toplevel, row.calls)).collect();
        assert_eq!(calls, [(true, Some(100)), (false, Some(3))]);
    }

    #[test]
    fn what_is_no_statement_is_left_out_and_a_long_one_cut() {
        let hidden =
            entry(json!({"queryid": null, "query": "<insufficient privilege>", "calls": 1}));
        assert_eq!(rows(&[hidden, Map::new()], true), []);
        let mut long = of_15();
        long.insert("query".into(), json!("ä".repeat(LONGEST)));
        let found = rows(&[long], true);
        assert_eq!(found[0].query.as_deref().map(str::len), Some(LONGEST));
    }
}
