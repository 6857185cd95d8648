//! The helper, and what it may use.

use super::Text;
use crate::{helper::line_that_allows, units::format_bytes};

/// How to start a helper that does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// It has served this database.
    Again,
    /// It is set up on this machine; these options of its setup name this database.
    KnownHere(&'a str),
    /// It is not set up.
    First(&'a str),
}

/// The missing step; `open` is a directory of the socket to which every user may write.
pub fn start(start: Start, open: Option<&str>) -> String {
    const START: &str =
        "systemctl start pgfsbench-helper, or pgfsbench-helper serve where systemd does not run";
    let hint = match start {
        Start::Again => return format!("Start it as root: {START}."),
        Start::KnownHere(options) => format!(
            "It is set up on this machine: start it as root ({START}). If it does not know this database, run once: pgfsbench-helper setup{options} --allow-images DIRECTORY; later: systemctl restart pgfsbench-helper."
        ),
        Start::First(options) => format!(
            "Run as root, once: pgfsbench-helper setup{options} --allow-images DIRECTORY; later: {START}."
        ),
    };
    match open {
        Some(sockets) => format!(
            "{hint} Every user may write to {sockets}, and listen there while the server is down: the helper then does not serve this server. Give unix_socket_directories a directory of the server's user alone."
        ),
        None => hint,
    }
}

pub fn serves() -> Text {
    Text::new("serves", "it serves this database")
}

/// `start` says how to start it.
pub fn does_not_serve(start: String) -> Text {
    let says = "pgfsbench-helper does not serve this database; targets in directories and default work without it";
    Text::new("does_not_serve", says).advise("does_not_serve", start)
}

pub fn version(helper: &str, library: &str) -> Text {
    let says = format!("it is {helper}; that of the extension is {library}");
    let hint = "Install the same version of both, and restart pgfsbench-helper.";
    Text::new("version", says).advise("version", hint)
}

pub fn last_seen(at: &str) -> Text {
    let hint = "Start pgfsbench-helper to have it look again.";
    Text::new("last_seen", format!("the lines below were seen at {at}")).advise("last_seen", hint)
}

pub fn loop_devices(are_there: bool) -> Text {
    let says = match are_there {
        true => "images can be attached",
        false => "images cannot be attached here",
    };
    Text::new("loop_devices", says).advise("loop_devices", "Load the module loop.")
}

/// `why_not` is the helper's.
pub fn no_power_cuts(why_not: &str) -> Text {
    Text::new("no_power_cuts", why_not).advise("no_power_cuts", "Load the module: modprobe fuse.")
}

pub fn power_cuts_not_allowed() -> Text {
    let says = "the helper's configuration does not allow them";
    let hint = format!("Add to it {}.", line_that_allows("power_cuts"));
    Text::new("power_cuts_not_allowed", says).advise("power_cuts_not_allowed", hint)
}

/// `no_log_writes` is the helper's: empty if dm-log-writes can record, None if the helper does not say it.
pub fn power_cuts(no_log_writes: Option<&str>) -> Text {
    let of_log_writes = match no_log_writes {
        None => String::new(),
        Some("") => "; dm-log-writes: also those to devices".to_owned(),
        Some(why_not) => format!("; not those to devices: {why_not}"),
    };
    let says = "recorder: writes to images can be recorded, and cut at any moment";
    Text::new("power_cuts", format!("{says}{of_log_writes}"))
}

/// Words of the helper, passed on.
pub fn helpers(why_not: &str, hint: Option<&str>) -> Text {
    let text = Text::new("helpers", why_not);
    match hint {
        Some(hint) => text.advise("helpers", hint),
        None => text,
    }
}

pub fn no_images() -> Text {
    let says = "the helper's configuration names no directory for images";
    let hint = "Add to /etc/pgfsbench/helper.toml, on three lines: [[images]] directory = \"/DIRECTORY\" max_bytes = \"16GB\"; then restart pgfsbench-helper.";
    Text::new("no_images", says).advise("no_images", hint)
}

/// Bytes.
pub fn images(used: u64, most: u64, free: u64) -> Text {
    let says = format!(
        "{} of {} are used, and its filesystem has {} free",
        format_bytes(used),
        format_bytes(most),
        format_bytes(free)
    );
    Text::new("images", says)
}

pub fn device(bytes: u64, contents: Option<&str>) -> String {
    let contents = contents.unwrap_or("unknown contents");
    format!("{}, holds {contents}", format_bytes(bytes))
}

pub fn prepared(mount_point: &str) -> Text {
    let hint = "A run that is on releases what it has prepared; fsbench.release_target() what was prepared by hand, or is left of a run.";
    Text::new("prepared", format!("it is mounted on {mount_point}")).advise("prepared", hint)
}
