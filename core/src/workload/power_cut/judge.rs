//! The verdict on one power cut: acknowledged commits against those that survived.

use serde::Deserialize;

use super::{history::History, part::PAGES};
use crate::texts::power_cut as text;

/// Words of a server and of pg_checksums about a page that was written in part. "WAL contains references to invalid pages" says something else: a
/// page is missing.
const TORN: [&str; 4] = [
    "invalid page in block",
    "invalid pages among blocks",
    "page verification failed",
    "checksum verification failed",
];
/// SQLSTATEs of this class say that the machine lacks something: memory, processes or disk space.
const INSUFFICIENT_RESOURCES: &str = "53";

/// The outcome of a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All acknowledged commits are there, and the data are consistent.
    Survived,
    /// An acknowledged commit is missing.
    Lost,
    /// A later commit is there, and an earlier one is missing; or a transaction is there in part, or twice.
    Hole,
    /// A page was written in part.
    Torn,
    /// amcheck has found a damaged index or table.
    Corrupt,
    /// mdadm or e2fsck failed, the filesystem did not mount, or the server did not start.
    Unbootable,
}

impl Outcome {
    /// Name in the tables of results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Survived => "passed",
            Self::Lost => "lost",
            Self::Hole => "hole",
            Self::Torn => "torn",
            Self::Corrupt => "corrupt",
            Self::Unbootable => "unbootable",
        }
    }
}

/// The first line of a message or a log that speaks of a page that was written in part.
pub fn torn_page(text: &str) -> Option<&str> {
    text.lines()
        .find(|line| TORN.iter().any(|words| line.contains(words)))
}

/// Whether an error after a power cut tells nothing about the cut, by its SQLSTATE: the run fails.
pub fn is_of_the_machine(sqlstate: &str) -> bool {
    sqlstate.starts_with(INSUFFICIENT_RESOURCES)
}

/// Rows of a client after a power cut.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Survivors {
    /// Client, from 0.
    pub client: u32,
    /// Rows of the client.
    pub rows: u64,
    /// Different numbers of these rows.
    pub numbers: u64,
    /// The highest of these numbers; 0 without rows.
    pub highest: u64,
    /// Acknowledged commits that are there.
    pub kept: u64,
    /// The first acknowledged commit that is not there.
    pub first_missing: Option<u64>,
}

/// Pages after a power cut: all rows have the number of the last transaction that wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Pages {
    pub rows: u64,
    /// The lowest and the highest number.
    pub lowest: u64,
    pub highest: u64,
}

/// Losses of a power cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Commits that were acknowledged before the cut.
    pub acknowledged: u64,
    /// Acknowledged commits that are missing.
    pub lost: u64,
    /// Commits that are missing, there twice or in part, although a later one is there.
    pub holes: u64,
    /// The first loss, in words.
    pub problem: Option<String>,
}

impl Losses {
    /// The outcome; a hole is the worse of the two.
    pub fn outcome(&self) -> Outcome {
        match (self.holes, self.lost) {
            (0, 0) => Outcome::Survived,
            (0, _) => Outcome::Lost,
            _ => Outcome::Hole,
        }
    }
}

/// Judges the rows that a cut has left. Recovery applies WAL from its beginning to some place: all commits before that place survive, and no
/// later one.
pub fn judge(history: &History, at_ns: u64, survivors: &[Survivors]) -> Losses {
    let acknowledged = history.before(at_ns);
    let of_client = |client: u32| survivors.iter().find(|found| found.client == client);
    let mut judged = Losses {
        acknowledged: acknowledged.iter().sum(),
        ..Losses::default()
    };
    let mut first: Option<(u64, u32, u64)> = None;
    for (client, &count) in (0..).zip(&acknowledged) {
        let kept = of_client(client).map_or(0, |found| found.kept);
        judged.lost += count.saturating_sub(kept);
        if kept >= count {
            continue;
        }
        let number = of_client(client).and_then(|found| found.first_missing);
        let number = number.unwrap_or(1);
        let time = history.time(client, number).unwrap_or(0);
        first = first.into_iter().chain([(time, client, number)]).min();
    }
    for found in survivors {
        let missing = found.highest.saturating_sub(found.numbers);
        let twice = found.rows.saturating_sub(found.numbers);
        judged.holes += missing + twice;
        // The last commit of this client began after the one before it was acknowledged.
        let began = history.time(found.client, found.highest.saturating_sub(1));
        if let (Some((lost_at, client, _)), Some(began)) = (first, began)
            && client != found.client
            && began > lost_at
        {
            judged.holes += 1;
        }
    }
    judged.problem = match first {
        Some((_, client, number)) => Some(text::missing_commit(number, client)),
        None if judged.holes > 0 => Some(text::hole()),
        None => None,
    };
    judged
}

/// Judges the pages that a cut has left. A transaction writes all rows.
pub fn judge_pages(history: &History, at_ns: u64, found: Pages) -> Losses {
    let acknowledged: u64 = history.before(at_ns).iter().sum();
    let is_in_part = found.rows != PAGES || found.lowest != found.highest;
    let lost = acknowledged.saturating_sub(found.lowest);
    let problem = match (is_in_part, lost) {
        (true, _) => {
            let written_by = [found.lowest, found.highest];
            Some(text::pages_in_part(found.rows, PAGES, written_by))
        }
        (false, 1..) => Some(text::older_pages(acknowledged, found.lowest)),
        (false, 0) => None,
    };
    Losses {
        acknowledged,
        lost,
        holes: u64::from(is_in_part),
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three clients, whose commits were acknowledged in turn.
    fn history() -> History {
        History::of(vec![vec![10, 40, 70], vec![20, 50, 80], vec![30, 60, 90]])
    }

    /// The rows 1 to `highest` of a client, of which `acknowledged` were acknowledged.
    fn prefix(client: u32, highest: u64, acknowledged: u64) -> Survivors {
        Survivors {
            client,
            rows: highest,
            numbers: highest,
            highest,
            kept: highest.min(acknowledged),
            first_missing: (highest < acknowledged).then_some(highest + 1),
        }
    }

    #[test]
    fn all_that_was_acknowledged_survives() {
        let all = [prefix(0, 2, 2), prefix(1, 2, 2), prefix(2, 1, 1)];
        let judged = judge(&history(), 55, &all);
        assert_eq!(
            (judged.acknowledged, judged.outcome()),
            (5, Outcome::Survived)
        );
        // A commit whose acknowledgment was still under way may be there.
        let more = [prefix(0, 3, 2), prefix(1, 2, 2), prefix(2, 2, 1)];
        assert_eq!(judge(&history(), 55, &more).outcome(), Outcome::Survived);
    }

    #[test]
    fn the_end_of_the_history_is_lost() {
        let found = [prefix(0, 1, 2), prefix(1, 1, 2), prefix(2, 1, 1)];
        let judged = judge(&history(), 55, &found);
        assert_eq!(
            (judged.lost, judged.holes, judged.outcome()),
            (2, 0, Outcome::Lost)
        );
        assert_eq!(
            judged.problem.as_deref(),
            Some("commit 2 of client 0 was acknowledged, and is missing")
        );
    }

    #[test]
    fn everything_is_lost_of_a_client_without_rows() {
        let judged = judge(&history(), 100, &[]);
        assert_eq!((judged.lost, judged.outcome()), (9, Outcome::Lost));
        assert!(judged.problem.unwrap().starts_with("commit 1 of client 0"));
    }

    #[test]
    fn a_hole_in_the_rows_of_a_client_is_seen() {
        let mut found = [prefix(0, 3, 3), prefix(1, 3, 3), prefix(2, 3, 3)];
        found[1] = Survivors {
            client: 1,
            rows: 2,
            numbers: 2,
            highest: 3,
            kept: 2,
            first_missing: Some(2),
        };
        let judged = judge(&history(), 100, &found);
        assert_eq!((judged.lost, judged.outcome()), (1, Outcome::Hole));
        assert!(judged.problem.unwrap().starts_with("commit 2 of client 1"));
    }

    #[test]
    fn a_hole_between_clients_is_seen() {
        // Client 1 has lost its commit of 20; the third commit of client 0 began after 40.
        let found = [prefix(0, 3, 3), prefix(1, 0, 3), prefix(2, 1, 3)];
        let judged = judge(&history(), 100, &found);
        assert_eq!((judged.lost, judged.holes), (5, 1));
        // The second commit of client 0 began after 10, and may be older than what is lost.
        let found = [prefix(0, 2, 3), prefix(1, 0, 3), prefix(2, 0, 3)];
        assert_eq!(judge(&history(), 100, &found).outcome(), Outcome::Lost);
    }

    #[test]
    fn a_row_that_is_there_twice_is_no_prefix() {
        let mut found = [prefix(0, 3, 3), prefix(1, 3, 3), prefix(2, 3, 3)];
        found[2].rows = 4;
        let judged = judge(&history(), 100, &found);
        assert_eq!((judged.lost, judged.outcome()), (0, Outcome::Hole));
        assert!(judged.problem.is_some());
    }

    #[test]
    fn pages_are_those_of_one_transaction_that_was_acknowledged() {
        let history = History::of(vec![vec![10, 20, 30]]);
        let pages = |rows, lowest, highest| Pages {
            rows,
            lowest,
            highest,
        };
        let judged = |pages| judge_pages(&history, 25, pages);
        for number in [2, 3] {
            let pages = pages(PAGES, number, number);
            assert_eq!(judged(pages).outcome(), Outcome::Survived);
        }
        assert_eq!(judged(pages(PAGES, 1, 1)).outcome(), Outcome::Lost);
        assert_eq!(judged(pages(PAGES, 2, 3)).outcome(), Outcome::Hole);
        assert_eq!(judged(pages(PAGES - 1, 2, 2)).outcome(), Outcome::Hole);
    }

    #[test]
    fn torn_pages_are_told_by_the_words_of_the_server() {
        for text in [
            "FATAL:  invalid page in block 3 of relation base/5/16384",
            "ERROR:  2 invalid pages among blocks 3..5 of relation \"base/5/16384\"",
            "WARNING:  page verification failed, calculated checksum 1 but expected 2",
            "pg_checksums: error: checksum verification failed in file \"base/5/16384\", block 3",
        ] {
            assert_eq!(torn_page(&format!("LOG:  redo\n{text}\nmore")), Some(text));
        }
        for text in [
            "FATAL:  could not open file",
            "PANIC:  WAL contains references to invalid pages",
        ] {
            assert_eq!(torn_page(text), None);
        }
    }

    #[test]
    fn errors_of_the_machine_are_no_outcomes() {
        use crate::sqlstate;
        for of_the_machine in [sqlstate::NO_RESOURCES, sqlstate::DISK_FULL] {
            assert!(is_of_the_machine(of_the_machine));
        }
        for of_the_cut in [sqlstate::SYSTEM, sqlstate::CORRUPTED, sqlstate::IO] {
            assert!(!is_of_the_machine(of_the_cut));
        }
    }
}
