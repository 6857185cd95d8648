//! The search for the sustainable rate, in its run: each cycle is a window of the clients, which stay, and the next one follows from what
//! they have done in it.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use pgfsbench_core::{
    board::{ClientSlot, ClientState},
    run::rate_search::{Counts, Next, RateSearch},
    workload::mix::CutOff,
};

use super::result::Totals;
use crate::{
    bench::{Run, epoch},
    clock,
    errors::{Fault, sqlstate},
};

/// Carries the search out. The first window, without a rate, is on: from `start_ns` to `end_ns`.
pub fn carry_out(
    run: &mut Run,
    search: &mut RateSearch,
    start_ns: u64,
    end_ns: u64,
    grace_ns: Option<u64>,
) -> Result<(), Fault> {
    let (mut window, mut start_ns, mut end_ns) = (1, start_ns, end_ns);
    let mut started_at = run.observed.measured_from;
    let mut before = Totals::none();
    loop {
        wait_for_end(run, window, end_ns, CutOff::new(end_ns, grace_ns))?;
        let now = Totals::of(run.client_slots());
        let over_ns = now.finished_ns.max(end_ns);
        let counts = Counts {
            started_us: (started_at * 1e6) as i64,
            seconds: clock::ms(start_ns, over_ns) / 1000.0,
            ..now.since(&before)
        };
        if !search.record(&counts) {
            return Err(nothing_committed());
        }
        run.board.run.done.store(search.cycles(), Relaxed);
        let Some(next) = search.next() else { break };
        before = now;
        window += 1;
        (start_ns, end_ns) = open(run, window, next);
        started_at = epoch() + next.discarded_seconds;
    }
    run.board.run.rate_bits.store(0, Relaxed);
    run.board.run.probe.store(0, Relaxed);
    run.observed.measure_end_ns = Some(clock::now_ns());
    Ok(())
}

/// Opens the window of a cycle; gives when what is counted begins and ends.
fn open(run: &Run, window: u32, next: Next) -> (u64, u64) {
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    let start_ns = clock::now_ns() + ns(next.discarded_seconds);
    let end_ns = start_ns + ns(next.seconds);
    let area = &run.board.run;
    area.measure_start_ns.store(start_ns, Relaxed);
    area.end_ns.store(end_ns, Relaxed);
    area.rate_bits
        .store(next.rate.unwrap_or(0.0).to_bits(), Relaxed);
    area.probe.store(next.probe as u32, Relaxed);
    run.open_window(window);
    (start_ns, end_ns)
}

/// Waits until the window is over and every client is through with it: under a low rate they know before that nothing more is due.
/// Statements that go on for too long are cut off; their clients take part in the next window.
fn wait_for_end(run: &mut Run, window: u32, end_ns: u64, mut cut_off: CutOff) -> Result<(), Fault> {
    let is_on = |slot: &ClientSlot| slot.windows.load(Acquire) != u64::from(window);
    run.wait_until(|run| {
        let now = clock::now_ns();
        if let Some(order) = cut_off.order(now) {
            run.processes.cut_off(order, is_on);
        }
        // The alarm rings once; after that the last clients wake this process.
        run.alarm_ns = Some(end_ns).filter(|&ns| ns > now).unwrap_or(0);
        let through = !run.client_slots().iter().any(is_on);
        Ok(run.processes.clients_are(ClientState::Ready)? && through && clock::now_ns() >= end_ns)
    })
}

fn nothing_committed() -> Fault {
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "no transaction was committed in the cycle without a rate",
    )
    .detail("The rates that are tried follow from how many there are.")
    .hint("Give a longer duration, which is that of a cycle.")
}
