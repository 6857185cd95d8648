//! The search for a rate, on targets whose share of misses is a known function of the rate.

use crate::verdict::rate::search::{Search, SearchResult, Sustained, cycle_seconds};

const Q: f64 = 0.01;
const SECONDS: f64 = 60.0;

/// Searches to the end; also the rates of its probes.
fn search(free: f64, share: impl Fn(f64, usize) -> f64) -> (Search, Vec<f64>) {
    let mut search = Search::new(free, Q, 1);
    let (mut probes, mut cycles) = (Vec::new(), 0);
    while let Some(rate) = search.next() {
        if search.begins_probe() {
            probes.push(rate);
        }
        assert_eq!(search.found(), None);
        let scheduled = rate * SECONDS;
        search.record(scheduled, scheduled, scheduled * share(rate, cycles));
        cycles += 1;
        assert!(cycles < 100);
    }
    assert_eq!(search.effort(), (probes.len(), cycles + 1));
    (search, probes)
}

fn sustained(search: &Search) -> Sustained {
    match search.found() {
        Some(SearchResult::Rate(found)) => found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sharp_edge_is_found_within_the_resolution() {
    for edge in [150.0, 333.0, 699.0, 701.0, 940.0] {
        let (search, probes) = search(1000.0, |rate, _| if rate > edge { 0.2 } else { 0.0 });
        let found = sustained(&search);
        assert!(
            found.rate <= edge && found.rate > edge / 1.061,
            "{edge}: {found:?}"
        );
        assert!(found.low < edge && edge < found.high, "{edge}: {found:?}");
        assert_eq!(probes[0], 700.0);
        // The last probe confirms, with three cycles.
        assert_eq!(probes.last(), Some(&found.rate));
    }
}

#[test]
fn a_probe_passes_after_one_cycle_only_when_it_is_clear() {
    let first_probe = |share: f64| {
        let mut search = Search::new(1000.0, Q, 1);
        let mut cycles = 0;
        while search.next() == Some(700.0) {
            search.record(42_000.0, 42_000.0, 42_000.0 * share);
            cycles += 1;
        }
        (cycles, search.next().unwrap() > 700.0)
    };
    assert_eq!(first_probe(0.002), (1, true));
    assert_eq!(first_probe(0.0021), (3, true));
    assert_eq!(first_probe(0.01), (3, true));
    // More than three cycles may have.
    assert_eq!(first_probe(0.0101), (3, false));
    assert_eq!(first_probe(0.0151), (2, false));
    assert_eq!(first_probe(0.031), (1, false));
}

#[test]
fn where_no_rate_is_sustained_it_says_so() {
    let (search, probes) = search(1000.0, |_, _| 0.05);
    assert_eq!(probes, [700.0, 350.0, 175.0, 100.0]);
    match search.found() {
        Some(SearchResult::None { rate, share }) => {
            assert!(rate == 100.0 && (share - 0.05).abs() < 1e-12)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rate_that_is_not_confirmed_is_left_for_a_lower_one() {
    // From the fifth cycle on, which is to confirm, it is slower: 765 no more, 500 still.
    let (search, probes) = search(1000.0, |rate, cycle| {
        let edge = if cycle < 4 { 800.0 } else { 500.0 };
        if rate > edge { 0.2 } else { 0.0 }
    });
    let found = sustained(&search);
    assert!(found.rate <= 500.0 && found.rate > 440.0, "{found:?}");
    assert!(probes.iter().any(|&p| p > 750.0 && p < 800.0), "{probes:?}");
    assert!(found.high > found.rate * 1.05);
}

#[test]
fn a_target_that_only_gets_slower_is_not_confirmed() {
    let (search, _) = search(1000.0, |rate, cycle| {
        if cycle > 6 && rate > 100.0 * (1.0 + 9.0 / cycle as f64) {
            0.0301
        } else {
            0.0099
        }
    });
    assert!(search.effort().1 >= 24);
    match search.found() {
        Some(SearchResult::NotConfirmed(found)) => assert!(found.low < found.rate),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_search_that_is_over_takes_no_more_cycles() {
    let (mut search, _) = search(1000.0, |_, _| 0.05);
    let before = (search.effort(), search.found());
    search.record(1.0, 1.0, 1.0);
    assert_eq!((search.effort(), search.found()), before);
}

#[test]
fn a_cycle_has_enough_transactions() {
    assert_eq!(cycle_seconds(300.0, 1000.0, 0.01), 300.0);
    assert_eq!(cycle_seconds(30.0, 1000.0, 0.01), 60.0);
    assert_eq!(cycle_seconds(30.0, 10.0, 0.01), 200.0);
}
