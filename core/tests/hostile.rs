//! Requests of hostile callers, as a table, each with words of its refusal. None of them gets as far as a plan.

use pgfsbench_core::helper::options::{
    dataset_properties, mkfs_arguments, mount_options, pool_properties,
};
use pgfsbench_core::helper::request::check_device_path;
use pgfsbench_core::helper::{Filesystem, Name, Request};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::fmt::Debug;

/// Requests, and words of the refusal.
type Table = &'static [(&'static str, &'static str)];

fn refused<T: Debug>(group: &str, table: Table, ask: impl Fn(&str) -> Result<T, Refusal>) {
    for (given, words) in table {
        let refusal = ask(given).expect_err(given);
        assert_eq!(refusal.kind, Kind::InvalidArgument, "{given:?}: {refusal}");
        assert!(refusal.message.contains(words), "{given:?}: {refusal}");
        let is_shown_raw = |text: &str| text.contains(|c: char| c.is_control());
        assert!(!is_shown_raw(&refusal.message), "{given:?}: {refusal:?}");
        assert!(
            refusal.detail.is_some() && refusal.hint.is_some(),
            "{refusal:?}"
        );
    }
    println!("refused: {0} of {0} {group}", table.len());
}

/// The filesystem's name, a colon, and the options.
fn of_filesystem(given: &str) -> (Filesystem, &str) {
    let (name, options) = given.split_once(": ").expect("a filesystem");
    (Filesystem::of_name(name).expect("a filesystem"), options)
}

const MKFS: Table = &[
    ("ext4: -F", "\"-F\""),
    ("ext4: -FF", "\"-F\""),
    ("ext4: -n", "\"-n\""),
    ("ext4: -S", "\"-S\""),
    ("ext4: -c", "\"-c\""),
    ("ext4: -cc", "\"-c\""),
    ("ext4: -v", "\"-v\""),
    ("ext4: -V", "\"-V\""),
    ("ext4: -q", "\"-q\""),
    ("ext4: -l /etc/passwd", "\"-l\""),
    ("ext4: -d /root", "\"-d\""),
    ("ext4: -z /tmp/undo", "\"-z\""),
    ("ext4: -U clear", "\"-U\""),
    ("ext4: -L label", "\"-L\""),
    ("ext4: -M /mnt", "\"-M\""),
    ("ext4: -o hurd", "\"-o\""),
    ("ext4: -e panic", "\"-e\""),
    ("ext4: -t ext2", "\"-t\""),
    ("ext4: -J device=/dev/sda", "\"device=/dev/sda\""),
    ("ext4: -J size=4,device=/dev/sda", "\"device=/dev/sda\""),
    ("ext4: -Jdevice=/dev/sda", "\"device=/dev/sda\""),
    ("ext4: -O journal_dev", "\"journal_dev\""),
    ("ext4: -O ^metadata_csum,encrypt", "\"encrypt\""),
    ("ext4: -O verity", "\"verity\""),
    ("ext4: -O ^^has_journal", "\"^^has_journal\""),
    ("ext4: -E offset=5", "\"offset=5\""),
    ("ext4: -E root_owner=0:0", "\"root_owner=0:0\""),
    ("ext4: -E root_perms=0777", "\"root_perms=0777\""),
    ("ext4: -E test_fs", "\"test_fs\""),
    ("ext4: -E stride=", "\"stride=\""),
    ("ext4: -E stride=-1", "\"stride=-1\""),
    ("ext4: -E stride=0x10", "\"stride=0x10\""),
    ("ext4: -b", "\"-b\""),
    ("ext4: -b -F", "\"-F\""),
    ("ext4: -b 3000", "\"3000\""),
    ("ext4: -b $(reboot)", "\"$(reboot)\""),
    ("ext4: -b `reboot`", "\"`reboot`\""),
    ("ext4: -b 4096;reboot", "\"4096;reboot\""),
    ("ext4: -b 4096|sh", "\"4096|sh\""),
    ("ext4: -b 4096&&sh", "\"4096&&sh\""),
    ("ext4: -b 4096>/etc/passwd", "\"4096>/etc/passwd\""),
    ("ext4: -b 4096\n-c", "invalid mkfs options"),
    ("ext4: -b 4096\0", "invalid mkfs options"),
    ("ext4: -b\t4096", "invalid mkfs options"),
    ("ext4: -b 4096\u{202e}", "invalid mkfs options"),
    ("ext4: \u{1b}[2J", "invalid mkfs options"),
    ("ext4: -é", "invalid mkfs options"),
    ("ext4: /dev/sda", "\"/dev/sda\""),
    ("ext4: -- /dev/sda", "\"--\""),
    ("ext4: -", "\"-\""),
    ("ext4: -m 99999999999999999999", "\"99999999999999999999\""),
    ("ext4: -m 1.", "\"1.\""),
    ("ext4: -T ../../etc/passwd", "\"../../etc/passwd\""),
    ("xfs: -l logdev=/dev/sda", "\"logdev=/dev/sda\""),
    ("xfs: -l size=64m,logdev=/dev/sda", "\"logdev=/dev/sda\""),
    ("xfs: -l file", "\"file\""),
    ("xfs: -r rtdev=/dev/sda", "\"-r\""),
    ("xfs: -p /root/proto", "\"-p\""),
    ("xfs: -c options=/root/x", "\"-c\""),
    ("xfs: -d name=/dev/sda", "\"name=/dev/sda\""),
    ("xfs: -d file,name=x", "\"file\""),
    ("xfs: -d rtinherit=1", "\"rtinherit=1\""),
    ("xfs: -d size=9t", "\"size=9t\""),
    ("xfs: -m uuid=x", "\"uuid=x\""),
    ("xfs: -L x", "\"-L\""),
    ("xfs: -f", "\"-f\""),
    ("xfs: -N", "\"-N\""),
    ("btrfs: -r /root", "\"-r\""),
    ("btrfs: --rootdir=/root", "\"--rootdir\""),
    ("btrfs: --rootdir /root", "\"--rootdir\""),
    ("btrfs: --subvol x", "\"--subvol\""),
    ("btrfs: -d raid0", "\"raid0\""),
    ("btrfs: -O raid56", "\"raid56\""),
    ("btrfs: -O list-all", "\"list-all\""),
    ("btrfs: -U x", "\"-U\""),
    ("f2fs: -c /dev/sda", "\"-c\""),
    ("f2fs: -E ../x", "\"-E\""),
    ("f2fs: -O encrypt", "\"encrypt\""),
    ("jfs: -j /dev/sda", "\"-j\""),
    ("jfs: -J device=/dev/sda", "\"-J\""),
    ("nilfs2: -L x", "\"-L\""),
    ("reiserfs: -j /dev/sda", "\"-j\""),
    ("reiserfs: -B file", "\"-B\""),
    ("zfs: -f", "\"-f\""),
];

const MOUNT: Table = &[
    ("ext4: suid", "\"suid\""),
    ("ext4: dev", "\"dev\""),
    ("ext4: noatime,dev", "\"dev\""),
    ("ext4: nosuid,suid", "\"suid\""),
    ("ext4: exec,suid", "\"exec\""),
    ("ext4: SUID", "\"SUID\""),
    ("ext4: ro", "\"ro\""),
    ("ext4: remount", "\"remount\""),
    ("ext4: bind", "\"bind\""),
    ("ext4: rbind", "\"rbind\""),
    ("ext4: move", "\"move\""),
    ("ext4: shared", "\"shared\""),
    ("ext4: loop", "\"loop\""),
    ("ext4: loop=/dev/loop0", "\"loop\""),
    ("ext4: offset=4096", "\"offset\""),
    ("ext4: sizelimit=1", "\"sizelimit\""),
    ("ext4: encryption=aes", "\"encryption\""),
    ("ext4: user", "\"user\""),
    ("ext4: users", "\"users\""),
    ("ext4: owner", "\"owner\""),
    ("ext4: group", "\"group\""),
    ("ext4: _netdev", "\"_netdev\""),
    ("ext4: nofail", "\"nofail\""),
    ("ext4: comment=x", "\"comment\""),
    ("ext4: helper=/tmp/x", "\"helper\""),
    ("ext4: uhelper=/tmp/x", "\"uhelper\""),
    ("ext4: X-mount.mkdir", "\"X-mount.mkdir\""),
    ("ext4: X-mount.owner=nobody", "\"X-mount.owner\""),
    ("ext4: x-systemd.automount", "\"x-systemd.automount\""),
    ("ext4: x-gvfs-show", "\"x-gvfs-show\""),
    ("ext4: context=system_u:object_r:x_t:s0", "\"context\""),
    ("ext4: context=\"a,b\"", "\"context\""),
    ("ext4: rootcontext=x", "\"rootcontext\""),
    ("ext4: errors=panic", "\"panic\""),
    ("ext2: errors=panic", "\"panic\""),
    ("jfs: errors=panic", "\"panic\""),
    ("f2fs: errors=panic", "\"errors\""),
    ("xfs: errors=panic", "\"errors\""),
    ("ext4: sb=131072", "\"sb\""),
    ("ext4: journal_dev=0x801", "\"journal_dev\""),
    ("ext4: journal_path=/dev/sda", "\"journal_path\""),
    ("ext4: resuid=1000", "\"resuid\""),
    ("ext4: resgid=1000", "\"resgid\""),
    ("ext4: usrjquota=../../x", "\"usrjquota\""),
    ("ext4: test_dummy_encryption", "\"test_dummy_encryption\""),
    ("ext4: noatime=1", "\"1\""),
    ("ext4: noatime=", "\"\""),
    ("ext4: commit", "\"commit\""),
    ("ext4: commit=", "\"commit\""),
    ("ext4: commit=-1", "\"-1\""),
    ("ext4: commit=1;reboot", "\"1;reboot\""),
    ("ext4: commit=$(id)", "\"$(id)\""),
    ("ext4: barrier=", "\"barrier\""),
    ("ext4: data=ordered\u{a0}", "invalid mount options"),
    ("ext4: noatime\nsuid", "invalid mount options"),
    ("ext4: noatime\0,suid", "invalid mount options"),
    ("ext4: no\u{200b}atime", "invalid mount options"),
    ("ext4: noatime\\054suid", "\"noatime\\054suid\""),
    ("ext4: noatime,noatime", "twice"),
    ("ext4: barrier=0,nobarrier", "exclude each other"),
    ("ext4: noatime -o suid", "\"noatime -o suid\""),
    ("ext4: -o suid", "\"-o suid\""),
    ("ext4: --bind", "\"--bind\""),
    ("ext2: data=journal", "\"data\""),
    ("xfs: logdev=/dev/sda", "\"logdev\""),
    ("xfs: rtdev=/dev/sda", "\"rtdev\""),
    ("xfs: nouuid", "\"nouuid\""),
    ("xfs: norecovery", "\"norecovery\""),
    ("btrfs: device=/dev/sda", "\"device\""),
    ("btrfs: subvol=x", "\"subvol\""),
    ("btrfs: subvolid=5", "\"subvolid\""),
    ("btrfs: degraded", "\"degraded\""),
    ("btrfs: rescue=all", "\"rescue\""),
    ("btrfs: fatal_errors=panic", "\"fatal_errors\""),
    ("f2fs: checkpoint=disable", "\"checkpoint\""),
    ("f2fs: fault_injection=1", "\"fault_injection\""),
    ("nilfs2: cp=1", "\"cp\""),
    ("nilfs2: errors=panic", "\"panic\""),
    ("nilfs2: norecovery", "\"norecovery\""),
    ("reiserfs: jdev=/dev/sda", "\"jdev\""),
    ("zfs: zfsutil", "\"zfsutil\""),
];

const DEVICES: Table = &[
    ("", "invalid device path"),
    ("/", "invalid device path"),
    ("/dev", "invalid device path"),
    ("/dev/", "invalid device path"),
    ("dev/sda", "invalid device path"),
    ("sda", "invalid device path"),
    ("/etc/passwd", "invalid device path"),
    ("/proc/1/fd/3", "invalid device path"),
    ("/dev/../etc/passwd", "invalid device path"),
    ("/dev/./sda", "invalid device path"),
    ("/dev//sda", "invalid device path"),
    ("/dev/sda/", "invalid device path"),
    ("/dev/sda/..", "invalid device path"),
    ("//dev/sda", "invalid device path"),
    ("/DEV/sda", "invalid device path"),
    ("/dev/sda /dev/sdb", "invalid device path"),
    ("/dev/sda\n", "invalid device path"),
    ("/dev/sda\0", "invalid device path"),
    ("/dev/sd*", "invalid device path"),
    ("/dev/$HOME", "invalid device path"),
    ("/dev/sda;reboot", "invalid device path"),
    ("/dev/`id`", "invalid device path"),
    ("/dev/s\u{200b}da", "invalid device path"),
    ("/dev/größe", "invalid device path"),
    ("/dev/sda,suid", "invalid device path"),
    ("-/dev/sda", "invalid device path"),
    ("UUID=1234", "invalid device path"),
    ("/devil/sda", "invalid device path"),
];

const NAMES: Table = &[
    ("", "invalid target name"),
    (".", "invalid target name"),
    ("..", "invalid target name"),
    ("../x", "invalid target name"),
    ("a/b", "invalid target name"),
    ("/etc", "invalid target name"),
    ("-x", "invalid target name"),
    ("--all", "invalid target name"),
    ("_x", "invalid target name"),
    ("+x", "invalid target name"),
    ("a b", "invalid target name"),
    ("a\nb", "invalid target name"),
    ("a\0b", "invalid target name"),
    ("a'b", "invalid target name"),
    ("a\"b", "invalid target name"),
    ("a;b", "invalid target name"),
    ("$(id)", "invalid target name"),
    ("a@b", "invalid target name"),
    ("a:b", "invalid target name"),
    ("a,b", "invalid target name"),
    ("a\\b", "invalid target name"),
    ("größe", "invalid target name"),
    ("a\u{202e}b", "invalid target name"),
    ("аdmin", "invalid target name"),
    ("\u{1b}[2J", "invalid target name"),
    (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "invalid target name",
    ),
];

const POOLS: Table = &[
    ("cachefile=/etc/passwd", "\"cachefile\""),
    ("altroot=/", "\"altroot\""),
    ("compatibility=/etc/passwd", "\"compatibility\""),
    ("failmode=panic", "\"panic\""),
    ("ashift=12,ashift=9", "twice"),
    ("ashift", "\"ashift\""),
    ("ashift=64", "\"64\""),
    ("feature@encryption=enabled", "\"feature@encryption\""),
    ("-o", "\"-o\""),
    ("ashift=12\nx", "invalid pool options"),
    ("autotrim=on;reboot", "\"on;reboot\""),
    ("delegation=on", "\"delegation\""),
];

const DATASETS: Table = &[
    ("mountpoint=/etc", "\"mountpoint\""),
    ("canmount=on", "\"canmount\""),
    ("keylocation=file:///etc/shadow", "\"keylocation\""),
    ("encryption=on", "\"encryption\""),
    ("sharenfs=on", "\"sharenfs\""),
    ("sharesmb=on", "\"sharesmb\""),
    ("setuid=on", "\"setuid\""),
    ("devices=on", "\"devices\""),
    ("exec=on", "\"exec\""),
    ("zoned=on", "\"zoned\""),
    ("quota=1", "\"quota\""),
    ("org.x:y=1", "\"org.x:y\""),
    ("recordsize=8K;reboot", "\"8K;reboot\""),
    ("recordsize=8K,setuid=on", "\"setuid\""),
];

/// The action, the target, and the request, with a space between them.
const JOBS: Table = &[
    ("execute t {}", "unknown action"),
    ("prepare; t {}", "unknown action"),
    ("PREPARE t {}", "unknown action"),
    ("release ../../etc {}", "invalid target name"),
    ("remount /etc {}", "invalid target name"),
    ("prepare t@u {}", "invalid target name"),
    ("prepare t {}", "request is not understood"),
    ("prepare t []", "request is not understood"),
    ("prepare t null", "request is not understood"),
    ("prepare t x", "request is not understood"),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":33554432}},\"filesystem\":\"ntfs\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":33554432}},\"filesystem\":\"EXT4\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":-1}},\"filesystem\":\"ext4\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":1e30}},\"filesystem\":\"ext4\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":1}},\"filesystem\":\"ext4\"}",
        "too small",
    ),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":18446744073709551615}},\"filesystem\":\"ext4\"}",
        "too large",
    ),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":33554432,\"path\":\"/etc/passwd\"}},\"filesystem\":\"ext4\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"image\":{\"bytes\":33554432,\"directory\":\"/etc\"}},\"filesystem\":\"ext4\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"directory\":\"/etc\"},\"filesystem\":\"ext4\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/etc/passwd\"}},\"filesystem\":\"ext4\"}",
        "invalid device path",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\",\"wipe\":true}},\"filesystem\":\"ext4\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\",\"serial\":\"a\\nb\"}},\"filesystem\":\"ext4\"}",
        "invalid serial of a device",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\",\"force\":true}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\",\"mount_point\":\"/\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\",\"owner\":\"root\"}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\",\"mkfs_options\":\"-d /root\"}",
        "\"-d\"",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\",\"mount_options\":\"suid\"}",
        "\"suid\"",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\",\"mount_options\":[\"suid\"]}",
        "request is not understood",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\",\"pool_properties\":\"ashift=12\"}",
        "takes no pool_properties",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"btrfs\",\"log\":{\"image\":{\"bytes\":99999999}}}",
        "takes no log",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"xfs\",\"log\":{\"device\":{\"path\":\"/dev/sda\"}}}",
        "the log is on the device",
    ),
    (
        "prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"xfs\",\"log\":{\"device\":{\"path\":\"/dev/../x\"}}}",
        "invalid device path",
    ),
    (
        "plan t {\"storage\":{\"device\":{\"path\":\"/tmp/x\"}},\"filesystem\":\"ext4\"}",
        "invalid device path",
    ),
];

/// As a JSON object in a request, of the queue and of the kernel.
const BLOCK: Table = &[
    ("{\"scheduler\":\"../../x\"}", "invalid I/O scheduler"),
    ("{\"scheduler\":\"\"}", "invalid I/O scheduler"),
    ("{\"scheduler\":\"none\\n\"}", "invalid I/O scheduler"),
    ("{\"scheduler\":\"NONE\"}", "invalid I/O scheduler"),
    ("{\"scheduler\":\"none bfq\"}", "invalid I/O scheduler"),
    (
        "{\"scheduler\":\"xxxxxxxxxxxxxxxxx\"}",
        "invalid I/O scheduler",
    ),
    ("{\"scheduler\":1}", "request is not understood"),
    ("{\"read_ahead_kb\":1}", "read_ahead_kb"),
    ("{\"read_ahead_kb\":-4}", "request is not understood"),
    ("{\"read_ahead_kb\":4294967296}", "read_ahead_kb"),
    (
        "{\"read_ahead_kb\":\"4; reboot\"}",
        "request is not understood",
    ),
    ("{\"nr_requests\":0}", "nr_requests"),
    ("{\"nr_requests\":100000}", "nr_requests"),
    ("{\"wbt_lat_usec\":0}", "request is not understood"),
    (
        "{\"../../../vm/drop_caches\":3}",
        "request is not understood",
    ),
];

const KERNEL: Table = &[
    ("{\"dirty_ratio\":101}", "dirty_ratio"),
    ("{\"dirty_ratio\":-1}", "request is not understood"),
    ("{\"dirty_bytes\":0}", "dirty_bytes"),
    ("{\"dirty_bytes\":1}", "dirty_bytes"),
    (
        "{\"dirty_bytes\":8388608,\"dirty_ratio\":5}",
        "exclude each other",
    ),
    ("{\"swappiness\":0}", "request is not understood"),
    ("{\"overcommit_memory\":1}", "request is not understood"),
    (
        "{\"../kernel/core_pattern\":\"|/tmp/x\"}",
        "request is not understood",
    ),
    ("{\"drop_caches\":3}", "request is not understood"),
    ("{\"panic_on_oom\":2}", "request is not understood"),
];

fn job(given: &str) -> Result<Request, Refusal> {
    let mut words = given.splitn(3, ' ');
    let mut next = || words.next().expect("three words");
    Request::of_job(next(), next(), next())
}

fn settings(name: &str, given: &str) -> Result<Request, Refusal> {
    let request = format!(
        "{{\"storage\":{{\"device\":{{\"path\":\"/dev/sda\"}}}},\"filesystem\":\"ext4\",\"{name}\":{given}}}"
    );
    Request::of_job("prepare", "t", &request)
}

#[test]
fn what_hostile_callers_ask_for_is_refused() {
    refused("mkfs options", MKFS, |given| {
        let (filesystem, options) = of_filesystem(given);
        mkfs_arguments(filesystem, options)
    });
    refused("mount options", MOUNT, |given| {
        let (filesystem, options) = of_filesystem(given);
        mount_options(filesystem, options)
    });
    refused("device paths", DEVICES, check_device_path);
    refused("names", NAMES, |given| Name::new(given));
    refused("pool properties", POOLS, pool_properties);
    refused("dataset properties", DATASETS, dataset_properties);
    refused("jobs", JOBS, job);
    refused("block settings", BLOCK, |given| {
        settings("block_settings", given)
    });
    refused("kernel settings", KERNEL, |given| {
        settings("kernel_settings", given)
    });
    let long = "x".repeat(100_000);
    assert!(mkfs_arguments(Filesystem::Ext4, &long).is_err());
    assert!(mount_options(Filesystem::Ext4, &long).is_err());
    assert!(check_device_path(&format!("/dev/{long}")).is_err());
    assert!(Request::of_job("prepare", "t", &long).is_err());
    println!("refused: 4 of 4 texts of 100,000 characters");
}

/// Requests without the hostile option are accepted: so the option was refused.
#[test]
fn what_stands_beside_it_is_accepted() {
    for filesystem in Filesystem::ALL {
        assert!(mkfs_arguments(filesystem, "").is_ok());
        assert!(mount_options(filesystem, "").is_ok());
    }
    assert!(
        job("prepare t {\"storage\":{\"device\":{\"path\":\"/dev/sda\"}},\"filesystem\":\"ext4\"}")
            .is_ok()
    );
    assert!(
        settings(
            "block_settings",
            "{\"scheduler\":\"none\",\"read_ahead_kb\":128}"
        )
        .is_ok()
    );
    assert!(settings("kernel_settings", "{\"dirty_ratio\":5}").is_ok());
}
