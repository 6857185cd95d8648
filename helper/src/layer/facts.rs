//! The facts from which a plan is made.

use crate::journal::Role;
use crate::place::Place;
use crate::probe::device::DeviceFacts;
use crate::probe::kernel::Support;
use crate::probe::queue::Limits;
use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::PathBuf;

/// The facts from which a plan is made.
pub struct Facts {
    pub support: Support,
    /// The array or volume over the members, or dm-log-writes.
    pub array: ArrayFacts,
    /// The array over the devices of the log.
    pub log_array: ArrayFacts,
    /// Whether udev runs.
    pub has_udev: bool,
    pub kernel: String,
    pub mkfs: Result<PathBuf, Refusal>,
    pub losetup: Result<PathBuf, Refusal>,
    pub mount: Result<PathBuf, Refusal>,
    pub wipefs: Result<PathBuf, Refusal>,
    pub blkdiscard: Result<PathBuf, Refusal>,
    pub dumpe2fs: Option<PathBuf>,
    pub zfs: Result<PathBuf, Refusal>,
    pub addpart: Result<PathBuf, Refusal>,
    pub modprobe: Result<PathBuf, Refusal>,
    pub mdadm: Result<PathBuf, Refusal>,
    pub lvm: Result<PathBuf, Refusal>,
    pub dmsetup: Result<PathBuf, Refusal>,
    /// True if there is a pool of the target's name already; false for filesystems that need none.
    pub pool_is_there: bool,
    /// The UUID of the new filesystem.
    pub uuid: String,
    /// The UUID of its external log, where that has one of its own.
    pub log_uuid: String,
    /// One for each directory of images in the configuration, in the same order.
    pub images: Vec<Result<ImagesFacts, Refusal>>,
    /// Why this machine cannot record what is written; None if it can.
    pub no_recorder: Option<&'static str>,
    /// The devices that are asked for, in their order; None for one that is not allowed.
    pub devices: Vec<Option<KnownDevice>>,
    /// The devices of the log that are asked for, in their order; None for one that is not allowed.
    pub log_devices: Vec<Option<KnownDevice>>,
    /// Limits of each device's queue, in the order of the devices; for images, those of some loop device. None for what the kernel does not tell.
    pub limits: Vec<Option<Limits>>,
    /// The other target that has changed settings of one of the queues.
    pub queue_user: Option<Place>,
    /// The other target that has changed the kernel's settings.
    pub kernel_user: Option<Place>,
}

impl Facts {
    pub fn array(&self, role: Role) -> &ArrayFacts {
        match role {
            Role::Filesystem => &self.array,
            Role::Log => &self.log_array,
        }
    }
}

/// The facts for an array that is to be made.
#[derive(Clone)]
pub struct ArrayFacts {
    /// Whether the kernel has the driver of the layout: software RAID, or the device mapper.
    pub driver: Support,
    /// Whether that has the level of the layout.
    pub level: Support,
    /// The UUID of an array of md, or the one that names a volume.
    pub uuid: String,
}

/// A device, and what the helper's journal says of it.
pub struct KnownDevice {
    pub facts: DeviceFacts,
    /// Whether the helper has made its contents.
    pub is_ours: bool,
    /// The target that the helper has prepared on it now.
    pub holder: Option<Holder>,
}

/// A target that is prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub place: Place,
    /// The run that it was prepared for.
    pub run: Option<i64>,
}

impl Holder {
    /// The refusal of a device that the helper itself has mounted: no user has to unmount it.
    pub fn refusal(&self, path: &str) -> Refusal {
        let Place { database, target } = &self.place;
        let (whose, hint) = match self.run {
            Some(run) => (
                format!(" for run {run}"),
                "Wait for the end of the run, or of the experiment: the helper unmounts it by itself.".to_owned(),
            ),
            None => (
                String::new(),
                format!("Call fsbench.release_target({}) in that database first.", quoting::sql_literal(target.as_str())),
            ),
        };
        Refusal::new(Kind::NotInThisState, format!("device {path} is in use"))
            .detail(format!(
                "pgfsbench-helper has prepared target \"{target}\" of database \"{database}\" on it{whose}."
            ))
            .hint(hint)
    }
}

pub struct ImagesFacts {
    /// Bytes of the images that are there.
    pub used_bytes: u64,
    pub images: u32,
    pub free_bytes: u64,
}
