//! All output of the helper: its log, on standard error, and answers, on standard output. Everything is escaped here, so that no
//! text can forge another line or reach a terminal as a command.

use pgfsbench_core::escape::{lines, one_line};
use pgfsbench_core::helper::Name;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// True in a child that runs as another user: root reads its output, and writes the log.
static IS_FORWARDED: AtomicBool = AtomicBool::new(false);

/// From now on lines of the log have no time: who forwards them adds it.
pub fn is_forwarded() {
    IS_FORWARDED.store(true, Ordering::Relaxed);
}

/// A line of the log, with the time, and the database that it is about.
pub fn write_log(database: Option<&Name>, said: Arguments) {
    let said = said.to_string();
    match IS_FORWARDED.load(Ordering::Relaxed) {
        true => to_stderr(&one_line(&said)),
        false => entry(
            &database.map_or(String::new(), |name| format!(" [{name}]")),
            &said,
        ),
    }
}

/// A line of the log that the process for a database has said. What root says is never told so.
pub fn forward(database: &Name, said: &[u8]) {
    entry(
        &format!(" [{database}] session"),
        &String::from_utf8_lossy(said),
    );
}

fn entry(about: &str, said: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    to_stderr(&line_of_log(now.unwrap_or_default(), about, said));
}

fn line_of_log(now: Duration, about: &str, said: &str) -> String {
    format!("{} pgfsbench-helper{about}: {}", utc(now), one_line(said))
}

/// In one write, so that no other line comes in between. The reader may be gone.
fn to_stderr(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// A line of the log.
macro_rules! log {
    ($database:expr; $($said:tt)*) => { $crate::output::write_log($database, format_args!($($said)*)) };
}
pub(crate) use log;

/// True if something could not be printed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a line to standard output. If the reader has gone, as `head` does, the work goes on.
pub fn print(said: Arguments) {
    let line = lines(&said.to_string()) + "\n";
    match io::stdout().lock().write_all(line.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) => {
            to_stderr(&format!("pgfsbench-helper: could not print: {e}"));
        }
        Ok(()) | Err(_) => {}
    }
}

/// A line to standard error, whose reader may be gone, too.
pub fn print_error(said: Arguments) {
    to_stderr(&lines(&said.to_string()));
}

/// Like `eprintln!`.
macro_rules! note {
    ($($said:tt)*) => { $crate::output::print_error(format_args!($($said)*)) };
}
pub(crate) use note;

/// True if everything was printed; a reader that has gone does not count.
pub fn is_all_printed() -> bool {
    !LOST.load(Ordering::Relaxed)
}

/// Like `println!`.
macro_rules! say {
    ($($said:tt)*) => { $crate::output::print(format_args!($($said)*)) };
}
pub(crate) use say;

/// A time since 1970 as `2026-11-21 14:35:07.123 UTC`.
fn utc(since: Duration) -> String {
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Years begin in March here, so that the day which not every year has is the last one.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let ms = since.subsec_millis();
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{ms:03} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00.000 UTC"),
            (951_782_399, "2000-02-28 23:59:59.000 UTC"),
            (951_782_400, "2000-02-29 00:00:00.000 UTC"),
            (951_868_800, "2000-03-01 00:00:00.000 UTC"),
            (1_767_225_599, "2025-12-31 23:59:59.000 UTC"),
            (1_795_271_707, "2026-11-21 14:35:07.000 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00.000 UTC"),
        ] {
            assert_eq!(utc(Duration::from_secs(seconds)), text);
        }
        assert_eq!(
            utc(Duration::from_millis(1_234)),
            "1970-01-01 00:00:01.234 UTC"
        );
    }

    #[test]
    fn a_line_of_the_log_has_the_time_and_the_database_and_is_one_line() {
        let line = line_of_log(
            Duration::from_millis(1_234),
            " [bench]",
            "bench@t: failed\nforged\u{1b}[2J",
        );
        let text = "1970-01-01 00:00:01.234 UTC pgfsbench-helper [bench]: bench@t: failed";
        assert!(line.starts_with(text), "{line}");
        assert!(!line.contains(['\n', '\u{1b}']), "{line}");
    }
}
