//! The servers of a run that had several on one target: their rows and tables become those of one run.
//!
//! A counter of a server is added up, a counter of the machine or of the device is taken from the first server, since all of them read the same one.
//! A column without a rule here is NULL: the figure of one server is never that of all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{cost::Cost, row::Latencies};
use crate::{
    finding::InstanceFacts,
    hist::{Histogram, Measure},
    rows::Row,
    seconds::SHORTEST_NS,
    series,
    spec::Workload,
    statistics,
    written::ratio,
};

/// A row of a table, by its columns.
type Columns = Map<String, Value>;

/// A row of `fsbench.run_instance`; its columns say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InstanceRow {
    pub instance: u32,
    pub began_after_ms: f64,
    pub measured_ms: Option<f64>,
    pub transactions: Option<u64>,
    pub tps: Option<f64>,
    pub share: Option<f64>,
    pub latency_avg_ms: Option<f64>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
    pub commit_p99_ms: Option<f64>,
    pub stall_seconds: Option<u32>,
    pub wal_bytes: Option<u64>,
    pub complete_checkpoints: Option<u32>,
    pub findings: Vec<String>,
}

impl Row for InstanceRow {
    const TABLE: &'static str = "run_instance";
}

/// The run of one server, as it has stored it.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// The row of `run_log`.
    pub run: Columns,
    /// Rows of each table of results.
    pub tables: BTreeMap<&'static str, Vec<Columns>>,
    /// Start of its window, in milliseconds of a clock that all servers share.
    pub began_ms: f64,
}

/// The run of all servers together.
#[derive(Clone, Debug, Default)]
pub struct Together {
    pub run: Columns,
    pub tables: BTreeMap<&'static str, Vec<Columns>>,
    pub instances: Vec<InstanceRow>,
}

/// How a column of several rows becomes one value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    First,
    Sum,
    Most,
    Least,
}
use How::{First, Least, Most, Sum};

/// Columns of both `run_log` and `sample`: what the clients have done.
const OF_CLIENTS: &[(&str, How)] = &[
    ("client_wal_records", Sum),
    ("client_wal_fpi", Sum),
    ("client_wal_bytes", Sum),
    ("client_wal_writes", Sum),
    ("client_wal_syncs", Sum),
    ("client_wal_write_ms", Sum),
    ("client_wal_sync_ms", Sum),
    ("client_blocks_hit", Sum),
    ("client_blocks_read", Sum),
    ("client_blocks_dirtied", Sum),
    ("client_blocks_written", Sum),
    ("client_block_read_ms", Sum),
    ("client_block_write_ms", Sum),
];

/// Columns of `run_log`.
const OF_RUN: &[(&str, How)] = &[
    ("status", First),
    ("workload", First),
    ("used", First),
    ("scale", First),
    ("clients", First),
    ("rate", First),
    ("measured_from", First),
    ("facts", First),
    ("load_ms", Most),
    ("data_bytes", Sum),
    ("measured_ms", Most),
    ("transactions_total", Sum),
    ("transactions_outside", Sum),
    ("skipped", Sum),
    ("late", Sum),
    ("failed", Sum),
    ("behind", Sum),
    ("tps", Sum),
    ("xids_used", Sum),
    ("wal_bytes", Sum),
    ("complete_checkpoints", Least),
    ("checkpoints_timed", Sum),
    ("checkpoints_requested", Sum),
    ("checkpoints_logged", First),
    ("track_io_timing", First),
    ("track_wal_io_timing", First),
    ("clock_read_ns", First),
    ("client_cpu_seconds", Sum),
    ("cpu_seconds", Sum),
    ("device_read_bytes", First),
    ("device_write_bytes", First),
    ("device_flushes", First),
    ("changed_bytes", Sum),
    ("server_write_bytes", Sum),
    ("io_read_bytes", Sum),
    ("io_write_bytes", Sum),
    ("io_extend_bytes", Sum),
    ("io_wal_write_bytes", Sum),
];

/// Columns of `sample`; those of the machine and of the devices begin with [`MACHINE`].
const OF_SAMPLE: &[(&str, How)] = &[
    ("second", First),
    ("interval_ms", First),
    ("transactions", Sum),
    ("skipped", Sum),
    ("late", Sum),
    ("failed", Sum),
    ("latency_max_ms", Most),
    ("wal_bytes", Sum),
    ("wal_flushed_bytes", Sum),
    ("client_cpu_ms", Sum),
    ("checkpointer_cpu_ms", Sum),
    ("walwriter_cpu_ms", Sum),
    ("bgwriter_cpu_ms", Sum),
    ("io_read_bytes", Sum),
    ("io_write_bytes", Sum),
    ("io_extend_bytes", Sum),
];

/// First parts of the names of columns of `sample` that are of the machine.
const MACHINE: &[&str] = &[
    "device_",
    "wal_device_",
    "cpu_",
    "memory_",
    "pressure_",
    "cached_bytes",
    "dirty_bytes",
    "writeback_bytes",
    "pgpgin_",
    "pgpgout_",
    "pswp",
    "pgmajfault",
];

/// Findings that a server has of itself. Others look at the machine and its devices, which all servers use.
const OF_SERVER: &[&str] = &[
    "failed_transactions",
    "skipped_transactions",
    "behind_schedule",
    "stalls",
    "drift",
    "warming_up",
    "old_xmin",
    "autovacuum_off",
    "vacuums",
    "dead_rows",
    "lock_waits",
    "checkpoints_requested",
    "no_complete_checkpoint",
    "too_short",
    "statistics_reset",
    "server_restarted",
];

/// By how much the intervals of a second may differ.
const ALIKE: f64 = 1.1;

/// Tables of which the run has rows.
const TABLES: &[&str] = &[
    "environment",
    "histogram",
    "sample",
    "wait_event",
    "checkpoint",
    "statistic",
    "verification",
    "finding",
];

/// The runs of all servers, together; at least one.
pub fn together(all: &[Instance], workload: Workload) -> Together {
    let rows = |table: &str| {
        let of_each = all.iter().map(|one| one.tables.get(table).cloned());
        of_each.map(Option::unwrap_or_default).collect()
    };
    let tables: BTreeMap<&'static str, Vec<Columns>> = TABLES
        .iter()
        .map(|table| (*table, of_table(table, rows(table))))
        .collect();
    let runs: Vec<&Columns> = all.iter().map(|instance| &instance.run).collect();
    let mut run = merged(&runs, &[OF_RUN, OF_CLIENTS]);
    let latencies = latencies(&run, &tables["histogram"], workload.transaction());
    extend(&mut run, json!(latencies));
    let transactions = run.get("transactions_total").and_then(Value::as_f64);
    if let Ok(cost) = serde_json::from_value::<Cost>(Value::Object(run.clone())) {
        extend(&mut run, json!(cost.with_quotients(transactions)));
    }
    extend(&mut run, stalls(&tables["sample"]));
    let instances = instance_rows(all);
    let began = instances.iter().map(|instance| instance.began_after_ms);
    let facts = InstanceFacts {
        skew_ms: began.fold(0.0, f64::max),
        window_ms: run
            .get("measured_ms")
            .and_then(Value::as_f64)
            .unwrap_or(0.0),
        findings: findings_of_others(all),
    };
    if let Some(Value::Object(of_first)) = run.get_mut("facts") {
        of_first.insert("instances".into(), json!(facts));
        add_up(
            of_first,
            "wal",
            &["ready", "left", "begun", "created"],
            &runs,
        );
        add_up(
            of_first,
            "storage",
            &["files_bytes", "files_bytes_at_end"],
            &runs,
        );
        // Each server has a sampler of its own.
        add_up(of_first, "machine", &["cpu_sampler"], &runs);
        of_flushes(of_first, &runs);
    }
    Together {
        run,
        tables,
        instances,
    }
}

/// Latencies of all transactions; under a rate among those that were due.
fn latencies(run: &Columns, histograms: &[Columns], transaction: &str) -> Latencies {
    let of = |measure| histogram(histograms, transaction, measure);
    let count = |column: &str| run.get(column).and_then(Value::as_u64).unwrap_or(0);
    let (latency, commit) = (of("latency"), of("commit"));
    let due = match run.get("rate").is_some_and(|rate| !rate.is_null()) {
        true => count("transactions_total") + count("skipped") + count("failed"),
        false => latency.count(),
    };
    Latencies::of(&latency, &commit, due)
}

/// Columns of stalls, from the seconds of all servers.
fn stalls(samples: &[Columns]) -> Value {
    let stalls = rates(samples).map(|rates| series::stalls(&rates));
    json!({
        "stall_seconds": stalls.map(|stalls| stalls.stall_seconds),
        "zero_seconds": stalls.map(|stalls| stalls.zero_seconds),
    })
}

fn extend(run: &mut Columns, columns: Value) {
    if let Value::Object(columns) = columns {
        run.extend(columns);
    }
}

/// Values of a part of the facts.
fn of_part<'a>(
    runs: &'a [&Columns],
    part: &'a str,
    name: &'a str,
) -> impl Iterator<Item = Value> + 'a {
    let of = move |run: &&Columns| run.get("facts").map(|facts| facts[part][name].clone());
    runs.iter().filter_map(of)
}

/// Adds up some facts of all servers: segments of WAL, lengths of files.
fn add_up(facts: &mut Columns, part: &str, names: &[&str], runs: &[&Columns]) {
    if let Some(Value::Object(own)) = facts.get_mut(part) {
        for name in names {
            own.insert((*name).into(), combined(of_part(runs, part, name), Sum));
        }
    }
}

/// Flushes were timed while the other servers flushed: the fastest one disturbs least, and none was timed in quiet after the window.
fn of_flushes(facts: &mut Columns, runs: &[&Columns]) {
    if let Some(Value::Object(flush)) = facts.get_mut("flush") {
        let before = combined(of_part(runs, "flush", "before_us"), Least);
        flush.insert("before_us".into(), before);
        flush.insert("after_us".into(), Value::Null);
        flush.insert("quiet_after".into(), false.into());
    }
}

/// Shares of each server, and its figures.
fn instance_rows(all: &[Instance]) -> Vec<InstanceRow> {
    let first = all
        .iter()
        .map(|one| one.began_ms)
        .fold(f64::INFINITY, f64::min);
    let number = |one: &Instance, column: &str| one.run.get(column).and_then(Value::as_f64);
    let count = |one: &Instance, column: &str| one.run.get(column).and_then(Value::as_u64);
    let small = |one: &Instance, column: &str| count(one, column).and_then(|n| n.try_into().ok());
    let sum: Option<f64> = all.iter().map(|one| number(one, "tps")).sum();
    (1..)
        .zip(all)
        .map(|(instance, one)| InstanceRow {
            instance,
            began_after_ms: one.began_ms - first,
            measured_ms: number(one, "measured_ms"),
            transactions: count(one, "transactions_total"),
            tps: number(one, "tps"),
            share: ratio(number(one, "tps"), sum),
            latency_avg_ms: number(one, "latency_avg_ms"),
            latency_p50_ms: number(one, "latency_p50_ms"),
            latency_p95_ms: number(one, "latency_p95_ms"),
            latency_p99_ms: number(one, "latency_p99_ms"),
            latency_max_ms: number(one, "latency_max_ms"),
            commit_p99_ms: number(one, "commit_p99_ms"),
            stall_seconds: small(one, "stall_seconds"),
            wal_bytes: count(one, "wal_bytes"),
            complete_checkpoints: small(one, "complete_checkpoints"),
            findings: codes(one, |_| true),
        })
        .collect()
}

/// Codes of the findings that it has of itself, of some severities.
fn codes(instance: &Instance, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let findings = instance.tables.get("finding").into_iter().flatten();
    let text = |row: &Columns, column: &str| {
        row.get(column)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let wanted = findings.filter(|row| is_wanted(&text(row, "severity")));
    let codes = wanted.map(|row| text(row, "code"));
    codes
        .filter(|code| OF_SERVER.contains(&&code[..]))
        .collect()
}

/// Warnings that the first server has not, each once.
fn findings_of_others(all: &[Instance]) -> Vec<String> {
    let Some((first, others)) = all.split_first() else {
        return Vec::new();
    };
    let known = codes(first, |_| true);
    let others = others
        .iter()
        .flat_map(|one| codes(one, |severity| severity != "info"));
    let mut others: Vec<String> = others.filter(|code| !known.contains(code)).collect();
    others.sort();
    others.dedup();
    others
}

/// Transactions per second of each second; None where one of them is not known of all servers.
fn rates(samples: &[Columns]) -> Option<Vec<f64>> {
    let number = |row: &Columns, column: &str| row.get(column).and_then(Value::as_f64);
    let long = samples
        .iter()
        .filter(|row| number(row, "interval_ms") >= Some(SHORTEST_NS as f64 / 1e6));
    let rates: Option<Vec<f64>> = long
        .map(|row| Some(number(row, "transactions")? * 1000.0 / number(row, "interval_ms")?))
        .collect();
    rates.filter(|rates| !rates.is_empty())
}

/// Rows of a table, of which each server has some.
fn of_table(table: &str, of_each: Vec<Vec<Columns>>) -> Vec<Columns> {
    match table {
        "environment" => of_each.into_iter().next().unwrap_or_default(),
        // The first one of each code: the rest is in the rows of the instances.
        "finding" => by_key(of_each, &["code"], |rows| rows[0].clone()),
        "histogram" => by_key(of_each, &["transaction", "measure"], |rows| {
            merged_histogram(rows)
        }),
        "sample" => samples(of_each),
        "wait_event" => by_key(
            of_each,
            &["second", "wait_event_type", "wait_event"],
            |rows| added(rows, "samples"),
        ),
        // Objects in which nothing happened have no row.
        "statistic" => by_key(of_each, &["view", "object", "counter"], |rows| {
            let counter = rows[0].get("counter").and_then(Value::as_str);
            match counter.is_some_and(statistics::is_constant) {
                true => rows[0].clone(),
                false => added(rows, "value"),
            }
        }),
        "checkpoint" => {
            let mut rows: Vec<Columns> = of_each.into_iter().flatten().collect();
            let second = |row: &Columns, column: &str| {
                row.get(column).and_then(Value::as_i64).unwrap_or(i64::MAX)
            };
            rows.sort_by_key(|row| (second(row, "end_second"), second(row, "start_second")));
            numbered(rows, "number", |_| String::new())
        }
        "verification" => {
            let named = (1..).zip(of_each).flat_map(|(instance, rows)| {
                rows.into_iter().map(move |mut row| {
                    let name = row.get("name").and_then(Value::as_str).unwrap_or_default();
                    let name = format!("instance {instance}: {name}");
                    row.insert("name".into(), name.into());
                    row
                })
            });
            let moment =
                |row: &Columns| row.get("moment").map(Value::to_string).unwrap_or_default();
            numbered(named.collect(), "position", moment)
        }
        _ => Vec::new(),
    }
}

/// Numbers rows from 1, for each part by itself.
fn numbered(
    mut rows: Vec<Columns>,
    column: &str,
    part: impl Fn(&Columns) -> String,
) -> Vec<Columns> {
    let mut last: BTreeMap<String, u64> = BTreeMap::new();
    for row in &mut rows {
        let number = last.entry(part(row)).or_default();
        *number += 1;
        row.insert(column.into(), (*number).into());
    }
    rows
}

/// Rows with the same key become one.
fn by_key(
    of_each: Vec<Vec<Columns>>,
    key: &[&str],
    merge: impl Fn(&[Columns]) -> Columns,
) -> Vec<Columns> {
    let mut all: BTreeMap<String, Vec<Columns>> = BTreeMap::new();
    for row in of_each.into_iter().flatten() {
        let key: Vec<&Value> = key.iter().filter_map(|column| row.get(*column)).collect();
        all.entry(json!(key).to_string()).or_default().push(row);
    }
    all.into_values().map(|rows| merge(&rows)).collect()
}

/// The first row, with one column added up.
fn added(rows: &[Columns], column: &str) -> Columns {
    let values = rows
        .iter()
        .map(|row| row.get(column).cloned().unwrap_or(Value::Null));
    let mut row = rows[0].clone();
    row.insert(column.into(), combined(values, Sum));
    row
}

/// Seconds. Counters of the servers are added up where each of them has that second, of the same length.
fn samples(of_each: Vec<Vec<Columns>>) -> Vec<Columns> {
    let instances = of_each.len();
    let mut rows = by_key(of_each, &["second"], |rows| {
        let all: Vec<&Columns> = rows.iter().collect();
        let is_machine = |name: &str| MACHINE.iter().any(|start| name.starts_with(start));
        let of_machine = rows[0].iter().filter(|(name, _)| is_machine(name));
        let mut row = match rows.len() == instances && are_alike(rows) {
            true => merged(&all, &[OF_SAMPLE, OF_CLIENTS]),
            false => merged(&all, &[&OF_SAMPLE[..2]]),
        };
        row.extend(of_machine.map(|(name, value)| (name.clone(), value.clone())));
        if let Some(mean) = mean_latency(rows).filter(|_| row.contains_key("transactions")) {
            row.insert("latency_avg_ms".into(), mean.into());
        }
        row
    });
    rows.sort_by_key(|row| row.get("second").and_then(Value::as_i64));
    rows
}

fn are_alike(rows: &[Columns]) -> bool {
    let lengths = rows
        .iter()
        .filter_map(|row| row.get("interval_ms")?.as_f64());
    let (least, most) = lengths.fold((f64::INFINITY, 0.0), |(least, most), ms| {
        (f64::min(least, ms), f64::max(most, ms))
    });
    most <= least * ALIKE
}

/// Mean latency of all transactions of a second.
fn mean_latency(rows: &[Columns]) -> Option<f64> {
    let number = |row: &Columns, column: &str| row.get(column).and_then(Value::as_f64);
    let count: f64 = rows
        .iter()
        .map(|row| number(row, "transactions"))
        .sum::<Option<f64>>()?;
    let sum = rows.iter().map(|row| match number(row, "transactions") {
        Some(0.0) => Some(0.0),
        count => Some(count? * number(row, "latency_avg_ms")?),
    });
    ratio(sum.sum(), Some(count))
}

/// The columns that have a rule. Others are missing, and so NULL where they are stored.
fn merged(rows: &[&Columns], rules: &[&[(&str, How)]]) -> Columns {
    let value = |row: &&Columns, column: &str| row.get(column).cloned().unwrap_or(Value::Null);
    let columns = rules.iter().copied().flatten().map(|(column, how)| {
        let values = rows.iter().map(|row| value(row, column));
        ((*column).to_owned(), combined(values, *how))
    });
    columns.collect()
}

/// One value of several; NULL where one of those to be compared or added is not known.
fn combined(values: impl Iterator<Item = Value>, how: How) -> Value {
    let values: Vec<Value> = values.collect();
    if how == First {
        return values.into_iter().next().unwrap_or(Value::Null);
    }
    if let Some(whole) = values
        .iter()
        .map(Value::as_i64)
        .collect::<Option<Vec<i64>>>()
    {
        return match how {
            Sum => whole
                .iter()
                .fold(0i64, |sum, n| sum.saturating_add(*n))
                .into(),
            Most => json!(whole.iter().max()),
            _ => json!(whole.iter().min()),
        };
    }
    let Some(real) = values
        .iter()
        .map(Value::as_f64)
        .collect::<Option<Vec<f64>>>()
    else {
        return Value::Null;
    };
    match how {
        Sum => json!(real.iter().sum::<f64>()),
        Most => json!(real.into_iter().reduce(f64::max)),
        _ => json!(real.into_iter().reduce(f64::min)),
    }
}

/// A stored row of `histogram`, as far as it is added up.
#[derive(Deserialize)]
struct Stored {
    sum_ms: f64,
    sum_squares_ms: f64,
    min_ms: Option<f64>,
    max_ms: Option<f64>,
    buckets: Vec<usize>,
    counts: Vec<u64>,
}

impl Stored {
    fn histogram(self) -> Histogram {
        let ns = |ms: f64| (ms * 1e6).round() as u64;
        Histogram::from_parts(
            self.buckets.into_iter().zip(self.counts),
            ns(self.sum_ms),
            self.sum_squares_ms * 1e6,
            self.min_ms.map_or(0, ns),
            self.max_ms.map_or(0, ns),
        )
    }
}

fn read(row: &Columns) -> Histogram {
    let stored: Result<Stored, _> = serde_json::from_value(Value::Object(row.clone()));
    stored.map(Stored::histogram).unwrap_or_default()
}

fn merged_histogram(rows: &[Columns]) -> Columns {
    let mut all = Histogram::new();
    for row in rows {
        all.merge(&read(row));
    }
    let mut row = rows[0].clone();
    let kept: Vec<(String, Value)> = ["transaction", "measure"]
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone())))
        .collect();
    extend(&mut row, json!(all.to_row("", Measure::Latency)));
    row.extend(kept);
    row
}

/// The histogram of a transaction; empty where none is stored.
fn histogram(rows: &[Columns], transaction: &str, measure: &str) -> Histogram {
    let is = |row: &&Columns, column: &str, wanted: &str| {
        row.get(column).and_then(Value::as_str) == Some(wanted)
    };
    rows.iter()
        .find(|row| is(row, "transaction", transaction) && is(row, "measure", measure))
        .map(read)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
