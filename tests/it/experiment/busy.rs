//! A machine that others use all the time.

use super::{SHORT, STORES, outcomes, targets, wait_for};
use crate::common::{execute, row, rows, run, server};
use pgfsbench_tests::{Leaves, assert_columns};

/// Runs that others disturbed, as if the experiment had just made them: three attempts of one target, and one of the other.
#[test]
fn a_busy_machine_is_taken_as_it_is() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let _places = targets(&mut client, &["a", "b"]);
    let run = run(
        &mut client,
        "target => 'a', scale => 1, clients => 1, transactions => 20",
    );
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('e', '{{a,b}}', baseline => 'a', start => false, {SHORT}); \
             UPDATE fsbench.experiment SET too_short = false; \
             INSERT INTO fsbench.run_log SELECT p.* FROM fsbench.run_log r, generate_series(0, 3) n, \
                jsonb_populate_record(r, jsonb_build_object('run_id', 100 + n, \
                  'facts', r.facts || jsonb_build_object('machine', jsonb_build_object('cpu_others', ('{{0.3,0.2,0.4,0.5}}'::float8[])[n + 1])))) p \
               WHERE r.run_id = {run}; \
             INSERT INTO fsbench.finding (run_id, code, severity, message) SELECT 100 + n, 'noisy_neighbour', 'warning', '' FROM generate_series(0, 3) n; \
             INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id) \
               SELECT 1, 1, 1 + n / 3, (e.run_order -> 0 ->> (n / 3))::integer, 1 + n % 3, 100 + n FROM fsbench.experiment e, generate_series(0, 3) n"
        ),
    );
    let mut held = server.hold_at(STORES);
    execute(&mut client, "SELECT fsbench.resume_experiment('e')");
    held.wait_for(1);
    // The end is known from its first run on; what moves it says why.
    assert_columns(
        &mut client,
        "FROM fsbench.experiment",
        &[
            ("over_at_latest > clock_timestamp()", "t"),
            ("neighbours", "found"),
            ("moved", ""),
        ],
    );
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET over_at_latest = clock_timestamp() - interval '1 h'",
    );
    drop(held);
    wait_for(&mut client, "e");
    assert_eq!(outcomes(&mut client, "e"), ["disturbed 2", "measured 6"]);
    let counted = "SELECT attempt, why FROM fsbench.experiment_run WHERE run_id = 101";
    assert_eq!(
        row(&mut client, counted),
        "2|it counts: of 3 attempts that others disturbed it was disturbed least (20 % of the processors' time)"
    );
    assert_columns(
        &mut client,
        "FROM fsbench.experiments",
        &[
            (
                "answer ~ '^busy machine: others disturbed [4-8] of 8 runs, '",
                "t",
            ),
            ("moved LIKE '% later than reckoned before: %'", "t"),
        ],
    );
    let events = rows(
        &mut client,
        "SELECT event, message FROM fsbench.experiment_log WHERE event IN ('neighbours', 'moved', 'counted') ORDER BY log_id",
    );
    assert_eq!(
        events[0],
        "neighbours|others disturbed 4 of 4 runs of block 1: from now on no run is made again for that"
    );
    let of = |event: &str| events.iter().filter(|line| line.starts_with(event)).count();
    assert_eq!((of("counted|"), of("moved|1 h ")), (2, 1), "{events:?}");
    let first = row(
        &mut client,
        "SELECT says FROM fsbench.recommend('e') WHERE part = 'choice' LIMIT 1",
    );
    assert!(first.starts_with("busy machine: "), "{first}");
    server.nothing_is_left("a busy machine");
}
