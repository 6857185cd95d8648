//! Limits of the server's cgroups.

use super::percent;
use crate::{
    finding_row::Text,
    sys::cgroup::{AllowedFelt, IoFelt, IoKind, MemoryFelt, QuotaFelt, plain},
    units::{format_bytes, format_count},
};

/// `waiting` is the share of the time in which processes waited for memory, where that is a finding.
pub fn memory_limit(felt: &MemoryFelt, waiting: Option<f64>) -> Text {
    let mut message = format!(
        "the limit of memory of the server's cgroup, {}, was reached {}",
        format_bytes(felt.bytes),
        format_count(felt.reached.unwrap_or(0), "time")
    );
    if let Some(share) = waiting {
        let share = percent(share);
        message += &format!("; processes waited for memory in {share} of the time");
    }
    if let Some(killed) = felt.killed.filter(|killed| *killed > 0) {
        message += &format!("; the kernel killed {}", format_count(killed, "process"));
    }
    let hint = "The page cache counts, too: the run had no more RAM than this. Raise the limit (memory.max, memory.high; cgroup v1: memory.limit_in_bytes), or compare only with runs under the same.";
    Text::new("memory_limit", message, hint)
}

/// The scheduler stopped the cgroup in some of its periods.
pub fn processor_quota(felt: &QuotaFelt, stopped: u64, periods: u64) -> Text {
    let time = felt.stopped_ms.map_or(String::new(), |ms| {
        format!(", for {:.1} s of processor time", ms / 1000.0)
    });
    let message = format!(
        "the server's cgroup may use {} processors, and was stopped in {stopped} of {}{time}",
        plain(felt.processors),
        format_count(periods, "period")
    );
    processor_limit(message)
}

/// The server may run on some of the processors only.
pub fn processor_number(felt: &AllowedFelt) -> Text {
    let message = format!(
        "the server may use {} of {} processors, and these were idle or waiting for storage in {} of the time",
        felt.processors,
        felt.of,
        percent(felt.idle)
    );
    processor_limit(message)
}

fn processor_limit(message: String) -> Text {
    let hint = "It is the limit that was measured, not the storage: raise it (cpu.max, cpuset.cpus; cgroup v1: cpu.cfs_quota_us), or compare only with runs under the same.";
    Text::new("processor_limit", message, hint)
}

pub fn io_limit(felt: &IoFelt) -> Text {
    let bytes = |what: &str| format!("{what} {}/s", format_bytes(felt.limit));
    let limit = match felt.kind {
        IoKind::ReadBytes => bytes("reading"),
        IoKind::WriteBytes => bytes("writing"),
        IoKind::Reads => format!("{} reads/s", felt.limit),
        IoKind::Writes => format!("{} writes/s", felt.limit),
    };
    let device = match &felt.name {
        Some(name) => format!("{name} ({})", felt.device),
        None => felt.device.clone(),
    };
    let message = format!(
        "the limit of I/O of the server's cgroup, {limit} on {device}, was reached in {} of {}",
        felt.reached,
        format_count(felt.seconds.into(), "second")
    );
    let hint = "It is the limit that was measured, not the device: raise it (io.max, blkio.throttle), or compare only with runs under the same.";
    Text::new("io_limit", message, hint)
}
