//! The durability of a server whose filesystem lies on something that forgets: overlay without syncs, overlay in memory, a disk in memory.

use crate::common::{row, rows, run, server_in};
use pgfsbench_tests::{on_disk, program, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const SHORT_RUN: &str = "scale => 1, clients => 1, transactions => 300, warmup => '0', seed => 1";
const CONTROL: &str = "/sys/class/zram-control";

/// Mounts below a directory on the machine's disk, and a zram; all gone when it is dropped.
pub struct Mounts {
    place: TempDir,
    mounted: Vec<PathBuf>,
    zram: Option<String>,
}

impl Mounts {
    pub fn new() -> Self {
        let place = TempDir::with_prefix_in("pgfsbench-layers.", on_disk()).expect("a directory");
        open(place.path(), 0o755);
        Self {
            place,
            mounted: Vec::new(),
            zram: None,
        }
    }

    fn directory(&self, name: &str) -> PathBuf {
        let directory = self.place.path().join(name);
        fs::create_dir_all(&directory).expect("a directory");
        directory
    }

    /// Mounts it on a directory of this name; the reason if this machine cannot.
    fn mount(&mut self, name: &str, arguments: &[&str]) -> Result<PathBuf, String> {
        let directory = self.directory(name);
        succeed(Command::new("mount").args(arguments).arg(&directory))?;
        self.mounted.push(directory.clone());
        let _ = fs::remove_dir(directory.join("lost+found"));
        open(&directory, 0o1777);
        Ok(directory)
    }

    /// An overlay whose upper layer is in this directory.
    pub fn overlay(&mut self, name: &str, layers: &Path, option: &str) -> Result<PathBuf, String> {
        let [upper, work] = ["upper", "work"].map(|part| layers.join(format!("{name}-{part}")));
        for made in [&upper, &work] {
            fs::create_dir(made).expect("a directory");
            open(made, 0o755);
        }
        let options = format!(
            "lowerdir={},upperdir={},workdir={}{option}",
            self.directory("lower").display(),
            upper.display(),
            work.display()
        );
        self.mount(name, &["-t", "overlay", "overlay", "-o", &options])
    }

    /// A filesystem on a disk in memory.
    fn zram(&mut self) -> Result<PathBuf, String> {
        let mkfs = program("mkfs.ext4").ok_or("there is no mkfs.ext4")?;
        let number = fs::read_to_string(format!("{CONTROL}/hot_add"))
            .map_err(|_| "needs the module zram, and root")?;
        let number = self.zram.insert(number.trim().to_owned());
        fs::write(format!("/sys/block/zram{number}/disksize"), "512M")
            .map_err(|e| e.to_string())?;
        let device = format!("/dev/zram{number}");
        succeed(Command::new(mkfs).arg("-q").arg(&device))?;
        self.mount("zram", &[&device])
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        for directory in self.mounted.iter().rev() {
            let _ = Command::new("umount").arg(directory).output();
        }
        if let Some(number) = &self.zram {
            let _ = fs::write(format!("{CONTROL}/hot_remove"), number);
        }
    }
}

fn open(directory: &Path, mode: u32) {
    fs::set_permissions(directory, fs::Permissions::from_mode(mode)).expect("chmod");
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    match output.status.success() {
        true => Ok(()),
        false => Err(said),
    }
}

/// Durability of a run of a server in that directory, and its findings about that.
fn said_in(directory: &Path) -> (String, Vec<String>) {
    let room = ("pgfsbench.reserved_space", "32MB");
    let server = server_in(directory, None, &[room]);
    let mut client = server.connect("postgres");
    let run = run(&mut client, SHORT_RUN);
    let durability = format!("SELECT durability FROM fsbench.result WHERE run_id = {run}");
    let findings = format!(
        "SELECT code FROM fsbench.finding WHERE run_id = {run} AND code IN ('in_memory', 'sync_does_nothing') ORDER BY code"
    );
    (row(&mut client, &durability), rows(&mut client, &findings))
}

#[test]
fn a_server_on_something_that_forgets_is_not_durable() {
    an_overlay_is_as_durable_as_its_options_and_its_upper_layer();
    a_disk_in_memory_is_not_durable();
}

fn an_overlay_is_as_durable_as_its_options_and_its_upper_layer() {
    let test = "an_overlay_is_as_durable_as_its_options_and_its_upper_layer";
    let mut mounts = Mounts::new();
    let below = mounts.directory("layers");
    let made = mounts.overlay("plain", &below, "").and_then(|plain| {
        let forgetful = mounts.overlay("volatile", &below, ",volatile")?;
        let memory = mounts.mount("memory", &["-t", "tmpfs", "tmpfs", "-o", "size=400m"])?;
        Ok([plain, forgetful, mounts.overlay("in-memory", &memory, "")?])
    });
    let [plain, forgetful, in_memory] = match made {
        Ok(made) => made,
        Err(why) => return skip(test, &format!("cannot mount overlay: {why}")),
    };
    // Overlays on the machine's disk differ from machine to machine.
    let (durability, _) = said_in(&plain);
    assert!(!durability.contains("overlay"), "{durability}");
    let (durability, findings) = said_in(&forgetful);
    assert!(
        durability.starts_with("not durable: a sync does nothing on overlay with "),
        "{durability}"
    );
    assert_eq!(findings, ["sync_does_nothing"]);
    let (durability, findings) = said_in(&in_memory);
    assert_eq!(durability, "not durable: tmpfs is in memory");
    assert_eq!(findings, ["in_memory"]);
}

fn a_disk_in_memory_is_not_durable() {
    let test = "a_disk_in_memory_is_not_durable";
    let mut mounts = Mounts::new();
    let directory = match mounts.zram() {
        Ok(directory) => directory,
        Err(why) => return skip(test, &why),
    };
    let (durability, findings) = said_in(&directory);
    let number = mounts.zram.as_deref().unwrap_or_default();
    assert_eq!(
        durability,
        format!("not durable: zram{number} is in memory")
    );
    assert_eq!(findings, ["in_memory"]);
}
