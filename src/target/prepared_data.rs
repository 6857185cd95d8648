//! Data that were loaded once and are copied to each target: whole data directories of servers that were shut down, each with a
//! note of what is in it. Repeated runs, on whatever targets, do not generate them again, and begin with the same bytes
//! as the first load.
//!
//! `DIRECTORY/pgfsbench-<mark>.loaded/{data, note.json}`. What is being made has no `.loaded`, and belongs to the journal.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub use pgfsbench_core::target::{
    original::Original,
    prepared_data::{DataKey, Note, bytes_to_load},
};
use pgfsbench_core::{
    spec::{OwnData, Spec},
    target::prepared_data::{
        self, Copied, FreeSpace, MadeBy, UnderWay, is_ours, mark_of,
        places::{Directory, Identity, Role, each_once, still_remembered},
    },
};
use rustix::fs::{FlockOperation, flock};

use crate::{
    errors::{Fault, of_file, sqlstate, to_json_text},
    host::{lengths::lengths_below, location},
    pg::{libpq::CheckInterrupts, process, session, settings},
    target::{
        self, Target,
        server::{Owner, TargetServer},
    },
};

/// End of the names of directories with data.
const LOADED: &str = "loaded";
/// End of the names of directories in which a copy of a user's server is made. Its maker locks the file [`LOCK`] in there.
const INCOMING: &str = "incoming";
/// End of the names of directories that are being removed.
const REMOVED: &str = "removed";
/// The note in each of them.
const NOTE: &str = "note.json";
/// The file in each place that its user locks.
const LOCK: &str = "lock";
/// The directory, unless the setting names another. Backups leave out what begins with pgsql_tmp.
const IN_DATA_DIRECTORY: &str = "pgfsbench/pgsql_tmp_prepared_data";

/// Other directories that the setting has named, a line each: data that were loaded there stay known when it names another one. Backups leave it out.
const PLACES: &str = "pgfsbench/pgsql_tmp_prepared_data_places";

/// Properties that the data of a run on a target must have, made by the programs in `bindir`.
pub fn data_key(spec: &Spec, target: &Target, bindir: &Path, user: &str) -> Result<DataKey, Fault> {
    Ok(DataKey::of(spec, target.cluster, made_by(bindir, user)?))
}

/// The programs in `bindir`, for this superuser of the server.
pub fn made_by(bindir: &Path, user: &str) -> Result<MadeBy, Fault> {
    let postgres = bindir.join("postgres");
    Ok(MadeBy {
        postgres_file: identity_of(&postgres)?,
        postgres,
        pgfsbench_version: env!("CARGO_PKG_VERSION"),
        server_user: user.into(),
    })
}

/// Length and modification time of the program `postgres`, which identify it.
fn identity_of(postgres: &Path) -> Result<(u64, i64), Fault> {
    let file = fs::metadata(postgres).map_err(|e| of_file("look at", postgres, &e))?;
    Ok((file.len(), file.mtime()))
}

/// Whether a copy of a user's server goes for a newer one when the limit does not hold any more.
pub type Yields<'a> = &'a dyn Fn(&Note) -> Result<bool, Fault>;

/// The place of all prepared data, which is this process's alone as long as it lives.
pub struct Place {
    directory: PathBuf,
    role: Role,
    _lock: File,
}

/// Data that a server has loaded.
pub struct Loaded {
    /// The database with the tables.
    pub database: String,
    /// As it stands in the note.
    pub script: String,
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The directory where they are, or would be; nothing is made.
pub fn directory() -> Result<PathBuf, Fault> {
    let Some(given) = settings::prepared_data_directory() else {
        return Ok(session::data_directory().join(IN_DATA_DIRECTORY));
    };
    target::check_directory(&given)
        .map(PathBuf::from)
        .map_err(|fault| fault.context("pgfsbench.prepared_data_directory"))
}

/// Paths of the file of other directories.
fn remembered() -> Vec<String> {
    let file = session::data_directory().join(PLACES);
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Writes that file.
fn write_remembered(known: &[String]) -> Result<(), Fault> {
    let file = session::data_directory().join(PLACES);
    let temporary = file.with_extension("tmp");
    let write = || {
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&temporary, known.join("\n"))?;
        fs::rename(&temporary, &file)
    };
    write().map_err(|e| of_file("write", &file, &e))
}

/// Notes a directory that the setting names.
fn remember(directory: &Path) -> Result<(), Fault> {
    let path = directory.display().to_string();
    let mut known = remembered();
    if settings::prepared_data_directory().is_none() || known.contains(&path) {
        return Ok(());
    }
    known.push(path);
    write_remembered(&known)
}

/// Forgets those of these places that hold no data. One that is used again is noted again.
pub fn forget_empty(places: &[Place]) -> Result<(), Fault> {
    let mut emptied = Vec::new();
    for place in places {
        if place.all()?.is_empty() {
            emptied.extend(identity_of_directory(&place.directory));
        }
    }
    let known = remembered();
    let count = known.len();
    let identified = known.into_iter().map(|path| {
        let usable = target::check_directory(&path).ok();
        let identity = usable.and_then(|path| identity_of_directory(Path::new(&path)));
        (path, identity)
    });
    let stay = still_remembered(identified.collect(), &emptied);
    match stay.len() == count {
        true => Ok(()),
        false => write_remembered(&stay),
    }
}

fn identity_of_directory(path: &Path) -> Option<Identity> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// All directories that may hold data: the present one first. A remembered one counts if it can be used and was used: the mount point of a disk that
/// is not mounted has no lock.
fn directories() -> Result<Vec<Directory>, Fault> {
    let inside = session::data_directory().join(IN_DATA_DIRECTORY);
    let present = directory()?;
    let role = match present == inside {
        true => Role::Inside,
        false => Role::Named,
    };
    let others = remembered().into_iter();
    let others = others.filter_map(|path| target::check_directory(&path).ok().map(PathBuf::from));
    let others = others.filter(|path| path.join(LOCK).exists());
    let others = others.map(|path| (path, Role::Remembered));
    let all = [(present, role), (inside, Role::Inside)];
    let all = all.into_iter().chain(others).map(|(path, role)| Directory {
        identity: identity_of_directory(&path),
        path,
        role,
    });
    Ok(each_once(all.collect()))
}

impl Place {
    /// Makes the directory if it is not there, and waits until no other server uses it.
    pub fn open(check_interrupts: CheckInterrupts) -> Result<Self, Fault> {
        let directory = directory()?;
        remember(&directory)?;
        Self::open_at(directory, Role::Named, check_interrupts)
    }

    /// Opens each directory that may hold data.
    pub fn open_all(check_interrupts: CheckInterrupts) -> Result<Vec<Self>, Fault> {
        let mut places = Vec::new();
        for directory in directories()? {
            if directory.identity.is_some() {
                places.push(Self::open_at(
                    directory.path,
                    directory.role,
                    check_interrupts,
                )?);
            }
        }
        Ok(places)
    }

    fn open_at(
        directory: PathBuf,
        role: Role,
        check_interrupts: CheckInterrupts,
    ) -> Result<Self, Fault> {
        DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(&directory)
            .map_err(|e| of_file("create directory", &directory, &e))?;
        let lock = directory.join(LOCK);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock)
            .map_err(|e| of_file("open", &lock, &e))?;
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            check_interrupts()?;
            process::wait(Duration::from_millis(100));
        }
        Ok(Self {
            directory,
            role,
            _lock: file,
        })
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// All data that are there. What was just being removed goes for good; what cannot be read is left alone.
    pub fn all(&self) -> Result<Vec<(PathBuf, Note)>, Fault> {
        for path in named(&self.directory, REMOVED)? {
            remove(&path)?;
        }
        for path in named(&self.directory, INCOMING)? {
            if let Some(mark) = mark_of(&path).filter(|_| is_abandoned(&path)) {
                let server = TargetServer::at(&self.directory, mark)?.ending_with(INCOMING);
                server.stop()?;
                server.remove(false)?;
            }
        }
        let loaded = named(&self.directory, LOADED)?;
        let noted = |path: PathBuf| read_note(&path).map(|note| (path, note));
        Ok(loaded.into_iter().filter_map(noted).collect())
    }

    /// The data that are wanted: their data directory and the note; None when they are not there. They count as used now, and as needed by the experiment of
    /// that file.
    pub fn find(
        &self,
        data_key: &DataKey,
        needed_by: Option<PathBuf>,
    ) -> Result<Option<(PathBuf, Note)>, Fault> {
        let found = self
            .all()?
            .into_iter()
            .find(|(_, note)| note.data_key == *data_key);
        let Some((path, mut note)) = found else {
            return Ok(None);
        };
        note.use_now(now(), needed_by);
        write_note(&path, &note)?;
        Ok(Some((path.join("data"), note)))
    }

    /// Data of this name, a copy of a user's server; as [`Self::find`].
    pub fn find_named(
        &self,
        name: &str,
        needed_by: Option<PathBuf>,
    ) -> Result<Option<(PathBuf, Note)>, Fault> {
        let mut all = self.all()?.into_iter();
        let Some((path, mut note)) = all.find(|(_, note)| note.is_named(name)) else {
            return Ok(None);
        };
        note.use_now(now(), needed_by);
        write_note(&path, &note)?;
        Ok(Some((path.join("data"), note)))
    }

    /// Makes the directories of a server that is to become data with a name. They are its maker's as long as the file is open. The file announces to
    /// others how many bytes the data will take.
    pub fn receive(&self, mark: &str, bytes: u64) -> Result<(TargetServer, File), Fault> {
        let server = TargetServer::at(&self.directory, mark)?.ending_with(INCOMING);
        server.make_directories()?;
        let path = server.directory.join(LOCK);
        let locked = File::create_new(&path).and_then(|mut file| {
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            file.write_all(bytes.to_string().as_bytes())?;
            Ok(file)
        });
        let file = locked.map_err(|e| of_file("lock", &path, &e))?;
        Ok((server, file))
    }

    /// Removes what was not used for the longest time and no experiment needs, until so many bytes more are within the limit and have room on the
    /// filesystem, beyond the reserve; else says why they have not. Copies that `yields` names stay for now, and do not count for the limit.
    pub fn make_room(
        &self,
        bytes: u64,
        yields: Yields,
        check_interrupts: CheckInterrupts,
    ) -> Result<Result<(), String>, Fault> {
        let mut all = self.all()?;
        let mut room = room(&self.directory, &all)?;
        if room.why_not(bytes, &self.directory).is_some() {
            for (_, note) in &all {
                room.yielding += if yields(note)? { note.bytes } else { 0 };
            }
        }
        // Nothing is removed if all of it would not be enough.
        if let Some(why) = room.why_not(bytes, &self.directory) {
            return Ok(Err(why));
        }
        room.taken -= room.yielding;
        all.retain(|(_, note)| !note.is_needed());
        all.sort_by_key(|(_, note)| note.used_at);
        for (path, note) in all {
            room.free = free(&self.directory);
            if room.has(bytes) {
                break;
            }
            check_interrupts()?;
            remove(&path)?;
            room.taken -= note.bytes;
        }
        Ok(Ok(()))
    }

    /// Removes copies that `yields` names, first those that were not used for the longest time, until the limit holds. Tells the name of each.
    pub fn enforce_limit(&self, yields: Yields, tell: &mut dyn FnMut(&str)) -> Result<(), Fault> {
        let mut all = self.all()?;
        let mut room = room(&self.directory, &all)?;
        all.sort_by_key(|(_, note)| note.used_at);
        for (path, note) in all {
            if room.is_within_limit() {
                break;
            }
            if let Some(name) = note.name()
                && yields(&note)?
            {
                remove(&path)?;
                room.taken -= note.bytes;
                tell(name);
            }
        }
        Ok(())
    }

    /// Keeps the data directory `data` of a server that was shut down and synced; the directory above it goes with it. `loaded` is what it has loaded.
    pub fn keep(
        &self,
        data: &Path,
        data_key: DataKey,
        loaded: Loaded,
        original: Option<Original>,
    ) -> Result<u64, Fault> {
        let Some(from) = data.parent() else {
            return Err(Fault::new(
                sqlstate::INTERNAL,
                "a data directory without parent",
            ));
        };
        let note = Note {
            data_key,
            database: loaded.database,
            script: loaded.script,
            made_by: Some(session::system_identifier()),
            bytes: bytes_of(data).map_err(|e| of_file("read", data, &e))?,
            created_at: now(),
            used_at: now(),
            made_in: match &original {
                Some(_) => Some(made_in(session::database())?),
                None => None,
            },
            original,
            needed_by: Vec::new(),
        };
        write_note(from, &note)?;
        let to = from.with_extension(LOADED);
        fs::rename(from, &to).map_err(|e| of_file("rename", from, &e))?;
        sync(&self.directory)?;
        Ok(note.bytes)
    }

    /// The data that an operator may remove: all of them where the setting names the place, else those of this server. Data with a name stay.
    pub fn removable(&self) -> Result<Vec<(PathBuf, Note)>, Fault> {
        let this = session::system_identifier();
        let mut all = self.all()?;
        all.retain(|(_, note)| note.name().is_none() && self.role.is_removable(note.made_by, this));
        Ok(all)
    }

    /// The data of this name.
    pub fn with_name(&self, name: &str) -> Result<Vec<(PathBuf, Note)>, Fault> {
        let mut all = self.all()?;
        all.retain(|(_, note)| note.is_named(name));
        Ok(all)
    }

    /// The data that this server has made.
    pub fn own(&self) -> Result<Vec<(PathBuf, Note)>, Fault> {
        let mut all = self.all()?;
        all.retain(|(_, note)| is_own(self.role, note));
        Ok(all)
    }
}

/// A database of this server: stands in the notes of its copies. A base backup, which has the same system identifier, is another server, and so is a
/// snapshot of the data directory in another place.
pub fn made_in(database: u32) -> Result<String, Fault> {
    let data = session::data_directory();
    let look = || -> io::Result<_> { Ok((Owner::of(&data)?, fs::canonicalize(&data)?)) };
    let (owner, path) = look().map_err(|e| of_file("look at", &data, &e))?;
    to_json_text(&(owner, path, database))
}

/// Whether the process has ended that made a copy there.
fn is_abandoned(incoming: &Path) -> bool {
    let file = File::options().write(true).open(incoming.join(LOCK));
    file.map_or(true, |file| {
        flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    })
}

fn is_own(role: Role, note: &Note) -> bool {
    role.is_own(note.made_by, session::system_identifier())
}

/// Removes data of places that are open; gives their bytes.
pub fn remove_all(data: Vec<(PathBuf, Note)>) -> Result<u64, Fault> {
    let mut bytes = 0;
    for (path, note) in data {
        remove(&path)?;
        bytes += note.bytes;
    }
    Ok(bytes)
}

fn free(directory: &Path) -> u64 {
    location::space(directory).map_or(u64::MAX, |(free, _)| free)
}

/// Refuses to go on with the copy of a server in this directory when it would take what is reserved for others.
pub fn check_reserve(copy: &Path) -> Result<(), Fault> {
    let place = copy.parent().unwrap_or(copy);
    let reserved = settings::reserved_space_bytes();
    Ok(prepared_data::check_reserve(free(copy), reserved, place)?)
}

fn room(directory: &Path, all: &[(PathBuf, Note)]) -> Result<FreeSpace, Fault> {
    Ok(FreeSpace {
        under_way: under_way(directory)?,
        ..without_copies(directory, all)
    })
}

/// The room at a place in which no copy is being made.
fn without_copies(directory: &Path, all: &[(PathBuf, Note)]) -> FreeSpace {
    let notes = || all.iter().map(|(_, note)| note);
    FreeSpace {
        limit: settings::prepared_data_limit_bytes(),
        reserved: settings::reserved_space_bytes(),
        free: free(directory),
        taken: notes().map(|note| note.bytes).sum(),
        needed: notes().filter(|n| n.is_needed()).map(|n| n.bytes).sum(),
        yielding: 0,
        under_way: UnderWay::default(),
    }
}

/// Copies that other sessions are making in this directory. Without the lock of the place, a copy counts too whose maker has ended.
fn under_way(directory: &Path) -> Result<UnderWay, Fault> {
    let copies = named(directory, INCOMING)?.into_iter().map(|path| {
        let announced = fs::read_to_string(path.join(LOCK)).ok();
        let announced = announced.and_then(|text| text.parse::<u64>().ok());
        (announced, lengths_below(&path, &|_| true))
    });
    Ok(UnderWay::of(copies))
}

/// Whether data are there, and whether they could be loaded now; nothing is waited for or removed.
pub fn look_for(data_key: &DataKey, bytes: u64) -> Result<(bool, bool), Fault> {
    let directory = directory()?;
    let all = list_in(&directory)?;
    let why_not = room_below(&directory, &all)?.why_not(bytes, &directory);
    let is_there = all.iter().any(|(_, note)| note.data_key == *data_key);
    Ok((is_there, why_not.is_none()))
}

/// How all data come to be there that runs of an experiment want, each with the bytes to load it; None if they want none.
pub fn look_for_all(data_keys: Vec<(DataKey, u64)>) -> Result<Option<Copied>, Fault> {
    let directory = directory()?;
    let all = list_in(&directory)?;
    let there: Vec<&DataKey> = all.iter().map(|(_, note)| &note.data_key).collect();
    let room = room_below(&directory, &all)?;
    Ok(Copied::of(data_keys, &there, &room, &directory))
}

/// The room at a place that the first run may have to make.
fn room_below(directory: &Path, all: &[(PathBuf, Note)]) -> Result<FreeSpace, Fault> {
    if directory.exists() {
        return room(directory, all);
    }
    // A directory above may be closed to this process.
    let above = directory.ancestors().find(|path| path.exists());
    Ok(without_copies(above.unwrap_or(directory), all))
}

/// The data of this name; nothing is waited for or removed.
pub fn own_data(name: &str) -> Result<Option<OwnData>, Fault> {
    let mut all = list()?.into_iter();
    let found = all.find(|(_, note)| note.is_named(name));
    Ok(found.map(|(_, note)| OwnData {
        bytes: note.bytes,
        databases: note.original.and_then(|original| original.databases),
    }))
}

/// The error if they are in use.
pub fn in_use() -> Fault {
    Fault::new(sqlstate::IN_USE, "prepared data are in use")
        .detail("A run is loading or copying them.")
        .hint("Wait for the run with fsbench.wait(), or cancel it with fsbench.cancel().")
}

/// Lists prepared data for people; nothing is waited for or removed.
pub fn list() -> Result<Vec<(PathBuf, Note)>, Fault> {
    let mut all = Vec::new();
    for directory in directories()? {
        all.extend(list_in(&directory.path)?);
    }
    Ok(all)
}

/// Whether this server has made data that are there; nothing is waited for or removed.
pub fn has_own() -> Result<bool, Fault> {
    for directory in directories()? {
        let all = list_in(&directory.path)?;
        if all.iter().any(|(_, note)| is_own(directory.role, note)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn list_in(directory: &Path) -> Result<Vec<(PathBuf, Note)>, Fault> {
    let loaded = named(directory, LOADED)?;
    let noted = |path: PathBuf| read_note(&path).map(|note| (path, note));
    Ok(loaded.into_iter().filter_map(noted).collect())
}

/// Directories of ours with such names: `pgfsbench-<mark>.<end>`, nothing else, wherever the place is. None
/// where there is no place yet.
fn named(directory: &Path, end: &str) -> Result<Vec<PathBuf>, Fault> {
    let unreadable = |e: io::Error| of_file("read directory", directory, &e);
    let entries = match fs::read_dir(directory) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(unreadable)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if is_ours(&path, end) {
            found.push(path);
        }
    }
    Ok(found)
}

fn read_note(path: &Path) -> Option<Note> {
    let text = fs::read_to_string(path.join(NOTE)).ok()?;
    serde_json::from_str(&text).ok()
}

/// Bytes of all files below a directory.
fn bytes_of(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        bytes += if kind.is_dir() {
            bytes_of(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes)
}

/// Under another name first: should this be interrupted, what is left is gone on with.
fn remove(path: &Path) -> Result<(), Fault> {
    let removed = path.with_extension(REMOVED);
    if path != removed {
        fs::rename(path, &removed).map_err(|e| of_file("rename", path, &e))?;
    }
    fs::remove_dir_all(&removed).map_err(|e| of_file("remove directory", &removed, &e))
}

fn write_note(directory: &Path, note: &Note) -> Result<(), Fault> {
    let path = directory.join(NOTE);
    let temporary = directory.join("note.tmp");
    let text = to_json_text(note)?;
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, &path)
    };
    write().map_err(|e| of_file("write", &path, &e))?;
    sync(directory)
}

fn sync(directory: &Path) -> Result<(), Fault> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(|e| of_file("sync", directory, &e))
}
