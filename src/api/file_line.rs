//! Lines of files of `fsbench.export`, taken apart without parsing what is in them: PostgreSQL's JSON takes many times the bytes of a line.
//!
//! A byte below 128 is that character in each encoding of a server, so bytes are parsed.

use pgrx::{iter::SetOfIterator, pg_extern};

/// The member of this name of a JSON object, as it stands there; NULL where there is none.
#[pg_extern(sql = false)]
fn fsbench_line_member(line: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    member(line, name).map(<[u8]>::to_vec)
}

/// How many elements the array has that is the member `rows` of a JSON object; NULL where it is none.
#[pg_extern(sql = false)]
fn fsbench_line_count(line: &[u8]) -> Option<i32> {
    let rows = member(line, b"rows").and_then(elements)?;
    i32::try_from(rows.count()).ok()
}

/// Elements of that array as they stand there, from this one on (the first is 1): one at least, and no more than have this many bytes together.
#[pg_extern(sql = false)]
fn fsbench_line_rows(line: &[u8], from: i32, bytes: i32) -> SetOfIterator<'static, Vec<u8>> {
    let from = usize::try_from(from).unwrap_or(0).max(1);
    let mut left = usize::try_from(bytes).unwrap_or(0);
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let elements = member(line, b"rows").and_then(elements);
    for row in elements.into_iter().flatten().skip(from - 1) {
        if !rows.is_empty() && row.len() > left {
            break;
        }
        left = left.saturating_sub(row.len());
        rows.push(row.to_vec());
    }
    SetOfIterator::new(rows)
}

fn member<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let mut rest = inside(line, b'{', b'}')?;
    while !rest.is_empty() {
        let (key, after) = value(rest);
        let after = after.trim_ascii_start().strip_prefix(b":")?;
        let (value, after) = value(after);
        if key.strip_prefix(b"\"")?.strip_suffix(b"\"")? == name {
            return Some(value);
        }
        rest = after
            .trim_ascii_start()
            .strip_prefix(b",")
            .unwrap_or_default();
    }
    None
}

fn elements(array: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    let mut rest = inside(array, b'[', b']')?;
    Some(std::iter::from_fn(move || {
        if rest.trim_ascii().is_empty() {
            return None;
        }
        let (element, after) = value(rest);
        rest = after
            .trim_ascii_start()
            .strip_prefix(b",")
            .unwrap_or_default();
        Some(element)
    }))
}

/// The text between these first and last characters; None without them.
fn inside(text: &[u8], first: u8, last: u8) -> Option<&[u8]> {
    let text = text.trim_ascii();
    text.strip_prefix(&[first])?.strip_suffix(&[last])
}

/// A value and the rest: it ends before a comma, a colon or the end of its container. Its syntax is not checked.
fn value(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (i, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth > 0 => depth -= 1,
            b',' | b':' if depth == 0 => {
                let (value, rest) = text.split_at(i);
                return (value.trim_ascii_end(), rest);
            }
            _ => {}
        }
    }
    (text.trim_ascii_end(), &[])
}
