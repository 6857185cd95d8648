//! The targets that an experiment makes for itself, with the caller's own rights, as anybody makes a target: of filesystems, and of other targets.

use pgfsbench_core::{
    experiment::{
        asked::{Asked, Checked},
        variants::Variant,
    },
    refusal::quoted,
};
use serde_json::{Map, Value};

use super::{parameters::object, targets};
use crate::{
    api::{guard::Ready, own_target},
    errors::{Fault, to_json_text},
    host::storage,
    pg::{report, session, sql},
    target::{self, Row},
};

type Arguments = Map<String, Value>;

/// Makes them. `made` are the filesystems, with the names of their targets.
pub fn make(
    ready: &Ready,
    asked: &Asked,
    made: &[(String, String)],
    checked: &Checked,
) -> Result<(), Fault> {
    // One that has variants has no runs itself.
    let has_runs = |name: &str| checked.candidates.iter().any(|c| c.target == name);
    for (filesystem, name) in made.iter().filter(|(_, name)| has_runs(name)) {
        create(
            ready,
            name,
            &trimmed(asked, of_filesystem(asked, filesystem)),
        )?;
    }
    for variant in &checked.variants {
        match made.iter().find(|(_, name)| *name == variant.of) {
            Some((filesystem, _)) => {
                let arguments = variant.arguments(of_filesystem(asked, filesystem))?;
                let is_varied = variant.values.iter().any(|(name, _)| name == "ssd_state");
                let arguments = match is_varied {
                    true => arguments,
                    false => trimmed(asked, arguments),
                };
                create(ready, &variant.name, &arguments)?;
            }
            None => make_of_target(ready, variant)?,
        }
    }
    Ok(())
}

/// A device is the one that the other target means, whatever has its path now.
fn make_of_target(ready: &Ready, variant: &Variant) -> Result<(), Fault> {
    let row = session::with_rights_of(ready.owner, || target::read(&variant.of))?;
    let row = row.ok_or_else(|| targets::unknown(&variant.of))?;
    create(ready, &variant.name, &variant.arguments(of_row(&row))?)?;
    session::with_rights_of(ready.owner, || {
        sql::write(
            "UPDATE fsbench.target v SET device_identity = coalesce(o.device_identity, v.device_identity), \
               log_device_identity = CASE WHEN v.log_device = o.log_device THEN coalesce(o.log_device_identity, v.log_device_identity) ELSE v.log_device_identity END \
             FROM fsbench.target o WHERE v.target = $1 AND o.target = $2",
            &[Some(&variant.name), Some(&variant.of)],
        )
    })?;
    Ok(())
}

fn of_filesystem(asked: &Asked, filesystem: &str) -> Arguments {
    let mut arguments = Arguments::new();
    arguments.insert("filesystem".into(), filesystem.into());
    for (name, value) in [("device", &asked.device), ("image_size", &asked.image_size)] {
        if let Some(value) = value {
            arguments.insert(name.into(), value.as_str().into());
        }
    }
    arguments
}

/// A device that can discard is trimmed before each run, so that none finds what the run before has left there.
fn trimmed(asked: &Asked, mut arguments: Arguments) -> Arguments {
    if asked.device.as_deref().is_some_and(storage::can_discard) {
        arguments.insert("ssd_state".into(), "trimmed".into());
    }
    arguments
}

/// The arguments by which a target was made.
fn of_row(row: &Row) -> Arguments {
    let mut columns = object(serde_json::to_value(row).ok());
    let by_itself = [
        "target",
        "device_identity",
        "log_device_identity",
        "mount_point",
    ];
    columns.retain(|name, value| !value.is_null() && !by_itself.contains(&name.as_str()));
    for (column, argument) in [
        ("image_size_bytes", "image_size"),
        ("log_size_bytes", "log_size"),
    ] {
        if let Some(bytes) = columns.remove(column) {
            columns.insert(argument.into(), format!("{bytes}B").into());
        }
    }
    columns
}

/// One of an experiment that was dropped is used again where it is what it would be now.
fn create(ready: &Ready, name: &str, arguments: &Arguments) -> Result<(), Fault> {
    let is_made = own_target::make_or_use(ready.owner, name, "experiment", |name| {
        create_as(name, arguments)
    })?;
    if !is_made {
        report::notice(
            format!("target {} is used again, as it was", quoted(name)),
            None,
        );
    }
    Ok(())
}

fn create_as(name: &str, arguments: &Arguments) -> Result<(), Fault> {
    sql::write(
        "SELECT fsbench.create_target($1, a.filesystem, a.device, a.image_size, a.directory, a.connection, a.mkfs_options, a.mount_options, a.log_device, \
           a.log_size, a.pool_properties, a.dataset_properties, a.image_sparse, a.ssd_state, a.block_settings, a.kernel_settings, a.drop_caches, a.settings, \
           a.bindir, a.data_checksums, a.power_loss_protected) \
         FROM pg_catalog.jsonb_to_record($2::jsonb) AS a (filesystem text, device text, image_size text, directory text, connection text, mkfs_options text, \
           mount_options text, log_device text, log_size text, pool_properties text, dataset_properties text, image_sparse boolean, ssd_state text, \
           block_settings jsonb, kernel_settings jsonb, drop_caches boolean, settings jsonb, bindir text, data_checksums boolean, power_loss_protected boolean)",
        &[Some(name), Some(&to_json_text(arguments)?)],
    )?;
    Ok(())
}
