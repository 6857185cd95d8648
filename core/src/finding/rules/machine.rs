//! The machine: whether it was the storage that was measured, and whether others were at work.

use super::{
    super::{Finding, MachineFacts, RunFacts, Severity},
    percent,
};
use crate::{spec::Cache, units::format_bytes};

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
    is_saturated(idle).then(|| {
        let clients = machine.cpu_clients;
        let clients = clients.map_or(String::new(), |share| {
            format!("; the clients took {} of it", percent(share))
        });
        let message = format!(
            "the processors were idle or waiting for storage in {} of the time{clients}",
            percent(idle)
        );
        let hint = match facts.workload {
            _ if taken_by_others(machine).is_some_and(|(others, _)| others > NEIGHBOURS) => {
                "Others took much of it (noisy_neighbour): run it again without them."
            }
            _ if machine.cpu_others.is_none() && machine.cpu_clients.is_none_or(|c| c < MOSTLY) => {
                "It is not known here what other programs took: see what else runs on the machine before you change the run."
            }
            Some(workload) => workload.when_saturated(),
            None => "The processors were the limit, not the storage.",
        };
        Finding::new("cpu_saturated", Severity::Warning, message, hint)
    })
}

pub fn steal(facts: &RunFacts) -> Option<Finding> {
    let steal = facts.machine.cpu_steal?;
    (steal > STEAL).then(|| {
        let message = format!("the host took {} of the processors' time away", percent(steal));
        let hint = "Other virtual machines, or a limit of this one, slow it down: run it again at another time.";
        Finding::new("steal", Severity::Warning, message, hint)
    })
}

pub fn observer_effect(facts: &RunFacts) -> Option<Finding> {
    let sampler = facts.machine.cpu_sampler?;
    (sampler > OBSERVER).then(|| {
        let message = format!("the sampler used {} of the processors' time", percent(sampler));
        let hint = "What is measured is slowed down by the measuring: compare with a run with options => '{\"sample\": false}'.";
        Finding::new("observer_effect", Severity::Warning, message, hint)
    })
}

/// The share of the processors' time that others used, and the word that stands before it where only the least is known.
fn taken_by_others(machine: &MachineFacts) -> Option<(f64, &'static str)> {
    let least = machine
        .cpu_others_at_least
        .map(|share| (share, "at least "));
    machine.cpu_others.map(|share| (share, "")).or(least)
}

pub fn noisy_neighbour(facts: &RunFacts) -> Option<Finding> {
    let machine = &facts.machine;
    let processors = taken_by_others(machine).filter(|(others, _)| *others > NEIGHBOURS);
    let disk = machine.device_others.filter(|&others| others > DISK);
    let processors = processors.map(|(others, at_least)| {
        format!(
            "processes that are none of the server used {at_least}{} of the processors' time",
            percent(others)
        )
    });
    let disk = disk.map(|others| {
        format!(
            "others kept the disk below the filesystem busy for {} of the time",
            percent(others)
        )
    });
    let parts: Vec<String> = [processors, disk].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        let hint = "See what else runs on the machine, and run it again without.";
        Finding::new("noisy_neighbour", Severity::Warning, parts.join("; "), hint)
    })
}

pub fn memory_pressure(facts: &RunFacts) -> Option<Finding> {
    let share = facts.machine.memory_pressure?;
    (share > MEMORY).then(|| {
        let message = format!("something waited for memory in {} of the time", percent(share));
        let hint = "The machine has too little memory for what is on it: see shared_buffers, and what else runs.";
        Finding::new("memory_pressure", Severity::Warning, message, hint)
    })
}

/// By counts, or by the clock itself.
pub fn throttled(facts: &RunFacts) -> Option<Finding> {
    let machine = &facts.machine;
    let hint = "Processors that are hot or out of credit slow down: cool them, set the governor to performance, and run it again.";
    let found = |message| Some(Finding::new("throttled", Severity::Warning, message, hint));
    if let Some(times) = machine.throttled.filter(|&times| times > 0) {
        return found(format!(
            "processors were slowed down because of heat, {times} times"
        ));
    }
    let (before, after) = (machine.mhz?, machine.mhz_at_end?);
    match (after / before - 1.0).abs() > CLOCK {
        true => found(format!(
            "the clock of the processors went from {before:.0} to {after:.0} MHz"
        )),
        false => None,
    }
}

pub fn governor(facts: &RunFacts) -> Option<Finding> {
    let governor = facts
        .machine
        .governor
        .as_deref()
        .filter(|name| *name != "performance")?;
    let message = format!("the clock of the processors follows the load (governor {governor})");
    let hint = "Set the governor to performance while benchmarks run.";
    Some(Finding::new("governor", Severity::Info, message, hint))
}

pub fn slow_clock(facts: &RunFacts) -> Option<Finding> {
    let source = facts
        .machine
        .clock_source
        .as_deref()
        .filter(|name| SLOW_CLOCKS.contains(name))?;
    let message = format!("reading the time is slow here (clock source {source})");
    let hint = "Each transaction reads it several times: use tsc, or the clock of the hypervisor.";
    Some(Finding::new("slow_clock", Severity::Warning, message, hint))
}

/// The kernel makes writers wait when too much is dirty.
pub fn dirty_limit(facts: &RunFacts) -> Option<Finding> {
    let machine = &facts.machine;
    // A ratio is one of the memory that can be dirty, which only the kernel knows.
    let setting = machine.dirty_bytes_limit.filter(|&bytes| bytes > 0);
    let of_kernel = machine.dirty_peak_bytes.zip(machine.dirty_peak_limit_bytes);
    let (most, limit) = of_kernel.or(machine.dirty_bytes_max.zip(setting))?;
    (most as f64 > DIRTY * limit as f64).then(|| {
        let message = format!("up to {} were dirty, and from {} on writers wait (vm.dirty_bytes or vm.dirty_ratio)",
            format_bytes(most), format_bytes(limit));
        let hint = "The kernel then makes writers wait: it is the setting that was measured; compare only with runs under the same.";
        Finding::new("dirty_limit", Severity::Warning, message, hint)
    })
}
