//! One helper serves a database: the helper whose session is in fsbench.helper_session, as long as the session lives. A helper locks the table for a
//! moment while it enters itself. An advisory lock would not do: any role can take one.

use crate::client::{Client, Failure};
use pgfsbench_core::refusal::quoted;
use std::error::Error;
use std::fmt;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

/// A role that may only read the table cannot take a lock that conflicts with this one.
const LOCK: &str = "LOCK TABLE fsbench.helper_session IN SHARE ROW EXCLUSIVE MODE";

/// A session without the rights of the table's owner cannot have written its row. What the server does not show is not compared.
const OTHER: &str = "SELECT a.pid, coalesce(a.usename::text, ''), coalesce(a.application_name, ''), a.backend_start::timestamptz(0)::text \
     FROM fsbench.helper_session s JOIN pg_stat_activity a \
       ON a.pid = s.pid AND (a.backend_start = s.backend_start OR a.backend_start IS NULL) \
     WHERE a.pid <> pg_backend_pid() AND a.datname = current_database()";

const ENTER: &str = "INSERT INTO fsbench.helper_session (pid, backend_start, helper_version) \
     SELECT pid, backend_start, $1 FROM pg_stat_activity WHERE pid = pg_backend_pid() \
     ON CONFLICT (singleton) DO UPDATE SET pid = excluded.pid, backend_start = excluded.backend_start, \
       helper_version = excluded.helper_version";

const HOLDER: &str = "SELECT a.pid, coalesce(a.usename::text, ''), coalesce(a.application_name, ''), l.mode \
     FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
     WHERE l.granted AND l.relation = to_regclass('fsbench.helper_session') \
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
       AND l.mode NOT IN ('AccessShareLock', 'RowShareLock') LIMIT 1";

/// Makes this the one session that serves the database, and listens.
pub fn settle_in(client: &mut Client) -> Result<(), Failure> {
    // A setting that not every version has.
    client.query(
        "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'",
        &[],
    )?;
    if client.query_one("SELECT pg_is_in_recovery()", &[])?.get(0) {
        return Err("the server is a standby".into());
    }
    check_tables(client)?;
    let mut other = None;
    let entered = client.transaction(|client| {
        client.batch_execute(LOCK)?;
        other = client.query_opt(OTHER, &[])?;
        match other {
            Some(_) => Ok(0),
            None => client.execute(ENTER, &[&env!("CARGO_PKG_VERSION")]),
        }
    });
    match (entered, other) {
        (Err(e), _) if e.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            return Err(who_holds(client)?.unwrap_or_else(|| e.into()));
        }
        (Err(e), _) => return Err(e.into()),
        (Ok(_), Some(other)) => {
            let (who, since) = (who(&other), other.get::<_, Option<&str>>(3));
            let since = since.map_or(String::new(), |since| format!(", since {since}"));
            return Err(
                format!("another pgfsbench-helper serves the database: {who}{since}").into(),
            );
        }
        (Ok(1), None) => {}
        (Ok(_), None) => return Err("fsbench.helper_session takes no row".into()),
    }
    client.batch_execute("LISTEN fsbench_helper")?;
    Ok(())
}

fn who(row: &Row) -> String {
    let text = |i: usize| quoted(row.get(i));
    let pid: i32 = row.get(0);
    format!("process {pid} of user {} ({})", text(1), text(2))
}

fn who_holds(client: &mut Client) -> Result<Option<Failure>, Failure> {
    let holder = client.query_opt(HOLDER, &[])?;
    Ok(holder.map(|row| {
        let (pid, mode): (i32, &str) = (row.get(0), row.get(3));
        format!(
            "{} holds the table fsbench.helper_session locked ({mode}); end it with: SELECT pg_terminate_backend({pid})",
            who(&row)
        )
        .into()
    }))
}

/// There is no such table.
#[derive(Debug)]
pub struct MissingTable(&'static str);

impl fmt::Display for MissingTable {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "there is no table fsbench.{}; run CREATE EXTENSION pgfsbench",
            self.0
        )
    }
}

impl Error for MissingTable {}

/// The tables that the helper writes to have to be there, and a superuser's.
pub fn check_tables(client: &mut Client) -> Result<(), Failure> {
    for table in ["helper_job", "helper_description", "helper_session"] {
        check_table(client, table)?;
    }
    Ok(())
}

fn check_table(client: &mut Client, table: &'static str) -> Result<(), Failure> {
    let row = client.query_opt(
        "SELECT c.relkind = 'r', t.rolsuper AND s.rolsuper \
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
           JOIN pg_roles t ON t.oid = c.relowner JOIN pg_roles s ON s.oid = n.nspowner \
         WHERE n.nspname = 'fsbench' AND c.relname = $1",
        &[&table],
    )?;
    let Some(row) = row.filter(|row| row.get(0)) else {
        return Err(MissingTable(table).into());
    };
    // The owner of a table can run code in each session that writes to it.
    if !row.get::<_, bool>(1) {
        return Err(format!(
            "table fsbench.{table} or its schema belongs to a role that is no superuser"
        )
        .into());
    }
    Ok(())
}
