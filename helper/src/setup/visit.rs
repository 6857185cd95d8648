//! Looks at a server before setup writes anything. A process that runs as the servers' user does it, as in the helper.

use crate::child::{self, ChildSetup, OWN_PROGRAM, Part};
use crate::client::{self, Client, Failure, describe};
use crate::database::check_tables;
use crate::output::note;
use pgfsbench_core::helper::protocol::{read, write};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The time for all answers of a server.
const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Serialize, Deserialize)]
struct Question {
    connection: String,
    /// The role that gets the rights of the extension's owner.
    grant_to: Option<String>,
}

/// The findings of the visit.
#[derive(Serialize, Deserialize)]
pub struct VisitResult {
    /// Version of the extension; None where it is not installed.
    pub version: Option<String>,
    pub owner: String,
    /// True if the role that has connected has the rights of the owner.
    pub has_rights: bool,
}

/// Looks, as this user; with `grant_to`, grants first.
pub fn inspect(
    ids: (u32, u32),
    connection: &str,
    grant_to: Option<&str>,
) -> Result<VisitResult, Refusal> {
    let question = Question {
        connection: connection.to_owned(),
        grant_to: grant_to.map(str::to_owned),
    };
    let failed = |e: io::Error| {
        Refusal::new(Kind::System, "could not ask the server").detail(format!("{e}."))
    };
    ask(ids, &question).map_err(failed)?
}

fn ask(ids: (u32, u32), question: &Question) -> io::Result<Result<VisitResult, Refusal>> {
    let (ours, theirs) = UnixStream::pair()?;
    let setup = ChildSetup {
        stream: theirs,
        program: Path::new(OWN_PROGRAM),
        ids,
    };
    let (mut child, _) = child::start(Part::Visit, setup, |said| {
        note!("{}", String::from_utf8_lossy(said));
    })?;
    ours.set_read_timeout(Some(PATIENCE))?;
    let answer = write(&mut &ours, question).and_then(|()| read(&mut BufReader::new(&ours)));
    let _ = child.kill();
    child.wait()?;
    answer?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// The process that is asked.
pub fn main() -> Result<(), Refusal> {
    let failed = |e: io::Error| {
        Refusal::new(Kind::System, "the setup process has ended").detail(format!("{e}."))
    };
    let root = rustix::stdio::stdin()
        .try_clone_to_owned()
        .map_err(failed)?;
    let root = UnixStream::from(root);
    if let Some(question) = read(&mut BufReader::new(&root)).map_err(failed)? {
        write(&mut &root, &answer(&question)).map_err(failed)?;
    }
    Ok(())
}

fn answer(question: &Question) -> Result<VisitResult, Refusal> {
    const WHERE: &str = "See whether it runs, and name where it listens and whom to connect as: --socket DIRECTORY, --port PORT, --role NAME, --server-user USER.";
    const NO_DATABASE: &str = "Make it, and the extension in it, as a superuser: CREATE DATABASE; then, in that database, CREATE EXTENSION pgfsbench; and run setup again.";
    let mut client = client::connect(&question.connection).map_err(|e| {
        let (what, hint) = match is_of_database(&e) {
            true => ("the server has no such database", NO_DATABASE),
            false => ("could not connect to the server", WHERE),
        };
        in_words(what, hint, e)
    })?;
    if let Some(role) = &question.grant_to {
        grant(&mut client, role).map_err(|e| {
            let what = format!(
                "could not give role {} the rights of the extension's owner",
                quoted(role)
            );
            in_words(
                &what,
                "Have a superuser grant them, and run setup again.",
                e,
            )
        })?;
    }
    let hint = "Put that right, and run setup again.";
    find(&mut client).map_err(|e| in_words("the database cannot be served", hint, e))
}

fn grant(client: &mut Client, role: &str) -> Result<(), Failure> {
    let grant = client.query_one(
        "SELECT format('GRANT %I TO %I', pg_get_userbyid(extowner), $1::text) FROM pg_extension WHERE extname = 'pgfsbench'",
        &[&role],
    )?;
    client.batch_execute(grant.try_get(0)?)?;
    Ok(())
}

fn find(client: &mut Client) -> Result<VisitResult, Failure> {
    let row = client.query_opt(
        "SELECT extversion, pg_get_userbyid(extowner)::text, pg_has_role(extowner, 'USAGE') \
         FROM pg_extension WHERE extname = 'pgfsbench'",
        &[],
    )?;
    let Some(row) = row else {
        return Ok(VisitResult {
            version: None,
            owner: String::new(),
            has_rights: false,
        });
    };
    if client.query_one("SELECT pg_is_in_recovery()", &[])?.get(0) {
        return Err("the server is a standby".into());
    }
    check_tables(client)?;
    Ok(VisitResult {
        version: row.try_get(0)?,
        owner: row.try_get(1)?,
        has_rights: row.try_get(2)?,
    })
}

/// Whether the server is there, and has no such database.
fn is_of_database(error: &Failure) -> bool {
    let code = error.downcast_ref::<Error>().and_then(Error::code);
    code == Some(&SqlState::INVALID_CATALOG_NAME)
}

/// Makes a refusal of an error. One that already says what to do stays as it is.
fn in_words(what: &str, hint: &str, error: Failure) -> Refusal {
    match error.downcast::<Refusal>() {
        Ok(refusal) => *refusal,
        Err(error) => Refusal::new(Kind::System, what)
            .detail(format!("{}.", describe(&error).trim_end_matches('.')))
            .hint(hint),
    }
}
