use super::{Metric, compared, ranked, share_or_factor};
use crate::verdict::best::{Ranked, Standing};
use crate::verdict::compare::{Compared, Verdict};
use crate::verdict::{Estimate, Reason};

const TPS: Metric = Metric {
    name: "tps",
    more_is_better: true,
    margin: 0.05,
};

/// From ratios.
fn estimate(ratio: f64, low: f64, blocks: u32) -> Option<Estimate> {
    Some(Estimate {
        mean: ratio.ln(),
        half_width: (ratio / low).ln(),
        sd: 0.01,
        blocks,
        pairs: blocks as usize,
        kept: blocks as usize,
    })
}

#[test]
fn against_a_baseline() {
    let says = |verdict, estimate| compared(&Compared { verdict, estimate }, "ext4", TPS);
    assert_eq!(
        says(Verdict::More, estimate(1.1, 1.04, 3)),
        "10 % more tps than ext4 (4 to 16), after 3 blocks"
    );
    assert_eq!(
        says(Verdict::Less, estimate(0.69, 0.6, 12)),
        "31 % fewer tps than ext4 (21 to 40), after 12 blocks"
    );
    assert_eq!(
        says(Verdict::Equivalent, estimate(1.016, 0.99, 6)),
        "equivalent: 1.6 % more (1 % less to 4 % more), and less than 5 % does not count"
    );
    assert_eq!(
        says(
            Verdict::Inconclusive(Reason::TooNoisy),
            estimate(0.98, 0.9, 8)
        ),
        "inconclusive (too_noisy): 2 % fewer tps than ext4 (7 % more to 10 % less)"
    );
    assert_eq!(
        says(Verdict::Inconclusive(Reason::Running), None),
        "inconclusive (running)"
    );
    assert_eq!(
        says(Verdict::CannotKeepTheRate, None),
        "cannot keep the rate"
    );
    // An end that is not zero is not told as zero.
    assert_eq!(
        says(Verdict::More, estimate(1.02, 1.004, 8)),
        "2 % more tps than ext4 (0.4 to 4), after 8 blocks"
    );
}

#[test]
fn where_less_is_better_it_is_said() {
    let latency = Metric {
        name: "p99 latency",
        more_is_better: false,
        ..TPS
    };
    let says = |verdict, ratio, low| {
        let estimate = estimate(ratio, low, 4);
        compared(&Compared { verdict, estimate }, "ext4", latency)
    };
    assert_eq!(
        says(Verdict::More, 1.1, 1.04),
        "10 % more p99 latency than ext4 (4 to 16), which is worse, after 4 blocks"
    );
    assert_eq!(
        says(Verdict::Less, 0.9, 0.85),
        "10 % less p99 latency than ext4 (5 to 15), which is better, after 4 blocks"
    );
    let out = Ranked {
        standing: Standing::Out,
        against: Some(0),
        estimate: estimate(1.2, 1.1, 3),
    };
    assert_eq!(
        ranked(&out, "xfs", latency),
        "20 % more p99 latency than xfs (10 to 31), after 3 blocks"
    );
}

#[test]
fn among_candidates() {
    let says = |standing, estimate| {
        let against = Some(0);
        ranked(
            &Ranked {
                standing,
                against,
                estimate,
            },
            "xfs",
            TPS,
        )
    };
    let open = Standing::Open(Reason::TooNoisy);
    assert_eq!(says(Standing::Best, None), "best");
    assert_eq!(says(Standing::Leading, None), "leading");
    assert_eq!(
        says(Standing::Out, estimate(1.45, 1.28, 3)),
        "31 % fewer tps than xfs (22 to 39), after 3 blocks"
    );
    assert_eq!(
        says(Standing::Equivalent, estimate(1.016, 0.99, 6)),
        "equivalent to the best: 1.6 % less (1 % more to 4 % less), and less than 5 % does not count"
    );
    assert_eq!(
        says(open, estimate(1.042, 1.01, 6)),
        "open: 4 % less (1 to 7); worse, whether it counts is open"
    );
    assert_eq!(
        says(open, estimate(1.042, 0.98, 6)),
        "open: 4 % less (2 % more to 10 % less)"
    );
    assert_eq!(
        says(Standing::CannotKeepTheRate, None),
        "cannot keep the rate"
    );
}

#[test]
fn what_is_more_than_twice_as_much_is_told_as_a_ratio() {
    let says = |verdict, estimate| compared(&Compared { verdict, estimate }, "ext4", TPS);
    assert_eq!(
        says(Verdict::More, estimate(3.42, 2.9, 3)),
        "3.4 times the tps of ext4 (2.9 to 4), after 3 blocks"
    );
    // One end alone, too: both ends get the same words.
    assert_eq!(
        says(
            Verdict::Inconclusive(Reason::MaxBlocks),
            estimate(1.5, 0.9, 12)
        ),
        "inconclusive (max_blocks): 1.5 times the tps of ext4 (0.90 to 2.5)"
    );
    assert_eq!(
        says(Verdict::Less, estimate(0.2, 0.15, 4)),
        "80 % fewer tps than ext4 (73 to 85), after 4 blocks"
    );
    assert_eq!(share_or_factor(0.25), "25 %");
    assert_eq!(share_or_factor(1.0), "100 %");
    assert_eq!(share_or_factor(7.0), "a factor of 8");
}

#[test]
fn an_interval_of_more_than_five_times_is_too_noisy() {
    let open = Verdict::Inconclusive(Reason::MaxBlocks);
    let says = |verdict, estimate| compared(&Compared { verdict, estimate }, "ext4", TPS);
    assert_eq!(
        says(open, estimate(0.6, 0.05, 3)),
        "inconclusive (max_blocks): too noisy: between 0.05 and 7.2 times the tps of ext4"
    );
    // Five times is none yet.
    assert!(!says(open, estimate(1.0, 0.448, 3)).contains("noisy"));
    // The verdict stands: the direction is certain, and the size is not.
    assert_eq!(
        says(Verdict::More, estimate(4.0, 1.5, 3)),
        "more tps than ext4, too noisy to tell how much (between 1.5 and 11 times), after 3 blocks"
    );
    let says = |standing, estimate| {
        let against = Some(0);
        ranked(
            &Ranked {
                standing,
                against,
                estimate,
            },
            "xfs",
            TPS,
        )
    };
    assert_eq!(
        says(Standing::Open(Reason::MaxBlocks), estimate(8.0, 0.84, 3)),
        "open: too noisy: between 0.01 and 1.2 times the tps of xfs"
    );
    assert_eq!(
        says(Standing::Open(Reason::MaxBlocks), estimate(3.0, 1.1, 3)),
        "open: too noisy: between 0.12 and 0.91 times the tps of xfs; worse, whether it counts is open"
    );
    assert_eq!(
        says(Standing::Out, estimate(6.0, 2.0, 3)),
        "fewer tps than xfs, too noisy to tell how much (between 0.06 and 0.50 times), after 3 blocks"
    );
}
