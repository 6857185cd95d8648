//! Faults of the database: jobs that cannot be updated or change meanwhile. They cost that job alone, and leave nothing behind.

use super::bench::{Bench, ask, wait_for_job};
use crate::common::{execute, rows};
use pgfsbench_tests::{LONG, Signal, Stop, wait_until};

const IMAGE: &str = r#"{"storage": {"image": {"bytes": 67108864}}, "filesystem": "ext4"}"#;

fn is_released(bench: &Bench) {
    wait_until("the target is released", LONG, || {
        let is_gone = bench.lab.mounts().is_empty()
            && bench.lab.loops().is_empty()
            && bench.lab.list("state/journal").is_empty();
        is_gone.then_some(())
    });
    bench.lab.nothing_is_left_at_once();
}

/// The last part stops the server.
#[test]
fn faults_of_the_database_cost_the_job_alone() {
    let Some(bench) = Bench::new("faults_of_the_database_cost_the_job_alone") else {
        return;
    };
    a_job_whose_row_goes_or_is_ended_while_it_runs_leaves_nothing(&bench);
    bench.start_anew();
    a_job_that_is_changed_while_it_runs_is_done_as_it_was_taken(&bench);
    bench.start_anew();
    rows_that_cannot_be_changed_keep_no_others_from_being_served(&bench);
    bench.start_anew();
    settings_of_the_database_that_forbid_writing_do_not_reach_the_helper(&bench);
    bench.start_anew();
    a_lost_connection_is_made_again_and_a_lost_server_leaves_nothing(&bench);
}

fn a_job_whose_row_goes_or_is_ended_while_it_runs_leaves_nothing(bench: &Bench) {
    let mut client = bench.client();
    for change in [
        "DELETE FROM fsbench.helper_job",
        "UPDATE fsbench.helper_job SET status = 'failed', error = 'cancelled'",
        "UPDATE fsbench.helper_job SET status = 'queued'",
    ] {
        let mut serving = bench.serve_with(&["--pause-before", "mkfs"]);
        let _ = ask(&mut client, "t", "prepare", IMAGE);
        serving.wait_until_held();
        execute(&mut client, change);
        if change.contains("queued") {
            // Nor is it taken again.
            execute(
                &mut client,
                "UPDATE fsbench.helper_job SET status = 'failed'",
            );
        }
        serving.go_on();
        is_released(bench);
        assert!(
            bench.log().contains("releasing bench@t"),
            "{change}: {}",
            bench.log()
        );
        // And it serves on.
        let job = ask(&mut client, "none", "release", "{}");
        wait_for_job(&mut client, &job, "done");
        assert_eq!(serving.end(Signal::TERM), Some(0), "{}", bench.log());
        execute(&mut client, "DELETE FROM fsbench.helper_job");
    }
}

fn a_job_that_is_changed_while_it_runs_is_done_as_it_was_taken(bench: &Bench) {
    let mut client = bench.client();
    let serving = bench.serve_with(&["--pause-before", "mkfs"]);
    let job = ask(&mut client, "t", "prepare", IMAGE);
    serving.wait_until_held();
    execute(
        &mut client,
        "UPDATE fsbench.helper_job SET target = '../../etc', action = 'release', \
           request = '{\"storage\": {\"device\": {\"path\": \"/dev/sda\"}}, \"filesystem\": \"xfs\", \"mount_options\": \"suid\"}'",
    );
    serving.go_on();
    wait_for_job(&mut client, &job, "done");
    let mounts = bench.lab.mounts();
    assert!(
        mounts.len() == 1 && mounts[0].contains("/bench@t ext4 rw,nosuid,nodev"),
        "{mounts:?}"
    );
    bench.lab.ok(&["release", "--target", "t"]);
    bench.lab.nothing_is_left_at_once();
}

fn rows_that_cannot_be_changed_keep_no_others_from_being_served(bench: &Bench) {
    let mut client = bench.client();
    // Each of them refuses another change; and two are stale, of which one cannot be failed.
    execute(
        &mut client,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
           IF NEW.target = 'untakeable' OR NEW.status = 'done' AND NEW.target = 'unendable' \
              OR NEW.status = 'failed' AND NEW.target = 'unfailable' THEN \
             RAISE EXCEPTION 'not this one'; END IF; RETURN NEW; END $$; \
         CREATE TRIGGER refuse BEFORE UPDATE ON fsbench.helper_job FOR EACH ROW EXECUTE FUNCTION refuse(); \
         INSERT INTO fsbench.helper_job (target, action, request, status) VALUES \
           ('unfailable', 'release', '{}', 'running'), ('stale', 'release', '{}', 'running')",
    );
    for target in ["untakeable", "unendable", "t"] {
        ask(&mut client, target, "prepare", IMAGE);
    }
    bench.lab.ok(&["run-once"]);
    assert_eq!(
        rows(
            &mut client,
            "SELECT target, status FROM fsbench.helper_job ORDER BY job_id"
        ),
        [
            "unfailable|running",
            "stale|failed",
            "untakeable|queued",
            "unendable|running",
            "t|done"
        ]
    );
    assert_eq!(bench.lab.list("mnt"), ["bench@t"]);
    bench.lab.ok(&["cleanup"]);
    bench.lab.nothing_is_left_at_once();
}

fn settings_of_the_database_that_forbid_writing_do_not_reach_the_helper(bench: &Bench) {
    let mut client = bench.client();
    for setting in [
        "default_transaction_read_only = on",
        "default_transaction_isolation = 'serializable'",
        "statement_timeout = '30s'",
        "idle_in_transaction_session_timeout = '1s'",
    ] {
        let alter = format!("ALTER DATABASE postgres SET {setting}");
        execute(&mut client, &alter);
    }
    let job = ask(&mut client, "t", "prepare", IMAGE);
    bench.lab.ok(&["run-once"]);
    wait_for_job(&mut client, &job, "done");
    bench.lab.ok(&["cleanup"]);
    bench.lab.nothing_is_left_at_once();
}

fn a_lost_connection_is_made_again_and_a_lost_server_leaves_nothing(bench: &Bench) {
    let mut client = bench.client();
    let helper = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'pgfsbench-helper%'";
    let mut serving = bench.serve_with(&["--pause-before", "mkfs"]);
    let job = ask(&mut client, "t", "prepare", IMAGE);
    serving.wait_until_held();
    execute(
        &mut client,
        &format!("SELECT pg_terminate_backend(pid) FROM ({helper}) h"),
    );
    serving.go_on();
    wait_for_job(&mut client, &job, "done");
    assert_eq!(bench.lab.mounts().len(), 1);
    let job = ask(&mut client, "t", "release", "{}");
    wait_for_job(&mut client, &job, "done");
    assert_eq!(serving.end(Signal::TERM), Some(0), "{}", bench.log());

    let mut serving = bench.serve_with(&["--pause-before", "mkfs", "--patience", "20"]);
    ask(&mut client, "t", "prepare", IMAGE);
    serving.wait_until_held();
    drop(client);
    bench.server.stop(Stop::Immediate);
    serving.go_on();
    wait_until("the target is made", LONG, || {
        (bench.lab.mounts().len() == 1).then_some(())
    });
    // The end was announced to no process; so the target is released before.
    assert_eq!(serving.end(Signal::TERM), Some(0), "{}", bench.log());
    bench.lab.nothing_is_left_at_once();
}

#[test]
#[ignore = "`make soak` has it"]
fn a_target_that_was_prepared_when_the_helper_was_killed_is_released_at_its_next_start() {
    let Some(bench) = Bench::new(
        "a_target_that_was_prepared_when_the_helper_was_killed_is_released_at_its_next_start",
    ) else {
        return;
    };
    let prepare = ["prepare", "--target", "t", "--filesystem", "ext4"];
    let killed = ["--image", "32MB", "--stop-after", "ready"];
    assert!(
        !bench
            .lab
            .run(&[&prepare[..], &killed].concat())
            .status
            .success()
    );
    assert_eq!(bench.lab.mounts().len(), 1);
    bench.lab.ok(&["run-once"]);
    bench.lab.nothing_is_left_at_once();
    // A target that was announced stays.
    bench.lab.ok(&[&prepare[..], &killed[..2]].concat());
    bench.lab.ok(&["run-once"]);
    assert_eq!(bench.lab.mounts().len(), 1);
    bench.lab.ok(&["release", "--target", "t"]);
}
