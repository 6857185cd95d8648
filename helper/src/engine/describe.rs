//! Describes this machine for the extension's views: devices and their contents, directories of images and their free room,
//! filesystems. Looks only at what the configuration names.

use super::{Engine, facts};
use crate::config::Device;
use crate::journal::{Entry, State};
use crate::layer::{self, check_device, check_free, check_identity};
use crate::place::Place;
use crate::probe::device::{self, Access};
use crate::probe::queue::Queue;
use crate::probe::{self, kernel};
use crate::recorder;
use pgfsbench_core::helper::layout::Maker;
use pgfsbench_core::helper::{Marks, Name};
use pgfsbench_core::refusal::Refusal;
use serde_json::{Value, json};
use std::path::Path;

impl Engine {
    /// The whole description.
    pub fn describe(&self, database: &Name) -> Result<Value, Refusal> {
        // Another job holds the lock: do not claim.
        let lock = self.journal.try_lock()?;
        let access = match lock {
            Some(_) => Access::Survey,
            None => Access::Glance,
        };
        let devices: Vec<Value> = self
            .config
            .device
            .iter()
            .map(|d| self.device(d, access))
            .collect();
        drop(lock);
        let images: Vec<Value> = self
            .config
            .images
            .iter()
            .zip(facts::images(&self.config, &self.journal)?)
            .map(|(allowed, there)| match there {
                Ok(there) => json!({
                    "directory": allowed.directory,
                    "max_bytes": allowed.max_bytes,
                    "used_bytes": there.used_bytes,
                    "max_images": allowed.max_images,
                    "images": there.images,
                    "free_bytes": there.free_bytes,
                }),
                Err(refusal) => {
                    json!({"directory": allowed.directory, "why_not": why_not(&refusal)})
                }
            })
            .collect();
        let (entries, unbelieved) = self.journal.entries(&self.config)?;
        let unbelieved: Vec<Value> = unbelieved
            .iter()
            .map(|(place, refusal)| json!({"place": place.key(), "why_not": why_not(refusal)}))
            .collect();
        Ok(json!({
            "helper_version": env!("CARGO_PKG_VERSION"),
            "kernel": kernel::release(),
            "kernel_settings": self.config.kernel_settings,
            "drop_caches": self.config.drop_caches,
            "loop_devices": Path::new(probe::loops::CONTROL).exists(),
            "power_cuts": self.config.power_cuts,
            "no_power_cuts": recorder::why_not(),
            "no_log_writes": layer::no_log_writes()?.map_or(String::new(), |refusal| why_not(&refusal).trim_end_matches('.').to_owned()),
            "no_layouts": no_layouts()?,
            "devices": devices,
            "images": images,
            "backups": self.config.backups,
            "filesystems": probe::programs::filesystems(&self.config.filesystems),
            "prepared": self.prepared(database, &entries)?,
            "made_for_runs": made_for_runs(database, &entries),
            "not_believed": unbelieved,
        }))
    }

    /// Targets of this database that are mounted.
    fn prepared(&self, database: &Name, entries: &[(Place, Entry)]) -> Result<Vec<Value>, Refusal> {
        let mut prepared = Vec::new();
        for (place, entry) in entries {
            if place.database == *database
                && entry.state == State::Ready
                && !self.is_stale(entry)?
            {
                prepared.push(json!({
                    "target": place.target,
                    "mount_point": entry.mount_point,
                    "run_id": entry.run,
                }));
            }
        }
        Ok(prepared)
    }

    fn device(&self, allowed: &Device, access: Access) -> Value {
        let looked = device::inspect(&allowed.path, access)
            .and_then(|facts| facts::found(&self.config, &self.journal, facts));
        let found = match looked {
            Ok(looked) => looked,
            Err(refusal) => {
                return json!({"path": allowed.path, "wipe": allowed.wipe, "usable": false, "why_not": why_not(&refusal), "hint": refusal.hint});
            }
        };
        let (facts, is_ours) = (&found.facts, found.is_ours);
        let marks = facts.identity.marks();
        let number = (facts.identity.major, facts.identity.minor);
        let limits = Queue::of_device(&facts.node).and_then(|queue| queue.limits());
        let check = facts::check_alone(&self.config, &allowed.path, number)
            .and_then(|()| check_identity(allowed, &Marks::default(), &marks))
            .and_then(|()| check_free(&allowed.path, &found))
            .and_then(|()| check_device(&allowed.path, allowed.wipe, is_ours, facts));
        json!({
            "path": allowed.path,
            "wipe": allowed.wipe,
            "node": facts.node,
            "model": facts.model,
            "serial": facts.identity.serial,
            "wwn": facts.identity.wwn,
            "partition_uuid": facts.identity.partition_uuid,
            "bytes": facts.identity.bytes,
            "queue": limits,
            "schedulers": limits.as_ref().map(|limits| &limits.schedulers),
            "contents": facts.contents.to_string(),
            "written_by_pgfsbench": is_ours,
            "in_use": facts.in_use,
            "known_by_path_alone": marks.is_anonymous(),
            "usable": check.is_ok(),
            "why_not": check.as_ref().err().map(why_not),
            "hint": check.err().and_then(|refusal| refusal.hint),
        })
    }
}

/// Targets of this database that were prepared for a run, also those that could not be released altogether.
fn made_for_runs(database: &Name, entries: &[(Place, Entry)]) -> Vec<Value> {
    let of_database = entries
        .iter()
        .filter(|(place, _)| place.database == *database);
    let made = of_database.filter_map(|(place, entry)| {
        let run_id = entry.run?;
        Some(json!({"target": place.target, "run_id": run_id}))
    });
    made.collect()
}

/// Drivers of layouts that this machine lacks, each with the reason.
fn no_layouts() -> Result<Value, Refusal> {
    let mut missing = serde_json::Map::new();
    for (name, maker) in [("md", Maker::Md), ("lvm", Maker::Lvm)] {
        if let Some(refusal) = layer::no_driver(maker)? {
            let value =
                json!({"why_not": why_not(&refusal).trim_end_matches('.'), "hint": refusal.hint});
            missing.insert(name.to_owned(), value);
        }
    }
    Ok(Value::Object(missing))
}

fn why_not(refusal: &Refusal) -> String {
    match &refusal.detail {
        Some(detail) => format!("{refusal}: {detail}"),
        None => refusal.to_string(),
    }
}
