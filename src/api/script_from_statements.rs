//! `script_from_statements`: a script of what pg_stat_statements has recorded. All is read with the rights of the caller.

use pgfsbench_core::{
    quoting,
    recorded_statements::{self as recorded, Column, Range, Recorded},
    refusal::quoted,
    target::original,
};
use pgrx::{pg_extern, pg_sys, pg_sys::panic::ErrorReport};
use serde::Deserialize;
use serde_json::{Value, json};

use super::guard;
use crate::{
    errors::{Fault, read_json, sqlstate, wrong_arguments},
    pg::{arguments, libpq::Connection, process, report, session, sql, text::ReturnedText, xact},
    target::{remote_run, server::programs},
    watch::statements,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    database: Option<String>,
    top: Option<i32>,
}

/// Statements that the caller sees.
#[derive(Deserialize)]
struct Seen {
    statements: Vec<Recorded>,
    are_hidden: bool,
}

#[pg_extern(sql = false)]
fn fsbench_script_from_statements(
    call: pg_sys::FunctionCallInfo,
) -> Result<ReturnedText, ErrorReport> {
    let ready = guard::ready()?;
    let given = Value::Object(arguments::named(call)?);
    let given: Given =
        serde_json::from_value(given).map_err(|e| wrong_arguments("an argument", e))?;
    Ok(script(ready.owner, given)?.into())
}

fn script(owner: u32, given: Given) -> Result<String, Fault> {
    let top = given.top.unwrap_or(10);
    let count = recorded::count(top).ok_or_else(|| {
        Fault::new(sqlstate::INVALID_PARAMETER, "top is out of range")
            .detail(format!("It is {top}; a script has 1 to 100 statements."))
            .hint("Give 10 for the usual number.")
    })?;
    let here = sql::read("SELECT current_database()", &[])?.unwrap_or_default();
    let database = given.database.unwrap_or_else(|| here.clone());
    let known = "SELECT 1 FROM pg_catalog.pg_database WHERE datname = $1";
    if sql::read(known, &[Some(&database)])?.is_none() {
        return Err(Fault::new(
            sqlstate::NO_SUCH_DATABASE,
            format!("database {} does not exist", quoted(&database)),
        )
        .detail("The statements of one database become a script.")
        .hint("Give the name of a database of this server."));
    }
    let seen = seen(owner, &database)?;
    let chosen = recorded::chosen(seen.statements, count);
    if seen.are_hidden {
        report::notice(
            "statements of other roles are left out".into(),
            Some("A member of pg_read_all_stats sees them.".into()),
        );
    }
    if chosen.is_empty() {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!(
                "no statements of database {} are recorded",
                quoted(&database)
            ),
        )
        .detail("The view pg_stat_statements has no SELECT, INSERT, UPDATE or DELETE of it.")
        .hint("Let the application work for a while, and call the function again."));
    }
    let columns: Vec<Column> = recorded::columns(&chosen).into_iter().collect();
    let ranges = match database == here {
        true => ranges_here(&columns)?,
        false => ranges_there(owner, &database, &columns)?,
    };
    Ok(recorded::scripts(&chosen, &ranges))
}

fn seen(owner: u32, database: &str) -> Result<Seen, Fault> {
    let schema = sql::read(
        "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = 'pg_stat_statements'",
        &[],
    )?;
    let is_loaded = session::with_rights_of(owner, statements::is_loaded)?;
    let schema = schema.filter(|_| is_loaded);
    let schema = schema.ok_or_else(|| {
        Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "pg_stat_statements does not record statements here",
        )
        .detail("It is not in shared_preload_libraries, or its extension is not in this database.")
        .hint("Add pg_stat_statements to shared_preload_libraries, restart the server, and CREATE EXTENSION pg_stat_statements in this database.")
    })?;
    let query = include_str!("queries/recorded_statements.sql").replace("{schema}", &schema);
    let text = sql::read(&query, &[Some(database)])?;
    read_json("recorded statements", &text.unwrap_or_default())
}

const RANGES: &str = include_str!("queries/column_ranges.sql");

fn ranges_here(columns: &[Column]) -> Result<Vec<Range>, Fault> {
    let text = sql::read(RANGES, &[Some(&json!(columns).to_string())])?;
    read_json("ranges of columns", &text.unwrap_or_default())
}

/// Statistics of columns are in the database of the columns. The connection is the operating system user's, and reads as the caller.
fn ranges_there(owner: u32, database: &str, columns: &[Column]) -> Result<Vec<Range>, Fault> {
    let may = "SELECT 1 WHERE pg_catalog.has_database_privilege($1, 'CONNECT')";
    if columns.is_empty() || sql::read(may, &[Some(database)])?.is_none() {
        return Ok(Vec::new());
    }
    match asked_there(owner, database, columns) {
        Err(fault) if sqlstate::is_of_the_connection(&fault.sqlstate) => {
            report::notice(
                format!("ranges of columns of database {} are not known", quoted(database)),
                Some("The server cannot connect there by the local socket as the operating system user. Call the function in that database, with the extension pgfsbench in it.".into()),
            );
            Ok(Vec::new())
        }
        other => other,
    }
}

fn asked_there(owner: u32, database: &str, columns: &[Column]) -> Result<Vec<Range>, Fault> {
    let own = "SELECT jsonb_build_array(current_setting('unix_socket_directories'), current_setting('port'))";
    let own = session::with_rights_of(owner, || sql::read(own, &[]))?;
    let (sockets, port): (String, String) = read_json("settings", &own.unwrap_or_default())?;
    let user = programs::operating_system_user()?;
    let mut interrupts = || xact::catch(process::check_interrupts);
    let mut connection = Connection::open(
        &[
            ("host", &original::first_of(&sockets).unwrap_or_default()),
            ("port", &port),
            ("dbname", database),
            ("user", &user),
            ("requirepeer", &user),
            ("application_name", "pgfsbench"),
            ("client_encoding", "UTF8"),
            // Not what the owner of that database has set for it: a function found by it could leave the role of the caller.
            ("options", &remote_run::session()),
        ],
        &mut interrupts,
    )?;
    let caller = quoting::sql_identifier(&session::role_name(session::role()));
    let become_caller = format!("SET ROLE {caller}");
    connection.query(&become_caller, &[], &mut interrupts)?;
    let columns = json!(columns).to_string();
    let text = connection.query(RANGES, &[Some(&columns)], &mut interrupts)?;
    read_json("ranges of columns", &text.unwrap_or_default())
}
