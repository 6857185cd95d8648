//! kill -9 right before and right after each step: then cleanup, and nothing is left.

use super::lab::{Lab, on_image};
use super::machine::Machine;
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

const STEPS: [&str; 7] = [
    "create_image",
    "attach",
    "mkfs",
    "make_mount_point",
    "mount",
    "verify",
    "make_directory",
];

const UNDOING: [&str; 5] = [
    "unmount",
    "remove_mount_point",
    "detach",
    "remove_image",
    "forget",
];

const PREPARE: [&str; 7] = on_image("t", "ext4", "32MB");

fn killed(lab: &Lab, arguments: &[&str], when: &str, step: &str) {
    lab.killed(arguments, when, step);
    // Whatever it has made, the journal knows of it.
    assert_eq!(lab.list("state/journal"), ["bench@t.json"], "{when} {step}");
}

/// Both directions, with settings that have to be put back: the sample of `make check`.
#[test]
fn killed_at_a_step_nothing_is_left() {
    let Some(lab) = Lab::new("killed_at_a_step_nothing_is_left") else {
        return;
    };
    let machine = Machine::new();
    lab.configure(&format!("kernel_settings = true\n{}", lab.usual()));
    let prepare = [&PREPARE[..], &SETTINGS].concat();
    for (when, step) in [("--stop-before", "mkfs"), ("--stop-after", "mount")] {
        killed(&lab, &prepare, when, step);
        lab.ok(&["cleanup"]);
        lab.nothing_is_left_at_once();
        machine.assert_as_before(step);
    }
    // The target can be prepared again at once.
    killed(&lab, &prepare, "--stop-after", "attach");
    lab.ok(&prepare);
    assert_eq!((lab.mounts().len(), lab.loops().len()), (1, 1));
    for verb in [&["release", "--target", "t"][..], &["cleanup"]] {
        lab.ok(&["cleanup"]);
        lab.ok(&prepare);
        killed(&lab, verb, "--stop-after", "unmount");
        lab.ok(&["cleanup"]);
        lab.nothing_is_left_at_once();
        machine.assert_as_before("releasing");
    }
}

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_of_preparing_nothing_is_left() {
    let Some(lab) = Lab::new("killed_at_any_step_of_preparing_nothing_is_left") else {
        return;
    };
    for step in STEPS {
        for when in ["--stop-before", "--stop-after"] {
            killed(&lab, &PREPARE, when, step);
            lab.ok(&["cleanup"]);
            lab.nothing_is_left_at_once();
        }
    }
    killed(&lab, &PREPARE, "--stop-after", "ready");
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
    lab.ok(&["cleanup"]);
}

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_of_releasing_nothing_is_left() {
    let Some(lab) = Lab::new("killed_at_any_step_of_releasing_nothing_is_left") else {
        return;
    };
    for (verb, again) in [
        (&["release", "--target", "t"][..], &["cleanup"][..]),
        (&["cleanup"], &["release", "--target", "t"]),
    ] {
        for step in UNDOING {
            for when in ["--stop-before", "--stop-after"] {
                if (when, step) == ("--stop-after", "forget") {
                    continue;
                }
                lab.ok(&PREPARE);
                killed(&lab, verb, when, step);
                lab.ok(again);
                lab.nothing_is_left_at_once();
            }
        }
    }
}

#[test]
#[ignore = "`make soak` has it"]
fn after_a_kill_the_same_target_can_be_prepared_at_once() {
    let Some(lab) = Lab::new("after_a_kill_the_same_target_can_be_prepared_at_once") else {
        return;
    };
    for step in STEPS {
        killed(&lab, &PREPARE, "--stop-after", step);
        lab.ok(&PREPARE);
        assert_eq!(lab.mounts().len(), 1);
        assert_eq!(lab.loops().len(), 1);
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
    }
}

const SETTINGS: [&str; 6] = [
    "--block-setting",
    "read_ahead_kb=64",
    "--kernel-setting",
    "dirty_expire_centisecs=2900",
    "--kernel-setting",
    "dirty_bytes=1073741824",
];

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_random_moments_nothing_is_left() {
    let Some(lab) = Lab::new("killed_at_random_moments_nothing_is_left") else {
        return;
    };
    let machine = Machine::new();
    lab.configure(&format!("kernel_settings = true\n{}", lab.usual()));
    let filesystems = lab.filesystems();
    // How long all of it takes: kills are spread over that.
    let began = Instant::now();
    let mut prepare = on_image("t", "ext4", "320MB").to_vec();
    prepare.extend(SETTINGS);
    lab.ok(&prepare);
    let mut whole = began.elapsed().as_micros() as u64;
    lab.ok(&["cleanup"]);
    // A fixed sequence (Knuth's multiplier), so that a failure can be told from another.
    let mut state = 20_261_121u64;
    let mut struck = BTreeSet::new();
    for round in 0..40 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let after = Duration::from_micros((state >> 33) % (whole * 6 / 5));
        let filesystem = filesystems[round % filesystems.len()];
        let mut prepare = on_image("t", filesystem, "320MB").to_vec();
        prepare.extend(SETTINGS);
        if filesystem != "btrfs" {
            prepare.extend(["--log-image", "80MB"]);
        }
        let arguments = if round % 4 == 3 {
            vec!["cleanup"]
        } else {
            prepare
        };
        let mut child = lab
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the helper runs");
        std::thread::sleep(after);
        let has_ended = child.try_wait().expect("it can be waited for").is_some();
        let _ = child.kill();
        let _ = child.wait();
        let begun = lab.begun("t");
        // The machine is faster or slower than it was.
        if round % 4 != 3 {
            whole = match (has_ended, begun.is_some()) {
                (true, _) => whole * 4 / 5,
                (false, true) => whole,
                (false, false) => whole * 6 / 5,
            };
        }
        struck.insert(begun);
        // Sometimes what was left is cleared up by the next cleanup, which is killed as well.
        if round % 4 != 2 {
            lab.ok(&["cleanup"]);
            lab.nothing_is_left_at_once();
            machine.assert_as_before("killed at random");
        }
    }
    // Not always before it has begun, or when all is over.
    let in_between = struck
        .iter()
        .filter(|begun| begun.is_some())
        .collect::<Vec<_>>();
    assert!(in_between.len() >= 3, "{struck:?}");
}
