//! The real pg_cron starts runs and an experiment: as a role with an operator's rights, through connections and through background workers. Its
//! job_run_details tell how they ended.

use crate::common::{QUICK, execute, owned_directory, row, rows};
use pgfsbench_tests::{LONG, PRELOADED, TestServer, skip, wait_until};
use postgres::Client;
use std::path::Path;

/// Status and message of the latest end of a job.
fn latest(client: &mut Client, job: &str) -> Vec<String> {
    rows(
        client,
        &format!(
            "SELECT status || ': ' || coalesce(return_message, '') FROM cron.job_run_details d JOIN cron.job j USING (jobid) \
             WHERE jobname = '{job}' AND d.status IN ('succeeded', 'failed') ORDER BY runid DESC LIMIT 1"
        ),
    )
}

fn wait_for_job(client: &mut Client, job: &str) -> String {
    // Jobs come once a minute.
    wait_until(&format!("job {job} has ended"), LONG, || {
        latest(client, job).pop()
    })
}

/// pg_cron names its host in a setting: the socket's directory, which a new server has to know before.
fn jobs_run(settings: &[(&str, &str)], by_connections: bool) {
    let server = TestServer::start(
        &[
            PRELOADED,
            &[
                ("shared_preload_libraries", "pgfsbench, pg_cron"),
                ("cron.database_name", "postgres"),
            ],
            settings,
        ]
        .concat(),
    );
    let mut client = server.connect("postgres");
    if by_connections {
        let sockets = row(&mut client, "SHOW unix_socket_directories");
        drop(client);
        server.configure(&[("cron.host", &sockets)]);
        server.restart();
        client = server.connect("postgres");
    }
    execute(
        &mut client,
        "CREATE EXTENSION pgfsbench; CREATE EXTENSION pg_cron; CREATE ROLE operator LOGIN; \
         GRANT USAGE ON SCHEMA cron TO operator; SELECT fsbench.grant_operator('operator')",
    );
    // One is on, so that what is started is queued, and what is run is refused.
    let long = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 1, duration => '1 h', rate => 1, label => 'long')",
    );
    let places = ["a", "b"].map(|target| {
        let place = owned_directory("pgfsbench-cron");
        let path = place.path().display();
        execute(
            &mut client,
            &format!("SELECT fsbench.create_target('{target}', directory => '{path}')"),
        );
        place
    });
    let mut operator = server.connect_as("operator", "postgres");
    for (job, statement) in [
        (
            "started",
            format!("SELECT fsbench.start({QUICK}, label => 'nightly')"),
        ),
        ("busy", format!("SELECT * FROM fsbench.run({QUICK})")),
        // Should it come again, there is nothing to do.
        (
            "experiment",
            format!(
                "SELECT fsbench.experiment('nightly', '{{a,b}}', max_blocks => 3, {QUICK}) \
                     WHERE NOT EXISTS (SELECT FROM fsbench.experiments)"
            ),
        ),
        (
            "wrong",
            "SELECT fsbench.start(workload => 'tpcc')".to_owned(),
        ),
    ] {
        execute(
            &mut operator,
            &format!("SELECT cron.schedule('{job}', '* * * * *', $${statement}$$)"),
        );
    }
    let busy = wait_for_job(&mut client, "busy");
    assert!(busy.starts_with("failed: ERROR:"), "{busy}");
    assert!(
        busy.contains("another benchmark run is in progress"),
        "{busy}"
    );
    let wrong = wait_for_job(&mut client, "wrong");
    assert!(
        wrong.contains("workload \"tpcc\" does not exist"),
        "{wrong}"
    );
    for job in ["started", "experiment"] {
        let ended = wait_for_job(&mut client, job);
        assert!(ended.starts_with("succeeded: "), "{job}: {ended}");
    }
    execute(
        &mut operator,
        "SELECT cron.unschedule(jobname) FROM cron.job",
    );

    // The started one runs when its turn comes.
    let nightly = row(
        &mut client,
        "SELECT run_id FROM fsbench.result WHERE label = 'nightly' AND requested_by = 'operator' ORDER BY run_id LIMIT 1",
    );
    execute(&mut client, &format!("SELECT fsbench.cancel({long})"));
    assert_eq!(server.ending(&nightly), "done");

    // The experiment goes on without a session of anybody.
    execute(&mut client, "CALL fsbench.wait_experiment('nightly')");
    let made = "SELECT status, requested_by, runs FROM fsbench.experiments";
    assert_eq!(row(&mut client, made), "done|operator|6");
    drop(places);

    // One that waits, and succeeds. Jobs of another minute may still be on, or what they have started.
    server.wait_for(
        "postgres",
        "SELECT NOT EXISTS (SELECT FROM cron.job_run_details WHERE status NOT IN ('succeeded', 'failed')) \
           AND NOT EXISTS (SELECT FROM fsbench.progress)",
        LONG,
    );
    execute(
        &mut operator,
        &format!(
            "SELECT cron.schedule('waiting', '* * * * *', $$SELECT * FROM fsbench.run({QUICK}, label => 'waiting')$$)"
        ),
    );
    let waiting = wait_for_job(&mut client, "waiting");
    assert!(waiting.starts_with("succeeded: "), "{waiting}");
    execute(&mut operator, "SELECT cron.unschedule('waiting')");
    server.wait_for(
        "postgres",
        "SELECT bool_or(status = 'done') FROM fsbench.result WHERE label = 'waiting' AND requested_by = 'operator'",
        LONG,
    );
    // Old rows of jobs are cleared as docs/cron.md says.
    execute(
        &mut client,
        "DELETE FROM cron.job_run_details WHERE end_time < now() - interval '30 days'",
    );
}

fn has_pg_cron(test: &str) -> bool {
    let file = "/usr/share/postgresql/15/extension/pg_cron.control";
    let there = Path::new(file).exists();
    if !there {
        skip(test, "there is no pg_cron");
    }
    there
}

#[test]
fn pg_cron_runs_jobs_through_connections() {
    if has_pg_cron("pg_cron_runs_jobs_through_connections") {
        jobs_run(&[], true);
    }
}

#[test]
fn pg_cron_runs_jobs_in_background_workers() {
    if has_pg_cron("pg_cron_runs_jobs_in_background_workers") {
        jobs_run(&[("cron.use_background_workers", "on")], false);
    }
}
