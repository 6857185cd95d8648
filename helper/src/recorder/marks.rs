//! The process that marks the time in a log of dm-log-writes, in which entries have none. It ends when the target of the device mapper is removed.

use super::log_writes;
use super::{Recorder, now_ns};
use crate::child::OWN_PROGRAM;
use crate::secure::failed;
use pgfsbench_core::refusal::{Kind, Refusal};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use rustix::process::setsid;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};
use std::thread;
use std::time::Duration;

/// The device mapper's own device.
const CONTROL: &str = "/dev/mapper/control";
/// The time between two marks. A cut asks only for commits that were acknowledged before the last mark.
const PAUSE: Duration = Duration::from_millis(2);

/// The arguments of `_mark`.
#[derive(clap::Args)]
pub struct Arguments {
    /// UUID of the device
    uuid: String,
    record: PathBuf,
}

impl Recorder {
    /// Starts the process, and waits for its first mark.
    pub fn start_marks(&self, uuid: &str) -> Result<(), Refusal> {
        let could_not = |why: String| {
            Refusal::new(Kind::System, "could not mark the time in the record")
                .detail(why)
                .hint("The kernel's log (dmesg) may say why.")
        };
        let mut program = Program::new(OWN_PROGRAM);
        program
            .arg("_mark")
            .arg(uuid)
            .arg(&self.record)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = program.spawn().map_err(|e| could_not(format!("{e}.")))?;
        let mut said = [0];
        let first = child.stdout.take().map(|mut out| out.read(&mut said));
        thread::spawn(move || child.wait());
        match first {
            Some(Ok(1)) => Ok(()),
            _ => Err(could_not("Its process has ended.".into())),
        }
    }

    /// Marks the end of the recording, while the process still marks the time.
    pub fn mark_end(&self, uuid: &str, ns: u64) -> Result<(), Refusal> {
        if !self.is_held() {
            return Err(
                Refusal::new(Kind::NotInThisState, "the record has no times")
                    .detail(
                        "The process that marks the time in it, pgfsbench-helper _mark, has ended.",
                    )
                    .hint("Release the target, and start the run again."),
            );
        }
        let marked = control().and_then(|control| make(&control, uuid, ns, true));
        marked.map_err(|e| failed("mark the end of", &self.record, e))
    }
}

fn control() -> Result<OwnedFd, Errno> {
    openat(CWD, CONTROL, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
}

/// Makes a mark. The time was taken before: what was acknowledged by then is in the log before the mark.
fn make(control: &OwnedFd, uuid: &str, ns: u64, is_end: bool) -> Result<(), Errno> {
    let message = format!("mark {}", log_writes::mark(ns, is_end));
    message::send(control, uuid, &message)
}

pub fn main(arguments: &Arguments) -> Result<(), Refusal> {
    // No signal of a terminal reaches it.
    let _ = setsid();
    let no = |path: &Path, e: Errno| failed("mark the time in", path, e);
    let path = &arguments.record;
    let record =
        File::open(path).map_err(|e| no(path, Errno::from_io_error(&e).unwrap_or(Errno::IO)))?;
    // The end of a recording asks for this lock, and a release waits for it.
    flock(&record, FlockOperation::NonBlockingLockExclusive).map_err(|e| no(path, e))?;
    let control = control().map_err(|e| no(Path::new(CONTROL), e))?;
    let mut has_told = false;
    loop {
        match make(&control, &arguments.uuid, now_ns(), false) {
            Ok(()) => {}
            // It was removed.
            Err(Errno::NXIO) => return Ok(()),
            Err(e) => return Err(no(path, e)),
        }
        if !has_told {
            let _ = rustix::io::write(rustix::stdio::stdout(), b".");
            has_told = true;
        }
        thread::sleep(PAUSE);
    }
}

/// The request that hands a message to a target of the device mapper.
#[allow(unsafe_code)]
mod message {
    use rustix::io::Errno;
    use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
    use std::os::fd::OwnedFd;

    const LONGEST_UUID: usize = 129;
    const LONGEST_MESSAGE: usize = 128;

    /// The kernel's struct dm_ioctl.
    #[repr(C)]
    struct Head {
        version: [u32; 3],
        data_size: u32,
        data_start: u32,
        target_count: u32,
        open_count: i32,
        flags: u32,
        event_nr: u32,
        padding: u32,
        dev: u64,
        name: [u8; 128],
        uuid: [u8; LONGEST_UUID],
        data: [u8; 7],
    }

    /// The request with its struct dm_target_msg.
    #[repr(C)]
    struct Message {
        head: Head,
        sector: u64,
        text: [u8; LONGEST_MESSAGE],
    }

    /// The sizes in linux/dm-ioctl.h.
    const _: () = assert!(size_of::<Head>() == 312 && size_of::<Message>() == 312 + 8 + 128);

    const DM_TARGET_MSG: Opcode = opcode::read_write::<Head>(0xfd, 14);

    /// EINVAL if one of the texts is too long. ENXIO if there is no such device.
    pub fn send(control: &OwnedFd, uuid: &str, text: &str) -> Result<(), Errno> {
        let mut message = Message {
            head: Head {
                version: [4, 0, 0],
                data_size: size_of::<Message>() as u32,
                data_start: size_of::<Head>() as u32,
                target_count: 0,
                open_count: 0,
                flags: 0,
                event_nr: 0,
                padding: 0,
                dev: 0,
                name: [0; 128],
                uuid: with_nul(uuid)?,
                data: [0; 7],
            },
            sector: 0,
            text: with_nul(text)?,
        };
        // SAFETY: the kernel reads and writes at most data_size bytes, which are those of this structure; each value of each field is valid.
        unsafe { ioctl(control, Updater::<DM_TARGET_MSG, _>::new(&mut message)) }
    }

    /// The bytes of a text, with a NUL behind them.
    fn with_nul<const N: usize>(text: &str) -> Result<[u8; N], Errno> {
        let mut bytes = [0; N];
        let place = bytes[..N - 1].get_mut(..text.len()).ok_or(Errno::INVAL)?;
        place.copy_from_slice(text.as_bytes());
        Ok(bytes)
    }
}
