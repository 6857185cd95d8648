//! A zfs pool with one dataset in it, instead of mkfs. Nothing of it is mounted by zfs itself, nor imported after a reboot.

use super::{Facts, On, Step};
use crate::place::Place;
use crate::probe::kernel::Support;
use pgfsbench_core::helper::options::{dataset_properties, pool_properties};
use pgfsbench_core::helper::{Filesystem, Prepare, Storage};
use pgfsbench_core::refusal::{Kind, Refusal};

/// The facts for a plan of zfs.
#[derive(Default)]
pub struct ZfsFacts {
    /// True if there is a pool of the same name already.
    pub pool_is_there: bool,
    /// True if the device is a partition. On a whole disk zpool would make two partitions.
    pub is_partition: bool,
}

/// A partition for an image, whose loop device zpool would take for a whole disk. It is in the kernel only, and not on the image.
pub fn partition(request: &Prepare, on: &On, facts: &Facts) -> Result<Option<Step>, Refusal> {
    match (&request.storage, on) {
        (Storage::Image { .. }, On::Image { bytes, .. }) => Ok(Some(Step::AddPartition {
            program: facts.addpart.clone()?,
            first: ALIGNMENT,
            sectors: bytes / 512 - 2 * ALIGNMENT,
        })),
        (Storage::Device(device), _) if !facts.zfs_facts.is_partition => Err(Refusal::new(
            Kind::NotAllowed,
            format!("device {} is not a partition", device.path),
        )
        .detail("Of a whole disk zpool would make partitions of its own.")
        .hint("Make one, and name it in the helper's configuration.")),
        _ => Ok(None),
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
    if facts.zfs_facts.pool_is_there {
        return Err(Refusal::new(
            Kind::NotInThisState,
            format!("there is a pool {pool} already"),
        )
        .detail("The helper's journal does not name it, so it is somebody else's.")
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
            names: names(&of_dataset, &["recordsize", "compression"]),
            of: dataset,
        },
    ])
}
