//! Tables that only some workloads fill are in the lists of all results that stand in SQL: triggers, export, import.

use std::{fs, path::Path};

use pgfsbench_core::workload;

fn schema(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../sql/schema")
        .join(file);
    fs::read_to_string(path).expect("a file of SQL")
}

/// The text from one mark to the next.
#[track_caller]
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).expect("its start");
    rest.split_once(end).expect("its end").0
}

#[test]
fn only_the_owner_of_the_extension_changes_the_tables_of_workloads() {
    let text = schema("5_rights.sql");
    let guarded = between(&text, "FOREACH name IN ARRAY ARRAY[", "]");
    for table in workload::tables() {
        let name = format!("'{}'", table.name);
        let is_guarded = guarded.split(',').any(|word| word.trim() == name);
        assert!(is_guarded, "5_rights.sql: no trigger for {name}");
    }
}

#[test]
fn tables_of_workloads_are_exported_by_their_keys() {
    let text = schema("4_export.sql");
    let exported = between(&text, "FUNCTION fsbench._exported()", "$$;");
    for table in workload::tables() {
        let row = format!("('{}', 'run_id, ", table.name);
        assert!(exported.contains(&row), "4_export.sql: no row {row}");
    }
}

#[test]
fn values_of_tables_of_workloads_have_limits_when_they_are_imported() {
    let text = schema("4_import.sql");
    let limits = between(&text, "FUNCTION fsbench._import_column(", "$$;");
    for table in workload::tables() {
        let column = format!("('{}', '", table.name);
        assert!(limits.contains(&column), "4_import.sql: no {column}");
    }
}
