//! `setup`: what it writes is what the other commands accept.

use super::bench::Bench;
use super::disk::Disk;
use super::lab::Lab;
use crate::common::{execute, row};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn setup_writes_a_configuration_that_only_root_can_read_and_does_not_replace_one() {
    let Some(disk) =
        Disk::new("setup_writes_a_configuration_that_only_root_can_read_and_does_not_replace_one")
    else {
        return;
    };
    let lab = &disk.lab;
    let prefix = lab.path("prefix").display().to_string();
    let images = lab.path("more/images").display().to_string();
    let setup = [
        "setup",
        "--prefix",
        &prefix,
        "--database",
        "bench",
        "--database",
        "other",
        "--allow-images",
        &images,
        "--max",
        "4GB",
        "--allow-device",
        &disk.device,
        "--allow-kernel-settings",
        "--allow-drop-caches",
    ];
    let said = lab.ok(&setup);
    let path = lab.path("prefix/etc/pgfsbench/helper.toml");
    assert!(
        said.contains(&format!("wrote {}", path.display())),
        "{said}"
    );
    let written = fs::read_to_string(&path).expect("a configuration");
    for words in [
        "name = \"bench\"",
        "connection = \"host=/run/postgresql dbname=other user=postgres\"",
        "max_bytes = 4294967296",
        &format!("path = \"{}\"", disk.device),
        "wipe = false",
        "kernel_settings = true",
        "drop_caches = true",
    ] {
        assert!(written.contains(words), "no `{words}` in {written}");
    }
    for (path, mode) in [(&path, 0o600), (&lab.path("more/images"), 0o700)] {
        let metadata = fs::metadata(path).expect("it is there");
        assert_eq!(metadata.permissions().mode() & 0o777, mode);
    }
    let unit = fs::read_to_string(lab.path("prefix/etc/systemd/system/pgfsbench-helper.service"));
    let unit = unit.expect("a unit");
    assert!(
        unit.contains("/pgfsbench-helper serve\n") && unit.contains("KillMode=process\n"),
        "{unit}"
    );
    // Servers have to see what it mounts.
    for word in [
        "PrivateMounts",
        "PrivateTmp",
        "PrivateDevices",
        "ProtectSystem",
        "MountFlags",
    ] {
        assert!(!unit.lines().any(|line| line.starts_with(word)), "{unit}");
    }

    // What an installation has put there is used as it is.
    let said = lab.ok(&[&setup[..], &["--force"]].concat());
    assert!(said.contains("wrote") && !said.contains("found"), "{said}");
    let (own, installed) = (
        lab.path("prefix/etc/systemd/system/pgfsbench-helper.service"),
        lab.path("prefix/usr/lib/systemd/system/pgfsbench-helper.service"),
    );
    fs::create_dir_all(installed.parent().expect("a parent")).expect("a directory");
    fs::rename(&own, &installed).expect("rename");
    let said = lab.ok(&[&setup[..], &["--force"]].concat());
    let found = format!("found {}", installed.display());
    assert!(said.contains(&found) && !own.exists(), "{said}");

    // The commands take it; below a directory of this test's.
    let below = |name: &str| format!("{name} = {:?}\n", lab.path(name));
    let own = written
        .lines()
        .filter(|line| !line.starts_with("mount_root") && !line.starts_with("state"))
        .collect::<Vec<_>>()
        .join("\n");
    lab.configure(&format!("{}{}{own}", below("mount_root"), below("state")));
    assert!(
        lab.ok(&[
            "plan",
            "--target",
            "t",
            "--filesystem",
            "ext4",
            "--image",
            "1GB"
        ])
        .contains(&images)
    );

    lab.refused(&setup, &["exists", "--force"]);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), written);
    lab.ok(&[&setup[..], &["--force", "--no-unit"]].concat());

    for (given, words) in [
        (["--database", "../x"], "invalid target name"),
        (["--allow-device", "/etc/passwd"], "invalid device path"),
        (
            ["--allow-device", "/dev/disk/by-id/none"],
            "there is no device",
        ),
        (["--max", "lots"], "invalid size"),
        (["--role", "x password=y"], "not supported"),
    ] {
        let mut arguments = vec!["setup", "--prefix", &prefix, "--force", "--no-unit"];
        if given[0] != "--database" {
            arguments.extend(["--database", "bench"]);
        }
        arguments.extend(given);
        lab.refused(&arguments, &[words]);
    }
}

#[test]
fn doctor_names_every_filesystem_with_its_package() {
    let Some(lab) = Lab::new("doctor_names_every_filesystem_with_its_package") else {
        return;
    };
    let said = lab.ok(&["doctor"]);
    for (filesystem, package) in [
        ("ext4", "e2fsprogs"),
        ("xfs", "xfsprogs"),
        ("btrfs", "btrfs-progs"),
        ("f2fs", "f2fs-tools"),
        ("jfs", "jfsutils"),
        ("reiserfs", "reiserfsprogs"),
        ("zfs", "zfsutils-linux"),
    ] {
        let line = said.lines().find(|line| line.starts_with(filesystem));
        assert!(line.is_some_and(|line| line.contains(package)), "{said}");
    }
    assert!(said.contains("mke2fs 1."), "{said}");
    // Where the kernel has no zfs, it says what would bring it; and so does who is asked for it.
    if lab.can("zfs").is_err() {
        let wanted = [
            "plan",
            "--target",
            "t",
            "--filesystem",
            "zfs",
            "--image",
            "1GB",
        ];
        lab.refused(&wanted, &["zfs", "Debian", "package"]);
    }
}

#[test]
fn setup_gives_the_role_that_connects_the_rights_of_the_owner() {
    let test = "setup_gives_the_role_that_connects_the_rights_of_the_owner";
    let Some(bench) = Bench::with_extension(test, &[]) else {
        return;
    };
    let mut client = bench.client();
    execute(&mut client, "CREATE ROLE helper LOGIN");
    let rights = "SELECT pg_has_role('helper', (SELECT extowner FROM pg_extension WHERE extname = 'pgfsbench'), 'USAGE')";
    assert_eq!(row(&mut client, rights), "f");
    let (sockets, port) = bench.server.socket();
    let setup = |database: &str| {
        bench.lab.ok(&[
            "setup",
            "--force",
            "--no-unit",
            "--database",
            database,
            "--role",
            "helper",
            "--socket",
            &sockets,
            "--port",
            &port,
        ])
    };
    let said = setup("postgres");
    assert!(
        said.contains("granted \"postgres\", the owner of the extension, to role \"helper\""),
        "{said}"
    );
    assert_eq!(row(&mut client, rights), "t");
    let said = setup("postgres");
    assert!(said.contains("role \"helper\" has the rights"), "{said}");
    // Where nobody can be asked, that is said, and the configuration is there all the same.
    let said = setup("nowhere");
    assert!(
        said.contains("wrote ") && said.contains("could not see to the rights of role helper"),
        "{said}"
    );
}
