//! What is read from storage while the table is scanned: by the processes of the scan, and by the device for whomever.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::proc::compressing_option;

use crate::{
    board::Board,
    errors::Fault,
    host::{
        disk_counters,
        location::{self, Location},
    },
    pg::{own_reads, scan_version, xact},
};

/// Filesystems without a block device below them that have whoever reads counted as the reader.
const COUNTING: [&str; 4] = ["overlay", "btrfs", "tmpfs", "ramfs"];

/// Bytes that the device below the data has read so far; None where that is not known.
pub fn device_read_bytes() -> Option<u64> {
    disk_counters::bytes_read(&location::data_location()?)
}

/// Whether the filesystem below the data compresses, as far as its mount options tell: its device reads less than the table has.
pub fn is_compressed() -> bool {
    location::data_location().is_some_and(|location| {
        let mount = location.mount();
        mount.is_some_and(|mount| compressing_option(&mount.options).is_some())
    })
}

/// Whether who reads a file of this filesystem is the process for which the kernel counts what comes from storage. Filesystems of
/// programs (FUSE) and of networks mostly have somebody else read for it.
fn counts_readers(location: &Location) -> bool {
    location.mount().is_some_and(|mount| {
        let kind = mount.fs_type.as_str();
        COUNTING.contains(&kind) || !kind.starts_with("fuse") && location.block_device().is_some()
    })
}

/// Whether the kernel counts what a scan reads for the scan's own processes: not where processes of the server read for one another.
/// In a worker.
pub fn processes_count() -> Result<bool, Fault> {
    let by_others = xact::transaction(scan_version::is_read_by_others)?;
    let location = location::data_location();
    Ok(!by_others && location.as_ref().is_some_and(counts_readers))
}

/// What was read up to a moment.
pub struct Reads {
    leader: Option<u64>,
    workers: u64,
    workers_told: u32,
    device: Option<u64>,
}

impl Reads {
    /// Up to now, by this process and by the parallel workers of its scans.
    pub fn so_far(board: &Board) -> Self {
        let run = &board.run;
        Self {
            leader: own_reads::of_this_process(),
            workers_told: run.workers_told.load(Acquire),
            workers: run.workers_read_bytes.load(Acquire),
            device: device_read_bytes(),
        }
    }

    /// Bytes that the processes of a scan have had the kernel read since then; None unless each of its workers has told.
    pub fn by_processes(&self, before: &Self, workers: u32) -> Option<u64> {
        let told = self.workers_told.wrapping_sub(before.workers_told);
        let by_leader = self.leader?.saturating_sub(before.leader?);
        let by_workers = self.workers.saturating_sub(before.workers);
        (told == workers).then_some(by_leader + by_workers)
    }

    /// Bytes that the device has read since then.
    pub fn by_device(&self, before: &Self) -> Option<u64> {
        Some(self.device?.saturating_sub(before.device?))
    }
}
