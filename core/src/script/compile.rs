//! From the text of a script to its commands.

use super::command::{Action, Command, Text};
use super::error::ScriptError;
use super::meta::{self, Meta};
use super::place;
use super::sql::{Lexer, Piece, Stop, Unterminated};
use super::statement::{MOST_PARAMETERS, Protocol, Statement, Store};
use super::token::Source;
use super::variables::{Names, begins_name, continues_name};
use crate::sqlstate;

/// Compiles the commands of a script. Those of its conditions are not connected yet.
pub fn commands(
    script: &Text<'_>,
    names: &mut Names,
    protocol: Protocol,
) -> Result<Vec<Command>, ScriptError> {
    if script.text.starts_with('\u{feff}') {
        let error = place::error(
            script,
            0,
            0..0,
            "script begins with a byte order mark".into(),
        );
        return Err(ScriptError {
            hint: Some("Save the file as UTF-8 without a byte order mark."),
            ..error
        });
    }
    let mut compiler = Compiler {
        script,
        names,
        protocol,
        source: Source {
            text: script.text,
            at: 0,
        },
        commands: Vec::new(),
    };
    compiler.all()?;
    if compiler.commands.is_empty() {
        let message = format!("empty command list for script \"{}\"", script.name);
        return Err(place::error(script, 0, 0..0, message));
    }
    Ok(compiler.commands)
}

struct Compiler<'a> {
    script: &'a Text<'a>,
    names: &'a mut Names,
    protocol: Protocol,
    source: Source<'a>,
    commands: Vec<Command>,
}

impl Compiler<'_> {
    fn all(&mut self) -> Result<(), ScriptError> {
        let mut lexer = Lexer::default();
        loop {
            let mut piece = Piece::default();
            let stop = lexer.scan(&mut self.source, &mut piece);
            let stop = stop.map_err(|fault| self.unterminated(fault))?;
            self.statement(&piece)?;
            match stop {
                Stop::Semicolon => {}
                Stop::Backslash => self.meta()?,
                Stop::End => break,
            }
        }
        match lexer.parentheses.first() {
            None => Ok(()),
            Some(open) => Err(self.unbalanced(*open)),
        }
    }

    fn unterminated(&self, Unterminated { span, what }: Unterminated) -> ScriptError {
        let line = self.script.text[span.clone()]
            .lines()
            .next()
            .unwrap_or_default();
        let message = format!("unterminated {what} at or near \"{line}\"");
        place::error(self.script, span.start, span, message)
    }

    fn unbalanced(&self, open: usize) -> ScriptError {
        let message = "unbalanced parenthesis".to_owned();
        ScriptError {
            hint: Some("Close the parenthesis. Up to there no semicolon ends a statement."),
            ..place::error(self.script, open, open..open + 1, message)
        }
    }

    fn statement(&mut self, piece: &Piece) -> Result<(), ScriptError> {
        let Some((skipped, text)) = piece.statement() else {
            return Ok(());
        };
        let statement = Statement::new(text, self.names);
        let start = piece.place(skipped);
        if let Some(word) = piece.client_of_copy() {
            let here = piece.place(word.start)..piece.place(word.start) + word.len();
            let message = "COPY from stdin and to stdout is not supported in scripts".to_owned();
            return Err(ScriptError {
                sqlstate: sqlstate::INVALID_PARAMETER,
                hint: Some("Use INSERT, or COPY with a file of the server."),
                ..place::error(self.script, start, here, message)
            });
        }
        if self.protocol == Protocol::Prepared {
            self.check_parameters(&statement, piece, skipped)?;
        }
        self.commands.push(Command {
            label: text.lines().next().unwrap_or_default().to_owned(),
            action: Action::Statement(statement),
            line: place::line(self.script.text, start),
        });
        Ok(())
    }

    /// Parameters of a statement stand outside of quotes and comments, and can be counted.
    fn check_parameters(
        &self,
        statement: &Statement,
        piece: &Piece,
        skipped: usize,
    ) -> Result<(), ScriptError> {
        let start = piece.place(skipped);
        for (number, place) in statement.places.iter().enumerate() {
            let at = skipped + place.start;
            let word = &statement.text[place.clone()];
            let here = piece.place(at)..piece.place(at) + word.len();
            if number == MOST_PARAMETERS {
                let message = format!(
                    "statement has too many arguments (maximum is {MOST_PARAMETERS}): {}",
                    statement.text
                );
                return Err(place::error(self.script, start, here, message));
            }
            let is_quoted = piece.quoted.iter().any(|quoted| quoted.contains(&at));
            if is_quoted || follows_word(&statement.text[..place.start]) {
                let message = format!("parameter \"{word}\" within a word, quotes or a comment");
                return Err(ScriptError {
                    hint: Some("Use protocol => 'simple', which replaces it by text."),
                    ..place::error(self.script, start, here, message)
                });
            }
        }
        Ok(())
    }

    /// A meta command, behind its backslash.
    fn meta(&mut self) -> Result<(), ScriptError> {
        let start = self.source.at - 1;
        let line = place::line(self.script.text, start);
        let Some(meta) = meta::parse(self.script, &mut self.source, self.names)? else {
            return Ok(());
        };
        let label = self.script.text[start..self.source.at]
            .trim_end()
            .to_owned();
        match meta {
            Meta::Store(store) => return self.store(start, store),
            Meta::Action(action) => self.commands.push(Command {
                action,
                line,
                label,
            }),
        }
        Ok(())
    }

    /// `\gset` and `\aset` belong to the statement before them.
    fn store(&mut self, start: usize, store: Store) -> Result<(), ScriptError> {
        let what = match self.commands.last_mut() {
            Some(Command {
                action: Action::Statement(statement),
                ..
            }) if statement.store == Store::Nothing => {
                statement.store = store;
                return Ok(());
            }
            Some(command) if !matches!(command.action, Action::Statement(_)) => {
                format!(" ({})", command.label)
            }
            _ => String::new(),
        };
        let message = format!("\\gset must follow an SQL command{what}");
        let part = start..self.source.at;
        let length = self.script.text[part].trim_end().len();
        Err(place::error(
            self.script,
            start,
            start..start + length,
            message,
        ))
    }
}

/// Whether a text ends with a word, to which a parameter would belong.
fn follows_word(text: &str) -> bool {
    let continues = |byte: &u8| continues_name(*byte) || *byte == b'$';
    let word = text.bytes().rev().take_while(|byte| continues(byte)).last();
    word.is_some_and(begins_name)
}
