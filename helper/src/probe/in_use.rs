//! Finds the user of a block device, of its partitions, of the disk that it is on, and of devices below and above it. Users are
//! mounts in any mount namespace, swap space, other devices, and descriptors that processes have open. O_EXCL is not enough: it
//! works only among those that use it, and the kernel does not tell which device a loop device's file is on.

mod open;
mod related;

use super::identity::sysfs;
use super::{device_number, is_of_device, loops, number_of};
use pgfsbench_core::proc::{MOUNTINFO, OddMount, SWAPS, parse_mountinfo, parse_swaps};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use related::{Related, Relation};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Major and minor number of a block device.
pub type Number = (u32, u32);

/// The user of the device with this number, in a sentence. A process that has only opened it, as udev does for moments, counts when
/// it still has it open after this time.
pub fn of(number: Number, patience: Duration) -> Result<Option<String>, Refusal> {
    let related = related::to(number)?;
    match tables(&related)? {
        None => by_descriptors(&related, patience),
        user => Ok(user),
    }
}

/// The user of the device, ignoring processes that have only opened it.
pub fn by_tables(number: Number) -> Result<Option<String>, Refusal> {
    tables(&related::to(number)?)
}

/// True if another process has the device, or a related one, open.
pub fn is_open(number: Number) -> Result<bool, Refusal> {
    Ok(open::user(&related::to(number)?)?.is_some())
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

/// By what the kernel tells of mounts, swap space and devices. What cannot be read is an error, never a device that is free.
fn tables(related: &[Related]) -> Result<Option<String>, Refusal> {
    if let Some(mounted) = mounted(related)? {
        return Ok(Some(mounted));
    }
    let swaps = swaps(&super::read_if_there(Path::new(SWAPS))?.unwrap_or_default())?;
    if let Some(swap) = related.iter().find(|r| swaps.contains(&r.number)) {
        return Ok(Some(format!("{} is swap space.", swap.subject())));
    }
    for one in related.iter().filter(|r| r.relation != Relation::Member) {
        if let Some(holder) = holder(one.number)? {
            return Ok(Some(format!("{holder} holds {}.", one.object())));
        }
    }
    for one in related.iter().filter(|r| r.relation != Relation::Member) {
        if let Some(user) = loop_over(one, related)? {
            return Ok(Some(user));
        }
    }
    Ok(None)
}

/// The devices that are swap space. One that cannot be found, by its path or its name in sysfs, could be any.
fn swaps(text: &str) -> Result<HashSet<Number>, Refusal> {
    let devices = parse_swaps(text)
        .into_iter()
        .filter(|swap| swap.may_be_device);
    devices
        .map(|swap| {
            let path = Path::new(&swap.path);
            device_number(path)
                .or_else(|| by_name(path))
                .ok_or_else(|| {
                    Refusal::new(Kind::System, "could not see which devices are swap space")
                        .detail(format!(
                            "{SWAPS} names {}, which leads to no device here.",
                            quoted(&swap.path)
                        ))
                        .hint(
                            "Run: swapoff with that path, or make the node of the device in /dev.",
                        )
                })
        })
        .collect()
}

/// The number of a device by its name in sysfs, where "!" stands for "/".
fn by_name(path: &Path) -> Option<Number> {
    let name = path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
    number_of(&Path::new("/sys/class/block").join(name))
}

/// The device that is made of it: md, dm, bcache.
fn holder(number: Number) -> Result<Option<String>, Refusal> {
    let holders = super::entries(&sysfs(number).join("holders"))?;
    let name = holders.first().and_then(|holder| holder.file_name());
    Ok(name.map(|name| name.to_string_lossy().into_owned()))
}

/// A loop device whose file is this device (the kernel does not count it as a holder), or one with the same file as this loop device.
fn loop_over(one: &Related, related: &[Related]) -> Result<Option<String>, Refusal> {
    let is_known = |number| related.iter().any(|r| Some(r.number) == number);
    let file = loops::backing(one.number)?;
    for (device, backing) in loops::all()? {
        if is_known(device_number(&device)) {
            continue;
        }
        let name = device.file_name().unwrap_or_default().to_string_lossy();
        if backing.device() == Some(one.number) {
            return Ok(Some(format!("{name} holds {}.", one.object())));
        }
        if file.as_ref().is_some_and(|file| file.is_same(&backing)) {
            let file = quoted(&backing.name.display().to_string());
            return Ok(Some(format!("{name} has the same file, {file}.")));
        }
    }
    Ok(None)
}

/// The mount of one of them.
fn mounted(related: &[Related]) -> Result<Option<String>, Refusal> {
    if let Some((subject, place)) = mounted_by(&super::read(Path::new(MOUNTINFO))?, related)? {
        return Ok(Some(format!("{subject} is mounted on {place}.")));
    }
    mounted_elsewhere(Path::new("/proc"), related)
}

/// The mount of one of them in another mount namespace. Each thread of a process may have a namespace of its own. A namespace is known
/// when its mounts have been read: the first of its threads may end before.
fn mounted_elsewhere(proc: &Path, related: &[Related]) -> Result<Option<String>, Refusal> {
    let namespace = |task: &Path| std::fs::read_link(task.join("ns/mnt"));
    let mut known: HashSet<PathBuf> = namespace(&proc.join("self")).into_iter().collect();
    for process in open::processes(proc)? {
        let threads = match open::threads(&process) {
            Err(e) if open::is_gone(&e) => continue,
            threads => threads.map_err(|e| mounts_not_readable(&process, &e))?,
        };
        for thread in threads {
            let namespace = namespace(&thread);
            match &namespace {
                Ok(namespace) if known.contains(namespace) => continue,
                Err(e) if open::is_gone(e) => continue,
                // A namespace that cannot be told may be another one.
                _ => {}
            }
            let text = match std::fs::read(thread.join("mountinfo")) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                // This thread has ended: the kernel shows no mounts (EINVAL) until its parent has waited for it.
                Err(e) if open::is_gone(&e) || e.kind() == ErrorKind::InvalidInput => continue,
                Err(e) => return Err(mounts_not_readable(&process, &e)),
            };
            if let Some((subject, place)) = mounted_by(&text, related)? {
                return Ok(Some(format!(
                    "{subject} is mounted on {} in the mount namespace of process {}.",
                    quoted(&place),
                    open::named(&process)
                )));
            }
            known.extend(namespace);
        }
    }
    Ok(None)
}

/// By a mount table: the device, and where it is mounted. A line that cannot be read is an error if it may be a mount of one of
/// them: an unreadable line does not make a device free.
fn mounted_by(text: &str, related: &[Related]) -> Result<Option<(String, String)>, Refusal> {
    let may_be_theirs = |odd: &OddMount| related.iter().any(|r| odd.may_be_of(r.number));
    let mounts = parse_mountinfo(text).unless_odd(may_be_theirs)?;
    let mut all = related
        .iter()
        .flat_map(|r| mounts.iter().map(move |m| (r, m)));
    let found = all.find(|(r, mount)| is_of_device(mount, r.number));
    Ok(found.map(|(r, mount)| (r.subject(), mount.mount_point.clone())))
}

/// A process that cannot be looked at may have the device mounted in a namespace of its own.
fn mounts_not_readable(process: &Path, error: &std::io::Error) -> Refusal {
    open::not_readable(process, error, "mounted", "mounts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> Vec<Related> {
        related::to((255, 17)).unwrap()
    }

    /// A thread in a recorded /proc: its namespace, and its mounts if it still shows any.
    fn record(proc: &Path, thread: &str, namespace: Option<&str>, mounts: Option<&str>) {
        let directory = proc.join(thread);
        std::fs::create_dir_all(directory.join("ns")).unwrap();
        if let Some(namespace) = namespace {
            std::os::unix::fs::symlink(namespace, directory.join("ns/mnt")).unwrap();
        }
        if let Some(mounts) = mounts {
            std::fs::write(directory.join("mountinfo"), mounts).unwrap();
        }
    }

    #[test]
    fn mounts_of_each_thread_are_looked_at() {
        let ours = "2 1 255:17 / /srv rw - ext4 /dev/sdb1 rw\n";
        let others = "2 1 255:33 / / rw - ext4 /dev/sdc1 rw\n";
        let own = Some("mnt:[1]");
        for (case, threads) in [
            (
                "the first thread has ended",
                [(None, None), (Some("mnt:[2]"), Some(ours))],
            ),
            (
                "a namespace of its own",
                [(own, Some(others)), (Some("mnt:[2]"), Some(ours))],
            ),
            (
                "the first thread ends while it is looked at",
                [(Some("mnt:[2]"), None), (Some("mnt:[2]"), Some(ours))],
            ),
        ] {
            let proc = tempfile::tempdir().unwrap();
            record(proc.path(), "self", own, None);
            for (number, (namespace, mounts)) in threads.into_iter().enumerate() {
                record(proc.path(), &format!("7/task/{number}"), namespace, mounts);
            }
            std::fs::write(proc.path().join("7/comm"), "holder\n").unwrap();
            let user = mounted_elsewhere(proc.path(), &device()).unwrap();
            let user = user.unwrap_or_else(|| panic!("{case}"));
            assert!(
                user.ends_with(
                    "mounted on \"/srv\" in the mount namespace of process 7 (\"holder\")."
                ),
                "{case}: {user}"
            );
        }
    }

    #[test]
    fn mounts_that_cannot_be_read_are_never_left_out() {
        let proc = tempfile::tempdir().unwrap();
        record(proc.path(), "self", Some("mnt:[1]"), None);
        record(proc.path(), "7/task/7", Some("mnt:[1]"), None);
        // Nothing is looked at twice.
        assert_eq!(mounted_elsewhere(proc.path(), &device()), Ok(None));
        record(proc.path(), "7/task/8", Some("mnt:[2]"), None);
        std::fs::create_dir(proc.path().join("7/task/8/mountinfo")).unwrap();
        let refusal = mounted_elsewhere(proc.path(), &device()).unwrap_err();
        assert_eq!(refusal.message, "could not see who has devices mounted");
    }

    /// Any user may choose the name of a mount point.
    #[test]
    fn a_mount_point_that_is_not_utf_8_hides_no_other() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text =
            b"1 1 0:40 / /x/\xff\xfe rw - tmpfs x rw\n2 1 255:17 / /srv rw - ext4 /dev/sdb1 rw\n";
        std::fs::write(file.path(), text).unwrap();
        let text = crate::probe::read(file.path()).unwrap();
        let found = mounted_by(&text, &device()).unwrap();
        assert_eq!(found.map(|(_, place)| place).as_deref(), Some("/srv"));
    }

    #[test]
    fn an_odd_line_that_cannot_be_a_mount_of_the_device_costs_that_line() {
        let text = "1 2 255:33 / /other rw ext4\n2 1 255:17 / /srv rw - ext4 /dev/sdb1 rw\n";
        let found = mounted_by(text, &device()).unwrap();
        assert_eq!(found.map(|(_, place)| place).as_deref(), Some("/srv"));
        assert_eq!(
            mounted_by("1 2 255:33 / /other rw ext4\n", &device()),
            Ok(None)
        );
    }

    #[test]
    fn an_odd_line_that_may_be_a_mount_of_the_device_is_never_left_out() {
        for odd in ["1 2 255:17 / /srv rw", "1 2 0:26 / /srv rw", "nonsense"] {
            let text = format!("1 1 8:1 / / rw - ext4 /dev/sda1 rw\n{odd}\n");
            let refusal = mounted_by(&text, &device()).unwrap_err();
            assert!(refusal.message.ends_with("options"), "{odd}: {refusal:?}");
        }
    }

    #[test]
    fn swap_space_that_cannot_be_found_could_be_any_device() {
        assert_eq!(
            swaps("Filename Type Size Used Priority\n"),
            Ok(HashSet::new())
        );
        assert_eq!(
            swaps("/swapfile file 1 0 -2\nnone virtual 1 0 0\n"),
            Ok(HashSet::new())
        );
        for text in [
            "/dev/no-such-device partition 1 0 -2\n",
            "/dev/no-such-device\n",
        ] {
            let refusal = swaps(text).unwrap_err();
            assert_eq!(
                refusal.message,
                "could not see which devices are swap space"
            );
        }
    }
}
