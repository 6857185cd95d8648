//! kill -9 right before and right after each step: then cleanup, and nothing is left.

use super::lab::Lab;
use super::machine::Machine;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

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

const PREPARE: [&str; 7] = [
    "prepare",
    "--target",
    "t",
    "--filesystem",
    "ext4",
    "--image",
    "32MB",
];

fn killed(lab: &Lab, arguments: &[&str], when: &str, step: &str) {
    let output = lab.run(&[arguments, &[when, step]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(9), "{when} {step}: {said}");
    // Whatever it has made, the journal knows of it.
    assert_eq!(lab.list("state/journal"), ["bench@t.json"], "{when} {step}");
}

#[test]
fn killed_at_any_step_of_preparing_nothing_is_left() {
    let Some(lab) = Lab::new("killed_at_any_step_of_preparing_nothing_is_left") else {
        return;
    };
    for step in STEPS {
        for when in ["--stop-before", "--stop-after"] {
            killed(&lab, &PREPARE, when, step);
            lab.ok(&["cleanup"]);
            lab.assert_nothing_left();
        }
    }
    killed(&lab, &PREPARE, "--stop-after", "ready");
    lab.ok(&["cleanup"]);
    lab.assert_nothing_left();
    lab.ok(&["cleanup"]);
}

#[test]
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
                lab.assert_nothing_left();
            }
        }
    }
}

#[test]
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
        lab.assert_nothing_left();
    }
}

#[test]
fn killed_at_random_moments_nothing_is_left() {
    let Some(lab) = Lab::new("killed_at_random_moments_nothing_is_left") else {
        return;
    };
    let machine = Machine::new();
    lab.configure(&format!("kernel_settings = true\n{}", lab.usual()));
    let filesystems = lab.filesystems();
    // A fixed sequence (Knuth's multiplier), so that a failure can be told from another.
    let mut state = 20_261_121u64;
    for round in 0..40 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let after = Duration::from_micros((state >> 33) % 90_000);
        let filesystem = filesystems[round % filesystems.len()];
        let mut prepare = vec![
            "prepare",
            "--target",
            "t",
            "--filesystem",
            filesystem,
            "--image",
            "320MB",
            "--block-setting",
            "read_ahead_kb=64",
            "--kernel-setting",
            "dirty_expire_centisecs=2900",
            "--kernel-setting",
            "dirty_bytes=1073741824",
        ];
        if filesystem != "btrfs" {
            prepare.extend(["--log-image", "80MB"]);
        }
        let mut command = lab.command(if round % 4 == 3 {
            &["cleanup"]
        } else {
            &prepare
        });
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the helper runs");
        std::thread::sleep(after);
        let _ = child.kill();
        let _ = child.wait();
        // Sometimes what was left is cleared up by the next cleanup, which is killed as well.
        if round % 4 != 2 {
            lab.ok(&["cleanup"]);
            lab.assert_nothing_left();
            machine.assert_as_before("killed at random");
        }
    }
}
