//! log_line_prefix: whether a line of a log was written by a process.

/// Characters of the longest value of an escape that is tried.
const LONGEST: usize = 64;

/// A process of a server.
#[derive(Clone, Copy)]
pub enum Process {
    /// It serves no client, so that its lines have no values of one.
    Postmaster(u32),
    Other(u32),
}

/// The message of a line that the process `pid` wrote; None if another process did, or if the prefix does not tell.
pub fn message_of<'a>(line: &'a str, format: &str, process: Process) -> Option<&'a str> {
    let (before_sessions, of_sessions) = match format.split_once("%q") {
        Some((before, of)) => (before, Some(of)),
        None => (format, None),
    };
    let whole = of_sessions.map(|of| before_sessions.to_owned() + of);
    let formats = [whole.as_deref(), Some(before_sessions)]
        .into_iter()
        .flatten();
    let mut found = formats.filter(|format| names_process(format));
    found.find_map(|format| after(line, format, process))
}

/// Whether %p stands in it.
fn names_process(format: &str) -> bool {
    let mut parts = format.replace("%%", "");
    parts.retain(|c| !c.is_ascii_digit() && c != '-');
    parts.contains("%p")
}

/// The rest of a line behind a format. A severity follows a prefix, so that a shorter value of an escape is tried where a longer one leaves none.
fn after<'a>(line: &'a str, format: &str, process: Process) -> Option<&'a str> {
    let Some(first) = format.chars().next() else {
        return begins_with_severity(line).then_some(line);
    };
    if first != '%' {
        return after(
            line.strip_prefix(first)?,
            &format[first.len_utf8()..],
            process,
        );
    }
    let escape = format[1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    let letter = escape.chars().next()?;
    let rest = &escape[letter.len_utf8()..];
    match letter {
        '%' => after(line.strip_prefix('%')?, rest, process),
        'p' => {
            let (Process::Postmaster(pid) | Process::Other(pid)) = process;
            let behind = line
                .trim_start_matches(' ')
                .strip_prefix(&pid.to_string())?;
            let is_whole = !behind.starts_with(|c: char| c.is_ascii_digit());
            // It may be padded.
            let padded = behind.trim_start_matches(' ');
            let tried = || after(behind, rest, process).or_else(|| after(padded, rest, process));
            is_whole.then(tried).flatten()
        }
        letter => {
            // A client chooses these values. The postmaster has none, but for padding.
            let is_empty = is_of_clients(letter)
                && names_process(rest)
                && matches!(process, Process::Postmaster(_));
            let ends = line.char_indices().map(|(at, _)| at).take(LONGEST);
            let may_hold = |c| may_hold(letter, c) && (!is_empty || c == ' ');
            let fits = |&end: &usize| line[..end].chars().all(may_hold);
            ends.take_while(fits)
                .find_map(|end| after(&line[end..], rest, process))
        }
    }
}

/// Whether clients choose what an escape stands for: names of application, user and database, hosts, and command tags.
fn is_of_clients(letter: char) -> bool {
    !"mtsnlxQPcveb".contains(letter)
}

/// Whether a value of an escape may have a character.
fn may_hold(letter: char, c: char) -> bool {
    match letter {
        'm' | 't' | 's' => c.is_ascii_alphanumeric() || " -:.+/".contains(c),
        'n' | 'l' | 'x' | 'Q' | 'P' => c.is_ascii_digit() || " .-".contains(c),
        'c' => c.is_ascii_hexdigit() || " .".contains(c),
        'v' => c.is_ascii_digit() || " /".contains(c),
        'e' => c.is_ascii_alphanumeric(),
        'b' => c.is_ascii_alphabetic() || c == ' ',
        _ => !c.is_control(),
    }
}

fn begins_with_severity(text: &str) -> bool {
    super::SEVERITIES
        .iter()
        .any(|severity| text.starts_with(severity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_process_that_its_prefix_names() {
        for (format, line) in [
            ("%m [%p] ", "2026-11-28 11:42:22.123 UTC [12] LOG:  x"),
            (
                "%m [%p] %q%u@%d ",
                "2026-11-28 11:42:22.123 UTC [12] LOG:  x",
            ),
            (
                "%m [%p] %q%u@%d ",
                "2026-11-28 11:42:22.123 UTC [12] a@b LOG:  x",
            ),
            (
                "%t:%r:%u@%d:[%p]: ",
                "2026-11-28 11:42:22 UTC::@:[12]: LOG:  x",
            ),
            ("%-6a [%p] ", "       [12] LOG:  x"),
            ("%b %a[%p] ", "postmaster [12] LOG:  x"),
            ("%n %5p %%%l%a", "1790000000.123    12 %3LOG:  x"),
            ("%-6p<%c> ", "12    <6928a1.c> LOG:  x"),
        ] {
            assert_eq!(
                message_of(line, format, Process::Postmaster(12)),
                Some("LOG:  x"),
                "{format}"
            );
            assert_eq!(
                message_of(line, format, Process::Other(1)),
                None,
                "{format}"
            );
            assert_eq!(
                message_of(line, format, Process::Other(2)),
                None,
                "{format}"
            );
        }
        for (format, line) in [
            ("", "LOG:  x"),
            ("%m ", "2026-11-28 11:42:22.123 UTC LOG:  x"),
            ("%%p ", "%p LOG:  x"),
            ("%m [%p] ", "\t2026-11-28 11:42:22.123 UTC [12] LOG:  x"),
            ("%m [%p] ", "2026-11-28 11:42:22.123 UTC [12] DETAIL:  x"),
            ("%t %a [%p] ", "2026-11-28 11:42:22 UTC x [12] LOG:  x"),
            ("%u@%d [%p] ", "a@b [12] LOG:  x"),
            ("%m [%p] %", "2026-11-28 11:42:22.123 UTC [12] LOG:  x"),
        ] {
            assert_eq!(
                message_of(line, format, Process::Postmaster(12)),
                None,
                "{format}"
            );
        }
        // A session that crashes has its user before its number.
        let line = "2026-11-28 11:42:22 UTC:[local]:a@b:[12]: PANIC:  x";
        let of = |process| message_of(line, "%t:%r:%u@%d:[%p]: ", process);
        assert_eq!(
            (of(Process::Other(12)), of(Process::Postmaster(12))),
            (Some("PANIC:  x"), None)
        );
    }
}
