use super::*;
use crate::layer::{ArrayFacts, Holder, ImagesFacts, KnownDevice};
use crate::probe::contents::{Contents, Signature};
use crate::probe::device::{DeviceFacts, Identity};
use pgfsbench_core::helper::{DeviceRequest, Name, Storage};
use std::path::Path;

mod discard;
mod layouts;
mod log;
mod record;
mod settings;
mod zfs;

const CONFIG: &str = r#"
    filesystems = ["ext4", "xfs", "jfs"]
    [[database]]
    name = "bench"
    connection = "dbname=bench"
    [[images]]
    directory = "/srv/small"
    max_bytes = "1GB"
    max_images = 1
    [[images]]
    directory = "/srv/big"
    max_bytes = "10GB"
    [[device]]
    path = "/dev/disk/by-id/a"
    serial = "S1"
    [[device]]
    path = "/dev/disk/by-id/wiped"
    wipe = true
    serial = "S1"
    [[device]]
    path = "/dev/disk/by-id/log2"
    serial = "S1"
"#;

fn place() -> Place {
    Place::of_key("bench@t").unwrap()
}

fn images(used: u64, images: u32, free: u64) -> ImagesFacts {
    ImagesFacts {
        used_bytes: used << 30,
        images,
        free_bytes: free << 30,
    }
}

fn array_facts(uuid: &str) -> ArrayFacts {
    ArrayFacts {
        driver: Support::Present,
        level: Support::Present,
        uuid: uuid.into(),
    }
}

fn facts() -> Facts {
    let program = |name: &str| Ok(Path::new("/usr/sbin").join(name));
    Facts {
        support: Support::Present,
        array: array_facts("00000000-0000-4000-8000-000000000002"),
        log_array: array_facts("11111111-0000-4000-8000-000000000003"),
        has_udev: true,
        kernel: "6.1".into(),
        mkfs: program("mkfs.x"),
        losetup: program("losetup"),
        mount: program("mount"),
        wipefs: program("wipefs"),
        blkdiscard: program("blkdiscard"),
        dumpe2fs: None,
        zfs: program("zfs"),
        addpart: program("addpart"),
        modprobe: program("modprobe"),
        mdadm: program("mdadm"),
        lvm: program("lvm"),
        dmsetup: program("dmsetup"),
        pool_is_there: false,
        log_uuid: "00000000-0000-4000-8000-000000000001".into(),
        uuid: "00000000-0000-4000-8000-000000000000".into(),
        images: vec![Ok(images(0, 0, 100)), Ok(images(0, 0, 100))],
        no_recorder: None,
        devices: vec![],
        log_devices: vec![],
        limits: vec![],
        queue_user: None,
        kernel_user: None,
    }
}

fn a_device(contents: Contents) -> DeviceFacts {
    DeviceFacts {
        node: "/dev/sdb".into(),
        identity: Identity {
            major: 8,
            minor: 16,
            bytes: 1 << 40,
            sequence: Some("5".into()),
            serial: Some("S1".into()),
            wwn: None,
            partition_uuid: None,
        },
        model: None,
        is_partition: false,
        in_use: None,
        contents,
    }
}

fn found(facts: DeviceFacts, is_ours: bool) -> Option<KnownDevice> {
    Some(KnownDevice {
        facts,
        is_ours,
        holder: None,
    })
}

fn request(filesystem: Filesystem, storage: Storage) -> Prepare {
    Prepare {
        mkfs_options: Some("-b4096".into()),
        mount_options: Some("noatime".into()),
        ..Prepare::new(storage, filesystem)
    }
}

fn image_of(gigabytes: u64) -> Prepare {
    let storage = Storage::Image {
        bytes: (gigabytes << 30) - 1,
        sparse: true,
    };
    request(Filesystem::Ext4, storage)
}

fn on_device(path: &str) -> Prepare {
    request(
        Filesystem::Ext4,
        Storage::Device(DeviceRequest::of_path(path)),
    )
}

fn planned(request: &Prepare, facts: &Facts) -> Result<Plan, Refusal> {
    prepare(&Config::parse(CONFIG).unwrap(), &place(), request, facts)
}

fn script(plan: &Plan, device: &str) -> Vec<String> {
    script_with(plan, device, [512, 512])
}

/// The script on devices with sectors of these sizes: of the filesystem, and of the log.
fn script_with(plan: &Plan, device: &str, [sector, log_sector]: [u64; 2]) -> Vec<String> {
    // Further members, and devices of the log, have the name of the first with a letter behind it.
    let mut devices = plan.devices();
    for (part, _) in plan.leaves() {
        let (first, n) = match part {
            Part::Member(n) => (device, n),
            Part::Log(n) => ("/dev/log", n),
        };
        let letter = ["", "b", "c", "d"][n];
        devices.set(part, format!("{first}{letter}").into());
    }
    devices.members.sector = sector;
    devices.log.sector = log_sector;
    let line = |step: &Step| {
        step.argv(&devices)
            .map_or(step.words(), |argv| argv.join(" "))
    };
    plan.steps.iter().map(line).collect()
}

#[test]
fn an_image_step_by_step() {
    let plan = planned(&image_of(2), &facts()).unwrap();
    assert_eq!(
        script(&plan, "/dev/loop3"),
        [
            "create file /srv/big/bench@t.img of 2147483648 bytes, sparse, mode 0600",
            "/usr/sbin/losetup --find --show --direct-io=on /srv/big/bench@t.img",
            "/usr/sbin/mkfs.x -q -F -U 00000000-0000-4000-8000-000000000000 -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/loop3",
            "make directory /run/pgfsbench/mnt/bench@t, mode 0700",
            "/usr/sbin/mount -i -t ext4 -o nosuid,nodev,noatime /dev/loop3 /run/pgfsbench/mnt/bench@t",
            "read /proc/self/mountinfo: is it mounted on /run/pgfsbench/mnt/bench@t, and with which options?",
            "make directory /run/pgfsbench/mnt/bench@t/pgfsbench, owner postgres, mode 0700; the filesystem's root likewise",
        ]
    );
}

#[test]
fn a_device_step_by_step() {
    let facts = Facts {
        devices: vec![found(a_device(Contents::Empty), false)],
        ..facts()
    };
    let plan = planned(&on_device("/dev/disk/by-id/a"), &facts).unwrap();
    let script = script(&plan, "/dev/sdb");
    assert!(script[0].starts_with("check again that /dev/disk/by-id/a is the same device"));
    assert_eq!(script[1], "/usr/sbin/wipefs --all /dev/sdb");
    assert!(script[2].ends_with("-b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/sdb"));
}

#[test]
fn limits_of_images() {
    let refused = |facts: Facts, gigabytes: u64| planned(&image_of(gigabytes), &facts).unwrap_err();
    let with = |first: ImagesFacts, second: ImagesFacts| Facts {
        images: vec![Ok(first), Ok(second)],
        ..facts()
    };
    let refusal = refused(facts(), 11);
    assert_eq!(refusal.kind, Kind::NotAllowed);
    assert!(
        refusal
            .message
            .contains("11 GB is not allowed in /srv/small"),
        "{refusal}"
    );
    let refusal = refused(with(images(1, 0, 100), images(10, 3, 100)), 1);
    let detail = refusal.detail.unwrap();
    assert!(detail.ends_with("and 1024 MB are in use."), "{detail}");
    // The largest size that a request can have.
    let storage = Storage::Image {
        bytes: 8_388_607 << 40,
        sparse: true,
    };
    let refusal = planned(&request(Filesystem::Ext4, storage), &facts()).unwrap_err();
    assert!(refusal.message.contains("is not allowed in"), "{refusal}");
    let refusal = refused(with(images(0, 1, 100), images(10, 3, 100)), 1);
    assert!(
        refusal.message.contains("too many images in /srv/small"),
        "{refusal}"
    );
    let refusal = refused(with(images(0, 0, 0), images(0, 0, 0)), 1);
    assert_eq!(refusal.kind, Kind::DiskFull);
    // The second directory takes what the first does not, whatever is wrong with that.
    let unusable = || Err(Refusal::new(Kind::NotInThisState, "not mounted"));
    let with_one = Facts {
        images: vec![unusable(), Ok(images(0, 0, 100))],
        ..facts()
    };
    assert!(planned(&image_of(1), &with_one).is_ok());
    let without = Facts {
        images: vec![unusable(), unusable()],
        ..facts()
    };
    let refusal = planned(&image_of(1), &without).unwrap_err();
    assert_eq!(refusal.message, "not mounted");
    assert!(planned(&image_of(1), &with(images(0, 0, 0), images(9, 0, 1))).is_ok());
}

#[test]
fn what_the_machine_or_the_configuration_lacks() {
    let lacking = |change: fn(&mut Facts)| {
        let mut facts = facts();
        change(&mut facts);
        planned(&image_of(1), &facts).unwrap_err()
    };
    let refusal = lacking(|f| f.support = Support::Missing);
    assert_eq!(refusal.message, "this kernel has no ext4");
    assert!(refusal.detail.unwrap().contains("kernel 6.1"));
    let refusal = lacking(|f| {
        f.mkfs = Err(Refusal::new(
            Kind::NotInThisState,
            "there is no program mkfs.x",
        ))
    });
    assert_eq!(refusal.message, "there is no program mkfs.x");
    let storage = Storage::Image {
        bytes: 1 << 30,
        sparse: true,
    };
    let btrfs = Prepare {
        mkfs_options: None,
        ..request(Filesystem::Btrfs, storage)
    };
    let refusal = planned(&btrfs, &facts()).unwrap_err();
    assert_eq!(
        refusal.message,
        "btrfs is not allowed by the helper's configuration"
    );
}

/// Nothing is erased for an option that Linux no longer has: there is no plan.
#[test]
fn an_option_that_linux_has_no_more_is_refused_before_anything_is_made() {
    let xfs = Prepare {
        mkfs_options: None,
        mount_options: Some("noatime,nobarrier".into()),
        filesystem: Filesystem::Xfs,
        ..image_of(1)
    };
    let refusal = planned(&xfs, &facts()).unwrap_err();
    assert_eq!(refusal.message, "mount option \"nobarrier\" of xfs is gone");
    assert!(refusal.detail.unwrap().contains("since 4.19"));
}

#[test]
fn devices_that_are_refused() {
    let with = |device: DeviceFacts, is_ours: bool| Facts {
        devices: vec![found(device, is_ours)],
        ..facts()
    };
    let foreign = || {
        Contents::Signature(Signature {
            kind: "xfs".into(),
            label: None,
            uuid: Some("1".into()),
        })
    };
    let (listed, wiped) = ("/dev/disk/by-id/a", "/dev/disk/by-id/wiped");
    let says =
        |path: &str, facts: Facts| planned(&on_device(path), &facts).map(|_| ()).unwrap_err();

    let refusal = says("/dev/sdb", facts());
    assert!(
        refusal
            .message
            .ends_with("is not allowed by the helper's configuration")
    );
    assert!(refusal.hint.unwrap().contains("path = \"/dev/sdb\""));
    let refusal = says(listed, with(a_device(foreign()), false));
    assert_eq!(
        refusal.message,
        "device /dev/disk/by-id/a holds xfs, UUID 1"
    );
    assert!(refusal.hint.unwrap().contains("wipe = true"));
    for path in [listed, wiped] {
        let refusal = says(path, with(a_device(Contents::Table("gpt".into())), true));
        assert!(
            refusal.message.ends_with("holds a partition table (gpt)"),
            "{refusal}"
        );
        let refusal = says(path, with(a_device(Contents::Partitions), true));
        let hint = refusal.hint.unwrap();
        assert!(hint.ends_with(&format!("partx --delete {path}")), "{hint}");
        let mut used = a_device(Contents::Empty);
        used.in_use = Some("It is mounted on /.".into());
        let refusal = says(path, with(used.clone(), true));
        assert!(refusal.message.ends_with("is in use"), "{refusal}");
        assert!(refusal.hint.unwrap().starts_with("Unmount or free it"));
        // No hint asks the user to unmount what the helper has mounted.
        for (run, hint) in [
            (Some(7), "Wait for the end of the run"),
            (None, "Call fsbench.release_target('t')"),
        ] {
            let mut facts = with(used.clone(), true);
            let place = Place {
                database: Name::new("bench").unwrap(),
                target: Name::new("t").unwrap(),
            };
            if let Some(found) = &mut facts.devices[0] {
                found.holder = Some(Holder { place, run });
            }
            let refusal = says(path, facts);
            let detail = refusal.detail.unwrap();
            assert!(detail.contains("target \"t\" of database \"bench\""));
            assert_eq!(detail.contains("for run 7"), run.is_some(), "{detail}");
            assert!(refusal.hint.unwrap().starts_with(hint));
        }
    }
    let unknown = || Contents::Unknown("data without a known signature".into());
    assert!(planned(&on_device(listed), &with(a_device(unknown()), false)).is_err());
    assert!(planned(&on_device(listed), &with(a_device(foreign()), true)).is_ok());
    assert!(planned(&on_device(wiped), &with(a_device(foreign()), false)).is_ok());
    assert!(planned(&on_device(wiped), &with(a_device(unknown()), false)).is_ok());
}

#[test]
fn a_device_must_be_the_one_that_configuration_and_target_mean() {
    let with = |serial: Option<&str>, partition: Option<&str>| {
        let mut device = a_device(Contents::Empty);
        device.identity.serial = serial.map(str::to_owned);
        device.identity.partition_uuid = partition.map(str::to_owned);
        Facts {
            devices: vec![found(device, false)],
            ..facts()
        }
    };
    let path = "/dev/disk/by-id/a";
    let requested = |change: fn(&mut DeviceRequest)| {
        let mut device = DeviceRequest::of_path(path);
        change(&mut device);
        request(Filesystem::Ext4, Storage::Device(device))
    };
    let says = |request: &Prepare, facts: Facts| {
        let refusal = planned(request, &facts).unwrap_err();
        assert_eq!(refusal.kind, Kind::NotAllowed);
        (refusal.detail.unwrap(), refusal.hint.unwrap())
    };
    assert!(planned(&on_device(path), &with(Some("S1"), None)).is_ok());
    // Another disk has come in its place, or one without a number.
    let (detail, hint) = says(&on_device(path), with(Some("S2"), None));
    assert!(
        detail.contains("\"S1\"") && detail.contains("\"S2\""),
        "{detail}"
    );
    assert!(hint.contains("administrator"), "{hint}");
    assert!(
        says(&on_device(path), with(None, None))
            .0
            .contains("no serial")
    );
    // The target was created for another; or for one of another size.
    let other = requested(|d| d.serial = Some("S3".into()));
    let (detail, _) = says(&other, with(Some("S1"), None));
    assert!(
        detail.contains("\"S3\"") && detail.contains("\"S1\""),
        "{detail}"
    );
    let larger = requested(|d| d.bytes = Some(1 << 41));
    let (detail, hint) = says(&larger, with(Some("S1"), None));
    assert!(detail.contains("the target") && hint.contains("create it again"));
    assert!(detail.contains(&(1u64 << 41).to_string()), "{detail}");
    let same = requested(|d| {
        (d.serial, d.bytes) = (Some("S1".into()), Some(1 << 40));
    });
    assert!(planned(&same, &with(Some("S1"), None)).is_ok());
    // A partition's own mark has to be there.
    let (_, hint) = says(&on_device(path), with(Some("S1"), Some("P1")));
    assert!(
        hint.contains("put partition_uuid = \"P1\" below path"),
        "{hint}"
    );
}
