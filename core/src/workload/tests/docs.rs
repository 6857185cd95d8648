//! docs/ names all workloads and their options.

use super::*;

const RUNS: &str = include_str!("../../../../docs/runs.md");
const PAGES: [&str; 3] = [
    RUNS,
    include_str!("../../../../docs/scans.md"),
    include_str!("../../../../docs/workloads.md"),
];

#[test]
fn each_workload_is_in_the_table_of_parameters() {
    for workload in ALL {
        let name = format!("`{}`", workload.as_str());
        assert!(RUNS.contains(&name), "{name}");
    }
}

#[test]
fn each_option_is_on_a_page_and_has_its_help() {
    for workload in ALL {
        let own = workload.own_options().iter().map(|option| option.name);
        for name in own.chain(workload.shared_options().iter().copied()) {
            let quoted = format!("`{name}`");
            assert!(PAGES.iter().any(|page| page.contains(&quoted)), "{name}");
        }
        for option in workload.own_options() {
            let help = option.help;
            let is_phrase = help.starts_with(|c: char| c.is_lowercase()) && !help.ends_with('.');
            assert!(is_phrase, "{}: {help}", option.name);
        }
    }
}
