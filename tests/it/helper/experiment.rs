//! An experiment that makes its own targets, as a DBA does who has only names of filesystems.

use super::scene::Scene;
use crate::common::{execute, rows};
use pgfsbench_tests::{Leaves, assert_columns};

#[test]
fn filesystems_on_images_are_compared_and_nothing_is_left() {
    let test = "filesystems_on_images_are_compared_and_nothing_is_left";
    let Some(scene) = Scene::new(test, &[], "") else {
        return;
    };
    let filesystems = scene.bench.lab.filesystems();
    if filesystems.len() < 2 {
        return pgfsbench_tests::skip(test, "there is one filesystem only");
    }
    let (a, b) = (filesystems[0], filesystems[1]);
    let mut client = scene.bench.client();
    execute(
        &mut client,
        &format!(
            "SELECT fsbench.experiment('new disk', filesystems => '{{{a},{b}}}', image_size => '1GB', baseline => '{a}', \
               max_blocks => 3, scale => 1, clients => 2, transactions => 30, warmup => '0', probe_wait => '0')"
        ),
    );
    execute(&mut client, "CALL fsbench.wait_experiment('new disk')");
    let outcomes = "SELECT outcome || ' ' || count(*) FROM fsbench.experiment_run GROUP BY outcome";
    assert_eq!(rows(&mut client, outcomes), ["measured 6"]);
    assert_columns(
        &mut client,
        "FROM fsbench.compare('new disk')",
        &[
            ("target", b),
            ("verdict", "inconclusive"),
            ("says ~ 'too_short'", "t"),
            ("durability <> ''", "t"),
            ("same_durability", "t"),
        ],
    );
    let lines = rows(
        &mut client,
        "SELECT DISTINCT target_name FROM fsbench.experiment_target ORDER BY target_name",
    );
    let mut targets = [format!("new-disk.{a}"), format!("new-disk.{b}")];
    targets.sort();
    assert_eq!(lines, targets);
    scene.nothing_is_left("an experiment");
}
