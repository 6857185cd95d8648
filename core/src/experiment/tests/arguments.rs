//! What an experiment is asked for, and what it announces.

use serde_json::json;

use crate::{
    experiment::{asked, plan, state::Goal},
    refusal::check,
};

fn asked(arguments: serde_json::Value) -> Result<asked::Checked, crate::refusal::Refusal> {
    let mut given = json!({"experiment": "e", "targets": ["a", "b"]});
    let object = given.as_object_mut().unwrap();
    object.extend(arguments.as_object().unwrap().clone());
    let asked: asked::Asked = serde_json::from_value(given).unwrap();
    let made = asked::made_targets(&asked)?;
    asked::check(&asked, &made)
}

#[test]
fn wrong_arguments_are_refused_with_detail_and_hint() {
    for (arguments, message) in [
        (json!({"experiment": null}), "must not be null"),
        (json!({"experiment": " "}), "is empty"),
        (json!({"experiment": "a\nb"}), "is no name"),
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
    ] {
        let refusal = asked(arguments.clone()).expect_err(&arguments.to_string());
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
    let checked = asked(factors.clone()).unwrap();
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
    let checked = asked(grid).unwrap();
    assert_eq!((checked.candidates.len(), checked.goal), (4, Goal::Best));
}

#[test]
fn filesystems_make_targets_of_their_own() {
    let asked: asked::Asked = serde_json::from_value(
        json!({"experiment": "New disk!", "filesystems": ["ext4", "xfs"], "image_size": "1GB"}),
    )
    .unwrap();
    let made = asked::made_targets(&asked).unwrap();
    assert_eq!(made[0], ("ext4".into(), "new-disk.ext4".into()));
    let checked = asked::check(&asked, &made).unwrap();
    assert_eq!(checked.candidates[1].name, "xfs");
    assert_eq!(checked.candidates[1].target, "new-disk.xfs");
}

/// Of runs that take so many seconds, and five beside; a checkpoint cycle is of ten.
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
    let checked = asked(json!({"targets": ["ext4", "xfs", "btrfs"]})).unwrap();
    assert_eq!(
        plan::announced(&checked, length(1265.0), plan::Before::default()),
        "3 targets, which is best, metric tps, margin 5 %; 3 to 12 blocks, looks after 3, 4, 6, 8 and 12; a target that is decided is not \
         run again; 9 to 36 runs, about 3 h 11 min to 12 h 42 min"
    );
    let checked = asked(json!({"baseline": "a", "max_blocks": 3})).unwrap();
    assert_eq!(
        plan::announced(&checked, length(5.0), plan::Before::default()),
        "2 targets, each against a, metric tps, margin 5 %; 3 blocks, one look after 3; 6 runs, about 1 min"
    );
    // What comes before the first block is told, too.
    let told = |burn_in, has_share, pilot_cycle| {
        let before = plan::Before::planned(burn_in, has_share, pilot_cycle, 2);
        let told = plan::announced(&checked, length(55.0), before);
        told.rsplit("; ").next().unwrap().to_owned()
    };
    assert_eq!(
        told(false, false, true),
        "6 runs and 1 before them that does not count, about 6 min 15 s"
    );
    assert_eq!(
        told(true, true, true),
        "6 runs and 3 before them that do not count, about 9 min"
    );
}
