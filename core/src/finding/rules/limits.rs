//! Limits of the server's cgroups that were felt in the window. A limit that was not felt is stored, and no finding.

use super::{
    super::{Finding, RunFacts, Severity},
    machine::is_saturated,
};
use crate::{
    finding_row::Text,
    sys::cgroup::{AllowedFelt, IoFelt, QuotaFelt},
    texts::finding::limits as text,
};

/// Share of the window from which a limit changes the figures.
const OFTEN: f64 = 0.05;
/// A smaller share of the periods changes nothing that could be measured.
const SELDOM: f64 = 0.01;

pub fn memory_limit(facts: &RunFacts) -> Option<Finding> {
    let felt = facts.machine.limits.memory.as_ref()?;
    let (reached, killed) = (felt.reached.unwrap_or(0), felt.killed.unwrap_or(0));
    let often = felt.waiting.filter(|share| *share >= OFTEN);
    if reached == 0 && killed == 0 && often.is_none() {
        return None;
    }
    let severity = match killed > 0 || often.is_some() {
        true => Severity::Warning,
        false => Severity::Info,
    };
    Some(Finding::new(severity, text::memory_limit(felt, often)))
}

/// By stops of the scheduler, or by the processors on which the server may run.
pub fn processor_limit(facts: &RunFacts) -> Option<Finding> {
    let limits = &facts.machine.limits;
    let quota = limits.quota.as_ref().and_then(by_quota);
    let (severity, text) = quota.or_else(|| by_number(facts, limits.allowed.as_ref()?))?;
    Some(Finding::new(severity, text))
}

fn by_quota(felt: &QuotaFelt) -> Option<(Severity, Text)> {
    let stopped = felt.stopped.filter(|stopped| *stopped > 0)?;
    let periods = felt.periods.unwrap_or(stopped).max(stopped);
    if (stopped as f64) < periods as f64 * SELDOM {
        return None;
    }
    let severity = by_share(stopped as f64 / periods as f64);
    Some((severity, text::processor_quota(felt, stopped, periods)))
}

/// Where the whole machine was saturated, `cpu_saturated` says so.
fn by_number(facts: &RunFacts, felt: &AllowedFelt) -> Option<(Severity, Text)> {
    let machine = &facts.machine;
    let idle = machine.cpu_idle.unwrap_or(1.0) + machine.cpu_iowait.unwrap_or(0.0);
    (is_saturated(felt.idle) && !is_saturated(idle))
        .then(|| (Severity::Warning, text::processor_number(felt)))
}

pub fn io_limit(facts: &RunFacts) -> Option<Finding> {
    let felt = facts.machine.limits.io.as_ref()?;
    let share = |io: &IoFelt| f64::from(io.reached) / f64::from(io.seconds.max(1));
    let most = felt
        .iter()
        .filter(|io| io.reached > 0)
        .max_by(|a, b| share(a).total_cmp(&share(b)))?;
    Some(Finding::new(by_share(share(most)), text::io_limit(most)))
}

fn by_share(share: f64) -> Severity {
    match share >= OFTEN {
        true => Severity::Warning,
        false => Severity::Info,
    }
}
