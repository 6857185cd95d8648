//! `create_target`, `alter_target` and `drop_target`.

use std::path::Path;

use pgfsbench_core::{refusal::quoted, units::format_bytes};
use pgrx::{
    pg_extern,
    pg_sys::{FunctionCallInfo, panic::ErrorReport},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{guard, in_use, redefined};
use crate::{
    errors::{Fault, sqlstate, unreadable},
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
    /// Of `create_target`.
    is_to_be_tried: bool,
    /// Of `alter_target`.
    reset: Vec<String>,
}

/// Descriptions of devices that are given; None if none is given, or it is not known.
struct GivenDevices {
    device: Option<Device>,
    log_device: Option<Device>,
}

impl Given {
    /// Reads the arguments of `create_target` or `alter_target`.
    fn read(call: FunctionCallInfo) -> Result<Self, Fault> {
        let mut given = arguments::named(call)?;
        let names = object(&Row::default())?;
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
                None => as_row(given)?,
            },
        })
    }

    /// Descriptions of the devices that are given now.
    fn devices(&self) -> Result<GivenDevices, Fault> {
        let describe = |path: &Option<String>| match path {
            Some(path) => devices::describe(path),
            None => Ok(None),
        };
        Ok(GivenDevices {
            device: describe(&self.row.device)?,
            log_device: describe(&self.row.log_device)?,
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
    let read = |value| serde_json::from_value(value).map_err(|e| unreadable("argument", e));
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

/// Properties of a device that do not change, by which it is recognized when it is used.
fn identity_of(device: &Device) -> Value {
    let mut identity = json!({
        "serial": device.serial, "wwn": device.wwn, "partition_uuid": device.partition_uuid, "bytes": device.size_bytes,
    });
    if let Some(marks) = identity.as_object_mut() {
        marks.retain(|_, mark| !mark.is_null());
    }
    identity
}

/// Checks a row, finds out what is stored beside what was given, and gives it as JSON. A device that is given now is the
/// one that is meant for ever.
fn complete(
    mut columns: Map<String, Value>,
    given: &GivenDevices,
) -> Result<(Row, Kind, String), Fault> {
    for (column, device) in [
        ("device_identity", &given.device),
        ("log_device_identity", &given.log_device),
    ] {
        let Some(device) = device else { continue };
        // A device that the helper has not looked at has no marks that it would read in the same way.
        let identity = match device.contents.is_some() {
            true => identity_of(device),
            false => Value::Null,
        };
        columns.insert(column.into(), identity);
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

/// All columns that a caller decides.
const COLUMNS: &str = "kind, filesystem, device, device_identity, image_size_bytes, image_sparse, log_device, \
    log_size_bytes, directory, mount_point, connection, mkfs_options, mount_options, pool_properties, dataset_properties, \
    ssd_state, block_settings, kernel_settings, drop_caches, settings, bindir, data_checksums, power_loss_protected, log_device_identity";

#[pg_extern(sql = false)]
fn fsbench_create_target(call: FunctionCallInfo) -> Result<String, ErrorReport> {
    guard::ready()?;
    let mut given = Given::read(call)?;
    let name = check_name(given.target.take())?;
    given.row.target.clone_from(&name);
    if exists(&name)? {
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
    sql::write(
        &format!(
            "INSERT INTO fsbench.target (target, {COLUMNS}) \
             SELECT target, {COLUMNS} FROM jsonb_populate_record(NULL::fsbench.target, $1::jsonb)"
        ),
        &[Some(&json)],
    )?;
    tell(&row, kind, devices.device.as_ref());
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

/// Model, serial number, size and contents of a device.
fn in_words(device: Option<&Device>) -> String {
    let Some(device) = device else {
        return "not seen yet: what it is and holds is known when pgfsbench-helper, whose configuration has to name it, has looked at it".into();
    };
    let mut parts = Vec::new();
    parts.extend(device.model.clone());
    parts.extend(
        device
            .serial
            .as_ref()
            .map(|serial| format!("serial number {serial}")),
    );
    parts.extend(device.size_bytes.map(format_bytes));
    parts.push(match &device.contents {
        Some(contents) => format!("holds {contents}"),
        None => "what it holds is known when pgfsbench-helper has looked at it".into(),
    });
    if let Some(why_not) = &device.why_not {
        parts.push(format!("not usable now: {why_not}"));
    }
    parts.join(", ")
}

/// Says what was recorded, and what a run will do there.
fn tell(row: &Row, kind: Kind, device: Option<&Device>) {
    let filesystem = row.filesystem.as_deref().unwrap_or("");
    let (what, hint) = match kind {
        Kind::Directory => (
            format!("directory \"{}\"", row.directory.as_deref().unwrap_or("")),
            "Nothing is written yet. Each run puts a server of its own there, and removes it again.",
        ),
        Kind::Connection => (
            "another server".to_owned(),
            "It is not asked yet. Runs are carried out by that server, in its own data directory; it needs pgfsbench of the same version.",
        ),
        Kind::Image => (
            format!(
                "{filesystem} on an image of {}",
                format_bytes(row.image_size_bytes.unwrap_or(0))
            ),
            "Nothing is made yet. Each run has pgfsbench-helper make it, and remove it again.",
        ),
        Kind::Device => (
            format!(
                "{filesystem} on device \"{}\" ({})",
                row.device.as_deref().unwrap_or(""),
                in_words(device)
            ),
            match device {
                Some(device) if device.usable => {
                    "Nothing is written yet. The first run erases the device."
                }
                _ => {
                    "Nothing is written yet. A run erases the device, if the configuration of pgfsbench-helper allows that; SELECT * FROM fsbench.describe_devices() looks again."
                }
            },
        ),
    };
    report::notice(
        format!("target \"{}\" is recorded: {what}", row.target),
        Some(hint.into()),
    );
}

#[pg_extern(sql = false)]
fn fsbench_alter_target(call: FunctionCallInfo) -> Result<String, ErrorReport> {
    let ready = guard::ready()?;
    let mut given = Given::read(call)?;
    let name = check_changeable(given.target.take())?;
    in_use::check_unused(ready.board, &name)?;
    in_use::check_not_prepared(ready.owner, &name)?;
    given.row.target.clone_from(&name);
    let before =
        target::read(&name)?.ok_or_else(|| Fault::new(sqlstate::INTERNAL, "no such target"))?;
    let mut columns = object(&before)?;
    for argument in &given.reset {
        pgrx::check_for_interrupts!();
        take_back(&mut columns, argument)?;
    }
    let devices = given.devices()?;
    // Of another device nothing is known by what the one before was recognized.
    for (column, is_given) in [
        ("device_identity", given.row.device.is_some()),
        ("log_device_identity", given.row.log_device.is_some()),
    ] {
        if is_given {
            columns.insert(column.into(), Value::Null);
        }
    }
    columns.extend(given.columns()?);
    let (_, _, json) = complete(columns, &devices)?;
    let defined = definition::results_of(&name)?.map(|results| results.definition);
    sql::write(
        &format!(
            "UPDATE fsbench.target t SET ({COLUMNS}) = (SELECT {COLUMNS} \
               FROM jsonb_populate_record(NULL::fsbench.target, $2::jsonb)) WHERE target = $1"
        ),
        &[Some(&name), Some(&json)],
    )?;
    redefined::tell(&name, defined.as_ref())?;
    Ok(name)
}

/// Makes the column of an argument NULL again.
fn take_back(columns: &mut Map<String, Value>, argument: &str) -> Result<(), Fault> {
    let column = match argument {
        "image_size" => "image_size_bytes",
        "log_size" => "log_size_bytes",
        other => other,
    };
    let is_one = columns.contains_key(column)
        && ![
            "target",
            "mount_point",
            "device_identity",
            "log_device_identity",
        ]
        .contains(&column);
    if !is_one {
        return Err(invalid(format!(
            "{} is no argument that can be reset",
            quoted(argument)
        ))
        .detail("The argument reset takes names of arguments of fsbench.create_target().")
        .hint("See the columns of fsbench.target."));
    }
    columns.insert(column.into(), Value::Null);
    if ["device", "log_device"].contains(&column) {
        columns.insert(format!("{column}_identity"), Value::Null);
    }
    Ok(())
}

#[pg_extern(sql = false)]
fn fsbench_drop_target(target: Option<Text>) -> Result<String, ErrorReport> {
    let ready = guard::ready()?;
    let name = check_changeable(target.map(Into::into))?;
    in_use::check_unused(ready.board, &name)?;
    in_use::check_not_prepared(ready.owner, &name)?;
    sql::write(
        "DELETE FROM fsbench.target WHERE target = $1",
        &[Some(&name)],
    )?;
    Ok(name)
}

fn check_name(name: Option<String>) -> Result<String, Fault> {
    let name = in_use::named(name)?;
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
    let name = in_use::named(name)?;
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
