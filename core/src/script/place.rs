//! Where something is wrong in a script, and the error that says so.

use super::command::{Command, Text};
use super::error::ScriptError;
use super::token::Span;
use crate::sqlstate;

/// The line, from 1, of a byte.
pub fn line(text: &str, at: usize) -> u32 {
    1 + text.as_bytes()[..at]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count() as u32
}

/// The column, from 1 and in characters, of a byte.
fn column(text: &str, at: usize) -> u32 {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    1 + text[start..at].chars().count() as u32
}

/// A syntax error about a part of the script, in a command that begins at `command`.
pub fn error(script: &Text<'_>, command: usize, part: Span, message: String) -> ScriptError {
    ScriptError {
        script: script.name.to_owned(),
        command_line: line(script.text, command),
        line: line(script.text, part.start),
        column: column(script.text, part.start),
        part: script.text[part].to_owned(),
        message,
        sqlstate: sqlstate::SYNTAX_ERROR,
        hint: None,
    }
}

/// A fault in how commands stand together.
pub fn of_command(
    script: &Text<'_>,
    command: &Command,
    number: usize,
    message: &str,
) -> ScriptError {
    let name = script.name;
    ScriptError {
        script: name.to_owned(),
        command_line: command.line,
        line: command.line,
        column: 1,
        part: command.label.clone(),
        message: format!("condition error in script \"{name}\" command {number}: {message}"),
        sqlstate: sqlstate::SYNTAX_ERROR,
        hint: None,
    }
}
