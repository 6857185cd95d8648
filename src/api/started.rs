//! The runs that this session's transaction has started: they stay when it fails, so that its error names them.

use std::sync::Mutex;

use pgfsbench_core::units::format_ids;

use crate::{errors::Fault, pg::xact};

/// Start of the transaction, and its runs. Of this backend alone.
static STARTED: Mutex<(i64, Vec<i64>)> = Mutex::new((0, Vec::new()));

/// Remembers a run.
pub fn remember(run_id: i64) {
    let Ok(mut started) = STARTED.lock() else {
        return;
    };
    let now = xact::started_at();
    if started.0 != now {
        *started = (now, Vec::new());
    }
    started.1.push(run_id);
}

/// Adds to an error which runs are queued or running nevertheless.
pub fn told(fault: Fault) -> Fault {
    let mut ids = match STARTED.lock() {
        Ok(started) if started.0 == xact::started_at() => started.1.clone(),
        _ => return fault,
    };
    ids.sort_unstable();
    let text = match ids.len() {
        0 => return fault,
        1 => format!(
            "Run {} was started before in this transaction, and stays.",
            ids[0]
        ),
        _ => format!(
            "Runs {} were started before in this transaction, and stay.",
            format_ids(&ids)
        ),
    };
    let detail = fault
        .detail
        .as_deref()
        .map_or_else(String::new, |detail| format!("{detail} "));
    fault.detail(format!("{detail}{text}"))
}
