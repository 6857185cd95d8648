//! The result of a run of transactions: the clients' slots added up, and the columns and rows that are made of them.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::{
    board::ClientSlot,
    hist::{Histogram, Measure},
    run::{
        rate_search::{Counts, RateSearch},
        row::{Latencies, Maintenance, Measured},
    },
    seconds, series,
    spec::Spec,
    workload::mix::Results,
};
use serde_json::Value;

use super::ResultRows;
use crate::{
    bench::{Run, finish},
    board::outcome::Outcome,
    clock,
    errors::Fault,
    store,
    watch::cost,
};

/// The clients' slots, added up.
pub struct Totals {
    pub measured: u64,
    outside: u64,
    pub skipped: u64,
    pub late: u64,
    pub failed: u64,
    behind: u64,
    pub finished_ns: u64,
    pub latency: Histogram,
    service: Histogram,
    commit: Histogram,
}

impl Totals {
    pub fn of(slots: &[ClientSlot]) -> Self {
        let sum = |field: fn(&ClientSlot) -> u64| slots.iter().map(field).sum::<u64>();
        let measured = sum(|slot| slot.measured.load(Acquire));
        let mut totals = Self {
            measured,
            outside: sum(|slot| slot.committed.load(Acquire)) - measured,
            skipped: sum(|slot| slot.skipped.load(Acquire)),
            late: sum(|slot| slot.late.load(Acquire)),
            failed: sum(|slot| slot.failed.load(Acquire)),
            behind: sum(|slot| slot.behind.load(Acquire)),
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

    /// The transactions that percentiles of latency are of: under a rate all that were due, of which those that were skipped or have
    /// failed took for ever.
    fn due(&self, spec: &Spec) -> u64 {
        match spec.rate {
            Some(_) => self.measured + self.skipped + self.failed,
            None => self.measured,
        }
    }

    /// Before anything was done.
    pub fn none() -> Self {
        Self::of(&[])
    }

    /// Counts since `before`.
    pub fn since(&self, before: &Self) -> Counts {
        Counts {
            measured: self.measured - before.measured,
            skipped: self.skipped - before.skipped,
            late: self.late - before.late,
            failed: self.failed - before.failed,
            latency: self.latency.since(&before.latency),
            ..Counts::default()
        }
    }
}

/// Results beside those of transactions.
pub struct OtherResults<'a> {
    pub balances: Option<&'a Value>,
    pub maintenance: &'a [Maintenance],
    /// Results of each transaction type, where there are several.
    pub types: Option<Results>,
    pub own: Option<&'a ResultRows>,
}

/// Stores everything in one transaction, the row as `done`, and gives how the run ended.
pub fn store(
    run: &mut Run,
    other: OtherResults,
    search: Option<&RateSearch>,
    phases: Value,
) -> Result<Outcome, Fault> {
    let slots = run.client_slots();
    let totals = Totals::of(slots);
    // The window goes on until its last transaction has ended, and is over when it is over, even if nothing was due.
    let end_ns = totals
        .finished_ns
        .max(run.observed.measure_end_ns.unwrap_or(0));
    let measured_ms = clock::ms(run.observed.measure_start_ns, end_ns);
    run.close_checkpoints(end_ns);
    let seconds = seconds::rates(&run.samples);
    // A search goes through rates of its own choice: what is made of all its seconds together says nothing.
    let is_search = search.is_some();
    let stalls = (!seconds.is_empty() && !is_search).then(|| series::stalls(&seconds));
    let latencies = match is_search {
        true => Latencies::default(),
        false => Latencies::of(&totals.latency, &totals.commit, totals.due(&run.spec)),
    };
    let window = run.observed.window(totals.measured);
    let types = other.types.map(|types| match is_search {
        true => types.without_latencies(),
        false => types.with_rates(measured_ms),
    });
    let measured = Measured {
        measured_ms,
        transactions_total: Some(totals.measured),
        transactions_outside: Some(totals.outside),
        skipped: Some(totals.skipped),
        late: Some(totals.late),
        failed: Some(totals.failed),
        behind: Some(totals.behind),
        tps: (measured_ms > 0.0 && !is_search)
            .then(|| totals.measured as f64 * 1000.0 / measured_ms),
        latencies,
        stall_seconds: stalls.map(|stalls| stalls.stall_seconds),
        zero_seconds: stalls.map(|stalls| stalls.zero_seconds),
        balances: other.balances.cloned(),
        cost: cost::of_transactions(&run.spec, slots, &run.samples, &window),
        sustainable: search.map(RateSearch::found).unwrap_or_default(),
    };
    finish::finish(run, measured, phases, || {
        let id = run.run_id;
        store::insert_samples(id, &run.samples, true)?;
        store::insert_waits(id, &run.samples)?;
        store::insert(id, other.maintenance)?;
        store_of_workload(id, types.as_ref(), other.own)?;
        if let Some(search) = search {
            return store::insert(id, search.probes());
        }
        let store = |measure, histogram| {
            store::insert_histogram(id, run.spec.workload.transaction(), measure, histogram)
        };
        store(Measure::Latency, &totals.latency)?;
        store(Measure::Commit, &totals.commit)?;
        if run.spec.rate.is_some() {
            store(Measure::Service, &totals.service)?;
        }
        Ok(())
    })
}

/// Stores the rows of transaction types, and those of the workload's own.
fn store_of_workload(
    id: i64,
    types: Option<&Results>,
    own: Option<&ResultRows>,
) -> Result<(), Fault> {
    if let Some(types) = types {
        store::insert(id, &types.transactions)?;
        store::insert(id, &types.failures)?;
        store::insert(id, &types.commands)?;
        store::insert(id, &types.histograms)?;
    }
    match own {
        Some(own) => store::insert_array(id, own.table, &own.rows.to_string()),
        None => Ok(()),
    }
}
