use super::*;
use proptest::prelude::*;

fn single(values: &[(u32, f64)]) -> Vec<Point> {
    values
        .iter()
        .map(|&(degree, ms)| Point {
            degree,
            times_ms: vec![ms],
        })
        .collect()
}

/// Study 4 (digoal 2016), one run at each point.
fn knee_of(points: &[Point], seed: u64) -> Knee {
    find(points, seed, || ())
}

#[test]
fn the_points_that_study_4_has_published() {
    let xfs = single(&[
        (17, 8905.510),
        (21, 7583.344),
        (32, 21144.919),
        (64, 18310.130),
    ]);
    let knee = knee_of(&xfs, 1);
    assert_eq!(
        (knee.verdict, knee.text.as_str(), knee.degree),
        (Verdict::Knee, "between 21 and 32", Some(21))
    );
    let ext4 = single(&[(17, 9313.369), (32, 30209.980), (64, 32580.853)]);
    let knee = knee_of(&ext4, 1);
    assert_eq!(
        (knee.verdict, knee.text.as_str(), knee.degree),
        (
            Verdict::NotIdentifiable,
            "not identifiable beyond \"at or before 32\"",
            None
        )
    );
}

/// A curve with a knee at `knee`: time falls in proportion to degree to the `power`, and after it speed stays or, with `fall` above 0,
/// is lost by that share at each doubling.
#[derive(Clone, Copy, Debug)]
struct Shape {
    knee: f64,
    power: f64,
    fall: f64,
}

impl Shape {
    fn ms(self, degree: u32) -> f64 {
        let degree = f64::from(degree);
        let rise = degree.min(self.knee).powf(self.power);
        let beyond = (degree / self.knee).max(1.0).log2();
        100_000.0 / (rise * (1.0 - self.fall).powf(beyond))
    }
}

/// Normal, by the sum of twelve uniform numbers.
fn normal(random: &mut Stream) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

fn measured(degrees: &[u32], shape: Shape, noise: f64, repeats: usize, seed: u64) -> Vec<Point> {
    let mut random = Stream::new(seed, 1, Purpose::Measure);
    degrees
        .iter()
        .map(|&degree| Point {
            degree,
            times_ms: (0..repeats)
                .map(|_| shape.ms(degree) * (noise * normal(&mut random)).exp())
                .collect(),
        })
        .collect()
}

const DOUBLING: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const STUDY: [u32; 9] = [1, 2, 4, 8, 16, 17, 21, 32, 64];

/// Results on curves with a knee.
#[derive(Debug)]
struct Found {
    /// Share of the curves in which a knee was found.
    knees: f64,
    /// Share of the found knees whose interval holds the real one.
    held: f64,
    /// Share of the curves whose degree is at most a doubling away.
    near: f64,
    /// Median of the interval's upper end divided by its lower one.
    width: f64,
}

fn found(degrees: &[u32], power: f64, fall: f64, noise: f64) -> Found {
    let (mut knees, mut held, mut near) = (0, 0, 0);
    let mut widths = Vec::new();
    let runs = 100;
    for seed in 0..runs {
        let mut random = Stream::new(seed, 2, Purpose::Measure);
        let shape = Shape {
            knee: 3.0 + 25.0 * random.unit(),
            power,
            fall,
        };
        let knee = knee_of(&measured(degrees, shape, noise, 5, seed), seed);
        if knee.verdict == Verdict::Knee {
            knees += 1;
            let (low, high) = (knee.low.unwrap(), knee.high.unwrap());
            // The interval in whole degrees; a degree counts as rising when it is within 5 % of it.
            held += i32::from(low.floor() * 0.95 <= shape.knee && shape.knee <= high.ceil());
            let beside = f64::from(knee.degree.unwrap()) / shape.knee;
            near += i32::from((0.5..=2.0).contains(&beside));
            widths.push(high / low);
        }
    }
    let of_found = |n: i32| f64::from(n) / f64::from(knees).max(1.0);
    Found {
        knees: f64::from(knees) / runs as f64,
        held: of_found(held),
        near: of_found(near),
        width: median(&widths).unwrap_or(f64::INFINITY),
    }
}

#[test]
fn a_known_knee_is_found_under_noise() {
    for degrees in [&DOUBLING[..], &STUDY[..]] {
        for (power, fall) in [(1.0, 0.0), (0.8, 0.0), (1.0, 0.3), (0.8, 0.3)] {
            for noise in [0.0, 0.02, 0.05] {
                let found = found(degrees, power, fall, noise);
                assert!(
                    found.knees >= 0.90
                        && found.held >= 0.95
                        && found.near >= 0.95
                        && found.width <= 4.0,
                    "power {power}, fall {fall}, noise {noise}: {found:?}"
                );
            }
        }
    }
}

/// Shares of each verdict over curves without a knee.
fn verdicts(shape: Shape, noise: f64) -> [f64; 4] {
    let mut counts = [0.0; 4];
    let runs = 100;
    for seed in 0..runs {
        let knee = knee_of(&measured(&STUDY, shape, noise, 5, seed), seed);
        counts[knee.verdict as usize] += 1.0 / runs as f64;
    }
    counts
}

#[test]
fn no_knee_is_invented() {
    for noise in [0.0, 0.02, 0.05] {
        let flat = Shape {
            knee: 1.0,
            power: 0.0,
            fall: 0.0,
        };
        let rising = Shape {
            knee: 1e9,
            power: 0.9,
            fall: 0.0,
        };
        let [knee, said, _, _] = verdicts(flat, noise);
        assert!(
            knee <= 0.02 && said >= 0.90,
            "flat, noise {noise}: {said}, a knee {knee}"
        );
        let [knee, _, said, _] = verdicts(rising, noise);
        assert!(
            knee <= 0.02 && said >= 0.95,
            "rising, noise {noise}: {said}, a knee {knee}"
        );
    }
    // Amdahl with 2 % that is not parallel, which bends all the way and still rises.
    let amdahl: Vec<(u32, f64)> = STUDY
        .iter()
        .map(|&d| (d, 1000.0 * (0.02 + 0.98 / f64::from(d))))
        .collect();
    assert_eq!(knee_of(&single(&amdahl), 1).verdict, Verdict::StillRising);
}

#[test]
fn what_is_not_known_is_said() {
    let of = |values: &[(u32, f64)]| knee_of(&single(values), 1);
    assert_eq!(of(&[]).verdict, Verdict::NotIdentifiable);
    assert_eq!(
        of(&[(1, 10.0), (2, 5.0)]).text,
        "not identifiable: it takes at least three degrees"
    );
    assert_eq!(
        of(&[(1, 10.0), (2, 20.0), (4, 40.0)]).text,
        "between 1 and 2"
    );
    assert_eq!(
        of(&[(2, 10.0), (4, 10.1), (8, 9.9)]).text,
        "flat from 2 to 8: more workers change less than 5 %"
    );
    assert_eq!(
        of(&[(1, 10.0), (2, 5.0), (4, 2.5)]).text,
        "still rising at 4"
    );
    // Noise is no proof of flatness.
    let noisy = |times: [[f64; 3]; 3]| {
        let points: Vec<Point> = [1u32, 2, 4]
            .into_iter()
            .zip(times)
            .map(|(degree, times)| Point {
                degree,
                times_ms: times.into(),
            })
            .collect();
        knee_of(&points, 1)
    };
    for times in [
        [
            [400.0, 100.0, 250.0],
            [200.0, 90.0, 330.0],
            [210.0, 400.0, 150.0],
        ],
        [
            [250.0, 340.0, 160.0],
            [190.0, 191.0, 189.0],
            [190.0, 190.0, 190.0],
        ],
    ] {
        let knee = noisy(times);
        assert_eq!(
            (knee.verdict, knee.text.as_str()),
            (
                Verdict::NotIdentifiable,
                "not identifiable: the repeats differ as much as the degrees"
            )
        );
    }
    // Repeats that contradict each other.
    let wild: Vec<Point> = [1u32, 2, 4]
        .map(|degree| Point {
            degree,
            times_ms: vec![1.0, 100.0, 1.0, 100.0, 50.0 / f64::from(degree)],
        })
        .into();
    assert_ne!(knee_of(&wild, 1).verdict, Verdict::Knee);
}

proptest! {
    #[test]
    fn never_panics_and_ends_are_in_order(times in prop::collection::vec(prop::collection::vec(0.1f64..1e6, 0..4), 0..8), seed: u64) {
        let points: Vec<Point> = times.into_iter().enumerate()
            .map(|(i, times_ms)| Point { degree: 1 << i, times_ms }).collect();
        let knee = knee_of(&points, seed);
        if let (Some(low), Some(high)) = (knee.low, knee.high) {
            prop_assert!(low <= high, "{knee:?}");
        }
        prop_assert_eq!(&knee_of(&points, seed), &knee);
    }
}

/// A cancelled caller ends the search by a panic there.
#[test]
fn it_looks_around_in_each_resample() {
    let points = single(&[(1, 4.0), (2, 2.0), (4, 1.0)]);
    let mut looks = 0;
    find(&points, 1, || looks += 1);
    assert_eq!(looks, RESAMPLES);
}
