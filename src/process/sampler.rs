//! The sampler: wakes once a second, and makes a record of what the clients' slots have counted since.
//!
//! It connects to no database and writes no table: its records go through a ring to the coordinator.

mod machine;
mod watched;

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed},
    time::Duration,
};

use pgfsbench_core::{
    board::{ClientSlot, Figures, Sample, Waits, Work, second_after},
    hist::Histogram,
    proc::Snapshot,
};

use machine::Machine;
use watched::Watched;

use super::frame::{self, Role};
use crate::{
    board::{RunArea, TaskState},
    clock,
    pg::{
        points::point,
        process::{self, Database},
        shmem,
        stat_io::IoBytes,
        xact,
    },
};

const SECOND_NS: u64 = 1_000_000_000;
/// How often the clients are looked at: what they wait for.
const LOOK_NS: u64 = 10_000_000;

/// Whether this process is to end.
fn stopped(run: &RunArea) -> bool {
    run.is_over(frame::serial())
}

/// Main of the background worker; the argument is the number of slots that the run's clients have.
pub fn main(clients: i32, serial: u32) {
    frame::run(
        Role::Sampler,
        serial,
        |_| Ok(Database::None),
        |job| {
            let run = &job.board.run;
            run.sampler.set_state(TaskState::Running);
            let spec = job.board.specification(job.request)?;
            let slots = &shmem::clients()[..clients as usize];
            let watched = Watched::new(run, slots, spec.workload.clients_do());
            xact::catch(|| sample(run, &watched))
        },
    );
}

/// Counters of the slots, at one moment.
#[derive(Clone, Default)]
struct SlotTotals {
    at_ns: u64,
    committed: u64,
    skipped: u64,
    late: u64,
    failed: u64,
    latency: Histogram,
    commit: Histogram,
    work: Work,
    machine: Snapshot,
    io: IoBytes,
}

impl SlotTotals {
    fn now(slots: &[ClientSlot]) -> Self {
        let mut counted = Self::default();
        for slot in slots {
            counted.committed += slot.committed.load(Relaxed);
            counted.skipped += slot.skipped.load(Relaxed);
            counted.late += slot.late.load(Relaxed);
            counted.failed += slot.failed.load(Relaxed);
            slot.latency.read_into(&mut counted.latency);
            slot.commit.read_into(&mut counted.commit);
            counted.work = counted.work.plus(&slot.work.get());
        }
        counted.at_ns = clock::now_ns();
        counted
    }
}

/// When the first second begins; None if the run ends without one. A short run may be over before this process has been scheduled: what it has counted
/// is a record all the same.
fn wait_for_start(run: &RunArea) -> Option<u64> {
    loop {
        // The start is stored before the order to stop, so that this is asked first.
        let is_over = stopped(run);
        match run.sampled_from_ns.load(Acquire) {
            _ if !run.is_current(frame::serial()) => return None,
            0 if is_over => return None,
            0 => process::wait(Duration::from_secs(1)),
            start => return Some(start),
        }
    }
}

// One loop over the seconds of a run, told from its beginning to its end.
#[allow(clippy::too_many_lines)]
fn sample(run: &RunArea, watched: &Watched) {
    point!("sampler before the first second");
    let Some(start) = wait_for_start(run) else {
        return;
    };
    let slots = watched.counting();
    let mut machine = Machine::open(run, watched.staying());
    let counts = ClientSlot::all_count(slots);
    // The seconds of the warm-up are shown in `progress`, and not stored.
    let mut before = SlotTotals::now(slots);
    while !stopped(run) && clock::now_ns() < start {
        let next = (before.at_ns + SECOND_NS).min(start);
        sleep_until(run, next);
        let now = SlotTotals::now(slots);
        show(
            run,
            now.committed - before.committed,
            now.at_ns - before.at_ns,
            0,
        );
        before = now;
    }
    if clock::now_ns() < start {
        // It has ended in its warm-up.
        return;
    }
    before = SlotTotals {
        at_ns: start,
        committed: before.committed,
        ..SlotTotals::default()
    };
    // A run that is over by now has no known start values of the machine.
    if !stopped(run) {
        before.machine = machine.snapshot();
        before.io = IoBytes::now();
    }
    let mut next_look = start;
    // Clients record latencies in the window only, so that nothing of the warm-up has to be taken away.
    let mut second = 0;
    loop {
        let mut waits = Waits::new();
        let until = start + (u64::from(second) + 1) * SECOND_NS;
        while clock::now_ns() < until && !stopped(run) {
            watched.sample(&mut waits);
            next_look = (next_look + LOOK_NS).max(clock::now_ns());
            sleep_until(run, next_look.min(until));
        }
        // Read before counting: what is counted after the stop is complete.
        let last = stopped(run);
        let mut now = SlotTotals::now(slots);
        now.machine = machine.snapshot();
        now.io = IoBytes::now();
        let mut record = difference(second, start, &before, &now, slots);
        record.waits = waits;
        let mut is_empty = record.interval_ns < LOOK_NS;
        if !slots.is_empty() {
            record
                .figures
                .set_work(&now.work.since(&before.work), counts);
            let counted = record.transactions + record.skipped + record.failed;
            is_empty = counted == 0 && now.work == before.work;
        }
        // The record after the stop is empty when the run ended on a full second.
        if !last || !is_empty {
            run.samples.push(&record);
            show(run, record.transactions, record.interval_ns, record.p99_ns);
        }
        if last {
            return;
        }
        second = second_after(second, now.at_ns - start);
        before = now;
    }
}

fn difference(
    second: u32,
    start: u64,
    before: &SlotTotals,
    now: &SlotTotals,
    slots: &[ClientSlot],
) -> Sample {
    let latency = now.latency.since(&before.latency);
    let commit = now.commit.since(&before.commit);
    let percentile = |p| latency.percentile(p).unwrap_or(0.0) as u64;
    let interval_ns = now.at_ns - before.at_ns;
    let mut figures = Figures::new();
    now.machine
        .since(&before.machine, interval_ns, &mut figures);
    now.io.since(&before.io, &mut figures);
    Sample {
        second,
        start_ns: before.at_ns - start,
        interval_ns,
        transactions: latency.count(),
        skipped: now.skipped - before.skipped,
        late: now.late - before.late,
        failed: now.failed - before.failed,
        p50_ns: percentile(0.5),
        p95_ns: percentile(0.95),
        p99_ns: percentile(0.99),
        max_ns: slots
            .iter()
            .map(|slot| slot.take_second_max())
            .max()
            .unwrap_or(0),
        mean_ns: latency.mean_ns().unwrap_or(0.0) as u64,
        commit_p99_ns: commit.percentile(0.99).unwrap_or(0.0) as u64,
        figures,
        waits: Waits::new(),
    }
}

fn show(run: &RunArea, transactions: u64, interval_ns: u64, p99_ns: u64) {
    let tps = transactions as f64 * 1e9 / interval_ns.max(1) as f64;
    run.tps_bits.store(tps.to_bits(), Relaxed);
    run.latency_p99_ns.store(p99_ns, Relaxed);
}

/// Waits until that time or the order to stop.
fn sleep_until(run: &RunArea, until_ns: u64) {
    loop {
        let now = clock::now_ns();
        if now >= until_ns || stopped(run) {
            return;
        }
        process::wait(Duration::from_nanos(until_ns - now));
    }
}
