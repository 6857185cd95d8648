//! The coordinator: owns a run from its row to its end. It makes the work database, launches the other processes and
//! watches them, stores what they measured, and removes what was made.

mod claim_run;
pub mod on_target;
mod queue_worker;
mod task;

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use pgfsbench_core::{
    finding::{self, Unreleased},
    run::plan::Place,
    spec::Spec,
};
use serde_json::Value;

pub use task::main;

use crate::{
    bench::{Run, Span, extension_dropped, the_extension},
    board::{Board, Phase, Request, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    pg::{points::point, process, report, segment, session, shmem, xact},
    run::{
        cancellation,
        cleanup::{self, Remainder},
        journal, preflight,
    },
    store::{self, definition},
    workload,
};

fn free_run_area(board: &Board, index: u32) {
    let _ = board
        .run
        .request
        .compare_exchange(index + 1, 0, Release, Relaxed);
}

fn insert(board: &Board, request: &Request, spec: &Spec, status: &str) -> Result<i64, Fault> {
    point!("coordinator before the row");
    let arguments = board.texts(request).map(|texts| texts.arguments.get());
    let run_id = xact::transaction(|| {
        store_document(request, spec)?;
        let requested_by = session::role_name(request.role.load(Acquire));
        let run_id =
            store::insert_run(spec, &arguments.unwrap_or_default(), &requested_by, status)?;
        for (cell, half) in request.fingerprint.iter().zip(store::fingerprint(run_id)?) {
            cell.store(half, Release);
        }
        Ok(run_id)
    })?;
    request.run_id.store(run_id, Release);
    shmem::announce();
    Ok(run_id)
}

/// Stores the document of the run, which the caller has in a segment.
fn store_document(request: &Request, spec: &Spec) -> Result<(), Fault> {
    let handle = request.document.load(Acquire);
    let hash = spec.workload.document_hash(spec);
    match hash.filter(|_| handle != 0) {
        Some(hash) => store::script::insert(&hash, &segment::read(handle)?),
        None => Ok(()),
    }
}

impl Run {
    /// From the row to the end. An error means that something could not be cleared up.
    fn live(mut self) -> Result<(), Fault> {
        let result = xact::catch(|| self.carry_out()).and_then(|result| result);
        // Interrupts that came with an error must not hit what follows; a termination still ends the process.
        self.processes.disband();
        let mut is_stored_as_failed = false;
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(fault) => {
                xact::abort();
                let fault = self.explain(fault);
                let phases = self
                    .remote_phases
                    .take()
                    .unwrap_or_else(|| self.phase_times());
                let save = || {
                    report::or_log("could not store the end of the run", || {
                        xact::transaction(|| store::set_failed(self.run_id, &fault, Some(&phases)))
                    })
                };
                // The row of that number may be another's by now.
                let has_row = report::or_log("could not look for the extension", the_extension)
                    == Some(self.extension);
                // A second interrupt may have hit the first try.
                is_stored_as_failed = has_row && save().or_else(save).is_some();
                if !is_stored_as_failed {
                    report::log_warning(&fault);
                }
                Outcome::Failed(fault)
            }
        };
        // Before clearing up: should that fail, another worker does it, and leaves this as it is.
        outcome.tell(self.board, self.request);
        if is_stored_as_failed {
            self.store_checkpoints_of_failed();
        }
        self.enter(Phase::Cleanup, 0);
        let has_server = self
            .entry
            .as_ref()
            .is_some_and(|entry| entry.server.is_some());
        let began_ns = clock::now_ns();
        let is_done = matches!(outcome, Outcome::Done(_));
        let left = self.clean_up(is_done)?;
        if is_done || is_stored_as_failed {
            self.end_phase();
            let is_own = is_done && self.spec.is_here();
            let is_released = is_done && has_server && left == Remainder::Nothing;
            let ended_ns = clock::now_ns();
            let release = is_released.then_some(Span {
                name: "release",
                began_ns,
                ended_ns,
            });
            let release = release.map(|span| span.as_phase(self.started_ns));
            self.store_steps(is_own.then(|| self.phase_times()), release);
        }
        free_run_area(self.board, self.index);
        Ok(())
    }

    /// At the very end, when everything is cleared up. `release` is a phase that follows those that are stored.
    fn store_steps(&self, phases: Option<Value>, release: Option<Value>) {
        let steps = self.steps_begun();
        // Clearing up may have taken minutes, and the row of that number may be another's by now.
        if report::or_log("could not look for the extension", the_extension) != Some(self.extension)
        {
            return;
        }
        report::or_log("could not store the steps of the run", || {
            xact::transaction(|| {
                store::set_steps(self.run_id, &steps, phases.as_ref())?;
                release.map_or(Ok(()), |phase| store::add_phase(self.run_id, &phase))
            })
        });
    }

    /// The checkpoints of a run that has failed in its measured window, or after it: they may tell why. The run does not wait for them,
    /// and what goes wrong here is only logged.
    fn store_checkpoints_of_failed(&mut self) {
        let (start, now) = (self.observed.measure_start_ns, clock::now_ns());
        if start == 0 || now <= start {
            return;
        }
        let ends = [self.window_ended_ns, self.observed.measure_end_ns];
        let end = ends.into_iter().flatten().fold(now, u64::min);
        self.close_checkpoints(end);
        let outcome = self.checkpoints.outcome.as_ref();
        let rows = outcome.map_or(&[][..], |outcome| &outcome.of_window.rows);
        if rows.is_empty() {
            return;
        }
        report::or_log("could not store the checkpoints of the run", || {
            xact::transaction(|| store::insert(self.run_id, rows))
        });
    }

    /// The phases of a run, in their order.
    fn carry_out(&mut self) -> Result<Outcome, Fault> {
        process::become_undisturbed_owner(self.request.owner.load(Acquire))?;
        if the_extension()? != self.extension {
            return Err(extension_dropped());
        }
        if !self.spec.is_here() {
            return self.carry_out_on_target();
        }
        self.begin()?;
        self.plan(Place::Here);
        workload::of(&self.spec)?.carry_out(self)
    }

    /// The row: new, or the one that was queued.
    fn begin(&mut self) -> Result<(), Fault> {
        if self.run_id == 0 {
            self.run_id = insert(self.board, self.request, &self.spec, "running")?;
            return xact::transaction(|| definition::set_definition(self.run_id));
        }
        if !xact::transaction(|| store::set_running(self.run_id))? {
            return Err(claim_run::not_queued(self.run_id));
        }
        xact::transaction(|| definition::set_definition(self.run_id))?;
        // The server may have changed since it was asked for.
        let state = xact::transaction(preflight::server_state)?;
        preflight::check(&self.spec, &state)
    }

    /// The reason as it is stored: an interrupt of this process is what its sender meant.
    fn explain(&self, fault: Fault) -> Fault {
        if cancellation::is_cancelled(self.request) {
            return cancellation::fault(self.request);
        }
        if self.remote_has_ended {
            return fault;
        }
        if fault.is_cancel() {
            return Fault::new(sqlstate::CANCELED, "the run was canceled")
                .detail("Somebody called pg_cancel_backend() for one of its processes.");
        }
        // Without its tables everything that stores or asks fails, with errors that do not say why.
        match the_extension() {
            Ok(extension) if extension != self.extension => extension_dropped(),
            _ if self.spec.stage.is_on_own() => fault.without_values(),
            _ => fault,
        }
    }

    /// Removes or keeps what was made: by the plan, or if the run has failed, by the journal.
    fn clean_up(&mut self, done: bool) -> Result<Remainder, Fault> {
        let mut left = Remainder::Nothing;
        let Some(entry) = self.entry.take() else {
            return Ok(left);
        };
        let mut began_ns = 0;
        if done {
            while let Some(act) = self.next_step() {
                began_ns = clock::now_ns();
                left = left.max(cleanup::carry_out(&entry, act)?);
            }
        } else {
            left = cleanup::remove_what_was_made(&entry, &mut |act| {
                began_ns = clock::now_ns();
                self.tell_removal(act);
            })?;
        }
        if entry.prepared.is_some() {
            // It was the last step.
            self.tell_errand("release", began_ns);
        }
        if left != Remainder::Nothing {
            let unreleased = match entry.prepared {
                Some(_) => Unreleased::ByHelper,
                None => Unreleased::ByServer,
            };
            let finding = finding::not_released(&self.spec.target, unreleased);
            report::or_log("could not store a finding", || {
                xact::transaction(|| store::insert(self.run_id, &[finding]))
            });
        }
        if left != Remainder::Something {
            journal::remove(entry.extension_database, entry.run_id)?;
        }
        Ok(left)
    }
}
