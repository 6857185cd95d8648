use std::collections::BTreeMap;

use proptest::prelude::*;

use super::delta;
use crate::verdict::best::{Standing, best};
use crate::verdict::compare::{Compared, Verdict, compare};
use crate::verdict::looks::{LOOKS, Looks};
use crate::verdict::order;
use crate::verdict::rate::Cycle;
use crate::verdict::rate::estimate::{bootstrap, estimate};
use crate::verdict::set_aside::set_aside;
use crate::verdict::student_t::upper_quantile;
use crate::verdict::{Reason, Run};

/// ln metric of some targets, some runs of which are missing.
fn rows(targets: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<Run>>> {
    let run = prop_oneof![
        8 => (8.9f64..9.3).prop_map(Run::Measured),
        1 => Just(Run::Missing),
        1 => Just(Run::BehindSchedule),
    ];
    (targets, 0usize..=24).prop_flat_map(move |(k, n)| {
        prop::collection::vec(prop::collection::vec(run.clone(), n), k)
    })
}

fn shifted(rows: &[Vec<Run>], by: f64) -> Vec<Vec<Run>> {
    let shift = |run: &Run| match run {
        Run::Measured(x) => Run::Measured(x + by),
        other => *other,
    };
    rows.iter()
        .map(|row| row.iter().map(shift).collect())
        .collect()
}

fn played(rows: &[Vec<Run>], blocks: usize) -> Vec<Compared> {
    let upto: Vec<Vec<Run>> = rows.iter().map(|row| row[..blocks].to_vec()).collect();
    compare(&upto[0], &upto[1..], delta(), &Looks::planned(24).unwrap())
}

fn is_open(verdict: Verdict) -> bool {
    verdict == Verdict::Inconclusive(Reason::Running)
}

proptest! {
    #[test]
    fn a_verdict_is_final(rows in rows(2..5)) {
        let n = rows[0].len();
        for blocks in 0..n {
            for (earlier, later) in played(&rows, blocks).iter().zip(played(&rows, n)) {
                prop_assert!(is_open(earlier.verdict) || *earlier == later);
            }
        }
    }

    #[test]
    fn units_do_not_matter(rows in rows(2..5), by in -5.0f64..5.0) {
        let n = rows[0].len();
        let other = played(&shifted(&rows, by), n);
        for (a, b) in played(&rows, n).iter().zip(&other) {
            prop_assert_eq!(a.verdict, b.verdict);
        }
        let looks = Looks::planned(24).unwrap();
        let (a, b) = (best(&rows, delta(), &looks), best(&shifted(&rows, by), delta(), &looks));
        for (a, b) in a.iter().zip(&b) {
            prop_assert_eq!(a.standing, b.standing);
        }
    }

    #[test]
    fn intervals_say_what_the_verdict_says(rows in rows(2..5)) {
        for compared in played(&rows, rows[0].len()) {
            let Some(e) = compared.estimate else { continue };
            prop_assert!(e.kept <= e.pairs && e.pairs <= e.blocks as usize && e.half_width > 0.0);
            match compared.verdict {
                Verdict::More => prop_assert!(e.low() > 0.0),
                Verdict::Less => prop_assert!(e.high() < 0.0),
                Verdict::Equivalent => prop_assert!(e.mean.abs() < delta()),
                _ => prop_assert!(e.low() <= 0.0 && e.high() >= 0.0),
            }
        }
    }

    #[test]
    fn one_leads_and_it_is_never_out(rows in rows(2..6)) {
        let found = best(&rows, delta(), &Looks::planned(24).unwrap());
        let leading = found.iter().filter(|r| matches!(r.standing, Standing::Best | Standing::Leading)).count();
        prop_assert!(leading <= 1);
        for (i, ranked) in found.iter().enumerate() {
            prop_assert_ne!(ranked.against, Some(i));
            if let (Standing::Out, Some(e)) = (ranked.standing, ranked.estimate) {
                prop_assert!(e.mean > delta() && e.low() > 0.0);
            }
        }
    }

    #[test]
    fn goal_best_throws_out_nothing_equivalent(rows in rows(2..3)) {
        // With two targets both goals look at the same ratio.
        let found = best(&rows, delta(), &Looks::planned(24).unwrap());
        if let Some(out) = found.iter().find(|r| r.standing == Standing::Out) {
            let compared = played(&rows, out.estimate.unwrap().blocks as usize)[0];
            prop_assert_ne!(compared.verdict, Verdict::Equivalent);
        }
    }

    #[test]
    fn most_is_kept(d in prop::collection::vec(-1.0f64..1.0, 1..60), by in -10.0f64..10.0) {
        let kept = set_aside(&d);
        prop_assert!(kept.count >= d.len() - d.len() / 4);
        let shifted: Vec<f64> = d.iter().map(|x| x + by).collect();
        prop_assert!((set_aside(&shifted).mean - by - kept.mean).abs() < 1e-9);
    }

    #[test]
    fn quantiles_fall_with_p_and_with_degrees(p in 1e-12f64..0.49, f in 1.0f64..500.0) {
        let t = |p, f| upper_quantile(p, f).unwrap();
        prop_assert!(t(p, f) > t(p * 1.01, f));
        prop_assert!(t(p, f) > t(p, f * 1.01));
        prop_assert!((t(p, f) + t(1.0 - p, f)).abs() < 1e-3 * t(p, f), "{} {}", t(p, f), t(1.0 - p, f));
    }

    #[test]
    fn a_square_is_balanced(k in 2usize..9, seed: u64) {
        let groups = if k % 2 == 1 { 2 } else { 1 };
        let mut follows = BTreeMap::new();
        for block in order::draw(k, groups * k, seed) {
            let mut sorted = block.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..k).collect::<Vec<_>>());
            for pair in block.windows(2) {
                *follows.entry((pair[0], pair[1])).or_insert(0) += 1;
            }
        }
        prop_assert_eq!(follows.len(), k * (k - 1));
        prop_assert!(follows.values().all(|n| *n == groups));
    }

    #[test]
    fn an_ended_plan_looks_at_most_once_more(at in 0usize..7, after in 0u32..=24) {
        let planned = Looks::planned(LOOKS[at]).unwrap();
        let most = LOOKS[at];
        let after = after.min(most);
        let ended = planned.clone().ended(after, Reason::Cancelled);
        prop_assert!(ended.looks.len() <= planned.looks.len());
        prop_assert!(ended.looks.iter().all(|l| l.blocks <= after && l.blocks >= 3));
        prop_assert_eq!(ended.looks.last().map_or(0, |l| l.blocks), if after >= 3 { after } else { 0 });
        // Each place is used once, whatever happens: the levels add up as planned.
        let extended = ended.extended(after, 24);
        let places: Vec<u32> = extended.looks.iter().map(|l| l.place).collect();
        prop_assert_eq!(places, LOOKS);
        prop_assert!(extended.looks.windows(2).all(|l| l[0].blocks < l[1].blocks));
    }

    #[test]
    fn an_estimate_lies_among_the_rates(cycles in prop::collection::vec((100.0f64..1000.0, 0.0f64..0.05), 1..20), seed: u64) {
        let cycles: Vec<Cycle> = cycles.into_iter().map(|(rate, share)| Cycle { rate, scheduled: 1000.0, misses: 1000.0 * share }).collect();
        let rates = || cycles.iter().map(|c| c.rate);
        let (low, high) = (rates().fold(f64::MAX, f64::min) / 1.06, rates().fold(0.0, f64::max));
        let within = |x: f64| x >= low * (1.0 - 1e-9) && x <= high * (1.0 + 1e-9);
        prop_assert!(within(estimate(&cycles, 0.01).unwrap()));
        let (a, b) = bootstrap(&cycles, 0.01, seed).unwrap();
        prop_assert!(a <= b && within(a) && within(b));
    }
}

/// |t| of two samples, in two passes.
fn t_of(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let squares = |x: &[f64]| x.iter().map(|v| (v - mean(x)).powi(2)).sum::<f64>();
    let (n, m) = (a.len() as f64, b.len() as f64);
    let error = ((squares(a) + squares(b)) / (n + m - 2.0) * (1.0 / n + 1.0 / m)).sqrt();
    (mean(a) - mean(b)).abs() / error
}

proptest! {
    #[test]
    fn the_split_is_that_of_the_largest_t(nights in proptest::collection::vec(-0.05..0.05f64, 11..60), level in -10.0..10.0f64) {
        let shifted: Vec<f64> = nights.iter().map(|x| x + level).collect();
        // Nothing is as far away as that it would be clipped: 2.5 deviations of values that are everywhere in a range.
        let median = crate::series::median(&nights).unwrap();
        let deviations: Vec<f64> = nights.iter().map(|x| (x - median).abs()).collect();
        let reach = 2.5 * 1.4826 * crate::series::median(&deviations).unwrap();
        prop_assume!(deviations.iter().all(|d| *d <= reach));
        let found = crate::verdict::nights::split(&shifted).unwrap();
        let largest = (8..=nights.len() - 3).map(|left| t_of(&nights[..left], &nights[left..])).fold(0.0, f64::max);
        prop_assert!((found.t - largest).abs() <= largest * 1e-6, "{} {largest}", found.t);
    }
}
