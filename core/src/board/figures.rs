//! Figures of the server, its clients and the machine in one second of a run. Each can be unknown, which is neither 0 nor an error.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use super::{Counts, Work};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number that fits an `integer`.
    Count,
    /// A whole number that may not: a `bigint`.
    Large,
    /// A whole number as a `real`, which holds multiples of 512 exactly up to 8 GB.
    Bytes,
    /// A `real`.
    Real,
}

macro_rules! figures {
    ($($figure:ident $kind:ident $column:literal,)*) => {
        /// A figure; its column in `fsbench.sample` says what it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Figure { $($figure,)* }

        impl Figure {
            /// All of them.
            pub const ALL: &[Figure] = &[$(Figure::$figure,)*];

            /// The column of `fsbench.sample`.
            pub fn column(self) -> &'static str {
                match self { $(Figure::$figure => $column,)* }
            }

            pub fn kind(self) -> Kind {
                match self { $(Figure::$figure => Kind::$kind,)* }
            }
        }
    };
}

figures! {
    WalBytes Large "wal_bytes",
    WalFlushedBytes Large "wal_flushed_bytes",
    ClientWalBytes Large "client_wal_bytes",
    ClientWalRecords Count "client_wal_records",
    ClientWalFpi Count "client_wal_fpi",
    ClientWalWrites Count "client_wal_writes",
    ClientWalSyncs Count "client_wal_syncs",
    ClientWalWriteMs Real "client_wal_write_ms",
    ClientWalSyncMs Real "client_wal_sync_ms",
    ClientBlocksHit Count "client_blocks_hit",
    ClientBlocksRead Count "client_blocks_read",
    ClientBlocksDirtied Count "client_blocks_dirtied",
    ClientBlocksWritten Count "client_blocks_written",
    ClientBlockReadMs Real "client_block_read_ms",
    ClientBlockWriteMs Real "client_block_write_ms",
    DeviceReads Count "device_reads",
    DeviceWrites Count "device_writes",
    DeviceFlushes Count "device_flushes",
    DeviceReadBytes Bytes "device_read_bytes",
    DeviceWriteBytes Bytes "device_write_bytes",
    DeviceRAwaitMs Real "device_r_await_ms",
    DeviceWAwaitMs Real "device_w_await_ms",
    DeviceFAwaitMs Real "device_f_await_ms",
    DeviceAquSz Real "device_aqu_sz",
    DeviceUtilPercent Real "device_util_percent",
    WalDeviceWrites Count "wal_device_writes",
    WalDeviceFlushes Count "wal_device_flushes",
    WalDeviceWriteBytes Bytes "wal_device_write_bytes",
    WalDeviceWAwaitMs Real "wal_device_w_await_ms",
    WalDeviceFAwaitMs Real "wal_device_f_await_ms",
    WalDeviceUtilPercent Real "wal_device_util_percent",
    CpuUsrPercent Real "cpu_usr_percent",
    CpuNicePercent Real "cpu_nice_percent",
    CpuSysPercent Real "cpu_sys_percent",
    CpuIowaitPercent Real "cpu_iowait_percent",
    CpuIrqPercent Real "cpu_irq_percent",
    CpuSoftPercent Real "cpu_soft_percent",
    CpuStealPercent Real "cpu_steal_percent",
    CpuIdlePercent Real "cpu_idle_percent",
    ClientCpuMs Real "client_cpu_ms",
    CheckpointerCpuMs Real "checkpointer_cpu_ms",
    WalwriterCpuMs Real "walwriter_cpu_ms",
    BgwriterCpuMs Real "bgwriter_cpu_ms",
    MemoryFreeBytes Bytes "memory_free_bytes",
    MemoryAvailableBytes Bytes "memory_available_bytes",
    CachedBytes Bytes "cached_bytes",
    DirtyBytes Bytes "dirty_bytes",
    WritebackBytes Bytes "writeback_bytes",
    PgpginBytes Bytes "pgpgin_bytes",
    PgpgoutBytes Bytes "pgpgout_bytes",
    PswpinPages Count "pswpin_pages",
    PswpoutPages Count "pswpout_pages",
    Pgmajfault Count "pgmajfault",
    PressureCpuSomePercent Real "pressure_cpu_some_percent",
    PressureMemorySomePercent Real "pressure_memory_some_percent",
    PressureMemoryFullPercent Real "pressure_memory_full_percent",
    PressureIoSomePercent Real "pressure_io_some_percent",
    PressureIoFullPercent Real "pressure_io_full_percent",
    IoReadBytes Bytes "io_read_bytes",
    IoWriteBytes Bytes "io_write_bytes",
    IoExtendBytes Bytes "io_extend_bytes",
}

/// Figures that processes count themselves, what has to be counted for each, and where it is; times in nanoseconds.
type OfWork = (Figure, Counts, fn(&Work) -> u64);

/// All of them.
pub const OF_WORK: [OfWork; 13] = [
    (Figure::ClientWalRecords, Counts::WORK, |w| w.wal_records),
    (Figure::ClientWalFpi, Counts::WORK, |w| w.wal_fpi),
    (Figure::ClientWalBytes, Counts::WORK, |w| w.wal_bytes),
    (Figure::ClientWalWrites, Counts::WAL_IO, |w| w.wal_writes),
    (Figure::ClientWalSyncs, Counts::WAL_IO, |w| w.wal_syncs),
    (Figure::ClientWalWriteMs, Counts::WAL_TIMES, |w| {
        w.wal_write_ns
    }),
    (Figure::ClientWalSyncMs, Counts::WAL_TIMES, |w| {
        w.wal_sync_ns
    }),
    (Figure::ClientBlocksHit, Counts::WORK, |w| w.blocks_hit),
    (Figure::ClientBlocksRead, Counts::WORK, |w| w.blocks_read),
    (Figure::ClientBlocksDirtied, Counts::WORK, |w| {
        w.blocks_dirtied
    }),
    (Figure::ClientBlocksWritten, Counts::WORK, |w| {
        w.blocks_written
    }),
    (Figure::ClientBlockReadMs, Counts::BLOCK_TIMES, |w| {
        w.block_read_ns
    }),
    (Figure::ClientBlockWriteMs, Counts::BLOCK_TIMES, |w| {
        w.block_write_ns
    }),
];

pub const FIGURES: usize = Figure::ALL.len();

/// Marks an unknown figure. No count gets there, and as a float it is a NaN.
const UNKNOWN: u64 = u64::MAX;

/// All figures of a second, one word each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures([u64; FIGURES]);

impl Figures {
    /// Nothing is known.
    pub const fn new() -> Self {
        Self([UNKNOWN; FIGURES])
    }

    /// The words, for shared memory.
    pub fn to_words(self) -> [u64; FIGURES] {
        self.0
    }

    /// From words that [`Self::to_words`] has given.
    pub fn from_words(words: [u64; FIGURES]) -> Self {
        Self(words)
    }

    /// Sets a whole number.
    pub fn set(&mut self, figure: Figure, value: Option<u64>) {
        debug_assert_ne!(figure.kind(), Kind::Real, "{figure:?}");
        self.0[figure as usize] = value.unwrap_or(UNKNOWN);
    }

    /// Sets a number with a fraction; what is not finite is unknown.
    pub fn set_real(&mut self, figure: Figure, value: Option<f64>) {
        debug_assert_eq!(figure.kind(), Kind::Real, "{figure:?}");
        let value = value.filter(|value| value.is_finite());
        self.0[figure as usize] = value.map_or(UNKNOWN, f64::to_bits);
    }

    /// Sets what processes have counted themselves, as far as all of them count it.
    pub fn set_work(&mut self, work: &Work, counts: Counts) {
        for (figure, what, read) in OF_WORK {
            let n = Some(read(work)).filter(|_| counts.has(what));
            match figure.kind() {
                Kind::Real => self.set_real(figure, n.map(|ns| ns as f64 / 1e6)),
                Kind::Count | Kind::Large | Kind::Bytes => self.set(figure, n),
            }
        }
    }

    /// The figure as a number; None when it is unknown.
    pub fn get(&self, figure: Figure) -> Option<f64> {
        match (self.0[figure as usize], figure.kind()) {
            (UNKNOWN, _) => None,
            (word, Kind::Real) => Some(f64::from_bits(word)),
            (word, _) => Some(word as f64),
        }
    }

    /// The figure as it is stored: three decimals of one with a fraction. One that does not fit its column is unknown.
    pub fn json(&self, figure: Figure) -> Option<Value> {
        let word = self.0[figure as usize];
        match figure.kind() {
            _ if word == UNKNOWN => None,
            Kind::Real => {
                let rounded = (f64::from_bits(word) * 1000.0).round() / 1000.0;
                Some(rounded.into())
            }
            Kind::Count => i32::try_from(word).ok().map(Value::from),
            Kind::Large => i64::try_from(word).ok().map(Value::from),
            Kind::Bytes => Some(word.into()),
        }
    }

    /// The sum of a figure over several seconds; None when it is unknown in one of them, or there are none.
    pub fn sum<'a>(seconds: impl IntoIterator<Item = &'a Self>, figure: Figure) -> Option<f64> {
        let mut seconds = seconds.into_iter().peekable();
        seconds.peek()?;
        seconds.map(|second| second.get(figure)).sum()
    }
}

/// Every column, null for what is unknown.
impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut columns = serializer.serialize_map(Some(FIGURES))?;
        for figure in Figure::ALL {
            columns.serialize_entry(figure.column(), &self.json(*figure))?;
        }
        columns.end()
    }
}

impl Default for Figures {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_has_its_place_and_its_column() {
        for (index, figure) in Figure::ALL.iter().enumerate() {
            assert_eq!(*figure as usize, index);
        }
        let columns: BTreeSet<&str> = Figure::ALL.iter().map(|f| f.column()).collect();
        assert_eq!(columns.len(), FIGURES);
    }

    #[test]
    fn nothing_is_known_at_first_and_zero_is_known() {
        let mut figures = Figures::default();
        assert!(
            Figure::ALL
                .iter()
                .all(|f| figures.get(*f).is_none() && figures.json(*f).is_none())
        );
        figures.set(Figure::DeviceReads, Some(0));
        figures.set_real(Figure::CpuUsrPercent, Some(0.0));
        assert_eq!(figures.json(Figure::DeviceReads), Some(0.into()));
        assert_eq!(figures.json(Figure::CpuUsrPercent), Some(0.0.into()));
        figures.set(Figure::DeviceReads, None);
        figures.set_real(Figure::CpuUsrPercent, Some(f64::NAN));
        assert_eq!(figures, Figures::new());
    }

    #[test]
    fn words_hold_everything() {
        let mut figures = Figures::new();
        figures.set(Figure::WalBytes, Some(1 << 40));
        figures.set_real(Figure::DeviceAquSz, Some(-1.23456));
        let again = Figures::from_words(figures.to_words());
        assert_eq!(again, figures);
        assert_eq!(again.json(Figure::WalBytes), Some((1u64 << 40).into()));
        assert_eq!(again.json(Figure::DeviceAquSz), Some((-1.235).into()));
    }

    #[test]
    fn what_does_not_fit_its_column_is_unknown() {
        let mut figures = Figures::new();
        figures.set(Figure::DeviceReads, Some(1 << 31));
        figures.set(Figure::WalBytes, Some(1 << 63));
        figures.set(Figure::DirtyBytes, Some(1 << 63));
        assert_eq!(figures.json(Figure::DeviceReads), None);
        assert_eq!(figures.json(Figure::WalBytes), None);
        assert!(figures.json(Figure::DirtyBytes).is_some());
    }

    #[test]
    fn a_sum_is_known_when_all_of_it_is() {
        let second = |reads| {
            let mut figures = Figures::new();
            figures.set(Figure::DeviceReads, reads);
            figures
        };
        let sum = |seconds: &[Option<u64>]| {
            let seconds: Vec<Figures> = seconds.iter().map(|n| second(*n)).collect();
            Figures::sum(&seconds, Figure::DeviceReads)
        };
        assert_eq!(sum(&[Some(3), Some(0), Some(4)]), Some(7.0));
        assert_eq!(sum(&[Some(3), None]), None);
        assert_eq!(sum(&[]), None);
    }
}
