//! The machine.

use super::percent;
use crate::{finding_row::Text, units::format_bytes};

/// The user of saturated processors.
#[derive(Clone, Copy, Debug)]
pub enum Saturating {
    /// Programs that are none of the server.
    Others,
    NotKnown,
    /// The workload, with its own advice.
    Workload(&'static str),
    /// A workload that is not known.
    Run,
}

/// Shares of the time of all processors, 0 to 1.
pub fn cpu_saturated(idle: f64, clients: Option<f64>, by: Saturating) -> Text {
    let clients = clients.map_or(String::new(), |share| {
        format!("; the clients took {} of it", percent(share))
    });
    let message = format!(
        "the processors were idle or waiting for storage in {} of the time{clients}",
        percent(idle)
    );
    let hint = match by {
        Saturating::Others => {
            "Others took much of it (noisy_neighbour): run it again without them."
        }
        Saturating::NotKnown => {
            "It is not known here what other programs took: see what else runs on the machine before you change the run."
        }
        Saturating::Workload(advice) => advice,
        Saturating::Run => "The processors were the limit, not the storage.",
    };
    Text::new("cpu_saturated", message, hint)
}

pub fn steal(share: f64) -> Text {
    let share = percent(share);
    let message = format!("the host took {share} of the processors' time away");
    let hint = "Other virtual machines, or a limit of this one, slow it down: run it again at another time.";
    Text::new("steal", message, hint)
}

pub fn observer_effect(share: f64) -> Text {
    let share = percent(share);
    let message = format!("the sampler used {share} of the processors' time");
    let hint = "What is measured is slowed down by the measuring: compare with a run with options => '{\"sample\": false}'.";
    Text::new("observer_effect", message, hint)
}

/// A share of the processors' time that others took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProcessorShare {
    Exactly(f64),
    AtLeast(f64),
}

/// Processors' time that others took, and the share of the time in which they kept the disk busy.
pub fn noisy_neighbour(processors: Option<ProcessorShare>, disk: Option<f64>) -> Text {
    let processors = processors.map(|taken| {
        let (at_least, share) = match taken {
            ProcessorShare::Exactly(share) => ("", share),
            ProcessorShare::AtLeast(share) => ("at least ", share),
        };
        format!(
            "processes that are none of the server used {at_least}{} of the processors' time",
            percent(share)
        )
    });
    let disk = disk.map(|share| {
        let share = percent(share);
        format!("others kept the disk below the filesystem busy for {share} of the time")
    });
    let parts: Vec<String> = processors.into_iter().chain(disk).collect();
    let hint = "See what else runs on the machine, and run it again without.";
    Text::new("noisy_neighbour", parts.join("; "), hint)
}

pub fn memory_pressure(share: f64) -> Text {
    let share = percent(share);
    let message = format!("something waited for memory in {share} of the time");
    let hint = "The machine has too little memory for what is on it: see shared_buffers, and what else runs.";
    Text::new("memory_pressure", message, hint)
}

/// Signs that the processors were slowed down.
#[derive(Clone, Copy, Debug)]
pub enum Slowed {
    /// The kernel counted it so many times.
    ByHeat(u64),
    /// The clock changed, in MHz.
    Clock { before: f64, after: f64 },
}

pub fn throttled(slowed: Slowed) -> Text {
    let message = match slowed {
        Slowed::ByHeat(times) => {
            format!("processors were slowed down because of heat, {times} times")
        }
        Slowed::Clock { before, after } => {
            format!("the clock of the processors went from {before:.0} to {after:.0} MHz")
        }
    };
    let hint = "Processors that are hot or out of credit slow down: cool them, set the governor to performance, and run it again.";
    Text::new("throttled", message, hint)
}

pub fn governor(name: &str) -> Text {
    let message = format!("the clock of the processors follows the load (governor {name})");
    let hint = "Set the governor to performance while benchmarks run.";
    Text::new("governor", message, hint)
}

pub fn slow_clock(source: &str) -> Text {
    let message = format!("reading the time is slow here (clock source {source})");
    let hint = "Each transaction reads it several times: use tsc, or the clock of the hypervisor.";
    Text::new("slow_clock", message, hint)
}

/// The most dirty memory, and the limit. Bytes.
pub fn dirty_limit(most: u64, limit: u64) -> Text {
    let message = format!(
        "up to {} were dirty, and from {} on writers wait (vm.dirty_bytes or vm.dirty_ratio)",
        format_bytes(most),
        format_bytes(limit)
    );
    let hint = "The kernel then makes writers wait: it is the setting that was measured; compare only with runs under the same.";
    Text::new("dirty_limit", message, hint)
}
