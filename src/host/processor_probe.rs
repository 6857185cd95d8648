//! A fixed piece of work for one processor, always the same: how fast it is done tells whether the machine is as it was before.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use crate::pg::process::check_interrupts;

/// How long it works.
const LENGTH: Duration = Duration::from_secs(2);
/// Rounds between two looks at the clock: some tens of milliseconds.
const ROUNDS: u64 = 10_000_000;

/// Millions of rounds in a second.
pub fn probe() -> f64 {
    let (start, mut rounds, mut x) = (Instant::now(), 0u64, 0x9e37_79b9_7f4a_7c15_u64);
    while start.elapsed() < LENGTH {
        check_interrupts();
        for _ in 0..ROUNDS {
            // xorshift64: each round needs the one before.
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        x = black_box(x);
        rounds += ROUNDS;
    }
    rounds as f64 / start.elapsed().as_secs_f64() / 1e6
}
