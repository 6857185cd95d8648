//! Journal of the things that the helper has made, or was about to make: one file for each place, on disk before the step that it names. The helper
//! undoes nothing that is not named here. Even an entry that only root can have written has to fit the configuration.

use crate::config::Config;
use crate::place::Place;
use crate::secure::{self, failed};
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{
    AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fsync, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod entry;
mod made;
mod turn;

use entry::believe;
pub use entry::{Entry, JournalLeaf, KeptPool, Layer, Part, Role, State};
pub use made::{
    Erasing, JOURNAL_OF_EXT, LOG_OF_XFS, PART_OF_LVM, PART_OF_MD, PART_OF_ZFS, claim_of_log,
    claim_of_member,
};
pub use turn::Turn;

const LONGEST: u64 = 64 << 10;
/// The time for which another helper may hold the lock.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file that is locked while the journal's lock is lent. It is no entry, since it begins with a dot.
fn lent(place: &str) -> String {
    format!(".{place}.lent")
}

type Trusted = (Place, Entry);
type Untrusted = (Place, Refusal);

pub struct Journal {
    path: PathBuf,
    state: OwnedFd,
    entries: OwnedFd,
    made: OwnedFd,
    erasing: OwnedFd,
    /// Taken by the jobs of `serve`.
    pub turn: Turn,
}

impl Journal {
    pub fn open(config: &Config) -> Result<Self, Refusal> {
        let path = config.state.clone();
        Ok(Self {
            state: secure::make_directory(&path, 0o700)?,
            entries: secure::make_directory(&path.join("journal"), 0o700)?,
            made: secure::make_directory(&path.join("made"), 0o700)?,
            erasing: secure::make_directory(&path.join("erasing"), 0o700)?,
            turn: Turn::default(),
            path,
        })
    }

    /// The right to change something, until it is dropped and every program that was given it has ended.
    pub fn lock(&self) -> Result<File, Refusal> {
        let path = self.path.join("lock");
        let began = Instant::now();
        loop {
            match self.try_lock()? {
                Some(lock) => return Ok(lock),
                None if began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                None => {
                    return Err(Refusal::new(
                        Kind::NotInThisState,
                        "another pgfsbench-helper is at work",
                    )
                    .detail(format!(
                        "It, or a program that it has started, has held the lock {} for {} s.",
                        secure::shown(&path),
                        PATIENCE.as_secs()
                    ))
                    .hint("Wait for it to end, and try again."));
                }
            }
        }
    }

    /// Takes the lock if no other process has it.
    pub fn try_lock(&self) -> Result<Option<File>, Refusal> {
        let path = self.path.join("lock");
        let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = openat(&self.state, "lock", flags, Mode::from_raw_mode(0o600))
            .map_err(|e| failed("open", &path, e))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(lock.into())),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(None),
            Err(e) => Err(failed("lock", &path, e)),
        }
    }

    /// Lets others have the lock and the turn while `act` goes on, and takes them again, however long another one then holds them. Until then the entry of this place
    /// stays: see [`Self::is_lent`].
    pub fn lend_lock<T>(
        &self,
        lock: &File,
        place: &str,
        act: impl FnOnce() -> T,
    ) -> Result<T, Refusal> {
        let (name, path) = (lent(place), self.path.join("journal").join(lent(place)));
        let flags = OFlags::RDONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let busy = openat(&self.entries, &name, flags, Mode::from_raw_mode(0o600))
            .map_err(|e| failed("open", &path, e))?;
        let failed_lock = |e| failed("lock", &path, e);
        flock(&busy, FlockOperation::NonBlockingLockExclusive).map_err(failed_lock)?;
        flock(lock, FlockOperation::Unlock).map_err(failed_lock)?;
        let outcome = self.turn.lend(act);
        while let Err(e) = flock(lock, FlockOperation::NonBlockingLockExclusive) {
            if !matches!(e, Errno::WOULDBLOCK | Errno::INTR) {
                return Err(failed_lock(e));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        unlinkat(&self.entries, &name, AtFlags::empty()).map_err(|e| failed("remove", &path, e))?;
        Ok(outcome)
    }

    /// True while a helper waits for the array of this place, without the lock. The kernel ends that with the helper.
    pub fn is_lent(&self, place: &Place) -> Result<bool, Refusal> {
        let name = lent(&place.key());
        let path = self.path.join("journal").join(&name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let busy = match openat(&self.entries, &name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(false),
            busy => busy.map_err(|e| failed("open", &path, e))?,
        };
        match flock(&busy, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(true),
            Err(e) => Err(failed("lock", &path, e)),
        }
    }

    /// All places that have an entry. What else is in the directory is told and left alone.
    pub fn places(&self) -> Result<(Vec<Place>, Vec<String>), Refusal> {
        let path = self.path.join("journal");
        let directory = Dir::read_from(&self.entries).map_err(|e| failed("read", &path, e))?;
        let (mut places, mut strange) = (Vec::new(), Vec::new());
        for entry in directory {
            let entry = entry.map_err(|e| failed("read", &path, e))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A file that begins with a dot was being written when the helper was killed: it is no entry.
            if name.starts_with('.') {
                continue;
            }
            match name.strip_suffix(".json").and_then(Place::of_key) {
                Some(place) => places.push(place),
                None => strange.push(name),
            }
        }
        places.sort();
        Ok((places, strange))
    }

    /// Removes what was being written when a helper was killed. Only for who has the lock.
    pub fn sweep(&self) -> Result<(), Refusal> {
        for (directory, name) in [
            (&self.entries, "journal"),
            (&self.made, "made"),
            (&self.erasing, "erasing"),
        ] {
            let path = self.path.join(name);
            let entries = Dir::read_from(directory).map_err(|e| failed("read", &path, e))?;
            for entry in entries {
                let entry = entry.map_err(|e| failed("read", &path, e))?;
                let name = entry.file_name().to_bytes();
                if name.starts_with(b".") && name.ends_with(b".new") {
                    unlinkat(directory, entry.file_name(), AtFlags::empty())
                        .map_err(|e| failed("remove", &path, e))?;
                }
            }
        }
        Ok(())
    }

    /// All entries that are believed, and why the others are not.
    pub fn entries(&self, config: &Config) -> Result<(Vec<Trusted>, Vec<Untrusted>), Refusal> {
        let (mut believed, mut unbelieved) = (Vec::new(), Vec::new());
        for place in self.places()?.0 {
            match self.read(&place, config) {
                Ok(Some(entry)) => believed.push((place, entry)),
                Ok(None) => {}
                Err(refusal) => unbelieved.push((place, refusal)),
            }
        }
        Ok((believed, unbelieved))
    }

    pub fn read(&self, place: &Place, config: &Config) -> Result<Option<Entry>, Refusal> {
        let name = format!("{}.json", place.key());
        let path = self.path.join("journal").join(&name);
        let Some(text) = secure::read_file(&self.entries, &name, &path, LONGEST)? else {
            return Ok(None);
        };
        believe(&text, &path, place, config).map(Some)
    }

    /// On disk when this returns.
    pub fn write(&self, entry: &Entry) -> Result<(), Refusal> {
        let name = format!("{}.json", entry.place);
        self.write_file(&self.entries, &self.path.join("journal"), &name, entry)
    }

    pub fn remove(&self, place: &Place) -> Result<(), Refusal> {
        let name = format!("{}.json", place.key());
        let path = self.path.join("journal").join(&name);
        match unlinkat(&self.entries, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => return Err(failed("remove", &path, e)),
        }
        // A helper that was killed while it had lent the lock has left this.
        match unlinkat(&self.entries, lent(&place.key()), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(e) => return Err(failed("remove", &path, e)),
        }
        fsync(&self.entries).map_err(|e| failed("sync", &path, e))
    }

    fn write_file(
        &self,
        directory: &OwnedFd,
        path: &Path,
        name: &str,
        value: &impl Serialize,
    ) -> Result<(), Refusal> {
        let temporary = format!(".{name}.new");
        let shown = path.join(name);
        let text = serde_json::to_string(value).map_err(|e| {
            Refusal::new(Kind::Internal, "could not write the journal").detail(format!("{e}."))
        })?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file: File = openat(directory, &temporary, flags, Mode::from_raw_mode(0o600))
            .map_err(|e| failed("create", &shown, e))?
            .into();
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|e| {
                Refusal::new(
                    Kind::System,
                    format!("could not write {}", secure::shown(&shown)),
                )
                .detail(format!("{e}."))
            })?;
        renameat(directory, &temporary, directory, name)
            .map_err(|e| failed("rename", &shown, e))?;
        fsync(directory).map_err(|e| failed("sync", &shown, e))
    }
}

#[cfg(test)]
impl Journal {
    /// A journal in a directory of the test.
    fn of_test(root: &Path) -> Self {
        let directory = |name: &str| -> OwnedFd {
            let path = root.join(name);
            std::fs::create_dir_all(&path).unwrap();
            File::open(path).unwrap().into()
        };
        Self {
            state: directory("state"),
            entries: directory("journal"),
            made: directory("made"),
            erasing: directory("erasing"),
            turn: Turn::default(),
            path: root.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgfsbench_core::helper::Filesystem;

    #[test]
    fn others_have_the_lock_while_it_is_lent_and_leave_the_place_alone() {
        let root = tempfile::tempdir().unwrap();
        let (own, other) = (Journal::of_test(root.path()), Journal::of_test(root.path()));
        let place = Place::of_key("bench@t").unwrap();
        let lock = own.try_lock().unwrap().unwrap();
        assert!(other.try_lock().unwrap().is_none());
        assert_eq!(other.is_lent(&place), Ok(false));
        let seen = own.lend_lock(&lock, &place.key(), || {
            let theirs = other.try_lock().unwrap();
            let further = Place::of_key("bench@u").unwrap();
            let lent = [&place, &further].map(|place| other.is_lent(place));
            (theirs.is_some(), lent, other.places().unwrap())
        });
        let (was_free, lent, places) = seen.unwrap();
        assert!(was_free);
        assert_eq!(lent, [Ok(true), Ok(false)]);
        assert_eq!(places, (Vec::new(), Vec::new()), "it is no entry");
        assert!(other.try_lock().unwrap().is_none(), "it is taken again");
        assert_eq!(other.is_lent(&place), Ok(false));
    }

    /// The kernel ends the locks of a helper that is killed.
    #[test]
    fn a_file_that_a_killed_helper_has_left_lends_nothing_and_goes_with_the_entry() {
        let root = tempfile::tempdir().unwrap();
        let journal = Journal::of_test(root.path());
        let place = Place::of_key("bench@t").unwrap();
        let left = root.path().join("journal").join(lent(&place.key()));
        std::fs::write(&left, "").unwrap();
        assert_eq!(journal.is_lent(&place), Ok(false));
        journal.remove(&place).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn an_entry_of_lvm_is_read_as_it_was_written() {
        let config = Config::parse("").unwrap();
        let place = Place::of_key("bench@t").unwrap();
        let layers = vec![Layer::Lvm { uuid: "u".into() }];
        let mount_point = place.mount_point(&config);
        let entry = Entry::new(&place, Filesystem::Xfs, "u", layers, mount_point).unwrap();
        assert!(entry.has_array(Role::Filesystem) && entry.pool().is_none());
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }
}
