//! `tools/check docs`: what README and docs/ tell to type is typed, and what they show has the shape of what comes; names, links
//! and commands of the shell lead somewhere. manual.rs says what is not run as it stands.

mod configuration;
mod lab;
mod links;
mod manual;
mod names;
mod page;
mod scene;
mod shell;
mod shown;
mod small;

use lab::Lab;
use manual::{READERS, Requirement, reader};
use page::{Page, all_pages};
use pgfsbench_tests::skip;
use scene::Scene;

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Reads a page as a user who types everything.
fn read(name: &str) {
    let reader = reader(name);
    let has = |requires| reader.requires.contains(&requires);
    if has(Requirement::Helper)
        && let Some(reason) = pgfsbench_tests::lacks_loop_devices()
    {
        return skip(name, reason);
    }
    if has(Requirement::Xfs)
        && let Err(reason) = Lab::new("host=/nowhere").can("xfs")
    {
        return skip(name, &format!("of xfs: {reason}"));
    }
    let page = Page::read(name);
    assert_none(&Scene::new(reader).read(&page, reader));
}

macro_rules! pages {
    ($($test:ident $name:literal)*) => {
        $(#[test]
        fn $test() {
            read($name);
        })*

        const READ: &[&str] = &[$($name),*];
    };
}

pages! {
    readme "README.md"
    build "docs/build.md"
    commits "docs/commits.md"
    compare_tools "docs/compare-tools.md"
    crash "docs/crash.md"
    cron "docs/cron.md"
    experiments "docs/experiments.md"
    export "docs/export.md"
    findings "docs/findings.md"
    first_steps "docs/first-steps.md"
    helper_reference "docs/helper-reference.md"
    helper "docs/helper.md"
    install "docs/install.md"
    io "docs/io.md"
    limits "docs/limits.md"
    method "docs/method.md"
    my_database "docs/my-database.md"
    own_sql "docs/own-sql.md"
    parameters "docs/parameters.md"
    power_cuts "docs/power-cuts.md"
    rate "docs/rate.md"
    remote "docs/remote.md"
    repeat_a_study "docs/repeat-a-study.md"
    report "docs/report.md"
    results "docs/results.md"
    runs "docs/runs.md"
    scans "docs/scans.md"
    studies "docs/studies.md"
    targets "docs/targets.md"
    tpcc "docs/tpcc.md"
    verdicts "docs/verdicts.md"
}

#[test]
fn every_page_has_a_test_and_a_reader() {
    let there: Vec<String> = page::manual().into_iter().map(|page| page.name).collect();
    assert_eq!(there, READ);
    let readers: Vec<&str> = READERS.iter().map(|reader| reader.page).collect();
    assert_eq!(there, readers);
}

#[test]
fn blocks_that_are_not_run_are_listed_and_each_line_of_the_lists_is_needed() {
    let (mut run, mut listed) = (0, 0);
    for reader in READERS {
        let page = Page::read(reader.page);
        for (words, _) in reader.instead {
            let calls = page.calls().filter(|_| reader.calls_in_tables);
            let mut texts = page
                .blocks
                .iter()
                .map(|block| block.text.as_str())
                .chain(calls.map(|(_, call)| call));
            let used = texts.any(|text| text.contains(words));
            assert!(used, "{}: nothing says {words}", reader.page);
        }
        for (words, _) in reader.not_run {
            let found = page.blocks.iter().filter(|b| b.text.contains(words));
            assert_eq!(found.count(), 1, "{}: blocks with {words}", reader.page);
        }
        for block in &page.blocks {
            match reader.not_run(block) {
                Some(reason) => {
                    listed += 1;
                    println!("not run: {}: {reason}", page.at(block.line));
                }
                None => run += 1,
            }
        }
    }
    let pages: Vec<Page> = READERS
        .iter()
        .map(|reader| Page::read(reader.page))
        .collect();
    for words in manual::said_of_all_pages() {
        let is_said = |page: &Page| page.blocks.iter().any(|block| block.text.contains(words));
        assert!(pages.iter().any(is_said), "no page says {words}");
    }
    println!("{run} blocks are run, {listed} are not");
    assert!(run > 30 && listed < 12, "{run} run, {listed} not");
}

#[test]
fn links_lead_somewhere() {
    let faults: Vec<String> = all_pages().iter().flat_map(links::broken).collect();
    assert_none(&faults);
}

#[test]
fn commands_in_prose_are_there_and_know_their_options() {
    let pages = page::manual();
    assert_none(
        &pages
            .iter()
            .flat_map(shell::faults_of_prose)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn names_of_the_extension_are_there() {
    let scene = Scene::new(reader("docs/method.md"));
    let names = names::Names::read(&mut scene.client());
    let pages = page::manual();
    let faults: Vec<String> = pages.iter().flat_map(|page| names.unknown(page)).collect();
    assert_none(&faults);
}
