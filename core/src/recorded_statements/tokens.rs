//! The words of a statement as pg_stat_statements shows it, and its parameters.

use std::collections::BTreeSet;

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
    of_type: Option<std::ops::Range<usize>>,
}

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
fn type_at_end(tokens: &[Token], starts: &[usize], end: usize) -> Option<std::ops::Range<usize>> {
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
    scan(sql).0
}

/// The tokens of a statement, and the places of its parameters. Comments and constants are skipped.
fn scan(sql: &str) -> (Vec<Token>, Vec<Place>) {
    let bytes = sql.as_bytes();
    let (mut tokens, mut places) = (Vec::new(), Vec::new());
    // Where each token begins, and where the last one ends.
    let (mut starts, mut end): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut at = 0;
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80;
    while at < bytes.len() {
        let rest = &sql[at..];
        let first = bytes[at];
        let length = match first {
            _ if first.is_ascii_whitespace() => 1,
            b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => end_of_comment(rest),
            b'\'' | b'"' => {
                let end = end_of_quotes(rest, first);
                tokens.push(match first {
                    b'"' => {
                        let inner = rest[1..end].trim_end_matches('"');
                        Token::Quoted(inner.replace("\"\"", "\""))
                    }
                    _ => Token::Constant,
                });
                end
            }
            b'$' => {
                let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                match rest[1..=digits].parse() {
                    Ok(number) => {
                        places.push(Place {
                            start: at,
                            end: at + 1 + digits,
                            number,
                            of_type: type_at_end(&tokens, &starts, end),
                        });
                        tokens.push(Token::Parameter(number));
                        1 + digits
                    }
                    Err(_) => {
                        tokens.push(Token::Constant);
                        end_of_dollars(rest)
                    }
                }
            }
            _ if first.is_ascii_digit() => {
                tokens.push(Token::Constant);
                let is_of_number = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
                rest.bytes().take_while(is_of_number).count()
            }
            _ if is_word(first) => {
                let length = rest.bytes().take_while(|b| is_word(*b)).count();
                let length = without_parameter(&rest[..length]);
                tokens.push(Token::Word(rest[..length].to_lowercase()));
                length
            }
            _ if b"+-*/<>=~!@#%^&|`?:".contains(&first) => {
                let is_of_operator = |b: &u8| b"+-*/<>=~!@#%^&|`?:".contains(b);
                let length = rest.bytes().take_while(is_of_operator).count();
                tokens.push(Token::Operator(rest[..length].to_owned()));
                length
            }
            _ => {
                tokens.push(Token::Mark(char::from(first)));
                1
            }
        };
        if tokens.len() > starts.len() {
            starts.push(at);
            end = at + length;
        }
        at += length;
    }
    (tokens, places)
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

fn end_of_comment(text: &str) -> usize {
    text.find("*/").map_or(text.len(), |end| end + 2)
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
    scan(sql).1.iter().map(|place| place.number).collect()
}

/// The statement with variables of a script in place of its parameters. A type before a parameter becomes a cast.
pub(super) fn with_variables(sql: &str) -> String {
    let mut text = String::new();
    let mut from = 0;
    for place in scan(sql).1 {
        let number = place.number;
        match place.of_type {
            Some(of_type) => {
                text.push_str(&sql[from..of_type.start]);
                text.push_str(&format!(":p{number}::{}", &sql[of_type]));
            }
            None => {
                text.push_str(&sql[from..place.start]);
                text.push_str(&format!(":p{number}"));
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
        ] {
            assert_eq!(with_variables(sql), expected);
        }
    }
}
