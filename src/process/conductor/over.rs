//! Work that is left for experiments that were cancelled or dropped: only a committed change counts, and the session that has committed it can do
//! nothing more.

use std::sync::atomic::Ordering::Acquire;

use super::Conductor;
use crate::{
    board::{Cancel, Request},
    errors::Fault,
    pg::{process, xact},
    process::janitor,
    run::{cleanup::Extension, marker},
    store::experiment as store,
};

impl Conductor {
    /// Cancels the runs of experiments that were cancelled or dropped, and removes the marks of those that are over.
    pub(super) fn clear_up(&self, extension: &Extension) -> Result<(), Fault> {
        let runs: Vec<ActiveRun> = self.runs_of_experiments(extension.oid).collect();
        let ids: Vec<i64> = runs.iter().map(|run| run.experiment).collect();
        if !ids.is_empty() {
            for (id, by) in xact::transaction(|| store::cancelled_or_dropped(&ids))? {
                let of_it = runs.iter().filter(|run| run.experiment == id);
                of_it.for_each(|run| self.cancel(run, by.as_deref().unwrap_or_default()));
            }
        }
        marker::remove_of_those_over()
    }

    fn runs_of_experiments(&self, extension: u32) -> impl Iterator<Item = ActiveRun<'_>> {
        let extension_database = self.slot.database.load(Acquire);
        let is_here = move |request: &&Request| {
            request.is_open()
                && request.extension_database.load(Acquire) == extension_database
                && request.extension.load(Acquire) == extension
        };
        let here = self.board.requests.iter().filter(is_here);
        here.map(|request| ActiveRun {
            experiment: request.of_experiment.load(Acquire),
            ticket: request.ticket.load(Acquire),
            request,
        })
        .filter(|run| run.experiment != 0)
    }

    /// Cancels the run, unless its place has become another run's since: then the ticket is another one.
    fn cancel(&self, run: &ActiveRun, by: &str) {
        let request = run.request;
        if request.is_open() && request.ticket.load(Acquire) == run.ticket {
            request.set_cancel(Cancel::Requested, by);
            process::wake(request.coordinator.load(Acquire));
            janitor::wake(self.board);
        }
    }
}

/// A run of this database that is on or queued. Its experiment may be gone from the tables.
struct ActiveRun<'a> {
    experiment: i64,
    ticket: u64,
    request: &'a Request,
}
