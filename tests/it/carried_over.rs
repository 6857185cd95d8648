//! Properties of the asking server that a server on a target takes over.

use crate::common::{assert_refused, rows, run};
use crate::directory_target::Place;
use pgfsbench_core::target::{carried_over, cluster};
use pgfsbench_tests::{Leaves, TestServer, assert_columns, controldata, skip};
use std::fs;
use std::path::PathBuf;

const SHORT_RUN: &str = "target => 'here', scale => 1, clients => 1, transactions => 10, seed => 1";

#[test]
fn a_target_has_settings_and_wal_segments_of_the_server_that_asks_though_its_data_are_behind_a_link()
 {
    let place = Place::new("");
    each_setting_and_each_option_of_initdb_is_carried_over_or_there_is_a_reason(&place);
    place.server.put_data_behind_a_link();
    a_target_has_the_wal_segments_of_the_server_that_asks(&place);
    too_few_huge_pages_are_told_before_the_target_server_is_started(&place);
}

/// Each version of PostgreSQL brings new settings: each takes a decision here.
fn each_setting_and_each_option_of_initdb_is_carried_over_or_there_is_a_reason(
    server: &TestServer,
) {
    let names = rows(
        &mut server.connect("postgres"),
        "SELECT name FROM pg_settings WHERE name !~ '[.]' OR name LIKE 'pgfsbench.%'",
    );
    let is_listed =
        |name: &str| carried_over::COPIED.contains(&name) || carried_over::why_not(name).is_some();
    let unknown: Vec<_> = names.iter().filter(|name| !is_listed(name)).collect();
    assert!(names.len() > 300 && unknown.is_empty(), "{unknown:?}");

    let help = server.client_program("initdb").arg("--help").output();
    let help = String::from_utf8(help.expect("initdb").stdout).expect("text");
    let of_line = |line: &str| {
        let words = line.trim_start();
        let option = words.strip_prefix('-')?;
        let (short, rest) = option.split_at(1);
        let name = match words.find("--").filter(|at| *at <= 4) {
            Some(at) => &words[at + 2..],
            None => return rest.starts_with(' ').then(|| short.to_owned()),
        };
        let end = name.find([' ', '=', '[']).unwrap_or(name.len());
        Some(name[..end].to_owned())
    };
    let options: Vec<String> = help.lines().filter_map(of_line).collect();
    let is_listed = |name: &str| cluster::OPTIONS.iter().any(|(known, _)| *known == name);
    let unknown: Vec<_> = options.iter().filter(|name| !is_listed(name)).collect();
    assert!(options.len() > 25 && unknown.is_empty(), "{unknown:?}");
}

/// Data directories of prepared data.
fn prepared(place: &Place) -> Vec<PathBuf> {
    let kept = place.data().join("pgfsbench/pgsql_tmp_prepared_data");
    let entries = fs::read_dir(kept).expect("data were prepared").flatten();
    let data = entries.map(|entry| entry.path().join("data"));
    data.filter(|data| data.exists()).collect()
}

/// The data are loaded by a server of their own, behind the link, and copied.
fn a_target_has_the_wal_segments_of_the_server_that_asks(place: &Place) {
    for megabytes in [1, 64] {
        place.server.change_wal_segments(megabytes);
        let mut client = place.server.connect("postgres");
        let run = run(&mut client, SHORT_RUN);
        assert_columns(
            &mut client,
            &format!("FROM fsbench.result WHERE run_id = {run}"),
            &[("status", "done"), ("transactions_total", "10")],
        );
        let segment = format!("Bytes per WAL segment:                {}", megabytes << 20);
        let of_size = prepared(place)
            .iter()
            .filter(|data| controldata(data).contains(&segment))
            .count();
        assert_eq!(of_size, 1, "{segment}");
    }
    // The second run does not take data with the first segment size.
    assert_eq!(prepared(place).len(), 2);
    place.nothing_is_left("runs with other segments");
}

fn too_few_huge_pages_are_told_before_the_target_server_is_started(place: &Place) {
    let pages = fs::read_dir("/sys/kernel/mm/hugepages").map(|sizes| {
        let free = |size: fs::DirEntry| fs::read_to_string(size.path().join("free_hugepages"));
        let sizes = sizes.flatten().filter_map(|size| free(size).ok());
        sizes
            .filter_map(|text| text.trim().parse::<u64>().ok())
            .sum::<u64>()
    });
    if !pages.is_ok_and(|pages| pages < 8) {
        return skip(
            "carried_over::too_few_huge_pages_are_told_before_the_target_server_is_started",
            "this machine has huge pages, or cannot have any",
        );
    }
    let huge = r#"SELECT fsbench.alter_target('here', settings => '{"huge_pages": "on"}')"#;
    place.server.value(huge);
    assert_refused(
        &mut place.server.connect("postgres"),
        &format!("SELECT * FROM fsbench.run({SHORT_RUN})"),
        "53000",
        &["not enough huge pages", "vm.nr_hugepages"],
    );
    place.nothing_is_left("a server without huge pages");
}
