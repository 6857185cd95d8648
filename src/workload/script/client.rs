//! A client of a run of scripts: chooses scripts, tries them again where that helps, and counts.

use pgfsbench_core::{random::Stream, script::Program, spec::Spec, workload::script::Settings};

use super::{document, runner::Runner};
use crate::{
    clock,
    errors::{Fault, sqlstate},
    pg::{guc, plan::Connection, process, report, xact},
    workload::{
        ClientContext,
        transactions::{Ended, Transaction},
    },
};

pub struct ScriptClient<'a> {
    context: &'a crate::board::Board,
    serial: u32,
    settings: Settings,
    runner: Runner,
    /// Whether the measured window has begun: there each client begins anew, so that a warm-up changes no random number of it.
    is_measured: bool,
    /// Whether a failure was reported to the server's log.
    is_told: bool,
}

impl<'a> Transaction<'a> for ScriptClient<'a> {
    /// The session is one of the asking role already, with the settings of that role.
    fn begin_session(_context: &ClientContext<'a>, spec: &Spec) -> Result<(), Fault> {
        process::keep_places()?;
        xact::transaction(|| {
            let mut settings = spec.settings.iter();
            settings.try_for_each(|(name, value)| guc::apply_as_session(name, value))
        })
    }

    fn prepare(context: &ClientContext<'a>, spec: &Spec, _spi: &Connection) -> Result<Self, Fault> {
        let document = document(context.board)?;
        let settings = Settings::of(spec);
        let program = Program::compile(&document.texts(), &document.given(), settings.protocol())
            .map_err(|error| document.refusal(&error))?;
        Ok(Self {
            context: context.board,
            serial: context.serial,
            settings,
            // It lives as long as the process.
            runner: Runner::new(Box::leak(Box::new(program)), spec, context.index),
            is_measured: false,
            is_told: false,
        })
    }

    /// Not called: a script has its own transactions.
    fn run(&self, _spi: &Connection, _random: &mut Stream) -> Result<(), Fault> {
        Ok(())
    }

    fn transact(&mut self, _random: &mut Stream, is_measured: bool) -> Result<Ended, Fault> {
        if is_measured && !self.is_measured {
            self.is_measured = true;
            self.runner.begin_again();
        }
        let script = self.runner.choose();
        let random = self.runner.client.random();
        let mut tries = 1;
        loop {
            let Err(fault) = self.run_script(script) else {
                return Ok(self.ended(true));
            };
            self.runner.session.roll_back();
            let can_retry = sqlstate::is_retryable(&fault.sqlstate);
            if !can_retry && !self.settings.continue_on_error {
                return Err(fault);
            }
            if !can_retry || tries >= self.settings.max_tries || self.is_stopped() {
                self.tell(&fault);
                return Ok(self.ended(false));
            }
            tries += 1;
            // The same random numbers; variables stay as they are, as in pgbench.
            self.runner.client.set_random(random);
        }
    }
}

impl ScriptClient<'_> {
    fn run_script(&mut self, script: usize) -> Result<(), Fault> {
        self.runner.run_and_catch(script, || {
            process::check_interrupts();
            Ok(())
        })
    }

    fn is_stopped(&self) -> bool {
        self.context.run.stopped(self.serial)
    }

    fn tell(&mut self, fault: &Fault) {
        if !self.is_told {
            report::log_warning(&fault.clone().context("transaction failed"));
            self.is_told = true;
        }
    }

    fn ended(&mut self, is_committed: bool) -> Ended {
        Ended {
            commit_ns: self.runner.session.take_commit_ns(),
            end_ns: clock::now_ns(),
            is_committed,
        }
    }
}
