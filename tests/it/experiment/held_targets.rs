//! Targets stay as they are while a run waits for them, and while an experiment is recorded with them or taken up again.

use super::{SHORT, targets, wait_for_no_run};
use crate::common::{assert_refused, execute, rows};
use crate::held::Held;
use crate::robustness::hold::wait_for_lock_of;
use crate::study::DEFINITION;
use pgfsbench_tests::{TestServer, assert_columns};

/// Calls a function that waits for what another session has done and not committed; then that commits, and the statement goes on.
pub fn beside(
    server: &TestServer,
    not_committed: &str,
    waits: &str,
    goes_on: impl Fn(&str) + Sync,
) {
    beside_and(server, not_committed, waits, || (), goes_on);
}

/// Calls a function that waits in this way, and does something more meanwhile.
fn beside_and(
    server: &TestServer,
    not_committed: &str,
    waits: &str,
    meanwhile: impl FnOnce(),
    goes_on: impl Fn(&str) + Sync,
) {
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        &format!("BEGIN; SELECT fsbench.{not_committed}"),
    );
    std::thread::scope(|scope| {
        let other = scope.spawn(|| goes_on(&format!("SELECT fsbench.{waits}")));
        wait_for_lock_of(server, "client backend");
        meanwhile();
        execute(&mut client, "COMMIT");
        other.join().expect("it goes on");
    });
}

#[test]
fn targets_are_held_for_runs_experiments_and_studies() {
    let server = TestServer::with_extension(&[]);
    a_target_is_not_dropped_while_an_experiment_is_recorded_or_extended_with_it(&server);
    server.start_anew();
    who_is_refused_anyway_does_not_wait(&server);
    server.start_anew();
    a_study_is_planned_with_its_targets_as_they_are_after_the_wait(&server);
    server.start_anew();
    a_target_that_is_taken_while_somebody_waits_to_drop_it_stays(&server);
}

fn a_target_is_not_dropped_while_an_experiment_is_recorded_or_extended_with_it(
    server: &TestServer,
) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b", "c", "d"]);
    let record = |name: &str, targets: &str| {
        format!("experiment('{name}', '{targets}', start => false, {SHORT})")
    };
    let refused = |sql: &str, code: &str, says: &str| {
        let mut client = server.connect("postgres");
        assert_refused(&mut client, sql, code, &[says]);
    };
    let in_use = |sql: &str| refused(sql, "55006", "is in use");
    beside(
        server,
        "alter_target('a', power_loss_protected => true)",
        "alter_target('a', data_checksums => false)",
        |sql| execute(&mut server.connect("postgres"), sql),
    );
    assert_columns(
        &mut client,
        "FROM fsbench.target WHERE target = 'a'",
        &[("power_loss_protected", "t"), ("data_checksums", "f")],
    );
    beside(
        server,
        &record("e", "{a,b}"),
        "alter_target('a', drop_caches => false)",
        in_use,
    );
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    beside(
        server,
        "extend_experiment('e', max_blocks => 6)",
        "drop_target('b')",
        in_use,
    );
    execute(&mut client, "SELECT fsbench.cancel_experiment('e')");
    beside(server, &record("f", "{a,c}"), "drop_target('c')", in_use);
    beside(server, "drop_target('d')", &record("g", "{a,d}"), |sql| {
        refused(sql, "22023", "target \"d\" does not exist");
    });
    // The experiment is recorded with the target as it is after the wait.
    beside(
        server,
        r#"alter_target('b', settings => '{"wal_compression": "on"}')"#,
        r#"experiment('h', '{b}', factors => '{"settings.wal_compression": ["off", "on"]}', start => false)"#,
        |sql| refused(sql, "22023", "contradicts target \"b\""),
    );
    assert_eq!(
        rows(
            &mut client,
            "SELECT experiment FROM fsbench.experiments ORDER BY 1"
        ),
        ["e", "f"]
    );
    wait_for_no_run(&mut client);
}

fn who_is_refused_anyway_does_not_wait(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b", "c"]);
    let record = |name: &str| {
        format!("SELECT fsbench.experiment('{name}', '{{a,b}}', start => false, {SHORT})")
    };
    execute(&mut client, &record("e"));
    execute(&mut client, "BEGIN");
    execute(&mut client, &record("f"));
    execute(&mut client, "SELECT fsbench.drop_target('c')");
    let refused = |sql: &str, code: &str, says: &str| {
        let mut other = server.connect("postgres");
        execute(&mut other, "SET lock_timeout = '1ms'");
        assert_refused(&mut other, &format!("SELECT fsbench.{sql}"), code, &[says]);
    };
    for change in [
        "drop_target('a')",
        "alter_target('a', data_checksums => false)",
    ] {
        refused(change, "55006", "is in use");
    }
    refused(
        "experiment('g', '{a,c}', metric => 'speed')",
        "22023",
        "metric",
    );
    // Who may wait does.
    refused("experiment('g', '{a,c}')", "55P03", "lock timeout");
    execute(&mut client, "ROLLBACK");
}

fn a_study_is_planned_with_its_targets_as_they_are_after_the_wait(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("SELECT fsbench.define_study('{DEFINITION}')"),
    );
    let study = "study('tiny', quick => true, blocks => 3, start => false)";
    beside(server, "drop_target('b')", study, |sql| {
        assert_refused(
            &mut server.connect("postgres"),
            sql,
            "22023",
            &["target \"b\" does not exist"],
        );
    });
    assert_eq!(
        rows(&mut client, "SELECT experiment FROM fsbench.experiments"),
        [""; 0]
    );
}

fn a_target_that_is_taken_while_somebody_waits_to_drop_it_stays(server: &TestServer) {
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let refused = |sql: &str, says: &str| {
        assert_refused(&mut server.connect("postgres"), sql, "55006", &[says]);
    };
    // By a run that is in the queue, and has a row only.
    let first = Held::in_window(
        server,
        "scale => 1, clients => 1, transactions => 50, rate => 50, warmup => '0'",
    );
    beside_and(
        server,
        "alter_target('a', power_loss_protected => true)",
        "drop_target('a')",
        || {
            let start =
                "SELECT fsbench.start(target => 'a', scale => 1, clients => 1, transactions => 5)";
            execute(&mut server.connect("postgres"), start);
        },
        |sql| refused(sql, "target \"a\" is in use"),
    );
    first.end();
    // By a user who has had it prepared.
    beside_and(
        server,
        "alter_target('b', power_loss_protected => true)",
        "drop_target('b')",
        || {
            let prepared = "INSERT INTO fsbench.helper_job (target, action, request) VALUES ('b', 'prepare', '{}')";
            execute(&mut server.connect("postgres"), prepared);
        },
        |sql| refused(sql, "target \"b\" is prepared already"),
    );
    assert_eq!(
        rows(
            &mut client,
            "SELECT target FROM fsbench.target WHERE target IN ('a', 'b') ORDER BY 1"
        ),
        ["a", "b"]
    );
    wait_for_no_run(&mut client);
}
