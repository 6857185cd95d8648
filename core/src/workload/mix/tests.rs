use serde_json::json;

use super::*;

/// Two types, of which the first one has two commands; the second one may take 2 ms.
fn mix() -> Mix {
    Mix {
        types: vec![
            Type {
                name: "order".into(),
                weight: 3,
                limit_ns: None,
                commands: vec![
                    Command {
                        line: 1,
                        kind: "\\set",
                    },
                    Command {
                        line: 4,
                        kind: "SQL",
                    },
                ],
            },
            Type {
                name: "payment".into(),
                weight: 1,
                limit_ns: Some(2_000_000),
                commands: Vec::new(),
            },
        ],
        counts_rollbacks: true,
    }
}

fn zeroed<T: Default>(count: usize) -> Vec<T> {
    (0..count).map(|_| T::default()).collect()
}

/// Results of two clients; `count` gets their counters.
fn results(whole: &str, count: impl Fn([Counted<'_>; 2])) -> Results {
    let mix = mix();
    let shape = mix.shape(2);
    let types: Vec<TypeCounters> = zeroed(2 * shape.types);
    let commands: Vec<CommandCounters> = zeroed(2 * shape.commands);
    for client in 0..2 {
        let own = &types[shape.types_of(client)];
        own[1]
            .limit_ns
            .store(2_000_000, std::sync::atomic::Ordering::Relaxed);
    }
    count([0, 1].map(|client| Counted {
        types: &types[shape.types_of(client)],
        commands: &commands[shape.commands_of(client)],
    }));
    let all = Counted {
        types: &types,
        commands: &commands,
    };
    Results::of(&mix, &shape, &all, whole)
}

#[test]
fn each_type_has_what_all_clients_have_counted() {
    let found = results("all", |[first, second]| {
        first.types[0].count(Outcome::Committed, 1_000_000, &[400_000], 0);
        second.types[0].count(Outcome::Committed, 3_000_000, &[], 2);
        second.types[0].count(Outcome::RolledBack, 5_000_000, &[], 0);
        second.types[1].count(Outcome::Committed, 2_000_001, &[1], 0);
        second.types[1].count(Outcome::Committed, 2_000_000, &[1], 0);
    });
    assert!(found.transactions.iter().all(|type_| type_.tps.is_none()));
    let found = found.with_rates(4000.0);
    let [order, payment] = &found.transactions[..] else {
        panic!("{:?}", found.transactions)
    };
    assert_eq!(
        (order.position, order.transaction.as_str(), order.weight),
        (1, "order", 3)
    );
    assert_eq!((order.tps, payment.tps), (Some(0.5), Some(0.5)));
    assert_eq!((order.committed, order.rolled_back), (2, Some(1)));
    assert_eq!((order.retried, order.retries, order.failed), (1, 2, 0));
    assert_eq!((order.limit_ms, order.late), (None, None));
    assert_eq!(order.latencies.latency_avg_ms, Some(3.0));
    assert_eq!(order.latencies.latency_p999_ms, None);
    assert_eq!((payment.limit_ms, payment.late), (Some(2.0), Some(1)));
    let stored = found.histograms.iter();
    let stored: Vec<_> = stored
        .map(|row| {
            (
                row.transaction.as_str(),
                json!(row.measure),
                row.transactions,
            )
        })
        .collect();
    assert_eq!(
        stored,
        [
            ("order", json!("latency"), 3),
            ("order", json!("commit"), 1),
            ("payment", json!("latency"), 2),
            ("payment", json!("commit"), 2),
        ]
    );
}

#[test]
fn failures_are_counted_by_sqlstate_and_the_many_together() {
    let found = results("all", |[first, second]| {
        first.types[0].count_retry("40001");
        first.types[0].count_retry("40001");
        first.types[0].count_failed("40001", 2);
        second.types[0].count_failed("40001", 0);
        second.types[0].count_failed("P0001", 0);
        for code in 0..20 {
            second.types[1].count_failed(&format!("ZZ0{code:02}"), 0);
        }
    });
    let of = |position: usize| {
        let rows = found.failures.iter().filter(|row| row.position == position);
        rows.map(|row| (row.sqlstate.as_str(), row.transactions, row.retries))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(1), [("40001", 2, 2), ("P0001", 1, 0)]);
    // Fifteen codes are known apart; five transactions had others.
    assert_eq!(of(2).len(), 16);
    assert!(of(2).contains(&("other", 5, 0)));
    let [order, payment] = [0, 1].map(|index: usize| &found.transactions[index]);
    assert_eq!((order.failed, order.retried, order.retries), (3, 1, 2));
    assert_eq!((payment.failed, payment.committed), (20, 0));
    assert_eq!(payment.latencies, Latencies::default());
    assert!(found.histograms.is_empty());
}

#[test]
fn commands_are_those_of_their_type() {
    let found = results("all", |[first, second]| {
        first.commands[1].latency.record(1_000_000);
        second.commands[1].latency.record(3_000_000);
        second.commands[1]
            .failures
            .store(1, std::sync::atomic::Ordering::Relaxed);
    });
    let [set, sql] = &found.commands[..] else {
        panic!("{:?}", found.commands)
    };
    assert_eq!(
        (set.position, set.command, set.line, set.kind),
        (1, 1, 1, "\\set")
    );
    assert_eq!((set.executions, set.latencies), (0, Latencies::default()));
    assert_eq!((sql.command, sql.line, sql.kind), (2, 4, "SQL"));
    assert_eq!((sql.executions, sql.failures), (3, 1));
    assert_eq!(sql.latencies.latency_max_ms, Some(3.0));
    let [row] = &found.histograms[..] else {
        panic!("{:?}", found.histograms)
    };
    assert_eq!(
        (json!(row.measure), row.transactions),
        (json!("command 2"), 2)
    );
}

#[test]
fn a_type_with_the_name_of_all_has_no_second_histogram() {
    let found = results("payment", |[first, _]| {
        first.types[1].count(Outcome::Committed, 1, &[1], 0);
    });
    assert!(found.histograms.is_empty());
    assert_eq!(found.transactions[1].committed, 1);
}

#[test]
fn the_counters_of_clients_do_not_overlap() {
    let shape = mix().shape(3);
    assert_eq!((shape.types, shape.commands), (2, 2));
    assert_eq!((shape.types_of(2), shape.commands_of(1)), (4..6, 2..4));
    let bytes = 6 * size_of::<TypeCounters>() + 6 * size_of::<CommandCounters>();
    assert_eq!(shape.bytes(), Some(bytes));
    assert_eq!(shape.bytes_of_types(), 6 * size_of::<TypeCounters>());
    let huge = Shape {
        clients: usize::MAX,
        ..shape
    };
    assert_eq!(huge.bytes(), None);
}

#[test]
fn a_transaction_is_tried_again_within_its_limit_and_the_window() {
    let tries = Tries {
        most: 3,
        ..Tries::ONCE
    };
    let failed = FailedTry {
        retries: 1,
        elapsed_ns: 5,
        limit_ns: Some(5),
        is_over: false,
    };
    assert!(tries.has_another(&failed));
    for no_more in [
        FailedTry {
            retries: 2,
            ..failed
        },
        FailedTry {
            elapsed_ns: 6,
            ..failed
        },
        FailedTry {
            is_over: true,
            ..failed
        },
    ] {
        assert!(!tries.has_another(&no_more), "{no_more:?}");
    }
    let without_limit = FailedTry {
        elapsed_ns: 6,
        limit_ns: None,
        ..failed
    };
    assert!(tries.has_another(&without_limit));
}

#[test]
fn each_commit_of_a_transaction_is_counted() {
    let results = results("script", |[first, _]| {
        first.types[0].count(Outcome::Committed, 9_000_000, &[1_000_000, 2_000_000], 0);
        first.types[0].count(Outcome::RolledBack, 9_000_000, &[4_000_000], 0);
    });
    let commits = results.histograms.iter();
    let commits = commits.filter(|row| json!(row)["measure"] == "commit");
    let counts: Vec<_> = commits
        .map(|row| json!(row)["transactions"].as_u64())
        .collect();
    assert_eq!(counts, [Some(2)]);
}

#[test]
fn a_search_has_counts_and_no_latencies() {
    let results = results("script", |[first, _]| {
        first.types[0].count(Outcome::Committed, 1_000_000, &[400_000], 0);
        first.commands[0].latency.record(500_000);
    })
    .without_latencies();
    assert_eq!(results.transactions[0].committed, 1);
    assert_eq!(results.transactions[0].latencies, Latencies::default());
    assert!(results.histograms.is_empty() && results.commands.is_empty());
}
