//! A study from its definition to its claims, on two directories.

use crate::common::{assert_refused, execute, owned_directory, row, rows, server};
use pgfsbench_tests::{LONG, Leaves, SHOWN, assert_columns, wait_until};

pub const DEFINITION: &str = r#"{"study": "tiny", "title": "t", "author": "a", "year": 2026, "source": "s", "machine": "m", "part": "p",
  "claims": [
    {"claim": "more", "says": "b does more tps", "seen": "2 against 1",
     "decision": {"question": "q", "variant": "b", "with": "a", "metric": "tps", "expected": "more", "by": "interval"}},
    {"claim": "full", "says": "b does more tps", "seen": "2 against 1", "needs": ["full_size"],
     "decision": {"question": "q", "variant": "b", "with": "a", "metric": "tps", "expected": "more", "by": "interval"}},
    {"claim": "never", "says": "c does more tps", "seen": "3 against 1", "not_tested": "there is no c"}],
  "variants": [{"variant": "a", "target": "a"}, {"variant": "b", "target": "b"}],
  "questions": [{"question": "q", "part": "p", "asks": "b against a", "variants": ["a", "b"], "baseline": "a", "workload": "tpcb", "clients": 1,
    "metric": "tps", "margin": 0.05, "is_published": true,
    "full": {"scale": 10, "cycle_seconds": 30, "max_blocks": 6}, "quick": {"scale": 1, "transactions": 20, "max_blocks": 3}}],
  "published": [{"variant": "b", "metric": "tps", "value": 2, "unit": "tps", "question": "q", "beside": "tps"}]}"#;

#[test]
fn a_study_is_carried_out_and_its_claims_are_judged() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    let places: Vec<_> = ["a", "b"]
        .iter()
        .map(|name| {
            let place = owned_directory("pgfsbench-study");
            let path = place.path().display().to_string();
            execute(
                &mut client,
                &format!("SELECT fsbench.create_target('{name}', directory => '{path}')"),
            );
            place
        })
        .collect();
    let other = DEFINITION.replace("tiny", "other");
    for definition in [DEFINITION, other.as_str()] {
        let define = format!("SELECT fsbench.define_study('{definition}')");
        execute(&mut client, &define);
    }
    for (name, blocks) in [("tiny", 3), ("other", 24)] {
        let recorded = format!(
            "SELECT fsbench.study('{name}', quick => true, blocks => {blocks}, start => false)"
        );
        assert_eq!(row(&mut client, &recorded), name);
    }
    // Before its first run nothing is compared.
    assert_eq!(
        rows(
            &mut client,
            "SELECT variant, published, measured, measured_percent, ratio, compared FROM fsbench.study_report('tiny')"
        ),
        ["a|||||", "b|2||||"]
    );
    execute(
        &mut client,
        "SELECT fsbench.resume_experiment('tiny q'); SELECT fsbench.resume_experiment('other q')",
    );
    execute(&mut client, "CALL fsbench.wait_experiment('tiny q')");
    wait_until("the other study is on", LONG, || {
        let on = "SELECT status FROM fsbench.experiments WHERE experiment = 'other q'";
        (row(&mut client, on) == "running").then_some(())
    });
    let waited = "SELECT (SELECT ended_at FROM fsbench.experiment WHERE experiment = 'tiny q') <= started_at \
        FROM fsbench.experiment WHERE experiment = 'other q'";
    assert_eq!(row(&mut client, waited), "t", "one waits for the other");
    // The other one is paused, and this one goes on. Within a transaction nobody else has begun with it.
    let extend =
        "SELECT fsbench.pause_experiment('other q'); SELECT fsbench.extend_experiment('tiny q', 4)";
    let ends = |study| {
        format!(
            "SELECT fsbench.cancel_experiment(e.experiment) FROM fsbench.experiments AS e JOIN fsbench.studies AS s \
            ON e.experiment = ANY (s.experiments) WHERE s.study = '{study}' AND e.status NOT IN ('done', 'cancelled')"
        )
    };
    assert_refused(
        &mut client,
        &format!("{extend}; SELECT fsbench.drop_study('tiny')"),
        "55006",
        &["study \"tiny\" is on", &ends("tiny")],
    );
    execute(&mut client, extend);
    execute(&mut client, "CALL fsbench.wait_experiment('tiny q')");
    execute(
        &mut client,
        &format!("{}; SELECT fsbench.drop_study('other')", ends("other")),
    );
    let claims = "SELECT claim FROM fsbench.study_claims('tiny')";
    assert_eq!(rows(&mut client, claims), ["more", "full", "never"]);
    // Twenty transactions have no checkpoint among them.
    for (claim, here) in [
        ("more", "inconclusive"),
        ("full", "not tested"),
        ("never", "not tested"),
    ] {
        assert_columns(
            &mut client,
            &format!("FROM fsbench.study_claims('tiny') WHERE claim = '{claim}'"),
            &[
                ("here", here),
                ("split_part(why, ':', 1) <> ''", "t"),
                ("why", SHOWN),
            ],
        );
    }
    let variants = "SELECT variant FROM fsbench.study_report('tiny')";
    assert_eq!(rows(&mut client, variants), ["a", "b"]);
    // How many blocks there are after that depends on how noisy the machine is: it may be given up.
    let runs = "SELECT count(*) FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id) \
        WHERE e.experiment = 'tiny q' AND x.outcome = 'measured' GROUP BY x.target_number ORDER BY x.target_number";
    let runs = rows(&mut client, runs);
    assert!(runs == ["3", "3"] || runs == ["4", "4"], "{runs:?}");
    for (variant, published, runs) in [("a", "", &runs[0]), ("b", "2", &runs[1])] {
        assert_columns(
            &mut client,
            &format!("FROM fsbench.study_report('tiny') WHERE variant = '{variant}'"),
            &[
                ("published", published),
                ("measured > 0", "t"),
                ("measured_percent BETWEEN 0 AND 100", "t"),
                ("runs", runs),
            ],
        );
    }
    // A setting that servers of that time did not have is off while it runs.
    let settings =
        "SELECT DISTINCT settings #>> '{checkpoint_flush_after,setting}' FROM fsbench.environment";
    assert_eq!(rows(&mut client, settings), ["0"]);
    execute(&mut client, "SELECT fsbench.drop_study('tiny')");
    let left = "SELECT (SELECT count(*) FROM fsbench.run_log) + (SELECT count(*) FROM fsbench.sample) + (SELECT count(*) FROM fsbench.experiment)";
    assert_eq!(row(&mut client, left), "0", "runs of a study go with it");
    server.nothing_is_left("a study");
    drop(places);
}
