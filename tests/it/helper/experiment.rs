//! An experiment that makes its own targets, as a DBA does who has only names of filesystems.

use super::scene::Scene;
use crate::common::{execute, rows};
use pgfsbench_tests::{Leaves, assert_columns, refusal};
use postgres::Client;

/// A study of two filesystems.
const STUDY: &str = r#"{"study": "own", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "all", 
    "claims": [{"claim": "c", "says": "s", "seen": "s", "not_tested": "w"}], 
    "variants": [{"variant": "a", "filesystem": "FIRST"}, {"variant": "b", "filesystem": "SECOND"}], 
    "questions": [{"question": "q", "part": "p", "asks": "a", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 1, "metric": "tps", 
    "margin": 0.05, "is_published": false, "full": {"scale": 1, "transactions": 10, "max_blocks": 3}, "quick": {"scale": 1, "transactions": 10, "max_blocks": 3}}], 
    "published": []}"#;

fn a_study_makes_and_drops_its_targets(client: &mut Client, a: &str, b: &str) {
    let definition = STUDY.replace("FIRST", a).replace("SECOND", b);
    execute(
        client,
        &format!("SELECT fsbench.define_study('{definition}')"),
    );
    let error = refusal(client, "SELECT fsbench.study('own', image_size => '100MB')");
    assert_eq!(error.message(), "the image is too small for the study");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.starts_with("Give one of at least "))
    );
    assert!(
        error
            .detail()
            .is_some_and(|detail| detail.starts_with("It has 100 MB, and question q needs "))
    );
    let made = "SELECT target, filesystem FROM fsbench.target WHERE target LIKE 'own.%' ORDER BY 1";
    assert_eq!(rows(client, made), [""; 0]);
    execute(
        client,
        "SELECT fsbench.study('own', image_size => '1GB', start => false)",
    );
    let both = [format!("own.a|{a}"), format!("own.b|{b}")];
    assert_eq!(rows(client, made), both);
    // A study that was started is planned as if it were new: in another place, too.
    for size in ["1GB", "2GB"] {
        let planned = format!(
            "SELECT count(*) FROM fsbench.study_plan('own', image_size => '{size}') WHERE part = 'run'"
        );
        assert_eq!(rows(client, &planned), ["6"]);
    }
    let size =
        "SELECT DISTINCT image_size_bytes >> 30 FROM fsbench.target WHERE target LIKE 'own.%'";
    assert_eq!(rows(client, size), ["1"], "nothing changes by that");
    execute(
        client,
        "SELECT fsbench.drop_study('own', keep_runs => true)",
    );
    assert_eq!(rows(client, made), both);
    // They are used again as they are, and not as something else: also not where the study would give them less.
    let other = refusal(
        client,
        "SELECT fsbench.study('own', image_size => '2GB', start => false)",
    );
    assert_eq!(other.code().code(), "42710");
    execute(
        client,
        "SELECT fsbench.alter_target('own.a', mount_options => 'noatime')",
    );
    let other = refusal(
        client,
        "SELECT fsbench.study('own', image_size => '1GB', start => false)",
    );
    assert_eq!(other.message(), "target \"own.a\" already exists");
    execute(
        client,
        "SELECT fsbench.alter_target('own.a', reset => '{mount_options}')",
    );
    execute(
        client,
        "SELECT fsbench.study('own', image_size => '1GB', start => false); SELECT fsbench.drop_study('own')",
    );
    assert_eq!(rows(client, made), [""; 0]);
}

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
               max_blocks => 3, scale => 1, clients => 2, transactions => 30, warmup => '0')"
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
    // Settings that the helper gave become a line to be pasted, for any device.
    execute(
        &mut client,
        "UPDATE fsbench.experiment SET too_short = false, forced = true; \
         UPDATE fsbench.run_log r SET tps = 1000 * (2 - x.target_number) + x.block FROM fsbench.experiment_run x WHERE x.run_id = r.run_id",
    );
    let lines = rows(
        &mut client,
        "SELECT says FROM fsbench.recommend('new disk') WHERE part IN ('mkfs', 'fstab') AND says !~ '^#' OR says ~ 'no lines are shown' LIMIT 2",
    );
    let device = "/dev/disk/by-id/YOUR-DEVICE";
    assert!(
        lines[0].contains(&format!("/mkfs.{a} ")) && lines[0].ends_with(device),
        "{lines:?}"
    );
    assert!(
        lines[1].contains(&format!("-o value {device})")) && lines[1].ends_with("/etc/fstab"),
        "{lines:?}"
    );
    let told = "SELECT count(*) FROM fsbench.recommend('new disk') WHERE says ~ '^options of mkfs and mount of .*, which are as they come' OR says ~ '^in words, with figures: SELECT'";
    assert_eq!(rows(&mut client, told), ["3"]);
    let lines = rows(
        &mut client,
        "SELECT DISTINCT target_name FROM fsbench.experiment_target ORDER BY target_name",
    );
    let mut targets = [format!("new-disk.{a}"), format!("new-disk.{b}")];
    targets.sort();
    assert_eq!(lines, targets);
    a_study_makes_and_drops_its_targets(&mut client, a, b);
    scene.nothing_is_left("an experiment");
}

#[test]
fn what_the_helper_cannot_make_is_told_before_the_night() {
    let Some(scene) = Scene::new(
        "what_the_helper_cannot_make_is_told_before_the_night",
        &[],
        "",
    ) else {
        return;
    };
    let mut client = scene.bench.client();
    let device = "/dev/disk/by-id/pgfsbench-none";
    let on = [
        (
            format!("device => '{device}'"),
            format!("the helper's configuration does not name device \"{device}\""),
            format!(" --allow-device={device}; and, where systemd"),
        ),
        (
            "image_size => '900TB'".to_owned(),
            "there is no place for an image of ".to_owned(),
            "Give a smaller image_size".to_owned(),
        ),
    ];
    for (place, message, hint) in &on {
        let asked = format!(
            "'e', filesystems => '{{ext4}}', {place}, factors => '{{\"clients\": [1, 2]}}', scale => 1, transactions => 30"
        );
        let error = refusal(&mut client, &format!("SELECT fsbench.experiment({asked})"));
        assert_eq!(error.code().code(), "55000");
        assert!(error.message().contains(message), "{}", error.message());
        assert!(error.detail().is_some());
        let said = error.hint().unwrap_or_default();
        assert!(said.contains(hint), "{said}");
        // Nothing is left of it; and the plan says the same without an error.
        let left = "SELECT (SELECT count(*) FROM fsbench.experiment), (SELECT count(*) FROM fsbench.target WHERE target <> 'default')";
        assert_eq!(rows(&mut client, left), ["0|0"]);
        let planned = format!(
            "SELECT says FROM fsbench.plan_experiment({asked}) WHERE part = 'trouble' AND item <> 'the verdict'"
        );
        let trouble = rows(&mut client, &planned);
        assert!(
            trouble.len() == 1 && trouble[0].contains(message) && trouble[0].contains(hint),
            "{trouble:?}"
        );
        // A recorded experiment may become possible before it is started.
        execute(
            &mut client,
            &format!("SELECT fsbench.experiment({asked}, start => false)"),
        );
        execute(
            &mut client,
            "SELECT fsbench.drop_experiment('e'); SELECT fsbench.drop_target(target) FROM fsbench.target WHERE target <> 'default'",
        );
    }
    scene.nothing_is_left("a refused experiment");
}
