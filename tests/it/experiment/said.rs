//! The sentences about an experiment, by the stored figures of its runs.

use super::{SHORT, targets, wait_for};
use crate::common::{execute, row, rows, server};
use postgres::Client;

/// Other tests change settings of this machine's kernel meanwhile.
fn forget_kernel_settings(client: &mut Client) {
    execute(client, "UPDATE fsbench.environment SET vm = NULL");
}

/// Gives the runs of both targets figures that are alike, and windows that are long enough.
fn make_alike(client: &mut Client) {
    forget_kernel_settings(client);
    execute(
        client,
        "UPDATE fsbench.experiment SET too_short = false; \
         UPDATE fsbench.run_log r SET tps = 1000 + x.target_number, load_ms = 100 + x.block, checkpoints_timed = 3, checkpoints_requested = x.target_number, stall_seconds = x.block \
           FROM fsbench.experiment_run x WHERE x.run_id = r.run_id; \
         DELETE FROM fsbench.sample; \
         INSERT INTO fsbench.sample (run_id, second, interval_ms, cpu_idle_percent, cpu_iowait_percent, device_util_percent) \
           SELECT run_id, 0, 1000, 40, 10, 97 FROM fsbench.run_log",
    );
}

fn said(client: &mut Client, metric: &str) -> String {
    row(
        client,
        &format!("SELECT says FROM fsbench.compare('e', {metric}) WHERE target = 'b'"),
    )
}

#[test]
fn limits_differences_and_what_another_session_confirms_are_named() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b}}', baseline => 'a', {SHORT})"),
    );
    wait_for(&mut client, "e");
    another_session_confirms_what_was_decided(&mut client);
    let drop = "SELECT fsbench.drop_experiment('e, again')";
    assert_eq!(row(&mut client, drop), "e, again");
    limits_forced_checkpoints_and_undeclared_differences_are_named(&mut client);
}

fn limits_forced_checkpoints_and_undeclared_differences_are_named(client: &mut Client) {
    make_alike(client);
    let says = said(client, "NULL");
    assert!(
        says.starts_with("equivalent: 0.1 % more (")
            && says.ends_with(
                "; checkpoints forced by WAL: 1 of 4 a run (a: 0 of 3 a run); both limited by what the device can do"
            ),
        "{says}"
    );
    assert!(
        said(client, "'load_ms'").starts_with("not declared: 1.00 times a ("),
        "an interval of its own"
    );
    assert!(
        said(client, "'stall_seconds'").starts_with(
            "not declared, can be zero: median 2 (1 to 3) stall seconds, a: median 2 (1 to 3)"
        ),
        "no ratio"
    );
    // In one block the kernel was another one.
    let of_b = "run_id IN (SELECT run_id FROM fsbench.experiment_run WHERE block = 2 AND target_number = 1)";
    execute(
        client,
        &format!("UPDATE fsbench.environment SET kernel = '2.6.32' WHERE {of_b}"),
    );
    let says = said(client, "NULL");
    assert!(
        says.starts_with("inconclusive (differs: kernel): 1.00 times a ("),
        "{says}"
    );
    let warnings = "SELECT warnings ~ 'changed between blocks: kernel' FROM fsbench.compare('e')";
    assert_eq!(rows(client, warnings), ["t"]);
    execute(client, "UPDATE fsbench.experiment SET forced = true");
    assert!(said(client, "NULL").starts_with("equivalent: "));
    // An earlier run may have left traces on an SSD.
    execute(
        client,
        &format!(
            "UPDATE fsbench.run_log SET target_definition = target_definition || '{{\"kind\": \"device\"}}' WHERE {of_b}; \
             UPDATE fsbench.environment SET discard_max_bytes = 4096 WHERE {of_b}"
        ),
    );
    let warnings = "SELECT warnings ~ 'carry_over' FROM fsbench.compare('e')";
    assert_eq!(rows(client, warnings), ["t"]);
    // The rate that a search has found decides as any other figure.
    execute(
        client,
        "UPDATE fsbench.experiment SET metric = 'sustainable_rate'; \
         UPDATE fsbench.run_log r SET sustainable_rate = 500 * (1 + 2 * x.target_number) + x.block FROM fsbench.experiment_run x WHERE x.run_id = r.run_id",
    );
    let verdict = "SELECT verdict, blocks, substr(says, 1, 20) FROM fsbench.compare('e')";
    assert_eq!(row(client, verdict), "more|3|3 times the tps unde");
}

#[test]
fn what_is_on_two_devices_is_not_compared() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b", "c"]);
    execute(
        &mut client,
        &format!("SELECT fsbench.experiment('e', '{{a,b,c}}', {SHORT})"),
    );
    wait_for(&mut client, "e");
    forget_kernel_settings(&mut client);
    // The last one leads; only that one and the first are on a device of their own.
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET too_short = false; \
         UPDATE fsbench.run_log r SET tps = 1000 * (1 + x.target_number), target_definition = CASE x.target_number WHEN 1 THEN target_definition \
             ELSE target_definition || jsonb_build_object('kind', 'device', 'device', '/dev/disk/by-id/' || x.target_number) END \
           FROM fsbench.experiment_run x WHERE x.run_id = r.run_id; \
         UPDATE fsbench.environment SET device = NULL",
    );
    let said = "SELECT target, verdict, says ~ '^inconclusive \\(device confounded\\): ' FROM fsbench.compare('e')";
    assert_eq!(
        rows(&mut client, said),
        ["a|inconclusive|t", "b|out|f", "c|inconclusive|t"]
    );
    let leader =
        "SELECT says ~ '; as compared with a$' FROM fsbench.compare('e') WHERE target = 'c'";
    assert_eq!(row(&mut client, leader), "t");
    let choice = "SELECT says ~ '^no choice: [ac]: device confounded$' FROM fsbench.recommend('e') WHERE part = 'choice'";
    assert_eq!(row(&mut client, choice), "t");
    execute(&mut client, "UPDATE fsbench.experiment SET forced = true");
    let said = "SELECT target, verdict FROM fsbench.compare('e')";
    assert_eq!(rows(&mut client, said), ["a|out", "b|out", "c|best"]);
}

fn another_session_confirms_what_was_decided(client: &mut Client) {
    assert_eq!(
        row(client, "SELECT fsbench.confirm_experiment('e')"),
        "e, again"
    );
    wait_for(client, "e, again");
    forget_kernel_settings(client);
    execute(
        client,
        "UPDATE fsbench.experiment SET too_short = false; \
         UPDATE fsbench.run_log r SET tps = 1000 * (1 + x.target_number) + x.block FROM fsbench.experiment_run x WHERE x.run_id = r.run_id",
    );
    let confirmed =
        "SELECT verdict, says ~ ', confirmed by \"e, again\"' FROM fsbench.compare('e')";
    assert_eq!(row(client, confirmed), "more|f", "the same session");
    execute(
        client,
        "UPDATE fsbench.experiment_run SET boot_id = 'another' WHERE experiment_id = 2",
    );
    assert_eq!(row(client, confirmed), "more|t");
    // One in which something differs confirms nothing.
    let kernel_of_b = |kernel: &str| {
        format!(
            "UPDATE fsbench.environment SET kernel = {kernel} WHERE run_id IN (SELECT run_id FROM fsbench.experiment_run \
               WHERE experiment_id = 2 AND block = 2 AND target_number = 1)"
        )
    };
    execute(client, &kernel_of_b("'2.6.32'"));
    assert_eq!(row(client, confirmed), "more|f");
    execute(
        client,
        &kernel_of_b("(SELECT max(kernel) FROM fsbench.environment)"),
    );
    assert_eq!(row(client, confirmed), "more|t");
    // The first experiment confirms the later one, too; one that disagrees confirms nothing.
    let first = "SELECT says ~ ', confirmed by \"e\"' FROM fsbench.compare('e, again')";
    assert_eq!(row(client, first), "t");
    execute(
        client,
        "UPDATE fsbench.run_log r SET tps = 1000 + x.block FROM fsbench.experiment_run x WHERE x.run_id = r.run_id AND x.experiment_id = 2",
    );
    assert_eq!(row(client, confirmed), "more|f");
}
