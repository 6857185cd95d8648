use super::*;
use proptest::prelude::*;

fn of(values: &[u64]) -> Histogram {
    let mut h = Histogram::new();
    values.iter().for_each(|ns| h.record(*ns));
    h
}

fn merged(parts: &[&Histogram]) -> Histogram {
    let mut sum = Histogram::new();
    parts.iter().for_each(|h| sum.merge(h));
    sum
}

/// Equal in everything, but for the rounding of the sum of squares.
fn same(a: &Histogram, b: &Histogram) -> bool {
    let close = (a.sum_sq_us2 - b.sum_sq_us2).abs() <= 1e-9 * a.sum_sq_us2.abs();
    close
        && Histogram {
            sum_sq_us2: 0.0,
            ..a.clone()
        } == Histogram {
            sum_sq_us2: 0.0,
            ..b.clone()
        }
}

/// Values spread over all magnitudes up to the last bucket's end.
fn values() -> impl Strategy<Value = Vec<u64>> {
    let value = (0u32..42, any::<u64>()).prop_map(|(bits, r)| (1u64 << bits) + r % (1u64 << bits));
    prop::collection::vec(value, 0..200)
}

proptest! {
    #[test]
    fn percentiles_agree_with_hdrhistogram(values in values(), fraction in 0.0f64..=1.0) {
        let h = of(&values);
        let mut oracle = hdrhistogram::Histogram::<u64>::new_with_max(1 << 43, 3).unwrap();
        values.iter().for_each(|ns| oracle.record(*ns).unwrap());
        match h.percentile(fraction) {
            None => prop_assert!(values.is_empty()),
            Some(ns) => {
                let expected = oracle.value_at_quantile(fraction) as f64;
                prop_assert!((ns - expected).abs() <= 0.032 * expected, "{ns} against {expected}");
            }
        }
    }

    #[test]
    fn merge_is_associative_and_commutative(a in values(), b in values(), c in values()) {
        let (a, b, c) = (of(&a), of(&b), of(&c));
        prop_assert!(same(&merged(&[&merged(&[&a, &b]), &c]), &merged(&[&a, &merged(&[&b, &c])])));
        prop_assert!(same(&merged(&[&a, &b]), &merged(&[&b, &a])));
    }

    #[test]
    fn merging_is_recording_all(a in values(), b in values()) {
        prop_assert!(same(&merged(&[&of(&a), &of(&b)]), &of(&[a, b].concat())));
    }

    #[test]
    fn since_gives_back_what_was_added(a in values(), b in values()) {
        let (earlier, added) = (of(&a), of(&b));
        let diff = merged(&[&earlier, &added]).since(&earlier);
        prop_assert_eq!(&diff.counts, &added.counts);
        prop_assert_eq!((diff.count, diff.sum_ns), (added.count, added.sum_ns));
        if added.count > 0 {
            prop_assert!(diff.min_ns <= added.min_ns && added.max_ns <= diff.max_ns);
            prop_assert_eq!(bucket_of(diff.min_ns), bucket_of(added.min_ns));
            prop_assert_eq!(bucket_of(diff.max_ns), bucket_of(added.max_ns));
        }
    }

    #[test]
    fn serialized_and_back(values in values()) {
        let h = of(&values);
        let json = serde_json::to_string(&h).unwrap();
        prop_assert!(same(&h, &serde_json::from_str(&json).unwrap()));
        let again = Histogram::from_parts(h.nonzero(), h.sum_ns, h.sum_sq_us2, h.min_ns, h.max_ns);
        prop_assert_eq!(again, h);
    }
}

#[test]
fn the_empty_histogram_has_no_figures() {
    let h = Histogram::default();
    assert_eq!(
        (
            h.percentile(0.5),
            h.mean_ns(),
            h.stddev_ns(),
            h.min(),
            h.max()
        ),
        (None, None, None, None, None)
    );
    assert_eq!(h.nonzero().count(), 0);
}

#[test]
fn fractions_that_are_none_give_none() {
    let h = of(&[1, 2, 3]);
    for fraction in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
        assert_eq!(h.percentile(fraction), None);
    }
    assert_eq!(
        (h.percentile(0.0), h.percentile(1.0)),
        (Some(1.0), Some(3.0))
    );
}

#[test]
fn what_never_ended_is_beyond_all_values() {
    let h = of(&(1..=90).map(|ms| ms * 1_000_000).collect::<Vec<_>>());
    for fraction in [0.0, 0.5, 0.99, 1.0] {
        assert_eq!(h.percentile_among(fraction, 90), h.percentile(fraction));
    }
    // The 90th of 100 is the largest value, and the 50th of them the 50th of the 90.
    assert_eq!(h.percentile_among(0.9, 100), h.percentile(1.0));
    assert_eq!(h.percentile_among(0.5, 100), h.percentile(50.0 / 90.0));
    assert_ne!(h.percentile_among(0.5, 100), h.percentile(0.5));
    assert_eq!(h.percentile_among(0.95, 100), None);
    assert_eq!(h.percentile_among(0.91, 100), None);
    assert_eq!(h.percentile_among(f64::NAN, 100), None);
    assert_eq!(of(&[]).percentile_among(0.5, 10), None);
}

#[test]
fn extreme_values_are_counted() {
    let h = of(&[0, u64::MAX]);
    assert_eq!((h.count, h.min(), h.max()), (2, Some(0), Some(u64::MAX)));
    assert_eq!(h.nonzero().collect::<Vec<_>>(), [(0, 1), (BUCKETS - 1, 1)]);
    assert_eq!(of(&[u64::MAX]).percentile(0.5), Some(u64::MAX as f64));
    assert_eq!(of(&[0]).percentile(0.5), Some(0.0));
}

#[test]
fn mean_and_deviation_are_exact() {
    let h = of(&[2_000, 4_000, 4_000, 4_000, 5_000, 5_000, 7_000, 9_000]);
    assert_eq!(h.mean_ns(), Some(5_000.0));
    assert!((h.stddev_ns().unwrap() - 2_000.0).abs() < 1e-6);
    assert_eq!(
        of(&[123_456_789; 5]).stddev_ns().map(|s| s < 1.0),
        Some(true)
    );
}

#[test]
fn an_unknown_bucket_is_refused_when_read_back() {
    let json = r#"{"counts":[[1216,1]],"count":1,"sum_ns":0,"sum_sq_us2":0,"min_ns":0,"max_ns":0}"#;
    assert!(serde_json::from_str::<Histogram>(json).is_err());
}
