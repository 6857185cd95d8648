//! Splits a script into statements as psql's lexer does: a semicolon ends a statement outside of quotes, comments, parentheses and
//! BEGIN ATOMIC blocks, and a backslash there begins a meta command.

use super::token::{Source, Span, is_space};
use super::variables::{begins_name, continues_name};

/// The end of a piece of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Semicolon,
    Backslash,
    End,
}

/// A quote or comment that the script does not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unterminated {
    pub span: Span,
    pub what: &'static str,
}

/// SQL that was collected, with the places that its bytes come from.
#[derive(Clone, Debug, Default)]
pub struct Piece {
    text: Vec<u8>,
    /// From this byte of the text on, bytes stand at this place of the script and after it.
    places: Vec<(usize, usize)>,
    /// Quotes and comments in the text.
    pub quoted: Vec<Span>,
}

impl Piece {
    fn push(&mut self, byte: u8, place: usize) {
        let at = self.text.len();
        let expected = self.places.last().map(|(from, place)| place + at - from);
        if expected != Some(place) {
            self.places.push((at, place));
        }
        self.text.push(byte);
    }

    /// The place in the script of a byte of the text.
    pub fn place(&self, at: usize) -> usize {
        let after = self.places.partition_point(|(from, _)| *from <= at);
        let (from, place) = after.checked_sub(1).map_or((0, 0), |i| self.places[i]);
        place + at - from
    }

    /// The text without blanks and comments of one line at its beginning, and how many bytes those were; None when that is all.
    pub fn statement(&self) -> Option<(usize, &str)> {
        let text = std::str::from_utf8(&self.text).unwrap_or_default();
        let mut at = 0;
        loop {
            let rest = &text[at..];
            at += rest.len()
                - rest
                    .trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8))
                    .len();
            if !text[at..].starts_with("--") {
                break;
            }
            at += text[at..].find('\n')? + 1;
        }
        (at < text.len()).then_some((at, &text[at..]))
    }

    /// The word STDIN or STDOUT of a COPY that reads from the client or writes to it, in any statement of the text.
    pub fn client_of_copy(&self) -> Option<Span> {
        let mut quoted = self.quoted.iter().peekable();
        let (mut at, mut depth, mut words) = (0, 0_usize, 0);
        let (mut is_copy, mut is_file_next) = (false, false);
        while let Some(byte) = self.text.get(at).copied() {
            while quoted.next_if(|span| span.end <= at).is_some() {}
            if let Some(span) = quoted.peek().filter(|span| span.contains(&at)) {
                at = span.end;
                continue;
            }
            let continues = |byte: &&u8| continues_name(**byte) || **byte == b'$';
            let length = match begins_name(byte) {
                true => self.text[at..].iter().take_while(continues).count(),
                false => 1,
            };
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b';' if depth == 0 => (words, is_copy) = (0, false),
                // A variable.
                b':' => is_file_next = false,
                _ if begins_name(byte) && depth == 0 => {
                    let word = &self.text[at..at + length];
                    let is = |other: &&str| word.eq_ignore_ascii_case(other.as_bytes());
                    words += 1;
                    if words == 1 {
                        is_copy = is(&"copy");
                    } else if is_file_next && ["stdin", "stdout"].iter().any(is) {
                        return Some(at..at + length);
                    }
                    is_file_next = is_copy && ["from", "to"].iter().any(is);
                }
                _ => {}
            }
            at += length;
        }
        None
    }
}

/// The state of a statement that a meta command interrupts.
#[derive(Clone, Debug, Default)]
pub struct Lexer {
    /// The places of open parentheses.
    pub parentheses: Vec<usize>,
    begins: usize,
    /// The first letters of the first words, if they are those of CREATE FUNCTION or PROCEDURE.
    words: [u8; 4],
    word_count: usize,
}

impl Lexer {
    /// Collects SQL up to the next stop.
    pub fn scan(
        &mut self,
        source: &mut Source<'_>,
        piece: &mut Piece,
    ) -> Result<Stop, Unterminated> {
        while let Some(next) = source.peek() {
            match next {
                b';' => {
                    copy(source, piece, 1);
                    if self.parentheses.is_empty() && self.begins == 0 {
                        self.word_count = 0;
                        return Ok(Stop::Semicolon);
                    }
                }
                b'\\' => match source.rest().get(1) {
                    Some(b';' | b':') => self.escaped(source, piece),
                    _ => {
                        source.at += 1;
                        return Ok(Stop::Backslash);
                    }
                },
                _ => self.other(source, piece, next)?,
            }
        }
        Ok(Stop::End)
    }

    /// `\;` and `\:` are a semicolon that ends nothing, and a colon.
    fn escaped(&mut self, source: &mut Source<'_>, piece: &mut Piece) {
        source.at += 1;
        if source.peek() == Some(b';') {
            self.word_count = 0;
        }
        copy(source, piece, 1);
    }

    fn other(
        &mut self,
        source: &mut Source<'_>,
        piece: &mut Piece,
        next: u8,
    ) -> Result<(), Unterminated> {
        match next {
            b'(' => self.parentheses.push(source.at),
            b')' => drop(self.parentheses.pop()),
            b'\'' => return quote(source, piece, 0, false),
            b'"' => return identifier(source, piece),
            b'$' => return dollar(source, piece),
            b':' => {
                colon(source, piece);
                return Ok(());
            }
            b'-' if source.next_is("--") => {
                line_comment(source, piece);
                return Ok(());
            }
            b'/' if source.next_is("/*") => return block_comment(source, piece),
            b'0'..=b'9' => {
                number(source, piece);
                return Ok(());
            }
            b'e' | b'E' if source.rest().get(1) == Some(&b'\'') => {
                return quote(source, piece, 1, true);
            }
            _ if begins_name(next) => {
                self.word(source, piece);
                return Ok(());
            }
            _ if is_space(next) && piece.text.is_empty() => {
                source.at += 1;
                return Ok(());
            }
            _ => {}
        }
        copy(source, piece, 1);
        Ok(())
    }

    /// A word: those of CREATE FUNCTION … BEGIN ATOMIC … END are followed.
    fn word(&mut self, source: &mut Source<'_>, piece: &mut Piece) {
        let length = source.count(|byte| continues_name(byte) || byte == b'$');
        let word = &source.text[source.at..source.at + length];
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        if self.word_count == 0 {
            self.words = [0; 4];
        }
        let of_create = ["create", "function", "procedure", "or", "replace"];
        if of_create.into_iter().any(is)
            && let Some(place) = self.words.get_mut(self.word_count)
        {
            *place = word.as_bytes()[0].to_ascii_lowercase();
        }
        self.word_count += 1;
        if self.creates_routine() && self.parentheses.is_empty() {
            if is("begin") || (is("case") && self.begins > 0) {
                self.begins += 1;
            } else if is("end") {
                self.begins = self.begins.saturating_sub(1);
            }
        }
        copy(source, piece, length);
    }

    fn creates_routine(&self) -> bool {
        matches!(
            self.words,
            [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']
        )
    }
}

fn copy(source: &mut Source<'_>, piece: &mut Piece, count: usize) {
    for byte in source.rest().iter().take(count) {
        piece.push(*byte, source.at);
        source.at += 1;
    }
}

/// Copies what is quoted or commented, to `end` bytes from here.
fn copy_quoted(source: &mut Source<'_>, piece: &mut Piece, end: usize) {
    let start = piece.text.len();
    copy(source, piece, end);
    piece.quoted.push(start..piece.text.len());
}

fn unterminated(source: &Source<'_>, what: &'static str) -> Unterminated {
    Unterminated {
        span: source.at..source.text.len(),
        what,
    }
}

/// A string; `before` bytes stand before its quote. With `escapes` a backslash takes the next byte.
fn quote(
    source: &mut Source<'_>,
    piece: &mut Piece,
    before: usize,
    escapes: bool,
) -> Result<(), Unterminated> {
    let bytes = source.rest();
    let mut at = before + 1;
    loop {
        match bytes.get(at) {
            None => return Err(unterminated(source, "quoted string")),
            Some(b'\\') if escapes => at += 2,
            Some(b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 2,
            Some(b'\'') => match continuation(&bytes[at + 1..]) {
                Some(length) => at += 1 + length,
                None => break,
            },
            Some(_) => at += 1,
        }
    }
    copy_quoted(source, piece, at + 1);
    Ok(())
}

/// The bytes from the end of a string to behind the quote that continues it on another line.
fn continuation(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut is_other_line = false;
    loop {
        match bytes.get(at)? {
            b'\n' | b'\r' => is_other_line = true,
            byte if is_space(*byte) => {}
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at += bytes[at..]
                    .iter()
                    .position(|byte| matches!(byte, b'\n' | b'\r'))?;
                is_other_line = true;
            }
            b'\'' if is_other_line => return Some(at + 1),
            _ => return None,
        }
        at += 1;
    }
}

fn identifier(source: &mut Source<'_>, piece: &mut Piece) -> Result<(), Unterminated> {
    let end = source.rest().iter().skip(1).position(|byte| *byte == b'"');
    let end = end.ok_or_else(|| unterminated(source, "quoted identifier"))?;
    copy_quoted(source, piece, end + 2);
    Ok(())
}

/// A dollar quote, or a dollar that begins none.
fn dollar(source: &mut Source<'_>, piece: &mut Piece) -> Result<(), Unterminated> {
    let bytes = source.rest();
    let tag = match bytes.get(1) {
        Some(byte) if begins_name(*byte) => bytes[1..]
            .iter()
            .take_while(|byte| continues_name(**byte))
            .count(),
        _ => 0,
    };
    if bytes.get(tag + 1) != Some(&b'$') {
        copy(source, piece, 1);
        return Ok(());
    }
    let delimiter = &bytes[..tag + 2];
    let body = &bytes[delimiter.len()..];
    let end = body
        .windows(delimiter.len())
        .position(|window| window == delimiter);
    let end = end.ok_or_else(|| unterminated(source, "dollar-quoted string"))?;
    copy_quoted(source, piece, end + 2 * delimiter.len());
    Ok(())
}

fn line_comment(source: &mut Source<'_>, piece: &mut Piece) {
    let length = source.count(|byte| !matches!(byte, b'\n' | b'\r'));
    if piece.text.is_empty() {
        source.at += length;
    } else {
        copy_quoted(source, piece, length);
    }
}

fn block_comment(source: &mut Source<'_>, piece: &mut Piece) -> Result<(), Unterminated> {
    let bytes = source.rest();
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        match bytes.get(at..) {
            Some([b'/', b'*', ..]) => (at, depth) = (at + 2, depth + 1),
            Some([b'*', b'/', ..]) => (at, depth) = (at + 2, depth - 1),
            Some([_, ..]) => at += 1,
            _ => return Err(unterminated(source, "/* comment")),
        }
    }
    copy_quoted(source, piece, at);
    Ok(())
}

/// psql's variables are no variables here. `:{?name}` is a question of psql's whose answer is always no.
fn colon(source: &mut Source<'_>, piece: &mut Piece) {
    let rest = source.rest();
    let named = |from: usize, close: u8| {
        let rest = rest.get(from..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|byte| continues_name(**byte))
            .count();
        let closed = length > 0 && (close == 0 || rest.get(length) == Some(&close));
        closed.then_some(length)
    };
    match rest.get(1) {
        Some(b':' | b'=') => copy(source, piece, 2),
        Some(close @ (b'\'' | b'"')) => {
            let length = named(2, *close).map_or(1, |length| length + 3);
            copy(source, piece, length);
        }
        Some(b'{') if rest.get(2) == Some(&b'?') && named(3, b'}').is_some() => {
            for byte in b"FALSE" {
                piece.push(*byte, source.at);
            }
            source.at += named(3, b'}').unwrap_or_default() + 4;
        }
        _ => copy(source, piece, 1 + named(1, 0).unwrap_or_default()),
    }
}

/// A number, and a word that begins at its end.
fn number(source: &mut Source<'_>, piece: &mut Piece) {
    let digits = source.count(|byte| byte.is_ascii_digit());
    copy(source, piece, digits);
    if source.peek().is_some_and(begins_name) {
        let word = source.count(|byte| continues_name(byte) || byte == b'$');
        copy(source, piece, word);
    }
}
