//! Undoes what an entry of the journal names, however far it had come: looks what of it is there, and removes that. Can be
//! killed anywhere, and done again. Nothing that is in use is taken away.

use super::Engine;
use crate::exec;
use crate::journal::{Entry, Layer, State};
use crate::layer::{self, Role, Tell, UndoContext};
use crate::mount_users;
use crate::output::log;
use crate::place::Place;
use crate::probe::{self, loops};
use crate::secure;
use pgfsbench_core::proc::Mount;
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fs::{AtFlags, unlinkat};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// The time for which a filesystem may be busy without a user to be seen: the kernel closes the files of a process that ends when they are in /proc no more.
const PATIENCE: Duration = Duration::from_secs(10);
/// Each try is a step that is told.
const PAUSE: Duration = Duration::from_millis(200);

impl Engine {
    pub(super) fn undo(
        &self,
        place: &Place,
        mut entry: Entry,
        lock: &File,
        tell: Tell,
    ) -> Result<(), Refusal> {
        if self.journal.is_lent(place)? {
            let message = format!("target \"{}\" is being prepared", place.target);
            return Err(Refusal::new(Kind::NotInThisState, message)
                .detail("pgfsbench-helper waits until its array is in sync.")
                .hint("Try again when that is done, or end that helper first."));
        }
        let was = entry.state;
        entry.state = State::Releasing;
        // A helper that was killed after mkfs may not have noted it. Without it, a member with a copy of the superblock is left alone.
        if let Ok(Some(uuid)) = layer::chosen_uuid(&entry) {
            entry.uuid = uuid;
        }
        // The entry that is there names all of it too; a full disk must not keep what would free it.
        if let Err(refusal) = self.journal.write(&entry) {
            log!(Some(&place.database); "{refusal}");
        }
        let mut undoing = self.undoing(lock, tell);
        let unmounted = undoing.unmount(&entry);
        // A ready target that is still mounted stays as it was, with its settings, and no start of the helper removes it.
        if unmounted.is_err() && was == State::Ready && !self.is_stale(&entry)? {
            entry.state = was;
            self.journal.write(&entry)?;
            return unmounted;
        }
        if let Err(refusal) = undoing.undo_storage(&mut entry, unmounted) {
            // The entry stays. Settings that are back are not written again with the next attempt.
            if let Err(further) = self.journal.write(&entry) {
                log!(Some(&place.database); "{further}");
            }
            return Err(refusal);
        }
        self.hook.before("forget");
        self.journal.remove(place)
    }

    pub(super) fn undoing<'a>(&'a self, lock: &'a File, tell: Tell<'a>) -> UndoContext<'a> {
        UndoContext {
            config: &self.config,
            journal: &self.journal,
            hook: &self.hook,
            lock,
            tell,
        }
    }
}

impl UndoContext<'_> {
    /// Everything after the attempt to unmount. A step that fails keeps only those from being taken that need it; the first
    /// failure is the error.
    fn undo_storage(
        &mut self,
        entry: &mut Entry,
        unmounted: Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let removed = match &unmounted {
            Ok(()) => self.remove_mount_point(&entry.mount_point),
            Err(_) => Ok(()),
        };
        let taken_apart = unmounted.and_then(|()| self.take_apart(entry));
        let put_back = self.put_back(entry);
        if put_back.is_ok() {
            entry.settings.clear();
        }
        // An image is in use while it is mounted, or while a pool or an array is on it.
        let freed = match &taken_apart {
            Ok(()) => self
                .end_recorder(entry)
                .and_then(|()| self.free_images(entry)),
            Err(_) => Ok(()),
        };
        taken_apart.and(removed).and(put_back).and(freed)
    }

    /// Tries to undo each layer on the leaves, from the end of the list; the first failure is the error. An array that others
    /// stand on is busy, and stays.
    fn take_apart(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let mut all = Ok(());
        for layer in entry.layers.iter().rev() {
            let undone = match layer {
                Layer::Pool(pool) => self.destroy_pool(entry, pool),
                Layer::Md { uuid, role } => self.stop_array(entry, *role, uuid),
                Layer::Lvm { uuid } => self.remove_volumes(entry, uuid),
                Layer::Leaf { .. } => Ok(()),
            };
            all = all.and(undone);
        }
        all
    }

    /// Tries each image, from the end of the list, after the file of the record; the first failure is the error.
    fn free_images(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let images: Vec<_> = entry.images().collect();
        let mut all = Ok(());
        for (path, _) in images.into_iter().rev() {
            all = all.and(self.free_image(path));
        }
        all
    }

    pub(super) fn unmount(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let umount = exec::require("umount", "mount")?.display().to_string();
        let (began, mut unmounted) = (Instant::now(), 0);
        // One mount may lie on another.
        while unmounted < 16 {
            let mounts = probe::mounts_on(&entry.mount_point)?;
            let Some(mount) = mounts.last() else {
                return Ok(());
            };
            if !is_ours(mount, entry)? {
                let message = format!(
                    "something else is mounted on {}",
                    entry.mount_point.display()
                );
                return Err(Refusal::new(Kind::NotInThisState, message)
                    .detail(format!(
                        "There is {} of {}.",
                        mount.fs_type,
                        quoted(&mount.source)
                    ))
                    .hint("Unmount it by hand."));
            }
            let argv = [umount.clone(), "-i".into(), mount.mount_point.clone()];
            let tried = self.run("unmount", &argv);
            match tried {
                // It may have been killed when it was through.
                Err(refusal) if probe::mounts_on(&entry.mount_point)?.len() == mounts.len() => {
                    let users = mount_users::users(&entry.mount_point);
                    if !users.is_empty() || began.elapsed() > PATIENCE {
                        return Err(busy_instead(refusal, &users, &entry.mount_point));
                    }
                    std::thread::sleep(PAUSE);
                }
                _ => unmounted += 1,
            }
        }
        let message = format!("{} cannot be unmounted", entry.mount_point.display());
        Err(Refusal::new(Kind::System, message))
    }

    fn remove_mount_point(&mut self, path: &Path) -> Result<(), Refusal> {
        let Some((directory, name)) = path.parent().zip(path.file_name()) else {
            return Ok(());
        };
        if !directory.exists() {
            return Ok(());
        }
        let directory = secure::open_directory(directory)?;
        // Removes only an empty directory: files of others stay.
        self.own("remove_mount_point", "remove", path, || {
            unlinkat(&directory, name, AtFlags::REMOVEDIR)
        })
    }
}

pub(super) fn is_ours(mount: &Mount, entry: &Entry) -> Result<bool, Refusal> {
    if let Some(pool) = entry.pool() {
        return Ok(mount.fs_type == "zfs" && mount.source == format!("{}/data", pool.name));
    }
    let is_of = |number| probe::is_of_device(mount, number);
    if entry.log_writes().is_some() {
        // While it is recorded, and then as a cut has left it.
        let recorded = layer::recorded_from(entry)?.map(|recorded| recorded.number);
        let mut disks = Vec::new();
        for disk in entry.disks() {
            disks.extend(loops::of_image(&disk)?);
        }
        let cuts = disks
            .into_iter()
            .filter_map(|disk| probe::device_number(&disk));
        return Ok(recorded.into_iter().chain(cuts).any(is_of));
    }
    if entry.has_array(Role::Filesystem) {
        let array = layer::array(entry, Role::Filesystem)?;
        return Ok(array.is_some_and(|array| is_of(array.number)));
    }
    for member in entry.members(Role::Filesystem) {
        if layer::numbers_of(member, entry)?.into_iter().any(is_of) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn busy_instead(refusal: Refusal, users: &[String], mount_point: &Path) -> Refusal {
    if users.is_empty() {
        return refusal;
    }
    Refusal::new(
        Kind::NotInThisState,
        format!("{} is in use", mount_point.display()),
    )
    .detail(format!("It is used by {}.", users.join(", ")))
    .hint("End them first; the helper ends no processes of others.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::journal::JournalLeaf;
    use crate::place::Place;
    use crate::probe::device::Identity;
    use pgfsbench_core::helper::Filesystem;
    use pgfsbench_core::proc::parse_mountinfo;

    #[test]
    fn the_number_of_a_device_means_nothing_after_a_reboot() {
        let on = JournalLeaf::Device {
            path: "/dev/x".into(),
            identity: Identity {
                major: 255,
                minor: 17,
                bytes: 1,
                sequence: None,
                serial: None,
                wwn: None,
                partition_uuid: None,
            },
        };
        let place = Place::of_key("bench@d").unwrap();
        let mount_point = place.mount_point(&Config::parse("").unwrap());
        let layers = vec![Layer::Leaf {
            part: layer::Part::Member(0),
            on,
        }];
        let mut entry = Entry::new(&place, Filesystem::Ext4, "u", layers, mount_point).unwrap();
        let mount = |number: &str| {
            let text = format!("2 1 {number} / /m rw - ext4 /dev/x rw\n");
            let mounts = parse_mountinfo(&text).unless_odd(|_| true).unwrap();
            mounts.into_iter().next().unwrap()
        };
        assert_eq!(is_ours(&mount("255:17"), &entry), Ok(true));
        assert_eq!(is_ours(&mount("255:18"), &entry), Ok(false));
        entry.boot = "00000000-0000-0000-0000-000000000000".into();
        assert_eq!(is_ours(&mount("255:17"), &entry), Ok(false));
    }
}
