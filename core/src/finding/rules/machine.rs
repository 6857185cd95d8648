//! The machine: whether it was the storage that was measured, and whether others were at work.

use super::super::{Finding, MachineFacts, RunFacts, Severity};
use crate::{
    spec::Cache,
    texts::finding::machine::{self as text, ProcessorShare, Saturating, Slowed},
};

/// Processors that are idle, or wait for storage, less than this are saturated.
const SATURATED: f64 = 0.05;
/// Share of the time that a host may have taken away.
const STEAL: f64 = 0.02;
/// Share of the processors' time that others may have used.
const NEIGHBOURS: f64 = 0.10;
/// Clients that took this share of the processors' time are what made them busy.
const MOSTLY: f64 = 0.50;
/// Others kept the disk busy for a larger share of the time.
const DISK: f64 = 1.0 / 3.0;
/// Time of the processors that measuring may take.
const OBSERVER: f64 = 0.01;
/// Time in which something waited for memory.
const MEMORY: f64 = 0.05;
/// By how much the clock of the processors may change.
const CLOCK: f64 = 0.15;
/// Share of the dirty memory at which writers are made to wait. It is seen once a second only.
const DIRTY: f64 = 0.90;

/// Clocks that are slow to read.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];

/// Whether processors that were idle, or waited for storage, in this share of the time had no more to give.
pub fn is_saturated(idle: f64) -> bool {
    idle < SATURATED
}

pub fn cpu_saturated(facts: &RunFacts) -> Option<Finding> {
    let machine = &facts.machine;
    let sets_cache = facts.workload.is_some_and(|workload| workload.sets_cache());
    if sets_cache && facts.cache != Some(Cache::Cold) {
        // Expected of a table in memory, and told by cpu_bound.
        return None;
    }
    let idle = machine.cpu_idle? + machine.cpu_iowait.unwrap_or(0.0);
    let by = match facts.workload {
        _ if taken_by_others(machine).is_some() => Saturating::Others,
        _ if machine.cpu_others.is_none() && machine.cpu_clients.is_none_or(|c| c < MOSTLY) => {
            Saturating::NotKnown
        }
        Some(workload) => Saturating::Workload(workload.when_saturated()),
        None => Saturating::Run,
    };
    is_saturated(idle).then(|| {
        let text = text::cpu_saturated(idle, machine.cpu_clients, by);
        Finding::new(Severity::Warning, text)
    })
}

pub fn steal(facts: &RunFacts) -> Option<Finding> {
    let steal = facts.machine.cpu_steal?;
    (steal > STEAL).then(|| Finding::new(Severity::Warning, text::steal(steal)))
}

pub fn observer_effect(facts: &RunFacts) -> Option<Finding> {
    let sampler = facts.machine.cpu_sampler?;
    (sampler > OBSERVER).then(|| Finding::new(Severity::Warning, text::observer_effect(sampler)))
}

/// The share of the processors' time that others took, where it is large. Where it is not known exactly, the least that is known.
fn taken_by_others(machine: &MachineFacts) -> Option<ProcessorShare> {
    let (share, taken) = match machine.cpu_others {
        Some(share) => (share, ProcessorShare::Exactly(share)),
        None => {
            let share = machine.cpu_others_at_least?;
            (share, ProcessorShare::AtLeast(share))
        }
    };
    (share > NEIGHBOURS).then_some(taken)
}

pub fn noisy_neighbour(facts: &RunFacts) -> Option<Finding> {
    let machine = &facts.machine;
    let processors = taken_by_others(machine);
    let disk = machine.device_others.filter(|&others| others > DISK);
    (processors.is_some() || disk.is_some())
        .then(|| Finding::new(Severity::Warning, text::noisy_neighbour(processors, disk)))
}

pub fn memory_pressure(facts: &RunFacts) -> Option<Finding> {
    let share = facts.machine.memory_pressure?;
    (share > MEMORY).then(|| Finding::new(Severity::Warning, text::memory_pressure(share)))
}

/// By counts, or by the clock itself.
pub fn throttled(facts: &RunFacts) -> Option<Finding> {
    let machine = &facts.machine;
    let clock = machine.mhz.zip(machine.mhz_at_end);
    let slowed = match (machine.throttled.filter(|&times| times > 0), clock) {
        (Some(times), _) => Slowed::ByHeat(times),
        (None, Some((before, after))) if (after / before - 1.0).abs() > CLOCK => {
            Slowed::Clock { before, after }
        }
        _ => return None,
    };
    Some(Finding::new(Severity::Warning, text::throttled(slowed)))
}

pub fn governor(facts: &RunFacts) -> Option<Finding> {
    let governor = facts
        .machine
        .governor
        .as_deref()
        .filter(|name| *name != "performance")?;
    Some(Finding::new(Severity::Info, text::governor(governor)))
}

pub fn slow_clock(facts: &RunFacts) -> Option<Finding> {
    let source = facts
        .machine
        .clock_source
        .as_deref()
        .filter(|name| SLOW_CLOCKS.contains(name))?;
    Some(Finding::new(Severity::Warning, text::slow_clock(source)))
}

/// The kernel makes writers wait when too much is dirty.
pub fn dirty_limit(facts: &RunFacts) -> Option<Finding> {
    let machine = &facts.machine;
    // A ratio is one of the memory that can be dirty, which only the kernel knows.
    let setting = machine.dirty_bytes_limit.filter(|&bytes| bytes > 0);
    let of_kernel = machine.dirty_peak_bytes.zip(machine.dirty_peak_limit_bytes);
    let (most, limit) = of_kernel.or(machine.dirty_bytes_max.zip(setting))?;
    (most as f64 > DIRTY * limit as f64)
        .then(|| Finding::new(Severity::Warning, text::dirty_limit(most, limit)))
}
