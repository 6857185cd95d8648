//! `tools/check arrows`: files import only what stands on a lower floor, and form no circle.
//!
//! The floors stand in one place, the head of each crate's root (`lib.rs` or `main.rs`), from the roof down. A room is a folder, or
//! a file that stands beside the folders.

mod house;
mod imports;
mod words;

use house::House;
use std::path::Path;
use words::Rule;

/// The tree below this directory of the repository.
fn house(root: &str) -> House {
    House::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(root))
}

fn assert_none(root: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{root}:\n{}", faults.join("\n"));
}

#[test]
fn the_extension_keeps_its_floors() {
    assert_none("src", &house("src").faults());
}

#[test]
fn no_file_of_the_extension_stands_beside_the_rooms() {
    assert_none("src", &house("src").flat_files());
}

#[test]
fn the_core_keeps_its_floors() {
    assert_none("core/src", &house("core/src").faults());
}

#[test]
fn the_helper_keeps_its_floors() {
    assert_none("helper/src", &house("helper/src").faults());
}

/// Words that tell one workload from the others, beside the names of their folders.
const OF_WORKLOADS: [&str; 7] = [
    "tpcb",
    "select-only",
    "simple-update",
    "pgbench_accounts",
    "pgbench_branches",
    "pgbench_history",
    "\"scan\"",
];

/// Files that may have such words beside the rooms of workloads.
const BESIDE_WORKLOADS: [&str; 3] = [
    // Fast ways to fill a table, which need unsafe code.
    "pg/load.rs",
    // Facts and findings of scans.
    "finding/facts/scan.rs",
    "finding/scan.rs",
];

#[test]
fn no_workload_is_known_by_name_outside_the_rooms_of_workloads() {
    let houses = ["src", "core/src"].map(|root| (root, house(root)));
    let folders = houses
        .iter()
        .flat_map(|(_, house)| house.folders_of("workload"));
    let names = folders.flat_map(|name| [format!("workload::{name}"), format!("fsbench_{name}")]);
    let words: Vec<String> = OF_WORKLOADS
        .map(str::to_owned)
        .into_iter()
        .chain(names)
        .collect();
    assert!(words.len() > OF_WORKLOADS.len() + 6, "{words:?}");
    let rule = Rule::new("workload", &BESIDE_WORKLOADS, words);
    for (root, house) in &houses {
        assert_none(root, &house.words_out_of_place(&rule));
    }
}

#[test]
fn a_word_out_of_place_is_named_with_its_line() {
    let roof = (
        "roof/mod.rs",
        "// tpcb in a comment\nfn f() {\n    g(\"tpcb\");\n}\n#[cfg(test)]\nmod tests {\n    const T: &str = \"tpcb\";\n}\n",
    );
    let middle = ("middle/mod.rs", "const NAME: &str = \"tpcb\";\n");
    let rule = Rule::new("middle", &[], vec!["tpcb".into()]);
    assert_eq!(
        small_tree(&[roof, middle, GROUND])
            .1
            .words_out_of_place(&rule),
        ["roof/mod.rs:3: \"tpcb\" belongs to middle"]
    );
}

/// A small tree: `lib.rs` with two floors, and these files beside it.
fn small_tree(files: &[(&str, &str)]) -> (tempfile::TempDir, House) {
    let place = tempfile::tempdir().expect("a directory can be made");
    let root = "//! Floors, from the roof down:\n//!\n//! ```text\n//! roof\n//! middle\n//! ground\n//! ```\n";
    for (name, text) in [("lib.rs", root)].iter().chain(files) {
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let house = House::read(place.path());
    (place, house)
}

fn faults_in(files: &[(&str, &str)]) -> Vec<String> {
    small_tree(files).1.faults()
}

const MIDDLE: (&str, &str) = ("middle/mod.rs", "use crate::ground;\n");
const GROUND: (&str, &str) = ("ground.rs", "pub fn stand() {}\n");

#[test]
fn a_tree_in_order_has_no_fault() {
    let roof = ("roof/mod.rs", "use crate::{ground, middle};\n");
    assert_eq!(faults_in(&[roof, MIDDLE, GROUND]), [""; 0]);
}

#[test]
fn an_arrow_that_is_turned_around_is_named_with_its_line() {
    let turned = ("ground.rs", "\nfn f() {\n    crate::roof::fall();\n}\n");
    let roof = ("roof/mod.rs", "pub fn fall() {}\n");
    assert_eq!(
        faults_in(&[roof, MIDDLE, turned]),
        ["ground.rs:3: ground may not import roof (roof)"]
    );
}

#[test]
fn an_import_within_braces_and_one_by_super_are_seen() {
    let nested = (
        "middle/a.rs",
        "use crate::{\n    ground::{self, stand},\n    roof::deep::{Thing as Other},\n};\nuse super::super::roof;\n",
    );
    let deep = ("roof/deep.rs", "pub struct Thing;\n");
    let roof = ("roof/mod.rs", "pub mod deep;\n");
    assert_eq!(
        faults_in(&[roof, deep, MIDDLE, nested, GROUND]),
        [
            "middle/a.rs:3: middle may not import roof (roof/deep)",
            "middle/a.rs:5: middle may not import roof (roof)"
        ]
    );
}

#[test]
fn files_of_one_room_that_import_each_other_are_a_circle() {
    let a = ("middle/a.rs", "use super::b;\n");
    let b = ("middle/b.rs", "use super::a;\n");
    assert_eq!(
        faults_in(&[("roof/mod.rs", ""), MIDDLE, a, b, GROUND]),
        ["circle: middle/a -> middle/b -> middle/a"]
    );
}

#[test]
fn a_comment_a_string_and_a_test_are_no_imports() {
    let harmless = (
        "ground.rs",
        "// crate::roof\nconst TEXT: &str = \"crate::roof\";\n#[cfg(test)]\nmod tests {\n    use crate::roof;\n}\n",
    );
    assert_eq!(faults_in(&[("roof/mod.rs", ""), MIDDLE, harmless]), [""; 0]);
}

#[test]
fn a_room_without_a_floor_and_a_floor_without_a_room_are_faults() {
    let cellar = ("cellar/mod.rs", "");
    assert_eq!(
        faults_in(&[cellar, MIDDLE, GROUND]),
        [
            "cellar: has no floor in lib.rs",
            "lib.rs: there is no room roof"
        ]
    );
}

#[test]
fn a_flat_file_above_the_ground_floor_is_a_fault() {
    assert_eq!(
        small_tree(&[("roof.rs", ""), MIDDLE, GROUND])
            .1
            .flat_files(),
        ["roof.rs: stands beside the rooms: make it a folder, or put it into one"]
    );
}
