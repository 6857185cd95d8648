//! Steps of maintenance after a run: a run that ends in one of them leaves nothing.

use crate::directory_target::Place;
use pgfsbench_tests::{Leaves, Stop, TestServer, is_soak};

const RUN: &str =
    r#"scale => 2, clients => 2, transactions => 50, options => '{"maintenance": true}'"#;

#[test]
fn steps_take_no_transaction_ids_of_the_workload_and_whoever_ends_a_run_in_one_leaves_nothing() {
    // No other process takes any.
    let server = TestServer::with_extension(&[("autovacuum", "off")]);
    transaction_ids_of_the_steps_are_not_the_workloads(&server);
    whoever_ends_a_run_in_a_step_leaves_nothing(&server);
}

fn whoever_ends_a_run_in_a_step_leaves_nothing(server: &TestServer) {
    for done in 0..4_u32 {
        let endings = [
            ("cancel", "cancelled 57014"),
            ("kill -9 the worker", "failed 57P02"),
            ("terminate the coordinator", "failed 57P01"),
            ("terminate the worker", "failed 57P01; worker failed"),
            ("immediate stop", "failed 57P02"),
        ];
        // Two of them in each step, so that each is done in one step at least; `make soak` has all.
        let is_sampled = |number: usize| is_soak() || (number + 3 * done as usize) % 5 < 2;
        for (how, wanted) in (endings.into_iter().enumerate())
            .filter_map(|(number, ending)| is_sampled(number).then_some(ending))
        {
            eprintln!("{how} after {done} steps");
            let mut hold = server.hold_at(&format!("maintenance after {done} steps"));
            let run = server.start_run(RUN);
            let worker = hold.wait_for(1);
            match how {
                "cancel" => assert_eq!(server.value(&format!("SELECT fsbench.cancel({run})")), "t"),
                "terminate the coordinator" => server.terminate(server.coordinator()),
                "terminate the worker" => server.terminate(worker),
                "kill -9 the worker" => server.crash(worker),
                _ => {
                    server.stop(Stop::Immediate);
                    server.start_again();
                }
            }
            server.nothing_is_left(how);
            let ended = server.told(&run);
            assert!(
                ended.starts_with(wanted),
                "{how} after {done} steps: {ended}"
            );
            let rows = format!("SELECT count(*) FROM fsbench.maintenance WHERE run_id = {run}");
            assert_eq!(server.value(&rows), "0");
        }
    }
    server.a_run_works("maintenance");
    assert!(!server.log().contains("PANIC"), "a PANIC");
}

fn transaction_ids_of_the_steps_are_not_the_workloads(server: &TestServer) {
    let used = [r#"{"maintenance": true}"#, "{}"].map(|options| {
        let run = server.value(&format!(
            "SELECT run_id FROM fsbench.run(scale => 1, clients => 1, transactions => 50, seed => 3, options => '{options}')"
        ));
        server.value(&format!(
            "SELECT xids_used FROM fsbench.run_log WHERE run_id = {run}"
        ))
    });
    assert_eq!(used[0], used[1]);
    assert!(used[0].parse().is_ok_and(|n: u64| n >= 50), "{used:?}");
}

pub fn steps_come_home(server: &Place) {
    // Loaded once and copied; the further table is loaded there.
    let run = server.value(&format!(
        "SELECT run_id FROM fsbench.run(target => 'here', {RUN})"
    ));
    let steps = format!(
        "SELECT string_agg(step, ' ' ORDER BY position) || bool_and(ms > 0) FROM fsbench.maintenance WHERE run_id = {run}"
    );
    assert_eq!(
        server.value(&steps),
        "bulk_load index_build vacuum checkpointtrue"
    );
    let phases = format!(
        "SELECT count(*) FROM fsbench.run_log, jsonb_array_elements(phases) p WHERE run_id = {run} AND p->>'phase' = 'maintenance'"
    );
    assert_eq!(server.value(&phases), "1");
    server.nothing_is_left("maintenance on a target");
}
