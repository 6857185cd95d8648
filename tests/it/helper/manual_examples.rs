//! The examples of fsbench.help() and the manual on the helper, carried out; and its log.

use super::scene::Scene;
use crate::common::{execute, row, rows};
use pgfsbench_tests::Leaves;

/// The example of fsbench.help() for a verb, for an image that has room in the lab.
fn example(scene: &Scene, verb: &str) -> String {
    let sql = format!(
        "SELECT example FROM fsbench.help('all') WHERE verb = '{verb}' ORDER BY example DESC LIMIT 1"
    );
    scene.value(&sql).replace("'2GB'", "'512MB'")
}

#[test]
fn examples_work_and_the_log_tells_what_was_done() {
    let Some(scene) = Scene::new("examples_work_and_the_log_tells_what_was_done", &[], "") else {
        return;
    };
    if !scene.bench.lab.has("xfs") {
        return;
    }
    let mut client = scene.bench.client();
    for verb in [
        "create_target",
        "alter_target",
        "plan",
        "prepare_target",
        "describe_devices",
        "release_target",
        "prepare_target",
    ] {
        execute(&mut client, &example(&scene, verb));
    }
    let ends = rows(
        &mut client,
        "SELECT action, step FROM fsbench.helper_log WHERE command IS NULL ORDER BY job_id",
    );
    assert_eq!(
        ends,
        [
            "plan|done",
            "prepare|done",
            "describe|done",
            "release|done",
            "prepare|done"
        ]
    );
    let mkfs = "SELECT bool_and(command LIKE '/%/mkfs.xfs -f %' AND ms > 0 AND problem IS NULL AND target = 'xfs') \
                FROM fsbench.helper_log WHERE step = 'mkfs'";
    assert_eq!(row(&mut client, mkfs), "t");
    // A failed step is told in the last row of its job.
    execute(
        &mut client,
        "SELECT fsbench.create_target('wide', filesystem => 'xfs', image_size => '512GB')",
    );
    assert!(
        client
            .batch_execute("SELECT * FROM fsbench.prepare_target('wide')")
            .is_err()
    );
    let failed = "SELECT step || ' ' || (problem <> '') FROM fsbench.helper_log WHERE target = 'wide' ORDER BY job_id DESC, command NULLS FIRST LIMIT 1";
    assert_eq!(row(&mut client, failed), "failed true");

    // The first step of docs/install.md's Uninstall.
    let page = include_str!("../../../docs/install.md");
    let release = "SELECT fsbench.release_target(target) FROM fsbench.prepared_target;";
    assert!(page.contains(release));
    assert_eq!(rows(&mut client, release), ["t"]);
    assert_eq!(
        rows(&mut client, "SELECT target FROM fsbench.prepared_target"),
        [""; 0]
    );
    execute(&mut client, &example(&scene, "drop_target"));
    scene.nothing_is_left("the examples");
}
