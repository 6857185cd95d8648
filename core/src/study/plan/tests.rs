use super::*;
use crate::{
    experiment::arguments,
    refusal::check,
    study::{arguments::StudyArguments, builtin, not_tested::Facts},
};

fn facts() -> Facts {
    Facts {
        kernel: "4.18.0".into(),
        server_version_num: 180_001,
        memory_bytes: 24 << 30,
        processors: 16,
        max_wal_bytes: 1 << 30,
        ..Facts::default()
    }
}

/// Everything of every study, on a device and on an image, is an experiment that is accepted.
#[test]
fn each_question_becomes_an_experiment() {
    let facts = facts();
    let all = StudyArguments {
        part: Some("all".into()),
        bindir: Some("/x".into()),
        ..StudyArguments::default()
    };
    for study in builtin::all().unwrap() {
        let several = ["/dev/x", "/dev/y", "/dev/z", "/dev/u", "/dev/v"].map(str::to_owned);
        for (device, devices, image, quick) in [
            (Some("/dev/x"), None, None, false),
            (Some("/dev/x"), Some(several.to_vec()), None, false),
            (None, None, Some("4GB"), true),
        ] {
            let arguments = StudyArguments {
                device: device.filter(|_| devices.is_none()).map(str::to_owned),
                devices,
                image_count: image.map(|_| 4),
                image_size: image.map(str::to_owned),
                log_device: device.map(str::to_owned),
                misaligned_device: device.map(str::to_owned),
                quick: Some(quick),
                ..all.clone()
            };
            let here = StudyContext::new(&study, &arguments, &facts);
            let plan = plan(&here).unwrap();
            for planned in &plan.experiments {
                arguments::with_rate(planned.arguments.clone())
                    .and_then(|arguments| arguments::check(&arguments, &[]))
                    .unwrap_or_else(|r| panic!("{}: {r} {:?}", planned.question, r.detail));
                let targets = planned.arguments.targets.iter().flatten().flatten();
                for target in targets {
                    assert!(target.len() <= 63);
                    assert!(plan.targets.iter().any(|t| t.name == *target), "{target}");
                }
            }
        }
    }
}

#[test]
fn layouts_take_all_devices_and_others_the_first() {
    let study = builtin::find("deckelmann-2009").unwrap().unwrap();
    let facts = facts();
    let planned = |arguments: StudyArguments| {
        let arguments = StudyArguments {
            part: Some("layouts".into()),
            quick: Some(true),
            ..arguments
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        plan(&here)
    };
    let target = |plan: &Plan, variant: &str| {
        let found = plan.targets.iter().find(|t| t.variant == variant);
        let mut arguments = found?.arguments.clone();
        arguments.retain(|name, _| !["filesystem", "settings"].contains(&name.as_str()));
        Some(Value::Object(arguments))
    };
    let devices = ["/dev/a", "/dev/b", "/dev/c", "/dev/d"].map(str::to_owned);
    let on_devices = planned(StudyArguments {
        devices: Some(devices.to_vec()),
        ..StudyArguments::default()
    })
    .unwrap();
    let raid = serde_json::json!({"devices": devices, "layout": "raid5"});
    assert_eq!(target(&on_devices, "xfs-raid5"), Some(raid));
    assert_eq!(
        target(&on_devices, "xfs"),
        Some(serde_json::json!({"device": "/dev/a"}))
    );
    // One disk against four is what is compared.
    assert!(on_devices.experiments.iter().all(|e| e.arguments.run.force));
    let on_images = planned(StudyArguments {
        image_size: Some("2GB".into()),
        image_count: Some(3),
        ..StudyArguments::default()
    })
    .unwrap();
    let stripes =
        serde_json::json!({"image_size": "2GB", "image_count": 3, "layout": "lvm-stripe"});
    assert_eq!(target(&on_images, "xfs-lvm-stripe"), Some(stripes));
    assert_eq!(
        target(&on_images, "xfs"),
        Some(serde_json::json!({"image_size": "2GB"}))
    );
    // Three images make no RAID 10, which is the baseline of the questions about RAID 5.
    let names: Vec<&str> = on_images
        .experiments
        .iter()
        .map(|e| e.question.as_str())
        .collect();
    assert_eq!(
        names,
        ["layouts-write-striped", "layouts-read", "oltp-raid0"]
    );
    let alone = planned(StudyArguments {
        device: Some("/dev/a".into()),
        ..StudyArguments::default()
    });
    check::style(&alone.unwrap_err());
}

#[test]
fn the_published_table_has_the_settings_of_its_time() {
    let study = builtin::find("heron-2010").unwrap().unwrap();
    let facts = facts();
    let settings = |period: Option<bool>| {
        let arguments = StudyArguments {
            image_size: Some("4GB".into()),
            period,
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let plan = plan(&here).unwrap();
        let has = |p: &PlannedExperiment| {
            p.arguments
                .run
                .settings
                .as_ref()
                .is_some_and(|s| s["checkpoint_flush_after"] == "0")
        };
        plan.experiments.iter().map(has).collect::<Vec<bool>>()
    };
    assert_eq!(settings(None), [true, false]);
    assert_eq!(settings(Some(true)), [true, true]);
    assert_eq!(settings(Some(false)), [false, false]);
}

#[test]
fn files_grow_alike_on_all_filesystems_where_the_server_can_be_told() {
    let study = builtin::find("heron-2010").unwrap().unwrap();
    let arguments = StudyArguments {
        image_size: Some("4GB".into()),
        ..StudyArguments::default()
    };
    let methods = |version: i32, values: &[&str]| {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        let facts = Facts {
            server_version_num: version,
            enums: [("file_extend_method".to_owned(), values)].into(),
            ..facts()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let all = plan(&here).unwrap().experiments.into_iter();
        let of = |p: PlannedExperiment| {
            let settings = p.arguments.run.settings.unwrap_or_default();
            let extends = extends(&here, study.question(&p.question).unwrap());
            (settings["file_extend_method"].clone(), extends)
        };
        all.map(of).collect::<Vec<_>>()
    };
    let both = ["posix_fallocate", "write_zeros"];
    let zeros = (Value::from("write_zeros"), FileExtension::ByZeros);
    assert_eq!(methods(180_003, &both), vec![zeros.clone(); 2]);
    // A minor release of 15 may have it.
    assert_eq!(methods(150_099, &both), vec![zeros; 2]);
    assert_eq!(
        methods(160_001, &[]),
        vec![(Value::Null, FileExtension::ByFallocate); 2]
    );
    assert_eq!(
        methods(150_001, &[]),
        vec![(Value::Null, FileExtension::AsItDoes); 2]
    );
}

/// The second pass follows the first one, and has no settings of that time.
#[test]
fn what_is_published_is_made_again_with_the_settings_of_today() {
    let study = builtin::find("smith-2011").unwrap().unwrap();
    let facts = facts();
    let planned = |part: &str, period: Option<bool>| {
        let arguments = StudyArguments {
            image_size: Some("400GB".into()),
            part: Some(part.into()),
            period,
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let plan = plan(&here).unwrap();
        let names = plan.experiments.iter().map(|e| e.question.as_str());
        let names = names.filter_map(|name| Some(study.question(name)?.question.as_str()));
        let second = second_pass(&here, names).map(|(parts, _)| parts);
        let has = |p: &PlannedExperiment| {
            let settings = p.arguments.run.settings.as_ref();
            settings.is_some_and(|s| s["checkpoint_flush_after"] == "0")
        };
        let of = |p: &PlannedExperiment| (p.question.clone(), has(p));
        (plan.experiments.iter().map(of).collect::<Vec<_>>(), second)
    };
    let (first, second) = planned("medium", None);
    assert!(first.contains(&("medium".into(), true)), "{first:?}");
    assert_eq!(second.as_deref(), Some("medium,medium-today"));
    for period in [None, Some(true)] {
        let (both, second) = planned("medium,medium-today", period);
        let published = first.iter().filter(|(_, has)| *has).count();
        assert_eq!(both.len(), first.len() + published);
        assert!(both.contains(&("medium".into(), true)), "{both:?}");
        assert!(both.contains(&("medium-today".into(), false)), "{both:?}");
        assert_eq!(second, None);
    }
    // A question that already has the settings of today is not repeated.
    let (today, second) = planned("medium,medium-today", Some(false));
    assert_eq!((today.len(), second), (first.len(), None));
}

#[test]
fn a_duration_that_no_run_would_have_is_refused() {
    let facts = facts();
    let planned = |study: &str, part: &str| -> Result<Vec<String>, Refusal> {
        let study = builtin::find(study).unwrap().unwrap();
        let arguments = StudyArguments {
            image_size: Some("400GB".into()),
            part: Some(part.into()),
            duration_us: Some(60_000_000),
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let plan = plan(&here)?;
        let names: Vec<&str> = (plan.experiments.iter())
            .map(|e| e.question.as_str())
            .collect();
        let without = without_duration(&here, names.iter().copied());
        Ok(without.into_iter().map(str::to_owned).collect())
    };
    // Some of them have a window: it is said which have none.
    let some = planned("heron-2010", "filesystems").unwrap();
    assert_eq!(some, ["published"]);
    for (study, part) in [
        ("digoal-2016", "scans"),
        ("heron-2010", "filesystems-today"),
    ] {
        let refusal = planned(study, part).unwrap_err();
        check::style(&refusal);
        assert!(refusal.message.starts_with("duration means nothing"));
    }
}

#[test]
fn a_misaligned_partition_is_compared_where_one_is_given() {
    let study = builtin::find("vondra-2015").unwrap().unwrap();
    let facts = facts();
    let made = |misaligned: Option<&str>| {
        let arguments = StudyArguments {
            device: Some("/dev/a".into()),
            misaligned_device: misaligned.map(str::to_owned),
            part: Some("options".into()),
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let plan = plan(&here).unwrap();
        let experiment = plan.experiments.iter().find(|e| e.question == "alignment");
        experiment.map(|e| {
            let target = plan.targets.iter().find(|t| t.variant == "ext4-misaligned");
            (
                e.arguments.run.force,
                target.unwrap().arguments["device"].clone(),
            )
        })
    };
    assert_eq!(made(None), None);
    assert_eq!(made(Some("/dev/b")), Some((true, "/dev/b".into())));
}

#[test]
fn a_place_that_is_too_small_is_refused_with_one_that_fits() {
    let study = builtin::find("vondra-2015").unwrap().unwrap();
    let needed = [
        ("ext4-xfs-30s".to_owned(), 1 << 30),
        ("ext4-xfs-240s".to_owned(), 8 << 30),
        ("medium".to_owned(), 1 << 30),
    ];
    let checked = |bytes, arguments: &StudyArguments| {
        check_room("device \"/dev/x\"", bytes, &needed, &study, arguments)
    };
    let arguments = StudyArguments::default();
    assert_eq!(checked(8 << 30, &arguments), Ok(()));
    let refusal = checked(2 << 30, &arguments).unwrap_err();
    check::style(&refusal);
    // A part is asked for as a whole.
    assert_eq!(
        refusal.hint.unwrap(),
        "Give one of at least 8192 MB, or use part => 'medium', or use a smaller scale, or use quick => true."
    );
    // Quick it is already, and there is nothing smaller.
    let smallest = StudyArguments {
        quick: Some(true),
        scale: Some(1),
        ..StudyArguments::default()
    };
    let refusal = checked(1 << 20, &smallest).unwrap_err();
    check::style(&refusal);
    assert_eq!(refusal.hint.unwrap(), "Give one of at least 8192 MB.");
}

#[test]
fn what_leaves_nothing_is_refused() {
    let study = builtin::find("heron-2010").unwrap().unwrap();
    let facts = facts();
    let arguments = StudyArguments {
        image_size: Some("4GB".into()),
        part: Some("barriers".into()),
        ..StudyArguments::default()
    };
    let refusal = plan(&StudyContext::new(&study, &arguments, &facts)).unwrap_err();
    check::style(&refusal);
    assert!(refusal.detail.unwrap().contains("device =>"));
}

/// Each variant has the checkpoint distance of its name, and the memory of its name.
#[test]
fn checkpoint_distance_is_varied_apart_from_memory() {
    let study = builtin::find("deckelmann-2009").unwrap().unwrap();
    let arguments = StudyArguments {
        image_size: Some("200GB".into()),
        part: Some("checkpoint-distance".into()),
        ..StudyArguments::default()
    };
    let facts = facts();
    let here = StudyContext::new(&study, &arguments, &facts);
    let plan = plan(&here).unwrap();
    let setting = |variant: &str, name: &str| {
        let target = plan.targets.iter().find(|t| t.variant == variant).unwrap();
        target.arguments["settings"][name].clone()
    };
    let wal = |variant| setting(variant, "max_wal_size");
    let memory = |variant| setting(variant, "shared_buffers");
    assert_ne!(wal("dbt2-distant"), wal("dbt2-default"));
    assert_eq!(wal("dbt2-memory"), wal("dbt2-default"));
    assert_eq!(memory("dbt2-distant"), memory("dbt2-default"));
    assert_ne!(memory("dbt2-memory"), memory("dbt2-default"));
    let [distance] = &plan.experiments[..] else {
        panic!("{:?}", plan.experiments)
    };
    let run = &distance.arguments.run;
    assert_eq!(run.workload.as_deref(), Some("tpcc-like"));
    assert_eq!(run.clients, Some(32));
    assert_eq!(distance.arguments.metric.as_deref(), Some("notpm"));
}

/// The settings that are compared are those of the targets: no run's setting of the time takes their place.
#[test]
fn pgtune_is_a_share_of_memory_and_stands_against_the_defaults_of_its_time() {
    let study = builtin::find("deckelmann-2009").unwrap().unwrap();
    let arguments = StudyArguments {
        image_size: Some("200GB".into()),
        part: Some("oltp".into()),
        ..StudyArguments::default()
    };
    let facts = Facts {
        memory_bytes: 32 << 30,
        ..facts()
    };
    let here = StudyContext::new(&study, &arguments, &facts);
    let plan = plan(&here).unwrap();
    let setting = |variant: &str, name: &str| {
        let target = plan.targets.iter().find(|t| t.variant == variant).unwrap();
        target.arguments["settings"][name].clone()
    };
    let gb = |n: u64| format!("{}kB", n << 20);
    assert_eq!(setting("dbt2-pgtune", "shared_buffers"), gb(8));
    assert_eq!(setting("dbt2-pgtune", "effective_cache_size"), gb(24));
    assert_eq!(setting("dbt2-pgtune", "maintenance_work_mem"), gb(1));
    assert_eq!(setting("dbt2-pgtune", "wal_buffers"), "8MB");
    assert_eq!(setting("dbt2-default", "shared_buffers"), "32MB");
    let [oltp] = &plan.experiments[..] else {
        panic!("{:?}", plan.experiments)
    };
    let settings = oltp.arguments.run.settings.as_ref().unwrap();
    assert_eq!(settings["checkpoint_flush_after"], "0");
    for variant in ["dbt2-default", "dbt2-pgtune"] {
        let own = setting(variant, "checkpoint_completion_target");
        assert!(own.is_string(), "{variant}");
    }
    assert_eq!(settings.get("checkpoint_completion_target"), None);
    assert_eq!(oltp.arguments.run.duration_us, Some(3_558_000_000));
    assert_eq!(oltp.arguments.metric.as_deref(), Some("notpm"));
}

#[test]
fn runs_of_fio_have_no_settings_of_a_server() {
    let study = builtin::find("deckelmann-2009").unwrap().unwrap();
    let zeros = ["write_zeros", "posix_fallocate"].map(str::to_owned);
    let facts = Facts {
        enums: [("file_extend_method".to_owned(), zeros.to_vec())].into(),
        ..facts()
    };
    let options = |quick: bool| {
        let arguments = StudyArguments {
            image_size: Some("200GB".into()),
            part: Some("fio".into()),
            quick: Some(quick),
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let plan = plan(&here).unwrap();
        let names: Vec<&str> = (plan.experiments.iter())
            .map(|e| e.question.as_str())
            .collect();
        assert_eq!(names, ["fio", "fio-atime", "fio-journaling"]);
        let run = &plan.experiments[0].arguments.run;
        assert_eq!(run.settings, None);
        assert_eq!(run.size, None);
        run.options.clone().unwrap()
    };
    let full = options(false);
    assert_eq!(
        (&full["pattern"], &full["size"]),
        (&"study-3".into(), &"2x ram".into())
    );
    let quick = options(true);
    assert_eq!(
        (&quick["pattern"], &quick["size"]),
        (&"study-3".into(), &"256MB".into())
    );
}
