//! Fields of the structs whose rows are stored, and columns of their tables, agree both ways.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use pgfsbench_core::{
    checkpoint,
    environment::Environment,
    experiment,
    finding::{Finding, Severity},
    finding_row::Text,
    hist,
    recovery_log::Recovery,
    rows::Row,
    run::{instances::InstanceRow, rate_search::Probe, row},
    seconds::{Second, Wait},
    statement::Statement,
    statistics::Counter,
    target,
    verification::Verification,
    workload::{fsync, io, mix, power_cut, scan, tpcc_like},
};
use serde_json::{Value, to_value};

/// Columns that the struct lacks, because statements name them; `run_id` is a column of every table.
const BESIDE: &[(&str, &[&str])] = &[
    (
        "run_log",
        &[
            "asked",
            "requested_at",
            "started_at",
            "measured_from",
            "ended_at",
            "error_code",
            "error",
            "error_detail",
            "error_hint",
            "work_database",
            "work_database_oid",
            "work_mark",
            "target_definition",
            "target_version",
            "copied",
        ],
    ),
    ("target", &["kind", "created_by", "created_at"]),
    (
        "experiment",
        &[
            "experiment_id",
            "status_reason",
            "ended_by",
            "answer",
            "created_at",
            "started_at",
            "ended_at",
            "on_seconds",
            "on_since",
            "over_at_latest",
            "moved",
            "open_because",
            "next_blocks",
        ],
    ),
    ("experiment_target", &["experiment_id", "set_aside"]),
    (
        "environment",
        &[
            "storage",
            "mkfs_version",
            "mkfs_command",
            "geometry",
            "configuration_fingerprint",
            "durability",
            "durability_codes",
        ],
    ),
];

/// Tables without such a struct, with the reason. In a statement that names each column, the server refuses one that is not there.
const WITHOUT_STRUCT: &[(&str, &str)] = &[
    ("acknowledgement", "fsbench.acknowledge() writes it, in SQL"),
    ("imported_file", "fsbench.import() writes it, in SQL"),
    ("imported_run", "fsbench.import() writes it, in SQL"),
    ("imported_experiment", "fsbench.import() writes it, in SQL"),
    ("script", "a statement names each column"),
    ("power_cut_watch", "statements name each column"),
    ("power_cut_commit", "statements name each column"),
    ("experiment_run", "statements name each column"),
    ("experiment_log", "a statement names each column"),
    ("study_definition", "a statement names each column"),
    ("study", "a statement names each column"),
    ("study_experiment", "a statement names each column"),
    ("study_target", "a statement names each column"),
    (
        "helper_job",
        "statements of the server and of the helper name each column",
    ),
    (
        "helper_description",
        "a statement of the helper names each column",
    ),
    (
        "helper_session",
        "a statement of the helper names each column",
    ),
];

type Tables = BTreeMap<String, BTreeSet<String>>;

/// The columns of each table, by its only CREATE TABLE.
fn tables() -> Tables {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sql/schema");
    let mut tables = Tables::new();
    for entry in fs::read_dir(schema).expect("sql/schema is there") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a file of SQL");
        assert!(
            !text.contains("ADD COLUMN"),
            "before the first release a table has one CREATE"
        );
        for part in text.split("\nCREATE TABLE fsbench.").skip(1) {
            let (name, rest) = part.split_once(" (").expect("a name");
            let (body, _) = rest.split_once("\n);").expect("an end");
            let columns = body
                .lines()
                .filter_map(|line| line.split_whitespace().next())
                .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
            let was_there = tables.insert(name.into(), columns.map(str::to_owned).collect());
            assert!(was_there.is_none(), "{name} is created twice");
        }
    }
    tables
}

/// The fields of some rows of one table, each of which has all of its own.
fn fields(rows: &[Value]) -> BTreeSet<String> {
    let names = rows
        .iter()
        .flat_map(|row| row.as_object().expect("an object").keys());
    names.cloned().collect()
}

/// Every row is of a run, but for targets and experiments.
fn of_run(table: &str) -> &'static [&'static str] {
    match table {
        "target" | "experiment" | "experiment_target" => &[],
        _ => &["run_id"],
    }
}

#[track_caller]
fn agree(table: &str, rows: &[Value]) {
    let tables = tables();
    let columns = tables
        .get(table)
        .unwrap_or_else(|| panic!("no table {table}"));
    let mut written = fields(rows);
    let beside = BESIDE.iter().find(|(name, _)| *name == table);
    for name in beside
        .map_or(&[][..], |(_, names)| names)
        .iter()
        .chain(of_run(table))
    {
        assert!(
            written.insert((*name).into()),
            "{table}.{name} is a field, too"
        );
    }
    let unknown: Vec<_> = written.difference(columns).collect();
    let unwritten: Vec<_> = columns.difference(&written).collect();
    assert!(unknown.is_empty(), "{table} has no columns {unknown:?}");
    assert!(
        unwritten.is_empty(),
        "nobody writes {unwritten:?} of {table}"
    );
}

fn row<R: Row>(row: R) -> (&'static str, Value) {
    (R::TABLE, to_value(row).expect("a row is JSON"))
}

/// A row of each table whose rows are of one struct.
fn rows() -> Vec<(&'static str, Value)> {
    let finding = Finding::new(Severity::Info, Text::new("x", "", ""));
    vec![
        row(Second::default()),
        row(Wait::default()),
        row(hist::Row::default()),
        row(checkpoint::Row::default()),
        row(Counter::default()),
        row(Statement::default()),
        row(Recovery::default()),
        row(InstanceRow::default()),
        row(finding),
        row(Environment::default()),
        row(target::Row::default()),
        row(experiment::row::Recorded::default()),
        row(experiment::row::OfTarget::default()),
        row(row::Maintenance::default()),
        row(Probe::default()),
        row(fsync::Row::default()),
        row(scan::Row::default()),
        row(scan::Reading::default()),
        row(mix::TransactionResult::default()),
        row(mix::TransactionFailure::default()),
        row(mix::CommandResult::default()),
        row(tpcc_like::ClientResult::default()),
        row(Verification::default()),
        row(io::Row::default()),
        row(io::series::Row::default()),
        row(power_cut::Summary::default()),
        row(power_cut::Point::default()),
        row(power_cut::StorageError::default()),
    ]
}

/// The row of a run, in two structs: what is asked for, and what is done.
fn rows_of_run() -> [(&'static str, Value); 2] {
    [row(row::RequestedRun::default()), row(row::Done::default())]
}

#[test]
fn every_field_is_a_column_and_every_column_a_field() {
    for (table, fields) in rows() {
        agree(table, &[fields]);
    }
}

#[test]
fn each_table_has_a_struct_or_a_reason_why_not() {
    let with = rows().into_iter().chain(rows_of_run());
    let mut known: BTreeSet<&str> = with.map(|(table, _)| table).collect();
    for (table, _) in WITHOUT_STRUCT {
        assert!(known.insert(table), "{table} has a struct, too");
    }
    let tables = tables();
    let there: BTreeSet<&str> = tables.keys().map(String::as_str).collect();
    assert_eq!(known, there);
}

#[test]
fn so_it_is_with_what_is_asked_for_and_what_is_done() {
    let [asked, done] = rows_of_run();
    assert_eq!(asked.0, done.0);
    agree(asked.0, &[asked.1, done.1]);
}

#[test]
fn the_schema_is_read() {
    let tables = tables();
    assert!(tables.len() > 15, "{:?}", tables.keys());
    assert!(tables["run_log"].contains("clock_read_ns"));
    assert!(tables["target"].contains("kind"));
    assert!(!tables["checkpoint"].contains("PRIMARY"));
}
