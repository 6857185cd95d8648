//! Identity of a machine, independent of its current names.

use std::collections::BTreeSet;

use super::{Block, Tree, flag, line};

/// Beginnings of the kernel's names of disks that are no part of the machine: memory, files, media, other disks, networks.
const OTHERS: [&str; 16] = [
    "bcache", "dm-", "drbd", "etherd", "fd", "loop", "md", "nbd", "nullb", "ram", "rbd", "rnbd",
    "sr", "ublk", "zd", "zram",
];
/// Directories of the bus of a disk that is reached over a network: iSCSI and Fibre Channel.
const NETWORKS: [&str; 2] = ["iscsi_session", "fc_remote_ports"];

/// A text that tells the machine from others; only its hash is stored. None where nothing tells.
///
/// It holds what stays: the machine id, unless a container manager may have made it for this container, the model of the
/// processors, and the disks. Host names, numbers of processors and memory change, and have columns of their own.
pub fn identity(
    tree: &dyn Tree,
    container: Option<&str>,
    processor_model: Option<&str>,
) -> Option<String> {
    let id = line(tree, "/etc/machine-id")
        .filter(|id| container == Some("none") && id != "uninitialized");
    let disks = physical_disks(tree);
    if id.is_none() && disks.is_empty() {
        return None;
    }
    let parts = [id.as_deref(), processor_model].map(Option::unwrap_or_default);
    Some([&parts.join("\n"), &disks.join("\n")[..]].join("\n"))
}

/// The disks that are built into the machine: model, size, serial number and world-wide name of each, sorted. They have no names
/// that the kernel gives, which change at each boot, and a disk that two paths lead to is one disk.
pub fn physical_disks(tree: &dyn Tree) -> Vec<String> {
    let mut marked = BTreeSet::new();
    let mut disks = Vec::new();
    let mut names = tree.list("/sys/block");
    names.retain(|name| is_built_in(tree, name));
    for name in names {
        let directory = format!("/sys/block/{name}");
        let sectors = line(tree, &format!("{directory}/size")).unwrap_or_default();
        // A drive without a medium.
        if sectors == "0" {
            continue;
        }
        let disk = Block {
            disk: directory.clone(),
            directory,
        };
        let marks = [disk.serial(tree), disk.wwn(tree)].map(Option::unwrap_or_default);
        let model = disk.model(tree).unwrap_or_default();
        let text = format!("{model} {sectors} {}", marks.join(" "));
        let is_marked = marks.iter().any(|mark| !mark.is_empty());
        if !is_marked || marked.insert(text.clone()) {
            disks.push(text);
        }
    }
    disks.sort();
    disks
}

fn is_built_in(tree: &dyn Tree, name: &str) -> bool {
    let of = |file: &str| format!("/sys/block/{name}/{file}");
    let is_of_network = || {
        let has = |bus: &str| tree.exists(&of(&format!("device/../../{bus}")));
        NETWORKS.iter().any(|bus| has(bus)) || transports(tree, name).any(|name| name != "pcie")
    };
    !OTHERS.iter().any(|other| name.starts_with(other))
        && !is_path(name)
        && flag(tree, &of("hidden")) != Some(true)
        && flag(tree, &of("removable")) != Some(true)
        && !is_of_network()
}

/// The transports of an NVMe disk: of its controller, or of the controllers of its subsystem.
fn transports(tree: &dyn Tree, name: &str) -> impl Iterator<Item = String> {
    let device = format!("/sys/block/{name}/device");
    let mut controllers = tree.list(&device);
    controllers.retain(|entry| entry.starts_with("nvme"));
    let of_controller = controllers.iter().map(|entry| format!("{device}/{entry}"));
    let places = std::iter::once(device.clone()).chain(of_controller);
    places
        .filter_map(|place| line(tree, &format!("{place}/transport")))
        .collect::<Vec<_>>()
        .into_iter()
}

/// True for the name of one path of NVMe's own multipath, such as nvme2c34n1; the disk itself is nvme2n1.
fn is_path(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("nvme") else {
        return false;
    };
    rest.trim_start_matches(|c: char| c.is_ascii_digit())
        .starts_with('c')
}

#[cfg(test)]
mod tests {
    use super::super::Recorded;
    use super::*;

    /// Two disks by SATA, and one by NVMe.
    const SERVER: &str = "\
/sys/block/sda/size\t7814037168
/sys/block/sda/device/vendor\tATA
/sys/block/sda/device/model\tWDC WD40EFRX
/sys/block/sda/device/wwid\tt10.ATA WDC WD-1
/sys/block/sdb/size\t3907029168
/sys/block/sdb/device/vendor\tATA
/sys/block/sdb/device/model\tST2000NM
/sys/block/sdb/device/wwid\tt10.ATA ST2000 Z-2
/sys/block/nvme0n1/size\t1953525168
/sys/block/nvme0n1/device/model\tSamsung SSD 970
/sys/block/nvme0n1/device/serial\tS4EW
/sys/block/nvme0n1/device/transport\tpcie
/sys/block/nvme0n1/wwid\teui.0025
";

    fn disks(text: &str) -> Vec<String> {
        physical_disks(&Recorded::of(text))
    }

    #[test]
    fn models_sizes_and_serials() {
        assert_eq!(
            disks(SERVER),
            [
                "ATA ST2000NM 3907029168  t10.ATA ST2000 Z-2",
                "ATA WDC WD40EFRX 7814037168  t10.ATA WDC WD-1",
                "Samsung SSD 970 1953525168 S4EW eui.0025",
            ]
        );
    }

    fn identity_of(text: &str, container: Option<&str>) -> Option<String> {
        identity(&Recorded::of(text), container, Some("AMD EPYC"))
    }

    #[test]
    fn a_machine_is_known_again() {
        let with_id = |id: &str| format!("{SERVER}/etc/machine-id\t{id}\n");
        let on_host = |id: &str| identity_of(&with_id(id), Some("none"));
        assert!(on_host("1").is_some_and(|text| text.starts_with("1\nAMD EPYC\n")));
        assert_ne!(on_host("1"), on_host("2"));
        // A container that is made anew has another id, or none, and the disks are those of the machine.
        for container in [Some("docker"), Some("container-other"), None] {
            let of = |text: &str| identity_of(text, container);
            assert_eq!(of(&with_id("1")), of(&with_id("2")));
            assert_eq!(of(&with_id("1")), of(SERVER));
        }
        assert_eq!(on_host("uninitialized"), identity_of(SERVER, Some("none")));
        // Where nothing tells, all machines of a model would be one.
        assert_eq!(identity_of("", Some("none")), None);
    }

    #[test]
    fn names_of_the_kernel_do_not_count() {
        let swapped = SERVER
            .replace("/sda/", "/sdX/")
            .replace("/sdb/", "/sda/")
            .replace("/sdX/", "/sdb/")
            .replace("nvme0n1", "nvme3n1");
        assert_eq!(disks(&swapped), disks(SERVER));
    }

    #[test]
    fn what_is_added_from_outside_is_no_part_of_the_machine() {
        for added in [
            "/sys/block/rbd0/size\t8\n/sys/block/rbd0/device/pool\trbd",
            "/sys/block/drbd0/size\t8",
            "/sys/block/bcache0/size\t8\n/sys/block/bcache0/slaves/sda/size\t8",
            "/sys/block/nbd0/size\t8",
            "/sys/block/dm-0/size\t8",
            "/sys/block/md127/size\t8",
            "/sys/block/zd0/size\t8",
            "/sys/block/etherd!e0.0/size\t8",
            // A path of NVMe's own multipath, a disk over TCP, over iSCSI and over Fibre Channel, a stick, an empty drive.
            "/sys/block/nvme0c1n1/size\t1953525168",
            "/sys/block/nvme0c1n1/hidden\t1\n/sys/block/nvme0c1n1/size\t8",
            "/sys/block/nvme9n1/size\t8\n/sys/block/nvme9n1/device/transport\ttcp",
            "/sys/block/nvme9n1/size\t8\n/sys/block/nvme9n1/device/nvme8/transport\trdma",
            "/sys/block/sdc/size\t8\n/sys/block/sdc/device/../../iscsi_session/session1/state\tx",
            "/sys/block/sdc/size\t8\n/sys/block/sdc/device/../../fc_remote_ports/rport-0/roles\tx",
            "/sys/block/sdc/size\t8\n/sys/block/sdc/removable\t1",
            "/sys/block/sdc/size\t0",
            // A second path to a disk that is there already.
            "/sys/block/sdc/size\t7814037168\n/sys/block/sdc/device/vendor\tATA\n/sys/block/sdc/device/model\tWDC WD40EFRX\n\
             /sys/block/sdc/device/wwid\tt10.ATA WDC WD-1",
        ] {
            assert_eq!(
                disks(&format!("{SERVER}{added}\n")),
                disks(SERVER),
                "{added}"
            );
        }
    }

    #[test]
    fn another_disk_is_another_machine() {
        for added in [
            "/sys/block/sdc/size\t8",
            "/sys/block/sdc/size\t3907029168\n/sys/block/sdc/device/vendor\tATA\n/sys/block/sdc/device/model\tST2000NM\n\
             /sys/block/sdc/device/wwid\tt10.ATA ST2000 Z-3",
        ] {
            assert_ne!(
                disks(&format!("{SERVER}{added}\n")),
                disks(SERVER),
                "{added}"
            );
        }
        // Disks without marks are counted: a hypervisor gives two alike.
        let one = "/sys/block/vda/size\t8\n";
        let two = "/sys/block/vda/size\t8\n/sys/block/vdb/size\t8\n";
        assert_ne!(disks(one), disks(two));
    }
}
