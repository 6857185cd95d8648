use super::*;
use crate::study::builtin;

fn facts() -> Facts {
    let missing = |why: &str| SkipReason {
        why: why.into(),
        brings: Some("make lab".into()),
    };
    Facts {
        kernel: "6.18.4".into(),
        server_version_num: 150_019,
        memory_bytes: 24 << 30,
        processors: 2,
        missing: BTreeMap::from([("jfs".into(), missing("this kernel has no jfs"))]),
        without_driver: BTreeMap::new(),
        without_fio: None,
        not_allowed: Vec::new(),
        max_wal_bytes: 1 << 30,
        reserved_bytes: 512 << 20,
        enums: BTreeMap::new(),
        on_images: BTreeMap::new(),
    }
}

#[test]
fn what_this_machine_has_not_is_left_out_by_name() {
    let study = builtin::find("heron-2010").unwrap().unwrap();
    let arguments = StudyArguments {
        image_size: Some("4GB".into()),
        part: Some("all".into()),
        ..StudyArguments::default()
    };
    let facts = facts();
    let here = StudyContext::new(&study, &arguments, &facts);
    let variant = |name: &str| {
        here.variant(study.variant(name).unwrap())
            .map(|why| why.to_string())
    };
    assert_eq!(variant("xfs"), None);
    assert_eq!(
        variant("jfs").unwrap(),
        "this kernel has no jfs; to have it: make lab"
    );
    // By the kernel's release alone.
    assert!(variant("reiserfs").unwrap().contains("since 6.13"));
    let question = |name: &str| here.question(study.question(name).unwrap());
    assert_eq!(question("cycles"), None);
    assert!(
        question("barriers")
            .unwrap()
            .brings
            .unwrap()
            .contains("device")
    );
    assert!(question("reiserfs").unwrap().why.contains("baseline"));
}

#[test]
fn what_the_helper_does_not_allow_is_left_out_by_name() {
    let study = builtin::find("smith-2011").unwrap().unwrap();
    let arguments = StudyArguments {
        image_size: Some("4GB".into()),
        ..StudyArguments::default()
    };
    let not_tested = |not_allowed: &[&str]| -> Vec<String> {
        let facts = Facts {
            not_allowed: not_allowed.iter().map(|name| (*name).into()).collect(),
            ..facts()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let all = study.variants.iter();
        all.filter(|v| v.kernel_settings.is_some() && here.variant(v).is_some())
            .map(|v| format!("{}: {}", v.variant, here.variant(v).unwrap()))
            .collect()
    };
    assert_eq!(not_tested(&["drop_caches"]), [""; 0]);
    let why = "the helper's configuration does not allow kernel_settings; to have it: add to it the line: kernel_settings = true, \
        above its first line in brackets; then restart pgfsbench-helper";
    assert_eq!(
        not_tested(&["kernel_settings"]),
        [format!("ext3-dirty: {why}"), format!("xfs-dirty: {why}")]
    );
    let without_images = Facts {
        not_allowed: vec![IMAGES.into()],
        ..facts()
    };
    let here = StudyContext::new(&study, &arguments, &without_images);
    let refusal = crate::study::plan::plan(&here).unwrap_err();
    let said = format!("{refusal:?}");
    assert!(said.contains("names no directory for images"), "{said}");
    assert!(said.contains("--allow-images"), "{said}");
    let on_device = StudyArguments {
        image_size: None,
        device: Some("/dev/sdx".into()),
        ..arguments.clone()
    };
    let here = StudyContext {
        arguments: &on_device,
        ..here
    };
    assert!(crate::study::plan::plan(&here).is_ok());
}

#[test]
fn what_is_shrunk_is_not_of_full_size() {
    let study = builtin::find("heron-2010").unwrap().unwrap();
    let facts = facts();
    let question = study.question("cycles").unwrap();
    let full =
        |arguments: StudyArguments| StudyContext::new(&study, &arguments, &facts).is_full(question);
    assert!(full(StudyArguments::default()));
    assert!(full(StudyArguments {
        scale: Some(100),
        blocks: Some(3),
        ..StudyArguments::default()
    }));
    assert!(!full(StudyArguments {
        scale: Some(10),
        ..StudyArguments::default()
    }));
    assert!(!full(StudyArguments {
        quick: Some(true),
        ..StudyArguments::default()
    }));
    assert!(!full(StudyArguments {
        duration_us: Some(10_000_000),
        ..StudyArguments::default()
    }));
}

/// A million rows of scans are four times what pgbench's scale of 1 is: what is smaller by one measure is by the other.
#[test]
fn the_size_of_scans_is_that_of_their_rows() {
    let study = builtin::find("digoal-2016").unwrap().unwrap();
    let question = study.question("scans").unwrap();
    let facts = Facts {
        memory_bytes: 24 << 30,
        ..facts()
    };
    let is_full = |scale: i32| {
        let arguments = StudyArguments {
            scale: Some(scale),
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        here.is_full(question)
    };
    // 50 % of RAM; 57 MB each.
    assert!(is_full(215) && !is_full(210));
}

/// One that a user has defined, and that says nothing of devices.
fn own(question: Value, options: &str, block_settings: Value) -> Study {
    let mut study = serde_json::json!({
        "study": "own", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "all",
        "claims": [{"claim": "c", "says": "s", "seen": "s",
            "decision": {"question": "q", "variant": "b", "with": "a", "metric": question["metric"], "expected": "more", "by": "interval"}}],
        "variants": [{"variant": "a", "filesystem": "ext4"}, {"variant": "b", "filesystem": "ext4", "mount_options": options}],
        "questions": [{
            "question": "q", "part": "p", "asks": "?", "variants": ["a", "b"], "baseline": "a", "margin": 0.05, "is_published": false,
            "full": {"scale": 10, "max_blocks": 6}, "quick": {"scale": 1, "max_blocks": 3},
        }],
        "published": [],
    });
    if block_settings != Value::Null {
        study["variants"][1]["block_settings"] = block_settings;
    }
    for (name, value) in question.as_object().unwrap() {
        study["questions"][0][name] = value.clone();
    }
    crate::study::check::parse(study).unwrap()
}

#[test]
fn what_would_tell_of_the_disk_of_the_host_is_not_tried_on_an_image() {
    let tpcb = serde_json::json!({"workload": "tpcb", "clients": 2, "metric": "tps"});
    let scan = serde_json::json!({"workload": "scan", "metric": "scan_bytes_per_s"});
    let scheduler = serde_json::json!({"scheduler": "none"});
    for (question, options, block_settings, is_tried) in [
        (&tpcb, "noatime", Value::Null, true),
        (&tpcb, "noatime,barrier=0", Value::Null, false),
        (&tpcb, "nobarrier", Value::Null, false),
        (&tpcb, "discard", Value::Null, false),
        (&tpcb, "noatime", scheduler.clone(), false),
        // Nothing is flushed while something is scanned.
        (&scan, "noatime,barrier=0", Value::Null, true),
        (&scan, "noatime", scheduler, false),
    ] {
        let study = own(question.clone(), options, block_settings);
        let why = |image: bool| {
            let arguments = StudyArguments {
                image_size: image.then(|| "4GB".into()),
                device: (!image).then(|| "/dev/sdx".into()),
                ..StudyArguments::default()
            };
            let facts = facts();
            let here = StudyContext::new(&study, &arguments, &facts);
            (
                here.question(&study.questions[0]),
                here.claim(&study.claims[0]),
            )
        };
        assert_eq!(why(false), (None, None), "{options}");
        let (arguments, claimed) = why(true);
        assert_eq!(arguments.is_none(), is_tried, "{options}");
        assert_eq!(claimed.is_none(), is_tried, "{options}");
        if let Some(why) = arguments {
            assert!(why.why.contains("on an image"), "{why}");
            assert!(why.to_string().contains("device =>"), "{why}");
        }
    }
}

/// Where they were made is what is recorded of them.
#[test]
fn nor_on_a_target_that_is_on_an_image() {
    let mut study = own(
        serde_json::json!({"workload": "tpcb", "clients": 2, "metric": "tps"}),
        "noatime",
        Value::Null,
    );
    for (variant, target) in study.variants.iter_mut().zip(["x", "y"]) {
        *variant = Variant {
            variant: variant.variant.clone(),
            target: Some(target.into()),
            ..Variant::default()
        };
    }
    let on_image = |options: &str| OnImage {
        mount_options: Some(options.into()),
        ..OnImage::default()
    };
    let arguments = StudyArguments::default();
    let is_asked = |y: Option<&str>, needs: &[Need]| {
        let mut study = study.clone();
        study.questions[0].needs = needs.to_vec();
        let facts = Facts {
            on_images: (y.iter())
                .map(|options| ("y".into(), on_image(options)))
                .collect(),
            ..facts()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        here.question(&study.questions[0]).is_none()
    };
    assert!(is_asked(None, &[Need::Device]));
    assert!(is_asked(Some("noatime"), &[]));
    assert!(!is_asked(Some("noatime"), &[Need::Device]));
    assert!(!is_asked(Some("noatime,barrier=0"), &[]));
}

#[test]
fn a_value_that_the_server_was_built_without_is_left_out_by_name() {
    let study = builtin::find("folklore").unwrap().unwrap();
    let arguments = StudyArguments {
        image_size: Some("4GB".into()),
        ..StudyArguments::default()
    };
    let why = |methods: &[&str]| {
        let methods = methods.iter().map(|method| (*method).to_owned()).collect();
        let facts = Facts {
            server_version_num: 180_001,
            enums: BTreeMap::from([("io_method".into(), methods)]),
            ..facts()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        // As a whole it can be made all the same.
        assert!(crate::study::plan::plan(&here).is_ok());
        here.question(study.question("io-method").unwrap())
    };
    assert_eq!(why(&["sync", "worker", "io_uring"]), None);
    assert_eq!(
        why(&["sync", "worker"]).unwrap().to_string(),
        "there is nothing to compare with: of io_method this server has only sync, worker; \
         to have it: a build of PostgreSQL that has io_uring"
    );
}

#[test]
fn a_second_pass_with_the_settings_of_today_is_asked_for() {
    let study = builtin::find("vondra-2015").unwrap().unwrap();
    let facts = facts();
    let arguments = |part: Option<&str>, period: Option<bool>| {
        let arguments = StudyArguments {
            image_size: Some("200GB".into()),
            part: part.map(str::to_owned),
            period,
            ..StudyArguments::default()
        };
        let here = StudyContext::new(&study, &arguments, &facts);
        let again = study.questions.iter().filter(|q| q.today_of.is_some());
        let again = again.filter(|q| here.question(q).is_none());
        again.map(|q| q.question.clone()).collect::<Vec<_>>()
    };
    let again = ["ext4-xfs-30s-today", "ext4-xfs-240s-today"];
    assert_eq!(arguments(None, None), [""; 0], "it would double a night");
    assert_eq!(arguments(Some("ext4-xfs-today"), None), again);
    assert_eq!(
        arguments(Some("ext4-xfs, ext4-xfs-today"), Some(true)),
        again
    );
    let all = arguments(Some("all"), None);
    assert!(again.iter().all(|name| all.iter().any(|a| a == name)));
    assert_eq!(arguments(Some("all"), Some(false)), [""; 0]);
}

fn deckelmann<T>(
    arguments: StudyArguments,
    facts: &Facts,
    look: impl Fn(&StudyContext<'_>) -> T,
) -> T {
    let study = builtin::find("deckelmann-2009").unwrap().unwrap();
    let arguments = StudyArguments {
        device: Some("/dev/x".into()),
        ..arguments
    };
    look(&StudyContext {
        study: &study,
        arguments: &arguments,
        facts,
    })
}

#[test]
fn without_fio_its_questions_are_left_out_and_no_others() {
    let why = |facts: &Facts| {
        deckelmann(StudyArguments::default(), facts, |here| {
            let claim = |name: &str| {
                let mut claims = here.study.claims.iter();
                let claim = claims.find(|c| c.claim == name).unwrap();
                here.claim(claim).map(|why| why.to_string())
            };
            ["fio-atime", "read-ahead-fio", "atime", "pgtune", "striping"].map(claim)
        })
    };
    let [atime, read_ahead, others @ .., raid] = why(&facts());
    assert_eq!((atime, read_ahead, others), (None, None, [None, None]));
    assert_eq!(
        raid.unwrap(),
        "xfs-raid0 is not tried: layout raid0 takes 2 devices, and the study has 1; \
         to have it: devices => '{…}', or image_count => 2 beside image_size"
    );
    let missing = SkipReason {
        why: "fio is not installed".into(),
        brings: Some("install it".into()),
    };
    let [atime, read_ahead, others @ .., _] = why(&Facts {
        without_fio: Some(missing),
        ..facts()
    });
    let said = Some("fio is not installed; to have it: install it".to_owned());
    assert_eq!((&atime, &read_ahead), (&said, &said));
    assert_eq!(others, [None, None]);
}

/// On images all members are on one disk. Where the kernel has no md, LVM may still be there.
#[test]
fn layouts_are_tried_where_devices_and_drivers_are() {
    let study = builtin::find("deckelmann-2009").unwrap().unwrap();
    let claims = ["raid5-random-xfs", "lvm", "four-disks", "pgtune-raid0"];
    let why = |arguments: StudyArguments, facts: &Facts| {
        let here = StudyContext {
            study: &study,
            arguments: &arguments,
            facts,
        };
        claims.map(|name| {
            let claim = study.claims.iter().find(|c| c.claim == name).unwrap();
            here.claim(claim).map(|why| why.why)
        })
    };
    let devices = ["/dev/a", "/dev/b", "/dev/c", "/dev/d"].map(str::to_owned);
    let on_devices = || StudyArguments {
        devices: Some(devices.to_vec()),
        ..StudyArguments::default()
    };
    assert_eq!(why(on_devices(), &facts()), claims.map(|_| None));
    let on_images = StudyArguments {
        image_size: Some("200GB".into()),
        image_count: Some(4),
        ..StudyArguments::default()
    };
    let image = || Some("on an image it would tell of the disk of the host".to_owned());
    assert_eq!(why(on_images, &facts()), [image(), image(), image(), None]);
    let missing = SkipReason::of("this kernel has no software RAID");
    let facts = Facts {
        without_driver: [("md".to_owned(), missing)].into(),
        ..facts()
    };
    for why in why(on_devices(), &facts) {
        assert!(why.unwrap().ends_with("this kernel has no software RAID"));
    }
}

/// Files of fio have the size of an option, which a quick study shrinks.
#[test]
fn the_size_of_files_is_that_of_their_option() {
    let look = |quick: bool| {
        let arguments = StudyArguments {
            quick: Some(quick),
            ..StudyArguments::default()
        };
        deckelmann(arguments, &facts(), |here| {
            let question = here.study.question("fio").unwrap();
            let length = here.length(question);
            (here.data_bytes(question, &length), here.is_full(question))
        })
    };
    assert_eq!(look(false), (48 << 30, true));
    assert_eq!(look(true), (256 << 20, false));
}

#[test]
fn a_shorter_time_or_smaller_data_of_new_orders_are_not_of_full_size() {
    let pgtune = |arguments: StudyArguments| {
        deckelmann(arguments, &facts(), |here| {
            let mut claims = here.study.claims.iter();
            let claim = claims.find(|c| c.claim == "pgtune").unwrap();
            here.claim(claim).map(|why| why.why)
        })
    };
    assert_eq!(pgtune(StudyArguments::default()), None);
    for shrunk in [
        StudyArguments {
            scale: Some(10),
            ..StudyArguments::default()
        },
        StudyArguments {
            duration_us: Some(60_000_000),
            ..StudyArguments::default()
        },
    ] {
        assert!(pgtune(shrunk).unwrap().contains("full size"));
    }
}

#[test]
fn on_a_copy_of_a_server_only_what_makes_tables_of_any_size_is_asked() {
    let study = builtin::find("folklore").unwrap().unwrap();
    let arguments = StudyArguments {
        device: Some("/dev/null".into()),
        part: Some("all".into()),
        data: Some("shop".into()),
        database: Some("orders".into()),
        ..StudyArguments::default()
    };
    let facts = facts();
    let here = StudyContext::new(&study, &arguments, &facts);
    let why = |name: &str| {
        let why = here.question(study.question(name).unwrap());
        why.map(|why| why.to_string())
    };
    assert_eq!(why("xfs-ext4"), None);
    for (question, words) in [
        ("noatime-scans", "workload scan makes its own data"),
        ("checksums", "checksums as the server had"),
    ] {
        let why = why(question).unwrap();
        assert!(
            why.contains(words) && why.contains("leave out data"),
            "{why}"
        );
    }
    let plan = super::super::plan::plan(&here).unwrap();
    let asked = plan
        .experiments
        .iter()
        .map(|planned| &planned.arguments.run);
    for run in asked {
        assert_eq!(
            (run.data.as_deref(), run.database.as_deref()),
            (Some("shop"), Some("orders"))
        );
    }
    let published = builtin::find("heron-2010").unwrap().unwrap();
    let here = StudyContext {
        study: &published,
        ..here
    };
    let question = published.questions.iter().find(|q| q.is_published).unwrap();
    let why = here.question(question).unwrap().to_string();
    assert!(why.contains("fixed size"), "{why}");
}
