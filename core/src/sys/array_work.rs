//! Work that arrays do for themselves: resync, recover, check, balance, ...

use super::{
    FilesystemDevices, Layer, LayerKind, Tree,
    array::{self, Btrfs},
    layers_below, line,
};

/// Part of the names of a RAID volume's metadata. LVM gives such names to no other volume.
const OF_RAID: &str = "_rmeta_";
/// Part of the names of the copies of LVM's older mirror.
const OF_MIRROR: &str = "_mimage_";

/// Process that is the parent of the kernel's threads.
const KTHREADD: &str = "2";
/// Each RAID volume has a thread of this name, with the number of the level, while it is active.
const THREAD_OF_RAID: &str = "mdX_raid";
/// Threads of a RAID volume while it resyncs, recovers, is checked, or changes its shape.
const THREADS_OF_WORK: [&str; 2] = ["mdX_resync", "mdX_reshape"];

/// Where the work of arrays can be seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArrayWatch {
    /// A file names the work of this array.
    File { array: String, path: String },
    /// A thread of the kernel shows the work of a RAID volume of LVM. Its name does not tell the volume.
    Thread {
        /// True if other RAID volumes are on the machine.
        has_others: bool,
    },
    /// Nowhere: zfs, and LVM's older mirror.
    Nowhere,
}

/// The places that show the work of the arrays below some filesystems, each once.
pub fn array_watches(tree: &dyn Tree, filesystems: &[FilesystemDevices]) -> Vec<ArrayWatch> {
    let of_each: Vec<Vec<Layer>> = filesystems
        .iter()
        .map(|filesystem| layers_below(tree, filesystem))
        .collect();
    let mut watches: Vec<ArrayWatch> = of_each
        .iter()
        .flat_map(|layers| files(tree, layers))
        .collect();
    let all: Vec<&Layer> = of_each.iter().flatten().collect();
    let has = |part: &str| all.iter().any(|layer| is_volume(layer, part));
    if has(OF_RAID) {
        watches.push(ArrayWatch::Thread {
            has_others: has_other_raid_volumes(tree, &all),
        });
    }
    let mut names = filesystems.iter().map(|fs| fs.filesystem.as_str());
    let mut below = all.iter().filter_map(|layer| layer.filesystem.as_deref());
    if names.any(|name| name == "zfs") || below.any(|name| name == "zfs") || has(OF_MIRROR) {
        watches.push(ArrayWatch::Nowhere);
    }
    watches.sort();
    watches.dedup();
    watches
}

/// Files of sysfs that tell of the arrays among some layers what each of them does for itself.
fn files(tree: &dyn Tree, layers: &[Layer]) -> Vec<ArrayWatch> {
    let path = |place: usize, layer: &Layer| match layer.kind {
        // RAID 0 has nothing to agree on.
        _ if layer.sync_action.is_none() => None,
        LayerKind::Md => {
            let device = layer.device.as_deref()?;
            Some(format!("/sys/dev/block/{device}/md/sync_action"))
        }
        LayerKind::Btrfs => {
            let member = layers.get(place + 1)?.device.as_deref()?;
            Some(Btrfs::of(tree, member)?.action_path())
        }
        _ => None,
    };
    let each = layers.iter().enumerate().filter_map(|(place, layer)| {
        let name = layer.name.as_deref().unwrap_or("an array");
        Some(ArrayWatch::File {
            array: name.to_owned(),
            path: path(place, layer)?,
        })
    });
    each.collect()
}

/// True for a volume of LVM whose name has this part.
fn is_volume(layer: &Layer, part: &str) -> bool {
    let name = layer.name.as_deref();
    layer.kind == LayerKind::Lvm && name.is_some_and(|name| name.contains(part))
}

/// True if the machine has a RAID volume of LVM that is none of these layers.
fn has_other_raid_volumes(tree: &dyn Tree, layers: &[&Layer]) -> bool {
    const DEVICES: &str = "/sys/class/block";
    let is_other = |name: String| {
        let of = |file: &str| line(tree, &format!("{DEVICES}/{name}/{file}"));
        let is_raid = of("dm/name").is_some_and(|name| name.contains(OF_RAID));
        let number = of("dev");
        is_raid && !layers.iter().any(|layer| layer.device == number)
    };
    tree.list(DEVICES).into_iter().any(is_other)
}

/// Work that these arrays do for themselves now, as in "check of md0". None where an array cannot be watched, and nothing is seen.
pub fn array_work(tree: &dyn Tree, watches: &[ArrayWatch]) -> Option<Vec<String>> {
    let seen: Vec<Option<Vec<String>>> = watches
        .iter()
        .map(|watch| match watch {
            ArrayWatch::File { array, path } => work_in_file(tree, array, path),
            ArrayWatch::Thread { has_others } => work_of_threads(tree, *has_others),
            ArrayWatch::Nowhere => None,
        })
        .collect();
    let is_known = seen.iter().all(Option::is_some);
    let works: Vec<String> = seen.into_iter().flatten().flatten().collect();
    (!works.is_empty() || is_known).then_some(works)
}

fn work_in_file(tree: &dyn Tree, array: &str, path: &str) -> Option<Vec<String>> {
    let does = line(tree, path)?;
    let work = array::is_work(&does).then(|| format!("{does} of {array}"));
    Some(work.into_iter().collect())
}

/// Work of LVM's RAID. None where the kernel's threads cannot be seen, as in a container, or where the work may be another volume's.
fn work_of_threads(tree: &dyn Tree, has_others: bool) -> Option<Vec<String>> {
    let (mut is_seen, mut works) = (false, false);
    for process in tree.list("/proc") {
        if !process.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let Some(name) = line(tree, &format!("/proc/{process}/comm")) else {
            continue;
        };
        if name.starts_with("mdX_") && is_thread_of_kernel(tree, &process) {
            is_seen |= name.starts_with(THREAD_OF_RAID);
            works |= THREADS_OF_WORK.contains(&name.as_str());
        }
    }
    match (is_seen, works) {
        (false, _) => None,
        (true, false) => Some(Vec::new()),
        (true, true) => (!has_others).then(|| vec!["resync or check of LVM RAID".to_owned()]),
    }
}

/// True for a thread of the kernel: every program can give itself such a name.
fn is_thread_of_kernel(tree: &dyn Tree, process: &str) -> bool {
    let status = tree.read(&format!("/proc/{process}/status"));
    let status = status.unwrap_or_default();
    let mut parents = status.lines().filter_map(|line| line.strip_prefix("PPid:"));
    parents
        .next()
        .is_some_and(|parent| parent.trim() == KTHREADD)
}

/// Work that earlier looks at arrays have seen, and that of this look, each once. Seen work stays seen when another look sees nothing.
pub fn all_work(before: Option<Vec<String>>, now: Option<Vec<String>>) -> Option<Vec<String>> {
    let is_known = before.is_some() && now.is_some();
    let mut all = before.unwrap_or_default();
    for work in now.unwrap_or_default() {
        if !all.contains(&work) {
            all.push(work);
        }
    }
    (is_known || !all.is_empty()).then_some(all)
}
