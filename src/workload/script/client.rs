//! A client of a run of scripts: each script is a transaction type.

use pgfsbench_core::{
    random::Stream,
    script::Generator,
    spec::Spec,
    workload::{
        mix::{Choice, CommandCounters, Counted, Outcome, Tries},
        script::{Origin, Settings},
    },
};

use super::{
    document,
    runner::{Measure, Runner},
};
use crate::{
    clock,
    errors::Fault,
    pg::{guc, plan::Connection, process, xact},
    workload::{
        ClientContext,
        transactions::{Ended, Transaction},
    },
};

pub struct ScriptClient {
    tries: Tries,
    runner: Runner,
    /// Counters of the commands of each script; none where they are not measured.
    commands: Vec<&'static [CommandCounters]>,
    /// The random numbers with which each try of the transaction begins.
    random: Generator,
    /// Whether the measured window has begun: there each client begins anew, so that a warm-up changes no random number of it.
    is_measured: bool,
}

impl<'a> Transaction<'a> for ScriptClient {
    /// The session is one of the asking role already, with the settings of that role.
    fn begin_session(_context: &ClientContext<'a>, spec: &Spec) -> Result<(), Fault> {
        process::keep_places()?;
        xact::transaction(|| {
            let mut settings = spec.settings.iter();
            settings.try_for_each(|(name, value)| guc::apply_as_session(name, value))
        })
    }

    fn prepare(
        context: &ClientContext<'a>,
        spec: &Spec,
        _spi: &Connection,
        counted: Counted<'static>,
    ) -> Result<Self, Fault> {
        let document = document(context.board)?;
        let settings = Settings::of(spec);
        // It lives as long as the process.
        let program = Box::leak(Box::new(document.compile(settings.protocol())?));
        let mut left = counted.commands;
        let commands = program.scripts.iter().map(|script| {
            let (own, others) = left.split_at(script.commands.len().min(left.len()));
            left = others;
            own
        });
        let commands = commands.collect();
        let runner = Runner::new(program, spec, context.index);
        Ok(Self {
            tries: settings.tries(),
            random: runner.client.random(),
            runner,
            commands,
            is_measured: false,
        })
    }

    fn tries(&self) -> Tries {
        self.tries
    }

    fn choose(&mut self, _random: &mut Stream, is_measured: bool) -> Choice {
        if is_measured && !self.is_measured {
            self.is_measured = true;
            self.runner.begin_again();
        }
        let of_type = self.runner.choose();
        self.random = self.runner.client.random();
        Choice {
            of_type,
            ..Choice::default()
        }
    }

    /// Not called: a script has its own transactions.
    fn run(
        &mut self,
        _choice: Choice,
        _spi: &Connection,
        _random: &mut Stream,
    ) -> Result<Outcome, Fault> {
        Ok(Outcome::Committed)
    }

    /// Random numbers begin again with each try; variables stay as they are, as in pgbench.
    fn transact(
        &mut self,
        choice: Choice,
        _random: &mut Stream,
        is_measured: bool,
    ) -> Result<Ended, Fault> {
        self.runner.client.set_random(self.random);
        self.runner.session.forget_commits();
        let measure = match is_measured {
            true => Measure::each(self.commands[choice.of_type]),
            false => Measure::Nothing,
        };
        self.runner.run(choice.of_type, measure, || {
            process::check_interrupts();
            Ok(())
        })?;
        Ok(Ended {
            outcome: Outcome::Committed,
            commit_ns: 0,
            end_ns: clock::now_ns(),
        })
    }

    /// Each commit of the script: a script may have several, or none.
    fn commits<'s>(&'s self, _ended: &'s Ended) -> &'s [u64] {
        self.runner.session.commits()
    }

    fn roll_back(&mut self, fault: Fault) -> Fault {
        self.runner.session.roll_back();
        self.runner.count_failure();
        self.runner.located(fault, Origin::Transaction)
    }
}
