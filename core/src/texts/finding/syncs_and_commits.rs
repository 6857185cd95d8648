//! Syncs of files by fio, and commits of the database.

use crate::{finding_row::Text, units::format_count};

/// Syncs and commits a second, by as many jobs and clients.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    pub jobs: u32,
    pub syncs: f64,
    pub commits: f64,
    /// The larger rate divided by the smaller one.
    pub factor: f64,
    pub earlier: EarlierRun,
}

/// The earlier one of the two runs, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierRun {
    Syncs(i64),
    Commits(i64),
}

pub fn commits_unlike_syncs(rates: Rates) -> Text {
    let Rates {
        jobs,
        syncs,
        commits,
        factor,
        earlier,
    } = rates;
    let in_run = |run: i64| format!(" in run {run}");
    let (of_syncs, of_commits) = match earlier {
        EarlierRun::Syncs(run) => (in_run(run), String::new()),
        EarlierRun::Commits(run) => (String::new(), in_run(run)),
    };
    let message = format!(
        "{} made {syncs:.0} calls of fdatasync per second{of_syncs}, and as many clients {commits:.0} commits per second{of_commits}: a factor of {factor:.1}",
        format_count(jobs.into(), "job")
    );
    let hint = match (commits > syncs, jobs) {
        (true, 1) => {
            "A commit of one client takes at least a flush: see whether synchronous_commit and fsync were on in the run of workload commit, and its findings."
        }
        (true, _) => {
            "Commits of several clients share a flush, and writes of fio share none: compare one job with one client."
        }
        (false, _) => {
            "Commits wait for more than the flush: see fsbench.wait_profile() and the processors of the run of workload commit."
        }
    };
    Text::new("commits_unlike_syncs", message, hint)
}
