use super::super::{FlushFacts, MachineFacts, StorageFacts, WalSyncFacts};
use super::*;
use crate::spec::Workload;
use crate::sys::{self, Recorded, Tree};
use crate::workload::power_cut::loss_below;

mod measured;
use measured::{busy, measured};

/// A machine with a disk, sda, and what can lie on it.
const MACHINE: &str = "\
/sys/dev/block/8:0/dev\t8:0
/sys/dev/block/8:0/uevent\tDEVNAME=sda
/sys/dev/block/8:0/queue/write_cache\twrite back
/sys/dev/block/8:0/queue/rotational\t0
/sys/dev/block/8:16/dev\t8:16
/sys/dev/block/8:16/uevent\tDEVNAME=sdb
/sys/dev/block/8:16/device/vendor\tLinux   \n/sys/dev/block/8:16/device/model\tscsi_debug
/sys/dev/block/253:9/dev\t253:9
/sys/dev/block/253:9/uevent\tDEVNAME=zram0
/sys/dev/block/1:0/dev\t1:0
/sys/dev/block/1:0/uevent\tDEVNAME=ram0
/sys/dev/block/252:0/uevent\tDEVNAME=nullb0
/sys/dev/block/259:7/uevent\tDEVNAME=pmem0
/sys/dev/block/250:0/uevent\tDEVNAME=rbd0
/sys/dev/block/9:0/uevent\tDEVNAME=md0
/sys/dev/block/9:0/md/level\traid1
/sys/dev/block/9:0/slaves/sda/dev\t8:0
/sys/dev/block/9:0/slaves/ram0/dev\t1:0
/sys/dev/block/254:0/dm/name\tzero
/sys/dev/block/7:0/uevent\tDEVNAME=loop0
/sys/dev/block/7:0/loop/backing_file\t/srv/on_volatile.img
/sys/dev/block/7:1/uevent\tDEVNAME=loop1
/sys/dev/block/7:1/loop/backing_file\t/srv/without_barriers.img
/sys/dev/block/7:2/uevent\tDEVNAME=loop2
/sys/dev/block/7:2/loop/backing_file\t/of/another/namespace.img
/sys/dev/block/7:3/uevent\tDEVNAME=loop3
/sys/dev/block/7:3/loop/backing_file\t/memfd:disk (deleted)
/sys/dev/block/7:4/uevent\tDEVNAME=loop4
/sys/dev/block/7:4/loop/backing_file\t/srv/on_md.img
/sys/dev/block/8:32/uevent\tDEVNAME=sdc
/sys/dev/block/8:48/uevent\tDEVNAME=sdd
/sys/dev/block/259:12/uevent\tDEVNAME=nvme0n1p12
/sys/fs/ext4/sda/journal_task\t70
/proc/70/comm\tjbd2/sda-8
/sys/fs/ext4/sdc/journal_task\t71
/proc/71/comm\tjbd2/zram0
/sys/fs/ext4/sdd/journal_task\t72
/proc/72/comm\tjbd2/elsewhere
/sys/fs/ext4/nvme0n1p12/journal_task\t73
/proc/73/comm\tjbd2/nvme0n1p12
/sys/fs/f2fs/sda/feature_list/device_alias\tunsupported
/sys/fs/f2fs/sdc/feature_list/device_alias\tsupported
/sys/class/block/sda/dev\t8:0
/sys/class/block/zram0/dev\t253:9
/sys/class/block/dm-3/dev\t1:0
/sys/class/block/dm-3/dm/name\tfast
link:/dev/disk/by-id/fast\t../../zram0
/sys/fs/btrfs/1234/devices/sda/dev\t8:0
/sys/fs/btrfs/1234/devices/zram0/dev\t253:9
below:/srv/on_volatile.img\toverlay /srv - rw,upperdir=/upper/plain,fsync=volatile
below:/srv/without_barriers.img\txfs /srv 8:0 rw,nobarrier
below:/srv/on_md.img\text4 /srv 9:0 rw
below:/upper/plain\text4 / 8:0 rw
below:/upper/tmpfs\ttmpfs /upper - rw
below:/upper/nested\toverlay / - rw,upperdir=/upper/tmpfs
";

/// The filesystem at /top.
fn top(tree: &Recorded) -> StorageFacts {
    let below = tree.below("/top").unwrap();
    let mut storage = StorageFacts {
        filesystem: Some(below.filesystem.clone()),
        mount_options: Some(below.options.clone()),
        layers: Some(sys::layers_below(tree, &below)),
        ..StorageFacts::default()
    };
    storage.complete();
    storage
}

/// A filesystem of that machine: type, devices, mount options.
fn on(filesystem: &str, devices: &str, options: &str) -> StorageFacts {
    let text = format!("{MACHINE}below:/top\t{filesystem} /top {devices} {options}\n");
    let tree = Recorded::of(&text);
    top(&tree)
}

/// A run whose settings have everything on.
fn run(storage: StorageFacts) -> RunFacts {
    RunFacts {
        fsync: Some(true),
        full_page_writes: Some(true),
        synchronous_commit: Some("on".into()),
        workload: Workload::parse("tpcb"),
        storage,
        ..RunFacts::default()
    }
}

fn said(facts: &RunFacts) -> String {
    Durability::of(facts).unwrap().sentence()
}

fn of(filesystem: &str, devices: &str, options: &str) -> String {
    said(&run(on(filesystem, devices, options)))
}

const BY_SETTINGS: &str = "durable by settings (not tried)";

#[test]
fn files_of_the_server_beside_tables_and_wal_are_looked_at() {
    let mut facts = run(on("ext4", "8:0", "rw"));
    facts.wal_storage = Some(on("xfs", "8:0", "rw"));
    facts.other_storage = vec![on("ext4", "8:0", "rw")];
    assert_eq!(said(&facts), BY_SETTINGS);
    facts.other_storage.push(on("tmpfs", "-", "rw"));
    assert_eq!(said(&facts), "not durable: tmpfs is in memory");
    // A directory that cannot be reached.
    facts.other_storage[1] = StorageFacts::default();
    assert_eq!(said(&facts), "not known: the filesystem cannot be seen");
}

#[test]
fn a_write_hole_counts_where_a_member_is_missing() {
    let array = |changes: &str| {
        let text = format!("{MACHINE}{changes}below:/top\text4 /top 9:9 rw\n");
        let storage = top(&Recorded::of(&text));
        Durability::of(&run(storage)).unwrap()
    };
    let raid5 = "/sys/dev/block/9:9/uevent\tDEVNAME=md9\n/sys/dev/block/9:9/md/level\traid5\n/sys/dev/block/9:9/slaves/sda/dev\t8:0\n";
    let policy = |name: &str, missing: u8| {
        array(&format!(
            "{raid5}/sys/dev/block/9:9/md/consistency_policy\t{name}\n/sys/dev/block/9:9/md/degraded\t{missing}\n"
        ))
    };
    let whole = policy("resync", 0);
    assert_eq!(
        whole.sentence(),
        "durable by settings (not tried); raid5 has a write hole"
    );
    let shown = whole.codes().iter().cloned();
    let shown = Durability::of_codes(shown.chain([Code::SurvivedPowerCuts { cuts: 59 }]));
    assert_eq!(
        shown.sentence(),
        "durable, shown by 59 power cuts; raid5 has a write hole"
    );
    assert!(shown.is_shown() && shown.is_as(&whole));
    // A power cut alone loses nothing there, as on arrays without the hole.
    assert!(whole.is_durable() && whole.is_as(&policy("ppl", 0)));
    assert_eq!(policy("ppl", 0).sentence(), BY_SETTINGS);
    assert_eq!(policy("ppl", 1).sentence(), BY_SETTINGS);
    let degraded = policy("bitmap", 1);
    assert_eq!(
        degraded.sentence(),
        "not durable: raid5 lacks disks and has a write hole"
    );
    assert!(!degraded.is_as(&whole));
    let stored = serde_json::to_value(&degraded).unwrap();
    assert_eq!(
        stored,
        serde_json::json!([{"code": "degraded_write_hole", "level": "raid5"}])
    );
}

/// As seen on Linux 6.1: a volume of RAID has two volumes on each disk. Two images may lie on one disk, too.
#[test]
fn a_disk_below_two_layers_is_seen_below_both() {
    let of = |changes: &str, devices: &str| {
        let text = format!("{MACHINE}{changes}below:/top\tbtrfs /top {devices} rw\n");
        top(&Recorded::of(&text))
    };
    let volume = |number: u8, name: &str, slaves: &[(&str, &str)]| {
        let lines = slaves.iter().map(|(slave, device)| {
            format!("/sys/dev/block/253:{number}/slaves/{slave}/dev\t{device}\n")
        });
        format!(
            "/sys/dev/block/253:{number}/dm/uuid\tLVM-1\n/sys/dev/block/253:{number}/dm/name\t{name}\n"
        ) + &lines.collect::<String>()
    };
    let raid = volume(20, "data", &[("dm-1", "253:21"), ("dm-2", "253:22")])
        + &volume(21, "data_rimage_0", &[("sda", "8:0")])
        + &volume(22, "data_rmeta_0", &[("sda", "8:0")]);
    let storage = of(&raid, "253:20");
    let layers = storage.layers.as_ref().unwrap();
    let shared = layers.iter().filter(|layer| layer.shares_devices);
    let shared: Vec<_> = shared.map(|layer| layer.name.as_deref()).collect();
    assert_eq!(shared, [Some("data_rmeta_0")]);
    assert_eq!(said(&run(storage)), BY_SETTINGS);
    let images = "/sys/dev/block/7:8/uevent\tDEVNAME=loop8\n/sys/dev/block/7:8/loop/backing_file\t/images/1\n\
        /sys/dev/block/7:9/uevent\tDEVNAME=loop9\n/sys/dev/block/7:9/loop/backing_file\t/images/2\n\
        /sys/fs/btrfs/5678/devices/loop8/dev\t7:8\n/sys/fs/btrfs/5678/devices/loop9/dev\t7:9\n\
        below:/images/1\text4 /images 8:0 rw\nbelow:/images/2\text4 /images 8:0 rw\n";
    assert_eq!(said(&run(of(images, "7:8"))), BY_SETTINGS);
    // A layer of which nothing is seen is not known, beside others that are seen.
    let unseen = volume(20, "data", &[("dm-1", "253:21"), ("dm-2", "253:22")])
        + &volume(21, "data_rimage_0", &[("sda", "8:0")])
        + &volume(22, "data_rmeta_0", &[]);
    let says = said(&run(of(&unseen, "253:20")));
    assert_eq!(says, "not known: what a layer lies on cannot be seen");
}

#[test]
fn every_layer_is_looked_at() {
    for (filesystem, devices, options, says) in [
        ("ext4", "8:0", "rw", BY_SETTINGS),
        ("overlay", "-", "rw,upperdir=/upper/plain", BY_SETTINGS),
        (
            "overlay",
            "-",
            "rw,upperdir=/upper/plain,volatile",
            "not durable: a sync does nothing on overlay with volatile",
        ),
        (
            "overlay",
            "-",
            "rw,upperdir=/upper/plain,fsync=volatile",
            "not durable: a sync does nothing on overlay with fsync=volatile",
        ),
        (
            "overlay",
            "-",
            "rw,upperdir=/upper/tmpfs",
            "not durable: tmpfs is in memory",
        ),
        (
            "overlay",
            "-",
            "rw,upperdir=/upper/nested",
            "not durable: tmpfs is in memory",
        ),
        (
            "overlay",
            "-",
            "rw,upperdir=/of/another/namespace",
            "not known: the upper layer of overlay cannot be seen",
        ),
        (
            "overlay",
            "-",
            "ro,lowerdir=/a",
            "not known: the upper layer of overlay cannot be seen",
        ),
        ("tmpfs", "-", "rw", "not durable: tmpfs is in memory"),
        ("ext4", "253:9", "rw", "not durable: zram0 is in memory"),
        ("xfs", "1:0", "rw", "not durable: ram0 is in memory"),
        ("xfs", "252:0", "rw", "not durable: nullb0 is in memory"),
        ("xfs", "8:16", "rw", "not durable: sdb is in memory"),
        (
            "xfs",
            "259:7",
            "rw",
            "not known: whether pmem0 keeps its contents cannot be seen",
        ),
        (
            "ext4",
            "250:0",
            "rw",
            "not known: the disk rbd0 is on another machine",
        ),
        ("ext4", "9:0", "rw", "not durable: ram0 is in memory"),
        (
            "ext4",
            "254:0",
            "rw",
            "not known: what a layer lies on cannot be seen",
        ),
        (
            "ext4",
            "7:0",
            "rw",
            "not durable: a sync does nothing on overlay with fsync=volatile",
        ),
        ("ext4", "7:1", "rw", "not durable: barriers off"),
        (
            "ext4",
            "7:2",
            "rw",
            "not known: the file of a loop device cannot be seen",
        ),
        ("ext4", "7:3", "rw", "not durable: loop3 is in memory"),
        ("btrfs", "7:4", "rw", "not durable: ram0 is in memory"),
        ("btrfs", "8:0", "rw", "not durable: zram0 is in memory"),
        (
            "ext4",
            "-",
            "rw",
            "not known: the devices below ext4 cannot be seen",
        ),
        // Filesystems of several devices.
        ("xfs", "8:0", "rw,logdev=/dev/sda", BY_SETTINGS),
        (
            "xfs",
            "8:0",
            "rw,logdev=/dev/zram0",
            "not durable: zram0 is in memory",
        ),
        (
            "xfs",
            "8:0",
            "rw,logdev=/dev/disk/by-id/fast",
            "not durable: zram0 is in memory",
        ),
        (
            "xfs",
            "8:0",
            "rw,rtdev=/dev/mapper/fast",
            "not durable: ram0 is in memory",
        ),
        (
            "xfs",
            "8:0",
            "rw,rtdev=/dev/elsewhere",
            "not known: the real-time section of xfs cannot be seen",
        ),
        ("ext4", "8:0", "rw,logdev=/dev/zram0", BY_SETTINGS),
        ("ext3", "8:32", "rw", "not durable: zram0 is in memory"),
        (
            "ext4",
            "8:48",
            "rw",
            "not known: the journal of ext4 cannot be seen",
        ),
        ("ext4", "259:12", "rw", BY_SETTINGS),
        ("f2fs", "8:0", "rw", BY_SETTINGS),
        (
            "f2fs",
            "8:32",
            "rw",
            "not known: another device of f2fs cannot be seen",
        ),
        (
            "xfs",
            "8:99",
            "rw,logdev=/dev/sda",
            "not known: the devices below xfs cannot be seen",
        ),
        ("ext4", "8:0", "rw,nobarrier", "not durable: barriers off"),
        (
            "jfs",
            "8:0",
            "rw",
            "not durable: jfs does not flush the device's cache",
        ),
        (
            "f2fs",
            "8:0",
            "rw,checkpoint=disable:10%",
            "not durable: a sync does nothing on f2fs with checkpoint=disable:10%",
        ),
        (
            "bcachefs",
            "8:0",
            "rw,journal_flush_disabled",
            "not durable: a sync does nothing on bcachefs with journal_flush_disabled",
        ),
        (
            "bcachefs",
            "8:0+1:0",
            "rw",
            "not durable: ram0 is in memory",
        ),
        (
            "nfs4",
            "-",
            "rw,hard",
            "not known: pgfsbench does not know when nfs4 writes to a disk",
        ),
        (
            "fuse.sshfs",
            "-",
            "rw",
            "not known: pgfsbench does not know when fuse.sshfs writes to a disk",
        ),
        (
            "zfs",
            "8:0",
            "rw",
            "not known: the property sync of zfs cannot be read",
        ),
    ] {
        assert_eq!(
            of(filesystem, devices, options),
            says,
            "{filesystem} {devices} {options}"
        );
    }
}

/// ext4 on a device of that machine, with some lines changed or added.
fn but(changes: &[(&str, &str)], device: &str) -> StorageFacts {
    let text = format!("{MACHINE}below:/top\text4 /top {device} rw\n");
    let mut tree = Recorded::of(&text);
    for (path, text) in changes {
        tree = tree.but(path, Some(text));
    }
    top(&tree)
}

const THROUGH: &str = "write through";
const OF_SDA: &str = "/sys/dev/block/8:0/queue/write_cache";
const OF_LOOP: &str = "/sys/dev/block/7:9/queue/write_cache";
const OF_DM: &str = "/sys/dev/block/254:9/queue/write_cache";
const OF_MD: &str = "/sys/dev/block/9:9/queue/write_cache";

/// A loop device on a file on sda, a device of the device mapper on it, and one on an array of sda.
const STACK: [(&str, &str); 8] = [
    ("/sys/dev/block/7:9/uevent", "DEVNAME=loop9"),
    ("/sys/dev/block/7:9/loop/backing_file", "/upper/plain"),
    ("/sys/dev/block/254:9/dm/name", "mapped"),
    ("/sys/dev/block/254:9/slaves/md9/dev", "9:9"),
    ("/sys/dev/block/9:9/uevent", "DEVNAME=md9"),
    ("/sys/dev/block/9:9/md/level", "raid1"),
    ("/sys/dev/block/9:9/slaves/sda/dev", "8:0"),
    (OF_MD, "write back"),
];

#[test]
fn flushes_that_queue_write_cache_has_switched_off() {
    let off = |device: &str| {
        format!("not durable: flushes of {device} are switched off by queue/write_cache")
    };
    let scsi = "/sys/dev/block/8:0/device/scsi_disk/0:0:0:0/cache_type";
    let virtio = "/sys/dev/block/8:0/cache_type";
    for (device, changes, says) in [
        ("7:9", &[(OF_LOOP, "write back")][..], BY_SETTINGS.into()),
        ("7:9", &[(OF_LOOP, THROUGH)], off("loop9")),
        // The page cache is a cache, too.
        (
            "7:9",
            &[(OF_LOOP, THROUGH), (OF_SDA, THROUGH)],
            off("loop9"),
        ),
        ("254:9", &[(OF_DM, "write back")], BY_SETTINGS.into()),
        ("254:9", &[(OF_DM, THROUGH)], off("mapped")),
        (
            "254:9",
            &[(OF_DM, "write back"), (OF_MD, THROUGH)],
            off("md9"),
        ),
        (
            "254:9",
            &[(OF_DM, THROUGH), (OF_MD, THROUGH), (OF_SDA, THROUGH)],
            BY_SETTINGS.into(),
        ),
        // The device's own word.
        ("8:0", &[(OF_SDA, THROUGH)], BY_SETTINGS.into()),
        (
            "8:0",
            &[(OF_SDA, THROUGH), (scsi, THROUGH)],
            BY_SETTINGS.into(),
        ),
        (
            "8:0",
            &[(OF_SDA, THROUGH), (scsi, "none")],
            BY_SETTINGS.into(),
        ),
        (
            "8:0",
            &[(OF_SDA, THROUGH), (scsi, "write back")],
            off("sda"),
        ),
        (
            "8:0",
            &[(OF_SDA, THROUGH), (scsi, "write back, no read (daft)")],
            off("sda"),
        ),
        (
            "8:0",
            &[(OF_SDA, THROUGH), (virtio, "write back")],
            off("sda"),
        ),
        ("8:0", &[(virtio, THROUGH)], BY_SETTINGS.into()),
    ] {
        let mut all = STACK.to_vec();
        all.extend(changes);
        assert_eq!(said(&run(but(&all, device))), says, "{device} {changes:?}");
    }
}

#[test]
fn a_capacitor_covers_flushes_of_a_disk_and_not_the_page_cache() {
    let protected = |device: &str, through: &'static str| {
        let mut all = STACK.to_vec();
        all.push((through, THROUGH));
        run(StorageFacts {
            power_loss_protected: Some(true),
            ..but(&all, device)
        })
    };
    assert_eq!(
        said(&protected("254:9", OF_DM)),
        "durable by the declared power-loss protection: flushes of mapped are switched off by queue/write_cache"
    );
    assert!(said(&protected("7:9", OF_LOOP)).starts_with("not durable: flushes of loop9"));
}

#[test]
fn a_layer_without_a_cache_does_not_hide_that_nothing_was_flushed() {
    // NVMe does not report its cache: a kernel that counts no flush of the volatile disk below is all there is.
    let mut all = STACK.to_vec();
    all.extend([(OF_DM, THROUGH), (OF_MD, THROUGH)]);
    let storage = but(&all, "254:9");
    let wal = WalSyncFacts {
        device_flushes: Some(0),
        ..busy()
    };
    let codes = contradiction::of(&RunFacts {
        storage,
        ..measured(wal, 800.0)
    });
    let none = Code::NoFlushes {
        syncs: 10_000,
        flushes: 0,
    };
    assert_eq!(codes, [none]);
}

#[test]
fn zfs_is_as_its_properties_and_its_module_are() {
    let zfs = |sync: &str, flushes| StorageFacts {
        zfs_sync: Some(sync.into()),
        zfs_flushes: flushes,
        ..on("zfs", "8:0", "rw")
    };
    assert_eq!(said(&run(zfs("standard", Some(true)))), BY_SETTINGS);
    assert_eq!(
        said(&run(zfs("disabled", Some(true)))),
        "not durable: a sync does nothing on zfs with sync=disabled"
    );
    assert_eq!(
        said(&run(zfs("always", Some(false)))),
        "not durable: zfs does not flush its devices"
    );
    let protected = StorageFacts {
        power_loss_protected: Some(true),
        ..zfs("always", Some(false))
    };
    assert_eq!(
        said(&run(protected)),
        "durable by the declared power-loss protection: zfs does not flush its devices"
    );
    // Devices that the helper names.
    let pool = |devices: &[&str]| StorageFacts {
        layers: Some(sys::layers_of_devices(&Recorded::of(MACHINE), devices)),
        ..zfs("standard", Some(true))
    };
    assert_eq!(said(&run(pool(&["/dev/sda"]))), BY_SETTINGS);
    assert_eq!(
        said(&run(pool(&["/dev/sda", "/dev/zram0"]))),
        "not durable: zram0 is in memory"
    );
    assert_eq!(
        said(&run(pool(&["/dev/sda", "/dev/sdz"]))),
        "not known: a device of the target cannot be seen"
    );
}

#[test]
fn a_log_elsewhere_and_wal_elsewhere_count() {
    let storage = StorageFacts {
        log_layers: on("ext4", "253:9", "rw").layers,
        ..on("xfs", "8:0", "rw")
    };
    assert_eq!(said(&run(storage)), "not durable: zram0 is in memory");
    let facts = RunFacts {
        wal_storage: Some(on("tmpfs", "-", "rw")),
        ..run(on("ext4", "8:0", "rw"))
    };
    assert_eq!(said(&facts), "not durable: tmpfs is in memory");
}

#[test]
fn settings_come_first_and_are_not_the_device_s() {
    let protected = || StorageFacts {
        power_loss_protected: Some(true),
        ..on("ext4", "8:0", "rw,nobarrier")
    };
    assert_eq!(
        said(&run(protected())),
        "durable by the declared power-loss protection: barriers off"
    );
    let facts = RunFacts {
        fsync: Some(false),
        full_page_writes: Some(false),
        synchronous_commit: Some("off".into()),
        unlogged: Some(true),
        ..run(protected())
    };
    let durability = Durability::of(&facts).unwrap();
    assert_eq!(
        durability.sentence(),
        "not durable: fsync off, synchronous_commit off, full_page_writes off, unlogged tables, barriers off"
    );
    assert_eq!(durability.class(), Class::NotDurable);
    assert!(durability.why_not().unwrap().starts_with("fsync off"));
    // A capacitor does not make memory of a disk.
    let memory = StorageFacts {
        power_loss_protected: Some(true),
        ..on("ext4", "253:9", "rw,nobarrier")
    };
    assert!(said(&run(memory)).starts_with("not durable: barriers off, zram0"));
    let unknown = RunFacts {
        fsync: None,
        ..run(protected())
    };
    assert_eq!(Durability::of(&unknown), None);
    let syncs = RunFacts {
        workload: Workload::parse("fsync"),
        ..run(on("ext4", "8:0", "rw"))
    };
    assert_eq!(
        said(&syncs),
        "durable where a test syncs, by settings (not tried)"
    );
}

#[test]
fn power_cuts_show_a_promise_or_refute_it() {
    let of = |cuts, failed| {
        let mut facts = run(on("ext4", "8:0", "rw"));
        facts.power_cuts = PowerCutFacts { cuts, failed };
        Durability::of(&facts).expect("the settings are known")
    };
    let not_tried = of(None, None);
    let shown = of(Some(320), Some(0));
    assert_eq!(shown.class(), Class::Shown);
    assert_eq!(shown.sentence(), "durable, shown by 320 power cuts");
    assert!(shown.is_shown() && shown.is_as(&not_tried) && shown.is_as(&of(Some(59), Some(0))));
    let lost = of(Some(320), Some(7));
    assert_eq!(
        lost.sentence(),
        "not durable: 7 of 320 power cuts lost or damaged data"
    );
    assert!(lost.has_failed_power_cuts() && !lost.is_as(&shown));
    let mut facts = run(on("ext4", "8:0", "rw"));
    facts.power_cuts = PowerCutFacts {
        cuts: Some(320),
        failed: Some(0),
    };
    facts.fsync = Some(false);
    let off = Durability::of(&facts).expect("the settings are known");
    assert_eq!(off.sentence(), "not durable: fsync off");
    let below = |cuts| loss_below(cuts).expect("a bound");
    assert!(below(FEWEST_POWER_CUTS) < 0.05 && below(FEWEST_POWER_CUTS - 1) > 0.05);
    assert_eq!(of(Some(59), Some(0)).class(), Class::Shown);
    assert!(of(Some(1), Some(1)).has_failed_power_cuts());
    for nothing in [
        of(Some(0), Some(0)),
        of(Some(58), Some(0)),
        of(Some(500), None),
    ] {
        assert_eq!(nothing.sentence(), "durable by settings (not tried)");
    }
}
