//! A helper with a configuration, a journal, images and mount points of its own, in a directory that only root can enter.

use super::confined;
use pgfsbench_tests::{
    LONG, Leaves, Signal, can_make, for_images, lacks_loop_devices, program, skip, wait_until,
};
use rustix::process::{Pid, kill_process};
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

pub struct Lab {
    place: TempDir,
    test: String,
}

/// To prepare this target on an image.
pub const fn on_image<'a>(target: &'a str, filesystem: &'a str, size: &'a str) -> [&'a str; 7] {
    [
        "prepare",
        "--target",
        target,
        "--filesystem",
        filesystem,
        "--image",
        size,
    ]
}

impl Lab {
    /// A lab with images of 2 GB in all; None, and the test is skipped, without root or without loop devices.
    pub fn new(test: &str) -> Option<Self> {
        Self::below(for_images(), test)
    }

    /// A lab with all its files below this directory.
    pub fn below(directory: &Path, test: &str) -> Option<Self> {
        if let Some(why) = lacks_loop_devices() {
            skip(test, why);
            return None;
        }
        let place = TempDir::with_prefix_in("pgfsbench-helper.", directory).expect("a directory");
        let lab = Self {
            place,
            test: test.to_owned(),
        };
        fs::create_dir(lab.path("images")).expect("a directory");
        lab.configure(&lab.usual());
        Some(lab)
    }

    /// Whether this machine can make and mount a filesystem; why not.
    pub fn can(&self, filesystem: &str) -> Result<(), String> {
        can_make(&mut self.command(&["plan"]), filesystem)
    }

    /// Whether this machine can make and mount a filesystem; if not, the test says that it covers one filesystem less.
    pub fn has(&self, filesystem: &str) -> bool {
        self.is_told(filesystem, self.can(filesystem))
    }

    fn is_told(&self, filesystem: &str, can: Result<(), String>) -> bool {
        if let Err(reason) = &can {
            skip(&self.test, &format!("of {filesystem}: {reason}"));
        }
        can.is_ok()
    }

    /// The filesystems of ext4, xfs and btrfs that this machine can make and mount.
    pub fn filesystems(&self) -> Vec<&'static str> {
        // It is the same for all tests.
        static KNOWN: OnceLock<[(&str, Result<(), String>); 3]> = OnceLock::new();
        let known =
            KNOWN.get_or_init(|| ["ext4", "xfs", "btrfs"].map(|name| (name, self.can(name))));
        let mut filesystems = known.to_vec();
        filesystems.retain(|(name, can)| self.is_told(name, can.clone()));
        let names: Vec<&str> = filesystems.into_iter().map(|(name, _)| name).collect();
        assert!(names.contains(&"ext4"));
        names
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub fn usual(&self) -> String {
        format!(
            "power_cuts = true\nmount_root = {:?}\nstate = {:?}\n\
             [[database]]\nname = \"bench\"\nconnection = \"host=/nowhere user=postgres\"\n\
             [[images]]\ndirectory = {:?}\nmax_bytes = \"2GB\"\nmax_images = 3\n",
            self.path("mnt"),
            self.path("state"),
            self.path("images")
        )
    }

    pub fn configure(&self, text: &str) {
        let path = self.path("helper.toml");
        fs::write(&path, text).expect("the configuration");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("chmod");
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = confined::helper(arguments);
        command
            .arg("--config")
            .arg(self.path("helper.toml"))
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    /// With the configuration of the machine.
    pub fn plain_command(&self, arguments: &[&str]) -> Command {
        let mut command = confined::helper(arguments);
        command.args(arguments).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the helper runs")
    }

    /// Runs it until it has stopped itself before this step, lets something happen, and lets it go on: its exit code and what
    /// it says on standard error.
    pub fn held_before(
        &self,
        step: &str,
        arguments: &[&str],
        happens: impl FnOnce(),
    ) -> (Option<i32>, String) {
        let mut held = self
            .command(&[arguments, &["--pause-before", step]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the helper runs");
        wait_until_held(&held);
        happens();
        let mut stderr = held.stderr.take().expect("a pipe");
        let reader = std::thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).map(|_| said)
        });
        // A step that is taken for each device holds the helper each time.
        let status = wait_until("the helper ends", LONG, || {
            if is_held(&held) {
                go_on(&held);
            }
            held.try_wait().expect("a child")
        });
        let said = reader.join().expect("a thread").expect("UTF-8");
        (status.code(), said)
    }

    /// Runs it until it kills itself right before or after this step, as `when` says.
    pub fn killed(&self, arguments: &[&str], when: &str, step: &str) {
        let output = self.run(&[arguments, &[when, step]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(9), "{when} {step}: {said}");
    }

    /// Does as a start of the service does before it takes jobs; no database is asked.
    pub fn start(&self) {
        let output = self.run(&["run-once", "--database-program", "/bin/true"]);
        // The program in place of the database's says nothing, and may have gone before it is spoken to.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("could not clear up"), "{said}");
    }

    /// Runs it. It must succeed; returns its output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs it. It must refuse, with these words; returns its message.
    pub fn refused(&self, arguments: &[&str], words: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        for word in words {
            assert!(said.contains(word), "no `{word}` in: {said}");
        }
        said
    }

    /// The journal's entry of a target: its state, and the step that was begun last.
    pub fn begun(&self, target: &str) -> Option<String> {
        self.begun_in("bench", target)
    }

    /// The journal's entry of a target of this database.
    pub fn begun_in(&self, database: &str, target: &str) -> Option<String> {
        let path = self.path(&format!("state/journal/{database}@{target}.json"));
        let entry: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).expect("JSON");
        let step = entry["steps"].as_array().and_then(|steps| steps.last());
        Some(format!(
            "{} {}",
            entry["state"],
            step.unwrap_or(&Value::Null)
        ))
    }

    /// Asserts that everything the helper has undone is gone. A loop device is there until the last one that has it open closes it: others look
    /// at all devices now and then.
    pub fn nothing_is_left_at_once(&self) {
        let mut left = self.left();
        left.retain(|trace| !trace.starts_with("loop device "));
        assert_eq!(left, [""; 0]);
        self.nothing_is_left("all of it");
    }

    /// Mounts below this directory: mount point, type and options.
    pub fn mounts(&self) -> Vec<String> {
        let mounts = pgfsbench_tests::mounts();
        mounts
            .lines()
            .filter_map(|line| {
                let fields: Vec<&str> = line.split(' ').collect();
                Path::new(fields[1])
                    .starts_with(self.place.path())
                    .then(|| fields[1..4].join(" "))
            })
            .collect()
    }

    /// Loop devices of files below this directory.
    pub fn loops(&self) -> Vec<String> {
        let devices = fs::read_dir("/sys/block").expect("/sys/block");
        devices
            .flatten()
            .filter_map(|device| {
                let file = fs::read_to_string(device.path().join("loop/backing_file")).ok()?;
                file.starts_with(self.place.path().to_str()?)
                    .then(|| format!("/dev/{}", device.file_name().to_string_lossy()))
            })
            .collect()
    }

    pub fn list(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

impl Leaves for Lab {
    /// Mounts, loop devices, images, mount points and journal entries of this helper.
    fn left(&self) -> Vec<String> {
        let mounts = self.mounts();
        let mut left: Vec<String> = mounts.iter().map(|m| format!("mount {m}")).collect();
        left.extend(self.loops().iter().map(|l| format!("loop device {l}")));
        for directory in ["images", "mnt", "state/journal", "state/recorder"] {
            let names = self.list(directory);
            left.extend(names.iter().map(|name| format!("{directory}/{name}")));
        }
        left
    }
}

/// Waits until a helper has stopped itself before a step, as `--pause-before` says.
pub fn wait_until_held(helper: &Child) {
    wait_until("the helper is held", LONG, || is_held(helper).then_some(()));
}

fn is_held(helper: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", helper.id()));
    stat.is_ok_and(|stat| stat.contains(") T "))
}

/// Lets it go on.
pub fn go_on(helper: &Child) {
    let pid = Pid::from_raw(helper.id() as i32).expect("a pid");
    kill_process(pid, Signal::CONT).expect("SIGCONT");
}

/// Runs a program of the system that has to succeed, and gives what it printed.
pub fn system(name: &str, arguments: &[&str]) -> String {
    let path = program(name).unwrap_or_else(|| panic!("there is no {name}"));
    let output = Command::new(path).args(arguments).output().expect(name);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Detaches a loop device of a file, and waits until that is done: the kernel does it when the last one closes the device, which other
/// tests may have open for a moment, as may copies of a mount in namespaces that they make.
pub fn detach(device: &str, file: &str) {
    let path = program("losetup").expect("losetup");
    let _ = Command::new(path).args(["-d", device]).output();
    let name = device.trim_start_matches("/dev/");
    let backing = format!("/sys/block/{name}/loop/backing_file");
    wait_until("the loop device is detached", LONG, || {
        let now = fs::read_to_string(&backing).unwrap_or_default();
        (now.trim() != file).then_some(())
    });
}

/// Unmounts a device, and waits until no process claims it: a namespace that another test makes has a copy of the mount.
pub fn unmount(device: &str, place: &str) {
    system("umount", &[place]);
    wait_until("the device can be claimed", LONG, || {
        OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_EXCL)
            .open(device)
            .ok()
    });
}

/// Makes a program of this text. Another process writes it: of ours, one that is just being started for another test would have it open to
/// write for a moment, and the kernel executes no such file.
pub fn write_program(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).expect("a file");
    copy_program(&draft, path);
    fs::remove_file(&draft).expect("remove");
}

/// Copies one, likewise.
pub fn copy_program(from: &Path, to: &Path) {
    let mut install = Command::new(program("install").expect("install"));
    let status = install.args(["-m", "755"]).arg(from).arg(to).status();
    assert!(status.expect("install").success(), "{}", to.display());
}

/// The helper's program: beside that of the tests, where cargo puts it.
pub fn helper() -> PathBuf {
    if let Some(path) = std::env::var_os("PGFSBENCH_HELPER") {
        return path.into();
    }
    let tests = std::env::current_exe().expect("a program");
    let path = tests
        .ancestors()
        .nth(2)
        .expect("target/debug")
        .join("pgfsbench-helper");
    assert!(
        path.exists(),
        "no {}: run cargo build -p pgfsbench-helper",
        path.display()
    );
    path
}

impl Drop for Lab {
    fn drop(&mut self) {
        let try_to = |name: &str, arguments: &[&str]| {
            let _ = program(name).map(|path| Command::new(path).args(arguments).output());
        };
        for mount in self.mounts().iter().rev() {
            try_to("umount", &["-l", mount.split(' ').next().unwrap_or("")]);
        }
        for device in self.loops() {
            try_to("losetup", &["-d", &device]);
        }
    }
}
