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
    host::disk_counters::{Devices, WalDevice},
    pg::{sql, version, xact},
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

/// What the samples of a run say of processors and devices.
struct OfMachine {
    client_cpu_ms: Option<f64>,
    /// With the checkpointer, walwriter and background writer.
    cpu_ms: Option<f64>,
    read_bytes: Option<f64>,
    /// With what goes to the WAL's own device, as flushes.
    write_bytes: Option<f64>,
    flushes: Option<f64>,
}

impl OfMachine {
    fn of(samples: &[Sample]) -> Self {
        let figures = || samples.iter().map(|sample| &sample.figures);
        let sum = |figure| Figures::sum(figures(), figure);
        let client_cpu_ms = sum(Figure::ClientCpuMs);
        let server_ms = [
            Figure::CheckpointerCpuMs,
            Figure::WalwriterCpuMs,
            Figure::BgwriterCpuMs,
        ]
        .map(sum)
        .into_iter()
        .sum::<Option<f64>>();
        let devices = Devices::look();
        let with_wal = |data: Option<f64>, wal| match devices.wal {
            WalDevice::Same => data,
            WalDevice::Other(_) => data.zip(sum(wal)).map(|(data, wal)| data + wal),
            WalDevice::Unknown => None,
        };
        Self {
            client_cpu_ms,
            cpu_ms: client_cpu_ms.zip(server_ms).map(|(a, b)| a + b),
            read_bytes: sum(Figure::DeviceReadBytes),
            write_bytes: with_wal(sum(Figure::DeviceWriteBytes), Figure::WalDeviceWriteBytes),
            flushes: with_wal(sum(Figure::DeviceFlushes), Figure::WalDeviceFlushes),
        }
    }

    fn columns(&self) -> Value {
        json!({
            "client_cpu_seconds": self.client_cpu_ms.map(|ms| ms / 1000.0),
            "cpu_seconds": self.cpu_ms.map(|ms| ms / 1000.0),
            "device_read_bytes": whole(self.read_bytes),
            "device_write_bytes": whole(self.write_bytes),
            "device_flushes": whole(self.flushes),
        })
    }
}

fn whole(value: Option<f64>) -> Option<i64> {
    value.map(|value| value as i64)
}

/// The columns of `run_log` for a run without transactions.
pub fn of_machine(samples: &[Sample]) -> Value {
    OfMachine::of(samples).columns()
}

/// The columns of `run_log` for a run of transactions.
pub fn columns(spec: &Spec, slots: &[ClientSlot], samples: &[Sample], window: &Window) -> Value {
    let counts = ClientSlot::all_count(slots);
    let work = slots
        .iter()
        .fold(Work::default(), |sum, slot| sum.plus(&slot.work.get()));
    let mut of_work = Figures::new();
    of_work.set_work(&work, counts);
    let machine = OfMachine::of(samples);
    let transactions = Some(window.transactions as f64).filter(|n| *n > 0.0);
    let blocks = match window.blocks {
        (Some(before), Some(after)) => after.since(before),
        _ => None,
    };
    let blocks = blocks.filter(|_| counts.has(Counts::WORK));
    let per_transaction = spec.workload.changed_bytes(spec);
    let written = Written {
        changed: per_transaction.map(|bytes| bytes as f64 * window.transactions as f64),
        server: blocks.map(|(own, others)| {
            let blocks = written::blocks(own, others, work.blocks_written);
            (window.wal_bytes + blocks * window.block_bytes) as f64
        }),
        device: machine.write_bytes,
    };
    let mut columns = machine.columns();
    for (name, value) in [
        (
            "cpu_ms_per_transaction",
            ratio(machine.cpu_ms, transactions),
        ),
        (
            "device_bytes_per_transaction",
            ratio(machine.write_bytes, transactions),
        ),
        (
            "flushes_per_transaction",
            ratio(machine.flushes, transactions),
        ),
        ("server_write_amplification", written.by_server()),
        ("filesystem_write_amplification", written.by_filesystem()),
        ("write_amplification", written.in_all()),
    ] {
        columns[name] = json!(value);
    }
    columns["changed_bytes"] = json!(whole(written.changed));
    columns["server_write_bytes"] = json!(whole(written.server));
    for (figure, ..) in OF_WORK {
        let value = of_work.get(figure);
        columns[figure.column()] = match figure.kind() {
            Kind::Real => json!(value),
            _ => json!(whole(value)),
        };
    }
    columns
}
