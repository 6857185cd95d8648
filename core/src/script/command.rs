//! A script before and after it is compiled: its text, and its commands.

use super::expression::Expression;
use super::statement::Statement;
use super::variables::Slot;

/// A script as it was given.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    pub name: &'a str,
    pub weight: u32,
    pub text: &'a str,
}

/// One command; its number in the script is pgbench's.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub action: Action,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// The first line of its text.
    pub label: String,
}

/// Numbers of commands are where to go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Statement(Statement),
    Set(Slot, Expression),
    /// `\if`, and `\elif` once it is reached by a condition that is false.
    If {
        condition: Expression,
        otherwise: usize,
    },
    /// `\elif` or `\else` behind a branch that was taken: the `\endif` is next. A false condition above an `\elif` leads to the
    /// expression, and one above an `\else` behind it.
    Elif {
        condition: Expression,
        otherwise: usize,
        end: usize,
    },
    Else {
        end: usize,
    },
    Endif,
    Sleep(Sleep),
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

/// The time of a `\sleep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    Microseconds(i64),
    /// A variable, and the microseconds of its unit.
    Variable(Slot, i64),
}

impl Action {
    /// `SQL`, or the name of the meta command.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Statement(_) => "SQL",
            Self::Set(..) => "\\set",
            Self::If { .. } => "\\if",
            Self::Elif { .. } => "\\elif",
            Self::Else { .. } => "\\else",
            Self::Endif => "\\endif",
            Self::Sleep(_) => "\\sleep",
            Self::StartPipeline => "\\startpipeline",
            Self::SyncPipeline => "\\syncpipeline",
            Self::EndPipeline => "\\endpipeline",
        }
    }
}
