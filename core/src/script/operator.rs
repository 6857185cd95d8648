//! Operators with two operands, both evaluated and none NULL.

use super::error::EvalError;
use super::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

impl Operator {
    #[inline]
    pub fn apply(self, a: Value, b: Value) -> Result<Value, EvalError> {
        use Operator::{BitAnd, BitOr, BitXor, Modulo, ShiftLeft, ShiftRight};
        if let (Value::Int(a), Value::Int(b)) = (a, b) {
            return self.of_ints(a, b);
        }
        let is_double = matches!(a, Value::Double(_)) || matches!(b, Value::Double(_));
        let of_ints_only = matches!(
            self,
            Modulo | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight
        );
        if is_double && !of_ints_only {
            return Ok(self.of_doubles(a.to_double()?, b.to_double()?));
        }
        self.of_ints(a.to_int()?, b.to_int()?)
    }

    fn of_ints(self, a: i64, b: i64) -> Result<Value, EvalError> {
        let fits = |value: Option<i64>, operation| value.ok_or(EvalError::OutOfRange(operation));
        Ok(Value::Int(match self {
            Self::Add => fits(a.checked_add(b), "add")?,
            Self::Subtract => fits(a.checked_sub(b), "sub")?,
            Self::Multiply => fits(a.checked_mul(b), "mul")?,
            Self::Divide | Self::Modulo if b == 0 => return Err(EvalError::DivisionByZero),
            Self::Divide => fits(a.checked_div(b), "div")?,
            Self::Modulo => a.wrapping_rem(b),
            Self::BitAnd => a & b,
            Self::BitOr => a | b,
            Self::BitXor => a ^ b,
            // Modulo 64, as the processor does it.
            Self::ShiftLeft => a.wrapping_shl(b as u32),
            Self::ShiftRight => a.wrapping_shr(b as u32),
            Self::Equal => return Ok(Value::Boolean(a == b)),
            Self::NotEqual => return Ok(Value::Boolean(a != b)),
            Self::Less => return Ok(Value::Boolean(a < b)),
            Self::LessOrEqual => return Ok(Value::Boolean(a <= b)),
        }))
    }

    /// The operators on bits and modulo never come here.
    fn of_doubles(self, a: f64, b: f64) -> Value {
        match self {
            Self::Add => Value::Double(a + b),
            Self::Subtract => Value::Double(a - b),
            Self::Multiply => Value::Double(a * b),
            Self::Equal => Value::Boolean(a == b),
            Self::NotEqual => Value::Boolean(a != b),
            Self::Less => Value::Boolean(a < b),
            Self::LessOrEqual => Value::Boolean(a <= b),
            _ => Value::Double(a / b),
        }
    }
}

pub fn modulo(a: Value, b: Value) -> Result<Value, EvalError> {
    Operator::Modulo.apply(a, b)
}
