//! Shared by the workloads whose clients run transactions.
//!
//! Values that are chosen for arguments that are not given:
//! - clients: 16, but at most 4 a processor, and what the free worker slots, `pgfsbench.max_clients` and the workload allow; at
//!   least 1;
//! - neither duration nor transactions: 20 s; in a search for a rate, a checkpoint cycle for each of its cycles, and as much of warm-up;
//! - warm-up: 5 s before a chosen duration; a tenth of a given one, within 1 s and 10 s; none before a given number of
//!   transactions, so that the same seed gives the same final balances.

use crate::{
    refusal::Refusal,
    spec::{Bound, Chosen, Facts, Given, OVERHEAD_WORKERS, Options, check},
};

/// Parameters of workloads whose tables have a scale.
pub const PARAMETERS: [&str; 12] = [
    "scale",
    "size",
    "clients",
    "duration",
    "transactions",
    "warmup",
    "rate",
    "latency_limit_ms",
    "settings",
    "keep",
    "data",
    "database",
];
/// Measured window when no bound is given.
const QUICK_MS: u64 = 20_000;
/// Warm-up before it.
const QUICK_WARMUP_MS: u64 = 5_000;
/// The shortest cycle of a search that is chosen (VERDICTS.md, part 6).
const LEAST_CYCLE_MS: u64 = 60_000;
/// Clients that are chosen.
const CLIENTS: u32 = 16;
const CLIENTS_PER_PROCESSOR: u32 = 4;

/// Clients, window and warm-up of a run; a choice of clients goes up to this many. The scale, if there is one, is the caller's.
pub fn choose(given: &Given, options: &Options, most_clients: u32) -> Result<Chosen, Refusal> {
    let clients = given
        .clients
        .unwrap_or_else(|| chosen_clients(most_clients, given.facts));
    check::client_slots(clients, "client", given.facts)?;
    if options.sustain > 0.0 && given.bound.is_none() {
        let cycle_ms = given.facts.checkpoint_timeout_ms.max(LEAST_CYCLE_MS);
        return Ok(Chosen {
            clients,
            scale: 0,
            bound: Bound::DurationMs(cycle_ms),
            warmup_ms: given.warmup_ms.unwrap_or(cycle_ms),
        });
    }
    Ok(Chosen {
        clients,
        scale: 0,
        bound: given.bound.unwrap_or(Bound::DurationMs(QUICK_MS)),
        warmup_ms: given.warmup_ms.unwrap_or(chosen_warmup_ms(given.bound)),
    })
}

fn chosen_clients(most: u32, facts: &Facts) -> u32 {
    CLIENTS
        .min(facts.processors.saturating_mul(CLIENTS_PER_PROCESSOR))
        .min(facts.free_worker_slots.saturating_sub(OVERHEAD_WORKERS))
        .min(facts.max_clients)
        .min(most)
        .max(1)
}

fn chosen_warmup_ms(bound: Option<Bound>) -> u64 {
    match bound {
        None => QUICK_WARMUP_MS,
        Some(Bound::DurationMs(ms)) => (ms / 10).clamp(1_000, 10_000),
        Some(Bound::Transactions(_)) => 0,
    }
}
