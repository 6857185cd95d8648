//! The check itself: small pages with one fault each, which it must find.

use crate::links::broken;
use crate::manual::{Reader, reader};
use crate::names::Names;
use crate::page::Page;
use crate::scene::Scene;
use crate::shell;
use crate::shown::{differences, masked, missing, session};

/// Faults of a page with this text, read on a server with the extension.
fn faults(text: &str) -> Vec<String> {
    let nobody: &Reader = reader("docs/method.md");
    Scene::new(nobody).read(&Page::parse("docs/small.md", text), nobody)
}

fn assert_one(faults: &[String], words: &[&str]) {
    assert_eq!(faults.len(), 1, "{faults:#?}");
    for word in words {
        assert!(faults[0].contains(word), "no {word} in {}", faults[0]);
    }
}

#[test]
fn a_function_that_is_misspelt_is_found() {
    let page = "# Small\n\n```sql\nSELECT 1;\nSELECT * FROM fsbench.rnu();\n```\n";
    let words = ["docs/small.md:3: ", "function fsbench.rnu() does not exist"];
    assert_one(&faults(page), &words);
}

#[test]
fn a_column_that_is_no_more_is_found() {
    let page = "```psql\nbench=# SELECT verb, exmaple FROM fsbench.help();\n verb | exmaple\n------+--------\n run  | x\n```\n";
    assert_one(
        &faults(page),
        &["docs/small.md:1: ", "\"exmaple\" does not exist"],
    );
}

#[test]
fn columns_that_come_and_are_not_shown_are_found() {
    let page = "```psql\nbench=# SELECT verb, example\nbench-#   FROM fsbench.help();\n verb \n------\n run\n```\n";
    assert_one(
        &faults(page),
        &["the columns are [\"verb\", \"example\"], and not [\"verb\"]"],
    );
}

#[test]
fn rows_and_messages_that_do_not_come_are_found() {
    let shown = "NOTICE:  run 7 is over\n a | b \n---+---\n 1 | 2\n(1 row)\n";
    let none = "NOTICE:  run 8 is over\n a | b \n---+---\n(0 rows)\n";
    assert_one(&differences(shown, none), &["no row came"]);
    let silent = " a | b \n---+---\n 3 | 4\n(1 row)\n";
    assert_one(
        &differences(shown, silent),
        &["the message \"NOTICE:  run N is over\""],
    );
    assert_eq!(
        differences(shown, &format!("NOTICE:  run 12 is over\n{silent}")),
        [""; 0]
    );
}

#[test]
fn a_table_that_does_not_come_among_others_is_found() {
    let printed = " a \n---\n 1\n(1 row)\n\n b \n---\n 2\n(1 row)\n";
    assert_eq!(missing(" b \n---\n 3\n", printed), [""; 0]);
    assert_one(&missing(" c \n---\n 3\n", printed), &["[\"c\"]"]);
    assert_one(&missing("a drawing\n", printed), &["compared with nothing"]);
}

#[test]
fn a_block_of_a_kind_that_nobody_runs_is_found() {
    assert_one(&faults("```perl\n1;\n```\n"), &["a block of kind \"perl\""]);
}

#[test]
fn a_session_is_cut_where_statements_end() {
    let steps = session(
        "bench=# SELECT 1,\n  2; -- two\n a | b\n---+--\nbench=# \\d\nbench=# SELECT\nbench-# 3;\n",
    );
    let statements: Vec<&str> = steps.iter().map(|step| step.statement.as_str()).collect();
    assert_eq!(statements, ["SELECT 1,\n  2; -- two", "\\d", "SELECT\n3;"]);
    assert_eq!(steps[0].shown, " a | b\n---+--\n");
    assert_eq!(masked("run 3: 1.5 s, 20 MB"), "run N: N, N");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let text = "# One thing: `x`\n[a](#one-thing-x) [b](../README.md) [c](gone.md) [d](#gone) `[e](gone.md)`\n`code [f](gone.md)\nand code` [g](lost.md)\n\n[h](lost.md)\n";
    let faults = broken(&Page::parse("docs/small.md", text));
    let expected = [
        "docs/small.md:2: there is no docs/gone.md",
        "docs/small.md:2: docs/small.md has no heading #gone",
        "docs/small.md:4: there is no docs/lost.md",
        "docs/small.md:6: there is no docs/lost.md",
    ];
    assert_eq!(faults, expected);
}

#[test]
fn names_that_are_not_there_are_found() {
    let scene = Scene::new(reader("docs/method.md"));
    let names = Names::read(&mut scene.client());
    let text = "`fsbench.result.tps`, `fsbench.result.tsp`, `fsbench.rnu(target => 1, tagret => 2)`, `pgfsbench.max_cleints`, `a@pgfsbench.so`";
    let expected = [
        "docs/small.md:1: there is no fsbench.result.tsp",
        "docs/small.md:1: there is no fsbench.rnu",
        "docs/small.md:1: no function has an argument tagret",
        "docs/small.md:1: there is no setting pgfsbench.max_cleints",
    ];
    assert_eq!(names.unknown(&Page::parse("docs/small.md", text)), expected);
}

#[test]
fn commands_that_are_not_there_are_found() {
    let text = "make demmo\nsudo make install PG_CONFIG=/x # a comment\nmake check VERSIONS=\"16 17 18\"\npgfsbench-helper setup --database bench --alow-images /x\nnosuchprogram 1 && tools/check\n";
    let faults = shell::faults_of_lines("here", text);
    let words = [
        "No rule to make target 'demmo'",
        "does not know --alow-images",
        "there is no program nosuchprogram",
    ];
    assert_eq!(faults.len(), words.len(), "{faults:#?}");
    for (fault, word) in faults.iter().zip(words) {
        assert!(fault.contains(word), "no {word} in {fault}");
    }
}
