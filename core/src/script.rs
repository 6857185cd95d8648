//! pgbench's scripts: compiled once to commands, then executed by clients whose values and random numbers are pgbench's.
//!
//! [`Program::compile`] takes texts and refuses wrong ones with their place. [`Seeds`] has the generators of a run. A [`Client`] steps
//! through a script and says what has to be done: execute a statement, wait, begin a pipeline. Nothing here knows a server.

pub mod builtin;
mod client;
mod command;
mod compile;
mod condition;
mod distribution;
mod error;
mod expression;
mod function;
mod generator;
mod hash;
mod meta;
mod number;
mod operator;
mod parser;
mod place;
mod program;
mod seeds;
mod sql;
mod statement;
mod token;
mod value;
mod variables;

pub use client::{Client, Event};
pub use command::{Action, Command, Sleep, Text};
pub use distribution::Pause;
pub use error::{Distribution, EvalError, ScriptError};
pub use expression::{Expression, Machine};
pub use generator::Generator;
pub use program::{MOST_SCRIPTS, Program, Script};
pub use seeds::{Seeds, Thread};
pub use statement::{MOST_PARAMETERS, Protocol, Statement, Store};
pub use value::Value;
pub use variables::{Names, Slot, Variables};
