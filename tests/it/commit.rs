//! The workload `commit`: each row that was committed is there, and no other.

use crate::common::{ending, execute, owned_directory, row, rows, run, server};
use crate::held::Held;
use pgfsbench_tests::assert_columns;

#[test]
fn a_row_that_is_gone_or_in_the_place_of_another_one_fails_the_run() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    for (change, detail) in [
        (
            "DELETE FROM fsbench_commit WHERE number = 3 AND client = 0",
            "(-1)",
        ),
        ("INSERT INTO fsbench_commit VALUES (0, 1)", "(+1)"),
        (
            "UPDATE fsbench_commit SET number = 4 WHERE number = 3 AND client = 1",
            "of 1 of 2 clients the rows are not those that it has inserted",
        ),
    ] {
        // Each client has inserted four rows at least.
        let mut held = Held::after(
            &server,
            "workload => 'commit', clients => 2, transactions => 100, warmup => '0', rate => 100",
            104,
        );
        let mut other = server.connect(&held.database());
        assert_eq!(other.execute(change, &[]).expect(change), 1, "{change}");
        held.release();
        let id = &held.id;
        let ended = ending(&mut client, id);
        let wanted = "failed XX001; the data does not agree with what was measured";
        assert!(ended.starts_with(wanted), "{change}: {ended}");
        let told = row(
            &mut client,
            &format!("SELECT error_detail FROM fsbench.run_log WHERE run_id = {id}"),
        );
        assert!(told.contains(detail), "{change}: {told}");
        server.nothing_is_left_at_once();
    }
}

#[test]
fn what_was_committed_on_a_target_is_there_after_a_crash() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let place = owned_directory("pgfsbench-target.");
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.create_target('here', directory => '{}')",
            place.path().display()
        ),
    );
    let id = run(
        &mut client,
        r#"'here', 'commit', clients => 3, transactions => 40, options => '{"crash": true}'"#,
    );
    assert_columns(
        &mut client,
        &format!("FROM fsbench.recovery JOIN fsbench.run_log USING (run_id) WHERE run_id = {id}"),
        &[
            ("transactions_committed", "120"),
            ("transactions_found", "120"),
            ("balances_verified", "t"),
            ("problem IS NULL", "t"),
            (
                "balances",
                r#"{"rows": 120, "clients": 3, "wrong_clients": 0, "rows_by_client": 240}"#,
            ),
        ],
    );
    let stored = format!(
        "SELECT measure, transactions FROM fsbench.histogram WHERE run_id = {id} ORDER BY 1"
    );
    assert_eq!(rows(&mut client, &stored), ["commit|120", "latency|120"]);
    let checks = format!(
        "SELECT moment, name, passed, note IS NULL FROM fsbench.verification WHERE run_id = {id} ORDER BY position"
    );
    assert_eq!(
        rows(&mut client, &checks),
        [
            "crash|rows|t|t",
            "crash|clients_with_wrong_numbers|t|t",
            "crash|rows_by_client||f",
        ]
    );
    server.nothing_is_left_at_once();
}
