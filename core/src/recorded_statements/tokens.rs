//! The words of a statement as pg_stat_statements shows it, and its parameters.

use std::{collections::BTreeSet, ops::Range};

/// A part of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword or a name, in lower case.
    Word(String),
    /// A name in quotes.
    Quoted(String),
    Parameter(u32),
    /// A constant.
    Constant,
    Operator(String),
    /// A single character: parenthesis, comma, dot, semicolon.
    Mark(char),
}

/// Where a parameter stands, and its number.
struct Place {
    start: usize,
    end: usize,
    number: u32,
    /// Where the type of a constant stands before it.
    of_type: Option<Range<usize>>,
}

/// Characters of operators.
const OPERATORS: &[u8] = b"+-*/<>=~!@#%^&|`?:";

/// Types that may stand before a constant, and cannot before a parameter.
const TYPES: [&str; 28] = [
    "box",
    "bytea",
    "cidr",
    "circle",
    "date",
    "daterange",
    "inet",
    "interval",
    "json",
    "jsonb",
    "jsonpath",
    "line",
    "lseg",
    "numeric",
    "path",
    "point",
    "polygon",
    "regclass",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "tsquery",
    "tsrange",
    "tstzrange",
    "tsvector",
    "uuid",
    "xml",
];

/// Where a type stands at the end of these tokens, which begin at `starts`: `interval`, `timestamp with time zone`.
fn type_at_end(tokens: &[Token], starts: &[usize], end: usize) -> Option<Range<usize>> {
    let word = |back: usize| match tokens.len().checked_sub(back).and_then(|at| tokens.get(at)) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let has_zone = word(1) == "zone" && word(2) == "time" && ["with", "without"].contains(&word(3));
    let back = match has_zone {
        true if ["time", "timestamp"].contains(&word(4)) => 4,
        true => return None,
        false if TYPES.contains(&word(1)) => 1,
        false => return None,
    };
    let first = tokens.len() - back;
    let has_schema = first > 1 && tokens[first - 1] == Token::Mark('.');
    Some(starts[first - 2 * usize::from(has_schema)]..end)
}

pub(super) fn tokens(sql: &str) -> Vec<Token> {
    scan(sql).tokens
}

/// The parts of a statement.
#[derive(Default)]
struct Scanned {
    tokens: Vec<Token>,
    /// Places of parameters.
    places: Vec<Place>,
    /// Places of constants and comments.
    hidden: Vec<Range<usize>>,
}

/// The tokens of a statement, and the places of what is no part of its form. Comments are no tokens.
fn scan(sql: &str) -> Scanned {
    let bytes = sql.as_bytes();
    let mut all = Scanned::default();
    // Where each token begins, and where the last one ends.
    let (mut starts, mut end): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut at = 0;
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80;
    while at < bytes.len() {
        let rest = &sql[at..];
        let first = bytes[at];
        let length = match first {
            _ if first.is_ascii_whitespace() => 1,
            b'-' if rest.starts_with("--") => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => end_of_comment(rest),
            b'\'' | b'"' => {
                let (token, length) = in_quotes(rest, first);
                all.tokens.push(token);
                length
            }
            b'$' => match parameter_at(rest) {
                Some((number, length)) => {
                    all.places.push(Place {
                        start: at,
                        end: at + length,
                        number,
                        of_type: type_at_end(&all.tokens, &starts, end),
                    });
                    all.tokens.push(Token::Parameter(number));
                    length
                }
                None => {
                    all.tokens.push(Token::Constant);
                    end_of_dollars(rest)
                }
            },
            _ if first.is_ascii_digit() => {
                all.tokens.push(Token::Constant);
                let is_of_number = |b: &u8| b.is_ascii_alphanumeric() || b"._".contains(b);
                rest.bytes().take_while(is_of_number).count()
            }
            _ if is_word(first) => {
                let length = rest.bytes().take_while(|b| is_word(*b)).count();
                let length = without_parameter(&rest[..length]);
                all.tokens.push(Token::Word(rest[..length].to_lowercase()));
                length
            }
            _ if OPERATORS.contains(&first) => {
                let length = end_of_operator(rest);
                all.tokens.push(Token::Operator(rest[..length].to_owned()));
                length
            }
            _ => {
                all.tokens.push(Token::Mark(char::from(first)));
                1
            }
        };
        let is_token = all.tokens.len() > starts.len();
        let is_constant = is_token && all.tokens.last() == Some(&Token::Constant);
        if is_constant || !is_token && !first.is_ascii_whitespace() {
            all.hidden.push(at..at + length);
        }
        if is_token {
            starts.push(at);
            end = at + length;
        }
        at += length;
    }
    all
}

/// A name or a constant in quotes, and where it ends.
fn in_quotes(text: &str, quote: u8) -> (Token, usize) {
    let end = end_of_quotes(text, quote);
    if quote != b'"' {
        return (Token::Constant, end);
    }
    let inner = text[1..end].trim_end_matches('"');
    (Token::Quoted(inner.replace("\"\"", "\"")), end)
}

/// The number of a parameter, and where it ends.
fn parameter_at(text: &str) -> Option<(u32, usize)> {
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    let number = text[1..=digits].parse().ok()?;
    Some((number, 1 + digits))
}

/// The end of an operator, at which a comment may begin.
fn end_of_operator(text: &str) -> usize {
    let length = text.bytes().take_while(|b| OPERATORS.contains(b)).count();
    let operator = &text[..length];
    let comments = ["--", "/*"].iter().filter_map(|mark| operator.find(mark));
    comments.min().unwrap_or(length)
}

/// The length of a word without the parameter at its end: `interval'1 day'` is recorded as `interval$1`, which is a name elsewhere.
fn without_parameter(word: &str) -> usize {
    let is_number = |digits: &str| digits.parse::<u32>().is_ok();
    match word.split_once('$') {
        Some((name, end)) if is_number(end) && TYPES.contains(&name.to_lowercase().as_str()) => {
            name.len()
        }
        _ => word.len(),
    }
}

/// The end of a comment, which may have comments in it.
fn end_of_comment(text: &str) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        let rest = &text[at..];
        let Some(next) = rest.find("*/") else {
            return text.len();
        };
        match rest.find("/*").filter(|inner| inner < &next) {
            Some(inner) => (at, depth) = (at + inner + 2, depth + 1),
            None => (at, depth) = (at + next + 2, depth - 1),
        }
    }
    at
}

/// The statement with a question mark in place of each constant, and without comments. None where a backslash may tell another end of a constant.
pub(super) fn without_constants(sql: &str) -> Option<String> {
    if sql.contains('\\') {
        return None;
    }
    let (mut text, mut from) = (String::new(), 0);
    for place in scan(sql).hidden {
        text.push_str(&sql[from..place.start]);
        let is_comment = ["--", "/*"]
            .iter()
            .any(|mark| sql[place.clone()].starts_with(mark));
        text.push(if is_comment { ' ' } else { '?' });
        from = place.end;
    }
    text.push_str(&sql[from..]);
    Some(text)
}

/// The end of a text in quotes, which are doubled in it.
fn end_of_quotes(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] == quote {
            if bytes.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    text.len()
}

/// The end of a text in dollar quotes, or of a lone dollar sign.
fn end_of_dollars(text: &str) -> usize {
    let Some(end) = text[1..].find('$') else {
        return 1;
    };
    let tag = &text[..end + 2];
    let inner = &text[tag.len()..];
    inner
        .find(tag)
        .map_or(text.len(), |end| tag.len() + end + tag.len())
}

/// Numbers of the parameters of a statement, each once.
pub(super) fn parameters(sql: &str) -> BTreeSet<u32> {
    let places = scan(sql).places;
    places.iter().map(|place| place.number).collect()
}

/// The statement with variables of a script in place of its parameters. A type before a parameter becomes a cast.
pub(super) fn with_variables(sql: &str) -> String {
    let mut text = String::new();
    let mut from = 0;
    for place in scan(sql).places {
        let number = place.number;
        match place.of_type {
            Some(of_type) => {
                text.push_str(&sql[from..of_type.start]);
                text.push_str(&format!(":p{number}::{}", &sql[of_type]));
            }
            None => {
                text.push_str(&sql[from..place.start]);
                // In tags[$1:$2] two colons would be a cast.
                let blank = if text.ends_with(':') { " " } else { "" };
                text.push_str(&format!("{blank}:p{number}"));
            }
        }
        from = place.end;
    }
    text.push_str(&sql[from..]);
    text.trim_end().trim_end_matches(';').to_owned()
}

pub(super) fn word_at(tokens: &[Token], at: usize) -> &str {
    match tokens.get(at) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    }
}

pub(super) fn name_of(token: &Token) -> Option<String> {
    match token {
        Token::Word(name) | Token::Quoted(name) => Some(name.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_constant_and_no_comment_stays() {
        for (sql, expected) in [
            (
                "UPDATE item SET stock = stock - 1 WHERE id=$1 AND note = '47''11'",
                "UPDATE item SET stock = stock - ? WHERE id=$1 AND note = ?",
            ),
            (
                "SELECT $x$4711$x$, E'4711', 4711.5e3, 47_11",
                "SELECT ?, E?, ?, ?",
            ),
            ("SELECT a /* 47 /* 1 */ 1 */ -- 4711", "SELECT a    "),
            ("SELECT a =/* 4711 */b, a+--4711\n1", "SELECT a = b, a+ \n?"),
            (
                "SELECT x1 FROM \"t 2\" WHERE y = '4711",
                "SELECT x1 FROM \"t 2\" WHERE y = ?",
            ),
        ] {
            assert_eq!(without_constants(sql).as_deref(), Some(expected));
        }
        assert_eq!(without_constants("SELECT E'\\'4711'"), None);
    }

    #[test]
    fn a_type_before_a_constant_becomes_a_cast() {
        for (sql, expected) in [
            ("SELECT now() - interval $1", "SELECT now() - :p1::interval"),
            (
                "SELECT INTERVAL $1 day, DATE $2",
                "SELECT :p1::INTERVAL day, :p2::DATE",
            ),
            (
                "SELECT timestamp with time zone $1 AT TIME ZONE $2",
                "SELECT :p1::timestamp with time zone AT TIME ZONE :p2",
            ),
            ("SELECT date /* of */ $1;", "SELECT :p1::date"),
            ("SELECT interval, $1", "SELECT interval, :p1"),
            (
                "SELECT pg_catalog.date $1, \"pg_catalog\" . date $2, bit $3",
                "SELECT :p1::pg_catalog.date, :p2::\"pg_catalog\" . date, bit :p3",
            ),
            (
                "SELECT now() + interval$1, day$1, date$x",
                "SELECT now() + :p1::interval, day$1, date$x",
            ),
            ("SELECT \"date\" = $1", "SELECT \"date\" = :p1"),
            ("SELECT tags[$1:$2]", "SELECT tags[:p1: :p2]"),
        ] {
            assert_eq!(with_variables(sql), expected);
        }
    }
}
