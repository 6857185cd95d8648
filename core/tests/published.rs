//! Figures of the authors, copied by hand: the files of `studies/` have each of them, and no others.

use pgfsbench_core::study::{
    arguments::StudyArguments,
    builtin,
    definition::Study,
    not_tested::{Facts, StudyContext},
    report,
};

/// Variant, metric and figure of a study.
type Figures = Vec<(String, String, f64)>;

/// Columns of a kind of transaction.
type Transaction = (&'static str, [f64; 6]);

fn study(name: &str) -> Study {
    builtin::find(name)
        .unwrap()
        .unwrap_or_else(|| panic!("there is no study {name}"))
}

fn owned(figures: &[(&str, &str, f64)]) -> Figures {
    let own = |&(variant, metric, value): &(&str, &str, f64)| {
        (variant.to_owned(), metric.to_owned(), value)
    };
    figures.iter().map(own).collect()
}

/// Refuses a file that lacks a figure, or has one that was not published (the middle of a range, for instance).
fn assert_published(name: &str, expected: &Figures) {
    let study = study(name);
    let figures = study.published.iter();
    let mut more: Figures = figures
        .map(|f| (f.variant.clone(), f.metric.clone(), f.value))
        .collect();
    let mut missing = Vec::new();
    for figure in expected {
        match more.iter().position(|there| there == figure) {
            Some(place) => drop(more.swap_remove(place)),
            None => missing.push(figure),
        }
    }
    assert!(missing.is_empty(), "{name} lacks {missing:?}");
    assert!(more.is_empty(), "{name} has what is not listed: {more:?}");
}

#[test]
fn of_heron() {
    // Variant, each run, mean tps, % of best.
    let table: [(&str, &[f64], f64, f64); 7] = [
        ("ext2", &[542.0, 605.0, 680.0, 701.0], 632.0, 100.0),
        ("ext3", &[274.0, 293.0, 310.0, 295.0], 293.0, 46.36),
        ("ext4", &[103.0, 109.0], 106.0, 16.77),
        ("reiserfs", &[101.0], 101.0, 15.98),
        ("xfs", &[509.0, 529.0, 581.0, 588.0], 551.75, 87.3),
        ("xfs-tuned", &[509.0, 532.0, 657.0, 610.0], 577.0, 91.3),
        ("jfs", &[514.0, 558.0, 622.0, 631.0], 581.25, 91.97),
    ];
    let mut expected: Figures = (table.iter())
        .map(|(variant, _, mean, _)| ((*variant).into(), "tps".into(), *mean))
        .collect();
    expected.extend(owned(&[
        ("jfs", "deviation of tps", 48.0),
        ("xfs-tuned", "deviation of tps", 53.0),
        ("ext4", "tps of a reader", 545.0),
        ("ext2", "time of its check (fsck)", 6.0),
    ]));
    assert_published("heron-2010", &expected);

    // Figures that follow from others are not stored: the report computes them.
    let study = study("heron-2010");
    let arguments = StudyArguments {
        image_size: Some("4GB".into()),
        ..StudyArguments::default()
    };
    let facts = Facts::default();
    let here = StudyContext {
        study: &study,
        arguments: &arguments,
        facts: &facts,
    };
    let rows = report::report(&here, &Default::default());
    for (variant, runs, mean, percent) in table {
        let figure = (study.published.iter())
            .find(|f| f.variant == variant && f.metric == "tps")
            .unwrap();
        assert_eq!(figure.runs.as_deref(), Some(runs), "{variant}");
        assert_eq!(runs.iter().sum::<f64>() / runs.len() as f64, mean);
        let row = (rows.iter())
            .find(|r| r.variant == variant && r.metric == "tps")
            .unwrap();
        let said = row.published_percent.unwrap();
        assert!((said - percent).abs() < 0.006, "{variant}: {said}");
    }
}

#[test]
fn of_smith() {
    let expected = owned(&[
        // Scale 500, and scale 1000.
        ("ext3", "tps", 690.0),
        ("ext3", "tps", 349.0),
        ("xfs", "tps", 1757.0),
        ("xfs", "tps", 417.0),
        ("ext3", "worst latency, least", 34.0),
        ("ext3", "worst latency, most", 56.0),
        ("xfs", "worst latency, least", 2.0),
        ("xfs", "worst latency, most", 5.0),
        ("xfs", "gain over ext3, medium", 255.0),
        ("xfs", "gain over ext3, large", 19.0),
        (
            "xfs-dirty",
            "fewer tps with little dirty memory, medium",
            46.0,
        ),
        ("xfs-other-build", "gain by compaction", 10.0),
    ]);
    assert_published("smith-2011", &expected);
    let study = study("smith-2011");
    let tps = |variant: &str, question: &str| {
        let of = |f: &&_| is_of(f, variant, question);
        study.published.iter().find(of).map(|f| f.value)
    };
    for (variant, medium, large) in [("ext3", 690.0, 349.0), ("xfs", 1757.0, 417.0)] {
        assert_eq!(tps(variant, "medium"), Some(medium));
        assert_eq!(tps(variant, "large"), Some(large));
    }
}

fn is_of(
    figure: &pgfsbench_core::study::definition::Figure,
    variant: &str,
    question: &str,
) -> bool {
    figure.variant == variant && figure.question.as_deref() == Some(question)
}

#[test]
fn of_deckelmann() {
    // Columns of a transaction: % of the mix, average and 90th percentile in seconds, total, rollbacks, and their share in %.
    let columns = [
        "mix",
        "average",
        "90th percentile",
        "total",
        "rollbacks",
        "rollbacks, share",
    ];
    let tables: [(&str, [Transaction; 5]); 2] = [
        (
            "dbt2-default",
            [
                ("Delivery", [3.99, 11.433, 12.647, 45757.0, 0.0, 0.0]),
                ("New-Order", [45.24, 10.257, 11.236, 518945.0, 5224.0, 1.02]),
                ("Order-Status", [4.0, 9.998, 11.023, 45926.0, 0.0, 0.0]),
                ("Payment", [42.81, 9.983, 11.022, 491102.0, 0.0, 0.0]),
                ("Stock-Level", [3.95, 9.855, 10.837, 45344.0, 0.0, 0.0]),
            ],
        ),
        (
            "dbt2-pgtune",
            [
                ("Delivery", [3.99, 8.715, 10.553, 48961.0, 0.0, 0.0]),
                ("New-Order", [45.22, 8.237, 9.949, 554565.0, 5425.0, 0.99]),
                ("Order-Status", [3.95, 8.037, 9.828, 48493.0, 0.0, 0.0]),
                ("Payment", [42.84, 8.026, 9.795, 525387.0, 0.0, 0.0]),
                ("Stock-Level", [3.99, 7.829, 9.563, 48879.0, 0.0, 0.0]),
            ],
        ),
    ];
    let mut expected = owned(&[
        ("dbt2-default", "NOTPM", 8574.99),
        ("dbt2-pgtune", "NOTPM", 9171.46),
        ("dbt2-pgtune", "gain by pgtune", 7.0),
        // Reckoned from the table, and so called there.
        ("dbt2-default", "NOTPM with rollbacks", 8663.09),
        ("dbt2-pgtune", "NOTPM with rollbacks", 9260.37),
        (
            "dbt2-default",
            "New-Order mix, rollbacks counted once",
            44.99,
        ),
        ("ext4-128kb", "read-ahead that is there", 128.0),
        ("ext4-8mb", "read-ahead that was recommended", 8192.0),
        ("ext3-noatime", "gain by noatime, least", 2.0),
        ("ext3-noatime", "gain by noatime, most", 3.0),
    ]);
    for (variant, table) in tables {
        for (transaction, figures) in table {
            let named = columns.iter().zip(figures);
            expected.extend(named.map(|(column, figure)| {
                (variant.into(), format!("{transaction} {column}"), figure)
            }));
        }
    }
    assert_published("deckelmann-2009", &expected);
}

#[test]
fn of_digoal() {
    let expected = owned(&[
        ("xfs", "ms at 17 workers", 8905.510),
        ("xfs", "ms at 21 workers", 7583.344),
        ("xfs", "ms at 32 workers", 21144.919),
        ("xfs", "ms at 64 workers", 18310.130),
        ("ext4", "ms at 17 workers", 9313.369),
        ("ext4", "ms at 32 workers", 30209.980),
        ("ext4", "ms at 64 workers", 32580.853),
        ("xfs", "knee, as he gives it", 22.0),
        ("ext4", "knee, as he gives it", 17.0),
    ]);
    assert_published("digoal-2016", &expected);
}

#[test]
fn of_vondra() {
    let expected = owned(&[
        ("ext4-best", "best tps, first round, large", 4700.0),
        ("xfs-best", "best tps, first round, large", 4100.0),
        ("ext4", "time between checkpoints, first round", 20.0),
        ("ext4", "time between checkpoints, second round", 240.0),
        (
            "ext4-nobarrier",
            "gain without barriers, second round",
            25.0,
        ),
        ("ext4-discard", "cost of discard, second round, least", 1.0),
        ("ext4-discard", "cost of discard, second round, most", 2.0),
    ]);
    assert_published("vondra-2015", &expected);
    // His best ones are of what is measured, too.
    let study = study("vondra-2015");
    for variant in ["ext4-best", "xfs-best"] {
        let beside = study.published.iter().find(|f| f.variant == variant);
        assert!(beside.unwrap().beside.is_some(), "{variant}");
    }
}

#[test]
fn of_folklore() {
    let expected = owned(&[
        ("ext4-nobarrier", "gain without barriers", 25.0),
        ("ext4-discard", "cost of discard, least", 1.0),
        ("ext4-discard", "cost of discard, most", 2.0),
        ("ext4", "cost of checksums", 3.0),
        ("ext4-worker", "loss of worker against sync in memory", 30.0),
    ]);
    assert_published("folklore", &expected);
}

/// The list of what people say has eighteen entries; each is claimed by its number.
#[test]
fn each_entry_of_the_list_is_claimed() {
    let study = study("folklore");
    let numbers: std::collections::BTreeSet<&str> = (study.claims.iter())
        .filter_map(|claim| claim.claim.split('-').next())
        .collect();
    let all: Vec<String> = (1..=18).map(|n: u32| n.to_string()).collect();
    assert_eq!(numbers, all.iter().map(String::as_str).collect());
}

/// The metrics that decide a claim are those of its entry. Metrics that cannot decide one are named in a claim that is not tested.
#[test]
fn each_entry_is_decided_by_its_own_measures() {
    let study = study("folklore");
    for (number, metrics) in [
        ("1", &["tps"][..]),
        ("2", &["tps", "scan_bytes_per_s"]),
        ("3", &["tps", "stall_seconds", "latency_p99_ms"]),
        ("4", &["tps"]),
        ("5", &["tps", "latency_p99_ms"]),
        ("6", &["tps", "stall_seconds", "latency_p99_ms"]),
        ("7", &["tps", "flushes_per_transaction"]),
        (
            "8",
            &["device_bytes_per_transaction", "server_write_amplification"],
        ),
        ("9", &["tps", "scan_bytes_per_s"]),
        ("10", &["tps", "scan_bytes_per_s"]),
        ("11", &["latency_p99_ms"]),
        ("12", &["tps", "latency_max_ms", "maintenance_ms"]),
        ("13", &["tps", "server_write_amplification", "recovery_ms"]),
        ("14", &["scan_bytes_per_s", "scan_ms_at_1", "scan_ms_at_4"]),
        ("15", &["cpu_ms_per_transaction"]),
        ("16", &["tps", "commit_p99_ms"]),
        ("17", &["tps", "scan_bytes_per_s"]),
        ("18", &[]),
    ] {
        let of = |claim: &str| claim.split('-').next() == Some(number);
        let decided = study.claims.iter().filter(|c| of(&c.claim));
        let by: Vec<&str> = decided
            .filter_map(|claim| Some(claim.decision.as_ref()?.metric.as_str()))
            .collect();
        for metric in metrics {
            assert!(by.contains(metric), "{number} is not decided by {metric}");
        }
    }
    // Metrics that are there only with an option.
    let has = |question: &str, option: &str| {
        let question = study.question(question).unwrap();
        question.options.contains_key(option)
    };
    for claim in study.claims.iter().filter_map(|c| c.decision.as_ref()) {
        let option = match claim.metric.as_str() {
            "recovery_ms" => "crash",
            "maintenance_ms" => "maintenance",
            _ => continue,
        };
        assert!(has(&claim.question, option), "{claim:?} needs {option}");
    }
}

/// No two variants of a question come to be the same filesystem with the same settings: that would be compared with itself.
#[test]
fn variants_of_a_question_differ() {
    for study in builtin::all().unwrap() {
        for question in &study.questions {
            let variants: Vec<_> = (question.variants.iter())
                .map(|name| {
                    let mut variant = study.variant(name).unwrap().clone();
                    variant.variant = String::new();
                    variant.says = None;
                    // This is what the helper has mkfs do where nothing else is asked for.
                    let at_once = "-E lazy_itable_init=0,lazy_journal_init=0";
                    variant.mkfs_options.take_if(|options| options == at_once);
                    variant
                })
                .collect();
            for (place, variant) in variants.iter().enumerate() {
                assert!(
                    !variants[..place].contains(variant),
                    "{} {}: {} is there twice",
                    study.study,
                    question.question,
                    question.variants[place]
                );
            }
        }
    }
}
