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

#[cfg(test)]
mod tests {
    use super::*;

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
