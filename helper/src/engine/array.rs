//! Makes arrays of md and volumes of LVM, and waits until they are in sync.

use super::steps::{ArrayDescription, Work};
use crate::exec;
use crate::journal::{Entry, Layer, PART_OF_LVM};
use crate::layer::{self, Part, Role, Step, Tell, check_device};
use crate::probe;
use crate::probe::arrays::{self, Array, Sync};
use crate::probe::contents::Contents;
use crate::probe::device::{self, Access};
use crate::probe::volumes;
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time in which a sync must come forward.
const PATIENCE: Duration = Duration::from_secs(600);
/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(200);

impl Work<'_> {
    /// Makes the array. Its UUID goes into the journal before.
    pub(super) fn create_array(
        &mut self,
        step: &Step,
        role: Role,
        entry: &mut Entry,
        tell: Tell,
    ) -> Result<(), Refusal> {
        self.look_at_wiped_leaves(&self.plan.parts(role))?;
        entry.layers.push(Layer::Md {
            uuid: self.plan.uuid_of_array(role).to_owned(),
            role,
        });
        self.engine.journal.write(entry)?;
        self.run(step, tell)?;
        self.devices.joined_mut(role).array = Some(self.array_of_leaves(role)?.node);
        Ok(())
    }

    /// Makes a member one of LVM. The UUID of all of them goes into the journal before the first.
    pub(super) fn make_part(
        &mut self,
        step: &Step,
        uuid: &str,
        member: usize,
        entry: &mut Entry,
        tell: Tell,
    ) -> Result<(), Refusal> {
        match member {
            0 => {
                self.look_at_wiped_leaves(&self.plan.parts(Role::Filesystem))?;
                entry.layers.push(Layer::Lvm {
                    uuid: uuid.to_owned(),
                });
                self.engine.journal.write(entry)?;
            }
            _ => drop(self.look_at_wiped(Part::Member(member))?),
        }
        self.run(step, tell).map(|_| ())
    }

    /// Makes the group. vgcreate would take a device that another program has written to since.
    pub(super) fn make_group(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        for member in 0..self.plan.members.len() {
            let uuid = layer::uuid_of_part(&self.plan.array_uuid, member);
            self.look_again(Part::Member(member), Access::Claim, |_, planned, now| {
                check_device(planned.path, false, true, now)?;
                let signatures = now.contents.signatures();
                let is_ours = matches!(signatures, [part] if part.kind == PART_OF_LVM && part.uuid.as_deref() == Some(&*uuid));
                match is_ours {
                    true => Ok(()),
                    false => Err(written_to(planned.path, &now.contents)),
                }
            })?;
        }
        self.run(step, tell).map(|_| ())
    }

    pub(super) fn create_volume(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        self.run(step, tell)?;
        self.devices.members.array = Some(self.array_of_leaves(Role::Filesystem)?.node);
        Ok(())
    }

    /// Facts about the array or volume that are stored with the target.
    pub(super) fn facts_of_array(&self, role: Role) -> Result<ArrayDescription, Refusal> {
        let Some(array) = &self.devices.joined(role).array else {
            return Ok(ArrayDescription::new());
        };
        if !self.makes_volume(role) {
            return Ok(arrays::facts(array));
        }
        let name = layer::name_of_volume(&self.plan.array_uuid);
        let dmsetup = exec::require("dmsetup", "dmsetup")?.display().to_string();
        let told = exec::run(&[dmsetup, "table".into(), name], exec::SHORT)?;
        let table = told.output.trim().to_owned();
        Ok([("table".to_owned(), table.into())].into_iter().collect())
    }

    pub(super) fn makes_volume(&self, role: Role) -> bool {
        let makes_volume = |step: &Step| matches!(step, Step::CreateVolume { .. });
        role == Role::Filesystem && self.plan.steps.iter().any(makes_volume)
    }

    /// The array that has exactly these leaves of the plan.
    fn array_of_leaves(&self, role: Role) -> Result<Array, Refusal> {
        let leaves = &self.devices.joined(role).leaves;
        let numbers = leaves.iter();
        let ours: Vec<_> = numbers
            .filter_map(|path| probe::device_number(path))
            .collect();
        let array = match ours.first() {
            Some(_) if self.makes_volume(role) => layer::volume_over(&self.plan.array_uuid, &ours)?,
            Some(first) => arrays::over(*first)?,
            None => None,
        };
        let has_all = |array: &Array| {
            array.members.len() == ours.len() && ours.iter().all(|n| array.members.contains(n))
        };
        array.filter(has_all).ok_or_else(|| {
            Refusal::new(Kind::System, "the array does not have the target's devices")
                .detail(format!("Its members are {leaves:?}."))
                .hint("The kernel's log (dmesg) may say why.")
        })
    }

    /// Checks that the array is the one that was made, and has no user.
    pub(super) fn check_array(&self, role: Role) -> Result<(), Refusal> {
        let Some(node) = &self.devices.joined(role).array else {
            return Ok(());
        };
        let array = self.array_of_leaves(role)?;
        let user = match array.node == *node {
            true => {
                device::open(&node.display().to_string(), Access::Claim)?
                    .facts()?
                    .in_use
            }
            false => Some(format!("It is {} now.", array.node.display())),
        };
        match user {
            None => Ok(()),
            Some(user) => Err(Refusal::new(
                Kind::NotInThisState,
                format!("array {} is in use", node.display()),
            )
            .detail(user)
            .hint("Find out which program uses it, and try again.")),
        }
    }

    pub(super) fn wipe_array(
        &mut self,
        step: &Step,
        role: Role,
        tell: Tell,
    ) -> Result<(), Refusal> {
        self.check_array(role)?;
        self.run(step, tell).map(|_| ())
    }

    /// Waits until the array is in sync, and tells each tenth. Then has the kernel check it, if that is asked for. Other jobs may work meanwhile.
    pub(super) fn await_sync(
        &self,
        step: &Step,
        role: Role,
        (volume, checks): (Option<&(PathBuf, String)>, bool),
        tell: Tell,
    ) -> Result<(), Refusal> {
        let Some(node) = &self.devices.joined(role).array else {
            return Ok(());
        };
        let dmsetup = |words: &[&str]| -> Result<String, Refusal> {
            let program = volume.map(|(program, _)| program.display().to_string());
            let words = words.iter().map(|&word| word.to_owned());
            let argv: Vec<String> = program.into_iter().chain(words).collect();
            let outcome = exec::run(&argv, exec::SHORT)?;
            match outcome.succeeded() {
                true => Ok(outcome.output.trim().to_owned()),
                false => Err(outcome.refusal()),
            }
        };
        let name = volume.map(|(_, name)| name.as_str());
        let state = || match name {
            None => arrays::sync(node),
            Some(name) => volumes::sync(&dmsetup(&["status", name])?),
        };
        let journal = &self.engine.journal;
        journal.lend_lock(self.lock, &self.key(), || {
            self.await_state(step, (node, "in sync"), &state, tell)?;
            if !checks {
                return Ok(());
            }
            match name {
                None => arrays::begin_check(node)?,
                Some(name) => drop(dmsetup(&["message", name, "0", "check"])?),
            }
            self.await_state(step, (node, "checked"), &state, tell)?;
            let mismatches = match name {
                None => arrays::mismatches(node)?,
                Some(name) => volumes::mismatches(&dmsetup(&["status", name])?)?,
            };
            match mismatches {
                0 => Ok(()),
                sectors => {
                    let message = format!("copies or parity of array {} differ", node.display());
                    Err(Refusal::new(Kind::System, message)
                        .detail(format!("A check found {sectors} sectors that differ."))
                        .hint(
                            "Test the disks: one of them may return other data than it was given.",
                        ))
                }
            }
        })?
    }

    fn await_state(
        &self,
        step: &Step,
        (node, done): (&Path, &str),
        state: &dyn Fn() -> Result<Sync, Refusal>,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let began = Instant::now();
        let (mut last, mut moved, mut told) = (None, Instant::now(), 0);
        loop {
            let state = state()?;
            let report = |output: String| Report {
                step: step.name().into(),
                argv: vec![step.words()],
                ms: began.elapsed().as_secs_f64() * 1000.0,
                exit_code: None,
                output,
            };
            match state {
                Sync::Done => {
                    tell(report(done.into()));
                    return Ok(());
                }
                Sync::Running(Some((now, all))) if now * 10 >= (told + 1) * all && all > 0 => {
                    told = now * 10 / all;
                    tell(report(format!("{} % {done}", told * 10)));
                }
                _ => {}
            }
            if last != Some(state) {
                (last, moved) = (Some(state), Instant::now());
            }
            let why = match (exec::is_stopping(), moved.elapsed() > PATIENCE, state) {
                (true, ..) => Some("pgfsbench-helper is being stopped.".to_owned()),
                (_, true, Sync::Degraded(missing)) => {
                    Some(format!("It lacks {missing} of its devices."))
                }
                (_, true, _) => Some(format!(
                    "Its sync has not come forward for {} s.",
                    PATIENCE.as_secs()
                )),
                _ => None,
            };
            if let Some(why) = why {
                let message = format!("array {} is not {done}", node.display());
                return Err(Refusal::new(Kind::System, message)
                    .detail(why)
                    .hint("The kernel's log (dmesg) may say more."));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// The refusal of a device that another program has written to since it was wiped.
pub(super) fn written_to(path: &str, contents: &Contents) -> Refusal {
    Refusal::new(
        Kind::NotInThisState,
        format!("another program writes to device {path}"),
    )
    .detail(format!("After it was wiped it holds {contents}."))
    .hint("Find out who does, and try again.")
}
