//! Limits of the server's cgroups that were felt in the window. A limit that was not felt is stored, and no finding.

use super::{
    super::{Finding, RunFacts, Severity},
    machine::is_saturated,
    percent,
};
use crate::{
    sys::cgroup::{AllowedFelt, IoFelt, IoKind, MemoryFelt, QuotaFelt, plain},
    units::{format_bytes, format_count},
};

/// Share of the window from which a limit changes the figures.
const OFTEN: f64 = 0.05;
/// A smaller share of the periods changes nothing that could be measured.
const SELDOM: f64 = 0.01;

pub fn memory_limit(facts: &RunFacts) -> Option<Finding> {
    let felt = facts.machine.limits.memory.as_ref()?;
    let MemoryFelt {
        bytes,
        reached,
        killed,
        waiting,
    } = felt;
    let (reached, killed) = (reached.unwrap_or(0), killed.unwrap_or(0));
    let often = waiting.filter(|share| *share >= OFTEN);
    if reached == 0 && killed == 0 && often.is_none() {
        return None;
    }
    let mut message = format!(
        "the limit of memory of the server's cgroup, {}, was reached {}",
        format_bytes(*bytes),
        format_count(reached, "time")
    );
    if let Some(share) = often {
        message += &format!(
            "; processes waited for memory in {} of the time",
            percent(share)
        );
    }
    if killed > 0 {
        message += &format!("; the kernel killed {}", format_count(killed, "process"));
    }
    let severity = match killed > 0 || often.is_some() {
        true => Severity::Warning,
        false => Severity::Info,
    };
    let hint = "The page cache counts, too: the run had no more RAM than this. Raise the limit (memory.max, memory.high; cgroup v1: memory.limit_in_bytes), or compare only with runs under the same.";
    Some(Finding::new("memory_limit", severity, message, hint))
}

/// By stops of the scheduler, or by the processors on which the server may run.
pub fn processor_limit(facts: &RunFacts) -> Option<Finding> {
    let limits = &facts.machine.limits;
    let quota = limits.quota.as_ref().and_then(by_quota);
    let (severity, message) = quota.or_else(|| by_number(facts, limits.allowed.as_ref()?))?;
    let hint = "It is the limit that was measured, not the storage: raise it (cpu.max, cpuset.cpus; cgroup v1: cpu.cfs_quota_us), or compare only with runs under the same.";
    Some(Finding::new("processor_limit", severity, message, hint))
}

fn by_quota(felt: &QuotaFelt) -> Option<(Severity, String)> {
    let stopped = felt.stopped.filter(|stopped| *stopped > 0)?;
    let periods = felt.periods.unwrap_or(stopped).max(stopped);
    if (stopped as f64) < periods as f64 * SELDOM {
        return None;
    }
    let time = felt.stopped_ms.map_or(String::new(), |ms| {
        format!(", for {:.1} s of processor time", ms / 1000.0)
    });
    let message = format!(
        "the server's cgroup may use {} processors, and was stopped in {stopped} of {}{time}",
        plain(felt.processors),
        format_count(periods, "period")
    );
    Some((by_share(stopped as f64 / periods as f64), message))
}

/// Where the whole machine was saturated, `cpu_saturated` says so.
fn by_number(facts: &RunFacts, felt: &AllowedFelt) -> Option<(Severity, String)> {
    let machine = &facts.machine;
    let idle = machine.cpu_idle.unwrap_or(1.0) + machine.cpu_iowait.unwrap_or(0.0);
    (is_saturated(felt.idle) && !is_saturated(idle)).then(|| {
        let message = format!(
            "the server may use {} of {} processors, and these were idle or waiting for storage in {} of the time",
            felt.processors,
            felt.of,
            percent(felt.idle)
        );
        (Severity::Warning, message)
    })
}

pub fn io_limit(facts: &RunFacts) -> Option<Finding> {
    let felt = facts.machine.limits.io.as_ref()?;
    let share = |io: &IoFelt| f64::from(io.reached) / f64::from(io.seconds.max(1));
    let most = felt
        .iter()
        .filter(|io| io.reached > 0)
        .max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let bytes = |what: &str| format!("{what} {}/s", format_bytes(most.limit));
    let limit = match most.kind {
        IoKind::ReadBytes => bytes("reading"),
        IoKind::WriteBytes => bytes("writing"),
        IoKind::Reads => format!("{} reads/s", most.limit),
        IoKind::Writes => format!("{} writes/s", most.limit),
    };
    let device = match &most.name {
        Some(name) => format!("{name} ({})", most.device),
        None => most.device.clone(),
    };
    let message = format!(
        "the limit of I/O of the server's cgroup, {limit} on {device}, was reached in {} of {}",
        most.reached,
        format_count(most.seconds.into(), "second")
    );
    let hint = "It is the limit that was measured, not the device: raise it (io.max, blkio.throttle), or compare only with runs under the same.";
    Some(Finding::new(
        "io_limit",
        by_share(share(most)),
        message,
        hint,
    ))
}

fn by_share(share: f64) -> Severity {
    match share >= OFTEN {
        true => Severity::Warning,
        false => Severity::Info,
    }
}
