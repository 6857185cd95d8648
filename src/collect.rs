//! What a run comes to: facts gathered along the way, and the rows that are stored at its end.

mod promises;
mod seen;

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::{
    balance::Balances, board::ClientSlot, crash::lsn_text, hist::Histogram, stats,
};
use serde_json::{Value, json};

use crate::{
    clock,
    coordinator::Run,
    cost,
    environment::{self, Environment},
    errors::Fault,
    judgement,
    outcome::Outcome,
    pg::xact,
    store,
};

pub use seen::{Seen, report_before_clients, server_pids};

/// Under this many transactions there is no 99.9th percentile.
const P999_TRANSACTIONS: u64 = 10_000;

/// The clients' slots, added up.
struct Totals {
    measured: u64,
    outside: u64,
    skipped: u64,
    late: u64,
    failed: u64,
    finished_ns: u64,
    latency: Histogram,
    service: Histogram,
    commit: Histogram,
}

impl Totals {
    fn of(slots: &[ClientSlot]) -> Self {
        let sum = |field: fn(&ClientSlot) -> u64| slots.iter().map(field).sum::<u64>();
        let measured = sum(|slot| slot.measured.load(Acquire));
        let mut totals = Self {
            measured,
            outside: sum(|slot| slot.committed.load(Acquire)) - measured,
            skipped: sum(|slot| slot.skipped.load(Acquire)),
            late: sum(|slot| slot.late.load(Acquire)),
            failed: sum(|slot| slot.failed.load(Acquire)),
            finished_ns: slots
                .iter()
                .map(|slot| slot.finished_ns.load(Acquire))
                .max()
                .unwrap_or(0),
            latency: Histogram::new(),
            service: Histogram::new(),
            commit: Histogram::new(),
        };
        for slot in slots {
            slot.latency.read_into(&mut totals.latency);
            slot.service.read_into(&mut totals.service);
            slot.commit.read_into(&mut totals.commit);
        }
        totals
    }
}

/// Stores everything in one transaction, the row as `done`, and gives how the run ended.
pub fn store(
    run: &mut Run,
    slots: &[ClientSlot],
    balances: Option<&Balances>,
    phases: Value,
) -> Result<Outcome, Fault> {
    let totals = Totals::of(slots);
    // The window goes on until its last transaction has ended, and is over when it is over, even if nothing was due.
    let end_ns = totals.finished_ns.max(run.seen.measure_end_ns.unwrap_or(0));
    let measured_ms = clock::ms(run.seen.measure_start_ns, end_ns);
    run.close_checkpoints(end_ns);
    let tps = (measured_ms > 0.0).then(|| totals.measured as f64 * 1000.0 / measured_ms);
    let seconds: Vec<f64> = full_seconds(run);
    let stalls = (!seconds.is_empty()).then(|| stats::stalls(&seconds));
    let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
    let latency = |p| ms(totals.latency.percentile(p));
    let commit = |p| ms(totals.commit.percentile(p));
    let max = |h: &Histogram| ms(h.max().map(|ns| ns as f64));
    let mut columns = json!({
        "measured_ms": measured_ms,
        "transactions_total": totals.measured, "transactions_outside": totals.outside, "skipped": totals.skipped,
        "late": totals.late, "failed": totals.failed, "tps": tps,
        "latency_avg_ms": ms(totals.latency.mean_ns()), "latency_stddev_ms": ms(totals.latency.stddev_ns()),
        "latency_p50_ms": latency(0.5), "latency_p90_ms": latency(0.9), "latency_p95_ms": latency(0.95),
        "latency_p99_ms": latency(0.99),
        "latency_p999_ms": latency(0.999).filter(|_| totals.measured >= P999_TRANSACTIONS),
        "latency_max_ms": max(&totals.latency),
        "commit_avg_ms": ms(totals.commit.mean_ns()), "commit_p50_ms": commit(0.5), "commit_p99_ms": commit(0.99),
        "commit_max_ms": max(&totals.commit),
        "stall_seconds": stalls.as_ref().map(|stalls| stalls.stall_seconds),
        "zero_seconds": stalls.map(|stalls| stalls.zero_seconds),
        "balances": balances,
    });
    let window = cost::Window {
        transactions: totals.measured,
        wal_bytes: run.seen.end_lsn - run.seen.start_lsn,
        blocks: (
            run.seen.blocks_at_start.as_ref(),
            run.seen.blocks_at_end.as_ref(),
        ),
        block_bytes: u64::from(pgrx::pg_sys::BLCKSZ),
    };
    let cost = cost::columns(&run.spec, slots, &run.samples, &window);
    if let (Value::Object(columns), Value::Object(cost)) = (&mut columns, cost) {
        columns.extend(cost);
    }
    finish(run, columns, phases, || {
        let id = run.run_id;
        store::insert_samples(id, &run.samples)?;
        store::insert_waits(id, &run.samples)?;
        store::insert_histogram(id, run.spec.workload.as_str(), &totals.latency)?;
        store::insert_histogram(id, "commit", &totals.commit)?;
        store::insert_rows(id, "maintenance", &run.seen.maintenance)?;
        if run.spec.rate.is_some() {
            store::insert_histogram(id, "service", &totals.service)?;
        }
        Ok(())
    })
}

/// Stores the result of a run of whatever workload, as `done`, in one transaction: the columns that its workload has
/// found (an object), those that every run has, the rows of `measured`, the environment and the findings. Gives how the run
/// ended, as it is stored.
pub fn finish(
    run: &Run,
    columns: Value,
    phases: Value,
    measured: impl FnOnce() -> Result<(), Fault>,
) -> Result<Outcome, Fault> {
    let mut columns = columns;
    columns["status"] = json!("done");
    columns["used"] = json!(run.spec);
    columns["phases"] = phases;
    columns["kept"] = json!(run.spec.keep);
    columns["load_ms"] = json!(run.seen.load_ms);
    columns["data_bytes"] = json!(run.seen.data_bytes);
    columns["xids_used"] =
        json!(run.seen.xid_at_end.unwrap_or_else(xact::next_xid) - run.seen.xid_at_start);
    columns["wal_bytes"] = json!(run.seen.end_lsn - run.seen.start_lsn);
    columns["wal_start_lsn"] = json!(lsn_text(run.seen.start_lsn));
    columns["wal_end_lsn"] = json!(lsn_text(run.seen.end_lsn));
    let checkpoints = run.checkpoints.outcome.as_ref();
    if let Some(outcome) = checkpoints {
        let (timed, requested) = outcome.timed_and_requested().unzip();
        columns["complete_checkpoints"] = json!(outcome.complete);
        columns["checkpoints_timed"] = json!(timed);
        columns["checkpoints_requested"] = json!(requested);
        columns["checkpoints_logged"] = json!(outcome.logged);
    }
    let difference = run.statistics.difference.as_ref();
    let counted =
        difference.and_then(|difference| pgfsbench_core::statistics::checkpoints(&difference.rows));
    if let Some((timed, requested)) = counted
        && columns["checkpoints_timed"].is_null()
    {
        columns["checkpoints_timed"] = json!(timed);
        columns["checkpoints_requested"] = json!(requested);
    }
    let timing = run.statistics.clients();
    columns["track_io_timing"] = json!(timing.map(|timing| timing.io));
    columns["track_wal_io_timing"] = json!(timing.map(|timing| timing.wal));
    columns["clock_read_ns"] = json!(run.seen.clock_read_ns);
    columns["facts"] = facts(run);
    let environment = finished_environment(run);
    xact::transaction(|| {
        let id = run.run_id;
        store::update_run(id, &columns)?;
        store::set_times(id, run.seen.measured_from)?;
        store::insert_rows(id, "environment", &[environment])?;
        if let Some(outcome) = checkpoints {
            store::insert_checkpoints(id, &outcome.of_window.rows)?;
        }
        if let Some(difference) = difference {
            store::insert_rows(id, "statistic", &difference.rows)?;
        }
        store::insert_rows(id, "statement", &run.statements.rows)?;
        measured()?;
        judgement::store(id)
    })
}

/// Transactions per second of each second, without a last one that is shorter than half a second.
fn full_seconds(run: &Run) -> Vec<f64> {
    run.samples
        .iter()
        .filter(|sample| sample.interval_ns >= 500_000_000)
        .map(|sample| sample.tps())
        .collect()
}

/// The environment, with what is known of it at the end.
fn finished_environment(run: &Run) -> Environment {
    let promises = run.seen.promises.as_ref();
    Environment {
        durability: promises.map(|promises| promises.in_words(&run.spec)),
        ..run.seen.environment.clone()
    }
}

/// What is seen of a run and has no column of its own; by the names of the facts that the findings are judged by.
fn facts(run: &Run) -> Value {
    let promises = run.seen.promises.as_ref();
    let place = |location: Option<environment::Location>| location.and_then(|l| l.place());
    let mut facts = json!({
        "reset_views": run.statistics.difference.as_ref().map(|difference| &difference.reset),
        "statements": run.statements.recorded,
        "log_checkpoints": run.checkpoints.outcome.as_ref().map(|outcome| outcome.log_checkpoints),
        "fsync": promises.map(|p| p.fsync),
        "full_page_writes": promises.map(|p| p.full_page_writes),
        "synchronous_commit": promises.map(|p| p.synchronous_commit(&run.spec)),
        "xmin_holders": run.seen.xmin_holders,
        "data_place": place(environment::data_location()),
        "wal_place": place(environment::wal_location()),
    });
    if let (Value::Object(facts), Value::Object(around)) =
        (&mut facts, run.seen.surroundings.facts())
    {
        facts.extend(around);
    }
    facts
}
