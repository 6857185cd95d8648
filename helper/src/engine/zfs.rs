//! Pools: made, and destroyed if they are ours.

use super::Tell;
use super::steps::Work;
use super::undo::Undoing;
use crate::exec;
use crate::journal::{Entry, Kept, KeptPool};
use crate::plan::{Part, Step};
use crate::probe::pools::{self, Pool};
use crate::probe::{self, loops};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

impl Work<'_> {
    /// zpool would take a loop device for a whole disk.
    pub(super) fn add_partition(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        self.run(step, tell)?;
        let partition = partition_of(&self.devices.filesystem);
        if probe::device_number(&partition).is_none() {
            let message = format!("there is no {}", partition.display());
            return Err(Refusal::new(Kind::System, message)
                .hint("The kernel has to allow partitions on loop devices."));
        }
        self.devices.filesystem = partition;
        Ok(())
    }

    /// Makes the pool. Its name goes into the journal before, and its GUID right after.
    pub(super) fn create_pool(
        &mut self,
        step: &Step,
        name: &str,
        entry: &mut Entry,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let device = self.look_at_wiped(Part::Filesystem)?;
        let journal = &self.engine.journal;
        let mut pool = KeptPool {
            name: name.to_owned(),
            guid: None,
        };
        entry.pool = Some(pool.clone());
        journal.write(entry)?;
        self.run(step, tell)?;
        pool.guid = pools::inspect(name)?.map(|pool| pool.guid);
        entry.uuid = pool.guid.clone().unwrap_or_default();
        self.uuid = entry.uuid.clone();
        entry.pool = Some(pool);
        journal.write(entry)?;
        match device {
            Some(device) => self.claim_filesystem(&entry.uuid, &device.identity),
            None => Ok(()),
        }
    }

    /// Reads the properties in force. A failure is no reason to stop.
    pub(super) fn look_at_properties(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        let argv = step.argv(&self.devices).expect("a step with a program");
        let outcome = self.run_argv(step, &argv, tell)?;
        self.properties.extend(pools::properties(&outcome.output));
        Ok(())
    }
}

/// The partition that was added to a loop device.
fn partition_of(device: &Path) -> PathBuf {
    format!("{}p1", device.display()).into()
}

impl Undoing<'_> {
    /// Only a pool that is on the image or device of the entry, and nowhere else, is destroyed.
    pub(super) fn destroy_pool(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let Some(kept) = &entry.pool else {
            return Ok(());
        };
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
        if let Kept::Device { identity, .. } = &entry.on {
            let journal = &self.engine.journal;
            journal.claim(&pool.guid, &entry.place, identity)?;
        }
        let zpool = exec::require("zpool", "zfsutils-linux")?;
        let argv = [&zpool.display().to_string(), "destroy", &kept.name].map(String::from);
        self.run("destroy_pool", &argv)
    }
}

fn is_ours(pool: &Pool, kept: &KeptPool, entry: &Entry) -> Result<bool, Refusal> {
    let attached = match &entry.on {
        Kept::Image { path, .. } => loops::of_image(path)?,
        Kept::Device { .. } => Vec::new(),
    };
    let is_on = |device: &PathBuf| match &entry.on {
        Kept::Image { .. } => attached.iter().any(|ours| partition_of(ours) == *device),
        Kept::Device { identity, .. } => {
            probe::device_number(device) == Some((identity.major, identity.minor))
        }
    };
    let is_known = kept.guid.as_ref().is_none_or(|guid| *guid == pool.guid);
    Ok(is_known && !pool.devices.is_empty() && pool.devices.iter().all(is_on))
}
