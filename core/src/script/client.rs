//! One client: its variables, its random numbers, and its way through a script.

use super::command::{Action, Sleep};
use super::distribution::Pause;
use super::error::EvalError;
use super::expression::Machine;
use super::generator::Generator;
use super::number;
use super::program::Program;
use super::seeds::Seeds;
use super::statement::{Protocol, Statement, Store};
use super::value::Value;
use super::variables::{CLIENT_ID, DEFAULT_SEED, RANDOM_SEED, SCALE, Slot, Variables, is_name};

/// What the caller has to do for the command that was stepped over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// The statement is executed.
    Statement(&'a Statement),
    /// So many microseconds pass.
    Sleep(i64),
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    /// The command needed nothing from outside.
    Done,
    /// The script is over.
    End,
}

/// A client.
#[derive(Clone, Debug)]
pub struct Client {
    pub machine: Machine,
    script: usize,
    /// The command that comes next.
    next: usize,
    in_pipeline: bool,
}

impl Client {
    /// Client number `id`, from 0. Variables that the caller has given win over automatic ones.
    pub fn new(program: &Program, seeds: &Seeds, id: u32, scale: i64, pause: Pause) -> Self {
        let mut variables = Variables::new(program.names.len());
        let seed = seeds.default_seed;
        for (slot, value) in [
            (SCALE, scale),
            (CLIENT_ID, i64::from(id)),
            (DEFAULT_SEED, seed),
            (RANDOM_SEED, seeds.seed),
        ] {
            variables.set(slot, Value::Int(value));
        }
        for (slot, text) in &program.given {
            variables.set_text(*slot, text);
        }
        Self {
            machine: Machine::new(variables, seeds.client(id), pause),
            script: 0,
            next: 0,
            in_pipeline: false,
        }
    }

    /// Goes to the first command of a script.
    pub fn begin(&mut self, script: usize) {
        (self.script, self.next, self.in_pipeline) = (script, 0, false);
    }

    /// The number, from 0, of the command that is stepped over next.
    pub fn next(&self) -> usize {
        self.next
    }

    pub fn in_pipeline(&self) -> bool {
        self.in_pipeline
    }

    /// Steps over one command. An error is of the command that [`Self::next`] named.
    pub fn step<'a>(&mut self, program: &'a Program) -> Result<Event<'a>, EvalError> {
        let commands = &program.scripts[self.script].commands;
        let Some(command) = commands.get(self.next) else {
            return match self.in_pipeline {
                true => Err(EvalError::Pipeline(
                    "end of script reached with pipeline open",
                )),
                false => Ok(Event::End),
            };
        };
        let mut next = self.next + 1;
        let event = match &command.action {
            Action::Statement(statement) => self.statement(statement)?,
            Action::Set(slot, expression) => {
                let value = self.machine.evaluate(expression, &program.names)?;
                self.machine.variables.set(*slot, value);
                Event::Done
            }
            Action::If { .. } => {
                next = self.branch(program, self.next)?;
                Event::Done
            }
            Action::Elif { end, .. } | Action::Else { end } => {
                next = *end;
                Event::Done
            }
            Action::Endif => Event::Done,
            Action::Sleep(sleep) => Event::Sleep(self.sleep(*sleep, program)?),
            Action::StartPipeline => self.start_pipeline(program.protocol)?,
            Action::SyncPipeline => self.within_pipeline(Event::SyncPipeline)?,
            Action::EndPipeline => {
                let event = self.within_pipeline(Event::EndPipeline)?;
                self.in_pipeline = false;
                event
            }
        };
        self.next = next;
        Ok(event)
    }

    fn statement<'a>(&self, statement: &'a Statement) -> Result<Event<'a>, EvalError> {
        match statement.store {
            Store::One(_) if self.in_pipeline => Err(EvalError::Pipeline(
                "\\gset is not allowed in pipeline mode",
            )),
            Store::Last(_) if self.in_pipeline => Err(EvalError::Pipeline(
                "\\aset is not allowed in pipeline mode",
            )),
            _ => Ok(Event::Statement(statement)),
        }
    }

    /// Where an `\if` leads: into the first branch whose condition is true.
    fn branch(&mut self, program: &Program, from: usize) -> Result<usize, EvalError> {
        let commands = &program.scripts[self.script].commands;
        let mut at = from;
        loop {
            let (condition, otherwise) = match &commands[at].action {
                Action::If {
                    condition,
                    otherwise,
                }
                | Action::Elif {
                    condition,
                    otherwise,
                    ..
                } => (condition, *otherwise),
                // Behind an \else, or at the \endif.
                _ => return Ok(at),
            };
            if self.machine.evaluate(condition, &program.names)?.is_true() {
                return Ok(at + 1);
            }
            let is_elif = matches!(commands[otherwise].action, Action::Elif { .. });
            if !is_elif {
                return Ok(otherwise);
            }
            at = otherwise;
        }
    }

    fn sleep(&self, sleep: Sleep, program: &Program) -> Result<i64, EvalError> {
        let (slot, unit) = match sleep {
            Sleep::Microseconds(time) => return Ok(time.max(0)),
            Sleep::Variable(slot, unit) => (slot, unit),
        };
        let (mut text, name) = (String::new(), program.names.name(slot).to_owned());
        if !self.machine.variables.write(slot, &mut text) {
            return Err(EvalError::SleepUndefined(name));
        }
        let time = number::leading_int(&text);
        if time == 0 && !text.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(EvalError::SleepText { name, value: text });
        }
        Ok(time.saturating_mul(unit).max(0))
    }

    fn start_pipeline(&mut self, protocol: Protocol) -> Result<Event<'static>, EvalError> {
        if protocol == Protocol::Simple {
            return Err(EvalError::Pipeline(
                "cannot use pipeline mode with the simple query protocol",
            ));
        }
        if self.in_pipeline {
            return Err(EvalError::Pipeline("already in pipeline mode"));
        }
        self.in_pipeline = true;
        Ok(Event::StartPipeline)
    }

    fn within_pipeline(&self, event: Event<'static>) -> Result<Event<'static>, EvalError> {
        match self.in_pipeline {
            true => Ok(event),
            false => Err(EvalError::Pipeline("not in pipeline mode")),
        }
    }

    /// Stores one column of a row for `\gset` or `\aset`; NULL is the empty text. A name that no script uses is checked only.
    pub fn store(
        &mut self,
        program: &Program,
        store: &Store,
        column: &str,
        text: Option<&str>,
    ) -> Result<(), EvalError> {
        let (command, prefix) = match store {
            Store::Nothing => return Ok(()),
            Store::One(prefix) => ("gset", prefix),
            Store::Last(prefix) => ("aset", prefix),
        };
        let name = format!("{prefix}{column}");
        if !is_name(&name) {
            return Err(EvalError::VariableName { command, name });
        }
        if let Some(slot) = program.names.find(&name) {
            self.machine
                .variables
                .set_text(slot, text.unwrap_or_default());
        }
        Ok(())
    }

    /// Replaces `to` by the text of a parameter; false stands for NULL.
    pub fn parameter(&self, slot: Slot, to: &mut String) -> bool {
        to.clear();
        self.machine.variables.write(slot, to)
    }

    /// The state of the random numbers: a retried transaction goes back to it.
    pub fn random(&self) -> Generator {
        self.machine.generator
    }

    pub fn set_random(&mut self, generator: Generator) {
        self.machine.generator = generator;
    }
}
