//! The rules, one function each. `?` on a fact that is not known ends a rule without a finding.

use super::{Finding, RunFacts, Severity, crash, scan, storage};
use crate::spec::Workload;
use crate::stats;
use crate::units::{format_bytes, format_count};

/// Complete checkpoints that a window should hold (METHOD.md).
const CHECKPOINTS: u32 = 3;
/// Share of failed transactions beyond which a run is invalid (METHOD.md).
const FAILED_SHARE: f64 = 0.001;
/// Difference between the last and the first third that is a drift.
const DRIFT: f64 = 0.10;
/// Under a rate, fewer transactions than this in a third differ by chance alone by the drift that is looked for.
const FEWEST_IN_THIRD: f64 = 2000.0;
/// Below this rate a second without a transaction is chance, not a stall.
const LOWEST_RATE_FOR_STALLS: f64 = 10.0;
/// Who holds back vacuum is listed by name up to this many.
const MOST_LISTED: usize = 5;

type Rule = fn(&RunFacts) -> Option<Finding>;

pub const ALL: &[Rule] = &[
    fsync_off,
    failed_transactions,
    synchronous_commit_off,
    full_page_writes_off,
    unlogged,
    clients_exceed_branches,
    old_xmin,
    stalls,
    drift,
    skipped_transactions,
    wal_on_other_filesystem,
    data_fits,
    checkpoints,
    log_checkpoints_off,
    storage::mount_options_not_shown,
    storage::properties_not_in_force,
    scan::workers_not_launched,
    scan::cpu_bound,
    crash::lost_transactions,
];

/// What a quick look cannot help is only told.
fn unless_quick(facts: &RunFacts) -> Severity {
    if facts.quick {
        Severity::Info
    } else {
        Severity::Warning
    }
}

/// Whether it is measured how fast something is written, so that what a commit promises matters.
fn commits(facts: &RunFacts) -> bool {
    facts.workload != Some(Workload::Scan)
}

fn fsync_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.fsync? && commits(facts)).then(|| {
        let hint = "Set fsync to on and reload: without it nothing waits for storage, and a crash loses the database.";
        Finding::new("fsync_off", Severity::Invalid, "fsync is off", hint)
    })
}

fn synchronous_commit_off(facts: &RunFacts) -> Option<Finding> {
    (facts.synchronous_commit.as_deref()? == "off" && commits(facts)).then(|| {
        let hint = "Commits did not wait for WAL to be on disk: compare such a run only with others like it.";
        Finding::new("synchronous_commit_off", Severity::Warning, "synchronous_commit is off", hint)
    })
}

fn full_page_writes_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.full_page_writes? && commits(facts)).then(|| {
        let hint = "Keep it off only on a filesystem that never tears a page; else set full_page_writes to on and reload.";
        Finding::new("full_page_writes_off", Severity::Warning, "full_page_writes is off", hint)
    })
}

fn unlogged(facts: &RunFacts) -> Option<Finding> {
    (facts.unlogged? && commits(facts)).then(|| {
        let hint = "Commits did not wait for storage, and a crash empties the tables: compare such a run only with others like it.";
        Finding::new("unlogged", Severity::Warning, "the tables are unlogged", hint)
    })
}

fn clients_exceed_branches(facts: &RunFacts) -> Option<Finding> {
    let (clients, scale) = (facts.clients?, facts.scale?);
    (facts.workload? == Workload::Tpcb && clients > scale).then(|| {
        let message = format!("{clients} clients share {}", format_count(scale.into(), "branch"));
        let hint = format!("They wait for each other's row locks, not for storage: use a scale of at least {clients}.");
        Finding::new("clients_exceed_branches", Severity::Warning, message, hint)
    })
}

/// Data that fits in shared_buffers fits in RAM too: only the stronger is told.
fn data_fits(facts: &RunFacts) -> Option<Finding> {
    let data = facts.data_bytes?;
    if facts.workload == Some(Workload::Scan) {
        // What is in memory is what was asked for.
        return None;
    }
    let known = |bytes: Option<u64>| bytes.map_or("unknown".into(), format_bytes);
    let (code, place) = if facts.shared_buffers_bytes.is_some_and(|b| data <= b) {
        ("data_fits_shared_buffers", "shared_buffers")
    } else if facts.memory_bytes.is_some_and(|b| data <= b) {
        ("data_fits_ram", "RAM")
    } else {
        return None;
    };
    let message = format!(
        "data of {} fits in {place} (shared_buffers {}, RAM {})",
        format_bytes(data),
        known(facts.shared_buffers_bytes),
        known(facts.memory_bytes)
    );
    let hint = "Reads came from memory, not from storage: use a larger size, such as '2x ram', to measure reads.";
    Some(Finding::new(code, unless_quick(facts), message, hint))
}

fn checkpoints(facts: &RunFacts) -> Option<Finding> {
    let complete = facts.checkpoints?;
    // None is expected where nothing dirties pages.
    if facts.workload.is_some_and(|w| !w.writes()) || complete >= CHECKPOINTS {
        return None;
    }
    let (code, message) = match complete {
        0 => (
            "no_complete_checkpoint",
            "no complete checkpoint in the measured window".into(),
        ),
        n => (
            "too_short",
            format!("{n} of at least {CHECKPOINTS} complete checkpoints in the measured window"),
        ),
    };
    let hint = "Most of the data is written by checkpoints: use a duration of at least three times checkpoint_timeout.";
    Some(Finding::new(code, unless_quick(facts), message, hint))
}

/// Without rows of checkpoints nobody sees which seconds they took, or why they came.
fn log_checkpoints_off(facts: &RunFacts) -> Option<Finding> {
    (!facts.checkpoints_logged?).then(|| {
        let (message, hint) = match facts.log_checkpoints {
            Some(false) => (
                "log_checkpoints was off: checkpoints are only counted",
                "Set log_checkpoints to on and reload, to have a row of each checkpoint in fsbench.checkpoint.",
            ),
            _ => (
                "the server did not log its checkpoints: they are only counted",
                "Set log_min_messages to warning, or lower, and reload, to have a row of each checkpoint in fsbench.checkpoint.",
            ),
        };
        Finding::new("log_checkpoints_off", Severity::Info, message, hint)
    })
}

fn old_xmin(facts: &RunFacts) -> Option<Finding> {
    // Without tables there are no dead rows.
    if facts.workload == Some(Workload::Fsync) {
        return None;
    }
    let holders = facts
        .xmin_holders
        .as_ref()
        .filter(|holders| !holders.is_empty())?;
    let named = holders.iter().take(MOST_LISTED).map(|holder| {
        let age = holder
            .age
            .map_or(String::new(), |age| format!(" ({age} transactions old)"));
        format!("{} {}{age}", holder.kind.as_str(), holder.name)
    });
    let mut message = format!(
        "vacuum is held back by {}",
        named.collect::<Vec<_>>().join(", ")
    );
    if holders.len() > MOST_LISTED {
        message += &format!(", and {} more", holders.len() - MOST_LISTED);
    }
    let hint = "Dead rows pile up and slow the run down: end old transactions, and drop slots that nobody uses.";
    Some(Finding::new("old_xmin", Severity::Warning, message, hint))
}

/// A warning when the other filesystem is of another type, since the result then belongs to neither; else to be known.
fn wal_on_other_filesystem(facts: &RunFacts) -> Option<Finding> {
    let (data, wal) = (facts.data_place.as_ref()?, facts.wal_place.as_ref()?);
    (!data.is_same_filesystem(wal)).then(|| {
        let severity = if data.fs_type == wal.fs_type { Severity::Info } else { Severity::Warning };
        let message = format!(
            "data is on {} at {}, WAL on {} at {}",
            data.fs_type, data.mount_point, wal.fs_type, wal.mount_point
        );
        let hint = "Latency of commits is that of the filesystem of WAL; compare only with runs of the same scope.";
        Finding::new("wal_on_other_filesystem", severity, message, hint)
    })
}

fn failed_transactions(facts: &RunFacts) -> Option<Finding> {
    let (failed, measured) = (facts.failed?, facts.measured?);
    let share = failed as f64 / (failed as f64 + measured as f64).max(1.0);
    (failed > 0).then(|| {
        let severity = if share > FAILED_SHARE { Severity::Invalid } else { Severity::Info };
        let message = format!("{} failed, {}", format_count(failed, "transaction"), percent(share));
        let hint = "The first failure of each client is in the server's log. A run with over 0.1 % failed transactions does not count.";
        Finding::new("failed_transactions", severity, message, hint)
    })
}

fn skipped_transactions(facts: &RunFacts) -> Option<Finding> {
    let (skipped, measured) = (facts.skipped?, facts.measured?);
    let share = skipped as f64 / (skipped as f64 + measured as f64).max(1.0);
    (skipped > 0).then(|| {
        let message = format!("{} skipped, {} of those due",
            format_count(skipped, "transaction"), percent(share));
        let hint = "They were later than the latency limit before they could start, and count as misses: lower the rate.";
        Finding::new("skipped_transactions", Severity::Warning, message, hint)
    })
}

fn stalls(facts: &RunFacts) -> Option<Finding> {
    let seconds = facts.seconds_tps.as_ref()?;
    let stalls = stats::stalls(seconds);
    let by_chance = facts.rate.is_some_and(|rate| rate < LOWEST_RATE_FOR_STALLS);
    (stalls.stall_seconds > 0 && !by_chance).then(|| {
        let message = format!(
            "throughput stalled in {} of {} seconds, {} of them without a transaction; the median is {:.0} tps",
            stalls.stall_seconds,
            seconds.len(),
            stalls.zero_seconds,
            stalls.median
        );
        let hint = "The mean hides them: look at the samples of these seconds, and at checkpoints and other load then.";
        Finding::new("stalls", Severity::Warning, message, hint)
    })
}

fn drift(facts: &RunFacts) -> Option<Finding> {
    let seconds = facts.seconds_tps.as_ref()?;
    let drift = stats::drift(seconds)?;
    let by_chance = facts
        .rate
        .is_some_and(|rate| rate * (seconds.len() / 3) as f64 <= FEWEST_IN_THIRD);
    ((drift.ratio - 1.0).abs() > DRIFT && !by_chance).then(|| {
        let change = if drift.ratio < 1.0 { "less" } else { "more" };
        let message = format!(
            "the last third of the window did {} {change} than the first ({:.0} against {:.0} tps)",
            percent((drift.ratio - 1.0).abs()),
            drift.last_third,
            drift.first_third
        );
        let hint = "The run was not steady: use a longer warm-up and a longer duration.";
        Finding::new("drift", Severity::Warning, message, hint)
    })
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.01 => "under 0.01 %".into(),
        p if p < 1.0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}
