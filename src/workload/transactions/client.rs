//! A client that runs transactions: prepares its statements, waits for the start, and runs transactions until time or number is reached.
//!
//! A transaction is measured when it starts (under a rate: was due) in the measured window, however long it takes, as
//! pgbench does: a stall at the end of the window is counted.

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::Duration,
};

use pgfsbench_core::{
    board::{ClientSlot, ClientState, Work, add},
    pacing::{Pacer, is_behind, is_missed},
    random::{Purpose, Stream},
    spec::{Bound, Spec},
};

use super::Transaction;
use crate::{
    bench::QUIET_NS,
    board::RunArea,
    clock,
    errors::{Fault, sqlstate},
    pg::{
        guc,
        plan::Connection,
        process, report,
        usage::{self, Wait},
        xact,
    },
    workload::ClientContext,
};

/// One plan for the whole run. A fresh pgbench_branches has one page, so that the planner would scan it sequentially, bloat
/// and all, until some autovacuum makes it plan again: tps then doubles at a random second. The run's `settings` win.
const STABLE_PLANS: [(&str, &str); 2] = [
    ("enable_seqscan", "off"),
    ("plan_cache_mode", "force_generic_plan"),
];

/// Prepares the transactions, waits for the start, and runs them to the end.
pub fn run<'a, T: Transaction<'a>>(context: &ClientContext<'a>, spec: &Spec) -> Result<(), Fault> {
    let slot = context.slot;
    let ran = prepare::<T>(context, spec).and_then(|transaction| {
        xact::report_statistics(true);
        if spec.options.sample {
            slot.counts.store(usage::counts().bits(), Relaxed);
        }
        if spec.searched_percentile().is_some() {
            let mut client = Client::new(context, spec, transaction);
            let result = context.each_window(|_| {
                client.take_window(spec);
                client.run()
            });
            slot.cpu_ns.store(clock::cpu_ns(), Release);
            return result;
        }
        context.ready();
        while context.board.run.go.load(Acquire) == 0 {
            if context.stopped() {
                return Ok(());
            }
            process::wait(Duration::from_secs(1));
        }
        slot.set_state(ClientState::Running);
        let result = Client::new(context, spec, transaction).run();
        slot.cpu_ns.store(clock::cpu_ns(), Release);
        result
    });
    xact::report_statistics(true);
    ran
}

/// Makes the session one of the owner of the extension, with plans that stay.
pub fn become_owner_with_stable_plans(
    context: &ClientContext<'_>,
    spec: &Spec,
) -> Result<(), Fault> {
    process::become_owner(context.request.owner.load(Acquire))?;
    for (name, value) in STABLE_PLANS {
        guc::apply(name, value)?;
    }
    for (name, value) in &spec.settings {
        guc::apply(name, value)?;
    }
    Ok(())
}

fn prepare<'a, T: Transaction<'a>>(context: &ClientContext<'a>, spec: &Spec) -> Result<T, Fault> {
    T::begin_session(context, spec)?;
    xact::transaction(|| {
        let spi = Connection::open();
        let transaction = T::prepare(context, spec, &spi)?;
        spi.close();
        Ok(transaction)
    })
}

struct Client<'a, T> {
    serial: u32,
    index: u32,
    slot: &'a ClientSlot,
    run: &'a RunArea,
    transaction: T,
    warmup: Stream,
    measure: Stream,
    pacer: Option<Pacer>,
    limit_ns: Option<u64>,
    /// Measured transactions still to do, when their number ends the run.
    left: Option<u64>,
    /// Sends the statistics what was done before the window.
    reporter: Reporter<'a>,
    end_ns: u64,
}

/// A transaction that is due.
#[derive(Clone, Copy)]
struct Due {
    /// From when its latency counts.
    from_ns: u64,
    /// When it starts.
    start_ns: u64,
    measured: bool,
}

impl<'a, T: Transaction<'a>> Client<'a, T> {
    fn new(context: &ClientContext<'a>, spec: &Spec, transaction: T) -> Self {
        let (index, run) = (context.index, &context.board.run);
        let seed = spec.seed as u64;
        let pacing = Stream::new(seed, index, Purpose::Pacing);
        Self {
            serial: context.serial,
            index,
            slot: context.slot,
            run,
            transaction,
            warmup: Stream::new(seed, index, Purpose::Warmup),
            measure: Stream::new(seed, index, Purpose::Measure),
            pacer: spec.rate_per_client().map(|rate| Pacer::new(rate, pacing)),
            limit_ns: spec.latency_limit_ns(),
            left: match spec.bound {
                Bound::Transactions(n) => Some(n),
                Bound::DurationMs(_) => None,
            },
            reporter: Reporter {
                slot: context.slot,
                start_ns: run.measure_start_ns.load(Acquire),
                counted: spec.options.sample.then(usage::work),
                quiet_until_ns: 0,
            },
            end_ns: run.end_ns.load(Acquire),
        }
    }

    /// Begins another window: from when to when it goes, and at which rate. The stream of gaps goes on.
    fn take_window(&mut self, spec: &Spec) {
        self.reporter.start_ns = self.run.measure_start_ns.load(Acquire);
        self.end_ns = self.run.end_ns.load(Acquire);
        let rate = f64::from_bits(self.run.rate_bits.load(Acquire)) / f64::from(spec.clients);
        if rate > 0.0 {
            let pacer = self.pacer.get_or_insert_with(|| {
                let stream = Stream::new(spec.seed as u64, self.index, Purpose::Pacing);
                Pacer::new(rate, stream)
            });
            pacer.set_rate(rate);
        }
    }

    /// Runs transactions until the end, a failure, or the order to stop.
    fn run(&mut self) -> Result<(), Fault> {
        let start = clock::now_ns();
        if let Some(pacer) = &mut self.pacer {
            pacer.start(start);
        }
        let mut now = start;
        let mut told = false;
        loop {
            // Errors come out here, so that the loop inside needs no set-up for each transaction.
            let mut current = None;
            let result = xact::catch(|| self.run_transactions(&mut now, &mut current));
            match result.and_then(|result| result) {
                Ok(()) => return Ok(()),
                Err(fault) => {
                    xact::abort();
                    if !sqlstate::is_retryable(&fault.sqlstate) {
                        return Err(fault);
                    }
                    if !told {
                        report::log_warning(&fault.context("transaction failed"));
                        told = true;
                    }
                    now = clock::now_ns();
                    let measured = current.is_some_and(|due: Due| due.measured);
                    self.count_failed(measured, now);
                }
            }
        }
    }

    fn run_transactions(&mut self, now: &mut u64, current: &mut Option<Due>) -> Result<(), Fault> {
        while let Some(due) = self.next(*now) {
            *current = Some(due);
            if due.measured && self.slot.started_ns.load(Relaxed) == 0 {
                self.slot.started_ns.store(due.start_ns, Relaxed);
            }
            let random = if due.measured {
                &mut self.measure
            } else {
                &mut self.warmup
            };
            let ended = self.transaction.transact(random, due.measured)?;
            *now = ended.end_ns;
            if ended.is_committed {
                self.count(due, ended.commit_ns, *now);
                self.count_work(due.measured);
            } else {
                self.count_failed(due.measured, *now);
            }
            self.reporter.report(*now);
            process::check_interrupts();
        }
        Ok(())
    }

    /// The next transaction, waited for under a rate; None at the end.
    #[inline]
    fn next(&mut self, now: u64) -> Option<Due> {
        if self.run.stopped(self.serial) {
            return None;
        }
        let Some(pacer) = &mut self.pacer else {
            let now = self.wait_for_turn(now)?;
            let measured = now >= self.reporter.start_ns;
            let mut now = now;
            if measured {
                now = self.reporter.before_window(now);
                if now >= self.end_ns {
                    return None;
                }
                if let Some(left) = &mut self.left {
                    *left = left.checked_sub(1)?;
                }
            }
            return Some(Due {
                from_ns: now,
                start_ns: now,
                measured,
            });
        };
        let mut now = now;
        loop {
            let from_ns = pacer.next();
            let measured = from_ns >= self.reporter.start_ns;
            if from_ns >= self.end_ns {
                return None;
            }
            if measured && let Some(left) = &mut self.left {
                *left = left.checked_sub(1)?;
            }
            if measured {
                now = self.reporter.before_window(now);
            }
            if is_missed(from_ns, now, self.limit_ns) {
                if measured {
                    add(&self.slot.skipped, 1);
                }
                if self.run.stopped(self.serial) {
                    return None;
                }
                process::check_interrupts();
                continue;
            }
            while now < from_ns {
                if self.run.stopped(self.serial) {
                    return None;
                }
                sleep(from_ns - now);
                now = clock::now_ns();
            }
            return Some(Due {
                from_ns,
                start_ns: now,
                measured,
            });
        }
    }

    /// Waits as long as the workload's clients do between transactions, but not beyond the window. Gives the time; None when the client must
    /// stop.
    #[inline]
    fn wait_for_turn(&mut self, now: u64) -> Option<u64> {
        let wait_ns = self.transaction.wait_ns();
        if wait_ns == 0 {
            return Some(now);
        }
        let until = now.saturating_add(wait_ns).min(self.end_ns);
        let mut now = now;
        while now < until {
            if self.run.stopped(self.serial) {
                return None;
            }
            sleep(until - now);
            now = clock::now_ns();
        }
        Some(now)
    }

    /// Adds the cost of the transaction that is over, by this process's own counters.
    #[inline]
    fn count_work(&mut self, measured: bool) {
        if let Some(counted) = &mut self.reporter.counted {
            let now = usage::work();
            if measured {
                self.slot.work.add(&now.since(counted));
            }
            *counted = now;
        }
    }

    fn count_failed(&mut self, measured: bool, now: u64) {
        self.count_work(measured);
        if measured {
            self.transaction.measured(None);
            add(&self.slot.failed, 1);
            self.slot.last_end_ns.store(now, Relaxed);
            self.slot.finished_ns.store(now, Relaxed);
        }
    }

    /// Counts a transaction whose COMMIT took so long.
    #[inline]
    fn count(&mut self, due: Due, commit_ns: u64, end_ns: u64) {
        let slot = self.slot;
        add(&slot.committed, 1);
        slot.last_end_ns.store(end_ns, Relaxed);
        if !due.measured {
            return;
        }
        let latency = end_ns - due.from_ns;
        self.transaction.measured(Some(latency));
        add(&slot.measured, 1);
        slot.latency.record(latency);
        slot.commit.record(commit_ns);
        if self.pacer.is_some() {
            slot.service.record(end_ns - due.start_ns);
            if is_behind(due.from_ns, due.start_ns) {
                add(&slot.behind, 1);
            }
        }
        if self.limit_ns.is_some_and(|limit| latency > limit) {
            add(&slot.late, 1);
        }
        slot.raise_second_max(latency);
        slot.finished_ns.store(end_ns, Relaxed);
    }
}

/// Sends the server's statistics what this process has done.
struct Reporter<'a> {
    slot: &'a ClientSlot,
    /// The start of the window.
    start_ns: u64,
    /// This process's own counters when its last transaction was over; None when nothing is sampled.
    counted: Option<Work>,
    /// Until when nothing more is sent once it has what was done before the window; 0 before that.
    quiet_until_ns: u64,
}

impl Reporter<'_> {
    /// After a transaction, when it is time.
    #[inline]
    fn report(&mut self, now: u64) {
        if now >= self.quiet_until_ns {
            xact::report_statistics(false);
            self.counted.iter_mut().for_each(usage::after_report);
        }
    }

    /// Called before the first measured transaction: reports statistics of the time before the window, unless that was done, so
    /// that a difference from here on is the window's. Returns the time. Under a low rate that may be long before the window.
    #[inline]
    fn before_window(&mut self, now: u64) -> u64 {
        if self.quiet_until_ns != 0 {
            return now;
        }
        // The time is taken before the report, as the server does: all that was counted up to it is surely reported.
        let reported_ns = clock::now_ns().max(self.start_ns);
        xact::report_statistics(true);
        self.counted.iter_mut().for_each(usage::after_report);
        self.quiet_until_ns = reported_ns + QUIET_NS;
        self.slot.reported_ns.store(reported_ns, Release);
        clock::now_ns()
    }
}

/// Sleeps at most that long; the latch wakes it earlier, for the whole milliseconds of it.
pub fn sleep(ns: u64) {
    if ns > 2_000_000 {
        process::wait(Duration::from_nanos(ns - 1_000_000).min(Duration::from_secs(1)));
    } else {
        process::check_interrupts();
        usage::shown_as_waiting(Wait::Extension, || {
            std::thread::sleep(Duration::from_nanos(ns));
        });
    }
}
