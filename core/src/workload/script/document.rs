//! The texts of a run of scripts: one document, which is stored once by its hash.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    refusal::{Kind, Refusal, quoted},
    script::{Command, Program, Protocol, ScriptError, Text, builtin},
    spec::{ScriptArguments, json, values},
    sqlstate,
    verification::Moment,
    workload::mix::{self, Mix, Type},
};

/// Characters of a name.
const LONGEST_NAME: usize = 63;
/// Bytes of a document.
const MOST_BYTES: usize = 1_000_000;
/// The name of all scripts together, and of a script that is given alone without a name.
const ALL_SCRIPTS: &str = "script";
const EXAMPLE: &str = r#"'[{"name": "order", "weight": 3, "text": "SELECT 1;"}, "select-only"]'"#;
const CHECK_EXAMPLE: &str =
    r#"'[{"name": "stock", "sql": "SELECT count(*) FROM stock", "expected": "100"}]'"#;

/// Everything that a run of scripts has of its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    pub scripts: Vec<Named>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init_script: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
}

/// A script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    pub name: String,
    pub weight: u32,
    pub text: String,
}

/// A query before or after the measured window, and the value that it has to give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub sql: String,
    /// None is NULL.
    pub expected: Option<String>,
    /// When it is asked first: [`Moment::Load`] or [`Moment::Window`].
    #[serde(default, skip_serializing_if = "is_after")]
    pub moment: Moment,
}

fn is_after(moment: &Moment) -> bool {
    *moment == Moment::Window
}

/// A script as it is given in an array.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenScript {
    name: Option<String>,
    #[serde(default = "one")]
    weight: Value,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenCheck {
    name: Option<String>,
    sql: String,
    expected: Value,
    #[serde(default)]
    moment: Moment,
}

fn one() -> Value {
    1.into()
}

impl Document {
    /// The checks of this moment; after a crash those of the window.
    pub fn checks_at(&self, moment: Moment) -> Vec<Check> {
        let is_asked = |check: &&Check| (check.moment == Moment::Load) == (moment == Moment::Load);
        self.checks.iter().filter(is_asked).cloned().collect()
    }

    /// The document of these arguments, or why they are wrong.
    pub fn of(arguments: &ScriptArguments) -> Result<Self, Refusal> {
        let Some(scripts) = arguments.scripts.as_deref() else {
            return Err(Refusal::argument("workload \"script\" needs scripts")
                .detail("The argument \"scripts\" was not given.")
                .hint(format!(
                    "Give a script of pgbench as text, or an array such as {EXAMPLE}."
                )));
        };
        let document = Self {
            scripts: scripts_of(scripts)?,
            variables: variables(arguments.variables.as_ref())?,
            init_script: arguments.init_script.clone(),
            checks: checks(arguments.checks.as_ref())?,
        }
        .of_allowed_size()?;
        document.check_names()?;
        document.check_characters()?;
        Ok(document)
    }

    /// Each run stores and copies the document.
    fn of_allowed_size(self) -> Result<Self, Refusal> {
        let bytes = serde_json::to_string(&self).map_or(usize::MAX, |text| text.len());
        if bytes <= MOST_BYTES {
            return Ok(self);
        }
        Err(Refusal::argument("the scripts are too large")
            .detail(format!(
                "Scripts, variables, init script and checks have {bytes} bytes together as JSON, and at most {MOST_BYTES} are allowed."
            ))
            .hint("Make data with INSERT ... SELECT generate_series() in the init script, not with rows in its text."))
    }

    /// The scripts as the compiler takes them.
    pub fn texts(&self) -> Vec<Text<'_>> {
        self.scripts.iter().map(Named::as_text).collect()
    }

    /// The variables as the compiler takes them.
    pub fn given(&self) -> Vec<(&str, &str)> {
        (self.variables.iter())
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// The scripts, compiled.
    pub fn compile(&self, protocol: Protocol) -> Result<Program, Refusal> {
        Program::compile(&self.texts(), &self.given(), protocol)
            .map_err(|error| self.refusal(&error))
    }

    /// A transaction type for each script.
    pub fn mix(&self, program: &Program) -> Mix {
        let command = |command: &Command| mix::Command {
            line: command.line,
            kind: command.action.kind(),
        };
        let types = program.scripts.iter().map(|script| Type {
            name: script.name.clone(),
            weight: script.weight,
            limit_ns: None,
            commands: script.commands.iter().map(command).collect(),
        });
        Mix {
            types: types.collect(),
            counts_rollbacks: false,
        }
    }

    /// The script that makes the tables, compiled.
    pub fn init(&self) -> Result<Option<Program>, Refusal> {
        let Some(text) = self.init_script.as_deref() else {
            return Ok(None);
        };
        let init = Text {
            name: "init_script",
            weight: 1,
            text,
        };
        Program::compile(&[init], &self.given(), Protocol::Simple)
            .map(Some)
            .map_err(|error| self.refusal(&error))
    }

    /// Refuses a null character, which no text of the server can have.
    fn check_characters(&self) -> Result<(), Refusal> {
        let scripts =
            (self.scripts.iter()).map(|script| (script.name.as_str(), script.text.as_str()));
        let variables = self.given().into_iter();
        let init = (self.init_script.iter()).map(|text| ("init_script", text.as_str()));
        let expected = |check: &Check| check.expected.clone().unwrap_or_default();
        let all = scripts.chain(variables).chain(init);
        let checks = (self.checks.iter())
            .map(|check| (check.name.clone(), check.sql.clone() + &expected(check)));
        let all = all.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let with_null = |(name, text): &(String, String)| format!("{name}{text}").contains('\0');
        match all.chain(checks).find(with_null) {
            None => Ok(()),
            Some((name, _)) => Err(Refusal::argument(format!(
                "{} contains a null character",
                quoted(&name)
            ))
            .detail("The server has no text with such a character.")
            .hint("Remove it: in JSON it is written \\u0000.")),
        }
    }

    fn check_names(&self) -> Result<(), Refusal> {
        let mut names = BTreeSet::new();
        for script in &self.scripts {
            let length = script.name.chars().count();
            if length == 0 || length > LONGEST_NAME || script.name.contains(char::is_control) {
                return Err(Refusal::argument(format!(
                    "invalid name of a script {}",
                    quoted(&script.name)
                ))
                .detail(format!(
                    "A name has 1 to {LONGEST_NAME} characters, all of them visible."
                ))
                .hint("Give another name."));
            }
            if self.scripts.len() > 1 && script.name == ALL_SCRIPTS {
                return Err(Refusal::argument(format!(
                    "a script among others cannot be named {}",
                    quoted(ALL_SCRIPTS)
                ))
                .detail("Figures of all scripts together have this name.")
                .hint("Give another name."));
            }
            if !names.insert(script.name.as_str()) {
                return Err(Refusal::argument(format!(
                    "script {} is given more than once",
                    quoted(&script.name)
                ))
                .detail("Results are stored by the names of scripts.")
                .hint("Give each script a name of its own."));
            }
        }
        Ok(())
    }

    /// A script that cannot be compiled, with the place and the wrong part.
    pub fn refusal(&self, error: &ScriptError) -> Refusal {
        let kind = match error.sqlstate {
            sqlstate::SYNTAX_ERROR => Kind::Syntax,
            _ => Kind::InvalidArgument,
        };
        let hint = error
            .hint
            .unwrap_or("Scripts are in the language of pgbench: see docs/own-sql.md.");
        if error.script.is_empty() {
            return Refusal::new(kind, error.message.clone())
                .detail("It is wrong for all scripts together.")
                .hint(hint);
        }
        let (line, column) = (error.line, error.column);
        let part = match error.part.as_str() {
            "" => "at the end of the line".to_owned(),
            part => format!("at {}", quoted(part)),
        };
        let message = error.message.lines().next().unwrap_or_default();
        Refusal::new(kind, located(&error.script, line, message))
            .detail(format!("Line {line}, column {column}, {part}."))
            .hint(hint)
    }
}

/// A message about a line of a script.
pub fn located(script: &str, line: u32, message: &str) -> String {
    format!("script {}, line {line}: {message}", quoted(script))
}

impl Named {
    fn as_text(&self) -> Text<'_> {
        Text {
            name: &self.name,
            weight: self.weight,
            text: &self.text,
        }
    }
}

fn scripts_of(given: &str) -> Result<Vec<Named>, Refusal> {
    if !given.trim_start().starts_with('[') {
        return Ok(vec![match builtin_of(given) {
            Some(builtin) => builtin,
            None => Named {
                name: ALL_SCRIPTS.into(),
                weight: 1,
                text: given.to_owned(),
            },
        }]);
    }
    let wrong = |detail: String| {
        Refusal::argument("scripts cannot be read")
            .detail(detail)
            .hint(format!("Give an array such as {EXAMPLE}."))
    };
    let items: Vec<Value> =
        serde_json::from_str(given).map_err(|error| wrong(format!("It is no JSON: {error}.")))?;
    (items.into_iter().enumerate())
        .map(|(index, item)| script_of(index + 1, item, &wrong))
        .collect()
}

fn script_of(
    number: usize,
    item: Value,
    wrong: &impl Fn(String) -> Refusal,
) -> Result<Named, Refusal> {
    let unknown = |name: &str| {
        let known: Vec<&str> = builtin::names().collect();
        wrong(format!(
            "Script {number} has no text, and {} is no script of pgbench's own, which are {}.",
            quoted(name),
            known.join(", ")
        ))
    };
    if let Value::String(name) = &item {
        return builtin_of(name).ok_or_else(|| unknown(name));
    }
    let given: GivenScript = serde_json::from_value(item)
        .map_err(|error| wrong(format!("Script {number} is wrong: {error}.")))?;
    let weight = (given.weight.as_u64()).and_then(|weight| u32::try_from(weight).ok());
    let weight = weight.ok_or_else(|| {
        wrong(format!(
            "The weight of script {number} is {}; it has to be a whole number from 0 to {}.",
            quoted(&given.weight.to_string()),
            u32::MAX
        ))
    })?;
    let name = given.name.unwrap_or_else(|| format!("script {number}"));
    match given.text {
        Some(text) => Ok(Named { name, weight, text }),
        None => match builtin_of(&name) {
            Some(builtin) => Ok(Named { weight, ..builtin }),
            None => Err(unknown(&name)),
        },
    }
}

/// A script of pgbench's own, by its whole name.
fn builtin_of(name: &str) -> Option<Named> {
    let name = name.trim();
    builtin::names().find(|known| *known == name)?;
    let (name, text) = builtin::find(name)?;
    Some(Named {
        name: name.into(),
        weight: 1,
        text: text.into(),
    })
}

fn variables(given: Option<&Value>) -> Result<BTreeMap<String, String>, Refusal> {
    json::object("variables", given, r#"'{"customers": 1000}'"#)?
        .map(|(name, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => flag.to_string(),
                Value::Null => "null".into(),
                other => {
                    return Err(Refusal::argument(format!(
                        "invalid value of variable {}",
                        quoted(name)
                    ))
                    .detail(format!("It is {}.", values::kind(other)))
                    .hint("Give a number, a text, true, false or null."));
                }
            };
            Ok((name.clone(), text))
        })
        .collect()
}

fn checks(given: Option<&Value>) -> Result<Vec<Check>, Refusal> {
    let wrong = |detail: String| {
        Refusal::argument("checks cannot be read")
            .detail(detail)
            .hint(format!("Give an array such as {CHECK_EXAMPLE}."))
    };
    let items = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(other) => return Err(wrong(format!("It is {}.", values::kind(other)))),
    };
    (items.iter().enumerate())
        .map(|(index, item)| {
            let number = index + 1;
            let check: GivenCheck = serde_json::from_value(item.clone())
                .map_err(|error| wrong(format!("Check {number} is wrong: {error}.")))?;
            if check.moment == Moment::Crash {
                return Err(wrong(format!(
                    "Check {number} is wrong: its moment is neither load nor window."
                )));
            }
            Ok(Check {
                name: check.name.unwrap_or_else(|| format!("check {number}")),
                sql: check.sql,
                moment: check.moment,
                expected: match check.expected {
                    Value::Null => None,
                    Value::String(text) => Some(text),
                    // As the server writes a boolean.
                    Value::Bool(flag) => Some(if flag { "t" } else { "f" }.into()),
                    other => Some(other.to_string()),
                },
            })
        })
        .collect()
}
