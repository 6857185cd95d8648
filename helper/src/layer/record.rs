//! A recorder between the images of a target and their loop devices, or dm-log-writes above its device. A release detaches its disks and ends its
//! process before the images are removed.

use super::image::room;
use super::{Facts, PlannedLeaf, Step, UndoContext};
use crate::config::Config;
use crate::journal::Entry;
use crate::place::Place;
use crate::recorder::Recorder;
use pgfsbench_core::helper::{Prepare, line_that_allows};
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{AtFlags, CWD, unlinkat};

/// The recorder of a target for power cuts. For images its steps go between those that make the images and those that attach them, which then attach
/// the disks of the recorder. For a device, the file of the record is made here.
pub fn record(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
    leaves: &[PlannedLeaf],
    steps: &mut Vec<Step>,
) -> Result<Option<Recorder>, Refusal> {
    let Some(requested) = &request.record else {
        return Ok(None);
    };
    if !config.power_cuts {
        return Err(Refusal::new(
            Kind::NotAllowed,
            "power cuts are not allowed by the helper's configuration",
        )
        .detail("The helper would mount filesystems whose metadata the server's user influences.")
        .hint(format!("Add to it {}.", line_that_allows("power_cuts"))));
    }
    if let Some(why_not) = facts.no_recorder {
        return Err(
            Refusal::new(Kind::NotInThisState, "writes cannot be recorded here")
                .detail(format!("On this machine {why_not}."))
                .hint("Run pgfsbench-helper doctor when that is put right."),
        );
    }
    let (record, bytes) = room(
        config,
        &place.record_name(),
        requested.log_bytes,
        facts,
        leaves,
    )?;
    let recorder = Recorder {
        mount_point: place.recorder_mount_point(config),
        record: record.clone(),
        bytes,
    };
    let create = |bytes| Step::CreateImage {
        path: record,
        bytes,
        sparse: true,
    };
    if request.is_logged() {
        steps.push(create(recorder.log_bytes()));
        return Ok(Some(recorder));
    }
    let mut images = Vec::new();
    for step in steps.iter_mut() {
        if let Step::Attach { image, .. } = step {
            let disk = recorder.disk(image);
            images.push(std::mem::replace(image, disk));
        }
    }
    let start = Step::Record {
        recorder: recorder.clone(),
        images,
    };
    let makes_image = |step: &Step| matches!(step, Step::CreateImage { .. });
    let (making, later): (Vec<Step>, Vec<Step>) = steps.drain(..).partition(makes_image);
    steps.extend(making);
    steps.extend([create(0), start]);
    steps.extend(later);
    Ok(Some(recorder))
}

impl UndoContext<'_> {
    /// Detaches all that the recorder serves.
    pub fn detach_disks(&mut self, entry: &Entry) -> Result<(), Refusal> {
        for disk in entry.disks().into_iter().rev() {
            self.detach(&disk)?;
        }
        Ok(())
    }

    /// The recorder ends when its filesystem is unmounted, which no program may use by then.
    pub fn end_recorder(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let Some(recorder) = &entry.recorder else {
            return Ok(());
        };
        if let Some(uuid) = entry.log_writes() {
            self.remove_log_writes(uuid)?;
        }
        self.detach_disks(entry)?;
        let path = &recorder.mount_point;
        self.own("unmount_recorder", "unmount", path, || recorder.unmount())?;
        // The kernel unmounts it in other mount namespaces, too, when its mount point goes: a copy there would keep the process.
        self.own("remove_recorder", "remove", path, || {
            unlinkat(CWD, path, AtFlags::REMOVEDIR)
        })?;
        recorder.wait_for_end()
    }
}
