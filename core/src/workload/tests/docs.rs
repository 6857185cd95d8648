//! docs/parameters.md names all workloads and their options.

use super::*;

const PAGE: &str = include_str!("../../../../docs/parameters.md");

#[test]
fn each_workload_is_in_the_table_of_parameters() {
    for workload in ALL {
        let name = format!("`{}`", workload.as_str());
        assert!(PAGE.contains(&name), "{name}");
    }
}

#[test]
fn each_option_is_on_a_page() {
    for workload in ALL {
        let own = workload.own_options().iter().map(|option| option.name);
        for name in own.chain(workload.shared_options().iter().copied()) {
            let quoted = format!("`{name}`");
            assert!(PAGE.contains(&quoted), "{name}");
        }
    }
}
