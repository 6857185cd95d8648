//! Compiled expressions: steps for a small machine with a stack. Evaluation allocates nothing once the stack has its size.

use super::distribution::Pause;
use super::error::EvalError;
use super::function::Function;
use super::generator::Generator;
use super::operator::Operator;
use super::value::Value;
use super::variables::{Names, Slot, Variables};

/// One step. Jumps count from the step after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    Constant(Value),
    Variable(Slot),
    Operator(Operator),
    Call(Function, u8),
    Not,
    /// Whether the value is exactly this one: IS.
    Is(Value),
    /// The left operand of AND (false) or OR (true) is on top: it stays, and the right one is skipped, if it is NULL or that value.
    Lazy(bool, u32),
    /// The right operand of AND or OR must be a boolean or NULL.
    Boolean,
    /// Takes the condition of a WHEN.
    Unless(u32),
    Jump(u32),
}

/// An expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    pub(super) steps: Vec<Step>,
}

impl Expression {
    /// Whether it reads this variable.
    pub fn uses(&self, variable: Slot) -> bool {
        self.steps.contains(&Step::Variable(variable))
    }
}

/// The state that expressions of one client read and change.
#[derive(Clone, Debug)]
pub struct Machine {
    pub variables: Variables,
    pub generator: Generator,
    /// Called by loops that may draw many numbers.
    pub pause: Pause,
    /// Values that debug() was given, until they are taken.
    pub debugged: Vec<Value>,
    stack: Vec<Value>,
}

/// The most values of debug() that are kept until they are taken: a client that forgets them does not grow.
const MOST_DEBUGGED: usize = 1024;

impl Machine {
    pub fn new(variables: Variables, generator: Generator, pause: Pause) -> Self {
        Self {
            variables,
            generator,
            pause,
            debugged: Vec::new(),
            stack: Vec::with_capacity(32),
        }
    }

    /// The value of an expression.
    pub fn evaluate(&mut self, of: &Expression, names: &Names) -> Result<Value, EvalError> {
        self.stack.clear();
        let mut at = 0;
        while let Some(step) = of.steps.get(at) {
            at += 1;
            match *step {
                Step::Constant(value) => self.stack.push(value),
                Step::Variable(slot) => {
                    let value = self.variables.value(slot, names)?;
                    self.stack.push(value);
                }
                Step::Operator(operator) => {
                    let (b, a) = (self.pop(), self.pop());
                    let is_null = a == Value::Null || b == Value::Null;
                    let value = if is_null {
                        Value::Null
                    } else {
                        operator.apply(a, b)?
                    };
                    self.stack.push(value);
                }
                Step::Call(function, count) => self.call(function, usize::from(count))?,
                Step::Jump(by) => at += by as usize,
                Step::Unless(by) if !self.pop().is_true() => at += by as usize,
                Step::Unless(_) => {}
                Step::Lazy(decided, by) => {
                    if self.is_decided(decided)? {
                        at += by as usize;
                    }
                }
                _ => self.on_top(*step)?,
            }
        }
        Ok(self.pop())
    }

    /// The parser balances the stack: it is never empty here.
    #[inline]
    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::Null)
    }

    fn call(&mut self, function: Function, count: usize) -> Result<(), EvalError> {
        let first = self.stack.len().saturating_sub(count);
        let arguments = &self.stack[first..];
        if function == Function::Debug && self.debugged.len() < MOST_DEBUGGED {
            self.debugged.extend_from_slice(arguments);
        }
        let value = if arguments.contains(&Value::Null) {
            Value::Null
        } else {
            function.call(arguments, &mut self.generator, self.pause)?
        };
        self.stack.truncate(first);
        self.stack.push(value);
        Ok(())
    }

    /// Whether the left operand decides; if not, it is taken from the stack.
    fn is_decided(&mut self, decided: bool) -> Result<bool, EvalError> {
        let left = self.pop();
        let stays = left == Value::Null || left.to_boolean()? == decided;
        if stays {
            self.stack.push(left);
        }
        Ok(stays)
    }

    /// Steps that replace the value on top of the stack.
    fn on_top(&mut self, step: Step) -> Result<(), EvalError> {
        let value = self.pop();
        self.stack.push(match step {
            Step::Is(constant) => Value::Boolean(value == constant),
            _ if value == Value::Null => Value::Null,
            Step::Not => Value::Boolean(!value.to_boolean()?),
            _ => Value::Boolean(value.to_boolean()?),
        });
        Ok(())
    }
}
