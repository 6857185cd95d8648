//! `prepared_data` and `drop_prepared_data`.

use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    pg::text::Said,
    target::prepared_data::{self, Place},
};

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_prepared_data() -> Result<
    TableIterator<
        'static,
        (
            name!(contents, Said),
            name!(scale, i32),
            name!(fillfactor, i32),
            name!(unlogged, bool),
            name!(data_checksums, bool),
            name!(postgres, Said),
            name!(bytes, i64),
            name!(created_epoch, i64),
            name!(used_epoch, i64),
            name!(directory, Said),
        ),
    >,
    ErrorReport,
> {
    guard::ready()?;
    let rows: Vec<_> = prepared_data::list()?
        .into_iter()
        .map(|(path, note)| {
            (
                note.wanted.contents.into(),
                note.wanted.scale as i32,
                i32::from(note.wanted.fillfactor),
                note.wanted.unlogged,
                note.wanted.data_checksums,
                note.wanted.postgres.display().to_string().into(),
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
    guard::ready()?;
    let mut busy = || Err(prepared_data::in_use());
    Ok(Place::open(&mut busy)?.drop_all()? as i64)
}
