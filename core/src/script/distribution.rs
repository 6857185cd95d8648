//! Random numbers of the distributions that pgbench's functions have. Bounds and parameters were checked by the caller.

use std::f64::consts::PI;

use super::generator::Generator;

/// Called from time to time by loops that draw until a number is accepted: the place to be interrupted.
pub type Pause = fn();

/// Rejected draws between two pauses.
const PAUSE_AFTER: u32 = 4096;

/// A number of the range whose logarithm of density falls by `parameter` from one end to the other.
pub fn exponential(generator: &mut Generator, low: i64, high: i64, parameter: f64) -> i64 {
    let cut = (-parameter).exp();
    let uniform = 1.0 - generator.unit();
    let part = -(cut + (1.0 - cut) * uniform).ln() / parameter;
    scaled(low, high, part)
}

/// A number of the range by the sine of the Box-Muller transform; draws outside of ±`parameter` are drawn again.
pub fn gaussian(
    generator: &mut Generator,
    low: i64,
    high: i64,
    parameter: f64,
    pause: Pause,
) -> i64 {
    let mut tries = Tries::new(pause);
    let deviation = loop {
        let radius = 1.0 - generator.unit();
        let angle = 1.0 - generator.unit();
        let deviation = (-2.0 * radius.ln()).sqrt() * (2.0 * PI * angle).sin();
        if (-parameter..parameter).contains(&deviation) {
            break deviation;
        }
        tries.rejected();
    };
    scaled(low, high, (deviation + parameter) / (parameter * 2.0))
}

/// A number of the range by the rejection method for Zipf's distribution (Devroye, "Non-Uniform Random Variate Generation", 1986, page 550).
pub fn zipfian(generator: &mut Generator, low: i64, high: i64, s: f64, pause: Pause) -> i64 {
    let count = high.wrapping_sub(low).wrapping_add(1);
    if count <= 1 {
        return low;
    }
    let (power, b) = (s - 1.0, 2f64.powf(s - 1.0));
    let mut tries = Tries::new(pause);
    let x = loop {
        let u = generator.unit();
        let v = generator.unit();
        let x = u.powf(-1.0 / power).floor();
        let t = (1.0 + 1.0 / x).powf(power);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= count as f64 {
            break x;
        }
        tries.rejected();
    };
    low.wrapping_sub(1).wrapping_add(x as i64)
}

/// The number at `part` (from 0 to below 1) of the range.
fn scaled(low: i64, high: i64, part: f64) -> i64 {
    let count = high.wrapping_sub(low).wrapping_add(1) as f64;
    low.wrapping_add((count * part) as i64)
}

struct Tries {
    left: u32,
    pause: Pause,
}

impl Tries {
    fn new(pause: Pause) -> Self {
        Self {
            left: PAUSE_AFTER,
            pause,
        }
    }

    #[inline]
    fn rejected(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.left = PAUSE_AFTER;
            (self.pause)();
        }
    }
}
