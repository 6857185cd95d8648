//! The cost of a run: WAL, blocks, processor time, bytes and flushes of the device, and how often each byte that its transactions
//! changed was written.

use serde::{Deserialize, Serialize};

use crate::{
    board::{Counts, Figure, Figures, Sample, Work},
    written::{self, WrittenBytes, ratio},
};

/// Columns of `fsbench.run_log`, which say what they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    pub client_wal_records: Option<i64>,
    pub client_wal_fpi: Option<i64>,
    pub client_wal_bytes: Option<i64>,
    pub client_wal_writes: Option<i64>,
    pub client_wal_syncs: Option<i64>,
    pub client_wal_write_ms: Option<f64>,
    pub client_wal_sync_ms: Option<f64>,
    pub client_blocks_hit: Option<i64>,
    pub client_blocks_read: Option<i64>,
    pub client_blocks_dirtied: Option<i64>,
    pub client_blocks_written: Option<i64>,
    pub client_block_read_ms: Option<f64>,
    pub client_block_write_ms: Option<f64>,
    pub client_cpu_seconds: Option<f64>,
    pub cpu_seconds: Option<f64>,
    pub cpu_ms_per_transaction: Option<f64>,
    pub device_read_bytes: Option<i64>,
    pub device_write_bytes: Option<i64>,
    pub device_flushes: Option<i64>,
    pub device_bytes_per_transaction: Option<f64>,
    pub flushes_per_transaction: Option<f64>,
    pub changed_bytes: Option<i64>,
    pub server_write_bytes: Option<i64>,
    pub server_write_amplification: Option<f64>,
    pub filesystem_write_amplification: Option<f64>,
    pub write_amplification: Option<f64>,
}

/// Location of the WAL relative to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wal {
    /// On the same device.
    SameDevice,
    /// On another one, with figures of its own.
    Elsewhere,
    /// The location is not known, or no counter covers the writes there.
    Unknown,
}

/// Blocks that the server's own processes have written, blocks that others have, the clients among them, and when that was
/// counted from.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct BlocksWritten(u64, u64, Option<String>);

impl BlocksWritten {
    /// Blocks since `before`, by the server's own processes and by others; None when the statistics were reset meanwhile.
    fn since(&self, before: &Self) -> Option<(u64, u64)> {
        let (own, others) = (self.0.checked_sub(before.0)?, self.1.checked_sub(before.1)?);
        (self.2 == before.2).then_some((own, others))
    }
}

/// Figures of the transactions of a window that are not in its samples.
#[derive(Clone, Copy, Debug)]
pub struct Transactions<'a> {
    /// How many were measured.
    pub transactions: u64,
    /// Bytes that each changes; None when it changes nothing.
    pub changed_bytes_each: Option<u64>,
    /// Counters of the clients themselves, and which of these all clients have.
    pub work: Work,
    /// See `work`.
    pub counts: Counts,
    /// Bytes of WAL in the window, of all processes.
    pub wal_bytes: u64,
    /// Blocks that had been written at its start, and at its end.
    pub blocks: (Option<&'a BlocksWritten>, Option<&'a BlocksWritten>),
    /// Bytes of a block.
    pub block_bytes: u64,
}

impl Transactions<'_> {
    /// Bytes that the server wrote for them: WAL and blocks.
    fn server_bytes(&self) -> Option<f64> {
        let (Some(before), Some(after)) = self.blocks else {
            return None;
        };
        let (own, others) = after.since(before)?;
        self.counts.has(Counts::WORK).then(|| {
            let blocks = written::blocks(own, others, self.work.blocks_written);
            (self.wal_bytes + blocks * self.block_bytes) as f64
        })
    }
}

impl Cost {
    /// Cost of a run without transactions: the work of processors and devices.
    pub fn of_machine(samples: &[Sample], wal: Wal) -> Self {
        let sum = |figure| Figures::sum(samples.iter().map(|sample| &sample.figures), figure);
        let client_ms = sum(Figure::ClientCpuMs);
        let server_ms: Option<f64> = [
            Figure::CheckpointerCpuMs,
            Figure::WalwriterCpuMs,
            Figure::BgwriterCpuMs,
        ]
        .into_iter()
        .map(sum)
        .sum();
        let with_wal = |of_data: Option<f64>, of_wal| match wal {
            Wal::SameDevice => of_data,
            Wal::Elsewhere => of_data.zip(sum(of_wal)).map(|(data, wal)| data + wal),
            Wal::Unknown => None,
        };
        let write_bytes = with_wal(sum(Figure::DeviceWriteBytes), Figure::WalDeviceWriteBytes);
        let flushes = with_wal(sum(Figure::DeviceFlushes), Figure::WalDeviceFlushes);
        Self {
            client_cpu_seconds: client_ms.map(seconds),
            cpu_seconds: client_ms.zip(server_ms).map(|(a, b)| seconds(a + b)),
            device_read_bytes: whole(sum(Figure::DeviceReadBytes)),
            device_write_bytes: whole(write_bytes),
            device_flushes: whole(flushes),
            ..Self::default()
        }
    }

    /// Cost of a run of transactions.
    pub fn of_transactions(samples: &[Sample], wal: Wal, of: &Transactions) -> Self {
        let cost = Self::of_machine(samples, wal);
        let mut work = Figures::new();
        work.set_work(&of.work, of.counts);
        let count = |figure| whole(work.get(figure));
        let changed = of
            .changed_bytes_each
            .map(|bytes| bytes as f64 * of.transactions as f64);
        Self {
            client_wal_records: count(Figure::ClientWalRecords),
            client_wal_fpi: count(Figure::ClientWalFpi),
            client_wal_bytes: count(Figure::ClientWalBytes),
            client_wal_writes: count(Figure::ClientWalWrites),
            client_wal_syncs: count(Figure::ClientWalSyncs),
            client_wal_write_ms: work.get(Figure::ClientWalWriteMs),
            client_wal_sync_ms: work.get(Figure::ClientWalSyncMs),
            client_blocks_hit: count(Figure::ClientBlocksHit),
            client_blocks_read: count(Figure::ClientBlocksRead),
            client_blocks_dirtied: count(Figure::ClientBlocksDirtied),
            client_blocks_written: count(Figure::ClientBlocksWritten),
            client_block_read_ms: work.get(Figure::ClientBlockReadMs),
            client_block_write_ms: work.get(Figure::ClientBlockWriteMs),
            changed_bytes: whole(changed),
            server_write_bytes: whole(of.server_bytes()),
            ..cost
        }
        .with_quotients(Some(of.transactions as f64))
    }

    /// Sets the figures that are quotients of the others, for this number of transactions.
    pub fn with_quotients(self, transactions: Option<f64>) -> Self {
        let each = transactions.filter(|n| *n > 0.0);
        let real = |whole: Option<i64>| whole.map(|n| n as f64);
        let written = WrittenBytes {
            changed: real(self.changed_bytes),
            server: real(self.server_write_bytes),
            device: real(self.device_write_bytes),
        };
        Self {
            cpu_ms_per_transaction: ratio(self.cpu_seconds.map(|s| s * 1000.0), each),
            device_bytes_per_transaction: ratio(real(self.device_write_bytes), each),
            flushes_per_transaction: ratio(real(self.device_flushes), each),
            server_write_amplification: written.by_server(),
            filesystem_write_amplification: written.by_filesystem(),
            write_amplification: written.in_all(),
            ..self
        }
    }
}

fn seconds(ms: f64) -> f64 {
    ms / 1000.0
}

fn whole(value: Option<f64>) -> Option<i64> {
    value.map(|value| value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A second in which everything is known.
    fn second() -> Sample {
        let mut sample = Sample::default();
        let figures = &mut sample.figures;
        for figure in [
            Figure::ClientCpuMs,
            Figure::CheckpointerCpuMs,
            Figure::WalwriterCpuMs,
            Figure::BgwriterCpuMs,
        ] {
            figures.set_real(figure, Some(250.0));
        }
        for (figure, n) in [
            (Figure::DeviceReadBytes, 512),
            (Figure::DeviceWriteBytes, 4096),
            (Figure::DeviceFlushes, 3),
            (Figure::WalDeviceWriteBytes, 1024),
            (Figure::WalDeviceFlushes, 7),
        ] {
            figures.set(figure, Some(n));
        }
        sample
    }

    fn blocks(own: u64, others: u64, since: &str) -> BlocksWritten {
        BlocksWritten(own, others, Some(since.into()))
    }

    fn of<'a>(before: &'a BlocksWritten, after: &'a BlocksWritten) -> Transactions<'a> {
        Transactions {
            transactions: 4,
            changed_bytes_each: Some(100),
            work: Work {
                blocks_written: 2,
                wal_sync_ns: 5_000_000,
                ..Work::default()
            },
            counts: Counts::WORK,
            wal_bytes: 1000,
            blocks: (Some(before), Some(after)),
            block_bytes: 10,
        }
    }

    #[test]
    fn what_goes_to_the_device_of_the_wal_counts_where_it_is_known() {
        let samples = [second(), second()];
        let cost = |wal| {
            let cost = Cost::of_machine(&samples, wal);
            (cost.device_write_bytes, cost.device_flushes)
        };
        assert_eq!(cost(Wal::SameDevice), (Some(8192), Some(6)));
        assert_eq!(cost(Wal::Elsewhere), (Some(10_240), Some(20)));
        assert_eq!(cost(Wal::Unknown), (None, None));
        let cost = Cost::of_machine(&samples, Wal::Unknown);
        assert_eq!(cost.device_read_bytes, Some(1024));
        assert_eq!(
            (cost.client_cpu_seconds, cost.cpu_seconds),
            (Some(0.5), Some(2.0))
        );
    }

    #[test]
    fn a_second_of_which_a_figure_is_unknown_leaves_the_sum_unknown() {
        let mut unknown = second();
        unknown.figures.set_real(Figure::WalwriterCpuMs, None);
        let cost = Cost::of_machine(&[second(), unknown], Wal::SameDevice);
        assert_eq!(
            (cost.client_cpu_seconds, cost.cpu_seconds),
            (Some(0.5), None)
        );
        assert_eq!(Cost::of_machine(&[], Wal::SameDevice), Cost::default());
    }

    #[test]
    fn bytes_are_followed_from_transaction_to_device() {
        let (before, after) = (blocks(5, 5, "x"), blocks(10, 6, "x"));
        let cost = Cost::of_transactions(&[second()], Wal::SameDevice, &of(&before, &after));
        assert_eq!(cost.changed_bytes, Some(400));
        // Five blocks of the server's own, and two of the clients', which the statistics do not know yet.
        assert_eq!(cost.server_write_bytes, Some(1000 + 7 * 10));
        assert_eq!(cost.write_amplification, Some(4096.0 / 400.0));
        assert_eq!(cost.device_bytes_per_transaction, Some(1024.0));
        assert_eq!(cost.flushes_per_transaction, Some(0.75));
        assert_eq!(cost.cpu_ms_per_transaction, Some(250.0));
        // Their times were not taken.
        assert_eq!(
            (cost.client_wal_sync_ms, cost.client_blocks_written),
            (None, Some(2))
        );
    }

    #[test]
    fn what_was_reset_or_changes_nothing_has_no_amplification() {
        let (before, reset) = (blocks(5, 5, "x"), blocks(10, 6, "y"));
        let cost = Cost::of_transactions(&[second()], Wal::SameDevice, &of(&before, &reset));
        assert_eq!(
            (cost.server_write_bytes, cost.server_write_amplification),
            (None, None)
        );
        assert_eq!(cost.write_amplification, Some(4096.0 / 400.0));
        let reads = Transactions {
            changed_bytes_each: None,
            ..of(&before, &before)
        };
        let cost = Cost::of_transactions(&[second()], Wal::SameDevice, &reads);
        assert_eq!((cost.changed_bytes, cost.write_amplification), (None, None));
        assert_eq!(cost.server_write_bytes, Some(1020));
    }

    proptest! {
        /// Whatever was counted: a cost is known or not, and never a number that is none.
        #[test]
        fn no_cost_is_infinite(
            transactions in 0u64..3, changed in prop::option::of(0u64..3), wal_bytes in 0u64..3,
            own in (0u64..4, 0u64..4), others in (0u64..4, 0u64..4),
        ) {
            let (before, after) = (blocks(own.0, others.0, "x"), blocks(own.1, others.1, "x"));
            let of = Transactions { transactions, changed_bytes_each: changed, wal_bytes, ..of(&before, &after) };
            let cost = Cost::of_transactions(&[second()], Wal::Elsewhere, &of);
            let known = serde_json::to_value(&cost).unwrap();
            for (column, value) in known.as_object().unwrap() {
                prop_assert!(value.is_null() || value.as_f64().is_some_and(|n| n >= 0.0), "{column}: {value}");
            }
            if transactions == 0 {
                prop_assert_eq!(cost.cpu_ms_per_transaction, None);
            }
        }
    }
}
