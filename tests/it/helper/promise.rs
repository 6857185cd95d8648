//! The durability of a commit on a target, as it is stored with the run: by settings, by the filesystem, and by the storage below it.

use super::bench::Bench;
use super::lab::Lab;
use crate::common::{execute, row};
use pgfsbench_tests::on_disk;

const RUN: &str = "SELECT run_id FROM fsbench.run(target => 't', scale => 1, clients => 1, transactions => 20, seed => 1)";
const PROMISE: &str = "SELECT scope, durability FROM fsbench.result WHERE run_id = (SELECT max(run_id) FROM fsbench.run_log)";

#[test]
fn without_barriers_a_commit_is_durable_only_where_somebody_has_declared_protection() {
    let test = "without_barriers_a_commit_is_durable_only_where_somebody_has_declared_protection";
    // On the machine's disk: memory promises nothing.
    let lab = Lab::below(on_disk(), test);
    let settings = [("pgfsbench.reserved_space", "16MB")];
    let Some(bench) = lab.and_then(|lab| Bench::of(lab, &settings)) else {
        return;
    };
    let mut client = bench.client();
    let _serving = bench.serve_now();
    execute(
        &mut client,
        "SELECT fsbench.create_target('t', filesystem => 'ext4', image_size => '640MB')",
    );
    row(&mut client, RUN);
    // Whether the disk does what it says is found out by each machine for itself.
    let promise = row(&mut client, PROMISE);
    assert!(!promise.contains("not durable"), "{promise}");
    execute(
        &mut client,
        "SELECT fsbench.alter_target('t', mount_options => 'barrier=0')",
    );
    row(&mut client, RUN);
    assert_eq!(
        row(&mut client, PROMISE),
        "data and WAL|not durable: barriers off"
    );
    execute(
        &mut client,
        "SELECT fsbench.alter_target('t', power_loss_protected => true)",
    );
    row(&mut client, RUN);
    assert_eq!(
        row(&mut client, PROMISE),
        "data and WAL|durable by the declared power-loss protection: barriers off"
    );
    // Settings are not the device's.
    let unlogged = RUN.replace("seed => 1", "seed => 1, options => '{\"unlogged\": true}'");
    row(&mut client, &unlogged);
    assert_eq!(
        row(&mut client, PROMISE),
        "data and WAL|not durable: unlogged tables, barriers off"
    );
    bench.lab.nothing_is_left_at_once();
}
