use super::*;
use crate::spec::{Cache, Facts, RunArguments, Workload};
use crate::sys::{self, Layer, cgroup::Felt};
use crate::{wording, workload::resolve};
use proptest::prelude::*;

const GB: u64 = 1 << 30;

fn place(minor: u32, source: &str, fs_type: &str) -> Place {
    Place {
        major: 8,
        minor,
        source: source.into(),
        fs_type: fs_type.into(),
        mount_point: format!("/m{minor}"),
    }
}

fn holder(kind: XminHolderKind, name: &str, age: Option<u64>) -> XminHolder {
    XminHolder {
        kind,
        name: name.into(),
        age,
    }
}

fn storage() -> StorageFacts {
    StorageFacts {
        cloned: Some(false),
        filesystem: Some("ext4".into()),
        mount_options: Some("rw,nosuid,nodev,noatime,stripe=64".into()),
        mount_options_not_shown: Some(vec![]),
        properties_not_in_force: Some(vec![]),
        compression: None,
        zfs_sync: None,
        zfs_flushes: None,
        log_layers: None,
        attributes: Some(String::new()),
        file_attributes: Some(String::new()),
        has_fallocate: Some(true),
        device_discard_bytes: Some(0),
        mkfs_command: Some(
            "/sbin/mkfs.ext4 -E lazy_itable_init=0,lazy_journal_init=0 /dev/nvme0n1p1".into(),
        ),
        stripe_unit_bytes: Some(0),
        size_bytes: Some(100 * GB),
        free_bytes: Some(80 * GB),
        free_bytes_at_end: Some(60 * GB),
        lazy_init: Some(false),
        on_device: Some(true),
        ssd_state: Some("trimmed".into()),
        power_loss_protected: None,
        write_cache: Some("write back".into()),
        rotational: Some(false),
        discard_max_bytes: Some(2 << 40),
        layers: Some(recorded("trees/loop_on_nvme.txt", "259:2")),
        layout: None,
        layout_chunk: None,
        made: Some(false),
        device_write_bytes: Some(3 * GB),
        server_write_bytes: Some(2 * GB),
        device_read_bytes: Some(GB),
        server_read_bytes: Some(100 * GB),
        array_work: Some(vec![]),
        resync_at_end: None,
        used_bytes: Some(16 * GB),
        used_bytes_at_end: Some(17 * GB),
        files_bytes: Some(16 * GB),
        files_bytes_at_end: Some(17 * GB),
    }
}

/// The layers below a device of a recorded machine.
fn recorded(tree: &str, device: &str) -> Vec<Layer> {
    let text = match tree {
        "trees/loop_on_nvme.txt" => include_str!("../sys/trees/loop_on_nvme.txt"),
        "trees/lvm_on_raid.txt" => include_str!("../sys/trees/lvm_on_raid.txt"),
        "trees/lvm_cache.txt" => include_str!("../sys/trees/lvm_cache.txt"),
        _ => include_str!("../sys/trees/virtual_machine.txt"),
    };
    sys::layers(&sys::Recorded::of(text), device)
}

fn machine() -> MachineFacts {
    MachineFacts {
        virtualization: Some("none".into()),
        clock_source: Some("tsc".into()),
        governor: Some("performance".into()),
        mhz: Some(3500.0),
        mhz_at_end: Some(3400.0),
        throttled: Some(0),
        cpu_idle: Some(0.3),
        cpu_iowait: Some(0.3),
        cpu_steal: Some(0.0),
        cpu_clients: Some(0.2),
        cpu_sampler: Some(0.001),
        cpu_others: Some(0.01),
        cpu_others_at_least: None,
        device_others: Some(0.1),
        memory_pressure: Some(0.0),
        dirty_peak_bytes: Some(100 << 20),
        dirty_peak_limit_bytes: Some(600 << 20),
        dirty_bytes_limit: Some(0),
        dirty_bytes_max: Some(100 << 20),
        limits: Felt::default(),
    }
}

fn server() -> ServerFacts {
    ServerFacts {
        autovacuum: Some(true),
        vacuums: Some(0),
        vacuum_seconds: Some(0),
        dead_rows_at_start: Some(0),
        statistics_reset: Some(false),
        extends_by_fallocate: Some(true),
        restarted: Some(false),
        archiving: Some(false),
        walsenders: Some(0),
        slots: Some(0),
        synchronous_standbys: Some(false),
    }
}

/// A long run without anything to find.
fn clean() -> RunFacts {
    RunFacts {
        quick: false,
        workload: Workload::parse("tpcb"),
        clients: Some(16),
        scale: Some(1000),
        cache: Some(Cache::Warm),
        rate: None,
        data_bytes: Some(15 * GB),
        shared_buffers_bytes: Some(GB),
        memory_bytes: Some(4 * GB),
        checkpoints: Some(3),
        checkpoints_logged: Some(true),
        log_checkpoints: Some(true),
        reset_views: Some(vec![]),
        statements: Some(Statements::Recorded),
        fsync: Some(true),
        full_page_writes: Some(true),
        unlogged: Some(false),
        synchronous_commit: Some("on".into()),
        xmin_holders: Some(vec![]),
        data_place: Some(place(1, "/dev/sda1", "ext4")),
        wal_place: Some(place(1, "/dev/sda1", "ext4")),
        measured: Some(1_000_000),
        failed: Some(0),
        skipped: Some(0),
        seconds_tps: Some((0..60).map(|i| 1000.0 + f64::from(i % 7) * 10.0).collect()),
        latency_ms: Some(2.0),
        service_ms: None,
        asking_server_shared_buffers_bytes: Some(GB / 8),
        has_unlike_parts: Some(false),
        power_cuts: PowerCutFacts {
            cuts: Some(320),
            failed: Some(0),
        },
        storage: storage(),
        wal_storage: None,
        other_storage: Vec::new(),
        flush: FlushFacts {
            before_us: Some(400.0),
            after_us: Some(450.0),
            ..FlushFacts::default()
        },
        machine: machine(),
        server: server(),
        checkpoints_seen: CheckpointFacts {
            timed: Some(4),
            requested: Some(0),
            distance_bytes: Some(1e9),
            cycles: Some(2.0),
        },
        wal: WalFacts::default(),
        instances: Some(InstanceFacts {
            skew_ms: 5.0,
            window_ms: 600_000.0,
            findings: Vec::new(),
        }),
        wal_sync: WalSyncFacts {
            servers: Some(1),
            syncs: Some(600_000),
            sync_ms: Some(500_000.0),
            window_ms: Some(600_000.0),
            wal_bytes: Some(GB),
            method: Some("fdatasync".into()),
            device_flushes: Some(600_100),
            device_write_bytes: Some(3 * GB),
        },
        waits: WaitFacts {
            lock_share: Some(0.01),
        },
        crash: CrashFacts {
            committed: Some(1_000_000),
            found: Some(1_000_000),
            problem: None,
            verified: Some(true),
        },
    }
}

/// The only finding: its code, severity and message.
fn only(facts: RunFacts) -> (String, Severity, String) {
    let findings = judge(&facts);
    assert_eq!(findings.len(), 1, "{findings:?}");
    let coded = wording::without(|| judge(&facts)).remove(0);
    assert_eq!(
        (&coded.code, coded.severity, coded.weight),
        (&findings[0].code, findings[0].severity, findings[0].weight),
        "nothing reads a sentence"
    );
    assert!(
        coded.hint == coded.code && !coded.message.contains(' '),
        "{coded:?}"
    );
    let Finding {
        code,
        severity,
        message,
        hint,
        ..
    } = findings.into_iter().next().unwrap();
    assert!(
        hint.ends_with('.') && !message.ends_with('.') && !message.contains('\n'),
        "{message} {hint}"
    );
    (code, severity, message)
}

macro_rules! finds {
    ({$($field:ident: $value:expr),+ $(,)?} => $code:expr, $severity:ident, $message:expr) => {
        assert_eq!(
            only(RunFacts { $($field: $value),+, ..clean() }),
            ($code.to_owned(), Severity::$severity, $message.to_owned())
        )
    };
}

macro_rules! finds_nothing {
    ($($field:ident: $value:expr),+ $(,)?) => {
        assert_eq!(judge(&RunFacts { $($field: $value),+, ..clean() }), [])
    };
}

mod array;
mod machine;
mod more;
mod readme;
mod storage;

#[test]
fn a_clean_run_and_an_unknown_one_have_none() {
    assert_eq!(judge(&clean()), []);
    assert_eq!(judge(&RunFacts::default()), []);
}

#[test]
fn facts_are_read_as_they_are_stored() {
    for facts in [clean(), RunFacts::default()] {
        let stored = serde_json::to_string(&facts).expect("JSON");
        let read: RunFacts = serde_json::from_str(&stored).expect("facts");
        assert_eq!(read, facts);
    }
}

#[test]
fn clients_exceed_branches() {
    finds!({clients: Some(16), scale: Some(8)} => "clients_exceed_branches", Warning, "16 clients share 8 branches");
    finds_nothing!(clients: Some(16), scale: Some(16));
    finds_nothing!(scale: Some(8), workload: Workload::parse("tpcb-simple-update"));
    finds_nothing!(scale: Some(8), workload: None);
}

#[test]
fn data_fits_shared_buffers() {
    let message = "data of 150 MB fits in shared_buffers (shared_buffers 1024 MB, RAM 4096 MB, of which the server that asked takes 128 MB)";
    finds!({data_bytes: Some(150 << 20)} => "data_fits_shared_buffers", Warning, message);
    finds!({data_bytes: Some(150 << 20), quick: true} => "data_fits_shared_buffers", Info, message);
    // Files of fio are in the page cache.
    let of_files = message.replace("in shared_buffers (", "in RAM (");
    finds!({data_bytes: Some(150 << 20), workload: Workload::parse("io")} => "data_fits_ram", Warning, &of_files);
    finds_nothing!(data_bytes: None);
}

#[test]
fn data_fits_ram() {
    let message = "data of 2048 MB fits in RAM (shared_buffers 1024 MB, RAM 4096 MB, of which the server that asked takes 128 MB)";
    finds!({data_bytes: Some(2 * GB)} => "data_fits_ram", Warning, message);
    finds!({data_bytes: Some(2 * GB), quick: true} => "data_fits_ram", Info, message);
    finds!({data_bytes: Some(2 * GB), shared_buffers_bytes: None} => "data_fits_ram", Warning,
        "data of 2048 MB fits in RAM (shared_buffers unknown, RAM 4096 MB, of which the server that asked takes 128 MB)");
    finds!({data_bytes: Some(2 * GB), asking_server_shared_buffers_bytes: None} => "data_fits_ram", Warning,
        "data of 2048 MB fits in RAM (shared_buffers 1024 MB, RAM 4096 MB)");
    // Shared buffers of the other server are no room for the data.
    finds_nothing!(data_bytes: Some(2 * GB), asking_server_shared_buffers_bytes: Some(5 * GB / 2));
    finds_nothing!(data_bytes: Some(2 * GB), memory_bytes: None);
}

#[test]
fn reads_that_the_device_did_are_not_said_to_come_from_memory() {
    let found = |device: Option<u64>, server: Option<u64>| {
        let facts = RunFacts {
            data_bytes: Some(2 * GB),
            storage: StorageFacts {
                device_read_bytes: device,
                server_read_bytes: server,
                ..storage()
            },
            ..clean()
        };
        let found = judge(&facts).remove(0);
        (found.message, found.hint)
    };
    let fits = "data of 2048 MB fits in RAM (shared_buffers 1024 MB, RAM 4096 MB, of which the server that asked takes 128 MB)";
    let (message, hint) = found(Some(3 * GB), Some(4 * GB));
    assert_eq!(
        message,
        format!("{fits}; the device read 3072 MB while the server read 4096 MB")
    );
    assert!(!hint.contains("came from memory"), "{hint}");
    for (device, server) in [(GB / 8, 4 * GB), (1 << 20, 1 << 20), (0, 0)] {
        let (message, hint) = found(Some(device), Some(server));
        assert_eq!(message, fits);
        assert!(
            hint.starts_with("Reads came from memory, not from storage"),
            "{hint}"
        );
    }
    // One of the counters is missing.
    for (device, server) in [(None, Some(GB)), (Some(GB), None)] {
        let (message, hint) = found(device, server);
        assert_eq!(message, fits);
        assert!(hint.starts_with("Reads can come from memory"), "{hint}");
    }
}

#[test]
fn no_complete_checkpoint() {
    let message = "no complete checkpoint in the measured window";
    finds!({checkpoints: Some(0)} => "no_complete_checkpoint", Warning, message);
    finds!({checkpoints: Some(0), quick: true} => "no_complete_checkpoint", Info, message);
    finds_nothing!(checkpoints: None);
    finds_nothing!(checkpoints: Some(0), workload: Workload::parse("fsync"));
    finds_nothing!(checkpoints: Some(0), workload: Workload::parse("select-only"));
    finds_nothing!(checkpoints: Some(0), workload: Workload::parse("commit"));
}

#[test]
fn too_short() {
    let message = "2 of at least 3 complete checkpoints in the measured window";
    finds!({checkpoints: Some(2)} => "too_short", Warning, message);
    finds!({checkpoints: Some(2), quick: true} => "too_short", Info, message);
    finds_nothing!(checkpoints: Some(4));
    // Three cycles by the clock, of which the last one's checkpoint ends a moment too late.
    let seen = |cycles, timed, requested| CheckpointFacts {
        timed: Some(timed),
        requested: Some(requested),
        distance_bytes: None,
        cycles: Some(cycles),
    };
    finds_nothing!(checkpoints: Some(2), checkpoints_seen: seen(2.999, 3, 0));
    finds!({checkpoints: Some(2), checkpoints_seen: seen(2.9, 3, 0)} => "too_short", Warning, message);
    finds!({checkpoints: Some(2), checkpoints_seen: seen(3.0, 2, 0)} => "too_short", Warning, message);
    let forced = judge(&RunFacts {
        checkpoints: Some(2),
        checkpoints_seen: seen(3.0, 3, 1),
        ..clean()
    });
    assert!(forced.iter().any(|finding| finding.code == "too_short"));
}

#[test]
fn log_checkpoints_off() {
    finds!({checkpoints_logged: Some(false), log_checkpoints: Some(false)} => "log_checkpoints_off", Info,
        "log_checkpoints is off: checkpoints are only counted");
    finds!({checkpoints_logged: Some(false)} => "log_checkpoints_off", Info,
        "the server does not log its checkpoints: they are only counted");
    finds_nothing!(checkpoints_logged: None, log_checkpoints: None);
}

#[test]
fn statistics_reset() {
    finds!({reset_views: Some(vec!["pg_stat_wal".into(), "pg_stat_io".into()])} => "statistics_reset", Warning,
        "the server's statistics were reset in the run: pg_stat_wal, pg_stat_io");
    finds_nothing!(reset_views: None);
    finds!({statements: Some(Statements::Reset)} => "statistics_reset", Warning,
        "the server's statistics were reset in the run: pg_stat_statements");
    finds!({reset_views: Some(vec!["pg_stat_wal".into()]), statements: Some(Statements::Reset)} => "statistics_reset", Warning,
        "the server's statistics were reset in the run: pg_stat_wal, pg_stat_statements");
}

#[test]
fn statements_not_recorded() {
    for (statements, why) in [
        (Statements::NotLoaded, "pg_stat_statements is not loaded"),
        (
            Statements::NotCreated,
            "extension \"pg_stat_statements\" is not in the database",
        ),
        (
            Statements::Nothing,
            "pg_stat_statements has nothing of them",
        ),
        (
            Statements::Evicted,
            "pg_stat_statements had no room for all statements of the server",
        ),
        (
            Statements::Outdated,
            "extension \"pg_stat_statements\" has another version than its library",
        ),
        (Statements::Failed, "pg_stat_statements could not be asked"),
    ] {
        finds!({statements: Some(statements)} => "statements_not_recorded", Info,
            format!("the statements of the workload were not recorded: {why}"));
    }
    finds_nothing!(statements: None);
    assert_eq!(
        serde_json::to_value(Statements::NotLoaded).unwrap(),
        "not_loaded"
    );
}

#[test]
fn durability_settings() {
    finds!({fsync: Some(false)} => "fsync_off", Invalid, "fsync is off");
    finds!({full_page_writes: Some(false)} => "full_page_writes_off", Warning, "full_page_writes is off");
    finds!({synchronous_commit: Some("off".into())} => "synchronous_commit_off", Warning, "synchronous_commit is off");
    finds!({unlogged: Some(true)} => "unlogged", Warning, "the tables are unlogged");
    for value in ["on", "local", "remote_write", "remote_apply"] {
        finds_nothing!(synchronous_commit: Some(value.into()));
    }
    finds_nothing!(fsync: None, full_page_writes: None, synchronous_commit: None);
}

#[test]
fn old_xmin() {
    use XminHolderKind::*;
    let two = vec![
        holder(Session, "4711", Some(90)),
        holder(Slot, "standby1", None),
    ];
    finds!({xmin_holders: Some(two)} => "old_xmin", Warning,
        "vacuum is held back by session 4711 (90 transactions old), replication slot standby1");
    let many = (0..7)
        .map(|i| holder(PreparedTransaction, &format!("g{i}"), None))
        .collect();
    let (_, _, message) = only(RunFacts {
        xmin_holders: Some(many),
        ..clean()
    });
    assert!(
        message.ends_with("prepared transaction g4, and 2 more"),
        "{message}"
    );
    finds_nothing!(xmin_holders: None);
}

#[test]
fn wal_on_other_filesystem() {
    finds!({wal_place: Some(place(2, "/dev/sdb1", "xfs"))} => "wal_on_other_filesystem", Warning,
        "data is on ext4 at /m1, WAL on xfs at /m2");
    let (_, severity, _) = only(RunFacts {
        wal_place: Some(place(2, "/dev/sdb1", "ext4")),
        ..clean()
    });
    assert_eq!(severity, Severity::Info);
    let subvolume = |minor| Some(place(minor, "/dev/sda1", "btrfs"));
    finds_nothing!(data_place: subvolume(1), wal_place: subvolume(2));
    let tmpfs = |minor| Some(place(minor, "tmpfs", "tmpfs"));
    assert_eq!(
        judge(&RunFacts {
            data_place: tmpfs(1),
            wal_place: tmpfs(2),
            ..clean()
        })
        .len(),
        1
    );
    finds_nothing!(wal_place: None);
}

#[test]
fn failed_transactions() {
    finds!({failed: Some(2000), measured: Some(998_000)} => "failed_transactions", Invalid, "2000 transactions failed, 0.20 %");
    finds!({failed: Some(1), measured: Some(999_999)} => "failed_transactions", Info, "1 transaction failed, under 0.01 %");
    finds!({failed: Some(1), measured: Some(0)} => "failed_transactions", Invalid, "1 transaction failed, 100.0 %");
    finds_nothing!(failed: None);
}

#[test]
fn skipped_transactions() {
    finds!({skipped: Some(250), measured: Some(750)} => "skipped_transactions", Warning,
        "250 transactions skipped, 25.0 % of those due");
    finds_nothing!(skipped: Some(0), measured: Some(0));
}

#[test]
fn stalls() {
    let mut seconds = vec![1000.0; 60];
    (seconds[20], seconds[40]) = (99.0, 0.0);
    finds!({seconds_tps: Some(seconds)} => "stalls", Warning,
        "throughput stalled in 2 of 60 seconds, 1 of them without a transaction; the median is 1000 tps");
    let rare = vec![0.0, 1.0, 2.0, 0.0, 1.0, 1.0, 0.0, 2.0, 1.0];
    finds_nothing!(seconds_tps: Some(rare), rate: Some(1.0));
    finds_nothing!(seconds_tps: None);
}

#[test]
fn drift() {
    let seconds =
        |last: f64| Some([[1000.0; 20], [(1000.0 + last) / 2.0; 20], [last; 20]].concat());
    finds!({seconds_tps: seconds(750.0)} => "drift", Warning,
        "the last third of the window did 25.0 % less than the first (750 against 1000 tps)");
    finds!({seconds_tps: seconds(1200.0), rate: Some(1000.0)} => "drift", Warning,
        "the last third of the window did 20.0 % more than the first (1200 against 1000 tps)");
    finds_nothing!(seconds_tps: seconds(1040.0));
    finds_nothing!(seconds_tps: seconds(750.0), rate: Some(20.0));
    finds_nothing!(seconds_tps: seconds(750.0), has_unlike_parts: Some(true));
}

#[test]
fn scans_of_a_table_in_memory() {
    // Nothing waits for a commit, and what is in memory is what was asked for.
    finds_nothing!(workload: Workload::parse("scan"), unlogged: Some(true), fsync: Some(false), checkpoints: Some(0),
        data_bytes: Some(1), full_page_writes: Some(false), synchronous_commit: Some("off".into()));
}

#[test]
fn only_the_moment_knows_what_was_not_released() {
    for left in [Unreleased::ByHelper, Unreleased::ByServer] {
        let finding = not_released("x", left);
        assert!(is_of_the_moment(&finding.code));
        let names_helper = finding.hint.contains("pgfsbench-helper");
        assert_eq!(names_helper, left == Unreleased::ByHelper);
    }
    assert!(is_of_the_moment(IMPORTED));
    assert!(is_of_the_moment(&not_positive("tps", 0.0).code));
    assert!(!is_of_the_moment("drift"));
}

#[test]
fn the_worst_comes_first() {
    let findings = judge(&RunFacts {
        fsync: Some(false),
        checkpoints: Some(0),
        quick: true,
        scale: Some(1),
        ..clean()
    });
    let codes: Vec<&str> = findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "fsync_off",
            "clients_exceed_branches",
            "no_complete_checkpoint"
        ]
    );
    // Among findings of one severity, the one that changes the figures most comes first.
    let findings = judge(&RunFacts {
        scale: Some(1),
        storage: StorageFacts {
            mount_options: Some("rw,strictatime,nobarrier".into()),
            free_bytes: Some(GB),
            ..storage()
        },
        ..clean()
    });
    let told: Vec<_> = findings.iter().map(|f| (f.severity, &*f.code)).collect();
    assert_eq!(
        told,
        [
            "barriers_off",
            "clients_exceed_branches",
            "almost_full",
            "atime"
        ]
        .map(|code| (Severity::Warning, code))
    );
    assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Invalid);
    assert_eq!(
        serde_json::to_value(Severity::Invalid).unwrap(),
        Severity::Invalid.as_str()
    );
}

#[test]
fn facts_of_a_specification() {
    let server = Facts {
        processors: 2,
        free_worker_slots: 40,
        max_clients: 64,
        ..Facts::default()
    };
    let facts = RunFacts::of_spec(&resolve(&RunArguments::default(), &server).unwrap());
    assert!(facts.quick && facts.clients == Some(8) && facts.scale == Some(10));
    assert_eq!(facts.data_bytes.map(|b| b >> 20), Some(149));
    assert_eq!(judge(&facts), []);
}

proptest! {
    #[test]
    fn never_panics(counts in any::<[Option<u64>; 6]>(), checkpoints: Option<u32>, clients: Option<u32>, rate: Option<f64>,
        seconds in prop::option::of(prop::collection::vec(any::<f64>(), 0..30))) {
        let [data_bytes, shared_buffers_bytes, memory_bytes, measured, failed, skipped] = counts;
        let facts = RunFacts {
            data_bytes, shared_buffers_bytes, memory_bytes, measured, failed, skipped, checkpoints, clients, rate,
            seconds_tps: seconds, ..clean()
        };
        judge(&facts);
    }
}

#[test]
fn findings_and_durability_are_the_same_where_each_text_is_its_code() {
    let all = [
        clean(),
        RunFacts {
            fsync: Some(false),
            unlogged: Some(true),
            ..clean()
        },
        RunFacts {
            storage: StorageFacts {
                filesystem: Some("tmpfs".into()),
                ..storage()
            },
            ..clean()
        },
        RunFacts {
            power_cuts: PowerCutFacts {
                cuts: Some(320),
                failed: Some(7),
            },
            ..clean()
        },
        RunFacts::default(),
    ];
    let decide = |facts: &RunFacts| {
        let findings = judge(facts).into_iter();
        let codes: Vec<_> = findings.map(|f| (f.code, f.severity)).collect();
        let durability = Durability::of(facts);
        let class = durability.as_ref().map(Durability::class);
        (codes, class, durability)
    };
    for facts in &all {
        assert_eq!(wording::without(|| decide(facts)), decide(facts));
    }
    let of = |facts: &RunFacts| Durability::of(facts).unwrap();
    let is_as = || of(&all[0]).is_as(&of(&all[1]));
    assert!(!is_as() && !wording::without(is_as));
    let finding = wording::without(|| judge(&all[1])).remove(0);
    assert_eq!(finding.message, finding.code);
}
