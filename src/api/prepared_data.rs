//! `prepared_data`, `drop_prepared_data`, `prepare_data` and `drop_data`.

use std::path::{Path, PathBuf};

use pgfsbench_core::refusal::quoted;
use pgrx::{
    iter::TableIterator,
    name, pg_extern,
    pg_sys::{self, panic::ErrorReport},
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    doctor,
    guard::{self, Ready},
    request,
};
use crate::{
    board::Request,
    errors::{Fault, sqlstate, wrong_arguments},
    pg::{
        arguments, session, sql,
        text::{ReturnedText, Text},
        xact,
    },
    run::marker,
    store::experiment as store,
    target::{
        backup_directory, base_backup, helper_job,
        prepared_data::{self, Note, Place},
    },
};

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_prepared_data() -> Result<
    TableIterator<
        'static,
        (
            name!(contents, ReturnedText),
            name!(scale, i32),
            name!(fillfactor, i32),
            name!(unlogged, bool),
            name!(data_checksums, bool),
            name!(postgres, ReturnedText),
            name!(bytes, i64),
            name!(created_epoch, i64),
            name!(used_epoch, i64),
            name!(directory, ReturnedText),
            name!(data, Option<ReturnedText>),
        ),
    >,
    ErrorReport,
> {
    guard::ready()?;
    let rows: Vec<_> = prepared_data::list()?
        .into_iter()
        .map(|(path, note)| {
            (
                note.data_key.contents.into(),
                note.data_key.scale as i32,
                i32::from(note.data_key.fillfactor),
                note.data_key.unlogged,
                note.data_key.cluster.data_checksums,
                note.data_key.postgres.display().to_string().into(),
                note.bytes as i64,
                note.created_at as i64,
                note.used_at as i64,
                path.display().to_string().into(),
                note.original.map(|original| original.name.into()),
            )
        })
        .collect();
    Ok(TableIterator::new(rows))
}

#[pg_extern(sql = false)]
fn fsbench_drop_prepared_data() -> Result<i64, ErrorReport> {
    let ready = guard::ready()?;
    let mut busy = || Err(prepared_data::in_use());
    let places = Place::open_all(&mut busy)?;
    let mut data = Vec::new();
    for place in &places {
        data.extend(place.removable()?);
    }
    Ok(remove(&ready, &places, data)?)
}

/// Removes data that no experiment needs; gives their bytes.
fn remove(ready: &Ready, places: &[Place], data: Vec<(PathBuf, Note)>) -> Result<i64, Fault> {
    for file in data.iter().flat_map(|(_, note)| note.needed_by()) {
        check_not_needed(ready, file)?;
    }
    let bytes = prepared_data::remove_all(data)?;
    prepared_data::forget_empty(places)?;
    Ok(bytes as i64)
}

/// Whether the helper that served last has described this machine.
const IS_DESCRIBED: &str = "SELECT 'yes' FROM fsbench.helper_description d JOIN fsbench.helper_session s ON d.seen_at >= s.backend_start";

/// The arguments of `prepare_data`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    data: Option<String>,
    from_server: bool,
    max_rate: Option<String>,
    from_directory: Option<String>,
}

#[pg_extern(sql = false)]
fn fsbench_prepare_data(call: pg_sys::FunctionCallInfo) -> Result<i64, ErrorReport> {
    let ready = guard::ready()?;
    let given = Value::Object(arguments::named(call)?);
    let given: Given =
        serde_json::from_value(given).map_err(|e| wrong_arguments("an argument", e))?;
    Ok(prepare(&ready, &given)?)
}

fn prepare(ready: &Ready, given: &Given) -> Result<i64, Fault> {
    let refusal = |message: &str| Fault::new(sqlstate::INVALID_PARAMETER, message);
    let Some(name) = &given.data else {
        return Err(refusal("data must not be null")
            .detail("It is the name of the copy.")
            .hint("Give the name of the application, such as 'shop'."));
    };
    let Some(directory) = &given.from_directory else {
        return prepare_from_server(ready, given, name);
    };
    if given.from_server || given.max_rate.is_some() {
        return Err(refusal("from_directory excludes from_server and max_rate")
            .detail("Either this server is copied, or the backup in a directory.")
            .hint("Leave from_server and max_rate out."));
    }
    check_waits()?;
    let allowed = session::with_rights_of(ready.owner, allowed_backups)?;
    let directory = Path::new(directory);
    let bytes = backup_directory::prepare(ready.owner, name, directory, &allowed, &|note| {
        yields(ready, note)
    })?;
    Ok(bytes as i64)
}

/// Directories with backups that root allows now: a description that the helper has left, or that came with a copy of this server, allows nothing.
/// In a transaction, with the owner's rights.
fn allowed_backups() -> Result<Vec<PathBuf>, Fault> {
    let serves = helper_job::helper_version()?.is_some() && sql::read(IS_DESCRIBED, &[])?.is_some();
    if serves {
        let described = doctor::description()?;
        return Ok(described.map_or_else(Vec::new, |(described, _)| described.backups));
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "no pgfsbench-helper says which backups may be copied",
    )
    .detail("Its configuration names the directories with backups. No helper serves this database, or it has not described this machine yet.")
    .hint("Have root start pgfsbench-helper; fsbench.doctor() has the command. If it runs, call fsbench.prepare_data() again."))
}

fn prepare_from_server(ready: &Ready, given: &Given, name: &str) -> Result<i64, Fault> {
    if !given.from_server {
        return Err(Fault::new(
            sqlstate::INVALID_PARAMETER,
            "nothing says what is copied",
        )
        .detail("The argument from_server is false, and from_directory is missing.")
        .hint("Give from_server => true to copy this server, or from_directory => '/backups/base'."));
    }
    check_waits()?;
    let max_rate = given.max_rate.as_deref();
    Ok(base_backup::prepare(ready.owner, name, max_rate, &|note| yields(ready, note))? as i64)
}

/// Refuses to copy on a standby, and in a transaction that would hold others up.
fn check_waits() -> Result<(), Fault> {
    if xact::in_recovery() {
        return Err(
            Fault::new(sqlstate::NOT_IN_THIS_STATE, "a standby cannot be copied")
                .detail("Its copy would have to be promoted first.")
                .hint("Copy the primary server."),
        );
    }
    request::check_can_wait("fsbench.prepare_data()")
}

#[pg_extern(sql = false)]
fn fsbench_drop_data(data: Text) -> Result<i64, ErrorReport> {
    let ready = guard::ready()?;
    let mut busy = || Err(prepared_data::in_use());
    let places = Place::open_all(&mut busy)?;
    let mut found = Vec::new();
    for place in &places {
        found.extend(place.with_name(&data.0)?);
    }
    if found.is_empty() {
        return Err(Fault::new(
            sqlstate::NO_SUCH_OBJECT,
            format!("data {} do not exist", quoted(&data.0)),
        )
        .detail("The view fsbench.prepared_data has the names in its column data.")
        .hint("Give one of these names.")
        .into());
    }
    match user_of(&ready, &data.0)? {
        Some(whose) => Err(still_needed(&whose).into()),
        None => Ok(remove(&ready, &places, found)?),
    }
}

/// Whether a copy goes when a newer one is made, beyond the limit: this database has made it, no run is on or queued, no experiment uses it, and the
/// current role may drop it. Keeps no locks: a server may be copied for hours.
fn yields(ready: &Ready, note: &Note) -> Result<bool, Fault> {
    let Some(name) = note.name() else {
        return Ok(false);
    };
    let made_here = prepared_data::made_in(session::database())?;
    if note.made_in != Some(made_here)
        || note.needed_by().next().is_some()
        || ready.board.requests.iter().any(Request::is_open)
    {
        return Ok(false);
    }
    xact::without_keeping_locks(|| {
        Ok(request::may_execute("drop_data")? && user_of(ready, name)?.is_none())
    })
}

/// The experiment that is not over and uses the data of this name, in words; its first run may not have copied them yet.
fn user_of(ready: &Ready, data: &str) -> Result<Option<String>, Fault> {
    // One that commits meanwhile is found by its row.
    let databases = marker::databases_using(data, session::database())?;
    let experiment = session::with_rights_of(ready.owner, || store::using_data(data))?;
    if let Some(experiment) = experiment {
        return Ok(Some(format!("Experiment {}", quoted(&experiment))));
    }
    for database in databases {
        if let Some(name) = database_name(database)? {
            return Ok(Some(of_database(&name)));
        }
    }
    Ok(None)
}

fn of_database(name: &str) -> String {
    format!("An experiment of database {}", quoted(name))
}

/// Refuses to drop what the experiment of this mark is to copy again, unless that is over.
fn check_not_needed(ready: &Ready, mark: &Path) -> Result<(), Fault> {
    let whose = match marker::of_path(mark) {
        Some((database, id)) if database == session::database() => {
            let found = session::with_rights_of(ready.owner, || store::steered(id))?;
            let is_on = |found: &store::ExperimentControl| {
                !["done", "cancelled"].contains(&found.status.as_str())
            };
            match found.filter(is_on) {
                Some(found) => format!("Experiment {}", quoted(&found.experiment)),
                None => return Ok(()),
            }
        }
        Some((database, _)) => match database_name(database)? {
            Some(name) => of_database(&name),
            None => return Ok(()),
        },
        None => format!(
            "An experiment of another server, see \"{}\",",
            mark.display()
        ),
    };
    Err(still_needed(&whose))
}

/// The error of data that this experiment copies again.
fn still_needed(whose: &str) -> Fault {
    Fault::new(sqlstate::IN_USE, "prepared data are in use")
        .detail(format!("{whose} is not over, and all of its runs are to copy the same data."))
        .hint("Wait for it with CALL fsbench.wait_experiment(), or cancel it with fsbench.cancel_experiment().")
}

fn database_name(oid: u32) -> Result<Option<String>, Fault> {
    sql::read_latest(
        "SELECT datname FROM pg_catalog.pg_database WHERE oid = $1::oid",
        &[Some(&oid.to_string())],
    )
}
