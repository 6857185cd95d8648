//! Fixed vectors, computed apart from this code with scipy 1.17 and numpy; never to be changed.

use super::delta;
use crate::verdict::best::{Ranked, Standing, best};
use crate::verdict::compare::{Compared, Verdict, compare};
use crate::verdict::looks::{LOOKS, Looks, level};
use crate::verdict::needed::blocks_needed;
use crate::verdict::nights::{bad_night, change_points, split};
use crate::verdict::order::arrange;
use crate::verdict::rate::Cycle;
use crate::verdict::rate::estimate::estimate;
use crate::verdict::set_aside::set_aside;
use crate::verdict::student_t::upper_quantile;
use crate::verdict::{Reason, Run};

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    let off = (found - expected).abs() / expected.abs();
    assert!(off < tolerance, "{found} is not {expected}");
}

#[track_caller]
fn same(found: f64, expected: f64) {
    near(found, expected, 1e-6);
}

fn t(p: f64, f: f64) -> f64 {
    upper_quantile(p, f).unwrap()
}

/// A row a target, of a list with a row a block.
fn by_target(blocks: &[[f64; 4]]) -> Vec<Vec<Run>> {
    (0..4)
        .map(|target| blocks.iter().map(|b| Run::Measured(b[target])).collect())
        .collect()
}

#[test]
fn students_t_is_that_of_scipy() {
    let table = include_str!("student_t.txt");
    let mut lines = 0;
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let numbers: Vec<f64> = line.split(' ').map(|x| x.parse().unwrap()).collect();
        near(t(numbers[0], numbers[1]), numbers[2], 1e-8);
        lines += 1;
    }
    assert!(lines > 300, "{lines}");
}

/// A paired sample of six, as ratio with its intervals, and what more it would take.
#[test]
fn six_pairs() {
    let a = [10512.0, 10330.0, 10740.0, 10455.0, 10602.0, 10391.0_f64];
    let b = [10008.0, 10101.0, 10149.0, 9987.0, 10066.0, 10120.0_f64];
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a / b).ln()).collect();
    let kept = set_aside(&d);
    let sd = kept.variance.sqrt();
    same(kept.mean, 0.042_042_029_386);
    same(sd, 0.014_156_482_220);
    assert_eq!(kept.count, 6);
    let error = sd / 6.0_f64.sqrt();
    let ratio = |width: f64| (kept.mean + width).exp();
    same(ratio(0.0), 1.042_938_312);
    same(ratio(-t(0.025, 5.0) * error), 1.027_558_615);
    same(ratio(t(0.025, 5.0) * error), 1.058_548_200);
    same(ratio(-t(0.05, 5.0) * error), 1.030_863_025);
    same(ratio(t(0.05, 5.0) * error), 1.055_155_045);
    // Two one-sided tests: p is that whose quantile just reaches the margin.
    same(t(0.147_801_732, 5.0) * error, delta() - kept.mean);
    assert_eq!(blocks_needed(kept.mean, sd, 1, delta()), Some(5));
    assert_eq!(blocks_needed(kept.mean, sd, 3, delta()), Some(6));
}

#[test]
fn one_slow_run_is_set_aside() {
    let d = [0.021, 0.014, -0.297, 0.018, 0.009, 0.025, 0.016, 0.012];
    let kept = set_aside(&d);
    assert_eq!(kept.count, 7);
    assert_eq!(kept.kept.iter().position(|k| !k), Some(2));
    same(kept.mean, 0.016_428_571_429);
    let sd = kept.variance.sqrt();
    same(sd, 0.005_442_338_433);
    same(t(0.005, 6.0) * sd / 7.0_f64.sqrt(), 0.007_626_218_656);
}

#[test]
fn quantiles_of_the_looks() {
    let check = |m: f64, n: u32, direction: f64, equivalence: f64| {
        let f = f64::from(n - 1) * m / (1.0 + (m - 1.0) / 4.0);
        same(t(level(n) / 2.0 / m, f), direction);
        same(t(level(n), f), equivalence);
    };
    let one = [
        (3, 9.924_843_201, 6.964_556_734),
        (4, 5.840_909_310, 4.540_702_859),
        (6, 4.032_142_984, 3.364_929_999),
        (8, 3.499_483_297, 2.997_951_567),
        (12, 3.105_806_516, 2.718_079_184),
        (16, 3.286_038_571, 2.946_712_883),
        (24, 3.103_996_963, 2.807_335_684),
    ];
    for (n, direction, equivalence) in one {
        check(1.0, n, direction, equivalence);
    }
    check(3.0, 3, 6.254_070_519, 3.746_947_388);
    check(3.0, 6, 3.827_337_475, 2.763_769_458);
    check(3.0, 12, 3.290_887_519, 2.508_324_553);
    check(5.0, 3, 5.893_429_531, 3.364_929_999);
    check(5.0, 4, 4.630_319_094, 2.943_099_323);
    check(5.0, 8, 3.627_550_223, 2.559_430_243);
    check(5.0, 12, 3.414_466_808, 2.469_846_983);
}

/// ln metric of a baseline and three targets.
const TO_BASELINE: [[f64; 4]; 6] = [
    [9.203, 9.342, 9.253, 9.161],
    [9.229, 9.368, 9.255, 9.212],
    [9.204, 9.341, 9.276, 9.195],
    [9.195, 9.337, 9.267, 9.198],
    [9.209, 9.340, 9.262, 8.876],
    [9.213, 9.353, 9.265, 9.207],
];

fn compared(blocks: usize) -> Vec<Compared> {
    let rows = by_target(&TO_BASELINE[..blocks]);
    compare(&rows[0], &rows[1..], delta(), &Looks::planned(12).unwrap())
}

#[test]
fn three_targets_against_a_baseline() {
    let running = Verdict::Inconclusive(Reason::Running);
    let said = |blocks| {
        compared(blocks)
            .iter()
            .map(|c| c.verdict)
            .collect::<Vec<_>>()
    };
    let widths = |blocks| {
        let widths = compared(blocks)
            .into_iter()
            .map(|c| c.estimate.unwrap().half_width);
        widths.collect::<Vec<_>>()
    };
    assert_eq!(said(2), [running; 3]);
    assert_eq!(said(3), [Verdict::More, running, running]);
    for (found, expected) in
        widths(3)
            .into_iter()
            .zip([0.061_654_219_9, 0.083_074_314_9, 0.062_157_337])
    {
        same(found, expected);
    }
    assert_eq!(said(4), [Verdict::More, running, Verdict::Equivalent]);
    same(widths(4)[1], 0.055_189_424_2);
    same(compared(4)[1].estimate.unwrap().mean, 0.055);
    same(widths(4)[2], 0.047_878_120_2);
    same(compared(4)[2].estimate.unwrap().mean, -0.016_25);
    // No verdict comes between two looks.
    assert_eq!(compared(5), compared(4));
    assert_eq!(said(6), [Verdict::More, Verdict::More, Verdict::Equivalent]);
    let last = compared(6);
    same(last[1].estimate.unwrap().mean, 0.054_166_666_7);
    same(last[1].estimate.unwrap().half_width, 0.030_995_818_8);
    // A settled verdict stays, whatever ran later.
    assert_eq!((last[0], last[2]), (compared(3)[0], compared(4)[2]));
    assert_eq!(
        last.iter()
            .map(|c| c.estimate.unwrap().blocks)
            .collect::<Vec<_>>(),
        [3, 6, 4]
    );
    let d: Vec<f64> = TO_BASELINE.iter().map(|b| b[3] - b[0]).collect();
    assert_eq!(set_aside(&d).kept, [true, true, true, true, false, true]);
}

const NIGHTS: [f64; 18] = [
    0.004, -0.011, 0.009, 0.002, -0.006, 0.013, -0.003, 0.007, -0.009, 0.001, 0.005, -0.002, 0.240,
    -0.007, 0.003, -0.052, -0.047, -0.061,
];

#[test]
fn eighteen_nights() {
    for (nights, expected) in [
        (13, 1.250_828_928),
        (16, 1.758_033_460),
        (17, 2.609_423_066),
        (18, 5.135_489_248),
    ] {
        let split = split(&NIGHTS[..nights]).unwrap();
        same(split.t, expected);
        assert_eq!(split.is_change(), nights == 18);
    }
    assert_eq!(split(&NIGHTS[..10]), None);
    let mut history: Vec<Option<f64>> = NIGHTS.iter().copied().map(Some).collect();
    let found = change_points(&history);
    assert_eq!(
        (found.len(), found[0].night, found[0].seen_after),
        (1, 15, 3)
    );
    same(found[0].after - found[0].before, -0.054);
    // A night without a run is not counted, and nothing is filled in.
    history.insert(14, None);
    assert_eq!(change_points(&history)[0].night, 16);
    history.truncate(18);
    assert_eq!(change_points(&history), []);
}

#[test]
fn one_bad_night() {
    let before = &NIGHTS[..12];
    let night = |x| bad_night(before, x, true, 0.05).unwrap();
    same(night(-0.0472).worse, 0.0487);
    same(night(-0.0474).worse, 0.0489);
    assert_eq!(
        (night(-0.0472).suspect, night(-0.0474).suspect),
        (false, true)
    );
    assert_eq!(bad_night(&before[..9], -0.5, true, 0.05), None);
    // Where less is better it is the other way round.
    let worse: Vec<f64> = before.iter().map(|x| -x).collect();
    assert!(bad_night(&worse, 0.0474, false, 0.05).unwrap().suspect);
}

#[test]
fn five_rates() {
    let cycles: Vec<Cycle> = [
        (400.0, 24000.0, 12.0),
        (560.0, 33600.0, 118.0),
        (640.0, 12800.0, 1100.0),
        (600.0, 36000.0, 290.0),
        (620.0, 24800.0, 330.0),
    ]
    .map(|(rate, scheduled, misses)| Cycle {
        rate,
        scheduled,
        misses,
    })
    .into();
    same(estimate(&cycles, 0.01).unwrap(), 608.536_063);
    same(estimate(&cycles, 0.0001).unwrap(), 400.0 / 1.06);
    same(estimate(&cycles, 0.5).unwrap(), 640.0);
    assert_eq!(estimate(&[], 0.01), None);
}

#[test]
fn williams_squares() {
    let digits =
        |text: &str| -> Vec<usize> { text.bytes().map(|b| usize::from(b - b'0')).collect() };
    let blocks = |permutation: &str, shifts: &str| -> String {
        let blocks = arrange(&digits(permutation), &digits(shifts));
        let words = blocks
            .iter()
            .map(|b| b.iter().map(usize::to_string).collect::<String>());
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(blocks("201", "102210"), "012 201 120 021 210 102");
    assert_eq!(blocks("2031", "1302"), "0321 1230 2013 3102");
    assert_eq!(
        blocks("41032", "3041202143"),
        "32041 41203 24310 10432 03124 30214 42130 23401 01342 14023"
    );
}

/// ln metric of four targets.
const CANDIDATES: [[f64; 4]; 6] = [
    [9.208, 9.213, 9.144, 9.048],
    [9.206, 9.180, 9.158, 9.088],
    [9.212, 9.222, 9.149, 9.073],
    [9.196, 9.231, 9.137, 9.077],
    [9.190, 9.203, 9.141, 9.084],
    [9.196, 9.205, 9.136, 9.081],
];

fn ranked(blocks: usize) -> Vec<Ranked> {
    best(
        &by_target(&CANDIDATES[..blocks]),
        delta(),
        &Looks::planned(12).unwrap(),
    )
}

#[test]
fn the_best_of_four() {
    let open = Standing::Open(Reason::Running);
    let said = |blocks| {
        ranked(blocks)
            .iter()
            .map(|r| r.standing)
            .collect::<Vec<_>>()
    };
    let check = |found: Ranked, against: usize, mean: f64, width: f64| {
        assert_eq!(found.against, Some(against));
        same(found.estimate.unwrap().mean, mean);
        same(found.estimate.unwrap().half_width, width);
    };
    assert_eq!(said(2), [open; 4]);
    assert_eq!(said(3), [Standing::Leading, open, open, Standing::Out]);
    check(ranked(3)[1], 0, 0.003_666_666_7, 0.070_630_445_4);
    check(ranked(3)[2], 0, 0.058_333_333_3, 0.070_630_445_4);
    check(ranked(3)[3], 0, 0.139, 0.070_630_445_4);
    assert_eq!(
        said(4),
        [open, Standing::Leading, Standing::Out, Standing::Out]
    );
    check(ranked(4)[0], 1, 0.006, 0.057_158_504_0);
    check(ranked(4)[2], 0, 0.0585, 0.052_768_314_9);
    assert_eq!(said(5), said(4));
    let last = [
        Standing::Equivalent,
        Standing::Best,
        Standing::Out,
        Standing::Out,
    ];
    assert_eq!(said(6), last);
    check(ranked(6)[0], 1, 0.007_666_666_7, 0.035_676_941_8);
    check(ranked(6)[3], 0, 0.139, 0.070_630_445_4);
    assert_eq!(ranked(6)[1].estimate, None);
}

#[test]
fn an_experiment_that_ends_between_two_looks() {
    let looks = |looks: &Looks| looks.looks.iter().map(|l| l.blocks).collect::<Vec<_>>();
    let extended = |after, to| {
        let ended = Looks::planned(12)
            .unwrap()
            .ended(after, Reason::MaxDuration);
        ended.extended(after, to)
    };
    assert_eq!(looks(&extended(2, 12)), [3, 4, 6, 8, 12]);
    assert_eq!(looks(&extended(5, 12)), [3, 4, 5, 8, 12]);
    assert_eq!(looks(&extended(7, 12)), [3, 4, 6, 7, 12]);
    assert_eq!(looks(&extended(9, 12)), [3, 4, 6, 8, 9]);
    assert_eq!(looks(&extended(9, 24)), [3, 4, 6, 8, 9, 16, 24]);
    for after in [2, 5, 7, 9] {
        let levels: Vec<f64> = extended(after, 12)
            .looks
            .iter()
            .map(|l| l.level())
            .collect();
        assert_eq!(levels, [0.01; 5]);
    }
    let to_24 = extended(9, 24);
    assert_eq!(to_24.looks[5].level(), 0.005);
    assert_eq!(
        to_24.looks.iter().map(|l| l.horizon).collect::<Vec<_>>(),
        [12, 12, 12, 12, 12, 24, 24]
    );
    assert_eq!(looks(&Looks::planned(24).unwrap()), LOOKS);
    assert_eq!(
        [0, 1, 5, 13, 25].map(Looks::planned),
        [None, None, None, None, None]
    );
}
