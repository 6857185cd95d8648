//! A writer of the workload `fsync`: a client that runs no transactions, and needs no database. It waits for each test of the
//! run, takes part if the test has this many writers, and records how long each sync took in its own slot.

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::Duration,
};

use pgfsbench_core::{
    board::add,
    spec::Spec,
    workload::fsync::{BLOCK_BYTES, MOST_WRITES, Test, tests_of},
};

use super::{
    KIND,
    file::{Blocks, write_failed},
};
use crate::{
    clock,
    errors::Fault,
    pg::{process, xact},
    run::wal_file::WalFile,
    workload::ClientContext,
};

/// A writer's context and file.
struct Writer<'a> {
    context: &'a ClientContext<'a>,
    file: WalFile,
    blocks: Blocks,
}

/// Takes part in the tests of a run until the run ends.
pub fn write(context: &ClientContext, spec: &Spec) -> Result<(), Fault> {
    let writer = Writer {
        context,
        file: WalFile::of_mark(KIND, context.board.run.wal_file.get()),
        blocks: Blocks::new(),
    };
    let tests = tests_of(spec);
    let each_test = || {
        context.each_window(|window| match tests.get(window as usize - 1) {
            Some(test) if context.index < test.writers => writer.take_part(window, test),
            _ => Ok(()),
        })
    };
    let result = xact::catch(each_test).and_then(|result| result);
    context.slot.cpu_ns.store(clock::cpu_ns(), Release);
    result
}

impl Writer<'_> {
    fn take_part(&self, window: u32, test: &Test) -> Result<(), Fault> {
        let slot = self.context.slot;
        for counter in [&slot.measured, &slot.started_ns, &slot.finished_ns] {
            counter.store(0, Relaxed);
        }
        slot.latency.reset();
        let open = self.file.open(test.method)?;
        // Each has blocks of its own.
        let offset = u64::from(self.context.index * MOST_WRITES) * BLOCK_BYTES;
        // Opening syncs the file, which is no part of what the others do meanwhile.
        slot.ready_for.store(u64::from(window), Release);
        self.context.wake_coordinator();
        let Some(start) = self.wait_for_start() else {
            return Ok(());
        };
        let lasts = self
            .context
            .board
            .run
            .end_ns
            .load(Acquire)
            .saturating_sub(start);
        self.wait_until(start);
        let mut from = clock::now_ns();
        slot.started_ns.store(from, Relaxed);
        // One that comes late has its time, too.
        let end = from + lasts;
        loop {
            self.blocks
                .write(&open.file, test.method, test.writes, offset)
                .map_err(|e| write_failed(&self.file, e))?;
            let now = clock::now_ns();
            slot.latency.record(now - from);
            add(&slot.measured, 1);
            slot.finished_ns.store(now, Relaxed);
            from = now;
            process::check_interrupts();
            if now >= end || self.context.stopped() {
                return Ok(());
            }
        }
    }

    /// When all are to begin, once all of them can; None when there is no more to be done.
    fn wait_for_start(&self) -> Option<u64> {
        loop {
            if self.context.stopped() {
                return None;
            }
            match self.context.board.run.measure_start_ns.load(Acquire) {
                0 => process::wait(Duration::from_secs(1)),
                start => return Some(start),
            }
        }
    }

    /// All begin at the same time. It is some milliseconds ahead. Not by one sleep: under many signals the kernel adds to
    /// what is left of it each time.
    fn wait_until(&self, start_ns: u64) {
        loop {
            match start_ns.saturating_sub(clock::now_ns()) {
                0 => return,
                left if left > 2_000_000 => process::wait(Duration::from_nanos(left - 1_000_000)),
                _ => std::thread::yield_now(),
            }
        }
    }
}
