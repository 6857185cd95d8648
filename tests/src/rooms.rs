//! The list of tests of `make quick`, tests/rooms, fits the tree.

use std::path::Path;

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
    for house in ["src", "core/src", "helper/src"] {
        let rooms = std::fs::read_dir(root.join(house)).expect(house).flatten();
        for room in rooms.filter(|room| room.path().is_dir()) {
            let room = format!("{house}/{}", room.file_name().display());
            let is_there = lines
                .iter()
                .any(|(path, _)| path.trim_end_matches('/') == room);
            assert!(is_there, "{room}");
        }
    }
}
