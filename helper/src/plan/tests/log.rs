//! Plans with a log elsewhere.

use super::*;
use pgfsbench_core::helper::Log;

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
        device: found(a_device(Contents::Empty), false),
        ..facts()
    };
    // The facts of the device are unknown, since the configuration lacks it.
    let refusal = planned(&request, &facts).unwrap_err();
    assert!(refusal.message.contains(LOG), "{refusal}");
    facts.log_device = found(log.clone(), false);
    let refusal = planned(&request, &facts).unwrap_err();
    assert_eq!(
        refusal.message,
        "the log is on the device of the filesystem"
    );
    log.identity.minor = 32;
    log.identity.bytes = 1 << 27;
    log.in_use = Some("It is mounted on /.".into());
    facts.log_device = found(log.clone(), true);
    let refusal = planned(&request, &facts).unwrap_err();
    assert_eq!(refusal.message, format!("device {LOG} is in use"));
    log.in_use = None;
    facts.log_device = found(log, false);
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
