//! The data: whether they are read from storage, and whether the clients wait for each other.

use super::{
    super::{Finding, RunFacts, Severity},
    unless_quick,
};
use crate::{
    spec::Workload,
    texts::finding::data::{self as text, DataFits, Memory, Reads},
    units::ACCOUNTS,
};

/// Least share of dead rows that is a finding.
const DEAD: f64 = 0.001;

/// Least share of the server's reads that come from the device, as a finding.
const FROM_DEVICE: f64 = 0.1;

/// The device reads less than this for the filesystem itself.
const FEW_READS: f64 = (16 << 20) as f64;

/// Least share of the clients' time in waits for locks that is a finding.
const LOCKS: f64 = 0.10;

pub fn clients_exceed_branches(facts: &RunFacts) -> Option<Finding> {
    let (clients, scale) = (facts.clients?, facts.scale?);
    let (rows, row) = facts.workload?.contended_rows(scale)?;
    (u64::from(clients) > rows).then(|| {
        let text = text::clients_exceed_branches(clients, rows, row);
        Finding::new(Severity::Warning, text)
    })
}

/// Data that fits in shared_buffers fits in RAM too: only the stronger finding is made.
pub fn data_fits(facts: &RunFacts) -> Option<Finding> {
    let data = facts.data_bytes?;
    if facts
        .workload
        .is_some_and(|workload| !workload.reads_storage())
    {
        return None;
    }
    let asking_server = facts.asking_server_shared_buffers_bytes;
    let taken = asking_server.map(|bytes| bytes as f64);
    let memory = facts.memory_bytes;
    let memory = memory.map(|bytes| memory_for_data(bytes as f64, taken));
    // Files beside the database are never in shared buffers.
    let is_database = facts
        .workload
        .is_none_or(|workload| workload.uses_database());
    let memory = if is_database && facts.shared_buffers_bytes.is_some_and(|b| data <= b) {
        Memory::SharedBuffers
    } else if memory.is_some_and(|bytes| fits_memory(data as f64, bytes)) {
        Memory::Ram
    } else {
        return None;
    };
    let has_option = |workload: Workload| !workload.takes("size") && workload.takes_option("size");
    let text = text::data_fits(&DataFits {
        data,
        memory,
        shared_buffers: facts.shared_buffers_bytes,
        ram: facts.memory_bytes,
        asking_server,
        reads: reads(facts),
        size_is_option: facts.workload.is_some_and(has_option),
    });
    Some(Finding::new(unless_quick(facts), text))
}

/// Memory that can hold data: not what the shared buffers of the asking server take, where the run is on another one. Bytes.
pub fn memory_for_data(memory: f64, asking_server: Option<f64>) -> f64 {
    (memory - asking_server.unwrap_or(0.0)).max(0.0)
}

/// Whether memory can hold all data. Both in bytes.
pub fn fits_memory(data: f64, memory: f64) -> bool {
    data <= memory
}

/// Whether the device did a good part of the server's reads. Both in bytes.
pub fn device_reads(device: f64, server: f64) -> bool {
    device >= FEW_READS && device >= server * FROM_DEVICE
}

/// Sources of the reads of data that fit in memory, by the counters of the device.
fn reads(facts: &RunFacts) -> Reads {
    let storage = &facts.storage;
    match storage.device_read_bytes.zip(storage.server_read_bytes) {
        None => Reads::NotKnown,
        Some((device, server)) if device_reads(device as f64, server as f64) => {
            Reads::FromDevice { device, server }
        }
        Some(_) => Reads::FromMemory,
    }
}

/// Time that clients waited for each other's rows.
pub fn lock_waits(facts: &RunFacts) -> Option<Finding> {
    let share = facts.waits.lock_share?;
    (share > LOCKS).then(|| Finding::new(Severity::Warning, text::lock_waits(share)))
}

/// Runs that are compared begin with none: what is loaded is vacuumed.
pub fn dead_rows(facts: &RunFacts) -> Option<Finding> {
    let dead = facts.server.dead_rows_at_start?;
    let rows = u64::from(facts.scale?) * ACCOUNTS;
    (dead as f64 > rows as f64 * DEAD)
        .then(|| Finding::new(Severity::Warning, text::dead_rows(dead)))
}
