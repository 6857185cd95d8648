//! Power cuts of a target that is recorded: the recording is ended, and the target is mounted as each cut would have left it. While cuts are made the journal
//! does not change: whatever is mounted or attached then is found again and undone.

use super::remount::{mounted, ms_since};
use super::{Engine, log_writes, steps, undo};
use crate::exec;
use crate::journal::{Entry, State};
use crate::layer::{self, Devices, Step, Tell};
use crate::place::Place;
use crate::plan::mount_options_again;
use crate::recorder::{Command, Recorder, now_ns};
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::helper::options::mount_options;
use pgfsbench_core::helper::record::{
    Cut, CutEnded, CutMade, CutMounted, CutStop, Fault, Recorded,
};
use pgfsbench_core::proc::Mount;
use pgfsbench_core::refusal::{Kind, Refusal};
use serde_json::{Value, json};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// The exit code of mount(8) for a filesystem that was not mounted. Other codes speak of the program or the machine.
const MOUNT_FAILED: i32 = 32;
/// The place of s_feature_compat in the superblock of ext2, ext3 and ext4, and its bit for a journal.
const EXT_FEATURES: u64 = 1024 + 0x5c;
const EXT_HAS_JOURNAL: u32 = 4;
/// The exit codes of fsck(8) from which on it has left errors, has found no filesystem, or was called wrongly.
const FSCK_UNCORRECTED: i32 = 4;
const FSCK_WRONG_USE: i32 = 16;
/// The mount option of filesystems that can do without flushes.
const NO_BARRIERS: &str = "nobarrier";

impl Engine {
    /// Unmounts the target, and ends the recording as it was before that. The first cut can be made then.
    pub fn cut_stop(
        &self,
        place: &Place,
        requested: &CutStop,
        tell: Tell,
    ) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let (mut entry, recorder) = self.recorded(place, &[State::Ready, State::Cutting])?;
        let ns = now_ns();
        log_writes::mark_end(&entry, &recorder, ns)?;
        let before = entry.state;
        entry.state = State::Cutting;
        self.journal.write(&entry)?;
        if let Err(refusal) = self.unmount_cut(&entry, &lock, tell) {
            if !self.is_stale(&entry)? {
                // It is still mounted, and recorded.
                entry.state = before;
                self.journal.write(&entry)?;
            }
            return Err(refusal);
        }
        log_writes::end_log(&mut self.undoing(&lock, tell), &entry, &recorder)?;
        let stop = requested.clone();
        let recorded: Recorded = recorder.ask(&Command::Stop { stop, ns })?;
        Ok(json!(recorded))
    }

    /// Mounts the target as this cut has left it. A filesystem that cannot be mounted is a result.
    pub fn cut(&self, place: &Place, cut: &Cut, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let (entry, recorder) = self.recorded(place, &[State::Cutting])?;
        self.unmount_cut(&entry, &lock, tell)?;
        let began = Instant::now();
        let made = recorder.ask(&Command::Cut(cut.clone()))?;
        let mount_failed = self.mount_cut(place, &entry, &lock, tell)?;
        if mount_failed.is_some() {
            self.unmount_cut(&entry, &lock, tell)?;
            // A filesystem that cannot be read has not been judged.
            let ended = ended(&recorder, began)?;
            ended.refusal().map_or(Ok(()), Err)?;
        }
        Ok(json!(CutMounted {
            made,
            mounted: mount_failed.is_none(),
            why_not: mount_failed,
            ms: ms_since(began),
        }))
    }

    /// Unmounts the target, and mounts it again on the device as it has become since the cut. What has reached the device is there.
    pub fn cut_again(&self, place: &Place, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let (entry, _) = self.recorded(place, &[State::Cutting])?;
        let began = Instant::now();
        self.unmount_cut(&entry, &lock, tell)?;
        let why_not = self.mount_cut(place, &entry, &lock, tell)?;
        if why_not.is_some() {
            self.unmount_cut(&entry, &lock, tell)?;
        }
        Ok(json!(CutMounted {
            made: CutMade::default(),
            mounted: why_not.is_none(),
            why_not,
            ms: ms_since(began),
        }))
    }

    /// Unmounts the target, and throws away what was written since it was mounted.
    pub fn cut_end(&self, place: &Place, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let (entry, recorder) = self.recorded(place, &[State::Cutting])?;
        let began = Instant::now();
        self.unmount_cut(&entry, &lock, tell)?;
        Ok(json!(ended(&recorder, began)?))
    }

    /// Has the filesystem of the target send no more flushes, while it is mounted. Its release removes what it holds.
    pub fn barriers_off(&self, place: &Place, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let (entry, _) = self.recorded(place, &[State::Ready])?;
        // Other filesystems have no such option, or mean something else by it.
        mount_options(entry.filesystem, NO_BARRIERS)?;
        self.mount_of(&entry)?;
        let argv = [
            exec::require("mount", "mount")?.display().to_string(),
            "-i".into(),
            "-o".into(),
            format!("remount,{NO_BARRIERS}"),
            entry.mount_point.display().to_string(),
        ];
        let outcome = exec::run_making(&argv, exec::LONG, &lock)?;
        tell(outcome.report("barriers_off"));
        if !outcome.succeeded() {
            return Err(outcome.refusal());
        }
        let options = self.mount_of(&entry)?.options;
        match options.split(',').any(|option| option == NO_BARRIERS) {
            true => Ok(json!({"mount_options": options})),
            false => Err(Refusal::new(
                Kind::System,
                format!("{} sends flushes as before", entry.mount_point.display()),
            )
            .detail(format!("Its mount options are {options}."))),
        }
    }

    /// The mount of a target that is mounted, confined as it has to be.
    fn mount_of(&self, entry: &Entry) -> Result<Mount, Refusal> {
        match mounted(entry)? {
            Some(mount) if undo::is_ours(&mount, entry)? => {
                steps::check_confined(&mount.options, &entry.mount_point)?;
                Ok(mount)
            }
            _ => Err(Refusal::new(
                Kind::NotInThisState,
                format!("nothing is mounted on {}", entry.mount_point.display()),
            )
            .detail("It was unmounted, or another filesystem is mounted there.")
            .hint("Release the target.")),
        }
    }

    /// Lets the disk of the target fail from now on.
    pub fn fault(&self, place: &Place, fault: &Fault) -> Result<Value, Refusal> {
        let _lock = self.journal.lock()?;
        let (entry, recorder) = self.recorded(place, &[State::Ready, State::Cutting])?;
        if entry.state == State::Ready && entry.log_writes().is_some() {
            let message = "dm-log-writes fails no write and no flush";
            return Err(Refusal::new(Kind::NotInThisState, message)
                .detail("It records the target. The disk of a power cut can fail.")
                .hint("Call cut_stop and cut first."));
        }
        recorder.ask::<()>(&Command::Fault(fault.clone()))?;
        Ok(json!({"fault": fault}))
    }

    /// The entry of a target that is recorded, and is in one of these states.
    fn recorded(&self, place: &Place, states: &[State]) -> Result<(Entry, Recorder), Refusal> {
        let no = |detail: &str, hint: &str| {
            let message = format!("target \"{}\" has no record for that", place.target);
            Err(Refusal::new(Kind::NotInThisState, message)
                .detail(detail)
                .hint(hint))
        };
        let Some(entry) = self.journal.read(place, &self.config)? else {
            return no("It is not prepared.", "Prepare it with record first.");
        };
        let Some(recorder) = entry.recorder.clone() else {
            return no(
                "It was prepared without a record.",
                "Release it, and prepare it with record.",
            );
        };
        match states.contains(&entry.state) {
            true => Ok((entry, recorder)),
            false if entry.state == State::Cutting => no(
                "Its recording has ended.",
                "Release it, and prepare it again.",
            ),
            false => no("Its recording goes on.", "Call cut_stop first."),
        }
    }

    /// Attaches the disks of the recorder, and mounts what is on them. Returns the error of mdadm, e2fsck or mount.
    fn mount_cut(
        &self,
        place: &Place,
        entry: &Entry,
        lock: &File,
        tell: Tell,
    ) -> Result<Option<String>, Refusal> {
        let mount = Step::Mount {
            program: exec::require("mount", "mount")?,
            filesystem: entry.filesystem,
            options: mount_options_again(
                &self.config,
                place,
                (entry.filesystem, entry.has_log(), layer::joined_of(entry)),
                entry.mount_options.as_deref(),
            )?,
            mount_point: entry.mount_point.clone(),
            dataset: None,
        };
        let devices = match self.attach_cut(entry, lock, tell)? {
            Ok(devices) => devices,
            Err(why_not) => return Ok(Some(why_not)),
        };
        if let Some(uncorrected) = self.check_cut(entry.filesystem, &devices, lock, tell)? {
            return Ok(Some(uncorrected));
        }
        let outcome = self.run_for_cut(&mount, &devices, lock, tell)?;
        match outcome.exit_code {
            Some(0) => {}
            Some(MOUNT_FAILED) => return Ok(outcome.refusal().detail),
            // It was killed, or lacks something.
            _ => return Err(outcome.refusal()),
        }
        self.mount_of(entry).map(|_| None)
    }

    /// Has e2fsck correct a filesystem without a journal, as a machine does when it boots. Returns what it leaves uncorrected.
    fn check_cut(
        &self,
        filesystem: Filesystem,
        devices: &Devices,
        lock: &File,
        tell: Tell,
    ) -> Result<Option<String>, Refusal> {
        let device = devices.filesystem();
        let is_checked = match filesystem {
            Filesystem::Ext2 => true,
            Filesystem::Ext3 | Filesystem::Ext4 => !has_journal(device)?,
            _ => false,
        };
        if !is_checked {
            return Ok(None);
        }
        let argv = [
            exec::require("e2fsck", "e2fsprogs")?.display().to_string(),
            "-p".into(),
            device.display().to_string(),
        ];
        let outcome = exec::run_making(&argv, exec::LONG, lock)?;
        tell(outcome.report("check_cut"));
        match outcome.exit_code {
            Some(code) if code < FSCK_UNCORRECTED => Ok(None),
            Some(code) if code < FSCK_WRONG_USE => Ok(outcome.refusal().detail),
            // It was killed, or lacks something.
            _ => Err(outcome.refusal()),
        }
    }

    pub(super) fn run_for_cut(
        &self,
        step: &Step,
        devices: &Devices,
        lock: &File,
        tell: Tell,
    ) -> Result<exec::Outcome, Refusal> {
        let argv = step.argv(devices).expect("a step with a program");
        let name = format!("{}_cut", step.name());
        self.hook.before(&name);
        let outcome = exec::run_making(&argv, exec::LONG, lock)?;
        tell(outcome.report(&name));
        self.hook.after(&name);
        Ok(outcome)
    }
}

/// Whether a filesystem of the family of ext2 has a journal, by its superblock.
fn has_journal(device: &Path) -> Result<bool, Refusal> {
    let mut features = [0; 4];
    File::open(device)
        .and_then(|file| file.read_exact_at(&mut features, EXT_FEATURES))
        .map_err(|e| {
            Refusal::new(Kind::System, format!("could not read {}", device.display()))
                .detail(format!("{e}."))
        })?;
    Ok(u32::from_le_bytes(features) & EXT_HAS_JOURNAL != 0)
}

/// Throws away what was written since the cut.
fn ended(recorder: &Recorder, began: Instant) -> Result<CutEnded, Refusal> {
    let (failures, faults) = recorder.ask(&Command::EndCut)?;
    Ok(CutEnded {
        failures,
        faults,
        ms: ms_since(began),
    })
}
