//! What is left to be done for experiments that somebody has cancelled or dropped: only what is committed counts, and the session that has committed it can
//! do nothing more.

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
        let runs: Vec<(i64, &Request)> = self.runs_of_experiments(extension.oid).collect();
        let ids: Vec<i64> = runs.iter().map(|(id, _)| *id).collect();
        if !ids.is_empty() {
            for (id, by) in xact::transaction(|| store::cancelled_or_dropped(&ids))? {
                let of_it = runs.iter().filter(|(of, _)| *of == id);
                of_it.for_each(|(_, run)| self.cancel(run, id, by.as_deref().unwrap_or_default()));
            }
        }
        marker::remove_of_those_over()
    }

    /// Runs of this database's experiments that are on or queued, each with the number of its experiment, which may be gone from the tables.
    fn runs_of_experiments(&self, extension: u32) -> impl Iterator<Item = (i64, &Request)> {
        let home = self.home.database.load(Acquire);
        let is_here = move |request: &&Request| {
            request.is_open()
                && request.home.load(Acquire) == home
                && request.extension.load(Acquire) == extension
        };
        let here = self.board.requests.iter().filter(is_here);
        here.map(|request| (request.of_experiment.load(Acquire), request))
            .filter(|(experiment, _)| *experiment != 0)
    }

    /// Its place may have become another run's since it was looked at: what it is of is looked at again.
    fn cancel(&self, request: &Request, experiment: i64, by: &str) {
        if request.is_open() && request.of_experiment.load(Acquire) == experiment {
            request.set_cancel(Cancel::Asked, by);
            process::wake(request.coordinator.load(Acquire));
            janitor::wake(self.board);
        }
    }
}
