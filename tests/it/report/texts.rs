//! The table of a text, and the charts of a page.

use super::NAME;
use crate::common::{execute, row};
use postgres::Client;
use serde_json::Value;

/// The charts of a page, as its script takes them.
pub(super) fn charts(page: &str) -> Vec<Value> {
    let mark = "<script type=\"application/json\" id=\"charts\">";
    let (_, rest) = page.split_once(mark).expect("charts");
    let (json, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(json).expect("JSON")
}

/// A line of a chart: its figures, without gaps.
fn line(page: &str, chart: &str, name: &str) -> Vec<f64> {
    let charts = charts(page);
    let of = charts.iter().find(|one| one["id"] == chart).expect(chart);
    let data = match &of["choices"][0]["data"] {
        Value::Null => &of["data"],
        of_choice => of_choice,
    };
    let mut lines = data.as_array().expect("lines").iter();
    let line = lines.find(|line| line["name"] == name).expect(name);
    let values = line["y"].as_array().expect("figures");
    values.iter().filter_map(Value::as_f64).collect()
}

/// Every column, with the figures of figures.sql.
pub(super) fn tell_each_figure(client: &mut Client) {
    let of_format = |client: &mut Client, format: &str| {
        let sql = format!("SELECT fsbench.report('{NAME}', format => '{format}')");
        row(client, &sql)
    };
    // Medians of four runs; COMMIT from all of their histograms; the worst second of all.
    let rows = [
        "ext4|1,003 tps|baseline||153 ms|600 tps|9,000|1,000 ms|durable",
        "xfs|1,107 tps|more|1.11 (1.08 to 1.14)|110 ms|664 tps|13,000|950 ms|durable",
        "btrfs|642 tps|less, not as durable|0.64 (0.62 to 0.66)|127 ms|3 tps|17,000|950 ms|not durable: barriers off",
    ];
    let text = of_format(client, "text");
    let columns = |line: &str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim);
        let cells = cells.filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    };
    let said: Vec<Vec<String>> = text.lines().map(columns).collect();
    let head =
        "target|measured|verdict|ratio|COMMIT p99|worst second|bytes/transaction|recovery|durable";
    for expected in std::iter::once(head).chain(rows) {
        let cells = expected.split('|').filter(|cell| !cell.is_empty());
        let cells: Vec<&str> = cells.collect();
        assert!(said.iter().any(|line| *line == cells), "{expected}\n{text}");
    }
    let markdown = of_format(client, "markdown");
    for expected in rows {
        let cells = format!("| {} |", expected.replace('|', " | "));
        assert!(markdown.contains(&cells), "{cells}\n{markdown}");
    }
}

/// 5,000 seconds are drawn by at most 1,200 points, with the worst and the best of them; and what came in two seconds is that of one.
pub(super) fn lose_no_second(client: &mut Client) {
    execute(
        client,
        "BEGIN; \
         INSERT INTO fsbench.sample (run_id, second, interval_ms, transactions) \
         SELECT 200, s, 1000, CASE s WHEN 2345 THEN 3 WHEN 3456 THEN 9999 ELSE 1000 + s % 100 END FROM generate_series(120, 4999) s; \
         UPDATE fsbench.sample SET interval_ms = 2000, transactions = 2 * transactions, device_write_bytes = 2 * device_write_bytes \
         WHERE run_id = 200 AND second = 60",
    );
    let page = row(client, "SELECT fsbench.report(run_ids => '{200}')");
    let tps = line(&page, "tps", "run 200 (ext4)");
    assert!(tps.len() <= 1200, "{}", tps.len());
    assert!(tps.contains(&3.0) && tps.contains(&9999.0));
    let written = line(&page, "machine", "device writes");
    assert!(!written.is_empty() && written.iter().all(|megabytes| *megabytes == 20.0));
    execute(client, "ROLLBACK");
}

/// The pasted calls make the same again: the targets that an experiment was given, and not those that it makes by itself. Sizes are those of
/// the arguments.
pub(super) fn repeat_what_was_asked(client: &mut Client) {
    let repeat = |client: &mut Client, asked: &str| {
        execute(
            client,
            &format!(
                "BEGIN; \
                 INSERT INTO fsbench.target (target, kind, filesystem, image_size_bytes) VALUES ('four', 'image', 'xfs', 3221225473); \
                 UPDATE fsbench.run_log SET target_definition = '{{\"kind\": \"image\", \"filesystem\": \"ext4\", \"image_size_bytes\": 3221225472, \"log_size_bytes\": 67108864}}' WHERE target = 'ext4'; \
                 UPDATE fsbench.experiment SET asked = '{asked}' WHERE experiment = '{NAME}'"
            ),
        );
        let page = row(client, &format!("SELECT fsbench.report('{NAME}')"));
        execute(client, "ROLLBACK");
        let (_, repeat) = page.split_once("<section id=\"repeat\">").expect("calls");
        let (repeat, _) = repeat.split_once("</section>").expect("an end");
        repeat.replace("&#x27;", "'").replace("&gt;", ">")
    };
    let of_targets = repeat(
        client,
        r#"{"targets": ["ext4", "four"], "run": {"data": "shop", "database": "orders"}}"#,
    );
    for line in [
        "SELECT fsbench.create_target('ext4', filesystem => 'ext4', log_size => '64MB', image_size => '3GB');",
        "SELECT fsbench.create_target('four', filesystem => 'xfs', image_size => '3221225473 B');",
        "-- Before: fsbench.prepare_data() makes the data of that name.",
    ] {
        assert!(of_targets.contains(line), "{line}: {of_targets}");
    }
    assert!(!of_targets.contains("create_target('xfs'"), "{of_targets}");
    let of_filesystems = repeat(
        client,
        r#"{"filesystems": ["ext4", "xfs"], "image_size": "3GB"}"#,
    );
    assert!(
        of_filesystems.contains("image_size => '3GB', filesystems => '{ext4,xfs}'")
            && !of_filesystems.contains("create_target"),
        "{of_filesystems}"
    );
}

/// A page of an experiment that decides nothing names no rules.
pub(super) fn say_that_nothing_is_decided(client: &mut Client) {
    execute(
        client,
        "BEGIN; UPDATE fsbench.run_log SET tps = 100 + 100 * (run_id * 7919 % 10)",
    );
    let page = row(client, &format!("SELECT fsbench.report('{NAME}')"));
    execute(client, "ROLLBACK");
    assert!(
        page.contains("It has 4 blocks, and decides nothing.")
            && !page.contains("by rules that err"),
        "{page}"
    );
}

/// A long list says how long it is; and forged arguments are not to be pasted.
pub(super) fn cut_nothing_silently_and_repeat_nothing_forged(client: &mut Client) {
    execute(
        client,
        "BEGIN; \
         UPDATE fsbench.environment SET settings = (SELECT jsonb_object_agg('s' || n, jsonb_build_object('setting', run_id)) FROM generate_series(1, 100) n); \
         UPDATE fsbench.run_log SET asked = '{\"scale\": 10, \"clients\": 8, \"tps\": 1, \"duration_us\": 60000000, \"x); DROP TABLE y; --\": 1}' WHERE run_id = 200; \
         UPDATE fsbench.run_log SET target_definition = '{\"kind\": \"directory\", \"directory\": \"/srv/a\\nb\", \"z); DROP TABLE y; --\": 1}' WHERE run_id = 200",
    );
    let all = "SELECT count(*) FROM fsbench.diff(200, 201) WHERE matters <> 'hardly'";
    let more: i64 = row(client, all).parse::<i64>().expect("a number") - 60;
    assert!(more > 40);
    let page = row(client, "SELECT fsbench.report(run_ids => '{200,201}')");
    let told = format!(">and {more} more</th>");
    assert!(page.contains(&told) && page.contains("see fsbench.diff(200, 201)"));
    for call in [
        "SELECT * FROM fsbench.run(scale =&gt; 10, clients =&gt; 8, duration =&gt; &#x27;60 s&#x27;);",
        "SELECT fsbench.create_target(&#x27;ext4&#x27;, directory =&gt; E&#x27;/srv/a\\u000Ab&#x27;);",
    ] {
        assert!(page.contains(call), "{page}");
    }
    // In what differs it stands as a name.
    let (_, repeat) = page.split_once("<section id=\"repeat\">").expect("calls");
    assert!(!repeat.contains("DROP TABLE"), "{repeat}");
    execute(client, "ROLLBACK");
}
