//! Goal `baseline`.

use pgfsbench_core::verdict::compare::{Compared, Verdict, compare};
use pgfsbench_core::verdict::looks::Looks;

use super::data::{Kind, Random, Setting};
use super::table::Bound::{AtLeast, AtMost};
use super::table::{Bound, Effort, Figure};

pub const MARGIN: f64 = 0.05;
/// Numbers of targets, with the baseline.
pub const TARGETS: [usize; 3] = [2, 6, 4];

/// ln of a share more.
fn more(share: f64) -> f64 {
    share.ln_1p()
}

/// The second target differs, the others are the same.
fn one_differs(k: usize, by: f64) -> Vec<f64> {
    let mut truth = vec![0.0; k];
    truth[1] = by;
    truth
}

pub fn never_giving_up(mut looks: Looks) -> Looks {
    for look in &mut looks.looks {
        look.horizon = look.blocks;
    }
    looks
}

pub fn planned(max_blocks: usize) -> Looks {
    Looks::planned(max_blocks as u32).unwrap()
}

/// Means over experiments.
#[derive(Default)]
struct Tally {
    /// Some target is said to be more or less, and is not.
    wrong: f64,
    /// The first target is called equivalent.
    equivalent: f64,
    more: f64,
    /// Share of the targets that are called equivalent.
    each_equivalent: f64,
    runs: f64,
    /// All intervals hold the truth.
    hold: f64,
}

fn tally(setting: &Setting, looks: &Looks, effort: Effort) -> Tally {
    let experiments = effort.experiments();
    let mut random = Random::new(100);
    let mut sum = Tally::default();
    for _ in 0..experiments {
        let runs = setting.draw(&mut random);
        let found = compare(&runs[0], &runs[1..], more(MARGIN), looks);
        sum.add(&found, &setting.truth[1..]);
    }
    sum.divided(experiments as f64)
}

impl Tally {
    fn add(&mut self, found: &[Compared], truth: &[f64]) {
        let share = |of: bool| f64::from(u8::from(of));
        let equivalent = |c: &&Compared| c.verdict == Verdict::Equivalent;
        self.wrong += share(is_wrong(found, truth));
        self.equivalent += share(equivalent(&&found[0]));
        self.more += share(found[0].verdict == Verdict::More);
        self.each_equivalent += found.iter().filter(equivalent).count() as f64 / found.len() as f64;
        self.runs += runs_of(found);
        let holds = |(c, x): (&Compared, &f64)| {
            c.estimate.is_some_and(|e| (e.low()..=e.high()).contains(x))
        };
        self.hold += share(found.iter().zip(truth).all(holds));
    }

    fn divided(self, n: f64) -> Self {
        Self {
            wrong: self.wrong / n,
            equivalent: self.equivalent / n,
            more: self.more / n,
            each_equivalent: self.each_equivalent / n,
            runs: self.runs / n,
            hold: self.hold / n,
        }
    }
}

pub fn is_wrong(found: &[Compared], truth: &[f64]) -> bool {
    found.iter().zip(truth).any(|(c, x)| match c.verdict {
        Verdict::More => *x <= 0.0,
        Verdict::Less => *x >= 0.0,
        _ => false,
    })
}

/// The baseline runs as long as one is open.
fn runs_of(found: &[Compared]) -> f64 {
    let blocks = || found.iter().filter_map(|c| c.estimate).map(|e| e.blocks);
    f64::from(blocks().sum::<u32>() + blocks().max().unwrap_or(0))
}

fn figure(
    row: &'static str,
    setting: &Setting,
    what: &'static str,
    value: f64,
    bound: Bound,
) -> Figure {
    let differs = setting.truth.get(1).map_or(0.0, |x| x.exp_m1() * 100.0);
    Figure {
        row,
        setting: format!(
            "{:?} {} %, {} targets, {differs:.0} % more",
            setting.kind,
            setting.sigma * 100.0,
            setting.truth.len()
        ),
        what,
        value,
        bound,
    }
}

/// A/A: what is wrongly said to be more or less, of all targets of an experiment; giving up is off, which is the worst case.
fn wrong(
    row: &'static str,
    kinds: &[Kind],
    noise: &[f64],
    most: f64,
    effort: Effort,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for &kind in kinds {
        for &sigma in noise {
            for k in effort.some(2, &TARGETS) {
                let setting = Setting::new(kind, sigma, vec![0.0; k]);
                let tally = tally(&setting, &never_giving_up(planned(12)), effort);
                figures.push(figure(row, &setting, "wrong", tally.wrong, AtMost(most)));
            }
        }
    }
    figures
}

pub fn normal_noise(effort: Effort) -> Vec<Figure> {
    let noise = effort.some(2, &[0.1, 0.03, 0.015, 0.05, 0.005]);
    wrong("1", &[Kind::Normal], &noise, 0.06, effort)
}

pub fn slow_runs(effort: Effort) -> Vec<Figure> {
    let noise = effort.some(1, &[0.015, 0.005, 0.03, 0.05, 0.1]);
    wrong("2", &[Kind::Slow], &noise, 0.06, effort)
}

pub fn clock_states(effort: Effort) -> Vec<Figure> {
    let noise = effort.some(1, &[0.015, 0.005, 0.03, 0.05, 0.1]);
    wrong("3", &[Kind::Clock], &noise, 0.06, effort)
}

pub fn drift(effort: Effort) -> Vec<Figure> {
    let noise = effort.some(1, &[0.015, 0.005, 0.03]);
    wrong(
        "4",
        &[Kind::Walk, Kind::Drift, Kind::Step],
        &noise,
        0.06,
        effort,
    )
}

pub fn unequal_noise(effort: Effort) -> Vec<Figure> {
    let noise = effort.some(1, &[0.03, 0.005, 0.015, 0.05, 0.1]);
    wrong(
        "5",
        &[Kind::LastNoisy, Kind::FirstNoisy],
        &noise,
        0.065,
        effort,
    )
}

pub fn exactly_the_margin(effort: Effort) -> Vec<Figure> {
    let mut figures = Vec::new();
    for kind in [Kind::Normal, Kind::FirstNoisy] {
        for sigma in effort.some(1, &[0.03, 0.015]) {
            for k in effort.some(2, &TARGETS) {
                let mut truth = vec![more(MARGIN); k];
                truth[0] = 0.0;
                let setting = Setting::new(kind, sigma, truth);
                let tally = tally(&setting, &never_giving_up(planned(12)), effort);
                figures.push(figure(
                    "6",
                    &setting,
                    "each equivalent",
                    tally.each_equivalent,
                    AtMost(0.06),
                ));
            }
        }
    }
    figures
}

/// A figure with its bound.
type Wanted = fn(&Tally, usize) -> Vec<(&'static str, f64, Bound)>;

/// Settings with 2, 4 and 6 targets; `wanted` is given which of the three it is.
fn each_size(
    row: &'static str,
    kind: Kind,
    sigma: f64,
    differs: f64,
    effort: Effort,
    wanted: Wanted,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (size, k) in effort.some(2, &[(0, 2), (1, 4), (2, 6)]) {
        let setting = Setting::new(kind, sigma, one_differs(k, more(differs)));
        let tally = tally(&setting, &planned(12), effort);
        let wanted = wanted(&tally, size).into_iter();
        figures
            .extend(wanted.map(|(what, value, bound)| figure(row, &setting, what, value, bound)));
    }
    figures
}

pub fn same_at_half_a_percent(effort: Effort) -> Vec<Figure> {
    each_size("7", Kind::Normal, 0.005, 0.0, effort, |t, size| {
        vec![
            ("equivalent", t.equivalent, AtLeast(0.98)),
            ("runs", t.runs, AtMost([6.6, 12.7, 19.0][size])),
        ]
    })
}

pub fn same_at_one_and_a_half(effort: Effort) -> Vec<Figure> {
    each_size("8", Kind::Normal, 0.015, 0.0, effort, |t, size| {
        vec![
            ("equivalent", t.equivalent, AtLeast(0.97)),
            ("runs", t.runs, AtMost([10.8, 19.3, 27.8][size])),
        ]
    })
}

pub fn five_percent(effort: Effort) -> Vec<Figure> {
    each_size("9", Kind::Normal, 0.015, 0.05, effort, |t, size| {
        vec![
            ("more", t.more, AtLeast(0.95)),
            ("runs", t.runs, AtMost([11.2, 21.0, 30.0][size])),
        ]
    })
}

pub fn ten_percent_at_three(effort: Effort) -> Vec<Figure> {
    each_size("10", Kind::Normal, 0.03, 0.1, effort, |t, size| {
        vec![
            ("more", t.more, AtLeast(0.97)),
            ("runs", t.runs, AtMost([11.4, 37.6, 58.8][size])),
        ]
    })
}

pub fn much_noise(effort: Effort) -> Vec<Figure> {
    let mut figures = each_size("11", Kind::Normal, 0.05, 0.1, effort, |t, size| {
        vec![("more", t.more, AtLeast([0.89, 0.81, 0.78][size]))]
    });
    figures.extend(each_size("11", Kind::Normal, 0.05, 0.2, effort, |t, _| {
        vec![("more", t.more, AtLeast(0.97))]
    }));
    figures
}

pub fn power_with_slow_runs(effort: Effort) -> Vec<Figure> {
    let mut figures = each_size("12", Kind::Slow, 0.015, 0.0, effort, |t, _| {
        vec![("equivalent", t.equivalent, AtLeast(0.91))]
    });
    figures.extend(each_size("12", Kind::Slow, 0.015, 0.1, effort, |t, _| {
        vec![("more", t.more, AtLeast(0.93))]
    }));
    figures
}

pub fn hopeless(effort: Effort) -> Vec<Figure> {
    let mut figures = each_size("13", Kind::Normal, 0.1, 0.1, effort, |t, _| {
        vec![("equivalent", t.equivalent, AtMost(0.01))]
    });
    figures.extend(each_size(
        "13",
        Kind::Normal,
        0.1,
        0.0,
        effort,
        |t, size| vec![("runs", t.runs, AtMost([18.8, 37.4, 55.3][size]))],
    ));
    figures
}

pub fn intervals(effort: Effort) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (sigma, differs) in
        effort.some(2, &[(0.015, 0.1), (0.03, 0.05), (0.015, 0.05), (0.03, 0.1)])
    {
        figures.extend(each_size(
            "14",
            Kind::Normal,
            sigma,
            differs,
            effort,
            |t, _| vec![("all intervals hold", t.hold, AtLeast(0.95))],
        ));
    }
    for blocks in [1, 2] {
        let mut setting = Setting::new(Kind::Normal, 0.0, one_differs(2, 1.0));
        setting.blocks = blocks;
        let tally = tally(&setting, &planned(12), effort);
        let decided = tally.more + tally.equivalent + tally.wrong;
        figures.push(figure(
            "14",
            &setting,
            "decided after 1 or 2 blocks",
            decided,
            AtMost(0.0),
        ));
    }
    figures
}

/// Runs until the verdict, as a share of those of 12 fixed blocks, over all of this noise and these differences.
pub fn runs_saved(effort: Effort) -> Vec<Figure> {
    let (noise, differences) = ([0.005, 0.015, 0.03], [0.0, 0.05, 0.1, 0.2]);
    let cells = (noise.iter()).flat_map(|sigma| differences.map(|differs| (*sigma, differs)));
    let cells: Vec<(f64, f64)> = cells.collect();
    let saved = |k: usize| {
        let share = |&(sigma, differs): &(f64, f64)| {
            let setting = Setting::new(Kind::Normal, sigma, one_differs(k, more(differs)));
            tally(&setting, &planned(12), effort).runs / (12 * k) as f64
        };
        Figure {
            row: "22",
            setting: format!("Normal 0.5 to 3 %, {k} targets, 0 to 20 % more"),
            what: "runs of 12 fixed blocks",
            value: cells.iter().map(share).sum::<f64>() / cells.len() as f64,
            bound: AtMost(0.5),
        }
    };
    effort.some(2, &TARGETS).into_iter().map(saved).collect()
}
