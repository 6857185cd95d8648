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
    /// Cancels the runs of experiments that were cancelled, and removes the marks of those that are over.
    pub(super) fn clear_up(&self, extension: &Extension) -> Result<(), Fault> {
        for (run_id, by) in xact::transaction(store::runs_of_cancelled)? {
            self.cancel(extension.oid, run_id, &by.unwrap_or_default());
        }
        marker::remove_of_those_over()
    }

    fn cancel(&self, extension: u32, run_id: i64, by: &str) {
        let home = self.home.database.load(Acquire);
        let is_it = |request: &&Request| {
            request.run_id.load(Acquire) == run_id
                && request.home.load(Acquire) == home
                && request.extension.load(Acquire) == extension
                && request.is_open()
        };
        if let Some(request) = self.board.requests.iter().find(is_it) {
            request.set_cancel(Cancel::Asked, by);
            process::wake(request.coordinator.load(Acquire));
            janitor::wake(self.board);
        }
    }
}
