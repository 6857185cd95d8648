//! zfs, which no kernel here has: with programs in its place that write down what they are asked for, and say what the real ones
//! say. Up to the mount, which fails; what was made has to go again.

use super::lab::Lab;
use super::overlay;
use pgfsbench_tests::{on_disk, skip};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;

/// The pool is a file with its name and its devices.
const ZPOOL: &str = r#"#!/bin/sh
echo "zpool $*" >> LAB/asked
read -r name devices 2> /dev/null < LAB/pool
for last; do :; done
case $1 in
    version) echo zfs-2.1.11-1 ;;
    create)
        devices=''
        for word; do
            case $word in
                pgfsbench-*) name=$word ;;
                /dev/*)
                    [ -b "$word" ] || { echo "cannot open '$word'"; exit 1; }
                    devices="$devices $word" ;;
            esac
        done
        echo "$name$devices" > LAB/pool ;;
    destroy) [ "$last" = "$name" ] && rm LAB/pool ;;
    *)
        [ "$last" = "$name" ] || { echo "cannot open '$last': no such pool"; exit 1; }
        case "$*" in
            list*) printf '%s\t1G\t100K\n' "$name"; printf '\t%s\t1G\t-\n' $devices ;;
            *guid*) echo 12345678901234567890 ;;
            *) printf 'ashift\t12\n' ;;
        esac ;;
esac
"#;
const ZFS: &str = r#"#!/bin/sh
echo "zfs $*" >> LAB/asked
[ "$1" = create ] || printf 'recordsize\t8192\ncompression\ton\n'
"#;
const MOUNT: &str =
    "#!/bin/sh\necho \"mount.zfs $*\" >> LAB/asked\necho 'filesystem cannot be mounted'\nexit 1\n";
const MODPROBE: &str = "#!/bin/sh\nexit 0\n";

const PREPARE: [&str; 13] = [
    "prepare",
    "--target",
    "t",
    "--filesystem",
    "zfs",
    "--image",
    "320MB",
    "--log-image",
    "128MB",
    "--pool-properties",
    "ashift=12",
    "--dataset-properties",
    "recordsize=8K,compression=lz4",
];

/// Runs the helper where these programs are in /usr/sbin, invisible to other processes.
fn run(lab: &Lab, arguments: &[&str]) -> Output {
    overlay::run(lab, &["/usr/sbin"], "", &lab.command(arguments))
}

fn zfs(test: &str) -> Option<Lab> {
    // A file on a mount of a namespace that has ended has lost the first part of its name: hence no filesystem of the tests'.
    let lab = Lab::below(on_disk(), test)?;
    let is_linked = fs::read_link("/sbin").is_ok_and(|to| to == Path::new("usr/sbin"));
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if !is_linked || !overlay::is_possible() || known.contains("\tzfs\n") {
        skip(test, "needs overlay filesystems, and no zfs");
        return None;
    }
    for (name, text) in [
        ("zpool", ZPOOL),
        ("zfs", ZFS),
        ("mount.zfs", MOUNT),
        ("modprobe", MODPROBE),
    ] {
        overlay::put_program(&lab, name, text);
    }
    Some(lab)
}

fn pool_is_gone(lab: &Lab, when: &str) {
    assert!(!lab.path("pool").exists(), "{when}: the pool is there");
    lab.nothing_is_left_at_once();
}

#[test]
fn a_pool_that_cannot_be_mounted_is_destroyed() {
    let Some(lab) = zfs("a_pool_that_cannot_be_mounted_is_destroyed") else {
        return;
    };
    let output = run(&lab, &PREPARE);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("filesystem cannot be mounted"), "{said}");
    pool_is_gone(&lab, "refused");
    let asked = fs::read_to_string(lab.path("asked")).expect("what was asked for");
    for words in [
        "zpool create -f -o cachefile=none -O canmount=off -O mountpoint=none -O setuid=off -O devices=off -o ashift=12 pgfsbench-bench:t /dev/loop",
        "zfs create -o mountpoint=legacy -o setuid=off -o devices=off -o recordsize=8K -o compression=lz4 pgfsbench-bench:t/data",
        "mount.zfs pgfsbench-bench:t/data",
        "zpool destroy pgfsbench-bench:t",
    ] {
        assert!(asked.contains(words), "no `{words}` in {asked}");
    }
    assert!(asked.lines().any(|l| l.starts_with("zpool create")
        && l.contains("p1 log /dev/loop")
        && l.ends_with("p1")));
}

#[test]
#[ignore = "`make soak` has it"]
fn killed_at_any_step_the_pool_goes_and_nobody_elses_does() {
    let Some(lab) = zfs("killed_at_any_step_the_pool_goes_and_nobody_elses_does") else {
        return;
    };
    for step in [
        "attach",
        "add_partition",
        "create_pool",
        "create_dataset",
        "properties",
    ] {
        for when in ["--stop-before", "--stop-after"] {
            let killed = run(&lab, &[&PREPARE[..], &[when, step]].concat());
            let said = String::from_utf8_lossy(&killed.stderr);
            assert_eq!(killed.status.signal(), Some(9), "{when} {step}: {said}");
            let cleanup = run(&lab, &["cleanup"]);
            let said = String::from_utf8_lossy(&cleanup.stderr);
            assert!(cleanup.status.success(), "{when} {step}: {said}");
            pool_is_gone(&lab, step);
        }
    }
    // Another pool of that name was made meanwhile.
    run(
        &lab,
        &[&PREPARE[..], &["--stop-after", "create_dataset"]].concat(),
    );
    let ours = fs::read_to_string(lab.path("pool")).expect("a pool");
    fs::write(lab.path("pool"), "pgfsbench-bench:t /dev/null\n").expect("written");
    let refused = run(&lab, &["cleanup"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("is not the one that was made"), "{said}");
    assert!(lab.path("pool").exists());
    fs::write(lab.path("pool"), ours).expect("written");
    assert!(run(&lab, &["cleanup"]).status.success());
    pool_is_gone(&lab, "put right");
    // One that the journal does not name is in the way.
    fs::write(lab.path("pool"), "pgfsbench-bench:t /dev/null\n").expect("written");
    let refused = run(&lab, &PREPARE);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("there is a pool pgfsbench-bench:t already"),
        "{said}"
    );
    assert!(lab.path("pool").exists());
    lab.nothing_is_left_at_once();
}
