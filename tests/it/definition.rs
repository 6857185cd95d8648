//! A target that is defined anew is another one, though its name stays.

use crate::directory_target::Place;
use pgfsbench_tests::{Leaves, value};
use postgres::Client;

/// Makes a run. The name of its target as it returns, and the number with which it is stored.
fn measure(client: &mut Client) -> String {
    let run = "SELECT target FROM fsbench.run(target => 'here', scale => 1, clients => 1, transactions => 20, seed => 1)";
    let label = value(client, run);
    let stored = "SELECT concat_ws(' ', target, target_version) FROM fsbench.result ORDER BY run_id DESC LIMIT 1";
    let stored = value(client, stored);
    assert!(stored.starts_with(&label), "{label}, {stored}");
    stored
}

#[test]
fn results_of_one_name_and_two_definitions_stay_apart() {
    let place = Place::new("");
    let mut client = place.connect("postgres");
    let mut value = |sql: &str| value(&mut client, sql);
    assert_eq!(measure(&mut place.connect("postgres")), "here 1");

    // A run that fails has no result, so that mending the target makes no other one.
    let compress =
        r#"SELECT fsbench.alter_target('here', settings => '{"wal_compression": "on"}')"#;
    value(compress);
    let mut other = place.connect("postgres");
    let cancelled = "SELECT fsbench.start(target => 'here', scale => 1, clients => 1, duration => '5 min', rate => 10)";
    let run = value(cancelled);
    value(&format!("SELECT fsbench.cancel({run})"));
    value(&format!("CALL fsbench.wait({run})"));
    assert!(place.ending(&run).starts_with("cancelled"));
    assert_eq!(measure(&mut other), "here#2 2");
    value("SELECT fsbench.alter_target('here', reset => '{settings}')");
    assert_eq!(measure(&mut other), "here 1");
    value("SELECT fsbench.drop_target('here')");
    let create = format!(
        "SELECT fsbench.create_target('here', directory => '{}', data_checksums => false)",
        place.path().display()
    );
    value(&create);
    assert_eq!(measure(&mut other), "here#3 3");

    let each = "SELECT string_agg(concat_ws(' ', target, count, wal_compression, checksums), ', ' ORDER BY target) \
                FROM (SELECT target, count(*), target_definition #>> '{settings,wal_compression}' AS wal_compression, \
                        target_definition ->> 'data_checksums' AS checksums \
                      FROM fsbench.result WHERE target_name = 'here' AND status = 'done' GROUP BY 1, 3, 4) r";
    assert_eq!(value(each), "here 2, here#2 1 on, here#3 1 false");
    // The server there is another one, and what it says of its own target is not that of here.
    let differ = "SELECT string_agg(concat_ws(' ', area, name, a, b, matters), ', ' ORDER BY area, name) FROM fsbench.diff(\
                    (SELECT min(run_id) FROM fsbench.result WHERE target = 'here'), (SELECT run_id FROM fsbench.result WHERE target = 'here#2')) \
                  WHERE area IN ('target', 'settings', 'parameters', 'filesystem', 'durability')";
    assert_eq!(
        value(differ),
        "settings wal_compression pglz much, target settings.wal_compression on much"
    );
    place.nothing_is_left("runs of several definitions");
}
