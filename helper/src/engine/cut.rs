//! Power cuts of a target that is recorded: the recording is ended, and the target is mounted as each cut would have left it. While cuts are made the journal
//! does not change: whatever is mounted or attached then is found again and undone.

use super::remount::{mounted, ms_since};
use super::{Engine, steps, undo};
use crate::exec;
use crate::journal::{Entry, State};
use crate::layer::{Devices, Part, Step, Tell};
use crate::place::Place;
use crate::plan::mount_options_again;
use crate::probe::loops;
use crate::recorder::{Command, Recorder, now_ns};
use pgfsbench_core::helper::record::{Cut, CutEnded, CutMounted, CutStop, Fault, Recorded};
use pgfsbench_core::refusal::{Kind, Refusal};
use serde_json::{Value, json};
use std::fs::File;
use std::time::Instant;

/// The exit code of mount(8) for a filesystem that was not mounted. Other codes speak of the program or the machine.
const MOUNT_FAILED: i32 = 32;

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
        let before = entry.state;
        entry.state = State::Cutting;
        self.journal.write(&entry)?;
        if let Err(refusal) = self.unmount_cut(&entry, &recorder, &lock, tell) {
            // It is still mounted, and recorded.
            entry.state = before;
            self.journal.write(&entry)?;
            return Err(refusal);
        }
        let stop = requested.clone();
        let recorded: Recorded = recorder.ask(&Command::Stop { stop, ns })?;
        Ok(json!(recorded))
    }

    /// Mounts the target as this cut has left it. A filesystem that cannot be mounted is a result.
    pub fn cut(&self, place: &Place, cut: &Cut, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let (entry, recorder) = self.recorded(place, &[State::Cutting])?;
        self.unmount_cut(&entry, &recorder, &lock, tell)?;
        let began = Instant::now();
        let made = recorder.ask(&Command::Cut(cut.clone()))?;
        let mount_failed = self.mount_cut(place, &entry, &recorder, &lock, tell)?;
        if mount_failed.is_some() {
            self.unmount_cut(&entry, &recorder, &lock, tell)?;
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

    /// Unmounts the target, and throws away what was written since it was mounted.
    pub fn cut_end(&self, place: &Place, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let (entry, recorder) = self.recorded(place, &[State::Cutting])?;
        let began = Instant::now();
        self.unmount_cut(&entry, &recorder, &lock, tell)?;
        Ok(json!(ended(&recorder, began)?))
    }

    /// Lets the disk of the target fail from now on.
    pub fn fault(&self, place: &Place, fault: &Fault) -> Result<Value, Refusal> {
        let _lock = self.journal.lock()?;
        let (_, recorder) = self.recorded(place, &[State::Ready])?;
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

    fn unmount_cut(
        &self,
        entry: &Entry,
        recorder: &Recorder,
        lock: &File,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let mut undoing = self.undoing(lock, tell);
        undoing.unmount(entry)?;
        undoing.detach(&recorder.disk())
    }

    /// Attaches the disk of the recorder, and mounts it. Returns what mount says against it.
    fn mount_cut(
        &self,
        place: &Place,
        entry: &Entry,
        recorder: &Recorder,
        lock: &File,
        tell: Tell,
    ) -> Result<Option<String>, Refusal> {
        let disk = recorder.disk();
        let attach = Step::Attach {
            program: exec::require("losetup", "mount")?,
            image: disk.clone(),
            part: Part::Member(0),
            partitions: false,
        };
        let mount = Step::Mount {
            program: exec::require("mount", "mount")?,
            filesystem: entry.filesystem,
            options: mount_options_again(
                &self.config,
                place,
                (entry.filesystem, false, 1),
                entry.mount_options.as_deref(),
            )?,
            mount_point: entry.mount_point.clone(),
            dataset: None,
        };
        let mut devices = Devices::default();
        let attached = self.run_for_cut(&attach, &devices, lock, tell)?;
        match loops::of_file(&disk)?.as_slice() {
            [device] if attached.succeeded() => devices.set(Part::Member(0), device.clone()),
            _ => return Err(attached.refusal()),
        }
        loops::have_flushed(devices.filesystem())?;
        let outcome = self.run_for_cut(&mount, &devices, lock, tell)?;
        match outcome.exit_code {
            Some(0) => {}
            Some(MOUNT_FAILED) => return Ok(outcome.refusal().detail),
            // It was killed, or lacks something.
            _ => return Err(outcome.refusal()),
        }
        match mounted(entry)? {
            Some(mount) if undo::is_ours(&mount, entry)? => {
                steps::check_confined(&mount.options, &entry.mount_point)?;
                Ok(None)
            }
            _ => Err(Refusal::new(
                Kind::System,
                format!("the cut is not mounted on {}", entry.mount_point.display()),
            )
            .detail("Nothing of the target's is mounted there, though mount succeeded.")),
        }
    }

    fn run_for_cut(
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

/// Throws away what was written since the cut.
fn ended(recorder: &Recorder, began: Instant) -> Result<CutEnded, Refusal> {
    let failures = recorder.ask(&Command::EndCut)?;
    Ok(CutEnded {
        failures,
        ms: ms_since(began),
    })
}
