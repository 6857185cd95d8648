//! docs/findings.md lists every finding, and none that there is not.

use super::*;

const PAGE: &str = include_str!("../../../../docs/findings.md");
const SOURCES: [&str; 15] = [
    include_str!("../../texts/finding/array.rs"),
    include_str!("../../texts/finding/crash.rs"),
    include_str!("../../texts/finding/data.rs"),
    include_str!("../../texts/finding/filesystem.rs"),
    include_str!("../../texts/finding/flush.rs"),
    include_str!("../../texts/finding/limits.rs"),
    include_str!("../../texts/finding/machine.rs"),
    include_str!("../../texts/finding/power_cut.rs"),
    include_str!("../../texts/finding/scan.rs"),
    include_str!("../../texts/finding/server.rs"),
    include_str!("../../texts/finding/settings.rs"),
    include_str!("../../texts/finding/storage.rs"),
    include_str!("../../texts/finding/syncs_and_commits.rs"),
    include_str!("../../texts/finding/tpcc_like.rs"),
    include_str!("../../texts/finding/window.rs"),
];
/// Codes that are chosen before the finding is made.
const CHOSEN: [&str; 7] = [
    "data_fits_shared_buffers",
    "data_fits_ram",
    "no_complete_checkpoint",
    "too_short",
    NOT_RELEASED,
    IMPORTED,
    NOT_POSITIVE,
];

fn codes() -> Vec<String> {
    let mut codes: Vec<String> = CHOSEN.map(str::to_owned).to_vec();
    for source in SOURCES {
        for made in source.split("Text::new(").skip(1) {
            let Some(code) = made.trim_start().strip_prefix('"') else {
                continue;
            };
            codes.extend(code.split('"').next().map(str::to_owned));
        }
    }
    codes.sort();
    codes.dedup();
    codes
}

/// The lines of its table, without its head.
fn table() -> impl Iterator<Item = &'static str> {
    PAGE.split("| code | severity | what it means |\n|---|---|---|\n")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next())
        .expect("a table")
        .lines()
}

#[test]
fn every_finding_has_a_weight() {
    let mut weighed: Vec<&str> = GROUPS.iter().flat_map(|g| g.codes).copied().collect();
    weighed.sort_unstable();
    assert_eq!(weighed, codes());
}

#[test]
fn the_page_lists_every_finding_in_the_order_of_weight() {
    let mut listed = Vec::new();
    for line in table() {
        let cell = line.split('|').nth(1).expect("a cell").trim();
        match cell.strip_prefix("**") {
            Some(group) => listed.push(group.trim_end_matches("**")),
            None => listed.extend(cell.split('`').skip(1).step_by(2)),
        }
    }
    let stated = GROUPS.iter().flat_map(|group| {
        let says = std::iter::once(group.says);
        says.chain(group.codes.iter().copied())
    });
    assert_eq!(listed, stated.collect::<Vec<_>>());
}
