use super::{recorded::Recorded, *};
use LayerKind::*;
use proptest::prelude::*;

const VIRTUAL_MACHINE: &str = include_str!("trees/virtual_machine.txt");
const LVM_ON_RAID: &str = include_str!("trees/lvm_on_raid.txt");
const LOOP_ON_NVME: &str = include_str!("trees/loop_on_nvme.txt");
/// Written by the kernel's documentation of md and btrfs: this kernel has no md.
const ARRAYS: &str = include_str!("trees/arrays.txt");
/// By the kernel's sources: a mirror of LVM on one disk, and the kernel's threads.
const LVM_RAID: &str = include_str!("trees/lvm_raid.txt");
const USER_MODE_LINUX: &str = include_str!("trees/user_mode_linux.txt");

fn outline(layers: &[Layer]) -> Vec<(usize, LayerKind, &str)> {
    layers
        .iter()
        .map(|layer| (layer.depth, layer.kind, layer.name.as_deref().unwrap_or("")))
        .collect()
}

#[test]
fn lvm_on_encryption_on_raid_on_partitions() {
    let tree = Recorded::of(LVM_ON_RAID);
    let found = layers(&tree, "253:1");
    assert_eq!(
        outline(&found),
        [
            (0, Lvm, "vg0-pg"),
            (1, Crypt, "crypt"),
            (2, Md, "md0"),
            (3, Partition, "sda1"),
            (4, Disk, "sda"),
            (3, Partition, "sdb1"),
            (4, Disk, "sdb"),
            (3, Partition, "sdc1"),
            (4, Disk, "sdc"),
        ]
    );
    let md = &found[2];
    assert_eq!(
        (
            md.level.as_deref(),
            md.chunk_bytes,
            md.sync_action.as_deref(),
            md.degraded
        ),
        (Some("raid5"), Some(512 << 10), Some("resync"), Some(0))
    );
    let disk = &found[4];
    assert_eq!(disk.model.as_deref(), Some("ATA WDC WD40EFRX-68N"));
    assert_eq!(disk.bytes, Some(7814037168 * 512));
    let queue = disk.queue.as_ref().unwrap();
    assert_eq!(
        (
            queue.rotational,
            queue.scheduler.as_deref(),
            queue.queue_depth,
            queue.fua
        ),
        (Some(true), Some("mq-deadline"), Some(32), Some(false))
    );
}

#[test]
fn a_loop_device_and_what_its_file_is_on() {
    let found = layers(&Recorded::of(LOOP_ON_NVME), "7:3");
    assert_eq!(
        outline(&found),
        [
            (0, Loop, "loop3"),
            (1, Filesystem, "ext4 on /srv"),
            (2, Partition, "nvme0n1p2"),
            (3, Disk, "nvme0n1"),
        ]
    );
    assert_eq!(found[0].direct_io, Some(false));
    assert_eq!(
        found[3].model.as_deref(),
        Some("Samsung SSD 970 EVO Plus 1TB")
    );
    assert_eq!(found[3].queue.as_ref().unwrap().fua, Some(true));
    // In memory, the file is on no device.
    let tree =
        Recorded::of(LOOP_ON_NVME).but("below:/srv/images/bench.ext4.img", Some("tmpfs /srv"));
    assert_eq!(
        outline(&layers(&tree, "7:3")).last(),
        Some(&(1, Filesystem, "tmpfs on /srv"))
    );
}

#[test]
fn disks_have_what_tells_them_from_others() {
    let marks = |layer: &Layer| (layer.serial.clone(), layer.wwn.clone());
    let some = |text: &str| Some(text.to_owned());
    // NVMe, below an image.
    let nvme = |name: &str| format!("/sys/dev/block/259:0/{name}");
    let tree = Recorded::of(LOOP_ON_NVME)
        .but(&nvme("wwid"), Some("eui.0025385b01\n"))
        .but(&nvme("device/serial"), Some("S4EWNX0M123456T     \n"))
        .but("/sys/dev/block/259:2/../wwid", Some("eui.0025385b01\n"));
    let found = layers(&tree, "7:3");
    let without = found.iter().filter(|layer| layer.kind != Disk);
    assert!(
        without
            .into_iter()
            .all(|layer| marks(layer) == (None, None))
    );
    assert_eq!(
        marks(&found[3]),
        (some("S4EWNX0M123456T"), some("eui.0025385b01"))
    );
    let stored = serde_json::to_value(&found[3]).unwrap();
    assert_eq!(
        (&stored["serial"], &stored["wwn"]),
        (&"S4EWNX0M123456T".into(), &"eui.0025385b01".into())
    );
    // SCSI: the page's second byte is none of UTF-8.
    let scsi = |page: &str| {
        let tree = Recorded::of(LVM_ON_RAID)
            .but("/sys/dev/block/8:0/device/vpd_pg80", Some(page))
            .but(
                "/sys/dev/block/8:0/device/wwid",
                Some("t10.ATA     WDC WD40  WD-42\n"),
            );
        let found = layers(&tree, "253:1");
        let disk = found
            .iter()
            .find(|layer| layer.name.as_deref() == Some("sda"));
        marks(disk.unwrap())
    };
    let wwn = some("t10.ATA WDC WD40 WD-42");
    assert_eq!(
        scsi("\0\u{fffd}\0\u{8} WD-42\0 trailing"),
        (some("WD-42"), wwn.clone())
    );
    for page in ["", "\0\u{fffd}", "\0\u{fffd}\0\u{ff}", "\0\u{fffd}\0\0x"] {
        assert_eq!(scsi(page), (None, wwn.clone()));
    }
    // virtio, and what is no serial number.
    let virtio = |text: &str| {
        let tree = Recorded::of(VIRTUAL_MACHINE).but("/sys/dev/block/254:0/serial", Some(text));
        marks(&layers(&tree, "254:0")[0]).0
    };
    assert_eq!(virtio("disk-1"), some("disk-1"));
    assert_eq!(virtio("a\u{1b}[2J\u{202e}b\nc\n"), some("a [2J b c"));
    assert_eq!(virtio(&"x".repeat(1000)), some(&"x".repeat(200)));
    for nothing in ["", "\n", "\0\0", "(null)\n"] {
        assert_eq!(virtio(nothing), None);
    }
}

#[test]
fn a_guest_of_user_mode_linux() {
    let tree = Recorded::of(USER_MODE_LINUX);
    let found = layers(&tree, "98:16");
    assert_eq!(outline(&found), [(0, Uml, "ubdb")]);
    assert_eq!(found[0].model, None);
    let machine = machine(&tree);
    assert_eq!(machine.clock_source.as_deref(), Some("timer"));
    assert_eq!(
        (machine.governor, machine.numa_nodes, machine.mhz_max),
        (None, None, None)
    );
}

#[test]
fn a_virtual_machine() {
    let tree = Recorded::of(VIRTUAL_MACHINE);
    let found = layers(&tree, "254:0");
    assert_eq!(outline(&found), [(0, Disk, "vda")]);
    let queue = found[0].queue.as_ref().unwrap();
    assert_eq!(queue.write_cache.as_deref(), Some("write back"));
    assert_eq!(
        (queue.rotational, queue.scheduler.as_deref()),
        (Some(true), Some("mq-deadline"))
    );
    let machine = machine(&tree);
    assert!(machine.mhz_max.is_some() && machine.governor.is_none());
    assert_eq!(machine.transparent_hugepage.as_deref(), Some("madvise"));
    assert_eq!(machine.vm.unwrap()["overcommit_memory"], 0);
    assert_eq!(container(&tree).as_deref(), Some("docker"));
    assert_eq!(physical_disks(&tree).len(), 1);
}

#[test]
fn caches_of_a_disk_on_another_one() {
    let bcache = layers(&Recorded::of(include_str!("trees/bcache.txt")), "252:0");
    assert_eq!(
        outline(&bcache),
        [
            (0, Cache, "bcache0"),
            (1, Disk, "nvme0n1"),
            (1, Disk, "sda")
        ]
    );
    let lvm = layers(&Recorded::of(include_str!("trees/lvm_cache.txt")), "252:0");
    assert_eq!(lvm.iter().filter(|layer| layer.kind == Disk).count(), 2);
    for cached in [&bcache, &lvm] {
        assert_eq!(rotates(cached), Some(true));
    }
}

#[test]
fn an_array_of_md_with_a_faulty_member() {
    let tree = Recorded::of(ARRAYS);
    let found = layers(&tree, "9:5");
    assert_eq!(
        outline(&found),
        [
            (0, Md, "md5"),
            (1, Partition, "sda1"),
            (2, Disk, "sda"),
            (1, Disk, "sdb")
        ]
    );
    let stored = serde_json::to_value(&found[0]).unwrap();
    let expected = serde_json::json!({
        "depth": 0, "kind": "md", "name": "md5", "device": "9:5", "bytes": 12_582_912_u64 * 512, "level": "raid5",
        "chunk_bytes": 524_288, "degraded": 1, "sync_action": "recover", "raid_disks": 4,
        "members": {"sda1": "in_sync", "sdb": "faulty"}, "sync_completed": "1024 / 4194304", "consistency_policy": "resync",
        "bitmap": "none", "safe_mode_delay_ms": 201, "stripe_cache_size": 256, "mismatch_sectors": 8, "alignment_offset": 0,
        "queue": stored["queue"],
    });
    assert_eq!(stored, expected);
    let read: Layer = serde_json::from_value(stored).unwrap();
    assert_eq!(read, found[0]);
    assert_eq!(
        (found[1].start_bytes, found[1].alignment_offset),
        (Some(63 * 512), Some(512))
    );
    assert_eq!(found[2].start_bytes, None, "no partition");
    assert!(found[0].is_degraded() && found[0].has_write_hole());
    // Older kernels have no such file: the hole may be closed.
    for (policy, has_hole) in [
        (Some("bitmap\n"), true),
        (Some("ppl\n"), false),
        (Some("journal\n"), false),
        (None, false),
    ] {
        let tree = Recorded::of(ARRAYS).but("/sys/dev/block/9:5/md/consistency_policy", policy);
        assert_eq!(layers(&tree, "9:5")[0].has_write_hole(), has_hole);
    }
}

#[test]
fn btrfs_over_several_devices_and_one_of_them() {
    let filesystem = FilesystemDevices {
        filesystem: "btrfs".into(),
        devices: vec!["8:16".into()],
        ..FilesystemDevices::default()
    };
    let found = layers_below(&Recorded::of(ARRAYS), &filesystem);
    assert_eq!(
        outline(&found),
        [
            (0, Btrfs, "btrfs"),
            (1, Partition, "sda1"),
            (2, Disk, "sda"),
            (1, Disk, "sdb")
        ]
    );
    let (array, layer) = (&found[0].array, &found[0]);
    assert_eq!(
        (
            layer.level.as_deref(),
            array.metadata_level.as_deref(),
            array.raid_disks,
            layer.degraded,
            layer.busy_with()
        ),
        (
            Some("single+raid5"),
            Some("raid1c3"),
            Some(3),
            Some(1),
            Some("balance")
        )
    );
    assert!(layer.has_write_hole() && layer.is_degraded());
    // Alone on its device, btrfs is no array.
    let alone = Recorded::of(ARRAYS)
        .but("/sys/fs/btrfs/9c1e/devices/sda1/dev", None)
        .but("/sys/fs/btrfs/9c1e/devinfo/3/missing", Some("0\n"));
    assert_eq!(
        outline(&layers_below(&alone, &filesystem)),
        [(0, Disk, "sdb")]
    );
}

#[test]
fn each_device_of_a_pool_has_its_own_layers() {
    let tree = Recorded::of(LVM_ON_RAID)
        .but("/sys/class/block/sda1/dev", Some("8:1"))
        .but("/sys/class/block/sdb1/dev", Some("8:17"))
        .but("/sys/class/block/sda2/dev", Some("8:2"))
        .but("/sys/dev/block/8:2/partition", Some("2"))
        .but("/sys/dev/block/8:2/uevent", Some("DEVNAME=sda2"))
        .but("/sys/dev/block/8:2/../dev", Some("8:0"));
    let found = layers_of_devices(&tree, &["/dev/sda1", "/dev/sdb1", "/dev/sda2", "/dev/sdz1"]);
    assert_eq!(
        outline(&found),
        [
            (0, Partition, "sda1"),
            (1, Disk, "sda"),
            (0, Partition, "sdb1"),
            (1, Disk, "sdb"),
            (0, Partition, "sda2"),
            (0, Unknown, "a device of the target"),
        ]
    );
    let shared: Vec<bool> = found.iter().map(|layer| layer.shares_devices).collect();
    assert_eq!(shared, [false, false, false, false, true, false]);
}

fn on(filesystem: &str, device: &str) -> FilesystemDevices {
    FilesystemDevices {
        filesystem: filesystem.into(),
        devices: vec![device.into()],
        ..FilesystemDevices::default()
    }
}

#[test]
fn work_of_arrays_is_seen_once_and_stays_seen() {
    const ACTION: &str = "/sys/dev/block/9:5/md/sync_action";
    let tree = |text: Option<&str>| Recorded::of(ARRAYS).but(ACTION, text);
    // Data and WAL on one filesystem.
    let both = [on("xfs", "9:5"), on("xfs", "9:5")];
    let watches = array_watches(&tree(Some("idle\n")), &both);
    let file = ArrayWatch::File {
        array: "md5".into(),
        path: ACTION.into(),
    };
    assert_eq!(watches, [file]);
    let look = |text: Option<&str>| array_work(&tree(text), &watches);
    assert_eq!(look(Some("idle\n")), Some(vec![]));
    assert_eq!(look(Some("check\n")), Some(vec!["check of md5".into()]));
    assert_eq!(look(None), None);
    let mut seen = Some(Vec::new());
    for text in [
        Some("idle\n"),
        Some("check\n"),
        Some("idle\n"),
        Some("check\n"),
    ] {
        seen = all_work(seen, look(text));
    }
    assert_eq!(seen, Some(vec!["check of md5".to_owned()]));
    // A look that could not read leaves seen work, and no certainty that there was none.
    assert_eq!(all_work(seen.clone(), look(None)), seen);
    assert_eq!(all_work(Some(vec![]), look(None)), None);
    assert_eq!(all_work(None, look(Some("idle\n"))), None);
    // RAID 0 has no such file, and no work.
    assert_eq!(array_watches(&tree(None), &[on("xfs", "9:5")]), []);
    assert_eq!(array_work(&tree(None), &[]), Some(vec![]));
    // btrfs.
    let tree = tree(None);
    let watches = array_watches(&tree, &[on("btrfs", "8:1")]);
    assert_eq!(
        array_work(&tree, &watches),
        Some(vec!["balance of btrfs".into()])
    );
}

#[test]
fn the_kernels_threads_show_a_sync_of_lvm() {
    let tree = || Recorded::of(LVM_RAID);
    let of = |tree: &Recorded| array_watches(tree, &[on("ext4", "253:4")]);
    let watches = of(&tree());
    assert_eq!(watches, [ArrayWatch::Thread { has_others: false }]);
    let look = |tree: Recorded| array_work(&tree, &watches);
    assert_eq!(look(tree()), Some(vec![]));
    let works = Some(vec!["resync or check of LVM RAID".to_owned()]);
    for thread in ["mdX_resync", "mdX_reshape"] {
        assert_eq!(look(tree().but("/proc/91/comm", Some(thread))), works);
    }
    // A program of that name.
    let forged = tree().but("/proc/92/comm", Some("mdX_resync"));
    assert_eq!(look(forged), Some(vec![]));
    // A container shows no thread of the kernel.
    assert_eq!(look(tree().but("/proc/90/comm", None)), None);
    // The thread may be another volume's.
    let other = || {
        (tree().but("/sys/class/block/dm-7/dev", Some("253:7")))
            .but("/sys/class/block/dm-7/dm/name", Some("vg1-root_rmeta_1"))
    };
    let of_both = of(&other());
    assert_eq!(of_both, [ArrayWatch::Thread { has_others: true }]);
    assert_eq!(array_work(&other(), &of_both), Some(vec![]));
    let busy = other().but("/proc/91/comm", Some("mdX_resync"));
    assert_eq!(array_work(&busy, &of_both), None);
}

#[test]
fn work_that_cannot_be_watched_is_not_known() {
    let tree = Recorded::of(LOOP_ON_NVME);
    assert_eq!(array_watches(&tree, &[on("ext4", "7:3")]), []);
    let zfs = FilesystemDevices {
        filesystem: "zfs".into(),
        ..FilesystemDevices::default()
    };
    let watches = array_watches(&tree, &[zfs]);
    assert_eq!(watches, [ArrayWatch::Nowhere]);
    assert_eq!(array_work(&tree, &watches), None);
    // An image in a dataset.
    let tree = tree.but("below:/srv/images/bench.ext4.img", Some("zfs /srv"));
    let watches = array_watches(&tree, &[on("ext4", "7:3")]);
    assert_eq!(watches, [ArrayWatch::Nowhere]);
    // LVM's older mirror, and a cache, which is no array.
    let cached = include_str!("trees/lvm_cache.txt");
    let watches = |text: &str| array_watches(&Recorded::of(text), &[on("ext4", "252:0")]);
    assert_eq!(watches(cached), []);
    let mirror = cached.replace("vg0-pg_corig", "vg0-pg_mimage_0");
    assert_eq!(watches(&mirror), [ArrayWatch::Nowhere]);
}

#[test]
fn profiles_of_btrfs_survive_the_failures_that_the_weakest_does() {
    for (profiles, failures) in [
        ("single", Some(0)),
        ("dup", Some(0)),
        ("raid1", Some(1)),
        ("raid1c4", Some(3)),
        ("raid1c3+raid6", Some(2)),
        ("single+raid1", Some(0)),
        ("raid7", None),
        ("raid1+", None),
        ("", None),
    ] {
        assert_eq!(failures_of_profile(profiles), failures, "{profiles}");
    }
}

/// Files of other kernels and of layers that imitate one (gVisor, LXCFS): one that holds something odd is not known, and takes
/// nothing from the others.
#[test]
fn an_odd_file_costs_that_file() {
    let odd = |path: &str, text: &str| {
        let tree = Recorded::of(LVM_ON_RAID).but(path, Some(text));
        (layers(&tree, "253:1"), machine(&tree), command_line(&tree))
    };
    let (expected, expected_machine, expected_line) = odd("/nothing", "");
    for (path, text) in [
        ("/sys/dev/block/8:0/queue/rotational", "maybe\n"),
        ("/sys/dev/block/8:0/queue/nr_requests", "\u{fffd}"),
        ("/sys/dev/block/8:0/queue/scheduler", "\n\n"),
        ("/sys/dev/block/8:0/size", "-1\n"),
        ("/sys/dev/block/8:0/uevent", "no name\n\u{fffd}=\n"),
        ("/sys/dev/block/9:0/md/degraded", "(none)\n"),
        ("/sys/dev/block/9:0/md/chunk_size", "0\n"),
        ("/sys/dev/block/253:1/dev", "?\n"),
    ] {
        let (found, _, _) = odd(path, text);
        assert_eq!(found.len(), expected.len(), "{path}");
        let others = found.iter().zip(&expected).filter(|(now, was)| now == was);
        assert!(others.count() >= expected.len() - 1, "{path}");
    }
    let (found, _, _) = odd("/sys/dev/block/8:0/size", "-1\n");
    assert_eq!(found[4].bytes, None, "what is missing is not zero");
    let (_, found, _) = odd("/proc/sys/vm/swappiness", "a lot\n");
    let without = |vm: &Machine| {
        let mut vm = vm.vm.clone().unwrap();
        vm.remove("swappiness");
        vm
    };
    assert_eq!(without(&found), without(&expected_machine));
    assert!(!found.vm.unwrap().contains_key("swappiness"));
    for path in [
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
    ] {
        let (_, found, line) = odd(path, "<unsupported>\n");
        assert_eq!(found.numa_nodes, expected_machine.numa_nodes);
        assert_eq!(found.mhz_max, expected_machine.mhz_max);
        assert_eq!(line, expected_line);
    }
}

#[test]
fn filesystems_without_a_device_have_no_layers() {
    // tmpfs, overlay, NFS and the subvolumes of btrfs have numbers that no device has.
    for number in ["0:52", "0:0", ""] {
        assert_eq!(layers(&Recorded::of(LVM_ON_RAID), number), []);
    }
}

#[test]
fn a_machine_of_several_nodes_and_clocks() {
    let machine = machine(&Recorded::of(LVM_ON_RAID));
    assert_eq!(machine.governor.as_deref(), Some("powersave"));
    assert_eq!(
        (machine.mhz_min, machine.mhz_max),
        (Some(800.0), Some(3700.125))
    );
    assert_eq!((machine.numa_nodes, machine.throttled), (Some(2), Some(7)));
    assert_eq!(machine.clock_source.as_deref(), Some("tsc"));
}

#[test]
fn the_command_line_without_secrets() {
    assert_eq!(
        command_line(&Recorded::of(LVM_ON_RAID)).as_deref(),
        Some(
            "BOOT_IMAGE=/boot/vmlinuz-6.1.0-13-amd64 root=UUID=1 ro quiet luks.key=(not stored) rd.password=(not stored)"
        )
    );
}

#[test]
fn nothing_readable_is_nothing_known() {
    let tree = Recorded::of("");
    assert_eq!(machine(&tree), Machine::default());
    assert_eq!((command_line(&tree), container(&tree)), (None, None));
    assert_eq!(layers(&tree, "8:0"), []);
    assert_eq!(physical_disks(&tree), Vec::<String>::new());
    // A device whose directory is there, and nothing in it.
    let bare = Recorded::of("/sys/dev/block/8:0/dev\t8:0");
    let found = layers(&bare, "8:0");
    assert_eq!(outline(&found), [(0, Disk, "")]);
    assert_eq!(found[0].queue, Some(Queue::default()));
}

#[test]
fn what_lies_on_itself_ends() {
    let tree = Recorded::of(
        "/sys/dev/block/253:0/dev\t253:0\n/sys/dev/block/253:0/slaves/dm-0/dev\t253:0\n",
    );
    assert_eq!(layers(&tree, "253:0").len(), 1);
}

proptest! {
    #[test]
    fn never_panics(path in "/sys/dev/block/(253:1|9:0|8:1)/(md/level|dm/uuid|size|queue/fua|uevent|slaves/x/dev)", text in ".{0,20}") {
        let tree = Recorded::of(LVM_ON_RAID).but(&path, Some(&text));
        layers(&tree, "253:1");
        machine(&tree);
    }
}
