//! Requests to the helper outside of runs: `prepare_target`, `release_target`, `plan`, and the description of this machine.

use pgfsbench_core::{refusal::quoted, units::format_bytes};
use pgrx::{iter::TableIterator, name, pg_extern, pg_sys, pg_sys::panic::ErrorReport};
use serde_json::{Value, json};

use super::{guard, in_use, request};
use crate::{
    errors::{Fault, sqlstate},
    pg::{
        report, session, sql,
        text::{ReturnedText, Text},
        xact,
    },
    process::helper_worker,
    run::plan,
    target::{self, Row, devices},
};

/// Checks that this session may ask the helper; gives the owner of the extension.
fn may_ask(function: &str) -> Result<guard::Ready, Fault> {
    let ready = guard::ready()?;
    let owner = ready.owner.to_string();
    let may = sql::read(
        "SELECT 1 WHERE pg_has_role($1::oid, 'USAGE')",
        &[Some(&owner)],
    )?;
    if may.is_none() {
        return Err(
            Fault::new(sqlstate::NOT_ALLOWED, format!("permission denied for {function}"))
                .detail("It has the helper, which is root, do something; only roles with the rights of the extension's owner may.")
                .hint("Have a superuser call it."),
        );
    }
    if xact::has_xid() {
        return Err(Fault::new(
            sqlstate::NOT_IN_THIS_STATE,
            format!("{function} cannot be used in a transaction that has written"),
        )
        .detail("The helper sees only what is committed.")
        .hint("Commit first."));
    }
    Ok(ready)
}

/// The row of a target on which the helper makes the filesystem.
fn made(owner: u32, name: &str) -> Result<Row, Fault> {
    let invalid = |message: String| Fault::new(sqlstate::INVALID_PARAMETER, message);
    if let Some(row) = session::with_rights_of(owner, || target::read(name))? {
        return match row.kind()?.is_made() {
            true => Ok(row),
            false => Err(invalid(format!(
                "the filesystem of target \"{name}\" is not made by the helper"
            ))
            .detail("Only targets with a device or an image_size are prepared and released.")
            .hint("See fsbench.target.")),
        };
    }
    Err(match name {
        pgfsbench_core::spec::DEFAULT_TARGET => {
            invalid("the filesystem of target \"default\" is not made by the helper".into())
                .detail("It is that of this server's own data directory.")
                .hint("Only targets with a device or an image_size are prepared and released.")
        }
        _ => invalid(format!("target {} does not exist", quoted(name)))
            .detail("There is no such row in fsbench.target.")
            .hint("See fsbench.target."),
    })
}

/// Has the helper make and mount once, on a sparse image, what a target asks for that is not recorded yet, and says so.
pub fn try_out(row: &Row) -> Result<(), Fault> {
    let ready = may_ask("fsbench.create_target() with try")?;
    let request = json!(row.request()?);
    let tried = helper_worker::ask_for(ready.owner, "try", &row.target, &request)?;
    let text = |name: &str| tried[name].as_str().unwrap_or("").to_owned();
    let bytes = tried["image_bytes"].as_u64().unwrap_or(0);
    let ignored = tried["mount_options_not_shown"].as_array();
    let ignored: Vec<&str> = ignored
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let hint = match ignored[..] {
        [] => None,
        _ => Some(format!(
            "The kernel does not show these options to be in force: {}.",
            ignored.join(", ")
        )),
    };
    report::notice(
        format!(
            "the options of target \"{}\" were tried on an image of {}: {} and kernel {} take them",
            row.target,
            format_bytes(bytes),
            text("mkfs_version"),
            text("kernel"),
        ),
        hint,
    );
    Ok(())
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_prepare_target(
    target: Option<Text>,
) -> Result<
    TableIterator<
        'static,
        (
            name!(target, ReturnedText),
            name!(directory, Option<ReturnedText>),
            name!(mount_point, Option<ReturnedText>),
            name!(device, Option<ReturnedText>),
            name!(filesystem, Option<ReturnedText>),
            name!(mount_options, Option<ReturnedText>),
            name!(mount_options_not_shown, Option<Vec<ReturnedText>>),
            name!(mkfs_options, Option<ReturnedText>),
            name!(mkfs_version, Option<ReturnedText>),
        ),
    >,
    ErrorReport,
> {
    xact::check_may_write(c"fsbench.prepare_target()");
    let ready = may_ask("fsbench.prepare_target()")?;
    let row = made(ready.owner, &in_use::named(target.map(Into::into))?)?;
    in_use::check_unused(ready.board, &row.target)?;
    let result = helper_worker::ask(ready.owner, "prepare", &row.target)?;
    let text = |name: &str| result[name].as_str().map(ReturnedText::from);
    let not_shown = result["mount_options_not_shown"].as_array().map(|options| {
        let texts = options.iter().filter_map(Value::as_str);
        texts.map(ReturnedText::from).collect()
    });
    Ok(TableIterator::once((
        row.target.into(),
        text("directory"),
        text("mount_point"),
        text("device"),
        text("filesystem"),
        text("mount_options"),
        not_shown,
        row.mkfs_options.map(ReturnedText),
        text("mkfs_version"),
    )))
}

#[pg_extern(sql = false)]
fn fsbench_release_target(target: Option<Text>) -> Result<bool, ErrorReport> {
    xact::check_may_write(c"fsbench.release_target()");
    let ready = may_ask("fsbench.release_target()")?;
    let row = made(ready.owner, &in_use::named(target.map(Into::into))?)?;
    in_use::check_unused(ready.board, &row.target)?;
    let result = helper_worker::ask(ready.owner, "release", &row.target)?;
    Ok(result["released"].as_bool().unwrap_or(false))
}

#[pg_extern(sql = false)]
fn fsbench_describe() -> Result<(), ErrorReport> {
    let ready = may_ask("fsbench.describe_devices()")?;
    helper_worker::ask(ready.owner, "describe", "")?;
    Ok(())
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_plan(
    call: pg_sys::FunctionCallInfo,
) -> Result<
    TableIterator<
        'static,
        (
            name!(step, i32),
            name!(who, ReturnedText),
            name!(action, ReturnedText),
            name!(command, Option<ReturnedText>),
        ),
    >,
    ErrorReport,
> {
    let ready = may_ask("fsbench.plan()")?;
    let arguments = request::arguments(call)?;
    let name = arguments.target.clone().unwrap_or_default();
    let row = session::with_rights_of(ready.owner, || target::read(&name))?;
    let is_made = match &row {
        Some(row) => row.kind().map_err(Fault::from)?.is_made(),
        None if name == pgfsbench_core::spec::DEFAULT_TARGET => false,
        None => {
            return Err(made(ready.owner, &name).map(|_| ()).unwrap_err().into());
        }
    };
    let planned = request::planned(&ready, &arguments)?;
    let by_helper = match is_made {
        true => Some(helper_worker::ask(ready.owner, "plan", &name)?),
        false => None,
    };
    let steps = session::with_rights_of(ready.owner, || plan::steps(&planned, by_helper.as_ref()))?;
    let numbered = (1..).zip(steps);
    Ok(TableIterator::new(numbered.map(|(number, step)| {
        (
            number,
            step.who.into(),
            step.action.into(),
            step.command.map(ReturnedText),
        )
    })))
}

#[allow(clippy::type_complexity)]
#[pg_extern(sql = false)]
fn fsbench_block_devices() -> TableIterator<
    'static,
    (
        name!(path, ReturnedText),
        name!(node, ReturnedText),
        name!(model, Option<ReturnedText>),
        name!(serial, Option<ReturnedText>),
        name!(wwn, Option<ReturnedText>),
        name!(size_bytes, i64),
        name!(in_use, Option<ReturnedText>),
    ),
> {
    let blocks = devices::blocks().into_iter();
    TableIterator::new(blocks.map(|b| {
        let bytes = i64::try_from(b.bytes).unwrap_or(i64::MAX);
        (
            b.path.into(),
            b.node.into(),
            b.model.map(ReturnedText),
            b.serial.map(ReturnedText),
            b.wwn.map(ReturnedText),
            bytes,
            b.in_use.map(ReturnedText),
        )
    }))
}
