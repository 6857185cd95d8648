//! The tables of results: those of all workloads, and those that only some have rows in.

use super::ALL;
use crate::spec::{DocumentTable, Limit, ResultTable};

/// Tables in which runs of every workload may have rows, in the order of exported files.
const OF_ALL: &[ResultTable] = &[
    ResultTable::new("environment", "run_id"),
    ResultTable::new("finding", "code").limits(&[("code", Limit::NAME)]),
    ResultTable::new("histogram", "transaction, measure")
        .limits(&[("measure", Limit::NAME), ("transaction", Limit::NAME)]),
    ResultTable::new("sample", "second"),
    ResultTable::new("wait_event", "second, wait_event_type, wait_event")
        .limits(&[("samples", Limit::NUMBER)]),
    ResultTable::new("checkpoint", "number"),
    ResultTable::new("statistic", "view, object, counter"),
    ResultTable::new("statement", "queryid, toplevel"),
    ResultTable::new("maintenance", "position"),
    ResultTable::new("probe", "number"),
    VERIFICATION,
];

/// The checks of the data of a run.
pub const VERIFICATION: ResultTable =
    ResultTable::new("verification", "moment, position").limits(&[
        ("moment", Limit::OneOf(&["load", "window", "crash"])),
        ("position", Limit::NUMBER),
    ]);

/// The recovery from a crash: the asking server measures it.
const RECOVERY: ResultTable = ResultTable::new("recovery", "run_id");

/// The servers of a run that had several: the asking server stores them.
const INSTANCES: ResultTable = ResultTable::new("run_instance", "instance").limits(&[
    ("instance", Limit::NUMBER),
    ("transactions", Limit::COUNT),
    ("share", Limit::Range("0", "1")),
]);

/// The tables that only some workloads have rows in.
pub fn tables() -> Vec<ResultTable> {
    let mut tables: Vec<ResultTable> = Vec::new();
    for table in ALL.iter().flat_map(|workload| workload.tables()) {
        if !tables.contains(table) {
            tables.push(*table);
        }
    }
    tables
}

/// All tables that the server fills that carries a run out.
pub fn measured_tables() -> Vec<ResultTable> {
    [OF_ALL, &tables()].concat()
}

/// All tables with rows of a run, beside `run_log`, in the order of exported files.
pub fn result_tables() -> Vec<ResultTable> {
    [OF_ALL, &[RECOVERY, INSTANCES], &tables()].concat()
}

/// The tables of texts to which runs refer by their hashes.
pub fn document_tables() -> impl Iterator<Item = DocumentTable> {
    ALL.iter().filter_map(|workload| workload.document_table())
}

/// Functions and procedures of single workloads that operators may call.
pub fn operator_routines() -> impl Iterator<Item = &'static str> {
    let routines = ALL.iter().map(|workload| workload.operator_routines());
    routines.flatten().copied()
}
