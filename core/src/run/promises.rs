//! The settings of a run's clients that decide about durability and about what is timed.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::statistics::Timing;

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
