//! The workload `io`: what it takes, what is chosen for it, and job files from outside.

mod document;

use super::*;
use crate::{
    refusal::{Kind as RefusalKind, Refusal, check},
    workload::io::{IoOptions, job, jobs_of},
};

fn arguments(options: serde_json::Value) -> RunArguments {
    RunArguments {
        workload: Some("io".into()),
        options: Some(options),
        ..RunArguments::default()
    }
}

fn refused(arguments: RunArguments) -> Refusal {
    let refusal = resolve(&arguments, &facts()).expect_err("refused");
    check::style(&refusal);
    assert_eq!(refusal.kind, RefusalKind::InvalidArgument);
    refusal
}

fn file_of(spec: &Spec) -> String {
    job::job_file(&jobs_of(spec), 2_000, 7)
}

#[test]
fn nothing_asked_is_the_study_within_a_minute() {
    let spec = resolved(arguments(json!({})));
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
    let stored = resolved(arguments(json!({}))).stored();
    assert_eq!(
        (&stored["scale"], &stored["clients"]),
        (&json!(null), &json!(null))
    );
    let commit = RunArguments {
        workload: Some("commit".into()),
        clients: Some(3),
        ..RunArguments::default()
    };
    let stored = resolved(commit).stored();
    assert_eq!(
        (&stored["scale"], &stored["clients"]),
        (&json!(null), &json!(3))
    );
}

#[test]
fn options_become_settings_of_fio() {
    let spec = resolved(RunArguments {
        duration_us: Some(30_000_000),
        ..arguments(
            json!({"pattern": "randrw", "block_size": "4kB", "jobs": 2, "io_depth": 16, "direct": true, "fdatasync_every": 4,
            "size": "2x ram", "rate": 1000, "mix": 70, "steady_state": "iops_slope:0.3%"}),
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
        "steadystate=iops_slope:0.300%",
        "steadystate_duration=5",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
    }
    let bytes = 2 * facts().memory_bytes;
    assert!(spec.data_bytes() <= bytes && spec.data_bytes() > bytes - 2 * 4096);
    // A choice that is made here goes to the server of a target as it is.
    let again = resolved(arguments(spec.options.to_argument(spec.workload)));
    assert_eq!(file_of(&again), text);
}

/// The rates of all jobs together are the one that was given.
#[test]
fn jobs_share_a_rate_without_a_rest() {
    for (options, line) in [
        (
            json!({"pattern": "read", "jobs": 8, "rate": 104}),
            "rate_iops=13",
        ),
        (
            json!({"pattern": "write", "jobs": 1, "rate": 1}),
            "rate_iops=1",
        ),
        (
            json!({"pattern": "randrw", "jobs": 8, "rate": 16}),
            "rate_iops=1,1",
        ),
        (
            json!({"pattern": "randrw", "jobs": 3, "rate": 300, "mix": 1}),
            "rate_iops=1,99",
        ),
    ] {
        let text = file_of(&resolved(arguments(options)));
        assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
    }
    let hint = |rate: u64| {
        let options = json!({"pattern": "read", "jobs": 8, "rate": rate});
        refused(arguments(options)).hint.unwrap()
    };
    assert_eq!(hint(4), "Give 8, or fewer jobs.");
    assert_eq!(hint(100), "Give 96 or 104.");
}

#[test]
fn another_machine_knows_its_own_ram() {
    let far = Facts {
        by_connection: true,
        ..facts()
    };
    let spec = resolve(&arguments(json!({"size": "2x ram"})), &far).unwrap();
    assert_eq!(
        spec.options.own::<IoOptions>().size.as_deref(),
        Some("2x ram")
    );
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
            json!({"steady_state": "bw:1"}),
            "invalid value of option \"steady_state\"",
        ),
        (
            json!({"steady_state_seconds": 7}),
            "has no effect without \"steady_state\"",
        ),
        (
            json!({"steady_state": "bw:1%", "steady_state_seconds": 60}),
            "the window for a steady state is longer than job \"read\"",
        ),
        (
            json!({"job_file": "[a]\nrw=read\nsize=1m\nss=iops:1%"}),
            "has no steadystate_duration",
        ),
        (
            json!({"job_file": "[a]\nrw=read\nsize=1m\nss=iops:1%\nss_dur=9\nruntime=8"}),
            "is longer than job \"a\"",
        ),
        (
            json!({"jobs": 256, "io_depth": 1024, "block_size": "16MB", "size": "8TB"}),
            "take too much memory",
        ),
        (
            json!({"pattern": "read", "jobs": 8, "rate": 4}),
            "rate 4 of the option \"rate\" cannot be shared by 8 jobs",
        ),
        (
            json!({"pattern": "read", "jobs": 8, "rate": 100}),
            "cannot be shared",
        ),
        (
            json!({"pattern": "randrw", "jobs": 1, "rate": 99}),
            "cannot be shared",
        ),
        (
            json!({"jobs": 2, "mix": 1, "rate": 100}),
            "cannot be shared",
        ),
        (
            json!({"job_file": "[a]\nrw=write\nsize=1m\nfsync=1\nfdatasync=1"}),
            "has both fsync and fdatasync",
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
        let refusal = refused(arguments(options.clone()));
        assert!(
            refusal.message.contains(message),
            "{options}: {}",
            refusal.message
        );
    }
    let short = RunArguments {
        duration_us: Some(5_000_000),
        ..arguments(json!({}))
    };
    assert!(
        refused(short)
            .message
            .contains("is too short for 5 patterns")
    );
    for parameter in [
        RunArguments {
            clients: Some(4),
            ..arguments(json!({}))
        },
        RunArguments {
            size: Some("1GB".into()),
            ..arguments(json!({}))
        },
        RunArguments {
            rate: Some(5.0),
            ..arguments(json!({}))
        },
    ] {
        assert!(refused(parameter).hint.unwrap().contains("options =>"));
    }
}

fn of_file(text: &str) -> RunArguments {
    arguments(json!({ "job_file": text }))
}

#[test]
fn no_block_is_larger_than_its_file_where_files_are_made() {
    let blocks = |size: &str| {
        let spec = resolved(arguments(
            json!({"pattern": "read", "size": size, "jobs": 8}),
        ));
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
    let timed = RunArguments {
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
    "ss=lat:0.1%",
    "steadystate=bw:1",
    "steadystate=iops:${X}%",
    "ss_dur=${X}",
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
fn a_misspelt_option_is_answered_by_its_nearest() {
    for (line, hint) in [
        ("io_depth=4", "Write iodepth, or leave the line out."),
        ("RUNTIME=4", "Write runtime, or leave the line out."),
        (
            "random_distributoin=random",
            "Write random_distribution, or",
        ),
        ("numjob=4", "Write numjobs, or"),
        ("filename=x", "Leave the line out. Allowed are bs, "),
        ("nice=4", "Leave the line out. Allowed are bs, "),
    ] {
        let refusal = refused(of_file(&format!("[a]\nrw=read\nsize=1m\n{line}\n")));
        let hinted = refusal.hint.unwrap_or_default();
        assert!(hinted.starts_with(hint), "{line}: {hinted}");
    }
    let long = "x".repeat(60_000);
    let refusal = refused(of_file(&format!("[a]\nrw=read\nsize=1m\n{long}=1\n")));
    assert!(refusal.hint.unwrap_or_default().starts_with("Leave"));
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
