//! What the transactions of a run have cost: WAL, blocks, processor time, bytes and flushes of the device, and how often each
//! byte that they changed was written.

use pgfsbench_core::{
    board::{ClientSlot, Counts, Figure, Figures, Kind, OF_WORK, Sample, Work},
    spec::Spec,
    written::{self, Written, ratio},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    errors::Fault,
    pg::{sql, version, xact},
    sampler::device::{Devices, WalDevice},
};

/// Blocks that the server's own processes have written, blocks that others have, the clients among them, and when that was
/// counted from.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct BlocksWritten(u64, u64, Option<String>);

impl BlocksWritten {
    /// Now; None where it cannot be known.
    pub fn now() -> Result<Option<Self>, Fault> {
        let query = format!("SELECT {}", version::BLOCKS_WRITTEN);
        let text = xact::transaction(|| sql::read(&query, &[]))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Blocks since `before`, by the server's own processes and by others; None when the statistics were reset meanwhile.
    fn since(&self, before: &Self) -> Option<(u64, u64)> {
        let (own, others) = (self.0.checked_sub(before.0)?, self.1.checked_sub(before.1)?);
        (self.2 == before.2).then_some((own, others))
    }
}

/// What the coordinator has seen of a window, beside its samples.
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

/// The columns of `run_log`.
pub fn columns(spec: &Spec, slots: &[ClientSlot], samples: &[Sample], window: &Window) -> Value {
    let counts = ClientSlot::all_count(slots);
    let work = slots
        .iter()
        .fold(Work::default(), |sum, slot| sum.plus(&slot.work.get()));
    let mut of_work = Figures::new();
    of_work.set_work(&work, counts);
    let figures = || samples.iter().map(|sample| &sample.figures);
    let sum = |figure| Figures::sum(figures(), figure);
    let transactions = Some(window.transactions as f64).filter(|n| *n > 0.0);

    let client_ms = sum(Figure::ClientCpuMs);
    let server_ms = [
        Figure::CheckpointerCpuMs,
        Figure::WalwriterCpuMs,
        Figure::BgwriterCpuMs,
    ]
    .map(sum)
    .into_iter()
    .sum::<Option<f64>>();
    let cpu_ms = client_ms.zip(server_ms).map(|(a, b)| a + b);

    // What goes to the WAL's own device belongs to it as well.
    let devices = Devices::look();
    let with_wal = |data: Option<f64>, wal| match devices.wal {
        WalDevice::Same => data,
        WalDevice::Other(_) => data.zip(sum(wal)).map(|(data, wal)| data + wal),
        WalDevice::Unknown => None,
    };
    let device_bytes = with_wal(sum(Figure::DeviceWriteBytes), Figure::WalDeviceWriteBytes);
    let flushes = with_wal(sum(Figure::DeviceFlushes), Figure::WalDeviceFlushes);
    let blocks = match window.blocks {
        (Some(before), Some(after)) => after.since(before),
        _ => None,
    };
    let blocks = blocks.filter(|_| counts.has(Counts::WORK));
    let per_transaction = spec.workload.changed_bytes(spec.aid_is_bigint());
    let written = Written {
        changed: per_transaction.map(|bytes| bytes as f64 * window.transactions as f64),
        server: blocks.map(|(own, others)| {
            let blocks = written::blocks(own, others, work.blocks_written);
            (window.wal_bytes + blocks * window.block_bytes) as f64
        }),
        device: device_bytes,
    };
    let whole = |value: Option<f64>| value.map(|value| value as i64);
    let mut columns = json!({
        "client_cpu_seconds": client_ms.map(|ms| ms / 1000.0),
        "cpu_seconds": cpu_ms.map(|ms| ms / 1000.0),
        "cpu_ms_per_transaction": ratio(cpu_ms, transactions),
        "device_read_bytes": whole(sum(Figure::DeviceReadBytes)),
        "device_write_bytes": whole(device_bytes),
        "device_flushes": whole(flushes),
        "device_bytes_per_transaction": ratio(device_bytes, transactions),
        "flushes_per_transaction": ratio(flushes, transactions),
        "changed_bytes": whole(written.changed),
        "server_write_bytes": whole(written.server),
        "server_write_amplification": written.by_server(),
        "filesystem_write_amplification": written.by_filesystem(),
        "write_amplification": written.in_all(),
    });
    for (figure, ..) in OF_WORK {
        let value = of_work.get(figure);
        columns[figure.column()] = match figure.kind() {
            Kind::Real => json!(value),
            _ => json!(whole(value)),
        };
    }
    columns
}
