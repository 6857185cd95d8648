//! `tools/check arrows`: files import only what stands on a lower floor, and form no circle.
//!
//! The floors stand in one place, the head of each crate's root (`lib.rs` or `main.rs`), from the roof down. A room is a folder, or
//! a file that stands beside the folders. A file and the folder of its name are one thing. Who imports a name from a room's face
//! imports the file that the face has it from.

mod house;
mod imports;
mod literals;
mod words;

use house::House;
use pgfsbench_core::workload;
use std::{collections::BTreeSet, path::Path};
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

/// The floors of the core, from the ground up, on which a room may be a single file.
const LOW_FLOORS: usize = 2;

/// Rooms of the core that are a single file on a higher floor: each is a few functions and types with nothing beside it but tests, so that a folder
/// would only hide it.
const SINGLE_FILES: [&str; 6] = [
    "environment.rs",
    "io_rings.rs",
    "knee.rs",
    "pacing.rs",
    "seconds.rs",
    "server_setting.rs",
];

#[test]
fn single_files_of_the_core_are_low_or_listed() {
    let faults = house("core/src").single_files(LOW_FLOORS, &SINGLE_FILES);
    assert_none("core/src", &faults);
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
const BESIDE_WORKLOADS: [&str; 4] = [
    // Fast ways to fill a table, which need unsafe code.
    "pg/load.rs",
    // Facts and findings of scans.
    "finding/facts/scan.rs",
    "finding/scan.rs",
    // What such facts are made of.
    "run/queries/facts.sql",
];

/// Files where "fsync" is the setting of PostgreSQL.
const FSYNC_IS_A_SETTING: [&str; 4] = [
    "api/doctor/queries/server.sql",
    "doctor/server.rs",
    "process/coordinator/on_target/put.rs",
    "target/carried_over.rs",
];

/// Files where "commit" is a mount option.
const COMMIT_IS_A_MOUNT_OPTION: [&str; 2] = ["helper/effective.rs", "helper/options/mount.rs"];

/// Files that may name a table of one workload.
const NAME_TABLES: [&str; 3] = [
    // Findings of scans say where each scan is.
    "finding/scan.rs",
    // Facts of scans are read from their rows.
    "run/queries/facts.sql",
    // Knees of a study's scans.
    "store/queries/study_knees.sql",
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
    let tables = workload::tables().into_iter();
    let tables = tables.map(|table| format!("fsbench.{}", table.name));
    let rules = [
        Rule::new("workload", &BESIDE_WORKLOADS, words),
        Rule::new("workload", &NAME_TABLES, tables.collect()),
        Rule::new(
            "workload",
            &FSYNC_IS_A_SETTING,
            vec!["\"fsync\"".to_owned()],
        ),
        Rule::new(
            "workload",
            &COMMIT_IS_A_MOUNT_OPTION,
            vec!["\"commit\"".to_owned()],
        ),
    ];
    for rule in &rules {
        let mut with_words = BTreeSet::new();
        for (root, house) in &houses {
            assert_none(root, &house.words_out_of_place(rule));
            with_words.extend(house.files_with_words(rule));
        }
        assert_none("tests/arrows", &rule.stale(&with_words));
    }
}

/// docs/build.md and the head of src/lib.rs say where it is.
#[test]
fn unsafe_code_is_allowed_in_pg_and_entry_only() {
    let rule = Rule::new("pg", &["entry.rs"], vec!["allow(unsafe_code)".to_owned()]);
    let house = house("src");
    assert_none("src", &house.words_out_of_place(&rule));
    assert_none("tests/arrows", &rule.stale(&house.files_with_words(&rule)));
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
    // Tests that are in another file end nothing.
    let roof = (
        "roof/mod.rs",
        "#[cfg(test)]\nmod tests;\n\nconst T: &str = \"tpcb\";\n",
    );
    assert_eq!(
        small_tree(&[roof, middle, GROUND])
            .1
            .words_out_of_place(&rule),
        ["roof/mod.rs:4: \"tpcb\" belongs to middle"]
    );
}

#[test]
fn a_word_out_of_place_is_seen_in_a_file_of_sql() {
    let (roof, query) = (("roof/mod.rs", ""), "roof/queries/a.sql");
    let text = "-- fsbench.scan, 'tpcb'\nSELECT 'tpcb' -- 'tpcb'\nFROM fsbench.scan\n";
    let own = ("middle/queries/b.sql", text);
    let words = ["\"tpcb\"", "fsbench.scan"].map(str::to_owned);
    let rule = Rule::new("middle", &[], words.to_vec());
    let (_place, house) = small_tree(&[roof, (query, text), MIDDLE, own, GROUND]);
    assert_eq!(
        house.words_out_of_place(&rule),
        [
            "roof/queries/a.sql:2: \"tpcb\" belongs to middle",
            "roof/queries/a.sql:3: \"fsbench.scan\" belongs to middle"
        ]
    );
    let rule = Rule::new("middle", &["roof/queries/a.sql"], words.to_vec());
    assert_eq!(house.words_out_of_place(&rule), [""; 0]);
}

#[test]
fn a_file_that_is_excused_and_has_no_such_word_is_a_fault() {
    let excused = &["roof/mod.rs", "roof/gone.rs", "ground.rs"];
    let rule = Rule::new("middle", excused, vec!["tpcb".into()]);
    let roof = ("roof/mod.rs", "const NAME: &str = \"tpcb\";\n");
    let (_place, house) = small_tree(&[roof, MIDDLE, GROUND]);
    assert_eq!(
        rule.stale(&house.files_with_words(&rule)),
        [
            "roof/gone.rs: may have words of middle, and has none",
            "ground.rs: may have words of middle, and has none"
        ]
    );
}

/// Most lines of a literal of SQL.
const FEW_LINES: usize = 6;

#[test]
fn sql_of_more_than_a_few_lines_is_in_files() {
    assert_none("src", &house("src").long_sql(FEW_LINES));
}

#[test]
fn a_long_literal_of_sql_is_named_with_its_line() {
    let sql = "\"SELECT 1, \\\n  2, \\\n  3\"";
    let roof = format!(
        "fn f() {{\n    g(format!({sql}));\n    g(\"a\\\n b\\\n c\");\n}}\n#[cfg(test)]\nmod tests {{\n    const T: &str = {sql};\n}}\n"
    );
    let (_place, house) = small_tree(&[("roof/mod.rs", &roof), MIDDLE, GROUND]);
    assert_eq!(
        house.long_sql(2),
        ["roof/mod.rs:2: SQL of 3 lines: put it into a file in queries/"]
    );
    assert_eq!(house.long_sql(3), [""; 0]);
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
    let b = ("middle/b.rs", "\nuse super::a;\n");
    assert_eq!(
        faults_in(&[("roof/mod.rs", ""), MIDDLE, a, b, GROUND]),
        ["circle: middle/a.rs:1 -> middle/b.rs:2 -> middle/a.rs"]
    );
}

/// A room's face shows what its files have: who imports that from the face imports the file.
#[test]
fn a_circle_by_way_of_the_face_of_a_room_is_seen() {
    let face = (
        "middle/mod.rs",
        "mod a;\nmod b;\npub use a::Thing as Shown;\n",
    );
    let a = ("middle/a.rs", "use super::b;\npub struct Thing;\n");
    for (line, by_face) in [
        (1, "use super::Shown;\n"),
        (1, "use crate::middle::{Shown as Other};\n"),
        (1, "fn f() -> super::Shown {}\n"),
        (
            3,
            "use crate::middle;\nfn f() {\n    middle::Shown::new();\n}\n",
        ),
    ] {
        let b = ("middle/b.rs", by_face);
        assert_eq!(
            faults_in(&[("roof/mod.rs", ""), face, a, b, GROUND]),
            [format!(
                "circle: middle/a.rs:1 -> middle/b.rs:{line} -> middle/a.rs"
            )],
            "{by_face}"
        );
    }
    let b = ("middle/b.rs", "use super::Else;\nfn f(a: Shown) {}\n");
    assert_eq!(
        faults_in(&[("roof/mod.rs", ""), face, a, b, GROUND]),
        [""; 0]
    );
}

#[test]
fn a_name_that_goes_through_several_faces_is_followed_to_its_file() {
    let roof = ("roof/mod.rs", "pub use deep::Thing;\nmod deep;\n");
    let deep = ("roof/deep.rs", "pub use inner::Thing;\nmod inner;\n");
    let inner = (
        "roof/deep/inner.rs",
        "use crate::roof::other;\npub struct Thing;\n",
    );
    let other = ("roof/other.rs", "use super::Thing;\n");
    assert_eq!(
        faults_in(&[roof, deep, inner, other, MIDDLE, GROUND]),
        ["circle: roof/deep/inner.rs:1 -> roof/other.rs:1 -> roof/deep/inner.rs"]
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

#[test]
fn a_single_file_above_the_low_floors_is_a_fault_unless_it_is_listed() {
    let with_part = ("roof.rs", "mod part;\n");
    let part = ("roof/part.rs", "");
    let (single, its_tests) = (("middle.rs", ""), ("middle/tests.rs", ""));
    let (_place, house) = small_tree(&[with_part, part, single, its_tests, GROUND]);
    let fault = "middle.rs: stands beside the rooms: make it a folder, or put it into one";
    assert_eq!(house.single_files(1, &[]), [fault]);
    assert_eq!(house.single_files(1, &["middle.rs"]), [""; 0]);
    assert_eq!(house.single_files(2, &[]), [""; 0]);
    assert_eq!(
        house.single_files(2, &["middle.rs"]),
        ["middle.rs: is listed, and no single file up there"]
    );
}

/// `make quick` finds no test for a room that has no line, and runs nothing for a name that no module has.
#[test]
fn each_room_has_integration_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(root.join("tests/rooms")).expect("tests/rooms");
    let lines: Vec<(&str, Vec<&str>)> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').expect("a path and names"))
        .map(|(path, names)| (path, names.split_whitespace().collect()))
        .collect();
    for (path, names) in &lines {
        let with_ending = root.join(format!("{path}.rs"));
        assert!(root.join(path).exists() || with_ending.exists(), "{path}");
        assert!(!names.is_empty(), "{path} has no tests");
        for name in names {
            let (module, test) = name.rsplit_once("::").expect("a module and `::`");
            let file = root.join(format!("tests/it/{}.rs", module.replace("::", "/")));
            let code = std::fs::read_to_string(&file);
            let code = code.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert!(code.contains(&format!("fn {test}")), "there is no {name}");
        }
    }
    for house in ["src", "helper/src"] {
        let rooms = std::fs::read_dir(root.join(house)).expect(house).flatten();
        for room in rooms.filter(|room| room.path().is_dir()) {
            let room = format!("{house}/{}/", room.file_name().display());
            assert!(lines.iter().any(|(path, _)| **path == room), "{room}");
        }
    }
}
