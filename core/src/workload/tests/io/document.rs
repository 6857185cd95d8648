//! Documents of fio: each trap of the format has a document that was written for this test.

use super::*;
use crate::{
    hist::{Histogram, Measure},
    workload::io::{
        Total,
        document::{self, Direction, Measured},
        failure::Ended,
        series::Seconds,
    },
};

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

/// fio may fail with an exit code alone: its document is whole, and has no error.
#[test]
fn an_exit_code_refuses_a_whole_document() {
    let document = good();
    let measured = |is_success: bool, document: &str| {
        let ended = Ended {
            is_success,
            status: "exit status: 1".into(),
            ..Ended::default()
        };
        document::of_ended(&ended, document.as_bytes(), &jobs())
    };
    assert_eq!(measured(true, &document), parsed(&document));
    let refusal = measured(false, &document).unwrap_err();
    check::style(&refusal);
    assert_eq!(refusal.message, "fio has failed: exit status: 1");
    // Neither does an exit code without an error make up for a document.
    assert!(measured(true, &document[..document.len() / 2]).is_err());
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
    assert_eq!(refusal.kind, RefusalKind::DiskFull);
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

/// As fio 3.33 writes it. The figure of a window that is not complete is printed as 0.
#[test]
fn the_steady_state_of_fio_is_stored_where_it_was_asked_for() {
    let steady = |seconds: u64, members: &str| {
        let jobs = jobs_of(&resolved(of_file(&format!(
            "[log]\nrw=write\nsize=1m\nruntime=9\nss=bw_slope:0.25%\nss_dur={seconds}\n"
        ))));
        let more =
            format!(r#", "steadystate": {{"ss": "bw_slope:0.250000%", "duration": 3, {members}}}"#);
        let job = job_of("j0", &nothing(), &three(""), &no_sync(), &more);
        let text = format!("{{\n\"fio version\": \"fio-3.33\", \"jobs\": [{job}]}}");
        let all = document::parse(text.as_bytes(), &jobs).unwrap();
        let row = all[0].to_row(&jobs, &Seconds::default()).unwrap();
        assert_eq!(row.fio_steady_state.as_deref(), Some("bw_slope:0.250%"));
        assert_eq!(row.fio_steady_seconds, Some(seconds));
        (row.fio_steady, row.fio_steady_percent)
    };
    let attained = r#""attained": 1, "criterion": "0.125000%", "slope": 0.1"#;
    assert_eq!(steady(3, attained), (Some(true), Some(0.125)));
    let not_yet = r#""attained": 0, "criterion": "0.000000%", "slope": 0.0"#;
    assert_eq!(steady(4, not_yet), (Some(false), None));
    let missed = r#""attained": 0, "criterion": "-1.5%", "max_deviation": nan"#;
    assert_eq!(steady(3, missed), (Some(false), Some(-1.5)));
    let row = parsed(&good()).unwrap()[0].to_row(&jobs(), &Seconds::default());
    let row = row.unwrap();
    assert_eq!((row.fio_steady_state, row.fio_steady), (None, None));
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
