//! Commands for the shell in a page's HINT.

use super::NAME;
use crate::common::execute;
use pgfsbench_tests::TestServer;
use postgres::Client;
use std::fs;
use std::path::Path;
use std::process::Command;

/// How many bytes psql shows of what is typed, and what it says besides.
pub(super) fn typed(server: &TestServer, sql: &str) -> (usize, String) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), sql).expect("a file");
    let path = file.path().to_str().expect("UTF-8").to_owned();
    let mut psql = server.client_program("psql");
    let output = psql.args(["-XAtq", "-f", &path, "postgres"]).output();
    let output = output.expect("psql");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.stdout.len(), said)
}

/// The page that the pasted HINT makes, in a directory where nothing else appears.
fn pasted(server: &TestServer, said: &str) -> String {
    let (_, rest) = said.split_once("In a shell: ").expect("a command");
    let command = rest.lines().next().expect("a line");
    let place = tempfile::tempdir().expect("a directory");
    let psql = server.client_program("psql");
    let programs = Path::new(psql.get_program()).parent().expect("its place");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    let known = psql.get_envs();
    shell.envs(known.filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", format!("{}:{path}", programs.display()));
    let shell = shell.args(["-c", command]).current_dir(place.path());
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{command}: {output:?}");
    let names = fs::read_dir(place.path()).expect("the directory");
    assert_eq!(names.count(), 1, "{command}");
    fs::read_to_string(place.path().join("report.html")).expect("the page")
}

/// Whatever the name is, the command has this page made, and does nothing else.
pub(super) fn are_quoted_for_a_shell(server: &TestServer, client: &mut Client) {
    let name = "a $(touch 1) `touch 2` \"; touch 3 #\\ !c 'd' \u{202e}e\nf";
    let sql = |text: &str| text.replace('\'', "''");
    let rename = |client: &mut Client, from: &str, to: &str| {
        let (from, to) = (sql(from), sql(to));
        let update = format!(
            "UPDATE fsbench.experiment SET experiment = '{to}' WHERE experiment = '{from}'"
        );
        execute(client, &update);
    };
    rename(client, NAME, name);
    let (_, said) = typed(
        server,
        &format!("SELECT fsbench.report('{}');\n", sql(name)),
    );
    assert!(!said.contains('\u{202e}'), "{said}");
    let page = pasted(server, &said);
    assert!(
        page.contains("Experiment a $(touch 1)") && page.contains("[U+202E]e"),
        "{said}"
    );
    rename(client, name, NAME);

    let by_latency = "SELECT fsbench.report(history => 'nightly', metric => 'latency_avg_ms', redact => true);\n";
    let (_, said) = typed(server, by_latency);
    let arguments =
        "(history => 'nightly', metric => 'latency_avg_ms', redact => true)\" -o report.html";
    assert!(said.contains(arguments), "{said}");
    assert!(pasted(server, &said).contains("History (label left out)"));
}
