//! What each released version has stored can be read: a field that came later has a value where it is missing.

use std::{collections::BTreeMap, fs, path::Path};

use pgfsbench_core::{
    environment::Environment,
    experiment::{asked, state::State},
    finding::RunFacts,
    spec, target,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

type Rows = Vec<Map<String, Value>>;

/// A value as COPY writes it: of a number, a boolean or a document what it is, else the text.
fn value_of(text: &str) -> Value {
    match text {
        "\\N" => Value::Null,
        "t" => Value::Bool(true),
        "f" => Value::Bool(false),
        text => {
            let text = text
                .replace("\\\\", "\u{0}")
                .replace("\\n", "\n")
                .replace("\\t", "\t")
                .replace('\u{0}', "\\");
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        }
    }
}

/// The rows of the tables of a dump.
fn rows_of(dump: &str) -> BTreeMap<String, Rows> {
    let mut tables = BTreeMap::new();
    for part in dump.split("\nCOPY fsbench.").skip(1) {
        let (head, rest) = part.split_once(") FROM stdin;\n").expect("its head");
        let (table, columns) = head.split_once(" (").expect("its columns");
        let columns: Vec<&str> = columns.split(", ").map(|c| c.trim_matches('"')).collect();
        let lines = rest.lines().take_while(|line| *line != "\\.");
        let rows = lines.map(|line| {
            let values = line.split('\t').map(value_of);
            columns
                .iter()
                .map(|c| (*c).to_owned())
                .zip(values)
                .collect()
        });
        tables.insert(table.to_owned(), rows.collect());
    }
    tables
}

fn read<T: DeserializeOwned>(version: &str, what: &str, value: &Value) -> T {
    serde_json::from_value(value.clone())
        .unwrap_or_else(|e| panic!("{what} of {version}: {e}: {value}"))
}

#[test]
fn what_each_released_version_has_stored_can_be_read() {
    let released = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/released");
    let mut dumps = 0;
    for entry in fs::read_dir(released).expect("released versions") {
        let path = entry.expect("an entry").path();
        let version = path
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        let is_dump = path.extension().is_some_and(|kind| kind == "sql");
        if !is_dump || version.starts_with("pgfsbench_report") {
            continue;
        }
        dumps += 1;
        let tables = rows_of(&fs::read_to_string(&path).expect("a dump"));
        let rows = |table: &str| {
            let rows = tables.get(table).filter(|rows| !rows.is_empty());
            rows.unwrap_or_else(|| panic!("{version} has stored no {table}"))
        };
        for run in rows("run_log") {
            read::<spec::Asked>(version, "arguments", &run["asked"]);
            if !run["facts"].is_null() {
                read::<RunFacts>(version, "facts", &run["facts"]);
            }
        }
        for row in rows("environment") {
            read::<Environment>(version, "an environment", &Value::Object(row.clone()));
        }
        for row in rows("target") {
            read::<target::Row>(version, "a target", &Value::Object(row.clone()));
        }
        for row in rows("experiment") {
            read::<asked::Asked>(version, "arguments of an experiment", &row["asked"]);
            let state = json!({"experiment": row, "targets": rows("experiment_target"), "runs": rows("experiment_run")});
            let state: State = read(version, "an experiment", &state);
            assert_eq!(state.experiment.looks().looks.len(), 5, "{version}");
            // Where a table has it not, since it came later.
            let mut older = row.clone();
            for later in [
                "rate_share",
                "burn_in",
                "probe_wait_seconds",
                "too_short",
                "forced",
                "control_number",
            ] {
                older.remove(later);
            }
            let state =
                json!({"experiment": older, "targets": rows("experiment_target"), "runs": []});
            read::<State>(version, "an experiment without what came later", &state);
        }
    }
    assert!(dumps > 0, "no version was released");
}
