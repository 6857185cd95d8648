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
    /// True if a reload of the configuration changes synchronous_commit of the clients: no database and no role sets it.
    #[serde(default)]
    synchronous_commit_follows: bool,
    timing: Timing,
}

/// The settings that decide about durability, as the coordinator has them at one moment: a reload may change them while a run is on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DurabilitySettings {
    fsync: bool,
    full_page_writes: bool,
    synchronous_commit: String,
}

/// Values of synchronous_commit, the least durable first.
const SYNCHRONOUS_COMMIT: [&str; 5] = ["off", "local", "remote_write", "on", "remote_apply"];

fn rank(synchronous_commit: &str) -> Option<usize> {
    let mut values = SYNCHRONOUS_COMMIT.iter();
    values.position(|value| *value == synchronous_commit)
}

impl Promises {
    /// The promises of syncs that are measured by themselves.
    pub fn of_syncs() -> Self {
        Self {
            fsync: true,
            full_page_writes: true,
            synchronous_commit: "on".into(),
            synchronous_commit_follows: false,
            timing: Timing::default(),
        }
    }

    /// Keeps the worse value of each setting, after a look while the run is on; `before` is the look before the clients.
    pub fn see(&mut self, before: &DurabilitySettings, now: &DurabilitySettings) {
        self.fsync &= now.fsync;
        self.full_page_writes &= now.full_page_writes;
        let changed = before.synchronous_commit != now.synchronous_commit;
        if changed
            && self.synchronous_commit_follows
            && rank(&now.synchronous_commit) < rank(&self.synchronous_commit)
        {
            self.synchronous_commit.clone_from(&now.synchronous_commit);
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
    fn the_worst_value_that_a_setting_had_counts() {
        let in_force = |fsync, full_page_writes, synchronous_commit: &str| DurabilitySettings {
            fsync,
            full_page_writes,
            synchronous_commit: synchronous_commit.into(),
        };
        let after = |follows, looks: &[DurabilitySettings]| {
            let mut promises = Promises {
                synchronous_commit_follows: follows,
                ..Promises::of_syncs()
            };
            for look in looks {
                promises.see(&in_force(true, true, "on"), look);
            }
            let synchronous_commit = promises.synchronous_commit(&settings(&[]));
            (
                promises.fsync,
                promises.full_page_writes,
                synchronous_commit,
            )
        };
        let on = || in_force(true, true, "on");
        assert_eq!(after(true, &[on()]), (true, true, "on".into()));
        let off_for_a_while = [on(), in_force(false, true, "on"), on()];
        assert_eq!(after(true, &off_for_a_while), (false, true, "on".into()));
        let torn = [
            in_force(true, false, "local"),
            in_force(true, true, "remote_apply"),
        ];
        assert_eq!(after(true, &torn), (true, false, "local".into()));
        // A database or a role sets it for the clients.
        assert_eq!(after(false, &torn), (true, false, "on".into()));
        // The coordinator has another value than the clients all the time.
        let mut promises = Promises {
            synchronous_commit_follows: true,
            ..Promises::of_syncs()
        };
        let local = in_force(true, true, "local");
        promises.see(&local, &local);
        assert_eq!(promises.synchronous_commit(&settings(&[])), "on");
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
