//! The arguments of functions stand once in SQL and once in a struct, which agree both ways.

use std::{collections::BTreeSet, fs, path::Path};

use pgfsbench_core::{
    helper::Prepare, spec::Arguments, study::definition::Variant, target::parameter::PARAMETERS,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The names of a function's arguments, by its CREATE FUNCTION.
fn arguments(function: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sql/schema/3_functions.sql");
    let text = fs::read_to_string(file).expect("the functions are there");
    let (_, rest) = text
        .split_once(&format!("CREATE FUNCTION fsbench.{function}("))
        .unwrap_or_else(|| panic!("no function {function}"));
    let (list, _) = rest.split_once("RETURNS").expect("an end");
    names(list)
}

/// The first word of each part of a list.
fn names(list: &str) -> Vec<String> {
    let name = |argument: &str| argument.split_whitespace().next().map(str::to_owned);
    list.split(',').filter_map(name).collect()
}

fn fields_of(value: &impl serde::Serialize) -> BTreeSet<String> {
    let fields = serde_json::to_value(value).expect("it is JSON");
    let fields = fields.as_object().expect("an object");
    fields.keys().cloned().collect()
}

#[test]
fn every_argument_is_a_field_and_every_field_an_argument() {
    let fields = fields_of(&Arguments::default());
    for function in ["run", "start", "plan"] {
        let given: BTreeSet<String> = arguments(function).into_iter().collect();
        assert_eq!(given, fields, "{function}");
    }
}

#[test]
fn run_start_and_plan_take_the_same_in_the_same_order() {
    assert_eq!(arguments("run"), arguments("start"));
    assert_eq!(arguments("run"), arguments("plan"));
    assert_eq!(arguments("run").len(), 25);
}

#[test]
fn a_target_is_given_by_its_columns() {
    let columns: BTreeSet<String> = PARAMETERS.iter().map(|p| p.name.to_owned()).collect();
    for (function, own) in [("create_target", "try"), ("alter_target", "reset")] {
        let given: BTreeSet<String> = arguments(function).into_iter().collect();
        let mut wanted = columns.clone();
        wanted.extend(["target".to_owned(), own.to_owned()]);
        assert_eq!(given, wanted, "{function}");
    }
}

/// An experiment makes its targets by a statement that has the arguments by their places, and their names and types in a list.
#[test]
fn targets_of_an_experiment_are_given_all_arguments() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/api/queries/create_target.sql");
    let text = fs::read_to_string(file).expect("the statement is there");
    let (call, types) = text.split_once("FROM ").expect("a FROM");
    let (_, call) = call.split_once("($1, ").expect("a call");
    let called: Vec<String> = names(call.trim_end().trim_end_matches(')'))
        .iter()
        .map(|name| name.trim_start_matches("a.").to_owned())
        .collect();
    let (_, types) = types.split_once("AS a (").expect("a list");
    let arguments = arguments("create_target");
    let wanted: Vec<&String> = arguments
        .iter()
        .filter(|argument| !["target", "try"].contains(&argument.as_str()))
        .collect();
    assert_eq!(called.iter().collect::<Vec<_>>(), wanted);
    assert_eq!(names(types).iter().collect::<Vec<_>>(), wanted);
}

/// Parameters of targets that are no fields of a study's variant, with the reasons.
const NOT_IN_VARIANTS: &[(&str, &[&str])] = &[
    (
        "they are arguments of fsbench.study()",
        &[
            "device",
            "devices",
            "image_size",
            "image_count",
            "log_device",
            "power_loss_protected",
        ],
    ),
    ("a variant has second_build", &["bindir"]),
    (
        "a variant names the target that has it",
        &["directory", "connection"],
    ),
    (
        "no study compares it",
        &["log_devices", "ssd_state", "initial_sync", "image_sparse"],
    ),
];

/// Parameters of targets that are no fields of the helper's request, with the reasons.
const NOT_IN_REQUESTS: &[(&str, &[&str])] = &[
    (
        "the request has storage",
        &[
            "device",
            "devices",
            "image_size",
            "image_count",
            "image_sparse",
        ],
    ),
    (
        "the request has log",
        &["log_device", "log_devices", "log_size"],
    ),
    (
        "the helper makes nothing there",
        &["directory", "connection"],
    ),
    (
        "the run drops them by a request of its own",
        &["drop_caches"],
    ),
    (
        "the server of the run has it",
        &["settings", "bindir", "data_checksums"],
    ),
    ("it is declared only", &["power_loss_protected"]),
];

/// Whether a type that refuses unknown fields has one of this name.
fn has_field<T: DeserializeOwned>(name: &str) -> bool {
    let read = serde_json::from_value::<T>(Value::from_iter([(name, Value::Null)]));
    !read.is_err_and(|error| error.to_string().starts_with("unknown field"))
}

/// Each parameter is a field of `T` or one of the exceptions, not both.
fn check_parameters_of<T: DeserializeOwned>(of: &str, exceptions: &[(&str, &[&str])]) {
    for parameter in PARAMETERS {
        let name = parameter.name;
        let exception = exceptions.iter().find(|(_, names)| names.contains(&name));
        let has_field = has_field::<T>(name);
        assert_ne!(
            has_field,
            exception.is_some(),
            "{name} in {of}: {exception:?}"
        );
    }
    for name in exceptions.iter().flat_map(|(_, names)| names.iter()) {
        assert!(PARAMETERS.iter().any(|p| p.name == *name), "{name}");
    }
}

#[test]
fn a_parameter_of_targets_is_known_to_studies_and_requests_or_an_exception() {
    check_parameters_of::<Variant>("a study's variant", NOT_IN_VARIANTS);
    check_parameters_of::<Prepare>("the helper's request", NOT_IN_REQUESTS);
}
