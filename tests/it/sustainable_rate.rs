//! A search for the sustainable rate is a run: on a target its probes come home, and who cancels it leaves nothing.

use crate::directory_target::Place;
use pgfsbench_tests::{LONG, Leaves, TestServer, value, wait_until};

/// Everything keeps this limit, so that the search goes the same way on every machine.
const SEARCH: &str = "latency_limit_ms => 1000000, scale => 1, clients => 2, warmup => '0'";

pub fn probes_come_home(server: &Place) {
    let run = server.value(&format!(
        "SELECT run_id FROM fsbench.sustainable_rate('here', {SEARCH}, duration => '1 s')"
    ));
    let probes = format!(
        "SELECT string_agg(purpose || coalesce(' ' || kept, ''), ', ' ORDER BY number) FROM fsbench.probe WHERE run_id = {run}"
    );
    assert_eq!(
        server.value(&probes),
        "free, search true, search true, search true, search true, confirm true"
    );
    let agree = format!(
        "SELECT r.target = 'here' AND sustainable_rate_low <= sustainable_rate AND sustainable_rate <= sustainable_rate_high \
           AND sustainable_rate = (SELECT max(rate) FROM fsbench.probe p WHERE p.run_id = r.run_id AND kept) AND tps IS NULL \
           AND sustainable_rate_says LIKE '%every rate that was tried keeps the limit%' AND (used #>> '{{options,sustain}}')::float8 = 99 \
         FROM fsbench.result r WHERE run_id = {run}"
    );
    assert_eq!(server.value(&agree), "t");
    server.nothing_is_left("a search on a target");
}

#[test]
fn a_search_that_is_cancelled_leaves_nothing() {
    let server = TestServer::with_extension(&[]);
    let run = server.start_run(&format!(
        r#"{SEARCH}, duration => '5 s', options => '{{"sustain": 99}}'"#
    ));
    let mut client = server.connect("postgres");
    // A rate is tried at the earliest after 5 s, and for half a minute from then on.
    wait_until("a rate is tried", LONG, || {
        let tried = "SELECT bool_and(phase = 'measure' AND probe >= 1 AND rate > 0 AND total = 26 AND done >= 1) FROM fsbench.progress";
        (value(&mut client, tried) == "t").then_some(())
    });
    assert_eq!(server.value(&format!("SELECT fsbench.cancel({run})")), "t");
    server.nothing_is_left("a search that was cancelled");
    let ended = server.told(&run);
    assert!(ended.starts_with("cancelled 57014"), "{ended}");
    let rows = format!("SELECT count(*) FROM fsbench.probe WHERE run_id = {run}");
    assert_eq!(server.value(&rows), "0");
    server.a_run_works("a search that was cancelled");
}
