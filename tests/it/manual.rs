//! The manual page of pgfsbench-helper: it is well formed, and has every command and option.

use crate::helper::lab::helper;
use pgfsbench_tests::{program, skip};
use std::collections::BTreeSet;
use std::process::Command;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../helper/pgfsbench-helper.8");

/// Output of this program, which must succeed and complain of nothing.
fn printed(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        said(&output.stderr)
    );
    assert_eq!(said(&output.stderr), "", "{command:?}");
    said(&output.stdout)
}

#[test]
fn the_page_is_well_formed() {
    let test = "the_page_is_well_formed";
    let mut checkers = Vec::new();
    if let Some(groff) = program("groff") {
        let mut groff = Command::new(groff);
        groff.args(["-man", "-Tutf8", "-ww", "-z", PAGE]);
        checkers.push(groff);
    }
    if let Some(mandoc) = program("mandoc") {
        let mut mandoc = Command::new(mandoc);
        mandoc.args(["-T", "lint", "-W", "warning", PAGE]);
        checkers.push(mandoc);
    }
    if checkers.is_empty() {
        return skip(test, "there is neither groff nor mandoc");
    }
    for mut checker in checkers {
        assert_eq!(printed(&mut checker), "", "{checker:?}");
    }
}

/// The first words of the lines between a heading and an empty line.
fn first_words(help: &str, heading: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_page_has_every_command_and_option() {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let page = page.replace("\\-", "-");
    let commands = first_words(&printed(Command::new(helper()).arg("--help")), "Commands:");
    assert!(commands.len() > 10, "{commands:?}");
    let mut words: BTreeSet<String> = commands.iter().cloned().collect();
    for command in commands.iter().filter(|command| *command != "help") {
        let help = printed(Command::new(helper()).args([command, "--help"]));
        let options = help
            .split_whitespace()
            .filter(|word| word.starts_with("--"))
            .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
        words.extend(options.map(str::to_owned));
    }
    assert!(words.contains("--allow-images"), "{words:?}");
    let known: BTreeSet<&str> = page
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .collect();
    let missing: Vec<_> = words
        .iter()
        .filter(|word| !known.contains(word.as_str()))
        .collect();
    assert!(missing.is_empty(), "the manual page has not {missing:?}");
}
