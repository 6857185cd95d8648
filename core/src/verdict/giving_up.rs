//! When more blocks would hardly decide a pair: that saves hours, and cannot make an error.

use super::looks::Look;
use super::noise::Noise;
use super::student_t::quantile;

/// Before this there is no giving up.
const FROM: usize = 8;
/// 90 % point of the normal distribution: how much further the mean may still move.
const REACH: f64 = 1.28;

/// True to give up at a look at n = `pairs` blocks, 8 ≤ n < N, with N the most blocks that are planned. With u = s/√n, U = s/√N,
/// f' = f(N − 1)/(n − 1) and a' the level at N: t(a'/parts, f')·U > |x| + 1.28u, so that no direction would be seen, and
/// t(a', f')·U > δ − max(0, |x| − 1.28u), so that it would not be equivalent either. `parts`: the divisor of the level.
pub fn gives_up(look: Look, parts: f64, delta: f64, mean: f64, noise: Noise, pairs: usize) -> bool {
    if pairs < FROM || pairs >= look.horizon as usize {
        return false;
    }
    let (now, last) = (pairs as f64, f64::from(look.horizon));
    let level = look.level_at(look.horizon);
    let freedom = noise.freedom * (last - 1.0) / (now - 1.0);
    let reach = REACH * noise.sd / now.sqrt();
    let error = noise.sd / last.sqrt();
    let no_direction = quantile(level / parts, freedom) * error > mean.abs() + reach;
    let nearest = (mean.abs() - reach).max(0.0);
    no_direction && quantile(level, freedom) * error > delta - nearest
}
