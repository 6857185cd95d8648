//! Histories of nightly runs.

use pgfsbench_core::verdict::nights::{bad_night, change_points};

use super::data::Random;
use super::table::Bound::{AtLeast, AtMost};
use super::table::{Bound, Effort, Figure};

/// ln metric of nights; 5 % of them are slow if that is asked for, and from one on the level is lower.
fn nights(
    random: &mut Random,
    count: usize,
    sigma: f64,
    slow: bool,
    step: Option<(usize, f64)>,
) -> Vec<f64> {
    let night = |at: usize, random: &mut Random| {
        let level = step
            .filter(|(from, _)| at >= *from)
            .map_or(0.0, |(_, by)| -by.ln_1p());
        let odd = if slow && random.chance(0.05) {
            random.slow()
        } else {
            0.0
        };
        level + odd + sigma * random.normal()
    };
    (0..count).map(|at| night(at, random)).collect()
}

fn changes_of(x: &[f64]) -> Vec<(usize, usize)> {
    let x: Vec<Option<f64>> = x.iter().copied().map(Some).collect();
    let changes = change_points(&x);
    changes
        .iter()
        .map(|c| (c.night, c.night + c.seen_after))
        .collect()
}

fn figure(
    row: &'static str,
    sigma: f64,
    slow: bool,
    what: &'static str,
    value: f64,
    bound: Bound,
) -> Figure {
    let kind = if slow { "slow nights" } else { "normal nights" };
    Figure {
        row,
        setting: format!("{kind} {} %", sigma * 100.0),
        what,
        value,
        bound,
    }
}

/// False alarms after a month, in 100 nights.
fn false_alarms(sigma: f64, slow: bool, series: usize) -> f64 {
    let mut random = Random::new(106);
    let alarms = |_| {
        changes_of(&nights(&mut random, 130, sigma, slow, None))
            .into_iter()
            .filter(|c| c.1 > 30)
            .count()
    };
    (0..series).map(alarms).sum::<usize>() as f64 / series as f64
}

/// Median number of nights until a change at night 60 is seen.
fn nights_to_see(sigma: f64, by: f64, series: usize) -> f64 {
    let mut random = Random::new(107);
    let seen = |_| {
        let x = nights(&mut random, 95, sigma, false, Some((60, by)));
        let change = changes_of(&x).into_iter().find(|c| c.1 > 60 && c.0 >= 50);
        change.map_or(99, |c| c.1 - 60)
    };
    let mut seen: Vec<usize> = (0..series).map(seen).collect();
    seen.sort_unstable();
    seen[series / 2] as f64
}

pub fn changes(effort: Effort) -> Vec<Figure> {
    let series = if effort == Effort::All { 300 } else { 100 };
    let mut figures = Vec::new();
    for (sigma, slow, most) in [
        (0.02, false, 0.15),
        (0.05, false, 0.15),
        (0.02, true, 0.2),
        (0.05, true, 0.2),
    ] {
        let alarms = false_alarms(sigma, slow, series);
        figures.push(figure(
            "17",
            sigma,
            slow,
            "false alarms in 100",
            alarms,
            AtMost(most),
        ));
    }
    for (sigma, by, what, most) in [
        (0.02, 0.05, "nights until 5 % is seen", 6.0),
        (0.02, 0.1, "nights until 10 % is seen", 5.0),
        (0.05, 0.1, "nights until 10 % is seen", 9.0),
    ] {
        let value = nights_to_see(sigma, by, series);
        figures.push(figure("17", sigma, false, what, value, AtMost(most)));
    }
    figures
}

/// Shares after 29 nights: normal nights that are suspect, slow ones that are, those cleared by two repeats, and true drops of 20 %.
pub fn bad_nights(effort: Effort) -> Vec<Figure> {
    let series = 10 * effort.experiments();
    let (sigma, mut random) = (0.02, Random::new(209));
    let mut counts = [0.0; 4];
    for _ in 0..series {
        let before = nights(&mut random, 29, sigma, false, None);
        let suspect = |x: f64| bad_night(&before, x, true, 0.05).is_some_and(|n| n.suspect);
        let normal = sigma * random.normal();
        let slow = sigma * random.normal() + random.slow();
        let mut three = [slow, sigma * random.normal(), sigma * random.normal()];
        three.sort_by(f64::total_cmp);
        let seen = [
            suspect(normal),
            suspect(slow),
            suspect(slow) && !suspect(three[1]),
            suspect(normal + 0.8_f64.ln()),
        ];
        for (count, seen) in counts.iter_mut().zip(seen) {
            *count += f64::from(u8::from(seen));
        }
    }
    let [normal, slow, cleared, drop] = counts;
    let n = series as f64;
    vec![
        figure(
            "20",
            sigma,
            false,
            "suspect in 100",
            100.0 * normal / n,
            AtMost(0.2),
        ),
        figure("20", sigma, true, "seen", slow / n, AtLeast(0.98)),
        figure(
            "20",
            sigma,
            true,
            "cleared by repeats",
            cleared / slow,
            AtLeast(0.98),
        ),
        figure(
            "20",
            sigma,
            false,
            "drop of 20 % seen",
            drop / n,
            AtLeast(0.98),
        ),
    ]
}
