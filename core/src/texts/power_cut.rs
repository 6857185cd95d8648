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
    Unbootable,
}

impl Failure {
    fn words(self) -> &'static str {
        match self {
            Self::LostCommits => "lost commits",
            Self::Hole => "left a hole",
            Self::TornPage => "tore a page",
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
    pub kinds: [(u64, Failure); 4],
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
