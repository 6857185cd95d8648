//! docs/cron.md, command by command, on a cluster as Debian makes it.

use pgfsbench_tests::{DebianCluster, LONG, skip, wait_until};
use std::path::Path;
use std::process::Command;

/// A run for a test instead of one for a night.
const QUICK: &str = "scale => 1, clients => 1, transactions => 50, seed => 1";

/// The commands of the page in their order: kind of the block, and its text.
fn commands() -> Vec<(&'static str, &'static str)> {
    let page = include_str!("../../docs/cron.md");
    let fenced = page.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

/// With what is different on this cluster: its name, the hour, and how long a run takes.
fn adapted(text: &str) -> String {
    text.replace("15 main", "15 bench")
        .replace("'0 3 * * *'", "'* * * * *'")
        .replace("'0 12 * * *'", "'* * * * *'")
        .replace("'0 8 * * *'", "'* * * * *'")
        .replace("scale => 100, clients => 16, duration => '30 min'", QUICK)
}

#[test]
#[ignore = "`make soak` has it"]
fn every_command_about_pg_cron_works_on_a_cluster_of_debian() {
    let test = "every_command_about_pg_cron_works_on_a_cluster_of_debian";
    if !Path::new("/usr/share/postgresql/15/extension/pg_cron.control").exists() {
        return skip(test, "there is no pg_cron");
    }
    let Some(cluster) = DebianCluster::create() else {
        return skip(test, "this is not root, or there is no pg_createcluster");
    };
    cluster.start();
    // Steps that docs/install.md has before: the extension is installed, in a database for the results.
    cluster.psql(
        "postgres",
        "ALTER SYSTEM SET shared_preload_libraries = 'pgfsbench'",
    );
    cluster.psql("postgres", "ALTER SYSTEM SET max_worker_processes = 64");
    cluster.restart();
    cluster.psql("postgres", "CREATE DATABASE bench");
    cluster.psql("bench", "CREATE EXTENSION pgfsbench");

    let (mut shell, mut sql, mut crontab) = (0, 0, 0);
    for (kind, text) in commands() {
        let text = adapted(text);
        match kind {
            "sh" => shell += run_in_shell(&cluster, &text),
            "sql" if text.contains("fsbench.result") => assert_nightly_is_done(&cluster, &text),
            "sql" => {
                sql += 1;
                if text.contains("cron.schedule('nightly'") {
                    schedule_alarm(&cluster);
                }
                cluster.psql("bench", &text);
            }
            "crontab" => crontab += run_of_crontab(&cluster, &text),
            other => panic!("a block of kind {other:?}: {text}"),
        }
    }
    assert!(
        shell >= 3 && sql >= 2 && crontab == 1,
        "{shell} {sql} {crontab}"
    );
}

/// Twenty nights, which are 8 % slower from the fifteenth on.
const SLOWER: &str = "INSERT INTO fsbench.run_log (status, target, workload, label, asked, used, requested_by, requested_at, tps, target_definition) \
    SELECT 'done', 'ext4', 'tpcb', 'stored nights', '{}', '{}', 'x', now() - (20 - n) * interval '1 day' - interval '9 hours', \
           1000 * (1 + 0.01 * sin(n * 5)) * CASE WHEN n >= 15 THEN 0.92 ELSE 1 END, '{\"filesystem\": \"ext4\"}' FROM generate_series(1, 20) n";

/// The job of the page that raises its hand, for nights that have become slower. It comes in the same minute as the others.
fn schedule_alarm(cluster: &DebianCluster) {
    let blocks = commands();
    let mut alarms = blocks.iter().filter(|block| block.1.contains("'alarm'"));
    let (_, alarm) = alarms.next().expect("the page has an alarm");
    cluster.psql("bench", SLOWER);
    cluster.psql(
        "bench",
        &adapted(alarm).replace("'nightly'", "'stored nights'"),
    );
}

/// As root. The server is restarted by its own programs, since Debian's tool would take those without the extension.
fn run_in_shell(cluster: &DebianCluster, text: &str) -> u32 {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.fold(0, |count, line| {
        let command = line.split(" #").next().unwrap_or(line).trim();
        if command == "pg_ctlcluster 15 bench restart" {
            cluster.restart();
        } else {
            let output = cluster.tool("sh").args(["-c", command]).output();
            let output = output.expect("a shell");
            assert!(output.status.success(), "{command}: {output:?}");
        }
        count + 1
    })
}

fn assert_nightly_is_done(cluster: &DebianCluster, query: &str) {
    // Jobs come once a minute.
    wait_until("the nightly run is done", LONG, || {
        let rows = cluster.psql("bench", query);
        rows.contains("|done|").then_some(())
    });
    wait_until("both jobs have succeeded", LONG, || {
        let ended = "SELECT string_agg(DISTINCT jobname || ' ' || d.status, ', ' ORDER BY jobname || ' ' || d.status) \
                     FROM cron.job_run_details d JOIN cron.job USING (jobid) WHERE d.username = 'bench_operator' AND end_time IS NOT NULL";
        let ended = cluster.psql("bench", ended);
        assert!(!ended.contains("failed"), "{ended}");
        (ended == "clear job rows succeeded, nightly succeeded").then_some(())
    });
    wait_until("the alarm has failed", LONG, || {
        let ended = "SELECT d.status, return_message FROM cron.job_run_details d JOIN cron.job USING (jobid) \
                     WHERE jobname = 'alarm' AND end_time IS NOT NULL LIMIT 1";
        let ended = cluster.psql("bench", ended);
        let is_told =
            ended.starts_with("failed|") && ended.contains("history \"stored nights\" is worse");
        assert!(ended.is_empty() || is_told, "{ended}");
        is_told.then_some(())
    });
    cluster.psql("bench", "SELECT cron.unschedule(jobid) FROM cron.job");
    let idle = "SELECT count(*) FROM fsbench.progress";
    wait_until("no run is on", LONG, || {
        (cluster.psql("bench", idle) == "0").then_some(())
    });
}

/// The line of a system's crontab: five fields of time, a user, and his command.
fn run_of_crontab(cluster: &DebianCluster, text: &str) -> u32 {
    let mut words = text.split_whitespace().skip(5);
    assert_eq!(words.next(), Some("postgres"), "{text}");
    let program = words.next().expect("a program");
    let mut command: Command = cluster.program(program);
    let output = command.args(words).output().expect("it runs");
    assert!(output.status.success(), "{text}: {output:?}");
    1
}
