use super::*;
use crate::refusal::check;
use proptest::prelude::*;

/// Mostly values that are possible, sometimes any at all.
fn near<T: std::fmt::Debug + Clone + 'static>(
    usual: impl Strategy<Value = T> + 'static,
    any: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop_oneof![3 => Just(None), 6 => usual.prop_map(Some), 1 => any.prop_map(Some)]
}

fn anything() -> impl Strategy<Value = RunArguments> {
    let name = prop_oneof![
        Just("tpcb".to_owned()),
        Just("select-only".into()),
        Just("fsync".into()),
        Just("simple-update".into())
    ];
    let json = prop_oneof![
        Just(json!({})),
        Just(json!({"fillfactor": 50})),
        Just(json!({"methods": ["fsync"], "writers": [3]})),
        Just(json!({"work_mem": "1MB"})),
        Just(json!([])),
        Just(json!(null)),
    ];
    let who = (
        near(name, "\\PC*"),
        near("[ -~]{1,20}", ".*"),
        json.clone(),
        json,
        any::<[bool; 2]>(),
    );
    let much = (
        near(1i32..1000, any::<i32>()),
        near(1i32..=64, any::<i32>()),
        near("[1-9][0-9]? ?[MG]B", "\\PC*"),
    );
    let time = (
        near(1i64..10_000_000_000, any::<i64>()),
        near(1i64..1_000_000, any::<i64>()),
        near(0i64..10_000_000, any::<i64>()),
    );
    let pace = (
        near(0.001f64..1e6, any::<f64>()),
        near(0.001f64..1e6, any::<f64>()),
        any::<Option<i64>>(),
    );
    (who, much, time, pace).prop_map(|(who, much, time, pace)| RunArguments {
        stage: Stage::Whole,
        target: None,
        workload: who.0,
        scale: much.0,
        size: much.2,
        clients: much.1,
        duration_us: time.0,
        transactions: time.1,
        warmup_us: time.2,
        rate: pace.0,
        latency_limit_ms: pace.1,
        seed: pace.2,
        settings: Some(who.2),
        options: Some(who.3),
        label: who.1,
        keep: who.4[0],
        force: who.4[1],
        script: crate::spec::ScriptArguments::default(),
        data: None,
        database: None,
    })
}

/// Each optional argument dropped half the time, so that many cases resolve.
fn some_of_it() -> impl Strategy<Value = RunArguments> {
    (anything(), any::<[bool; 5]>()).prop_map(
        |(mut arguments, [size, duration, options, settings, label])| {
            arguments.size = arguments.size.filter(|_| size && arguments.scale.is_none());
            arguments.duration_us = arguments
                .duration_us
                .filter(|_| duration && arguments.transactions.is_none());
            arguments.options = arguments.options.filter(|_| options);
            arguments.settings = arguments.settings.filter(|_| settings);
            arguments.label = arguments.label.filter(|_| label);
            arguments
        },
    )
}

fn server() -> impl Strategy<Value = Facts> {
    let tuple = (
        0u32..300,
        any::<u64>(),
        prop_oneof![0u32..10, any::<u32>()],
        any::<u32>(),
        1u32..2000,
        any::<i64>(),
    );
    tuple.prop_map(
        |(
            processors,
            memory_bytes,
            free_worker_slots,
            max_worker_processes,
            max_clients,
            random_seed,
        )| Facts {
            processors,
            memory_bytes,
            free_worker_slots,
            max_worker_processes,
            max_clients,
            random_seed,
            ..Facts::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2000)))]

    #[test]
    fn resolves_within_bounds_or_refuses_in_style(arguments in some_of_it(), facts in server()) {
        match resolve(&arguments, &facts) {
            Err(refusal) => check::style(&refusal),
            Ok(spec) => {
                let scales = match spec.workload.takes("scale") {
                    true => 1..=units::MAX_SCALE,
                    false => 0..=0,
                };
                prop_assert!(scales.contains(&spec.scale));
                prop_assert!((1..=facts.max_clients).contains(&spec.clients));
                prop_assert!(spec.workers() <= facts.free_worker_slots);
                let bounded = match spec.bound {
                    Bound::DurationMs(ms) => (1..=30 * 86_400_000).contains(&ms),
                    Bound::Transactions(n) => (1..=1 << 40).contains(&n),
                };
                prop_assert!(bounded);
                prop_assert!(spec.warmup_ms <= 30 * 86_400_000);
                prop_assert!(spec.rate.is_none_or(|r| r > 0.0 && r.is_finite()));
                prop_assert!(spec.latency_limit_ms.is_none_or(|l| l > 0.0 && l.is_finite()));
                prop_assert!((10..=100).contains(&spec.options.fillfactor));
                prop_assert!(!spec.plan_text().contains('\n'));
                let json = serde_json::to_string(&spec).unwrap();
                prop_assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
            }
        }
    }

    #[test]
    fn a_resolved_run_asked_again_is_the_same(arguments in some_of_it(), facts in server()) {
        if let Ok(first) = resolve(&arguments, &facts) {
            let (duration_us, transactions) = match first.bound {
                Bound::DurationMs(ms) => (Some(ms as i64 * 1000), None),
                Bound::Transactions(n) => (None, Some(n as i64)),
            };
            let takes = |name| first.workload.takes(name);
            let again = RunArguments {
                scale: takes("scale").then_some(first.scale as i32),
                size: None,
                clients: takes("clients").then_some(first.clients as i32),
                duration_us: duration_us.filter(|_| takes("duration")),
                transactions: transactions.filter(|_| takes("transactions")),
                warmup_us: takes("warmup").then_some(first.warmup_ms as i64 * 1000),
                seed: Some(first.seed),
                ..arguments
            };
            let second = resolve(&again, &facts).unwrap();
            // The second request names the values that the first one chose.
            let bare = |spec| Spec { chosen: vec![], within_ms: None, ..spec };
            prop_assert_eq!(bare(first), bare(second));
        }
    }
}
