//! Texts from elsewhere as they are shown: nothing in them moves the cursor, begins a line, turns the direction of writing or
//! cannot be seen.

/// True for characters that do something instead of being seen: control characters, separators of lines, marks of direction, and
/// characters without width.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// True for characters that no name or label holds: control characters, separators of lines, and marks of direction. Joiners of
/// letters stay, since some scripts need them.
pub fn is_refused(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text as one line.
pub fn one_line(text: &str) -> String {
    escaped(text, |_| false)
}

/// A text that may have several lines.
pub fn lines(text: &str) -> String {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, may_stay: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) && !may_stay(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A text of another server with a space for each character that no name holds, but for `kept`.
pub fn blanked(text: &str, kept: &[char]) -> String {
    let shown = |c| match is_refused(c) && !kept.contains(&c) {
        true => ' ',
        false => c,
    };
    text.chars().map(shown).collect()
}

/// JSON of another server with a space for each character in its strings that no name holds, escaped or not. The text stays as long as it
/// was, or becomes shorter, and is not parsed.
pub fn blanked_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        safe.push_str(&blanked(before, &[]));
        let letter = escape[1..].chars().next();
        let code = escape
            .get(2..6)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let is_refused_code = code.and_then(char::from_u32).is_some_and(is_refused);
        let (shown, length) = match letter {
            Some('b' | 'f' | 'n' | 'r' | 't') => (" ", 2),
            Some('u') if code.is_some() && is_refused_code => (" ", 6),
            Some(c) if c.is_ascii() => (&escape[..2], 2),
            // No JSON.
            _ => ("\\", 1),
        };
        safe.push_str(shown);
        rest = &escape[length..];
    }
    safe + &blanked(rest, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn json_of_another_server_has_nothing_that_a_terminal_obeys() {
        let hostile = json!({"message": HOSTILE, "\u{1b}]0;key": ["\\u001b[2J \\", "\"\u{7f}"], "n": 1.5e3, "joined": "\u{200d}"});
        let raw = hostile.to_string();
        // A server may also escape whatever it likes.
        let escaped: String = raw
            .chars()
            .map(|c| match c {
                '\u{7f}'..='\u{ffff}' => format!("\\u{:04X}", u32::from(c)),
                c => c.into(),
            })
            .collect();
        for text in [raw, escaped] {
            let safe = blanked_json(&text);
            let read: Value = serde_json::from_str(&safe).expect("still JSON");
            assert_eq!(
                read["message"],
                "größe 😀  2026 erased /dev/sda [2J  1A  \u{200b}"
            );
            assert_eq!(read[" ]0;key"], json!(["\\u001b[2J \\", "\" "]));
            assert_eq!(
                (&read["n"], &read["joined"]),
                (&json!(1500.0), &json!("\u{200d}"))
            );
        }
        for odd in ["\\", "\\u12", "\\uö", "\\ö", "\\ud83d\\ude00", ""] {
            assert_eq!(blanked_json(odd), odd);
        }
    }

    const HOSTILE: &str =
        "größe 😀\r\n2026 erased /dev/sda\u{1b}[2J\t\u{9b}1A\u{202e}\u{2028}\u{200b}";

    #[test]
    fn what_is_one_line_has_nothing_unseen() {
        assert_eq!(
            one_line(HOSTILE),
            "größe 😀\\r\\n2026 erased /dev/sda\\u{1b}[2J\\t\\u{9b}1A\\u{202e}\\u{2028}\\u{200b}"
        );
        assert!(!one_line(HOSTILE).chars().any(is_unseen));
        assert_eq!(one_line("plain \\ text"), "plain \\ text");
    }

    #[test]
    fn names_hold_letters_of_all_scripts_and_nothing_that_turns_them() {
        for c in [
            '\n', '\u{1b}', '\u{200e}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}',
        ] {
            assert!(is_refused(c) && is_unseen(c), "{c:?}");
        }
        for c in ['a', 'ö', 'ש', '\u{200c}', '\u{200d}'] {
            assert!(!is_refused(c), "{c:?}");
        }
    }

    #[test]
    fn lines_stay_lines() {
        let shown = lines(HOSTILE);
        assert_eq!(shown.lines().count(), 2);
        let others = shown.chars().filter(|c| !matches!(c, '\n' | '\t'));
        assert!(!others.into_iter().any(is_unseen), "{shown}");
    }
}
