//! Goal `best`.

use pgfsbench_core::verdict::Run;
use pgfsbench_core::verdict::best::{Ranked, Standing, best};
use pgfsbench_core::verdict::looks::Looks;

use super::baseline::{MARGIN, never_giving_up, planned};
use super::data::{Kind, Random, Setting};
use super::table::Bound::{AtLeast, AtMost};
use super::table::{Bound, Effort, Figure};

/// How true levels lie.
#[derive(Clone, Copy, Debug)]
enum Lead {
    /// One is ahead of all others.
    One,
    /// Two are.
    Two,
    /// Each is ahead of the next one.
    Steps,
}

impl Lead {
    fn truth(self, k: usize, by: f64) -> Vec<f64> {
        let ln = by.ln_1p();
        let ahead = |n| (0..k).map(|i| if i < n { ln } else { 0.0 }).collect();
        match self {
            Self::One => ahead(1),
            Self::Two => ahead(2),
            Self::Steps => (0..k).map(|i| -ln * i as f64).collect(),
        }
    }
}

/// Means over experiments.
#[derive(Default)]
struct Tally {
    /// The best, or one within the margin of it, is in the answer.
    inside: f64,
    /// The first one is out.
    first_out: f64,
    /// Share of the targets within the margin of the best, itself among them, that are out.
    near_out: f64,
    /// Share of the targets beyond the margin that are called equivalent.
    far_equivalent: f64,
    /// Nothing is open.
    decided: f64,
    /// The named target is within the margin, as a share of the decided experiments.
    named: f64,
    runs: f64,
}

pub fn first_is_out(runs: &[Vec<Run>], looks: &Looks) -> bool {
    best(runs, MARGIN.ln_1p(), looks)[0].standing == Standing::Out
}

fn tally(setting: &Setting, looks: &Looks, experiments: usize) -> Tally {
    let mut random = Random::new(205);
    let mut sum = Tally::default();
    for _ in 0..experiments {
        let runs = setting.draw(&mut random);
        sum.add(&best(&runs, MARGIN.ln_1p(), looks), &setting.truth, looks);
    }
    sum.named /= sum.decided.max(1.0);
    let mean = |sum: f64| sum / experiments as f64;
    Tally {
        inside: mean(sum.inside),
        first_out: mean(sum.first_out),
        near_out: mean(sum.near_out),
        far_equivalent: mean(sum.far_equivalent),
        decided: mean(sum.decided),
        named: sum.named,
        runs: mean(sum.runs),
    }
}

impl Tally {
    fn add(&mut self, found: &[Ranked], truth: &[f64], looks: &Looks) {
        let top = truth.iter().copied().fold(f64::MIN, f64::max);
        let near: Vec<bool> = truth
            .iter()
            .map(|x| *x >= top - MARGIN.ln_1p() + 1e-9)
            .collect();
        let share = |yes: bool| f64::from(u8::from(yes));
        let among = |of: &dyn Fn(usize) -> bool, said: &dyn Fn(&Ranked) -> bool| {
            let of: Vec<usize> = (0..truth.len()).filter(|i| of(*i)).collect();
            of.iter().filter(|i| said(&found[**i])).count() as f64 / of.len().max(1) as f64
        };
        let out = |r: &Ranked| r.standing == Standing::Out;
        let inside = (0..truth.len()).any(|i| near[i] && found[i].standing.is_in_answer());
        self.inside += share(inside);
        self.first_out += share(out(&found[0]));
        self.near_out += among(&|i| near[i], &out);
        self.far_equivalent += among(&|i| !near[i], &|r| r.standing == Standing::Equivalent);
        let named = found.iter().position(|r| r.standing == Standing::Best);
        self.decided += share(named.is_some());
        self.named += share(named.is_some_and(|i| near[i]));
        self.runs += runs_of(found, looks);
    }
}

/// One that was equivalent and ran again counts as if it had run all the time, which is rare.
fn runs_of(found: &[Ranked], looks: &Looks) -> f64 {
    let blocks: Vec<Option<u32>> = found.iter().map(|r| r.estimate.map(|e| e.blocks)).collect();
    let last = blocks.iter().flatten().max().copied();
    let last = last.unwrap_or_else(|| looks.looks.last().map_or(0, |l| l.blocks));
    blocks.iter().map(|b| f64::from(b.unwrap_or(last))).sum()
}

fn figure(
    row: &'static str,
    setting: &Setting,
    what: &'static str,
    value: f64,
    bound: Bound,
) -> Figure {
    let levels: Vec<String> = setting
        .truth
        .iter()
        .map(|x| format!("{:.1}", x.exp_m1() * 100.0))
        .collect();
    Figure {
        row,
        setting: format!(
            "{:?} {} %, levels {} %",
            setting.kind,
            setting.sigma * 100.0,
            levels.join(" ")
        ),
        what,
        value,
        bound,
    }
}

pub fn in_the_answer(effort: Effort) -> Vec<Figure> {
    let kinds = [
        (Kind::Normal, 0.985),
        (Kind::FirstNoisy, 0.98),
        (Kind::Clock, 0.97),
        (Kind::LastNoisy, 0.98),
        (Kind::Slow, 0.985),
    ];
    let mut figures = Vec::new();
    for (kind, least) in effort.some(3, &kinds) {
        for sigma in effort.some(1, &[0.03, 0.015, 0.005, 0.05]) {
            for k in effort.some(1, &[4, 3, 5, 6]) {
                for by in effort.some(2, &[0.05, 0.1, 0.0, 0.025, 0.075]) {
                    for lead in effort.some(1, &[Lead::Steps, Lead::One, Lead::Two]) {
                        let setting = Setting::new(kind, sigma, lead.truth(k, by));
                        let tally = tally(&setting, &planned(12), effort.experiments() / 2);
                        figures.push(figure(
                            "15",
                            &setting,
                            "in the answer",
                            tally.inside,
                            AtLeast(least),
                        ));
                    }
                }
            }
        }
    }
    figures
}

pub fn wrongly(effort: Effort) -> Vec<Figure> {
    let kinds = [
        (Kind::Normal, 0.035, 0.045),
        (Kind::FirstNoisy, 0.065, 0.07),
        (Kind::LastNoisy, 0.065, 0.07),
    ];
    let mut figures = Vec::new();
    for (kind, out, equivalent) in effort.some(2, &kinds) {
        for sigma in effort.some(1, &[0.03, 0.015, 0.005, 0.05]) {
            for k in effort.some(1, &[4, 3, 6]) {
                let looks = never_giving_up(planned(12));
                let same = Setting::new(kind, sigma, vec![0.0; k]);
                let same_tally = tally(&same, &looks, effort.experiments());
                figures.push(figure(
                    "15a",
                    &same,
                    "first is out",
                    same_tally.first_out,
                    AtMost(out),
                ));
                let behind = Setting::new(kind, sigma, Lead::One.truth(k, MARGIN));
                let tally = tally(&behind, &looks, effort.experiments());
                figures.push(figure(
                    "15a",
                    &behind,
                    "each equivalent",
                    tally.far_equivalent,
                    AtMost(equivalent),
                ));
            }
        }
    }
    figures
}

pub fn close(effort: Effort) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (sigma, most) in [(0.015, 0.025), (0.03, 0.075)] {
        for k in effort.some(1, &[4, 3, 6]) {
            let setting = Setting::new(Kind::Normal, sigma, Lead::One.truth(k, 0.025));
            let tally = tally(&setting, &planned(12), effort.experiments());
            figures.push(figure(
                "15b",
                &setting,
                "each out",
                tally.near_out,
                AtMost(most),
            ));
        }
        for by in effort.some(1, &[0.05, 0.025, 0.075, 0.1]) {
            let setting = Setting::new(Kind::Normal, sigma, Lead::One.truth(4, by));
            let tally = tally(&setting, &planned(12), effort.experiments());
            if tally.decided > 0.1 {
                figures.push(figure(
                    "15b",
                    &setting,
                    "named is within the margin",
                    tally.named,
                    AtLeast(0.965),
                ));
            }
        }
    }
    figures
}

pub fn runs(effort: Effort) -> Vec<Figure> {
    let cells = [
        (0.015, 0.0, [16.0, 20.9, 31.8]),
        (0.015, 0.1, [10.5, 14.2, 21.4]),
        (0.03, 0.1, [16.0, 22.2, 34.4]),
    ];
    let mut figures = Vec::new();
    for (sigma, by, most) in cells {
        for (size, k) in effort.some(2, &[(0, 3), (1, 4), (2, 6)]) {
            let setting = Setting::new(Kind::Normal, sigma, Lead::One.truth(k, by));
            let tally = tally(&setting, &planned(12), effort.experiments());
            figures.push(figure(
                "15c",
                &setting,
                "runs",
                tally.runs,
                AtMost(most[size]),
            ));
            figures.push(figure(
                "15c",
                &setting,
                "decided",
                tally.decided,
                AtLeast(0.97),
            ));
        }
    }
    figures
}
