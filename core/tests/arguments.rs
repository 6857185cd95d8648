//! The arguments of functions stand once in SQL and once in a struct, which agree both ways.

use std::{collections::BTreeSet, fs, path::Path};

use pgfsbench_core::spec::Arguments;

/// The names of a function's arguments, by its CREATE FUNCTION.
fn arguments(function: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sql/schema/3_functions.sql");
    let text = fs::read_to_string(file).expect("the functions are there");
    let (_, rest) = text
        .split_once(&format!("CREATE FUNCTION fsbench.{function}("))
        .unwrap_or_else(|| panic!("no function {function}"));
    let (list, _) = rest.split_once(")\n").expect("an end");
    let name = |argument: &str| argument.split_whitespace().next().map(str::to_owned);
    list.split(',').filter_map(name).collect()
}

#[test]
fn every_argument_is_a_field_and_every_field_an_argument() {
    let fields = serde_json::to_value(Arguments::default()).expect("it is JSON");
    let fields: BTreeSet<String> = fields
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    for function in ["run", "start", "plan"] {
        let given: BTreeSet<String> = arguments(function).into_iter().collect();
        assert_eq!(given, fields, "{function}");
    }
}

#[test]
fn run_start_and_plan_take_the_same_in_the_same_order() {
    assert_eq!(arguments("run"), arguments("start"));
    assert_eq!(arguments("run"), arguments("plan"));
    assert_eq!(arguments("run").len(), 16);
}
