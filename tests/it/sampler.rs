//! The sampler's records, which are of everything that a run has counted.

use crate::common::{assert_ended, row, rows, server};

#[test]
fn a_run_that_is_over_before_its_sampler_wakes_has_its_record() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let sampler = server.hold_at("sampler before the first second");
    let mut coordinator = server.hold_at("coordinator after the window");
    let start = "fsbench.start(scale => 1, clients => 1, transactions => 20, warmup => '0')";
    let run = row(&mut client, &format!("SELECT {start}"));
    coordinator.wait_for(1);
    drop((coordinator, sampler));
    assert_ended(&mut client, &run, "done");
    let records = format!(
        "SELECT second, s.transactions, r.transactions_total FROM fsbench.sample s JOIN fsbench.run_log r USING (run_id) WHERE run_id = {run}"
    );
    assert_eq!(rows(&mut client, &records), ["0|20|20"]);
}
