//! Finds the user of a block device, of its partitions, of the disk that it is on, and of devices below and above it. Users are
//! mounts in any mount namespace, swap space, other devices, and descriptors that processes have open. O_EXCL is not enough: it
//! works only among those that use it, and the kernel does not tell which device a loop device's file is on.

mod open;
mod related;

use super::identity::sysfs;
use super::{device_number, is_of_device, loops};
use pgfsbench_core::proc::{MOUNTINFO, parse_mountinfo};
use pgfsbench_core::refusal::{Refusal, quoted};
use related::{Related, Which};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Major and minor number of a block device.
pub type Number = (u32, u32);

/// The user of the device with this number, in a sentence. A process that has only opened it, as udev does for moments, counts when
/// it still has it open after this time.
pub fn of(number: Number, patience: Duration) -> Result<Option<String>, Refusal> {
    let related = related::to(number);
    match tables(&related)? {
        None => by_descriptors(&related, patience),
        user => Ok(user),
    }
}

/// The same without processes that have only opened it.
pub fn by_tables(number: Number) -> Result<Option<String>, Refusal> {
    tables(&related::to(number))
}

/// True if another process has the device, or a related one, open.
pub fn is_open(number: Number) -> Result<bool, Refusal> {
    Ok(open::user(&related::to(number))?.is_some())
}

/// The period of the looks.
pub const PAUSE: Duration = Duration::from_millis(50);

fn by_descriptors(related: &[Related], patience: Duration) -> Result<Option<String>, Refusal> {
    let began = Instant::now();
    loop {
        let user = open::user(related)?;
        if user.is_none() || began.elapsed() >= patience {
            return Ok(user);
        }
        std::thread::sleep(PAUSE);
    }
}

/// By what the kernel tells of mounts, swap space and devices.
fn tables(related: &[Related]) -> Result<Option<String>, Refusal> {
    if let Some(mounted) = mounted(related)? {
        return Ok(Some(mounted));
    }
    let swaps = super::read(Path::new("/proc/swaps")).unwrap_or_default();
    let swaps: HashSet<Number> = swaps
        .lines()
        .skip(1)
        .filter_map(|line| device_number(Path::new(line.split_whitespace().next()?)))
        .collect();
    if let Some(swap) = related.iter().find(|r| swaps.contains(&r.number)) {
        return Ok(Some(format!("{} is swap space.", swap.subject())));
    }
    let whole = || related.iter().filter(|r| r.which != Which::Member);
    let held = whole().find_map(|r| Some(format!("{} holds {}.", holder(r.number)?, r.object())));
    Ok(held.or_else(|| whole().find_map(|r| loop_over(r, related))))
}

/// The device that is made of it: md, dm, bcache.
fn holder(number: Number) -> Option<String> {
    let mut holders = std::fs::read_dir(sysfs(number).join("holders")).ok()?;
    let holder = holders.find_map(Result::ok)?;
    Some(holder.file_name().to_string_lossy().into_owned())
}

/// A loop device whose file is this device (the kernel does not count it as a holder), or one with the same file as this loop device.
fn loop_over(one: &Related, related: &[Related]) -> Option<String> {
    let is_known = |number| related.iter().any(|r| Some(r.number) == number);
    let file = loops::backing_file(one.number);
    for (device, backing) in loops::all() {
        if is_known(device_number(&device)) {
            continue;
        }
        let name = device.file_name()?.to_string_lossy();
        if device_number(&backing) == Some(one.number) {
            return Some(format!("{name} holds {}.", one.object()));
        }
        if file
            .as_ref()
            .is_some_and(|file| loops::is_same_file(file, &backing))
        {
            let file = quoted(&backing.display().to_string());
            return Some(format!("{name} has the same file, {file}."));
        }
    }
    None
}

/// The mount of one of them.
fn mounted(related: &[Related]) -> Result<Option<String>, Refusal> {
    let found = |text: &str| -> Result<Option<(String, String)>, Refusal> {
        let mounts = parse_mountinfo(text)?;
        let mut all = related
            .iter()
            .flat_map(|r| mounts.iter().map(move |m| (r, m)));
        let found = all.find(|(r, mount)| is_of_device(mount, r.number));
        Ok(found.map(|(r, mount)| (r.subject(), mount.mount_point.clone())))
    };
    if let Some((subject, place)) = found(&super::read(Path::new(MOUNTINFO))?)? {
        return Ok(Some(format!("{subject} is mounted on {place}.")));
    }
    for process in in_other_namespaces() {
        // It may have ended.
        let Ok(text) = super::read(&process.join("mountinfo")) else {
            continue;
        };
        if let Some((subject, place)) = found(&text)? {
            return Ok(Some(format!(
                "{subject} is mounted on {} in the mount namespace of process {}.",
                quoted(&place),
                open::named(&process)
            )));
        }
    }
    Ok(None)
}

/// A process in each mount namespace but this.
fn in_other_namespaces() -> Vec<PathBuf> {
    let namespace = |process: &Path| std::fs::read_link(process.join("ns/mnt")).ok();
    let mut seen: HashSet<PathBuf> = namespace(Path::new("/proc/self")).into_iter().collect();
    let mut processes = open::processes();
    processes.retain(|process| namespace(process).is_some_and(|n| seen.insert(n)));
    processes
}
