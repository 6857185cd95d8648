//! Parsers of files in `/proc`. The caller opens and reads the files, so that everything here is tested on recorded texts.
//!
//! A line that cannot be read costs that line only, and a value that is missing is None: other kernels and compatibility layers
//! (gVisor, LXCFS, WSL) write some lines in ways of their own, or leave them out. Where a line that is left out would make a
//! decision unsafe, the parser says which lines it could not read.
//!
//! procfs-core's parser is used for a line of `diskstats`. Its parsers of whole files give up on the file when a part is
//! missing, lose the order of mount options, and leave `\040` in paths.

mod cpu;
mod diskstats;
mod family;
mod io;
mod memory;
mod mount;
mod pressure;
mod process;
mod snapshot;
mod stat;
mod swaps;
mod virtualization;

use std::fmt;

use crate::refusal::{Kind, Refusal};

pub use cpu::{Cpu, parse_cpuinfo};
pub use diskstats::{DiskCounters, DiskFigures, discarded_bytes, parse_diskstats, parse_paths};
pub use family::{Member, parse_member};
pub use io::{Reads, parse_reads};
pub use memory::{DirtyPages, Memory, Paging, parse_dirty, parse_memory, parse_paging};
pub use mount::{
    Mount, Mountinfo, OddMount, compressing_option, has_barriers_off, mount_of, parse_mountinfo,
    understood_mounts,
};
pub use pressure::{Pressure, parse_pressure};
pub use process::parse_cpu_ticks;
pub use snapshot::{CpuOfProcesses, Snapshot};
pub use stat::{CpuShares, CpuTimes, parse_cpu_times, parse_each_cpu};
pub use swaps::{Swap, parse_swaps};
pub use virtualization::{
    CLOCKS, DEVICE_TREE, DMI, HYPERVISOR, VirtualizationSigns, virtualization,
};

pub const MOUNTINFO: &str = "/proc/self/mountinfo";
/// This process's own reads and writes.
pub const OWN_IO: &str = "/proc/self/io";
pub const MEMINFO: &str = "/proc/meminfo";
pub const CPUINFO: &str = "/proc/cpuinfo";
pub const STAT: &str = "/proc/stat";
pub const DISKSTATS: &str = "/proc/diskstats";
pub const SWAPS: &str = "/proc/swaps";
pub const VMSTAT: &str = "/proc/vmstat";
/// Pressure (PSI) on processor, memory and devices. A kernel without PSI, and many containers, lack them.
pub const PRESSURE: [&str; 3] = [
    "/proc/pressure/cpu",
    "/proc/pressure/memory",
    "/proc/pressure/io",
];

/// A text that is not what its file should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub path: &'static str,
    /// The line, from 1, when it is known.
    pub line: Option<usize>,
    pub problem: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "could not parse file \"{}\"", self.path)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for ParseError {}

impl From<ParseError> for Refusal {
    fn from(error: ParseError) -> Self {
        Refusal::new(Kind::System, error.to_string())
    }
}

/// RAM of the machine in bytes: MemTotal of `/proc/meminfo`. A limit of a cgroup does not show here.
pub fn parse_memory_bytes(text: &str) -> Result<u64, ParseError> {
    memory::parse_total(text).ok_or_else(|| ParseError {
        path: MEMINFO,
        line: None,
        problem: "MemTotal is missing or no number of kB".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: &str = include_str!("proc/meminfo.txt");

    #[test]
    fn memory() {
        assert_eq!(parse_memory_bytes(RECORDED), Ok(24684092 * 1024));
    }

    #[test]
    fn what_is_no_meminfo() {
        for text in ["", "MemTotal: lots kB\n", "MemTotal:\n", "MemTotal: 5\n"] {
            let error = parse_memory_bytes(text).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("could not parse file \"/proc/meminfo\": "),
                "{error}"
            );
            assert_eq!(Refusal::from(error).kind, Kind::System);
        }
    }
}
