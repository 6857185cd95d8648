//! Cgroups of this process: where they are, what they limit, and how often a limit was reached. Versions 1 and 2, and both at once.
//!
//! A container sees its cgroups up to its own root. Limits of levels above that root stay unknown, but for memory under version 1.

mod allowed;
mod counters;
mod felt;
mod io;
mod limits;

use super::Tree;
use crate::proc::{MOUNTINFO, Mount, understood_mounts};

pub use counters::Counters;
pub use felt::{AllowedFelt, Felt, IoFelt, IoKind, MemoryFelt, QuotaFelt};
pub use io::{IoCounters, IoLimit, IoWatch};
pub use limits::{Limits, plain};

/// The cgroups of this process, one line for each hierarchy.
const GROUPS: &str = "/proc/self/cgroup";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The visible cgroups of one controller, as directories: this process's own first, the uppermost last.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Levels {
    version: Version,
    directories: Vec<String>,
}

/// The cgroups of this process. A controller whose cgroups are not visible is None.
#[derive(Clone, Debug, Default)]
pub struct Cgroups {
    memory: Option<Levels>,
    cpu: Option<Levels>,
    io: Option<Levels>,
}

impl Cgroups {
    /// Finds the cgroups of this process.
    pub fn find(tree: &dyn Tree) -> Self {
        let groups = tree.read(GROUPS).unwrap_or_default();
        let mounts = tree.read(MOUNTINFO).unwrap_or_default();
        let mounts = understood_mounts(mounts.as_bytes());
        let find = |one: &str| levels(tree, &groups, &mounts, one);
        Self {
            memory: find("memory"),
            cpu: find("cpu"),
            io: find("blkio"),
        }
    }
}

/// True if the kernel names a cgroup of this process. Its files need not be visible.
pub fn is_named(tree: &dyn Tree) -> bool {
    let groups = tree.read(GROUPS).unwrap_or_default();
    groups.lines().any(|line| split(line).is_some())
}

/// The levels of a controller, which has this name under version 1. A controller belongs to one hierarchy only: where version 1 has
/// it, version 2 does not.
fn levels(tree: &dyn Tree, groups: &str, mounts: &[Mount], controller: &str) -> Option<Levels> {
    let has = |list: &str| list.split(',').any(|name| name == controller);
    let lines = || groups.lines().filter_map(split);
    let one = lines().find(|(controllers, _)| has(controllers));
    let (version, path) = match one {
        Some((_, path)) => (Version::One, path),
        None => (Version::Two, lines().find(|(list, _)| list.is_empty())?.1),
    };
    let holds = |mount: &&Mount| match version {
        Version::One => mount.fs_type == "cgroup" && has(&mount.options),
        Version::Two => mount.fs_type == "cgroup2",
    };
    let directories = mounts
        .iter()
        .filter(holds)
        .filter_map(|mount| directories(mount, path))
        .find(|directories| tree.exists(&directories[0]))?;
    Some(Levels {
        version,
        directories,
    })
}

/// Controllers and path of a line of [`GROUPS`].
fn split(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(':')?;
    rest.split_once(':')
}

/// The directories of a cgroup and of those above it, up to the root of the mount. None for a cgroup that the mount does not show.
fn directories(mount: &Mount, path: &str) -> Option<Vec<String>> {
    let below = path.strip_prefix(mount.root.trim_end_matches('/'))?;
    let is_below = below.is_empty() || below.starts_with('/');
    if !is_below || below.split('/').any(|name| name == "..") {
        return None;
    }
    let top = mount.mount_point.trim_end_matches('/');
    let mut directory = format!("{top}{}", below.trim_end_matches('/'));
    let mut all = vec![directory.clone()];
    while directory.len() > top.len() {
        let end = directory.rfind('/')?;
        directory.truncate(end);
        all.push(directory.clone());
    }
    Some(all)
}

/// A number in a file of a level.
fn number(tree: &dyn Tree, directory: &str, file: &str) -> Option<u64> {
    super::number(tree, &format!("{directory}/{file}"))
}

/// The number behind a name in a text of lines `name number`.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let (_, value) = lines.find(|(known, _)| *known == name)?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests;
