//! A block device and its queue.

use serde::{Deserialize, Serialize};

use super::{Tree, chosen, flag, line, number};

/// The queue of a device, by the names of `/sys/block/*/queue`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Queue {
    pub scheduler: Option<String>,
    pub nr_requests: Option<u64>,
    /// Requests that the device itself takes at once, where it says so.
    pub queue_depth: Option<u64>,
    pub read_ahead_kb: Option<u64>,
    pub rotational: Option<bool>,
    pub write_cache: Option<String>,
    /// The write cache as the device itself reports it: SCSI and virtio only. The administrator can change `write_cache` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_write_cache: Option<String>,
    pub fua: Option<bool>,
    pub discard_granularity: Option<u64>,
    pub discard_max_bytes: Option<u64>,
    pub logical_block_size: Option<u64>,
    pub physical_block_size: Option<u64>,
    pub minimum_io_size: Option<u64>,
    pub optimal_io_size: Option<u64>,
    pub max_sectors_kb: Option<u64>,
    pub nomerges: Option<u64>,
    pub rq_affinity: Option<u64>,
    pub wbt_lat_usec: Option<i64>,
    pub zoned: Option<String>,
}

/// Longer than any that hardware has.
const LONGEST_MARK: usize = 200;

/// The mark of a disk, as its maker has written it, on one line; None if it is blank.
pub fn mark(text: &str) -> Option<String> {
    let shown = |c: char| if c.is_ascii_graphic() { c } else { ' ' };
    let text: String = text.chars().map(shown).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Some drivers print "(null)" for none.
    (!text.is_empty() && text != "(null)").then(|| text.chars().take(LONGEST_MARK).collect())
}

/// A device as it is found in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Directory in /sys.
    pub directory: String,
    /// The directory of its disk: another one for a partition.
    pub disk: String,
}

impl Block {
    /// The device of a number, major:minor; None when there is none.
    pub fn of(tree: &dyn Tree, number: &str) -> Option<Self> {
        let directory = format!("/sys/dev/block/{number}");
        if !tree.exists(&directory) {
            return None;
        }
        let disk = match tree.exists(&format!("{directory}/partition")) {
            true => format!("{directory}/.."),
            false => directory.clone(),
        };
        Some(Self { directory, disk })
    }

    /// True if it is a partition.
    pub fn is_partition(&self) -> bool {
        self.disk != self.directory
    }

    /// The kernel's name of it.
    pub fn name(&self, tree: &dyn Tree) -> Option<String> {
        let text = tree.read(&format!("{}/uevent", self.directory))?;
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("DEVNAME="))?;
        Some(name.trim().to_owned())
    }

    pub fn bytes(&self, tree: &dyn Tree) -> Option<u64> {
        number::<u64>(tree, &format!("{}/size", self.directory))?.checked_mul(512)
    }

    /// Maker and model, as far as the disk tells them.
    pub fn model(&self, tree: &dyn Tree) -> Option<String> {
        let of = |name: &str| line(tree, &format!("{}/device/{name}", self.disk));
        let words: Vec<String> = match (of("vendor"), of("model")) {
            // virtio has a number as vendor: that of the bus's maker.
            (Some(vendor), model) if vendor.starts_with("0x") => model.into_iter().collect(),
            (vendor, model) => vendor.into_iter().chain(model).collect(),
        };
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Serial number of the disk, as far as everybody may read it.
    pub fn serial(&self, tree: &dyn Tree) -> Option<String> {
        let of = |name: &str| mark(&tree.read(&format!("{}/{name}", self.disk))?);
        // SCSI's page 0x80: four bytes, the last of which is the length, and the serial number.
        let of_page = || {
            let page = tree.read(&format!("{}/device/vpd_pg80", self.disk))?;
            let length = u32::from(page.chars().nth(3)?) as usize;
            let serial: String = page.chars().skip(4).take(length).collect();
            mark(&serial)
        };
        of("serial")
            .or_else(|| of("device/serial"))
            .or_else(of_page)
    }

    /// World-wide name of the disk, or what its kind has instead.
    pub fn wwn(&self, tree: &dyn Tree) -> Option<String> {
        let of = |name: &str| mark(&tree.read(&format!("{}/{name}", self.disk))?);
        ["wwid", "device/wwid", "device/wwn"]
            .into_iter()
            .find_map(of)
    }

    /// The write cache as the device itself reports it.
    fn device_write_cache(&self, tree: &dyn Tree) -> Option<String> {
        let of_virtio = line(tree, &format!("{}/cache_type", self.disk));
        of_virtio.or_else(|| {
            let of_scsi = format!("{}/device/scsi_disk", self.disk);
            let addresses = tree.list(&of_scsi);
            let mut types = addresses
                .iter()
                .filter_map(|address| line(tree, &format!("{of_scsi}/{address}/cache_type")));
            types.next()
        })
    }

    /// Queue of the device; for a partition, the queue of the disk.
    pub fn queue(&self, tree: &dyn Tree) -> Queue {
        let path = |name: &str| format!("{}/queue/{name}", self.disk);
        let of = |name: &str| number(tree, &path(name));
        Queue {
            scheduler: chosen(tree, &path("scheduler")),
            nr_requests: of("nr_requests"),
            queue_depth: number(tree, &format!("{}/device/queue_depth", self.disk)),
            read_ahead_kb: of("read_ahead_kb"),
            rotational: flag(tree, &path("rotational")),
            write_cache: line(tree, &path("write_cache")),
            device_write_cache: self.device_write_cache(tree),
            fua: flag(tree, &path("fua")),
            discard_granularity: of("discard_granularity"),
            discard_max_bytes: of("discard_max_bytes"),
            logical_block_size: of("logical_block_size"),
            physical_block_size: of("physical_block_size"),
            minimum_io_size: of("minimum_io_size"),
            optimal_io_size: of("optimal_io_size"),
            max_sectors_kb: of("max_sectors_kb"),
            nomerges: of("nomerges"),
            rq_affinity: of("rq_affinity"),
            wbt_lat_usec: number(tree, &path("wbt_lat_usec")),
            zoned: line(tree, &path("zoned")),
        }
    }
}
