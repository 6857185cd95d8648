//! Requests that the helper refuses, whoever asks: nothing is left of the attempt.

use super::lab::{Lab, on_image, system};
use pgfsbench_tests::server_owner;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};

#[test]
fn a_configuration_that_others_can_change_is_refused() {
    let Some(lab) = Lab::new("a_configuration_that_others_can_change_is_refused") else {
        return;
    };
    let config = lab.path("helper.toml");
    let mode =
        |mode: u32| fs::set_permissions(&config, Permissions::from_mode(mode)).expect("chmod");
    lab.ok(&["cleanup"]);
    for bad in [0o620, 0o602, 0o666] {
        mode(bad);
        lab.refused(
            &["cleanup"],
            &["can be changed by others than root", "chmod go-w"],
        );
    }
    mode(0o600);
    chown(&config, server_owner(), None).expect("chown");
    lab.refused(
        &["cleanup"],
        &["can be changed by others than root", "chown root"],
    );
    chown(&config, Some(0), None).expect("chown");
    lab.ok(&["cleanup"]);

    let directory = lab.path("");
    fs::set_permissions(&directory, Permissions::from_mode(0o777)).expect("chmod");
    lab.refused(&["cleanup"], &["can be changed by others than root"]);
    fs::set_permissions(&directory, Permissions::from_mode(0o700)).expect("chmod");

    fs::rename(&config, lab.path("real.toml")).expect("rename");
    symlink(lab.path("real.toml"), &config).expect("symlink");
    lab.refused(&["cleanup"], &["could not open"]);
    fs::remove_file(&config).expect("remove");
    lab.refused(&["cleanup"], &["there is no configuration", "setup"]);
    lab.configure(&format!("{}surprise = 1\n", lab.usual()));
    lab.refused(&["cleanup"], &["invalid configuration", "surprise"]);
}

#[test]
fn hostile_names_options_and_sizes_are_refused() {
    let Some(lab) = Lab::new("hostile_names_options_and_sizes_are_refused") else {
        return;
    };
    let long = "x".repeat(64);
    for name in [
        "../x", "/etc", "a/b", ".", "-x", "a b", "a\nb", "a'b", "", "bench@t", &long,
    ] {
        let target = format!("--target={name}");
        lab.refused(
            &[
                "prepare",
                &target,
                "--filesystem",
                "ext4",
                "--image",
                "32MB",
            ],
            &["invalid target name"],
        );
        lab.refused(&["release", &target], &["invalid target name"]);
    }
    for (option, text, word) in [
        ("--mkfs-options", "-c", "mkfs option \"-c\""),
        (
            "--mkfs-options",
            "-J device=/dev/sda",
            "\"device=/dev/sda\"",
        ),
        ("--mkfs-options", "-- /dev/sda", "\"--\""),
        ("--mkfs-options", "-b $(reboot)", "\"$(reboot)\""),
        ("--mount-options", "suid", "\"suid\""),
        ("--mount-options", "noatime,dev", "\"dev\""),
        ("--mount-options", "X-mount.mkdir", "\"X-mount.mkdir\""),
        ("--mount-options", "noatime\nsuid", "invalid mount options"),
    ] {
        let given = format!("{option}={text}");
        lab.refused(
            &[&on_image("t", "ext4", "32MB")[..], &[&given]].concat(),
            &[word],
        );
    }
    lab.refused(
        &on_image("t", "ntfs", "32MB"),
        &["unknown filesystem \"ntfs\""],
    );
    lab.refused(&on_image("t", "ext4", "1MB"), &["too small"]);
    lab.refused(
        &on_image("t", "ext4", "3GB"),
        &["is not allowed in", "allows 2048 MB"],
    );
    lab.refused(&on_image("t", "ext4", "8388607TB"), &["is not allowed in"]);
    lab.configure(&lab.usual().replace("2GB", "8000000TB"));
    lab.refused(
        &on_image("t", "ext4", "7000000TB"),
        &["no room for an image"],
    );
    lab.nothing_is_left_at_once();
}

#[test]
fn limits_count_all_images() {
    let Some(lab) = Lab::new("limits_count_all_images") else {
        return;
    };
    lab.ok(&on_image("a", "ext4", "1GB"));
    lab.refused(
        &on_image("b", "ext4", "1025MB"),
        &["is not allowed in", "1024 MB are in use"],
    );
    lab.ok(&on_image("b", "ext4", "32MB"));
    lab.ok(&on_image("c", "ext4", "32MB"));
    lab.refused(&on_image("d", "ext4", "32MB"), &["too many images"]);
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

#[test]
fn a_filesystem_that_is_not_there_or_not_allowed_is_said_before_anything_is_touched() {
    let Some(lab) = Lab::new(
        "a_filesystem_that_is_not_there_or_not_allowed_is_said_before_anything_is_touched",
    ) else {
        return;
    };
    let kernel = fs::read_to_string("/proc/filesystems").expect("filesystems");
    if !kernel.lines().any(|line| line.ends_with("\tjfs")) {
        let said = lab.refused(&on_image("t", "jfs", "64MB"), &["HINT: "]);
        assert!(
            said.contains("this kernel has no jfs") || said.contains("jfsutils"),
            "{said}"
        );
    }
    lab.configure(&format!("filesystems = [\"xfs\"]\n{}", lab.usual()));
    lab.refused(&on_image("t", "ext4", "64MB"), &["ext4 is not allowed"]);
    lab.nothing_is_left_at_once();
}

#[test]
fn directories_that_are_links_or_not_roots_are_refused() {
    let Some(lab) = Lab::new("directories_that_are_links_or_not_roots_are_refused") else {
        return;
    };
    let images = lab.path("images");
    chown(&images, server_owner(), None).expect("chown");
    lab.refused(
        &on_image("t", "ext4", "32MB"),
        &["can be changed by others than root"],
    );
    chown(&images, Some(0), None).expect("chown");
    fs::set_permissions(&images, Permissions::from_mode(0o1777)).expect("chmod");
    lab.refused(
        &on_image("t", "ext4", "32MB"),
        &["can be changed by others than root"],
    );
    fs::set_permissions(&images, Permissions::from_mode(0o700)).expect("chmod");

    fs::rename(&images, lab.path("elsewhere")).expect("rename");
    symlink(lab.path("elsewhere"), &images).expect("symlink");
    lab.refused(
        &on_image("t", "ext4", "32MB"),
        &["is not a directory", "Symbolic links are not followed."],
    );
    assert_eq!(lab.list("elsewhere"), [""; 0]);
    fs::remove_file(&images).expect("remove");
    fs::rename(lab.path("elsewhere"), &images).expect("rename");

    symlink("/tmp", lab.path("mnt")).expect("symlink");
    lab.refused(&on_image("t", "ext4", "32MB"), &["is not a directory"]);
    fs::remove_file(lab.path("mnt")).expect("remove");
    lab.nothing_is_left_at_once();
}

#[test]
fn what_is_there_already_is_left_alone() {
    let Some(lab) = Lab::new("what_is_there_already_is_left_alone") else {
        return;
    };
    let image = lab.path("images/bench@t.img");
    let precious = lab.path("precious");
    fs::write(&precious, "precious").expect("write");
    for make in [
        &(|| fs::write(&image, "precious").expect("write")) as &dyn Fn(),
        &|| symlink(&precious, &image).expect("symlink"),
    ] {
        make();
        lab.refused(
            &on_image("t", "ext4", "32MB"),
            &["is there already", "somebody else's"],
        );
        lab.ok(&["cleanup"]);
        lab.ok(&["release", "--target", "t"]);
        assert_eq!(fs::read_to_string(&image).expect("it is there"), "precious");
        fs::remove_file(&image).expect("remove");
    }
    let mount_point = lab.path("mnt/bench@t");
    fs::create_dir_all(mount_point.join("precious")).expect("directories");
    lab.refused(&on_image("t", "ext4", "32MB"), &["is there already"]);
    lab.ok(&["cleanup"]);
    assert!(mount_point.join("precious").exists());
}

#[test]
fn a_forged_journal_is_not_believed() {
    let Some(lab) = Lab::new("a_forged_journal_is_not_believed") else {
        return;
    };
    let prepare = on_image("t", "ext4", "32MB");
    let killed = lab.run(&[&prepare[..], &["--stop-after", "create_image"]].concat());
    assert!(!killed.status.success());
    let entry = lab.path("state/journal/bench@t.json");
    let good = fs::read_to_string(&entry).expect("an entry");
    let images = lab.path("images").display().to_string();
    let precious = lab.path("precious");
    fs::create_dir(&precious).expect("a directory");
    fs::write(precious.join("bench@t.img"), "precious").expect("write");

    let forgeries = [
        good.replace(&images, &precious.display().to_string()),
        good.replace(&format!("{images}/bench@t.img"), "/etc/passwd"),
        good.replace("mnt/bench@t", "mnt/.."),
        good.replace("\"place\":\"bench@t\"", "\"place\":\"bench@u\""),
        good.replace("\"version\":1", "\"version\":1,\"more\":1"),
        good[..good.len() / 2].to_owned(),
        String::new(),
        "\u{0}".into(),
    ];
    for forged in forgeries {
        assert_ne!(forged, good);
        fs::write(&entry, &forged).expect("write");
        lab.refused(&["cleanup"], &["bench@t:", "is not believed"]);
        lab.refused(&["release", "--target", "t"], &["is not believed"]);
        lab.refused(&prepare, &["is not believed"]);
    }
    fs::write(&entry, &good).expect("write");
    for (make, undo) in [
        (
            &(|| chown(&entry, server_owner(), None).expect("chown")) as &dyn Fn(),
            &(|| chown(&entry, Some(0), None).expect("chown")) as &dyn Fn(),
        ),
        (
            &|| fs::set_permissions(&entry, Permissions::from_mode(0o666)).expect("chmod"),
            &|| fs::set_permissions(&entry, Permissions::from_mode(0o600)).expect("chmod"),
        ),
        (
            &|| fs::hard_link(&entry, lab.path("link")).expect("link"),
            &|| fs::remove_file(lab.path("link")).expect("remove"),
        ),
    ] {
        make();
        lab.refused(&["cleanup"], &["can be changed by others than root"]);
        undo();
    }
    assert_eq!(lab.list("images"), ["bench@t.img"]);
    assert_eq!(
        fs::read_to_string(precious.join("bench@t.img")).expect("it is there"),
        "precious"
    );
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}

#[test]
fn somebody_elses_mount_on_the_mount_point_stays() {
    let Some(lab) = Lab::new("somebody_elses_mount_on_the_mount_point_stays") else {
        return;
    };
    lab.ok(&on_image("t", "ext4", "32MB"));
    let mount_point = lab.path("mnt/bench@t").display().to_string();
    system(
        "mount",
        &["-t", "tmpfs", "-o", "size=1m", "tmpfs", &mount_point],
    );
    for arguments in [&["cleanup"][..], &["release", "--target", "t"]] {
        lab.refused(arguments, &["something else is mounted on", "tmpfs"]);
    }
    assert_eq!(lab.mounts().len(), 2);
    system("umount", &[&mount_point]);
    lab.ok(&["cleanup"]);
    lab.nothing_is_left_at_once();
}
