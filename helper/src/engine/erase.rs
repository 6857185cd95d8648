//! The steps that erase a device. It is looked at again right before each of them, while it is claimed, by the descriptor that
//! claims it; then it is held open without a claim, since wipefs, mkfs and mount claim it themselves, and by that descriptor
//! it is compared once more.

use super::array::written_to;
use super::facts;
use super::steps::Work;
use crate::exec::Outcome;
use crate::journal::{
    Entry, Erasing, JOURNAL_OF_EXT, LOG_OF_XFS, PART_OF_LVM, PART_OF_MD, PART_OF_ZFS, claim_of_log,
    claim_of_member,
};
use crate::layer::{self, Part, PlannedLeaf, Role, Step, Tell, check_device, check_identity};
use crate::plan::Plan;
use crate::probe;
use crate::probe::contents::{self, Contents};
use crate::probe::device::{self, Access, DeviceFacts};
use crate::probe::queue::Queue;
use pgfsbench_core::helper::geometry::geometry;
use pgfsbench_core::helper::{Filesystem, Marks};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which mkfs is tried again, and the pause before each try.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(200);

/// True if mkfs.btrfs gave up since a loop device of another filesystem was detached after it read the list of mounts: it asks each of
/// them for its file. It has written nothing by then.
fn misses_another_device(outcome: &Outcome) -> bool {
    let says_so = |line: &str| {
        line.contains("cannot check mount status") && line.ends_with(": No such device or address")
    };
    !outcome.succeeded() && outcome.output.lines().any(says_so)
}

/// A device as it was planned with.
pub(super) struct PlannedDevice<'a> {
    pub path: &'a str,
    requested: &'a Marks,
    facts: &'a DeviceFacts,
}

impl Work<'_> {
    fn planned(&self, part: Part) -> Option<PlannedDevice<'_>> {
        let on = match part {
            Part::Member(n) => self.plan.members.get(n),
            Part::Log(n) => self.plan.logs.get(n),
        };
        match on? {
            PlannedLeaf::Device {
                path,
                requested,
                facts,
            } => Some(PlannedDevice {
                path,
                requested,
                facts,
            }),
            PlannedLeaf::Image { .. } => None,
        }
    }

    /// The path may lead to another device by now, or another program may use the device or have written to it.
    pub(super) fn check_device(&mut self, part: Part) -> Result<(), Refusal> {
        self.look_again(part, Access::Claim, |work, planned, now| {
            let config = work.engine.config();
            let allowed = config.device(planned.path).ok_or_else(|| {
                Refusal::new(Kind::Internal, "the device is not in the configuration")
            })?;
            check_identity(allowed, planned.requested, &now.identity.marks())?;
            let is_ours = work.engine.journal.is_ours(&now.contents, &now.identity)?;
            check_device(planned.path, allowed.wipe, is_ours, now)
        })
        .map(|_| ())
    }

    /// Looks at the device while it is claimed, or at a glance, and holds it from then on. None if it is made on no device.
    pub(super) fn look_again(
        &mut self,
        part: Part,
        access: Access,
        judge: impl FnOnce(&Self, &PlannedDevice, &DeviceFacts) -> Result<(), Refusal>,
    ) -> Result<Option<DeviceFacts>, Refusal> {
        let Some(planned) = self.planned(part) else {
            return Ok(None);
        };
        let claimed = device::open(planned.path, access)?;
        let now = claimed.facts()?;
        let was = planned.facts;
        let exchanged = |number: (u32, u32)| {
            Refusal::new(
                Kind::NotInThisState,
                format!(
                    "device {} is not the one that was looked at before",
                    planned.path
                ),
            )
            .detail(format!(
                "It was {} ({:?}), and is {} ({}:{}, {:?}).",
                was.node.display(),
                was.identity,
                now.node.display(),
                number.0,
                number.1,
                now.identity
            ))
            .hint("Try again when no other program changes devices.")
        };
        if (&now.node, &now.identity) != (&was.node, &was.identity) {
            return Err(exchanged(claimed.number));
        }
        facts::check_alone(self.engine.config(), planned.path, claimed.number)?;
        judge(self, &planned, &now)?;
        let held = claimed.without_claim()?;
        if !held.is_still(&was.identity)? {
            return Err(exchanged(held.number));
        }
        self.held.retain(|(other, _)| *other != part);
        self.held.push((part, held));
        Ok(Some(now))
    }

    /// Removes every signature. From before that until the new filesystem is known, the journal says that this device is
    /// being erased: so what a kill leaves on it is known as ours.
    pub(super) fn wipe(&mut self, step: &Step, part: Part, tell: Tell) -> Result<(), Refusal> {
        self.check_device(part)?;
        let Some(planned) = self.planned(part) else {
            return Ok(());
        };
        let role = part.role();
        let (kind, uuid) = match (part, self.plan.filesystem) {
            _ if self.plan.makes_array(role) => {
                (Some(PART_OF_MD), self.plan.uuid_of_array(role).to_owned())
            }
            (_, Filesystem::Zfs) => (Some(PART_OF_ZFS), self.plan.uuid.clone()),
            (Part::Log(_), _) => (Some(self.kind_of_log()), self.plan.log_uuid.clone()),
            (Part::Member(member), _) if self.makes_volume(role) => {
                let uuid = layer::uuid_of_part(&self.plan.array_uuid, member);
                (Some(PART_OF_LVM), uuid)
            }
            (Part::Member(_), _) => (None, self.plan.uuid.clone()),
        };
        let erasing = Erasing {
            identity: planned.facts.identity.clone(),
            boot: probe::boot_id()?,
            filesystem: self.plan.filesystem,
            kind: kind.map(str::to_owned),
            uuid,
            held: planned.facts.contents.signatures().to_vec(),
        };
        let journal = &self.engine.journal;
        journal.begin_erasing(&self.key(), &erasing)?;
        self.engine.hook.before("erase");
        self.run(step, tell).map(|_| ())
    }

    pub(super) fn key(&self) -> String {
        let name = self.plan.mount_point.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The name by which blkid knows a log on its device.
    fn kind_of_log(&self) -> &'static str {
        match self.plan.filesystem {
            Filesystem::Xfs => LOG_OF_XFS,
            _ => JOURNAL_OF_EXT,
        }
    }

    /// By what the log is remembered.
    fn claim_of_log(&self) -> String {
        claim_of_log(self.kind_of_log(), &self.plan.log_uuid)
    }

    /// A wiped device may be written to if it is still the same one and has no signature.
    pub(super) fn look_at_wiped(&mut self, part: Part) -> Result<Option<DeviceFacts>, Refusal> {
        self.look_at_wiped_by(part, Access::Claim)
    }

    fn look_at_wiped_by(
        &mut self,
        part: Part,
        access: Access,
    ) -> Result<Option<DeviceFacts>, Refusal> {
        self.look_again(part, access, |_, planned, now| {
            check_device(planned.path, false, true, now)?;
            match &now.contents {
                Contents::Empty | Contents::Unknown(_) => Ok(()),
                contents => Err(written_to(planned.path, contents)),
            }
        })
    }

    /// A journal of ext3 or ext4 is a device of its own, with a UUID of its own.
    pub(super) fn make_journal(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        let now = self.look_at_log()?;
        self.run(step, tell)?;
        self.claim_log(now)
    }

    /// Looks at the array of the log, or at its one wiped device. None where that is an array or an image.
    fn look_at_log(&mut self) -> Result<Option<DeviceFacts>, Refusal> {
        match self.devices.log.array {
            Some(_) => self.check_array(Role::Log).map(|()| None),
            None => self.look_at_wiped(Part::Log(0)),
        }
    }

    /// The wiped leaves that are devices, each with its number among these.
    pub(super) fn look_at_wiped_leaves(
        &mut self,
        parts: &[Part],
    ) -> Result<Vec<(usize, DeviceFacts)>, Refusal> {
        let mut devices = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            let device = self.look_at_wiped(*part)?;
            devices.extend(device.map(|device| (n, device)));
        }
        // A claim may have to wait for other processes: what was checked first is checked once more, without a wait.
        if let [earlier @ .., _] = &devices[..] {
            for (n, _) in earlier {
                self.look_at_wiped_by(parts[*n], Access::Glance)?;
            }
        }
        Ok(devices)
    }

    /// Remembers that the filesystem on these members is the helper's.
    pub(super) fn claim_filesystem(
        &self,
        uuid: &str,
        devices: &[(usize, DeviceFacts)],
    ) -> Result<(), Refusal> {
        let journal = &self.engine.journal;
        for (member, DeviceFacts { identity, .. }) in devices {
            let claim = claim_of_member(uuid, *member);
            journal.claim(&claim, &self.key(), identity)?;
            journal.forget_older(&[claim, self.claim_of_log()], identity)?;
            journal.end_erasing(identity)?;
        }
        Ok(())
    }

    fn claim_log(&self, device: Option<DeviceFacts>) -> Result<(), Refusal> {
        let Some(DeviceFacts { identity, .. }) = device else {
            return Ok(());
        };
        let (claim, journal) = (self.claim_of_log(), &self.engine.journal);
        journal.claim(&claim, &self.key(), &identity)?;
        journal.forget_older(&[self.plan.uuid.clone(), claim], &identity)?;
        journal.end_erasing(&identity)
    }

    /// Tries mkfs once more, without the target's options. True if it succeeds; None if the target has no options, or the devices may
    /// not be written to once more.
    fn tries_plain_mkfs(&mut self, step: &Step, tell: Tell) -> Option<bool> {
        let (Some(plain), Step::Mkfs { program, .. }) = (&self.plan.plain_mkfs, step) else {
            return None;
        };
        let plain = Step::Mkfs {
            program: program.clone(),
            options: plain.clone(),
        };
        // Others may have begun to use the devices since the first try.
        self.look_at_targets_of_mkfs().ok()?;
        let argv = plain.argv(&self.devices)?;
        Some(self.run_argv(step, &argv, tell).ok()?.succeeded())
    }

    /// Looks at the devices that mkfs writes to: the array or the members, and for xfs the log's.
    #[allow(clippy::type_complexity)]
    fn look_at_targets_of_mkfs(
        &mut self,
    ) -> Result<(Vec<(usize, DeviceFacts)>, Option<DeviceFacts>), Refusal> {
        let log = match self.plan.filesystem {
            Filesystem::Xfs => self.look_at_log()?,
            _ => None,
        };
        let members = match (
            self.members_below_log_writes()?,
            &self.devices.members.array,
        ) {
            (Some(members), _) => members,
            (None, Some(_)) => self.check_array(Role::Filesystem).map(|()| Vec::new())?,
            (None, None) => self.look_at_wiped_leaves(&self.plan.parts(Role::Filesystem))?,
        };
        Ok((members, log))
    }

    /// Learns the sizes of sectors. Those of an image's loop device are known only now.
    fn look_at_sectors(&mut self) {
        let sector = |device: &std::path::Path| {
            let limits = Queue::of_device(device).and_then(|queue| queue.limits());
            limits
                .and_then(|limits| limits.logical_block_size)
                .unwrap_or_default()
        };
        self.devices.members.sector = sector(self.devices.filesystem());
        if !self.plan.logs.is_empty() {
            self.devices.log.sector = sector(self.devices.log.device());
        }
    }

    /// Runs mkfs, and claims the new filesystem by its UUID, which some mkfs choose themselves. On an array, that UUID goes into the journal.
    pub(super) fn mkfs(
        &mut self,
        step: &Step,
        entry: &mut Entry,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let (mut members, mut log) = self.look_at_targets_of_mkfs()?;
        self.look_at_sectors();
        let argv = step.argv(&self.devices).expect("a step with a program");
        let started = Instant::now();
        let outcome = loop {
            let outcome = self.run_argv(step, &argv, tell)?;
            if !misses_another_device(&outcome) || started.elapsed() > PATIENCE {
                break outcome;
            }
            thread::sleep(PAUSE);
            (members, log) = self.look_at_targets_of_mkfs()?;
        };
        if !outcome.succeeded() {
            let without_options = self.tries_plain_mkfs(step, tell);
            let hint = hint_of_mkfs(self.plan, without_options);
            return Err(outcome.refusal().hint(hint));
        }
        self.geometry = geometry(self.plan.filesystem, &outcome.output);
        if let Some(chosen) = layer::chosen_uuid(entry)? {
            entry.uuid = chosen;
            self.engine.journal.write(entry)?;
        }
        if !members.is_empty() {
            let chosen = match self.plan.filesystem.takes_uuid() {
                true => None,
                false => contents::blkid(self.devices.filesystem())?.1.remove("UUID"),
            };
            let uuid = chosen.as_deref().unwrap_or(&self.plan.uuid);
            self.claim_filesystem(uuid, &members)?;
        }
        self.claim_log(log)
    }
}

/// The arguments of the target that mkfs may have failed for. They are its options alone if mkfs succeeds without them.
fn hint_of_mkfs(plan: &Plan, without_options: Option<bool>) -> String {
    let of = |on: &PlannedLeaf, size: &'static str, device: &'static str| match on {
        PlannedLeaf::Image { .. } => size,
        PlannedLeaf::Device { .. } => device,
    };
    let mut places: Vec<&str> = match &plan.members[..] {
        [one] => vec![of(one, "image_size", "device")],
        several => several
            .first()
            .map(|one| of(one, "image_size", "devices"))
            .into_iter()
            .chain(["layout"])
            .collect(),
    };
    places.extend(plan.argument_of_log());
    hint_of_arguments(plan.plain_mkfs.is_some(), without_options, &places)
}

fn hint_of_arguments(has_options: bool, without_options: Option<bool>, places: &[&str]) -> String {
    if without_options == Some(true) {
        return "Change the target's mkfs_options: without them it can be made.".into();
    }
    let may_be_options = has_options && without_options.is_none();
    let mut arguments = places.to_vec();
    arguments.extend(may_be_options.then_some("mkfs_options"));
    format!("Change the target's {}.", arguments.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mkfs_is_tried_again_only_where_another_device_is_missing() {
        const GONE: &str = "ERROR: cannot check mount status of /dev/loop4: No such device or address\nbtrfs-progs v6.2\n";
        for (exit_code, output, expected) in [
            (Some(1), GONE, true),
            // Other versions may only warn.
            (Some(0), GONE, false),
            (
                Some(1),
                "ERROR: cannot check mount status of /dev/loop4: Permission denied\n",
                false,
            ),
            (Some(1), "ERROR: /dev/loop4 is mounted\n", false),
        ] {
            let outcome = Outcome {
                argv: vec!["/usr/sbin/mkfs.btrfs".into()],
                ms: 1.0,
                exit_code,
                output: output.into(),
                killed: None,
            };
            assert_eq!(misses_another_device(&outcome), expected, "{output}");
        }
    }

    #[test]
    fn the_hint_of_a_failed_mkfs_names_what_may_be_at_fault() {
        for (has_options, without_options, places, hint) in [
            (
                true,
                Some(true),
                &["device"][..],
                "mkfs_options: without them it can be made",
            ),
            (true, Some(false), &["device"], "device"),
            // The second try was not possible, or failed for a reason of its own.
            (true, None, &["image_size"], "image_size or mkfs_options"),
            (
                false,
                None,
                &["device", "log_device"],
                "device or log_device",
            ),
        ] {
            assert_eq!(
                hint_of_arguments(has_options, without_options, places),
                format!("Change the target's {hint}.")
            );
        }
    }
}
