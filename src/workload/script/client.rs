//! A client of a run of scripts: chooses scripts, tries them again where that helps, and counts.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::{
    random::Stream,
    script::Program,
    spec::Spec,
    workload::script::{Counted, End, Settings},
};

use super::{GRACE_NS, document, runner::Runner};
use crate::{
    board::Board,
    clock,
    errors::{Fault, sqlstate},
    pg::{guc, plan::Connection, process, report, segment, xact},
    workload::{
        ClientContext,
        transactions::{Ended, Transaction},
    },
};

pub struct ScriptClient<'a> {
    board: &'a Board,
    serial: u32,
    settings: Settings,
    runner: Runner,
    /// One for each script.
    counters: &'static [Counted],
    /// The script of the last transaction, and how often that was tried again.
    script: usize,
    retries: u64,
    /// How the last transaction that failed has ended.
    failure: End,
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
            board: context.board,
            counters: counters(context, spec, document.scripts.len())?,
            script: 0,
            retries: 0,
            failure: End::OtherError,
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
        (self.script, self.retries) = (script, 0);
        loop {
            let Err(fault) = self.run_script(script) else {
                return Ok(self.ended(true));
            };
            self.runner.session.roll_back();
            let can_retry = sqlstate::is_retryable(&fault.sqlstate);
            if fault.is_cancel() && self.is_past_grace() {
                self.tell(&fault);
                return Ok(self.ended(false));
            }
            if !can_retry && !self.settings.continue_on_error {
                return Err(fault);
            }
            if !can_retry
                || self.retries + 1 >= u64::from(self.settings.max_tries)
                || self.is_stopped()
            {
                self.tell(&fault);
                return Ok(self.ended(false));
            }
            self.retries += 1;
            // Random numbers begin again as in the first try; variables stay as they are, as in pgbench.
            self.runner.client.set_random(random);
        }
    }

    #[inline]
    fn measured(&mut self, latency_ns: Option<u64>) {
        let end = latency_ns.map_or(self.failure, End::Done);
        self.counters[self.script].count(end, self.retries);
    }
}

/// This client's counters among those of all.
fn counters(
    context: &ClientContext<'_>,
    spec: &Spec,
    scripts: usize,
) -> Result<&'static [Counted], Fault> {
    let handle = context.board.run.script_counters.load(Acquire);
    let all = segment::counters(handle, scripts * spec.clients as usize)?;
    let first = context.index as usize * scripts;
    Ok(&all[first..first + scripts])
}

impl ScriptClient<'_> {
    fn run_script(&mut self, script: usize) -> Result<(), Fault> {
        self.runner.run_and_catch(script, || {
            process::check_interrupts();
            Ok(())
        })
    }

    /// Whether the coordinator cancels statements now, since the window is over for long.
    fn is_past_grace(&self) -> bool {
        let end_ns = self.board.run.end_ns.load(Acquire);
        clock::now_ns() >= end_ns.saturating_add(GRACE_NS)
    }

    fn is_stopped(&self) -> bool {
        self.board.run.stopped(self.serial)
    }

    /// Remembers how a transaction has failed; the first failure is reported.
    fn tell(&mut self, fault: &Fault) {
        self.failure = End::failed(&fault.sqlstate);
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
