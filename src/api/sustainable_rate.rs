//! `sustainable_rate`: a run that searches for the highest rate under a limit of latency.

use pgfsbench_core::{run::rate_search, spec::RunArguments};
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys, pg_sys::panic::ErrorReport};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{guard, request, run};
use crate::{
    errors::{Fault, read_stored},
    pg::{arguments, session, sql, xact},
};

/// The result of a search, from its row.
#[derive(Deserialize)]
struct SearchRow {
    run_id: i64,
    target: String,
    rate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    probes: i32,
    says: String,
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_sustainable_rate(
    call: pg_sys::FunctionCallInfo,
) -> Result<
    TableIterator<
        'static,
        (
            name!(run_id, i64),
            name!(target, String),
            name!(rate, Option<f64>),
            name!(low, Option<f64>),
            name!(high, Option<f64>),
            name!(probes, i32),
            name!(says, String),
        ),
    >,
    ErrorReport,
> {
    let found = search(&arguments(call)?)?;
    let round = |rate: Option<f64>| rate.map(|rate| (rate * 10.0).round() / 10.0);
    Ok(TableIterator::once((
        found.run_id,
        found.target,
        round(found.rate),
        round(found.low),
        round(found.high),
        found.probes,
        found.says,
    )))
}

/// The arguments of a run, with the percentile among its options.
fn arguments(call: pg_sys::FunctionCallInfo) -> Result<RunArguments, Fault> {
    let mut given = arguments::named(call)?;
    let percentile = rate_search::percentile(given.remove("percentile").as_ref())?;
    let options = given
        .entry("options")
        .or_insert_with(|| Value::Object(Map::new()));
    // Options that are no object are refused later, as for any run.
    if let Value::Object(options) = options {
        options.insert("sustain".into(), percentile.into());
    }
    request::of_arguments(given)
}

fn search(arguments: &RunArguments) -> Result<SearchRow, Fault> {
    let run_id = run::run(c"fsbench.sustainable_rate()", arguments)?.run_id;
    let owner = guard::ready()?.owner;
    let text = session::with_rights_of(owner, || {
        xact::without_keeping_locks(|| {
            sql::read_latest(
                "SELECT jsonb_build_object('run_id', run_id, 'target', target, 'rate', sustainable_rate, 'low', sustainable_rate_low, \
                   'high', sustainable_rate_high, 'says', sustainable_rate_says, \
                   'probes', (SELECT count(*) FROM fsbench.probe p WHERE p.run_id = r.run_id AND p.rate IS NOT NULL)) \
                 FROM fsbench.run_log r WHERE run_id = $1::bigint",
                &[Some(&run_id.to_string())],
            )
        })
    })?;
    read_stored("result of the search", &text.unwrap_or_default())
}
