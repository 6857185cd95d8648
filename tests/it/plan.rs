//! A run is carried out by its plan: the steps that it has stored are those that `fsbench.plan()` has shown for the same arguments.

use crate::common::{
    create_remote_target, create_target, ending, execute, owned_directory, row, rows, run, server,
    wait_for_phase,
};
use crate::directory_target::Place;
use crate::helper::runs::on_image;
use pgfsbench_tests::{Leaves, TestServer};
use postgres::Client;
use std::fs;

/// Arguments of short runs of every workload that make each step that a run here can have.
const HERE: &[&str] = &[
    "workload => 'tpcb', scale => 1, clients => 2, transactions => 20",
    "workload => 'tpcb', scale => 1, clients => 1, duration => '300 ms', warmup => '300 ms', options => '{\"maintenance\": true}'",
    "workload => 'tpcb-simple-update', scale => 1, clients => 1, transactions => 20, keep => true",
    "workload => 'select-only', scale => 1, clients => 1, duration => '300 ms', warmup => '100 ms'",
    "workload => 'commit', clients => 2, duration => '300 ms', warmup => '300 ms', rate => 100, label => 'x'",
    "workload => 'fsync', duration => '1 s', options => '{\"methods\": [\"fdatasync\"], \"writers\": [1, 2]}'",
    "workload => 'scan', scale => 1, options => '{\"degrees\": [1], \"repeats\": 1}'",
];

/// Arguments of runs on a target, where data may be loaded once, copied, or loaded there, each with whether it is the first with its data.
const THERE: &[(&str, bool)] = &[
    (
        "workload => 'tpcb', scale => 1, clients => 1, transactions => 20, settings => '{\"work_mem\": \"7MB\"}'",
        true,
    ),
    (
        "workload => 'tpcb', scale => 1, clients => 1, transactions => 20, options => '{\"cache\": \"cold\", \"maintenance\": true}'",
        false,
    ),
    (
        "workload => 'select-only', scale => 1, clients => 1, transactions => 20, options => '{\"data\": \"loaded\"}'",
        false,
    ),
    (
        "workload => 'tpcb-simple-update', scale => 1, clients => 1, duration => '300 ms', warmup => '300 ms', options => '{\"crash\": true}'",
        false,
    ),
    (
        "workload => 'commit', clients => 1, transactions => 20, options => '{\"crash\": true}'",
        false,
    ),
    (
        "workload => 'commit', clients => 1, transactions => 20",
        false,
    ),
    (
        "workload => 'fsync', duration => '1 s', options => '{\"methods\": [\"fdatasync\"], \"writers\": [1]}'",
        false,
    ),
    (
        "workload => 'scan', scale => 1, options => '{\"degrees\": [1], \"repeats\": 1}'",
        true,
    ),
    (
        "workload => 'tpcc-like', scale => 1, clients => 1, transactions => 5, options => '{\"foreign_keys\": true}'",
        true,
    ),
    (
        "workload => 'tpcc-like', scale => 1, clients => 1, transactions => 5, options => '{\"foreign_keys\": true}'",
        false,
    ),
    (
        "workload => 'tpcc-like', scale => 1, clients => 1, transactions => 5, options => '{\"foreign_keys\": false}'",
        true,
    ),
    (
        "workload => 'tpcc-like', scale => 1, clients => 1, transactions => 5, options => '{\"foreign_keys\": false}'",
        false,
    ),
];

fn planned(client: &mut Client, arguments: &str) -> Vec<String> {
    rows(
        client,
        &format!("SELECT who, action FROM fsbench.plan({arguments}) ORDER BY step"),
    )
}

fn begun(client: &mut Client, run: &str) -> Vec<String> {
    rows(
        client,
        &format!(
            "SELECT s->>'who', s->>'action' FROM fsbench.result, jsonb_array_elements(steps) WITH ORDINALITY AS t (s, n) \
             WHERE run_id = {run} ORDER BY n"
        ),
    )
}

/// Makes a run, and gives the steps that were planned.
fn keeps_to_its_plan(server: &TestServer, client: &mut Client, arguments: &str) -> Vec<String> {
    let planned = planned(client, arguments);
    assert!(planned.len() > 4, "{arguments}: {planned:?}");
    let run = run(client, arguments);
    assert_eq!(begun(client, &run), planned, "{arguments}");
    let in_order = format!(
        "SELECT bool_and(at >= before) FROM (SELECT (s->>'started_ms')::float8 AS at, \
             coalesce(lag((s->>'started_ms')::float8) OVER (ORDER BY n), 0) AS before \
           FROM fsbench.result, jsonb_array_elements(steps) WITH ORDINALITY AS t (s, n) WHERE run_id = {run}) s"
    );
    assert_eq!(row(client, &in_order), "t", "{arguments}");
    assert!(!server.log().contains("is not as planned"), "{arguments}");
    planned
}

#[test]
fn runs_do_what_was_planned() {
    let server = TestServer::with_extension(&[]);
    what_is_done_here_is_what_was_planned(&server);
    server.start_anew();
    what_is_done_on_a_target_is_what_was_planned(&server);
    server.start_anew();
    a_run_that_fails_tells_how_far_it_came(&server);
    what_another_server_does_is_what_was_planned(&server);
}

fn what_is_done_here_is_what_was_planned(server: &TestServer) {
    let mut client = server.connect("postgres");
    for arguments in HERE {
        keeps_to_its_plan(server, &mut client, arguments);
    }
}

fn what_is_done_on_a_target_is_what_was_planned(server: &TestServer) {
    let mut client = server.connect("postgres");
    let place = owned_directory("pgfsbench-target.");
    create_target(&mut client, "there", place.path());
    let loads = |planned: &[String]| planned.contains(&"coordinator|load the data once".into());
    for (arguments, is_first) in THERE {
        let arguments = format!("'there', {arguments}");
        let planned = keeps_to_its_plan(server, &mut client, &arguments);
        assert_eq!(loads(&planned), *is_first, "{arguments}");
    }
    server.nothing_is_left_at_once();
}

fn what_another_server_does_is_what_was_planned(here: &TestServer) {
    let there = server(&[]);
    let mut client = here.connect("postgres");
    create_remote_target(&mut client, "far", &there);
    for arguments in [
        "'far', scale => 1, clients => 1, transactions => 20",
        "'far', 'fsync', duration => '1 s', options => '{\"methods\": [\"fdatasync\"], \"writers\": [1]}'",
    ] {
        let planned = keeps_to_its_plan(here, &mut client, arguments);
        let start = ["connect", "look", "start"].map(|step| format!("coordinator|{step}"));
        assert_eq!(planned[..3], start, "{arguments}");
        let end = planned.iter().rev().take(2).map(String::as_str);
        let dropped = if planned.len() > 10 {
            "server|drop the work database"
        } else {
            "server|remove the file"
        };
        assert_eq!(end.collect::<Vec<_>>(), ["coordinator|collect", dropped]);
    }
    there.nothing_is_left_at_once();
}

#[test]
fn what_the_helper_does_for_a_run_is_what_was_planned() {
    let test = "what_the_helper_does_for_a_run_is_what_was_planned";
    let Some(scene) = on_image(test, ", drop_caches => true") else {
        return;
    };
    let mut client = scene.bench.client();
    for further in [
        "",
        ", options => '{\"cache\": \"cold\"}'",
        ", options => '{\"crash\": true}'",
    ] {
        let arguments = format!("'ext4', scale => 1, clients => 1, transactions => 20{further}");
        let planned = keeps_to_its_plan(&scene.bench.server, &mut client, &arguments);
        for step in [
            "mkfs",
            "mount",
            "drop caches",
            "unmount",
            "detach",
            "remove image",
        ] {
            let step = format!("helper|{step}");
            assert!(
                planned.contains(&step),
                "{arguments}: no {step} in {planned:?}"
            );
        }
    }
    scene.bench.lab.nothing_is_left_at_once();
}

/// The lines of a settings file, without the values that name one run.
fn settings(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|line| match line.split_once(" = ") {
        Some((name @ ("cluster_name" | "unix_socket_directories"), _)) => name,
        _ => line,
    });
    lines.collect()
}

/// Long runs, each with a line that only its server has.
const WITH_SETTINGS: &[(&str, &str)] = &[
    (
        "'here', 'scan', scale => 1, options => '{\"degrees\": [1, 3], \"repeats\": 1000}'",
        "max_parallel_workers = '3'",
    ),
    (
        "'here', scale => 1, clients => 3, duration => '5 min', warmup => '0', rate => 10, \
           settings => '{\"shared_buffers\": \"64MB\", \"work_mem\": \"7MB\"}'",
        "shared_buffers = '64MB'",
    ),
];

#[test]
fn the_settings_that_are_planned_are_those_that_are_written() {
    let place = Place::beside(
        server(&[
            ("shared_preload_libraries", "pg_stat_statements, pgfsbench"),
            ("max_wal_size", "2GB"),
        ]),
        r#", settings => '{"shared_buffers": "96MB", "wal_compression": "on"}'"#,
    );
    let mut client = place.server.connect("postgres");
    for (arguments, wanted) in WITH_SETTINGS {
        let planned = row(
            &mut client,
            &format!(
                "SELECT command FROM fsbench.plan({arguments}) WHERE action = 'write settings'"
            ),
        );
        let (_, planned) = planned
            .split_once(":\n")
            .expect("the file, and what is in it");
        let run = place.server.start_run(arguments);
        wait_for_phase(&mut client, "measure");
        let directory = fs::read_dir(place.path()).expect("it").flatten().next();
        let file = directory.expect("a server").path();
        let file = file.join("data/postgresql.auto.conf");
        let written = fs::read_to_string(file).expect("it was written");
        assert_eq!(settings(planned), settings(&written), "{arguments}");
        for line in [
            wanted,
            "shared_preload_libraries = 'pg_stat_statements, pgfsbench'",
            "max_wal_size = '2GB'",
            "wal_compression = 'on'",
        ] {
            assert!(settings(planned).contains(&line), "no {line}: {planned}");
        }
        execute(&mut client, &format!("SELECT fsbench.cancel({run})"));
        place.nothing_is_left("a cancelled run");
    }
}

fn a_run_that_fails_tells_how_far_it_came(server: &TestServer) {
    let mut client = server.connect("postgres");
    let arguments = "workload => 'commit', clients => 1, duration => '1 h', warmup => '0'";
    let planned = planned(&mut client, arguments);
    let run = row(&mut client, &format!("SELECT fsbench.start({arguments})"));
    wait_for_phase(&mut client, "measure");
    execute(&mut client, &format!("SELECT fsbench.cancel({run})"));
    let ended = ending(&mut client, &run);
    assert!(ended.starts_with("cancelled"), "{ended}");
    server.nothing_is_left("a cancelled run");
    let (last, before) = (
        planned.last(),
        planned.iter().take_while(|s| !s.contains("verify")),
    );
    let told: Vec<String> = before.chain(last).cloned().collect();
    assert_eq!(begun(&mut client, &run), told);
}
