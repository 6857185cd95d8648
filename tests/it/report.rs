//! Pages of pgfsbench_report: what is on them, and who gets one.

mod commands;
mod reading;
mod redacted;
mod results;
mod scripts;
mod studies;
mod texts;

use crate::common::{assert_refused, execute, program, row, rows, server};
use pgfsbench_tests::{TestServer, skip};
use postgres::Client;

pub(crate) const FIGURES: &str = include_str!("../report/figures.sql");
pub(crate) const STUDY: &str = include_str!("../report/study.sql");
pub(crate) const OTHERS: &str = include_str!("../report/others.sql");
/// Sixteen more runs of one target, with their recoveries.
const TWENTY: &str = "\
    INSERT INTO fsbench.run_log SELECT (jsonb_populate_record(r, jsonb_build_object('run_id', 1000 + n))).* \
    FROM fsbench.run_log r, generate_series(1, 16) n WHERE run_id = 200; \
    INSERT INTO fsbench.recovery SELECT (jsonb_populate_record(y, jsonb_build_object('run_id', 1000 + n))).* \
    FROM fsbench.recovery y, generate_series(1, 16) n WHERE run_id = 200; \
    INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome) \
    SELECT experiment_id, 4 + n, 1, 0, 1, 1000 + n, 'measured' FROM fsbench.experiment, generate_series(1, 16) n WHERE experiment = 'new server'";
const NAME: &str = "new server";

/// Whether there is plpython3u; the test returns where there is none.
pub(crate) fn has_python(client: &mut Client, test: &str) -> bool {
    let there = row(
        client,
        "SELECT count(*) FROM pg_available_extensions WHERE name = 'plpython3u'",
    ) == "1";
    if !there {
        skip(test, "there is no plpython3u for this PostgreSQL");
    }
    there
}

/// A server with stored figures, and pgfsbench_report.
pub(crate) fn with_figures(test: &str) -> Option<(TestServer, Client)> {
    let server = server(&[]);
    let mut client = server.connect("postgres");
    if !has_python(&mut client, test) {
        return None;
    }
    execute(&mut client, "CREATE EXTENSION pgfsbench_report CASCADE");
    execute(&mut client, FIGURES);
    Some((server, client))
}

/// Sections of a page, in its order.
fn parts(page: &str) -> Vec<&str> {
    let names = page
        .split('<')
        .filter_map(|tag| match tag.strip_prefix("section id=\"") {
            Some(section) => section.split('"').next(),
            None => tag.starts_with("div class=\"answer\"").then_some("answer"),
        });
    names.collect()
}

#[test]
fn texts_pictures_and_what_is_left_out_for_strangers() {
    let Some((server, mut client)) =
        with_figures("report::texts_pictures_and_what_is_left_out_for_strangers")
    else {
        return;
    };
    let text = row(
        &mut client,
        &format!("SELECT fsbench.report('{NAME}', format => 'text')"),
    );
    for words in [
        "11 % more tps than ext4",
        "Not tested: ",
        "less, not as durable",
        "1.11 (1.08 to 1.14)",
        "baseline",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let markdown = row(
        &mut client,
        &format!("SELECT fsbench.report('{NAME}', format => 'markdown')"),
    );
    assert_eq!(
        markdown
            .lines()
            .filter(|line| line.starts_with("| "))
            .count(),
        4,
        "{markdown}"
    );
    texts::tell_each_figure(&mut client);
    texts::lose_no_second(&mut client);
    texts::cut_nothing_silently_and_repeat_nothing_forged(&mut client);
    texts::repeat_what_was_asked(&mut client);
    texts::say_that_nothing_is_decided(&mut client);
    redacted::tell_neither_who_nor_where(&mut client);
    scripts::have_figures_and_texts(&mut client);
    results::of_jobs_and_of_new_orders(&mut client);
    let svg = row(&mut client, &format!("SELECT fsbench.chart_svg('{NAME}')"));
    assert!(
        svg.starts_with("<svg ") && svg.contains("PostgreSQL 15.20") && svg.contains("12 runs"),
        "{svg}"
    );
    assert_eq!(
        row(
            &mut client,
            &format!("SELECT xml_is_well_formed_document(fsbench.chart_svg('{NAME}'))")
        ),
        "t"
    );

    let whole = row(&mut client, &format!("SELECT fsbench.report('{NAME}')"));
    assert_eq!(
        parts(&whole),
        [
            "verdict",
            "answer",
            "targets",
            "answer",
            "why",
            "seconds",
            "latencies",
            "runs",
            "inside",
            "recovery",
            "findings",
            "environment",
            "paste",
            "repeat"
        ]
    );
    let redacted = row(
        &mut client,
        &format!("SELECT fsbench.report('{NAME}', redact => true)"),
    );
    for secret in [
        "db1.example",
        "/srv/bench",
        "/dev/nvme0n1p2",
        "S-123456",
        "eui.0025",
    ] {
        assert!(
            whole.contains(secret) && !redacted.contains(secret),
            "{secret}"
        );
    }
    assert!(!redacted.contains("nightly") && redacted.contains("Maker Disk 9"));

    let loose = row(
        &mut client,
        "SELECT fsbench.report(run_ids => '{200,201}', format => 'text')",
    );
    assert!(
        loose.contains("Single runs decide nothing") && loose.contains("run 201 (xfs)"),
        "{loose}"
    );
    execute(&mut client, "BEGIN");
    execute(&mut client, OTHERS);
    let scans_and_syncs = "SELECT fsbench.report(run_ids => '{200,201,202,300,301}')";
    assert_eq!(
        parts(&row(&mut client, scans_and_syncs)),
        [
            "answer",
            "targets",
            "seconds",
            "latencies",
            "runs",
            "inside",
            "scans",
            "fsync",
            "recovery",
            "findings",
            "environment",
            "repeat"
        ]
    );
    let nights = row(&mut client, "SELECT fsbench.report(history => 'weekly')");
    assert_eq!(
        parts(&nights)[..3],
        ["answer", "history", "targets"],
        "{nights}"
    );
    let drawn = |page: &str| {
        let (_, from) = page.split_once("id=\"charts\">").expect("charts");
        from.split("</script>").next().map(str::to_owned)
    };
    for style in ["German", "SQL, DMY", "Postgres, MDY"] {
        let shown = format!("SET LOCAL DateStyle = '{style}'; SET LOCAL extra_float_digits = -15");
        execute(&mut client, &shown);
        let same = row(&mut client, "SELECT fsbench.report(history => 'weekly')");
        assert_eq!(drawn(&same), drawn(&nights), "{style}");
    }
    execute(&mut client, "ROLLBACK");
    // All of them have a label, and are one night of each target.
    let nights = row(
        &mut client,
        "SELECT fsbench.report(history => 'nightly', format => 'text')",
    );
    assert!(
        nights.contains("no change of level in 1 night") && nights.contains("run 200 (ext4)"),
        "{nights}"
    );
    execute(
        &mut client,
        "CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN; GRANT pg_monitor TO reader",
    );
    let as_role = |role: &str, sql: &str| {
        let mut command = server.client_program("psql");
        let output = command
            .args(["-XAtqU", role, "-c", sql, "postgres"])
            .output()
            .expect("psql");
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    let sql = "SELECT left(fsbench.report('new server'), 15)";
    assert_eq!(as_role("reader", sql), "<!DOCTYPE html>\n");
    assert!(as_role("stranger", sql).contains("permission denied for schema fsbench"));

    // A box says nothing of four points, and something of twenty.
    assert!(whole.contains("Recovery after a crash") && !whole.contains("\"type\":\"box\""));
    execute(&mut client, "BEGIN");
    execute(&mut client, TWENTY);
    let of_twenty = row(&mut client, &format!("SELECT fsbench.report('{NAME}')"));
    assert_eq!(of_twenty.matches("\"type\":\"box\"").count(), 1);
    execute(&mut client, "ROLLBACK");
    studies::have_pages(&mut client);
    reading::writes_nothing(&server, &mut client);

    // An imported experiment has its page, without calls to be pasted.
    execute(
        &mut client,
        "SELECT fsbench.import((SELECT string_agg(line, E'\\n') FROM fsbench.export('new server') line), 'db')",
    );
    let page = row(&mut client, "SELECT fsbench.report('new server@db')");
    assert!(
        page.contains("Imported from a file of host db:")
            && page.contains("imported from a file: it was not measured here"),
        "{page}"
    );
    assert!(
        whole.contains("SELECT fsbench.experiment(")
            && !page.contains("SELECT fsbench.experiment(")
    );
    let redacted = row(
        &mut client,
        "SELECT fsbench.report('new server@db', redact => true)",
    );
    assert!(redacted.contains("Experiment new server@[host 1]"));
    for host in ["server@db", "host db", "db1.example"] {
        assert!(page.contains(host) && !redacted.contains(host), "{host}");
    }
    let text = row(
        &mut client,
        "SELECT fsbench.report(run_ids => array_agg(run_id), format => 'text', redact => true) FROM fsbench.imported WHERE run_id_there IN (200, 201)",
    );
    assert!(
        text.contains("(xfs@[host 1])") && !text.contains("@db"),
        "{text}"
    );
}

#[test]
fn a_large_page_is_not_for_a_terminal() {
    let Some((server, mut client)) = with_figures("report::a_large_page_is_not_for_a_terminal")
    else {
        return;
    };
    commands::are_quoted_for_a_shell(&server, &mut client);
    reading::of_one_moment(&server, &mut client);
    let typed = |sql: &str| commands::typed(&server, sql);
    let sql = format!("SELECT fsbench.report('{NAME}');\n");
    let command = format!("psql -XAtqc \"SELECT fsbench.report('{NAME}')\" -o report.html");
    // A small one comes, with the command by which it would be a file.
    let (bytes, said) = typed(&sql);
    assert!(
        bytes > 1_000_000 && said.contains("NOTICE:  a page of 1.5"),
        "{said}"
    );
    assert!(said.contains(&command), "{said}");
    execute(
        &mut client,
        "UPDATE fsbench.environment SET settings = (SELECT jsonb_object_agg('s' || n, repeat('x', 200)) FROM generate_series(1, 5000) n)",
    );
    let (bytes, said) = typed(&sql);
    assert_eq!(bytes, 0);
    assert!(
        said.contains("ERROR:  a page of ") && said.contains(" MB is not for a terminal"),
        "{said}"
    );
    assert!(said.contains(&command), "{said}");
    let (bytes, said) = typed("SELECT fsbench.report('new server', force => true);\n");
    assert!(bytes > 4_000_000 && said.is_empty(), "{said}");
    let piped = program(
        &server,
        "psql",
        &["-XAtqc", sql.trim_end_matches([';', '\n']), "postgres"],
    );
    assert!(piped.len() > 4_000_000);
}

#[test]
fn what_no_page_is_made_of() {
    let Some((server, mut client)) = with_figures("report::what_no_page_is_made_of") else {
        return;
    };
    execute(
        &mut client,
        "INSERT INTO fsbench.run_log (run_id, status, target, workload, asked, used, requested_by, error) \
         VALUES (300, 'failed', 'xfs', 'tpcb', '{}', '{}', 'x', 'disk full'); \
         SELECT fsbench.experiment('empty', '{ext4,xfs}', scale => 1, clients => 1, transactions => 10, start => false)",
    );
    for (arguments, code, words) in [
        (
            "'nothing'",
            "22023",
            &[
                "experiment \"nothing\" does not exist",
                "neither an experiment of this name nor a study",
                "fsbench.experiments and fsbench.studies",
            ][..],
        ),
        (
            "'empty'",
            "55000",
            &[
                "experiment \"empty\" has no run that counts",
                "Its status is recorded.",
            ],
        ),
        (
            "run_ids => '{200,9999}'",
            "22023",
            &["run 9999 does not exist"],
        ),
        (
            "run_ids => '{300}'",
            "55000",
            &["run 300 is not done", "It is failed: disk full."],
        ),
        ("run_ids => '{}'", "22023", &["run_ids must name runs"]),
        (
            "run_ids => '{{200,201}}'",
            "22023",
            &["run_ids must name runs", "an array of arrays"],
        ),
        (
            "'new server', format => 'svg'",
            "22023",
            &["format \"SVG\" does not exist", "fsbench.chart_svg()"],
        ),
        (
            "'new server', format => 'pdf'",
            "22023",
            &["format \"pdf\" does not exist", "html, text or markdown"],
        ),
        (
            "'new server', format => NULL",
            "22023",
            &["format must not be null"],
        ),
        (
            "history => 'nothing'",
            "22023",
            &["no run has the label \"nothing\"", "fsbench.start"],
        ),
        (
            "",
            "22023",
            &["a report takes an experiment, a study, run_ids, or a history"],
        ),
        (
            "'new server', run_ids => '{200}'",
            "22023",
            &["a report takes an experiment, a study, run_ids, or a history"],
        ),
    ] {
        let said = assert_refused(
            &mut client,
            &format!("SELECT fsbench.report({arguments})"),
            code,
            words,
        );
        assert!(
            said.starts_with(words[0]) && !said.contains("plpy"),
            "{said}"
        );
    }
    execute(
        &mut client,
        "UPDATE fsbench.environment SET device_model = 'f\u{fc}nf \u{c0}'",
    );
    let file = rows(&mut client, "SELECT fsbench.export('new server')").join("\n");
    // A page is ASCII, so that any encoding has it.
    for encoding in ["LATIN1", "SQL_ASCII"] {
        let database = encoding.to_ascii_lowercase();
        execute(
            &mut client,
            &format!(
                "CREATE DATABASE {database} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'"
            ),
        );
        let mut there = server.connect(&database);
        execute(&mut there, "CREATE EXTENSION pgfsbench_report CASCADE");
        execute(&mut there, FIGURES);
        execute(
            &mut there,
            "UPDATE fsbench.environment SET kernel = 'gr\u{f6}\u{df}e'",
        );
        let pages = rows(&mut there, "SELECT fsbench.report('new server')");
        assert!(
            pages[0].is_ascii() && pages[0].contains("gr&#246;&#223;e"),
            "{encoding}"
        );
        // A file is the same in each encoding, and so is its checksum.
        execute(
            &mut there,
            &format!("SELECT fsbench.import($file${file}$file$, 'db9')"),
        );
        let models = "SELECT DISTINCT device_model FROM fsbench.imported JOIN fsbench.environment USING (run_id)";
        assert_eq!(rows(&mut there, models), ["f\u{fc}nf \u{c0}"], "{encoding}");
    }
    // And goes with its extension.
    execute(&mut client, "DROP EXTENSION pgfsbench_report");
    assert_refused(
        &mut client,
        "SELECT fsbench.report('new server')",
        "55000",
        &[
            "pages need the extension \"pgfsbench_report\"",
            "It is not in this database.",
            "CREATE EXTENSION pgfsbench_report CASCADE",
        ],
    );
    assert_eq!(
        row(
            &mut client,
            "SELECT count(*) FROM pg_proc WHERE prosrc LIKE '%plotly%'"
        ),
        "0"
    );
}
