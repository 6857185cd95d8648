//! An experiment as it is stored, read in one document.

use pgfsbench_core::experiment::state::State;

use crate::{
    errors::{Fault, contradicting_row, read_stored},
    pg::sql,
};

/// An experiment with its targets and runs, which have the value of the deciding metric, and that of this one if it is another. None when there is no
/// such experiment. With a snapshot taken now.
pub fn state(experiment_id: i64, metric: Option<&str>) -> Result<Option<State>, Fault> {
    let text = sql::read_latest(
        include_str!("queries/experiment_state.sql"),
        &[Some(&experiment_id.to_string()), metric],
    )?;
    let state: Option<State> = text
        .map(|text| read_stored("experiment", &text))
        .transpose()?;
    match state.as_ref().and_then(State::contradiction) {
        Some(why) => Err(contradicting_row("experiment", &why)),
        None => Ok(state),
    }
}

/// Names of the kinds of transactions that its runs have measured.
pub fn transactions(experiment_id: i64) -> Result<Vec<String>, Fault> {
    let text = sql::read_latest(
        include_str!("queries/experiment_transactions.sql"),
        &[Some(&experiment_id.to_string())],
    )?;
    read_stored("histogram", &text.unwrap_or_else(|| "[]".into()))
}
