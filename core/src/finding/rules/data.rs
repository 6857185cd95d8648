//! The data: whether they are read from storage, and whether the clients wait for each other.

use super::{
    super::{Finding, RunFacts, Severity},
    percent, unless_quick,
};
use crate::{
    spec::Workload,
    units::{ACCOUNTS, format_bytes, format_count},
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
        let message = format!("{clients} clients share {}", format_count(rows, row));
        let hint = format!("They wait for each other's row locks, not for storage: use a scale of at least {clients}.");
        Finding::new("clients_exceed_branches", Severity::Warning, message, hint)
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
    let known = |bytes: Option<u64>| bytes.map_or("unknown".into(), format_bytes);
    // The shared buffers of the asking server hold none of the data.
    let asking_server = facts.asking_server_shared_buffers_bytes;
    let memory = facts
        .memory_bytes
        .map(|b| b.saturating_sub(asking_server.unwrap_or(0)));
    // Files beside the database are never in shared buffers.
    let is_database = facts
        .workload
        .is_none_or(|workload| workload.uses_database());
    let (code, place) = if is_database && facts.shared_buffers_bytes.is_some_and(|b| data <= b) {
        ("data_fits_shared_buffers", "shared_buffers")
    } else if memory.is_some_and(|b| fits_memory(data as f64, b as f64)) {
        ("data_fits_ram", "RAM")
    } else {
        return None;
    };
    let (reads, advice) = reads(facts);
    let has_option = |workload: Workload| !workload.takes("size") && workload.takes_option("size");
    let size = match facts.workload.is_some_and(has_option) {
        true => r#"options => '{"size": "2x ram"}'"#,
        false => "a larger size, such as '2x ram'",
    };
    let hint = advice.replace("{size}", size);
    let message = format!(
        "data of {} fits in {place} (shared_buffers {}, RAM {}{}){reads}",
        format_bytes(data),
        known(facts.shared_buffers_bytes),
        known(facts.memory_bytes),
        asking_server.map_or(String::new(), |bytes| format!(
            ", of which the server that asked takes {}",
            format_bytes(bytes)
        ))
    );
    Some(Finding::new(code, unless_quick(facts), message, hint))
}

/// Whether memory can hold all data. Both in bytes.
pub fn fits_memory(data: f64, memory: f64) -> bool {
    data <= memory
}

/// Whether the device did a good part of the server's reads. Both in bytes.
pub fn device_reads(device: f64, server: f64) -> bool {
    device >= FEW_READS && device >= server * FROM_DEVICE
}

/// Where the reads of data that fit in memory came from, by the counters of the device: an addition to the message, and the advice, in which
/// `{size}` stands for the way to ask for more data.
fn reads(facts: &RunFacts) -> (String, &'static str) {
    let storage = &facts.storage;
    let counted = storage.device_read_bytes.zip(storage.server_read_bytes);
    let Some((device, server)) = counted else {
        let hint = "Reads can come from memory instead of storage: use {size}, to measure reads.";
        return (String::new(), hint);
    };
    if !device_reads(device as f64, server as f64) {
        let hint = "Reads came from memory, not from storage: use {size}, to measure reads.";
        return (String::new(), hint);
    }
    let told = format!(
        "; the device read {} while the server read {}",
        format_bytes(device),
        format_bytes(server)
    );
    let hint = "Memory did not hold all of it yet, so that figures depend on what it held: use a longer warm-up, or {size}.";
    (told, hint)
}

/// Time that clients waited for each other's rows.
pub fn lock_waits(facts: &RunFacts) -> Option<Finding> {
    let share = facts.waits.lock_share?;
    (share > LOCKS).then(|| {
        let message = format!(
            "clients waited for locks in {} of their time",
            percent(share)
        );
        let hint =
            "They wait for each other, not for storage: use a larger scale or fewer clients.";
        Finding::new("lock_waits", Severity::Warning, message, hint)
    })
}

/// Runs that are compared begin with none: what is loaded is vacuumed.
pub fn dead_rows(facts: &RunFacts) -> Option<Finding> {
    let dead = facts.server.dead_rows_at_start?;
    let rows = u64::from(facts.scale?) * ACCOUNTS;
    (dead as f64 > rows as f64 * DEAD).then(|| {
        let message = format!(
            "the tables had {} before the clients began",
            format_count(dead, "dead row")
        );
        let hint = "Runs that are compared begin with the same: somebody keeps vacuum from removing them, or has changed the tables.";
        Finding::new("dead_rows", Severity::Warning, message, hint)
    })
}
