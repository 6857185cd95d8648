//! The end of a run: the facts that were gathered become the rows that are stored.

use pgfsbench_core::{
    finding::{RunFacts, StorageFacts},
    recovery_log::lsn_text,
    run::{
        checkpoint_watch::counted,
        row::{Done, Measured},
    },
};
use serde_json::{Value, json};

use super::Run;
use crate::{
    board::outcome::Outcome,
    errors::Fault,
    host::{location, storage},
    pg::xact,
    run::judgement,
    store,
};

/// Stores the result of a run of whatever workload, as `done`, in one transaction: what its workload has measured, what every run
/// has, the rows of `rows`, the environment and the findings. Gives how the run ended, as it is stored.
pub fn finish(
    run: &Run,
    measured: Measured,
    phases: Value,
    rows: impl FnOnce() -> Result<(), Fault>,
) -> Result<Outcome, Fault> {
    let observed = &run.observed;
    let checkpoints = run.checkpoints.outcome.as_ref();
    let difference = run.statistics.difference.as_ref();
    let timing = run.statistics.clients();
    let done = Done {
        status: "done",
        used: run.spec.stored(),
        phases,
        steps: run.steps_begun(),
        kept: run.spec.keep,
        load_ms: observed.load_ms,
        data_bytes: observed.data_bytes,
        xids_used: observed.xid_at_end.unwrap_or_else(xact::next_xid) - observed.xid_at_start,
        wal_bytes: observed.end_lsn - observed.start_lsn,
        wal_start_lsn: lsn_text(observed.start_lsn),
        wal_end_lsn: lsn_text(observed.end_lsn),
        checkpoints: counted(
            checkpoints,
            difference.map(|difference| &difference.rows[..]),
        ),
        io: difference
            .map(|difference| pgfsbench_core::statistics::io_bytes(&difference.rows))
            .unwrap_or_default(),
        track_io_timing: timing.map(|timing| timing.io),
        track_wal_io_timing: timing.map(|timing| timing.wal),
        clock_read_ns: observed.clock_read_ns,
        facts: json!(facts(run)),
        measured,
    };
    let environment = &run.observed.environment;
    xact::transaction(|| {
        let id = run.run_id;
        store::set_done(id, &done)?;
        store::set_times(id, observed.measured_from)?;
        store::insert(id, std::slice::from_ref(environment))?;
        if let Some(outcome) = checkpoints {
            store::insert(id, &outcome.of_window.rows)?;
        }
        if let Some(difference) = difference {
            store::insert(id, &difference.rows)?;
        }
        store::insert(id, &run.statements.rows)?;
        rows()?;
        judgement::store(id)
    })
}

/// Facts of a run that have no column of their own.
fn facts(run: &Run) -> RunFacts {
    let promises = run.observed.promises.as_ref();
    let checkpoints = run.checkpoints.outcome.as_ref();
    let difference = run.statistics.difference.as_ref();
    let (data, wal) = (location::data_location(), location::wal_location());
    let observed = run.observed.surroundings.facts();
    RunFacts {
        has_unlike_parts: Some(run.spec.workload.has_unlike_parts(&run.spec)),
        reset_views: difference.map(|difference| difference.reset.clone()),
        statements: run.statements.recorded,
        log_checkpoints: checkpoints.map(|outcome| outcome.log_checkpoints),
        fsync: promises.map(|p| p.fsync),
        full_page_writes: promises.map(|p| p.full_page_writes),
        synchronous_commit: promises.map(|p| p.synchronous_commit(&run.spec.settings)),
        xmin_holders: Some(run.observed.old_xmin.holders().to_vec()),
        data_place: data.as_ref().and_then(location::Location::place),
        wal_place: wal.as_ref().and_then(location::Location::place),
        other_storage: storage::others(data.as_ref(), wal.as_ref()),
        wal: run
            .observed
            .wal(checkpoints.and_then(|outcome| outcome.recycled())),
        storage: StorageFacts {
            zfs_flushes: storage::zfs_flushes(),
            ..observed.storage
        },
        ..observed
    }
}
