//! Arguments of an experiment, and its announcement.

use serde_json::json;

use crate::{
    experiment::{
        arguments, plan,
        state::{Goal, Neighbours},
    },
    refusal::check,
    workload::tests::resolved,
};

fn check_given(
    arguments: serde_json::Value,
) -> Result<arguments::Checked, crate::refusal::Refusal> {
    let mut given = json!({"experiment": "e", "targets": ["a", "b"]});
    let object = given.as_object_mut().unwrap();
    object.extend(arguments.as_object().unwrap().clone());
    let arguments: arguments::ExperimentArguments = serde_json::from_value(given).unwrap();
    let made = arguments::made_targets(&arguments)?;
    arguments::check(&arguments, &made)
}

/// Each value was compared with all before it: this list took hours.
#[test]
fn long_lists_are_counted_before_they_are_looked_at() {
    let values: Vec<u32> = (0..400_000).collect();
    let names: Vec<String> = values.iter().map(|n| format!("t{n}")).collect();
    let many: serde_json::Map<String, serde_json::Value> = (names.iter())
        .map(|name| (format!("settings.{name}"), json!([1, 2])))
        .collect();
    for arguments in [
        json!({"targets": null, "factors": {"clients": values}}),
        json!({"factors": {"mount_options": names}}),
        json!({"factors": many}),
        json!({"targets": names}),
        json!({"targets": null, "filesystems": names, "image_size": "1GB"}),
    ] {
        let refusal = check_given(arguments).unwrap_err();
        assert_eq!(refusal.message, "there are too many targets");
        check::style(&refusal);
    }
}

#[test]
fn a_metric_of_a_transaction_type_needs_a_run_that_has_it() {
    let given = |metric: &str, mix: serde_json::Value| {
        check_given(
            json!({"metric": metric, "run": {"workload": "tpcc-like", "rate": 50.0, "options": {"mix": mix}}}),
        )
    };
    let both = json!({"new-order": 1, "payment": 1});
    given("latency_p90_ms of new-order", both.clone()).unwrap();
    given("notpm", both.clone()).unwrap();
    for name in ["order", "delivery"] {
        let refusal = given(&format!("latency_p90_ms of {name}"), both.clone()).unwrap_err();
        check::style(&refusal);
        let hint = refusal.hint.unwrap();
        assert!(hint.contains("\"new-order\", \"payment\"."), "{hint}");
    }
}

#[test]
fn wrong_arguments_are_refused_with_detail_and_hint() {
    for (arguments, message) in [
        (json!({"experiment": null}), "must not be null"),
        (json!({"experiment": " "}), "is empty"),
        (json!({"experiment": "a\nb"}), "is no name"),
        (json!({"experiment": "a\u{202e}b"}), "is no name"),
        (json!({"rate_share": 1.5}), "out of range"),
        (json!({"rate_share": -0.5}), "out of range"),
        (json!({"run": {"stage": "load_only"}}), "whole run"),
        (
            json!({"run": {"options": {"power_cut": 901}}}),
            "invalid value of option \"power_cut\"",
        ),
        (
            json!({"run": {"workload": "power-cut", "options": {"power_cut": 5}}}),
            "means nothing",
        ),
        (json!({"targets": null}), "needs targets"),
        (json!({"targets": []}), "needs targets"),
        (json!({"targets": ["a"]}), "one target alone"),
        (json!({"targets": ["a", null]}), "null or empty"),
        (json!({"targets": ["a", "a"]}), "twice"),
        (json!({"goal": "fast"}), "goal \"fast\" does not exist"),
        (json!({"goal": "baseline"}), "needs a baseline"),
        (json!({"goal": "best", "baseline": "a"}), "has no baseline"),
        (json!({"baseline": "c"}), "is not among the targets"),
        (
            json!({"metric": "speed"}),
            "metric \"speed\" does not exist",
        ),
        (json!({"metric": "latency_p99_ms"}), "without a rate"),
        (json!({"metric": "stall_seconds"}), "can be zero"),
        (json!({"margin": 0}), "margin"),
        (json!({"margin": -0.1}), "margin"),
        (json!({"max_blocks": 2}), "under 3"),
        (json!({"max_blocks": 25}), "at most 24"),
        (json!({"max_blocks": 5}), "no look"),
        (json!({"max_duration_us": 0}), "max_duration"),
        (json!({"cycle_us": 29_000_000}), "cycle"),
        (json!({"filesystems": ["ext4"]}), "exclude each other"),
        (
            json!({"targets": null, "filesystems": ["ext4", "xfs"]}),
            "a device or an image_size",
        ),
        (
            json!({"device": "/dev/sdb"}),
            "means nothing without filesystems",
        ),
        (json!({"factors": {}}), "factors"),
        (json!({"factors": {"seed": [1, 2]}}), "cannot be a factor"),
        (json!({"factors": {"clients": [1]}}), "no two values"),
        (json!({"factors": {"clients": [1, 1]}}), "cannot be used"),
        (
            json!({"factors": {"clients": [1, 2]}, "run": {"clients": 4}}),
            "contradicts",
        ),
        (
            json!({"factors": {"target_settings.work_mem": ["1MB", "2MB"]}, "run": {"settings": {"work_mem": "4MB"}}}),
            "contradicts",
        ),
        (
            json!({"factors": {"target_settings.checkpoint_timeout": ["1min", "2min"]}, "cycle_us": 60_000_000}),
            "contradicts",
        ),
        (
            json!({"factors": {"duration": ["1 min", "2 min"]}}),
            "\"duration\" cannot be a factor",
        ),
        (
            json!({"factors": {"cycle": ["1 min", "2 min"]}}),
            "\"cycle\" cannot be a factor",
        ),
        (
            json!({"factors": {"filesystem": ["ext4", "xfs"]}}),
            "cannot be a factor",
        ),
        (
            json!({"factors": {"data_checksums": ["on", "off"]}}),
            "value 1 of factor \"data_checksums\" cannot be used",
        ),
        (
            json!({"factors": {"log_size": ["", 128]}}),
            "value 2 of factor \"log_size\" cannot be used",
        ),
        (
            json!({"targets": null, "factors": {"data_checksums": [true, false]}}),
            "cannot vary target \"default\"",
        ),
        (
            json!({"factors": {"clients": [1, 2, 3, 4, 5], "scale": [1, 2, 3]}, "grid": true}),
            "too many targets",
        ),
        (json!({"metric": "recovery_ms"}), "needs option \"crash\""),
        (
            json!({"metric": "recovery_ms", "factors": {"options.crash": [true, false]}}),
            "needs option \"crash\"",
        ),
        (
            json!({"metric": "scan_bytes_per_s"}),
            "is not measured by workload \"tpcb\"",
        ),
        (
            json!({"metric": "tps", "factors": {"workload": ["tpcb", "scan"]}}),
            "is not measured by workload \"scan\"",
        ),
    ] {
        let refusal = check_given(arguments.clone()).expect_err(&arguments.to_string());
        assert!(
            refusal.message.contains(message),
            "{arguments}: {}",
            refusal.message
        );
        check::style(&refusal);
    }
}

#[test]
fn factors_are_varied_one_at_a_time_or_in_a_grid() {
    let factors = json!({"targets": null, "factors": {"clients": [1, 8], "settings.wal_compression": ["off", "on"]}});
    let checked = check_given(factors.clone()).unwrap();
    let names: Vec<&str> = checked.candidates.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "clients=1 wal_compression=off",
            "clients=8 wal_compression=off",
            "clients=1 wal_compression=on"
        ]
    );
    assert_eq!((checked.goal, checked.baseline), (Goal::Baseline, Some(0)));
    assert_eq!(
        checked.candidates[2].own["settings"]["wal_compression"],
        "on"
    );
    let mut grid = factors;
    grid["grid"] = json!(true);
    let checked = check_given(grid).unwrap();
    assert_eq!((checked.candidates.len(), checked.goal), (4, Goal::Best));
}

#[test]
fn a_parameter_of_targets_is_varied_on_targets_that_are_made_for_it() {
    let checked = check_given(json!({
        "experiment": "Options!", "targets": ["ext4", "b"], "factors": {"clients": [1, 8], "mount_options": ["", "noatime"]}
    }))
    .unwrap();
    let of = |of: &dyn Fn(&arguments::Candidate) -> String| -> Vec<String> {
        checked.candidates.iter().map(of).collect()
    };
    assert_eq!(
        of(&|c| format!("{} on {}", c.name, c.target)),
        [
            "ext4 clients=1 no mount_options on options.ext4.1",
            "ext4 clients=8 no mount_options on options.ext4.1",
            "ext4 clients=1 mount_options=noatime on options.ext4.2",
            "b clients=1 no mount_options on options.b.3",
            "b clients=8 no mount_options on options.b.3",
            "b clients=1 mount_options=noatime on options.b.4",
        ]
    );
    // A parameter of the target is no parameter of its runs.
    assert_eq!(of(&|c| c.own.len().to_string()), ["1"; 6]);
    let variants: Vec<_> = checked
        .variants
        .iter()
        .map(|v| (&*v.name, &*v.of))
        .collect();
    assert_eq!(
        variants,
        [
            ("options.ext4.1", "ext4"),
            ("options.ext4.2", "ext4"),
            ("options.b.3", "b"),
            ("options.b.4", "b")
        ]
    );
    assert_eq!(
        checked.variants[3].values,
        [("mount_options".to_owned(), json!("noatime"))]
    );
    let plain = check_given(json!({"factors": {"clients": [1, 8]}})).unwrap();
    assert_eq!(plain.variants, []);
}

#[test]
fn a_grid_of_any_size_is_refused_at_once() {
    let values: Vec<u32> = (1..=1000).collect();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let factors: serde_json::Map<_, _> = (names.iter())
        .map(|name| (format!("settings.{name}"), json!(values)))
        .collect();
    let refusal = check_given(json!({"factors": factors, "grid": true})).unwrap_err();
    assert_eq!(refusal.message, "there are too many targets");
}

#[test]
fn filesystems_make_targets_of_their_own() {
    let arguments: arguments::ExperimentArguments = serde_json::from_value(
        json!({"experiment": "New disk!", "filesystems": ["ext4", "xfs"], "image_size": "1GB"}),
    )
    .unwrap();
    let made = arguments::made_targets(&arguments).unwrap();
    assert_eq!(made[0], ("ext4".into(), "new-disk.ext4".into()));
    let checked = arguments::check(&arguments, &made).unwrap();
    assert_eq!(checked.candidates[1].name, "xfs");
    assert_eq!(checked.candidates[1].target, "new-disk.xfs");
}

/// The length of runs with windows of this many seconds, and a checkpoint cycle of ten.
fn length(seconds: f64) -> plan::Length {
    plan::Length {
        warmup_seconds: 0.0,
        window_seconds: seconds,
        data_bytes: 0,
        cycle_seconds: 10.0,
    }
}

#[test]
fn it_is_announced() {
    let checked = check_given(json!({"targets": ["ext4", "xfs", "btrfs"]})).unwrap();
    assert_eq!(
        plan::announced(&checked, length(1265.0), plan::RunsBefore::default()),
        "3 targets, which is best, metric tps, margin 5 %; 3 to 12 blocks, looks after 3, 4, 6, 8 and 12; a target that is decided is not \
         run again; 9 to 36 runs, about 3 h 11 min to 12 h 42 min"
    );
    let checked = check_given(json!({"baseline": "a", "max_blocks": 3})).unwrap();
    assert_eq!(
        plan::announced(&checked, length(5.0), plan::RunsBefore::default()),
        "2 targets, each against a, metric tps, margin 5 %; 3 blocks, one look after 3; 6 runs, about 1 min"
    );
    // Half an hour has less of it for blocks of two runs of a minute where others come before them; a fifth of each is kept for what lies between runs.
    let within = |seconds, before| plan::blocks_within(seconds, 2, length(55.0), before);
    assert_eq!(within(1800.0, plan::RunsBefore::default()), 12);
    let before = plan::RunsBefore::planned(true, true, true, 2);
    assert_eq!(within(1800.0, before), 11);
    assert_eq!(within(180.0, before), 0);
    assert_eq!(within(100.0, before), 0, "it does not come to a block");
    // 300 power cuts and 20 of each other part take about 7 minutes on each target.
    let cut = plan::RunsBefore::default().with_power_cuts(Some(300), 2);
    assert_eq!((cut.runs(), cut.power_cut_seconds()), (2, 880.0));
    assert_eq!(within(1800.0, cut), 6);
    assert_eq!(within(1e9, before), 24);
    // Runs before the first block are announced, too.
    let told = |burn_in, has_share, pilot_cycle| {
        let before = plan::RunsBefore::planned(burn_in, has_share, pilot_cycle, 2);
        let told = plan::announced(&checked, length(55.0), before);
        told.rsplit("; ").next().unwrap().to_owned()
    };
    assert_eq!(
        told(false, false, true),
        "6 runs and 2 before them that do not count, about 6 min 30 s"
    );
    assert_eq!(
        told(true, false, true),
        "6 runs and 2 before them that do not count, about 7 min 15 s"
    );
    assert_eq!(
        told(true, true, true),
        "6 runs and 3 before them that do not count, about 9 min"
    );
}

#[test]
fn one_scale_for_all_numbers_of_clients() {
    let run = |arguments: serde_json::Value| resolved(serde_json::from_value(arguments).unwrap());
    let clients = |n: u32| run(json!({"clients": n}));
    assert_ne!(clients(4).scale, clients(24).scale);
    assert_eq!(
        arguments::one_scale(&[clients(4), clients(24), clients(1)]),
        Some(24)
    );
    assert_eq!(arguments::one_scale(&[clients(4), clients(8)]), Some(10));
    // The scale is given.
    let given = run(json!({"clients": 4, "scale": 50}));
    assert_eq!(arguments::one_scale(&[given.clone(), given]), None);
    // A workload without a scale.
    let commit = run(json!({"clients": 4, "workload": "commit"}));
    assert_eq!(arguments::one_scale(&[clients(4), commit]), None);
    assert_eq!(arguments::one_scale(&[]), None);
}

#[test]
fn power_cuts_are_an_option_of_the_experiment_and_not_of_its_runs() {
    let given = json!({"power_cut": 300, "data": "copied"});
    let arguments: arguments::ExperimentArguments = serde_json::from_value(json!({
        "experiment": "e", "targets": ["a", "b"], "run": {"options": given}
    }))
    .unwrap();
    let checked = arguments::check(&arguments, &[]).unwrap();
    assert_eq!(checked.power_cuts, Some(300));
    let of_runs = arguments::options_of_runs(arguments.run.options);
    assert_eq!(of_runs, Some(json!({"data": "copied"})));
    assert_eq!(
        arguments::options_of_runs(Some(json!({"power_cut": 1}))),
        None
    );
    let other = Some(json!([1]));
    assert_eq!(arguments::options_of_runs(other.clone()), other);
}

#[test]
fn a_budget_stands_alone() {
    let taken = check_given(json!({"budget_us": 1_200_000_000})).unwrap();
    assert_eq!(taken.budget_seconds, Some(1200.0));
    for (contradiction, message) in [
        (json!({"budget_us": 0}), "budget is not above zero"),
        (json!({"budget_us": -1}), "budget is not above zero"),
        (
            json!({"budget_us": 1, "max_duration_us": 1}),
            "budget and max_duration exclude each other",
        ),
        (
            json!({"budget_us": 1, "run": {"transactions": 10}}),
            "budget and transactions exclude each other",
        ),
        (
            json!({"budget_us": 1, "metric": "sustainable_rate", "run": {"latency_limit_ms": 20.0, "options": {"sustain": 99}}}),
            "budget and the option \"sustain\" exclude each other",
        ),
    ] {
        let refused = check_given(contradiction.clone());
        let refusal = refused.expect_err(&contradiction.to_string());
        assert_eq!(refusal.message, message);
        check::style(&refusal);
    }
}

#[test]
fn neighbours_are_expected_or_not() {
    let of =
        |given: serde_json::Value| check_given(json!({"neighbours": given})).map(|c| c.neighbours);
    assert_eq!(of(json!(null)), Ok(Neighbours::Unexpected));
    assert_eq!(of(json!("unexpected")), Ok(Neighbours::Unexpected));
    assert_eq!(of(json!("expected")), Ok(Neighbours::Expected));
    // `found` is a result, and is refused as an argument.
    for text in ["found", "", "Expected"] {
        check::style(&of(json!(text)).unwrap_err());
    }
}
