//! Clearing up: after a coordinator that died, and at the start of the janitor after the server was stopped or has crashed.
//!
//! A work database is dropped only when the journal names it, by OID, name and comment, and it has that name and exactly that
//! comment. What is in tables never names what is dropped: others may write them, and dumps carry them to other servers.

use std::{
    fs, io,
    sync::atomic::Ordering::{Acquire, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::{
    board::EXPERIMENT_SLOTS,
    quoting,
    spec::{Act, HelperTask},
    target::server_log,
    work_database::Recorded,
};

use crate::{
    board::{Board, Request, STOP_ALL, outcome::Outcome},
    errors::{Fault, read_json, sqlstate},
    host::own_log,
    pg::{
        catalog,
        process::{self, Database},
        report, session, shmem, sql, utility, xact,
    },
    run::{
        journal::{self, Entry},
        marker,
        own_directory::OwnDirectory,
        plan,
        wal_file::WalFile,
    },
    store,
    target::{helper_job, remote_run::RemoteRun, server::TargetServer},
    watch::statements,
};

/// How long processes may take to end after they were told, before they are terminated.
const GRACE: Duration = Duration::from_secs(2);

/// Version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The extension in the database of this process.
pub struct Extension {
    pub oid: u32,
    pub owner: u32,
    pub version: String,
}

const EXTENSION: &str = "SELECT oid::text || ' ' || extowner::text || ' ' || extversion FROM pg_catalog.pg_extension WHERE extname = 'pgfsbench'";

impl Extension {
    fn of_text(text: &str) -> Option<Self> {
        let (oid, text) = text.split_once(' ')?;
        let (owner, version) = text.split_once(' ')?;
        Some(Self {
            oid: oid.parse().ok()?,
            owner: owner.parse().ok()?,
            version: version.to_owned(),
        })
    }
}

/// Looks the extension up; None when this database does not have it. In a transaction.
pub fn extension() -> Result<Option<Extension>, Fault> {
    let text = sql::read(EXTENSION, &[])?;
    Ok(text.and_then(|text| Extension::of_text(&text)))
}

/// The state of a work database.
enum DatabaseState {
    /// It is there and ours. Its name, quoted.
    Ours(String),
    /// A database that was never ours, or that the user has taken over by changing its name or comment.
    Foreign,
    /// There is none of that OID.
    Gone,
}

/// The rest of the things of a journal entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remainder {
    /// Nothing.
    Nothing,
    /// A filesystem, which the helper removes by itself: it knows which run it has made it for, and sees that this is over.
    ForHelper,
    /// Removal is tried again at the next start of the server; until then the entry stays.
    Something,
}

/// Removes the things of a journal entry that are there: a work database, a file next to the WAL, a server on a target and its filesystem, or a run
/// on another server. It reports each step to `begins`.
pub fn remove_what_was_made(
    entry: &Entry,
    begins: &mut dyn FnMut(Act),
) -> Result<Remainder, Fault> {
    let mut left = Remainder::Nothing;
    for act in entry.made().removal() {
        begins(act);
        left = left.max(carry_out(entry, act)?);
    }
    if let Some(remote) = &entry.remote_run {
        end_there(remote);
    }
    Ok(left)
}

/// A step at the end of a run, on what its journal entry speaks of.
pub fn carry_out(entry: &Entry, act: Act) -> Result<Remainder, Fault> {
    let not_made = || plan::nothing_carries_out(act);
    if matches!(act, Act::StopServer | Act::RemoveServer) && entry.server.is_none() {
        return Err(not_made());
    }
    match act {
        Act::OpenDatabase => open_work_database(entry)?,
        Act::DropDatabase => drop_work_database(entry)?,
        Act::DropFile => match (&entry.wal_file, &entry.directory) {
            (None, None) => return Err(not_made()),
            (file, directory) => {
                file.as_ref().map_or(Ok(()), WalFile::remove)?;
                directory.as_ref().map_or(Ok(()), OwnDirectory::remove)?;
            }
        },
        Act::StopServer => {
            // All of them, whatever one says.
            let stopped: Vec<_> = entry.servers().map(TargetServer::stop).collect();
            stopped.into_iter().collect::<Result<(), _>>()?;
        }
        Act::RemoveServer => {
            let remove = |server: &TargetServer| server.remove(entry.prepared.is_some());
            let removed: Vec<_> = entry.servers().map(remove).collect();
            let removed: Vec<bool> = removed.into_iter().collect::<Result<_, _>>()?;
            if removed.contains(&false) {
                return Ok(Remainder::Something);
            }
        }
        Act::Job(HelperTask::Release) => {
            let target = entry.prepared.as_ref().ok_or_else(not_made)?;
            return Ok(release(entry, target));
        }
        _ => return Err(not_made()),
    }
    Ok(Remainder::Nothing)
}

/// Has the filesystem of a target unmounted and removed. Without the database or the extension the helper cannot be asked here.
fn release(entry: &Entry, target: &str) -> Remainder {
    if entry.extension_database != session::database() {
        return Remainder::ForHelper;
    }
    let asked = xact::transaction(extension).and_then(|extension| match extension {
        Some(_) => helper_job::ask_release(entry.run_id, target),
        None => Ok(None),
    });
    let (fault, left) = match asked {
        Ok(None) => return Remainder::Nothing,
        Ok(Some(job)) => match helper_job::wait_for_release(job) {
            Ok(()) => return Remainder::Nothing,
            Err(fault) => (fault, Remainder::ForHelper),
        },
        Err(fault) => (fault, Remainder::Something),
    };
    report::log_warning(&fault.context(&format!("target \"{target}\" is not released")));
    left
}

/// Cancels a run on another server. Where that is not possible now, the lease of the run there ends it.
fn end_there(remote: &RemoteRun) {
    if let Err(fault) = remote.end() {
        report::log_warning(
            &fault
                .context("a run on another server may go on there")
                .hint("It ends by itself when its lease runs out."),
        );
    }
}

/// Opens the work database that a journal entry speaks of for connections: it is kept.
pub fn open_work_database(entry: &Entry) -> Result<(), Fault> {
    match find(entry)? {
        DatabaseState::Ours(name) => {
            utility::run(&[&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")])
        }
        DatabaseState::Foreign | DatabaseState::Gone => Ok(()),
    }
}

fn find(entry: &Entry) -> Result<DatabaseState, Fault> {
    let oid = entry.work_database_oid.to_string();
    let text = xact::transaction(|| {
        sql::read(
            "SELECT jsonb_build_array(datname, shobj_description(oid, 'pg_database')) \
             FROM pg_catalog.pg_database WHERE oid = $1::oid",
            &[Some(&oid)],
        )
    })?;
    let Some(text) = text else {
        return Ok(DatabaseState::Gone);
    };
    let (name, comment): (String, Option<String>) = read_json("database", &text)?;
    let recorded = Recorded {
        name: &entry.work_database,
        comment: &entry.comment,
    };
    Ok(if recorded.is(&name, comment.as_deref()) {
        DatabaseState::Ours(quoting::sql_identifier(&name))
    } else {
        DatabaseState::Foreign
    })
}

fn drop_work_database(entry: &Entry) -> Result<(), Fault> {
    let oid = entry.work_database_oid;
    if let DatabaseState::Ours(name) = find(entry)? {
        let dropped = utility::run(&[&format!("DROP DATABASE {name} WITH (FORCE)")]);
        // Another session may have dropped it at the same time.
        if dropped.is_err() && !matches!(find(entry)?, DatabaseState::Gone) {
            return dropped;
        }
        statements::forget(oid);
    }
    match find(entry)? {
        DatabaseState::Gone if !entry.directory_existed && oid != 0 => remove_directory(oid),
        _ => Ok(()),
    }
}

/// Removes what a crash in the middle of CREATE DATABASE leaves: a directory of a database that never came to be.
fn remove_directory(oid: u32) -> Result<(), Fault> {
    let directory = session::data_directory().join("base").join(oid.to_string());
    if !directory.exists() {
        return Ok(());
    }
    xact::transaction(|| {
        catalog::forget_database(oid);
        Ok(())
    })?;
    match fs::remove_dir_all(&directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Fault::new(
            sqlstate::SYSTEM,
            format!(
                "could not remove directory \"{}\": {error}",
                directory.display()
            ),
        )),
        _ => Ok(()),
    }
}

/// The reason that a run gets when the server stopped under it.
fn server_stopped() -> Fault {
    Fault::new(
        sqlstate::CRASHED,
        "the server was stopped or crashed during the run",
    )
    .detail("No run survives a restart of the server.")
    .hint("Start the run again; the server's log tells what happened.")
}

/// The reason that a run gets which was asked for after the postmaster had started: that has not ended since, so the server has crashed,
/// recovered, and serves again. pg_postmaster_start_time() does not change by that.
fn server_recovered(log: Option<&str>) -> Fault {
    let detail = match log.and_then(server_log::cause_of_recovery) {
        Some(line) => format!("Its log says: {line}"),
        None => "The postmaster is older than the run, so it was no restart.".to_owned(),
    };
    Fault::new(
        sqlstate::CRASHED,
        "the server crashed during the run, has recovered, and serves again",
    )
    .detail(detail)
    .hint("Find out why before you start the run again: see the server's log and the kernel's. Storage that fails, memory that runs out and a killed process end it so.")
}

/// After a coordinator that died: marks the row, removes what was made, and reports to the caller. In the home database.
pub fn recover(board: &Board, request: &Request) -> Result<(), Fault> {
    let fault = Fault::new(
        sqlstate::TERMINATED,
        "the coordinator of the run was terminated",
    )
    .detail("Somebody called pg_terminate_backend(), or its database is being dropped.");
    let (extension_database, run_id) = (
        request.extension_database.load(Acquire),
        request.run_id.load(Acquire),
    );
    end_run_processes(board);
    let of_run = Some(request.extension.load(Acquire));
    mark_and_remove(
        extension_database,
        &|_| fault.clone(),
        of_run,
        |unfinished| unfinished == run_id,
    )?;
    // The coordinator may have come far enough to say how the run ended, or to store it.
    if board.outcome(request).is_empty() {
        let stored = xact::transaction(|| match extension()? {
            Some(extension) if Some(extension.oid) == of_run => store::outcome_of(run_id),
            _ => Ok(None),
        })?;
        let outcome = stored.unwrap_or(Outcome::Failed(fault));
        outcome.tell(board, request);
    }
    Ok(())
}

/// Ends what the dead coordinator had launched, so that none of it meddles with the next run.
pub fn end_run_processes(board: &Board) {
    board.run.stop.store(STOP_ALL, Release);
    // Also those that have not even started yet.
    board.run.next_serial();
    let pids = || {
        shmem::clients()
            .iter()
            .map(|slot| slot.pid.load(Acquire))
            .chain([&board.run.sampler, &board.run.worker].map(|task| task.pid.load(Acquire)))
            .filter(|&pid| process::is_alive(pid))
            .collect::<Vec<_>>()
    };
    let deadline = Instant::now() + GRACE;
    let mut left = pids();
    while !left.is_empty() {
        for &pid in &left {
            if Instant::now() > deadline {
                process::terminate(pid);
            } else {
                process::wake(pid);
            }
        }
        process::wait(Duration::from_millis(50));
        left = pids();
    }
    // Their numbers may soon be those of others.
    for slot in shmem::clients() {
        slot.pid.store(0, Release);
    }
    for task in [&board.run.sampler, &board.run.worker] {
        task.pid.store(0, Release);
    }
}

/// Marks the unfinished rows of this database that `concerns` names, and removes what the journal has of these runs. `fault` is the reason, by
/// whether the server has crashed and recovered under the run: the postmaster is older than it. `of_run` is the extension of a run: the rows of another one are not its.
fn mark_and_remove(
    extension_database: u32,
    fault: &dyn Fn(bool) -> Fault,
    of_run: Option<u32>,
    concerns: impl Fn(i64) -> bool,
) -> Result<(), Fault> {
    let extension = xact::transaction(extension)?
        .filter(|extension| of_run.is_none_or(|oid| oid == extension.oid));
    let has_extension = extension.is_some();
    let entries = journal::entries()?;
    // The rows of a standby come from another server; the journal does not.
    let is_ours = |run_id| {
        entries
            .iter()
            .any(|entry| (entry.extension_database, entry.run_id) == (extension_database, run_id))
    };
    if let Some(extension) = extension {
        process::become_undisturbed_owner(extension.owner)?;
        xact::transaction(|| {
            let unfinished = store::unfinished()?.into_iter();
            for (run_id, is_later) in unfinished.filter(|(run_id, _)| concerns(*run_id)) {
                store::set_failed(run_id, &fault(is_later && is_ours(run_id)), None)?;
            }
            Ok(())
        })?;
    }
    for entry in entries {
        if entry.extension_database != extension_database || !concerns(entry.run_id) {
            continue;
        }
        // One that came to its end and was just to be opened is as good as kept.
        if has_extension && xact::transaction(|| store::is_kept(entry.run_id))? {
            open_work_database(&entry)?;
        } else if remove_what_was_made(&entry, &mut |_| ())? == Remainder::Something {
            continue;
        }
        journal::remove(entry.extension_database, entry.run_id)?;
    }
    Ok(())
}

/// Removes at the start of the janitor what earlier runs of this server left in one database, and what is left of databases that
/// are gone.
pub fn sweep(board: &Board) {
    let extension_database = board.sweep_database.load(Acquire);
    process::connect(Database::Oid(extension_database));
    if !matches!(xact::transaction(extension), Ok(None)) {
        board.sweep_extension.store(1, Release);
    }
    let rows = if board.recovered.load(Acquire) == 0 {
        // No run of this start of the server can be there yet.
        xact::transaction(own_log::end).and_then(|log| {
            let of_row = |is_recovered: bool| match is_recovered {
                true => server_recovered(log.as_deref()),
                false => server_stopped(),
            };
            mark_and_remove(extension_database, &of_row, None, |_| true)
        })
    } else {
        Ok(())
    };
    let rows = rows.and_then(|()| tell_experiments(board, extension_database));
    let swept = rows.and_then(|()| {
        if board.sweep_orphans.load(Acquire) == 1 {
            sweep_orphans()
        } else {
            Ok(())
        }
    });
    match swept {
        Ok(()) => board.sweep_done.store(1, Release),
        Err(fault) => report::log_warning(&fault.context("could not clear up")),
    }
    shmem::announce();
}

/// Pauses the experiments of a database whose extension has another version than this library. False if it has the same by now; None if nothing could be
/// written, which is logged. By its owner.
pub fn pause_experiments() -> Option<bool> {
    let pause = || {
        let on = store::experiment::lock_all()?;
        // These cannot be resumed now; a role that resumed one before has updated the extension before that.
        let text = sql::read_latest(EXTENSION, &[])?;
        let Some(extension) = text.and_then(|text| Extension::of_text(&text)) else {
            return Ok(true);
        };
        if extension.version == VERSION {
            return Ok(false);
        }
        let why = format!(
            "the library that the server has loaded is version {VERSION}, the extension in this database version {}; when both are the same (restart the server, and \
             run ALTER EXTENSION pgfsbench UPDATE), resume_experiment goes on with it",
            extension.version
        );
        store::experiment::pause(&on, &why)?;
        Ok(true)
    };
    report::or_log("could not pause experiments", || xact::transaction(pause))
}

/// Announces a database with experiments to go on with, or records there why they do not go on. Without the extension no experiments are left.
fn tell_experiments(board: &Board, extension_database: u32) -> Result<(), Fault> {
    let Some(extension) = xact::transaction(extension)? else {
        // Later, a session may just be creating the extension, and experiments with it.
        let is_start = board.recovered.load(Acquire) == 0;
        return marker::remove_of(|database| database == extension_database && is_start);
    };
    process::become_undisturbed_owner(extension.owner)?;
    if extension.version != VERSION && pause_experiments() != Some(false) {
        return Ok(());
    }
    if xact::transaction(store::experiment::any_is_on)?
        && !board.experiment_slots.tell(extension_database)
    {
        let why = format!(
            "{EXPERIMENT_SLOTS} databases have experiments that are on or queued, and no more are gone on with; when those of another one are over, resume_experiment \
             goes on with it"
        );
        xact::transaction(|| {
            let on = store::experiment::lock_all()?;
            // A place may have become free, and a session may have been given it.
            if board.experiment_slots.tell(extension_database) {
                return Ok(());
            }
            store::experiment::keep_time_on()?;
            store::experiment::pause(&on, &why)
        })?;
    }
    Ok(())
}

fn sweep_orphans() -> Result<(), Fault> {
    let databases = catalog::databases()?;
    marker::remove_of(|extension_database| {
        databases
            .iter()
            .all(|database| database.oid != extension_database)
    })?;
    for entry in journal::entries()? {
        let is_orphan = !databases
            .iter()
            .any(|database| database.oid == entry.extension_database);
        if is_orphan && remove_what_was_made(&entry, &mut |_| ())? != Remainder::Something {
            journal::remove(entry.extension_database, entry.run_id)?;
        }
    }
    Ok(())
}
