//! Settings of queues and of the whole machine that a target has changed. The journal has each old value before it is changed, and the release of the
//! target writes it back. A value that another program has changed since stays.

use crate::probe::queue::{self, Queue};
use pgfsbench_core::helper::{BlockSettings, KernelSettings};
use pgfsbench_core::refusal::{Kind, Refusal};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub const VM: &str = "/proc/sys/vm";

/// The owner of a setting: the machine, or a disk's queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SettingOwner {
    Queue(Queue),
    Kernel,
}

/// A file below that directory, and its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    pub file: String,
    pub value: String,
}

/// A setting that has been changed, or was about to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    pub of: SettingOwner,
    pub before: Value,
    /// The value when everything had been set, of a queue when all was mounted. None if the helper may have been killed in between: then the
    /// old value is written back whatever is there now.
    pub after: Option<Value>,
}

impl SettingOwner {
    pub fn directory(&self) -> Option<PathBuf> {
        match self {
            SettingOwner::Queue(queue) => queue.directory(),
            SettingOwner::Kernel => Some(VM.into()),
        }
    }

    /// The files that may be written: no entry of the journal can name another one.
    fn has(&self, file: &str) -> bool {
        match self {
            SettingOwner::Kernel => KERNEL.contains(&file),
            SettingOwner::Queue(_) => match file.strip_prefix(TUNABLES) {
                Some(name) => {
                    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                    !name.is_empty() && name.chars().all(plain)
                }
                None => QUEUE.contains(&file),
            },
        }
    }
}

/// In the order in which they are written: a new scheduler brings settings of its own.
const QUEUE: [&str; 4] = ["scheduler", "nr_requests", "read_ahead_kb", "wbt_lat_usec"];
/// Directory of the scheduler's own settings.
const TUNABLES: &str = "iosched/";
const KERNEL: [&str; 6] = [
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_ratio",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
];
/// Pairs of files of which one is in force: the one that was written last. The other reads as 0.
const PAIRS: [[&str; 2]; 2] = [
    ["dirty_bytes", "dirty_ratio"],
    ["dirty_background_bytes", "dirty_background_ratio"],
];

impl Changed {
    /// Why an entry that names this is not believed.
    pub fn check(&self) -> Result<(), &'static str> {
        let values = [Some(&self.before), self.after.as_ref()];
        let plain = |text: &str| text.len() <= 64 && text.chars().all(|c| c.is_ascii_graphic());
        let fits = values
            .into_iter()
            .flatten()
            .all(|v| self.of.has(&v.file) && plain(&v.value));
        match fits {
            true => Ok(()),
            false => Err("it names a setting that is never changed"),
        }
    }

    /// The value now; None if it cannot be read.
    pub fn now(&self) -> Option<Value> {
        read(&self.of.directory()?, &self.before.file)
    }
}

/// The value in force for this file; in a pair, that of the other file if this one reads as 0.
fn read(directory: &Path, file: &str) -> Option<Value> {
    let read = |file: &str| -> Option<Value> {
        let text = std::fs::read_to_string(directory.join(file)).ok()?;
        Some(Value {
            file: file.to_owned(),
            value: queue::value(&text),
        })
    };
    match PAIRS.iter().find(|pair| pair.contains(&file)) {
        Some([bytes, ratio]) => read(bytes)
            .filter(|v| v.value != "0")
            .or_else(|| read(ratio)),
        None => read(file),
    }
}

pub fn write(of: &SettingOwner, value: &Value) -> Result<(), Refusal> {
    let Some(directory) = of.directory() else {
        return Ok(());
    };
    let path = directory.join(&value.file);
    std::fs::write(&path, &value.value).map_err(|e| {
        let message = format!("could not write {} to {}", value.value, path.display());
        Refusal::new(Kind::System, message)
            .detail(format!("{e}."))
            .hint("The kernel's log (dmesg) may say more; give another value, or leave the setting out.")
    })
}

/// The values to write to a disk's queue, in order.
pub fn of_block(requested: &BlockSettings) -> Vec<Value> {
    let number = |n: Option<u64>| n.map(|n| n.to_string());
    [
        ("scheduler", requested.scheduler.clone()),
        ("nr_requests", number(requested.nr_requests)),
        ("read_ahead_kb", number(requested.read_ahead_kb)),
    ]
    .into_iter()
    .filter_map(|(file, value)| {
        Some(Value {
            file: file.into(),
            value: value?,
        })
    })
    .collect()
}

/// The values to write to the kernel's settings.
pub fn of_kernel(requested: &KernelSettings) -> Vec<Value> {
    let value = |(file, value): (&str, u64)| Value {
        file: file.into(),
        value: value.to_string(),
    };
    requested.requested().into_iter().map(value).collect()
}

/// The present values of everything that writing these would change. A new scheduler resets its own settings and some of the queue's.
pub fn before(of: &SettingOwner, requested: &[Value]) -> Vec<Changed> {
    let Some(directory) = of.directory() else {
        return Vec::new();
    };
    let mut files: Vec<String> = requested.iter().map(|value| value.file.clone()).collect();
    let changes_scheduler = requested
        .iter()
        .any(|v| v.file == "scheduler" && read(&directory, "scheduler").as_ref() != Some(v));
    if changes_scheduler {
        for file in ["nr_requests", "wbt_lat_usec"] {
            if !files.iter().any(|f| f == file) {
                files.push(file.into());
            }
        }
        let tunables = std::fs::read_dir(directory.join(TUNABLES));
        let mut tunables: Vec<String> = tunables
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| format!("{TUNABLES}{}", entry.file_name().to_string_lossy()))
            .filter(|file| of.has(file))
            .collect();
        tunables.sort();
        // They come right after the scheduler that has them.
        files.splice(1..1, tunables);
    }
    files
        .iter()
        .filter_map(|file| {
            Some(Changed {
                of: of.clone(),
                before: read(&directory, file)?,
                after: None,
            })
        })
        .filter(|changed| changed.check().is_ok())
        .collect()
}

/// The values to write back: those that may be half done, and those that are still as the helper left them. A value that another program has changed
/// since is left alone. If the scheduler is left alone, so are its settings.
pub fn to_put_back(changed: &[Changed], now: impl Fn(&Changed) -> Option<Value>) -> Vec<Changed> {
    let is_as_left = |c: &Changed| c.after.is_none() || now(c) == c.after;
    let scheduler_is_another = |of: &SettingOwner| {
        changed
            .iter()
            .any(|c| c.of == *of && c.before.file == "scheduler" && !is_as_left(c))
    };
    let is_due = |c: &&Changed| match c.before.file.starts_with(TUNABLES) {
        true => !scheduler_is_another(&c.of),
        false => is_as_left(c),
    };
    changed.iter().filter(is_due).cloned().collect()
}

/// In words, for a report.
pub fn words(values: &[Value]) -> String {
    let words: Vec<String> = values
        .iter()
        .map(|v| format!("{} to {}", v.value, v.file))
        .collect();
    words.join(", ")
}

/// Their files, for a report.
pub fn files(values: &[Value]) -> String {
    let files: Vec<&str> = values.iter().map(|v| v.file.as_str()).collect();
    files.join(", ")
}

#[cfg(test)]
mod tests;
