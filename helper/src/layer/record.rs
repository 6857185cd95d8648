//! A recorder between the image of a target and its loop device, or dm-log-writes above its device. A release detaches its disk and ends its process
//! before the image is removed.

use super::image::room;
use super::{Facts, PlannedLeaf, Step, UndoContext};
use crate::config::Config;
use crate::journal::Entry;
use crate::place::Place;
use crate::recorder::Recorder;
use pgfsbench_core::helper::{Prepare, line_that_allows};
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{AtFlags, CWD, unlinkat};

/// The recorder of a target for power cuts. For an image its steps go between those that make the image and the one that attaches it,
/// which then attaches the disk of the recorder. For a device, the file of the record is made here.
pub fn record(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
    members: &[PlannedLeaf],
    steps: &mut Vec<Step>,
) -> Result<Option<Recorder>, Refusal> {
    let (Some(requested), [member]) = (&request.record, members) else {
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
        members,
    )?;
    let recorder = Recorder {
        mount_point: place.recorder_mount_point(config),
        record: record.clone(),
        bytes,
    };
    let PlannedLeaf::Image { path: image, .. } = member else {
        steps.push(Step::CreateImage {
            path: record,
            bytes: recorder.log_bytes(),
            sparse: true,
        });
        return Ok(Some(recorder));
    };
    for step in steps.iter_mut() {
        if let Step::Attach { image, .. } = step {
            *image = recorder.disk();
        }
    }
    let attach = steps
        .iter()
        .position(|step| matches!(step, Step::Attach { .. }));
    let create = Step::CreateImage {
        path: record,
        bytes: 0,
        sparse: true,
    };
    let start = Step::Record {
        recorder: recorder.clone(),
        image: image.clone(),
    };
    let at = attach.unwrap_or(steps.len());
    steps.splice(at..at, [create, start]);
    Ok(Some(recorder))
}

impl UndoContext<'_> {
    /// The recorder ends when its filesystem is unmounted, which no program may use by then.
    pub fn end_recorder(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let Some(recorder) = &entry.recorder else {
            return Ok(());
        };
        if let Some(uuid) = entry.log_writes() {
            self.remove_log_writes(uuid)?;
        }
        self.detach(&recorder.disk())?;
        let path = &recorder.mount_point;
        self.own("unmount_recorder", "unmount", path, || recorder.unmount())?;
        // The kernel unmounts it in other mount namespaces, too, when its mount point goes: a copy there would keep the process.
        self.own("remove_recorder", "remove", path, || {
            unlinkat(CWD, path, AtFlags::REMOVEDIR)
        })?;
        recorder.wait_for_end()
    }
}
