//! Jobs: taken from a database, done by root, and recorded in their rows.

use super::bench::{Bench, Serving, ask, wait_for_job};
use super::lab::on_image;
use crate::common::{execute, row, rows};
use pgfsbench_tests::{LONG, Signal, assert_columns, server_owner, wait_until};
use postgres::Client;
use std::fs;

const IMAGE: &str = r#"{"storage": {"image": {"bytes": 67108864}}, "filesystem": "ext4", "mount_options": "noatime"}"#;

#[test]
fn jobs_are_done_and_recorded() {
    let Some(bench) = Bench::new("jobs_are_done_and_recorded") else {
        return;
    };
    run_once_does_the_jobs_that_wait_and_records_them(&bench);
    bench.start_anew();
    a_plan_says_what_a_job_then_does_and_changes_nothing(&bench);
    bench.start_anew();
    what_the_helper_sees_is_in_the_database_and_is_renewed_after_each_job(&bench);
}

fn run_once_does_the_jobs_that_wait_and_records_them(bench: &Bench) {
    let mut client = bench.client();
    ask(&mut client, "t", "prepare", IMAGE);
    ask(&mut client, "t", "prepare", IMAGE);
    bench.lab.ok(&["run-once"]);
    assert_eq!(bench.lab.mounts().len(), 1);
    ask(&mut client, "t", "release", "{}");
    ask(&mut client, "t", "release", "{}");
    bench.lab.ok(&["run-once"]);
    bench.lab.nothing_is_left_at_once();
    for (job, status, steps, released, refused, error) in [
        (
            "1",
            "done",
            "create_image attach mkfs geometry make_mount_point mount verify make_directory",
            "",
            "",
            "",
        ),
        (
            "2",
            "failed",
            "",
            "",
            "not_in_this_state",
            "target \"t\" is prepared already",
        ),
        (
            "3",
            "done",
            "unmount remove_mount_point detach remove_image",
            "true",
            "",
            "",
        ),
        ("4", "done", "", "false", "", ""),
    ] {
        assert_columns(
            &mut client,
            &format!("FROM fsbench.helper_job WHERE job_id = {job}"),
            &[
                ("status", status),
                ("started_at >= requested_at", "t"),
                ("ended_at >= started_at", "t"),
                ("helper_version", env!("CARGO_PKG_VERSION")),
                (
                    "(SELECT string_agg(s ->> 'step', ' ') FROM jsonb_array_elements(steps) s)",
                    steps,
                ),
                ("result ->> 'released'", released),
                ("result ->> 'refused'", refused),
                ("error", error),
            ],
        );
    }
    assert_eq!(
        row(&mut client, "SELECT count(*) FROM fsbench.helper_job"),
        "4"
    );
    assert_columns(
        &mut client,
        "FROM fsbench.helper_job WHERE job_id = 1",
        &[
            ("result ->> 'filesystem'", "ext4"),
            (
                "result ->> 'mount_options' LIKE 'rw,nosuid,nodev,noatime%'",
                "t",
            ),
            ("result ->> 'directory' LIKE '%/bench@t/pgfsbench'", "t"),
            (
                "(SELECT bool_and(s ->> 'exit_code' = '0') FROM jsonb_array_elements(steps) s WHERE s ->> 'step' IN ('attach', 'mkfs', 'mount'))",
                "t",
            ),
            (
                "(SELECT s -> 'argv' ->> 0 LIKE '/%/mkfs.ext4' FROM jsonb_array_elements(steps) s WHERE s ->> 'step' = 'mkfs')",
                "t",
            ),
        ],
    );
}

fn a_plan_says_what_a_job_then_does_and_changes_nothing(bench: &Bench) {
    let mut client = bench.client();
    ask(&mut client, "t", "plan", IMAGE);
    bench.lab.ok(&["run-once"]);
    bench.lab.nothing_is_left_at_once();
    ask(&mut client, "t", "prepare", IMAGE);
    bench.lab.ok(&["run-once"]);
    ask(&mut client, "t", "release", "{}");
    bench.lab.ok(&["run-once"]);
    bench.lab.nothing_is_left_at_once();
    // The number of the loop device and the UUID of the filesystem are known only when they are made.
    let plain = r"regexp_replace(regexp_replace(command, '/dev/loop\w+', 'LOOP'), '[0-9a-f]{8}-[0-9a-f-]{27}', 'UUID')";
    let planned = |client: &mut Client, part: &str| {
        rows(
            client,
            &format!(
                "SELECT step, {plain} FROM fsbench.helper_job, \
                   jsonb_to_recordset(result -> '{part}') s (step text, command text) WHERE job_id = 1"
            ),
        )
    };
    let done = |client: &mut Client, job: i32| {
        rows(
            client,
            &format!(
                "SELECT step, {plain} FROM fsbench.helper_job, jsonb_array_elements(steps) s (x), \
                   LATERAL (SELECT x ->> 'step' AS step, \
                     (SELECT string_agg(a, ' ') FROM jsonb_array_elements_text(x -> 'argv') a) AS command) c \
                 WHERE job_id = {job}"
            ),
        )
    };
    let (prepared, released) = (done(&mut client, 2), done(&mut client, 3));
    assert!(prepared.len() >= 5 && released.len() == 4, "{released:?}");
    assert_eq!(planned(&mut client, "prepare"), prepared);
    assert_eq!(planned(&mut client, "release"), released);
}

fn what_the_helper_sees_is_in_the_database_and_is_renewed_after_each_job(bench: &Bench) {
    let mut client = bench.client();
    let backups = format!("backups = [\"/backups\"]\n{}", bench.usual("postgres"));
    bench.lab.configure(&backups);
    let assert_seen = |prepared: &str| {
        assert_columns(
            &mut bench.client(),
            "FROM fsbench.helper_description",
            &[
                ("helper_version", env!("CARGO_PKG_VERSION")),
                ("description -> 'images' -> 0 ->> 'max_bytes'", "2147483648"),
                ("description -> 'backups'", r#"["/backups"]"#),
                (
                    "(SELECT string_agg(p ->> 'target', ' ') FROM jsonb_array_elements(description -> 'prepared') p)",
                    prepared,
                ),
                (
                    "(SELECT count(*) FROM jsonb_array_elements(description -> 'filesystems')) >= 8",
                    "t",
                ),
                ("seen_at <= clock_timestamp()", "t"),
            ],
        );
    };
    bench.lab.ok(&["run-once"]);
    assert_seen("");
    ask(&mut client, "t", "prepare", IMAGE);
    bench.lab.ok(&["run-once"]);
    assert_seen("t");
    ask(&mut client, "t", "release", "{}");
    bench.lab.ok(&["run-once"]);
    assert_seen("");
}

#[test]
fn jobs_of_strangers_touch_nothing() {
    let Some(bench) = Bench::new("jobs_of_strangers_touch_nothing") else {
        return;
    };
    hostile_jobs_fail_and_touch_nothing(&bench);
    bench.start_anew();
    a_table_of_somebody_who_is_no_superuser_is_not_served(&bench);
    bench.start_anew();
    bytes_that_are_no_text_are_refused(&bench);
}

fn hostile_jobs_fail_and_touch_nothing(bench: &Bench) {
    let mut client = bench.client();
    let with = |what: &str, instead: &str| IMAGE.replace(what, instead);
    let jobs = [
        ("../t", IMAGE.to_owned(), "invalid target name \"../t\""),
        ("t'; DROP TABLE x", IMAGE.to_owned(), "invalid target name"),
        ("t\nx", IMAGE.to_owned(), "invalid target name"),
        ("t", "{}".to_owned(), "request is not understood"),
        ("t", "[]".to_owned(), "request is not understood"),
        ("t", "null".to_owned(), "request is not understood"),
        ("t", with("67108864", "-1"), "request is not understood"),
        (
            "t",
            with("67108864", "9223372036854775807"),
            "image is too large",
        ),
        ("t", with("67108864", "1e30"), "request is not understood"),
        (
            "t",
            with("67108864", "1099511627776"),
            "an image of 1024 GB is not allowed",
        ),
        (
            "t",
            with("\"ext4\"", "\"../ext4\""),
            "request is not understood",
        ),
        (
            "t",
            with("noatime", "suid"),
            "mount option \"suid\" is not accepted",
        ),
        (
            "t",
            with("noatime", "noatime\\nsuid"),
            "invalid mount options",
        ),
        (
            "t",
            with("\"filesystem\"", "\"extra\": 1, \"filesystem\""),
            "request is not understood",
        ),
        (
            "t",
            with(
                "{\"image\": {\"bytes\": 67108864}}",
                "{\"device\": {\"path\": \"/dev/../etc/passwd\"}}",
            ),
            "invalid device path",
        ),
        (
            "t",
            with(
                "{\"image\": {\"bytes\": 67108864}}",
                "{\"device\": {\"path\": \"/dev/loop0\"}}",
            ),
            "is not allowed by the helper's configuration",
        ),
        (
            "t",
            with("noatime", &"x".repeat(20_000)),
            "request is too long",
        ),
    ];
    for (target, request, _) in &jobs {
        ask(&mut client, target, "prepare", request);
    }
    // A job of another start of the server: from a dump, or from before a crash.
    execute(
        &mut client,
        "INSERT INTO fsbench.helper_job (target, action, request, server_started) VALUES ('t', 'prepare', '{}', '2020-01-01')",
    );
    execute(
        &mut client,
        "INSERT INTO fsbench.helper_job (target, action, request, status) VALUES ('t', 'prepare', '{}', 'running')",
    );
    bench.lab.ok(&["run-once"]);
    bench.lab.nothing_is_left_at_once();
    let outcomes = rows(
        &mut client,
        "SELECT status, error || CASE WHEN error_detail IS NULL OR error_hint IS NULL THEN ' (alone)' ELSE '' END \
         FROM fsbench.helper_job ORDER BY job_id",
    );
    let wanted = jobs.iter().map(|(.., words)| *words);
    let stale = [
        "the server was restarted before the job was begun",
        "pgfsbench-helper has ended during the job",
    ];
    assert_eq!(outcomes.len(), jobs.len() + stale.len());
    for (outcome, words) in outcomes.iter().zip(wanted.chain(stale)) {
        assert!(
            outcome.starts_with("failed|") && outcome.contains(words),
            "`{words}`: {outcome}"
        );
    }
    assert!(
        outcomes[..jobs.len()]
            .iter()
            .all(|o| !o.contains("(alone)")),
        "{outcomes:?}"
    );
}

#[test]
fn a_helper_serves_clears_up_and_serves_several_databases() {
    let Some(bench) = Bench::new("a_helper_serves_clears_up_and_serves_several_databases") else {
        return;
    };
    a_serving_helper_takes_jobs_at_once_survives_the_server_and_ends_cleanly(&bench);
    bench.start_anew();
    a_helper_that_was_killed_during_a_job_clears_up_when_it_starts_again(&bench);
    bench.start_anew();
    targets_of_two_databases_with_the_same_name_do_not_meet(&bench);
}

fn a_serving_helper_takes_jobs_at_once_survives_the_server_and_ends_cleanly(bench: &Bench) {
    let mut serving = bench.serve();
    let mut client = bench.client();
    let job = ask(&mut client, "t", "prepare", IMAGE);
    wait_for_job(&mut client, &job, "done");
    let present = "SELECT count(*) FROM pg_stat_activity a JOIN fsbench.helper_session s USING (pid, backend_start) \
                   WHERE application_name LIKE 'pgfsbench-helper %'";
    assert_eq!(row(&mut client, present), "1");
    bench.lab.refused(
        &["run-once"],
        &[
            "not every database could be served",
            "another pgfsbench-helper serves the database: process ",
            concat!(
                "of user \"postgres\" (\"pgfsbench-helper ",
                env!("CARGO_PKG_VERSION"),
                "\"), since 2"
            ),
        ],
    );
    assert_database_process_is_unprivileged(&serving);

    drop(client);
    bench.server.restart();
    let mut client = bench.client();
    let job = ask(&mut client, "u", "prepare", IMAGE);
    wait_for_job(&mut client, &job, "done");
    assert_eq!(bench.lab.mounts().len(), 2);
    let job = ask(&mut client, "u", "release", "{}");
    wait_for_job(&mut client, &job, "done");

    // A target that is ready outlives the helper, and the next one knows it.
    assert_eq!(serving.end(Signal::TERM), Some(0), "{}", bench.log());
    wait_until("the database process has gone", LONG, || {
        (row(&mut client, present) == "0").then_some(())
    });
    assert_eq!(bench.lab.mounts().len(), 1);
    let _serving = bench.serve();
    let job = ask(&mut client, "t", "release", "{}");
    wait_for_job(&mut client, &job, "done");
    bench.lab.nothing_is_left_at_once();
}

/// The process that speaks with the database runs as another user, without groups, and can gain no rights.
fn assert_database_process_is_unprivileged(serving: &Serving) {
    let parent = format!("PPid:\t{}\n", serving.child.id());
    let statuses: Vec<String> = fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        // Programs that it runs meanwhile are not meant.
        .filter(|entry| {
            fs::read_to_string(entry.path().join("cmdline"))
                .is_ok_and(|l| l.contains("\0_as\0") && l.ends_with("\0database\0"))
        })
        .filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok())
        // This program again; beside it may be mkfs or the like, which root runs.
        .filter(|status| status.starts_with("Name:\texe\n") && status.contains(&parent))
        .collect();
    let [status] = &statuses[..] else {
        panic!("{statuses:?}");
    };
    let owner = server_owner().expect("root");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {status}"))
            .trim()
            .to_owned()
    };
    assert_eq!(field("Uid:"), vec![owner.to_string(); 4].join("\t"));
    assert_eq!(field("Groups:"), "");
    assert_eq!(field("CapEff:"), "0000000000000000");
    assert_eq!(field("NoNewPrivs:"), "1");
}

fn a_helper_that_was_killed_during_a_job_clears_up_when_it_starts_again(bench: &Bench) {
    let prepare = on_image("left", "ext4", "32MB");
    let killed = bench
        .lab
        .run(&[&prepare[..], &["--stop-after", "mount"]].concat());
    assert!(!killed.status.success());
    assert_eq!(bench.lab.mounts().len(), 1);
    let mut serving = bench.serve();
    let mut client = bench.client();
    let job = ask(&mut client, "t", "prepare", IMAGE);
    wait_for_job(&mut client, &job, "done");
    assert_eq!(bench.lab.list("mnt"), ["bench@t"]);
    assert!(
        bench.log().contains("cleared up bench@left"),
        "{}",
        bench.log()
    );
    // Killed, the database process notices; and what was ready is cleared up by cleanup.
    serving.end(Signal::KILL);
    wait_until("the database process has gone", LONG, || {
        (row(
            &mut client,
            "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'pgfsbench-helper %'",
        ) == "0")
            .then_some(())
    });
    bench.lab.ok(&["cleanup"]);
    bench.lab.nothing_is_left_at_once();
}

fn a_table_of_somebody_who_is_no_superuser_is_not_served(bench: &Bench) {
    let mut client = bench.client();
    let job = ask(&mut client, "t", "prepare", IMAGE);
    // His triggers would run with the helper's rights.
    execute(
        &mut client,
        "CREATE ROLE somebody; ALTER TABLE fsbench.helper_job OWNER TO somebody",
    );
    let refused = bench.lab.run(&["run-once"]);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("a role that is no superuser"), "{said}");
    let status = format!("SELECT status FROM fsbench.helper_job WHERE job_id = {job}");
    assert_eq!(row(&mut client, &status), "queued");
    bench.lab.nothing_is_left_at_once();
}

fn bytes_that_are_no_text_are_refused(bench: &Bench) {
    execute(
        &mut bench.client(),
        "CREATE DATABASE bytes TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'",
    );
    bench.serve_database("bytes");
    let mut client = bench.server.connect("bytes");
    execute(
        &mut client,
        "INSERT INTO fsbench.helper_job (target, action, request) VALUES (E'\\xff', 'prepare', '{}'), \
(E't', 'prepare', (E'{\"a\": \"\\xff\"}')::jsonb), ('t', 'release', '{}')",
    );
    bench.lab.ok(&["run-once"]);
    bench.lab.nothing_is_left_at_once();
    assert_eq!(
        rows(
            &mut client,
            "SELECT status, error FROM fsbench.helper_job ORDER BY job_id"
        ),
        [
            "failed|job cannot be read",
            "failed|job cannot be read",
            "done|"
        ]
    );
}

fn targets_of_two_databases_with_the_same_name_do_not_meet(bench: &Bench) {
    execute(
        &mut bench.client(),
        "CREATE DATABASE other TEMPLATE template0",
    );
    bench.make_tables("other");
    let mut config = bench
        .lab
        .usual()
        .replace("host=/nowhere user=postgres", &bench.connection("postgres"));
    config += &format!(
        "[[database]]\nname = \"other\"\nconnection = \"{}\"\n",
        bench.connection("other")
    );
    // An unreachable database does not block the others.
    config += "[[database]]\nname = \"gone\"\nconnection = \"host=/nowhere user=postgres\"\n";
    bench.lab.configure(&config);
    let (mut one, mut other) = (bench.client(), bench.server.connect("other"));
    ask(&mut one, "t", "prepare", IMAGE);
    ask(&mut other, "t", "prepare", IMAGE);
    bench.lab.refused(
        &["run-once"],
        &["the process for database \"gone\" has failed"],
    );
    let mut mounted = bench.lab.list("mnt");
    mounted.sort();
    assert_eq!(mounted, ["bench@t", "other@t"]);
    assert_eq!(bench.lab.mounts().len(), 2);
    // Each releases its own.
    ask(&mut other, "t", "release", "{}");
    bench.lab.run(&["run-once"]);
    assert_eq!(bench.lab.list("mnt"), ["bench@t"]);
    bench.lab.ok(&["cleanup"]);
    bench.lab.nothing_is_left_at_once();
}
