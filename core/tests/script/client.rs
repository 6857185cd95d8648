//! A client without a server: what it would send, and how it ends.

use pgfsbench_core::script::{
    Client, EvalError, Event, Program, Protocol, ScriptError, Seeds, Statement, Store, Text, Value,
};

/// How a client ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Over,
    Refused(ScriptError),
    /// The command failed without the server.
    Failed(usize, EvalError),
}

/// What a client did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The number of the command, and what is sent for it.
    pub sent: Vec<(usize, Vec<String>)>,
    pub debug: Vec<String>,
    pub end: End,
}

/// A row: names of columns and texts.
pub type Row = Vec<(&'static str, Option<&'static str>)>;

/// The rows of each statement that was sent.
pub type Results = Vec<Vec<Row>>;

/// A run of one script by all clients, one after the other.
pub struct Run<'a> {
    pub script: &'a str,
    pub protocol: Protocol,
    pub given: Vec<(&'a str, &'a str)>,
    pub clients: u32,
    pub threads: u32,
    pub transactions: u32,
    pub seed: i64,
    pub scale: i64,
    /// The rows that a statement returns, by what is sent.
    pub answer: fn(&str) -> Results,
}

impl<'a> Run<'a> {
    pub fn of(script: &'a str) -> Self {
        Self {
            script,
            protocol: Protocol::Simple,
            given: Vec::new(),
            clients: 1,
            threads: 1,
            transactions: 1,
            seed: 42,
            scale: 1,
            answer: |_| Vec::new(),
        }
    }

    pub fn outcome(&self) -> Outcome {
        let mut outcome = Outcome {
            sent: Vec::new(),
            debug: Vec::new(),
            end: End::Over,
        };
        let text = Text {
            name: "s.sql",
            weight: 1,
            text: self.script,
        };
        let program = match Program::compile(&[text], &self.given, self.protocol) {
            Ok(program) => program,
            Err(error) => {
                outcome.end = End::Refused(error);
                return outcome;
            }
        };
        let seeds = Seeds::new(&program, self.seed, self.clients, self.threads);
        for id in 0..self.clients {
            let mut client = Client::new(&program, &seeds, id, self.scale, || ());
            for _ in 0..self.transactions {
                let end = self.transaction(&program, &mut client, &mut outcome);
                if end != End::Over {
                    outcome.end = end;
                    break;
                }
            }
        }
        outcome
    }

    fn transaction(&self, program: &Program, client: &mut Client, to: &mut Outcome) -> End {
        client.begin(0);
        loop {
            let command = client.next();
            let event = client.step(program);
            to.debug
                .extend(client.machine.debugged.drain(..).map(shown));
            match event {
                Err(error) => return End::Failed(command, error),
                Ok(Event::End) => return End::Over,
                Ok(Event::Statement(statement)) => {
                    let sent = sent(client, statement, program.protocol);
                    let results = (self.answer)(&sent.join(" "));
                    to.sent.push((command, sent));
                    if let Err(error) = store(program, client, &statement.store, results) {
                        return End::Failed(command, error);
                    }
                }
                Ok(_) => {}
            }
        }
    }
}

/// As the oracle has it: the text, and the parameters.
fn sent(client: &Client, statement: &Statement, protocol: Protocol) -> Vec<String> {
    let mut text = String::new();
    if protocol == Protocol::Simple {
        statement.write_simple(&client.machine.variables, &mut text);
        return vec![text];
    }
    let parameters: Vec<String> = (statement.parameters.iter().zip(1..))
        .map(|(slot, number)| match client.parameter(*slot, &mut text) {
            true => format!("${number} = '{text}'"),
            false => format!("${number} = NULL"),
        })
        .collect();
    let mut sent = vec![statement.prepared.to_string()];
    if !parameters.is_empty() {
        sent.push(parameters.join(", "));
    }
    sent
}

fn store(
    program: &Program,
    client: &mut Client,
    store: &Store,
    mut results: Results,
) -> Result<(), EvalError> {
    if let (Store::One(_), Some(last)) = (store, results.last()) {
        store.check_rows(last.len() as u64)?;
        results.drain(..results.len() - 1);
    }
    for (column, value) in results.iter().filter_map(|rows| rows.last()).flatten() {
        client.store(program, store, column, *value)?;
    }
    Ok(())
}

/// A value as debug() shows it.
pub fn shown(value: Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        _ => format!("{} {value}", value.type_name()),
    }
}
