//! Student's t distribution: the upper quantile, for real degrees of freedom.
//!
//! P(T > x) = ½ I_w(f/2, ½) for x > 0, with w = f/(f + x²) and I the regularized incomplete beta function (Abramowitz and Stegun, 26.7.1), by its
//! continued fraction (modified Lentz; Press et al., "Numerical Recipes", 6.4). The quantile is found by Newton's method on ln P against ln x:
//! that is a concave curve, so that it converges from everywhere. Equal to scipy's `t.isf` to 1e-8, relative.

use std::f64::consts::PI;

/// Least upper probability that is answered.
pub const LEAST_P: f64 = 1e-100;
/// Fewest and most degrees of freedom that are answered: with more it is the normal distribution, and digits are lost.
pub const DEGREES: std::ops::RangeInclusive<f64> = 1.0..=1e6;

/// One step of Newton's may multiply x by e to this, so that its square stays finite.
const LONGEST_STEP: f64 = 4.0;

/// The x that a t variable with `degrees` of freedom exceeds with probability `p`. None outside of `LEAST_P` ≤ p < 1 and [`DEGREES`].
pub fn upper_quantile(p: f64, degrees: f64) -> Option<f64> {
    if !(LEAST_P..1.0).contains(&p) || !DEGREES.contains(&degrees) {
        return None;
    }
    Some(match p {
        0.5 => 0.0,
        _ if p > 0.5 => -positive_quantile(1.0 - p, degrees),
        _ => positive_quantile(p, degrees),
    })
}

/// The quantile for probabilities and degrees that are known to be in range, since this package has computed them.
pub(super) fn quantile(p: f64, degrees: f64) -> f64 {
    let degrees = degrees.clamp(*DEGREES.start(), *DEGREES.end());
    positive_quantile(p.clamp(LEAST_P, 0.5), degrees)
}

fn positive_quantile(p: f64, f: f64) -> f64 {
    let wanted = p.ln();
    let mut ln_x = 0.0_f64;
    // Some fifty steps at most for the far tail of one degree of freedom, and about six for what verdicts ask for.
    for _ in 0..200 {
        let x = ln_x.exp();
        let ln_tail = ln_upper_tail(x, f);
        let steepness = (ln_x + ln_density(x, f) - ln_tail).exp();
        let step = ((ln_tail - wanted) / steepness).clamp(-LONGEST_STEP, LONGEST_STEP);
        ln_x += step;
        if step.abs() < 1e-14 * ln_x.abs().max(1.0) {
            break;
        }
    }
    ln_x.exp()
}

/// ln P(T > x) for x > 0; P itself may be too small for a number.
fn ln_upper_tail(x: f64, f: f64) -> f64 {
    let a = f / 2.0;
    let square = x * x;
    let w = f / (f + square);
    let rest = square / (f + square);
    // ln of w^a (1 - w)^½ / B(a, ½)
    let ln_front = -a * (square / f).ln_1p() + (rest.sqrt() * gamma_ratio(a) / PI.sqrt()).ln();
    if w < (a + 1.0) / (a + 2.5) {
        ln_front + (continued_fraction(a, 0.5, w) / f).ln()
    } else {
        (0.5 - ln_front.exp() * continued_fraction(0.5, a, rest)).ln()
    }
}

fn ln_density(x: f64, f: f64) -> f64 {
    let power = -(f + 1.0) / 2.0 * (x * x / f).ln_1p();
    power + (gamma_ratio(f / 2.0) / (PI * f).sqrt()).ln()
}

/// Γ(a + ½) / Γ(a): by the recurrence up to where the asymptotic series (Tricomi and Erdélyi 1951) is exact to the last digits.
fn gamma_ratio(a: f64) -> f64 {
    let (mut a, mut factor) = (a, 1.0);
    while a < 20.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    let b = 1.0 / (a * a);
    let series = -1.0 / 8.0 + b * (1.0 / 192.0 - b * (1.0 / 640.0 - b * 17.0 / 14336.0));
    factor * a.sqrt() * (series / a).exp()
}

/// I_x(a, b) without its front.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let mut c = 1.0;
    let mut d = 1.0 / (1.0 - (a + b) * x / (a + 1.0));
    let mut product = d;
    // About sqrt(a) terms are needed where it converges slowest.
    for m in 1..1_000_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a - 1.0 + 2.0 * m) * (a + 2.0 * m));
        d = 1.0 / (1.0 + even * d);
        c = 1.0 + even / c;
        product *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 1.0 + 2.0 * m));
        d = 1.0 / (1.0 + odd * d);
        c = 1.0 + odd / c;
        product *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}
