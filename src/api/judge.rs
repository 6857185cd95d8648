//! `judge`: what is found about a run, again.

use pgrx::{iter::TableIterator, name, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    errors::{Fault, sqlstate},
    pg::{session, text::ReturnedText},
    run::judgement,
};

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_judge(
    run_id: i64,
) -> Result<
    TableIterator<
        'static,
        (
            name!(code, ReturnedText),
            name!(severity, ReturnedText),
            name!(message, ReturnedText),
            name!(hint, ReturnedText),
        ),
    >,
    ErrorReport,
> {
    Ok(TableIterator::new(judge(run_id)?))
}

fn judge(
    run_id: i64,
) -> Result<Vec<(ReturnedText, ReturnedText, ReturnedText, ReturnedText)>, Fault> {
    let extension = guard::extension()?;
    let findings = session::with_rights_of(extension.owner, || judgement::judge(run_id))?;
    let findings = findings.ok_or_else(|| {
        Fault::new(
            sqlstate::INVALID_PARAMETER,
            format!("there is no run {run_id} that is done"),
        )
        .detail("Only runs that are done are judged.")
        .hint("See fsbench.result for the runs of this database and their status.")
    })?;
    let rows = findings.into_iter().map(|f| {
        (
            f.code.into(),
            f.severity.as_str().into(),
            f.message.into(),
            f.hint.into(),
        )
    });
    Ok(rows.collect())
}
