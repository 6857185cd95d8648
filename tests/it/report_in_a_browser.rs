//! Pages of pgfsbench_report, in a real browser without a network: charts, keys, print, and that no foreign script runs. Pictures of each section are
//! left in target/report.

use crate::common::{execute, program};
use crate::report::{OTHERS, STUDY, with_figures};
use pgfsbench_tests::{Browser, TestServer, skip};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const HOSTILE: &str = include_str!("../report/hostile.sql");
const TEST: &str =
    "report_in_a_browser::charts_are_drawn_and_reached_by_keys_and_no_script_of_others_runs";

/// Labels of ticks that overlap, in any chart, and texts that are cut off by the edge of its chart.
const OVERLAPS: &str = "
    Array.from(document.querySelectorAll('.chart, svg:not(.chart svg)')).flatMap(chart => {
        const frame = chart.getBoundingClientRect();
        const texts = chart.matches('svg') ? 'text' : '.xtick text, .ytick text, .g-xtitle, .g-ytitle, .legendtext';
        const bad = Array.from(chart.querySelectorAll(texts)).filter(text => {
            const box = text.getBoundingClientRect();
            return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1);
        }).map(text => 'cut off: ' + chart.id + ' ' + text.textContent);
        for (const axis of chart.querySelectorAll('.xaxislayer-above, .yaxislayer-above')) {
            const boxes = Array.from(axis.querySelectorAll('text')).map(text => [text.textContent, text.getBoundingClientRect()]);
            boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
                if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) {
                    bad.push('overlap: ' + chart.id + ' ' + one + ' ' + other);
                }
            }));
        }
        return bad;
    })";

fn place() -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/report");
    fs::create_dir_all(&directory).expect("a directory");
    directory.canonicalize().expect("it is there")
}

/// The output of psql for a call, in a file.
fn page_of(server: &TestServer, call: &str, name: &str) -> PathBuf {
    let made = program(
        server,
        "psql",
        &["-XAtqc", &format!("SELECT {call}"), "postgres"],
    );
    assert!(made.is_ascii() && made.len() < 2_000_000, "{}", made.len());
    let page = place().join(format!("{name}.html"));
    fs::write(&page, &made).expect("the page");
    page
}

/// How many points a chart says that it has drawn.
fn points(browser: &mut Browser, chart: &str) -> Value {
    browser.evaluate(&format!(
        "Number(document.getElementById('chart-{chart}').dataset.points)"
    ))
}

/// The text of an element.
fn text(browser: &mut Browser, id: &str) -> String {
    let value = browser.evaluate(&format!("document.getElementById('{id}').textContent"));
    value.as_str().unwrap_or_default().to_owned()
}

/// Opens a page, and unfolds what is folded.
fn open_unfolded(browser: &mut Browser, page: &Path, width: u32, height: u32) {
    browser.open(page, width, height);
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })");
}

/// Looks at a page in windows from the telephone to the wall, and leaves pictures of its sections in some of them.
fn look(browser: &mut Browser, page: &Path, is_drawn: &str, pictures: &[u32]) {
    let name = page.file_stem().expect("a name").to_string_lossy();
    for width in [320, 1280, 2560] {
        open_unfolded(browser, page, width, 900);
        browser.wait_until(is_drawn);
        let wide = browser.evaluate("document.documentElement.scrollWidth");
        assert_eq!(wide, Value::from(width), "{name}");
        assert_eq!(
            browser.evaluate(OVERLAPS),
            Value::from(Vec::<Value>::new()),
            "{name} {width}"
        );
        if !pictures.contains(&width) {
            continue;
        }
        // So that nothing is drawn anew for each picture.
        let height = browser.evaluate("document.documentElement.scrollHeight");
        browser.resize(width, height.as_u64().expect("a height") as u32);
        let parts = browser.evaluate(
            "Array.from(document.querySelectorAll('header, .answer, section')).map(part => { const box = part.getBoundingClientRect(); \
             return [part.id || part.className || 'header', box.left, box.top, box.width, box.height]; })",
        );
        for part in parts.as_array().expect("parts") {
            let number = |at: usize| part[at].as_f64().expect("a number");
            let id = part[0].as_str().expect("an id");
            browser.picture(
                [number(1), number(2), number(3), number(4)],
                &place().join(format!("{name}-{width}-{id}.png")),
            );
        }
    }
}

#[test]
fn charts_are_drawn_and_reached_by_keys_and_no_script_of_others_runs() {
    let Some(mut browser) = Browser::start() else {
        return skip(TEST, "there is no Chromium");
    };
    let Some((server, mut client)) = with_figures(TEST) else {
        return;
    };
    execute(&mut client, STUDY);
    execute(&mut client, OTHERS);
    let page = page_of(&server, "fsbench.report('new server')", "experiment");
    let others = [
        ("run_ids => '{300,301}'", "runs"),
        ("run_ids => '{200,201}'", "pair"),
        ("history => 'weekly'", "history"),
    ]
    .map(|(what, name)| page_of(&server, &format!("fsbench.report({what})"), name));
    let study = page_of(&server, "fsbench.report('heron-2010')", "study");
    execute(&mut client, HOSTILE);
    let call = "fsbench.report(experiment) FROM fsbench.experiment WHERE experiment ~ 'onload'";
    let hostile = page_of(&server, call, "hostile");
    let hostile_others = [
        ("run_ids => '{300,301,401}'", "hostile-runs"),
        (
            "history => '<script>document.title=\"taken\"</script>'",
            "hostile-history",
        ),
    ]
    .map(|(what, name)| page_of(&server, &format!("fsbench.report({what})"), name));
    let drawn = "document.documentElement.dataset.drawn === '7'";

    browser.open(&page, 1280, 900);
    // Picture, sentence and table are seen at once; charts are drawn when they are unfolded.
    let seen = "Array.from(document.querySelectorAll('#verdict svg, .answer, #targets table, #chart-tps')).filter(one => one.checkVisibility()).map(one => one.localName)";
    assert_eq!(
        browser.evaluate(seen),
        serde_json::json!(["svg", "div", "table"])
    );
    assert_eq!(
        browser.evaluate("document.querySelectorAll('.main-svg').length"),
        0
    );
    open_unfolded(&mut browser, &page, 1280, 900);
    browser.wait_until(drawn);
    // Three lines of 120 seconds, a stall, and three checkpoints for each.
    assert_eq!(points(&mut browser, "tps"), 3 * 120 + 1 + 3 * 9);
    assert_eq!(points(&mut browser, "latency"), 3 * 7);
    assert_eq!(points(&mut browser, "commit"), 3 * 7);
    assert_eq!(points(&mut browser, "order"), 12);
    assert_eq!(points(&mut browser, "recovery"), 12);
    assert_eq!(points(&mut browser, "waits"), 4 * 120);
    assert_eq!(points(&mut browser, "machine"), 9 * 120);
    keys_reach_points(&mut browser);
    paper_is_white(&mut browser, &page, drawn);
    look(&mut browser, &page, drawn, &[320, 1280]);
    look(&mut browser, &study, "true", &[320, 1280]);
    scans_and_syncs_and_nights_are_drawn(&mut browser, &others);

    let hostile_study = page_of(&server, "fsbench.report('heron-2010')", "hostile-study");
    browser.open(&hostile_study, 1280, 900);
    let tags = "document.querySelectorAll('script, img').length + document.title";
    assert_eq!(
        browser.evaluate(tags),
        "0Study heron-2010: pgbench TPS per filesystem"
    );
    look(&mut browser, &hostile, drawn, &[]);
    let dom = browser.evaluate("document.documentElement.outerHTML");
    let dom = dom.as_str().expect("a text");
    assert!(
        dom.matches("class=\"point\"").count() >= 12 + 12 + 2 * 21,
        "points are in the picture"
    );
    assert_eq!(dom.matches("class=\"estimate\"").count(), 2);
    assert_eq!(dom.matches("class=\"block\"").count(), 8);
    // Two scripts, and the data; what others have written is text.
    assert_eq!(dom.matches("<script").count(), 3);
    for tag in [
        "<img",
        "<iframe",
        "<b ",
        "<a href=\"javascript",
        "<svg onload",
    ] {
        assert!(!dom.contains(tag), "{tag}");
    }
    assert!(
        dom.contains("<title>Experiment new &lt;svg onload="),
        "the title is ours"
    );
    assert!(
        dom.contains("[U+202E]") && !dom.contains('\u{202e}'),
        "no text turns round"
    );
    for page in hostile_others {
        browser.open(&page, 1280, 900);
        browser.wait_until("document.documentElement.dataset.drawn > 0");
        let title = browser.evaluate("document.title").to_string();
        assert!(
            title.starts_with("\"Benchmark: run 300 (<a href")
                || title.starts_with("\"History <script>"),
            "{title}"
        );
        let tags = "document.querySelectorAll('script').length + ' ' + document.querySelectorAll('img, iframe, [onclick], [onload], [onerror], a:not([href^=\"#\"])').length";
        assert_eq!(browser.evaluate(tags), "3 0", "{title}");
        let dom = browser.evaluate("document.documentElement.outerHTML");
        let dom = dom.as_str().expect("a text");
        assert!(
            !dom.contains("<a href=\"https") && dom.contains("&lt;a href"),
            "{title}"
        );
    }
    assert_eq!(browser.said, Vec::<String>::new());
    browser.fetched.retain(|url| !url.starts_with("file:///"));
    assert_eq!(browser.fetched, Vec::<String>::new());
    // That the console is heard at all, and a network would be noticed.
    let other = page.with_file_name("other.html");
    let script = "<script>console.log('heard')</script><img src='http://192.0.2.1/'>";
    fs::write(&other, script).expect("a page");
    browser.open(&other, 320, 200);
    assert!(browser.said.iter().any(|said| said.contains("heard")));
    assert!(browser.fetched.contains(&"http://192.0.2.1/".to_owned()));
}

/// Pages of scans, syncs and nights, which the experiment lacks.
fn scans_and_syncs_and_nights_are_drawn(
    browser: &mut Browser,
    [loose, pair, nights]: &[PathBuf; 3],
) {
    let drawn = |charts: u32| format!("document.documentElement.dataset.drawn === '{charts}'");
    look(browser, loose, &drawn(2), &[320, 1280]);
    assert_eq!(points(browser, "scans"), 5);
    // Three figures of three methods, with one writer and two; writes alone are no sync.
    assert_eq!(points(browser, "fsync"), 3 * 3 * 2);
    let said = "document.querySelector('#scans figcaption').textContent";
    let said = browser.evaluate(said);
    assert!(
        said.as_str().is_some_and(|said| said.contains("knee at 4")),
        "{said}"
    );
    // Two runs stand side by side: two lines, two stacks of waits, no choice.
    look(browser, pair, &drawn(6), &[320, 1280]);
    assert_eq!(points(browser, "tps"), 2 * 120 + 2 * 9);
    assert_eq!(points(browser, "waits"), 2 * 4 * 120);
    assert_eq!(points(browser, "machine"), 2 * 9 * 120);
    assert_eq!(
        browser.evaluate("document.querySelectorAll('select').length"),
        0
    );
    look(browser, nights, &drawn(1), &[320, 1280]);
    // One night has failed.
    assert_eq!(points(browser, "history"), 23);
    let tables = "Array.from(document.querySelectorAll('#history tbody'), table => Array.from(table.rows, row => row.textContent))";
    let tables = browser.evaluate(tables);
    let row = |table: usize, row: usize| tables[table][row].as_str().unwrap_or_default().to_owned();
    assert!(
        row(0, 0).starts_with("xfs2026-01-27run 415") && row(0, 0).contains("kernel"),
        "{tables}"
    );
    // Two nights began on another machine than the one before; one of them shows in the figures.
    assert_eq!(
        row(1, 0),
        "2026-01-20run 408xfsserver_version: PostgreSQL 15.21, before PostgreSQL 15.20"
    );
    assert_eq!(
        row(1, 1),
        "2026-01-27run 415xfskernel: Linux 6.2.0, before Linux 6.1.0"
    );
    assert_eq!(row(1, 2), "");
    let hollow = "Array.from(document.querySelector('#chart-history').data[0].marker.symbol).filter(one => one.endsWith('-open')).length";
    assert_eq!(browser.evaluate(hollow), 1);
}

/// By Tab to a chart, by arrows to its points and lines.
fn keys_reach_points(browser: &mut Browser) {
    for _ in 0..60 {
        if browser.evaluate("document.activeElement.id") == "chart-tps" {
            break;
        }
        browser.press("Tab", 9);
    }
    assert_eq!(browser.evaluate("document.activeElement.id"), "chart-tps");
    browser.press("ArrowRight", 39);
    assert_eq!(
        text(browser, "value-tps"),
        "ext4, run 203; seconds of the measured window 0; transactions per second 1003; point 1 of 120"
    );
    for (key, number) in [
        ("End", 35),
        ("ArrowLeft", 37),
        ("ArrowDown", 40),
        ("ArrowDown", 40),
    ] {
        browser.press(key, number);
    }
    // From the line to its checkpoints, and to the next line.
    let value = text(browser, "value-tps");
    assert!(value.starts_with("xfs, run 210; "), "{value}");
    // Announced values are shown, too.
    let shown = "document.querySelectorAll('#chart-tps .hoverlayer .legendtext, #chart-tps .hoverlayer .hovertext').length > 0";
    browser.wait_until(shown);
    browser.press("Escape", 27);
    for (chart, first) in [
        ("latency", "ext4; percentile p50; ms 110.1; point 1 of 7"),
        ("recovery", "ext4; ext4; s 0.8; point 1 of 4"),
    ] {
        browser.evaluate(&format!("document.getElementById('chart-{chart}').focus()"));
        browser.press("Home", 36);
        assert_eq!(text(browser, &format!("value-{chart}")), first);
    }
}

/// Dark on white where the screen is dark, with nothing beyond the edge of the sheet.
fn paper_is_white(browser: &mut Browser, page: &Path, drawn: &str) {
    let dark = serde_json::json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.call("Emulation.setEmulatedMedia", dark);
    open_unfolded(browser, page, 1280, 900);
    browser.wait_until(drawn);
    let colours = "getComputedStyle(document.body).backgroundColor + getComputedStyle(document.querySelector('#chart-tps .xtick text')).fill";
    assert_eq!(
        browser.evaluate(colours),
        "rgb(20, 23, 26)rgb(228, 232, 236)"
    );
    browser.evaluate(&format!(
        "addEventListener('beforeprint', () => {{ window.onPaper = {colours} + document.querySelector('#chart-tps .main-svg').getAttribute('width'); }})"
    ));
    let printed = browser.print(&place().join("experiment.pdf"));
    assert!(printed.starts_with(b"%PDF") && printed.len() > 50_000);
    assert_eq!(
        browser.evaluate("window.onPaper"),
        "rgb(255, 255, 255)rgb(0, 0, 0)680"
    );
    browser.call(
        "Emulation.setEmulatedMedia",
        serde_json::json!({"features": []}),
    );
}
