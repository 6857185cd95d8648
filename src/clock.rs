//! The one clock of a run: monotonic, in nanoseconds, the same for all processes of the server.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC.
#[inline]
pub fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds that this process has run on a processor.
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Milliseconds between two readings of [`now_ns`].
pub fn ms(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e6
}

/// Nanoseconds of a reading of the clock: the best of some tries, so that an interruption does not count. The server reads it twice for
/// each thing that it takes the time of.
pub fn read_cost_ns() -> f64 {
    const READS: u32 = 2_000;
    let cost = |_| {
        let start = now_ns();
        for _ in 0..READS {
            std::hint::black_box(now_ns());
        }
        (now_ns() - start) as f64 / f64::from(READS + 1)
    };
    (0..5).map(cost).fold(f64::INFINITY, f64::min)
}
