//! The search for a rate, and who cannot keep one.

use pgfsbench_core::verdict::keeping::Scheduled;
use pgfsbench_core::verdict::rate::search::{Search, SearchResult, Sustained};

use super::data::Random;
use super::queue::Queue;
use super::table::Bound::{AtLeast, AtMost};
use super::table::{Bound, Effort, Figure};

const CYCLE: f64 = 40.0;
const Q: f64 = 0.01;
const NOISE: f64 = 0.03;
/// Throughput without a rate.
const FREE: f64 = 910.0;

/// Stalls at a rate: probability in a cycle, and seconds.
type Stalls = fn(f64) -> (f64, f64);

const SCENARIOS: [(&str, Stalls); 4] = [
    ("no stalls", |_| (1.0, 0.0)),
    ("stall of 0.2 s", |_| (1.0, 0.2)),
    ("stall of 0.6 s in one cycle of 3", |_| (1.0 / 3.0, 0.6)),
    ("stall that grows with the rate", |rate| {
        (1.0, 0.8 * (rate / 1000.0_f64).powi(2))
    }),
];
const HOPELESS: Stalls = |_| (1.0, 0.8);

fn cycle(stalls: Stalls, rate: f64, speed: f64, random: &mut Random) -> (f64, f64) {
    let (probability, seconds) = stalls(rate);
    let queue = Queue {
        cycle: CYCLE,
        service: 0.016,
        slow: (0.5, 1.2),
        stall: (probability, seconds, 0.5),
        limit: 0.1,
    };
    queue.cycle(rate, speed, random)
}

/// Where the share of misses crosses q, from many cycles at each of some rates.
fn truth(stalls: Stalls, cycles: usize, random: &mut Random) -> f64 {
    let rates = [
        560.0, 600.0, 640.0, 680.0, 720.0, 760.0, 780.0, 800.0, 820.0,
    ];
    let (mut before, mut highest) = ((0.0, 0.0), 0.0_f64);
    for rate in rates {
        let sums = (0..cycles).map(|_| cycle(stalls, rate, 1.0, random));
        let (scheduled, misses) = sums.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        highest = highest.max(misses / scheduled);
        if highest > Q {
            let (rate_before, share): (f64, f64) = before;
            let way = (Q.ln() - share.ln()) / (highest.ln() - share.ln());
            return rate_before * (rate / rate_before).powf(way);
        }
        before = (rate, highest);
    }
    f64::NAN
}

fn search(stalls: Stalls, seed: u64, random: &mut Random) -> (SearchResult, usize) {
    let mut search = Search::new(FREE * (NOISE * random.normal()).exp(), Q, seed);
    let mut speed = 1.0;
    while let Some(rate) = search.next() {
        if search.begins_probe() {
            speed = (NOISE * random.normal()).exp();
        }
        let (scheduled, misses) = cycle(stalls, rate, speed, random);
        search.record(rate * CYCLE, scheduled, misses);
    }
    (search.found().unwrap(), search.effort().1)
}

fn searched(stalls: Stalls, searches: usize) -> Vec<(SearchResult, usize)> {
    let mut random = Random::new(5);
    (0..searches)
        .map(|i| search(stalls, i as u64, &mut random))
        .collect()
}

fn figure(
    row: &'static str,
    setting: &str,
    what: &'static str,
    value: f64,
    bound: Bound,
) -> Figure {
    Figure {
        row,
        setting: setting.into(),
        what,
        value,
        bound,
    }
}

fn mean_cycles(found: &[(SearchResult, usize)]) -> f64 {
    found.iter().map(|f| f.1 as f64).sum::<f64>() / found.len() as f64
}

fn sustained(found: SearchResult) -> Option<Sustained> {
    match found {
        SearchResult::Rate(found) | SearchResult::NotConfirmed(found) => Some(found),
        SearchResult::None { .. } => None,
    }
}

pub fn searches(effort: Effort) -> Vec<Figure> {
    let (searches, cycles) = if effort == Effort::All {
        (100, 120)
    } else {
        (25, 30)
    };
    let mut figures = Vec::new();
    for (name, stalls) in effort.some(2, &SCENARIOS) {
        let truth = truth(stalls, cycles, &mut Random::new(4));
        let found = searched(stalls, searches);
        let rates: Vec<Sustained> = found.iter().filter_map(|f| sustained(f.0)).collect();
        let share = |of: &dyn Fn(&&Sustained) -> bool| {
            rates.iter().filter(of).count() as f64 / rates.len() as f64
        };
        let over = share(&|s| s.rate > truth * 1.05);
        let holds = share(&|s| (s.low..=s.high).contains(&truth));
        figures.push(figure(
            "16",
            name,
            "over by more than 5 %",
            over,
            AtMost(0.12),
        ));
        figures.push(figure("16", name, "interval holds", holds, AtLeast(0.72)));
        figures.push(figure(
            "16",
            name,
            "cycles",
            mean_cycles(&found),
            AtMost(19.0),
        ));
    }
    let found = searched(HOPELESS, searches);
    let none = found.iter().filter(|f| sustained(f.0).is_none()).count() as f64 / searches as f64;
    figures.push(figure(
        "16",
        "stalls alone exceed 1 %",
        "none",
        none,
        AtLeast(0.78),
    ));
    figures.push(figure(
        "16",
        "stalls alone exceed 1 %",
        "cycles",
        mean_cycles(&found),
        AtMost(19.0),
    ));
    figures
}

/// Runs that have no value: more than 1 % later than 10 s, in a window of 900 s, under a rate of `load` times what can be done.
pub fn keeping(effort: Effort) -> Vec<Figure> {
    let runs = if effort == Effort::All { 400 } else { 20 };
    let mut figures = Vec::new();
    for (load, bound) in [(0.9, AtMost(0.05)), (1.05, AtLeast(0.95))] {
        for stall in [0.0, 5.0] {
            let mut random = Random::new(211);
            let queue = Queue {
                cycle: 900.0,
                service: 0.08,
                slow: (0.0, 1.0),
                stall: (1.0, stall, 0.1),
                limit: 10.0,
            };
            let mut behind = 0;
            for _ in 0..runs {
                let speed = (0.02 * random.normal()).exp();
                let (scheduled, misses) = queue.cycle(200.0 * load, speed, &mut random);
                let scheduled = Scheduled {
                    scheduled: scheduled as u64,
                    not_in_time: misses as u64,
                };
                behind += usize::from(scheduled.behind(Some(99.0)));
            }
            let setting = format!("load {load}, one stall of {stall} s");
            figures.push(figure(
                "21",
                &setting,
                "runs without a value",
                behind as f64 / runs as f64,
                bound,
            ));
        }
    }
    figures
}
