//! A run on another target than this server's own data directory: a server of its own is put there, carries the run out as
//! any server does on itself, and gives the whole result in one document. The same engine runs everywhere.

mod connection;
mod crash;
mod data;
mod filesystem;
mod instances;
mod power_cut;
mod remote;
mod server_setup;

use pgfsbench_core::{
    run::{
        plan::{Place, TargetState, phase_of},
        remote_request::Executor,
    },
    spec::{Act, Data, HelperTask, Stage},
};
use serde_json::{Value, json};

use crate::{
    bench::{Run, Span},
    board::{Phase, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    pg::{config, session, xact},
    run::{
        journal::{self, Entry},
        judgement, plan, preflight,
    },
    store,
    target::{self, ServerPlace, Target, helper_job, server::programs::Programs},
};
use crash::Crashed;
use data::{DataSource, Prepared};
use power_cut::PowerCuts;
use remote::Measured;
use server_setup::ServerSetup;

/// How far a run on a server of our own has come.
struct TargetRunProgress<'a> {
    target_state: TargetState,
    /// Where the data come from that are copied; None where there are none.
    supply: Option<DataSource>,
    server: ServerSetup<'a>,
    /// Further servers, which are measured with that one.
    others: Vec<ServerSetup<'a>>,
    measured: Option<Measured>,
    crashed: Option<Crashed>,
    power_cuts: Option<PowerCuts>,
}

impl TargetRunProgress<'_> {
    /// The data that are copied.
    fn prepared(&self) -> Option<&Prepared> {
        self.supply.as_ref()?.prepared.as_ref()
    }

    /// The stage of the run for the server there.
    fn stage(&self) -> Stage {
        let copied = self.prepared().map(|prepared| prepared.stage.clone());
        copied.unwrap_or(Stage::WholeOfTarget)
    }
}

/// The next step of a run on a target, and the server that carries it out.
#[derive(Clone, Copy)]
enum NextStep {
    Ours(Act),
    /// The server's that is measured, which tells afterwards what it has done.
    OfServer,
}

impl Run {
    /// From the row to the result, on the target.
    pub(super) fn carry_out_on_target(&mut self) -> Result<Outcome, Fault> {
        self.begin()?;
        self.enter(Phase::Provision, 0);
        let target = xact::transaction(|| {
            preflight::check_target(&self.spec)?;
            target::find(&self.spec.target)
        })?;
        if matches!(
            target.on,
            ServerPlace::Directory(_) | ServerPlace::Made { .. }
        ) {
            self.note_asking_server()?;
        }
        if target.power_loss_protected {
            self.note("power_loss_protected", json!(true));
        }
        match &target.on {
            ServerPlace::Connection(connection) => self.carry_out_on_connection(connection),
            ServerPlace::Directory(_) | ServerPlace::Made { .. } => self.carry_out_near(target),
        }?;
        xact::transaction(|| {
            // The server there did not know its own filesystem, nor this server.
            judgement::store(self.run_id)
        })
    }

    /// Notes the memory that this server takes in addition to the measured one.
    fn note_asking_server(&mut self) -> Result<(), Fault> {
        let bytes = xact::transaction(|| config::bytes("shared_buffers"))?;
        self.note("asking_server", json!({"shared_buffers_bytes": bytes}));
        Ok(())
    }

    /// On a server of our own on this machine, step by step of the plan.
    fn carry_out_near(&mut self, target: Target) -> Result<(), Fault> {
        let programs = xact::transaction(|| Programs::of(&target))?;
        if matches!(target.on, ServerPlace::Made { .. }) {
            // Before data are loaded for nothing.
            let patience = self.patience();
            helper_job::wait_for_helper(patience, &mut || self.check_interrupts())?;
            self.prepared_earlier(&target.name)?;
        }
        let (source, supply) = self.supply_of(&target, &programs)?;
        let target_state = xact::transaction(|| plan::target_state(&target, source))?;
        self.plan(Place::TargetState(target_state));
        let mut at = TargetRunProgress {
            target_state,
            supply,
            server: ServerSetup::on(&target, &programs),
            others: (1..self.spec.options.instances)
                .map(|_| ServerSetup::on(&target, &programs))
                .collect(),
            measured: None,
            crashed: None,
            power_cuts: None,
        };
        loop {
            match self.turn()? {
                NextStep::OfServer => {
                    let stage = at.stage();
                    at.measured = Some(match &mut at.others[..] {
                        [] => {
                            let connection = at.server.connected()?;
                            let measured = self.run_remotely(connection, Executor::Own(&stage));
                            measured.map_err(|fault| {
                                let fault = at.server.explain(fault);
                                self.unless_record_is_full(&at.server, fault)
                            })?
                        }
                        others => {
                            let all = std::iter::once(&mut at.server).chain(others);
                            self.run_together(&mut all.collect::<Vec<_>>(), &stage)?
                        }
                    });
                }
                NextStep::Ours(Act::Collect) => {
                    for server in std::iter::once(&mut at.server).chain(&mut at.others) {
                        drop(server.connection.take());
                    }
                    self.note_copy(&at);
                    let measured = at.measured.as_ref();
                    return self.store_measured(
                        measured,
                        at.crashed.as_ref(),
                        at.power_cuts.as_ref(),
                    );
                }
                NextStep::Ours(act) => {
                    let began_ns = clock::now_ns();
                    if self.take_step(&mut at, act)? {
                        self.end_step(act, began_ns);
                    }
                }
            }
        }
    }

    /// Whose turn it is by the plan; a step of ours begins.
    fn turn(&mut self) -> Result<NextStep, Fault> {
        if self.cursor.next().is_some_and(Act::is_told_by_server) {
            return Ok(NextStep::OfServer);
        }
        let act = self.next_step().ok_or_else(|| self.stored_nothing())?;
        Ok(NextStep::Ours(act))
    }

    /// Takes a step of ours, before or after the run there. False if it has failed and that is a result of the crash.
    fn take_step(&mut self, at: &mut TargetRunProgress, act: Act) -> Result<bool, Fault> {
        if act == Act::CrashServer {
            at.crashed = Some(Crashed::of(self.spec.workload, at.measured.as_ref())?);
        }
        let result = self.try_step(at, act);
        let is_done = result.is_ok();
        match &mut at.crashed {
            Some(crashed) => self.note_problem(&at.server, crashed, result)?,
            None => result.map_err(|fault| at.server.explain(fault))?,
        }
        Ok(is_done)
    }

    fn try_step(&mut self, at: &mut TargetRunProgress, act: Act) -> Result<(), Fault> {
        let server = &mut at.server;
        match (act, &mut at.crashed) {
            (Act::LoadOnce, _) => self.load_once(at),
            (Act::Job(HelperTask::ReleaseEarlier), _) => self.release_earlier(&server.target.name),
            (Act::Job(HelperTask::Prepare), _) => {
                server.place = self.make_filesystem(server.target)?;
                Ok(())
            }
            (Act::Job(HelperTask::DropCaches), crashed) => {
                self.send_helper(&server.target.name, HelperTask::DropCaches, &json!({}))?;
                if let Some(crashed) = crashed {
                    crashed.recovery.cache_cold = Some(true);
                }
                Ok(())
            }
            (Act::MakeDirectory, _) => {
                self.remove_earlier(&server.place)?;
                self.check_place(server.target, &server.place)?;
                for other in &mut at.others {
                    other.place.clone_from(&server.place);
                }
                self.set_up_all(at, act)
            }
            (Act::CopyData, _) => self.copy(at),
            (Act::ForgetData, _) => std::iter::once(&*server)
                .chain(&at.others)
                .try_for_each(|server| server.server()?.forget_pages()),
            (Act::CrashServer, Some(crashed)) => self.crash(server, crashed),
            (Act::ForgetAgain, _) => server
                .server()?
                .sync_and_forget(&mut || self.check_interrupts()),
            (Act::Job(HelperTask::Remount), Some(crashed)) => {
                self.remount(&server.target.name, crashed)
            }
            (Act::StartAgain, Some(crashed)) => self.start_again(server, crashed),
            (Act::VerifyAgain, Some(crashed)) => self.verify_again(server, crashed),
            (Act::CutPower, _) => {
                at.power_cuts = Some(self.cut_power(server, at.measured.as_ref())?);
                Ok(())
            }
            _ if act.is_of_each_server() => self.set_up_all(at, act),
            // One sync is of the whole filesystem.
            _ => self.set_up_server(server, act),
        }
    }

    /// Takes a step on the way to each server.
    fn set_up_all(&mut self, at: &mut TargetRunProgress, act: Act) -> Result<(), Fault> {
        self.set_up_server(&mut at.server, act)?;
        for (instance, other) in (2..).zip(&mut at.others) {
            let done = self.set_up_server(other, act);
            done.map_err(|fault| self.fault_of_instance(instance, other, fault))?;
        }
        Ok(())
    }

    /// Remembers that a step is over, for the phases of the run.
    fn end_step(&mut self, act: Act, began_ns: u64) {
        let before = self.spans.last().map(|span| span.name);
        let Some(name) = phase_of(act, before) else {
            return;
        };
        let ended_ns = clock::now_ns();
        match self.spans.last_mut() {
            Some(last) if last.name == name => last.ended_ns = ended_ns,
            _ => self.spans.push(Span {
                name,
                began_ns,
                ended_ns,
            }),
        }
    }

    /// Stores facts about the data that were copied.
    fn note_copy(&mut self, at: &TargetRunProgress) {
        let Some(prepared) = at.prepared() else {
            return;
        };
        let span = self.spans.iter().find(|span| span.name == "copy");
        let copy_ms = span.map(|span| clock::ms(span.began_ns, span.ended_ns));
        let options = &self.spec.options;
        let is_clone = options.data == Data::Cloned;
        let copied = json!({"copied_bytes": prepared.bytes * u64::from(options.instances), "copy_ms": copy_ms, "cache": options.cache, "cloned": is_clone});
        self.note("data", copied);
    }

    /// Adds to what is stored about the storage of the run.
    fn note(&mut self, name: &str, what: Value) {
        let storage = self.storage.get_or_insert_with(|| json!({}));
        storage[name] = what;
    }

    /// Changes the entry of the journal, and has it on disk.
    fn record(&mut self, change: impl FnOnce(&mut Entry)) -> Result<(), Fault> {
        let mut entry = self
            .entry
            .take()
            .unwrap_or_else(|| Entry::on_target(session::database(), self.run_id));
        change(&mut entry);
        let written = journal::write(&entry);
        self.entry = Some(entry);
        written
    }

    /// Stores it, with the results of a crash and of power cuts after it.
    fn store_measured(
        &mut self,
        measured: Option<&Measured>,
        crashed: Option<&Crashed>,
        power_cuts: Option<&PowerCuts>,
    ) -> Result<(), Fault> {
        self.enter(Phase::Collect, 0);
        let none = || Fault::new(sqlstate::INTERNAL, "nothing was measured");
        let measured = measured.ok_or_else(none)?;
        let Measured {
            document,
            tables,
            is_of_another,
            instances,
            ..
        } = measured;
        let phases = self.phases_with_those_of(document, measured.before_ns);
        let steps = self.steps_begun();
        xact::transaction(|| {
            if *is_of_another {
                store::check_import(document, tables)?;
            }
            store::import(self.run_id, document, tables, &phases, &steps)?;
            if *is_of_another {
                store::forget_hints(self.run_id)?;
            }
            store::insert(self.run_id, instances)?;
            if let Some(crashed) = crashed {
                crashed.store(self.run_id)?;
            }
            if let Some(power_cuts) = power_cuts {
                power_cuts.store(self.run_id)?;
            }
            match &self.storage {
                Some(storage) => store::set_storage(self.run_id, storage),
                None => Ok(()),
            }
        })
    }
}
