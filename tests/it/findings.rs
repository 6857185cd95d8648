//! Each condition that can mislead is provoked, and found; and is not found of a run without it.

use crate::common::{self, execute, row, rows, run, set};
use crate::held::Held;
use pgfsbench_tests::{LONG, SHOWN, TestServer, assert_columns, on_disk, scratch, wait_until};
use postgres::{Client, NoTls};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// With pg_stat_statements, without which every run has a finding.
fn server(settings: &[(&str, &str)]) -> TestServer {
    server_in(scratch(), settings)
}

fn server_in(directory: &Path, settings: &[(&str, &str)]) -> TestServer {
    let loaded = ("shared_preload_libraries", "pg_stat_statements, pgfsbench");
    let server = common::server_in(directory, None, &[&[loaded], settings].concat());
    execute(
        &mut server.connect("postgres"),
        "CREATE EXTENSION pg_stat_statements",
    );
    server
}

/// Without the sampler, whose findings depend on the machine's mood.
const STEADY: &str =
    r#"scale => 2, clients => 2, transactions => 50, seed => 1, options => '{"sample": false}'"#;

/// Findings about this machine, its disk, and other activity on it: tests of their own provoke these.
const OF_THE_MACHINE: &str = "{almost_full,atime,barriers_off,btrfs_nodatacow,compression,cpu_saturated,dirty_limit,device_discards,discard_mount_option,\
    fallocate_missing,file_attributes,flush_step,flushes_missing,fsync_too_fast,governor,in_memory,io_limit,jfs_does_not_flush,lazy_init,loop_device,loop_without_direct_io,\
    memory_limit,memory_pressure,misaligned,noisy_neighbour,other_writers,processor_limit,raid_at_rest,raid_degraded,raid_resync,raid_without_bitmap,raid_write_hole,slow_clock,steal,stripe_mismatch,stripe_unknown,throttled,vacuums,virtual_disk_without_flush}";

/// Codes and severities of a run's findings.
fn findings(client: &mut Client, run_id: &str) -> Vec<String> {
    rows(
        client,
        &format!(
            "SELECT code || ' ' || severity FROM fsbench.finding WHERE run_id = {run_id} \
               AND code <> ALL ('{OF_THE_MACHINE}') ORDER BY code"
        ),
    )
}

fn findings_of(client: &mut Client, arguments: &str) -> Vec<String> {
    let id = run(client, arguments);
    findings(client, &id)
}

#[test]
fn settings_that_make_a_commit_promise_less_are_told() {
    // Memory is not durable, whatever the settings.
    let settings = [("work_mem", "7MB"), ("shared_buffers", "1MB")];
    let server = server_in(on_disk(), &settings);
    let mut client = server.connect("postgres");
    let clean = ["data_fits_ram warning", "no_complete_checkpoint warning"];
    let durability = "SELECT durability FROM fsbench.result ORDER BY run_id DESC LIMIT 1";

    assert_eq!(findings_of(&mut client, STEADY), clean);
    // Another word than that is found out by each machine for itself.
    assert!(!row(&mut client, durability).contains(" off"));
    assert_columns(
        &mut client,
        "FROM fsbench.result",
        &[
            ("settings::text LIKE '%work_mem%7MB%'", "t"),
            ("settings::text LIKE '%shared_buffers%'", "t"),
            ("settings::text LIKE '%enable_sort%'", "f"),
        ],
    );

    set(&server, &mut client, "fsync", "off");
    set(&server, &mut client, "full_page_writes", "off");
    set(&server, &mut client, "synchronous_commit", "off");
    assert_eq!(
        findings_of(&mut client, STEADY),
        [
            "data_fits_ram warning",
            "fsync_off invalid",
            "full_page_writes_off warning",
            "no_complete_checkpoint warning",
            "synchronous_commit_off warning"
        ]
    );
    assert_eq!(
        row(&mut client, durability),
        "not durable: fsync off, synchronous_commit off, full_page_writes off"
    );
    assert_columns(
        &mut client,
        "FROM fsbench.result r ORDER BY run_id DESC LIMIT 1",
        &[
            ("findings >= 5", "t"),
            ("worst_finding", "invalid"),
            (
                "(SELECT findings FROM fsbench.wait(r.run_id)) = findings || ' (invalid: fsync_off)'",
                "t",
            ),
        ],
    );

    // The heaviest of several findings of one severity is named.
    execute(
        &mut client,
        "DELETE FROM fsbench.finding WHERE run_id = (SELECT max(run_id) FROM fsbench.run_log); \
         INSERT INTO fsbench.finding (run_id, code, severity, message, hint, weight) \
           SELECT max(run_id), 'code' || n, 'info', '', '', n FROM fsbench.run_log, generate_series(1, 4) n GROUP BY n",
    );
    assert_eq!(
        row(
            &mut client,
            "SELECT findings FROM fsbench.wait((SELECT max(run_id) FROM fsbench.run_log))"
        ),
        "4 (info: code4)"
    );

    set(&server, &mut client, "fsync", "on");
    set(&server, &mut client, "full_page_writes", "on");
    // A run's own setting wins over the server's.
    let on = r#"settings => '{"synchronous_commit": "on"}'"#;
    assert_eq!(findings_of(&mut client, &format!("{STEADY}, {on}")), clean);

    set(&server, &mut client, "synchronous_commit", "on");
    let off = r#"settings => '{"synchronous_commit": "off"}'"#;
    assert!(
        findings_of(&mut client, &format!("{STEADY}, {off}"))
            .contains(&"synchronous_commit_off warning".to_owned())
    );
    let unlogged = STEADY.replace("{", r#"{"unlogged": true, "#);
    assert!(findings_of(&mut client, &unlogged).contains(&"unlogged warning".to_owned()));
    // And nothing of all that stays.
    assert_eq!(findings_of(&mut client, STEADY), clean);
}

#[test]
fn stalls_checkpoints_crowded_branches_and_data_in_shared_buffers_are_told() {
    let server = server(&[("shared_buffers", "64MB")]);
    more_clients_than_branches_and_data_that_fits_in_shared_buffers_are_told(&server);
    seconds_in_which_nothing_went_on_are_told(&server);
    server.start_anew();
    execute(
        &mut server.connect("postgres"),
        "CREATE EXTENSION pg_stat_statements",
    );
    complete_checkpoints_are_counted(&server);
}

fn seconds_in_which_nothing_went_on_are_told(server: &TestServer) {
    let mut client = server.connect("postgres");
    let spec = "scale => 2, clients => 2, duration => '9 s', warmup => '0', rate => 200";
    let id = wait_until("two whole seconds stood still", LONG, || {
        let mut held = Held::after(server, spec, 380);
        let from: u32 = held.progress("done")?.parse().expect("a number");
        if from < 4500 {
            held.wait_for(&format!("done > {}", from + 2600));
        }
        // Most seconds are others.
        let most_are_others = held.progress("done < 7500").as_deref() == Some("t");
        let id = held.end();
        (most_are_others && from < 4500).then_some(id)
    });
    let told = row(
        &mut client,
        &format!(
            "SELECT severity || ': ' || message FROM fsbench.finding WHERE run_id = {id} AND code = 'stalls'"
        ),
    );
    assert!(
        told.starts_with("warning: throughput stalled in ") && told.contains(" seconds, "),
        "{told}"
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.result WHERE run_id = {id}"),
        &[
            ("zero_seconds >= 1", "t"),
            ("stall_seconds >= zero_seconds", "t"),
        ],
    );
}

fn more_clients_than_branches_and_data_that_fits_in_shared_buffers_are_told(server: &TestServer) {
    let mut client = server.connect("postgres");
    let crowded = r#"scale => 1, clients => 2, transactions => 20, options => '{"sample": false}'"#;
    assert_eq!(
        findings_of(&mut client, crowded),
        [
            "clients_exceed_branches warning",
            "data_fits_shared_buffers warning",
            "no_complete_checkpoint warning"
        ]
    );
    // They do not meet in branches where branches are not written.
    assert_eq!(
        findings_of(
            &mut client,
            &format!("workload => 'simple-update', {crowded}")
        ),
        [
            "data_fits_shared_buffers warning",
            "no_complete_checkpoint warning"
        ]
    );
}

fn complete_checkpoints_are_counted(server: &TestServer) {
    let mut client = server.connect("postgres");
    let held = Held::in_window(
        server,
        r#"scale => 2, clients => 2, transactions => 100, rate => 100, warmup => '0', options => '{"sample": false}'"#,
    );
    for _ in 0..3 {
        execute(&mut client, "CHECKPOINT");
    }
    let id = held.end();
    assert_eq!(
        row(
            &mut client,
            &format!("SELECT complete_checkpoints FROM fsbench.result WHERE run_id = {id}")
        ),
        "3"
    );
    let found = findings(&mut client, &id);
    let of_checkpoints = |f: &&String| f.contains("checkpoint") || f.contains("too_short");
    let told: Vec<&String> = found.iter().filter(of_checkpoints).collect();
    assert_eq!(told, ["checkpoints_requested warning"]);
}

#[test]
fn who_holds_back_vacuum_is_named() {
    // No other process holds back the sessions.
    let server = server(&[("max_prepared_transactions", "2"), ("autovacuum", "off")]);
    let mut client = server.connect("postgres");
    execute(&mut client, "CREATE DATABASE other");
    let busy = r#"scale => 2, clients => 2, transactions => 6000, seed => 1, settings => '{"synchronous_commit": "off"}', options => '{"sample": false}'"#;

    // A snapshot without a transaction id, in another database, holds nothing back.
    let mut reader = server.connect("other");
    execute(
        &mut reader,
        "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1",
    );
    let found = findings_of(&mut client, busy);
    assert!(
        !found.iter().any(|f| f.starts_with("old_xmin")),
        "{found:?}"
    );

    let mut writer = server.connect("other");
    let pid = row(&mut writer, "SELECT pg_backend_pid()");
    execute(&mut writer, "BEGIN; SELECT pg_current_xact_id()");
    execute(
        &mut reader,
        "COMMIT; BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'forgotten'",
    );
    let id = run(&mut client, busy);
    let message = row(
        &mut client,
        &format!(
            "SELECT severity || ': ' || message FROM fsbench.finding WHERE run_id = {id} AND code = 'old_xmin'"
        ),
    );
    assert!(message.starts_with("warning: "), "{message}");
    let doctor =
        "SELECT state || ': ' || detail FROM fsbench.doctor() WHERE item = 'old transactions'";
    let told = row(&mut client, doctor);
    assert!(told.starts_with("warning: "), "{told}");
    for holder in [&format!("process {pid} in database other"), "forgotten"] {
        assert!(message.contains(holder), "{message}");
        assert!(told.contains(holder), "{told}");
    }
    execute(&mut reader, "ROLLBACK PREPARED 'forgotten'");
    execute(&mut writer, "ROLLBACK");
    assert_eq!(row(&mut client, doctor), "ok: nothing holds back vacuum");
    let found = findings_of(&mut client, busy);
    assert!(
        !found.iter().any(|f| f.starts_with("old_xmin")),
        "{found:?}"
    );
}

/// The first thing that anybody does.
#[test]
fn run_without_arguments_says_what_it_chose_how_far_it_is_and_ends_within_a_minute() {
    // However much it writes.
    let server = server(&[("max_wal_size", "32GB")]);
    let notices = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&notices);
    let mut client = server
        .config("postgres", "postgres")
        .notice_callback(move |notice| {
            let text = format!("{} {}", notice.message(), notice.hint().unwrap_or_default());
            sink.lock().expect("one thread").push(text);
        })
        .connect(NoTls)
        .expect("a session");
    let found = row(&mut client, "SELECT findings FROM fsbench.run()");

    let notices = notices.lock().expect("one thread").clone();
    let said = |words: &[&str]| {
        notices
            .iter()
            .any(|notice| words.iter().all(|word| notice.contains(word)))
    };
    assert!(
        said(&[
            "run 1 on target \"default\"",
            "tpcb",
            "seed",
            "chosen: scale, clients, duration, warmup, seed"
        ]),
        "{notices:?}"
    );
    // After a long load its window may be as short as the time between two of them.
    let is_long = "SELECT duration >= '8 s' FROM fsbench.result";
    assert!(
        row(&mut client, is_long) == "f" || said(&["run 1: measure", "left", "tps", "p99"]),
        "{notices:?}"
    );
    assert!(
        said(&[
            "run 1 is done: tpcb on ",
            "fsbench.result",
            "fsbench.finding"
        ]),
        "{notices:?}"
    );
    // A finding that a quick look cannot avoid is of severity info.
    assert_eq!(
        row(
            &mut client,
            "SELECT severity FROM fsbench.finding WHERE code = 'no_complete_checkpoint'"
        ),
        "info"
    );
    assert!(found.contains(": "), "{found}");
    assert_columns(
        &mut client,
        "FROM fsbench.result r",
        &[
            ("clients >= 1", "t"),
            ("scale >= clients", "t"),
            // The window is as long as that leaves it, after whatever loading took here.
            ("(used ->> 'within_ms')::integer < 60000", "t"),
            (
                "duration <= '5 s' OR measured_from + duration - started_at <= (used ->> 'within_ms')::integer * interval '1 ms'",
                "t",
            ),
            ("started_at", SHOWN),
            ("measured_from", SHOWN),
            ("duration", SHOWN),
            (
                "(SELECT count(*) >= 3 FROM fsbench.sample s WHERE s.run_id = r.run_id)",
                "t",
            ),
        ],
    );
}
