//! Bytes read from storage while the table is scanned: by the processes of the scan, and by the device for all.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::{
    environment::Environment,
    file_attributes::Attributes,
    proc::{Reads, compressing_option},
    workload::scan::read_for_others,
};

use crate::{
    board::Board,
    errors::Fault,
    host::{
        disk_counters,
        location::{self, Location},
    },
    pg::{own_reads, scan_version, xact},
};

/// Filesystems without a block device whose reads are counted for the process that reads.
const COUNTING: [&str; 4] = ["overlay", "btrfs", "tmpfs", "ramfs"];

/// Bytes that the device below the data has read so far; None where that is not known.
pub fn device_read_bytes() -> Option<u64> {
    disk_counters::bytes_read(&location::data_location()?)
}

/// Whether the table's files are compressed, as far as their attributes and the mount options tell: the device reads less than the table has.
pub fn is_compressed(environment: &Environment) -> bool {
    let mounted = environment
        .mount_options
        .as_deref()
        .and_then(compressing_option);
    match environment.data_file_attributes.as_deref().map(Attributes) {
        Some(file) if file.forbids_compression().is_some() => false,
        Some(file) => file.compressing().is_some() || mounted.is_some(),
        None => mounted.is_some(),
    }
}

/// Whether the kernel counts bytes from storage for the process that reads a file of this filesystem. Filesystems of
/// programs (FUSE) and of networks mostly have another process read.
fn counts_readers(location: &Location) -> bool {
    location.mount().is_some_and(|mount| {
        let kind = mount.fs_type.as_str();
        COUNTING.contains(&kind) || !kind.starts_with("fuse") && location.block_device().is_some()
    })
}

/// Whether the kernel counts what a scan reads for those who read it.
fn readers_count() -> bool {
    location::data_location()
        .as_ref()
        .is_some_and(counts_readers)
}

/// Counters of bytes read, at one moment.
pub struct ReadCounters {
    leader: Option<Reads>,
    workers: Reads,
    workers_told: u32,
    /// By each of the server's I/O workers; None where each process reads for itself.
    io_workers: Option<Vec<(i32, Option<Reads>)>>,
    device: Option<u64>,
}

/// Bytes that were read for the processes of a scan.
#[derive(Default)]
pub struct ProcessReads {
    /// Bytes from storage; None where that is not known.
    pub storage: Option<u64>,
    /// Bytes that the server's I/O workers read for others, so that the reads from storage cannot be attributed; None without any.
    pub for_others: Option<u64>,
}

impl ReadCounters {
    /// Up to now, by this process, the parallel workers of its scans, and the server's I/O workers.
    pub fn read(board: &Board) -> Result<Self, Fault> {
        let run = &board.run;
        let io_workers = xact::transaction(scan_version::io_workers)?;
        let of = |pid| (pid, own_reads::of_process(pid));
        Ok(Self {
            leader: own_reads::of_this_process(),
            workers_told: run.workers_told.load(Acquire),
            workers: Reads {
                requested: run.workers_requested_bytes.load(Acquire),
                storage: run.workers_read_bytes.load(Acquire),
            },
            io_workers: io_workers.map(|pids| pids.into_iter().map(of).collect()),
            device: device_read_bytes(),
        })
    }

    /// Bytes read since then for a scan that took `blocks` bytes of blocks from outside of shared buffers.
    pub fn by_processes(&self, before: &Self, workers: u32, blocks: u64) -> ProcessReads {
        let told = self.workers_told.wrapping_sub(before.workers_told);
        if told != workers || !readers_count() {
            return ProcessReads::default();
        }
        let (Some(leader), Some(leader_before)) = (self.leader, before.leader) else {
            return ProcessReads::default();
        };
        let own = leader
            .since(leader_before)
            .plus(self.workers.since(before.workers));
        let Some(io_workers) = self.by_io_workers(before) else {
            return ProcessReads::default();
        };
        let for_others = read_for_others(own, io_workers, blocks);
        let all = own.plus(io_workers).storage;
        ProcessReads {
            storage: for_others.is_none().then_some(all),
            for_others,
        }
    }

    /// Nothing where there are none; None when one of them has ended since, or does not tell. One that was started since has counted from zero:
    /// from PostgreSQL 19 on, the server starts them as they are needed. One that has ended again is not seen.
    fn by_io_workers(&self, before: &Self) -> Option<Reads> {
        let (Some(now), Some(before)) = (&self.io_workers, &before.io_workers) else {
            return Some(Reads::default());
        };
        let is_there = |pid: &i32| now.iter().any(|(now, _)| now == pid);
        if !before.iter().all(|(pid, _)| is_there(pid)) {
            return None;
        }
        let mut each = now.iter().map(|(pid, now)| {
            let was = before.iter().find(|(was, _)| was == pid);
            let was = was.map_or(Some(Reads::default()), |(_, reads)| *reads)?;
            Some((*now)?.since(was))
        });
        each.try_fold(Reads::default(), |sum, reads| Some(sum.plus(reads?)))
    }

    /// Bytes that the device has read since then.
    pub fn by_device(&self, before: &Self) -> Option<u64> {
        Some(self.device?.saturating_sub(before.device?))
    }
}
