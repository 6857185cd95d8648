//! The durability that a COMMIT of a run promises: by the settings that decide about it, and by the storage below the server.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{finding::NOT_DURABLE, statistics::Timing};

/// The settings that decide about durability, as the clients have them before the run's own.
#[derive(Clone, Debug, Deserialize)]
pub struct Promises {
    /// The value that SHOW reports.
    pub fsync: bool,
    /// The value that SHOW reports.
    pub full_page_writes: bool,
    synchronous_commit: String,
    timing: Timing,
}

/// Properties of the run that decide about it, too.
#[derive(Clone, Debug, Default)]
pub struct OfRun {
    /// The words for a durable one.
    pub durable: &'static str,
    /// Whether its tables are unlogged.
    pub unlogged: bool,
    /// Promises that the filesystems and devices below do not keep.
    pub below: Vec<String>,
}

impl Promises {
    /// The promises of syncs that are measured by themselves.
    pub fn of_syncs() -> Self {
        Self {
            fsync: true,
            full_page_writes: true,
            synchronous_commit: "on".into(),
            timing: Timing::default(),
        }
    }

    /// Whether the clients' settings have times taken.
    pub fn timing(&self, settings: &BTreeMap<String, String>) -> Timing {
        let is_on = |name: &str, otherwise: bool| match settings.get(name) {
            None => otherwise,
            Some(value) => is_true(value),
        };
        Timing {
            io: is_on("track_io_timing", self.timing.io),
            wal: is_on("track_wal_io_timing", self.timing.wal),
        }
    }

    /// The value that SHOW would report in the clients.
    pub fn synchronous_commit(&self, settings: &BTreeMap<String, String>) -> String {
        let setting = settings.get("synchronous_commit");
        let value = setting.unwrap_or(&self.synchronous_commit);
        match value.to_ascii_lowercase().as_str() {
            "off" | "false" | "no" | "0" => "off".into(),
            "on" | "true" | "yes" | "1" => "on".into(),
            other => other.into(),
        }
    }

    /// Whether a run is durable, and why not.
    pub fn in_words(&self, settings: &BTreeMap<String, String>, of: &OfRun) -> String {
        let mut off = Vec::new();
        if !self.fsync {
            off.push("fsync off");
        }
        if self.synchronous_commit(settings) == "off" {
            off.push("synchronous_commit off");
        }
        if !self.full_page_writes {
            off.push("full_page_writes off");
        }
        if of.unlogged {
            off.push("unlogged tables");
        }
        let mut below: Vec<&str> = of.below.iter().map(String::as_str).collect();
        below.sort_unstable();
        below.dedup();
        off.extend(below);
        match off[..] {
            [] => of.durable.into(),
            _ => format!("{NOT_DURABLE}{}", off.join(", ")),
        }
    }
}

/// A setting that is on or off, as the server reads it.
fn is_true(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let is_start_of = |word: &str| !value.is_empty() && word.starts_with(&value);
    value == "on" || value == "1" || is_start_of("true") || is_start_of("yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(given: &[(&str, &str)]) -> BTreeMap<String, String> {
        let given = given
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        given.collect()
    }

    #[test]
    fn what_is_off_is_named_in_its_order() {
        let promises = Promises {
            full_page_writes: false,
            ..Promises::of_syncs()
        };
        let of = OfRun {
            unlogged: true,
            below: ["b", "a", "b"].map(str::to_owned).to_vec(),
            ..OfRun::default()
        };
        let said = promises.in_words(&settings(&[("synchronous_commit", "NO")]), &of);
        assert_eq!(
            said,
            "not durable: synchronous_commit off, full_page_writes off, unlogged tables, a, b"
        );
    }

    #[test]
    fn with_nothing_off_it_is_durable() {
        let of = OfRun {
            durable: "durable by the server's settings",
            ..OfRun::default()
        };
        let said = Promises::of_syncs().in_words(&settings(&[]), &of);
        assert_eq!(said, of.durable);
    }

    #[test]
    fn settings_of_the_run_win_over_those_of_the_server() {
        let promises = Promises::of_syncs();
        for (value, shown) in [
            ("off", "off"),
            ("FALSE", "off"),
            ("1", "on"),
            ("remote_apply", "remote_apply"),
        ] {
            let given = settings(&[("synchronous_commit", value)]);
            assert_eq!(promises.synchronous_commit(&given), shown);
        }
        for (value, is_on) in [
            ("on", true),
            ("t", true),
            ("Yes", true),
            ("off", false),
            ("", false),
            ("0", false),
        ] {
            let timing = promises.timing(&settings(&[("track_io_timing", value)]));
            assert_eq!((timing.io, timing.wal), (is_on, false), "{value}");
        }
    }
}
