//! The functions of expressions.

use super::distribution::{self, Pause};
use super::error::{Distribution, EvalError};
use super::generator::Generator;
use super::hash;
use super::value::Value;

/// Most arguments of a function.
pub const MAX_ARGUMENTS: usize = 16;

/// A function; its arguments are evaluated before it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    Fnv1a,
    Murmur2,
    Int,
    Least,
    Ln,
    Mod,
    Permute,
    Pi,
    Pow,
    Random,
    Distributed(Distribution),
    Sqrt,
}

const FUNCTIONS: [(&str, Function); 21] = [
    ("abs", Function::Abs),
    ("debug", Function::Debug),
    ("double", Function::Double),
    ("exp", Function::Exp),
    ("greatest", Function::Greatest),
    ("hash", Function::Murmur2),
    ("hash_fnv1a", Function::Fnv1a),
    ("hash_murmur2", Function::Murmur2),
    ("int", Function::Int),
    ("least", Function::Least),
    ("ln", Function::Ln),
    ("mod", Function::Mod),
    ("permute", Function::Permute),
    ("pi", Function::Pi),
    ("pow", Function::Pow),
    ("power", Function::Pow),
    ("random", Function::Random),
    (
        "random_exponential",
        Function::Distributed(Distribution::Exponential),
    ),
    (
        "random_gaussian",
        Function::Distributed(Distribution::Gaussian),
    ),
    (
        "random_zipfian",
        Function::Distributed(Distribution::Zipfian),
    ),
    ("sqrt", Function::Sqrt),
];

impl Function {
    pub fn named(name: &str) -> Option<Self> {
        (FUNCTIONS.into_iter())
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, function)| function)
    }

    /// How many arguments it takes; None: one and more. A seed that can be left out counts.
    pub fn arguments(self) -> Option<usize> {
        match self {
            Self::Greatest | Self::Least => None,
            Self::Pi => Some(0),
            Self::Mod | Self::Pow | Self::Random | Self::Fnv1a | Self::Murmur2 => Some(2),
            Self::Permute | Self::Distributed(_) => Some(3),
            _ => Some(1),
        }
    }

    /// Whether the last argument is a seed that can be left out: `:default_seed` then.
    pub fn has_seed(self) -> bool {
        matches!(self, Self::Permute | Self::Fnv1a | Self::Murmur2)
    }

    /// The value for arguments of which none is NULL.
    pub fn call(
        self,
        arguments: &[Value],
        generator: &mut Generator,
        pause: Pause,
    ) -> Result<Value, EvalError> {
        Ok(match (self, arguments) {
            (Self::Debug, [value]) => *value,
            (Self::Abs, [value]) => absolute(*value)?,
            (Self::Int, [value]) => Value::Int(value.to_int()?),
            (Self::Double, [value]) => Value::Double(value.to_double()?),
            (Self::Exp, [value]) => Value::Double(value.to_double()?.exp()),
            (Self::Ln, [value]) => Value::Double(value.to_double()?.ln()),
            (Self::Sqrt, [value]) => Value::Double(value.to_double()?.sqrt()),
            (Self::Pow, [base, power]) => Value::Double(base.to_double()?.powf(power.to_double()?)),
            (Self::Mod, [a, b]) => super::operator::modulo(*a, *b)?,
            (Self::Murmur2, [value, seed]) => {
                Value::Int(hash::murmur2(value.to_int()?, seed.to_int()?))
            }
            (Self::Fnv1a, [value, seed]) => {
                Value::Int(hash::fnv1a(value.to_int()?, seed.to_int()?))
            }
            (Self::Permute, [value, size, seed]) => permute(*value, *size, *seed)?,
            (Self::Random, [low, high]) => {
                let (low, high) = bounds(*low, *high)?;
                Value::Int(generator.range(low, high))
            }
            (Self::Distributed(of), [low, high, parameter]) => {
                let (low, high) = bounds(*low, *high)?;
                let parameter = checked(of, parameter.to_double()?)?;
                Value::Int(draw(of, (low, high), parameter, generator, pause))
            }
            (Self::Greatest, _) => extremum(arguments, i64::max, |a, b| a > b)?,
            (Self::Least, _) => extremum(arguments, i64::min, |a, b| a < b)?,
            // The parser has counted the arguments: this is pi().
            _ => Value::Double(std::f64::consts::PI),
        })
    }
}

fn absolute(value: Value) -> Result<Value, EvalError> {
    match value {
        Value::Int(value) => Ok(Value::Int(value.wrapping_abs())),
        Value::Double(value) => Ok(Value::Double(value.abs())),
        _ => Err(EvalError::AbsOfBoolean),
    }
}

fn permute(value: Value, size: Value, seed: Value) -> Result<Value, EvalError> {
    let (value, size, seed) = (value.to_int()?, size.to_int()?, seed.to_int()?);
    if size <= 0 {
        return Err(EvalError::PermuteSize);
    }
    Ok(Value::Int(hash::permute(value, size, seed)))
}

/// The bounds of a range whose numbers can be counted by a bigint.
fn bounds(low: Value, high: Value) -> Result<(i64, i64), EvalError> {
    let (low, high) = (low.to_int()?, high.to_int()?);
    if low > high {
        return Err(EvalError::EmptyRange);
    }
    match high.checked_sub(low).and_then(|span| span.checked_add(1)) {
        Some(_) => Ok((low, high)),
        None => Err(EvalError::RangeTooLarge),
    }
}

/// A parameter that is finite and in the documented range: what pgbench lets through besides makes it wait for ever, or leave the range.
fn checked(of: Distribution, parameter: f64) -> Result<f64, EvalError> {
    let is_good = parameter.is_finite()
        && match of {
            Distribution::Exponential => parameter > 0.0,
            Distribution::Gaussian => parameter >= 2.0,
            Distribution::Zipfian => (1.001..=1000.0).contains(&parameter),
        };
    if is_good {
        Ok(parameter)
    } else {
        Err(EvalError::Parameter(of, parameter))
    }
}

fn draw(
    of: Distribution,
    (low, high): (i64, i64),
    parameter: f64,
    generator: &mut Generator,
    pause: Pause,
) -> i64 {
    match of {
        Distribution::Exponential => distribution::exponential(generator, low, high, parameter),
        Distribution::Gaussian => distribution::gaussian(generator, low, high, parameter, pause),
        Distribution::Zipfian => distribution::zipfian(generator, low, high, parameter, pause),
    }
}

/// The value that beats all before it. One double makes all double.
fn extremum(
    arguments: &[Value],
    of_ints: fn(i64, i64) -> i64,
    beats: fn(f64, f64) -> bool,
) -> Result<Value, EvalError> {
    let (first, rest) = arguments.split_first().ok_or(EvalError::EmptyRange)?;
    if (arguments.iter()).any(|value| matches!(value, Value::Double(_))) {
        let mut best = first.to_double()?;
        for value in rest {
            let value = value.to_double()?;
            // Not a number beats, and is beaten.
            best = if beats(best, value) { best } else { value };
        }
        return Ok(Value::Double(best));
    }
    let mut best = first.to_int()?;
    for value in rest {
        best = of_ints(best, value.to_int()?);
    }
    Ok(Value::Int(best))
}
