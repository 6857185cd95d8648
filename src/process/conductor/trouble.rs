//! Troubles that stop an experiment: its row says why, so that no user has to look for it in the server's log.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use pgfsbench_core::units::format_count;

use super::{Conductor, LATER};
use crate::{
    clock,
    errors::Fault,
    pg::{report, shmem, xact},
    store::experiment as store,
};

/// An experiment is paused after this many failures in a row: about five minutes, in which a full disk may have been seen to.
const MOST_FAILURES: u32 = 10;
/// The beginning of its reason.
const BEGINS: &str = "it could not go on";

impl Conductor {
    /// Everything that could be done was done.
    pub(super) fn is_well(&self) {
        if self.slot.failures.swap(0, AcqRel) > 0 {
            self.say(|| xact::transaction(store::forget_trouble));
        }
    }

    /// Tries again later: another session keeps the experiment's row locked. That is no fault of the experiment, and no reason for others to wait.
    pub(super) fn comes_again(&self, fault: Fault) {
        xact::abort();
        self.stand_back();
        report::log_warning(&fault.context("will go on with an experiment later"));
    }

    /// Comes back after a while.
    pub(super) fn stand_back(&self) {
        self.look_after(LATER);
        let at = self.slot.look_at_ns.load(Acquire);
        self.slot.not_before_ns.store(at, Release);
        self.let_others_go_on();
    }

    /// Experiments of other databases go on, or where a run of this one is on, runs of others.
    fn let_others_go_on(&self) {
        match self.has_run() {
            true => self.board.experiment_slots.leave_block(self.place),
            false => self.board.experiment_slots.let_go(self.place),
        }
    }

    /// Whether a run of an experiment of this database is on or queued.
    fn has_run(&self) -> bool {
        let extension_database = self.slot.database.load(Acquire);
        self.board.requests.iter().any(|request| {
            request.is_open()
                && request.extension_database.load(Acquire) == extension_database
                && request.of_experiment.load(Acquire) != 0
        })
    }

    /// It is tried again later, or paused when that has not helped.
    pub(super) fn is_in_trouble(&self, fault: Fault) {
        xact::abort();
        self.slot.pause_after_failure(clock::now_ns());
        self.let_others_go_on();
        self.say(|| self.note(&fault));
        report::log_warning(&fault.context("could not go on with an experiment"));
    }

    /// Pauses an experiment whose stored rows cannot be used.
    pub(super) fn give_up(&self, on: &store::ExperimentControl, fault: Fault) -> Result<(), Fault> {
        xact::abort();
        self.again_as_owner()?;
        let detail = fault.detail.as_ref().map(|detail| format!(": {detail}"));
        let why = format!("{BEGINS}: {}{}", fault.message, detail.unwrap_or_default());
        self.pause(on, &why)?;
        self.board.experiment_slots.endings.fetch_add(1, AcqRel);
        shmem::announce();
        report::log_warning(&fault.context("could not go on with an experiment, and paused it"));
        Ok(())
    }

    /// Where nothing can be written, the log is all there is.
    fn say(&self, write: impl FnOnce() -> Result<(), Fault>) {
        if let Err(fault) = xact::catch(write).and_then(|result| result) {
            xact::abort();
            report::log_warning(&fault.context("could not note how an experiment goes on"));
        }
    }

    fn note(&self, fault: &Fault) -> Result<(), Fault> {
        self.again_as_owner()?;
        let Some(on) = xact::transaction(store::on)? else {
            return Ok(());
        };
        let failures = self.slot.failures.load(Acquire);
        let why = why(failures, fault);
        if failures < MOST_FAILURES {
            return xact::transaction(|| store::set_trouble(on.experiment_id, &why));
        }
        self.pause(&on, &why)?;
        self.slot.failures.store(0, Release);
        self.slot.not_before_ns.store(0, Release);
        // The next one's turn has come, and a session may wait for this one.
        self.slot.changes.fetch_add(1, AcqRel);
        self.board.experiment_slots.endings.fetch_add(1, AcqRel);
        shmem::announce();
        Ok(())
    }
}

fn why(failures: u32, fault: &Fault) -> String {
    let often = format_count(failures.into(), "time");
    let detail = fault.detail.as_ref().map(|detail| format!(": {detail}"));
    let detail = detail.unwrap_or_default();
    format!("{BEGINS}, {often} by now: {}{detail}", fault.message)
}
