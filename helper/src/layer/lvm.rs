//! A volume of LVM over all members: a group of its own with one volume in it. A release removes the volume from the device mapper, and leaves each
//! device empty.

use super::md::{Part, members_now};
use super::volume::{Lvm, NewVolume, group, name_of_volume, remove, uuid_of_part};
use super::{Facts, Step, UndoContext};
use crate::exec;
use crate::journal::{Entry, JournalLeaf, Layer, PART_OF_LVM, Role};
use crate::probe::arrays::Array;
use crate::probe::kernel::{self, Support};
use crate::probe::volumes::{self, Volume};
use pgfsbench_core::helper::{InitialSync, Layout, Prepare};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::ops::Range;
use std::path::Path;

/// Refuses a volume that the kernel cannot make.
pub fn module(layout: Layout, facts: &Facts) -> Result<Option<Step>, Refusal> {
    let array = &facts.array;
    if array.driver != Support::Missing && array.level == Support::Missing {
        let message = format!("this kernel has no volumes of type {}", layout.word());
        return Err(Refusal::new(Kind::NotInThisState, message)
            .detail(format!(
                "Kernel {} finds no module {}.",
                facts.kernel,
                kernel::DM_RAID
            ))
            .hint("Give the layout lvm-linear or lvm-stripe, or one of md."));
    }
    match array.driver {
        Support::Present => Ok(None),
        Support::Module => Ok(Some(Step::LoadModule {
            program: facts.modprobe.clone()?,
            module: kernel::DM,
        })),
        Support::Missing => Err(missing(&facts.kernel)),
    }
}

/// The refusal of a kernel without the device mapper.
pub fn missing(release: &str) -> Refusal {
    Refusal::new(Kind::NotInThisState, "this kernel has no device mapper")
        .detail(format!(
            "Kernel {release} has no {}, and modprobe finds no module {}.",
            kernel::DM_CONTROL,
            kernel::DM
        ))
        .hint("On Debian the module is in the package linux-image-amd64; or give a layout of btrfs or zfs.")
}

/// The steps that make the volume and wait for it, when all members are wiped.
pub fn steps(request: &Prepare, layout: Layout, facts: &Facts) -> Result<Vec<Step>, Refusal> {
    let lvm = Lvm {
        program: facts.lvm.clone()?,
        has_udev: facts.has_udev,
    };
    let dmsetup = facts.dmsetup.clone()?;
    let uuid = &facts.array.uuid;
    let parts = (0..request.storage.members()).map(|member| Step::MakePart {
        lvm: lvm.clone(),
        uuid: uuid.clone(),
        member,
    });
    let group = Step::MakeGroup {
        lvm: lvm.clone(),
        uuid: uuid.clone(),
    };
    let volume = Step::CreateVolume {
        lvm: lvm.clone(),
        uuid: uuid.clone(),
        volume: NewVolume {
            layout,
            options: request.layout_options.clone().unwrap_or_default(),
            skips_sync: request.initial_sync == Some(InitialSync::Skip),
        },
    };
    // The members may hold data of an earlier volume at the same places.
    let wipe = Step::WipeArray {
        role: Role::Filesystem,
        program: facts.wipefs.clone()?,
    };
    let wait = layout.has_sync().then(|| Step::AwaitSync {
        role: Role::Filesystem,
        volume: Some((dmsetup, name_of_volume(uuid))),
        checks: request.initial_sync == Some(InitialSync::Check),
    });
    Ok((parts.chain([group, volume, wipe])).chain(wait).collect())
}

/// The volume of an entry. None if it is not there, or stands on other devices than its members.
pub fn array(entry: &Entry) -> Result<Option<Array>, Refusal> {
    let uuids = entry.layers.iter().filter_map(|layer| match layer {
        Layer::Lvm { uuid } => Some(uuid),
        _ => None,
    });
    for uuid in uuids {
        if let Some(volume) = volume_over(uuid, &members_now(entry, Role::Filesystem)?)? {
            return Ok(Some(volume));
        }
    }
    Ok(None)
}

/// The volume of this UUID, if it stands on no other devices than these.
pub fn volume_over(uuid: &str, members: &[(u32, u32)]) -> Result<Option<Array>, Refusal> {
    let name = name_of_volume(uuid);
    let mut found = volumes::of_group(&name)?.into_iter();
    let found = found.find(|volume| volume.name == name && is_on(volume, members));
    Ok(found.map(|volume| Array {
        node: volume.node,
        number: volume.number,
        uuid: None,
        members: volume.leaves,
    }))
}

fn is_on(volume: &Volume, members: &[(u32, u32)]) -> bool {
    !volume.leaves.is_empty() && volume.leaves.iter().all(|leaf| members.contains(leaf))
}

/// The label of LVM, with the UUID of the member.
const LABEL: Range<u64> = 512..1024;

/// A volume of RAID over all members has two volumes for each, and one above.
const MOST_VOLUMES: usize = 64;

impl UndoContext<'_> {
    /// Removes the volumes, and empties the members. Images need not be: their files go.
    pub fn remove_volumes(&mut self, entry: &Entry, uuid: &str) -> Result<(), Refusal> {
        let members = members_now(entry, Role::Filesystem)?;
        let ours = || -> Result<Vec<Volume>, Refusal> {
            let mut all = volumes::of_group(&format!("{}-", group(uuid)))?;
            all.retain(|volume| is_on(volume, &members));
            Ok(all)
        };
        for _ in 0..MOST_VOLUMES {
            let all = ours()?;
            let Some(volume) = all.iter().find(|v| !v.is_held).or(all.first()) else {
                break;
            };
            let argv = remove(
                &exec::require("dmsetup", "dmsetup")?,
                &volume.name,
                has_udev(),
            );
            let removed = self.run("remove_volume", &argv);
            if ours()?.iter().any(|left| left.name == volume.name) {
                removed?;
            }
        }
        for (number, member) in entry.members(Role::Filesystem).enumerate() {
            if let JournalLeaf::Device { path, .. } = member
                && Path::new(path).exists()
            {
                let part = Part {
                    kind: PART_OF_LVM,
                    uuid: &uuid_of_part(uuid, number),
                    superblock: LABEL,
                    filesystem: (entry.filesystem, &entry.uuid),
                };
                self.empty_member(member, &part)?;
            }
        }
        Ok(())
    }
}

/// True if udev runs.
pub fn has_udev() -> bool {
    Path::new("/run/udev/control").exists()
}
