//! Reads a server's log about its crash recovery.

use serde::Serialize;

use crate::rows::Row;

/// A row of `fsbench.recovery`, as far as it has come; its columns say what they are. None: not known, or not done.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Recovery {
    pub stopped_after_ms: Option<f64>,
    pub stop_ms: Option<f64>,
    pub unmounted: bool,
    pub unmount_ms: Option<f64>,
    pub mount_ms: Option<f64>,
    pub cache_cold: Option<bool>,
    pub recovery_ms: Option<f64>,
    pub redo_ms: Option<f64>,
    pub first_transaction_ms: Option<f64>,
    pub redo_start_lsn: Option<String>,
    pub redo_done_lsn: Option<String>,
    pub redo_end_lsn: Option<String>,
    pub wal_replayed_bytes: Option<u64>,
    pub transactions_committed: u64,
    pub transactions_found: Option<u64>,
    pub balances_verified: Option<bool>,
    pub problem: Option<String>,
    pub server_log: Vec<String>,
}

impl Row for Recovery {
    const TABLE: &'static str = "recovery";
}

/// The log of a server from its start, each line beginning with `%n`: seconds since 1970 with milliseconds. What is not there
/// is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecoveryLog {
    /// From the first word about the interrupted server to the first connection that may come, in milliseconds.
    pub recovery_ms: Option<f64>,
    /// The part of it for reading and applying WAL, in milliseconds. 0 when there was none to apply.
    pub redo_ms: Option<f64>,
    /// The LSN at which redo began.
    pub redo_start_lsn: Option<u64>,
    /// The LSN of the last record that was applied.
    pub redo_done_lsn: Option<u64>,
    /// True if the server found nothing to apply.
    pub redo_not_required: bool,
    /// The lines, without their times.
    pub lines: Vec<String>,
}

/// The most lines that are kept of a log.
const MOST_LINES: usize = 40;

impl RecoveryLog {
    /// Reads it up to the first session: sessions may write values of a user's data there.
    pub fn parse(text: &str) -> Self {
        let mut log = Self::default();
        let (mut interrupted, mut redo) = (None, None);
        for (at, line) in text.lines().filter_map(line) {
            let said = |words: &str| line.contains(words);
            let is_ready = said("database system is ready to accept connections");
            if said("database system was interrupted") || said("automatic recovery in progress") {
                interrupted = interrupted.or(Some(at));
            } else if said("redo starts at ") {
                log.redo_start_lsn = lsn_after(line, "redo starts at ");
                redo = Some(at);
            } else if said("redo done at ") {
                log.redo_done_lsn = lsn_after(line, "redo done at ");
                log.redo_ms = redo.map(|began| ms(began, at));
            } else if said("redo is not required") {
                log.redo_not_required = true;
                log.redo_ms = Some(0.0);
            } else if is_ready {
                log.recovery_ms = interrupted.map(|began| ms(began, at));
            }
            if log.lines.len() < MOST_LINES {
                log.lines.push(line.to_owned());
            }
            if is_ready {
                break;
            }
        }
        log
    }

    /// Bytes of WAL that were applied: from where that begins to `end`, where the server has gone on writing.
    pub fn replayed_bytes(&self, end: Option<u64>) -> Option<u64> {
        if self.redo_not_required {
            return Some(0);
        }
        end?.checked_sub(self.redo_start_lsn?)
    }
}

fn ms(from: f64, to: f64) -> f64 {
    ((to - from) * 1000.0).round()
}

/// The time of a line, and what it says. Lines that go on with others' texts have no time.
fn line(text: &str) -> Option<(f64, &str)> {
    let (time, said) = text.split_once(' ')?;
    Some((time.parse().ok()?, said))
}

fn lsn_after(line: &str, words: &str) -> Option<u64> {
    parse_lsn(line.split(words).nth(1)?.split([' ', ';', ',']).next()?)
}

/// An LSN as PostgreSQL writes it.
pub fn parse_lsn(text: &str) -> Option<u64> {
    let (high, low) = text.trim().split_once('/')?;
    let part = |text: &str| u32::from_str_radix(text, 16).ok().map(u64::from);
    Some(part(high)? << 32 | part(low)?)
}

/// An LSN as PostgreSQL writes it.
pub fn lsn_text(lsn: u64) -> String {
    format!("{:X}/{:X}", lsn >> 32, lsn as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
1700000000.100 LOG:  starting PostgreSQL 15.20 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit
1700000000.105 LOG:  listening on Unix socket \"/x/.s.PGSQL.5432\"
1700000000.150 LOG:  database system was interrupted; last known up at 2026-11-21 13:00:00 UTC
1700000000.160 LOG:  database system was not properly shut down; automatic recovery in progress
1700000000.170 LOG:  redo starts at 1/150CB50
1700000000.995 LOG:  invalid record length at 1/5A4F5E8: wanted 24, got 0
1700000001.000 LOG:  redo done at 1/5A4F580 system usage: CPU: user: 0.10 s, system: 0.05 s, elapsed: 0.82 s
1700000001.010 LOG:  checkpoint starting: end-of-recovery immediate wait
\tsomething that goes on
1700000001.250 LOG:  database system is ready to accept connections
";

    #[test]
    fn times_and_places_of_a_recovery() {
        let log = RecoveryLog::parse(LOG);
        assert_eq!(log.recovery_ms, Some(1100.0));
        assert_eq!(log.redo_ms, Some(830.0));
        assert_eq!(log.redo_start_lsn, parse_lsn("1/150CB50"));
        assert_eq!(log.redo_done_lsn, parse_lsn("1/5A4F580"));
        assert_eq!(log.lines.len(), 9);
        assert!(log.lines[0].starts_with("LOG:  starting"));
        let end = parse_lsn("1/5A4F5E8");
        assert_eq!(log.replayed_bytes(end), Some(0x5A4F5E8 - 0x150CB50));
        let later = format!("{LOG}1700000001.300 WARNING:  card 4711\n");
        assert_eq!(RecoveryLog::parse(&later), log);
    }

    #[test]
    fn where_nothing_was_to_be_applied() {
        let log = LOG.replace("redo starts at 1/150CB50", "redo is not required");
        let log: String = log
            .lines()
            .filter(|line| !line.contains("redo done"))
            .map(|line| format!("{line}\n"))
            .collect();
        let log = RecoveryLog::parse(&log);
        assert_eq!(
            (log.redo_ms, log.replayed_bytes(None)),
            (Some(0.0), Some(0))
        );
        assert_eq!(log.recovery_ms, Some(1100.0));
    }

    #[test]
    fn what_is_not_said_is_not_known() {
        for text in [
            "",
            "\n",
            "LOG:  redo starts at 0/1\n",
            "x\u{0} y\n",
            "1 redo starts at 9\n",
        ] {
            let log = RecoveryLog::parse(text);
            let known = (
                log.recovery_ms,
                log.redo_ms,
                log.redo_start_lsn,
                log.redo_done_lsn,
            );
            assert_eq!(known, (None, None, None, None), "{text:?}");
            assert_eq!(log.replayed_bytes(Some(7)), None);
        }
        // It ended before it was through.
        let cut = LOG.split("redo done").next().unwrap();
        let log = RecoveryLog::parse(cut);
        assert_eq!((log.recovery_ms, log.redo_ms), (None, None));
        assert_eq!(log.replayed_bytes(Some(0)), None);
    }

    #[test]
    fn lsns() {
        for text in ["0/0", "0/150CB50", "1F/FFFFFFFF"] {
            assert_eq!(lsn_text(parse_lsn(text).unwrap()), text);
        }
        for text in ["", "/", "0", "0/", "g/1", "0/123456789"] {
            assert_eq!(parse_lsn(text), None, "{text}");
        }
    }
}
