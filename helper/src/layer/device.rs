//! A block device that the configuration allows: it is checked, and every signature on it is removed. A release leaves it as it is.

use super::{Facts, KnownDevice, PlannedLeaf, Step, check_identity};
use crate::config::Config;
use crate::journal::Part;
use crate::probe::contents::Contents;
use crate::probe::device::DeviceFacts;
use pgfsbench_core::helper::DeviceRequest;
use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal};

/// The device as a leaf, with the steps that check and wipe it.
pub fn device(
    config: &Config,
    requested: &DeviceRequest,
    facts: &Facts,
    part: Part,
) -> Result<(PlannedLeaf, Vec<Step>), Refusal> {
    let path = requested.path.as_str();
    let found = match part {
        Part::Member(n) => facts.devices.get(n).and_then(Option::as_ref),
        Part::Log(n) => facts.log_devices.get(n).and_then(Option::as_ref),
    };
    let (Some(allowed), Some(found)) = (config.device(path), found) else {
        return Err(Refusal::new(Kind::NotAllowed, format!("device {path} is not allowed by the helper's configuration"))
            .detail("Only devices that it names, with the same path, are erased.")
            .hint(format!("Add to it: [[device]] and, on the next line, path = \"{path}\"; then restart pgfsbench-helper.")));
    };
    let requested = requested.marks();
    let device = &found.facts;
    check_identity(allowed, &requested, &device.identity.marks())?;
    check_free(path, found)?;
    check_device(path, allowed.wipe, found.is_ours, device)?;
    let steps = vec![
        Step::CheckDevice {
            path: path.to_owned(),
            part,
        },
        // mkfs does not overwrite everything, and what a killed mkfs left must go, too.
        Step::Wipe {
            program: facts.wipefs.clone()?,
            part,
        },
    ];
    let on = PlannedLeaf::Device {
        path: path.to_owned(),
        requested,
        facts: Box::new(device.clone()),
    };
    Ok((on, steps))
}

/// Refuses a device on which the helper has prepared a target.
pub fn check_free(path: &str, found: &KnownDevice) -> Result<(), Refusal> {
    match (&found.holder, &found.facts.in_use) {
        (Some(holder), Some(_)) => Err(holder.refusal(path)),
        _ => Ok(()),
    }
}

/// Refuses a device that may not be erased as it is now.
pub fn check_device(
    path: &str,
    wipe: bool,
    is_ours: bool,
    device: &DeviceFacts,
) -> Result<(), Refusal> {
    let no = |message: String| Refusal::new(Kind::NotAllowed, message);
    if let Some(user) = &device.in_use {
        return Err(no(format!("device {path} is in use"))
            .detail(user.clone())
            .hint(
                "Unmount or free it first; the helper never does that for what it did not make.",
            ));
    }
    match &device.contents {
        Contents::Empty => Ok(()),
        Contents::Table(_) => Err(no(format!("device {path} holds {}", device.contents))
            .detail("A disk with a partition table is never erased.")
            .hint("Name one of its partitions in the helper's configuration, or remove the table by hand.")),
        Contents::Partitions => Err(no(format!("device {path} holds {}", device.contents))
            .detail("A disk with partitions is never erased.")
            .hint(format!(
                "Name one of them in the helper's configuration; or, if they are left from an earlier use of the device, have the kernel forget them: partx --delete {}",
                quoting::shell(path)
            ))),
        _ if is_ours || wipe => Ok(()),
        contents => Err(no(format!("device {path} holds {contents}"))
            .detail("pgfsbench did not write that.")
            .hint(format!(
                "If it may be erased, put wipe = true below path = \"{path}\" in the helper's configuration (pgfsbench-helper setup --allow-device={} --wipe does that), and restart pgfsbench-helper.",
                quoting::shell(path)
            ))),
    }
}

/// Refuses a device that two paths lead to.
pub fn check_apart(leaves: &[(Part, &PlannedLeaf)]) -> Result<(), Refusal> {
    for (i, (part, on)) in leaves.iter().enumerate() {
        let PlannedLeaf::Device { path, facts, .. } = on else {
            continue;
        };
        let number = |facts: &DeviceFacts| (facts.identity.major, facts.identity.minor);
        let is_same = |(_, other): &&(Part, &PlannedLeaf)| match other {
            PlannedLeaf::Device { facts: other, .. } => number(other) == number(facts),
            PlannedLeaf::Image { .. } => false,
        };
        let Some((other, _)) = leaves[..i].iter().find(is_same) else {
            continue;
        };
        let message = match part.role() == other.role() {
            true => format!("device {path} is given twice"),
            false => "the log is on the device of the filesystem".to_owned(),
        };
        return Err(Refusal::new(Kind::NotAllowed, message)
            .detail(format!("{path} leads to {} too.", facts.node.display()))
            .hint("Name another device, or leave it out."));
    }
    Ok(())
}
