//! Reads the figures from which [`pgfsbench_core::run::cost`] computes the cost of a run's transactions.

use pgfsbench_core::{
    board::{ClientSlot, Sample, Work},
    run::cost::{BlocksWritten, Cost, Transactions, Wal},
    spec::Spec,
};

use crate::{
    errors::Fault,
    host::disk_counters::{Devices, WalDevice},
    pg::{sql, version, xact},
};

/// Blocks that have been written; None where it cannot be known.
pub fn blocks_written() -> Result<Option<BlocksWritten>, Fault> {
    let query = format!("SELECT {}", version::BLOCKS_WRITTEN);
    let text = xact::transaction(|| sql::read(&query, &[]))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// The coordinator's figures of a window that the samples lack.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// Transactions that were measured.
    pub transactions: u64,
    /// Bytes of WAL in it.
    pub wal_bytes: u64,
    /// Blocks that had been written at its start, and at its end.
    pub blocks: (Option<&'a BlocksWritten>, Option<&'a BlocksWritten>),
    /// Bytes of a block.
    pub block_bytes: u64,
}

fn wal() -> Wal {
    match Devices::find().wal {
        WalDevice::Same => Wal::SameDevice,
        WalDevice::Other(_) => Wal::Elsewhere,
        WalDevice::Unknown => Wal::Unknown,
    }
}

/// The columns of `run_log` for a run without transactions.
pub fn of_machine(samples: &[Sample]) -> Cost {
    Cost::of_machine(samples, wal())
}

/// The columns of `run_log` for a run of transactions.
pub fn of_transactions(
    spec: &Spec,
    slots: &[ClientSlot],
    samples: &[Sample],
    window: &Window,
) -> Cost {
    let work = slots
        .iter()
        .fold(Work::default(), |sum, slot| sum.plus(&slot.work.get()));
    let of = Transactions {
        transactions: window.transactions,
        changed_bytes_each: spec.workload.changed_bytes(spec),
        work,
        counts: ClientSlot::all_count(slots),
        wal_bytes: window.wal_bytes,
        blocks: window.blocks,
        block_bytes: window.block_bytes,
    };
    Cost::of_transactions(samples, wal(), &of)
}
