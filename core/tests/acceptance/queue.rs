//! A server with 16 processes under a rate: transactions wait for a free one, some in a slow phase, some behind a stall.

use super::data::Random;

const PROCESSES: usize = 16;

/// Properties of the service.
#[derive(Clone, Copy)]
pub struct Queue {
    /// Seconds of a cycle.
    pub cycle: f64,
    /// Mean time of service in seconds, at a coefficient of variation of 0.5.
    pub service: f64,
    /// Share of the cycle, from its start, in which it is slower, and how many times.
    pub slow: (f64, f64),
    /// Probability of one stall in a cycle, and its mean seconds, with their coefficient of variation.
    pub stall: (f64, f64, f64),
    /// A transaction that starts or ends later than this after its time is a miss.
    pub limit: f64,
}

/// A normal distribution of logarithms with a mean and a coefficient of variation.
fn log_normal(mean: f64, variation: f64, random: &mut Random) -> f64 {
    let sigma = variation.mul_add(variation, 1.0).ln().sqrt();
    (mean.ln() - sigma * sigma / 2.0 + sigma * random.normal()).exp()
}

impl Queue {
    /// Scheduled transactions and misses of a cycle, after 5 % of one that is discarded; `speed` is how many times as fast it is this time.
    pub fn cycle(&self, rate: f64, speed: f64, random: &mut Random) -> (f64, f64) {
        let discarded = 0.05 * self.cycle;
        let (stall, end_of_stall) = self.stall(random);
        let mut free = [0.0_f64; PROCESSES];
        let (mut time, mut scheduled, mut misses) = (0.0, 0u32, 0u32);
        loop {
            time += random.exponential() / rate;
            if time > self.cycle + discarded {
                return (scheduled.into(), misses.into());
            }
            let first = (1..PROCESSES).fold(0, |a, b| if free[b] < free[a] { b } else { a });
            let mut start = free[first].max(time);
            if start >= stall && start < end_of_stall {
                start = end_of_stall;
            }
            let mut late = start - time > self.limit;
            // One that is too late before it starts is skipped.
            if !late {
                let in_slow_phase = (start - discarded) / self.cycle < self.slow.0;
                let times = if in_slow_phase { self.slow.1 } else { 1.0 };
                let mut end = start + times * log_normal(self.service / speed, 0.5, random);
                if start < stall && end > stall {
                    end += end_of_stall - stall;
                }
                free[first] = end;
                late = end - time > self.limit;
            }
            if time >= discarded {
                scheduled += 1;
                misses += u32::from(late);
            }
        }
    }

    fn stall(&self, random: &mut Random) -> (f64, f64) {
        let (probability, mean, variation) = self.stall;
        if mean <= 0.0 || !random.chance(probability) {
            return (f64::INFINITY, f64::INFINITY);
        }
        let length = log_normal(mean, variation, random);
        let begin = self.cycle * random.between(0.55, 0.85);
        (begin, begin + length)
    }
}
