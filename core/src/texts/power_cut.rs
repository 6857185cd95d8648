//! Results of power cuts: one sentence for each part of a batch, and the first loss of a cut.

use crate::wording;

/// A share in percent, rounded up: to a tenth below 10 %.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // A figure like 3.0000000004 is 3.
    let up = |x: f64| (x - 1e-9).ceil();
    match percent < 10.0 {
        true => format!("{} %", up(percent * 10.0) / 10.0),
        false => format!("{} %", up(percent)),
    }
}

/// A test has passed, and these controls have not failed.
pub fn void(controls: &[&str]) -> String {
    wording::say("void", || {
        let controls = controls.join(", ");
        format!("void: nothing is shown by the control {controls}")
    })
}

/// Failures of a kind, as they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    LostCommits,
    Hole,
    TornPage,
    Corrupt,
    Unbootable,
}

impl Failure {
    fn words(self) -> &'static str {
        match self {
            Self::LostCommits => "lost commits",
            Self::Hole => "left a hole",
            Self::TornPage => "tore a page",
            Self::Corrupt => "damaged an index or a table",
            Self::Unbootable => "left no server that starts",
        }
    }
}

/// No cut of a part has failed; in a test the share of cuts that fail is below `loss_below`. None: the part is a control.
pub fn none_failed(cuts: u64, writes_pages: bool, loss_below: Option<f64>) -> String {
    let verb = if writes_pages { "torn" } else { "lost" };
    wording::say("none_failed", || match loss_below {
        None => format!("0 of {cuts} {verb}: this control shows nothing"),
        Some(share) => {
            let below = percent(share);
            format!("0 of {cuts} {verb}: less than {below} at 95 %")
        }
    })
}

/// Power cuts of a target and those that failed; without any the share that fails is below `loss_below`.
pub fn in_short(cuts: u64, failed: u64, loss_below: Option<f64>) -> String {
    wording::say("power_cuts", || match loss_below.filter(|_| failed == 0) {
        Some(share) => {
            let below = percent(share);
            format!("0 of {cuts} power cuts lost or damaged data: less than {below} at 95 %")
        }
        None => format!("{failed} of {cuts} power cuts lost or damaged data"),
    })
}

/// No cut of the control of torn pages has failed, on a filesystem where none has to.
pub fn need_not_tear(cuts: u64, filesystem: &str) -> String {
    wording::say("none_failed", || {
        format!("0 of {cuts} torn: {filesystem} need not tear a page")
    })
}

/// Cuts of a part that have failed, of all.
#[derive(Clone, Debug)]
pub struct Failed<'a> {
    pub failed: u64,
    pub cuts: u64,
    pub is_control: bool,
    /// Whether unflushed writes survived in sectors of 512 bytes in all cuts that failed.
    pub only_sectors: bool,
    /// How many cuts had each kind of failure. Kinds without any are left out of the sentence.
    pub kinds: [(u64, Failure); 5],
    /// Number of the first cut that failed, and its problem.
    pub first: (u32, &'a str),
}

pub fn failed(of: &Failed<'_>) -> String {
    wording::say("failed", || {
        let how = match of.is_control {
            true => ", as a control must",
            false => "",
        };
        let tear = match of.only_sectors {
            true => ", all torn at 512 bytes",
            false => "",
        };
        let kinds = of.kinds.iter().filter(|(count, _)| *count > 0);
        let kinds = kinds.map(|(count, kind)| format!("{count} {}", kind.words()));
        let (number, problem) = of.first;
        let problem: Vec<&str> = problem.lines().map(str::trim).collect();
        let problem = problem.join(" / ");
        format!(
            "{} of {} failed{how}{tear}: {}; cut {number}: {problem}",
            of.failed,
            of.cuts,
            kinds.collect::<Vec<_>>().join(", ")
        )
    })
}

pub fn missing_commit(number: u64, client: u32) -> String {
    wording::say("lost", || {
        format!("commit {number} of client {client} was acknowledged, and is missing")
    })
}

pub fn hole() -> String {
    wording::say("hole", || {
        "a commit is missing or there twice, and a later one is there".into()
    })
}

/// Rows that were found, of all, and the transactions that wrote them.
pub fn pages_in_part(found: u64, of: u64, [lowest, highest]: [u64; 2]) -> String {
    wording::say("hole", || {
        format!("{found} of {of} rows are there, written by transactions {lowest} to {highest}")
    })
}

/// The last transaction that was acknowledged, and the one that has written the pages.
pub fn older_pages(acknowledged: u64, found: u64) -> String {
    wording::say("lost", || {
        format!(
            "transaction {acknowledged} was acknowledged, and the rows are those of transaction {found}"
        )
    })
}

/// Numbers that another server has acknowledged, and how many of them are missing there.
pub fn watched(
    acknowledged: i64,
    missing: i64,
    first_missing: Option<i64>,
    has_restarted: bool,
) -> String {
    wording::say("watched", || {
        let first = first_missing.map(|number| format!(", the first is number {number}"));
        let first = first.unwrap_or_default();
        let since = match has_restarted {
            true => "",
            false => "; the server has not restarted since, so this shows nothing",
        };
        format!("{missing} of {acknowledged} acknowledged commits are missing{first}{since}")
    })
}

/// The way in which a failed operation of the device was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reported {
    /// The server has stopped all of its processes.
    Panic,
    /// A statement has failed.
    Error,
    Nothing,
}

impl Reported {
    /// Name in the tables of results.
    pub fn as_str(self) -> Option<&'static str> {
        match self {
            Self::Panic => Some("panic"),
            Self::Error => Some("error"),
            Self::Nothing => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Panic => "the server stopped with PANIC",
            Self::Error => "a statement failed",
            Self::Nothing => "neither the filesystem nor the server reported it",
        }
    }
}

/// A flush or write has failed, and all commits are there.
pub fn error_survived(operation: &str, reported: Reported, acknowledged: u64) -> String {
    wording::say("error_survived", || {
        let words = reported.words();
        format!(
            "a {operation} failed: {words}, and after its restart all {acknowledged} acknowledged commits were there"
        )
    })
}

/// A flush or write has failed, and data are missing or damaged.
pub fn error_lost(operation: &str, reported: Reported, problem: &str) -> String {
    wording::say("error_lost", || {
        let words = reported.words();
        format!("a {operation} failed: {words}; after the restart: {problem}")
    })
}

/// No flush or write has failed, or the server did not start before.
pub fn error_not_tried(operation: &str, why: Option<&str>) -> String {
    wording::say("error_not_tried", || match why {
        Some(why) => format!("no {operation} was failed: {why}"),
        None => format!("no {operation} failed while the server committed"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up() {
        let shares = [0.009_936, 0.010_0, 0.139_1, 0.050_34, 0.000_998];
        assert_eq!(
            shares.map(percent),
            ["1 %", "1 %", "14 %", "5.1 %", "0.1 %"]
        );
    }

    #[test]
    fn a_witness_says_how_many_are_missing() {
        assert_eq!(
            watched(90, 0, None, true),
            "0 of 90 acknowledged commits are missing"
        );
        assert_eq!(
            watched(90, 7, Some(84), true),
            "7 of 90 acknowledged commits are missing, the first is number 84"
        );
        assert!(watched(90, 0, None, false).ends_with("so this shows nothing"));
    }

    #[test]
    fn the_lines_of_a_problem_become_one() {
        let said = failed(&Failed {
            failed: 1,
            cuts: 20,
            is_control: false,
            only_sectors: false,
            kinds: [(1, Failure::Unbootable); 5],
            first: (3, "e2fsck -p /dev/loop0\n  an inode is damaged"),
        });
        assert!(
            said.ends_with("; cut 3: e2fsck -p /dev/loop0 / an inode is damaged"),
            "{said}"
        );
    }

    #[test]
    fn a_control_in_which_nothing_fails_shows_nothing() {
        assert_eq!(
            none_failed(20, true, None),
            "0 of 20 torn: this control shows nothing"
        );
        assert_eq!(
            void(&["fsync_off", "full_page_writes_off"]),
            "void: nothing is shown by the control fsync_off, full_page_writes_off"
        );
    }
}
