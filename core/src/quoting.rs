//! Texts in commands that a user pastes: into a shell, into psql, into a configuration file. Each becomes one line, without control characters, which
//! a terminal would act upon.

/// A text as one word of a shell. With control characters it takes one that knows `$'…'`: bash, zsh, ksh, busybox.
pub fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    if !text.chars().any(char::is_control) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut quoted = String::from("$'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                // Three digits: what follows is never taken for one more.
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    quoted += &format!("\\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// A command line: each argument is one word of it.
pub fn command(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|argument| shell(argument)).collect();
    words.join(" ")
}

/// A text as a literal of SQL, whatever standard_conforming_strings says.
pub fn sql_literal(text: &str) -> String {
    let is_plain = |c: char| c != '\\' && !c.is_control();
    if text.chars().all(is_plain) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::from("E'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => quoted.extend([c, c]),
            c if c.is_control() => quoted += &format!("\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// A name as an identifier of SQL.
pub fn sql_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A role as a literal of type regrole: a name, in quotes where it needs them, in a text.
pub fn sql_role(name: &str) -> String {
    let first = |c: char| c.is_ascii_lowercase() || c == '_';
    let is_plain = name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit());
    match is_plain {
        true => sql_literal(name),
        false => sql_literal(&sql_identifier(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    /// A word as a shell reads it.
    fn said_by(shell: &str, word: &str) -> String {
        let script = format!("printf '%s|' {word}");
        let output = Command::new(shell)
            .args(["-c", &script])
            .output()
            .unwrap_or_else(|e| panic!("{shell}: {e}"));
        assert!(output.status.success(), "{script}");
        String::from_utf8(output.stdout).unwrap()
    }

    const HOSTILE: [&str; 14] = [
        "",
        "bench",
        "a b",
        "$(touch /tmp/x)",
        "`id`",
        "a\"b'c;--",
        "-rf",
        "~root",
        "*",
        "a\\b",
        "a#b",
        "!!",
        "größe",
        "a&&b|c>d",
    ];

    #[test]
    fn a_shell_reads_one_word() {
        for text in HOSTILE {
            for program in ["sh", "bash"] {
                assert_eq!(said_by(program, &shell(text)), format!("{text}|"), "{text}");
            }
        }
        for text in [
            "a\nb",
            "\u{1b}[2Jx",
            "\u{3}",
            "a'\t\\'1",
            "\u{85}7",
            "\r\nreboot\n",
        ] {
            let word = shell(text);
            assert!(!word.chars().any(char::is_control), "{word:?}");
            assert_eq!(said_by("bash", &word), format!("{text}|"));
        }
        assert_eq!(shell("/dev/disk/by-id/a-b:0"), "/dev/disk/by-id/a-b:0");
        assert_eq!(command(&["a".into(), "b c".into()]), "a 'b c'");
    }

    #[test]
    fn sql_reads_one_literal() {
        assert_eq!(sql_literal("a'b"), "'a''b'");
        assert_eq!(sql_literal("a\\'b"), "E'a\\\\''b'");
        assert_eq!(sql_literal("a\n\u{1b}7"), "E'a\\u000a\\u001b7'");
        assert_eq!(sql_identifier("a\"b"), "\"a\"\"b\"");
        assert_eq!(sql_role("guest"), "'guest'");
        assert_eq!(sql_role("Guest"), "'\"Guest\"'");
        assert_eq!(sql_role("x'); DROP"), "'\"x''); DROP\"'");
        assert_eq!(sql_role("a\"\n"), "E'\"a\"\"\\u000a\"'");
    }

    proptest! {
        #[test]
        fn what_is_pasted_is_one_line(text in any::<String>()) {
            for quoted in [shell(&text), sql_literal(&text), sql_role(&text)] {
                prop_assert!(!quoted.chars().any(char::is_control));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_text_is_one_word(text in "[^\0]*") {
            prop_assert_eq!(said_by("bash", &shell(&text)), format!("{text}|"));
        }
    }
}
