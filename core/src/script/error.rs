//! Errors of scripts: texts that cannot be compiled, and expressions that fail. The first line of each has pgbench's words.

use std::fmt;

use crate::sqlstate;

/// Why an expression or a meta command fails when it is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalError {
    /// The result of an operation on bigints does not fit: add, sub, mul or div.
    OutOfRange(&'static str),
    DivisionByZero,
    Coercion {
        from: &'static str,
        to: &'static str,
    },
    /// A double, rounded, that does not fit into a bigint.
    DoubleToInt(f64),
    EmptyRange,
    RangeTooLarge,
    /// The parameter of a distribution is not in its range.
    Parameter(Distribution, f64),
    PermuteSize,
    /// abs() of a boolean, which pgbench takes for 0.0.
    AbsOfBoolean,
    UndefinedVariable(String),
    /// The text of a variable is no value.
    MalformedVariable {
        name: String,
        value: String,
    },
    /// The text of a variable is an integer that is too large.
    IntegerText(String),
    /// The text of a variable is a sign without digits.
    NoDigits(String),
    /// A name for a variable that is not one; with the command.
    VariableName {
        command: &'static str,
        name: String,
    },
    /// Rows of a statement with `\gset`.
    RowCount(u64),
    SleepUndefined(String),
    SleepText {
        name: String,
        value: String,
    },
    /// Meta commands of pipelines out of their order.
    Pipeline(&'static str),
}

/// The distributions that have a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    Exponential,
    Gaussian,
    Zipfian,
}

impl EvalError {
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Self::OutOfRange(_) | Self::DoubleToInt(_) | Self::IntegerText(_) => {
                sqlstate::NUMBER_TOO_LARGE
            }
            Self::DivisionByZero => sqlstate::DIVISION_BY_ZERO,
            Self::Coercion { .. } | Self::AbsOfBoolean => sqlstate::WRONG_TYPE,
            Self::UndefinedVariable(_) | Self::SleepUndefined(_) => sqlstate::NO_SUCH_OBJECT,
            Self::VariableName { .. } => sqlstate::INVALID_NAME,
            Self::RowCount(_) => sqlstate::WRONG_ROW_COUNT,
            Self::Pipeline(_) => sqlstate::NOT_IN_THIS_STATE,
            _ => sqlstate::INVALID_PARAMETER,
        }
    }

    /// What to do about it, where that is not plain.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UndefinedVariable(_) | Self::SleepUndefined(_) => {
                Some("Set the variable with \\set before its first use, or pass it in variables.")
            }
            Self::Coercion { to: "boolean", .. } => {
                Some("Compare the number, as in :x <> 0. Only CASE and \\if take numbers.")
            }
            Self::MalformedVariable { .. } => Some(
                "Expressions use numbers, booleans and null. Other texts can stand in statements only.",
            ),
            _ => None,
        }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(operation) => write!(f, "bigint {operation} out of range"),
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::Coercion { from, to } => write!(f, "cannot coerce {from} to {to}"),
            Self::DoubleToInt(value) => {
                write!(f, "double to int overflow for {}", Fixed(*value))
            }
            Self::EmptyRange => f.write_str("empty range given to random"),
            Self::RangeTooLarge => f.write_str("random range is too large"),
            Self::Parameter(distribution, value) => write_parameter(f, *distribution, *value),
            Self::PermuteSize => f.write_str("permute size parameter must be greater than zero"),
            Self::AbsOfBoolean => f.write_str("cannot coerce boolean to int or double"),
            Self::UndefinedVariable(name) => write!(f, "undefined variable \"{name}\""),
            Self::MalformedVariable { name, value } => {
                write!(f, "malformed variable \"{name}\" value: \"{value}\"")
            }
            Self::IntegerText(value) => {
                write!(f, "value \"{value}\" is out of range for type bigint")
            }
            Self::NoDigits(value) => {
                write!(f, "invalid input syntax for type bigint: \"{value}\"")
            }
            Self::VariableName { command, name } => {
                write!(f, "{command}: invalid variable name: \"{name}\"")
            }
            Self::RowCount(count) => write!(f, "expected one row, got {count}"),
            Self::SleepUndefined(name) => write!(f, "sleep: undefined variable \"{name}\""),
            Self::SleepText { name, value } => {
                write!(
                    f,
                    "sleep: invalid sleep time \"{value}\" for variable \"{name}\""
                )
            }
            Self::Pipeline(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for EvalError {}

fn write_parameter(f: &mut fmt::Formatter<'_>, of: Distribution, value: f64) -> fmt::Result {
    let value = Fixed(value);
    match of {
        Distribution::Exponential => write!(
            f,
            "exponential parameter must be greater than zero (not {value})"
        ),
        Distribution::Gaussian => write!(
            f,
            "gaussian parameter must be at least 2.000000 (not {value})"
        ),
        Distribution::Zipfian => write!(
            f,
            "zipfian parameter must be in range [1.001, 1000] (not {value})"
        ),
    }
}

/// C's `%f`, with PostgreSQL's words for values that are no numbers.
struct Fixed(f64);

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            f64::INFINITY => f.write_str("Infinity"),
            f64::NEG_INFINITY => f.write_str("-Infinity"),
            value => write!(f, "{value:.6}"),
        }
    }
}

/// Why a script cannot be compiled, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The name of the script; empty where no script is concerned.
    pub script: String,
    /// The line of the command, from 1, as pgbench counts.
    pub command_line: u32,
    /// The line and column of the wrong part, from 1. Columns count characters.
    pub line: u32,
    pub column: u32,
    /// The wrong part; empty at an end of a line.
    pub part: String,
    /// pgbench's words.
    pub message: String,
    pub sqlstate: &'static str,
    pub hint: Option<&'static str>,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ScriptError {}
