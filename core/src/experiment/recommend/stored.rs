//! Stored columns of a run from which lines for root and superusers are made. Rows may come from a forged dump. So only values that the helper and a
//! target's server would take from pgfsbench are used.

use serde::Deserialize;
use serde_json::Value;

use super::{Facts, layout_of, layout_options_of};
use crate::{
    escape,
    helper::{
        BlockSettings, Filesystem, KernelSettings, filesystem::DIRECTORIES, options,
        request::check_device_path,
    },
    server_setting,
    texts::recommend::untested::Stored,
};

/// Stands where the device of a filesystem was. Of several, each has a number behind it.
pub const SOME_DEVICE: &str = "/dev/disk/by-id/YOUR-DEVICE";
/// Stands where the device of a log was, which is not known.
pub const SOME_LOG: &str = "/dev/disk/by-id/YOUR-LOG-DEVICE";

/// Profiles of btrfs over several devices.
const PROFILES: [&str; 4] = ["single", "raid0", "raid1", "raid10"];
/// Words of zpool between devices.
const OF_POOL: [&str; 3] = ["mirror", "raidz", "log"];

/// The helper's own properties of a pool's uppermost dataset.
const OF_ROOT: [&str; 4] = [
    "canmount=off",
    "mountpoint=none",
    "setuid=off",
    "devices=off",
];

/// Whether its filesystem was made for it: else nothing is said of that.
pub fn is_made(f: &Facts) -> bool {
    matches!(f.kind.as_deref(), Some("device" | "image"))
}

/// The first of the facts that pgfsbench would not have stored so.
pub fn not_ours(f: &Facts) -> Option<Stored> {
    let filesystem = f.filesystem.as_deref().map(Filesystem::of_name);
    let is_known = !matches!(filesystem, Some(Err(_)));
    let mounts = |options: &str| match &filesystem {
        Some(Ok(filesystem)) => options::mount_options(*filesystem, options).is_ok(),
        _ => true,
    };
    let is_release = |kernel: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._+~-".contains(c);
        kernel.chars().all(fits)
    };
    let is_setting = |(name, value): &(String, String)| {
        server_setting::check_name(name).is_ok() && !value.chars().any(escape::is_unseen)
    };
    let of_making = [
        (
            Stored::Mkfs,
            f.mkfs_command.as_deref().is_none_or(|c| mkfs(c).is_some()),
        ),
        (Stored::Filesystem, is_known),
        (
            Stored::MountOptions,
            f.mount_options.as_deref().is_none_or(mounts),
        ),
        (
            Stored::Device,
            f.device
                .as_deref()
                .is_none_or(|path| check_device_path(path).is_ok()),
        ),
        (Stored::LayoutOptions, has_own_layout_options(f)),
        (Stored::Kernel, f.kernel.as_deref().is_none_or(is_release)),
    ];
    let of_settings = [
        (
            Stored::DeviceSetting,
            f.block_settings.as_ref().is_none_or(|given| {
                BlockSettings::deserialize(given).is_ok_and(|s| s.check().is_ok())
            }),
        ),
        (
            Stored::KernelSetting,
            f.kernel_settings.as_ref().is_none_or(|given| {
                KernelSettings::deserialize(given).is_ok_and(|s| s.check().is_ok())
            }),
        ),
        (
            Stored::ServerSetting,
            members(f.settings.as_ref()).iter().all(is_setting),
        ),
    ];
    let of_making = of_making.into_iter().filter(|_| is_made(f));
    of_making
        .chain(of_settings)
        .find_map(|(what, is_so)| (!is_so).then_some(what))
}

/// Whether its layout takes the options that are stored; true without any.
fn has_own_layout_options(f: &Facts) -> bool {
    let takes = |(layout, _)| layout_options_of(f, layout).is_some();
    f.layout_options.is_none() || layout_of(f).is_some_and(takes)
}

/// The command that made a filesystem, to be given again: with other devices, and without what the helper adds: not to be asked, and the
/// UUID of that one filesystem. None if the helper gives no such command.
pub fn mkfs(command: &str) -> Option<String> {
    let (program, rest) = command.split_once(' ')?;
    let (directory, name) = program.rsplit_once('/')?;
    let mut all = Filesystem::ALL.into_iter();
    let filesystem = all.find(|filesystem| filesystem.mkfs_program() == name)?;
    let words: Vec<&str> = rest.split(' ').collect();
    if !DIRECTORIES.contains(&directory) {
        return None;
    }
    let (words, layout) = words.split_at(words.len() - words_of_layout(filesystem, &words));
    let given = match filesystem {
        Filesystem::Zfs => of_pool(words)?,
        _ => of_mkfs(filesystem, words)?,
    };
    let layout = with_other_devices(layout)?;
    Some(
        [&[program.to_owned()], &given[..], &layout]
            .concat()
            .join(" "),
    )
}

/// Whether a command of `mkfs()` names several devices.
pub fn has_several(command: &str) -> bool {
    command.contains(&format!("{SOME_DEVICE}-1"))
}

/// The words at the end of a command that name its devices.
fn words_of_layout(filesystem: Filesystem, words: &[&str]) -> usize {
    let is_device = |word: &str| check_device_path(word).is_ok();
    let (most, between): (_, &[&str]) = match filesystem {
        Filesystem::Zfs => (words.len(), &OF_POOL),
        Filesystem::Btrfs => (words.len(), &[]),
        _ => (1, &[]),
    };
    let last = words.iter().rev().take(most);
    last.take_while(|&&word| is_device(word) || between.contains(&word))
        .count()
}

/// None if no device is where one has to be.
fn with_other_devices(layout: &[&str]) -> Option<Vec<String>> {
    let is_device = |word: &&&str| word.starts_with('/');
    let of_log = layout.iter().position(|&word| word == "log");
    let (data, log) = layout.split_at(of_log.unwrap_or(layout.len()));
    let mut others = Vec::new();
    for (words, other) in [(data, SOME_DEVICE), (log, SOME_LOG)] {
        let devices = words.iter().filter(is_device).count();
        let mut number = 0;
        for word in words {
            others.push(match (is_device(&word), devices) {
                (false, _) => (*word).to_owned(),
                (true, 1) => other.to_owned(),
                (true, _) => {
                    number += 1;
                    format!("{other}-{number}")
                }
            });
        }
    }
    let are_there = data.last().is_some_and(|word| is_device(&word))
        && log.last().is_none_or(|word| is_device(&word));
    are_there.then_some(others)
}

/// Whether it has an xfs with an external log, which mount needs as an option.
pub fn has_log(command: &str) -> bool {
    command.contains(" logdev=")
}

fn of_mkfs(filesystem: Filesystem, words: &[&str]) -> Option<Vec<String>> {
    let mut words = words;
    loop {
        words = match words {
            ["-q" | "-f" | "-F", rest @ ..] | ["-U" | "-u", _, rest @ ..] => rest,
            ["-m", uuid, rest @ ..] if uuid.starts_with("uuid=") => rest,
            _ => break,
        };
    }
    let accepted = |words: &[&str]| options::mkfs_arguments(filesystem, &words.join(" ")).ok();
    // So are the profiles of several devices.
    let profiles = words.iter().rposition(|&word| word == "-d");
    if let (Filesystem::Btrfs, Some(place)) = (filesystem, profiles)
        && let (given, ["-d", profiles @ ..]) = words.split_at(place)
        && let [data] | [data, "-m", _] = profiles
        && PROFILES.contains(data)
        && profiles.last().is_some_and(|last| PROFILES.contains(last))
    {
        let mut arguments = accepted(given)?;
        arguments.extend(words[place..].iter().map(|&word| word.to_owned()));
        return Some(arguments);
    }
    // A log of its own is the last thing that the helper adds.
    let of_log = match filesystem {
        Filesystem::Xfs => Some(("-l", "logdev=")),
        Filesystem::Ext3 | Filesystem::Ext4 => Some(("-J", "device=")),
        _ => None,
    };
    if let (Some((name, key)), [given @ .., option, log]) = (of_log, words)
        && *option == name
        && let Some(log) = log.strip_prefix(key)
    {
        let (device, more) = log.split_once(',').unwrap_or((log, ""));
        check_device_path(device).ok()?;
        let mut arguments = accepted(given)?;
        let mut log = format!("{key}{SOME_LOG}");
        if !more.is_empty() {
            log += &format!(",{}", accepted(&[name, more])?.pop()?);
        }
        arguments.extend([name.to_owned(), log]);
        return Some(arguments);
    }
    accepted(words)
}

fn of_pool(words: &[&str]) -> Option<Vec<String>> {
    let ["create", options @ .., pool] = words else {
        return None;
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if !pool.starts_with(|c: char| c.is_ascii_alphabetic()) || !pool.chars().all(fits) {
        return None;
    }
    let mut given = vec!["create"];
    let mut options = options;
    loop {
        options = match options {
            ["-f", rest @ ..] | ["-o", "cachefile=none", rest @ ..] => rest,
            [option @ "-o", property, rest @ ..] => {
                options::pool_properties(property).ok()?;
                given.extend([option, property]);
                rest
            }
            [option @ "-O", property, rest @ ..] if OF_ROOT.contains(property) => {
                given.extend([option, property]);
                rest
            }
            [] => break,
            _ => return None,
        };
    }
    given.push(pool);
    Some(given.into_iter().map(str::to_owned).collect())
}

/// Names and values of an object, as texts.
pub fn members(object: Option<&Value>) -> Vec<(String, String)> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let members = object.and_then(Value::as_object).into_iter().flatten();
    members
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn whatever_the_helper_gives_is_known_again() {
        for filesystem in Filesystem::ALL {
            let own = match filesystem {
                Filesystem::Zfs => {
                    "create -f -o cachefile=none -O canmount=off -O mountpoint=none -O setuid=off -O devices=off -o ashift=12 pgfsbench-bench:t".into()
                }
                _ => filesystem.own_arguments("1-2-3").join(" "),
            };
            for directory in DIRECTORIES {
                let program = format!("{directory}/{}", filesystem.mkfs_program());
                let kept = match filesystem {
                    Filesystem::Zfs => {
                        " create -O canmount=off -O mountpoint=none -O setuid=off -O devices=off -o ashift=12 pgfsbench-bench:t"
                    }
                    _ => "",
                };
                let own = [own.as_str()].into_iter().filter(|own| !own.is_empty());
                let words: Vec<&str> = [program.as_str()].into_iter().chain(own).collect();
                let command = format!("{} /dev/loop0p1", words.join(" "));
                assert_eq!(
                    mkfs(&command),
                    Some(format!("{program}{kept} {SOME_DEVICE}")),
                    "{command}"
                );
            }
        }
    }

    #[test]
    fn options_stay_and_devices_do_not() {
        for (command, again) in [
            (
                "/usr/sbin/mkfs.ext4 -q -F -U 1-2 -b 4096 -E stride=2,lazy_itable_init=0 /dev/disk/by-id/nvme-A_1-part2",
                "/usr/sbin/mkfs.ext4 -b 4096 -E stride=2,lazy_itable_init=0 /dev/disk/by-id/YOUR-DEVICE",
            ),
            (
                "/sbin/mkfs.ext4 -q -F -U 1 -b 4096 -J size=64 -J device=/dev/sdb /dev/sda",
                "/sbin/mkfs.ext4 -b 4096 -J size=64 -J device=/dev/disk/by-id/YOUR-LOG-DEVICE /dev/disk/by-id/YOUR-DEVICE",
            ),
            (
                "/sbin/mkfs.xfs -f -m uuid=1 -m crc=1 -l version=2 -l logdev=/dev/loop8,size=2136997888 /dev/loop7",
                "/sbin/mkfs.xfs -m crc=1 -l version=2 -l logdev=/dev/disk/by-id/YOUR-LOG-DEVICE,size=2136997888 /dev/disk/by-id/YOUR-DEVICE",
            ),
            (
                "/sbin/mkfs.btrfs -f -U 1 -K --csum xxhash /dev/loop7",
                "/sbin/mkfs.btrfs -K --csum xxhash /dev/disk/by-id/YOUR-DEVICE",
            ),
            (
                "/sbin/mkfs.btrfs -f -U 1 -K -d raid1 -m raid1 /dev/loop7 /dev/loop8",
                "/sbin/mkfs.btrfs -K -d raid1 -m raid1 /dev/disk/by-id/YOUR-DEVICE-1 /dev/disk/by-id/YOUR-DEVICE-2",
            ),
            (
                "/sbin/mkfs.btrfs -f -U 1 -m dup -d single /dev/loop7 /dev/loop8",
                "/sbin/mkfs.btrfs -m dup -d single /dev/disk/by-id/YOUR-DEVICE-1 /dev/disk/by-id/YOUR-DEVICE-2",
            ),
            (
                "/sbin/zpool create -f -o cachefile=none tank mirror /dev/sda1 /dev/sdb1 log /dev/sdc1",
                "/sbin/zpool create tank mirror /dev/disk/by-id/YOUR-DEVICE-1 /dev/disk/by-id/YOUR-DEVICE-2 log /dev/disk/by-id/YOUR-LOG-DEVICE",
            ),
            (
                "/sbin/zpool create -f -o cachefile=none tank /dev/sda1 log mirror /dev/sdc1 /dev/sdd1",
                "/sbin/zpool create tank /dev/disk/by-id/YOUR-DEVICE log mirror /dev/disk/by-id/YOUR-LOG-DEVICE-1 /dev/disk/by-id/YOUR-LOG-DEVICE-2",
            ),
        ] {
            assert_eq!(mkfs(command).as_deref(), Some(again));
        }
        assert!(has_log("mkfs.xfs -l logdev=/dev/x") && !has_log("mkfs.ext4 -J device=/dev/x"));
    }

    #[test]
    fn no_other_command_is_one_of_the_helper() {
        for command in [
            "",
            "reboot",
            "/sbin/mkfs.ext4",
            "mkfs.ext4 /dev/loop3",
            "./mkfs.ext4 /dev/loop3",
            "/tmp/mkfs.ext4 /dev/loop3",
            "/tmp/mkfs.x /dev/loop3",
            "/usr/sbin/../../tmp/mkfs.ext4 /dev/loop3",
            "/usr/local/sbin/mkfs.ext4 /dev/loop3",
            "/sbin/mkfs.x /dev/loop3",
            "/sbin/mkfs.ext4 -b 4096 -F /dev/sda /dev/loop3",
            "/sbin/mkfs.ext4 /dev/sda /dev/loop3",
            "/sbin/mkfs.ext4 -b 4096 -F /dev/loop3",
            "/sbin/mkfs.ext4 -J device=/etc/passwd /dev/loop3",
            "/sbin/mkfs.ext4 -J device=/dev/../etc/passwd /dev/loop3",
            "/sbin/mkfs.xfs -l logdev=/dev/x,size=1;reboot /dev/loop3",
            "/sbin/mkfs.xfs -l logdev=/dev/x,logdev=/dev/y /dev/loop3",
            "/sbin/mkfs.xfs -l logdev=/dev/x -d name=/dev/sda /dev/loop3",
            "/sbin/mkfs.xfs -r rtdev=/dev/sda /dev/loop3",
            "/sbin/mkfs.btrfs -r /root /dev/loop3",
            "/sbin/mkfs.btrfs -J device=/dev/x /dev/loop3",
            "/sbin/mkfs.ext4 -q /etc/passwd",
            "/sbin/mkfs.ext4 -q /dev/../etc/passwd",
            "/sbin/mkfs.ext4 -q /dev/loop3 ",
            "/sbin/mkfs.ext4 -q /dev/loop3\u{202e}",
            "/sbin/mkfs.ext4 -q /dev/loop3\nreboot",
            "/sbin/mkfs.ext4 -q /dev/loop3;reboot",
            "/sbin/zpool destroy tank",
            "/sbin/zpool destroy /dev/tank",
            "/sbin/zpool create /dev/loop3",
            "/sbin/zpool create -R /mnt tank /dev/loop3",
            "/sbin/zpool create -o cachefile=/etc/passwd tank /dev/loop3",
            "/sbin/zpool create -O mountpoint=/etc tank /dev/loop3",
            "/sbin/zpool create tank /dev/sda log",
            "/sbin/zpool create tank log /dev/sda",
            "/sbin/mkfs.btrfs -f -d raid1 -m /dev/sda /dev/loop3",
            "/sbin/mkfs.btrfs -f -d raid5 -m raid1 /dev/sda /dev/loop3",
        ] {
            assert_eq!(mkfs(command), None, "{command}");
        }
    }

    #[test]
    fn settings_are_those_of_targets() {
        let of = |member: &str, value: Value| {
            let facts = json!({"kind": "directory", member: value});
            not_ours(&serde_json::from_value(facts).unwrap())
        };
        for (member, value) in [
            (
                "settings",
                json!({"max_wal_size": "4GB", "wal_sync_method": "fdatasync"}),
            ),
            ("settings", json!({"pg_stat_statements.track": "none"})),
            ("block_settings", json!({"scheduler": "none"})),
            ("kernel_settings", json!({"dirty_ratio": 10})),
            // It is in no line of these.
            ("filesystem", json!("fuse.x")),
        ] {
            assert_eq!(of(member, value), None);
        }
        for (member, value) in [
            ("settings", json!({"archive_command": "curl x|sh"})),
            ("settings", json!({"ARCHIVE_COMMAND": "curl x|sh"})),
            ("settings", json!({"shared_preload_libraries": "/tmp/x"})),
            ("settings", json!({"include": "/tmp/x"})),
            ("settings", json!({"work_mem": "1MB\u{202e}"})),
            ("block_settings", json!({"../../x": "1"})),
            ("block_settings", json!({"scheduler": "../x"})),
            // sysctl takes this for kernel.modprobe.
            ("kernel_settings", json!({"//.kernel.modprobe": "/tmp/x"})),
            ("kernel_settings", json!({"overcommit_memory": 1})),
            ("kernel_settings", json!("dirty_ratio")),
        ] {
            assert!(of(member, value.clone()).is_some(), "{member}: {value}");
        }
    }

    proptest! {
        #[test]
        fn what_is_pasted_names_no_device_and_no_second_command(
            words in prop::collection::vec("-[qfFUmlJobO]|uuid=1|(logdev|device)=/dev/[a-z./]{1,4}(,size=1)?|[a-z0-9=,;$|/ -]{0,8}|create|tank", 0..6),
            program in "(/usr|/tmp)?/s?bin/(mkfs\\.(ext4|xfs|btrfs|x)|zpool)",
        ) {
            let command = format!("{program} {} /dev/loop3", words.join(" "));
            if let Some(again) = mkfs(&command) {
                let again = again.replace(SOME_LOG, "").replace(&format!(" {SOME_DEVICE}"), "");
                prop_assert!(!again[1..].contains(" /") && !again.contains("=/") && !again.contains([';', '$', '|']), "{again}");
                prop_assert!(!again.starts_with("/tmp"));
            }
        }
    }
}
