//! Rights on experiments.

use super::{SHORT, targets, wait_for};
use crate::common::{assert_refused, execute, row, rows, server};
use pgfsbench_tests::{LONG, TestServer, wait_until};
use postgres::Client;

#[test]
fn its_runs_are_made_as_the_role_that_asked_and_without_its_rights_it_is_paused() {
    let server = server(&[]);
    its_runs_are_made_as_the_role_that_asked(&server);
    server.start_anew();
    without_its_rights_it_is_paused(&server);
}

fn its_runs_are_made_as_the_role_that_asked(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        "CREATE ROLE bob LOGIN; CREATE ROLE eve LOGIN; CREATE ROLE mon LOGIN IN ROLE pg_monitor; \
         SELECT fsbench.grant_operator('bob'), fsbench.grant_operator('eve')",
    );
    execute(
        &mut client,
        &format!(
            "SET ROLE bob; SELECT fsbench.experiment('e', '{{a,b}}', start => false, {SHORT})"
        ),
    );
    for verb in ["pause", "resume", "cancel", "drop", "confirm"] {
        let sql = format!("RESET ROLE; SET ROLE eve; SELECT fsbench.{verb}_experiment('e')");
        assert_refused(
            &mut client,
            &sql,
            "42501",
            &["permission denied for experiment \"e\"", "bob"],
        );
    }
    execute(
        &mut client,
        "RESET ROLE; SET ROLE bob; SELECT fsbench.resume_experiment('e')",
    );
    wait_for(&mut client, "e");
    execute(&mut client, "RESET ROLE");
    assert_eq!(
        row(
            &mut client,
            "SELECT DISTINCT requested_by FROM fsbench.run_log"
        ),
        "bob"
    );
    execute(
        &mut client,
        "SET ROLE mon; SELECT * FROM fsbench.compare('e'); SELECT * FROM fsbench.experiments; SELECT * FROM fsbench.recommend('e')",
    );
}

fn without_its_rights_it_is_paused(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        "CREATE ROLE bob; SELECT fsbench.grant_operator('bob')",
    );
    execute(
        &mut client,
        &format!(
            "SET ROLE bob; SELECT fsbench.experiment('e', '{{a,b}}', start => false, {SHORT}); RESET ROLE"
        ),
    );
    execute(
        &mut client,
        "SELECT fsbench.revoke_operator('bob'); SELECT fsbench.resume_experiment('e')",
    );
    let paused = |client: &mut Client, words: &str| {
        wait_until("it is paused", LONG, || {
            let paused = "SELECT status_reason FROM fsbench.experiments WHERE status = 'paused'";
            let why = rows(client, paused);
            (why.len() == 1 && why[0].contains(words)).then_some(())
        });
    };
    paused(&mut client, "bob");
    // Another role of that name has not asked for it, until a user resumes it.
    execute(
        &mut client,
        "BEGIN; SELECT fsbench.resume_experiment('e'); DROP ROLE bob; CREATE ROLE bob; SELECT fsbench.grant_operator('bob'); COMMIT",
    );
    paused(&mut client, "another one of that name");
    for verb in ["resume", "drop"] {
        let sql = format!("RESET ROLE; SET ROLE bob; SELECT fsbench.{verb}_experiment('e')");
        assert_refused(
            &mut client,
            &sql,
            "42501",
            &["permission denied for experiment \"e\""],
        );
    }
    execute(
        &mut client,
        "RESET ROLE; SELECT fsbench.resume_experiment('e')",
    );
    wait_for(&mut client, "e");
    for table in [
        "experiment",
        "experiment_target",
        "experiment_run",
        "experiment_log",
    ] {
        execute(&mut client, &format!("GRANT ALL ON fsbench.{table} TO bob"));
        let sql = format!("SET ROLE bob; DELETE FROM fsbench.{table}");
        assert_refused(
            &mut client,
            &sql,
            "42501",
            &["permission denied to change table"],
        );
        execute(&mut client, "RESET ROLE");
    }
}
