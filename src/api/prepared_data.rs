//! `prepared_data` and `drop_prepared_data`.

use std::path::Path;

use pgfsbench_core::refusal::quoted;
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard::{self, Ready};
use crate::{
    errors::{Fault, sqlstate},
    pg::{session, sql, text::ReturnedText},
    run::marker,
    store::experiment as store,
    target::prepared_data::{self, Place},
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
    for file in data.iter().flat_map(|(_, note)| note.needed_by()) {
        check_not_needed(&ready, file)?;
    }
    let bytes = prepared_data::remove_all(data)?;
    prepared_data::forget_empty(&places)?;
    Ok(bytes as i64)
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
            Some(name) => format!("An experiment of database {}", quoted(&name)),
            None => return Ok(()),
        },
        None => format!(
            "An experiment of another server, see \"{}\",",
            mark.display()
        ),
    };
    Err(Fault::new(sqlstate::IN_USE, "prepared data are in use")
        .detail(format!("{whose} is not over, and all of its runs are to copy the same data."))
        .hint("Wait for it with CALL fsbench.wait_experiment(), or cancel it with fsbench.cancel_experiment()."))
}

fn database_name(oid: u32) -> Result<Option<String>, Fault> {
    sql::read(
        "SELECT datname FROM pg_catalog.pg_database WHERE oid = $1::oid",
        &[Some(&oid.to_string())],
    )
}
