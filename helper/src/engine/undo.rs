//! Undoes what an entry of the journal names, however far it had come: looks what of it is there, and removes that. Can be
//! killed anywhere, and done again. Nothing that is in use is taken away.

use super::{Engine, Tell};
use crate::exec;
use crate::journal::{Entry, Kept, State};
use crate::mount_users;
use crate::output::log;
use crate::place::Place;
use crate::probe::{self, loops};
use crate::secure::{self, failed};
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::proc::Mount;
use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fs::{AtFlags, CWD, FileType, fsync, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

impl Engine {
    pub(super) fn undo(
        &self,
        place: &Place,
        mut entry: Entry,
        lock: &File,
        tell: Tell,
    ) -> Result<(), Refusal> {
        let was = entry.state;
        entry.state = State::Releasing;
        // The entry that is there names all of it too; a full disk must not keep what would free it.
        if let Err(refusal) = self.journal.write(&entry) {
            log!(Some(&place.database); "{refusal}");
        }
        let mut undoing = Undoing {
            engine: self,
            lock,
            tell,
        };
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
}

pub(super) struct Undoing<'a> {
    pub(super) engine: &'a Engine,
    pub(super) lock: &'a File,
    pub(super) tell: Tell<'a>,
}

impl Undoing<'_> {
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
        let destroyed = unmounted.and_then(|()| self.destroy_pool(entry));
        let put_back = self.put_back(entry);
        if put_back.is_ok() {
            entry.settings.clear();
        }
        // An image is in use while it is mounted, or while a pool is on it.
        let freed = match &destroyed {
            Ok(()) => self
                .end_recorder(entry)
                .and_then(|()| self.free_images(entry)),
            Err(_) => Ok(()),
        };
        destroyed.and(removed).and(put_back).and(freed)
    }

    /// The recorder ends when its filesystem is unmounted, which nobody may use by then.
    fn end_recorder(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let Some(recorder) = &entry.recorder else {
            return Ok(());
        };
        self.detach(&recorder.disk())?;
        let path = &recorder.mount_point;
        self.own("unmount_recorder", "unmount", path, || recorder.unmount())?;
        recorder.wait_for_end()?;
        self.own("remove_recorder", "remove", path, || {
            unlinkat(CWD, path, AtFlags::REMOVEDIR)
        })
    }

    /// Tries each image; the first failure is the error.
    fn free_images(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let mut all = Ok(());
        for (path, _) in entry.images() {
            let one = self.free_image(path);
            all = all.and(one);
        }
        all
    }

    fn free_image(&mut self, path: &Path) -> Result<(), Refusal> {
        self.detach(path)?;
        self.engine.check_images(path)?;
        self.remove_image(path)
    }

    pub(super) fn unmount(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let umount = exec::require("umount", "mount")?.display().to_string();
        // One mount may lie on another.
        for _ in 0..16 {
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
            let unmounted = self.run("unmount", &argv);
            // It may have been killed when it was through.
            if let Err(refusal) = unmounted
                && probe::mounts_on(&entry.mount_point)?.len() == mounts.len()
            {
                return Err(busy_instead(refusal, &entry.mount_point));
            }
        }
        let message = format!("{} cannot be unmounted", entry.mount_point.display());
        Err(Refusal::new(Kind::System, message))
    }

    pub(super) fn run(&mut self, step: &str, argv: &[String]) -> Result<(), Refusal> {
        self.engine.hook.before(step);
        // Unmounting writes out the page cache; nothing else here takes long.
        let deadline = if step == "unmount" {
            exec::LONG
        } else {
            exec::SHORT
        };
        let outcome = exec::run_locked(argv, deadline, self.lock)?;
        (self.tell)(outcome.report(step));
        self.engine.hook.after(step);
        match outcome.succeeded() {
            true => Ok(()),
            false => Err(outcome.refusal()),
        }
    }

    /// Undoes a step that takes no program. Reports nothing when there was nothing to do.
    fn own(
        &mut self,
        step: &str,
        verb: &str,
        path: &Path,
        act: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<(), Refusal> {
        self.engine.hook.before(step);
        let began = Instant::now();
        let outcome = act();
        if outcome == Err(Errno::NOENT) {
            return Ok(());
        }
        let refusal = outcome.err().map(|e| failed(verb, path, e));
        (self.tell)(Report {
            step: step.into(),
            argv: vec![format!("{verb} {}", path.display())],
            ms: began.elapsed().as_secs_f64() * 1000.0,
            exit_code: None,
            output: refusal
                .as_ref()
                .and_then(|r| r.detail.clone())
                .unwrap_or_default(),
        });
        self.engine.hook.after(step);
        refusal.map_or(Ok(()), Err)
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

    pub(super) fn detach(&mut self, image: &Path) -> Result<(), Refusal> {
        for device in loops::of_image(image)? {
            let losetup = exec::require("losetup", "mount")?.display().to_string();
            if let Some(number) = probe::device_number(&device)
                && let Some(mount) = probe::mount_of_device(number)?
            {
                let message = format!(
                    "{} is mounted on {} too",
                    device.display(),
                    mount.mount_point
                );
                return Err(Refusal::new(Kind::NotInThisState, message)
                    .detail("The helper did not mount it there.")
                    .hint(format!(
                        "Run: umount {}.",
                        quoting::shell(&mount.mount_point)
                    )));
            }
            // While the device is open here, no other device gets its number.
            let held = File::open(&device);
            if held.is_err() || !loops::of_image(image)?.contains(&device) {
                continue;
            }
            let detached = self.run(
                "detach",
                &[losetup, "-d".into(), device.display().to_string()],
            );
            drop(held);
            if loops::of_image(image)?.contains(&device) {
                detached?;
            }
        }
        // An open loop device disappears only when it is closed; udev's blkid opens it for a moment.
        let began = Instant::now();
        while let Some(device) = loops::of_image(image)?.first() {
            if began.elapsed() > Duration::from_secs(60) {
                let message = format!("{} is in use", device.display());
                return Err(Refusal::new(Kind::NotInThisState, message)
                    .detail("Somebody has it open.")
                    .hint("Run pgfsbench-helper cleanup when it is closed."));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn remove_image(&mut self, path: &Path) -> Result<(), Refusal> {
        let Some((directory, name)) = path.parent().zip(path.file_name().and_then(|n| n.to_str()))
        else {
            return Ok(());
        };
        let directory = secure::open_directory(directory)?;
        if let Some(stat) =
            secure::stat_entry(&directory, name).map_err(|e| failed("stat", path, e))?
            && (FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_uid != 0)
        {
            let message = format!("{} is not the image that was made", secure::shown(path));
            return Err(
                Refusal::new(Kind::NotAllowed, message).hint("Look at it, and remove it by hand.")
            );
        }
        self.own("remove_image", "remove", path, || {
            unlinkat(&directory, name, AtFlags::empty()).and_then(|()| fsync(&directory))
        })
    }
}

pub(super) fn is_ours(mount: &Mount, entry: &Entry) -> Result<bool, Refusal> {
    if let Some(pool) = &entry.pool {
        return Ok(mount.fs_type == "zfs" && mount.source == format!("{}/data", pool.name));
    }
    Ok(match &entry.on {
        Kept::Image { path, .. } => loops::of_image(&entry.attached(path))?
            .iter()
            .filter_map(|device| probe::device_number(device))
            .any(|number| probe::is_of_device(mount, number)),
        // A number is the same device's only until the next boot.
        Kept::Device { identity, .. } => {
            probe::boot_id().is_ok_and(|boot| boot == entry.boot)
                && probe::is_of_device(mount, (identity.major, identity.minor))
        }
    })
}

fn busy_instead(refusal: Refusal, mount_point: &Path) -> Refusal {
    let users = mount_users::users(mount_point);
    if users.is_empty() {
        return refusal;
    }
    Refusal::new(
        Kind::NotInThisState,
        format!("{} is in use", mount_point.display()),
    )
    .detail(format!("It is used by {}.", users.join(", ")))
    .hint("End them first; the helper ends nobody.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::place::Place;
    use crate::probe::device::Identity;
    use pgfsbench_core::helper::Filesystem;
    use pgfsbench_core::proc::parse_mountinfo;

    #[test]
    fn the_number_of_a_device_means_nothing_after_a_reboot() {
        let on = Kept::Device {
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
        let mut entry = Entry::new(&place, Filesystem::Ext4, "u", on, mount_point).unwrap();
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
