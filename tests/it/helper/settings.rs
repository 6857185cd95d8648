//! Settings of the disk's queue and of the kernel: set while a target is prepared, and put back after it, whatever happens.

use super::disk::{Disk, MEGABYTES};
use super::lab::{Lab, on_image};
use super::machine::{Machine, Queue, kernel};
use pgfsbench_tests::{Partition, program, skip};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;

const KERNEL: [&str; 6] = [
    "--kernel-setting",
    "dirty_bytes=1073741824",
    "--kernel-setting",
    "dirty_background_bytes=536870912",
    "--kernel-setting",
    "dirty_expire_centisecs=2900",
];

/// A disk that can be tuned. None, and the test is skipped, where the kernel lacks schedulers.
fn tunable(test: &str) -> Option<Disk> {
    let disk = Disk::new(test)?;
    let queue = Queue::watched(&disk.device);
    if !queue.offers("mq-deadline") || !queue.offers("none") {
        skip(test, "needs the I/O scheduler mq-deadline");
        return None;
    }
    Some(disk)
}

/// An administrator's settings of the queue of an empty disk, and the settings that the helper is asked for instead.
fn tune(disk: &Disk) -> (Queue, Vec<&'static str>) {
    disk.start_anew();
    allow(disk, &[&disk.device]);
    let mut queue = Queue::of(&disk.device);
    queue.set("scheduler", "mq-deadline");
    queue.set("iosched/read_expire", "320");
    queue.set("nr_requests", "99");
    queue.set("read_ahead_kb", "512");
    queue.remember();
    let asked = vec![
        "--block-setting",
        "scheduler=none",
        "--block-setting",
        // Not what the kernel computes by itself.
        "read_ahead_kb=64",
        "--block-setting",
        "nr_requests=64",
    ];
    (queue, asked)
}

fn allow(disk: &Disk, devices: &[&str]) {
    let devices: String = devices
        .iter()
        .map(|device| format!("[[device]]\npath = {device:?}\n"))
        .collect();
    let allowed = "kernel_settings = true\ndrop_caches = true\n";
    disk.lab
        .configure(&format!("{allowed}{}{devices}", disk.lab.usual()));
}

fn prepare<'a>(target: &'a str, device: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    let wanted = [
        "prepare",
        "--target",
        target,
        "--filesystem",
        "ext4",
        "--device",
        device,
    ];
    [&wanted[..], further].concat()
}

#[test]
fn settings_are_put_back() {
    let Some(disk) = tunable("settings_are_put_back") else {
        return;
    };
    settings_are_in_force_while_a_target_is_prepared_and_put_back_after_it(&disk);
    what_the_kernel_does_not_take_is_refused_and_nothing_is_changed(&disk);
    what_somebody_else_has_set_meanwhile_stays(&disk);
    two_targets_on_one_disk_do_not_lose_what_was_there(&disk);
    what_a_reboot_has_undone_is_not_written_once_more(&disk);
}

fn settings_are_in_force_while_a_target_is_prepared_and_put_back_after_it(disk: &Disk) {
    let (queue, asked) = tune(disk);
    let machine = Machine::new();
    let asked = [&asked[..], &KERNEL].concat();
    let result: Value =
        serde_json::from_str(&disk.lab.ok(&prepare("d", &disk.device, &asked))).expect("JSON");
    assert_eq!(queue.get("scheduler"), "none");
    assert_eq!(queue.get("nr_requests"), "64");
    assert_eq!(queue.get("read_ahead_kb"), "64");
    assert_eq!(kernel()["dirty_bytes"], "1073741824");
    assert_eq!(kernel()["dirty_ratio"], "0");
    assert_eq!(kernel()["dirty_background_bytes"], "536870912");
    assert_eq!(kernel()["dirty_expire_centisecs"], "2900");
    assert_eq!(result["block_settings"]["scheduler"], "none");
    assert_eq!(result["kernel_settings"]["dirty_bytes"], 1 << 30);
    assert!(result["queue"]["physical_block_size"].as_u64() >= Some(512));
    let before = result["settings_before"].as_array().expect("an array");
    let was = |file: &str| {
        before
            .iter()
            .find(|v| v["file"] == file)
            .map(|v| v["value"].clone())
    };
    assert_eq!(was("scheduler"), Some("mq-deadline".into()));
    assert_eq!(was("nr_requests"), Some("99".into()));
    disk.lab.ok(&["release", "--target", "d"]);
    queue.assert_as_before("released");
    machine.assert_as_before("released");
    disk.assert_released();

    // Nothing is touched by one that asks for nothing.
    disk.succeeds();
    queue.assert_as_before("nothing asked");
}

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_moment_every_setting_is_put_back() {
    let Some(disk) = tunable("killed_at_any_moment_every_setting_is_put_back") else {
        return;
    };
    let (queue, asked) = tune(&disk);
    let asked = [&asked[..], &KERNEL].concat();
    let prepare = prepare("d", &disk.device, &asked);
    let killed = |arguments: &[&str], when: &str, step: &str| {
        let output = disk.lab.run(&[arguments, &[when, step]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(9), "{when} {step}: {said}");
    };
    // Before anything is the kernel's: other tests have their turn.
    for step in ["set_queue", "scheduler", "nr_requests", "read_ahead_kb"] {
        for when in ["--stop-before", "--stop-after"] {
            killed(&prepare, when, step);
            disk.lab.ok(&["cleanup"]);
            queue.assert_as_before(step);
            disk.assert_released();
        }
    }
    let machine = Machine::new();
    // Put back is the one of the two that was in force.
    let put_back_limit = match kernel()["dirty_bytes"].as_str() {
        "0" => "put_back_dirty_ratio",
        _ => "put_back_dirty_bytes",
    };
    for step in [
        "set_kernel",
        "dirty_bytes",
        "dirty_background_bytes",
        "dirty_expire_centisecs",
        "mkfs",
        "mount",
        "keep_queue",
    ] {
        for when in ["--stop-before", "--stop-after"] {
            killed(&prepare, when, step);
            disk.lab.ok(&["cleanup"]);
            queue.assert_as_before(step);
            machine.assert_as_before(step);
            disk.assert_released();
        }
    }
    for (when, step) in [
        ("--stop-before", "put_back"),
        ("--stop-after", "put_back_scheduler"),
        ("--stop-after", "put_back_nr_requests"),
        ("--stop-after", put_back_limit),
        ("--stop-after", "put_back"),
    ] {
        disk.lab.ok(&prepare);
        killed(&["release", "--target", "d"], when, step);
        // The next one undoes the rest by itself.
        disk.lab.ok(&prepare);
        assert_eq!(queue.get("scheduler"), "none");
        disk.lab.ok(&["cleanup"]);
        queue.assert_as_before(step);
        machine.assert_as_before(step);
        disk.assert_released();
    }
}

fn two_targets_on_one_disk_do_not_lose_what_was_there(disk: &Disk) {
    let (queue, asked) = tune(disk);
    let machine = Machine::new();
    let half = (MEGABYTES << 20) / 512 / 2;
    let partitions = [(1, 2048), (2, half)];
    let partitions =
        partitions.map(|(number, start)| Partition::add(&disk.device, number, start, half - 2048));
    let [first, second] = &partitions.each_ref().map(Partition::path);
    allow(disk, &[first, second]);
    disk.lab
        .ok(&prepare("first", first, &[&asked[..], &KERNEL].concat()));
    let words = ["target \"first\" has changed", "Release it first"];
    disk.lab.refused(&prepare("second", second, &asked), &words);
    disk.lab
        .refused(&prepare("second", second, &KERNEL), &words);
    // One that changes nothing is in nobody's way; and does not put back what is not its own.
    disk.lab.ok(&prepare("second", second, &[]));
    disk.lab.ok(&["release", "--target", "second"]);
    assert_eq!(queue.get("nr_requests"), "64");
    disk.lab.ok(&["release", "--target", "first"]);
    queue.assert_as_before("the first released");
    machine.assert_as_before("the first released");
    disk.lab.ok(&prepare("second", second, &asked));
    disk.lab.ok(&["release", "--target", "second"]);
    queue.assert_as_before("the second released");
}

fn what_somebody_else_has_set_meanwhile_stays(disk: &Disk) {
    let (queue, asked) = tune(disk);
    let machine = Machine::new();
    disk.lab
        .ok(&prepare("d", &disk.device, &[&asked[..], &KERNEL].concat()));
    queue.set("read_ahead_kb", "256");
    machine.set("dirty_ratio", "27");
    let output = disk.lab.run(&["release", "--target", "d"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("another program has set it meanwhile"),
        "{said}"
    );
    assert_eq!(queue.get("read_ahead_kb"), "256");
    assert_eq!(queue.get("scheduler"), "mq-deadline");
    assert_eq!(queue.get("iosched/read_expire"), "320");
    assert_eq!(queue.get("nr_requests"), "99");
    assert_eq!(kernel()["dirty_ratio"], "27");
    machine.set("dirty_ratio", "20");
    disk.assert_released();
}

fn what_the_kernel_does_not_take_is_refused_and_nothing_is_changed(disk: &Disk) {
    let (queue, _) = tune(disk);
    let machine = Machine::new();
    for (settings, words) in [
        (
            vec!["--block-setting", "scheduler=cfq"],
            ["there is no I/O scheduler \"cfq\"", "mq-deadline"],
        ),
        (
            vec!["--block-setting", "scheduler=../../x"],
            ["invalid I/O scheduler", "lower case"],
        ),
        (
            vec!["--block-setting", "write_cache=x"],
            ["invalid block settings", "write_cache"],
        ),
        // More than the queue without a scheduler has; the scheduler has been changed by then.
        (
            vec![
                "--block-setting",
                "scheduler=none",
                "--block-setting",
                "nr_requests=60000",
            ],
            ["could not write 60000", "Invalid argument"],
        ),
        (
            vec![
                "--kernel-setting",
                "dirty_bytes=100000000",
                "--kernel-setting",
                "dirty_ratio=5",
            ],
            ["exclude each other", "Give one of them."],
        ),
        (
            vec!["--kernel-setting", "swappiness=5"],
            ["invalid kernel settings", "swappiness"],
        ),
    ] {
        disk.lab
            .refused(&prepare("d", &disk.device, &settings), &words);
        queue.assert_as_before(words[0]);
        machine.assert_as_before(words[0]);
        disk.assert_released();
    }
}

#[test]
fn an_images_settings_are_put_back_before_others_get_its_loop_device() {
    let Some(lab) = Lab::new("an_images_settings_are_put_back_before_others_get_its_loop_device")
    else {
        return;
    };
    let wanted = on_image("t", "ext4", "64MB");
    let result: Value = serde_json::from_str(&lab.ok(&wanted)).expect("JSON");
    let device = result["device"].as_str().expect("a device").to_owned();
    let queue = Queue::watched(&device);
    lab.ok(&["release", "--target", "t"]);
    // No other test asks for these, whose device it may be afterwards.
    let other = match queue.get("read_ahead_kb").as_str() {
        "52" => "56",
        _ => "52",
    };
    let setting = format!("read_ahead_kb={other}");
    let asked = [&wanted[..], &["--block-setting", &setting]].concat();
    // Released, killed, and unmounted and detached by somebody's hand.
    for how in ["release", "kill", "hand"] {
        if how == "kill" {
            let output = lab.run(&[&asked[..], &["--stop-after", "keep_queue"]].concat());
            assert_eq!(output.status.signal(), Some(9));
        } else {
            lab.ok(&asked);
        }
        let [now] = &lab.loops()[..] else {
            panic!("{:?}", lab.loops());
        };
        let used = Queue::watched(now);
        // On an image in memory mkfs learns that the loop device cannot write zeroes, and the kernel computes this anew.
        assert_eq!(used.get("read_ahead_kb"), other);
        if how == "hand" {
            super::lab::system("umount", &[&lab.path("mnt/bench@t").display().to_string()]);
            super::lab::system("losetup", &["-d", now]);
        }
        lab.ok(&["cleanup"]);
        assert_ne!(used.get("read_ahead_kb"), other, "{how}");
        lab.nothing_is_left_at_once();
    }
}

/// Undoing goes on with what does not need the step that has failed. Where there is no zpool, no pool can be destroyed.
#[test]
fn a_pool_that_cannot_be_destroyed_does_not_keep_settings_from_being_put_back() {
    let test = "a_pool_that_cannot_be_destroyed_does_not_keep_settings_from_being_put_back";
    let Some(lab) = Lab::new(test) else {
        return;
    };
    if program("zpool").is_some() {
        return skip(test, "there is a zpool, which finds no such pool");
    }
    lab.configure(&format!("kernel_settings = true\n{}", lab.usual()));
    let machine = Machine::new();
    lab.ok(&[&on_image("t", "ext4", "64MB")[..], &KERNEL].concat());
    let entry = lab.path("state/journal/bench@t.json");
    let written = fs::read_to_string(&entry).expect("an entry");
    let mut with_pool: Value = serde_json::from_str(&written).expect("JSON");
    with_pool["layers"]
        .as_array_mut()
        .expect("layers")
        .push(json!({"pool": {"name": "pgfsbench-bench:t", "guid": "1"}}));
    fs::write(&entry, with_pool.to_string()).expect("written");
    super::lab::system("umount", &[&lab.path("mnt/bench@t").display().to_string()]);
    lab.refused(&["cleanup"], &["there is no program zpool"]);
    machine.assert_as_before("the pool could not be destroyed");
    // A setting that is back is not written once more: it may have been changed since.
    machine.set("dirty_expire_centisecs", "2800");
    lab.refused(&["cleanup"], &["there is no program zpool"]);
    assert_eq!(kernel()["dirty_expire_centisecs"], "2800");
    let left: Value =
        serde_json::from_str(&fs::read_to_string(&entry).expect("it stays")).expect("JSON");
    let mut without_pool = left.clone();
    without_pool["layers"].as_array_mut().expect("layers").pop();
    fs::write(&entry, without_pool.to_string()).expect("written");
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

fn what_a_reboot_has_undone_is_not_written_once_more(disk: &Disk) {
    let (queue, asked) = tune(disk);
    disk.lab.ok(&prepare("d", &disk.device, &asked));
    // As if another boot had made it: by now somebody has set up his queue again, by chance the same.
    let entry = disk.lab.path("state/journal/bench@d.json");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot");
    let text = fs::read_to_string(&entry).expect("an entry");
    assert!(text.contains(boot.trim()));
    fs::write(&entry, text.replace(boot.trim(), "another")).expect("written");
    let mount_point = disk.lab.path("mnt/bench@d").display().to_string();
    super::lab::system("umount", &[&mount_point]);
    disk.lab.ok(&["cleanup"]);
    assert_eq!(queue.get("scheduler"), "none");
    assert_eq!(queue.get("nr_requests"), "64");
    disk.assert_released();
}
