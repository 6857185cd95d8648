//! Makes pools.

use super::steps::Work;
use crate::journal::{Entry, KeptPool, Layer};
use crate::layer::{Part, Step, Tell, partition_of};
use crate::probe::{self, pools};
use pgfsbench_core::refusal::{Kind, Refusal};

impl Work<'_> {
    /// zpool would take a loop device for a whole disk.
    pub(super) fn add_partition(
        &mut self,
        step: &Step,
        part: Part,
        tell: Tell,
    ) -> Result<(), Refusal> {
        self.run(step, tell)?;
        let partition = partition_of(self.devices.of(part));
        if probe::device_number(&partition).is_none() {
            let message = format!("there is no {}", partition.display());
            return Err(Refusal::new(Kind::System, message)
                .hint("The kernel has to allow partitions on loop devices."));
        }
        self.devices.set(part, partition);
        Ok(())
    }

    /// Makes the pool, with its log. Its name goes into the journal before, and its GUID right after.
    pub(super) fn create_pool(
        &mut self,
        step: &Step,
        name: &str,
        entry: &mut Entry,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let parts: Vec<Part> = self.plan.leaves().map(|(part, _)| part).collect();
        let devices = self.look_at_wiped_leaves(&parts)?;
        let journal = &self.engine.journal;
        let mut pool = KeptPool {
            name: name.to_owned(),
            guid: None,
        };
        entry.layers.push(Layer::Pool(pool.clone()));
        journal.write(entry)?;
        self.run(step, tell)?;
        pool.guid = pools::inspect(name)?.map(|pool| pool.guid);
        entry.uuid = pool.guid.clone().unwrap_or_default();
        self.uuid = entry.uuid.clone();
        entry.layers.pop();
        entry.layers.push(Layer::Pool(pool));
        journal.write(entry)?;
        self.claim_filesystem(&entry.uuid, &devices)
    }

    /// Reads the properties in force. A failure is no reason to stop.
    pub(super) fn look_at_properties(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        let argv = step.argv(&self.devices).expect("a step with a program");
        let outcome = self.run_argv(step, &argv, tell)?;
        self.properties.extend(pools::properties(&outcome.output));
        Ok(())
    }
}
