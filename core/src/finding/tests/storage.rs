//! Findings about filesystems, devices and flushes. Each is provoked, and absent on a clean run (`finds!` asserts that nothing else
//! is found).

use super::*;
use crate::sys;

macro_rules! on {
    ({$($field:ident: $value:expr),+ $(,)?} => $code:expr, $severity:ident, $message:expr) => {
        finds!({storage: StorageFacts { $($field: $value),+, ..super::storage() }} => $code, $severity, $message)
    };
}

macro_rules! nothing_on {
    ($($field:ident: $value:expr),+ $(,)?) => {
        finds_nothing!(storage: StorageFacts { $($field: $value),+, ..super::storage() })
    };
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn what_was_asked_of_a_filesystem_and_is_not_in_force() {
    on!({mount_options_not_shown: Some(vec!["nobarrier".into(), "foo=1".into()])}
        => "mount_options_not_shown", Warning, "mount options asked for, but not shown by the kernel: nobarrier, foo=1");
    on!({cloned: Some(true)} => "cloned_data", Warning, "the data share their blocks with those that they were cloned from");
    nothing_on!(cloned: Some(false));
    on!({properties_not_in_force: Some(vec!["atime=off".into()])}
        => "properties_not_in_force", Warning, "properties asked for, but not in force: atime=off");
}

#[test]
fn commits_that_a_power_cut_takes_back() {
    let message = "the filesystem is mounted with barriers off";
    on!({mount_options: text("rw,noatime,nobarrier")} => "barriers_off", Warning, message);
    on!({mount_options: text("rw,noatime,barrier=0"), power_loss_protected: Some(true)} => "barriers_off", Info, message);
    nothing_on!(mount_options: text("rw,noatime,barrier=1"));
    let message = "jfs does not flush the device's write cache";
    on!({filesystem: text("jfs")} => "jfs_does_not_flush", Warning, message);
    nothing_on!(filesystem: text("jfs"), write_cache: text("write through"));
    nothing_on!(filesystem: text("jfs"), power_loss_protected: Some(true));
    let message = "a sync does nothing on overlay with fsync=volatile";
    on!({filesystem: text("overlay"), mount_options: text("rw,noatime,fsync=volatile"), power_loss_protected: Some(true)}
        => "sync_does_nothing", Warning, message);
    let zfs = |flushes| StorageFacts {
        filesystem: text("zfs"),
        zfs_flushes: Some(flushes),
        ..super::storage()
    };
    finds!({storage: zfs(false)} => "sync_does_nothing", Warning, "zfs does not flush its devices");
    finds_nothing!(storage: zfs(true));
    finds_nothing!(storage: StorageFacts { power_loss_protected: Some(true), ..zfs(false) });
}

#[test]
fn a_queue_that_denies_the_cache_of_its_device() {
    let message = "flushes of loop3 are switched off by queue/write_cache";
    let mut layers = recorded("trees/loop_on_nvme.txt", "7:3");
    let through = |layer: &mut sys::Layer| {
        layer.queue.as_mut().unwrap().write_cache = text("write through");
    };
    through(&mut layers[0]);
    let storage = StorageFacts {
        layers: Some(layers),
        power_loss_protected: Some(true),
        ..super::storage()
    };
    let found = judge(&RunFacts { storage, ..clean() });
    let barriers = found.iter().find(|finding| finding.code == "barriers_off");
    let barriers = barriers.unwrap();
    assert_eq!(
        (barriers.severity, &*barriers.message),
        (Severity::Warning, message)
    );
    let mut layers = recorded("trees/lvm_cache.txt", "252:0");
    through(&mut layers[0]);
    let message = "flushes of vg0-pg are switched off by queue/write_cache";
    on!({layers: Some(layers.clone()), power_loss_protected: Some(true)} => "barriers_off", Info, message);
    on!({layers: Some(layers)} => "barriers_off", Warning, message);
}

#[test]
fn an_image_on_a_filesystem_without_barriers() {
    let mut layers = recorded("trees/loop_on_nvme.txt", "7:3");
    layers[0].direct_io = Some(true);
    layers[1].mount_options = text("rw,nobarrier");
    let facts = RunFacts {
        storage: StorageFacts {
            layers: Some(layers),
            ..super::storage()
        },
        ..clean()
    };
    let found = judge(&facts);
    assert_eq!(
        found[0].message,
        "a filesystem below the data is mounted with barriers off"
    );
}

#[test]
fn a_device_that_does_not_show_what_was_synced() {
    let syncs = |flushes, bytes| WalSyncFacts {
        device_flushes: flushes,
        device_write_bytes: bytes,
        ..clean().wal_sync
    };
    finds!({wal_sync: syncs(Some(3), Some(3 * GB))} => "flushes_missing", Warning,
        "WAL was synced 600000 times, and the device was flushed 3 times");
    finds!({wal_sync: syncs(None, Some(0))} => "flushes_missing", Warning,
        "1024 MB of WAL were synced, and the device wrote 0 bytes");
    finds_nothing!(wal_sync: syncs(None, None));
    let fast = WalSyncFacts {
        sync_ms: Some(6000.0),
        ..clean().wal_sync
    };
    finds!({wal_sync: fast} => "fsync_too_fast", Warning,
        "a sync of WAL takes 10.0 us (mean), too short for a device with a volatile write cache");
}

/// The findings of a run whose WAL is on a filesystem of another kind than that of its data, beside that; in a virtual machine or not.
fn of_wal(wal: StorageFacts, data: StorageFacts, virtualization: &str) -> Vec<String> {
    let facts = RunFacts {
        wal_place: Some(place(2, "/dev/sdb1", "ext4")),
        wal_storage: Some(wal),
        storage: data,
        flush: FlushFacts {
            before_us: Some(20.0),
            after_us: Some(19.0),
            ..FlushFacts::default()
        },
        machine: MachineFacts {
            virtualization: text(virtualization),
            ..super::machine()
        },
        ..clean()
    };
    let found = judge(&facts).into_iter();
    let beside = found.filter(|finding| finding.code != "wal_on_other_filesystem");
    beside.map(|finding| finding.message).collect()
}

#[test]
fn commits_depend_on_the_storage_of_wal() {
    let through = || StorageFacts {
        write_cache: text("write through"),
        ..super::storage()
    };
    let with = |options: &str| StorageFacts {
        mount_options: text(options),
        ..through()
    };
    let jfs = || StorageFacts {
        filesystem: text("jfs"),
        ..super::storage()
    };
    let memory = || StorageFacts {
        filesystem: text("tmpfs"),
        ..StorageFacts::default()
    };
    let fast = "a flush takes 19.0 us (median), too short for a device with a volatile write cache";
    let nothing: [&str; 0] = [];
    assert_eq!(of_wal(through(), through(), "none"), nothing);
    assert_eq!(
        of_wal(with("rw,noatime,nobarrier"), through(), "none"),
        ["the filesystem of WAL is mounted with barriers off"]
    );
    assert_eq!(
        of_wal(through(), with("rw,noatime,nobarrier"), "none"),
        nothing
    );
    assert_eq!(
        of_wal(jfs(), through(), "none"),
        ["jfs of WAL does not flush the device's write cache"]
    );
    assert_eq!(of_wal(through(), jfs(), "none"), nothing);
    assert_eq!(of_wal(super::storage(), through(), "none"), [fast]);
    assert_eq!(of_wal(through(), super::storage(), "none"), nothing);
    assert_eq!(
        of_wal(through(), super::storage(), "kvm"),
        [
            "the virtual disk of WAL (kvm) says that it has no write cache, so that nothing is flushed"
        ]
    );
    assert_eq!(
        of_wal(memory(), super::storage(), "none"),
        ["WAL is in memory (tmpfs)"]
    );
    // Two subvolumes of one btrfs are one filesystem.
    finds!({data_place: Some(place(40, "/dev/sda1", "btrfs")), wal_place: Some(place(41, "/dev/sda1", "btrfs")),
        wal_storage: Some(memory()),
        storage: StorageFacts { mount_options: text("rw,noatime,nobarrier"), ..super::storage() }}
        => "barriers_off", Warning, "the filesystem is mounted with barriers off");
}

#[test]
fn what_queues_tell_completes_what_is_known() {
    let mut wal = StorageFacts {
        layers: Some(recorded("trees/loop_on_nvme.txt", "259:2")),
        ..StorageFacts::default()
    };
    wal.complete();
    assert_eq!(
        (wal.rotational, wal.write_cache.as_deref()),
        (Some(false), Some("write back"))
    );
    let mut unknown = StorageFacts::default();
    unknown.complete();
    assert_eq!(unknown, StorageFacts::default());
}

#[test]
fn data_in_memory() {
    on!({filesystem: text("tmpfs"), layers: None, rotational: None, write_cache: None}
        => "in_memory", Warning, "the data are in memory (tmpfs)");
    let zram = "/sys/dev/block/253:9/dev\t253:9\n/sys/dev/block/253:9/uevent\tDEVNAME=zram0\n";
    let layers = sys::layers(&sys::Recorded::of(zram), "253:9");
    on!({layers: Some(layers)} => "in_memory", Warning, "the data are in memory (zram0)");
    let image = include_str!("../../sys/trees/loop_on_nvme.txt");
    let tree = sys::Recorded::of(image)
        .but("below:/srv/images/bench.ext4.img", Some("tmpfs /srv"))
        .but("/sys/dev/block/7:3/loop/dio", Some("1"));
    let found = judge(&RunFacts {
        storage: StorageFacts {
            layers: Some(sys::layers(&tree, "7:3")),
            ..super::storage()
        },
        // Too fast for a disk, which is said once.
        flush: FlushFacts {
            before_us: Some(20.0),
            after_us: None,
            ..FlushFacts::default()
        },
        ..clean()
    });
    let codes: Vec<&str> = found.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["in_memory", "loop_device"]);
}

#[test]
fn files_that_serve_as_disks() {
    let cached = recorded("trees/loop_on_nvme.txt", "7:3");
    on!({layers: Some(cached.clone())} => "loop_without_direct_io", Warning, "loop3 has no direct I/O");
    let mut direct = cached;
    direct[0].direct_io = Some(true);
    on!({layers: Some(direct)} => "loop_device", Info, "the data are on a loop device (loop3)");
}

#[test]
fn discards_and_the_state_of_an_ssd() {
    for option in ["discard", "discard=async"] {
        on!({mount_options: Some(format!("rw,noatime,{option}"))} => "discard_mount_option", Info,
            format!("the filesystem discards blocks while the run is on (mount option {option})"));
    }
    nothing_on!(mount_options: text("rw,noatime,nodiscard"));
    on!({device_discard_bytes: Some(120 << 20)} => "device_discards", Warning,
        "the device discarded 120 MB while the run was measured, and no mount option asks for that");
    nothing_on!(device_discard_bytes: Some(16 << 20));
    nothing_on!(device_discard_bytes: None);
    on!({ssd_state: None} => "ssd_state_undeclared", Info, "the state of the SSD was not declared");
    nothing_on!(ssd_state: None, on_device: None);
    nothing_on!(ssd_state: None, discard_max_bytes: Some(0));
}

#[test]
fn tables_that_are_written_after_the_mount() {
    let message = "ext4 initializes its tables in the background";
    on!({lazy_init: Some(true)} => "lazy_init", Warning,
        "an ext4 of this machine, perhaps another one, initializes its tables in the background");
    for options in [
        "lazy_itable_init=1",
        "stride=4,lazy_itable_init",
        "lazy_itable_init=0,lazy_journal_init=1",
    ] {
        on!({mkfs_command: Some(format!("/sbin/mkfs.ext4 -E {options} /dev/x"))} => "lazy_init", Warning, message);
    }
    nothing_on!(lazy_init: Some(true), filesystem: text("xfs"));
}

#[test]
fn others_who_write_to_the_device() {
    on!({device_write_bytes: Some(1604 << 20), server_write_bytes: Some(13 << 20)} => "other_writers", Warning,
        "the device wrote 1604 MB, and this server at most 13 MB of it: others wrote, too");
    // Not what a filesystem adds, not a few MB, and not on a filesystem of the run's own.
    nothing_on!(device_write_bytes: Some(9 * GB));
    on!({device_write_bytes: Some(852 << 20), server_write_bytes: Some(137 << 20)} => "other_writers", Warning,
        "the device wrote 852 MB, and this server at most 137 MB of it: others wrote, too");
    // Data that are written twice, or as a copy with its tree.
    for (filesystem, options) in [("ext4", "rw,noatime,data=journal"), ("btrfs", "rw,noatime")] {
        let storage = StorageFacts {
            filesystem: text(filesystem),
            mount_options: text(options),
            device_write_bytes: Some(852 << 20),
            server_write_bytes: Some(137 << 20),
            ..super::storage()
        };
        let found = judge(&RunFacts { storage, ..clean() });
        assert!(
            !found.iter().any(|finding| finding.code == "other_writers"),
            "{filesystem}"
        );
    }
    nothing_on!(device_write_bytes: Some(60 << 20), server_write_bytes: Some(1 << 20));
    nothing_on!(device_write_bytes: Some(1604 << 20), server_write_bytes: Some(13 << 20), made: Some(true));
    nothing_on!(device_write_bytes: None);
}

#[test]
fn access_times() {
    on!({mount_options: text("rw,relatime")} => "atime", Info,
        "reads change access times now and then (mount option relatime)");
    on!({mount_options: text("rw")} => "atime", Warning,
        "every read changes an access time (no mount option noatime or relatime)");
    nothing_on!(mount_options: text("rw"), filesystem: text("overlay"));
    nothing_on!(mount_options: text("rw"), file_attributes: text("noatime"));
}

#[test]
fn btrfs_without_checksums_and_what_compresses() {
    let btrfs = |options: &str| StorageFacts {
        filesystem: text("btrfs"),
        mount_options: text(options),
        ..super::storage()
    };
    finds!({storage: btrfs("rw,noatime,nodatasum,nodatacow")} => "btrfs_nodatacow", Warning,
        "btrfs works without checksums of the data (mount option nodatacow)");
    finds!({storage: btrfs("rw,noatime,compress=zstd:3")} => "compression", Warning,
        "the filesystem compresses (mount option compress=zstd:3)");
    finds_nothing!(storage: btrfs("rw,noatime,compress=no,space_cache=v2"));
    on!({filesystem: text("bcachefs"), mount_options: text("rw,noatime,compression=lz4")} => "compression", Warning,
        "the filesystem compresses (mount option compression=lz4)");
    on!({filesystem: text("zfs"), compression: text("lz4")} => "compression", Warning,
        "the filesystem compresses (property compression=lz4)");
    nothing_on!(filesystem: text("zfs"), compression: text("off"));
}

#[test]
fn attributes_of_files_and_of_their_directory() {
    let btrfs = |options: &str, directory: &str, file: Option<&str>| StorageFacts {
        filesystem: text("btrfs"),
        mount_options: text(options),
        attributes: text(directory),
        file_attributes: file.and_then(text),
        ..super::storage()
    };
    let plain = "rw,noatime";
    finds!({storage: btrfs(plain, "nocow", Some("nocow"))} => "btrfs_nodatacow", Warning,
        "btrfs works without checksums of the data (attribute nocow of the files of the run)");
    finds!({storage: btrfs(plain, "nocow", None)} => "btrfs_nodatacow", Warning,
        "btrfs works without checksums of the data (attribute nocow of the data directory)");
    // chattr +C on a data directory that is not empty: the directories of databases do not have it.
    finds!({storage: btrfs(plain, "nocow", Some(""))} => "file_attributes", Warning,
        "attributes by chattr or a property: nocow of the data directory, which the files of the run do not have");
    finds!({storage: btrfs(plain, "compress,compression=zstd", Some("compress,compression=zstd"))} => "compression", Warning,
        "the filesystem compresses (attribute compression=zstd of the files of the run)");
    finds!({storage: btrfs("rw,noatime,compress=zstd:3", "nocompress", Some("nocompress"))} => "file_attributes", Warning,
        "attributes by chattr or a property: nocompress of the files of the run, for which mount option compress=zstd:3 does nothing");
    finds_nothing!(storage: btrfs(plain, "", Some("")));
    finds_nothing!(storage: btrfs(plain, "noatime", Some("")));
    on!({file_attributes: text("data_journal")} => "file_attributes", Warning,
        "attributes by chattr or a property: data_journal of the files of the run");
}

#[test]
fn files_that_are_extended_where_nothing_can_be_allocated() {
    let on_ext3 = |by_fallocate, has_fallocate| RunFacts {
        storage: StorageFacts {
            filesystem: text("ext3"),
            has_fallocate,
            ..super::storage()
        },
        server: ServerFacts {
            extends_by_fallocate: by_fallocate,
            ..server()
        },
        ..clean()
    };
    let codes = |facts: &RunFacts| {
        let found = judge(facts).into_iter();
        found.map(|finding| finding.code).collect::<Vec<_>>()
    };
    let found = judge(&on_ext3(Some(true), Some(false)));
    assert_eq!(
        found[0].message,
        "ext3 has no fallocate: to extend a file, the server has a byte of each block written first"
    );
    assert_eq!(
        codes(&on_ext3(Some(true), Some(false))),
        ["fallocate_missing"]
    );
    for (by_fallocate, has_fallocate) in [
        (Some(false), Some(false)),
        (Some(true), Some(true)),
        (Some(true), None),
        (None, Some(false)),
    ] {
        assert_eq!(codes(&on_ext3(by_fallocate, has_fallocate)), [""; 0]);
    }
}

#[test]
fn what_files_take_against_their_lengths() {
    on!({used_bytes: Some(5 * GB)} => "allocated_less", Info, "files of 16 GB took 5120 MB before the clients began");
    nothing_on!(used_bytes: Some(5 * GB), mkfs_command: None);
    nothing_on!(used_bytes: None);
    on!({used_bytes_at_end: Some(30 * GB), filesystem: text("btrfs")} => "allocated_more", Info,
        "files of 17 GB took 30 GB after the run");
    nothing_on!(used_bytes_at_end: Some(30 * GB));
    // The tables alone.
    nothing_on!(filesystem: text("btrfs"), used_bytes_at_end: Some(60 << 20), files_bytes_at_end: Some(1 << 20));
}

#[test]
fn dead_rows_that_were_there_before() {
    let dead = |rows| ServerFacts {
        dead_rows_at_start: Some(rows),
        ..server()
    };
    finds!({server: dead(100_001)} => "dead_rows", Warning, "the tables had 100001 dead rows before the clients began");
    finds_nothing!(server: dead(100_000));
}

#[test]
fn a_filesystem_that_is_almost_full() {
    on!({free_bytes_at_end: Some(5 * GB)} => "almost_full", Warning, "5120 MB of 100 GB were free at the end (5.0 %)");
    on!({free_bytes: Some(GB), free_bytes_at_end: None} => "almost_full", Warning,
        "1024 MB of 100 GB were free at the end (1.0 %)");
    nothing_on!(size_bytes: None, free_bytes_at_end: Some(0));
}

/// A disk that rotates.
fn rotating() -> StorageFacts {
    let mut layers = recorded("trees/loop_on_nvme.txt", "259:2");
    for queue in layers.iter_mut().filter_map(|layer| layer.queue.as_mut()) {
        queue.rotational = Some(true);
    }
    StorageFacts {
        rotational: Some(true),
        layers: Some(layers),
        ..super::storage()
    }
}

#[test]
fn flushes_that_cannot_be_real() {
    let flush = |us| FlushFacts {
        before_us: Some(us + 1.0),
        after_us: Some(us),
        ..FlushFacts::default()
    };
    finds!({flush: flush(19.0)} => "fsync_too_fast", Warning,
        "a flush takes 19.0 us (median), too short for a device with a volatile write cache");
    finds!({flush: flush(400.0), storage: rotating()}
        => "fsync_too_fast", Warning, "a flush takes 400 us (median), too short for a disk that rotates");
    let protected = StorageFacts {
        power_loss_protected: Some(true),
        ..super::storage()
    };
    finds_nothing!(flush: flush(19.0), storage: protected);
    let written_through = StorageFacts {
        write_cache: text("write through"),
        ..super::storage()
    };
    finds_nothing!(flush: flush(19.0), storage: written_through);
    // A virtual disk only says that it rotates.
    let virtual_machine = MachineFacts {
        virtualization: text("kvm"),
        ..super::machine()
    };
    finds_nothing!(flush: flush(400.0), machine: virtual_machine,
        storage: rotating());
    finds_nothing!(flush: flush(6000.0), storage: rotating(), wal_sync: WalSyncFacts::default());
    // A cache on a disk that does not rotate takes the flush.
    for tree in [
        include_str!("../../sys/trees/bcache.txt"),
        include_str!("../../sys/trees/lvm_cache.txt"),
    ] {
        let layers = sys::layers(&sys::Recorded::of(tree), "252:0");
        assert_eq!(sys::rotates(&layers), Some(true));
        let cached = StorageFacts {
            rotational: Some(true),
            layers: Some(layers),
            ..super::storage()
        };
        finds_nothing!(flush: flush(400.0), storage: cached, wal_sync: WalSyncFacts::default());
    }
    finds_nothing!(flush: FlushFacts::default());
}

#[test]
fn flushes_that_changed() {
    let flush = |before, after| FlushFacts {
        before_us: Some(before),
        after_us: Some(after),
        ..FlushFacts::default()
    };
    finds!({flush: flush(400.0, 12_000.0)} => "flush_step", Warning,
        "a flush took 400 us before the clients and 12.0 ms after them (medians)");
    finds!({flush: flush(900.0, 300.0)} => "flush_step", Warning,
        "a flush took 900 us before the clients and 300 us after them (medians)");
    let hint = |before, after| {
        let found = judge(&RunFacts {
            flush: flush(before, after),
            ..clean()
        });
        found[0].hint.clone()
    };
    assert!(hint(400.0, 12_000.0).contains("burst credits are used up"));
    assert!(hint(900.0, 300.0).contains("before the clients began"));
    finds_nothing!(flush: flush(60.0, 200.0));
    finds_nothing!(flush: flush(1000.0, 2000.0));
}

#[test]
fn virtual_disks_that_say_that_they_have_no_cache() {
    let virtual_machine = || MachineFacts {
        virtualization: text("kvm"),
        ..super::machine()
    };
    let written_through = || StorageFacts {
        write_cache: text("write through"),
        ..super::storage()
    };
    finds!({machine: virtual_machine(), storage: written_through()} => "virtual_disk_without_flush", Info,
        "the virtual disk (kvm) says that it has no write cache, so that nothing is flushed");
    finds_nothing!(storage: written_through());
    finds_nothing!(machine: virtual_machine());
    finds_nothing!(machine: virtual_machine(), storage: StorageFacts { layers: None, ..written_through() });
}
