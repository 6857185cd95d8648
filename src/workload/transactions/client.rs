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
    workload::mix::{Choice, Counted, FailedTry, Outcome, Tries, TypeCounters, grace_ns},
};

use super::{Ended, Transaction};
use crate::{
    bench::QUIET_NS,
    board::RunArea,
    clock,
    errors::{Fault, sqlstate},
    pg::{
        guc,
        plan::Connection,
        points::point,
        process, report, segment,
        usage::{self, Wait},
        xact,
    },
    workload::{ClientContext, client_context::BETWEEN_LOOKS},
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
    let ran = prepare::<T>(context, spec).and_then(|prepared| {
        xact::report_statistics(true);
        if spec.options.sample {
            slot.counts.store(usage::counts().bits(), Relaxed);
        }
        if spec.searched_percentile().is_some() {
            let mut client = Client::new(context, spec, prepared);
            let result = context.each_window_by(
                || uncut(spec, || process::wait(BETWEEN_LOOKS)),
                |_| {
                    uncut(spec, process::check_interrupts)?;
                    client.take_window(spec);
                    client.run()
                },
            );
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
        let result = Client::new(context, spec, prepared).run();
        slot.cpu_ns.store(clock::cpu_ns(), Release);
        result
    });
    xact::report_statistics(true);
    ran
}

/// Carries `f` out between two windows. The order to cut a statement off may come when the statement has just ended.
fn uncut(spec: &Spec, f: impl FnOnce()) -> Result<(), Fault> {
    match xact::catch(f) {
        Err(fault) if fault.sqlstate == sqlstate::CANCELED && grace_ns(spec).is_some() => {
            xact::abort();
            Ok(())
        }
        other => other,
    }
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

fn prepare<'a, T: Transaction<'a>>(
    context: &ClientContext<'a>,
    spec: &Spec,
) -> Result<Prepared<T>, Fault> {
    T::begin_session(context, spec)?;
    report::remember_codes();
    let counted = match context.board.run.counters.load(Acquire) {
        0 => Counted::NONE,
        handle => segment::counters(handle, context.index as usize)?,
    };
    let transaction = xact::transaction(|| {
        let spi = Connection::open();
        let transaction = T::prepare(context, spec, &spi, counted)?;
        spi.close();
        Ok(transaction)
    })?;
    Ok(Prepared {
        transaction,
        types: counted.types,
    })
}

/// The transactions of this client, and the counters of their types.
struct Prepared<T> {
    transaction: T,
    types: &'static [TypeCounters],
}

struct Client<'a, T> {
    serial: u32,
    index: u32,
    slot: &'a ClientSlot,
    run: &'a RunArea,
    transaction: T,
    /// Counters of each transaction type; empty where all transactions are counted together.
    types: &'static [TypeCounters],
    tries: Tries,
    warmup: Stream,
    measure: Stream,
    pacer: Option<Pacer>,
    limit_ns: Option<u64>,
    /// How long statements may go on after the end of the window.
    grace_ns: Option<u64>,
    /// Measured transactions still to do, when their number ends the run.
    left: Option<u64>,
    /// Sends the statistics what was done before the window.
    reporter: Reporter<'a>,
    end_ns: u64,
    /// The transaction that is on.
    current: Option<CurrentTransaction>,
    /// The random numbers before the first try of that transaction; kept where there may be further tries.
    before: Option<Stream>,
    /// Whether a failure was reported to the server's log.
    is_told: bool,
}

/// A transaction that is due.
#[derive(Clone, Copy)]
struct DueTransaction {
    /// From when its latency counts.
    from_ns: u64,
    /// When it starts.
    start_ns: u64,
    measured: bool,
}

/// The transaction that the client carries out now.
#[derive(Clone, Copy)]
struct CurrentTransaction {
    due: DueTransaction,
    choice: Choice,
    /// Further tries that were begun.
    retries: u64,
}

impl<'a, T: Transaction<'a>> Client<'a, T> {
    fn new(context: &ClientContext<'a>, spec: &Spec, prepared: Prepared<T>) -> Self {
        let (index, run) = (context.index, &context.board.run);
        let seed = spec.seed as u64;
        let pacing = Stream::new(seed, index, Purpose::Pacing);
        Self {
            serial: context.serial,
            index,
            slot: context.slot,
            run,
            tries: prepared.transaction.tries(),
            transaction: prepared.transaction,
            types: prepared.types,
            warmup: Stream::new(seed, index, Purpose::Warmup),
            measure: Stream::new(seed, index, Purpose::Measure),
            pacer: spec.rate_per_client().map(|rate| Pacer::new(rate, pacing)),
            limit_ns: spec.latency_limit_ns(),
            grace_ns: grace_ns(spec),
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
            current: None,
            before: None,
            is_told: false,
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
        loop {
            // Errors come out here, so that the loop inside needs no set-up for each transaction.
            match xact::catch(|| self.run_transactions(now)).and_then(|result| result) {
                Ok(()) => return Ok(()),
                Err(fault) => self.take_failure(fault)?,
            }
            now = clock::now_ns();
        }
    }

    /// Runs transactions until the end; first the one that is tried again, if there is one.
    fn run_transactions(&mut self, mut now: u64) -> Result<(), Fault> {
        loop {
            let current = match self.current {
                Some(again) => again,
                None => {
                    let Some(next) = self.begin(now) else {
                        return Ok(());
                    };
                    *self.current.insert(next)
                }
            };
            point!(
                "transaction of the {}",
                match current.due.measured {
                    true => "window",
                    false => "warm-up",
                }
            );
            let random = match current.due.measured {
                true => &mut self.measure,
                false => &mut self.warmup,
            };
            let ended = self
                .transaction
                .transact(current.choice, random, current.due.measured)?;
            self.current = None;
            self.count(current, &ended);
            now = self.wait_after(&current.choice, ended.end_ns);
            self.reporter.report(now);
            process::check_interrupts();
        }
    }

    /// Chooses the next transaction, and waits until it begins; None at the end.
    #[inline]
    fn begin(&mut self, now: u64) -> Option<CurrentTransaction> {
        let mut due = self.next(now)?;
        let random = match due.measured {
            true => &mut self.measure,
            false => &mut self.warmup,
        };
        let choice = self.transaction.choose(random, due.measured);
        if choice.wait_before_ns > 0 {
            due = self.wait_before(due, choice.wait_before_ns)?;
        }
        if self.tries.most > 1 {
            self.before = Some(match due.measured {
                true => self.measure.clone(),
                false => self.warmup.clone(),
            });
        }
        if due.measured && self.slot.started_ns.load(Relaxed) == 0 {
            self.slot.started_ns.store(due.start_ns, Relaxed);
        }
        Some(CurrentTransaction {
            due,
            choice,
            retries: 0,
        })
    }

    /// Waits before a transaction, which begins after the wait; None when the window is over then.
    fn wait_before(&mut self, due: DueTransaction, ns: u64) -> Option<DueTransaction> {
        let mut now = self.wait_until(due.start_ns + ns);
        let measured = now >= self.reporter.start_ns;
        if measured && !due.measured {
            now = self.reporter.before_window(now);
            if let Some(left) = &mut self.left {
                *left = left.checked_sub(1)?;
            }
        }
        (now < self.end_ns && !self.run.stopped(self.serial)).then_some(DueTransaction {
            from_ns: now,
            start_ns: now,
            measured,
        })
    }

    /// Waits after a transaction that ended at `end_ns`; gives the time.
    #[inline]
    fn wait_after(&self, choice: &Choice, end_ns: u64) -> u64 {
        match choice.wait_after_ns {
            0 => end_ns,
            ns => self.wait_until(end_ns + ns),
        }
    }

    /// Waits until then, the end of the window, or the order to stop; gives the time.
    fn wait_until(&self, until_ns: u64) -> u64 {
        let until_ns = until_ns.min(self.end_ns);
        loop {
            let now = clock::now_ns();
            if now >= until_ns || self.run.stopped(self.serial) {
                return now;
            }
            sleep(until_ns - now);
        }
    }

    /// Rolls back the try that has failed. The transaction is tried again or counted; other errors end the run.
    fn take_failure(&mut self, fault: Fault) -> Result<(), Fault> {
        let Some(current) = self.current else {
            xact::abort();
            // The order to cancel may come when the statement has just ended.
            return match self.is_cut_off(&fault) {
                true => Ok(()),
                false => Err(fault),
            };
        };
        let fault = self.transaction.roll_back(fault);
        let can_retry = self.tries.is_retryable(&fault.sqlstate);
        let is_cut_off = self.is_cut_off(&fault);
        if !can_retry && !is_cut_off && !self.tries.continue_on_error {
            return Err(fault);
        }
        let now = clock::now_ns();
        let has_another = self.tries.has_another(&FailedTry {
            retries: current.retries,
            elapsed_ns: now.saturating_sub(current.due.from_ns),
            limit_ns: self.limit_ns,
            is_over: now >= self.end_ns,
        });
        if can_retry && has_another && !self.run.stopped(self.serial) {
            self.try_again(current, &fault);
            return Ok(());
        }
        if !self.is_told {
            report::log_warning(&fault.clone().context("transaction failed"));
            self.is_told = true;
        }
        self.current = None;
        // A statement that was cut off does not prolong the window.
        let ended_ns = match is_cut_off {
            true => now.min(self.end_ns),
            false => now,
        };
        self.count_failed(current, &fault.sqlstate, ended_ns);
        Ok(())
    }

    /// Has a transaction tried once more, with the same random numbers.
    fn try_again(&mut self, current: CurrentTransaction, fault: &Fault) {
        if let Some(before) = &self.before {
            match current.due.measured {
                true => self.measure.clone_from(before),
                false => self.warmup.clone_from(before),
            }
        }
        if current.due.measured
            && let Some(counters) = self.types.get(current.choice.of_type)
        {
            counters.count_retry(&fault.sqlstate);
        }
        self.current = Some(CurrentTransaction {
            retries: current.retries + 1,
            ..current
        });
    }

    /// Whether the coordinator has cancelled a statement, since the window is over for longer than the grace.
    fn is_cut_off(&self, fault: &Fault) -> bool {
        let is_past = |grace_ns| clock::now_ns() >= self.end_ns.saturating_add(grace_ns);
        fault.is_cancel() && self.grace_ns.is_some_and(is_past)
    }

    /// The next transaction, waited for under a rate; None at the end.
    #[inline]
    fn next(&mut self, now: u64) -> Option<DueTransaction> {
        if self.run.stopped(self.serial) {
            return None;
        }
        let Some(pacer) = &mut self.pacer else {
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
            return Some(DueTransaction {
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
            return Some(DueTransaction {
                from_ns,
                start_ns: now,
                measured,
            });
        }
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

    fn count_failed(&mut self, current: CurrentTransaction, sqlstate: &str, ended_ns: u64) {
        self.count_work(current.due.measured);
        if !current.due.measured {
            return;
        }
        if let Some(counters) = self.types.get(current.choice.of_type) {
            counters.count_failed(sqlstate, current.retries);
        }
        add(&self.slot.failed, 1);
        self.slot.last_end_ns.store(ended_ns, Relaxed);
        self.slot.finished_ns.store(ended_ns, Relaxed);
    }

    /// Counts a transaction that was carried out to its end.
    #[inline]
    fn count(&mut self, current: CurrentTransaction, ended: &Ended) {
        let CurrentTransaction { due, choice, .. } = current;
        let Ended {
            outcome, end_ns, ..
        } = *ended;
        let (slot, latency) = (self.slot, end_ns - due.from_ns);
        slot.last_end_ns.store(end_ns, Relaxed);
        if outcome == Outcome::Committed {
            add(&slot.committed, 1);
        }
        if due.measured {
            if let Some(counters) = self.types.get(choice.of_type) {
                let commits = self.transaction.commits(ended);
                counters.count(outcome, latency, commits, current.retries);
            }
            if outcome == Outcome::Committed {
                self.count_committed(due, latency, ended);
            }
            slot.finished_ns.store(end_ns, Relaxed);
        }
        self.count_work(due.measured);
    }

    /// Counts a measured transaction that was committed.
    #[inline]
    fn count_committed(&self, due: DueTransaction, latency: u64, ended: &Ended) {
        let slot = self.slot;
        add(&slot.measured, 1);
        slot.latency.record(latency);
        let commits = self.transaction.commits(ended).iter();
        commits.for_each(|&ns| slot.commit.record(ns));
        if self.pacer.is_some() {
            slot.service.record(ended.end_ns - due.start_ns);
            if is_behind(due.from_ns, due.start_ns) {
                add(&slot.behind, 1);
            }
        }
        if self.limit_ns.is_some_and(|limit| latency > limit) {
            add(&slot.late, 1);
        }
        slot.raise_second_max(latency);
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
