//! Effects of fsbench.check_history() next to its row: it notifies listeners, and measures a suspect night once more.

use crate::common::{execute, row, rows, server};
use pgfsbench_tests::{LONG, assert_columns, ending};
use postgres::{Client, fallible_iterator::FallibleIterator};
use serde_json::Value;

/// Arguments of the run of a night.
const NIGHT: &str = r#"scale => 1, clients => 1, transactions => 100, seed => 7, settings => '{"work_mem": "5MB"}', options => '{"fillfactor": 90}'"#;

/// State, run and words of a history.
fn check(client: &mut Client, label: &str) -> String {
    row(
        client,
        &format!("SELECT state, run_id, says FROM fsbench.check_history('{label}')"),
    )
}

/// Label, state and run that the next notification has.
fn told(listener: &mut Client) -> String {
    let mut notifications = listener.notifications();
    let next = notifications.timeout_iter(LONG).next();
    let next = next
        .expect("a connection")
        .expect("whoever listens is told");
    assert_eq!(next.channel(), "fsbench_history");
    let told: Value = serde_json::from_str(next.payload()).expect("JSON");
    assert!(told["value"].is_number() && told["expected"].is_number());
    let words = ["label", "state", "run_id"].map(|name| match &told[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    words.join("|")
}

/// Copies the row of a run to this many nights until then, the twelfth of which is a bad one.
fn copy_nights(client: &mut Client, run: &str, label: &str, nights: u32, first_id: u32) {
    execute(
        client,
        &format!(
            "INSERT INTO fsbench.run_log SELECT (jsonb_populate_record(r, jsonb_build_object('run_id', {first_id} + n, 'label', '{label}', \
               'tps', CASE WHEN n = 12 THEN 700 ELSE 1000 * (1 + 0.01 * sin(n * 5)) END, 'requested_at', r.requested_at - (12 - n) * interval '1 day'))).* \
             FROM fsbench.run_log r, generate_series(1, {nights}) n WHERE run_id = {run}"
        ),
    );
}

#[test]
fn a_suspect_night_is_told_and_measured_again() {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    execute(
        &mut client,
        "CREATE ROLE bob LOGIN; CREATE ROLE eve LOGIN; SELECT fsbench.grant_operator('bob'), fsbench.grant_operator('eve')",
    );
    let [mut bob, mut eve] = ["bob", "eve"].map(|role| server.connect_as(role, "postgres"));
    let mut listener = server.connect("postgres");
    execute(&mut listener, "LISTEN fsbench_history");
    let tonight = row(
        &mut bob,
        &format!("SELECT run_id FROM fsbench.run({NIGHT}, label => 'nightly')"),
    );
    // How fast this machine is does not matter here, nor what may be found about so small runs.
    let make_tps = |client: &mut Client, tps: u32, condition: &str| {
        let ours = format!("label = 'nightly' AND {condition}");
        execute(
            client,
            &format!(
                "DELETE FROM fsbench.finding WHERE run_id IN (SELECT run_id FROM fsbench.run_log WHERE {ours}); \
                 UPDATE fsbench.run_log SET tps = {tps} WHERE {ours}"
            ),
        );
    };
    make_tps(&mut client, 700, "true");
    copy_nights(&mut client, &tonight, "nightly", 11, 1000);
    // One is on, so that what is started is queued.
    let long = row(
        &mut client,
        "SELECT fsbench.start(scale => 1, clients => 1, duration => '1 h', rate => 1, label => 'long')",
    );
    let suspect = format!("nightly|suspect|{tonight}");

    // No run is started in the name of another role.
    for other in [&mut eve, &mut client] {
        let said = check(other, "nightly");
        assert!(said.starts_with(&suspect["nightly|".len()..]), "{said}");
        assert!(!said.contains("queued"), "{said}");
        assert_eq!(told(&mut listener), suspect);
    }
    let runs = "SELECT count(*) FROM fsbench.run_log WHERE label = 'nightly'";
    assert_eq!(row(&mut client, runs), "12");
    // Who has asked for it gets two more, made in the same way.
    let said = check(&mut bob, "nightly");
    assert!(said.ends_with("; 2 repeats are queued"), "{said}");
    assert_eq!(told(&mut listener), suspect);
    assert_columns(
        &mut client,
        &format!(
            "FROM fsbench.run_log r, fsbench.run_log t \
             WHERE t.run_id = {tonight} AND r.label = 'nightly' AND r.status = 'queued'"
        ),
        &[
            ("count(*)", "2"),
            ("bool_and(r.asked = t.asked)", "t"),
            ("bool_and(r.requested_by = 'bob')", "t"),
            ("bool_or(r.copied)", "f"),
        ],
    );
    // Once.
    let said = check(&mut bob, "nightly");
    assert!(!said.contains("queued"), "{said}");
    assert_eq!(told(&mut listener), suspect);
    assert_eq!(row(&mut client, runs), "14");

    execute(&mut client, &format!("SELECT fsbench.cancel({long})"));
    let are_repeats = format!("run_id <> {tonight} AND NOT copied");
    let repeats = rows(
        &mut client,
        &format!("SELECT run_id FROM fsbench.run_log WHERE label = 'nightly' AND {are_repeats}"),
    );
    for repeat in &repeats {
        assert_eq!(ending(&mut client, repeat), "done");
    }
    // The median of three clears it, or does not.
    make_tps(&mut client, 1000, &are_repeats);
    let said = check(&mut bob, "nightly");
    assert!(
        said.starts_with(&format!("good|{tonight}|12 nights")),
        "{said}"
    );
    make_tps(&mut client, 690, &are_repeats);
    let said = check(&mut bob, "nightly");
    assert!(said.starts_with("suspect_repeated|"), "{said}");
    // The good night in between sent no notification.
    assert_eq!(
        told(&mut listener),
        format!("nightly|suspect_repeated|{tonight}")
    );
    assert_eq!(row(&mut client, runs), "14");

    // A night from a dump is announced, and starts nothing.
    copy_nights(&mut client, &tonight, "restored", 12, 2000);
    let said = check(&mut bob, "restored");
    assert!(said.starts_with("suspect|2012|"), "{said}");
    assert!(!said.contains("queued"), "{said}");
    assert_eq!(told(&mut listener), "restored|suspect|2012");
    assert_columns(
        &mut client,
        "FROM fsbench.run_log WHERE label = 'restored'",
        &[
            ("count(*)", "12"),
            ("bool_and(copied)", "t"),
            ("count(DISTINCT requested_by)", "1"),
        ],
    );
}
