//! What a COMMIT of a run promises: by the settings that decide about durability, and by what lies below the server.

use pgfsbench_core::{spec::Spec, statistics::Timing};
use serde::Deserialize;

use crate::{
    errors::Fault,
    host::{durability, location},
    pg::sql,
    watch::statistics,
};

/// The settings that decide about durability, as the clients have them before the run's own.
#[derive(Clone, Debug, Deserialize)]
pub struct Promises {
    /// As SHOW shows it.
    pub fsync: bool,
    /// As SHOW shows it.
    pub full_page_writes: bool,
    synchronous_commit: String,
    timing: Timing,
}

/// [`Promises`], JSON. In the work database, where the clients work: settings of the home database do not hold there.
pub fn read() -> Result<String, Fault> {
    let text = sql::read(
        &format!(
            "SELECT jsonb_build_object('fsync', current_setting('fsync')::bool, \
               'full_page_writes', current_setting('full_page_writes')::bool, \
               'synchronous_commit', current_setting('synchronous_commit'), 'timing', {})",
            statistics::TIMING
        ),
        &[],
    )?;
    Ok(text.unwrap_or_default())
}

impl Promises {
    /// Those of syncs that are measured by themselves.
    pub fn of_syncs() -> Self {
        Self {
            fsync: true,
            full_page_writes: true,
            synchronous_commit: "on".into(),
            timing: Timing::default(),
        }
    }

    /// Whether the clients' settings have times taken.
    pub fn timing(&self, spec: &Spec) -> Timing {
        let is_on = |name: &str, otherwise: bool| match spec.settings.get(name) {
            None => otherwise,
            Some(value) => is_true(value),
        };
        Timing {
            io: is_on("track_io_timing", self.timing.io),
            wal: is_on("track_wal_io_timing", self.timing.wal),
        }
    }

    /// As SHOW would show it in the clients.
    pub fn synchronous_commit(&self, spec: &Spec) -> String {
        let setting = spec.settings.get("synchronous_commit");
        let value = setting.unwrap_or(&self.synchronous_commit);
        match value.to_ascii_lowercase().as_str() {
            "off" | "false" | "no" | "0" => "off".into(),
            "on" | "true" | "yes" | "1" => "on".into(),
            other => other.into(),
        }
    }

    /// Whether a run is durable, and why not.
    pub fn in_words(&self, spec: &Spec) -> String {
        let commit = self.synchronous_commit(spec);
        let mut off = Vec::new();
        if !self.fsync {
            off.push("fsync off");
        }
        if commit == "off" {
            off.push("synchronous_commit off");
        }
        if !self.full_page_writes {
            off.push("full_page_writes off");
        }
        if spec.options.unlogged {
            off.push("unlogged tables");
        }
        let mut below: Vec<String> = [location::data_location(), location::wal_location()]
            .iter()
            .flatten()
            .flat_map(durability::reasons)
            .collect();
        below.sort();
        below.dedup();
        off.extend(below.iter().map(String::as_str));
        if off.is_empty() {
            spec.workload.durable().into()
        } else {
            format!("not durable: {}", off.join(", "))
        }
    }
}

/// A setting that is on or off, as the server reads it.
fn is_true(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let is_start_of = |word: &str| !value.is_empty() && word.starts_with(&value);
    value == "on" || value == "1" || is_start_of("true") || is_start_of("yes")
}
