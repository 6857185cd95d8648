//! Targets in directories whose runs are cancelled, or whose servers die: nothing is left there.

use crate::directory_target::{Place, shared_memory_of};
use pgfsbench_tests::{LONG, Leaves, Signal, Stop, wait_until};
use std::fs;
use std::path::Path;

const SHORT_RUN: &str = "target => 'here', scale => 1, clients => 2, transactions => 50, seed => 1";
const LONG_RUN: &str =
    "target => 'here', scale => 1, clients => 2, duration => '5 min', warmup => '0'";
#[test]
fn a_target_server_ends_with_the_run_and_with_the_server_that_asked() {
    let place = Place::new("");
    a_run_on_a_target_that_is_cancelled_or_loses_its_coordinator_leaves_nothing(&place);
    a_target_server_goes_with_the_server_that_asked(&place);
}

fn a_run_on_a_target_that_is_cancelled_or_loses_its_coordinator_leaves_nothing(place: &Place) {
    for phase in ["provision", "load", "measure"] {
        for terminated in [false, true] {
            let run = place.server.start_run(LONG_RUN);
            if phase == "provision" {
                place.postmaster();
            } else if phase == "load" {
                // Over before it can be seen, so that any moment after the start will do.
                let of_its_own = place.postmaster();
                wait_until("the target server has clients", LONG, || {
                    (place.processes().len() > 8 || !place.processes().contains(&of_its_own))
                        .then_some(())
                });
            } else {
                place.wait_for_phase(phase);
            }
            let (wanted, how) = if terminated {
                place.server.terminate(place.server.coordinator());
                ("failed 57P01", "terminated")
            } else {
                let cancelled = place.server.value(&format!("SELECT fsbench.cancel({run})"));
                assert_eq!(cancelled, "t");
                ("cancelled 57014", "cancelled")
            };
            let what = format!("{how} in {phase}");
            place.nothing_is_left(&what);
            let ending = place.told(&run);
            assert!(ending.starts_with(wanted), "{what}: {ending}");
        }
    }
    let works = place
        .server
        .value(&format!("SELECT tps > 0 FROM fsbench.run({SHORT_RUN})"));
    assert_eq!(works, "t");
}

#[test]
fn a_target_server_that_dies_fails_the_run() {
    let place = Place::new("");
    a_target_server_that_dies_fails_the_run_and_leaves_nothing(&place);
    a_target_server_whose_log_is_gone_is_told_so(&place);
    shared_memory_of_a_target_server_that_was_killed_goes_with_it(&place);
}

fn a_target_server_that_dies_fails_the_run_and_leaves_nothing(place: &Place) {
    let run = place.server.start_run(LONG_RUN);
    place.wait_for_phase("measure");
    place.server.signal(place.postmaster(), Signal::QUIT);
    place.nothing_is_left("the target server's death");
    let ending = place.told(&run);
    assert!(
        ending.starts_with("failed 57P02; the target server was stopped or crashed"),
        "{ending}"
    );
}

fn a_target_server_whose_log_is_gone_is_told_so(place: &Place) {
    let run = place.server.start_run(LONG_RUN);
    place.wait_for_phase("measure");
    let postmaster = place.postmaster();
    let log = fs::read_link(format!("/proc/{postmaster}/fd/2")).expect("a log");
    fs::remove_file(&log).expect("remove");
    place.server.signal(postmaster, Signal::QUIT);
    place.nothing_is_left("the target server's death without a log");
    let ending = place.told(&run);
    assert!(
        ending.starts_with(
            "failed 57P02; the target server was stopped or crashed; Its log says nothing"
        ),
        "{ending}"
    );
}

fn shared_memory_of_a_target_server_that_was_killed_goes_with_it(place: &Place) {
    let run = place.server.start_run(LONG_RUN);
    place.wait_for_phase("measure");
    let postmaster = place.postmaster();
    let data = fs::read_link(format!("/proc/{postmaster}/cwd")).expect("its directory");
    let (segment, files) = shared_memory_of(&data, postmaster).expect("its memory");
    let segments = || {
        let table = fs::read_to_string("/proc/sysvipc/shm").expect("the kernel's table");
        let numbers = table
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1));
        numbers.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(segments().contains(&segment) && !files.is_empty());
    place.server.signal(postmaster, Signal::KILL);
    place.nothing_is_left("the target server was killed");
    let ending = place.told(&run);
    assert!(ending.starts_with("failed 57P02"), "{ending}");
    assert!(!segments().contains(&segment), "segment {segment} is left");
    let left: Vec<_> = files
        .iter()
        .filter(|file| Path::new(file).exists())
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // This server's own memory was not touched.
    let own = place.server.postmaster();
    let (segment, files) = shared_memory_of(&place.server.data(), own).expect("its memory");
    assert!(segments().contains(&segment));
    assert!(files.iter().all(|file| Path::new(file).exists()));
}

fn a_target_server_goes_with_the_server_that_asked(place: &Place) {
    for how in [Some(Stop::Fast), Some(Stop::Immediate), None] {
        let run = place.server.start_run(LONG_RUN);
        place.wait_for_phase("measure");
        match how {
            Some(how) => place.server.stop(how),
            None => place.server.kill(),
        }
        // At once, whether or not that server is ever started again.
        wait_until("the target server has ended", LONG, || {
            place.processes().is_empty().then_some(())
        });
        place.server.start_again();
        place.nothing_is_left("a restart of the asking server");
        assert!(place.told(&run).starts_with("failed 57P0"));
    }
}
