//! Errors by the order of the runs, and by an end between two looks.

use pgfsbench_core::verdict::compare::{Compared, Verdict, compare};
use pgfsbench_core::verdict::{Reason, Run, order};

use super::baseline::{MARGIN, TARGETS, is_wrong, never_giving_up, planned};
use super::data::{Kind, Random, Setting};
use super::goal_best;
use super::table::Bound::{AtLeast, AtMost};
use super::table::{Bound, Effort, Figure};

/// A target changes the run after it by this share.
const LEFT: f64 = 0.03;

/// How the blocks are ordered.
#[derive(Clone, Copy, Debug)]
enum Order {
    Williams,
    Cyclic,
}

impl Order {
    fn draw(self, k: usize, blocks: usize, random: &mut Random) -> Vec<Vec<usize>> {
        let seed = u64::from(random.whole(0, u32::MAX));
        match self {
            Self::Williams => order::draw(k, blocks, seed),
            Self::Cyclic => {
                let shifts = (0..blocks).map(|block| block % k);
                shifts
                    .map(|s| (0..k).map(|p| (p + s) % k).collect())
                    .collect()
            }
        }
    }
}

/// Whether one A/A experiment, in which settled targets are skipped, says more or less of one.
fn carries_over(k: usize, sigma: f64, order: Order, random: &mut Random) -> bool {
    let leaves: Vec<f64> = (0..k)
        .map(|_| if random.chance(0.5) { LEFT } else { -LEFT })
        .collect();
    let looks = never_giving_up(planned(12));
    let mut runs = vec![Vec::new(); k];
    let (mut found, mut before) = (Vec::new(), 0.0);
    for block in order.draw(k, 12, random) {
        let open = |target: usize| {
            let is_open = |c: &Compared| matches!(c.verdict, Verdict::Inconclusive(_));
            target == 0 || found.get(target - 1).is_none_or(is_open)
        };
        let mut of_block = vec![Run::Missing; k];
        for target in block.into_iter().filter(|&target| open(target)) {
            of_block[target] = Run::Measured(before + sigma * random.normal());
            before = leaves[target];
        }
        for (runs, run) in runs.iter_mut().zip(of_block) {
            runs.push(run);
        }
        found = compare(&runs[0], &runs[1..], MARGIN.ln_1p(), &looks);
    }
    is_wrong(&found, &vec![0.0; k - 1])
}

pub fn carried_over(effort: Effort) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut simulate = |order: Order, k: usize, sigma: f64, bound: Bound| {
        let mut random = Random::new(206);
        let wrong = (0..effort.experiments())
            .filter(|_| carries_over(k, sigma, order, &mut random))
            .count();
        figures.push(Figure {
            row: "18",
            setting: format!("{order:?} order, {} %, {k} targets", sigma * 100.0),
            what: "wrong",
            value: wrong as f64 / effort.experiments() as f64,
            bound,
        });
    };
    for k in effort.some(2, &[5, 4, 3, 6]) {
        for sigma in effort.some(1, &[0.005, 0.015, 0.03]) {
            simulate(Order::Williams, k, sigma, AtMost(0.075));
        }
    }
    simulate(Order::Cyclic, 4, 0.005, AtLeast(0.25));
    figures
}

/// A/A that ends after a random block, and may be extended to the blocks that were planned.
pub fn ended_early(effort: Effort) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (kind, sigma) in effort.some(
        1,
        &[
            (Kind::FirstNoisy, 0.03),
            (Kind::Normal, 0.005),
            (Kind::Normal, 0.03),
            (Kind::Slow, 0.015),
            (Kind::LastNoisy, 0.03),
            (Kind::Clock, 0.015),
        ],
    ) {
        for k in effort.some(1, &TARGETS) {
            for (most, extended, bound) in effort.some(
                2,
                &[
                    (12, false, 0.055),
                    (12, true, 0.065),
                    (24, false, 0.055),
                    (24, true, 0.065),
                ],
            ) {
                let setting = Setting {
                    blocks: most,
                    ..Setting::new(kind, sigma, vec![0.0; k])
                };
                let [baseline, best] = wrong_at_a_random_end(&setting, extended, effort);
                let figure = |what: &'static str, value| Figure {
                    row: "19",
                    setting: format!(
                        "{kind:?} {} %, {k} targets, {most} blocks{}",
                        sigma * 100.0,
                        if extended { ", extended" } else { "" }
                    ),
                    what,
                    value,
                    bound: AtMost(bound),
                };
                figures.extend([figure("wrong", baseline), figure("best out", best)]);
            }
        }
    }
    figures
}

/// Shares that are wrong, of both goals.
fn wrong_at_a_random_end(setting: &Setting, extended: bool, effort: Effort) -> [f64; 2] {
    let mut random = Random::new(208);
    let mut wrong = [0.0; 2];
    for _ in 0..effort.experiments() {
        let runs = setting.draw(&mut random);
        let end = random.whole(3, setting.blocks as u32 - 1);
        let mut looks = planned(setting.blocks).ended(end, Reason::Cancelled);
        if extended {
            looks = looks.extended(end, setting.blocks as u32);
        }
        let looks = never_giving_up(looks);
        let found = compare(&runs[0], &runs[1..], MARGIN.ln_1p(), &looks);
        wrong[0] += f64::from(u8::from(is_wrong(&found, &setting.truth[1..])));
        wrong[1] += f64::from(u8::from(goal_best::first_is_out(&runs, &looks)));
    }
    wrong.map(|n| n / effort.experiments() as f64)
}
