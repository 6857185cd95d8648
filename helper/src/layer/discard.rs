//! Discards before mkfs, and those that mkfs makes.

use super::{Facts, Part, Step, extended};
use crate::probe::queue::Limits;
use pgfsbench_core::helper::{Filesystem, Log, Prepare, SsdState};
use pgfsbench_core::refusal::{Kind, Refusal};

/// The steps that discard the whole devices, and those of the log, if that is asked for.
pub fn steps(request: &Prepare, facts: &Facts) -> Result<Vec<Step>, Refusal> {
    if request.ssd_state != Some(SsdState::Trimmed) {
        return Ok(Vec::new());
    }
    // The limits of an image's loop device are known when it is attached.
    for (device, limits) in request.storage.devices().iter().zip(&facts.limits) {
        if let Some(limits) = limits {
            check_discards(limits, &device.path)?;
        }
    }
    let mut parts: Vec<Part> = (0..request.storage.members()).map(Part::Member).collect();
    let logs = request.log.as_ref().map_or(0, Log::members);
    parts.extend((0..logs).map(Part::Log));
    let step = |part| {
        let program = facts.blkdiscard.clone()?;
        Ok(Step::Discard { program, part })
    };
    parts.into_iter().map(step).collect()
}

/// Refuses a device that cannot discard.
pub fn check_discards(limits: &Limits, path: &str) -> Result<(), Refusal> {
    match limits.discard_max_bytes {
        Some(0) => Err(Refusal::new(
            Kind::NotInThisState,
            format!("device {path} does not support discard"),
        )
        .detail("Its queue's discard_max_bytes is 0, so it cannot be trimmed.")
        .hint("Ask for ssd_state as_is, or leave it out.")),
        _ => Ok(()),
    }
}

/// Has mkfs discard nothing, where that was asked for, would give back what was just allocated for the image, or would fill a log of dm-log-writes.
pub fn spare(request: &Prepare, options: &mut Vec<String>) -> Result<(), Refusal> {
    let is_allocated = request.storage.is_allocated();
    match request.ssd_state {
        Some(SsdState::AsIs) => {}
        None if is_allocated || request.is_logged() => {}
        _ => return Ok(()),
    }
    let asks_for_it = match request.filesystem {
        Filesystem::Ext2 | Filesystem::Ext3 | Filesystem::Ext4 => spare_of_ext(options),
        Filesystem::Xfs | Filesystem::Nilfs2 => add(options, &["-K"], &["-K"]),
        Filesystem::Btrfs => add(options, &["-K", "--nodiscard"], &["-K"]),
        Filesystem::F2fs => {
            let given = options.iter().position(|o| o == "-t");
            match given.and_then(|at| options.get(at + 1)) {
                Some(value) => value == "1",
                None => add(options, &[], &["-t", "0"]),
            }
        }
        // Their mkfs never discards.
        Filesystem::Jfs | Filesystem::Reiserfs | Filesystem::Zfs => false,
    };
    if asks_for_it && request.ssd_state.is_some() {
        return Err(
            Refusal::argument("mkfs_options ask for discard, and ssd_state is as_is")
                .detail("As it is means that nothing is discarded.")
                .hint("Leave one of the two out."),
        );
    }
    Ok(())
}

fn add(options: &mut Vec<String>, known: &[&str], new: &[&str]) -> bool {
    if !options.iter().any(|o| known.contains(&o.as_str())) {
        options.extend(new.iter().map(|&o| o.to_owned()));
    }
    false
}

fn spare_of_ext(options: &mut Vec<String>) -> bool {
    if extended::has(options, "discard") {
        return true;
    }
    if !extended::has(options, "nodiscard") {
        extended::add(options, "nodiscard");
    }
    false
}
