use super::*;
use crate::{
    spec::{Facts, RunArguments},
    workload::resolve,
};
use serde_json::json;

fn facts() -> Facts {
    Facts {
        processors: 2,
        memory_bytes: 4 << 30,
        free_worker_slots: 40,
        max_worker_processes: 64,
        max_clients: 64,
        data_free_bytes: 100 << 30,
        checkpoint_timeout_ms: 300_000,
        random_seed: 42,
        ..Facts::default()
    }
}

fn search(duration_us: Option<i64>, percentile: f64) -> RateSearch {
    let arguments = RunArguments {
        latency_limit_ms: Some(20.0),
        duration_us,
        options: Some(json!({ "sustain": percentile })),
        ..RunArguments::default()
    };
    RateSearch::of(&resolve(&arguments, &facts()).unwrap()).unwrap()
}

/// Carries a search out where a share of misses follows from the rate, and `free` is done without one.
fn carried_out(search: &mut RateSearch, free: f64, share: impl Fn(f64) -> f64) {
    let mut at = 0;
    while let Some(next) = search.next() {
        let n = (next.rate.unwrap_or(free) * next.seconds) as u64;
        let misses = next.rate.map_or(0, |rate| (n as f64 * share(rate)) as u64);
        // Half of the misses are late, the others skipped.
        let mut counts = Counts {
            measured: n - misses / 2,
            skipped: misses / 2,
            late: misses - misses / 2,
            started_us: at,
            seconds: next.seconds,
            ..Counts::default()
        };
        counts.latency.record(1_000_000);
        counts.latency.record(30_000_000);
        at += 1_000_000;
        assert!(search.record(&counts));
    }
}

#[test]
fn a_run_without_the_option_searches_nothing() {
    let spec = resolve(&RunArguments::default(), &facts()).unwrap();
    assert!(RateSearch::of(&spec).is_none());
}

#[test]
fn the_first_cycle_has_no_rate_and_the_next_a_little_less() {
    let mut search = search(None, 99.0);
    let first = search.next().unwrap();
    assert_eq!((first.probe, first.rate, first.seconds), (0, None, 300.0));
    assert_eq!(first.discarded_seconds, 0.0);
    assert_eq!(
        (search.cycles(), search.found()),
        (0, Sustainable::default())
    );
    search.record(&Counts {
        measured: 300_000,
        seconds: 300.0,
        ..Counts::default()
    });
    let second = search.next().unwrap();
    assert_eq!((second.probe, second.rate), (1, Some(700.0)));
    assert_eq!((second.seconds, second.discarded_seconds), (300.0, 15.0));
    assert_eq!(search.cycles(), 1);
}

#[test]
fn low_rates_take_longer_cycles_unless_they_are_given() {
    for (given, seconds) in [(None, 20_000.0 / 7.0), (Some(2_000_000), 2.0)] {
        let mut search = search(given, 99.9);
        search.record(&Counts {
            measured: 10 * search.next().unwrap().seconds as u64,
            seconds: search.next().unwrap().seconds,
            ..Counts::default()
        });
        let next = search.next().unwrap();
        assert!((next.rate.unwrap() - 7.0).abs() < 1e-9);
        assert!((next.seconds - seconds).abs() < 1e-3, "{next:?}");
    }
}

#[test]
fn what_is_found_agrees_with_the_probes() {
    let mut search = search(None, 99.0);
    carried_out(
        &mut search,
        1000.0,
        |rate| if rate > 500.0 { 0.2 } else { 0.0 },
    );
    let found = search.found();
    let rate = found.sustainable_rate.unwrap();
    assert!(rate <= 500.0 && rate > 470.0);
    assert!(found.sustainable_rate_low.unwrap() <= rate);
    assert!(found.sustainable_rate_high.unwrap() >= rate);
    let probes = search.probes();
    let last = probes.last().unwrap();
    assert_eq!(
        (last.purpose, last.rate, last.kept),
        ("confirm", Some(rate), Some(true))
    );
    assert_eq!(last.cycle_scheduled.len(), 3);
    for (number, probe) in probes.iter().enumerate() {
        assert_eq!(probe.number, number);
        assert_eq!(probe.kept.is_none(), number == 0);
        assert_eq!(
            probe.kept.is_some_and(|kept| !kept),
            probe.rate > Some(500.0)
        );
        assert_eq!(probe.misses, probe.skipped + probe.late + probe.failed);
        assert_eq!(probe.scheduled, probe.cycle_scheduled.iter().sum::<u64>());
        assert_eq!(probe.misses, probe.cycle_misses.iter().sum::<u64>());
    }
    let says = found.sustainable_rate_says.unwrap();
    let rate = format!(
        "at {rate:.0} tps 99 % of the transactions take at most 20 ms; the limit is reached at "
    );
    assert!(says.starts_with(&rate), "{says}");
}

#[test]
fn where_nothing_fails_and_where_everything_does_it_says_so() {
    let mut all = search(Some(2_000_000), 99.0);
    carried_out(&mut all, 1000.0, |_| 0.0);
    let says = all.found().sustainable_rate_says.unwrap();
    assert!(says.ends_with(
        "; every rate that was tried keeps the limit, up to the 1000 tps that it does without a rate (cycles of 2 s as given, not checkpoint cycles)"
    ), "{says}");
    let mut none = search(None, 99.0);
    carried_out(&mut none, 1000.0, |_| 0.05);
    let found = none.found();
    assert_eq!(
        (found.sustainable_rate, found.sustainable_rate_high),
        (None, Some(100.0))
    );
    assert_eq!(
        found.sustainable_rate_says.unwrap(),
        "none: at 100 tps, of 1000 without a rate, 5.00 % of the transactions miss 20 ms; the longest took 30 ms"
    );
}

#[test]
fn a_percentile_that_was_skipped_is_not_known() {
    let mut search = search(Some(1_000_000), 50.0);
    let mut counts = Counts {
        measured: 2,
        seconds: 1.0,
        ..Counts::default()
    };
    counts.latency.record(1_000_000);
    counts.latency.record(3_000_000);
    search.record(&counts);
    // The larger half of what was due was skipped.
    counts.skipped = 3;
    while search.probes().len() < 2 {
        search.record(&counts);
    }
    let [free, probe] = search.probes() else {
        panic!("{:?}", search.probes())
    };
    assert!(free.latency_ms.is_some_and(|ms| (ms - 1.0).abs() < 0.02));
    assert_eq!((probe.latency_ms, probe.latency_max_ms), (None, Some(3.0)));
}

#[test]
fn a_target_that_does_nothing_gives_nothing_to_search_from() {
    let mut search = search(Some(1_000_000), 99.0);
    assert!(!search.record(&Counts {
        seconds: 1.0,
        ..Counts::default()
    }));
}
