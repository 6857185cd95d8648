//! Plans with a log elsewhere.

use super::*;
use pgfsbench_core::helper::{InitialSync, Layout, Log};

const LOG: &str = "/dev/disk/by-id/wiped";

fn with_image(fs: Filesystem, mkfs_options: &str) -> Prepare {
    let storage = Storage::Image {
        bytes: 1 << 30,
        sparse: true,
    };
    Prepare {
        log: Some(Log::Image { bytes: 1 << 27 }),
        mkfs_options: Some(mkfs_options.into()),
        ..Prepare::new(storage, fs)
    }
}

#[test]
fn an_image_for_the_journal_of_ext4_step_by_step() {
    let plan = planned(&with_image(Filesystem::Ext4, "-b 2048"), &facts()).unwrap();
    let script = script(&plan, "/dev/loop3");
    assert_eq!(
        script[..7],
        [
            "create file /srv/small/bench@t.img of 1073741824 bytes, sparse, mode 0600",
            "/usr/sbin/losetup --find --show --direct-io=on /srv/small/bench@t.img",
            // The first directory has no room for it.
            "create file /srv/big/bench@t@log.img of 134217728 bytes, sparse, mode 0600",
            "/usr/sbin/losetup --find --show --direct-io=on /srv/big/bench@t@log.img",
            "/usr/sbin/mkfs.x -q -F -O journal_dev -b 2048 -U 00000000-0000-4000-8000-000000000001 /dev/log",
            "/usr/sbin/mkfs.x -q -F -U 00000000-0000-4000-8000-000000000000 -b 2048 -E lazy_itable_init=0,lazy_journal_init=0 -J device=/dev/log /dev/loop3",
            "make directory /run/pgfsbench/mnt/bench@t, mode 0700",
        ]
    );
    assert!(script[7].contains("-o nosuid,nodev,journal_path=/dev/log /dev/loop3"));
    assert_eq!(plan.mount_options, ["nosuid", "nodev"]);
}

#[test]
fn a_device_for_the_log_of_xfs_is_checked_before_anything_is_erased() {
    let request = Prepare {
        storage: Storage::Device(DeviceRequest::of_path("/dev/disk/by-id/a")),
        log: Some(Log::Device(DeviceRequest::of_path(LOG))),
        ..Prepare::new(
            Storage::Device(DeviceRequest::of_path("/dev/disk/by-id/a")),
            Filesystem::Xfs,
        )
    };
    let mut log = a_device(Contents::Empty);
    let mut facts = Facts {
        devices: vec![found(a_device(Contents::Empty), false)],
        ..facts()
    };
    // The facts of the device are unknown, since the configuration lacks it.
    let refusal = planned(&request, &facts).unwrap_err();
    assert!(refusal.message.contains(LOG), "{refusal}");
    facts.log_devices = vec![found(log.clone(), false)];
    let refusal = planned(&request, &facts).unwrap_err();
    assert_eq!(
        refusal.message,
        "the log is on the device of the filesystem"
    );
    log.identity.minor = 32;
    log.identity.bytes = 1 << 27;
    log.in_use = Some("It is mounted on /.".into());
    facts.log_devices = vec![found(log.clone(), true)];
    let refusal = planned(&request, &facts).unwrap_err();
    assert_eq!(refusal.message, format!("device {LOG} is in use"));
    log.in_use = None;
    facts.log_devices = vec![found(log, false)];
    let script = script(&planned(&request, &facts).unwrap(), "/dev/sdb");
    assert!(script[0].starts_with("check again that /dev/disk/by-id/a is"));
    assert!(script[1].starts_with("check again that /dev/disk/by-id/wiped is"));
    assert_eq!(script[2], "/usr/sbin/wipefs --all /dev/sdb");
    assert_eq!(script[3], "/usr/sbin/wipefs --all /dev/log");
    assert!(script[4].ends_with("-l logdev=/dev/log /dev/sdb"));
    assert!(script[6].contains(",logdev=/dev/log /dev/sdb"));
}

#[test]
fn a_large_device_for_the_log_of_xfs_is_not_used_up() {
    let line = |options: &str, bytes: u64| {
        let request = Prepare {
            log: Some(Log::Image { bytes }),
            ..with_image(Filesystem::Xfs, options)
        };
        script(&planned(&request, &facts()).unwrap(), "/dev/loop3")[4].clone()
    };
    assert!(line("", 3 << 30).ends_with("-l logdev=/dev/log,size=2136997888 /dev/loop3"));
    assert!(line("-l size=1g", 3 << 30).ends_with("-l size=1g -l logdev=/dev/log /dev/loop3"));
    assert!(line("", 1 << 30).ends_with("-l logdev=/dev/log /dev/loop3"));
}

/// mkfs.xfs 6.1 takes sectors of 512 bytes for a log on another device, and then refuses a device that has larger ones.
#[test]
fn the_log_of_xfs_has_sectors_as_its_device_has_them() {
    let line = |options: &str, sectors: [u64; 2]| {
        let plan = planned(&with_image(Filesystem::Xfs, options), &facts()).unwrap();
        let script = script_with(&plan, "/dev/loop3", sectors);
        assert!(
            script[6].ends_with(",logdev=/dev/log /dev/loop3 /run/pgfsbench/mnt/bench@t"),
            "{script:?}"
        );
        script[4].split("-l ").last().unwrap().to_owned()
    };
    let plain = "logdev=/dev/log /dev/loop3";
    assert_eq!(line("", [512, 512]), plain);
    assert_eq!(line("", [4096, 512]), plain);
    assert_eq!(line("", [0, 0]), plain);
    assert_eq!(
        line("", [4096, 4096]),
        "logdev=/dev/log,sectsize=4096 /dev/loop3"
    );
    assert_eq!(
        line("", [512, 4096]),
        "logdev=/dev/log,sectsize=4096 -s size=4096 /dev/loop3"
    );
    assert_eq!(
        line("-s size=4096", [512, 4096]),
        "logdev=/dev/log,sectsize=4096 /dev/loop3"
    );
}

/// Two devices of the log, which the configuration names, and facts about them.
fn mirrored(fs: Filesystem) -> (Prepare, Facts) {
    let request = Prepare {
        log: Some(Log::Devices(
            [LOG, "/dev/disk/by-id/log2"]
                .map(DeviceRequest::of_path)
                .to_vec(),
        )),
        ..Prepare::new(
            Storage::Image {
                bytes: 1 << 30,
                sparse: true,
            },
            fs,
        )
    };
    let log = |minor| {
        let mut log = a_device(Contents::Empty);
        log.identity.minor = minor;
        found(log, false)
    };
    let facts = Facts {
        log_devices: vec![log(32), log(48)],
        ..facts()
    };
    (request, facts)
}

const ARRAY: &str = "/dev/md/pgfsbench-11111111";

#[test]
fn a_mirrored_journal_is_made_on_its_array_when_that_is_in_sync() {
    let (request, facts) = mirrored(Filesystem::Ext4);
    let script = script(&planned(&request, &facts).unwrap(), "/dev/loop3");
    let place = |begin: &str| script.iter().position(|line| line.starts_with(begin));
    let wiped = place("/usr/sbin/wipefs --all /dev/log").unwrap();
    assert!(
        script[..wiped]
            .iter()
            .any(|line| line.contains("check again that /dev/disk/by-id/log2 is"))
    );
    assert_eq!(
        script[wiped..wiped + 7],
        [
            "/usr/sbin/wipefs --all /dev/log",
            "/usr/sbin/wipefs --all /dev/logb",
            &format!(
                "/usr/sbin/mdadm --create {ARRAY} --run --metadata=1.2 --uuid=11111111-0000-4000-8000-000000000003 --homehost=any \
                 --name=pgfsbench --level=raid1 --raid-devices=2 --bitmap=none /dev/log /dev/logb"
            ),
            &format!("/usr/sbin/wipefs --all {ARRAY}"),
            "read sync_action, sync_completed, degraded and resync_start of the array until it is in sync",
            &format!(
                "/usr/sbin/mkfs.x -q -F -O journal_dev -b 4096 -U 00000000-0000-4000-8000-000000000001 {ARRAY}"
            ),
            &format!(
                "/usr/sbin/mkfs.x -q -F -U 00000000-0000-4000-8000-000000000000 -E lazy_itable_init=0,lazy_journal_init=0 -J device={ARRAY} /dev/loop3"
            ),
        ]
    );
    assert!(
        script
            .iter()
            .any(|line| line.contains(&format!(",journal_path={ARRAY} /dev/loop3")))
    );
}

/// Chunks of the filesystem's array over 256 KiB give a log inside of it stripes of 32 KiB. A mirror has no stripes.
#[test]
fn a_mirrored_log_of_xfs_stands_beside_an_array_of_lvm() {
    let (request, facts) = mirrored(Filesystem::Xfs);
    let request = Prepare {
        storage: Storage::Images {
            count: 2,
            bytes: 1 << 30,
            sparse: true,
        },
        layout: Some(Layout::LvmRaid1),
        initial_sync: Some(InitialSync::Check),
        ..request
    };
    let plan = planned(&request, &facts).unwrap();
    let script = script(&plan, "/dev/loop3");
    let waits: Vec<_> = script
        .iter()
        .filter(|line| line.ends_with("check it"))
        .collect();
    assert_eq!(waits.len(), 2, "{script:?}");
    let mkfs = script.iter().find(|line| line.contains("/mkfs.x")).unwrap();
    let volume = "/dev/mapper/pgfsbench_00000000-data";
    assert!(
        mkfs.ends_with(&format!(" -l logdev={ARRAY},size=1868562432 {volume}")),
        "{mkfs}"
    );
    assert!(!mkfs.contains("su="));
    assert_eq!(plan.devices().log.device(), Path::new(ARRAY));
}

#[test]
fn each_device_of_a_mirrored_log_is_judged_like_a_device_alone() {
    let (request, facts) = mirrored(Filesystem::Xfs);
    let refused = |change: &dyn Fn(&mut KnownDevice)| {
        let (_, mut facts) = mirrored(Filesystem::Xfs);
        change(facts.log_devices[1].as_mut().unwrap());
        planned(&request, &facts).unwrap_err().message
    };
    let second = "/dev/disk/by-id/log2";
    assert_eq!(
        refused(&|device| device.facts.in_use = Some("It is mounted on /.".into())),
        format!("device {second} is in use")
    );
    let held = Contents::Signature(Signature {
        kind: "linux_raid_member".into(),
        label: None,
        uuid: Some("x".into()),
    });
    assert!(
        refused(&|device| device.facts.contents = held.clone())
            .starts_with(&format!("device {second} holds "))
    );
    assert_eq!(
        refused(&|device| device.facts.identity.minor = 32),
        format!("device {second} is given twice")
    );
    assert!(refused(&|device| device.facts.identity.serial = Some("S2".into())).contains(second));
    let not_allowed = Facts {
        log_devices: vec![facts.log_devices.into_iter().next().unwrap(), None],
        ..self::facts()
    };
    let refusal = planned(&request, &not_allowed).unwrap_err();
    assert_eq!(
        refusal.message,
        format!("device {second} is not allowed by the helper's configuration")
    );
    let without_md = Facts {
        log_array: ArrayFacts {
            driver: Support::Missing,
            ..self::facts().log_array
        },
        ..mirrored(Filesystem::Xfs).1
    };
    let refusal = planned(&request, &without_md).unwrap_err();
    assert_eq!(refusal.message, "this kernel has no software RAID");
}
