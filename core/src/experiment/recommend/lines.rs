//! Lines to be pasted, by what is stored of the runs of the one that is chosen, and checked against the machine where they would be.

use super::{
    Advice, Facts, ThisServer,
    stored::{self, SOME_DEVICE, SOME_LOG, members},
    to_paste, untested as not_tested,
};
use crate::{
    experiment::state::State,
    helper::{Filesystem, Layout, LayoutOptions, layout::Maker, options},
    texts::recommend::{
        lines::{self as text, Fstab},
        untested,
    },
};

/// Where the database would be.
const DIRECTORY: &str = "/var/lib/postgresql";

/// The array of the filesystem, and that of its log, as the lines make them.
const ARRAY: &str = "/dev/md0";
const ARRAY_OF_LOG: &str = "/dev/md1";

/// The lines for one target. Root pastes them: what is stored is shown only where it is of the kind that such a line has.
pub fn lines(state: &State, f: &Facts, here: &ThisServer) -> Vec<Advice> {
    let mut rows = Vec::new();
    if let Some(what) = stored::not_ours(f) {
        rows.push(not_tested(untested::lines(what)));
        return rows;
    }
    let made = stored::is_made(f);
    let command = f.mkfs_command.as_deref().and_then(stored::mkfs);
    let several = command.as_deref().is_some_and(stored::has_several);
    let of_run = f.device.as_deref().filter(|_| made && !several);
    let erased = of_run.unwrap_or(SOME_DEVICE);
    let first = format!("{SOME_DEVICE}-1");
    let device = if several { &first } else { erased };
    if made {
        if let Some((layout, members)) = super::layout_of(f).filter(|_| !several) {
            let options = super::layout_options_of(f, layout).unwrap_or_default();
            let names = (ARRAY, SOME_DEVICE);
            rows.extend(array(layout, &options, members, names));
        }
        if let Some((layout, devices)) = super::log_layout_of(f) {
            let names = (ARRAY_OF_LOG, SOME_LOG);
            rows.extend(array(layout, &LayoutOptions::default(), devices, names));
        }
        if let Some(command) = command {
            let is_device =
                |word: &&str| word.starts_with(SOME_DEVICE) || word.starts_with(SOME_LOG);
            for word in command.split(' ').filter(is_device) {
                let device = word.replace(SOME_DEVICE, erased);
                rows.push(to_paste("mkfs", text::device_is_erased(&device)));
            }
            rows.push(to_paste("mkfs", command.replace(SOME_DEVICE, erased)));
        }
        rows.extend(fstab(f, device, here));
    }
    for (name, value) in members(f.block_settings.as_ref()) {
        let disk = disk_of(device);
        rows.push(to_paste("udev", text::udev(disk, &name, &value)));
    }
    for (name, value) in members(f.kernel_settings.as_ref()) {
        rows.push(to_paste("sysctl", text::sysctl(&name, &value)));
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

/// The lines that make an array over this number of devices. Each device has the array's placeholder, with a number behind it.
fn array(
    layout: Layout,
    options: &LayoutOptions,
    members: usize,
    (array, stands_for_it): (&str, &str),
) -> Vec<Advice> {
    let (_, short) = stands_for_it.rsplit_once('/').unwrap_or_default();
    if layout.maker() != Maker::Md {
        let chunk = options.chunk_bytes(layout);
        let line = text::layout_comes_first(layout.name(), members, chunk, short);
        return vec![to_paste("mkfs", line)];
    }
    let devices: Vec<String> = (1..=members)
        .map(|number| format!("{stands_for_it}-{number}"))
        .collect();
    let options = options.mdadm_options(layout, members);
    let erased = text::members_are_erased(members, short, array);
    let command = text::mdadm(array, &options, &devices);
    vec![to_paste("mkfs", erased), to_paste("mkfs", command)]
}

/// The line for fstab, with the UUID that mkfs will have chosen; and what the kernel that runs now would say of it.
fn fstab(f: &Facts, device: &str, here: &ThisServer) -> Vec<Advice> {
    let Some(filesystem) = f.filesystem.as_deref().filter(|fs| *fs != "zfs") else {
        return Vec::new();
    };
    let has_log = f.mkfs_command.as_deref().is_some_and(stored::has_log);
    let log = has_log.then(|| format!("logdev={SOME_LOG}"));
    // Around commas there may be blanks, which end a word in fstab.
    let given = f.mount_options.as_deref().unwrap_or_default();
    let given = given.replace(' ', "");
    let given = (!given.is_empty()).then_some(given);
    let options: Vec<String> = given.into_iter().chain(log).collect();
    let options = match options.is_empty() {
        true => "defaults".to_owned(),
        false => options.join(","),
    };
    let mut rows = Vec::new();
    if let Ok(known) = Filesystem::of_name(filesystem)
        && let Err(refusal) = options::check_kernel(known, &options, &here.kernel)
    {
        let detail = refusal.detail.unwrap_or_default();
        rows.push(to_paste(
            "fstab",
            text::not_on_this_kernel(&refusal.message, &detail),
        ));
    }
    if let Some(kernel) = f.kernel.as_deref().filter(|kernel| *kernel != here.kernel) {
        rows.push(to_paste("fstab", text::measured_on(kernel, &here.kernel)));
    }
    rows.push(to_paste(
        "fstab",
        text::directory_stands_for_yours(DIRECTORY),
    ));
    // Only those of the ext family are checked when the machine starts.
    let pass = if filesystem.starts_with("ext") { 2 } else { 0 };
    rows.push(to_paste(
        "fstab",
        text::fstab(Fstab {
            device,
            directory: DIRECTORY,
            filesystem,
            options: &options,
            pass,
        }),
    ));
    let mount = text::mount(DIRECTORY, here.has_systemd);
    rows.push(to_paste("fstab", mount));
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
    here: &ThisServer,
) -> Vec<Advice> {
    let mut rows = Vec::new();
    let (mut reload, mut restart) = (false, false);
    for (name, value) in settings {
        let says = match here.contexts.get(&name).map(String::as_str) {
            None if !name.contains('.') => text::no_such_setting(&name, &value),
            Some("internal") => text::setting_of_cluster(&name, &value),
            context => {
                restart |= context == Some("postmaster");
                reload |= context != Some("postmaster");
                text::alter_system(&name, &value)
            }
        };
        rows.push(Advice {
            setting: Some((name, value)),
            ..to_paste("postgresql.conf", says)
        });
    }
    if reload && !restart {
        rows.push(to_paste("postgresql.conf", text::RELOAD));
    }
    if restart {
        rows.push(to_paste("postgresql.conf", text::RESTART));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn here() -> ThisServer {
        let context = |name: &str, context: &str| (name.to_owned(), context.to_owned());
        ThisServer {
            kernel: "6.1.0".into(),
            has_systemd: true,
            contexts: [
                context("max_wal_size", "sighup"),
                context("shared_buffers", "postmaster"),
                context("data_checksums", "internal"),
            ]
            .into(),
            data_checksums: false,
        }
    }

    fn of(f: serde_json::Value, here: &ThisServer) -> Vec<String> {
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
    fn an_array_is_made_before_its_filesystem() {
        let raid10 = json!({
            "kind": "device", "filesystem": "xfs", "kernel": "6.1.0", "layout": "raid10", "members": 4,
            "layout_options": {"chunk": "256k", "bitmap": "internal", "copies": "f2"},
            "mkfs_command": "/sbin/mkfs.xfs -f -m uuid=1-2-3 -d su=262144,sw=2 /dev/md127",
        });
        let devices = "/dev/disk/by-id/YOUR-DEVICE-1 /dev/disk/by-id/YOUR-DEVICE-2 /dev/disk/by-id/YOUR-DEVICE-3 /dev/disk/by-id/YOUR-DEVICE-4";
        assert_eq!(
            of(raid10.clone(), &here())[..4],
            [
                "mkfs: # what YOUR-DEVICE-1 to YOUR-DEVICE-4 hold is lost: below, YOUR-DEVICE stands for /dev/md0",
                &format!(
                    "mkfs: mdadm --create /dev/md0 --level=raid10 --raid-devices=4 --chunk=256K --layout=f2 --bitmap=internal {devices}"
                ),
                "mkfs: # what /dev/disk/by-id/YOUR-DEVICE holds is lost",
                "mkfs: /sbin/mkfs.xfs -d su=262144,sw=2 /dev/disk/by-id/YOUR-DEVICE",
            ]
        );
        let second = |layout: &str, options: serde_json::Value| {
            let mut f = raid10.clone();
            (f["layout"], f["layout_options"]) = (json!(layout), options);
            of(f, &here()).swap_remove(1)
        };
        assert_eq!(
            second("raid5", json!({"consistency_policy": "ppl"})),
            format!(
                "mkfs: mdadm --create /dev/md0 --level=raid5 --raid-devices=4 --chunk=512K --consistency-policy=ppl {devices}"
            )
        );
        assert_eq!(
            second("raid1", json!(null)),
            format!(
                "mkfs: mdadm --create /dev/md0 --level=raid1 --raid-devices=4 --bitmap=none {devices}"
            )
        );
        // Forged.
        for (member, value) in [
            ("layout_options", json!({"chunk": "64k;reboot"})),
            ("layout_options", json!({"copies": "n2 /dev/sda"})),
            ("layout_options", json!(["chunk"])),
            ("layout", json!("raid99")),
        ] {
            let mut forged = raid10.clone();
            forged[member] = value;
            let rows = of(forged, &here());
            assert!(
                matches!(&rows[..], [row] if row.contains("layout_options is not stored")),
                "{rows:?}"
            );
        }
    }

    #[test]
    fn a_volume_is_described_and_the_array_of_a_log_is_made() {
        let first = |layout: &str, options: serde_json::Value| {
            let f = json!({
                "kind": "device", "filesystem": "ext4", "kernel": "6.1.0", "layout": layout, "members": 4, "layout_options": options,
                "mkfs_command": "/sbin/mkfs.ext4 -q -F -U 1-2-3 /dev/dm-8",
            });
            of(f, &here()).swap_remove(0)
        };
        assert_eq!(
            first("lvm-raid5", json!({"chunk": "128k"})),
            "mkfs: # make lvm-raid5 of 4 devices first, with chunks of 128 kB: YOUR-DEVICE stands for it"
        );
        assert_eq!(
            first("lvm-raid1", json!(null)),
            "mkfs: # make lvm-raid1 of 4 devices first: YOUR-DEVICE stands for it"
        );
        let f = json!({
            "kind": "image", "filesystem": "ext4", "kernel": "6.1.0", "log_devices": 2,
            "mkfs_command": "/sbin/mkfs.ext4 -q -F -U 1-2-3 -J device=/dev/md127 /dev/loop3",
        });
        assert_eq!(
            of(f, &here())[..2],
            [
                "mkfs: # what YOUR-LOG-DEVICE-1 to YOUR-LOG-DEVICE-2 hold is lost: below, YOUR-LOG-DEVICE stands for /dev/md1",
                "mkfs: mdadm --create /dev/md1 --level=raid1 --raid-devices=2 --bitmap=none /dev/disk/by-id/YOUR-LOG-DEVICE-1 /dev/disk/by-id/YOUR-LOG-DEVICE-2",
            ]
        );
    }

    #[test]
    fn a_filesystem_over_several_devices_is_made_at_once() {
        let f = json!({
            "kind": "device", "filesystem": "btrfs", "kernel": "6.1.0", "layout": "btrfs-raid1", "members": 2,
            "mkfs_command": "/sbin/mkfs.btrfs -f -U 1-2-3 -d raid1 -m raid1 /dev/sdb /dev/sdc",
        });
        let rows = of(f, &here());
        assert_eq!(
            rows[..3],
            [
                "mkfs: # what /dev/disk/by-id/YOUR-DEVICE-1 holds is lost",
                "mkfs: # what /dev/disk/by-id/YOUR-DEVICE-2 holds is lost",
                "mkfs: /sbin/mkfs.btrfs -d raid1 -m raid1 /dev/disk/by-id/YOUR-DEVICE-1 /dev/disk/by-id/YOUR-DEVICE-2",
            ]
        );
        let fstab = rows.iter().find(|row| row.contains("blkid"));
        assert!(
            fstab
                .unwrap()
                .contains("value /dev/disk/by-id/YOUR-DEVICE-1)"),
            "{rows:?}"
        );
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
                "mkfs: # what /dev/disk/by-id/nvme-A-part2 holds is lost",
                "mkfs: /sbin/mkfs.xfs -i size=1024 /dev/disk/by-id/nvme-A-part2",
                "fstab: # /var/lib/postgresql stands for where your data are; what is there now is hidden by the mount: stop the server first, and copy its data to the new filesystem",
                "fstab: echo \"UUID=$(blkid -s UUID -o value /dev/disk/by-id/nvme-A-part2) /var/lib/postgresql xfs noatime 0 0\" >> /etc/fstab",
                "fstab: systemctl daemon-reload && mount /var/lib/postgresql",
                "udev: ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", ENV{DEVLINKS}==\"*/dev/disk/by-id/nvme-A*\", ATTR{queue/scheduler}=\"none\"",
                "sysctl: vm.dirty_bytes = 1000000",
                "postgresql.conf: ALTER SYSTEM SET max_wal_size = '4GB';",
                "postgresql.conf: SELECT pg_reload_conf();",
            ]
        );
        let mut apart = f.clone();
        apart["mkfs_command"] = json!(format!("/sbin/mkfs.xfs -f -l logdev=/dev/sdc {device}"));
        apart["mount_options"] = json!("noatime, logbufs=8");
        let rows = of(apart, &here());
        assert_eq!(
            rows[1],
            format!("mkfs: /sbin/mkfs.xfs -l logdev={SOME_LOG} {device}")
        );
        let options = format!(" xfs noatime,logbufs=8,logdev={SOME_LOG} 0 0");
        assert!(rows[3].contains(&options), "{}", rows[3]);
        let mut there = here();
        there.has_systemd = false;
        assert!(of(f, &there).contains(&"fstab: mount /var/lib/postgresql".to_owned()));
    }

    #[test]
    fn lines_about_settings_have_their_names_and_values() {
        let settings = json!({"max_wal_size": "4GB", "data_checksums": "on", "no_such": "it's", "ssl_key": "a, which b"});
        let rows = settings_of_server(members(Some(&settings)).into_iter(), &here());
        let about: Vec<(&str, &str)> = (rows.iter())
            .filter_map(|row| row.setting.as_ref())
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            about,
            [
                ("data_checksums", "on"),
                ("max_wal_size", "4GB"),
                ("no_such", "it's"),
                ("ssl_key", "a, which b")
            ]
        );
        assert_eq!(rows.len(), 5);
    }

    #[test]
    fn what_somebody_has_forged_is_not_to_be_pasted() {
        let ext4 = json!({"kind": "image", "filesystem": "ext4", "kernel": "6.1.0", "mount_options": "noatime", "mkfs_command": "/sbin/mkfs.ext4 -q /dev/loop3"});
        assert!(of(ext4.clone(), &here()).len() > 2);
        for (member, value) in [
            ("mkfs_command", json!("curl x | sh; mkfs.ext4 /dev/loop3")),
            ("mkfs_command", json!("rm -rf /")),
            ("mkfs_command", json!("/sbin/mkfs.ext4 (reboot)")),
            ("mkfs_command", json!("/tmp/mkfs.ext4 /dev/loop3")),
            (
                "mkfs_command",
                json!("/sbin/mkfs.ext4 -b 4096 -F /dev/sda /dev/loop3"),
            ),
            ("mkfs_command", json!("/sbin/zpool destroy tank")),
            ("device", json!("/dev/../etc/passwd")),
            ("mount_options", json!("noatime,x-systemd.requires=x")),
            ("filesystem", json!("fuse.x")),
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
            ("settings", json!({"work_mem": "a\n\\! reboot"})),
            ("settings", json!({"archive_command": "curl x|sh"})),
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
            rows[1],
            "mkfs: /sbin/mkfs.ext4 -E lazy_itable_init=0 /dev/disk/by-id/YOUR-DEVICE"
        );
        assert!(rows[2].contains("\"nobarrier\" of xfs is gone"), "{rows:?}");
        assert_eq!(
            rows[3],
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
