//! Cases that the fixed vectors lack: missing runs, rates that are not kept, early ends, controls, second experiments.

use super::{delta, runs};
use crate::verdict::best::{Ranked, SetAside, Standing, best, best_without};
use crate::verdict::compare::{Compared, Verdict, compare};
use crate::verdict::keeping::{Scheduled, cannot_keep};
use crate::verdict::looks::Looks;
use crate::verdict::needed::{blocks_needed, blocks_needed_to_rank};
use crate::verdict::set_aside::set_aside;
use crate::verdict::{Estimate, Reason, Run, confirmed, control};

const NAN: f64 = f64::NAN;
const SLOW: Run = Run::BehindSchedule;

fn planned() -> Looks {
    Looks::planned(12).unwrap()
}

fn verdicts(baseline: &[f64], targets: &[&[f64]], looks: &Looks) -> Vec<Compared> {
    let targets: Vec<Vec<Run>> = targets.iter().map(|t| runs(t)).collect();
    compare(&runs(baseline), &targets, delta(), looks)
}

/// 12 blocks of alternating noise.
fn noisy(by: f64, blocks: usize) -> Vec<f64> {
    (0..blocks)
        .map(|i| if i % 2 == 0 { by } else { -by })
        .collect()
}

#[test]
fn what_is_missing_is_left_out_and_nothing_is_filled_in() {
    let found = verdicts(
        &[0.0; 4],
        &[&[0.2, NAN, NAN, 0.2], &[0.2, NAN, 0.21, 0.2]],
        &planned(),
    );
    assert_eq!(found[0].estimate, None);
    assert_eq!(found[0].verdict, Verdict::Inconclusive(Reason::Running));
    assert_eq!(found[0].beyond_margin(delta()), None);
    let second = found[1].estimate.unwrap();
    assert_eq!((second.blocks, second.pairs, second.kept), (4, 3, 3));
    // A baseline that is missing takes the pair with it.
    let found = verdicts(&[NAN, 0.0, 0.0, 0.0], &[&[9.0, 0.2, 0.21, 0.2]], &planned());
    assert!(found[0].estimate.unwrap().mean < 0.21);
}

#[test]
fn open_at_the_last_block_is_inconclusive_with_what_it_would_take() {
    let looks = Looks::planned(3).unwrap();
    let found = verdicts(&[0.0; 3], &[&[0.03, 0.07, 0.05]], &looks)[0];
    assert_eq!(found.verdict, Verdict::Inconclusive(Reason::MaxBlocks));
    assert_eq!(found.blocks_needed(1, delta()), Some(5));
    assert_eq!(found.beyond_margin(delta()), Some(false));
    // With so much noise 200 blocks tell nothing.
    assert_eq!(blocks_needed(0.0, 0.5, 1, delta()), None);
}

#[test]
fn what_is_decided_needs_no_more_blocks() {
    let found = verdicts(&[0.0; 3], &[&[0.3, 0.3, 0.3]], &planned())[0];
    assert_eq!(
        (found.verdict, found.beyond_margin(delta())),
        (Verdict::More, Some(true))
    );
    assert_eq!(found.blocks_needed(1, delta()), None);
    let less = verdicts(&[0.3; 3], &[&[0.0, 0.0, 0.0]], &planned())[0];
    assert_eq!(
        (less.verdict, less.beyond_margin(delta())),
        (Verdict::Less, Some(true))
    );
}

#[test]
fn hopeless_noise_is_given_up_from_eight_blocks_on() {
    let said = |blocks| verdicts(&vec![0.0; blocks], &[&noisy(0.3, blocks)], &planned())[0].verdict;
    assert_eq!(said(6), Verdict::Inconclusive(Reason::Running));
    assert_eq!(said(8), Verdict::Inconclusive(Reason::TooNoisy));
    assert_eq!(said(12), Verdict::Inconclusive(Reason::TooNoisy));
    // The last look that was planned gives nothing up.
    let looks = Looks::planned(8).unwrap();
    let found = verdicts(&[0.0; 8], &[&noisy(0.3, 8)], &looks)[0];
    assert_eq!(found.verdict, Verdict::Inconclusive(Reason::MaxBlocks));
}

#[test]
fn an_early_end_is_a_look_of_its_own() {
    let target = [0.0, 0.08, 0.05, 0.05, 0.05, 0.05, 0.05];
    let baseline = [0.0; 7];
    let planned_5 = verdicts(&baseline[..5], &[&target[..5]], &planned())[0];
    assert_eq!(planned_5.estimate.unwrap().blocks, 4);
    let looks = planned().ended(5, Reason::Cancelled);
    let ended = verdicts(&baseline[..5], &[&target[..5]], &looks)[0];
    assert_eq!(ended.estimate.unwrap().blocks, 5);
    assert_eq!(ended.verdict, Verdict::Inconclusive(Reason::Cancelled));
    let none = planned().ended(2, Reason::Cancelled);
    let ended = verdicts(&baseline[..2], &[&target[..2]], &none)[0];
    assert_eq!(
        (ended.verdict, ended.estimate),
        (Verdict::Inconclusive(Reason::Cancelled), None)
    );
    // An end at a look is that look; one after the last look of an experiment adds none.
    assert_eq!(
        planned().ended(4, Reason::Cancelled).looks,
        planned().looks[..2]
    );
    assert_eq!(
        planned().ended(12, Reason::Cancelled).looks,
        planned().looks
    );
}

#[test]
fn an_extension_while_it_runs_gives_up_by_the_new_length() {
    let looks = planned().extended(7, 24);
    let horizons: Vec<u32> = looks.looks.iter().map(|l| l.horizon).collect();
    assert_eq!(horizons, [12, 12, 12, 24, 24, 24, 24]);
}

#[test]
fn a_target_that_cannot_keep_the_rate_has_no_ratio() {
    let slow = |behind: usize, made: usize| {
        let mut all = vec![SLOW; behind];
        all.extend(vec![Run::Measured(0.0); made - behind]);
        cannot_keep(&all)
    };
    assert_eq!(
        [slow(1, 1), slow(2, 6), slow(2, 7), slow(3, 9)],
        [false, true, false, true]
    );
    assert!(cannot_keep(&[SLOW, Run::Missing, SLOW]));
    let targets = vec![vec![SLOW, SLOW, Run::Measured(0.3)], runs(&[0.3, 0.3, 0.3])];
    let found = compare(&runs(&[0.0; 3]), &targets, delta(), &planned());
    assert_eq!(
        (found[0].verdict, found[0].estimate),
        (Verdict::CannotKeepTheRate, None)
    );
    assert_eq!(found[1].verdict, Verdict::More);
    // The noise of the other is its own: m is still 2, but nothing is shared.
    let ranked = best(&targets, delta(), &planned());
    assert_eq!(ranked[0].standing, Standing::CannotKeepTheRate);
    assert_eq!(ranked[1].standing, Standing::Best);
}

#[test]
fn without_a_baseline_that_keeps_the_rate_there_is_no_reference() {
    let baseline = [SLOW, SLOW, Run::Measured(0.0)];
    let found = compare(&baseline, &[runs(&[0.3; 3])], delta(), &planned());
    assert_eq!(found[0].verdict, Verdict::Inconclusive(Reason::NoReference));
}

#[test]
fn latency_counts_only_where_the_rate_is_kept() {
    let behind = |not_in_time, percentile| {
        let scheduled = 10_000;
        Scheduled {
            scheduled,
            not_in_time,
        }
        .behind(percentile)
    };
    assert_eq!([behind(100, None), behind(101, None)], [false, true]);
    assert_eq!(
        [behind(100, Some(50.0)), behind(101, Some(50.0))],
        [false, true]
    );
    assert_eq!(
        [behind(9, Some(99.9)), behind(11, Some(99.9))],
        [false, true]
    );
}

fn of(verdict: Verdict, mean: f64, half_width: f64) -> Compared {
    let estimate = Some(Estimate {
        mean,
        half_width,
        sd: 0.01,
        blocks: 3,
        pairs: 3,
        kept: 3,
    });
    Compared { verdict, estimate }
}

#[test]
fn a_control_that_differs_withholds_what_is_no_larger() {
    let others = [
        of(Verdict::More, 0.09, 0.05),
        of(Verdict::Less, -0.11, 0.05),
        of(Verdict::Equivalent, 0.0, 0.01),
    ];
    let mut all = vec![of(Verdict::More, 0.05, 0.01)];
    all.extend(others);
    control::of_comparison(&mut all, 0);
    let floor = Verdict::Inconclusive(Reason::NoiseFloor);
    let said: Vec<Verdict> = all.iter().map(|c| c.verdict).collect();
    assert_eq!(
        said,
        [Verdict::More, floor, Verdict::Less, Verdict::Equivalent]
    );
    let mut all = vec![of(Verdict::Equivalent, 0.05, 0.01)];
    all.extend(others);
    let before = all.clone();
    control::of_comparison(&mut all, 0);
    assert_eq!(all, before);
}

fn ranked(standing: Standing, against: usize, mean: f64) -> Ranked {
    let estimate = of(Verdict::More, mean, 0.02).estimate;
    let leads = matches!(standing, Standing::Best | Standing::Leading);
    Ranked {
        standing,
        against: (!leads).then_some(against),
        estimate: estimate.filter(|_| !leads),
    }
}

#[test]
fn twins_that_differ_reopen_what_is_out_by_no_more() {
    let open = Standing::Open(Reason::NoiseFloor);
    let all = [
        ranked(Standing::Best, 0, 0.0),
        ranked(Standing::Out, 0, 0.06),
        ranked(Standing::Out, 0, 0.11),
        ranked(Standing::Out, 0, 0.13),
    ];
    let mut twins = all;
    control::of_best(&mut twins, [1, 0]);
    let said = twins.map(|r| r.standing);
    assert_eq!(said, [Standing::Leading, open, open, Standing::Out]);
    // An equivalent twin shows nothing, and one that is open does where its low end is above zero.
    let mut equivalent = all;
    equivalent[1] = ranked(Standing::Equivalent, 0, 0.06);
    let before = equivalent;
    control::of_best(&mut equivalent, [0, 1]);
    assert_eq!(equivalent, before);
    equivalent[1] = ranked(Standing::Open(Reason::TooNoisy), 0, 0.06);
    control::of_best(&mut equivalent, [0, 1]);
    assert_eq!(equivalent[2].standing, open);
}

#[test]
fn a_second_experiment_confirms_the_first() {
    let yes = |a, b| confirmed::of_comparison(&a, &b) && confirmed::of_comparison(&b, &a);
    let more = of(Verdict::More, 0.06, 0.02);
    let above = of(Verdict::Equivalent, 0.03, 0.01);
    let across = of(Verdict::Equivalent, 0.01, 0.02);
    let less = of(Verdict::Less, -0.06, 0.02);
    let inconclusive = of(Verdict::Inconclusive(Reason::NoiseFloor), 0.06, 0.02);
    let cannot = Compared {
        verdict: Verdict::CannotKeepTheRate,
        estimate: None,
    };
    assert!(yes(more, more) && yes(above, across) && yes(more, above) && yes(cannot, cannot));
    assert!(!yes(more, less) && !yes(more, across) && !yes(less, above));
    assert!(!yes(inconclusive, inconclusive) && !yes(more, inconclusive) && !yes(cannot, more));
}

#[test]
fn a_second_search_for_the_best_confirms_the_first() {
    let first = [
        ranked(Standing::Best, 0, 0.0),
        ranked(Standing::Equivalent, 0, 0.01),
        ranked(Standing::Out, 0, 0.2),
    ];
    let mut second = [first[1], first[0], first[2]];
    assert!(confirmed::of_best(&first, &first) && confirmed::of_best(&first, &second));
    second[0].standing = Standing::Out;
    assert!(!confirmed::of_best(&first, &second) && !confirmed::of_best(&second, &first));
    let mut open = first;
    open[0].standing = Standing::Leading;
    assert!(!confirmed::of_best(&open, &open));
}

#[test]
fn one_that_was_equivalent_runs_again_when_another_leads() {
    // 0 leads at first, and 1 is its equal; then 2 comes up, and 1 is compared with it.
    let third = [-0.04, -0.04, -0.04, 0.06, 0.08, 0.08, 0.08, 0.08];
    let at = |blocks: usize| {
        let targets = [&[0.0; 8][..blocks], &[0.0; 8][..blocks], &third[..blocks]];
        best(&targets.map(runs), delta(), &planned())
    };
    let standings = |blocks| at(blocks).iter().map(|r| r.standing).collect::<Vec<_>>();
    let open = Standing::Open(Reason::Running);
    assert_eq!(
        standings(4),
        [Standing::Leading, Standing::Equivalent, open]
    );
    assert_eq!(standings(6), [open, open, Standing::Leading]);
    assert_eq!(at(6)[1].against, Some(2));
    let pairs = |blocks| at(blocks)[1].estimate.unwrap().pairs;
    assert_eq!(
        (pairs(6), pairs(8)),
        (3, 5),
        "it has no run in blocks 4 to 6"
    );
}

fn standings_without(targets: &[&[f64]], gone: usize, block: u32) -> Vec<Standing> {
    let targets: Vec<Vec<Run>> = targets.iter().map(|t| runs(t)).collect();
    let gone = [SetAside {
        target: gone,
        block,
    }];
    let found = best_without(&targets, &gone, delta(), &planned());
    found.iter().map(|r| r.standing).collect()
}

#[test]
fn one_that_was_set_aside_keeps_nobody_from_being_best() {
    let targets: [&[f64]; 3] = [
        &[0.2, 0.2, 0.2, 0.2],
        &[-0.3, -0.3, -0.3, NAN],
        &[0.1, 0.25, 0.19, NAN],
    ];
    let open = Standing::Open(Reason::Running);
    // The runs of blocks 4 and 5 failed; before, the target was like the others.
    assert_eq!(
        standings_without(&targets, 2, 6),
        [Standing::Leading, Standing::Out, open]
    );
    assert_eq!(
        standings_without(&targets, 2, 5),
        [Standing::Best, Standing::Out, Standing::SetAside]
    );
    assert!(!Standing::SetAside.is_in_answer());
}

#[test]
fn what_was_judged_against_one_that_was_set_aside_is_open_again() {
    let first = [0.5, 0.5, 0.5, NAN, NAN, NAN];
    let second = [0.0; 6];
    let third = [0.45, 0.55, 0.4, 0.5, 0.5, 0.5];
    let at = |blocks: usize, block| {
        let targets = [&first[..blocks], &second[..blocks], &third[..blocks]];
        standings_without(&targets, 0, block)
    };
    let open = Standing::Open(Reason::Running);
    assert_eq!(at(3, 6), [Standing::Leading, Standing::Out, open]);
    assert_eq!(at(3, 4), [Standing::SetAside, open, open]);
    assert_eq!(
        at(4, 4),
        [Standing::SetAside, Standing::Out, Standing::Best]
    );
}

#[test]
fn one_that_is_left_alone_is_not_the_best_by_that() {
    let targets: [&[f64]; 2] = [&[0.0; 4], &[0.1, 0.05, -0.05, NAN]];
    assert_eq!(
        standings_without(&targets, 1, 5),
        [Standing::Open(Reason::Running), Standing::SetAside]
    );
}

#[test]
fn goal_best_needs_a_lead_beyond_the_margin_or_none() {
    // Within the margin only equivalence settles it, where a direction would be seen sooner.
    assert_eq!(blocks_needed(0.03, 0.01, 1, delta()), Some(5));
    assert_eq!(blocks_needed_to_rank(0.03, 0.01, 2, delta()), Some(6));
    assert_eq!(blocks_needed_to_rank(0.2, 0.01, 2, delta()), Some(3));
    assert_eq!(blocks_needed_to_rank(-0.2, 0.01, 2, delta()), None);
    let of = |standing| ranked(standing, 0, 0.03).blocks_needed(2, delta());
    assert_eq!(of(Standing::Open(Reason::MaxBlocks)), Some(6));
    assert_eq!(of(Standing::Equivalent), None);
}

#[test]
fn of_equals_the_first_leads() {
    let found = best(&[runs(&[0.1; 3]), runs(&[0.1; 3])], delta(), &planned());
    assert_eq!(found[0].standing, Standing::Best);
    assert_eq!(
        (found[1].standing, found[1].against),
        (Standing::Equivalent, Some(0))
    );
}

#[test]
fn of_equal_cores_the_lower_counts() {
    // Six neighbours have one variance, from 0 on and from 0.1 on: 10 deviations from their means are 2.12 and 2.22.
    let d: Vec<f64> = (0..7).map(|i| 0.1 * f64::from(i)).chain([2.15]).collect();
    assert_eq!(set_aside(&d).kept.iter().position(|kept| !kept), Some(7));
    assert_eq!(set_aside(&[&d[..7], &[2.1]].concat()).count, 8);
}
