//! `diff`: what differs between two runs.

use pgfsbench_core::difference;
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    errors::{Fault, sqlstate},
    pg::{session, text::ReturnedText},
    store,
};

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_diff(
    run_a: i64,
    run_b: i64,
) -> Result<
    TableIterator<
        'static,
        (
            name!(area, ReturnedText),
            name!(name, ReturnedText),
            name!(a, Option<ReturnedText>),
            name!(b, Option<ReturnedText>),
            name!(matters, ReturnedText),
            name!(why, ReturnedText),
        ),
    >,
    ErrorReport,
> {
    let rows = diff(run_a, run_b)?.into_iter().map(|d| {
        (
            d.area.as_str().into(),
            d.name.into(),
            d.a.map(ReturnedText),
            d.b.map(ReturnedText),
            d.matters.as_str().into(),
            d.why.sentence().into(),
        )
    });
    Ok(TableIterator::new(rows))
}

fn diff(a: i64, b: i64) -> Result<Vec<difference::Difference>, Fault> {
    if a == b {
        return Err(Fault::new(
            sqlstate::INVALID_PARAMETER,
            format!("run {a} cannot be compared with itself"),
        )
        .detail("The two arguments are the same run.")
        .hint("Give two runs; fsbench.result has those of this database."));
    }
    let extension = guard::extension()?;
    let document = |run_id| {
        session::with_rights_of(extension.owner, || store::document(run_id))?.ok_or_else(|| {
            Fault::new(
                sqlstate::INVALID_PARAMETER,
                format!("run {run_id} does not exist"),
            )
            .detail("There is no row with this run_id in fsbench.run_log of this database.")
            .hint("See fsbench.result.")
        })
    };
    Ok(difference::between(&document(a)?, &document(b)?))
}
