//! dm-log-writes between the device of a target and its filesystem: the kernel logs each write and flush to the file of the record. A release, or
//! the end of the recording, removes it from the device mapper.

use super::lvm::has_udev;
use super::volume;
use super::{Step, UndoContext};
use crate::exec;
use crate::journal::Entry;
use crate::layer::Facts;
use crate::probe::kernel::{self, Support};
use crate::probe::volumes::{self, Volume};
use crate::recorder::Recorder;
use pgfsbench_core::helper::Prepare;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// The largest filesystem that is recorded, from the beginning of a device on. mkfs writes a part of each device, which all goes to the log.
const MOST_BYTES: u64 = 8 << 30;

/// The bytes of a device of this size that are recorded.
pub fn recorded_bytes(device: u64) -> u64 {
    device.min(MOST_BYTES)
}

/// The name in the device mapper.
pub fn name(uuid: &str) -> String {
    format!("pgfsbench_{uuid}-record")
}

/// The UUID in the device mapper. Other programs know by its beginning that it is not theirs.
pub fn dm_uuid(uuid: &str) -> String {
    format!("PGFSBENCH-{uuid}")
}

/// The command that makes it over a device of this many bytes. Devices are numbers, which no link can change.
pub fn create(
    dmsetup: &Path,
    uuid: &str,
    (device, log): ((u32, u32), (u32, u32)),
    bytes: u64,
    has_udev: bool,
) -> Vec<String> {
    let number = |(major, minor): (u32, u32)| format!("{major}:{minor}");
    let table = format!(
        "0 {} log-writes {} {}",
        recorded_bytes(bytes) / 512,
        number(device),
        number(log)
    );
    let mut argv = vec![dmsetup.display().to_string(), "create".into()];
    argv.extend((!has_udev).then(|| "--noudevsync".to_owned()));
    argv.extend([name(uuid), "--uuid".into(), dm_uuid(uuid)]);
    argv.extend(["--table".into(), table]);
    argv
}

/// The command that removes it. Other programs, such as those of udev, open a device for a moment when it is unmounted.
pub fn remove(dmsetup: &Path, uuid: &str, has_udev: bool) -> Vec<String> {
    let mut argv = volume::remove(dmsetup, &name(uuid), has_udev);
    argv.insert(2, "--retry".into());
    argv
}

/// Why this machine cannot record with it; None if it can.
pub fn why_not() -> Result<Option<Refusal>, Refusal> {
    let support = kernel::support_of_log_writes()?;
    let dmsetup = exec::require("dmsetup", "dmsetup");
    Ok(judge(support, &dmsetup, &kernel::release()))
}

fn judge(support: Support, dmsetup: &Result<PathBuf, Refusal>, release: &str) -> Option<Refusal> {
    match support {
        Support::Missing => {
            let message = "this kernel has no dm-log-writes";
            let refusal = Refusal::new(Kind::NotInThisState, message)
                .detail(format!("modprobe of kernel {release} finds no module {}.", kernel::LOG_WRITES))
                .hint("On Debian it is in the package linux-image-amd64; or test the filesystem on an image.");
            Some(refusal)
        }
        Support::Present | Support::Module => dmsetup.clone().err(),
    }
}

/// The step that loads the device mapper for a request that dm-log-writes records, where that takes one.
pub fn module(request: &Prepare, facts: &Facts) -> Result<Option<Step>, Refusal> {
    if !request.is_logged() {
        return Ok(None);
    }
    if let Some(refusal) = judge(facts.array.level, &facts.dmsetup, &facts.kernel) {
        return Err(refusal);
    }
    Ok(match facts.array.driver {
        Support::Module => Some(Step::LoadModule {
            program: facts.modprobe.clone()?,
            module: kernel::DM,
        }),
        Support::Present | Support::Missing => None,
    })
}

/// The step that puts it above the device, when that is wiped.
pub fn step(recorder: &Recorder, facts: &Facts) -> Result<Step, Refusal> {
    Ok(Step::LogWrites {
        losetup: facts.losetup.clone()?,
        dmsetup: facts.dmsetup.clone()?,
        recorder: recorder.clone(),
        uuid: facts.uuid.clone(),
        has_udev: facts.has_udev,
    })
}

/// The device of this UUID; None if it is not there.
pub fn device(uuid: &str) -> Result<Option<Volume>, Refusal> {
    volumes::of_uuid(&name(uuid), &dm_uuid(uuid))
}

/// The device that an entry's filesystem is mounted from while it is recorded.
pub fn of_entry(entry: &Entry) -> Result<Option<Volume>, Refusal> {
    match entry.log_writes() {
        Some(uuid) => device(uuid),
        None => Ok(None),
    }
}

impl UndoContext<'_> {
    /// Removes it from the device mapper. The kernel then writes the end of the log, and the process that marks the time ends.
    pub fn remove_log_writes(&mut self, uuid: &str) -> Result<(), Refusal> {
        if device(uuid)?.is_some() {
            let dmsetup = exec::require("dmsetup", "dmsetup")?;
            let argv = remove(&dmsetup, uuid, has_udev());
            let removed = self.run("remove_log_writes", &argv);
            if device(uuid)?.is_some() {
                removed?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_over_numbers_of_devices() {
        let argv = |has_udev| {
            let program = Path::new("/sbin/dmsetup");
            create(program, "1-2", ((8, 16), (7, 3)), 1 << 20, has_udev).join(" ")
        };
        assert_eq!(recorded_bytes(1 << 40), 8 << 30);
        let rest = "pgfsbench_1-2-record --uuid PGFSBENCH-1-2 --table 0 2048 log-writes 8:16 7:3";
        assert_eq!(argv(true), format!("/sbin/dmsetup create {rest}"));
        assert_eq!(
            argv(false),
            format!("/sbin/dmsetup create --noudevsync {rest}")
        );
        let argv = remove(Path::new("/sbin/dmsetup"), "1-2", true).join(" ");
        assert_eq!(argv, "/sbin/dmsetup remove --retry pgfsbench_1-2-record");
    }

    #[test]
    fn it_takes_the_kernels_module_and_dmsetup() {
        let there = Ok(PathBuf::from("/sbin/dmsetup"));
        let absent = exec::require("no-such-dmsetup", "dmsetup");
        for support in [Support::Present, Support::Module] {
            assert_eq!(judge(support, &there, "6.1"), None);
            let refusal = judge(support, &absent, "6.1").unwrap();
            assert_eq!(refusal.message, "there is no program no-such-dmsetup");
        }
        let refusal = judge(Support::Missing, &there, "6.1").unwrap();
        assert_eq!(refusal.message, "this kernel has no dm-log-writes");
    }
}
