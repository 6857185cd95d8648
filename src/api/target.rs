//! `create_target`, `alter_target` and `drop_target`.

use std::path::Path;

use pgfsbench_core::{helper::layout::check_members, refusal::quoted, target::defining};
use pgrx::{
    pg_extern,
    pg_sys::{FunctionCallInfo, panic::ErrorReport},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    guard::{self, Ready},
    in_use, own_target, redefined,
};
use crate::{
    errors::{Fault, sqlstate, unreadable, wrong_arguments},
    pg::{arguments, report, sql, text::Text},
    store::definition,
    target::{
        self, Kind, Row,
        devices::{self, Device},
        mount_point,
    },
};

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(sqlstate::INVALID_PARAMETER, message)
}

/// The arguments of `create_target` and `alter_target`, by the names that they have in SQL.
struct Given {
    target: Option<String>,
    row: Row,
    image_size: Option<String>,
    log_size: Option<String>,
    /// Argument of `create_target`.
    is_to_be_tried: bool,
    /// Argument of `alter_target`.
    reset: Vec<String>,
}

/// Descriptions of devices that are given; None if none is given, or it is not known.
struct GivenDevices {
    device: Option<Device>,
    log_device: Option<Device>,
    members: GivenMembers,
    log_members: GivenMembers,
}

/// Descriptions of the argument `devices` or `log_devices`, in its order; None where it is not given.
type GivenMembers = Option<Vec<Option<Device>>>;

impl Given {
    /// Reads the arguments of `create_target` or `alter_target`.
    fn read(call: FunctionCallInfo) -> Result<Self, Fault> {
        let mut given = arguments::named(call)?;
        let names = object(&Row::default())?;
        // A NULL among them is refused here.
        let devices: Option<Vec<String>> = take(&mut given, "devices")?;
        let log_devices: Option<Vec<String>> = take(&mut given, "log_devices")?;
        Ok(Self {
            target: take(&mut given, "target")?,
            image_size: take(&mut given, "image_size")?,
            log_size: take(&mut given, "log_size")?,
            is_to_be_tried: take(&mut given, "try")?.unwrap_or(false),
            reset: take(&mut given, "reset")?.unwrap_or_default(),
            row: match given.keys().find(|name| !names.contains_key(*name)) {
                Some(name) => {
                    let message = format!("argument \"{name}\" is no column of a target");
                    return Err(Fault::new(sqlstate::INTERNAL, message));
                }
                None => Row {
                    devices,
                    log_devices,
                    ..as_row(given)?
                },
            },
        })
    }

    /// Descriptions of the devices that are given now.
    fn devices(&self) -> Result<GivenDevices, Fault> {
        let describe = |path: &Option<String>| match path {
            Some(path) => devices::describe(path),
            None => Ok(None),
        };
        let members = |paths: &Option<Vec<String>>| -> Result<GivenMembers, Fault> {
            let Some(paths) = paths else { return Ok(None) };
            // Each takes a query.
            check_members(paths.len())?;
            let members = paths.iter().map(|path| devices::describe(path));
            members.collect::<Result<_, _>>().map(Some)
        };
        Ok(GivenDevices {
            device: describe(&self.row.device)?,
            log_device: describe(&self.row.log_device)?,
            members: members(&self.row.devices)?,
            log_members: members(&self.row.log_devices)?,
        })
    }

    /// The columns of the arguments that were given.
    fn columns(self) -> Result<Map<String, Value>, Fault> {
        let row = Row {
            image_size_bytes: target::size("image_size", self.image_size)?,
            log_size_bytes: target::size("log_size", self.log_size)?,
            ..self.row
        };
        let mut columns = object(&row)?;
        columns.retain(|_, value| !value.is_null());
        Ok(columns)
    }
}

/// An argument of its own; None when it is not given.
fn take<T: DeserializeOwned>(
    given: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, Fault> {
    let value = given.remove(name);
    let read = |value| {
        serde_json::from_value(value)
            .map_err(|e| wrong_arguments(&format!("argument \"{name}\""), e))
    };
    value.map(read).transpose()
}

fn as_row(columns: Map<String, Value>) -> Result<Row, Fault> {
    serde_json::from_value(Value::Object(columns)).map_err(|e| unreadable("target", e))
}

fn object(row: &Row) -> Result<Map<String, Value>, Fault> {
    match serde_json::to_value(row) {
        Ok(Value::Object(columns)) => Ok(columns),
        _ => Err(Fault::new(sqlstate::INTERNAL, "a target is no object")),
    }
}

/// Checks a row, adds the columns that are found out, and gives it as JSON. A device that is given now is the one that is meant for ever.
fn complete(
    mut columns: Map<String, Value>,
    given: &GivenDevices,
) -> Result<(Row, Kind, String), Fault> {
    for (column, device) in [
        ("device_identity", &given.device),
        ("log_device_identity", &given.log_device),
    ] {
        let Some(device) = device else { continue };
        let identity = device.identity();
        columns.insert(column.into(), identity.unwrap_or(Value::Null));
    }
    for (column, members) in [
        ("device_identity", &given.members),
        ("log_device_identity", &given.log_members),
    ] {
        let Some(members) = members else { continue };
        let identity = |device: &Option<Device>| device.as_ref().and_then(Device::identity);
        let identities: Vec<Option<Value>> = members.iter().map(identity).collect();
        let are_all_known = identities.iter().all(Option::is_some);
        let identities = identities.into_iter().flatten().collect();
        columns.insert(
            column.into(),
            match are_all_known {
                true => Value::Array(identities),
                false => Value::Null,
            },
        );
    }
    let row = as_row(columns)?;
    let kind = row.kind()?;
    let mut row = target::checked(row)?;
    row.mount_point = row
        .directory
        .as_deref()
        .and_then(|directory| mount_point(Path::new(directory)));
    let mut columns = object(&row)?;
    columns.insert("kind".into(), kind.as_str().into());
    Ok((row, kind, Value::Object(columns).to_string()))
}

/// The columns that a caller decides, in a list: all but the name.
fn columns() -> Result<String, Fault> {
    let row = object(&Row::default())?;
    let mut columns: Vec<&str> = row.keys().map(String::as_str).collect();
    columns.retain(|column| *column != "target");
    columns.push("kind");
    Ok(columns.join(", "))
}

#[pg_extern(sql = false)]
fn fsbench_create_target(call: FunctionCallInfo) -> Result<String, ErrorReport> {
    guard::ready()?;
    let mut given = Given::read(call)?;
    let name = in_use::named(given.target.take())?;
    defining::check_name(&name).map_err(Fault::from)?;
    given.row.target.clone_from(&name);
    if own_target::is_there(&name)? {
        return Err(Fault::new(
            sqlstate::EXISTS_ALREADY,
            format!("target {} already exists", quoted(&name)),
        )
        .detail("Names of targets are unique in a database.")
        .hint("Use another name, or fsbench.alter_target().")
        .into());
    }
    let (devices, is_to_be_tried) = (given.devices()?, given.is_to_be_tried);
    let (row, kind, json) = complete(given.columns()?, &devices)?;
    if is_to_be_tried {
        check_can_be_tried(kind)?;
        super::helper::try_out(&row)?;
    }
    let columns = columns()?;
    sql::write(
        &format!(
            "INSERT INTO fsbench.target (target, {columns}) \
             SELECT target, {columns} FROM jsonb_populate_record(NULL::fsbench.target, $1::jsonb)"
        ),
        &[Some(&json)],
    )?;
    let (message, hint) = defining::recorded(&row, kind, devices.device.as_ref());
    report::notice(message, Some(hint));
    redefined::tell(&name, None)?;
    Ok(name)
}

fn check_can_be_tried(kind: Kind) -> Result<(), Fault> {
    match kind.is_made() {
        true => Ok(()),
        false => Err(invalid("there are no options to try")
            .detail("Of a directory or a connection nothing is made or mounted.")
            .hint("Leave try out.")),
    }
}

#[pg_extern(sql = false)]
fn fsbench_alter_target(call: FunctionCallInfo) -> Result<String, ErrorReport> {
    let ready = guard::ready()?;
    let mut given = Given::read(call)?;
    let name = lock_unused(&ready, given.target.take())?;
    given.row.target.clone_from(&name);
    let before = target::read_latest(&name)?
        .ok_or_else(|| Fault::new(sqlstate::INTERNAL, "no such target"))?;
    let mut columns = object(&before)?;
    for argument in &given.reset {
        pgrx::check_for_interrupts!();
        defining::take_back(&mut columns, argument).map_err(Fault::from)?;
    }
    let devices = given.devices()?;
    // A device that is replaced takes the marks of the old one with it.
    for (column, is_given) in [
        (
            "device_identity",
            given.row.device.is_some() || given.row.devices.is_some(),
        ),
        (
            "log_device_identity",
            given.row.log_device.is_some() || given.row.log_devices.is_some(),
        ),
    ] {
        if is_given {
            columns.insert(column.into(), Value::Null);
        }
    }
    columns.extend(given.columns()?);
    let (_, _, json) = complete(columns, &devices)?;
    let columns = self::columns()?;
    let defined = definition::results_of(&name)?.map(|results| results.definition);
    sql::write(
        &format!(
            "UPDATE fsbench.target t SET ({columns}) = (SELECT {columns} \
               FROM jsonb_populate_record(NULL::fsbench.target, $2::jsonb)) WHERE target = $1"
        ),
        &[Some(&name), Some(&json)],
    )?;
    redefined::tell(&name, defined.as_ref())?;
    Ok(name)
}

#[pg_extern(sql = false)]
fn fsbench_drop_target(target: Option<Text>) -> Result<String, ErrorReport> {
    let ready = guard::ready()?;
    let name = lock_unused(&ready, target.map(Into::into))?;
    sql::write(
        "DELETE FROM fsbench.target WHERE target = $1",
        &[Some(&name)],
    )?;
    Ok(name)
}

/// The name of a target that is there, is not the built-in one, and is in no use. Its row is locked: an experiment that is being recorded
/// holds it. So the uses are looked for twice: before the lock, since a caller that is refused need not wait, and after it.
fn lock_unused(ready: &Ready, name: Option<String>) -> Result<String, Fault> {
    let name = in_use::named(name)?;
    if name == pgfsbench_core::spec::DEFAULT_TARGET {
        return Err(invalid("target \"default\" cannot be changed or dropped")
            .detail("It is the filesystem of this server's own data directory.")
            .hint("Create targets of your own with fsbench.create_target()."));
    }
    let check_unused = || {
        in_use::check_unused(ready.board, &name)?;
        in_use::check_not_prepared(ready.owner, &name)
    };
    if !own_target::is_there(&name)? {
        return Err(unknown(&name));
    }
    check_unused()?;
    let found = sql::write(
        "SELECT 1 FROM fsbench.target WHERE target = $1 FOR UPDATE",
        &[Some(&name)],
    )?;
    if found.is_none() {
        return Err(unknown(&name));
    }
    check_unused()?;
    Ok(name)
}

fn unknown(name: &str) -> Fault {
    invalid(format!("target {} does not exist", quoted(name)))
        .detail("There is no such row in fsbench.target.")
        .hint("See fsbench.target.")
}
