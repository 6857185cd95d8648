//! The data.

use super::percent;
use crate::{
    finding_row::Text,
    units::{format_bytes, format_count},
};

/// Clients share the rows of this kind that each transaction changes.
pub fn clients_exceed_branches(clients: u32, rows: u64, row: &str) -> Text {
    let message = format!("{clients} clients share {}", format_count(rows, row));
    let hint = format!(
        "They wait for each other's row locks, not for storage: use a scale of at least {clients}."
    );
    Text::new("clients_exceed_branches", message, hint)
}

/// The memory that holds all data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    SharedBuffers,
    Ram,
}

/// Sources of the server's reads, by the counters of the device. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    NotKnown,
    FromMemory,
    FromDevice { device: u64, server: u64 },
}

/// Data that fit in memory. Bytes.
#[derive(Clone, Copy, Debug)]
pub struct DataFits {
    pub data: u64,
    pub memory: Memory,
    pub shared_buffers: Option<u64>,
    pub ram: Option<u64>,
    /// The part of RAM that the asking server takes, where the run is on another one.
    pub asking_server: Option<u64>,
    pub reads: Reads,
    /// Whether the workload takes its size as an option.
    pub size_is_option: bool,
}

pub fn data_fits(facts: &DataFits) -> Text {
    let (code, memory) = match facts.memory {
        Memory::SharedBuffers => ("data_fits_shared_buffers", "shared_buffers"),
        Memory::Ram => ("data_fits_ram", "RAM"),
    };
    let known = |bytes: Option<u64>| bytes.map_or("unknown".into(), format_bytes);
    let asking_server = facts.asking_server.map_or(String::new(), |bytes| {
        let bytes = format_bytes(bytes);
        format!(", of which the server that asked takes {bytes}")
    });
    let reads = match facts.reads {
        Reads::FromDevice { device, server } => format!(
            "; the device read {} while the server read {}",
            format_bytes(device),
            format_bytes(server)
        ),
        Reads::NotKnown | Reads::FromMemory => String::new(),
    };
    let message = format!(
        "data of {} fits in {memory} (shared_buffers {}, RAM {}{asking_server}){reads}",
        format_bytes(facts.data),
        known(facts.shared_buffers),
        known(facts.ram),
    );
    let size = match facts.size_is_option {
        true => r#"options => '{"size": "2x ram"}'"#,
        false => "a larger size, such as '2x ram'",
    };
    let hint = match facts.reads {
        Reads::NotKnown => {
            format!("Reads can come from memory instead of storage: use {size}, to measure reads.")
        }
        Reads::FromMemory => {
            format!("Reads came from memory, not from storage: use {size}, to measure reads.")
        }
        Reads::FromDevice { .. } => format!(
            "Memory did not hold all of it yet, so that figures depend on what it held: use a longer warm-up, or {size}."
        ),
    };
    Text::new(code, message, hint)
}

pub fn lock_waits(share: f64) -> Text {
    let share = percent(share);
    let message = format!("clients waited for locks in {share} of their time");
    let hint = "They wait for each other, not for storage: use a larger scale or fewer clients.";
    Text::new("lock_waits", message, hint)
}

pub fn dead_rows(dead: u64) -> Text {
    let dead = format_count(dead, "dead row");
    let message = format!("the tables had {dead} before the clients began");
    let hint = "Compared runs begin with the same rows. A transaction keeps vacuum from removing the dead ones, or another session has changed the tables.";
    Text::new("dead_rows", message, hint)
}
