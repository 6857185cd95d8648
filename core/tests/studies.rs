//! The build of the files of studies, and its errors.

use std::{collections::BTreeSet, fs, path::Path};

use pgfsbench_core::study::builtin;
use serde_json::Value;

#[allow(dead_code)]
#[path = "../build.rs"]
mod build;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../studies"))
}

/// A new one needs no line of code.
#[test]
fn each_file_of_the_folder_comes_with_pgfsbench() {
    let files = fs::read_dir(folder()).expect("the folder");
    let names = files.map(|file| file.expect("a file").file_name().into_string());
    let names: BTreeSet<String> = names
        .filter_map(|name| Some(name.ok()?.strip_suffix(".json")?.to_owned()))
        .collect();
    let studies = builtin::all().expect("studies").into_iter();
    let known: BTreeSet<String> = studies.map(|study| study.study).collect();
    assert_eq!(known, names);
    assert!(known.contains("heron-2010"), "{known:?}");
}

#[test]
fn a_file_that_is_no_study_stops_the_build() {
    let files = build::files(folder()).expect("the folder");
    for (name, text) in &files {
        build::check(name, text).unwrap_or_else(|why| panic!("{why}"));
        let whole: Value = serde_json::from_str(text).expect("JSON");
        for path in ["/title", "/claims/0/says", "/questions/0/full"] {
            let mut without = whole.clone();
            let (parent, last) = path.rsplit_once('/').expect("a path");
            let parent = without.pointer_mut(parent).and_then(Value::as_object_mut);
            assert!(parent.expect("an object").remove(last).is_some(), "{path}");
            let why = build::check(name, &without.to_string()).expect_err(path);
            let said = format!("studies/{name} is no study: missing field `{last}`");
            assert!(why.starts_with(&said), "{why}");
        }
        let mut other = whole.clone();
        other["titel"] = "t".into();
        let why = build::check(name, &other.to_string()).expect_err("a field");
        assert!(why.contains("unknown field `titel`"), "{why}");
        let why = build::check("another.json", text).expect_err("its name");
        assert!(why.contains("another.json"), "{why}");
    }
}
