//! `create_target`, `alter_target` and `drop_target`.

use std::path::Path;

use pgfsbench_core::refusal::quoted;
use pgrx::{JsonB, pg_extern, pg_sys::panic::ErrorReport};

use super::guard;
use crate::{
    board::RequestState,
    errors::{Fault, sqlstate},
    pg::{session, sql},
    target::{check_bindir, check_directory, check_settings, mount_point},
};

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(sqlstate::INVALID_PARAMETER, message)
}

#[pg_extern(sql = false)]
fn fsbench_create_target(
    target: Option<String>,
    directory: Option<String>,
    settings: Option<JsonB>,
    bindir: Option<String>,
    power_loss_protected: Option<bool>,
) -> Result<String, ErrorReport> {
    guard::ready()?;
    let name = check_name(target)?;
    let directory = check_directory(directory)?;
    let settings = settings_text(settings, bindir.is_none())?;
    let bindir = bindir.map(check_bindir).transpose()?;
    if exists(&name)? {
        return Err(
            Fault::new("42710", format!("target {} already exists", quoted(&name)))
                .detail("Names of targets are unique in a database.")
                .hint("Use another name, or fsbench.alter_target().")
                .into(),
        );
    }
    sql::write(
        "INSERT INTO fsbench.target (target, kind, directory, settings, bindir, power_loss_protected, mount_point) \
         VALUES ($1, 'directory', $2, $3::jsonb, $4, $5::boolean, $6)",
        &[
            Some(&name),
            Some(&directory),
            settings.as_deref(),
            bindir.as_deref(),
            power_loss_protected.map(|b| b.to_string()).as_deref(),
            mount_point(Path::new(&directory)).as_deref(),
        ],
    )?;
    super::install::notice(
        format!("target \"{name}\" is recorded: directory \"{directory}\""),
        Some(
            "Nothing is written yet. Each run puts a server of its own there, and removes it again."
                .into(),
        ),
    );
    Ok(name)
}

#[pg_extern(sql = false)]
fn fsbench_alter_target(
    target: Option<String>,
    directory: Option<String>,
    settings: Option<JsonB>,
    bindir: Option<String>,
    power_loss_protected: Option<bool>,
) -> Result<String, ErrorReport> {
    let ready = guard::ready()?;
    let name = check_changeable(target)?;
    check_unused(ready.board, &name)?;
    let directory = directory.map(Some).map(check_directory).transpose()?;
    let settings = settings_text(settings, bindir.is_none())?;
    let bindir = bindir.map(check_bindir).transpose()?;
    sql::write(
        "UPDATE fsbench.target SET directory = coalesce($2, directory), settings = coalesce($3::jsonb, settings), \
           bindir = coalesce($4, bindir), power_loss_protected = coalesce($5::boolean, power_loss_protected), \
           mount_point = CASE WHEN $2 IS NULL THEN mount_point ELSE $6 END \
         WHERE target = $1",
        &[
            Some(&name),
            directory.as_deref(),
            settings.as_deref(),
            bindir.as_deref(),
            power_loss_protected.map(|b| b.to_string()).as_deref(),
            directory
                .as_deref()
                .and_then(|directory| mount_point(Path::new(directory)))
                .as_deref(),
        ],
    )?;
    Ok(name)
}

#[pg_extern(sql = false)]
fn fsbench_drop_target(target: Option<String>) -> Result<String, ErrorReport> {
    let ready = guard::ready()?;
    let name = check_changeable(target)?;
    check_unused(ready.board, &name)?;
    sql::write(
        "DELETE FROM fsbench.target WHERE target = $1",
        &[Some(&name)],
    )?;
    Ok(name)
}

fn check_name(name: Option<String>) -> Result<String, Fault> {
    let name = name.unwrap_or_default();
    let first = |c: char| c.is_ascii_alphanumeric();
    let further = |c: char| first(c) || "_.+-".contains(c);
    if name.starts_with(first) && name.chars().all(further) && name.len() <= 63 {
        return Ok(name);
    }
    Err(
        invalid(format!("{} is no name of a target", quoted(&name)))
            .detail("Names begin with a letter or a digit, and consist of letters, digits and _ . + - (ASCII), 63 at most.")
            .hint("Use a name like \"xfs-tuned\"."),
    )
}

fn exists(name: &str) -> Result<bool, Fault> {
    let found = sql::read(
        "SELECT 1 FROM fsbench.target WHERE target = $1",
        &[Some(name)],
    )?;
    Ok(found.is_some())
}

/// The name of a target that is there and is not the built-in one.
fn check_changeable(name: Option<String>) -> Result<String, Fault> {
    let name = name.unwrap_or_default();
    if name == pgfsbench_core::spec::DEFAULT_TARGET {
        return Err(invalid("target \"default\" cannot be changed or dropped")
            .detail("It is the filesystem of this server's own data directory.")
            .hint("Create targets of your own with fsbench.create_target()."));
    }
    if !exists(&name)? {
        return Err(invalid(format!("target {} does not exist", quoted(&name)))
            .detail("There is no such row in fsbench.target.")
            .hint("See fsbench.target."));
    }
    Ok(name)
}

/// Refuses to change a target that a run of this database is on or waits for.
fn check_unused(board: &crate::board::Board, name: &str) -> Result<(), Fault> {
    use std::sync::atomic::Ordering::Acquire;
    let user = board.requests.iter().find(|request| {
        !matches!(
            request.state(),
            RequestState::Free | RequestState::Filling | RequestState::Ended
        ) && request.home.load(Acquire) == session::database()
            && serde_json::from_str::<pgfsbench_core::spec::Spec>(&request.spec.get())
                .is_ok_and(|spec| spec.target == name)
    });
    match user {
        None => Ok(()),
        Some(request) => Err(Fault::new("55006", format!("target \"{name}\" is in use"))
            .detail(format!(
                "Run {} is on it, or waits for it.",
                request.run_id.load(Acquire)
            ))
            .hint("Wait for the run with fsbench.wait(), or cancel it with fsbench.cancel().")),
    }
}

fn settings_text(settings: Option<JsonB>, known_here: bool) -> Result<Option<String>, Fault> {
    settings
        .map(|JsonB(settings)| {
            let checked = check_settings(&settings, known_here)?;
            serde_json::to_string(&checked)
                .map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))
        })
        .transpose()
}
