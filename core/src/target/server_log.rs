//! The log of a server that has ended or crashed: what it says of the reason.

mod prefix;

use crate::escape;
use prefix::Process;

/// Bytes of a program's output that go into an error message.
const OUTPUT: usize = 400;
/// The line of a server that begins again by itself after one of its processes has died.
const REINITIALIZING: &str = "all server processes terminated; reinitializing";
/// The line of a server that begins to apply WAL. After the first session it means a crash.
const REDO: &str = "redo starts at ";
/// The line of a server that takes sessions.
const READY: &str = "database system is ready to accept connections";

/// The mark of a text that was cut off.
const ELLIPSIS: &str = " ...";
/// The system's message for a full filesystem, in the language of the servers' messages.
const NO_SPACE: &str = "No space left on device";

/// The log_line_prefix of a server on a copy of a user's server: it names the process.
pub const PREFIX_ON_COPY: &str = "%m [%p] ";

/// A sentence in place of the log of such a server.
const NOT_SHOWN: &str = "Its log is not shown, since sessions may have written values of the data there. It was in the directory of the copy, which goes with the run.";

/// Severities that a message of a server begins with.
const SEVERITIES: [&str; 5] = ["PANIC:", "FATAL:", "ERROR:", "WARNING:", "LOG:"];

/// Why a server has ended by itself. With the line that says so, or how its log ends, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The filesystem of the data is full.
    Full(String),
    /// The filesystem of the data has become read-only.
    ReadOnly,
    /// It crashed, or was stopped. It may have recovered and serve again.
    Crashed(String),
}

impl Ended {
    /// The reason without lines of sessions, which may have values of a user's data. `of_postmaster` are lines as [`lines_of_postmaster`] gives them.
    pub fn without_values(self, of_postmaster: &str) -> Self {
        match self {
            Self::Full(_) => Self::Full(format!("The target server's log says: {NO_SPACE}.")),
            Self::ReadOnly => Self::ReadOnly,
            Self::Crashed(_) if of_postmaster.is_empty() => Self::Crashed(NOT_SHOWN.into()),
            Self::Crashed(_) => why_ended(of_postmaster, || false),
        }
    }
}

/// The reason by its log. `is_read_only` is whether its filesystem is by now: then the log can say nothing.
pub fn why_ended(log: &str, is_read_only: impl FnOnce() -> bool) -> Ended {
    if let Some(line) = log.lines().rfind(|line| line.contains(NO_SPACE)) {
        return Ended::Full(format!("The target server's log says: {}", first_of(line)));
    }
    let first = |words: &[&str]| {
        log.lines()
            .find(|line| words.iter().any(|word| line.contains(word)))
    };
    // Messages after the first of these follow from it.
    let worst = first(&["PANIC:"])
        .or_else(|| first(&["Input/output error", "Read-only file system"]))
        .or_else(|| first(&["was terminated by signal"]))
        .or_else(|| first(&[REINITIALIZING]));
    let recovered = match recovery(log).is_some_and(|(_, later)| later.contains(READY)) {
        true => " It has recovered since, and serves again.",
        false => "",
    };
    match worst {
        None if is_read_only() => Ended::ReadOnly,
        None => Ended::Crashed(ending_of(log)),
        Some(line) => Ended::Crashed(format!("Its log says: {}{recovered}", first_of(line))),
    }
}

/// The line of a log that tells why the server crashed the last time, after which it has recovered by itself; None where no such crash is in
/// the log.
pub fn cause_of_recovery(log: &str) -> Option<String> {
    let (before, _) = recovery(log)?;
    // Lines of a crash before the last one tell of that one.
    let since = before.rsplit(READY).next().unwrap_or(before);
    let first = |words: &str| since.lines().find(|line| line.contains(words));
    let cause = first("PANIC:")
        .or_else(|| first("was terminated by signal"))
        .or_else(|| first("exited with exit code"))
        .unwrap_or(REINITIALIZING);
    Some(first_of(cause))
}

/// The lines of a log in which sessions write, too, that a session cannot have forged: those of the postmaster, and the PANIC of a process that by
/// its word was terminated by a signal. `format` is log_line_prefix. None of them where it does not name the process.
pub fn lines_of_postmaster(log: &str, format: &str, postmaster: u32) -> String {
    fn begins<'a>(message: Option<&'a str>, severity: &str) -> Option<&'a str> {
        message.filter(|message| message.starts_with(severity))
    }
    let words = |line| {
        begins(
            prefix::message_of(line, format, Process::Postmaster(postmaster)),
            "LOG:  ",
        )
    };
    let ended = |message: &str| {
        let (_, rest) = message.split_once(" (PID ")?;
        let (pid, how) = rest.split_once(") ")?;
        how.starts_with("was terminated by signal")
            .then_some(pid.parse::<u32>().ok()?)
    };
    let ended: Vec<u32> = log.lines().filter_map(words).filter_map(ended).collect();
    let is_panic = |line: &str| {
        let message = |pid| prefix::message_of(line, format, Process::Other(pid));
        ended
            .iter()
            .any(|&pid| begins(message(pid), "PANIC:  ").is_some())
    };
    let lines = log
        .lines()
        .filter(|&line| words(line).is_some() || is_panic(line));
    lines
        .map(|line| escape::blanked(line, &[]) + "\n")
        .collect()
}

/// The lines of a log on a copy that a session cannot have written. `beginning` has its first line, which the postmaster has written; `end` has whole
/// lines.
pub fn lines_on_copy(beginning: &str, end: &str) -> String {
    let first = beginning.lines().next().unwrap_or_default();
    let pid = || {
        let (_, rest) = first.split_once(" [")?;
        let (pid, _) = rest.split_once("] ")?;
        pid.parse::<u32>().ok()
    };
    pid().map_or_else(String::new, |pid| {
        lines_of_postmaster(end, PREFIX_ON_COPY, pid)
    })
}

/// The part of a log before the first session.
pub fn before_sessions(log: &str) -> &str {
    log.split_once(READY).map_or(log, |(before, _)| before)
}

/// The parts of a log before and after the last time that the server began again by itself.
fn recovery(log: &str) -> Option<(&str, &str)> {
    let redo = || {
        let at = log.rfind(REDO)?;
        // A redo before the first session belongs to a start.
        log[..at].contains(READY).then_some(at)
    };
    let at = log.rfind(REINITIALIZING).or_else(redo)?;
    Some(log.split_at(at))
}

/// How a log ends, as a sentence: it may be empty, or gone with the filesystem that it was on.
pub fn ending_of(log: &str) -> String {
    match log.trim().is_empty() {
        true => "Its log says nothing: it is empty, or cannot be read any more.".to_owned(),
        false => format!("Its log ends with: {}", last_of(log)),
    }
}

/// Why a server did not start, as a sentence: its first fatal message comes first, with what follows it.
pub fn why_not_started(log: &str) -> String {
    match fatal_of(log) {
        Some(message) => format!("Its log says: {message}"),
        None => ending_of(log),
    }
}

/// The part of a program's output that tells what went wrong: its first fatal message; else its end.
pub fn excerpt(text: &str) -> String {
    fatal_of(text).unwrap_or_else(|| last_of(text))
}

/// The first fatal message, with its DETAIL and HINT, in one line.
fn fatal_of(log: &str) -> Option<String> {
    let mut lines = log.lines();
    let first = lines.find(|line| ["PANIC:", "FATAL:"].iter().any(|word| line.contains(word)))?;
    let of_message = lines.take_while(|line| !SEVERITIES.iter().any(|word| line.contains(word)));
    let parts = ["DETAIL:", "HINT:"];
    let further = of_message.filter_map(|line| {
        let part = parts.iter().find_map(|part| line.find(part));
        // A message goes on in lines that begin with a tab.
        part.map(|at| &line[at..])
            .or_else(|| line.starts_with('\t').then_some(line))
    });
    let message: Vec<&str> = std::iter::once(without_prefix(first))
        .chain(further)
        .collect();
    Some(first_of(&message.join(" ")))
}

/// A line of a log from its severity on, without the time and the process before it.
fn without_prefix(line: &str) -> &str {
    let at = SEVERITIES.iter().filter_map(|word| line.find(word)).min();
    &line[at.unwrap_or(0)..]
}

/// Whether a server could not get memory for a ring of io_uring.
pub fn lacks_rings(log: &str) -> bool {
    log.contains("io_uring") && log.contains("Cannot allocate memory")
}

/// Whether a server could not map its shared memory, and was to have huge pages.
pub fn lacks_shared_memory(log: &str) -> bool {
    log.contains("could not map anonymous shared memory")
}

/// Whether the programs have no library of the extension.
pub fn lacks_library(log: &str) -> bool {
    log.contains("could not access file \"pgfsbench\"")
        || log.contains("could not access file \"$libdir/pgfsbench\"")
}

/// A text in one line, from its beginning to the last word that has room.
fn first_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= OUTPUT {
        return line;
    }
    let line = &line[..line.floor_char_boundary(OUTPUT - ELLIPSIS.len())];
    format!(
        "{}{ELLIPSIS}",
        line.rfind(' ').map_or(line, |blank| &line[..blank])
    )
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

    #[test]
    fn only_the_postmaster_tells_of_a_crash() {
        let log = "\
2026-11-28 11:00:00.000 UTC [10] LOG:  database system is ready to accept connections
2026-11-28 11:00:01.000 UTC [77] LOG:  all server processes terminated; reinitializing
2026-11-28 11:00:01.000 UTC [77] ERROR:  x
\t2026-11-28 11:00:01.000 UTC [10] LOG:  all server processes terminated; reinitializing
2026-11-28 11:00:02.000 UTC [10] LOG:  server process (PID 78) was terminated by signal 6: Aborted\u{1b}[2J
2026-11-28 11:00:02.000 UTC [10] DETAIL:  Failed process was running: SELECT 'PANIC:'
2026-11-28 11:00:02.000 UTC [77] PANIC:  forged
";
        let format = "%m [%p] ";
        let kept = lines_of_postmaster(log, format, 10);
        assert_eq!(kept.lines().count(), 2, "{kept}");
        assert_eq!(cause_of_recovery(&kept), None);
        assert!(!kept.contains('\u{1b}'));
        let crashed = format!(
            "{log}2026-11-28 11:00:03.000 UTC [10] LOG:  all server processes terminated; reinitializing\n"
        );
        let kept = lines_of_postmaster(&crashed, format, 10);
        let cause = cause_of_recovery(&kept).expect("it crashed");
        assert!(cause.contains("was terminated by signal 6"), "{cause}");
        let panicked = crashed.replace("[77] PANIC:  forged", "[78] PANIC:  could not fdatasync");
        let cause = cause_of_recovery(&lines_of_postmaster(&panicked, format, 10));
        assert!(cause.is_some_and(|cause| cause.contains("could not fdatasync")));
        // Who wrote a line cannot be seen.
        assert_eq!(lines_of_postmaster(log, "%m ", 10), "");
    }

    /// A copy whose trigger has written a value, and which has crashed.
    const ON_COPY: &str = "\
2026-11-28 11:00:00.000 UTC [10] LOG:  starting PostgreSQL 17.2
2026-11-28 11:00:00.100 UTC [10] LOG:  database system is ready to accept connections
2026-11-28 11:00:01.000 UTC [77] WARNING:  card 4711: No space left on device
2026-11-28 11:00:01.000 UTC [77] WARNING:  PANIC: 4711
\t2026-11-28 11:00:01.000 UTC [10] LOG:  4711 was terminated by signal 9
";

    #[test]
    fn no_line_of_a_session_on_a_copy_is_shown() {
        let signal = "2026-11-28 11:00:02.000 UTC [10] LOG:  server process (PID 77) was terminated by signal 9: Killed";
        let detail =
            "2026-11-28 11:00:02.000 UTC [10] DETAIL:  Failed process was running: SELECT 4711";
        let log = format!("{ON_COPY}{signal}\n{detail}\n");
        let lines = lines_on_copy(&log, &log);
        assert_eq!(lines.lines().count(), 3, "{lines}");
        let crashed = || Ended::Crashed("4711".into());
        let Ended::Crashed(says) = crashed().without_values(&lines) else {
            panic!("it crashed")
        };
        assert!(says.contains("(PID 77) was terminated by signal 9: Killed"));
        assert!(!says.contains("4711"), "{says}");
        let Ended::Full(says) = Ended::Full("4711".into()).without_values(&lines) else {
            panic!("it is full")
        };
        assert_eq!(
            says,
            "The target server's log says: No space left on device."
        );
        // A log after a crash has another prefix.
        assert_eq!(lines_on_copy("1700000000.100 LOG:  starting\n", &log), "");
        assert_eq!(
            crashed().without_values(""),
            Ended::Crashed(NOT_SHOWN.into())
        );
        assert!(!before_sessions(&log).contains("4711"));
        assert!(before_sessions(&log).contains("starting PostgreSQL"));
    }

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

    /// PostgreSQL 15 whose checkpointer could not write, and after that one whose backend was killed.
    const RECOVERED: &str = "\
LOG:  database system was shut down at 2026-11-28 08:00:00 UTC
LOG:  database system is ready to accept connections
PANIC:  could not fdatasync file \"000000010000000000000001\": Input/output error
LOG:  checkpointer process (PID 7) was terminated by signal 6: Aborted
LOG:  terminating any other active server processes
LOG:  all server processes terminated; reinitializing
LOG:  database system was interrupted; last known up at 2026-11-28 08:00:01 UTC
LOG:  database system was not properly shut down; automatic recovery in progress
LOG:  redo starts at 0/152CB50
LOG:  redo done at 0/5A4F580 system usage: CPU: user: 0.10 s, system: 0.05 s, elapsed: 0.82 s
LOG:  database system is ready to accept connections
";

    #[test]
    fn a_server_that_has_recovered_says_so() {
        let panic =
            "PANIC: could not fdatasync file \"000000010000000000000001\": Input/output error";
        assert_eq!(
            why_ended(RECOVERED, || false),
            Ended::Crashed(format!(
                "Its log says: {panic} It has recovered since, and serves again."
            ))
        );
        assert_eq!(cause_of_recovery(RECOVERED).as_deref(), Some(panic));
        let again = RECOVERED.replace(
            "PANIC:  could not fdatasync file \"000000010000000000000001\": Input/output error",
            "DETAIL:  Failed process was running: SELECT 1",
        );
        let twice = format!(
            "{RECOVERED}{}",
            again.replace("signal 6: Aborted", "signal 9: Killed")
        );
        assert_eq!(
            cause_of_recovery(&twice).as_deref(),
            Some("LOG: checkpointer process (PID 7) was terminated by signal 9: Killed")
        );
        // The line of the crash is out of reach.
        let end = RECOVERED.split_once("any other").unwrap().1;
        assert_eq!(cause_of_recovery(end).as_deref(), Some(REINITIALIZING));
        let end = &RECOVERED[RECOVERED.find("LOG:  database system is ready").unwrap()..];
        let without = end.replace("all server processes terminated; reinitializing", "");
        assert_eq!(cause_of_recovery(&without).as_deref(), Some(panic));
    }

    #[test]
    fn a_start_is_no_crash() {
        // A server that was started after a crash of the machine applies WAL, too.
        let start = &RECOVERED[RECOVERED
            .find("LOG:  database system was interrupted")
            .unwrap()..];
        assert_eq!(cause_of_recovery(start), None);
        assert_eq!(cause_of_recovery(""), None);
        let told = why_ended(start, || false);
        assert!(
            matches!(&told, Ended::Crashed(says) if says.starts_with("Its log ends with")),
            "{told:?}"
        );
    }

    /// PostgreSQL 15 with huge_pages = on where there are no huge pages.
    const NO_HUGE_PAGES: &str = "2026-11-28 08:03:43.357 UTC [29215] FATAL:  could not map anonymous shared memory: Cannot allocate memory\n\
        2026-11-28 08:03:43.357 UTC [29215] HINT:  This error usually means that PostgreSQL's request for a shared memory segment exceeded available memory, swap space, or huge pages. To reduce the request size (currently 150994944 bytes), reduce PostgreSQL's shared memory usage, perhaps by reducing shared_buffers or max_connections.\n\
        2026-11-28 08:03:43.361 UTC [29215] LOG:  database system is shut down\n";

    #[test]
    fn the_fatal_message_comes_first_and_is_not_cut_off() {
        let why = why_not_started(NO_HUGE_PAGES);
        let start = "Its log says: FATAL: could not map anonymous shared memory: Cannot allocate memory HINT: This error";
        assert!(why.starts_with(start), "{why}");
        assert!(!why.contains("shut down"), "{why}");
        assert!(lacks_shared_memory(NO_HUGE_PAGES) && !lacks_rings(NO_HUGE_PAGES));
        // As pg_ctl and initdb show it, and in several lines.
        let why =
            why_not_started("LOG:  starting\nFATAL:  wrong\n\tindeed\nDETAIL:  So.\nLOG:  down\n");
        assert_eq!(why, "Its log says: FATAL: wrong indeed DETAIL: So.");
        assert_eq!(
            excerpt("initdb: error: no\ninitdb: hint: try\n"),
            "initdb: error: no initdb: hint: try"
        );
        assert!(why_not_started("LOG:  a\n").starts_with("Its log ends with: LOG: a"));
    }

    #[test]
    fn a_long_message_keeps_its_beginning() {
        let line = format!(
            "PANIC:  could not write {}: Input/output error",
            "x".repeat(OUTPUT)
        );
        let Ended::Crashed(why) = why_ended(&line, || false) else {
            panic!("it crashed")
        };
        assert_eq!(why, "Its log says: PANIC: could not write ...");
    }

    #[test]
    fn a_ring_that_has_no_memory_is_recognized() {
        assert!(lacks_rings(
            "2025-10-01 10:00:00.000 UTC [7] FATAL:  could not setup io_uring queue: Cannot allocate memory\n"
        ));
    }

    proptest! {
        #[test]
        fn an_excerpt_is_one_line(text in "\\PC{0,900}") {
            let first = first_of(&text);
            prop_assert!(first.len() <= OUTPUT && !first.contains('\n'));
            excerpt(&format!("FATAL:  {text}\n{text}"));
        }

        #[test]
        fn an_end_is_one_line_of_whole_words(text in "\\PC{0,900}") {
            let last = last_of(&text);
            prop_assert!(last.len() <= OUTPUT && !last.contains('\n'));
            prop_assert!(last.split_whitespace().all(|word| text.contains(word)));
        }
    }
}
