//! The measured window.

use super::percent;
use crate::{
    finding_row::Text,
    units::{format_bytes, format_count},
};

/// Complete checkpoints in the window, and how many a window should hold.
pub fn checkpoints(complete: u32, enough: u32) -> Text {
    let (code, message) = match complete {
        0 => (
            "no_complete_checkpoint",
            "no complete checkpoint in the measured window".into(),
        ),
        n => (
            "too_short",
            format!("{n} of at least {enough} complete checkpoints in the measured window"),
        ),
    };
    let hint = "Most of the data is written by checkpoints: use a duration of at least three times checkpoint_timeout.";
    Text::new(code, message, hint)
}

/// Checkpoints that were requested, of all of them, and the mean of the WAL between two of them in bytes.
pub fn checkpoints_requested(requested: u32, all: u64, distance: Option<u64>) -> Text {
    let apart = distance.map_or(String::new(), |bytes| {
        format!(", {} of WAL apart", format_bytes(bytes))
    });
    let message = format!(
        "{requested} of {} in the window came before checkpoint_timeout was over{apart}",
        format_count(all, "checkpoint")
    );
    let hint = "Raise max_wal_size, and do not call CHECKPOINT during a run; or compare only with runs whose checkpoints came for the same reason.";
    Text::new("checkpoints_requested", message, hint)
}

pub fn failed_transactions(failed: u64, share: f64) -> Text {
    let failed = format_count(failed, "transaction");
    let message = format!("{failed} failed, {}", percent(share));
    let hint = "The first failure of each client is in the server's log. A run with over 0.1 % failed transactions does not count.";
    Text::new("failed_transactions", message, hint)
}

pub fn skipped_transactions(skipped: u64, share: f64) -> Text {
    let skipped = format_count(skipped, "transaction");
    let message = format!("{skipped} skipped, {} of those due", percent(share));
    let hint = "They were later than the latency limit before they could start, and count as misses: lower the rate.";
    Text::new("skipped_transactions", message, hint)
}

/// Seconds with a stall, those of them without a transaction, all seconds, and the median in transactions a second.
pub fn stalls(stalled: u32, empty: u32, seconds: usize, median: f64) -> Text {
    let message = format!(
        "throughput stalled in {stalled} of {seconds} seconds, {empty} of them without a transaction; the median is {median:.0} tps"
    );
    let hint = "The mean hides them: look at the samples of these seconds, and at checkpoints and other load then.";
    Text::new("stalls", message, hint)
}

/// Transactions a second in the first and in the last third, and the ratio of the last to the first.
pub fn drift(first: f64, last: f64, ratio: f64) -> Text {
    let change = if ratio < 1.0 { "less" } else { "more" };
    let message = format!(
        "the last third of the window did {} {change} than the first ({last:.0} against {first:.0} tps)",
        percent((ratio - 1.0).abs())
    );
    let hint = "The run was not steady: use a longer warm-up and a longer duration.";
    Text::new("drift", message, hint)
}

/// The seconds of warming up, of all, and the transactions a second in them and in the others.
pub fn warming_up(cold: usize, seconds: usize, before: f64, after: f64) -> Text {
    let message = format!(
        "the first {cold} of {seconds} seconds were not like the rest ({before:.0} against {after:.0} tps)"
    );
    let hint = "It was still warming up: use a longer warm-up.";
    Text::new("warming_up", message, hint)
}

/// Means in milliseconds.
pub fn behind_schedule(lag: f64, service: f64) -> Text {
    let message = format!(
        "transactions started {lag:.1} ms after they were due, and took {service:.1} ms (means)"
    );
    let hint = "The rate is beyond what the clients can do here: lower it, or use more clients.";
    Text::new("behind_schedule", message, hint)
}
/// Milliseconds between the first and the last start, length of the window in milliseconds, and the share that is allowed.
pub fn instances_apart(skew_ms: f64, window_ms: f64, allowed: f64) -> Text {
    let message = format!(
        "the instances began {skew_ms:.0} ms apart, {} of the window of {:.0} s; at most {} is allowed",
        percent(skew_ms / window_ms.max(1.0)),
        window_ms / 1000.0,
        percent(allowed)
    );
    let hint = "Use a longer duration, or fewer clients for each instance.";
    Text::new("instances_apart", message, hint)
}

/// Codes of findings.
pub fn instance_findings(codes: &[String]) -> Text {
    let message = format!(
        "other instances than the first one have findings: {}",
        codes.join(", ")
    );
    let hint = "The column findings of fsbench.run_instance has them for each instance.";
    Text::new("instance_findings", message, hint)
}
