//! `setup`: what it writes is what the other commands accept.

use super::bench::Bench;
use super::disk::Disk;
use super::lab::{Lab, system};
use super::overlay;
use crate::common::{execute, row};
use pgfsbench_tests::{Partition, on_disk, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

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
        "--allow-power-cuts",
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
        "power_cuts = true",
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

    // A unit that an installation has put there is used as it is.
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

    // Again, it is as it was.
    let said = lab.ok(&setup);
    assert!(said.contains("says so already"), "{said}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), written);
    lab.ok(&[&setup[..], &["--force", "--no-unit"]].concat());

    for (given, words) in [
        (["--database", "../x"], "invalid target name"),
        (["--allow-device", "/etc/passwd"], "invalid device path"),
        (
            ["--allow-device", "/dev/disk/by-id/none"],
            "ls -l /dev/disk/by-id",
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
        ("nilfs2", "nilfs-tools"),
        ("reiserfs", "reiserfsprogs"),
        ("zfs", "zfsutils-linux"),
    ] {
        let line = said.lines().find(|line| line.starts_with(filesystem));
        assert!(line.is_some_and(|line| line.contains(package)), "{said}");
    }
    assert!(said.contains("mke2fs 1."), "{said}");
    // If the kernel has no zfs, it says what would bring it; and so does a refusal.
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

/// Arguments of setup for this server.
fn setup_at<'a>(sockets: &'a str, port: &'a str, further: &[&'a str]) -> Vec<&'a str> {
    let setup = ["setup", "--no-unit", "--socket", sockets, "--port", port];
    [&setup[..], further].concat()
}

fn setup_gives_the_role_that_connects_the_rights_of_the_owner(bench: &Bench) {
    let mut client = bench.client();
    let rights = "SELECT pg_has_role('helper', (SELECT extowner FROM pg_extension WHERE extname = 'pgfsbench'), 'USAGE')";
    assert_eq!(row(&mut client, rights), "f");
    let (sockets, port) = bench.server.socket();
    let role = ["--force", "--database", "postgres", "--role", "helper"];
    let setup = setup_at(&sockets, &port, &role);
    let said = bench.lab.ok(&setup);
    assert!(
        said.contains("granted \"postgres\", the owner of the extension, to role \"helper\""),
        "{said}"
    );
    assert_eq!(row(&mut client, rights), "t");
    let said = bench.lab.ok(&setup);
    assert!(
        said.contains("has the rights of the extension's owner"),
        "{said}"
    );
    // Without systemd's unit it says how it is served.
    assert!(
        said.contains("pgfsbench-helper --config ") && said.contains(" serve\n"),
        "{said}"
    );
}

#[test]
fn setup_writes_nothing_before_all_that_it_takes_is_there_and_gives_a_role_its_rights() {
    let test = "setup_writes_nothing_before_all_that_it_takes_is_there_and_gives_a_role_its_rights";
    let Some(bench) = Bench::with_extension(test, &[]) else {
        return;
    };
    setup_writes_nothing_before_all_that_it_takes_is_there(&bench);
    setup_gives_the_role_that_connects_the_rights_of_the_owner(&bench);
}

fn setup_writes_nothing_before_all_that_it_takes_is_there(bench: &Bench) {
    let mut client = bench.client();
    for sql in ["DATABASE bare", "DATABASE other", "ROLE helper LOGIN"] {
        execute(&mut client, &format!("CREATE {sql}"));
    }
    let mut other = bench.server.connect("other");
    execute(
        &mut other,
        "CREATE EXTENSION pgfsbench; UPDATE pg_extension SET extversion = '9.9' WHERE extname = 'pgfsbench'",
    );
    fs::remove_file(bench.lab.path("helper.toml")).expect("remove");
    let images = bench.lab.path("not/yet").display().to_string();
    let (sockets, port) = bench.server.socket();
    let nowhere = bench.lab.path("nowhere").display().to_string();
    for (socket, further, words) in [
        (
            &nowhere,
            &["--database", "postgres"][..],
            &[
                "could not connect to the server",
                "No such file",
                "--socket DIRECTORY",
                "--port",
            ][..],
        ),
        (
            &sockets,
            &["--database", "none"],
            &[
                "database \"none\": the server has no such database",
                "does not exist",
                "CREATE DATABASE",
            ],
        ),
        (
            &sockets,
            &["--database", "bare"],
            &["does not have the extension", "CREATE EXTENSION pgfsbench"],
        ),
        (
            &sockets,
            &["--database", "other"],
            &["another version", "9.9", "Install the same version"],
        ),
        (
            &sockets,
            &["--database", "postgres", "--role", "nobody"],
            &["role \"nobody\" does not exist"],
        ),
        // The first is there, and the role would lack its rights; the second is not.
        (
            &sockets,
            &[
                "--database",
                "postgres",
                "--database",
                "none",
                "--role",
                "helper",
            ],
            &["\"none\" does not exist"],
        ),
        (
            &sockets,
            &["--database", "postgres", "--allow-images", "/dev/null/x"],
            &["is not a directory"],
        ),
        (&sockets, &[], &["no database is named", "--database NAME"]),
    ] {
        let further = [&["--allow-images", &images], further].concat();
        bench.lab.refused(&setup_at(socket, &port, &further), words);
        let there = ["helper.toml", "not"].map(|name| bench.lab.path(name).exists());
        assert_eq!(there, [false; 2], "{further:?}");
        let granted = "SELECT count(*) FROM pg_auth_members WHERE member = 'helper'::regrole";
        assert_eq!(row(&mut client, granted), "0", "{further:?}");
    }
    // The call put right needs nothing else; and who knows better is believed.
    let further = ["--database", "postgres", "--allow-images", &images];
    bench.lab.ok(&setup_at(&sockets, &port, &further));
    let unseen = ["--database", "later", "--no-check"];
    bench.lab.ok(&setup_at(&nowhere, &port, &unseen));
}

#[test]
fn setup_says_beforehand_what_of_a_device_will_be_refused() {
    let Some(disk) = Disk::new("setup_says_beforehand_what_of_a_device_will_be_refused") else {
        return;
    };
    let lab = &disk.lab;
    let prefix = lab.path("prefix").display().to_string();
    let usual = [
        "setup",
        "--prefix",
        &prefix,
        "--no-unit",
        "--database",
        "bench",
        "--allow-device",
        &disk.device,
    ];
    let setup = |further: &[&str]| lab.ok(&[&usual[..], further].concat());
    let written = || {
        let path = lab.path("prefix/etc/pgfsbench/helper.toml");
        fs::read_to_string(path).expect("a configuration")
    };
    let said = setup(&["--force"]);
    assert!(
        !said.contains("note: device") && !said.contains("end it"),
        "{said}"
    );
    disk.write(0, &[7; 4096]);
    let said = setup(&["--force"]);
    assert!(
        said.contains("note: device") && said.contains("run setup again with --wipe"),
        "{said}"
    );
    assert!(written().contains("wipe = false"), "{}", written());
    // As it says; the one that may be there has read what was there before.
    let said = setup(&["--wipe"]);
    assert!(said.contains("where it runs already, end it"), "{said}");
    let erases =
        "is not in use, and holds data without a known signature, which the first run erases";
    assert!(said.contains(erases), "{said}");
    assert!(written().contains("wipe = true"), "{}", written());
    let said = setup(&["--wipe", "--force"]);
    assert!(said.contains("which the first run erases"), "{said}");
    assert!(written().contains("wipe = true"), "{}", written());
    // Each time, and of what is there now.
    disk.write(0, &[0; 4096]);
    let said = setup(&["--wipe"]);
    assert!(said.contains("is not in use, and holds nothing"), "{said}");
    system("mkfs.ext4", &["-q", &disk.device]);
    let mount_point = lab.path("elsewhere").display().to_string();
    fs::create_dir(&mount_point).expect("a directory");
    system("mount", &[&disk.device, &mount_point]);
    let before = written();
    for further in [&["--wipe"][..], &["--wipe", "--force"]] {
        lab.refused(
            &[&usual[..], further].concat(),
            &[
                "is in use, and holds ext4",
                &mount_point,
                "unmount or free it",
            ],
        );
    }
    assert_eq!(written(), before);
    system("umount", &[&mount_point]);
    let said = setup(&["--wipe"]);
    assert!(said.contains("is not in use, and holds ext4"), "{said}");
    disk.blank();
    let partition = Partition::add(&disk.device, 1, 2048, 4096);
    let said = setup(&["--force"]);
    assert!(
        said.contains("the helper never erases those") && said.contains("partx --delete"),
        "{said}"
    );
    drop(partition);
    disk.write_table();
    let said = setup(&["--force"]);
    assert!(said.contains("the helper never erases that"), "{said}");
}

#[test]
fn setup_adds_to_what_is_there() {
    let test = "setup_adds_to_what_is_there";
    // Images on a mount of their own would add the mount point to the answer.
    let lab = Lab::below(on_disk(), test);
    let Some(bench) = lab.and_then(|lab| Bench::of(lab, &[])) else {
        return;
    };
    execute(&mut bench.client(), "CREATE DATABASE second");
    execute(
        &mut bench.server.connect("second"),
        "CREATE EXTENSION pgfsbench",
    );
    let (sockets, port) = bench.server.socket();
    let images = bench.lab.path("more").display().to_string();
    let mine = format!("# mine\n{}", bench.usual("postgres"));
    bench.lab.configure(&mine);
    let path = bench.lab.path("helper.toml");
    let written = || fs::read_to_string(&path).expect("a configuration");

    bench
        .lab
        .ok(&setup_at(&sockets, &port, &["--database", "second"]));
    let first = written();
    assert!(
        first.starts_with(&mine) && first.contains("name = \"second\""),
        "{first}"
    );
    // Without a database: those that are there stay, and no server is asked.
    let further = [
        "--allow-images",
        &images,
        "--max",
        "1GB",
        "--allow-drop-caches",
    ];
    bench
        .lab
        .ok(&[&["setup", "--no-unit"], &further[..]].concat());
    let second = written();
    assert!(
        second.contains(&first) && second.contains(&images),
        "{second}"
    );
    assert!(
        second.contains("drop_caches = true") && second.contains("max_bytes = 1073741824"),
        "{second}"
    );
    let said = bench
        .lab
        .ok(&[&["setup", "--no-unit"], &further[..]].concat());
    assert!(
        said.contains("says so already") && written() == second,
        "{said}"
    );
    // A configuration to which nothing can be added is written anew, and the old one is kept.
    let said = bench
        .lab
        .ok(&[&["setup", "--no-unit"], &further[..2], &["--max", "2GB"]].concat());
    assert!(said.contains("kept what it was in "), "{said}");
    let kept = path.with_extension("toml.old");
    assert_eq!(fs::read_to_string(&kept).expect("it is kept"), second);
    for path in [&path, &kept] {
        let mode = fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(
        written().contains("max_bytes = 2147483648") && written().contains("name = \"second\"")
    );
    // The helper takes it all.
    assert!(
        bench
            .lab
            .ok(&["doctor"])
            .contains("for database bench, second")
    );
    // One that does not parse is not overwritten.
    bench.lab.configure("nonsense = 1\n");
    bench.lab.refused(
        &setup_at(&sockets, &port, &["--database", "second"]),
        &["nonsense", "--force"],
    );
    assert_eq!(written(), "nonsense = 1\n");
}

/// In the place of systemctl: it writes down what it is asked for, and fails where it is told to.
const SYSTEMCTL: &str = "#!/bin/sh
echo \"$*\" >> LAB/asked
[ \"$1\" != \"$(cat LAB/fails)\" ] || { echo 'Unit pgfsbench-helper.service is masked.' >&2; exit 4; }
";
const UNIT: &str = "/etc/systemd/system/pgfsbench-helper.service";
const CONFIGURATION: &str = "/etc/pgfsbench/helper.toml";

#[test]
fn setup_enables_the_unit_where_systemd_runs_and_says_what_to_do_where_it_cannot() {
    let test = "setup_enables_the_unit_where_systemd_runs_and_says_what_to_do_where_it_cannot";
    let Some(lab) = Lab::new(test) else {
        return;
    };
    if !overlay::is_possible() {
        return skip(test, "needs overlay filesystems");
    }
    overlay::put_program(&lab, "systemctl", SYSTEMCTL);
    let of_the_machine = || {
        let files = [UNIT, CONFIGURATION, "/usr/sbin/systemctl"].map(|path| fs::read(path).ok());
        let mounts = pgfsbench_tests::mounts();
        let there = |line: &&str| {
            let place = line.split(' ').nth(1);
            place.is_some_and(|place| ["/etc", "/run", "/usr/sbin"].contains(&place))
        };
        let mounts: Vec<String> = mounts.lines().filter(there).map(str::to_owned).collect();
        (files, mounts)
    };
    let before = of_the_machine();
    let setup = |fails: &str, systemd: &str, further: &[&str]| {
        let _ = fs::remove_file(lab.path("asked"));
        fs::write(lab.path("fails"), fails).expect("a file");
        let setup = ["setup", "--database", "bench", "--no-check"];
        let arguments = [&setup[..], further];
        let command = lab.plain_command(&arguments.concat());
        // As it is after a start of the machine.
        let run = format!("mount -t tmpfs -o mode=755 tmpfs /run\n{systemd}");
        let output = overlay::run(&lab, &["/usr/sbin", "/etc"], &run, &command);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let asked = fs::read_to_string(lab.path("asked")).unwrap_or_default();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
            asked,
        )
    };
    let runs = "mkdir -p /run/systemd/system";
    let both = "daemon-reload\nenable --now pgfsbench-helper\n";
    let written = |path: &str| {
        let name = Path::new(path).strip_prefix("/etc").expect("it is there");
        overlay::over(&lab, "/etc").join(name)
    };

    // On a machine on which the helper is set up, too.
    let none = format!("rm -rf {UNIT} $(dirname {CONFIGURATION})");
    let output = overlay::run(&lab, &["/etc"], &none, &Command::new("true"));
    assert!(output.status.success(), "{output:?}");
    // Where something else starts services, systemd is not called.
    let (code, said, errors, asked) = setup("", "", &[]);
    assert_eq!(code, Some(0), "{said}{errors}");
    assert!(
        said.ends_with("start it as root, now and with the machine, by: pgfsbench-helper serve\n"),
        "{said}"
    );
    assert!(
        !said.contains("systemctl") && !written(UNIT).is_file(),
        "{said}"
    );
    assert_eq!(asked, "");
    fs::remove_file(written(CONFIGURATION)).expect("a configuration");

    let (code, said, errors, asked) = setup("", runs, &[]);
    assert_eq!(code, Some(0), "{said}{errors}");
    assert_eq!(asked, both);
    for words in [
        &format!("wrote {CONFIGURATION}\n"),
        &format!("wrote {UNIT}\n"),
        "/systemctl daemon-reload\n",
        "/systemctl enable --now pgfsbench-helper\n",
    ] {
        assert!(said.contains(words), "no `{words}` in {said}");
    }
    let unit = fs::read_to_string(written(UNIT)).expect("a unit");
    // In the usual place of the configuration nobody has to be told of it.
    assert!(
        unit.contains("/pgfsbench-helper serve\n")
            && unit.contains(&format!("ConditionPathExists={CONFIGURATION}\n")),
        "{unit}"
    );
    for (path, mode) in [(UNIT, 0o644), (CONFIGURATION, 0o600)] {
        let metadata = fs::metadata(written(path)).expect("it is there");
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{path}");
    }

    // Where it may run already, it is restarted to see what was added.
    let (code, said, errors, asked) = setup("", runs, &["--database", "second"]);
    assert_eq!(code, Some(0), "{said}{errors}");
    assert_eq!(
        asked,
        "daemon-reload\nenable pgfsbench-helper\nrestart pgfsbench-helper\n"
    );

    // The files are written all the same, and the missing step is told.
    for (fails, asks) in [("daemon-reload", "daemon-reload\n"), ("enable", both)] {
        fs::remove_file(written(UNIT)).expect("a unit");
        let (code, said, errors, asked) = setup(fails, runs, &[]);
        assert_eq!((code, asked.as_str()), (Some(1), asks), "{said}{errors}");
        assert!(said.contains(&format!("wrote {UNIT}\n")), "{said}");
        for words in [
            "systemctl failed (exit code 4)",
            &format!("systemctl {fails}"),
            "Unit pgfsbench-helper.service is masked.",
            "systemctl enable --now pgfsbench-helper",
        ] {
            assert!(errors.contains(words), "no `{words}` in {errors}");
        }
        assert!(written(UNIT).exists());
    }
    // An administrator with services of his own does not want it.
    let (code, said, errors, asked) = setup("", runs, &["--no-unit"]);
    assert_eq!(
        (code, asked.as_str(), said.contains(UNIT)),
        (Some(0), "", false),
        "{said}{errors}"
    );
    assert!(
        of_the_machine() == before,
        "the machine is not what it was before"
    );
}
