//! Images: made, mounted, released, and nothing is left.

use super::lab::{Lab, on_image, system};
use pgfsbench_tests::{LONG, server_owner, wait_until};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

fn prepare_and_release(lab: &Lab, filesystem: &str, further: &[&str], shown: &[&str]) {
    if !lab.has(filesystem) {
        return;
    }
    let arguments = [&on_image("t-1.5+x", filesystem, "320MB"), further].concat();
    let result: Value = serde_json::from_str(&lab.ok(&arguments)).expect("JSON");
    let mount_point = lab.path("mnt/bench@t-1.5+x").display().to_string();
    assert_eq!(result["mount_point"], mount_point.as_str());
    assert_eq!(result["filesystem"], filesystem);
    assert_eq!(result["image_bytes"], 320 << 20);
    assert_eq!(result["geometry"]["block_bytes"], 4096);
    assert_eq!(result["mount_options_not_shown"], Value::Array(vec![]));

    let mounts = lab.mounts();
    assert_eq!(mounts.len(), 1, "{mounts:?}");
    assert!(
        mounts[0].starts_with(&format!("{mount_point} {filesystem} rw,nosuid,nodev")),
        "{mounts:?}"
    );
    for option in shown {
        assert!(mounts[0].contains(option), "{mounts:?}");
    }
    assert_eq!(lab.loops(), [result["device"].as_str().expect("a device")]);
    let directory = result["directory"].as_str().expect("a directory");
    let metadata = std::fs::metadata(directory).expect("the directory");
    assert_eq!(Some(metadata.uid()), server_owner());
    assert_eq!(metadata.mode() & 0o7777, 0o700);
    assert_eq!(
        std::fs::read_dir(directory).expect("a directory").count(),
        0
    );

    lab.refused(
        &arguments,
        &[
            "target \"t-1.5+x\" is prepared already",
            "Release it first.",
        ],
    );
    assert!(
        lab.ok(&["release", "--target", "t-1.5+x"])
            .contains("\"released\": true")
    );
    lab.nothing_is_left_at_once();
    assert!(
        lab.ok(&["release", "--target", "t-1.5+x"])
            .contains("\"released\": false")
    );
}

#[test]
fn each_filesystem_is_made_mounted_and_removed() {
    let Some(lab) = Lab::new("each_filesystem_is_made_mounted_and_removed") else {
        return;
    };
    let further = |mkfs, mount| ["--mkfs-options", mkfs, "--mount-options", mount];
    let ext4 = further("-b4096 -O ^has_journal", "noatime");
    prepare_and_release(
        &lab,
        "ext4",
        &[&ext4[..], &["--allocated"]].concat(),
        &["noatime"],
    );
    let xfs = further("-l size=64m -m crc=1", "noatime,logbsize=256k");
    prepare_and_release(&lab, "xfs", &xfs, &["noatime", "logbsize=256k"]);
    let btrfs = further("--csum=xxhash -m single", "compress=zstd:3");
    prepare_and_release(&lab, "btrfs", &btrfs, &["compress=zstd:3"]);
}

#[test]
fn filesystems_are_made_as_planned_and_told() {
    let Some(lab) = Lab::new("filesystems_are_made_as_planned_and_told") else {
        return;
    };
    the_plan_is_what_is_executed(&lab);
    no_more_than_defaults_can_be_asked_for(&lab);
    what_mkfs_or_mount_says_is_passed_on_and_nothing_is_left(&lab);
    the_geometry_that_was_asked_for_is_told(&lab);
}

fn the_plan_is_what_is_executed(lab: &Lab) {
    for filesystem in lab.filesystems() {
        let mut wanted = on_image("t", filesystem, "320MB").to_vec();
        wanted.extend(["--mount-options", "noatime"]);
        wanted[0] = "plan";
        let plan = lab.ok(&wanted);
        lab.nothing_is_left_at_once();
        wanted[0] = "prepare";
        let done = lab.run(&wanted).stderr;
        lab.ok(&["release", "--target", "t"]);
        lab.nothing_is_left_at_once();
        // The line of each step that was done, without its name and its duration.
        let done = String::from_utf8(done).expect("UTF-8");
        let done: Vec<String> = done
            .lines()
            .filter(|line| !line.starts_with("  "))
            .map(|line| {
                let (_, line) = line.split_once(": ").expect("a step");
                let (line, _) = line.rsplit_once(" (").expect("a duration");
                without_what_is_new(line)
            })
            .collect();
        let plan: Vec<String> = plan
            .lines()
            .map(|line| without_what_is_new(line.trim_start_matches('(').trim_end_matches(')')))
            .collect();
        assert!(plan.len() >= 7, "{plan:?}");
        assert_eq!(plan, done);
    }
}

/// The loop device and the UUID are new each time.
fn without_what_is_new(line: &str) -> String {
    let plain = |word: &str| match word.trim_start_matches("uuid=") {
        word if word.starts_with("/dev/loop") => "/dev/loopN".to_owned(),
        word if word.len() == 36 && word.matches('-').count() == 4 => "UUID".to_owned(),
        word => word.to_owned(),
    };
    line.split(' ').map(plain).collect::<Vec<_>>().join(" ")
}

fn no_more_than_defaults_can_be_asked_for(lab: &Lab) {
    let prepare = on_image("t", "ext4", "32MB");
    for (options, shown) in [
        ("defaults", "rw,nosuid,nodev,"),
        ("defaults,noatime", "noatime"),
    ] {
        let options = ["--mount-options", options];
        let result = lab.ok(&[&prepare[..], &options].concat());
        let result: Value = serde_json::from_str(&result).expect("JSON");
        let in_force = result["mount_options"].as_str().expect("options");
        assert!(
            in_force.contains(shown) && !in_force.contains("defaults"),
            "{in_force}"
        );
        assert_eq!(result["mount_options_not_shown"], serde_json::json!([]));
        assert!(lab.mounts()[0].contains(" ext4 rw,nosuid,nodev"));
        lab.ok(&["release", "--target", "t"]);
    }
    lab.nothing_is_left_at_once();
}

#[test]
fn only_what_nobody_uses_is_taken_away() {
    let Some(lab) = Lab::new("only_what_nobody_uses_is_taken_away") else {
        return;
    };
    what_is_in_use_is_not_taken_away(&lab);
    a_device_that_somebody_has_mounted_elsewhere_too_stays(&lab);
    what_was_unmounted_by_hand_or_by_a_reboot_is_cleared_up(&lab);
}

fn what_is_in_use_is_not_taken_away(lab: &Lab) {
    lab.ok(&on_image("t", "ext4", "64MB"));
    let mut user = Command::new("sleep")
        .arg("600")
        .current_dir(lab.path("mnt/bench@t"))
        .spawn()
        .expect("sleep");
    let named = format!("\"sleep\" (process {})", user.id());
    for arguments in [&["release", "--target", "t"][..], &["cleanup"]] {
        lab.refused(arguments, &["is in use", &named]);
        assert_eq!(lab.mounts().len(), 1);
        assert_eq!(lab.list("images"), ["bench@t.img"]);
        assert!(lab.begun("t").is_some_and(|b| b.contains("ready")));
    }
    user.kill().expect("kill");
    user.wait().expect("wait");
    // The next start of the helper does not repeat a refused request.
    lab.start();
    assert_eq!(lab.mounts().len(), 1);
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
}

fn a_device_that_somebody_has_mounted_elsewhere_too_stays(lab: &Lab) {
    lab.ok(&on_image("t", "ext4", "64MB"));
    let elsewhere = lab.path("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a directory");
    let elsewhere = elsewhere.display().to_string();
    system("mount", &[&lab.loops()[0], &elsewhere]);
    lab.refused(
        &["release", "--target", "t"],
        &["is mounted on", &elsewhere],
    );
    assert_eq!(lab.list("images"), ["bench@t.img"]);
    system("umount", &[&elsewhere]);
    lab.ok(&["cleanup"]);
    wait_until("the loop device has gone", LONG, || {
        lab.loops().is_empty().then_some(())
    });
    lab.nothing_is_left_at_once();
}

fn what_was_unmounted_by_hand_or_by_a_reboot_is_cleared_up(lab: &Lab) {
    let prepare = on_image("t", "ext4", "64MB");
    for again in [&["cleanup"][..], &prepare] {
        lab.ok(&prepare);
        system("umount", &[&lab.path("mnt/bench@t").display().to_string()]);
        system("losetup", &["-d", &lab.loops()[0]]);
        lab.ok(again);
        if again == &prepare[..] {
            assert_eq!(lab.mounts().len(), 1);
            lab.ok(&["release", "--target", "t"]);
        }
        lab.nothing_is_left_at_once();
    }
}

fn what_mkfs_or_mount_says_is_passed_on_and_nothing_is_left(lab: &Lab) {
    // The program with this option prints the same for us.
    let file = lab.path("file");
    fs::File::create(&file)
        .and_then(|f| f.set_len(320 << 20))
        .expect("a file");
    let file = file.display().to_string();
    let elsewhere = lab.path("elsewhere").display().to_string();
    fs::create_dir(&elsewhere).expect("a directory");
    system("mkfs.ext4", &["-q", "-F", &file]);
    for (filesystem, option, text, name, by_hand, message) in [
        (
            "xfs",
            "--mkfs-options",
            "-l size=1m",
            "mkfs.xfs",
            vec!["-f", "-l", "size=1m", &file],
            "mkfs.xfs failed (exit code 1)",
        ),
        (
            "ext4",
            "--mount-options",
            "stripe=1,commit=999999999999",
            "mount",
            vec!["-i", "-o", "loop,commit=999999999999", &file, &elsewhere],
            "this kernel does not take mount option \"commit=999999999999\" of ext4",
        ),
    ] {
        if !lab.has(filesystem) {
            continue;
        }
        let by_hand = Command::new(name).args(by_hand).env("LC_ALL", "C").output();
        let by_hand = by_hand.expect("it runs");
        assert!(!by_hand.status.success());
        let said = String::from_utf8(by_hand.stderr).expect("UTF-8");
        let words = said.split_whitespace().filter(|word| !word.contains("/"));
        let given = format!("{option}={text}");
        let prepare = on_image("t", filesystem, "320MB");
        let refused = lab.refused(
            &[&prepare[..], &[&given]].concat(),
            &[message, "DETAIL", &option[2..].replace('-', "_")],
        );
        let missing: Vec<&str> = words.filter(|word| !refused.contains(word)).collect();
        assert!(
            said.len() > 10 && missing.is_empty(),
            "{missing:?} of {said} in {refused}"
        );
        lab.nothing_is_left_at_once();
    }
}

fn the_geometry_that_was_asked_for_is_told(lab: &Lab) {
    for (filesystem, options, key, expected) in [
        (
            "ext4",
            "-b 4096 -E stride=16,stripe_width=64",
            "stripe_width_bytes",
            256 << 10,
        ),
        ("ext4", "-b 4096 -J size=8", "log_bytes", 8 << 20),
        ("ext4", "-O ^has_journal", "log_bytes", 0),
        ("ext2", "-I 256", "inode_bytes", 256),
        (
            "xfs",
            "-d su=16k,sw=4 -l size=64m",
            "stripe_unit_bytes",
            16 << 10,
        ),
        ("xfs", "-l size=64m -i size=1024", "inode_bytes", 1024),
        ("btrfs", "-n 32k", "node_bytes", 32 << 10),
    ] {
        if !lab.has(filesystem) {
            continue;
        }
        let given = format!("--mkfs-options={options}");
        let wanted = [
            "prepare",
            "--target",
            "t",
            "--image",
            "640MB",
            "--filesystem",
            filesystem,
            &given,
        ];
        let result: Value = serde_json::from_str(&lab.ok(&wanted)).expect("JSON");
        assert_eq!(result["geometry"][key], expected, "{filesystem} {options}");
        lab.ok(&["release", "--target", "t"]);
    }
    lab.nothing_is_left_at_once();
}

#[test]
fn images_in_memory_and_fresh_filesystems_are_sound() {
    let Some(lab) = Lab::new("images_in_memory_and_fresh_filesystems_are_sound") else {
        return;
    };
    an_image_on_tmpfs_is_as_good_and_says_whether_it_has_direct_io(&lab);
    nothing_of_an_ext4_is_left_to_be_written_after_the_mount(&lab);
}

fn an_image_on_tmpfs_is_as_good_and_says_whether_it_has_direct_io(lab: &Lab) {
    let memory = lab.path("images").display().to_string();
    system(
        "mount",
        &["-t", "tmpfs", "-o", "size=400M,mode=700", "tmpfs", &memory],
    );
    for allocated in [&[][..], &["--allocated"]] {
        let wanted = on_image("t", "ext4", "64MB");
        let result = lab.ok(&[&wanted[..], allocated].concat());
        let result: Value = serde_json::from_str(&result).expect("JSON");
        let device = result["device"].as_str().expect("a device");
        let direct = system("losetup", &["-n", "-O", "DIO", device]);
        assert_eq!(result["direct_io"], direct == "1");
        std::fs::write(lab.path("mnt/bench@t/file"), "x").expect("written");
        lab.ok(&["release", "--target", "t"]);
    }
    system("umount", &[&memory]);
    lab.nothing_is_left_at_once();
}

fn nothing_of_an_ext4_is_left_to_be_written_after_the_mount(lab: &Lab) {
    let groups = || {
        let said = system("dumpe2fs", &[&lab.loops()[0]]);
        let groups = said.lines().filter(|line| line.contains(": (Blocks "));
        let written = |line: &&str| line.contains("ITABLE_ZEROED");
        (groups.clone().count(), groups.filter(written).count())
    };
    let wanted = on_image("t", "ext4", "1GB");
    lab.ok(&wanted);
    let (all, written) = groups();
    assert!(all > 1);
    assert_eq!(written, all);
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
}

/// The highest loop device without a file: losetup takes the lowest.
fn highest_free_loop() -> String {
    let number = |node: &str| node.strip_prefix("loop")?.parse::<u32>().ok();
    let nodes = fs::read_dir("/sys/block").expect("/sys/block");
    let free = nodes.filter_map(|node| {
        let node = node.expect("a node");
        let attached = node.path().join("loop/backing_file").exists();
        let number = number(&node.file_name().to_string_lossy())?;
        (!attached && fs::exists(format!("/dev/loop{number}")).expect("/dev")).then_some(number)
    });
    format!("/dev/loop{}", free.max().expect("a free loop device"))
}

/// mkfs.btrfs fails where the list of mounts has a loop device without a file, as when another target is released meanwhile.
#[test]
#[ignore = "`make soak` has it: mkfs.btrfs of any other program fails meanwhile"]
fn mkfs_is_tried_again_where_another_mount_goes_away() {
    let Some(lab) = Lab::new("mkfs_is_tried_again_where_another_mount_goes_away") else {
        return;
    };
    if !lab.has("btrfs") {
        return;
    }
    let (place, device) = (lab.path("gone"), highest_free_loop());
    fs::create_dir(&place).expect("a directory");
    let place = place.display().to_string();
    system("mount", &["-t", "tmpfs", &device, &place]);
    let mut prepare = lab.command(&on_image("t", "btrfs", "160MB"));
    let mut prepare = prepare.stderr(Stdio::piped()).spawn().expect("the helper");
    let told = BufReader::new(prepare.stderr.take().expect("its output"));
    let mut told = told.lines().map(|line| line.expect("UTF-8"));
    // Other versions of mkfs.btrfs may not fail.
    told.find(|line| line.starts_with("mkfs: ") && line.contains("exit code 1"));
    system("umount", &[&place]);
    let rest: Vec<String> = told.collect();
    assert!(prepare.wait().expect("the helper").success(), "{rest:?}");
    lab.ok(&["release", "--target", "t"]);
    lab.nothing_is_left_at_once();
}
