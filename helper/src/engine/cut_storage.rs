//! The devices of a target that is recorded, between power cuts: attached to the disks of the recorder, with the arrays on them, and taken apart again.

use super::Engine;
use crate::exec;
use crate::journal::{Entry, Layer};
use crate::layer::{self, Devices, Part, Role, Step, Tell, UndoContext};
use crate::probe::{arrays, loops};
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::fs::File;
use std::path::Path;

/// Tries to assemble an array. udev may have begun to assemble it at the same time.
const TRIES: usize = 3;

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
        if entry.filesystem == Filesystem::Btrfs {
            undoing.forget_disks(entry)?;
        }
        undoing.detach_disks(entry)
    }

    /// Attaches the disks of the recorder, and assembles the arrays on them. The inner error is what mdadm says against it.
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

    /// Returns what mdadm says if it cannot be assembled. A resync would write more than a record holds, and waits.
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
        let mut said = String::new();
        for _ in 0..TRIES {
            self.undoing(lock, tell).stop_array(entry, role, uuid)?;
            let outcome = self.run_for_cut(&step, devices, lock, tell)?;
            if outcome.exit_code.is_none() {
                return Err(outcome.refusal());
            }
            if outcome.succeeded() {
                let array = layer::array(entry, role)?.ok_or_else(|| {
                    Refusal::new(Kind::System, "an array of the target is not there")
                        .detail("mdadm has assembled it, and the kernel does not show it.")
                        .hint("Release the target; the kernel's log (dmesg) may say why.")
                })?;
                arrays::freeze(&array.node)?;
                devices.joined_mut(role).array = Some(array.node);
                return Ok(None);
            }
            said = outcome.refusal().detail.unwrap_or_default();
        }
        Ok(Some(said))
    }
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

    /// The kernel remembers the devices of a btrfs filesystem that has several, and takes none back as an earlier power cut has left it.
    fn forget_disks(&mut self, entry: &Entry) -> Result<(), Refusal> {
        if layer::joined_of(entry) < 2 {
            return Ok(());
        }
        let btrfs = exec::require("btrfs", "btrfs-progs")?.display().to_string();
        for disk in entry.disks() {
            for device in loops::of_file(&disk)? {
                let words = ["device", "scan", "--forget"].map(String::from);
                let mut argv = vec![btrfs.clone()];
                argv.extend(words);
                argv.push(device.display().to_string());
                self.run("forget_disk", &argv)?;
            }
        }
        Ok(())
    }
}
