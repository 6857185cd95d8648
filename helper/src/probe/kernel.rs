//! Which filesystems this kernel has.

use crate::exec;
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::refusal::Refusal;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It is there.
    Present,
    /// There is a module, which the kernel loads when it is asked to mount one.
    Module,
    Missing,
}

pub fn release() -> String {
    super::line(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default()
}

pub fn support(filesystem: Filesystem) -> Result<Support, Refusal> {
    let known = super::read(Path::new("/proc/filesystems"))?;
    if is_listed(&known, filesystem.name()) {
        return Ok(Support::Present);
    }
    // zfs has to be loaded before its pool is made.
    match filesystem {
        Filesystem::Zfs => module("zfs".to_owned()),
        _ => module(format!("fs-{}", filesystem.name())),
    }
}

/// Whether the kernel has software RAID. It must be loaded before an array is made.
pub fn support_of_md() -> Result<Support, Refusal> {
    match Path::new("/proc/mdstat").exists() {
        true => Ok(Support::Present),
        false => module(MD.to_owned()),
    }
}

/// Whether software RAID has this level, such as raid5. The kernel loads the module of a level when an array is made.
pub fn support_of_level(level: &str) -> Result<Support, Refusal> {
    let mdstat = super::read_if_there(Path::new("/proc/mdstat"))?.unwrap_or_default();
    match has_level(&mdstat, level) {
        true => Ok(Support::Present),
        false => module(format!("md-{level}")),
    }
}

/// The first line of /proc/mdstat: "Personalities : [raid1] [raid0]".
fn has_level(mdstat: &str, level: &str) -> bool {
    let mut lines = mdstat.lines();
    let levels = lines.find_map(|line| line.strip_prefix("Personalities :"));
    let mut words = levels.unwrap_or_default().split_whitespace();
    words.any(|word| word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) == Some(level))
}

/// Whether the kernel has the device mapper. It must be loaded before a volume is made.
pub fn support_of_dm() -> Result<Support, Refusal> {
    match Path::new(DM_CONTROL).exists() {
        true => Ok(Support::Present),
        false => module(DM.to_owned()),
    }
}

/// Whether the device mapper has RAID. The kernel loads its module when a volume is made.
pub fn support_of_dm_raid() -> Result<Support, Refusal> {
    match Path::new("/sys/module/dm_raid").exists() {
        true => Ok(Support::Present),
        false => module(DM_RAID.to_owned()),
    }
}

/// Whether the device mapper has log-writes. The kernel loads its module when a device of it is made.
pub fn support_of_log_writes() -> Result<Support, Refusal> {
    match Path::new("/sys/module/dm_log_writes").exists() {
        true => Ok(Support::Present),
        false => module(LOG_WRITES.to_owned()),
    }
}

/// The module of the device mapper that records writes.
pub const LOG_WRITES: &str = "dm-log-writes";
/// The module of the device mapper.
pub const DM: &str = "dm-mod";
/// The module of its RAID.
pub const DM_RAID: &str = "dm-raid";
/// The device mapper's entry in sysfs: it is there in every container, where /dev/mapper need not be.
pub const DM_CONTROL: &str = "/sys/class/misc/device-mapper";

/// The module of software RAID.
pub const MD: &str = "md_mod";

/// Whether there is a module of this name: by a dry run of the command that the kernel itself would run.
fn module(module: String) -> Result<Support, Refusal> {
    let Some(modprobe) = exec::find("modprobe") else {
        return Ok(Support::Missing);
    };
    let argv = [
        modprobe.display().to_string(),
        "-n".into(),
        "-q".into(),
        module,
    ];
    Ok(match exec::run(&argv, exec::SHORT)?.succeeded() {
        true => Support::Module,
        false => Support::Missing,
    })
}

fn is_listed(filesystems: &str, name: &str) -> bool {
    filesystems
        .lines()
        .any(|line| line.split_whitespace().last() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_line_costs_that_line() {
        let text = "\u{fffd}\n\nnodev\n  nodev fuse  \n\text4 \n\tbtrfs";
        assert!(is_listed(text, "ext4") && is_listed(text, "fuse") && is_listed(text, "btrfs"));
    }

    #[test]
    fn levels_of_arrays() {
        let text = "Personalities : [raid1] [raid6] [raid5] [raid4] \nunused devices: <none>\n";
        assert!(has_level(text, "raid1") && has_level(text, "raid5"));
        assert!(!has_level(text, "raid10") && !has_level(text, "raid") && !has_level(text, ""));
        assert!(!has_level(
            "Personalities : \nmd0 : active [raid0]\n",
            "raid0"
        ));
        assert!(!has_level("", "raid0"));
    }

    #[test]
    fn only_the_name_itself_counts() {
        let text = "nodev\tsysfs\n\text3\n\text4\nnodev\tbpf\n\txfs\n";
        assert!(is_listed(text, "ext4") && is_listed(text, "xfs"));
        assert!(!is_listed(text, "ext") && !is_listed(text, "nodev") && !is_listed(text, "jfs"));
    }
}
