//! Runs with several servers side by side on one target.

use crate::common::assert_refused;
use crate::directory_target::Place;
use pgfsbench_tests::{LONG, Leaves, Signal, assert_columns, value, wait_until};
use std::fs;

const RUN: &str = "target => 'here', clients => 2, duration => '3 s', warmup => '1 s', seed => 1";

/// The postmasters of the target's servers, once there are this many.
fn postmasters(place: &Place, wanted: usize) -> Vec<i32> {
    wait_until("the target servers are there", LONG, || {
        let runs = fs::read_dir(place.path()).ok()?.flatten();
        let pids = runs.filter_map(|run| {
            let file = fs::read_to_string(run.path().join("data/postmaster.pid")).ok()?;
            file.lines().next()?.parse().ok()
        });
        let pids: Vec<i32> = pids.collect();
        (pids.len() == wanted).then_some(pids)
    })
}

#[test]
fn servers_side_by_side_are_one_run_and_no_neighbours_and_have_to_fit() {
    let place = Place::new("");
    servers_side_by_side_are_one_run(&place);
    servers_of_one_run_are_no_neighbours_of_each_other(&place);
    servers_that_do_not_fit_are_refused_before_anything_is_made(&place);
}

fn servers_side_by_side_are_one_run(place: &Place) {
    let mut client = place.server.connect("postgres");
    for (workload, more) in [("commit", ""), ("tpcb", ", scale => 1")] {
        let run = value(
            &mut client,
            &format!(
                "SELECT run_id FROM fsbench.run({RUN}, workload => '{workload}'{more}, options => '{{\"instances\": 3}}')"
            ),
        );
        place.nothing_is_left("a run with several servers");
        let rows = "(SELECT %s FROM fsbench.run_instance i WHERE i.run_id = r.run_id)";
        let of_rows = |what: &str| rows.replace("%s", what);
        let of = |what: &str, table: &str| {
            format!("(SELECT {what} FROM fsbench.{table} t WHERE t.run_id = r.run_id)")
        };
        assert_columns(
            &mut client,
            &format!("FROM fsbench.run_log r WHERE run_id = {run}"),
            &[
                ("status", "done"),
                ("error IS NULL", "t"),
                ("clients", "2"),
                ("used #>> '{options,instances}'", "3"),
                (&of_rows("array_agg(instance ORDER BY instance)"), "{1,2,3}"),
                (
                    &format!("{} = transactions_total", of_rows("sum(transactions)")),
                    "t",
                ),
                (&format!("abs({} - tps) < 0.001", of_rows("sum(tps)")), "t"),
                (&format!("{} = wal_bytes", of_rows("sum(wal_bytes)")), "t"),
                (&format!("abs({} - 1) < 1e-9", of_rows("sum(share)")), "t"),
                (&of_rows("bool_and(transactions > 0)"), "t"),
                (&of_rows("min(began_after_ms)"), "0"),
                (
                    &format!(
                        "{} = transactions_total",
                        of(
                            "sum(transactions) FILTER (WHERE measure = 'latency')",
                            "histogram"
                        )
                    ),
                    "t",
                ),
                (
                    &format!("{} = latency_max_ms", of_rows("max(latency_max_ms)")),
                    "t",
                ),
                (
                    &format!(
                        "{} BETWEEN 1.0 / 3 AND 1.000001",
                        of("fairness", "instance_fairness")
                    ),
                    "t",
                ),
                (&format!("{} >= 0", of("skew_ms", "instance_fairness")), "t"),
                // Figures of one server never stand for all.
                ("balances IS NULL", "t"),
                ("wal_start_lsn IS NULL", "t"),
                (&of("count(*)", "statement"), "0"),
                (&of("count(*)", "environment"), "1"),
                (
                    &of(
                        "count(DISTINCT left(name, 11)) FILTER (WHERE moment = 'window' AND passed)",
                        "verification",
                    ),
                    "3",
                ),
                (&of("bool_or(latency_p99_ms IS NOT NULL)", "sample"), "f"),
                (
                    "(SELECT count(*) FROM jsonb_path_query(steps, '$[*] ? (@.action == \"await the other instances\")'))",
                    "1",
                ),
            ],
        );
    }
    // As a factor, the number of servers makes targets of an experiment.
    let plan = value(
        &mut client,
        "SELECT string_agg(concat_ws(' ', item, says), ' ') FROM fsbench.plan_experiment('servers', targets => '{here}', workload => 'commit', \
           factors => '{\"options.instances\": [1, 2]}')",
    );
    assert!(
        plan.contains("instances=1") && plan.contains("instances=2"),
        "{plan}"
    );
}

#[test]
fn a_server_that_dies_among_others_fails_the_run_and_is_named() {
    let place = Place::new("");
    let long = "target => 'here', workload => 'commit', clients => 1, duration => '5 min', warmup => '0', options => '{\"instances\": 2}'";
    let run = place.server.start_run(long);
    place.wait_for_phase("measure");
    let pids = postmasters(&place, 2);
    place.server.signal(pids[1], Signal::KILL);
    place.nothing_is_left("the death of one of two servers");
    let ending = place.told(&run);
    assert!(
        ending.starts_with("failed 57P02; instance ")
            && ending.contains("the target server was stopped or crashed"),
        "{ending}"
    );
    for phase in ["provision", "measure"] {
        let run = place.server.start_run(long);
        match phase {
            "measure" => place.wait_for_phase(phase),
            _ => drop(postmasters(&place, 2)),
        }
        place.server.value(&format!("SELECT fsbench.cancel({run})"));
        place.nothing_is_left(format!("cancelled in {phase}"));
        assert!(place.told(&run).starts_with("cancelled 57014"));
    }
    // The journal names all servers.
    let run = place.server.start_run(long);
    place.wait_for_phase("measure");
    place.server.kill();
    wait_until("all target servers have ended", LONG, || {
        place.processes().is_empty().then_some(())
    });
    place.server.start_again();
    place.nothing_is_left("a restart of the asking server");
    assert!(place.told(&run).starts_with("failed 57P0"));
}

fn servers_that_do_not_fit_are_refused_before_anything_is_made(place: &Place) {
    let mut client = place.server.connect("postgres");
    let large = r#"SELECT fsbench.alter_target('here', settings => '{"shared_buffers": "64GB"}')"#;
    value(&mut client, large);
    let run = format!(
        "SELECT * FROM fsbench.run({RUN}, workload => 'commit', options => '{{\"instances\": 64}}')"
    );
    assert_refused(
        &mut client,
        &run,
        "53000",
        &["not enough memory for both servers", "on the target"],
    );
    assert!(place.is_empty());
}

fn servers_of_one_run_are_no_neighbours_of_each_other(place: &Place) {
    let mut client = place.server.connect("postgres");
    // Select-only keeps the processors busy, so that the other server would be seen as a neighbour.
    let run = value(
        &mut client,
        "SELECT run_id FROM fsbench.run(target => 'here', workload => 'select-only', scale => 1, clients => 1, duration => '5 s', warmup => '0', \
           options => '{\"instances\": 2}')",
    );
    let figures = "SELECT (facts #>> '{machine,cpu_others}')::float8 + client_cpu_seconds * 1000 / measured_ms / e.processors < 1.02 \
         FROM fsbench.run_log r JOIN fsbench.environment e USING (run_id) WHERE run_id = ";
    assert_eq!(value(&mut client, &format!("{figures}{run}")), "t");
    place.nothing_is_left("a run with two servers");
}
