//! Carries scripts out, command by command, in the session of this process.

use pgfsbench_core::{
    board::add,
    script::{Client, EvalError, Event, Generator, Program, Protocol, Seeds, Statement, Store},
    spec::Spec,
    workload::{mix::CommandCounters, script::Origin},
};

use crate::{
    clock,
    errors::{Fault, sqlstate},
    pg::{
        process,
        script_session::{Keep, Parameter, Prepared, Rows, ScriptSession},
        xact,
    },
    workload::transactions::client::sleep,
};

/// Which commands of a script are measured.
#[derive(Clone, Copy)]
pub enum Measure {
    Nothing,
    /// Each one, by the counters of its number.
    Each(&'static [CommandCounters]),
}

impl Measure {
    /// Each command that has counters.
    pub fn each(counters: &'static [CommandCounters]) -> Self {
        match counters {
            [] => Self::Nothing,
            counters => Self::Each(counters),
        }
    }
}

/// A client that carries scripts out.
pub struct Runner {
    program: &'static Program,
    seeds: Seeds,
    id: u32,
    scale: i64,
    /// Whether errors may not have values of the data, which are a user's own.
    hides_values: bool,
    pub client: Client,
    /// Chooses scripts.
    choice: Generator,
    /// The script and the command that are carried out.
    at: (usize, usize),
    /// Which of its commands are measured.
    measure: Measure,
    pub session: ScriptSession,
    /// The prepared statement of each command of each script, once it was reached.
    prepared: Vec<Vec<Option<Prepared>>>,
    /// A statement with values in it; kept for its memory.
    text: String,
}

impl Runner {
    /// Client number `id` of a run, from 0.
    pub fn new(program: &'static Program, spec: &Spec, id: u32) -> Self {
        let clients = spec.clients.max(id + 1);
        // One thread for each client, as `pgbench -j` with as many threads as clients: a client depends on no other.
        let seeds = Seeds::new(program, spec.seed, clients, clients);
        let scale = i64::from(spec.scale);
        let client = Client::new(program, &seeds, id, scale, pause);
        let prepared = program.scripts.iter();
        Self {
            program,
            id,
            scale,
            hides_values: spec.is_on_own(),
            client,
            choice: seeds.thread(id).choice,
            at: (0, 0),
            measure: Measure::Nothing,
            seeds,
            session: ScriptSession::new(),
            prepared: prepared
                .map(|script| script.commands.iter().map(|_| None).collect())
                .collect(),
            text: String::new(),
        }
    }

    /// Begins anew with the values and random numbers of a client that has done nothing. What is prepared stays.
    pub fn begin_again(&mut self) {
        self.client = Client::new(self.program, &self.seeds, self.id, self.scale, pause);
        self.choice = self.seeds.thread(self.id).choice;
    }

    /// The script of the next transaction.
    pub fn choose(&mut self) -> usize {
        self.program.choose(&mut self.choice)
    }

    /// Carries a script out; `each` is called before each command.
    pub fn run(
        &mut self,
        script: usize,
        measure: Measure,
        mut each: impl FnMut() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.client.begin(script);
        self.measure = measure;
        let Measure::Each(counters) = measure else {
            while self.next(script, &mut each)?.is_some() {}
            return Ok(());
        };
        let mut began_ns = clock::now_ns();
        while let Some(number) = self.next(script, &mut each)? {
            let now = clock::now_ns();
            if let Some(counters) = counters.get(number) {
                counters.latency.record(now - began_ns);
            }
            began_ns = now;
        }
        Ok(())
    }

    /// Carries the next command out, and gives its number; None at the end of the script.
    #[inline]
    fn next(
        &mut self,
        script: usize,
        each: &mut impl FnMut() -> Result<(), Fault>,
    ) -> Result<Option<usize>, Fault> {
        let number = self.client.next();
        self.at = (script, number);
        each()?;
        let is_on = self.step(script, number)?;
        Ok(is_on.then_some(number))
    }

    /// Carries the script that makes the tables out; an error has the line where it happened, whether the server or a command has raised it.
    pub fn run_init(&mut self, each: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
        xact::catch(|| self.run(0, Measure::Nothing, each))
            .and_then(|result| result)
            .map_err(|fault| self.located(fault, Origin::Init))
    }

    /// Counts that the command that was carried out last has failed.
    pub fn count_failure(&self) {
        if let Measure::Each(counters) = self.measure
            && let Some(counters) = counters.get(self.at.1)
        {
            add(&counters.failures, 1);
        }
    }

    /// Carries one command out; false at the end of the script.
    fn step(&mut self, script: usize, number: usize) -> Result<bool, Fault> {
        let program = self.program;
        match self.client.step(program).map_err(evaluation)? {
            Event::Statement(statement) => self.statement(script, number, statement)?,
            Event::Sleep(microseconds) => sleep_for(microseconds),
            Event::StartPipeline => self.session.start_pipeline(),
            Event::SyncPipeline => self.session.sync(),
            Event::EndPipeline => self.session.end_pipeline(),
            Event::Done => {}
            Event::End if self.session.is_in_transaction_block() => return Err(block_is_open()),
            Event::End => return Ok(false),
        }
        self.client.machine.debugged.clear();
        Ok(true)
    }

    fn statement(
        &mut self,
        script: usize,
        number: usize,
        statement: &Statement,
    ) -> Result<(), Fault> {
        let keep = match statement.store {
            Store::Nothing => Keep::Nothing,
            Store::One(_) => Keep::First,
            Store::Last(_) => Keep::Last,
        };
        if self.program.protocol == Protocol::Simple {
            return self.statement_as_text(statement, keep);
        }
        let place = &mut self.prepared[script][number];
        let prepared = match place {
            Some(prepared) => prepared,
            None => place.insert(self.session.prepare(&statement.prepared)?),
        };
        let client = &self.client;
        let parameter = |index: usize, text: &mut String| {
            let Some(&slot) = statement.parameters.get(index) else {
                return Parameter::Null;
            };
            match client.machine.variables.integer(slot) {
                Some(number) => Parameter::Integer(number),
                None if client.parameter(slot, text) => Parameter::Text,
                None => Parameter::Null,
            }
        };
        let rows = self
            .session
            .execute(prepared, statement.parameters.len(), parameter, keep)?;
        match keep {
            Keep::Nothing => Ok(()),
            Keep::First => store(
                &mut self.client,
                self.program,
                &statement.store,
                &rows,
                true,
            ),
            Keep::Last => store(
                &mut self.client,
                self.program,
                &statement.store,
                &rows,
                false,
            ),
        }
    }

    /// By the simple protocol: `\gset` takes the row of the last statement, `\aset` the last row of each.
    fn statement_as_text(&mut self, statement: &Statement, keep: Keep) -> Result<(), Fault> {
        self.text.clear();
        statement.write_simple(&self.client.machine.variables, &mut self.text);
        let (client, program) = (&mut self.client, self.program);
        let mut last = Rows::default();
        self.session.execute_text(&self.text, keep, |rows| {
            match keep {
                Keep::Nothing => {}
                Keep::First => last = rows,
                Keep::Last => store(client, program, &statement.store, &rows, false)?,
            }
            Ok(())
        })?;
        match keep {
            Keep::First => store(client, program, &statement.store, &last, true),
            Keep::Nothing | Keep::Last => Ok(()),
        }
    }

    /// A fault with the script, the line and the command where it happened.
    pub fn located(&self, fault: Fault, origin: Origin) -> Fault {
        let script = &self.program.scripts[self.at.0];
        let command = script.commands.get(self.at.1);
        let line = (command.or(script.commands.last())).map_or(0, |command| command.line);
        let command = command.map(|command| command.label.as_str());
        // A statement that is sent as text has values in it.
        let has_names_only =
            self.program.protocol != Protocol::Simple && !self.session.is_executing();
        fault.with_texts(|texts, sqlstate| {
            let texts = match self.hides_values {
                true => texts.without_values(sqlstate, has_names_only),
                false => texts,
            };
            texts.of_script(sqlstate, origin, &script.name, line, command)
        })
    }
}

/// Puts a row into variables.
fn store(
    client: &mut Client,
    program: &Program,
    store: &Store,
    rows: &Rows,
    is_one: bool,
) -> Result<(), Fault> {
    if is_one {
        store.check_rows(rows.count).map_err(evaluation)?;
    }
    for (column, value) in rows.columns.iter().zip(&rows.kept) {
        client
            .store(program, store, column, value.as_deref())
            .map_err(evaluation)?;
    }
    Ok(())
}

fn evaluation(error: EvalError) -> Fault {
    let fault = Fault::new(error.sqlstate(), error.to_string());
    match error.hint() {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

fn block_is_open() -> Fault {
    Fault::new(
        sqlstate::IN_TRANSACTION,
        "end of script reached without completing the last transaction",
    )
    .detail("The script has begun a transaction block and has not ended it.")
    .hint("End it with COMMIT or ROLLBACK.")
}

/// Called by loops that may draw many random numbers.
fn pause() {
    process::check_interrupts();
}

fn sleep_for(microseconds: i64) {
    let until = clock::now_ns().saturating_add(microseconds.max(0) as u64 * 1000);
    loop {
        let left = until.saturating_sub(clock::now_ns());
        if left == 0 {
            return;
        }
        sleep(left);
    }
}
