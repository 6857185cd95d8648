//! Checks that every function makes first: the library is preloaded, and has the extension's version.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::quoting;

use crate::{
    board::Board,
    errors::{Fault, sqlstate},
    pg::{shmem, sql, xact},
    run::cleanup::{self, Extension},
};

pub use crate::run::cleanup::VERSION;

/// The board and the owner of the extension.
pub struct Ready {
    /// Shared memory.
    pub board: &'static Board,
    /// With whose rights the workers work.
    pub owner: u32,
    /// OID of the extension.
    pub extension: u32,
}

/// The error of a private function that is called with a verb of its caller's own.
pub fn unknown_verb() -> Fault {
    Fault::new(sqlstate::INVALID_PARAMETER, "the verb is unknown")
        .detail("The function is private: other functions of the schema call it.")
        .hint("SELECT * FROM fsbench.help() shows the functions to call.")
}

/// The extension in this database.
pub fn extension() -> Result<Extension, Fault> {
    cleanup::extension()?.ok_or_else(|| {
        Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "extension \"pgfsbench\" is not installed in this database",
        )
    })
}

/// Checks that pgfsbench can work here.
pub fn ready() -> Result<Ready, Fault> {
    let board = shmem::board().ok_or_else(not_preloaded)?;
    let extension = extension()?;
    if extension.version != VERSION {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            "the library and the extension pgfsbench have different versions",
        )
        .detail(format!(
            "The library that the server has loaded is version {VERSION}, the extension in this database version {}.",
            extension.version
        ))
        .hint("Restart the server, and then run ALTER EXTENSION pgfsbench UPDATE."));
    }
    Ok(Ready {
        board,
        owner: extension.owner,
        extension: extension.oid,
    })
}

/// Checks that the janitor is there, without which nothing starts.
pub fn janitor_is_there(board: &Board) -> Result<(), Fault> {
    // On a standby no run is on: what its tables say is all there is.
    if board.recovered.load(Acquire) == 1 || xact::in_recovery() {
        return Ok(());
    }
    // Just after the start of the server it clears up first.
    if shmem::wait_for_change(std::time::Duration::from_secs(60), || {
        board.recovered.load(Acquire) == 1
    }) {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NO_RESOURCES,
        "the background worker \"fsbench janitor\" does not run",
    )
    .hint("See the server's log; you may need to increase \"max_worker_processes\"."))
}

fn not_preloaded() -> Fault {
    let hint = preload_statement().map_or_else(
        |_| "Add pgfsbench to shared_preload_libraries, and restart the server.".to_owned(),
        |statement| format!("Run {statement} and restart the server."),
    );
    Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "pgfsbench must be loaded via \"shared_preload_libraries\"",
    )
    .detail(
        "It needs shared memory and a background worker, which are made when the server starts.",
    )
    .hint(hint)
}

/// The statement that preloads pgfsbench in addition to the libraries that are preloaded already.
///
/// Each library is a literal of its own: one literal with commas in it would become the name of one library.
pub fn preload_statement() -> Result<String, Fault> {
    // NULL for those who may not see it: they get an error of ours, and not PostgreSQL's about that.
    let present = sql::read(
        "SELECT CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') \
           THEN current_setting('shared_preload_libraries') END",
        &[],
    )?;
    let present = present.ok_or_else(|| {
        Fault::new(
            sqlstate::NOT_ALLOWED,
            "permission denied to read \"shared_preload_libraries\"",
        )
    })?;
    let libraries: Vec<String> = present
        .split(',')
        .map(|name| name.trim().trim_matches('"').to_owned())
        .filter(|name| !name.is_empty() && name != "pgfsbench")
        .chain(["pgfsbench".to_owned()])
        .map(|name| quoting::sql_literal(&name))
        .collect();
    Ok(format!(
        "ALTER SYSTEM SET shared_preload_libraries = {};",
        libraries.join(", ")
    ))
}

/// Refuses roles without the rights of the role that asked for something, or of the extension's owner. `what` names it with its kind, `role` is the OID
/// of that role: None when it was dropped, also where another one has its name now.
pub fn check_may_change(
    owner: u32,
    what: &str,
    role: Option<u32>,
    requested_by: &str,
) -> Result<(), Fault> {
    let may = sql::read(
        "SELECT 1 WHERE pg_has_role($1::oid, 'USAGE') OR pg_has_role($2::oid, 'USAGE')",
        &[
            Some(&owner.to_string()),
            Some(&role.unwrap_or(owner).to_string()),
        ],
    )?;
    if may.is_some() {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NOT_ALLOWED,
        format!("permission denied for {what}"),
    )
    .detail(format!("Role \"{requested_by}\" has asked for it."))
    .hint("Only members of that role, and the owner of the extension, may change or drop it."))
}
