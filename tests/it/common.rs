//! Shared by many tests: a server with the extension, and short ways to ask it.

use pgfsbench_tests::{LONG, OwnedDirectory, TestServer, on_disk, refusal, wait_until};
pub use pgfsbench_tests::{ending, wait_for_phase};
use postgres::{Client, SimpleQueryMessage};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Arguments of the smallest run.
pub const QUICK: &str = "scale => 1, clients => 1, transactions => 50, seed => 1";

/// A server with the extension in its database postgres.
pub fn server(settings: &[(&str, &str)]) -> TestServer {
    TestServer::with_extension(settings)
}

/// A server on the machine's disk, for tests where memory will not do: it is not durable, or not read at all.
pub fn server_on_disk(settings: &[(&str, &str)]) -> TestServer {
    server_in(on_disk(), None, settings)
}

/// A server with its data below this directory, and its WAL in another one.
pub fn server_in(data: &Path, wal: Option<&Path>, settings: &[(&str, &str)]) -> TestServer {
    TestServer::with_extension_in(data, wal, settings)
}

pub fn execute(client: &mut Client, sql: &str) {
    if let Err(error) = client.batch_execute(sql) {
        panic!("{sql}: {error:?}");
    }
}

/// The rows as psql -At would show them.
pub fn rows(client: &mut Client, sql: &str) -> Vec<String> {
    let messages = client
        .simple_query(sql)
        .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    messages
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                let values: Vec<&str> = (0..row.len()).map(|i| row.get(i).unwrap_or("")).collect();
                Some(values.join("|"))
            }
            _ => None,
        })
        .collect()
}

/// The only row.
pub fn row(client: &mut Client, sql: &str) -> String {
    let mut rows = rows(client, sql);
    assert_eq!(rows.len(), 1, "{sql}");
    rows.remove(0)
}

/// Makes a run with these arguments, and gives its id.
pub fn run(client: &mut Client, arguments: &str) -> String {
    row(
        client,
        &format!("SELECT run_id FROM fsbench.run({arguments})"),
    )
}

/// Name of the work database of a run that was kept.
pub fn work_database(client: &mut Client, run: &str) -> String {
    row(
        client,
        &format!("SELECT work_database FROM fsbench.run_log WHERE run_id = {run}"),
    )
}

/// Makes a target of this name in a directory.
pub fn create_target(client: &mut Client, name: &str, directory: &Path) {
    let directory = directory.display();
    let sql = format!("SELECT fsbench.create_target('{name}', directory => '{directory}')");
    execute(client, &sql);
}

/// Makes a target of this name that is another server, where its superuser measures.
pub fn create_remote_target(client: &mut Client, name: &str, there: &TestServer) {
    let there = there.connection("postgres");
    let sql = format!("SELECT fsbench.create_target('{name}', connection => '{there}')");
    execute(client, &sql);
}

/// Asserts that a statement is refused with this SQLSTATE, and that message, DETAIL and HINT hold these words in this order.
pub fn assert_refused(client: &mut Client, sql: &str, code: &str, words: &[&str]) -> String {
    let error = refusal(client, sql);
    let said = format!(
        "{}\nDETAIL: {}\nHINT: {}",
        error.message(),
        error.detail().unwrap_or_default(),
        error.hint().unwrap_or_default()
    );
    assert_eq!(error.code().code(), code, "{sql}: {said}");
    let mut rest = said.as_str();
    for word in words {
        let at = rest
            .find(word)
            .unwrap_or_else(|| panic!("no `{word}` in the answer to {sql}:\n{said}"));
        rest = &rest[at + word.len()..];
    }
    said
}

/// Pastes a text of statements into psql, as a user does.
pub fn paste_into_psql(server: &TestServer, database: &str, text: &str) {
    let mut psql = server
        .client_program("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", database])
        .stdin(Stdio::piped())
        .spawn()
        .expect("psql");
    psql.stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("psql reads");
    assert!(psql.wait().expect("psql ends").success(), "{text}");
}

/// Runs one of PostgreSQL's programs against a server, and gives what it printed.
pub fn program(server: &TestServer, name: &str, arguments: &[&str]) -> String {
    let output = server
        .client_program(name)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{name} {arguments:?}: {}{}",
        said(&output.stdout),
        said(&output.stderr)
    );
    said(&output.stdout)
}

/// Waits until that many milliseconds of the window are over.
pub fn wait_for_window(client: &mut Client, ms: u32) {
    let condition = format!("SELECT done > {ms} FROM fsbench.progress WHERE phase = 'measure'");
    wait_until("the window has come so far", LONG, || {
        (rows(client, &condition) == ["t"]).then_some(())
    });
}

/// Gives the server a setting for good, and waits until this session has it.
pub fn set(server: &TestServer, client: &mut Client, name: &str, value: &str) {
    server.configure(&[(name, value)]);
    server.reload();
    wait_until("the setting is in force", LONG, || {
        (row(client, &format!("SHOW {name}")) == value).then_some(())
    });
}

/// A directory in /tmp, which goes with the value, that the servers may write to.
pub fn owned_directory(name: &str) -> OwnedDirectory {
    OwnedDirectory::new(name)
}

/// Asserts that a run has ended so once it has: status, SQLSTATE, and what its message begins with.
pub fn assert_ended(client: &mut Client, run: &str, start: &str) {
    let ended = ending(client, run);
    assert!(ended.starts_with(start), "not {start}, but {ended}");
}
