//! From the text of an expression to its steps, by precedence. What is refused, and where, is what pgbench's own grammar refuses.

use super::expression::{Expression, Step};
use super::function::{Function, MAX_ARGUMENTS};
use super::operator::Operator;
use super::token::{LexFault, Source, Span, Token};
use super::value::Value;
use super::variables::{DEFAULT_SEED, Names};

/// Why an expression is refused, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub span: Span,
    pub kind: FaultKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    Syntax,
    /// The command ends too early.
    AtEnd,
    Lexical(LexFault),
    UnknownFunction,
    /// The name of the function is the wrong part.
    ArgumentCount,
    NoArgument,
    TooManyArguments,
    TooDeep,
}

/// Deepest nesting of parentheses, functions and operators with one operand.
pub const DEEPEST: usize = 400;

/// How tightly operators bind, from the loosest.
mod binding {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const BITS: u8 = 6;
    pub const SUM: u8 = 7;
    pub const PRODUCT: u8 = 8;
    pub const SIGN: u8 = 9;
}

/// Compiles the expression at the source's place, to the end of the command.
pub fn parse(source: &mut Source<'_>, names: &mut Names) -> Result<Expression, Fault> {
    let mut parser = Parser {
        source,
        names,
        next: None,
        steps: Vec::new(),
        depth: 0,
    };
    match parser.whole() {
        Ok(()) => Ok(Expression {
            steps: parser.steps,
        }),
        Err(fault) => Err(parser.worst(fault)),
    }
}

struct Parser<'a, 's> {
    source: &'a mut Source<'s>,
    names: &'a mut Names,
    /// The token that was looked at, and is not taken.
    next: Option<(Span, Token)>,
    steps: Vec<Step>,
    depth: usize,
}

impl Parser<'_, '_> {
    fn whole(&mut self) -> Result<(), Fault> {
        self.expression(0)?;
        match self.peek()? {
            Token::End => Ok(()),
            _ => Err(self.syntax()),
        }
    }

    /// The fault that is reported: as in pgbench the last character or number that cannot be a token, and else the first fault.
    fn worst(&mut self, mut fault: Fault) -> Fault {
        if !matches!(self.next, Some((_, Token::End))) && fault.kind != FaultKind::AtEnd {
            loop {
                match self.source.token() {
                    (_, Ok(Token::End)) => break,
                    (_, Ok(_)) => {}
                    (span, Err(kind)) => fault = lexical(span, kind),
                }
            }
        }
        fault
    }

    fn peek(&mut self) -> Result<&Token, Fault> {
        if self.next.is_none() {
            let (span, token) = self.source.token();
            let token = token.map_err(|fault| lexical(span.clone(), fault))?;
            self.next = Some((span, token));
        }
        Ok(self.next.as_ref().map_or(&Token::End, |(_, token)| token))
    }

    fn take(&mut self) -> Result<(Span, Token), Fault> {
        self.peek()?;
        Ok(self.next.take().unwrap_or((0..0, Token::End)))
    }

    fn is_next(&mut self, token: &Token) -> Result<bool, Fault> {
        Ok(self.peek()? == token)
    }

    /// Takes the next token if it is this one.
    fn accept(&mut self, token: &Token) -> Result<bool, Fault> {
        let found = self.is_next(token)?;
        if found {
            self.next = None;
        }
        Ok(found)
    }

    fn expect(&mut self, token: &Token) -> Result<(), Fault> {
        match self.accept(token)? {
            true => Ok(()),
            false => Err(self.syntax()),
        }
    }

    /// The token that was looked at is out of place.
    fn syntax(&mut self) -> Fault {
        let place = self.source.at;
        let (span, kind) = match self.next.take() {
            Some((span, Token::End)) => (span, FaultKind::AtEnd),
            Some((span, _)) => (span, FaultKind::Syntax),
            None => (place..place, FaultKind::Syntax),
        };
        Fault { span, kind }
    }

    /// Compiles what binds at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let kind = FaultKind::TooDeep;
            return Err(Fault {
                kind,
                ..self.syntax()
            });
        }
        let start = self.steps.len();
        self.operand()?;
        while let Some(sign) = self.infix()? {
            if sign.binding() < least {
                break;
            }
            self.next = None;
            self.continue_with(sign, start)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// The operator that comes next, if it is one; it is not taken.
    fn infix(&mut self) -> Result<Option<Infix>, Fault> {
        Ok(match self.peek()? {
            Token::Keyword("and") => Some(Infix::Lazy(false)),
            Token::Keyword("or") => Some(Infix::Lazy(true)),
            Token::Keyword("is") => Some(Infix::Is),
            Token::Keyword("isnull") => Some(Infix::IsNull),
            Token::Keyword("notnull") => Some(Infix::NotNull),
            Token::Sign(sign) => operator(sign),
            _ => None,
        })
    }

    /// Compiles an operator whose left operand begins at the step `start`.
    fn continue_with(&mut self, sign: Infix, start: usize) -> Result<(), Fault> {
        let binding = sign.binding();
        match sign {
            Infix::IsNull => self.steps.push(Step::Is(Value::Null)),
            Infix::NotNull => self.steps.extend([Step::Is(Value::Null), Step::Not]),
            Infix::Is => self.is_constant()?,
            Infix::Lazy(decided) => {
                let place = self.placeholder();
                self.expression(binding + 1)?;
                self.steps.push(Step::Boolean);
                self.patch(place, |by| Step::Lazy(decided, by));
            }
            Infix::Operator(operator) => {
                self.expression(binding + 1)?;
                self.steps.push(Step::Operator(operator));
            }
            Infix::Swapped(operator) => {
                // a > b is b < a, and b is evaluated first.
                let middle = self.steps.len();
                self.expression(binding + 1)?;
                self.steps[start..].rotate_left(middle - start);
                self.steps.push(Step::Operator(operator));
            }
        }
        let is_comparison = binding == binding::COMPARISON;
        if is_comparison && self.infix()?.is_some_and(|next| next.binding() == binding) {
            return Err(self.syntax());
        }
        Ok(())
    }

    /// What follows IS.
    fn is_constant(&mut self) -> Result<(), Fault> {
        let is_not = self.accept(&Token::Keyword("not"))?;
        let constant = match self.peek()? {
            Token::Keyword("null") => Value::Null,
            Token::Keyword("true") => Value::Boolean(true),
            Token::Keyword("false") => Value::Boolean(false),
            _ => return Err(self.syntax()),
        };
        self.next = None;
        self.steps.push(Step::Is(constant));
        if is_not {
            self.steps.push(Step::Not);
        }
        Ok(())
    }

    fn operand(&mut self) -> Result<(), Fault> {
        self.peek()?;
        let (span, token) = self.take()?;
        let constant = |value| Step::Constant(value);
        let step = match token {
            Token::Int(value) => constant(Value::Int(value)),
            Token::Double(value) => constant(Value::Double(value)),
            Token::Keyword("null") => constant(Value::Null),
            Token::Keyword("true") => constant(Value::Boolean(true)),
            Token::Keyword("false") => constant(Value::Boolean(false)),
            Token::Variable(name) => Step::Variable(self.names.intern(&name)),
            Token::Keyword("not") => return self.prefix(binding::NOT, &[Step::Not]),
            Token::Keyword("case") => return self.case(),
            Token::Name(name) => return self.function(span, &name),
            Token::Sign("(") => {
                self.expression(0)?;
                return self.expect(&Token::Sign(")"));
            }
            Token::Sign("+") => return self.prefix(binding::SIGN, &[]),
            Token::Sign("-") => return self.minus(),
            Token::Sign("~") => {
                let flip = Step::Operator(Operator::BitXor);
                return self.prefix(binding::BITS + 1, &[Step::Constant(Value::Int(-1)), flip]);
            }
            _ => {
                self.next = Some((span, token));
                return Err(self.syntax());
            }
        };
        self.steps.push(step);
        Ok(())
    }

    fn prefix(&mut self, binding: u8, steps: &[Step]) -> Result<(), Fault> {
        self.expression(binding)?;
        self.steps.extend_from_slice(steps);
        Ok(())
    }

    /// -x is 0 - x.
    fn minus(&mut self) -> Result<(), Fault> {
        if self.accept(&Token::IntAfterMinus)? {
            self.steps.push(Step::Constant(Value::Int(i64::MIN)));
            return Ok(());
        }
        self.steps.push(Step::Constant(Value::Int(0)));
        self.prefix(binding::SIGN, &[Step::Operator(Operator::Subtract)])
    }

    fn case(&mut self) -> Result<(), Fault> {
        let mut ends = Vec::new();
        self.expect(&Token::Keyword("when"))?;
        loop {
            self.expression(0)?;
            self.expect(&Token::Keyword("then"))?;
            let unless = self.placeholder();
            self.expression(0)?;
            ends.push(self.placeholder());
            self.patch(unless, Step::Unless);
            if !self.accept(&Token::Keyword("when"))? {
                break;
            }
        }
        if self.accept(&Token::Keyword("else"))? {
            self.expression(0)?;
        } else {
            self.steps.push(Step::Constant(Value::Null));
        }
        self.expect(&Token::Keyword("end"))?;
        for end in ends {
            self.patch(end, Step::Jump);
        }
        Ok(())
    }

    fn function(&mut self, span: Span, name: &str) -> Result<(), Fault> {
        let fault = |kind| Fault {
            span: span.clone(),
            kind,
        };
        let function = Function::named(name).ok_or_else(|| fault(FaultKind::UnknownFunction))?;
        self.expect(&Token::Sign("("))?;
        let mut count = self.arguments()?;
        if function.has_seed() && function.arguments() == Some(count + 1) {
            self.steps.push(Step::Variable(DEFAULT_SEED));
            count += 1;
        }
        match function.arguments() {
            Some(expected) if expected != count => return Err(fault(FaultKind::ArgumentCount)),
            None if count == 0 => return Err(fault(FaultKind::NoArgument)),
            None if count > MAX_ARGUMENTS => return Err(fault(FaultKind::TooManyArguments)),
            _ => {}
        }
        self.steps.push(Step::Call(function, count as u8));
        Ok(())
    }

    /// Compiles arguments and takes the parenthesis after them; how many there are.
    fn arguments(&mut self) -> Result<usize, Fault> {
        if self.accept(&Token::Sign(")"))? {
            return Ok(0);
        }
        let mut count = 0;
        // A comma before the first argument is none of pgbench's errors.
        self.accept(&Token::Sign(","))?;
        loop {
            self.expression(0)?;
            count += 1;
            if !self.accept(&Token::Sign(","))? {
                break;
            }
        }
        self.expect(&Token::Sign(")"))?;
        Ok(count)
    }

    /// A step that is filled in later by [`Self::patch`].
    fn placeholder(&mut self) -> usize {
        self.steps.push(Step::Jump(0));
        self.steps.len() - 1
    }

    fn patch(&mut self, place: usize, step: impl Fn(u32) -> Step) {
        let by = self.steps.len() - place - 1;
        self.steps[place] = step(by as u32);
    }
}

fn lexical(span: Span, fault: LexFault) -> Fault {
    Fault {
        span,
        kind: FaultKind::Lexical(fault),
    }
}

/// What can follow an operand.
#[derive(Clone, Copy)]
enum Infix {
    Lazy(bool),
    Is,
    IsNull,
    NotNull,
    Operator(Operator),
    Swapped(Operator),
}

impl Infix {
    fn binding(self) -> u8 {
        match self {
            Self::Lazy(true) => binding::OR,
            Self::Lazy(false) => binding::AND,
            Self::Is | Self::IsNull | Self::NotNull => binding::IS,
            Self::Swapped(_) => binding::COMPARISON,
            Self::Operator(operator) => match operator {
                Operator::Add | Operator::Subtract => binding::SUM,
                Operator::Multiply | Operator::Divide | Operator::Modulo => binding::PRODUCT,
                Operator::Equal | Operator::NotEqual | Operator::Less | Operator::LessOrEqual => {
                    binding::COMPARISON
                }
                _ => binding::BITS,
            },
        }
    }
}

fn operator(sign: &str) -> Option<Infix> {
    let operator = match sign {
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "%" => Operator::Modulo,
        "=" => Operator::Equal,
        "<>" => Operator::NotEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => return Some(Infix::Swapped(Operator::Less)),
        ">=" => return Some(Infix::Swapped(Operator::LessOrEqual)),
        "&" => Operator::BitAnd,
        "|" => Operator::BitOr,
        "#" => Operator::BitXor,
        "<<" => Operator::ShiftLeft,
        ">>" => Operator::ShiftRight,
        _ => return None,
    };
    Some(Infix::Operator(operator))
}
