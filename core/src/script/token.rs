//! Words and tokens of meta commands. A line ends the command, unless a backslash stands at its end.

use super::number;

/// A part of the script: from, to (excluded), in bytes.
pub type Span = std::ops::Range<usize>;

/// A token of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// The end of the command.
    End,
    Int(i64),
    /// 9223372036854775808, which is a number after a minus only.
    IntAfterMinus,
    Double(f64),
    Variable(String),
    /// A keyword, lower case.
    Keyword(&'static str),
    /// A name of a function, as it was written.
    Name(String),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
}

/// What cannot be a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexFault {
    BigintOverflow,
    DoubleOverflow,
    UnexpectedCharacter,
}

const KEYWORDS: [&str; 14] = [
    "and", "or", "not", "case", "when", "then", "else", "end", "is", "isnull", "notnull", "null",
    "true", "false",
];

/// Longer signs first.
const SIGNS: [&str; 20] = [
    "<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "(", ")", ",", "=", "<", ">", "|",
    "&", "#",
];

/// A script and a place in it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> Source<'a> {
    pub fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// How many of the next bytes are accepted.
    pub fn count(&self, accept: impl Fn(u8) -> bool) -> usize {
        self.rest().iter().take_while(|byte| accept(**byte)).count()
    }

    /// Whether the next bytes are these; the case of letters does not matter.
    pub fn next_is(&self, word: &str) -> bool {
        (self.rest().get(..word.len()))
            .is_some_and(|next| next.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// The next word of a meta command; none at its end, whose newline is consumed.
    pub fn word(&mut self) -> Option<Span> {
        self.skip_blanks();
        if self.ends_line() {
            return None;
        }
        let start = self.at;
        while self.peek().is_some_and(|byte| !is_space(byte)) && self.continuation() == 0 {
            self.at += 1;
        }
        Some(start..self.at)
    }

    /// The next token of an expression, and where it stands. At the end of the command its newline is consumed.
    pub fn token(&mut self) -> (Span, Result<Token, LexFault>) {
        self.skip_blanks();
        let start = self.at;
        if self.ends_line() {
            return (start..start, Ok(Token::End));
        }
        let token = self.scan();
        (start..self.at, token)
    }

    fn ends_line(&mut self) -> bool {
        if self.peek() == Some(b'\n') {
            self.at += 1;
            return true;
        }
        self.peek().is_none()
    }

    /// Skips blanks within a line and continuations of lines.
    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.count(|byte| is_space(byte) && byte != b'\n');
            let skipped = blanks.max(self.continuation());
            if skipped == 0 {
                return;
            }
            self.at += skipped;
        }
    }

    /// The length of a backslash with the line's end, if they come next.
    fn continuation(&self) -> usize {
        match self.rest() {
            [b'\\', b'\n', ..] => 2,
            [b'\\', b'\r', b'\n', ..] => 3,
            _ => 0,
        }
    }

    fn scan(&mut self) -> Result<Token, LexFault> {
        let next = self.peek().unwrap_or_default();
        if next.is_ascii_digit() || self.point_of_number() {
            return self.scan_number();
        }
        if next == b':' && self.variable_follows() {
            self.at += 1;
            let name = self.take(super::variables::continues_name);
            return Ok(Token::Variable(name.to_owned()));
        }
        if super::variables::begins_name(next) {
            let name = self.take(super::variables::continues_name);
            let keyword = (KEYWORDS.into_iter()).find(|word| word.eq_ignore_ascii_case(name));
            return Ok(keyword.map_or_else(|| Token::Name(name.to_owned()), Token::Keyword));
        }
        let sign = SIGNS.into_iter().find(|sign| self.next_is(sign));
        let tilde = (next == b'~').then_some("~");
        let Some(sign) = sign.or(tilde) else {
            self.at += 1;
            return Err(LexFault::UnexpectedCharacter);
        };
        self.at += sign.len();
        Ok(Token::Sign(if sign == "!=" { "<>" } else { sign }))
    }

    fn variable_follows(&self) -> bool {
        (self.rest().get(1)).is_some_and(|byte| super::variables::continues_name(*byte))
    }

    fn point_of_number(&self) -> bool {
        matches!(self.rest(), [b'.', digit, ..] if digit.is_ascii_digit())
    }

    fn take(&mut self, accept: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        self.at += self.count(accept);
        &self.text[start..self.at]
    }

    fn scan_number(&mut self) -> Result<Token, LexFault> {
        let start = self.at;
        self.at += self.count(|byte| byte.is_ascii_digit());
        let mut is_int = true;
        if self.peek() == Some(b'.') {
            is_int = false;
            self.at += 1;
            self.at += self.count(|byte| byte.is_ascii_digit());
        }
        let exponent = self.exponent();
        self.at += exponent;
        let text = &self.text[start..self.at];
        if !is_int || exponent > 0 {
            return (number::decimal(text).map(Token::Double)).ok_or(LexFault::DoubleOverflow);
        }
        if text == "9223372036854775808" {
            return Ok(Token::IntAfterMinus);
        }
        (text.parse().map(Token::Int)).map_err(|_| LexFault::BigintOverflow)
    }

    /// The length of an exponent that comes next.
    fn exponent(&self) -> usize {
        let rest = self.rest();
        let sign = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        let digits = (rest.iter().skip(1 + sign))
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        match rest.first() {
            Some(b'e' | b'E') if digits > 0 => 1 + sign + digits,
            _ => 0,
        }
    }
}

/// C's isspace in the locale C.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}
