//! The helper: whether it is there, and what it may use.

use std::{os::unix::fs::MetadataExt, path::Path};

use pgfsbench_core::{quoting, units::format_bytes};
use serde::Deserialize;

use super::{
    super::guard,
    report::{INFO, Line, MISSING, OK, Report, WARNING},
};
use crate::{
    errors::{Fault, read_json},
    pg::sql,
    target::helper_job,
};

/// What the helper has published.
#[derive(Deserialize)]
pub struct Description {
    #[serde(default)]
    loop_devices: bool,
    #[serde(default)]
    devices: Vec<Device>,
    #[serde(default)]
    images: Vec<Images>,
    #[serde(default)]
    pub filesystems: Vec<Ready>,
    #[serde(default)]
    prepared: Vec<Prepared>,
}

#[derive(Deserialize)]
struct Device {
    path: String,
    usable: bool,
    why_not: Option<String>,
    hint: Option<String>,
    contents: Option<String>,
    bytes: Option<u64>,
}

#[derive(Deserialize)]
struct Images {
    directory: Option<String>,
    max_bytes: Option<u64>,
    used_bytes: Option<u64>,
    free_bytes: Option<u64>,
    why_not: Option<String>,
}

#[derive(Deserialize)]
pub struct Ready {
    pub filesystem: String,
    pub allowed: bool,
    pub kernel: String,
    pub program: Option<String>,
    pub version: Option<String>,
    pub package: String,
}

#[derive(Deserialize)]
struct Prepared {
    target: String,
    mount_point: String,
}

/// What the helper saw last, and when.
pub fn description() -> Result<Option<(Description, String)>, Fault> {
    let read = |column: &str| {
        sql::read(
            &format!("SELECT {column} FROM fsbench.helper_description"),
            &[],
        )
    };
    let (Some(text), Some(seen)) = (read("description")?, read("seen_at::timestamptz(0)")?) else {
        return Ok(None);
    };
    // Of another version it may have another form.
    Ok(serde_json::from_str(&text)
        .ok()
        .map(|description| (description, seen)))
}

/// Where setup writes.
const CONFIGURATION: &str = "/etc/pgfsbench/helper.toml";

/// The options by which the helper finds this database: also where the server listens, if that is not the usual place.
fn setup_options() -> Result<String, Fault> {
    const PLACE: &str = "SELECT jsonb_build_array(current_database(), current_setting('port'), \
         trim(split_part(current_setting('unix_socket_directories'), ',', 1)))";
    let place = sql::read(PLACE, &[])?.unwrap_or_default();
    let (database, port, socket): (String, String, String) = read_json("place", &place)?;
    let usual = ["", "/run/postgresql", "/var/run/postgresql"];
    let options = [
        ("database", database, false),
        ("socket", socket.clone(), usual.contains(&socket.as_str())),
        ("port", port.clone(), port == "5432"),
    ];
    // With the sign: a name may begin with a hyphen.
    let given = options.iter().filter(|(.., is_usual)| !is_usual);
    Ok(given
        .map(|(name, value, _)| format!(" --{name}={}", quoting::shell(value)))
        .collect())
}

/// Where the servers' first socket is, if every user may listen there while the server is down.
const SOCKETS: &str = "SELECT trim(split_part(current_setting('unix_socket_directories'), ',', 1))";

/// What is missing: to set it up, or only to start it.
fn how_to_start() -> Result<String, Fault> {
    const START: &str =
        "systemctl start pgfsbench-helper, or pgfsbench-helper serve where systemd does not run";
    if helper_job::has_served()? {
        return Ok(format!("Start it as root: {START}."));
    }
    let setup = format!("pgfsbench-helper setup{}", setup_options()?);
    let hint = match Path::new(CONFIGURATION).exists() {
        true => format!(
            "It is set up on this machine: start it as root ({START}). If it does not know this database, run once: {setup} --allow-images DIRECTORY; later: systemctl restart pgfsbench-helper."
        ),
        false => format!("Run as root, once: {setup} --allow-images DIRECTORY; later: {START}."),
    };
    let sockets = sql::read(SOCKETS, &[])?.unwrap_or_default();
    Ok(match is_open_to_all(&sockets) {
        true => format!(
            "{hint} Every user may write to {sockets}, and listen there while the server is down: the helper then serves nobody. Give unix_socket_directories a directory of the server's user alone."
        ),
        false => hint,
    })
}

fn is_open_to_all(directory: &str) -> bool {
    let found = Path::new(directory).metadata();
    found.is_ok_and(|found| found.mode() & 0o002 != 0)
}

/// The lines about the helper.
pub fn look(description: Option<&(Description, String)>) -> Result<Vec<Line>, Fault> {
    let mut report = Report::new("helper");
    let version = helper_job::helper_version()?;
    match &version {
        Some(_) => report.add("running", OK, "it serves this database"),
        None => report.say(
            "running",
            MISSING,
            "pgfsbench-helper does not serve this database; targets in directories and default work without it",
            Some(how_to_start()?),
        ),
    }
    if let Some(version) = &version {
        report.say(
            "version",
            if version == guard::VERSION {
                OK
            } else {
                MISSING
            },
            format!(
                "it is {version}; that of the extension is {}",
                guard::VERSION
            ),
            Some("Install the same version of both, and restart pgfsbench-helper.".into()),
        );
    }
    let Some((description, seen)) = description else {
        return Ok(report.lines);
    };
    report.say(
        "last seen",
        if version.is_some() { OK } else { INFO },
        format!("what follows was seen at {seen}"),
        Some("Start pgfsbench-helper to have it look again.".into()),
    );
    storage(&mut report, description);
    Ok(report.lines)
}

fn storage(report: &mut Report, description: &Description) {
    report.say(
        "loop devices",
        if description.loop_devices {
            OK
        } else {
            MISSING
        },
        if description.loop_devices {
            "images can be attached"
        } else {
            "images cannot be attached here"
        },
        Some("Load the module loop.".into()),
    );
    if description.images.is_empty() {
        report.say(
            "images",
            INFO,
            "the helper's configuration names no directory for images",
            Some("Add to /etc/pgfsbench/helper.toml, on three lines: [[images]] directory = \"/DIRECTORY\" max_bytes = \"16GB\"; then restart pgfsbench-helper.".into()),
        );
    }
    for images in &description.images {
        let item = format!("images {}", images.directory.as_deref().unwrap_or(""));
        let bytes = |bytes: Option<u64>| format_bytes(bytes.unwrap_or(0));
        match &images.why_not {
            Some(why_not) => report.add(item.trim_end(), MISSING, why_not.clone()),
            None => report.add(
                item,
                OK,
                format!(
                    "{} of {} are used, and its filesystem has {} free",
                    bytes(images.used_bytes),
                    bytes(images.max_bytes),
                    bytes(images.free_bytes)
                ),
            ),
        }
    }
    for device in &description.devices {
        let holds = device.contents.as_deref().unwrap_or("unknown contents");
        let seen = format!("{}, holds {holds}", format_bytes(device.bytes.unwrap_or(0)));
        report.say(
            format!("device {}", device.path),
            if device.usable { OK } else { WARNING },
            device.why_not.clone().unwrap_or(seen),
            device.hint.clone(),
        );
    }
    for prepared in &description.prepared {
        report.say(
            format!("target {}", prepared.target),
            INFO,
            format!("it is mounted on {}", prepared.mount_point),
            Some("A run that is on releases what it has prepared; fsbench.release_target() what was prepared by hand, or is left of a run.".into()),
        );
    }
}
