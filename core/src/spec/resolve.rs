//! From what was asked to a full specification.
//!
//! What pgfsbench chooses when it is not given:
//! - clients: 16, but at most 4 a processor, what the free worker slots and `pgfsbench.max_clients` allow, and for `tpcb` with
//!   a given scale no more than branches, so that storage is measured and not row locks; at least 1;
//! - scale: as many as clients, at least 10;
//! - neither duration nor transactions: 20 s;
//! - warm-up: 5 s before a chosen duration; a tenth of a given one, within 1 s and 10 s; none before a given number of
//!   transactions, so that the same seed gives the same final balances;
//! - seed: a random one.
//!
//! For the workload `fsync`:
//! - methods: all; writers: 1, 2, 4 and 8, as far as they fit the free worker slots and `pgfsbench.max_clients`;
//! - duration: 1 s for each test, but at most 40 s.
//!
//! For the workload `scan`:
//! - scale: 10, that is, ten million rows;
//! - degrees: 1, 2, 4, … up to twice the processors (at least 4), within `max_parallel_workers` and the free worker slots; each
//!   5 times;
//! - loaders: as many as processors, at most 8; readers: 1, as many as processors, and the largest degree, within
//!   `pgfsbench.max_clients` and the free worker slots.

use super::{
    Asked, Bound, Facts, Kind, OVERHEAD_WORKERS, Options, Spec, Stage, Workload, check, json,
    kind::check_parameters, scan,
};
use crate::fsync::{self, Method};
use crate::refusal::Refusal;
use crate::units;

/// Of the workload `fsync`: a test when no bound is given, all of them together at most, and the writers that are chosen.
const QUICK_TEST_MS: u64 = 1_000;
const QUICK_TESTS_MS: u64 = 40_000;
const CHOSEN_WRITERS: [u32; 4] = [1, 2, 4, 8];
/// Measured window when no bound is given.
const QUICK_MS: u64 = 20_000;
/// Warm-up before it.
const QUICK_WARMUP_MS: u64 = 5_000;
/// Within which such a run should end: a minute, less what cleaning up may take.
const QUICK_WITHIN_MS: u64 = 55_000;
/// Parameters that every workload has, of those that can be chosen.
const OF_ALL: [&str; 1] = ["seed"];
/// Clients and scale that are chosen.
const CHOSEN_CLIENTS: u32 = 16;
const CHOSEN_CLIENTS_PER_PROCESSOR: u32 = 4;
const CHOSEN_SCALE: u32 = 10;

/// Checks every argument and chooses what was not given. Refuses with `InvalidArgument`, or `NoWorkerSlot` when the server
/// has too few free worker slots for the clients.
pub fn resolve(asked: &Asked, facts: &Facts) -> Result<Spec, Refusal> {
    let target = check::target(asked.target.as_deref(), &facts.targets)?;
    check::keep(asked.keep, &target)?;
    let workload = check::workload(asked.workload.as_deref())?;
    check_parameters(workload, asked)?;
    let kind = workload.kind();
    let mut options = json::options(asked.options.as_ref(), workload)?;
    let scale = given_scale(kind, &options, asked, facts)?;
    let bound = check::bound(asked.duration_us, asked.transactions)?;
    let warmup_ms = check::warmup(asked.warmup_us)?;
    let rate = check::rate(asked.rate)?;
    let latency_limit_ms = check::latency_limit(asked.latency_limit_ms)?;
    let settings = json::settings(asked.settings.as_ref())?;
    check::options(&options, kind, &target)?;
    check::crash(&options, &target, asked, facts)?;
    let label = check::label(asked.label.as_deref())?;
    let mut chosen = chosen_names(workload, asked);
    let mut chosen_there = chosen_there(kind, asked, facts);
    let loaded_scale = match &asked.stage {
        Stage::OnLoaded { scale, .. } => Some(*scale),
        Stage::Whole | Stage::WholeOfTarget | Stage::LoadOnly => None,
    };
    let clients = match (kind, check::clients(asked.clients, facts)?) {
        (Kind::Transactions, Some(clients)) => clients,
        (Kind::Transactions, None) => chosen_clients(workload, scale, facts),
        (Kind::Fsync, _) => {
            choose_tests(&mut options, facts, &mut chosen, &mut chosen_there);
            check::writers(&options, bound, facts)?
        }
        (Kind::Scan, _) => {
            let most = scan::most_degree(&settings, facts);
            let clients = scan::choose(&mut options, facts, most, &mut chosen, &mut chosen_there);
            let scale = loaded_scale.or(scale).unwrap_or(scan::CHOSEN_SCALE);
            let bytes = options.payload.unwrap_or_default().bytes(scale);
            scan::check(&options, clients, most, bytes, &asked.stage, facts)?;
            clients
        }
    };
    match kind {
        Kind::Transactions => check::client_slots(clients, "client", facts)?,
        Kind::Fsync => check::client_slots(clients, "writer", facts)?,
        // Looked at with its degrees.
        Kind::Scan => {}
    }

    let open = bound.is_none() && warmup_ms.is_none() && scale.is_none() && !options.maintenance;
    Ok(Spec {
        target,
        workload,
        scale: match kind {
            Kind::Transactions => loaded_scale.or(scale).unwrap_or(clients.max(CHOSEN_SCALE)),
            Kind::Fsync => 0,
            Kind::Scan => loaded_scale.or(scale).unwrap_or(scan::CHOSEN_SCALE),
        },
        clients,
        bound: bound.unwrap_or(match kind {
            Kind::Transactions => Bound::DurationMs(QUICK_MS),
            Kind::Fsync => Bound::DurationMs(quick_tests_ms(&options)),
            // It ends when all scans are made.
            Kind::Scan => Bound::Transactions(u64::from(options.repeats.unwrap_or(1))),
        }),
        warmup_ms: match kind {
            Kind::Transactions => warmup_ms.unwrap_or(chosen_warmup_ms(bound)),
            Kind::Fsync | Kind::Scan => 0,
        },
        rate,
        latency_limit_ms,
        seed: asked.seed.unwrap_or(facts.random_seed),
        settings,
        options,
        stage: asked.stage.clone(),
        label,
        keep: asked.keep,
        force: asked.force,
        chosen,
        within_ms: (open && kind != Kind::Scan).then_some(QUICK_WITHIN_MS),
        chosen_there,
    })
}

/// The tests of the workload `fsync` that were not given.
fn choose_tests(
    options: &mut Options,
    facts: &Facts,
    chosen: &mut Vec<String>,
    chosen_there: &mut Vec<String>,
) {
    if options.methods.is_empty() {
        options.methods = Method::ALL.to_vec();
        chosen.push("methods".into());
    }
    if options.writers.is_empty() {
        let most = facts.free_worker_slots.saturating_sub(OVERHEAD_WORKERS);
        let most = most.min(facts.max_clients).max(1);
        let fit = CHOSEN_WRITERS.into_iter().filter(|&n| n <= most);
        options.writers = fit.collect();
        chosen.push("writers".into());
        if facts.far {
            chosen_there.push("writers".into());
        }
    }
}

/// How long the tests of a quick look take.
fn quick_tests_ms(options: &Options) -> u64 {
    let tests = fsync::count(&options.methods, &options.writers);
    (tests * QUICK_TEST_MS).min(QUICK_TESTS_MS)
}

fn given_scale(
    kind: Kind,
    options: &Options,
    asked: &Asked,
    facts: &Facts,
) -> Result<Option<u32>, Refusal> {
    match (asked.scale, asked.size.as_deref()) {
        (Some(scale), Some(size)) => Err(check::scale_and_size(scale, size)),
        _ if kind == Kind::Scan => scan::scale(asked, options.payload.unwrap_or_default(), facts),
        (Some(scale), None) => check::scale(scale).map(Some),
        (None, Some(size)) => {
            units::scale_for_size(units::parse_size(size, facts.memory_bytes)?).map(Some)
        }
        (None, None) => Ok(None),
    }
}

fn chosen_clients(workload: Workload, scale: Option<u32>, facts: &Facts) -> u32 {
    let branches = match workload {
        Workload::Tpcb => scale.unwrap_or(u32::MAX),
        Workload::TpcbSimpleUpdate | Workload::SelectOnly | Workload::Fsync | Workload::Scan => {
            u32::MAX
        }
    };
    CHOSEN_CLIENTS
        .min(
            facts
                .processors
                .saturating_mul(CHOSEN_CLIENTS_PER_PROCESSOR),
        )
        .min(facts.free_worker_slots.saturating_sub(OVERHEAD_WORKERS))
        .min(facts.max_clients)
        .min(branches)
        .max(1)
}

fn chosen_warmup_ms(bound: Option<Bound>) -> u64 {
    match bound {
        None => QUICK_WARMUP_MS,
        Some(Bound::DurationMs(ms)) => (ms / 10).clamp(1_000, 10_000),
        Some(Bound::Transactions(_)) => 0,
    }
}

/// What depends on the machine, when that is not this one.
fn chosen_there(kind: Kind, asked: &Asked, facts: &Facts) -> Vec<String> {
    let open = [
        // A size can be one in terms of its RAM.
        ("scale", asked.scale.is_none()),
        ("clients", asked.clients.is_none()),
    ];
    open.into_iter()
        .filter(|(name, open)| facts.far && *open && kind.takes(name))
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn chosen_names(workload: Workload, asked: &Asked) -> Vec<String> {
    let given = [
        ("scale", asked.scale.is_some() || asked.size.is_some()),
        ("clients", asked.clients.is_some()),
        (
            "duration",
            asked.duration_us.is_some() || asked.transactions.is_some(),
        ),
        ("warmup", asked.warmup_us.is_some()),
        ("seed", asked.seed.is_some()),
    ];
    given
        .into_iter()
        .filter(|(name, given)| !given && (OF_ALL.contains(name) || workload.kind().takes(name)))
        .map(|(name, _)| name.to_owned())
        .collect()
}
