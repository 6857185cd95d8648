//! Only root and the servers' user get to the mount points: a process with its working directory there would keep a filesystem from
//! being unmounted. The directory of mount points is closed before anything is mounted in it.

use crate::config::Config;
use crate::place::Place;
use crate::probe::user::ids;
use crate::secure::{self, failed};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fs::{Dir, Gid, Mode, Uid, fchmod, fchown, fstat};
use std::os::fd::OwnedFd;
use std::path::Path;

/// The mode of the directory of mount points: it is root's, and the group of the servers' user may pass.
const MODE: u32 = 0o710;

/// Makes the directory of mount points, or closes the one that is there.
pub fn mount_root(config: &Config) -> Result<(), Refusal> {
    let path = &config.mount_root;
    if let Some(parent) = path.parent().filter(|parent| parent.parent().is_some()) {
        secure::make_directory(parent, 0o755)?;
    }
    let directory = secure::make_directory(path, 0o700)?;
    let (_, gid) = ids(&config.server_user)?;
    let stat = fstat(&directory).map_err(|e| failed("stat", path, e))?;
    if stat.st_mode & 0o7777 == MODE && stat.st_gid == gid {
        return Ok(());
    }
    check_only_ours(&directory, path)?;
    let owner = (Some(Uid::ROOT), Some(Gid::from_raw(gid)));
    fchown(&directory, owner.0, owner.1)
        .and_then(|()| fchmod(&directory, Mode::from_raw_mode(MODE)))
        .map_err(|e| failed("close directory", path, e))
}

/// Checks that the directory has only our entries: closing it would cut off the owner of any other.
fn check_only_ours(directory: &OwnedFd, path: &Path) -> Result<(), Refusal> {
    for entry in Dir::read_from(directory).map_err(|e| failed("read", path, e))? {
        let entry = entry.map_err(|e| failed("read", path, e))?;
        let name = entry.file_name().to_string_lossy();
        let is_ours = matches!(&*name, "." | "..") || Place::of_key(&name).is_some();
        if !is_ours {
            return Err(Refusal::new(
                Kind::NotAllowed,
                format!("{} is not the helper's alone", secure::shown(path)),
            )
            .detail(format!(
                "Nobody but root and the servers' user may get to where filesystems are mounted, and there is {}.",
                quoted(&name)
            ))
            .hint("Let mount_root in the helper's configuration be a directory of its own, and restart pgfsbench-helper."));
        }
    }
    Ok(())
}

/// Closes the root of a filesystem that is mounted; its open directory is given.
pub fn root_of_filesystem(root: &OwnedFd, owner: (u32, u32), path: &Path) -> Result<(), Refusal> {
    let (uid, gid) = (Uid::from_raw(owner.0), Gid::from_raw(owner.1));
    fchmod(root, Mode::from_raw_mode(0o700))
        .and_then(|()| fchown(root, Some(uid), Some(gid)))
        .map_err(|e| failed("close directory", path, e))
}
