//! Scripts, compiled: what a client executes, command by command.

use super::command::{Action, Command, Text};
use super::error::ScriptError;
use super::generator::Generator;
use super::statement::{Protocol, Store};
use super::variables::{DEFAULT_SEED, Names, Slot, is_name};
use super::{compile, condition};
use crate::sqlstate;

/// Most scripts of a program.
pub const MOST_SCRIPTS: usize = 128;

/// The scripts of a run. All share the variables of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub scripts: Vec<Script>,
    pub names: Names,
    /// Variables that the caller has given, with their texts.
    pub given: Vec<(Slot, String)>,
    pub protocol: Protocol,
    total_weight: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub name: String,
    pub weight: u32,
    pub commands: Vec<Command>,
}

impl Program {
    /// Compiles all scripts, or names the first part that is wrong.
    pub fn compile(
        texts: &[Text<'_>],
        given: &[(&str, &str)],
        protocol: Protocol,
    ) -> Result<Self, ScriptError> {
        let mut names = Names::default();
        let given = (given.iter())
            .map(|(name, value)| Ok((given_slot(name, &mut names)?, (*value).to_owned())))
            .collect::<Result<_, _>>()?;
        let mut scripts = Vec::with_capacity(texts.len());
        for text in texts {
            let mut commands = compile::commands(text, &mut names, protocol)?;
            condition::connect(text, &mut commands)?;
            scripts.push(Script {
                name: text.name.to_owned(),
                weight: text.weight,
                commands,
            });
        }
        let total_weight = checked_weight(&scripts)?;
        Ok(Self {
            scripts,
            names,
            given,
            protocol,
            total_weight,
        })
    }

    /// Whether an expression uses the default seed, which depends on the number of clients unless the caller gives it.
    pub fn depends_on_clients(&self) -> bool {
        let is_given = self.given.iter().any(|(slot, _)| *slot == DEFAULT_SEED);
        let mut commands = self.scripts.iter().flat_map(|script| &script.commands);
        !is_given && commands.any(|command| command.action.uses(DEFAULT_SEED))
    }

    /// Whether a variable exists in each run, is given, or is set by a command. `\\gset` and `\\aset` may set each name that begins with their prefix.
    pub fn may_set(&self, variable: Slot) -> bool {
        let mut scripts = self.scripts.iter();
        scripts.any(|script| self.may_set_in(script, variable))
    }

    /// [`Self::may_set`] without the commands of other scripts than this one.
    pub fn may_set_in(&self, script: &Script, variable: Slot) -> bool {
        let name = self.names.name(variable);
        let mut commands = script.commands.iter();
        Names::is_automatic(variable)
            || self.given.iter().any(|(slot, _)| *slot == variable)
            || commands.any(|command| match &command.action {
                Action::Set(slot, _) => *slot == variable,
                Action::Statement(statement) => match &statement.store {
                    Store::One(prefix) | Store::Last(prefix) => name.starts_with(prefix.as_str()),
                    Store::Nothing => false,
                },
                _ => false,
            })
    }

    /// The script of the next transaction. One script needs no draw.
    pub fn choose(&self, generator: &mut Generator) -> usize {
        if self.scripts.len() <= 1 {
            return 0;
        }
        let mut left = generator.range(0, self.total_weight - 1);
        for (number, script) in self.scripts.iter().enumerate() {
            left -= i64::from(script.weight);
            if left < 0 {
                return number;
            }
        }
        0
    }
}

fn given_slot(name: &str, names: &mut Names) -> Result<Slot, ScriptError> {
    if is_name(name) {
        return Ok(names.intern(name));
    }
    let message = format!("option: invalid variable name: \"{name}\"");
    Err(refused(message, name))
}

fn checked_weight(scripts: &[Script]) -> Result<i64, ScriptError> {
    let total = scripts.iter().map(|script| i64::from(script.weight)).sum();
    if scripts.is_empty() {
        Err(refused("no script was given".to_owned(), ""))
    } else if scripts.len() > MOST_SCRIPTS {
        let message = format!("at most {MOST_SCRIPTS} SQL scripts are allowed");
        Err(refused(message, ""))
    } else if total == 0 {
        Err(refused(
            "total script weight must not be zero".to_owned(),
            "",
        ))
    } else {
        Ok(total)
    }
}

fn refused(message: String, part: &str) -> ScriptError {
    ScriptError {
        script: String::new(),
        command_line: 0,
        line: 0,
        column: 0,
        part: part.to_owned(),
        message,
        sqlstate: sqlstate::INVALID_PARAMETER,
        hint: None,
    }
}
