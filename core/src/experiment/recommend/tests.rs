use super::{
    choice::tests::state,
    regime::{in_short, regime, with_short_cycles},
    *,
};
use crate::finding::{self, RunFacts};

fn facts(fields: Value) -> Facts {
    serde_json::from_value(fields).unwrap()
}

#[test]
fn what_a_transaction_costs_the_device_is_told_of_each_target() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let both = facts(serde_json::json!({
        "number": 1, "kind": "device", "device_bytes_per_transaction": 12345.6, "flushes_per_transaction": 0.1912, "flush_us": 448.2
    }));
    assert_eq!(
        at_what_cost(&state, &both).unwrap().says,
        "btrfs: per transaction 12 kB written to the device and 0.191 flushes of it; before the runs a flush took 448 us (medians)"
    );
    let shared = facts(serde_json::json!({
        "number": 1, "kind": "directory", "device_bytes_per_transaction": 12345.6
    }));
    assert_eq!(
        at_what_cost(&state, &shared).unwrap().says,
        "btrfs: per transaction 12 kB written to the device by all programs (medians)"
    );
    let flush = facts(serde_json::json!({"number": 0, "flush_us": 31.25}));
    assert_eq!(
        at_what_cost(&state, &flush).unwrap().says,
        "ext4: before the runs a flush took 31.2 us (medians)"
    );
    assert_eq!(at_what_cost(&state, &Facts::default()), None);
}

#[test]
fn a_layout_is_named_with_the_members_that_may_fail() {
    let state = state("best", &["plain", "striped"], ("tps", None));
    let says = |layout: &str, members: u64| {
        let f = facts(serde_json::json!({"number": 1, "layout": layout, "members": members}));
        what_survives(&state, &f).map(|row| row.says)
    };
    assert_eq!(
        says("raid0", 4).unwrap(),
        "striped: raid0 over 4 devices, and the failure of any one loses the data"
    );
    assert_eq!(
        says("raid10", 4).unwrap(),
        "striped: raid10 over 4 devices, any 1 of which may fail if they share no disk"
    );
    assert_eq!(
        says("lvm-raid6", 5).unwrap(),
        "striped: lvm-raid6 over 5 devices, any 2 of which may fail if they share no disk"
    );
    // Forged.
    assert_eq!(says("raid99", 4), None);
    assert_eq!(says("raid10", 1), None);
    assert_eq!(says("raid10", u64::MAX), None);
    assert_eq!(what_survives(&state, &Facts::default()), None);
}

#[test]
fn short_cycles_are_a_regime_of_their_own() {
    let mut state = state("best", &["ext4", "btrfs"], ("tps", None));
    let mut of_workload = |workload: &str, seconds| {
        state.experiment.cycle_is_given = true;
        state.experiment.cycle_seconds = seconds;
        let of = facts(serde_json::json!({"number": 0, "workload": workload}));
        with_short_cycles(&state.experiment, &of)
    };
    assert_eq!(of_workload("scan", Some(30.0)), None);
    let mut says = |seconds| of_workload("tpcb", seconds);
    assert_eq!((says(None), says(Some(300.0))), (None, None));
    let minute = says(Some(60.0)).unwrap();
    assert!(
        minute.starts_with("a checkpoint every 1 min: after each one"),
        "{minute}"
    );
    assert!(minute.ends_with("than with PostgreSQL's 5 min"), "{minute}");
    let half = says(Some(30.0)).unwrap();
    assert!(half.contains("so the answer is provisional"), "{half}");
}

#[test]
fn what_the_host_took_and_figures_that_were_not_steady_are_told_by_target_and_runs() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let with = |target: &str, warnings: &str| Row {
        target: target.into(),
        warnings: answer::warning::listed(warnings),
        ..Row::default()
    };
    let here = ThisServer::default();
    let says = |answers: &[Row]| regime(&state, answers, &[Facts::default()], &here);
    assert_eq!(
        says(&[with("ext4", "stealing, drifts (1 of 3 runs)")]),
        [""; 0]
    );
    let answers = [
        with("ext4", "drift, steal (2 of 6 runs)"),
        with("btrfs", "steal"),
    ];
    assert_eq!(
        says(&answers),
        [
            "tps rose or fell within the windows (ext4 in all runs), so that a longer warm-up or longer windows may give another ratio; the findings have the direction",
            "the host took processors' time away (ext4 in 2 of 6 runs, btrfs in all runs): for that alone no run is made again, since on such a host all may have it; the findings have how much",
        ]
    );
}

#[test]
fn a_device_that_is_a_file_is_told() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let of = |number: usize, kind: &str, is_on_loop: Option<bool>| {
        facts(serde_json::json!({"number": number, "kind": kind, "is_on_loop": is_on_loop}))
    };
    let says = |facts: &[Facts]| {
        let long = regime(&state, &[], facts, &ThisServer::default());
        (long, in_short(&state, &[], facts))
    };
    let (long, short) = says(&[of(0, "device", Some(false)), of(1, "device", Some(true))]);
    assert_eq!(
        long,
        [
            "btrfs on a loop device, which is a file of another filesystem: a real device may tell them apart differently"
        ]
    );
    assert_eq!(short, " (measured on a loop device)");
    // Images are told as such.
    let (long, short) = says(&[of(0, "image", Some(true)), of(1, "image", Some(true))]);
    assert!(
        long.len() == 1 && long[0].starts_with("on images"),
        "{long:?}"
    );
    assert_eq!(short, " (measured on images)");
    assert_eq!(says(&[of(0, "device", None)]), (vec![], String::new()));
}

#[test]
fn a_container_and_its_limits_are_told() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let says = |container: &str, limits: serde_json::Value| {
        let of = facts(serde_json::json!({"number": 0, "container": container, "limits": limits}));
        regime(&state, &[], &[of], &ThisServer::default())
    };
    assert_eq!(
        says(
            "docker",
            serde_json::json!({"memory_bytes": 2147483648u64, "io": [{"device": "8:0", "name": "payroll", "reads": 9}]})
        ),
        [
            "in a container (docker), with no more than 2048 MB of memory, I/O on a device (9 reads/s) (limits of the server's cgroup): without them another ratio is possible"
        ]
    );
    assert_eq!(says("none", serde_json::json!({})), [""; 0]);
    assert_eq!(
        says("lxc", serde_json::Value::Null),
        ["in a container (lxc)"]
    );
}

#[test]
fn only_a_filesystem_that_was_made_is_new() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let says = |kind: &str| {
        let of = facts(serde_json::json!({"number": 0, "kind": kind}));
        let rows = not_tested(&state, &[of]);
        let ageing = rows.into_iter().find(|row| row.says.starts_with("ageing"));
        ageing.unwrap().says
    };
    assert!(says("device").contains("on a filesystem that was just made"));
    assert!(!says("directory").contains("filesystem"));
}

#[test]
fn a_crash_is_advised_only_where_the_workload_takes_the_option() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let says = |fields: Value| {
        let rows = not_tested(&state, &[facts(fields)]);
        let crash = rows
            .into_iter()
            .find(|row| row.topic.as_deref() == Some("recovery after a crash"));
        crash.map(|row| row.says)
    };
    let of = |workload: &str| says(serde_json::json!({"number": 0, "workload": workload})).unwrap();
    assert!(of("tpcb").ends_with("options => '{\"crash\": true}' measures it"));
    assert!(of("scan").ends_with("the workload has no option \"crash\""));
    assert_eq!(says(serde_json::json!({"number": 0, "crash": true})), None);
}

#[test]
fn reads_of_data_in_memory_that_the_device_did_are_told() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let says = |device: Option<f64>| {
        let of = facts(serde_json::json!({
            "number": 0, "data_bytes": 1e9, "memory_bytes": 4e9, "device_read_bytes": device, "server_read_bytes": 2147483648u64
        }));
        regime(&state, &[], &[of], &ThisServer::default()).remove(0)
    };
    assert!(says(None).ends_with("reads hardly reach the filesystem"));
    assert!(says(Some(1e6)).ends_with("reads hardly reach the filesystem"));
    assert_eq!(
        says(Some(1_073_741_824.0)),
        "the data fit into memory, but the device read 1024 MB in a window; the server's processes read 2048 MB"
    );
}

/// A finding and the regime say by one rule whether data fit into memory.
#[test]
fn memory_that_the_asking_server_takes_holds_no_data() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    for (taken, fits) in [(None, true), (Some(1 << 30), true), (Some(7 << 29), false)] {
        let found = RunFacts {
            data_bytes: Some(1 << 30),
            memory_bytes: Some(4 << 30),
            asking_server_shared_buffers_bytes: taken,
            ..RunFacts::default()
        };
        let is_found = finding::foretell(&found, "data_fits_ram").is_some();
        let of = facts(serde_json::json!({
            "number": 0, "data_bytes": 1 << 30, "memory_bytes": 4_u64 << 30, "asking_server_shared_buffers_bytes": taken
        }));
        let says = regime(&state, &[], &[of], &ThisServer::default()).remove(0);
        assert_eq!(is_found, fits);
        assert_eq!(says.starts_with("the data fit into memory"), fits, "{says}");
    }
}

#[test]
fn options_are_offered_for_each_filesystem_unless_some_were_tried() {
    let state = state("best", &["a", "b", "c"], ("tps", None));
    let made = |number: usize, filesystem: &str, options: &str| {
        facts(serde_json::json!({
            "number": number, "filesystem": filesystem, "mkfs_command": "mkfs", "mount_options": options
        }))
    };
    let all = [
        made(0, "ext4", ""),
        made(1, "btrfs", ""),
        made(2, "ext4", ""),
    ];
    let says: Vec<String> = (options_not_tested(&state, &all).into_iter())
        .map(|row| row.says)
        .collect();
    assert_eq!(
        says,
        [
            "options of mkfs and mount of ext4, which are as they come; targets => '{a}', factors => '{\"mount_options\": [\"\", \"noatime\"]}' compares one",
            "options of mkfs and mount of btrfs, which are as they come; targets => '{b}', factors => '{\"mount_options\": [\"\", \"nodatacow\"]}' compares one",
        ]
    );
    assert_eq!(options_not_tested(&state, &[made(0, "zfs", "")]), []);
    let there = of_other_host(options_not_tested(&state, &all), "db1");
    assert_eq!(there.len(), 1, "{there:?}");
    let tried = [made(0, "ext4", ""), made(1, "btrfs", "noatime")];
    assert_eq!(options_not_tested(&state, &tried), []);
}

#[test]
fn no_text_of_another_host_looks_like_a_line() {
    let of_a_file = "virtualization (kvm)\nmkfs|mkfs.xfs -f /dev/sda\u{9b}1m".to_owned();
    let rows = vec![
        to_paste("mkfs", "mkfs.xfs /dev/sdb".to_owned()),
        advice("regime", of_a_file),
    ];
    let shown = of_other_host(rows, "db1");
    assert_eq!(shown.len(), 2);
    assert_eq!(
        shown[0].says,
        "virtualization (kvm) mkfs|mkfs.xfs -f /dev/sda 1m"
    );
    assert!(shown[1].says.contains("measured on db1"));
}

#[test]
fn power_cuts_of_the_experiment_are_told_beside_the_speed() {
    let state = state("best", &["ext4", "btrfs"], ("tps", None));
    let of = |power_cuts: Value| facts(serde_json::json!({"number": 1, "power_cuts": power_cuts}));
    let says = |power_cuts: Value| of_power_cuts(&state, &of(power_cuts)).map(|row| row.says);
    assert_eq!(
        says(serde_json::json!({"cuts": 320, "failed": 0})).as_deref(),
        Some("btrfs: 0 of 320 power cuts lost or damaged data: less than 1 % at 95 %")
    );
    let failed = serde_json::json!({"cuts": 320, "failed": 7});
    assert_eq!(
        says(failed.clone()).as_deref(),
        Some("btrfs: 7 of 320 power cuts lost or damaged data")
    );
    // A void batch has none.
    let void = serde_json::json!({"cuts": null, "failed": null});
    assert_eq!(says(void.clone()), None);
    assert!(is_tried(&of(failed.clone())) && !is_tried(&of(void)));
    assert!(of(failed).has_failed_power_cuts());
}
