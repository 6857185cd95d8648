//! Runs that wait for their turn: their rows have what was asked for, and shared memory has what these rows must say.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    errors::{Fault, read_stored, sqlstate},
    pg::sql,
};

/// Hash of the arguments of a queued run, in hexadecimal digits. In the order of jsonb, whatever the order given.
const FINGERPRINT: &str =
    "left(encode(sha256(convert_to(jsonb_build_array(used, asked)::text, 'UTF8')), 'hex'), 32)";

/// The row of a queued run.
#[derive(Deserialize)]
pub struct Queued {
    /// The specification.
    pub used: Value,
    /// The arguments as given.
    pub asked: Value,
    fingerprint: String,
}

impl Queued {
    /// Whether it says what it said when it was stored.
    pub fn is_unchanged(&self, since: [u64; 2]) -> bool {
        parse(&self.fingerprint).is_ok_and(|now| now == since)
    }
}

fn parse(digits: &str) -> Result<[u64; 2], Fault> {
    let half = |at: usize| {
        digits
            .get(at..at + 16)
            .and_then(|half| u64::from_str_radix(half, 16).ok())
    };
    half(0).zip(half(16)).map_or_else(
        || Err(Fault::new(sqlstate::INTERNAL, "unreadable fingerprint")),
        |(first, second)| Ok([first, second]),
    )
}

/// The fingerprint of a row that this transaction has inserted.
pub fn fingerprint(run_id: i64) -> Result<[u64; 2], Fault> {
    let digits = sql::write(
        &format!("SELECT {FINGERPRINT} FROM fsbench.run_log WHERE run_id = $1::bigint"),
        &[Some(&run_id.to_string())],
    )?;
    parse(&digits.unwrap_or_default())
}

/// The row of a queued run; None when it is gone, or says something else.
pub fn queued(run_id: i64) -> Result<Option<Queued>, Fault> {
    let text = sql::read(
        &format!(
            "SELECT jsonb_build_object('used', used, 'asked', asked, 'fingerprint', {FINGERPRINT}) \
             FROM fsbench.run_log WHERE run_id = $1::bigint AND status = 'queued'"
        ),
        &[Some(&run_id.to_string())],
    )?;
    text.map(|text| read_stored("row of a queued run", &text))
        .transpose()
}

/// One of these runs that is to be made on a target.
pub fn queued_on(target: &str, runs: &[i64]) -> Result<Option<i64>, Fault> {
    let found = sql::read_latest(
        "SELECT min(run_id) FROM fsbench.run_log WHERE target = $1 AND run_id = ANY ($2::bigint[])",
        &[Some(target), Some(&super::array(runs))],
    )?;
    Ok(found.and_then(|id| id.parse().ok()))
}
