//! Plans over several devices.

use super::*;
use pgfsbench_core::helper::{InitialSync, Layout, LayoutOptions};

const OTHER: &str = "/dev/disk/by-id/wiped";

fn over_images(fs: Filesystem, layout: Layout) -> Prepare {
    let storage = Storage::Images {
        count: 3,
        bytes: 1 << 30,
        sparse: true,
    };
    Prepare {
        layout: Some(layout),
        ..Prepare::new(storage, fs)
    }
}

fn lines(request: &Prepare, facts: &Facts) -> Vec<String> {
    let config = CONFIG.replace("\"jfs\"", "\"jfs\", \"btrfs\", \"zfs\"");
    let plan = prepare(&Config::parse(&config).unwrap(), &place(), request, facts);
    script(&plan.unwrap(), "/dev/sdb")
}

#[test]
fn btrfs_over_images_step_by_step() {
    let lines = lines(
        &over_images(Filesystem::Btrfs, Layout::BtrfsRaid1),
        &facts(),
    );
    assert_eq!(
        lines[..8],
        [
            // The first directory has no room for a second image.
            "create file /srv/small/bench@t.img of 1073741824 bytes, sparse, mode 0600",
            "/usr/sbin/losetup --find --show --direct-io=on /srv/small/bench@t.img",
            "create file /srv/big/bench@t@2.img of 1073741824 bytes, sparse, mode 0600",
            "/usr/sbin/losetup --find --show --direct-io=on /srv/big/bench@t@2.img",
            "create file /srv/big/bench@t@3.img of 1073741824 bytes, sparse, mode 0600",
            "/usr/sbin/losetup --find --show --direct-io=on /srv/big/bench@t@3.img",
            "/usr/sbin/mkfs.x -f -U 00000000-0000-4000-8000-000000000000 -d raid1 -m raid1 /dev/sdb /dev/sdbb /dev/sdbc",
            "make directory /run/pgfsbench/mnt/bench@t, mode 0700",
        ]
    );
    assert!(
        lines[8].contains("-o nosuid,nodev,device=/dev/sdbb,device=/dev/sdbc /dev/sdb /run"),
        "{}",
        lines[8]
    );
}

#[test]
fn an_array_is_made_when_all_members_are_wiped_and_used_when_it_is_in_sync() {
    let request = Prepare {
        storage: Storage::Devices(vec![
            DeviceRequest::of_path("/dev/disk/by-id/a"),
            DeviceRequest::of_path(OTHER),
        ]),
        layout_options: Some(LayoutOptions {
            chunk: None,
            ..LayoutOptions::default()
        }),
        ..over_images(Filesystem::Ext4, Layout::Raid1)
    };
    let mut other = a_device(Contents::Unknown("data".into()));
    other.identity.minor = 32;
    let with = |other: DeviceFacts| Facts {
        devices: vec![found(a_device(Contents::Empty), false), found(other, false)],
        ..facts()
    };
    let lines = lines(&request, &with(other.clone()));
    assert!(lines[0].starts_with("check again that /dev/disk/by-id/a is"));
    assert!(lines[1].starts_with("check again that /dev/disk/by-id/wiped is"));
    assert_eq!(lines[2], "/usr/sbin/wipefs --all /dev/sdb");
    assert_eq!(lines[3], "/usr/sbin/wipefs --all /dev/sdbb");
    let array = "/dev/md/pgfsbench-00000000";
    assert_eq!(
        lines[4],
        format!(
            "/usr/sbin/mdadm --create {array} --run --metadata=1.2 --uuid=00000000-0000-4000-8000-000000000002 --homehost=any \
             --name=pgfsbench --level=raid1 --raid-devices=2 --bitmap=none /dev/sdb /dev/sdbb"
        )
    );
    assert_eq!(lines[5], format!("/usr/sbin/wipefs --all {array}"));
    assert!(lines[6].starts_with("read sync_action"));
    assert!(lines[7].starts_with("/usr/sbin/mkfs.x ") && lines[7].ends_with(array));
    assert!(lines[9].contains(&format!(" {array} /run/pgfsbench")));

    // Each member is judged like a device alone.
    let refused = |other: DeviceFacts| planned(&request, &with(other)).unwrap_err();
    other.in_use = Some("It is mounted on /.".into());
    let refusal = refused(other.clone());
    assert_eq!(refusal.message, format!("device {OTHER} is in use"));
    other.in_use = None;
    other.contents = Contents::Table("gpt".into());
    assert!(
        refused(other.clone())
            .message
            .ends_with("holds a partition table (gpt)")
    );
    other.contents = Contents::Empty;
    other.identity.minor = 16;
    let refusal = refused(other);
    assert_eq!(refusal.message, format!("device {OTHER} is given twice"));
    let facts = Facts {
        devices: vec![found(a_device(Contents::Empty), false), None],
        ..facts()
    };
    let refusal = planned(&request, &facts).unwrap_err();
    assert!(refusal.message.contains("is not allowed by"), "{refusal}");
}

#[test]
fn stripes_and_read_ahead_of_an_array() {
    let request = Prepare {
        layout_options: serde_json::from_str(r#"{"chunk": "64k"}"#).unwrap(),
        initial_sync: Some(InitialSync::Skip),
        block_settings: serde_json::from_str(r#"{"read_ahead_kb": 512, "nr_requests": 64}"#)
            .unwrap(),
        ..over_images(Filesystem::Xfs, Layout::Raid5)
    };
    let lines = lines(&request, &facts());
    assert!(lines[6].starts_with("write 64 to nr_requests, 512 to read_ahead_kb of"));
    assert!(
        lines[7]
            .contains("--level=raid5 --raid-devices=3 --chunk=64K --bitmap=none --assume-clean")
    );
    assert_eq!(
        lines[10],
        "write 512 to read_ahead_kb of the queue of the array"
    );
    assert!(
        lines[11].contains("-d su=65536,sw=2 /dev/md/"),
        "{}",
        lines[11]
    );
    assert!(
        lines
            .last()
            .unwrap()
            .starts_with("read nr_requests, read_ahead_kb of")
    );
}

#[test]
fn a_kernel_without_arrays_is_known_before_anything_is_erased() {
    let request = over_images(Filesystem::Ext4, Layout::Raid0);
    let with = |driver: Support| Facts {
        array: ArrayFacts {
            driver,
            ..facts().array
        },
        ..facts()
    };
    let refusal = planned(&request, &with(Support::Missing)).unwrap_err();
    assert_eq!(refusal.message, "this kernel has no software RAID");
    let without_level = Facts {
        array: ArrayFacts {
            level: Support::Missing,
            ..facts().array
        },
        ..facts()
    };
    let refusal = planned(&request, &without_level).unwrap_err();
    assert_eq!(
        refusal.message,
        "this kernel has no software RAID of level raid0"
    );
    let lines = lines(&request, &with(Support::Module));
    let place = |line: &str| lines.iter().position(|l| l.starts_with(line));
    let (loaded, made) = (place("/usr/sbin/modprobe md_mod"), place("/usr/sbin/mdadm"));
    assert!(loaded.is_some() && loaded < made, "{lines:?}");
}

#[test]
fn a_volume_is_made_of_one_group_over_all_members() {
    let request = Prepare {
        layout_options: serde_json::from_str(r#"{"chunk": "128k"}"#).unwrap(),
        initial_sync: Some(InitialSync::Check),
        ..over_images(Filesystem::Xfs, Layout::LvmRaid5)
    };
    let lines = lines(&request, &facts());
    let place = |word: &str| lines.iter().position(|line| line.contains(word));
    let parts: Vec<_> = lines
        .iter()
        .filter(|line| line.contains(" pvcreate "))
        .collect();
    assert_eq!(parts.len(), 3);
    assert!(
        parts[2].ends_with("--uuid 000000-0000-0040-0080-0000-0000-000002 /dev/sdbc"),
        "{}",
        parts[2]
    );
    let group = place(" vgcreate ").unwrap();
    assert!(
        lines[group]
            .ends_with("--setautoactivation n pgfsbench_00000000 /dev/sdb /dev/sdbb /dev/sdbc")
    );
    assert!(lines[group + 1].contains(" --type raid5 --stripes 2 --stripesize 128k "));
    let volume = "/dev/mapper/pgfsbench_00000000-data";
    assert_eq!(
        lines[group + 2..group + 4],
        [
            format!("/usr/sbin/wipefs --all {volume}"),
            "read /usr/sbin/dmsetup status pgfsbench_00000000-data until it is in sync; check it"
                .into(),
        ]
    );
    assert!(
        lines[group + 4].ends_with(&format!("-d su=131072,sw=2 {volume}")),
        "{}",
        lines[group + 4]
    );
    // One device after the other needs no RAID of the kernel, and has nothing to wait for.
    let without_raid = Facts {
        array: ArrayFacts {
            level: Support::Missing,
            ..facts().array
        },
        ..facts()
    };
    let refusal = planned(&request, &without_raid).unwrap_err();
    assert_eq!(refusal.message, "this kernel has no volumes of type raid5");
    let without_mapper = Facts {
        array: ArrayFacts {
            driver: Support::Missing,
            ..facts().array
        },
        ..facts()
    };
    let refusal = planned(&request, &without_mapper).unwrap_err();
    assert_eq!(refusal.message, "this kernel has no device mapper");
    let without_program = Facts {
        lvm: Err(Refusal::new(Kind::NotInThisState, "no lvm")),
        ..facts()
    };
    let refusal = planned(&request, &without_program).unwrap_err();
    assert_eq!(refusal.message, "no lvm");
}

#[test]
fn a_pool_over_images() {
    let lines = lines(&over_images(Filesystem::Zfs, Layout::ZfsRaidz), &facts());
    let partitions = lines.iter().filter(|line| line.contains("addpart"));
    assert_eq!(partitions.count(), 3);
    assert!(
        lines
            .iter()
            .any(|line| line.ends_with("pgfsbench-bench:t raidz /dev/sdb /dev/sdbb /dev/sdbc")),
        "{lines:?}"
    );
}
