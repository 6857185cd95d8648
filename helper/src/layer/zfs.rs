//! A zfs pool with one dataset in it, instead of mkfs. Nothing of it is mounted by zfs itself, nor imported after a reboot. A release destroys it.

use super::{Facts, Part, PlannedLeaf, Step, UndoContext, numbers_of};
use crate::exec;
use crate::journal::{Entry, JournalLeaf, KeptPool, claim_of_member};
use crate::place::Place;
use crate::probe::kernel::Support;
use crate::probe::pools::{self, Pool};
use crate::probe::{self, loops};
use pgfsbench_core::helper::options::{dataset_properties, pool_properties};
use pgfsbench_core::helper::{Filesystem, Layout, Prepare};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// A partition for an image, whose loop device zpool would take for a whole disk. It is in the kernel only, and not on the image.
pub fn partition(part: Part, on: &PlannedLeaf, facts: &Facts) -> Result<Option<Step>, Refusal> {
    match on {
        PlannedLeaf::Image { bytes, .. } => Ok(Some(Step::AddPartition {
            program: facts.addpart.clone()?,
            part,
            first: ALIGNMENT,
            sectors: bytes / 512 - 2 * ALIGNMENT,
        })),
        PlannedLeaf::Device { path, facts, .. } if !facts.is_partition => Err(Refusal::new(
            Kind::NotAllowed,
            format!("device {path} is not a partition"),
        )
        .detail("Of a whole disk zpool would make partitions of its own.")
        .hint("Make one, and name it in the helper's configuration.")),
        PlannedLeaf::Device { .. } => Ok(None),
    }
}

/// Every other filesystem's module comes when it is mounted; zpool and zfs only say that theirs is not there.
pub fn module(fs: Filesystem, facts: &Facts) -> Result<Option<Step>, Refusal> {
    match (fs, facts.support) {
        (Filesystem::Zfs, Support::Module) => Ok(Some(Step::LoadModule {
            program: facts.modprobe.clone()?,
            module: fs.name(),
        })),
        _ => Ok(None),
    }
}

/// A megabyte, in sectors.
const ALIGNMENT: u64 = 2048;

pub fn steps(place: &Place, request: &Prepare, facts: &Facts) -> Result<Vec<Step>, Refusal> {
    let (pool, dataset) = (place.pool(), place.dataset());
    if facts.pool_is_there {
        return Err(Refusal::new(
            Kind::NotInThisState,
            format!("there is a pool {pool} already"),
        )
        .detail("The helper's journal does not name it, so the helper has not made it.")
        .hint("Look at it, and destroy it by hand."));
    }
    let of_pool = pool_properties(request.pool_properties.as_deref().unwrap_or(""))?;
    let of_dataset = dataset_properties(request.dataset_properties.as_deref().unwrap_or(""))?;
    let names = |given: &[String], more: &[&str]| -> Vec<String> {
        let mut names: Vec<String> = more.iter().map(|&name| name.to_owned()).collect();
        for name in given.iter().filter_map(|p| Some(p.split_once('=')?.0)) {
            if !names.iter().any(|n| n == name) {
                names.push(name.to_owned());
            }
        }
        names
    };
    let (zpool, zfs) = (facts.mkfs.clone()?, facts.zfs.clone()?);
    Ok(vec![
        Step::CreatePool {
            program: zpool.clone(),
            pool: pool.clone(),
            properties: of_pool.clone(),
            joined_as: request.layout.map_or("", Layout::word),
        },
        Step::CreateDataset {
            program: zfs.clone(),
            dataset: dataset.clone(),
            properties: of_dataset.clone(),
        },
        Step::Properties {
            program: zpool,
            names: names(&of_pool, &["ashift"]),
            of: pool,
        },
        Step::Properties {
            program: zfs,
            names: names(&of_dataset, &["recordsize", "compression", "sync"]),
            of: dataset,
        },
    ])
}

/// The partition that was added to a loop device.
pub fn partition_of(device: &Path) -> PathBuf {
    format!("{}p1", device.display()).into()
}

impl UndoContext<'_> {
    /// Only a pool that is on the image or device of the entry, and nowhere else, is destroyed.
    pub fn destroy_pool(&mut self, entry: &Entry, kept: &KeptPool) -> Result<(), Refusal> {
        let Some(pool) = pools::inspect(&kept.name)? else {
            return Ok(());
        };
        if !is_ours(&pool, kept, entry)? {
            return match kept.guid {
                // It never came to be made.
                None => Ok(()),
                Some(_) => Err(Refusal::new(
                    Kind::NotInThisState,
                    format!("pool {} is not the one that was made", kept.name),
                )
                .detail(format!(
                    "It has guid {}, and is on {:?}.",
                    pool.guid, pool.devices
                ))
                .hint("Look at it, and destroy it by hand.")),
            };
        }
        for (member, (_, kept)) in entry.leaves().enumerate() {
            if let JournalLeaf::Device { identity, .. } = kept {
                let claim = claim_of_member(&pool.guid, member);
                self.journal.claim(&claim, &entry.place, identity)?;
            }
        }
        let zpool = exec::require("zpool", "zfsutils-linux")?;
        let argv = [&zpool.display().to_string(), "destroy", &kept.name].map(String::from);
        self.run("destroy_pool", &argv)
    }
}

fn is_ours(pool: &Pool, kept: &KeptPool, entry: &Entry) -> Result<bool, Refusal> {
    let mut ours = Vec::new();
    for (_, leaf) in entry.leaves() {
        match leaf {
            JournalLeaf::Image { path, .. } => {
                let partitions = loops::of_image(path)?;
                let partitions = partitions.iter().map(|device| partition_of(device));
                ours.extend(partitions.filter_map(|partition| probe::device_number(&partition)));
            }
            JournalLeaf::Device { .. } => ours.extend(numbers_of(leaf, entry)?),
        }
    }
    let is_on = |device: &PathBuf| {
        probe::device_number(device).is_some_and(|number| ours.contains(&number))
    };
    let is_known = kept.guid.as_ref().is_none_or(|guid| *guid == pool.guid);
    Ok(is_known && !pool.devices.is_empty() && pool.devices.iter().all(is_on))
}
