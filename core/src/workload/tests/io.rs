//! The workload `io`: what it takes, what is chosen for it, job files from outside, and documents of fio.

use super::*;
use crate::{
    hist::{Histogram, Measure},
    refusal::{Kind as RefusalKind, Refusal, check},
    workload::io::{
        Own, Total,
        document::{self, Direction, Measured},
        job, jobs_of,
        series::Seconds,
    },
};

fn asked(options: serde_json::Value) -> Asked {
    Asked {
        workload: Some("io".into()),
        options: Some(options),
        ..Asked::default()
    }
}

fn refused(asked: Asked) -> Refusal {
    let refusal = resolve(&asked, &facts()).expect_err("refused");
    check::style(&refusal);
    assert_eq!(refusal.kind, RefusalKind::InvalidArgument);
    refusal
}

fn file_of(spec: &Spec) -> String {
    job::job_file(&jobs_of(spec), 2_000, 7)
}

#[test]
fn nothing_asked_is_the_study_within_a_minute() {
    let spec = resolved(asked(json!({})));
    assert_eq!(
        spec.plan_text(),
        "io, fio: read randread write randwrite randrw, 1024 MB, 40 s measured, seed 42 \
         (chosen: duration, seed, pattern, block_size, jobs, io_depth, direct, engine, size)"
    );
    assert_eq!((spec.data_bytes(), spec.workers()), (1 << 30, 2));
    assert!(spec.is_quick() && !spec.has_tables());
    let text = file_of(&spec);
    assert_eq!(text.matches("stonewall").count(), 4);
    for line in [
        "bs=8192",
        "numjobs=8",
        "direct=0",
        "fadvise_hint=0",
        "invalidate=1",
        "rwmixread=50",
        "ioengine=psync",
        "runtime=2000ms",
        "time_based=1",
        "thread=1",
        "filename_format=file0.$jobnum.$filenum",
        "randseed=7",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
    }
}

#[test]
fn neither_scale_nor_clients_are_stored() {
    let stored = resolved(asked(json!({}))).stored();
    assert_eq!(
        (&stored["scale"], &stored["clients"]),
        (&json!(null), &json!(null))
    );
    let commit = Asked {
        workload: Some("commit".into()),
        clients: Some(3),
        ..Asked::default()
    };
    let stored = resolved(commit).stored();
    assert_eq!(
        (&stored["scale"], &stored["clients"]),
        (&json!(null), &json!(3))
    );
}

#[test]
fn options_become_settings_of_fio() {
    let spec = resolved(Asked {
        duration_us: Some(30_000_000),
        ..asked(
            json!({"pattern": "randrw", "block_size": "4kB", "jobs": 2, "io_depth": 16, "direct": true, "fdatasync_every": 4,
            "size": "2x ram", "rate": 1000, "mix": 70}),
        )
    });
    let text = file_of(&spec);
    for line in [
        "bs=4096",
        "numjobs=2",
        "iodepth=16",
        "direct=1",
        "ioengine=libaio",
        "fdatasync=4",
        "rate_iops=350,150",
        "rwmixread=70",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
    }
    let bytes = 2 * facts().memory_bytes;
    assert!(spec.data_bytes() <= bytes && spec.data_bytes() > bytes - 2 * 4096);
    // A choice that is made here goes to the server of a target as it is.
    let again = resolved(asked(spec.options.to_argument(spec.workload)));
    assert_eq!(file_of(&again), text);
}

#[test]
fn another_machine_knows_its_own_ram() {
    let far = Facts {
        by_connection: true,
        ..facts()
    };
    let spec = resolve(&asked(json!({"size": "2x ram"})), &far).unwrap();
    assert_eq!(spec.options.own::<Own>().size.as_deref(), Some("2x ram"));
}

#[test]
fn options_that_say_nothing_are_refused() {
    for (options, message) in [
        (
            json!({"pattern": "trim"}),
            "invalid value of option \"pattern\"",
        ),
        (
            json!({"block_size": 8192}),
            "invalid value of option \"block_size\"",
        ),
        (
            json!({"block_size": "1 B"}),
            "invalid value of option \"block_size\"",
        ),
        (json!({"size": "8"}), "has no unit"),
        (json!({"size": "8kB"}), "is too small"),
        (json!({"jobs": 0}), "invalid value of option \"jobs\""),
        (
            json!({"engine": "/tmp/x.so"}),
            "invalid value of option \"engine\"",
        ),
        (
            json!({"engine": "psync", "io_depth": 4}),
            "does one operation at a time",
        ),
        (
            json!({"fsync_every": 1, "fdatasync_every": 1}),
            "exclude each other",
        ),
        (
            json!({"pattern": "randwrite", "mix": 70}),
            "option \"mix\" has no effect with pattern \"randwrite\"",
        ),
        (
            json!({"pattern": "randread", "fsync_every": 1}),
            "option \"fsync_every\" has no effect",
        ),
        (
            json!({"pattern": "read", "fdatasync_every": 1}),
            "option \"fdatasync_every\" has no effect",
        ),
        (json!({"mix": 100}), "invalid value of option \"mix\""),
        (
            json!({"jobs": 256, "io_depth": 1024, "block_size": "16MB", "size": "8TB"}),
            "take too much memory",
        ),
        (
            json!({"job_file": 7}),
            "invalid value of option \"job_file\"",
        ),
        (
            json!({"job_file": "[a]\nrw=read\nsize=1m", "jobs": 2}),
            "excludes the other options",
        ),
    ] {
        let refusal = refused(asked(options.clone()));
        assert!(
            refusal.message.contains(message),
            "{options}: {}",
            refusal.message
        );
    }
    let short = Asked {
        duration_us: Some(5_000_000),
        ..asked(json!({}))
    };
    assert!(
        refused(short)
            .message
            .contains("is too short for 5 patterns")
    );
    for parameter in [
        Asked {
            clients: Some(4),
            ..asked(json!({}))
        },
        Asked {
            size: Some("1GB".into()),
            ..asked(json!({}))
        },
        Asked {
            rate: Some(5.0),
            ..asked(json!({}))
        },
    ] {
        assert!(refused(parameter).hint.unwrap().contains("options =>"));
    }
}

fn of_file(text: &str) -> Asked {
    asked(json!({ "job_file": text }))
}

#[test]
fn no_block_is_larger_than_its_file_where_files_are_made() {
    let blocks = |size: &str| {
        let spec = resolved(asked(json!({"pattern": "read", "size": size, "jobs": 8})));
        let text = job::file_that_makes_files(&jobs_of(&spec));
        text.split_once("size=").unwrap().1.to_owned()
    };
    assert_eq!(blocks("4MB"), "524288\nbs=524288\n");
    assert_eq!(blocks("64MB"), "8388608\nbs=1048576\n");
}

#[test]
fn a_job_file_is_written_anew() {
    let text = "; a comment\n[global]\nsize = 2m\nblocksize=4K,8k\nioengine=libaio\niodepth=8\r\nruntime=3\n\n\
                [log]\nrw=write\nfdatasync=1\ntime_based\n# another\n[data-reads]\nreadwrite=randread\nnumjobs=3\nsize=1m\n\
                random_distribution=zipf:1.2\n[last]\nstonewall\nrw=randrw\nbssplit=4k/30:8k/70\nthinktime=1ms\nramp_time=500ms";
    let spec = resolved(of_file(text));
    // The first two run at the same time.
    assert_eq!(spec.data_bytes(), 2 * 1024 * 1024 + 3 * 1024 * 1024);
    assert_eq!(spec.bound, Bound::DurationMs(3_000 + 3_500));
    let written = file_of(&spec);
    assert_eq!(
        written.split_once("[j0]").unwrap().1,
        "\nnew_group=1\nfilename_format=file0.$jobnum.$filenum\nrw=write\nnumjobs=1\nsize=2097152\nruntime=3000ms\ntime_based=1\n\
         bs=4096,8192\nioengine=libaio\niodepth=8\nfdatasync=1\n\
         [j1]\nnew_group=1\nfilename_format=file1.$jobnum.$filenum\nrw=randread\nnumjobs=3\nsize=1048576\nruntime=3000ms\ntime_based=0\n\
         bs=4096,8192\nioengine=libaio\niodepth=8\nrandom_distribution=zipf:1.200\n\
         [j2]\nnew_group=1\nfilename_format=file0.$jobnum.$filenum\nrw=randrw\nnumjobs=1\nsize=2097152\nruntime=3000ms\ntime_based=0\n\
         ramp_time=500ms\nstonewall\nbs=4096,8192\nioengine=libaio\niodepth=8\nbssplit=4096/30:8192/70\nthinktime=1000\n"
    );
    let names: Vec<String> = jobs_of(&spec).into_iter().map(|job| job.name).collect();
    assert_eq!(names, ["log", "data-reads", "last"]);
    assert!(jobs_of(&spec)[0].syncs && !jobs_of(&spec)[2].syncs);
    let timed = Asked {
        duration_us: Some(60_000_000),
        ..of_file(text)
    };
    assert!(refused(timed).message.contains("times of its own"));
}

/// Lines that read, write or run something that the caller did not name, or that fio reads otherwise than they look.
const HOSTILE: &[&str] = &[
    "include /etc/passwd",
    "include=/etc/passwd",
    "exec_prerun=touch /tmp/pwned",
    "exec_postrun=touch /tmp/pwned",
    "exec_prerun",
    "ioengine=/tmp/x.so",
    "ioengine=external:/tmp/x.so",
    "ioengine=external:x",
    "ioengine=exec",
    "ioengine=net",
    "ioengine=netsplice",
    "ioengine=sg",
    "ioengine=io_uring_cmd",
    "ioengine=mtd",
    "ioengine=filedelete",
    "ioengine=filecreate",
    "ioengine=filestat",
    "ioengine=splice",
    "ioengine=vsync",
    "ioengine=cpuio",
    "ioengine=rados",
    "ioengine=http",
    "ioengine=PSYNC",
    "ioengine=psync;x",
    "ioengine=./psync",
    "ioengine=psync:/tmp/x",
    "ioengine=${HOME}",
    "filename=/etc/passwd",
    "filename=a:b",
    "filename=../../pg_wal/x",
    "filename=\\..",
    "filename",
    "filename_format=/etc/$jobname",
    "directory=/etc",
    "directory=..",
    "opendir=/etc",
    "buffer_pattern='/etc/passwd'",
    "buffer_pattern=0xdead",
    "verify_pattern=%o",
    "verify=md5",
    "verify_state_save=1",
    "verify_state_load=1",
    "write_bw_log=/tmp/x",
    "write_lat_log=/tmp/x",
    "write_iops_log=x",
    "write_hist_log=x",
    "log_compression=1m",
    "per_job_logs=0",
    "read_iolog=/etc/passwd",
    "write_iolog=/tmp/x",
    "merge_blktrace_file=/tmp/x",
    "replay_redirect=/dev/sda",
    "mem=mmap:/etc/passwd",
    "mem=mmapshared:/tmp/x",
    "iomem=mmaphuge:/x",
    "cgroup=/x",
    "cgroup_weight=1000",
    "uid=0",
    "gid=0",
    "user=root",
    "chroot=/",
    "nice=-20",
    "prio=0",
    "prioclass=1",
    "cpus_allowed=0",
    "numa_cpu_nodes=0",
    "unlink=1",
    "unlink_each_loop=1",
    "pre_read=1",
    "overwrite=1",
    "file_append=1",
    "allow_file_create=1",
    "allow_mounted_write=1",
    "lockfile=exclusive",
    "nrfiles=100000",
    "zonemode=zbd",
    "trim_percentage=100",
    "profile=tiobench",
    "hostname=example",
    "port=22",
    "client=example",
    "server",
    "trigger=touch /tmp/x",
    "trigger-file=/tmp/x",
    "output=/tmp/x",
    "status-interval=1",
    "error_dump=1",
    "name=x",
    "kb_base=1000",
    "unit_base=1",
    "ss=iops:0.1%",
    "steadystate=bw:1",
    "continue_on_error=all",
    "exitall=1",
    "group_reporting=0",
    "thread=0",
    "loops=1000000",
    "runtime=${X}",
    "runtime=1000000000000",
    "size=100%",
    "size=$(id)",
    "size=${SIZE}",
    "size=0",
    "size=-1",
    "size=1e9",
    "bs=0x1000",
    "bs=1-2",
    "bs=8k,,8k",
    "bs=${BS}",
    "numjobs=0",
    "numjobs=100000",
    "iodepth=4096",
    "rw=trim",
    "rw=randtrimwrite",
    "rw=read:8",
    "direct=2",
    "direct=yes",
    "direct=",
    "fsync=-1",
    "rate_iops=1,2,3",
    "bssplit=4k/50:8k",
    "bssplit=4k/150",
    "random_distribution=zoned:50/5",
    "random_distribution=zipf:1",
    "random_distribution=zipf:../x",
    "fallocate=/tmp/x",
    "randseed=1\u{0}2",
    "stonewall=x",
    "[a/../../b]",
    "[A B]",
    "[]",
    "[global",
    "[b]\n[b]",
    "bs=8k # x",
    "bs=8k\u{2028}filename=/etc/passwd",
    "\u{feff}[x]",
    "=x",
    "[x]=1",
    "size=1g\rexec_prerun=id",
];

#[test]
fn no_hostile_line_gets_into_a_job_file() {
    assert!(HOSTILE.len() >= 100, "{}", HOSTILE.len());
    for line in HOSTILE {
        for text in [
            format!("[global]\n{line}\n[a]\nrw=read\nsize=1m\n"),
            format!("[a]\nrw=read\nsize=1m\n{line}\n"),
        ] {
            let refusal = refused(of_file(&text));
            assert!(
                refusal.message.starts_with("line "),
                "{line}: {}",
                refusal.message
            );
            assert!(
                refusal.message.contains("of the job file"),
                "{line}: {}",
                refusal.message
            );
        }
    }
    let where_it_is = refused(of_file("[a]\nrw=read\n\nfilename=/etc/passwd\n"));
    assert_eq!(
        where_it_is.message,
        "line 4 of the job file: option \"filename\" is not allowed"
    );
}

#[test]
fn a_job_file_of_allowed_lines_has_those_only() {
    let allowed = [
        "[global]",
        "thread=1",
        "group_reporting=1",
        "directory=.",
        "lat_percentiles=1",
        "clat_percentiles=0",
        "stonewall",
    ];
    let spec = resolved(of_file(
        "[a]\nrw=read\nsize=1m\nioengine=io_uring\nfallocate=none\nrandseed=9\n",
    ));
    for line in file_of(&spec).lines() {
        let (name, _) = line.split_once('=').unwrap_or((line, ""));
        let of_ours = [
            "new_group",
            "filename_format",
            "rw",
            "numjobs",
            "size",
            "runtime",
            "time_based",
            "log_avg_msec",
            "log_unix_epoch",
            "write_bw_log",
            "write_iops_log",
            "randseed",
            "ioengine",
            "fallocate",
            "[j0]",
        ];
        assert!(allowed.contains(&line) || of_ours.contains(&name), "{line}");
    }
}

#[test]
fn a_job_file_without_jobs_or_with_too_much_is_refused() {
    for (text, message) in [
        (String::new(), "has no job"),
        ("[global]\nrw=read\nsize=1m".into(), "has no job"),
        ("[a]\nsize=1m".into(), "has no rw"),
        ("[a]\nrw=read".into(), "has no size"),
        ("#".repeat(70_000), "is too large"),
        (
            (0..70)
                .map(|n| format!("[j{n}]\nrw=read\nsize=1m\n"))
                .collect(),
            "begins no job",
        ),
        (
            (0..5)
                .map(|n| format!("[j{n}]\nrw=read\nsize=1m\nnumjobs=256\n"))
                .collect(),
            "too much memory",
        ),
        (
            (0..8)
                .map(|n| format!("[j{n}]\nrw=read\nsize=1m\nruntime=168h\n"))
                .collect(),
            "too much memory",
        ),
        (
            (0..3)
                .map(|n| {
                    format!("[j{n}]\nrw=read\nsize=1m\nruntime=168h\nramp_time=168h\nstonewall\n")
                })
                .collect(),
            "take too long",
        ),
    ] {
        let refusal = refused(of_file(&text));
        crate::refusal::check::style(&refusal);
        assert!(refusal.message.contains(message), "{}", refusal.message);
    }
}

/// The jobs of which the documents below are: one that writes and syncs, one that reads.
fn jobs() -> Vec<job::Job> {
    jobs_of(&resolved(of_file(
        "[log]\nrw=write\nsize=1m\nfdatasync=1\n[reads]\nrw=randread\nsize=1m\nstonewall\n",
    )))
}

const NONE: &str = r#"{"min": 0, "max": 0, "mean": 0.000000, "stddev": 0.000000, "N": 0}"#;

/// A direction with three operations of 1, 1 and 4 ms.
fn three(extra: &str) -> String {
    format!(
        r#"{{"io_bytes": 24576, "bw_bytes": 8192, "runtime": 3000, "total_ios": 3, "short_ios": 0{extra},
            "slat_ns": {NONE}, "clat_ns": {NONE},
            "lat_ns": {{"min": 1000000, "max": 4000000, "mean": 2000000.0, "stddev": 1732050.807569, "N": 3,
                        "percentile": {{"50.000000": 1000000}}, "bins": {{"1003520": 2, "3997696": 1}}}}}}"#
    )
}

fn nothing() -> String {
    format!(
        r#"{{"io_bytes": 0, "bw_bytes": 0, "runtime": 0, "total_ios": 0, "short_ios": 3, "slat_ns": {NONE}, "clat_ns": {NONE}, "lat_ns": {NONE}}}"#
    )
}

const SYNC: &str = r#"{"total_ios": 0, "lat_ns": {"min": 500000, "max": 500000, "mean": 500000.0, "stddev": 0.0, "N": 2, "bins": {"501760": 2}}}"#;

/// A job of the document; `more` are further members.
fn job_of(name: &str, read: &str, write: &str, sync: &str, more: &str) -> String {
    format!(
        r#"{{"jobname": "{name}", "groupid": 0, "error": 0, "job options": {{"rw": "x"}}, "read": {read}, "write": {write}, "trim": {{}},
            "sync": {sync}, "job_runtime": 3000, "usr_cpu": 10.0, "sys_cpu": 20.0{more}}}"#
    )
}

fn no_sync() -> String {
    format!(r#"{{"total_ios": 0, "lat_ns": {NONE}}}"#)
}

fn whole(log: &str, reads: &str) -> String {
    format!(
        "{{\n  \"fio version\": \"fio-3.33\", \"global options\": {{}},\n\"jobs\": [{log}, {reads}], \"disk_util\": []\n}}\n"
    )
}

fn good() -> String {
    whole(
        &job_of("j0", &nothing(), &three(""), SYNC, ""),
        &job_of("j1", &three(""), &nothing(), &no_sync(), ""),
    )
}

fn parsed(text: &str) -> Result<Vec<Measured>, Refusal> {
    document::parse(text.as_bytes(), &jobs()).inspect_err(check::style)
}

fn detail(text: &str) -> String {
    let refusal = parsed(text).expect_err("refused");
    refusal.detail.unwrap_or(refusal.message)
}

/// Trap 1: a job that only writes and calls fdatasync has short reads, and no reads. Trap 2: `total_ios` of syncs is 0.
#[test]
fn syncs_are_counted_by_their_latencies_and_are_no_reads() {
    let all = parsed(&good()).unwrap();
    let shown: Vec<_> = all
        .iter()
        .map(|m| (m.job, m.direction, m.operations, m.bytes))
        .collect();
    assert_eq!(
        shown,
        [
            (0, Direction::Write, 3, Some(24_576)),
            (0, Direction::Sync, 2, None),
            (1, Direction::Read, 3, Some(24_576)),
        ]
    );
    assert_eq!(
        (all[0].user_cpu_ms, all[0].system_cpu_ms),
        (Some(300.0), Some(600.0))
    );
    let row = all[1].to_row(&jobs(), &Seconds::default()).unwrap();
    assert_eq!(
        (row.sync_call, row.sync_every, row.bytes, row.mb_per_second),
        (Some("fdatasync"), Some(1), None, None)
    );
    assert_eq!(
        (
            row.latency_min_ms,
            row.latency_max_ms,
            row.steadiness.steady
        ),
        (Some(0.5), Some(0.5), None)
    );
    let histogram = all[1].to_histogram(&jobs()).unwrap();
    assert!(matches!(histogram.measure, Measure::Sync));
    assert_eq!(
        (histogram.transaction.as_str(), histogram.transactions),
        ("log", 2)
    );
}

#[test]
fn bins_lose_nothing_beyond_their_width() {
    let all = parsed(&good()).unwrap();
    let latency = &all[0].latency;
    assert_eq!(
        (latency.count(), latency.min(), latency.max()),
        (3, Some(1_000_000), Some(4_000_000))
    );
    assert!((latency.mean_ns().unwrap() - 2e6).abs() < 1.0);
    // The deviation of all values that there are: sqrt(2) ms.
    assert!((latency.stddev_ns().unwrap() - 2f64.sqrt() * 1e6).abs() < 10.0);
    let row = all[0].to_row(&jobs(), &Seconds::default()).unwrap();
    assert!(
        (row.latency_p50_ms.unwrap() - 1.0).abs() < 0.016 * 2.0,
        "{row:?}"
    );
    assert!((row.mb_per_second.unwrap() - 0.008192).abs() < 1e-9 && row.iops == Some(1.0));
    let total = Total::of(&all);
    assert_eq!(
        (total.operations, total.runtime_ms, total.per_second()),
        (6, 6_000, Some(1.0))
    );
    assert_eq!(total.latency.count(), 6);
    assert_eq!(Total::of(&[]).per_second(), None);
}

/// The bins of fio 3.33, by its source: 64 in each power of two, the key is the middle of a bin.
#[test]
fn each_bin_of_fio_stays_within_1_6_percent() {
    for group in 6..40u32 {
        for part in 0..64u64 {
            let width = 1u64 << (group - 6);
            let middle = (1u64 << group) + part * width + width / 2;
            let mut histogram = Histogram::new();
            histogram.merge(&Histogram::from_parts(
                [(crate::hist::bucket_of(middle), 1)],
                middle,
                0.0,
                middle,
                middle,
            ));
            let (low, high) = (
                crate::hist::bucket_low(crate::hist::bucket_of(middle)),
                crate::hist::bucket_high(crate::hist::bucket_of(middle)),
            );
            let centre = f64::midpoint(low as f64, high as f64);
            assert!((centre / middle as f64 - 1.0).abs() <= 0.016, "{middle}");
        }
    }
}

/// Trap 3: text before the document.
#[test]
fn notes_before_the_document_are_passed_over() {
    let noted = format!(
        "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\nfio: {{ x }}\n{}",
        good()
    );
    assert_eq!(parsed(&noted).unwrap(), parsed(&good()).unwrap());
}

/// Trap 4: several documents.
#[test]
fn a_second_document_is_refused() {
    assert!(detail(&format!("{}{}", good(), good())).contains("More follows"));
    assert!(detail(&format!("{}fio: terminating on signal 2\n", good())).contains("More follows"));
}

/// Trap 5: a whole document of a job that has failed.
#[test]
fn an_error_of_a_job_is_one_of_the_run() {
    let failed = good().replacen("\"error\": 0", "\"error\": 28", 1);
    let refusal = parsed(&failed).unwrap_err();
    assert_eq!(refusal.kind, RefusalKind::System);
    assert!(
        refusal.message.contains("job \"log\"") && refusal.message.contains("No space"),
        "{}",
        refusal.message
    );
}

/// Trap 6: keys that are repeated. Those of bins count again; two of the same figure are no document.
#[test]
fn repeated_keys_are_not_lost() {
    let twice = good().replace(r#""1003520": 2,"#, r#""1003520": 1, "1003520": 1,"#);
    assert_eq!(parsed(&twice).unwrap(), parsed(&good()).unwrap());
    let two = good().replacen(
        r#""io_bytes": 24576,"#,
        r#""io_bytes": 24576, "io_bytes": 1,"#,
        1,
    );
    assert!(detail(&two).contains("duplicate field"));
}

/// Trap 7: bytes that are no UTF-8.
#[test]
fn bytes_that_are_no_text_do_not_matter_outside_of_figures() {
    let mut bytes = good()
        .replacen(
            "\"global options\": {}",
            "\"global options\": {\"description\": \"@\"}",
            1,
        )
        .into_bytes();
    let at = bytes.iter().position(|b| *b == b'@').unwrap();
    bytes[at] = 0xff;
    assert_eq!(
        document::parse(&bytes, &jobs()).unwrap(),
        parsed(&good()).unwrap()
    );
}

/// Trap 8: no disk_util, and keys that no version had yet.
#[test]
fn further_keys_and_missing_ones_do_not_matter() {
    let other = good().replace(", \"disk_util\": []", "").replace(
        "\"trim\": {}",
        "\"trim\": {}, \"new in 3.99\": [1, {\"a\": null}]",
    );
    assert_eq!(parsed(&other).unwrap(), parsed(&good()).unwrap());
}

/// Trap 9: a group with the name of its first job only, or with other jobs.
#[test]
fn other_jobs_are_refused() {
    assert!(detail(&good().replace("\"j1\"", "\"j0\"")).contains("expected were j0 j1"));
    let one = format!(
        "{{\n\"fio version\": \"fio-3.33\", \"jobs\": [{}]}}",
        job_of("j0", &nothing(), &three(""), SYNC, "")
    );
    assert!(detail(&one).contains("expected were j0 j1"));
}

/// Trap 10: nan and inf, which are no JSON, where nothing was measured; and 0 where nothing was done.
#[test]
fn nan_is_unknown_and_nothing_has_no_time() {
    let text = good()
        .replace(
            ", \"short_ios\": 0",
            ", \"short_ios\": 0, \"bw_dev\": -nan, \"iops\": nan, \"bw_mean\": inf",
        )
        .replace(
            "\"usr_cpu\": 10.0",
            "\"usr_cpu\": nan, \"text\": \"nan \\\" inf\"",
        );
    let all = parsed(&text).unwrap();
    assert_eq!(
        (all[0].user_cpu_ms, all[0].system_cpu_ms),
        (None, Some(600.0))
    );
    let idle = whole(
        &job_of("j0", &nothing(), &nothing(), &no_sync(), ""),
        &job_of("j1", &three(""), &nothing(), &no_sync(), ""),
    );
    let none = &parsed(&idle).unwrap()[0];
    let row = none.to_row(&jobs(), &Seconds::default()).unwrap();
    assert_eq!(
        (row.operations, row.bytes, row.runtime_ms),
        (0, Some(0), None)
    );
    assert_eq!(
        (
            row.iops,
            row.mb_per_second,
            row.latency_avg_ms,
            row.latency_min_ms,
            row.latency_max_ms
        ),
        (None, None, None, None, None)
    );
    assert!(none.to_histogram(&jobs()).is_none());
    let mean = good().replacen("\"mean\": 2000000.0", "\"mean\": nan", 1);
    assert!(detail(&mean).contains("without a mean"));
}

#[test]
fn what_is_no_whole_document_is_refused() {
    let good = good();
    for end in 0..good.len() - 2 {
        assert!(parsed(&good[..end]).is_err(), "{end}");
    }
    assert_eq!(detail(""), "It is empty.");
    assert!(detail("fio: failed opening file: Permission denied\n").contains("Permission denied"));
    assert!(detail(&good.replace("fio-3.33", "fio-2.1")).contains("version"));
    assert!(
        detail(&good.replacen("\"1003520\": 2", "\"1003520\": 1", 1)).contains("bins hold 2 of 3")
    );
    assert!(
        detail(&good.replacen("\"1003520\": 2", "\"1003520\": 18446744073709551615", 1))
            .contains("bins hold")
    );
    assert!(
        detail(&good.replacen("\"total_ios\": 3", "\"total_ios\": -3", 1))
            .contains("not complete, or not fio's")
    );
}
