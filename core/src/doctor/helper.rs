//! The helper: whether it is there, and what it may use.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;

use super::report::{INFO, Line, MISSING, OK, Report, WARNING};
use crate::{helper::IMAGES, quoting, texts::doctor::helper as texts};

/// The description that the helper has published.
#[derive(Clone, Debug, Deserialize)]
pub struct Description {
    /// Whether the configuration allows settings of the kernel; None where the helper is too old to say it.
    #[serde(default)]
    pub kernel_settings: Option<bool>,
    /// Whether the configuration allows dropping caches; None where the helper is too old to say it.
    #[serde(default)]
    pub drop_caches: Option<bool>,
    /// Whether the configuration allows power cuts; None where the helper is too old to say it.
    #[serde(default)]
    pub power_cuts: Option<bool>,
    #[serde(default)]
    pub loop_devices: bool,
    /// Drivers of layouts that this machine lacks, md or lvm, each with the reason.
    #[serde(default)]
    pub no_layouts: BTreeMap<String, NoDriver>,
    /// Why writes to images cannot be recorded for power cuts; None if they can.
    #[serde(default)]
    pub no_power_cuts: Option<String>,
    /// Why dm-log-writes cannot record writes; empty if it can. None where the helper is too old to say it.
    #[serde(default)]
    pub no_log_writes: Option<String>,
    #[serde(default)]
    pub devices: Vec<Device>,
    #[serde(default)]
    pub images: Vec<Images>,
    /// Directories with backups that may be copied.
    #[serde(default)]
    pub backups: Vec<PathBuf>,
    #[serde(default)]
    pub filesystems: Vec<FilesystemSupport>,
    #[serde(default)]
    pub prepared: Vec<Prepared>,
}

/// Why a driver of layouts is missing, and the remedy.
#[derive(Clone, Debug, Deserialize)]
pub struct NoDriver {
    pub why_not: String,
    pub hint: Option<String>,
}

impl Description {
    /// Requests that the helper refuses until its configuration allows them: names of lines.
    pub fn not_allowed(&self) -> Vec<String> {
        let lines = [
            ("kernel_settings", self.kernel_settings),
            ("drop_caches", self.drop_caches),
        ];
        let refused = lines.into_iter().filter(|(_, is)| *is == Some(false));
        let images = self.images.is_empty().then_some(IMAGES);
        (refused.map(|(line, _)| line).chain(images))
            .map(str::to_owned)
            .collect()
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct Device {
    pub path: String,
    pub usable: bool,
    pub why_not: Option<String>,
    pub hint: Option<String>,
    pub contents: Option<String>,
    pub bytes: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Images {
    pub directory: Option<String>,
    pub max_bytes: Option<u64>,
    pub used_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    pub why_not: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct FilesystemSupport {
    pub filesystem: String,
    pub allowed: bool,
    pub kernel: String,
    pub program: Option<String>,
    pub version: Option<String>,
    pub package: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Prepared {
    pub target: String,
    pub mount_point: String,
}

/// Host, port and name by which clients connect to this database.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Place(pub String, pub String, pub String);

impl Place {
    /// The options by which the helper finds it: also where the server listens, if that is not the usual place.
    pub fn setup_options(&self) -> String {
        let Self(database, port, socket) = self;
        let usual = ["", "/run/postgresql", "/var/run/postgresql"];
        let options = [
            ("database", database, false),
            ("socket", socket, usual.contains(&socket.as_str())),
            ("port", port, port == "5432"),
        ];
        // With the sign: a name may begin with a hyphen.
        let given = options.iter().filter(|(.., is_usual)| !is_usual);
        given
            .map(|(name, value, _)| format!(" --{name}={}", quoting::shell(value)))
            .collect()
    }
}

/// Facts that decide how a helper that does not serve is to be started.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Whether one has served this database.
    pub has_served: bool,
    /// Whether one is configured on this machine.
    pub is_configured: bool,
    /// Name of this database, port and directory of the server's first socket.
    pub place: Place,
    /// Whether every user may listen there while the server is down.
    pub is_open_to_all: bool,
}

impl Start {
    /// The missing step: to set it up, or only to start it.
    pub fn in_words(&self) -> String {
        let options = self.place.setup_options();
        let how = match (self.has_served, self.is_configured) {
            (true, _) => texts::Start::Again,
            (false, true) => texts::Start::KnownHere(&options),
            (false, false) => texts::Start::First(&options),
        };
        texts::start(how, self.is_open_to_all.then_some(&*self.place.2))
    }
}

/// All that is found out of the helper.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Version of the one that serves; None: none does.
    pub version: Option<String>,
    /// Version of this library.
    pub library: &'static str,
    /// How it is started.
    pub start: Start,
    /// Description, and the time when it was published.
    pub description: Option<(Description, String)>,
}

/// The lines about the helper.
pub fn check(facts: &Facts) -> Vec<Line> {
    let mut report = Report::new("helper");
    let version = &facts.version;
    match version {
        Some(_) => report.say("running", OK, texts::serves()),
        None => {
            let text = texts::does_not_serve(facts.start.in_words());
            report.say("running", MISSING, text);
        }
    }
    if let Some(version) = version {
        let is_same = version == facts.library;
        let text = texts::version(version, facts.library);
        report.say("version", if is_same { OK } else { MISSING }, text);
    }
    let Some((description, seen)) = &facts.description else {
        return report.lines;
    };
    let state = if version.is_some() { OK } else { INFO };
    report.say("last seen", state, texts::last_seen(seen));
    storage(&mut report, description);
    report.lines
}

fn power_cuts(report: &mut Report, description: &Description) {
    let (state, text) = match &description.no_power_cuts {
        Some(why_not) => (MISSING, texts::no_power_cuts(why_not)),
        None if description.power_cuts == Some(false) => (INFO, texts::power_cuts_not_allowed()),
        None => (OK, texts::power_cuts(description.no_log_writes.as_deref())),
    };
    report.say("power cuts", state, text);
}

fn storage(report: &mut Report, description: &Description) {
    let can_attach = description.loop_devices;
    let state = if can_attach { OK } else { MISSING };
    report.say("loop devices", state, texts::loop_devices(can_attach));
    power_cuts(report, description);
    for (driver, missing) in &description.no_layouts {
        let text = texts::helpers(&missing.why_not, missing.hint.as_deref());
        report.say(format!("layouts of {driver}"), INFO, text);
    }
    if description.images.is_empty() {
        report.say("images", INFO, texts::no_images());
    }
    for images in &description.images {
        let item = format!("images {}", images.directory.as_deref().unwrap_or(""));
        let bytes = |bytes: Option<u64>| bytes.unwrap_or(0);
        let (used, most) = (bytes(images.used_bytes), bytes(images.max_bytes));
        let (state, text) = match &images.why_not {
            Some(why_not) => (MISSING, texts::helpers(why_not, None)),
            None => (OK, texts::images(used, most, bytes(images.free_bytes))),
        };
        report.say(item.trim_end(), state, text);
    }
    for device in &description.devices {
        let seen = || texts::device(device.bytes.unwrap_or(0), device.contents.as_deref());
        let says = device.why_not.clone().unwrap_or_else(seen);
        report.say(
            format!("device {}", device.path),
            if device.usable { OK } else { WARNING },
            texts::helpers(&says, device.hint.as_deref()),
        );
    }
    for prepared in &description.prepared {
        let text = texts::prepared(&prepared.mount_point);
        report.say(format!("target {}", prepared.target), INFO, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::report::assert_decides_by_codes;

    fn states(facts: &Facts) -> Vec<(String, &'static str)> {
        assert_decides_by_codes(|| check(facts));
        let lines = check(facts).into_iter();
        lines.map(|line| (line.item, line.state)).collect()
    }

    fn start() -> Start {
        Start {
            place: Place("a b".into(), "5433".into(), "/tmp".into()),
            ..Start::default()
        }
    }

    #[test]
    fn it_is_told_how_the_helper_finds_this_database() {
        let words = start().in_words();
        assert!(
            words.contains("setup '--database=a b'")
                || words.contains("--database='a b' --socket=/tmp --port=5433 --allow-images"),
            "{words}"
        );
        let usual = Start {
            place: Place("x".into(), "5432".into(), "/run/postgresql".into()),
            ..Start::default()
        };
        assert!(
            usual
                .in_words()
                .contains("setup --database=x --allow-images")
        );
    }

    #[test]
    fn one_that_has_served_is_started_and_no_more() {
        let served = Start {
            has_served: true,
            ..start()
        };
        assert!(served.in_words().starts_with("Start it as root"));
        let open = Start {
            is_open_to_all: true,
            ..start()
        };
        assert!(open.in_words().contains("Every user may write to /tmp"));
    }

    #[test]
    fn another_version_serves_nobody() {
        let facts = Facts {
            version: Some("9".into()),
            library: "1",
            ..Facts::default()
        };
        let states = states(&facts);
        assert_eq!(
            states,
            [("running".into(), OK), ("version".into(), MISSING)]
        );
    }

    #[test]
    fn what_it_may_use_is_listed() {
        let description = serde_json::from_str(
            r#"{"loop_devices": false, "no_power_cuts": "there is no /dev/fuse", "devices": [{"path": "/dev/x", "usable": false, "why_not": "it is mounted"}],
                "images": [{"directory": "/i", "max_bytes": 1024, "used_bytes": 0, "free_bytes": 1024}],
                "prepared": [{"target": "t", "mount_point": "/m"}]}"#,
        );
        let facts = Facts {
            description: Some((description.unwrap(), "now".into())),
            ..Facts::default()
        };
        let states = states(&facts);
        let expected = [
            ("running", MISSING),
            ("last seen", INFO),
            ("loop devices", MISSING),
            ("power cuts", MISSING),
            ("images /i", OK),
            ("device /dev/x", WARNING),
            ("target t", INFO),
        ];
        assert_eq!(
            states,
            expected.map(|(item, state)| (item.to_owned(), state))
        );
    }

    /// By the helper's description.
    fn line_of_power_cuts(description: &str) -> Line {
        let description = serde_json::from_str(description).expect("a description");
        let facts = Facts {
            description: Some((description, "now".into())),
            ..Facts::default()
        };
        assert_decides_by_codes(|| check(&facts));
        let mut lines = check(&facts).into_iter();
        lines
            .find(|line| line.item == "power cuts")
            .expect("the line of power cuts")
    }

    #[test]
    fn power_cuts_have_to_be_allowed() {
        for (allowed, state) in [("false", INFO), ("true", OK), ("null", OK)] {
            let text = format!(r#"{{"loop_devices": true, "power_cuts": {allowed}}}"#);
            let line = line_of_power_cuts(&text);
            assert_eq!(line.state, state);
            let names_the_line = |hint: &String| hint.contains("power_cuts = true");
            assert_eq!(
                line.hint.as_ref().is_some_and(names_the_line),
                state == INFO
            );
        }
    }

    #[test]
    fn the_recorders_of_this_machine_are_named() {
        for (no_log_writes, end) in [
            ("null", ""),
            ("\"\"", "; dm-log-writes: also those to devices"),
            (
                "\"this kernel has no dm-log-writes\"",
                "; not those to devices: this kernel has no dm-log-writes",
            ),
        ] {
            let text = format!(r#"{{"power_cuts": true, "no_log_writes": {no_log_writes}}}"#);
            let line = line_of_power_cuts(&text);
            assert_eq!(line.state, OK);
            let says = "recorder: writes to images can be recorded, and cut at any moment";
            assert_eq!(line.detail, Some(format!("{says}{end}")));
        }
    }
}
