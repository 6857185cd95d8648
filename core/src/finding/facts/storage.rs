//! Facts about the storage below a run.

use serde::{Deserialize, Serialize};

use crate::{
    helper::{Layout, LayoutOptions, layout::Maker},
    sys::{self, Layer},
};

/// A filesystem and the storage below it. None: not known. Of the filesystem of WAL only the facts on which commits depend are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StorageFacts {
    pub filesystem: Option<String>,
    /// Mount options, separated by commas.
    pub mount_options: Option<String>,
    /// Mount options that were asked for and that the kernel does not show; None where nothing was made.
    pub mount_options_not_shown: Option<Vec<String>>,
    /// Properties of zfs that were asked for and are not in force; None where nothing was made.
    pub properties_not_in_force: Option<Vec<String>>,
    /// The property compression of zfs.
    pub compression: Option<String>,
    /// The property sync of zfs.
    pub zfs_sync: Option<String>,
    /// False if a parameter of the module zfs keeps it from flushing its devices.
    pub zfs_flushes: Option<bool>,
    /// Attributes of the data directory: see [`crate::file_attributes`].
    pub attributes: Option<String>,
    /// Attributes of a file of the run's tables.
    pub file_attributes: Option<String>,
    /// True if the filesystem has fallocate, as it was tried.
    pub has_fallocate: Option<bool>,
    /// By what it was made, where it was made for the run.
    pub mkfs_command: Option<String>,
    /// Bytes of a stripe on one disk, as the filesystem knows it; 0 for none.
    pub stripe_unit_bytes: Option<u64>,
    pub size_bytes: Option<u64>,
    /// Free before the run.
    pub free_bytes: Option<u64>,
    /// Free after it.
    pub free_bytes_at_end: Option<u64>,
    /// Bytes in use on the whole filesystem before the clients began.
    pub used_bytes: Option<u64>,
    /// And after them.
    pub used_bytes_at_end: Option<u64>,
    /// Lengths of the server's files there before the clients, added up.
    pub files_bytes: Option<u64>,
    /// And after them.
    pub files_bytes_at_end: Option<u64>,
    /// True if the kernel was still writing tables of some ext4.
    pub lazy_init: Option<bool>,
    /// True if it was made for the run, on a device.
    pub on_device: Option<bool>,
    /// The declared state of the device: trimmed, or as_is.
    pub ssd_state: Option<String>,
    /// True if the user has declared that the device keeps its cache when power is lost.
    pub power_loss_protected: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// True if a disk below it rotates.
    pub rotational: Option<bool>,
    /// The most that one request discards.
    pub discard_max_bytes: Option<u64>,
    /// The layers below it.
    pub layers: Option<Vec<Layer>>,
    /// The device of an external log, and the layers below it.
    pub log_layers: Option<Vec<Layer>>,
    /// The layout that the helper has made.
    pub layout: Option<String>,
    /// The chunk that its options name.
    pub layout_chunk: Option<String>,
    /// True if its filesystem was made for the run.
    pub made: Option<bool>,
    /// Bytes that the device below wrote in the measured window, for any process.
    pub device_write_bytes: Option<u64>,
    /// Bytes that the server wrote in it, and a page of WAL for each commit: so much it writes again when commits come one by one.
    pub server_write_bytes: Option<u64>,
    /// Bytes that the filesystem's device discarded in the measured window.
    pub device_discard_bytes: Option<u64>,
    /// Bytes that the device below read in the measured window, for all programs.
    pub device_read_bytes: Option<u64>,
    /// Bytes that the server read from files of tables and keys in it.
    pub server_read_bytes: Option<u64>,
    /// True if the data share their blocks with those that they were cloned from.
    pub cloned: Option<bool>,
    /// Work that arrays below data and WAL did for themselves in the measured window, as in "check of md0".
    pub array_work: Option<Vec<String>>,
    /// True if an array below was busy with itself at the end of the run: runs of older versions have it.
    pub resync_at_end: Option<bool>,
}

impl StorageFacts {
    /// The layout, if it is one of LVM with parity: sysfs does not tell the level of a volume, and LVM closes no write hole.
    pub fn parity_of_lvm(&self) -> Option<&str> {
        let layout = self.layout.as_deref();
        layout.filter(|name| ["lvm-raid5", "lvm-raid6"].contains(name))
    }

    /// The layout, if it is one of LVM with stripes, and the bytes of its chunk: sysfs does not tell these either.
    pub fn stripes_of_lvm(&self) -> Option<(Layout, u64)> {
        let layout = Layout::of_name(self.layout.as_deref()?).ok()?;
        let options = LayoutOptions {
            chunk: self.layout_chunk.clone(),
            ..LayoutOptions::default()
        };
        let chunk = options.chunk_bytes(layout)?;
        (layout.maker() == Maker::Lvm).then_some((layout, chunk))
    }

    /// Fills in, from the queues of its layers, what is not known otherwise.
    pub fn complete(&mut self) {
        let layers = self.layers.as_deref().unwrap_or_default();
        self.rotational = self.rotational.or_else(|| sys::rotates(layers));
        if self.write_cache.is_none() {
            self.write_cache = sys::queue(layers).and_then(|queue| queue.write_cache.clone());
        }
    }
}

/// Time of a flush: medians of the same short probe, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlushFacts {
    /// Before the clients.
    pub before_us: Option<f64>,
    /// After them; None also where something else was being written.
    pub after_us: Option<f64>,
    /// Whether nothing else was being written on the machine while it was timed after them.
    pub quiet_after: Option<bool>,
}
