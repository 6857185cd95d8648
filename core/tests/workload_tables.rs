//! The lists of result tables and of figures that are read in SQL are those of core.

use std::{fs, path::Path};

use pgfsbench_core::{
    spec::{Limit, OwnMetric, ResultTable},
    workload,
};
use serde_json::{Map, Value, json};

fn schema(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../sql/schema")
        .join(file);
    fs::read_to_string(path).expect("a file of SQL")
}

fn limit(limit: Limit) -> Value {
    match limit {
        Limit::Range(from, to) => json!(format!("{from} AND {to}")),
        Limit::OneOf(texts) => json!(texts),
        Limit::Document => json!(true),
    }
}

/// The row of a table in the list, as SQL.
fn row(place: usize, table: ResultTable) -> String {
    let limits = table.limits.iter();
    let limits: Map<String, Value> = limits
        .map(|(column, value)| ((*column).to_owned(), limit(*value)))
        .collect();
    assert_eq!(limits.len(), table.limits.len(), "{table:?}");
    let cast = |name: &str| match place {
        1 => format!("::{name}"),
        _ => String::new(),
    };
    format!(
        "        ({place}, '{}'{}, '{}', '{}'{})",
        table.name,
        cast("name"),
        table.key,
        Value::from(limits),
        cast("jsonb")
    )
}

#[test]
fn the_list_in_sql_is_the_list_of_core() {
    let rows: Vec<String> = (1..)
        .zip(workload::result_tables())
        .map(|(place, table)| row(place, table))
        .collect();
    let rows = rows.join(",\n");
    let text = schema("2_result_tables.sql");
    assert!(
        text.contains(&format!("VALUES\n{rows}\n    $$;")),
        "2_result_tables.sql must have these rows:\n{rows}"
    );
}

#[test]
fn documents_in_sql_are_those_of_core() {
    let rows: Vec<String> = workload::document_tables()
        .map(|name| format!("        ('{name}'::name)"))
        .collect();
    assert_eq!(rows.len(), 1, "the cast is of the first row");
    let text = schema("2_result_tables.sql");
    let rows = rows.join(",\n");
    assert!(
        text.contains(&format!("VALUES\n{rows}\n    $$;")),
        "2_result_tables.sql must have these rows:\n{rows}"
    );
}

#[test]
fn no_list_names_a_table_of_a_workload() {
    let tables = workload::tables().into_iter().map(|table| table.name);
    let tables: Vec<&str> = tables.chain(workload::document_tables()).collect();
    for file in ["4_export.sql", "4_import.sql", "5_rights.sql"] {
        let text = schema(file);
        for table in &tables {
            let name = format!("'{table}'");
            assert!(!text.contains(&name), "{file} names {name}");
        }
    }
}

#[test]
fn columns_of_keys_and_limits_exist() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sql/schema");
    let files = fs::read_dir(directory).expect("sql/schema");
    let texts: Vec<String> = files
        .map(|file| fs::read_to_string(file.expect("an entry").path()).expect("a file of SQL"))
        .collect();
    for table in workload::result_tables() {
        let start = format!("CREATE TABLE fsbench.{} (\n", table.name);
        let body = texts.iter().find_map(|text| text.split_once(&start));
        let (_, body) = body.unwrap_or_else(|| panic!("no table {}", table.name));
        let (body, _) = body.split_once("\n);").expect("its end");
        let columns: Vec<&str> = body
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let of_limits = table.limits.iter().map(|(column, _)| *column);
        for column in table.key.split(", ").chain(of_limits) {
            assert!(columns.contains(&column), "{}.{column}", table.name);
        }
    }
}

/// The branch of a figure in `_workload_metric`, as SQL.
fn branch(metric: &OwnMetric) -> String {
    let name = metric.name;
    let (condition, parameter) = match metric.parameter {
        None => (format!("$2 = '{name}'"), "NULL".to_owned()),
        Some(_) => (
            format!("starts_with($2, '{name}')"),
            format!("substr($2, {})", name.len() + 1),
        ),
    };
    let value = metric.sql.replace("PARAMETER", &parameter);
    format!("        WHEN {condition} THEN {value}")
}

#[test]
fn figures_in_sql_are_those_of_core() {
    let branches: Vec<String> = workload::metrics().map(branch).collect();
    let branches = branches.join("\n");
    let text = schema("4_workload_metrics.sql");
    assert!(
        text.contains(&format!("RETURN CASE\n{branches}\n        END;")),
        "4_workload_metrics.sql must have these branches:\n{branches}"
    );
    let charts = schema("4_charts.sql");
    let (_, rest) = charts
        .split_once("FUNCTION fsbench._metric(")
        .expect("the function");
    let (body, _) = rest.split_once("COMMENT ON").expect("its end");
    for metric in workload::metrics() {
        assert!(!body.contains(metric.name), "_metric names {metric:?}");
    }
    for table in workload::tables() {
        let name = format!("fsbench.{} ", table.name);
        assert!(!body.contains(&name), "_metric names {name}");
    }
}
