//! Meta commands.

use super::command::{Action, Sleep, Text};
use super::error::ScriptError;
use super::number;
use super::parser::{self, FaultKind};
use super::place;
use super::statement::Store;
use super::token::{LexFault, Source, Span};
use super::variables::{Names, is_name};
use crate::sqlstate;

/// A meta command.
pub enum Meta {
    Action(Action),
    /// What is done with the rows of the statement before.
    Store(Store),
}

/// Parses a meta command whose backslash is taken; None for a backslash alone.
pub fn parse(
    script: &Text<'_>,
    source: &mut Source<'_>,
    names: &mut Names,
) -> Result<Option<Meta>, ScriptError> {
    let start = source.at - 1;
    let Some(word) = source.word() else {
        return Ok(None);
    };
    let mut line = Line {
        script,
        source,
        names,
        start,
        name: &script.text[word.clone()],
        word,
    };
    line.parse().map(Some)
}

/// A meta command while it is parsed.
struct Line<'a, 's> {
    script: &'a Text<'a>,
    source: &'a mut Source<'s>,
    names: &'a mut Names,
    /// The backslash.
    start: usize,
    /// The command as it is written.
    name: &'a str,
    word: Span,
}

impl Line<'_, '_> {
    fn parse(&mut self) -> Result<Meta, ScriptError> {
        Ok(Meta::Action(
            match self.name.to_ascii_lowercase().as_str() {
                "set" => self.set()?,
                "if" => Action::If {
                    condition: self.expression()?,
                    otherwise: 0,
                },
                "elif" => Action::Elif {
                    condition: self.expression()?,
                    otherwise: 0,
                    end: 0,
                },
                "else" => self.alone(Action::Else { end: 0 })?,
                "endif" => self.alone(Action::Endif)?,
                "startpipeline" => self.alone(Action::StartPipeline)?,
                "syncpipeline" => self.alone(Action::SyncPipeline)?,
                "endpipeline" => self.alone(Action::EndPipeline)?,
                "sleep" => self.sleep()?,
                "gset" => return Ok(Meta::Store(Store::One(self.prefix()?))),
                "aset" => return Ok(Meta::Store(Store::Last(self.prefix()?))),
                "shell" | "setshell" => return Err(self.of_the_shell()),
                _ => return Err(self.error(self.word.clone(), "invalid command")),
            },
        ))
    }

    /// An error with the message in pgbench's form.
    fn error(&self, part: Span, message: &str) -> ScriptError {
        let message = format!("{message} in command \"{}\"", self.name);
        place::error(self.script, self.start, part, message)
    }

    /// An error whose message shows the wrong part.
    fn error_about(&self, part: Span, message: &str) -> ScriptError {
        let message = format!("{message} ({})", &self.script.text[part.clone()]);
        self.error(part, &message)
    }

    /// The end of what was read of this command.
    fn end(&self) -> Span {
        let read = &self.script.text[..self.source.at];
        let end = read.strip_suffix('\n').unwrap_or(read).len();
        end..end
    }

    fn of_the_shell(&self) -> ScriptError {
        let message = format!(
            "\\{} is not supported: a script does not start programs on the server",
            self.name
        );
        ScriptError {
            sqlstate: sqlstate::INVALID_PARAMETER,
            hint: Some("Use \\set, or \\gset behind a query that finds the value."),
            ..place::error(self.script, self.start, self.word.clone(), message)
        }
    }

    fn set(&mut self) -> Result<Action, ScriptError> {
        let Some(variable) = self.source.word() else {
            return Err(self.error(self.end(), "missing argument"));
        };
        let name = &self.script.text[variable.clone()];
        if !is_name(name) {
            let message = format!("{}: invalid variable name: \"{name}\"", self.name);
            return Err(place::error(self.script, self.start, variable, message));
        }
        let slot = self.names.intern(name);
        Ok(Action::Set(slot, self.expression()?))
    }

    fn expression(&mut self) -> Result<super::expression::Expression, ScriptError> {
        parser::parse(self.source, self.names).map_err(|fault| self.of_expression(fault))
    }

    fn of_expression(&self, fault: parser::Fault) -> ScriptError {
        let span = fault.span;
        let part = &self.script.text[span.clone()];
        let of_value = |message| ScriptError {
            sqlstate: sqlstate::INVALID_PARAMETER,
            ..self.error_about(span.clone(), message)
        };
        match fault.kind {
            FaultKind::Syntax | FaultKind::AtEnd => self.error(span, "syntax error"),
            FaultKind::Lexical(LexFault::BigintOverflow) => of_value("bigint constant overflow"),
            FaultKind::Lexical(LexFault::DoubleOverflow) => of_value("double constant overflow"),
            FaultKind::Lexical(LexFault::UnexpectedCharacter) => {
                let hint =
                    "A blank follows the backslash: a continued line ends with the backslash.";
                ScriptError {
                    hint: (part == "\\").then_some(hint),
                    ..self.error_about(span, "unexpected character")
                }
            }
            FaultKind::UnknownFunction => self.error_about(span, "unexpected function name"),
            FaultKind::ArgumentCount => self.error_about(span, "unexpected number of arguments"),
            FaultKind::NoArgument => self.error_about(span, "at least one argument expected"),
            FaultKind::TooManyArguments => {
                self.error(span, "too many function arguments, maximum is 16")
            }
            FaultKind::TooDeep => self.error(span, "expression is nested too deeply"),
        }
    }

    /// The words behind the command.
    fn words(&mut self) -> Vec<Span> {
        std::iter::from_fn(|| self.source.word()).collect()
    }

    fn alone(&mut self, action: Action) -> Result<Action, ScriptError> {
        match self.words().first() {
            None => Ok(action),
            Some(word) => Err(self.error(word.clone(), "unexpected argument")),
        }
    }

    fn prefix(&mut self) -> Result<String, ScriptError> {
        let words = self.words();
        match words.get(1) {
            Some(word) => Err(self.error(word.clone(), "too many arguments")),
            None => Ok((words.first())
                .map(|word| self.script.text[word.clone()].to_owned())
                .unwrap_or_default()),
        }
    }

    fn sleep(&mut self) -> Result<Action, ScriptError> {
        let words = self.words();
        let Some(time) = words.first() else {
            return Err(self.error(self.end(), "missing argument"));
        };
        if let Some(word) = words.get(2) {
            return Err(self.error(word.clone(), "too many arguments"));
        }
        let text = &self.script.text[time.clone()];
        if let Some(name) = text.strip_prefix(':') {
            let unit = self.unit(words.get(1))?;
            let slot = self.names.intern(name);
            return Ok(Action::Sleep(Sleep::Variable(slot, unit)));
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let rest = time.end - (digits.len() - count)..time.end;
        let is_glued = !rest.is_empty() && count > 0 && words.len() == 1;
        if !rest.is_empty() && !is_glued {
            return Err(self.error_about(time.clone(), "invalid sleep time, must be an integer"));
        }
        let unit = self.unit(if is_glued { Some(&rest) } else { words.get(1) })?;
        let time = number::leading_int(text).saturating_mul(unit);
        Ok(Action::Sleep(Sleep::Microseconds(time)))
    }

    /// The microseconds of a unit; seconds where none is given.
    fn unit(&self, word: Option<&Span>) -> Result<i64, ScriptError> {
        let Some(word) = word else {
            return Ok(1_000_000);
        };
        match self.script.text[word.clone()].to_ascii_lowercase().as_str() {
            "us" => Ok(1),
            "ms" => Ok(1_000),
            "s" => Ok(1_000_000),
            _ => Err(self.error_about(word.clone(), "unrecognized time unit, must be us, ms or s")),
        }
    }
}
