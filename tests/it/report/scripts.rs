//! Scripts on pages: figures of each one and of its commands, and texts that do not break the page.

use super::redacted::both;
use super::texts::charts;
use crate::common::execute;
use postgres::Client;

/// Two runs with two scripts. A text ends the element that it stands in, and begins a program.
const SCRIPTS: &str = r"
    CREATE TEMP TABLE shop AS SELECT encode(sha256(convert_to(d, 'UTF8')), 'hex') AS hash, d FROM (SELECT jsonb_build_object(
        'scripts', jsonb_build_array(jsonb_build_object('name', 'order', 'weight', 2, 'text', E'SELECT 1; -- </pre><script>alert(1)</script>\nUPDATE acme_pay SET roll = 1;'),
            jsonb_build_object('name', 'stock', 'weight', 1, 'text', 'SELECT acme_stock;')),
        'init_script', 'CREATE TABLE acme_init (a int);', 'variables', jsonb_build_object('secret', 'acme_variable'),
        'checks', jsonb_build_array(jsonb_build_object('name', 'rows', 'sql', 'SELECT acme_check', 'expected', '1')))::text AS d) x;
    INSERT INTO fsbench.script SELECT hash, d FROM shop;
    UPDATE fsbench.run_log SET used = coalesce(used, '{}') || jsonb_build_object('options', jsonb_build_object('script', jsonb_build_object('sha256', hash))),
        asked = jsonb_build_object('workload', 'script', 'script', jsonb_build_object('sha256', hash, 'protocol', 'simple')) FROM shop WHERE run_id IN (200, 201);
    INSERT INTO fsbench.transaction_result (run_id, position, transaction, weight, tps, committed, failed, retried, retries, latency_avg_ms, latency_stddev_ms, latency_p99_ms)
    SELECT r, p, name, 3 - p, 61.5 * p, 4321 * p, 0, 3, 57, 1.5, 2.75, 9.25 FROM generate_series(200, 201) r, (VALUES (1, 'order'), (2, 'stock')) v (p, name);
    INSERT INTO fsbench.command_result (run_id, position, command, line, kind, executions, failures, latency_avg_ms)
    SELECT r, 1, c, c, 'SQL', 7777 * c, c - 1, 2.5 FROM generate_series(200, 201) r, generate_series(1, 2) c;
    INSERT INTO fsbench.histogram SELECT r, name, 'latency', 300, 900, 2800, 1, 9, '{640,670,700}', '{100,150,50}' FROM generate_series(200, 201) r, (VALUES ('order'), ('stock')) v (name)";

pub(super) fn have_figures_and_texts(client: &mut Client) {
    execute(client, "BEGIN");
    execute(client, SCRIPTS);
    let [whole, redacted] = both(client, "run_ids => '{200,201}'");
    execute(client, "ROLLBACK");
    for page in [&whole, &redacted] {
        assert!(!page.contains("<script>alert"));
        for word in ["transactions", "commands", "scripts"] {
            assert!(page.contains(&format!("<section id=\"{word}\">")), "{word}");
        }
        // Names and figures are no secret.
        for word in [
            ">order</th>",
            "61.5",
            "4,321",
            "8,642",
            "15,554",
            "further tries",
            ">57<",
            "2.75 ms",
            "9.25 ms",
        ] {
            assert!(page.contains(word), "{word}\n{page}");
        }
        let charts = charts(&format!("{page}</script>"));
        let types = charts.iter().find(|chart| chart["id"] == "types");
        let choices = types.expect("a chart")["choices"].as_array().unwrap();
        let names: Vec<_> = choices.iter().map(|choice| &choice["name"]).collect();
        assert_eq!(names, ["order", "stock"]);
    }
    for word in [
        "-- &lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#10;UPDATE acme_pay SET roll = 1;",
        "acme_stock",
        "acme_init",
        "acme_variable",
        "acme_check",
        "protocol =&gt; &#x27;simple&#x27;, ",
    ] {
        assert!(whole.contains(word), "{word}\n{whole}");
    }
    for word in ["acme", "alert"] {
        assert!(!redacted.contains(word), "{word}\n{redacted}");
    }
    assert!(redacted.contains("scripts =&gt; &#x27;[removed]&#x27;"));
}
