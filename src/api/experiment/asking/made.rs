//! The targets that an experiment makes for itself, with the caller's own rights, as anybody makes a target: of filesystems, and of other targets.

use std::collections::BTreeSet;

use pgfsbench_core::{
    experiment::{
        arguments::{Checked, ExperimentArguments},
        variants::Variant,
    },
    refusal::quoted,
    target::parameter::{FOUND_OUT, PARAMETERS},
};
use serde_json::Value;

use super::{parameters::object, targets};
use crate::{
    api::{
        guard::Ready,
        own_target::{self, Arguments},
        redefined,
    },
    errors::Fault,
    pg::{report, session, sql, xact},
    target::{self, Row},
};

/// Their names.
#[derive(Default)]
pub struct OwnTargets {
    made: Vec<String>,
    /// Targets of an experiment that was dropped.
    used_again: Vec<String>,
    /// Devices that their runs erase.
    devices: BTreeSet<String>,
}

impl OwnTargets {
    /// Says which there are now, when the experiment is there, too; and what each would have said when it was made by itself.
    pub fn tell(&self) -> Result<(), Fault> {
        let devices: Vec<String> = self.devices.iter().map(|path| quoted(path)).collect();
        let hint = (!devices.is_empty()).then(|| {
            format!(
                "Each run erases {}: SELECT * FROM fsbench.describe_devices() tells what that is.",
                devices.join(", ")
            )
        });
        for (names, what) in [
            (&self.made, "recorded"),
            (&self.used_again, "used again, as they were"),
        ] {
            let quoted: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            if !quoted.is_empty() {
                report::notice(
                    format!("targets of its own are {what}: {}", quoted.join(", ")),
                    hint.clone(),
                );
            }
        }
        xact::seeing_own_changes(|| {
            (self.made.iter()).try_for_each(|name| redefined::tell(name, None))
        })
    }

    /// One that was dropped with its experiment is used again where it is what it would be now.
    fn create(
        &mut self,
        ready: &Ready,
        name: &str,
        target_arguments: &Arguments,
    ) -> Result<(), Fault> {
        let is_made = own_target::make_or_use(ready.owner, name, "experiment", |name| {
            own_target::create(name, target_arguments)
        })?;
        for device in ["device", "log_device"] {
            let path = target_arguments.get(device).and_then(Value::as_str);
            self.devices.extend(path.map(str::to_owned));
        }
        for devices in ["devices", "log_devices"] {
            let members = target_arguments.get(devices).and_then(Value::as_array);
            let members = members.into_iter().flatten().filter_map(Value::as_str);
            self.devices.extend(members.map(str::to_owned));
        }
        match is_made {
            true => self.made.push(name.into()),
            false => self.used_again.push(name.into()),
        }
        Ok(())
    }
}

/// Makes them. `made` are the filesystems, with the names of their targets.
pub fn make(
    ready: &Ready,
    arguments: &ExperimentArguments,
    made: &[(String, String)],
    checked: &Checked,
) -> Result<OwnTargets, Fault> {
    let mut own = OwnTargets::default();
    // Targets that are recorded before an error are undone, so the announcement waits for the end.
    own_target::quietly(|| make_each(ready, arguments, made, checked, &mut own))?;
    Ok(own)
}

fn make_each(
    ready: &Ready,
    arguments: &ExperimentArguments,
    made: &[(String, String)],
    checked: &Checked,
    own: &mut OwnTargets,
) -> Result<(), Fault> {
    // One that has variants has no runs itself.
    let has_runs = |name: &str| checked.candidates.iter().any(|c| c.target == name);
    for (filesystem, name) in made.iter().filter(|(_, name)| has_runs(name)) {
        own.create(
            ready,
            name,
            &own_target::trimmed(
                arguments.device.as_deref(),
                of_filesystem(arguments, filesystem),
            ),
        )?;
    }
    for variant in &checked.variants {
        match made.iter().find(|(_, name)| *name == variant.of) {
            Some((filesystem, _)) => {
                let target_arguments = variant.arguments(of_filesystem(arguments, filesystem))?;
                let is_varied = variant.values.iter().any(|(name, _)| name == "ssd_state");
                let target_arguments = match is_varied {
                    true => target_arguments,
                    false => own_target::trimmed(arguments.device.as_deref(), target_arguments),
                };
                own.create(ready, &variant.name, &target_arguments)?;
            }
            None => make_of_target(ready, variant, own)?,
        }
    }
    Ok(())
}

/// A device is the one that the other target means, whatever has its path now.
fn make_of_target(ready: &Ready, variant: &Variant, own: &mut OwnTargets) -> Result<(), Fault> {
    let row = session::with_rights_of(ready.owner, || target::read(&variant.of))?;
    let row = row.ok_or_else(|| targets::unknown(&variant.of))?;
    own.create(ready, &variant.name, &variant.arguments(of_row(&row))?)?;
    session::with_rights_of(ready.owner, || {
        sql::write(
            "UPDATE fsbench.target v SET device_identity = coalesce(o.device_identity, v.device_identity), \
               log_device_identity = CASE WHEN v.log_device = o.log_device OR v.log_devices = o.log_devices THEN coalesce(o.log_device_identity, v.log_device_identity) ELSE v.log_device_identity END \
             FROM fsbench.target o WHERE v.target = $1 AND o.target = $2",
            &[Some(&variant.name), Some(&variant.of)],
        )
    })?;
    Ok(())
}

fn of_filesystem(arguments: &ExperimentArguments, filesystem: &str) -> Arguments {
    let mut target_arguments = Arguments::new();
    target_arguments.insert("filesystem".into(), filesystem.into());
    for (name, value) in [
        ("device", &arguments.device),
        ("image_size", &arguments.image_size),
    ] {
        if let Some(value) = value {
            target_arguments.insert(name.into(), value.as_str().into());
        }
    }
    target_arguments
}

/// The arguments by which a target was made.
fn of_row(row: &Row) -> Arguments {
    let mut columns = object(serde_json::to_value(row).ok());
    columns.retain(|name, value| !value.is_null() && !FOUND_OUT.contains(&name.as_str()));
    for parameter in PARAMETERS.iter().filter(|p| p.name != p.column) {
        if let Some(bytes) = columns.remove(parameter.column) {
            columns.insert(parameter.name.into(), format!("{bytes}B").into());
        }
    }
    columns
}
