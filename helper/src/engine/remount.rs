//! Unmounts a target's filesystem and mounts it again as it was, with nothing of it left in the page cache. Device and options come
//! from the journal: the request names only the target.

use super::{Engine, steps, undo};
use crate::exec;
use crate::journal::{Entry, JournalLeaf, State};
use crate::layer::{self, Devices, Part, Role, Step, Tell};
use crate::place::Place;
use crate::plan::mount_options_again;
use crate::probe::device::{self, Access, Opened};
use crate::probe::{self, loops};
use pgfsbench_core::proc::Mount;
use pgfsbench_core::refusal::{Kind, Refusal};
use serde_json::{Value, json};
use std::fs::File;
use std::time::Instant;

impl Engine {
    /// Unmounts a target and mounts it again. No program may use the target meanwhile. If this is killed, or the mount fails, the target is no
    /// longer prepared: its release, or a cleanup, removes what is left.
    pub fn remount(&self, place: &Place, tell: Tell) -> Result<Value, Refusal> {
        let lock = self.journal.lock()?;
        let not_prepared = || {
            Refusal::new(
                Kind::NotInThisState,
                format!("target \"{}\" is not prepared", place.target),
            )
            .detail("Only what is mounted can be mounted again.")
            .hint("Prepare it first.")
        };
        let mut entry = self
            .journal
            .read(place, &self.config)?
            .ok_or_else(not_prepared)?;
        if !matches!(entry.state, State::Ready) || self.is_stale(&entry)? {
            return Err(not_prepared());
        }
        let options = mount_options_again(
            &self.config,
            place,
            (entry.filesystem, entry.has_log(), layer::joined_of(&entry)),
            entry.mount_options.as_deref(),
        )?;
        let step = Step::Mount {
            program: exec::require("mount", "mount")?,
            filesystem: entry.filesystem,
            options,
            mount_point: entry.mount_point.clone(),
            dataset: entry.pool().map(|_| place.dataset()),
        };
        let before = mounted(&entry)?.ok_or_else(not_prepared)?;
        // Held from before it is unmounted: so their numbers become no other devices'.
        let (devices, mut held) = hold(&entry)?;
        entry.state = State::Remounting;
        self.journal.write(&entry)?;
        let began = Instant::now();
        let mut undoing = self.undoing(&lock, tell);
        if let Err(refusal) = undoing.unmount(&entry) {
            // The target is still mounted, and ready.
            if !self.is_stale(&entry)? {
                entry.state = State::Ready;
                self.journal.write(&entry)?;
            }
            return Err(refusal);
        }
        let unmount_ms = ms_since(began);
        look_again(&entry, &mut held)?;
        let mount_ms = self.mount_again(&step, &devices, &lock, undoing.tell)?;
        drop(held);
        let mount_options = check_mounted_again(&entry, &before.options)?;
        entry.state = State::Ready;
        self.journal.write(&entry)?;
        self.hook.before("mounted_again");
        Ok(json!({
            "mount_point": entry.mount_point,
            "mount_options": mount_options,
            "unmount_ms": unmount_ms,
            "mount_ms": mount_ms,
        }))
    }

    /// Mounts it again. Returns the milliseconds.
    fn mount_again(
        &self,
        step: &Step,
        devices: &Devices,
        lock: &File,
        tell: Tell,
    ) -> Result<f64, Refusal> {
        let argv = step.argv(devices).expect("a step with a program");
        self.hook.before("mount_again");
        let outcome = exec::run_making(&argv, exec::LONG, lock)?;
        tell(outcome.report("mount"));
        self.hook.after("mount_again");
        match outcome.succeeded() {
            true => Ok(outcome.ms),
            false => Err(outcome
                .refusal()
                .hint("The kernel's log (dmesg) may say why it cannot be mounted again.")),
        }
    }
}

pub(super) fn ms_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}

pub(super) fn mounted(entry: &Entry) -> Result<Option<Mount>, Refusal> {
    Ok(probe::mounts_on(&entry.mount_point)?.pop())
}

/// The devices that it is mounted from. A pool holds its own.
fn hold(entry: &Entry) -> Result<(Devices, Vec<(Part, Opened)>), Refusal> {
    let (mut devices, mut held) = (Devices::default(), Vec::new());
    if entry.pool().is_some() {
        return Ok((devices, held));
    }
    devices.members.recorded = layer::recorded_from(entry)?.map(|recorded| recorded.node);
    if entry.log_writes().is_some() && devices.members.recorded.is_none() {
        let message = "dm-log-writes of the target is not there";
        return Err(Refusal::new(Kind::NotInThisState, message)
            .detail("It was removed. Its device is not mounted without it.")
            .hint("Release the target."));
    }
    for role in [Role::Filesystem, Role::Log] {
        if !entry.has_array(role) {
            continue;
        }
        devices.joined_mut(role).array = Some(layer::array_of(entry, role)?.node);
    }
    for (part, kept) in entry.leaves() {
        let opened = match kept {
            JournalLeaf::Image { path, .. } => {
                match loops::of_file(&entry.attached(path))?.as_slice() {
                    [device] => device::open(&device.display().to_string(), Access::Glance)?,
                    others => {
                        return Err(Refusal::new(
                            Kind::NotInThisState,
                            format!(
                                "image {} is attached to no loop device, or to several",
                                path.display()
                            ),
                        )
                        .detail(format!("There are {} of them.", others.len()))
                        .hint("Release the target."));
                    }
                }
            }
            JournalLeaf::Device { path, identity } => {
                let opened = device::open(path, Access::Glance)?;
                match opened.identity()? == *identity {
                    true => opened,
                    false => return Err(exchanged(path)),
                }
            }
        };
        devices.set(part, opened.node.clone());
        held.push((part, opened));
    }
    Ok((devices, held))
}

/// Checks that the target is mounted again, with the options that it had. Returns these.
fn check_mounted_again(entry: &Entry, before: &str) -> Result<String, Refusal> {
    let after = match mounted(entry)? {
        Some(mount) if undo::is_ours(&mount, entry)? => mount,
        _ => {
            return Err(Refusal::new(
                Kind::System,
                format!("{} is not mounted again", entry.mount_point.display()),
            )
            .detail("Nothing of the target's is mounted there, though mount succeeded."));
        }
    };
    steps::check_confined(&after.options, &entry.mount_point)?;
    if after.options == before {
        return Ok(after.options);
    }
    Err(Refusal::new(
        Kind::System,
        format!(
            "{} is not mounted as it was before",
            entry.mount_point.display()
        ),
    )
    .detail(format!(
        "Its mount options were {before}, and are {}.",
        after.options
    ))
    .hint("The kernel's log (dmesg) may say why."))
}

/// An exchanged disk, and a disk that another program uses meanwhile, are left alone.
fn look_again(entry: &Entry, held: &mut [(Part, Opened)]) -> Result<(), Refusal> {
    // An array, and dm-log-writes, hold their members, and no other program can claim them.
    let is_held = entry.log_writes().is_some();
    let leaves = entry.leaves();
    let free = leaves.filter(|(part, _)| !entry.has_array(part.role()) && !is_held);
    for (part, kept) in free {
        let JournalLeaf::Device { path, identity } = kept else {
            continue;
        };
        let Some((_, opened)) = held.iter_mut().find(|(other, _)| *other == part) else {
            continue;
        };
        let claimed = device::open(path, Access::Claim)?;
        let now = claimed.facts()?;
        if let Some(user) = now.in_use {
            return Err(
                Refusal::new(Kind::NotInThisState, format!("device {path} is in use"))
                    .detail(user)
                    .hint("It is not mounted again. Release the target."),
            );
        }
        if now.identity != *identity {
            return Err(exchanged(path));
        }
        *opened = claimed.without_claim()?;
        if !opened.is_still(identity)? {
            return Err(exchanged(path));
        }
    }
    Ok(())
}

fn exchanged(path: &str) -> Refusal {
    Refusal::new(
        Kind::NotInThisState,
        format!("device {path} is not the one that the target was made on"),
    )
    .detail("It was exchanged, or its path leads elsewhere by now.")
    .hint("Look at what is there; release the target.")
}
