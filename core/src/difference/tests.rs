use super::*;
use crate::{target::parameter::PARAMETERS, wording};
use serde_json::json;

/// A run on a target of image files, as it is stored.
fn document() -> Value {
    json!({
        "run": {"target": "xfs", "status": "done"},
        "definition": {"kind": "image", "filesystem": "xfs", "mount_options": "noatime", "image_size_bytes": 8 << 30,
            "settings": {"wal_compression": "on"}},
        "used": {"target": "xfs", "workload": "tpcb", "scale": 32, "clients": 16, "bound": {"duration_ms": 20000}, "warmup_ms": 2000,
            "seed": 7, "rate": null, "settings": {}, "options": {"fillfactor": 100, "sample": true}, "chosen": ["seed"], "label": "one"},
        "environment": {
            "run_id": 1, "server_version": "PostgreSQL 15.4 on x86_64", "server_version_num": 150004, "kernel": "Linux 6.1", "hostname": "db1",
            "host_fingerprint": "aa", "memory_bytes": 24_000_000_000u64, "processors": 2, "cpu_mhz_min": 2000.5, "filesystem": "xfs",
            "mount_options": "rw,noatime,logbsize=32k", "st_dev": "7:1", "wal_st_dev": "7:1", "wal_filesystem": "xfs",
            "wal_mount_options": "rw,noatime,logbsize=32k", "wal_mount_point": "/m", "durability": "durable by settings (not tried)", "device": "/dev/loop0",
            "filesystem_free_bytes": 5, "data_directory": "/m/1", "io_scheduler": "none", "vm": {"dirty_ratio": 20},
            "geometry": {"block_bytes": 4096}, "storage": {"result": {"serial": "S1", "mount_point": "/m"}},
            "layers": [{"depth": 0, "kind": "loop", "name": "loop0", "direct_io": true}, {"depth": 1, "kind": "filesystem", "name": "ext4 on /"},
                {"depth": 2, "kind": "disk", "name": "vda", "model": "Q"}],
            "settings": {"shared_buffers": {"setting": "128MB", "source": "configuration file"}, "port": {"setting": "5433", "source": "configuration file"}},
        },
    })
}

/// The differences to a document in which one value is changed.
fn but(pointer: &str, value: Value) -> Vec<Difference> {
    let mut other = document();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    other.pointer_mut(parent).unwrap()[name] = value;
    between(&document(), &other)
}

fn line(difference: &Difference) -> String {
    let text = |side: &Option<String>| side.clone().unwrap_or("-".into());
    let Difference {
        area,
        name,
        a,
        b,
        matters,
        ..
    } = difference;
    format!(
        "{} {} {name}: {} | {}",
        matters.as_str(),
        area.as_str(),
        text(a),
        text(b)
    )
}

fn lines(differences: &[Difference]) -> Vec<String> {
    differences.iter().map(line).collect()
}

#[test]
fn a_fingerprint_leaves_out_mount_options_that_name_a_place() {
    assert_eq!(
        pattern_of_places(),
        "(^|,)(logdev|lowerdir|lowerdir[+]|datadir[+]|upperdir|workdir)=[^,]*"
    );
}

#[test]
fn a_run_does_not_differ_from_itself() {
    assert_eq!(between(&document(), &document()), []);
}

#[test]
fn what_belongs_to_each_run_anyway_is_no_difference() {
    for (pointer, value) in [
        ("/used/label", json!("two")),
        ("/used/chosen", json!([])),
        ("/environment/run_id", json!(2)),
        ("/environment/data_directory", json!("/m/2")),
        ("/environment/filesystem_free_bytes", json!(6)),
        ("/environment/settings/port", json!({"setting": "6000"})),
        ("/environment/wal_mount_options", json!("ro")),
        ("/environment/memory_bytes", json!(24_100_000_000u64)),
        ("/environment/cpu_mhz_min", json!(2100)),
        ("/environment/storage/result/mount_point", json!("/n")),
        ("/environment/layers/0/name", json!("loop7")),
    ] {
        assert_eq!(but(pointer, value), [], "{pointer}");
    }
}

#[test]
fn each_area_is_compared_and_weighed() {
    for (pointer, value, expected) in [
        ("/used/scale", json!(64), "much parameters scale: 32 | 64"),
        ("/used/seed", json!(8), "hardly parameters seed: 7 | 8"),
        (
            "/used/rate",
            json!(500.0),
            "much parameters rate: - | 500.0",
        ),
        (
            "/used/options/cache",
            json!("cold"),
            "much parameters options.cache: - | cold",
        ),
        (
            "/used/settings/synchronous_commit",
            json!("off"),
            "much parameters settings.synchronous_commit: - | off",
        ),
        (
            "/used/settings/work_mem",
            json!("1MB"),
            "maybe parameters settings.work_mem: - | 1MB",
        ),
        (
            "/definition/mount_options",
            Value::Null,
            "much target mount_options: noatime | -",
        ),
        (
            "/definition/settings/wal_compression",
            json!("off"),
            "much target settings.wal_compression: on | off",
        ),
        (
            "/definition/power_loss_protected",
            json!(true),
            "hardly target power_loss_protected: - | true",
        ),
        (
            "/environment/durability",
            json!("not durable: fsync off"),
            "much durability durability: durable by settings (not tried) | not durable: fsync off",
        ),
        (
            "/environment/filesystem",
            json!("ext4"),
            "much filesystem filesystem: xfs | ext4",
        ),
        (
            "/environment/geometry/block_bytes",
            json!(1024),
            "much filesystem geometry.block_bytes: 4096 | 1024",
        ),
        (
            "/environment/mount_options",
            json!("rw,noatime,logbsize=256k"),
            "maybe mount logbsize: logbsize=32k | logbsize=256k",
        ),
        (
            "/environment/mount_options",
            json!("rw,noatime,logbsize=32k,nobarrier"),
            "much mount nobarrier: - | nobarrier",
        ),
        (
            "/environment/mount_options",
            json!("rw,noatime,logbsize=32k,upperdir=/docker/81f"),
            "hardly mount upperdir: - | upperdir=/docker/81f",
        ),
        (
            "/environment/io_scheduler",
            json!("bfq"),
            "much device io_scheduler: none | bfq",
        ),
        (
            "/environment/device",
            json!("/dev/loop1"),
            "hardly device device: /dev/loop0 | /dev/loop1",
        ),
        (
            "/environment/storage/result/serial",
            json!("S2"),
            "much device serial: S1 | S2",
        ),
        (
            "/environment/layers/0/direct_io",
            json!(false),
            "much device layers: loop direct I/O > filesystem ext4 on / > disk Q | loop through the page cache > filesystem ext4 on / > disk Q",
        ),
        (
            "/environment/settings/shared_buffers",
            json!({"setting": "1GB"}),
            "much settings shared_buffers: 128MB | 1GB",
        ),
        (
            "/environment/settings/max_wal_size",
            json!({"setting": "8GB"}),
            "much settings max_wal_size: - | 8GB",
        ),
        (
            "/environment/settings/log_min_duration_statement",
            json!({"setting": "0"}),
            "maybe settings log_min_duration_statement: - | 0",
        ),
        (
            "/environment/settings/log_line_prefix",
            json!({"setting": ""}),
            "hardly settings log_line_prefix: - | ",
        ),
        (
            "/environment/server_version",
            json!("PostgreSQL 15.5 on x86_64"),
            "maybe version server_version: PostgreSQL 15.4 on x86_64 | PostgreSQL 15.5 on x86_64",
        ),
        (
            "/environment/server_version",
            json!("PostgreSQL 16beta1 on x86_64"),
            "much version server_version: PostgreSQL 15.4 on x86_64 | PostgreSQL 16beta1 on x86_64",
        ),
        (
            "/environment/kernel",
            json!("Linux 6.6"),
            "much kernel kernel: Linux 6.1 | Linux 6.6",
        ),
        (
            "/environment/vm/dirty_ratio",
            json!(40),
            "much kernel vm.dirty_ratio: 20 | 40",
        ),
        (
            "/environment/host_fingerprint",
            json!("bb"),
            "much host host_fingerprint: aa | bb",
        ),
        (
            "/environment/memory_bytes",
            json!(48_000_000_000u64),
            "much host memory_bytes: 24000000000 | 48000000000",
        ),
        (
            "/environment/hostname",
            json!("db2"),
            "hardly host hostname: db1 | db2",
        ),
        (
            "/environment/of_later",
            json!(1),
            "maybe host of_later: - | 1",
        ),
        (
            "/run/target",
            json!("ext4"),
            "hardly run target: xfs | ext4",
        ),
    ] {
        let found = but(pointer, value);
        assert_eq!(lines(&found), [expected]);
        assert!(!found[0].why.sentence().is_empty());
    }
}

#[test]
fn what_matters_most_comes_first_and_then_by_area() {
    let mut other = document();
    other["used"]["seed"] = json!(8);
    other["used"]["clients"] = json!(8);
    other["environment"]["hostname"] = json!("db2");
    other["environment"]["kernel"] = json!("Linux 6.6");
    other["environment"]["settings"] = json!({"shared_buffers": {"setting": "128MB"}, "work_mem": {"setting": "1MB"}, "fsync": {"setting": "off"}});
    let found = between(&document(), &other);
    let names: Vec<&str> = found.iter().map(|difference| &*difference.name).collect();
    assert_eq!(
        names,
        ["clients", "fsync", "kernel", "work_mem", "seed", "hostname"]
    );
    // Turned round, the same is said the other way round.
    let back = between(&other, &document());
    let turned: Vec<_> = back
        .iter()
        .map(|d| (&d.name, &d.b, &d.a, d.matters))
        .collect();
    let straight: Vec<_> = found
        .iter()
        .map(|d| (&d.name, &d.a, &d.b, d.matters))
        .collect();
    assert_eq!(turned, straight);
}

#[test]
fn what_is_not_known_of_one_is_told_as_that() {
    let found = but("/environment/io_scheduler", Value::Null);
    assert_eq!(lines(&found), ["maybe device io_scheduler: none | -"]);
    assert_eq!(found[0].why, Why::Unknown);
    // A setting that is not there has its default.
    assert_ne!(
        but("/environment/settings/shared_buffers", Value::Null)[0].why,
        found[0].why
    );
}

#[test]
fn disks_are_told_apart_by_their_marks() {
    let with = |marks: &[(&str, &str)]| {
        let mut document = document();
        document["environment"]["storage"] = Value::Null;
        let disks: Vec<Value> = marks
            .iter()
            .map(|(serial, wwn)| {
                let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
                json!({"kind": "disk", "name": serial, "model": "Q", "serial": some(serial), "wwn": some(wwn)})
            })
            .collect();
        document["environment"]["layers"] = Value::Array(disks);
        document
    };
    let told = |a: &[(&str, &str)], b: &[(&str, &str)]| lines(&between(&with(a), &with(b)));
    let other = "much device layers.serial: S1 | S2";
    assert_eq!(told(&[("S1", "")], &[("S2", "")]), [other]);
    assert_eq!(
        told(&[("S1", "n.1")], &[("S2", "n.2")]),
        [other, "much device layers.wwn: n.1 | n.2"]
    );
    // Names change places at a boot; and of what one run does not know, nothing is said.
    let none: [&str; 0] = [];
    assert_eq!(
        told(&[("S1", ""), ("S2", "")], &[("S2", ""), ("S1", "")]),
        none
    );
    assert_eq!(told(&[("S1", "n.1")], &[("", "")]), none);
    assert_eq!(told(&[("", "")], &[("S1", "n.1")]), none);
    assert_eq!(
        told(&[("S1", ""), ("", "")], &[("S1", ""), ("S2", "")]),
        none
    );
    // A serial that the helper reports of its device is listed once.
    let mut of_helper = [with(&[("S1", "")]), with(&[("S2", "")])];
    for (document, serial) in of_helper.iter_mut().zip(["S1", "S2"]) {
        document["environment"]["storage"] = json!({"result": {"serial": serial}});
    }
    let [a, b] = of_helper;
    assert_eq!(lines(&between(&a, &b)), ["much device serial: S1 | S2"]);
}

#[test]
fn layers_are_compared_without_the_order_that_the_kernel_gives() {
    let with = |layers: &[(u64, &str, &str, &str)]| {
        let mut document = document();
        let layers = layers.iter().map(|(depth, kind, name, model)| {
            let model = (!model.is_empty()).then_some(model);
            json!({"depth": depth, "kind": kind, "name": name, "model": model})
        });
        document["environment"]["layers"] = layers.collect();
        document
    };
    let told = |a: &[_], b: &[_]| lines(&between(&with(a), &with(b)));
    let none: [&str; 0] = [];
    // Two disks of an array whose names were swapped.
    let raid = |first, second| {
        [
            (0, "md", "md0", ""),
            (1, "partition", "sda1", ""),
            (2, "disk", "sda", first),
            (1, "partition", "sdb1", ""),
            (2, "disk", "sdb", second),
        ]
    };
    assert_eq!(told(&raid("A", "B"), &raid("B", "A")), none);
    assert_eq!(
        told(&raid("A", "B"), &raid("A", "C")),
        [
            "much device layers: md > partition > disk A > partition > disk B | md > partition > disk A > partition > disk C"
        ]
    );
    assert_eq!(told(&raid("A", "A"), &raid("A", "A")[..3]).len(), 1);
    // Another path to the same disk.
    let paths = [
        (0, "multipath", "mpatha", ""),
        (1, "disk", "sda", "A"),
        (1, "disk", "sdb", "A"),
    ];
    assert_eq!(told(&paths, &paths[..2]), none);
    // Layers of an imported run may be anything.
    let deep: Vec<_> = (0..20_000).map(|depth| (depth, "disk", "x", "")).collect();
    assert_eq!(told(&deep, &deep[..2]).len(), 1);
}

#[test]
fn wal_on_a_filesystem_of_its_own_is_compared() {
    let mut apart = document();
    apart["environment"]["wal_st_dev"] = json!("8:1");
    apart["environment"]["wal_filesystem"] = json!("ext4");
    let mut other = apart.clone();
    other["environment"]["wal_filesystem"] = json!("btrfs");
    other["environment"]["wal_mount_options"] = json!("rw,noatime,logbsize=32k,nobarrier");
    assert_eq!(
        lines(&between(&apart, &other)),
        [
            "much filesystem wal_filesystem: ext4 | btrfs",
            "much mount wal_nobarrier: - | nobarrier"
        ]
    );
}

#[test]
fn runs_that_are_not_done_are_told_and_nothing_is_made_up() {
    let mut failed = document();
    failed["run"]["status"] = json!("failed");
    failed["environment"] = Value::Null;
    failed["used"]["scale"] = json!(64);
    for (a, b, status, stored) in [
        (document(), failed.clone(), "done | failed", "stored | -"),
        (failed.clone(), failed.clone(), "failed | failed", "- | -"),
    ] {
        let found = lines(&between(&a, &b));
        assert_eq!(
            found[..2],
            [
                format!("much run environment: {stored}"),
                format!("much run status: {status}")
            ]
        );
        assert!(found.len() <= 3, "{found:?}");
    }
    assert_eq!(lines(&between(&json!({}), &Value::Null)).len(), 2);
}

#[test]
fn settings_that_may_change_figures() {
    let settings = json!({
        "shared_buffers": {"setting": "128MB", "source": "configuration file"},
        "wal_compression": {"setting": "on", "source": "default"},
        "unheard_of": {"setting": "1", "source": "command line"},
        "log_min_messages": {"setting": "info", "source": "configuration file"},
        "port": {"setting": "5433", "source": "configuration file"},
    });
    let names: Vec<String> = settings_that_matter(&settings).into_keys().collect();
    assert_eq!(names, ["shared_buffers", "unheard_of", "wal_compression"]);
    assert_eq!(settings_that_matter(&Value::Null).len(), 0);
}

#[test]
fn limits_of_a_container_are_told_one_by_one() {
    let found = but("/environment/limits", json!({"processors": 2.5}));
    let lines: Vec<String> = found.iter().map(line).collect();
    assert_eq!(lines, ["maybe host limits.processors: - | 2.5"]);
}

#[test]
fn each_option_of_a_workload_has_a_rule() {
    for option in (crate::workload::ALL.iter()).flat_map(|workload| workload.own_options()) {
        let name = format!("options.{}", option.name);
        let (_, why) = rules::weigh(Area::Parameters, &name, None, None);
        assert_ne!(why, Why::NoRule, "{name}");
    }
    let mut tpcc = document();
    tpcc["used"]["options"]["mix"] = json!({"new-order": 45});
    let mut other = tpcc.clone();
    other["used"]["options"]["mix"]["new-order"] = json!(44);
    assert_eq!(
        lines(&between(&tpcc, &other)),
        ["much parameters options.mix.new-order: 45 | 44"]
    );
}

#[test]
fn each_parameter_of_a_target_has_a_rule() {
    // Settings have the rules of the server's.
    let with_rules = PARAMETERS.iter().filter(|p| p.name != "settings");
    for column in with_rules.map(|p| p.column) {
        let has_rule = |name: &str| {
            let (_, why) = rules::weigh(Area::Target, name, None, None);
            why != Why::NoRule
        };
        let member = format!("{column}.x");
        assert!(has_rule(column) || has_rule(&member), "{column}");
    }
}

#[test]
fn no_scale_is_a_scale_of_0_of_older_versions() {
    let mut without = document();
    without["used"].as_object_mut().unwrap().remove("scale");
    let mut zero = document();
    zero["used"]["scale"] = json!(0);
    assert_eq!(between(&zero, &without), []);
    assert_eq!(
        lines(&between(&document(), &without)),
        ["much parameters scale: 32 | -"]
    );
}

/// Each value of the document is changed to each kind of value.
#[test]
fn each_text_is_replaced_by_its_code_and_all_differences_come_out_the_same() {
    let pointers = [
        "/used/clients",
        "/used/seed",
        "/definition/filesystem",
        "/definition/settings",
        "/environment/kernel",
        "/environment/layers",
        "/environment/settings",
        "/environment/durability",
        "/environment/of_later",
        "/environment",
        "/run/status",
        "/run/target",
    ];
    let differ = || {
        let values = [
            json!(1),
            json!("other"),
            json!({"fsync": "off"}),
            Value::Null,
        ];
        let found = pointers.iter().flat_map(|pointer| {
            let each = values.iter().map(|value| match *pointer {
                "/environment" => {
                    let mut other = document();
                    other["environment"] = value.clone();
                    between(&document(), &other)
                }
                _ => but(pointer, value.clone()),
            });
            each.flatten().collect::<Vec<_>>()
        });
        let found: Vec<Difference> = found.collect();
        let words: Vec<String> = found.iter().map(|found| found.why.sentence()).collect();
        (found, words)
    };
    let (told, words) = differ();
    let (found, codes) = wording::without(differ);
    assert_eq!(found, told);
    assert!(words.iter().all(|words| words != "difference"), "{words:?}");
    assert!(codes.iter().all(|code| code == "difference"), "{codes:?}");
    let reasons = |why| told.iter().any(|found| found.why == why);
    for why in [
        Why::OtherWork,
        Why::NoRule,
        Why::Unknown,
        Why::NotStored,
        Why::NotDone,
        Why::TargetName,
    ] {
        assert!(reasons(why), "{why:?}");
    }
}
