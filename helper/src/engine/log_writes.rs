//! Puts dm-log-writes above the device of a target, and ends its recording.

use super::steps::Work;
use crate::journal::{Entry, JournalLeaf};
use crate::layer::{self, Part, Role, Step, Tell, UndoContext};
use crate::probe;
use crate::probe::device::{self, Access, DeviceFacts};
use crate::probe::volumes::Volume;
use crate::recorder::Recorder;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::Path;

impl Work<'_> {
    /// Attaches the file of the record, makes the device, and starts the process that marks the time.
    pub(super) fn log_writes(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        let Step::LogWrites {
            losetup,
            dmsetup,
            recorder,
            uuid,
            has_udev,
        } = step
        else {
            return Ok(());
        };
        // From here on the device cannot be claimed.
        self.recorded_members = self.look_at_wiped_leaves(&self.plan.parts(Role::Filesystem))?;
        let attach = Step::Attach {
            program: losetup.clone(),
            image: recorder.record.clone(),
            part: Part::Log(0),
            partitions: false,
        };
        let log = self.attached(&attach, &recorder.record, tell)?;
        let storage = self.devices.of(Part::Member(0));
        let number = probe::device_number(storage).ok_or_else(|| not_made(storage))?;
        let bytes = self.plan.members.first().map_or(0, |on| on.bytes());
        let argv = layer::create_log_writes(dmsetup, uuid, (number, log.number), bytes, *has_udev);
        let outcome = self.run_argv(step, &argv, tell)?;
        if !outcome.succeeded() {
            return Err(outcome
                .refusal()
                .hint("The kernel's log (dmesg) may say why."));
        }
        let made = self.recorded_over(uuid, number)?;
        recorder.start_marks(&layer::dm_uuid(uuid))?;
        self.devices.members.recorded = Some(made.node);
        Ok(())
    }

    /// The device of dm-log-writes, over this one.
    fn recorded_over(&self, uuid: &str, storage: (u32, u32)) -> Result<Volume, Refusal> {
        let found = layer::log_writes_of(uuid)?;
        let is_it = |found: &Volume| found.leaves.contains(&storage);
        found
            .filter(is_it)
            .ok_or_else(|| not_made(Path::new(&layer::name_of_log_writes(uuid))))
    }

    /// The devices of the target below dm-log-writes, which no other program uses. None if there is no such layer.
    pub(super) fn members_below_log_writes(
        &self,
    ) -> Result<Option<Vec<(usize, DeviceFacts)>>, Refusal> {
        let Some(node) = &self.devices.members.recorded else {
            return Ok(None);
        };
        let node = node.display().to_string();
        match device::open(&node, Access::Claim)?.facts()?.in_use {
            None => Ok(Some(self.recorded_members.clone())),
            Some(user) => Err(Refusal::new(
                Kind::NotInThisState,
                format!("device {node} is in use"),
            )
            .detail(user)
            .hint("Find out which program uses it, and try again.")),
        }
    }
}

fn not_made(path: &Path) -> Refusal {
    let message = format!("{} is not there", path.display());
    Refusal::new(Kind::System, message)
        .detail("The kernel shows no such device, or one over another disk.")
        .hint("The kernel's log (dmesg) may say why.")
}

/// Marks the end of a recording by dm-log-writes, while the target is still mounted.
pub(super) fn mark_end(entry: &Entry, recorder: &Recorder, ns: u64) -> Result<(), Refusal> {
    match entry.log_writes() {
        Some(uuid) if layer::log_writes_of(uuid)?.is_some() => {
            recorder.mark_end(&layer::dm_uuid(uuid), ns)
        }
        _ => Ok(()),
    }
}

/// Removes dm-log-writes from the unmounted device, and starts the recorder with the log.
pub(super) fn end_log(
    undoing: &mut UndoContext,
    entry: &Entry,
    recorder: &Recorder,
) -> Result<(), Refusal> {
    let (Some(uuid), Some(JournalLeaf::Device { identity, .. })) =
        (entry.log_writes(), entry.only_leaf())
    else {
        return Ok(());
    };
    if recorder.is_mounted()? {
        return Ok(());
    }
    undoing.remove_log_writes(uuid)?;
    recorder.wait_for_end()?;
    undoing.detach(&recorder.record)?;
    recorder.start_with_log(layer::recorded_bytes(identity.bytes))
}
