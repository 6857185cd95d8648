//! The lists of result tables and of figures that are read in SQL are those of core.

use std::{collections::BTreeSet, fs, path::Path};

use pgfsbench_core::{
    spec::{Limit, OwnMetric, ResultTable, ScriptArguments},
    workload,
};
use serde_json::{Map, Value, json};

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(path).expect("a file")
}

fn schema(file: &str) -> String {
    read(&format!("../sql/schema/{file}"))
}

/// Holds a list of rows in SQL.
fn assert_values(rows: &str) {
    assert!(
        schema("2_result_tables.sql").contains(&format!("VALUES\n{rows}\n    $$;")),
        "2_result_tables.sql must have these rows:\n{rows}"
    );
}

fn limit(limit: Limit) -> Value {
    match limit {
        Limit::Range(from, to) => json!(format!("{from} AND {to}")),
        Limit::OneOf(texts) => json!(texts),
        Limit::Short(most) => json!(most),
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
    assert_values(&rows.join(",\n"));
}

#[test]
fn documents_in_sql_are_those_of_core() {
    let rows: Vec<String> = workload::document_tables()
        .map(|table| {
            let (name, option, texts) = (table.name, table.option, table.texts.join(","));
            format!("        ('{name}'::name, '{option}', '{{{texts}}}'::text[])")
        })
        .collect();
    assert_eq!(rows.len(), 1, "the casts are of the first row");
    assert_values(&rows.join(",\n"));
}

#[test]
fn routines_in_sql_are_those_of_core() {
    let rows: Vec<String> = workload::operator_routines()
        .map(|name| format!("        ('{name}')"))
        .collect();
    assert_values(&rows.join(",\n").replacen("')", "'::name)", 1));
}

/// The texts of a document are those that a specification lacks, and that a page for strangers leaves out.
#[test]
fn texts_of_scripts_are_those_that_are_declared() {
    let table = workload::document_tables().next().expect("a table");
    let given: ScriptArguments = serde_json::from_value(json!({"scripts": "", "variables": {},
        "init_script": "", "checks": [], "protocol": "simple", "max_tries": 1, "sha256": "x"}))
    .expect("arguments");
    let members = |arguments: &ScriptArguments| -> BTreeSet<String> {
        let Ok(Value::Object(members)) = serde_json::to_value(arguments) else {
            panic!("no object");
        };
        members.into_iter().map(|(name, _)| name).collect()
    };
    let (all, kept) = (members(&given), members(&given.without_texts()));
    let left_out: BTreeSet<&str> = all.difference(&kept).map(String::as_str).collect();
    assert_eq!(left_out, table.texts.iter().copied().collect());
    let report = read("../report/python/3_transactions.py");
    let texts = table.texts.join("', '");
    assert!(report.contains(&format!("\nTEXTS = ('{texts}')\n")));
}

/// The code of a file of the schema: without comments, also those of objects.
fn code(file: &str) -> String {
    let text = schema(file);
    let lines = text.lines().filter(|line| !line.starts_with("COMMENT ON"));
    let code = lines.filter_map(|line| line.split("--").next());
    code.collect::<Vec<_>>().join("\n")
}

#[test]
fn rights_export_and_import_name_no_workload() {
    let mut names: BTreeSet<&str> = workload::operator_routines().collect();
    names.extend(workload::tables().iter().map(|table| table.name));
    names.extend(workload::ALL.iter().map(|workload| workload.as_str()));
    names.extend(workload::metrics().map(|metric| metric.name));
    for table in workload::document_tables() {
        names.extend([table.name, table.option]);
        names.extend(table.texts);
    }
    let own_options = workload::ALL.iter().flat_map(|w| w.own_options());
    let own_options: Vec<String> = own_options
        .map(|option| format!("options,{}", option.name))
        .collect();
    let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    for file in ["4_export.sql", "4_import.sql", "5_rights.sql"] {
        let code = code(file);
        let words: BTreeSet<&str> = code.split(|c| !is_in_word(c)).collect();
        let named: Vec<&&str> = names.intersection(&words).collect();
        assert!(named.is_empty(), "{file} names {named:?}");
        let option = own_options.iter().find(|option| code.contains(*option));
        assert_eq!(option, None, "{file} names an option of a workload");
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
