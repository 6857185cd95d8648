//! Lines to be pasted, by what is stored of the runs of the one that is chosen, and checked against the machine where they would be.

use serde_json::Value;

use super::{Advice, Facts, Here, advice};
use crate::{
    experiment::state::State,
    helper::{Filesystem, options},
    quoting,
};

/// Where the database would be.
const DIRECTORY: &str = "/var/lib/postgresql";
/// Of an image it is not known which device it will be.
const SOME_DEVICE: &str = "/dev/disk/by-id/YOUR-DEVICE";

/// The parts of advice that are lines.
pub const PARTS: [&str; 5] = ["mkfs", "fstab", "udev", "sysctl", "postgresql.conf"];

/// The lines for one target. Root pastes them: what is stored is shown only where it is of the kind that such a line has.
pub fn lines(state: &State, f: &Facts, here: &Here) -> Vec<Advice> {
    let mut rows = Vec::new();
    if let Some(what) = not_plain(f) {
        rows.push(advice(
            "not tested",
            format!("{what} as it is stored has characters that no such line has: no lines are shown to be pasted"),
        ));
        return rows;
    }
    let made = matches!(f.kind.as_deref(), Some("device" | "image"));
    let device = f.device.as_deref().filter(|_| made).unwrap_or(SOME_DEVICE);
    if made {
        rows.extend(
            f.mkfs_command
                .as_deref()
                .map(|command| mkfs(command, device)),
        );
        rows.extend(fstab(f, device, here));
    }
    for (name, value) in members(f.block_settings.as_ref()) {
        let disk = disk_of(device);
        rows.push(advice(
            "udev",
            format!(
                "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", ENV{{DEVLINKS}}==\"*{disk}*\", ATTR{{queue/{name}}}=\"{value}\""
            ),
        ));
    }
    for (name, value) in members(f.kernel_settings.as_ref()) {
        rows.push(advice("sysctl", format!("vm.{name} = {value}")));
    }
    let is_for_the_benchmark =
        |name: &str| name == "checkpoint_timeout" && state.experiment.too_short;
    let settings = members(f.settings.as_ref());
    rows.extend(settings_of_server(
        settings
            .into_iter()
            .filter(|(name, _)| !is_for_the_benchmark(name)),
        here,
    ));
    rows
}

/// The first of the facts that is not made of what a shell, fstab and udev leave alone.
fn not_plain(f: &Facts) -> Option<&'static str> {
    let is_fit = |text: &str, besides: &str| {
        let fits =
            |c: char| c.is_ascii_alphanumeric() || "_./=,:@%+-".contains(c) || besides.contains(c);
        text.chars().all(fits)
    };
    let is_plain = |text: &str| is_fit(text, "");
    let are_plain = |object: Option<&Value>| {
        members(object)
            .iter()
            .all(|(name, value)| is_plain(name) && is_plain(value))
    };
    let are_settings = members(f.settings.as_ref()).iter().all(|(name, value)| {
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        name.chars().all(in_name) && !value.contains(char::is_control)
    });
    let holds = |text: &Option<String>, besides: &str| {
        text.as_deref().is_none_or(|text| is_fit(text, besides))
    };
    let makes = |command: &str| {
        let program = command.split(' ').next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        is_fit(command, " ") && (name.starts_with("mkfs.") || name == "zpool")
    };
    [
        (
            "the command of mkfs",
            f.mkfs_command.as_deref().is_none_or(makes),
        ),
        ("the type of the filesystem", holds(&f.filesystem, "")),
        ("the mount options", holds(&f.mount_options, "")),
        ("the device", holds(&f.device, "")),
        ("the version of the kernel", holds(&f.kernel, " #~()")),
        (
            "a setting of the device",
            are_plain(f.block_settings.as_ref()),
        ),
        (
            "a setting of the kernel",
            are_plain(f.kernel_settings.as_ref()),
        ),
        ("a setting of the server", are_settings),
    ]
    .into_iter()
    .find_map(|(what, is_so)| (!is_so).then_some(what))
}

/// As it was made, without what the helper adds: not to be asked, and the UUID of that one filesystem.
fn mkfs(command: &str, device: &str) -> Advice {
    let mut words: Vec<&str> = command.split(' ').collect();
    if words.last().is_some_and(|word| word.starts_with('/')) {
        words.pop();
    }
    loop {
        match words[..] {
            [_, "-q" | "-f" | "-F", ..] => words.remove(1),
            [_, "-U" | "-u", _, ..] => words.drain(1..3).next().unwrap_or_default(),
            [_, "-m", uuid, ..] if uuid.starts_with("uuid=") => {
                words.drain(1..3).next().unwrap_or_default()
            }
            _ => break,
        };
    }
    advice("mkfs", format!("{} {device}", words.join(" ")))
}

/// The line for fstab, with the UUID that mkfs will have chosen; and what the kernel that runs now would say of it.
fn fstab(f: &Facts, device: &str, here: &Here) -> Vec<Advice> {
    let Some(filesystem) = f.filesystem.as_deref().filter(|fs| *fs != "zfs") else {
        return Vec::new();
    };
    let options = f
        .mount_options
        .as_deref()
        .filter(|options| !options.is_empty());
    let mut rows = Vec::new();
    if let Ok(known) = Filesystem::of_name(filesystem)
        && let Err(refusal) =
            options::check_kernel(known, options.unwrap_or_default(), &here.kernel)
    {
        let detail = refusal.detail.unwrap_or_default();
        rows.push(advice("fstab", format!("# {}: {detail}", refusal.message)));
    }
    if let Some(kernel) = f.kernel.as_deref().filter(|kernel| *kernel != here.kernel) {
        rows.push(advice(
            "fstab",
            format!("# measured on Linux {kernel}, and this is {}", here.kernel),
        ));
    }
    // Only those of the ext family are checked when the machine starts.
    let pass = if filesystem.starts_with("ext") { 2 } else { 0 };
    rows.push(advice(
        "fstab",
        format!(
            "echo \"UUID=$(blkid -s UUID -o value {device}) {DIRECTORY} {filesystem} {} 0 {pass}\" >> /etc/fstab",
            options.unwrap_or("defaults")
        ),
    ));
    let mount = match here.has_systemd {
        true => format!("systemctl daemon-reload && mount {DIRECTORY}"),
        false => format!("mount {DIRECTORY}"),
    };
    rows.push(advice("fstab", mount));
    rows
}

/// The link of the disk that a device is a partition of.
fn disk_of(device: &str) -> &str {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match device.rsplit_once("-part") {
        Some((disk, number)) if digits(number) => disk,
        _ => device,
    }
}

fn settings_of_server(
    settings: impl Iterator<Item = (String, String)>,
    here: &Here,
) -> Vec<Advice> {
    let mut rows = Vec::new();
    let (mut reload, mut restart) = (false, false);
    for (name, value) in settings {
        let says = match here.contexts.get(&name).map(String::as_str) {
            None if !name.contains('.') => format!(
                "-- this server has no setting {name}, which was {value} in the server that was measured"
            ),
            Some("internal") => {
                format!("-- {name} was {value}, which is chosen when a cluster is made")
            }
            context => {
                restart |= context == Some("postmaster");
                reload |= context != Some("postmaster");
                format!(
                    "ALTER SYSTEM SET {name} = {};",
                    quoting::sql_literal(&value)
                )
            }
        };
        rows.push(advice("postgresql.conf", says));
    }
    if reload && !restart {
        rows.push(advice("postgresql.conf", "SELECT pg_reload_conf();"));
    }
    if restart {
        rows.push(advice("postgresql.conf", "-- then restart the server"));
    }
    rows
}

fn members(object: Option<&Value>) -> Vec<(String, String)> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn here() -> Here {
        let context = |name: &str, context: &str| (name.to_owned(), context.to_owned());
        Here {
            kernel: "6.1.0".into(),
            has_systemd: true,
            contexts: [
                context("max_wal_size", "sighup"),
                context("shared_buffers", "postmaster"),
                context("data_checksums", "internal"),
            ]
            .into(),
        }
    }

    fn of(f: serde_json::Value, here: &Here) -> Vec<String> {
        let state = json!({
            "experiment": {
                "experiment_id": 1, "experiment": "e", "status": "done", "goal": "best", "metric": "tps", "margin": 0.05,
                "max_blocks": 3, "looks": [], "run_order": [], "run_seconds": 10, "forced": false,
            },
            "targets": [], "runs": [],
        });
        let state: State = serde_json::from_value(state).unwrap();
        let facts: Facts = serde_json::from_value(f).unwrap();
        let rows = lines(&state, &facts, here).into_iter();
        rows.map(|row| format!("{}: {}", row.part, row.says))
            .collect()
    }

    #[test]
    fn lines_of_a_device_can_be_pasted() {
        let device = "/dev/disk/by-id/nvme-A-part2";
        let f = json!({
            "kind": "device", "filesystem": "xfs", "device": device, "kernel": "6.1.0", "mount_options": "noatime",
            "mkfs_command": format!("/sbin/mkfs.xfs -f -m uuid=1-2-3 -i size=1024 {device}"),
            "block_settings": {"scheduler": "none"}, "kernel_settings": {"dirty_bytes": 1_000_000},
            "settings": {"max_wal_size": "4GB"},
        });
        assert_eq!(
            of(f.clone(), &here()),
            [
                "mkfs: /sbin/mkfs.xfs -i size=1024 /dev/disk/by-id/nvme-A-part2",
                "fstab: echo \"UUID=$(blkid -s UUID -o value /dev/disk/by-id/nvme-A-part2) /var/lib/postgresql xfs noatime 0 0\" >> /etc/fstab",
                "fstab: systemctl daemon-reload && mount /var/lib/postgresql",
                "udev: ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", ENV{DEVLINKS}==\"*/dev/disk/by-id/nvme-A*\", ATTR{queue/scheduler}=\"none\"",
                "sysctl: vm.dirty_bytes = 1000000",
                "postgresql.conf: ALTER SYSTEM SET max_wal_size = '4GB';",
                "postgresql.conf: SELECT pg_reload_conf();",
            ]
        );
        let mut there = here();
        there.has_systemd = false;
        assert!(of(f, &there).contains(&"fstab: mount /var/lib/postgresql".to_owned()));
    }

    #[test]
    fn what_somebody_has_forged_is_not_to_be_pasted() {
        let ext4 = json!({"kind": "image", "filesystem": "ext4", "kernel": "6.1.0", "mount_options": "noatime", "mkfs_command": "/sbin/mkfs.ext4 -q /dev/loop3"});
        assert!(of(ext4.clone(), &here()).len() > 2);
        for (member, value) in [
            ("mkfs_command", json!("curl x | sh; mkfs.ext4 /dev/loop3")),
            ("mkfs_command", json!("rm -rf /")),
            ("mkfs_command", json!("/sbin/mkfs.ext4 (reboot)")),
            ("mount_options", json!("noatime$(reboot)")),
            ("filesystem", json!("ext4\nUUID=x / xfs")),
            ("kernel", json!("6.1\nreboot")),
            (
                "block_settings",
                json!({"scheduler": "none\", RUN+=\"/bin/sh"}),
            ),
            (
                "kernel_settings",
                json!({"dirty_bytes": "1; kernel.core_pattern=|x"}),
            ),
            ("settings", json!({"archive_command": "a\n\\! reboot"})),
            ("settings", json!({"x = 1; DROP TABLE y": "1"})),
        ] {
            let mut forged = ext4.clone();
            forged[member] = value;
            let rows = of(forged, &here());
            assert!(
                matches!(&rows[..], [row] if row.contains("no lines are shown")),
                "{rows:?}"
            );
        }
    }

    #[test]
    fn what_this_machine_does_not_have_is_said() {
        let f = json!({
            "kind": "image", "filesystem": "xfs", "kernel": "4.18.0", "mount_options": "nobarrier",
            "mkfs_command": "/sbin/mkfs.ext4 -q -F -U 1 -E lazy_itable_init=0 /dev/loop3",
            "settings": {"io_method": "worker", "data_checksums": "on", "shared_buffers": "1GB"},
        });
        let rows = of(f, &here());
        assert_eq!(
            rows[0],
            "mkfs: /sbin/mkfs.ext4 -E lazy_itable_init=0 /dev/disk/by-id/YOUR-DEVICE"
        );
        assert!(rows[1].contains("\"nobarrier\" of xfs is gone"), "{rows:?}");
        assert_eq!(
            rows[2],
            "fstab: # measured on Linux 4.18.0, and this is 6.1.0"
        );
        let settings: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.strip_prefix("postgresql.conf: "))
            .collect();
        assert_eq!(
            settings,
            [
                "-- data_checksums was on, which is chosen when a cluster is made",
                "-- this server has no setting io_method, which was worker in the server that was measured",
                "ALTER SYSTEM SET shared_buffers = '1GB';",
                "-- then restart the server",
            ]
        );
    }
}
