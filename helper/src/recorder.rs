//! The recorder: a filesystem of FUSE whose files serve as disks, below loop devices. Whatever reaches them is recorded in one order, and power
//! cuts of all of them are made from the record. A process of its own serves it, and ends when it is unmounted.
//!
//! A write that reaches the disk before a flush counts as flushed by it, also if its answer was still on its way.
//!
//! Where dm-log-writes records, the recorder begins when the recording has ended, with the log of that. Until then `_mark`
//! marks the time in it.

#[cfg(test)]
mod batch_tests;
mod device;
mod extents;
mod fuse;
mod log_writes;
mod marks;
mod replay;
mod server;

pub use marks::{Arguments as MarkArguments, main as mark};
pub use server::now_ns;

use crate::child::OWN_PROGRAM;
use crate::probe;
use crate::secure::{self, failed};
use device::{Device, MOST_ENTRIES};
use pgfsbench_core::helper::record::{Cut, CutStop, Fault};
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{configure_io_flusher_behavior, setsid};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The kernel's door to filesystems of processes.
const DOOR: &str = "/dev/fuse";
const TYPE: &str = "fuse.pgfsbench";
/// In place of an image, where a log begins with an empty device.
pub const ZEROS: &str = "/dev/zero";

/// The time in which a recorder that is unmounted must end.
const GRACE: Duration = Duration::from_secs(60);

/// The recorder of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorder {
    /// The place where its filesystem is mounted, which only root can enter.
    pub mount_point: PathBuf,
    /// The file of the record.
    pub record: PathBuf,
    /// The largest size of the record.
    pub bytes: u64,
}

/// A command to a recorder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// End the recording as it was at this time.
    Stop {
        stop: CutStop,
        ns: u64,
    },
    Fault(Fault),
    Cut(Cut),
    EndCut,
}

/// The arguments of `_record`.
#[derive(clap::Args)]
pub struct Arguments {
    record: PathBuf,
    /// The largest size of the record
    bytes: u64,
    #[arg(required = true)]
    images: Vec<PathBuf>,
    /// The record is the log of dm-log-writes of a device of this size
    #[arg(long)]
    log_of: Option<u64>,
}

impl Recorder {
    /// The file that serves as a disk in place of this image, or of [`ZEROS`].
    pub fn disk(&self, image: &Path) -> PathBuf {
        self.mount_point.join(image.file_name().unwrap_or_default())
    }

    /// The largest size of a log of dm-log-writes. The rest of the record is for servers that are started on a cut.
    pub fn log_bytes(&self) -> u64 {
        (self.bytes - self.bytes / 4) / 4096 * 4096
    }

    /// Starts the recorder with the log of dm-log-writes of a device of this size. If it cannot read the log, this process has the words for it.
    pub fn start_with_log(&self, bytes: u64) -> Result<(), Refusal> {
        self.start(&[ZEROS.into()], Some(bytes)).map_err(|ended| {
            let read = File::open(&self.record)
                .map_err(|e| format!("{e}"))
                .and_then(|record| log_writes::read(&record, bytes, MOST_ENTRIES));
            let Err(why) = read else {
                return ended;
            };
            let path = self.record.display();
            Refusal::new(Kind::System, format!("could not read the log {path}"))
                .detail(format!("dm-log-writes has written it: {why}."))
                .hint("Release the target; the kernel's log (dmesg) may say why.")
        })
    }

    /// Mounts the filesystem, and starts the process that serves it. If this process is killed in between, the kernel ends the filesystem, which stays
    /// mounted. The record of a log is there already.
    pub fn start(&self, images: &[PathBuf], log_of: Option<u64>) -> Result<(), Refusal> {
        secure::make_directory(&self.mount_point, 0o700)?;
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let door = openat(CWD, DOOR, flags, Mode::empty()).map_err(|e| {
            failed("open", Path::new(DOOR), e).hint("Load the module: modprobe fuse.")
        })?;
        let options = format!(
            "fd={},rootmode=40000,user_id=0,group_id=0",
            door.as_raw_fd()
        );
        let options = CString::new(options).expect("no NUL");
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount(
            "pgfsbench",
            &self.mount_point,
            TYPE,
            flags,
            options.as_c_str(),
        )
        .map_err(|e| failed("mount the recorder on", &self.mount_point, e))?;
        let mut program = Program::new(OWN_PROGRAM);
        program
            .arg("_record")
            .arg(&self.record)
            .arg(self.bytes.to_string())
            .args(images)
            .args(log_of.map(|bytes| format!("--log-of={bytes}")))
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(door))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let started = program.spawn();
        // From now on only the recorder has the door open: the filesystem ends with it.
        drop(program);
        let mut child = started.map_err(|e| {
            Refusal::new(Kind::System, "could not start the recorder").detail(format!("{e}."))
        })?;
        thread::spawn(move || child.wait());
        // The answer comes from the recorder.
        std::fs::metadata(self.commands()).map(drop).map_err(|e| {
            Refusal::new(Kind::System, "the recorder has ended")
                .detail(format!("Its files cannot be looked at: {e}."))
        })
    }

    fn commands(&self) -> PathBuf {
        self.mount_point.join(fuse::NAME_OF_COMMANDS)
    }

    /// Has the recorder do something.
    pub fn ask<T: DeserializeOwned>(&self, command: &Command) -> Result<T, Refusal> {
        let said = exchange(&self.commands(), command).map_err(|e| {
            Refusal::new(Kind::NotInThisState, "the recorder does not answer")
                .detail(format!("{e}."))
                .hint("Release the target.")
        })?;
        let odd = |detail: String| {
            Refusal::new(Kind::NotInThisState, "the recorder does not do it").detail(detail)
        };
        let value = said.map_err(odd)?;
        serde_json::from_value(value)
            .map_err(|e| odd(format!("Its answer is not understood: {e}.")))
    }

    /// Whether its filesystem is mounted.
    pub fn is_mounted(&self) -> Result<bool, Refusal> {
        let mounts = probe::mounts_on(&self.mount_point)?;
        Ok(mounts.last().is_some_and(|mount| mount.fs_type == TYPE))
    }

    /// Unmounts the filesystem; ENOENT if it is not mounted.
    pub fn unmount(&self) -> Result<(), Errno> {
        match self.is_mounted() {
            Ok(true) => unmount(&self.mount_point, UnmountFlags::empty()),
            Ok(false) => Err(Errno::NOENT),
            Err(_) => Err(Errno::IO),
        }
    }

    /// Whether a process holds a lock on the record: the recorder, or the one that marks the time.
    fn is_held(&self) -> bool {
        let held =
            |record| flock(record, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK);
        File::open(&self.record).is_ok_and(held)
    }

    /// Waits until the process has ended.
    pub fn wait_for_end(&self) -> Result<(), Refusal> {
        let began = Instant::now();
        while self.is_held() {
            if began.elapsed() > GRACE {
                return Err(Refusal::new(Kind::NotInThisState, "the recorder has not ended")
                    .detail(format!("It holds a lock on {}.", self.record.display()))
                    .hint("End its process, pgfsbench-helper _record or _mark; then run pgfsbench-helper cleanup."));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

fn exchange(path: &Path, command: &Command) -> io::Result<Result<Value, String>> {
    let mut commands = OpenOptions::new().read(true).write(true).open(path)?;
    commands.write_all(&serde_json::to_vec(command)?)?;
    let mut said = Vec::new();
    commands.rewind()?;
    commands.read_to_end(&mut said)?;
    Ok(serde_json::from_slice(&said)?)
}

/// Why this machine cannot record; None if it can.
pub fn why_not() -> Option<&'static str> {
    match Path::new(DOOR).exists() {
        true => None,
        false => Some("there is no /dev/fuse"),
    }
}

/// The process that serves the disks. Its standard input is the kernel's door.
pub fn main(arguments: &Arguments) -> Result<(), Refusal> {
    let failed = |path: &Path, e: io::Error| {
        Refusal::new(Kind::System, format!("could not open {}", path.display()))
            .detail(format!("{e}."))
    };
    // No signal of a terminal reaches it.
    let _ = setsid();
    // Memory for it is not taken from what waits to be written to its disk. A service without CAP_SYS_RESOURCE has no such right.
    let _ = configure_io_flusher_behavior(true);
    let mut images = Vec::new();
    for image in &arguments.images {
        images.push(File::open(image).map_err(|e| failed(image, e))?);
    }
    let record = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&arguments.record)
        .map_err(|e| failed(&arguments.record, e))?;
    // The release of the target waits for this lock: the kernel gives it back when this process ends.
    flock(&record, FlockOperation::NonBlockingLockExclusive)
        .map_err(|e| failed(&arguments.record, e.into()))?;
    let device = match arguments.log_of {
        None => Device::new(images, record, arguments.bytes)
            .map_err(|e| failed(&arguments.record, e))?,
        Some(bytes) => {
            let zeros = images.swap_remove(0);
            let log = log_writes::read(&record, bytes, MOST_ENTRIES)
                .map_err(|why| failed(&arguments.record, io::Error::other(why)))?;
            Device::of_log(zeros, bytes, record, arguments.bytes, log)
        }
    };
    let names = arguments.images.iter();
    let names = names.map(|image| image.file_name().unwrap_or_default().to_owned());
    server::serve(rustix::stdio::stdin(), device, names.collect())
        .map_err(|e| secure::failed("serve", &arguments.record, e))
}
