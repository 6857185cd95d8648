//! What many tests need: a server with the extension, and short ways to ask it.

use pgfsbench_tests::{LONG, OwnedDirectory, PRELOADED, Server, refusal, wait_until};
use postgres::{Client, SimpleQueryMessage};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// Arguments of the smallest run.
pub const QUICK: &str = "scale => 1, clients => 1, transactions => 50, seed => 1";

/// A server with the extension in its database postgres.
pub fn server(settings: &[(&str, &str)]) -> Server {
    let server = Server::start(&[PRELOADED, settings].concat());
    execute(
        &mut server.connect("postgres"),
        "CREATE EXTENSION pgfsbench",
    );
    server
}

/// The same with its data below this directory, and its WAL in another one.
pub fn server_in(data: &Path, wal: Option<&Path>, settings: &[(&str, &str)]) -> Server {
    let server = Server::start_apart(data, wal, &[PRELOADED, settings].concat());
    execute(
        &mut server.connect("postgres"),
        "CREATE EXTENSION pgfsbench",
    );
    server
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

/// What a user does with a text of statements: paste it into psql.
pub fn paste_into_psql(server: &Server, database: &str, text: &str) {
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
pub fn program(server: &Server, name: &str, arguments: &[&str]) -> String {
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

/// Waits until the active run is in this phase.
pub fn wait_for_phase(client: &mut Client, phase: &str) {
    wait_until(&format!("a run is in phase {phase}"), LONG, || {
        let phases = rows(
            client,
            "SELECT phase FROM fsbench.progress WHERE status = 'running'",
        );
        (phases == [phase]).then_some(())
    });
}

/// Waits until that many milliseconds of the window are over.
pub fn wait_for_window(client: &mut Client, ms: u32) {
    let condition = format!("SELECT done > {ms} FROM fsbench.progress WHERE phase = 'measure'");
    wait_until("the window has come so far", LONG, || {
        (rows(client, &condition) == ["t"]).then_some(())
    });
}

/// Gives the server a setting for good, and waits until this session has it.
pub fn set(server: &Server, client: &mut Client, name: &str, value: &str) {
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

/// Status, SQLSTATE and message of a run, once it is over.
pub fn ending(client: &mut Client, run_id: &str) -> String {
    execute(client, &format!("CALL fsbench.wait({run_id})"));
    row(
        client,
        &format!("SELECT status, error_code, error FROM fsbench.result WHERE run_id = {run_id}"),
    )
}

/// Asserts that no work database, journal entry or worker is there.
pub fn assert_nothing_left(server: &Server, client: &mut Client) {
    let databases = rows(
        client,
        "SELECT datname FROM pg_database WHERE datname LIKE 'fsbench_work%'",
    );
    assert_eq!(databases, [""; 0]);
    let journal: Vec<_> = std::fs::read_dir(server.data().join("pgfsbench"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name())
        // Data to be copied stay.
        .filter(|name| name != "pgsql_tmp_prepared_data")
        .collect();
    assert_eq!(journal, [""; 0], "entries of the journal");
    wait_until("the workers have ended", LONG, || {
        let workers = rows(
            client,
            "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'fsbench%' AND backend_type <> 'fsbench janitor'",
        );
        workers.is_empty().then_some(())
    });
}
