//! Lines to be pasted, and the comments between them.

use crate::{quoting, units::format_bytes};

pub fn device_is_erased(device: &str) -> String {
    format!("# what {device} holds is lost")
}

/// A layout that no line makes, with the bytes of its chunks if it has any.
pub fn layout_comes_first(
    layout: &str,
    members: usize,
    chunk: Option<u64>,
    stands_for_it: &str,
) -> String {
    let chunks = chunk.map(format_bytes);
    let chunks = chunks.map(|bytes| format!(", with chunks of {bytes}"));
    let chunks = chunks.unwrap_or_default();
    format!("# make {layout} of {members} devices first{chunks}: {stands_for_it} stands for it")
}

/// Devices of which the next line makes an array. Each has a number behind the word that stands for the array.
pub fn members_are_erased(members: usize, stands_for_it: &str, array: &str) -> String {
    format!(
        "# what {stands_for_it}-1 to {stands_for_it}-{members} hold is lost: below, {stands_for_it} stands for {array}"
    )
}

pub fn mdadm(array: &str, options: &[String], devices: &[String]) -> String {
    let (options, devices) = (options.join(" "), devices.join(" "));
    format!("mdadm --create {array} {options} {devices}")
}

/// A rule of udev for a queue setting of a disk.
pub fn udev(disk: &str, name: &str, value: &str) -> String {
    format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", ENV{{DEVLINKS}}==\"*{disk}*\", ATTR{{queue/{name}}}=\"{value}\""
    )
}

pub fn sysctl(name: &str, value: &str) -> String {
    format!("vm.{name} = {value}")
}

/// A refusal of the kernel that runs now, as a comment.
pub fn not_on_this_kernel(message: &str, detail: &str) -> String {
    format!("# {message}: {detail}")
}

pub fn measured_on(kernel: &str, here: &str) -> String {
    format!("# measured on Linux {kernel}, and this is {here}")
}

pub fn directory_stands_for_yours(directory: &str) -> String {
    format!(
        "# {directory} stands for where your data are; what is there now is hidden by the mount: stop the server first, and copy its data to the new filesystem"
    )
}

/// The fields of a line of fstab.
#[derive(Clone, Copy, Debug)]
pub struct Fstab<'a> {
    pub device: &'a str,
    pub directory: &'a str,
    pub filesystem: &'a str,
    pub options: &'a str,
    pub pass: u8,
}

/// The command that adds the line, with the UUID that mkfs will have chosen.
pub fn fstab(line: Fstab<'_>) -> String {
    let Fstab {
        device,
        directory,
        filesystem,
        options,
        pass,
    } = line;
    format!(
        "echo \"UUID=$(blkid -s UUID -o value {device}) {directory} {filesystem} {options} 0 {pass}\" >> /etc/fstab"
    )
}

pub fn mount(directory: &str, has_systemd: bool) -> String {
    match has_systemd {
        true => format!("systemctl daemon-reload && mount {directory}"),
        false => format!("mount {directory}"),
    }
}

pub fn no_such_setting(name: &str, value: &str) -> String {
    format!(
        "-- this server has no setting {name}, which was {value} in the server that was measured"
    )
}

pub fn setting_of_cluster(name: &str, value: &str) -> String {
    format!("-- {name} was {value}, which is chosen when a cluster is made")
}

pub fn alter_system(name: &str, value: &str) -> String {
    format!("ALTER SYSTEM SET {name} = {};", quoting::sql_literal(value))
}

pub const RELOAD: &str = "SELECT pg_reload_conf();";
pub const RESTART: &str = "-- then restart the server";
