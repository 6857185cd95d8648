//! The conductor: goes on with the experiments of one database. The janitor launches it whenever there may be something to do; it does all
//! that can be done at once, and leaves. What is to be done is decided by [`steps::next`], from the tables alone, so that it does not
//! matter where the one before was cut off.
//!
//! A run is started as anybody starts one, by `fsbench.start()`, with the rights of the role that has asked for the experiment. Its row in
//! `experiment_run` is committed before: when there is no run in it later, the run is looked for by its label.

mod over;
mod trouble;

use std::{
    sync::atomic::Ordering::{AcqRel, Acquire, Release},
    time::Duration,
};

use pgfsbench_core::{
    board::ExperimentSlot,
    experiment::{
        state::{ExperimentRun, Outcome, State},
        steps::{self, End, Next, Place},
    },
};

use crate::{
    board::{self, Board},
    clock,
    errors::{Fault, sqlstate},
    pg::{
        guc,
        points::point,
        process::{self, Database},
        report, session, shmem, xact,
    },
    process::janitor,
    run::{
        cleanup, experiment,
        experiment::{boot_id, versions},
        marker::{self, Ownership},
    },
    store::{self as results, experiment as store},
};

/// A session may keep a transaction open in which it has changed an experiment: for its row is waited so long, and there is one conductor for all
/// databases.
const LOCK_TIMEOUT: &str = "5s";
/// When a run could not be started for want of room among the workers or in the queue, or because of a lock, the conductor tries again after this time.
const LATER: Duration = Duration::from_secs(10);

/// Main of the background worker; the argument is the place of the database.
pub fn main(argument: i32, _serial: u32) {
    let Some(board) = shmem::board() else { return };
    let place = argument as usize;
    let slot = &board.experiment_slots.places[place];
    process::connect(Database::Oid(slot.database.load(Acquire)));
    process::on_exit(|| {
        if let Some(board) = shmem::board() {
            janitor::wake(board);
        }
    });
    process::report_activity("pgfsbench conductor");
    let changes = slot.changes.load(Acquire);
    slot.look_at_ns.store(0, Release);
    let conductor = Conductor { board, place, slot };
    match xact::catch(|| conductor.work()).and_then(|result| result) {
        Ok(()) => conductor.is_well(),
        Err(fault) if fault.sqlstate == sqlstate::LOCK_NOT_AVAILABLE => {
            conductor.comes_again(fault)
        }
        Err(fault) => conductor.is_in_trouble(fault),
    }
    slot.heard.store(changes, Release);
    slot.is_done.store(1, Release);
}

struct Conductor {
    board: &'static Board,
    place: usize,
    slot: &'static ExperimentSlot,
}

/// The conductor's next action after a step.
enum NextAction {
    /// Another step.
    GoOn,
    /// The conductor continues when a run is over, or when the time has come.
    Leave,
}

impl Conductor {
    fn work(&self) -> Result<(), Fault> {
        let Some(extension) = xact::transaction(cleanup::extension)? else {
            self.leave_idle();
            return Ok(());
        };
        become_owner(extension.owner)?;
        if extension.version != cleanup::VERSION {
            point!("conductor of another version");
            match cleanup::pause_experiments() {
                Some(true) => self.leave_idle(),
                // Another session has just updated the experiment.
                Some(false) => return self.work(),
                None => self.stand_back(),
            }
            return Ok(());
        }
        self.clear_up(&extension)?;
        loop {
            process::check_interrupts();
            let Some(on) = xact::transaction(store::on)? else {
                self.leave_idle();
                return Ok(());
            };
            if !self.board.experiment_slots.hold(self.place) {
                // Told when that one is over.
                self.slot.waits_for.store(0, Release);
                return Ok(());
            }
            match self.go_on(&on, extension.oid) {
                Ok(NextAction::GoOn) => {}
                Ok(NextAction::Leave) => return Ok(()),
                // It would fail each time. The others go on at once.
                Err(fault) if sqlstate::is_of_stored_rows(&fault.sqlstate) => {
                    self.give_up(&on, fault)?
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// A step of one experiment.
    fn go_on(&self, on: &store::ExperimentControl, extension: u32) -> Result<NextAction, Fault> {
        xact::catch(|| {
            if let Some(why) = self.why_not(on, extension)? {
                self.pause(on, &why)?;
                return Ok(NextAction::GoOn);
            }
            if on.status == "queued" {
                let is_started = xact::transaction(|| {
                    let is_started =
                        store::move_status(on.experiment_id, &["queued"], "running", None)?;
                    if is_started {
                        store::log(on.experiment_id, "started", None, None, None)?;
                    }
                    Ok(is_started)
                })?;
                if !is_started {
                    return Ok(NextAction::GoOn);
                }
            }
            self.step(on)
        })
        .and_then(|result| result)
    }

    /// There is no experiment here to go on with.
    fn leave_idle(&self) {
        self.slot.waits_for.store(0, Release);
        self.board.experiment_slots.let_go(self.place);
        self.slot.is_idle.store(1, Release);
    }

    /// Why an experiment does not go on by itself.
    fn why_not(
        &self,
        on: &store::ExperimentControl,
        extension: u32,
    ) -> Result<Option<String>, Fault> {
        let dropped = format!(
            "role \"{}\", which asked for it, was dropped",
            on.requested_by
        );
        let Some(role) = on.role else {
            return Ok(Some(dropped));
        };
        Ok(
            match marker::ownership(on.experiment_id, &on.mark, extension, role)? {
                Ownership::Ours => None,
                Ownership::OfAnotherRole => {
                    Some(format!("{dropped}, and there is another one of that name"))
                }
                Ownership::Copied => Some(
                    "it was not started in this database of this server: its rows were copied"
                        .into(),
                ),
            },
        )
    }

    /// The mark stays: it tells the role that asked from another one that has its name by now.
    fn pause(&self, on: &store::ExperimentControl, why: &str) -> Result<(), Fault> {
        xact::transaction(|| set_paused(on.experiment_id, why))
    }

    fn step(&self, on: &store::ExperimentControl) -> Result<NextAction, Fault> {
        let id = on.experiment_id;
        let Some(state) = xact::transaction(|| store::state(id, None))? else {
            return Ok(NextAction::GoOn);
        };
        let (boot_id, versions) = (boot_id(), versions()?);
        let progress = steps::next(&state, &boot_id, &versions);
        match progress.next {
            Next::Judge(index, outcome, why) => {
                self.judge(&state, index, outcome, why.as_deref())?;
                Ok(NextAction::GoOn)
            }
            Next::Count(index, outcome, why) => {
                self.count(&state, index, outcome, &why)?;
                Ok(NextAction::GoOn)
            }
            Next::TakeAsItIs(block, why) => {
                while_on(id, || store::take_as_it_is(id, block, &why))?;
                Ok(NextAction::GoOn)
            }
            Next::Wait(run_id) => {
                self.wait_for(run_id);
                Ok(NextAction::Leave)
            }
            Next::Find(index) => {
                self.find(&state, index)?;
                Ok(NextAction::GoOn)
            }
            Next::Repeat(block, why) => {
                while_on(id, || store::repeat_block(id, block, &why))?;
                Ok(NextAction::GoOn)
            }
            Next::Rate { rate, why } => {
                while_on(id, || store::set_rate(id, rate, &why))?;
                Ok(NextAction::GoOn)
            }
            Next::Wal(fixed) => {
                while_on(id, || store::set_wal(id, &fixed))?;
                Ok(NextAction::GoOn)
            }
            Next::RepeatBefore(block, why) => {
                while_on(id, || store::repeat_before(id, block, &why))?;
                Ok(NextAction::GoOn)
            }
            Next::Start(place) => {
                self.log_look(&state, progress.blocks)?;
                self.start(on, &state, place, &boot_id, &versions)
            }
            Next::End(end) => {
                self.end(&state, progress.blocks, &end)?;
                Ok(NextAction::GoOn)
            }
        }
    }

    fn look_after(&self, wait: Duration) {
        let at = clock::now_ns() + wait.as_nanos() as u64;
        self.slot.waits_for.store(0, Release);
        self.slot.look_at_ns.store(at, Release);
    }

    fn wait_for(&self, run_id: i64) {
        self.slot.waits_for.store(run_id, Release);
    }

    fn judge(
        &self,
        state: &State,
        index: usize,
        outcome: Outcome,
        why: Option<&str>,
    ) -> Result<(), Fault> {
        let id = state.experiment.experiment_id;
        let made = &state.runs[index];
        let mut judged = state.clone();
        judged.runs[index].outcome = Some(outcome);
        judged.runs[index].why = why.map(str::to_owned);
        let pause = steps::often_interrupted(&judged, index);
        let finding = steps::without_value(&judged.runs[index], steps::declared(state));
        point!("conductor before an outcome");
        // Once a user has ended the experiment, no more runs count.
        while_on(id, || {
            store::set_outcome(id, made, outcome, why)?;
            if let (Some(finding), Some(run_id)) = (finding, made.run_id) {
                results::insert(run_id, &[finding])?;
            }
            if !outcome.counts() {
                let name = &state.targets[made.number].name;
                let run = made
                    .run_id
                    .map_or_else(String::new, |run| format!("run {run} on "));
                let message = format!("{run}{name}: {}", why.unwrap_or_default());
                store::log(id, outcome.as_str(), Some(made.block), Some(&message), None)?;
            }
            store::set_aside(id, &steps::excluded(&judged))?;
            match &pause {
                Some(why) => set_paused(id, why),
                None => Ok(()),
            }
        })?;
        Ok(())
    }

    /// Has an attempt count that neighbours disturbed.
    fn count(&self, state: &State, index: usize, outcome: Outcome, why: &str) -> Result<(), Fault> {
        let id = state.experiment.experiment_id;
        let made = &state.runs[index];
        let mut counted = made.clone();
        counted.outcome = Some(outcome);
        let finding = steps::without_value(&counted, steps::declared(state));
        while_on(id, || {
            store::set_outcome(id, made, outcome, Some(why))?;
            if let (Some(finding), Some(run_id)) = (finding, made.run_id) {
                results::insert(run_id, &[finding])?;
            }
            let name = &state.targets[made.number].name;
            let run = made.run_id.unwrap_or_default();
            let message = format!("run {run} on {name}: {why}");
            store::log(id, "counted", Some(made.block), Some(&message), None)
        })?;
        Ok(())
    }

    /// Looks for the run that was about to be started.
    fn find(&self, state: &State, index: usize) -> Result<(), Fault> {
        let id = state.experiment.experiment_id;
        let made = &state.runs[index];
        let label = Place::of(made).label(state);
        while_on(id, || match store::find_run(id, made, &label)? {
            Some(run_id) => store::set_run(id, made, run_id),
            None => store::forget_run(id, made),
        })?;
        Ok(())
    }

    /// Notes what is known after a look, once.
    fn log_look(&self, state: &State, blocks: u32) -> Result<(), Fault> {
        let id = state.experiment.experiment_id;
        let is_look = state
            .experiment
            .looks
            .iter()
            .any(|look| look.blocks == blocks);
        if !is_look || xact::transaction(|| store::has_looked(id, blocks))? {
            return Ok(());
        }
        xact::transaction(|| {
            if !is_as_seen(state)? {
                return Ok(());
            }
            let line = experiment::answer_while_on(state, blocks)?;
            store::log(id, "look", Some(blocks), Some(&line), None)
        })
    }

    fn start(
        &self,
        on: &store::ExperimentControl,
        state: &State,
        place: Place,
        boot_id: &str,
        versions: &str,
    ) -> Result<NextAction, Fault> {
        let id = on.experiment_id;
        // Other runs go between two blocks.
        let is_first = !state.runs.iter().any(|made| made.block == place.block);
        self.board
            .experiment_slots
            .in_block
            .store(u32::from(!is_first), Release);
        let (made, label) = (place.made(), place.label(state));
        let is_on = xact::transaction(|| {
            let is_on = store::record_intent(id, place, boot_id, versions)?;
            if is_on {
                store::note_end(id, place.block, &steps::why_moved(state))?;
            }
            Ok(is_on)
        })?;
        if !is_on {
            return Ok(NextAction::GoOn);
        }
        let own = xact::transaction(|| store::own_parameters(id))?;
        let target = &state.targets[place.number].target;
        let own = own.get(&place.number).cloned().unwrap_or_default();
        let own = steps::own_parameters(state, place, &own);
        let seed = on.seed.wrapping_add(i64::from(place.block)) & i64::MAX;
        let role = on.role.unwrap_or_default();
        let parameters = steps::parameters(state, place, &on.parameters()?);
        board::start_for_experiment(id);
        let started = xact::transaction(|| {
            session::with_rights_of(role, || {
                store::start_run(target, &parameters, &own, seed, &label)
            })
        });
        // The transaction that failed has put the rights back where they were when the worker began.
        match started {
            Ok(run_id) => {
                locked(id, || store::set_run(id, &made, run_id))?;
                self.wait_for(run_id);
                Ok(NextAction::Leave)
            }
            Err(fault) => {
                self.again_as_owner()?;
                self.not_started(on, &made, fault)
            }
        }
    }

    fn again_as_owner(&self) -> Result<(), Fault> {
        match xact::transaction(cleanup::extension)? {
            Some(extension) => become_owner(extension.owner),
            None => Ok(()),
        }
    }

    fn not_started(
        &self,
        on: &store::ExperimentControl,
        made: &ExperimentRun,
        fault: Fault,
    ) -> Result<NextAction, Fault> {
        let id = on.experiment_id;
        match fault.sqlstate.as_str() {
            sqlstate::NOT_ALLOWED => {
                locked(id, || store::forget_run(id, made))?;
                let why = format!(
                    "role \"{}\", which asked for it, may not make its runs: {}",
                    on.requested_by, fault.message
                );
                self.pause(on, &why)?;
                Ok(NextAction::GoOn)
            }
            sqlstate::NO_RESOURCES | sqlstate::LIMIT_REACHED | sqlstate::LOCK_NOT_AVAILABLE => {
                if fault.sqlstate == sqlstate::LOCK_NOT_AVAILABLE {
                    report::log_warning(&fault.context("will start a run of an experiment later"));
                }
                locked(id, || store::forget_run(id, made))?;
                // A run that waits for the end of the block may take the room.
                self.board.experiment_slots.leave_block(self.place);
                self.look_after(LATER);
                Ok(NextAction::Leave)
            }
            _ if has_other_version()? => {
                // Another session has updated the experiment since it was read. The next conductor pauses the running experiment.
                locked(id, || store::forget_run(id, made))?;
                self.look_after(Duration::ZERO);
                Ok(NextAction::Leave)
            }
            _ => {
                let why = match &fault.detail {
                    Some(detail) => format!("{}: {detail}", fault.message),
                    None => fault.message,
                };
                while_on(id, || {
                    store::set_outcome(id, made, Outcome::Failed, Some(&why))?;
                    store::log(id, "failed", Some(made.block), Some(&why), None)
                })?;
                Ok(NextAction::GoOn)
            }
        }
    }

    fn end(&self, state: &State, blocks: u32, end: &End) -> Result<(), Fault> {
        let why = end.why(blocks);
        let is_over = xact::transaction(|| {
            if !is_as_seen(state)? {
                return Ok(false);
            }
            experiment::end(state, blocks, "done", end.reason(), why.as_deref(), None)?;
            Ok(true)
        })?;
        if !is_over {
            return Ok(());
        }
        marker::remove_of_those_over()?;
        // Wakes the sessions that wait for it.
        self.board.experiment_slots.endings.fetch_add(1, AcqRel);
        shmem::announce();
        Ok(())
    }
}

/// Whether the extension has another version than this library.
fn has_other_version() -> Result<bool, Fault> {
    let found = xact::transaction(cleanup::extension)?;
    Ok(found.is_some_and(|extension| extension.version != cleanup::VERSION))
}

fn become_owner(owner: u32) -> Result<(), Fault> {
    process::become_undisturbed_owner(owner)?;
    guc::apply("lock_timeout", LOCK_TIMEOUT)
}

/// In a transaction of its own: `f` changes something of an experiment, whether it is on or not.
fn locked(experiment_id: i64, f: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
    xact::transaction(|| {
        store::lock(experiment_id)?;
        f()
    })
}

/// In a transaction of its own, unless a user has paused or cancelled the experiment: `f` changes something of an experiment. Whether it did.
fn while_on(experiment_id: i64, f: impl FnOnce() -> Result<(), Fault>) -> Result<bool, Fault> {
    xact::transaction(|| {
        let is_on = store::stays_running(experiment_id)?;
        if is_on {
            f()?;
        }
        Ok(is_on)
    })
}

/// Whether an experiment is running and unchanged since it was read: not paused, cancelled or extended. The row is locked until the end of the transaction.
fn is_as_seen(state: &State) -> Result<bool, Fault> {
    let seen = &state.experiment;
    if !store::stays_running(seen.experiment_id)? {
        return Ok(false);
    }
    let now = store::state(seen.experiment_id, None)?;
    Ok(now.is_some_and(|now| {
        let now = now.experiment;
        now.looks == seen.looks && now.max_seconds == seen.max_seconds
    }))
}

/// In a transaction. An experiment that a user has cancelled or paused meanwhile stays so.
fn set_paused(id: i64, why: &str) -> Result<(), Fault> {
    match store::move_status(id, &["queued", "running"], "paused", Some(why))? {
        true => store::log(id, "paused", None, Some(why), None),
        false => Ok(()),
    }
}
