//! The process that is the disks: answers the kernel's messages one after the other, so that the record has them in one order.

use super::Command;
use super::device::Device;
use super::fuse::{
    Answer, COMMANDS, DISK, LONGEST_MESSAGE, Message, NAME_OF_COMMANDS, Operation, message,
};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// Serves until the filesystem is unmounted. Each disk of the device has a name.
pub fn serve(kernel: impl AsFd, device: Device, names: Vec<OsString>) -> Result<(), Errno> {
    let mut server = Server {
        device,
        names,
        said: Vec::new(),
    };
    let mut buffer = vec![0; LONGEST_MESSAGE];
    loop {
        let length = match rustix::io::read(&kernel, &mut buffer) {
            Ok(length) => length,
            Err(Errno::NODEV) => return Ok(()),
            // A message that was taken back.
            Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => continue,
            Err(e) => return Err(e),
        };
        let ns = now_ns();
        let Some(message) = message(&buffer[..length]) else {
            continue;
        };
        let unique = message.unique;
        let answer = match server.answer(&message, ns) {
            Ok(answer) => answer.to(unique),
            Err(e) => Answer::failed(unique, e),
        };
        match rustix::io::write(&kernel, &answer) {
            // The message was taken back meanwhile.
            Ok(_) | Err(Errno::NOENT) => {}
            Err(Errno::NODEV) => return Ok(()),
            Err(e) => return Err(e),
        }
    }
}

struct Server {
    device: Device,
    /// The names of the disks.
    names: Vec<OsString>,
    /// The answer to the last command, as JSON.
    said: Vec<u8>,
}

impl Server {
    fn answer(&mut self, message: &Message, ns: u64) -> Result<Answer, Errno> {
        let node = message.node;
        match (&message.operation, self.disk_of(node)) {
            (
                Operation::Init {
                    minor,
                    readahead,
                    flags,
                },
                _,
            ) => Ok(Answer::init(*minor, *readahead, *flags)),
            (Operation::Lookup(name), _) => {
                let disk = self
                    .names
                    .iter()
                    .position(|known| known.as_bytes() == *name);
                let node = match disk {
                    Some(disk) => DISK + disk as u64,
                    None if *name == NAME_OF_COMMANDS.as_bytes() => COMMANDS,
                    None => return Err(Errno::NOENT),
                };
                Ok(Answer::entry(node, self.bytes_of(node)))
            }
            (Operation::Attributes, _) => Ok(Answer::attributes(node, self.bytes_of(node))),
            (Operation::Statistics, _) => {
                let disks = 0..self.names.len();
                let bytes = disks.map(|disk| self.device.bytes(disk)).sum();
                Ok(Answer::statistics(bytes))
            }
            (Operation::Open, disk) if disk.is_some() || node == COMMANDS => Ok(Answer::open()),
            (Operation::Close, _) => Ok(Answer::new()),
            (Operation::Read { offset, bytes }, Some(disk)) => {
                Answer::new().read(*bytes, |buffer| self.device.read(disk, *offset, buffer))
            }
            (Operation::Write { offset, data }, Some(disk)) => {
                self.device.write(disk, *offset, data, ns)?;
                Ok(Answer::written(data.len()))
            }
            (Operation::Flush, Some(disk)) => self.device.flush(disk, ns).map(|()| Answer::new()),
            (Operation::Discard { offset, bytes }, Some(disk)) => {
                let done = self.device.discard(disk, *offset, *bytes, ns);
                done.map(|()| Answer::new())
            }
            (Operation::Write { data, .. }, None) if node == COMMANDS => {
                let said = self.command(data);
                self.said = serde_json::to_vec(&said).map_err(|_| Errno::IO)?;
                Ok(Answer::written(data.len()))
            }
            (Operation::Read { offset, bytes }, None) if node == COMMANDS => {
                let from = usize::try_from(*offset).map_err(|_| Errno::INVAL)?;
                let rest = self.said.get(from..).unwrap_or_default();
                Ok(Answer::new().bytes(&rest[..rest.len().min(*bytes)]))
            }
            _ => Err(Errno::NOSYS),
        }
    }

    /// The disk of a node; None for a file that is no disk.
    fn disk_of(&self, node: u64) -> Option<usize> {
        let disk = usize::try_from(node.checked_sub(DISK)?).ok()?;
        (disk < self.names.len()).then_some(disk)
    }

    fn bytes_of(&self, node: u64) -> u64 {
        self.disk_of(node).map_or(0, |disk| self.device.bytes(disk))
    }

    /// Does what a command asks for. The error is a sentence.
    fn command(&mut self, text: &[u8]) -> Result<Value, String> {
        let value = |value: serde_json::Result<Value>| value.map_err(|e| format!("{e}."));
        match serde_json::from_slice(text).map_err(|e| format!("{e}."))? {
            Command::Stop { stop, ns } => value(serde_json::to_value(self.device.stop(&stop, ns))),
            Command::Fault(fault) => {
                self.device.set_fault(fault);
                Ok(Value::Null)
            }
            Command::Cut(cut) => match self.device.cut(&cut) {
                Some(made) => value(serde_json::to_value(made)),
                None => Err(format!(
                    "There is no cut after {} entries: the recording goes on, or it has fewer.",
                    cut.entry
                )),
            },
            Command::EndCut => {
                let ended = self.device.end_cut();
                ended
                    .map(|counts| json!(counts))
                    .map_err(|e| format!("{e}."))
            }
        }
    }
}
