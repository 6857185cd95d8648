//! The log of a target's server that has ended: what it says of the reason.

/// Bytes of a program's output that go into an error message.
const OUTPUT: usize = 400;
/// The system's message for a full filesystem, in the language of the servers' messages.
const NO_SPACE: &str = "No space left on device";

/// Why a server has ended by itself. With the line that says so, or how its log ends, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its filesystem is full.
    Full(String),
    /// Its filesystem has become read-only.
    ReadOnly,
    /// It crashed, or somebody has stopped it.
    Crashed(String),
}

/// The reason by its log. `is_read_only` is whether its filesystem is by now: then the log can say nothing.
pub fn why_ended(log: &str, is_read_only: impl FnOnce() -> bool) -> Ended {
    if let Some(line) = log.lines().rfind(|line| line.contains(NO_SPACE)) {
        return Ended::Full(format!("The target server's log says: {}", last_of(line)));
    }
    let first = |words: &[&str]| {
        log.lines()
            .find(|line| words.iter().any(|word| line.contains(word)))
    };
    // Messages after the first of these follow from it.
    let worst = first(&["PANIC:"])
        .or_else(|| first(&["Input/output error", "Read-only file system"]))
        .or_else(|| first(&["was terminated by signal"]));
    match worst {
        None if is_read_only() => Ended::ReadOnly,
        None => Ended::Crashed(ending_of(log)),
        Some(line) => Ended::Crashed(format!("Its log says: {}", last_of(line))),
    }
}

/// How a log ends, as a sentence: it may be empty, or gone with the filesystem that it was on.
pub fn ending_of(log: &str) -> String {
    match log.trim().is_empty() {
        true => "Its log says nothing: it is empty, or cannot be read any more.".to_owned(),
        false => format!("Its log ends with: {}", last_of(log)),
    }
}

/// The end of a program's output, in one line.
pub fn last_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let from = line.ceil_char_boundary(line.len().saturating_sub(OUTPUT));
    // Not from the middle of a word.
    let from = match from {
        0 => 0,
        from => line[from..]
            .find(' ')
            .map_or(from, |blank| from + blank + 1),
    };
    line[from..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PANIC: &str = "PANIC:  could not fdatasync file \"0001\": Input/output error";

    #[test]
    fn the_first_cause_is_told_and_not_what_follows() {
        let signal = "LOG:  server process (PID 7) was terminated by signal 6: Aborted";
        let log = format!("LOG:  starting\n{PANIC}\n{signal}\nLOG:  shutting down\n");
        let told = why_ended(&log, || true);
        let line = PANIC.replace("  ", " ");
        assert_eq!(told, Ended::Crashed(format!("Its log says: {line}")));
        let told = why_ended(&format!("{signal}\n"), || false);
        let line = signal.replace("  ", " ");
        assert_eq!(told, Ended::Crashed(format!("Its log says: {line}")));
    }

    #[test]
    fn a_full_filesystem_explains_all_others() {
        let full = "FATAL:  could not write to file: No space left on device";
        let told = why_ended(&format!("{PANIC}\n{full}\n"), || true);
        assert_eq!(
            told,
            Ended::Full(format!(
                "The target server's log says: {}",
                full.replace("  ", " ")
            ))
        );
    }

    #[test]
    fn a_log_that_says_nothing_may_lie_on_a_filesystem_that_is_read_only() {
        assert_eq!(why_ended("LOG:  starting\n", || true), Ended::ReadOnly);
        let Ended::Crashed(why) = why_ended("", || false) else {
            panic!("it crashed")
        };
        assert!(why.starts_with("Its log says nothing"));
    }

    proptest! {
        #[test]
        fn an_end_is_one_line_of_whole_words(text in "\\PC{0,900}") {
            let last = last_of(&text);
            prop_assert!(last.len() <= OUTPUT && !last.contains('\n'));
            prop_assert!(last.split_whitespace().all(|word| text.contains(word)));
        }
    }
}
