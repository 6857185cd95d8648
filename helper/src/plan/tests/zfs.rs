//! Plans of zfs pools.

use super::*;
use pgfsbench_core::helper::{Layout, Log};

const POOL: &str = "/usr/sbin/mkfs.x create -f -o cachefile=none -O canmount=off -O mountpoint=none -O setuid=off -O devices=off";

fn request(storage: Storage) -> Prepare {
    Prepare {
        pool_properties: Some("ashift=12 autotrim=on".into()),
        dataset_properties: Some("recordsize=8K,compression=lz4".into()),
        ..Prepare::new(storage, Filesystem::Zfs)
    }
}

fn planned_with(storage: Storage, facts: &Facts) -> Result<Plan, Refusal> {
    let config = CONFIG.replace("\"jfs\"", "\"jfs\", \"zfs\"");
    prepare(
        &Config::parse(&config).unwrap(),
        &place(),
        &request(storage),
        facts,
    )
}

#[test]
fn an_image_step_by_step() {
    let image = Storage::Image {
        bytes: 1 << 30,
        sparse: true,
    };
    let plan = planned_with(image, &facts()).unwrap();
    assert_eq!(
        script(&plan, "/dev/loop3"),
        [
            "create file /srv/small/bench@t.img of 1073741824 bytes, sparse, mode 0600",
            "/usr/sbin/losetup --find --show --direct-io=on --partscan /srv/small/bench@t.img",
            "/usr/sbin/addpart /dev/loop3 1 2048 2093056",
            &format!("{POOL} -o ashift=12 -o autotrim=on pgfsbench-bench:t /dev/loop3"),
            "/usr/sbin/zfs create -o mountpoint=legacy -o setuid=off -o devices=off -o recordsize=8K -o compression=lz4 pgfsbench-bench:t/data",
            "/usr/sbin/mkfs.x get -H -p -o property,value ashift,autotrim pgfsbench-bench:t",
            "/usr/sbin/zfs get -H -p -o property,value recordsize,compression,sync pgfsbench-bench:t/data",
            "make directory /run/pgfsbench/mnt/bench@t, mode 0700",
            "/usr/sbin/mount -t zfs -o nosuid,nodev pgfsbench-bench:t/data /run/pgfsbench/mnt/bench@t",
            "read /proc/self/mountinfo: is it mounted on /run/pgfsbench/mnt/bench@t, and with which options?",
            "make directory /run/pgfsbench/mnt/bench@t/pgfsbench, owner postgres, mode 0700; the filesystem's root likewise",
        ]
    );
}

#[test]
fn a_partition_is_needed_and_no_pool_of_that_name() {
    let device = || Storage::Device(DeviceRequest::of_path("/dev/disk/by-id/a"));
    let with = |is_partition: bool, pool_is_there: bool| {
        let mut device = a_device(Contents::Empty);
        device.is_partition = is_partition;
        Facts {
            devices: vec![found(device, false)],
            pool_is_there,
            ..facts()
        }
    };
    let refusal = planned_with(device(), &with(false, false)).unwrap_err();
    assert_eq!(
        refusal.message,
        "device /dev/disk/by-id/a is not a partition"
    );
    let plan = planned_with(device(), &with(true, false)).unwrap();
    let lines = script(&plan, "/dev/sdb1");
    assert!(lines[0].starts_with("check again that"));
    assert_eq!(lines[1], "/usr/sbin/wipefs --all /dev/sdb1");
    assert!(lines[2].starts_with(POOL) && lines[2].ends_with("pgfsbench-bench:t /dev/sdb1"));
    let loadable = Facts {
        support: Support::Module,
        ..with(true, false)
    };
    let plan = planned_with(device(), &loadable).unwrap();
    // Before the first byte is gone.
    assert_eq!(
        script(&plan, "/dev/sdb1")[1..3],
        ["/usr/sbin/modprobe zfs", "/usr/sbin/wipefs --all /dev/sdb1"]
    );
    let refusal = planned_with(device(), &with(true, true)).unwrap_err();
    assert_eq!(refusal.message, "there is a pool pgfsbench-bench:t already");
    let lacking = Facts {
        support: Support::Missing,
        ..with(true, false)
    };
    let refusal = planned_with(device(), &lacking).unwrap_err();
    assert!(refusal.hint.unwrap().contains("zfs-dkms of contrib"));
}

#[test]
fn the_log_of_a_pool_is_on_one_device_or_on_mirrors() {
    let paths = ["/dev/disk/by-id/wiped", "/dev/disk/by-id/log2"];
    let line = |log: Log| {
        let device = |minor| {
            let mut device = a_device(Contents::Empty);
            device.identity.minor = minor;
            device.is_partition = true;
            found(device, false)
        };
        let facts = Facts {
            log_devices: [device(32), device(48)]
                .into_iter()
                .take(log.devices().len())
                .collect(),
            ..facts()
        };
        let request = Prepare {
            layout: Some(Layout::ZfsMirror),
            log: Some(log),
            ..request(Storage::Images {
                count: 2,
                bytes: 1 << 30,
                sparse: true,
            })
        };
        let config = CONFIG.replace("\"jfs\"", "\"jfs\", \"zfs\"");
        let plan = prepare(&Config::parse(&config).unwrap(), &place(), &request, &facts).unwrap();
        let script = script(&plan, "/dev/loop3");
        assert!(
            !script.iter().any(|line| line.contains("mdadm")),
            "{script:?}"
        );
        let wiped = script
            .iter()
            .filter(|line| line.contains("wipefs --all /dev/log"));
        let partitions = script
            .iter()
            .filter(|line| line.contains("addpart /dev/log"));
        let made = (wiped.count(), partitions.count());
        let pool = script.iter().find(|line| line.starts_with(POOL)).unwrap();
        (
            pool.split(" pgfsbench-bench:t ").nth(1).unwrap().to_owned(),
            made,
        )
    };
    let devices =
        |paths: &[&str]| Log::Devices(paths.iter().map(|&p| DeviceRequest::of_path(p)).collect());
    let mirror = "mirror /dev/loop3 /dev/loop3b log";
    assert_eq!(
        line(devices(&paths)),
        (format!("{mirror} mirror /dev/log /dev/logb"), (2, 0))
    );
    assert_eq!(
        line(devices(&paths[..1])),
        (format!("{mirror} /dev/log"), (1, 0))
    );
    assert_eq!(
        line(Log::Image { bytes: 1 << 28 }),
        (format!("{mirror} /dev/log"), (0, 1))
    );
}
