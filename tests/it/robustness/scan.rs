//! Scans whose load or sweep is cancelled, or loses a process, here and in servers of a target's own.

use crate::directory_target::Place;
use crate::helper::processes::{self, Process};
use pgfsbench_tests::{LONG, Leaves, Signal, TestServer, wait_until};
use std::thread::sleep;
use std::time::Duration;

/// Long enough to be met while three processes load it.
const LOADS: &str = r#"workload => 'scan', scale => 50, seed => 1, options => '{"degrees": [1], "repeats": 1, "loaders": 3, "readers": [], "unlogged": true}'"#;
/// Long enough to be met while it is scanned.
const SCANS: &str = r#"workload => 'scan', scale => 1, seed => 1, options => '{"degrees": [1, 2], "repeats": 1000, "loaders": 2, "readers": [], "unlogged": true}'"#;

/// A run, and the number of a process that loads, which is found so. Nothing keeps a load from being over before somebody has looked: then
/// another one is made.
fn met(server: &TestServer, arguments: &str, find: impl Fn() -> Option<i32>) -> (String, i32) {
    loop {
        server.nothing_is_left("the run before");
        server.value("SELECT fsbench.drop_prepared_data()");
        let run = server.start_run(arguments);
        let is_on =
            || server.told(&run).starts_with("running") || server.told(&run).starts_with("queued");
        loop {
            if let Some(pid) = find() {
                return (run, pid);
            }
            if !is_on() {
                break;
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// Kills parallel workers until somebody has noticed: one may have ended just before, and only its number is still there.
fn kill_a_parallel_worker(
    mut processes: impl FnMut() -> Vec<Process>,
    kill: impl Fn(i32) -> bool,
    noticed: impl Fn() -> bool,
) {
    wait_until("the death of a parallel worker is noticed", LONG, || {
        let mut there = processes().into_iter();
        if let Some(worker) = there.find(|p| p.title.contains("parallel worker for PID")) {
            kill(worker.pid);
        }
        noticed().then_some(())
    });
}

#[test]
fn a_loader_or_a_parallel_worker_that_is_killed_restarts_the_server_and_leaves_nothing() {
    let server = TestServer::with_extension(&[]);
    for (arguments, what) in [(LOADS, "a loader"), (SCANS, "a parallel worker")] {
        let run;
        if what == "a loader" {
            let mut hold = server.hold_at("pgfsbench client in load");
            run = server.start_run(arguments);
            server.crash(hold.wait_for(1));
        } else {
            let ready = |log: String| log.matches("ready to accept connections").count();
            let killed = |log: String| log.matches("was terminated by signal 9").count();
            let (before, killed_before) = (ready(server.log()), killed(server.log()));
            run = server.start_run(arguments);
            kill_a_parallel_worker(
                || processes::descendants(&[server.postmaster()]),
                |pid| server.try_signal(pid, Signal::KILL),
                || killed(server.log()) > killed_before,
            );
            wait_until("the server has recovered", LONG, || {
                (ready(server.log()) > before).then_some(())
            });
        }
        server.nothing_is_left(what);
        let ending = server.told(&run);
        assert!(ending.starts_with("failed 57P02; "), "{what}: {ending}");
        server.a_run_works(what);
    }
}

#[test]
#[ignore = "`make soak` has it"]
fn a_load_for_a_target_that_is_cancelled_or_loses_a_loader_leaves_nothing() {
    let place = Place::new("");
    let prepared = place.server.data().join("pgfsbench");
    let find = || {
        let there = processes::below(place.path()).into_iter();
        let mut all = there.chain(processes::below(&prepared));
        let loader = all.find(|process| process.title.contains("fsbench client"));
        loader.map(|loader| loader.pid)
    };
    for data in ["copied", "loaded"] {
        let arguments = format!("target => 'here', {LOADS}")
            .replace("\"loaders\"", &format!("\"data\": \"{data}\", \"loaders\""));
        for (how, ends) in [
            ("cancelled", "cancelled 57014"),
            ("terminated", "failed 57P01; client "),
            (
                "killed",
                "failed 57P02; the target server was stopped or crashed",
            ),
        ] {
            let what = format!("data {data}, {how}");
            let run = loop {
                let (run, loader) = met(&place.server, &arguments, find);
                let is_in_time = match how {
                    "cancelled" => {
                        place.server.value(&format!("SELECT fsbench.cancel({run})")) == "t"
                    }
                    "terminated" => place.server.try_signal(loader, Signal::TERM),
                    _ => place.server.try_signal(loader, Signal::KILL),
                };
                if is_in_time {
                    break run;
                }
            };
            place.nothing_is_left(&what);
            let ending = place.told(&run);
            assert!(ending.starts_with(ends), "{what}: {ending}");
        }
    }
    // Nothing that is half loaded is copied to anybody.
    assert_eq!(
        place
            .server
            .value("SELECT count(*) FROM fsbench.prepared_data"),
        "0"
    );
}

#[test]
#[ignore = "`make soak` has it"]
fn scans_in_a_directory_that_are_cancelled_or_lose_a_worker_leave_nothing() {
    let place = Place::new("");
    for (how, ends) in [
        ("cancelled", "cancelled 57014"),
        (
            "killed",
            "failed 57P02; the target server was stopped or crashed",
        ),
    ] {
        let run = place
            .server
            .start_run(&format!("target => 'here', {SCANS}"));
        place.wait_for_phase("measure");
        if how == "cancelled" {
            place.server.value(&format!("SELECT fsbench.cancel({run})"));
        } else {
            kill_a_parallel_worker(
                || processes::below(place.path()),
                |pid| place.server.try_signal(pid, Signal::KILL),
                || {
                    place.server.value(&format!(
                        "SELECT status FROM fsbench.run_log WHERE run_id = {run}"
                    )) != "running"
                },
            );
        }
        place.nothing_is_left(how);
        let ending = place.told(&run);
        assert!(ending.starts_with(ends), "{how}: {ending}");
    }
}
