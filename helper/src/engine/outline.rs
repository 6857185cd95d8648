//! Says beforehand what would be executed for a target, step by step, and what would undo it.

use super::Engine;
use crate::exec;
use crate::layer::{self, Devices, Part, PlannedLeaf, Role, Step};
use crate::place::{DIRECTORY, Place};
use crate::plan::Plan;
use crate::settings;
use pgfsbench_core::helper::Prepare;
use pgfsbench_core::refusal::Refusal;
use serde_json::{Value, json};
use std::iter;
use std::path::{Path, PathBuf};

impl Engine {
    /// The steps of `prepare` and those of `release`: what each is called, and its command line or, without a program, words.
    pub(super) fn outline(&self, place: &Place, request: &Prepare) -> Result<Value, Refusal> {
        let plan = self.plan(place, request)?;
        // Which loop device is free is known only when it is taken.
        let devices = plan.devices();
        let prepare: Vec<Value> = plan
            .steps
            .iter()
            .map(|step| {
                let command = step
                    .argv(&devices)
                    .map_or_else(|| step.words(), |argv| argv.join(" "));
                line(step.name(), command)
            })
            .collect();
        Ok(json!({
            "directory": plan.mount_point.join(DIRECTORY),
            "prepare": prepare,
            "release": release(&plan, &devices)?,
        }))
    }
}

/// The steps of `release`.
fn release(plan: &Plan, devices: &Devices) -> Result<Vec<Value>, Refusal> {
    let umount = exec::require("umount", "mount")?;
    let mount_point = plan.mount_point.display();
    let mut release = vec![
        line("unmount", format!("{} -i {mount_point}", umount.display())),
        line("remove_mount_point", format!("remove {mount_point}")),
    ];
    for step in &plan.steps {
        let back = |values: &[settings::Value]| {
            let files: Vec<&str> = values.iter().map(|v| v.file.as_str()).collect();
            format!("write back what was in {}", files.join(", "))
        };
        match step {
            Step::CreatePool { program, pool, .. } => {
                let destroy = format!("{} destroy {pool}", program.display());
                release.insert(2, line("destroy_pool", destroy));
            }
            Step::CreateArray {
                program,
                role,
                uuid,
                ..
            } => {
                let array = (*role, uuid.as_str());
                release.splice(2..2, remove_array(program, array, plan, devices));
            }
            Step::CreateVolume { uuid, .. } => {
                release.splice(2..2, remove_volume(uuid, plan, devices)?);
            }
            Step::LogWrites { .. } => release.extend(remove_log_writes(step)),
            Step::SetQueue { values } | Step::SetKernel { values } => {
                release.push(line("put_back", back(values)));
            }
            _ => {}
        }
    }
    release.extend(remove_images(plan, devices)?);
    Ok(release)
}

/// Detaches and removes the images, from the last one on. Where a recorder serves them as disks, it ends in between.
fn remove_images(plan: &Plan, devices: &Devices) -> Result<Vec<Value>, Refusal> {
    let image = |(part, on): (Part, &PlannedLeaf)| match on {
        PlannedLeaf::Image { path, .. } => Some((devices.of(part).to_owned(), path.clone())),
        PlannedLeaf::Device { .. } => None,
    };
    let mut images: Vec<(PathBuf, PathBuf)> = plan.leaves().filter_map(image).collect();
    images.reverse();
    if images.is_empty() {
        return Ok(Vec::new());
    }
    let losetup = exec::require("losetup", "mount")?;
    let detach = |device: &Path| {
        let command = format!("{} -d {}", losetup.display(), device.display());
        line("detach", command)
    };
    let remove = |path: &Path| line("remove_image", format!("remove {}", path.display()));
    let Some(recorder) = &plan.recorder else {
        let each = images.iter();
        return Ok(each
            .flat_map(|(device, path)| [detach(device), remove(path)])
            .collect());
    };
    let mount_point = recorder.mount_point.display();
    let mut lines: Vec<Value> = images.iter().map(|(device, _)| detach(device)).collect();
    lines.push(line("unmount_recorder", format!("unmount {mount_point}")));
    lines.push(line("remove_recorder", format!("remove {mount_point}")));
    lines.push(remove(&recorder.record));
    lines.extend(images.iter().map(|(_, path)| remove(path)));
    Ok(lines)
}

/// Removes dm-log-writes, and the file of its log.
fn remove_log_writes(step: &Step) -> Vec<Value> {
    let Step::LogWrites {
        losetup,
        dmsetup,
        recorder,
        uuid,
        has_udev,
    } = step
    else {
        return Vec::new();
    };
    let remove = layer::remove_log_writes(dmsetup, uuid, *has_udev).join(" ");
    let detach = format!("{} -d /dev/loopM", losetup.display());
    let record = format!("remove {}", recorder.record.display());
    vec![
        line("remove_log_writes", remove),
        line("detach", detach),
        line("remove_image", record),
    ]
}

/// Stops the array, and empties each member that is a device.
fn remove_array(
    program: &Path,
    (role, uuid): (Role, &str),
    plan: &Plan,
    devices: &Devices,
) -> Vec<Value> {
    let (program, node) = (program.display(), layer::node_of_array(uuid));
    let stop = line("stop_array", format!("{program} --stop {}", node.display()));
    iter::once(stop)
        .chain(empty_devices(plan, devices, role))
        .collect()
}

/// Removes the volume, and empties each member that is a device.
fn remove_volume(uuid: &str, plan: &Plan, devices: &Devices) -> Result<Vec<Value>, Refusal> {
    let dmsetup = exec::require("dmsetup", "dmsetup")?;
    let name = layer::name_of_volume(uuid);
    let remove = layer::remove_volume(&dmsetup, &name, layer::has_udev()).join(" ");
    Ok(iter::once(line("remove_volume", remove))
        .chain(empty_devices(plan, devices, Role::Filesystem))
        .collect())
}

fn empty_devices<'a>(
    plan: &'a Plan,
    devices: &'a Devices,
    role: Role,
) -> impl Iterator<Item = Value> + 'a {
    devices_of(plan, devices, role)
        .map(|device| line("make_blank", format!("empty {}", device.display())))
}

/// The leaves of a role that are devices.
fn devices_of<'a>(
    plan: &'a Plan,
    devices: &'a Devices,
    role: Role,
) -> impl Iterator<Item = &'a Path> {
    let leaves = plan.leaves();
    let devices_of_role = leaves
        .filter(move |(part, on)| part.role() == role && matches!(on, PlannedLeaf::Device { .. }));
    devices_of_role.map(|(part, _)| devices.of(part))
}

fn line(step: &str, command: String) -> Value {
    json!({"step": step, "command": command})
}
