//! The devices of a target that is recorded, between power cuts: attached to the disks of the recorder, with the arrays on them, and taken apart again.

use super::Engine;
use crate::exec;
use crate::journal::{Entry, Layer};
use crate::layer::{self, Devices, Part, Role, Step, Tell, UndoContext};
use crate::probe::{arrays, device_number, in_use, loops};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time for which another program may use a member of an array: udev, for example, may start to assemble the array.
const PATIENCE: Duration = Duration::from_secs(10);

impl Engine {
    /// Unmounts the target, stops its arrays, and detaches the disks of the recorder.
    pub(super) fn unmount_cut(
        &self,
        entry: &Entry,
        lock: &File,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let mut undoing = self.undoing(lock, tell);
        undoing.unmount(entry)?;
        undoing.stop_arrays(entry)?;
        let devices = undoing.devices_of_btrfs(entry)?;
        undoing.detach_disks(entry)?;
        undoing.forget(&devices)
    }

    /// Attaches the disks of the recorder, and assembles the arrays on them. The inner error is that of mdadm.
    pub(super) fn attach_cut(
        &self,
        entry: &Entry,
        lock: &File,
        tell: Tell,
    ) -> Result<Result<Devices, String>, Refusal> {
        let mut devices = Devices::default();
        for ((part, _), disk) in entry.leaves().zip(entry.disks()) {
            self.attach_disk(part, &disk, &mut devices, lock, tell)?;
        }
        for layer in &entry.layers {
            if let Layer::Md { uuid, role } = layer
                && let Some(why_not) =
                    self.assemble(entry, (*role, uuid), &mut devices, lock, tell)?
            {
                return Ok(Err(why_not));
            }
        }
        Ok(Ok(devices))
    }

    fn attach_disk(
        &self,
        part: Part,
        disk: &Path,
        devices: &mut Devices,
        lock: &File,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let attach = Step::Attach {
            program: exec::require("losetup", "mount")?,
            image: disk.to_owned(),
            part,
            partitions: false,
        };
        let attached = self.run_for_cut(&attach, devices, lock, tell)?;
        match loops::of_file(disk)?.as_slice() {
            [device] if attached.succeeded() => {
                loops::have_flushed(device)?;
                devices.set(part, device.clone());
                Ok(())
            }
            _ => Err(attached.refusal()),
        }
    }

    /// Assembles an array, and stops its resync, which would fill the record. Returns the error of mdadm.
    fn assemble(
        &self,
        entry: &Entry,
        (role, uuid): (Role, &str),
        devices: &mut Devices,
        lock: &File,
        tell: Tell,
    ) -> Result<Option<String>, Refusal> {
        let step = Step::AssembleArray {
            program: exec::require("mdadm", "mdadm")?,
            role,
            uuid: uuid.to_owned(),
        };
        let mut outcome = self.run_for_cut(&step, devices, lock, tell)?;
        if !outcome.succeeded() {
            // mdadm has the same exit code for a damaged array and for a member in use.
            self.undoing(lock, tell).stop_array(entry, role, uuid)?;
            for member in &devices.joined(role).leaves {
                check_unused(member)?;
            }
            outcome = self.run_for_cut(&step, devices, lock, tell)?;
        }
        match outcome.exit_code {
            Some(0) => {}
            Some(_) => return Ok(outcome.refusal().detail),
            None => return Err(outcome.refusal()),
        }
        let array = layer::array_of(entry, role)?;
        arrays::freeze(&array.node)?;
        devices.joined_mut(role).array = Some(array.node);
        Ok(None)
    }
}

fn check_unused(member: &Path) -> Result<(), Refusal> {
    let user = match device_number(member) {
        Some(number) => in_use::of(number, PATIENCE)?,
        None => None,
    };
    user.map_or(Ok(()), |user| {
        let message = format!("device {} is in use", member.display());
        Err(Refusal::new(Kind::NotInThisState, message)
            .detail(user)
            .hint("Free it, and try again."))
    })
}

impl UndoContext<'_> {
    fn stop_arrays(&mut self, entry: &Entry) -> Result<(), Refusal> {
        for layer in entry.layers.iter().rev() {
            if let Layer::Md { uuid, role } = layer {
                self.stop_array(entry, *role, uuid)?;
            }
        }
        Ok(())
    }

    /// The devices that btrfs remembers, if the filesystem has several.
    fn devices_of_btrfs(&self, entry: &Entry) -> Result<Vec<PathBuf>, Refusal> {
        let mut devices = Vec::new();
        if layer::joined_of(entry) > 1 {
            for disk in entry.disks() {
                devices.extend(loops::of_file(&disk)?);
            }
        }
        Ok(devices)
    }

    /// btrfs refuses a device that is older than it remembers, as after an earlier power cut. So the kernel has to forget the devices.
    fn forget(&mut self, devices: &[PathBuf]) -> Result<(), Refusal> {
        for device in devices {
            let btrfs = exec::require("btrfs", "btrfs-progs")?.display().to_string();
            let mut argv = vec![btrfs];
            argv.extend(["device", "scan", "--forget"].map(String::from));
            argv.push(device.display().to_string());
            // An error says that the kernel does not know the device.
            let _ = self.run("forget_disk", &argv);
        }
        Ok(())
    }
}
