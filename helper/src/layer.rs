//! The layers below a filesystem: images and devices are the leaves; an array of md, the devices of btrfs, a zfs pool and an external log stand on them.
//! Each has a file of its own: the steps that make it, what undoes them, and how it is known. The journal has them in a list, which is undone from its
//! end.

mod btrfs;
mod device;
mod discard;
mod extended;
mod facts;
mod identity;
mod image;
mod log;
mod log_writes;
mod lvm;
mod md;
mod mdadm;
mod record;
mod step;
mod undo;
mod volume;
mod zfs;

pub use crate::journal::{Part, Role};
pub use device::{check_apart, check_device, check_free, device};
pub use discard::{check_discards, spare, steps as discards};
pub use extended::write_at_once;
pub use facts::{ArrayFacts, Facts, Holder, ImagesFacts, KnownDevice};
pub use identity::check_identity;
pub use image::{NewImage, check_image, check_images, image};
pub use log::log;
pub use log_writes::{
    create as create_log_writes, device as log_writes_of, dm_uuid, module as module_of_log_writes,
    name as name_of_log_writes, of_entry as recorded_from, recorded_bytes,
    remove as remove_log_writes, step as step_of_log_writes, why_not as no_log_writes,
};
pub use lvm::{has_udev, volume_over};
pub use mdadm::node_of_array;
pub use record::record;
pub use step::{Devices, Step};
pub use undo::{Hook, Tell, UndoContext};
pub use volume::{name_of_volume, remove as remove_volume, uuid_of_part};
pub use zfs::{module, partition, partition_of, steps as steps_of_pool};

use crate::exec;
use crate::journal::{Entry, JournalLeaf};
use crate::probe::arrays::Array;
use crate::probe::device::DeviceFacts;
use crate::probe::identity::sequence_of;
use crate::probe::kernel::{self, Support};
use crate::probe::{self, contents, loops};
use pgfsbench_core::helper::layout::Maker;
use pgfsbench_core::helper::options::mkfs_arguments;
use pgfsbench_core::helper::{Filesystem, Layout, Marks, Prepare};
use pgfsbench_core::refusal::{Kind, Refusal};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A leaf as it is planned.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannedLeaf {
    Image {
        path: PathBuf,
        bytes: u64,
    },
    Device {
        path: String,
        /// Serial number and the like when the target was created.
        requested: Marks,
        facts: Box<DeviceFacts>,
    },
}

impl PlannedLeaf {
    /// The leaf as the journal has it.
    pub fn kept(&self) -> JournalLeaf {
        match self {
            Self::Image { path, bytes } => JournalLeaf::Image {
                path: path.clone(),
                bytes: *bytes,
            },
            Self::Device { path, facts, .. } => JournalLeaf::Device {
                path: path.clone(),
                identity: facts.identity.clone(),
            },
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Image { bytes, .. } => *bytes,
            Self::Device { facts, .. } => facts.identity.bytes,
        }
    }

    /// The leaf as the extension stores it. `device` is its node.
    pub fn describe(&self, device: &Path) -> Value {
        match self {
            Self::Image { path, bytes } => json!({
                "device": device,
                "image": path,
                "image_bytes": bytes,
                "direct_io": loops::has_direct_io(device),
            }),
            Self::Device { facts, .. } => json!({
                "device": device,
                "model": facts.model,
                "serial": facts.identity.serial,
                "wwn": facts.identity.wwn,
                "partition_uuid": facts.identity.partition_uuid,
                "device_bytes": facts.identity.bytes,
                "held_before": facts.contents.to_string(),
            }),
        }
    }
}

/// Adds to the options of mkfs what the layout of the request makes of the filesystem. `bytes` is the size of the smallest member.
pub fn add_mkfs_options(
    request: &Prepare,
    bytes: u64,
    options: &mut Vec<String>,
) -> Result<(), Refusal> {
    let given = mkfs_arguments(
        request.filesystem,
        request.mkfs_options.as_deref().unwrap_or_default(),
    )?;
    let Some(layout) = request.layout else {
        return Ok(());
    };
    match layout.maker() {
        Maker::Md | Maker::Lvm => md::add_geometry(request, layout, bytes, &given, options),
        Maker::Btrfs => options.extend(btrfs::profiles(layout, &given)),
        Maker::Zfs => {}
    }
    Ok(())
}

/// Options that mount needs: they name the further devices of a filesystem.
pub fn mount_options(filesystem: Filesystem, has_log: bool, joined: usize) -> Vec<String> {
    let mut options = log::mount_options(filesystem, has_log);
    if filesystem == Filesystem::Btrfs {
        options.extend(btrfs::mount_options(joined));
    }
    options
}

/// Why this machine makes no layouts of md, or of LVM; None for one that it makes.
pub fn no_driver(maker: Maker) -> Result<Option<Refusal>, Refusal> {
    let (programs, support) = match maker {
        Maker::Md => (&[("mdadm", "mdadm")][..], kernel::support_of_md()?),
        Maker::Lvm => (
            &[("lvm", "lvm2"), ("dmsetup", "dmsetup")][..],
            kernel::support_of_dm()?,
        ),
        Maker::Btrfs | Maker::Zfs => return Ok(None),
    };
    let mut absent = programs
        .iter()
        .filter_map(|(program, package)| exec::require(program, package).err());
    let release = kernel::release();
    Ok(match (support, maker) {
        (Support::Missing, Maker::Lvm) => Some(lvm::missing(&release)),
        (Support::Missing, _) => Some(md::missing(&release)),
        _ => absent.next(),
    })
}

/// The layout of a request, if the kernel makes an array of its devices.
fn of_kernel(layout: Option<Layout>) -> Option<Layout> {
    layout.filter(|layout| matches!(layout.maker(), Maker::Md | Maker::Lvm))
}

/// The arrays that the kernel makes for a request: over the members, and over the devices of the log.
pub fn arrays(request: &Prepare) -> impl Iterator<Item = (Role, Layout)> {
    let layouts = [
        (Role::Filesystem, request.layout),
        (Role::Log, request.log_layout()),
    ];
    let made = |(role, layout)| Some((role, of_kernel(layout)?));
    layouts.into_iter().filter_map(made)
}

/// Refuses arrays that the kernel cannot make, or loads the modules that make them.
pub fn modules_of_arrays(request: &Prepare, facts: &Facts) -> Result<Vec<Step>, Refusal> {
    let mut steps = Vec::new();
    for (role, layout) in arrays(request) {
        let module = match layout.maker() {
            Maker::Lvm => lvm::module(layout, facts)?,
            _ => md::module(layout, facts.array(role), facts)?,
        };
        steps.extend(module.filter(|step| !steps.contains(step)));
    }
    Ok(steps)
}

/// The steps that make the array over the members or the devices of the log, if there is one, and wait for it, when all of these are wiped.
pub fn steps_of_array(request: &Prepare, role: Role, facts: &Facts) -> Result<Vec<Step>, Refusal> {
    let layout = arrays(request).find(|(over, _)| *over == role);
    match layout.map(|(_, layout)| (layout, layout.maker())) {
        None => Ok(Vec::new()),
        Some((layout, Maker::Lvm)) => lvm::steps(request, layout, facts),
        Some((layout, _)) => md::steps(request, (role, layout), facts),
    }
}

/// The array or volume of an entry over these leaves. None if they have none, or another one.
pub fn array(entry: &Entry, role: Role) -> Result<Option<Array>, Refusal> {
    Ok(match (md::array(entry, role)?, role) {
        (None, Role::Filesystem) => lvm::array(entry)?,
        (array, _) => array,
    })
}

/// The UUID that mkfs has chosen for the filesystem on the array of an entry. When the array is gone, a copy of the superblock on a
/// member is known by it.
pub fn chosen_uuid(entry: &Entry) -> Result<Option<String>, Refusal> {
    if entry.filesystem.takes_uuid() || !entry.has_array(Role::Filesystem) {
        return Ok(None);
    }
    match array(entry, Role::Filesystem)? {
        Some(array) => contents::uuid_of(&array.node, entry.filesystem.name()),
        None => Ok(None),
    }
}

/// The array or volume of an entry over these leaves, which has to be there.
pub fn array_of(entry: &Entry, role: Role) -> Result<Array, Refusal> {
    array(entry, role)?.ok_or_else(|| {
        Refusal::new(Kind::NotInThisState, "an array of the target is not there")
            .detail("It was stopped, or it has other devices.")
            .hint("Release the target.")
    })
}

/// The number of devices that the filesystem itself joins.
pub fn joined(layout: Option<Layout>, members: usize) -> usize {
    match layout.map(Layout::maker) {
        Some(Maker::Md | Maker::Lvm) => 1,
        _ => members,
    }
}

/// The number of devices that the filesystem of an entry itself joins.
pub fn joined_of(entry: &Entry) -> usize {
    match entry.has_array(Role::Filesystem) {
        true => 1,
        false => entry.members(Role::Filesystem).count(),
    }
}

/// The numbers that a leaf of an entry has now. A device has its number only until the next boot.
pub fn numbers_of(kept: &JournalLeaf, entry: &Entry) -> Result<Vec<(u32, u32)>, Refusal> {
    match kept {
        JournalLeaf::Image { path, .. } => {
            let devices = loops::of_image(&entry.attached(path))?;
            let number = |device: &PathBuf| probe::device_number(device);
            Ok(devices.iter().filter_map(number).collect())
        }
        JournalLeaf::Device { identity, .. } => {
            let number = (identity.major, identity.minor);
            // Another device may have got the number since. One that is gone keeps it while it is mounted.
            let is_exchanged = identity.sequence.is_some()
                && sequence_of(number).is_some_and(|now| identity.sequence != Some(now));
            match probe::boot_id()? == entry.boot && !is_exchanged {
                true => Ok(vec![number]),
                false => Ok(Vec::new()),
            }
        }
    }
}
