//! The helper's messages to people: its log, its output, and its complaints about its input.

use super::bench::{Bench, ask, wait_for_job};
use super::lab::{Lab, helper};
use pgfsbench_tests::{LONG, Signal, wait_until};
use std::process::{Command, Stdio};

const IMAGE: &str = r#"{"storage": {"image": {"bytes": 67108864}}, "filesystem": "ext4"}"#;

#[test]
fn the_helper_tells_people_what_is_wrong() {
    let Some(lab) = Lab::new("the_helper_tells_people_what_is_wrong") else {
        return;
    };
    who_has_read_enough_is_no_trouble(&lab);
    lab.configure(&lab.usual());
    the_doctor_finds_what_is_wrong_with_the_configuration(&lab);
    lab.configure(&lab.usual());
    a_configuration_is_found_from_the_current_directory(&lab);
}

fn who_has_read_enough_is_no_trouble(lab: &Lab) {
    for command in ["doctor", "describe"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child = lab
            .command(&[command])
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the helper runs");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command}");
        assert_eq!(output.status.code(), Some(0), "{command}");
    }
    // A fault after output that was not read is found, and told all the same.
    lab.configure("server_user = \"pgfsbench_nobody\"\n");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = lab.command(&["doctor"]).stdout(writer).output();
    let output = output.expect("the helper runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("pgfsbench_nobody"), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

fn the_doctor_finds_what_is_wrong_with_the_configuration(lab: &Lab) {
    let version = concat!("pgfsbench-helper ", env!("CARGO_PKG_VERSION"));
    assert_eq!(lab.ok(&["--version"]).trim(), version);
    let said = lab.ok(&["doctor"]);
    assert!(said.contains("helper.toml, for database bench"), "{said}");
    lab.configure("nonsense = 1\n");
    lab.refused(&["doctor"], &["nonsense"]);
    lab.configure(&format!(
        "server_user = \"nobody-of-that-name\"\n{}",
        lab.usual()
    ));
    lab.refused(&["doctor"], &["nobody-of-that-name", "server_user"]);
    std::fs::remove_file(lab.path("helper.toml")).expect("remove");
    let said = lab.ok(&["doctor"]);
    assert!(said.contains("run pgfsbench-helper setup"), "{said}");
}

fn a_configuration_is_found_from_the_current_directory(lab: &Lab) {
    let output = Command::new(helper())
        .args(["--config", "helper.toml", "doctor"])
        .current_dir(lab.path("."))
        .output()
        .expect("the helper runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("helper.toml, for database bench"), "{said}");
}

#[test]
fn a_target_that_was_asked_for_before_a_restart_of_the_server_is_not_kept() {
    let test = "a_target_that_was_asked_for_before_a_restart_of_the_server_is_not_kept";
    let Some(bench) = Bench::new(test) else {
        return;
    };
    let mut serving = bench.serve_with(&["--pause-before", "mkfs"]);
    let job = ask(&mut bench.client(), "t", "prepare", IMAGE);
    serving.wait_until_held();
    bench.server.restart();
    serving.go_on();
    let mut client = bench.client();
    wait_for_job(&mut client, &job, "failed");
    wait_until("it is released", LONG, || {
        bench.lab.list("state/journal").is_empty().then_some(())
    });
    bench.lab.nothing_is_left_at_once();
    assert_eq!(serving.end(Signal::TERM), Some(0), "{}", bench.log());
}
