//! A small filesystem of its own, in a file. Takes root and a kernel with loop devices.

use crate::as_server::server_owner;
use crate::scratch::for_images;
use crate::server::{program, run};
use crate::wait::{LONG, wait_until};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[derive(Debug)]
pub struct LoopFs {
    place: TempDir,
}

impl LoopFs {
    /// An ext4 of this many megabytes that the servers' owner may write to; or the reason why this machine has none.
    pub fn ext4(megabytes: u64) -> Result<Self, String> {
        // No reserved blocks: full means full, for postgres as for root.
        Self::made("mkfs.ext4", &["-q", "-m", "0"], megabytes)
    }

    /// An ext3, on which nothing can be allocated beforehand.
    pub fn ext3(megabytes: u64) -> Result<Self, String> {
        Self::made("mkfs.ext3", &["-q", "-m", "0"], megabytes)
    }

    /// A btrfs, whose files can share blocks.
    pub fn btrfs(megabytes: u64) -> Result<Self, String> {
        Self::made("mkfs.btrfs", &["-q"], megabytes)
    }

    fn made(mkfs: &str, options: &[&str], megabytes: u64) -> Result<Self, String> {
        if server_owner().is_none() {
            return Err("needs root".to_owned());
        }
        let mkfs = program(mkfs).ok_or(format!("there is no {mkfs}"))?;
        let mount = program("mount").ok_or("there is no mount")?;

        let place =
            TempDir::with_prefix_in("pgfsbench-loop.", for_images()).map_err(|e| e.to_string())?;
        let image = place.path().join("image");
        let fs = Self { place };
        File::create(&image)
            .and_then(|file| file.set_len(megabytes << 20))
            .map_err(|e| e.to_string())?;
        std::fs::create_dir(fs.path()).map_err(|e| e.to_string())?;
        run(Command::new(mkfs).args(options).arg(&image))?;
        run(Command::new(mount)
            .args(["-o", "loop"])
            .arg(&image)
            .arg(fs.path()))?;
        // lost+found makes a directory that initdb refuses as not empty.
        let _ = std::fs::remove_dir(fs.path().join("lost+found"));
        // Like /tmp: the servers' owner may write there, and cannot touch what is ours.
        set_mode(&fs.path(), 0o1777)?;
        set_mode(fs.place.path(), 0o755)?;
        Ok(fs)
    }

    /// Unmounts it while it may be in use. What uses it keeps it alive.
    pub fn unmount_lazily(&self) {
        run(Command::new("umount").arg("--lazy").arg(self.path())).expect("umount");
    }

    /// Mounts it again, once nothing uses it any more.
    pub fn mount_again(&self) {
        let image = self.place.path().join("image");
        wait_until("nothing uses the filesystem", LONG, || {
            let loops = std::fs::read_dir("/sys/block").ok()?.flatten();
            let files = loops.filter_map(|device| {
                std::fs::read_to_string(device.path().join("loop/backing_file")).ok()
            });
            let mut files = files.filter(|file| Path::new(file.trim_end()) == image);
            files.next().is_none().then_some(())
        });
        run(Command::new("mount")
            .args(["-o", "loop"])
            .arg(&image)
            .arg(self.path()))
        .expect("mount");
    }

    /// Mount point.
    pub fn path(&self) -> PathBuf {
        self.place.path().join("mnt")
    }
}

fn set_mode(directory: &Path, mode: u32) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(mode))
        .map_err(|e| e.to_string())
}

impl Drop for LoopFs {
    fn drop(&mut self) {
        // A server on it has been dropped before, or is about to fail anyway: then the mount goes when it does.
        // The loop device frees itself with the mount.
        for lazy in [false, true] {
            let mut umount = Command::new("umount");
            if lazy {
                umount.arg("--lazy");
            }
            if run(umount.arg(self.path())).is_ok() {
                break;
            }
        }
    }
}
