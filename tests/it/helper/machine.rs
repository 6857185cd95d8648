//! Settings of this machine that tests change: put back whatever becomes of the test.

use rustix::process::getpgrp;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const VM: &str = "/proc/sys/vm";
const FILES: [&str; 6] = [
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_ratio",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
];

/// Writes files when it is dropped, or once the tests' process has been killed, and with it the others of its process group: these may have been
/// about to write them.
struct PutBack {
    shell: Child,
}

impl PutBack {
    /// It has this open until they are written, if there is one.
    fn new<'a>(lock: Option<&File>, files: impl IntoIterator<Item = (PathBuf, &'a str)>) -> Self {
        let group = getpgrp().as_raw_nonzero();
        // It reads the end of its input, without a word, if this process is no more.
        let mut script = format!(
            "read -r said || for i in $(seq 100); do kill -0 -- -{group} || break; sleep 0.1; done 2>/dev/null;"
        );
        for (file, value) in files {
            script += &format!(" echo {value} >{};", file.display());
        }
        let lock = lock.map(|lock| lock.try_clone().expect("a lock"));
        let shell = Command::new("/bin/sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(lock.map_or_else(Stdio::null, Stdio::from))
            // An end of the tests ends all of their process group.
            .process_group(0)
            .spawn()
            .expect("sh");
        Self { shell }
    }
}

impl Drop for PutBack {
    fn drop(&mut self) {
        let input = self.shell.stdin.take();
        let _ = input.map(|mut input| input.write_all(b"over\n"));
        let _ = self.shell.wait();
    }
}

/// The right to change the kernel's settings, which are there once: and what they were.
pub struct Machine {
    before: BTreeMap<&'static str, String>,
    // These are dropped in this order: the next one reads what was put back.
    _put_back: PutBack,
    _lock: File,
}

impl Machine {
    pub fn new() -> Self {
        let lock = File::create("/run/pgfsbench-tests-vm.lock").expect("a lock");
        lock.lock().expect("the lock");
        let before = kernel();
        let in_force = before
            .iter()
            .filter(|(file, value)| *value != "0" || file.ends_with("_centisecs"))
            .map(|(file, value)| (Path::new(VM).join(file), value.as_str()));
        Self {
            _put_back: PutBack::new(Some(&lock), in_force),
            before,
            _lock: lock,
        }
    }

    pub fn assert_as_before(&self, when: &str) {
        assert_eq!(kernel(), self.before, "{when}");
    }

    pub fn set(&self, file: &str, value: &str) {
        fs::write(Path::new(VM).join(file), value).expect("written");
    }
}

/// The kernel's settings in force.
pub fn kernel() -> BTreeMap<&'static str, String> {
    let read = |file| fs::read_to_string(Path::new(VM).join(file)).expect("a setting");
    FILES
        .iter()
        .map(|file| (*file, read(file).trim().to_owned()))
        .collect()
}

/// The queue of a loop device. One of the test's has its settings back in the end: the device keeps them when it is detached.
pub struct Queue {
    directory: PathBuf,
    before: BTreeMap<String, String>,
    _put_back: Option<PutBack>,
}

impl Queue {
    pub fn of(device: &str) -> Self {
        let mut queue = Self::watched(device);
        let original = ["scheduler", "nr_requests", "read_ahead_kb"]
            .map(|file| (queue.directory.join(file), queue.before[file].as_str()));
        queue._put_back = Some(PutBack::new(None, original));
        queue
    }

    /// One that is only looked at, since it may be another's at any time.
    pub fn watched(device: &str) -> Self {
        let name = device.trim_start_matches("/dev/");
        let directory = Path::new("/sys/block").join(name).join("queue");
        let mut queue = Self {
            directory,
            before: BTreeMap::new(),
            _put_back: None,
        };
        queue.remember();
        queue
    }

    pub fn get(&self, file: &str) -> String {
        let text = fs::read_to_string(self.directory.join(file)).unwrap_or_default();
        let chosen = text
            .split_whitespace()
            .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
        chosen.unwrap_or(text.trim()).to_owned()
    }

    pub fn set(&self, file: &str, value: &str) {
        fs::write(self.directory.join(file), value).expect("written");
    }

    /// Everything that may change with what is asked for.
    pub fn all(&self) -> BTreeMap<String, String> {
        let mut files: Vec<String> = ["scheduler", "nr_requests", "read_ahead_kb", "wbt_lat_usec"]
            .map(String::from)
            .to_vec();
        for entry in fs::read_dir(self.directory.join("iosched"))
            .into_iter()
            .flatten()
            .flatten()
        {
            files.push(format!("iosched/{}", entry.file_name().to_string_lossy()));
        }
        files
            .into_iter()
            .map(|f| (self.get(&f), f))
            .map(|(v, f)| (f, v))
            .collect()
    }

    /// From now on this is how it was.
    pub fn remember(&mut self) {
        self.before = self.all();
    }

    pub fn assert_as_before(&self, when: &str) {
        assert_eq!(self.all(), self.before, "{when}");
    }

    pub fn offers(&self, scheduler: &str) -> bool {
        let text = fs::read_to_string(self.directory.join("scheduler")).unwrap_or_default();
        text.split_whitespace()
            .any(|word| word.trim_matches(['[', ']']) == scheduler)
    }
}
