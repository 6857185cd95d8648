//! Counters of machine and server at one moment, and their differences between two.

use super::{CpuTimes, DiskCounters, Memory, Paging, Pressure};
use crate::board::{Figure, Figures};

/// Nanoseconds that processes have run; the clients are taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuOfProcesses {
    pub clients: Option<u64>,
    pub checkpointer: Option<u64>,
    pub walwriter: Option<u64>,
    pub bgwriter: Option<u64>,
}

/// A moment. What could not be read is None, or empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub cpu: Option<CpuTimes>,
    /// The device of the data.
    pub disk: Option<DiskCounters>,
    /// The device of the WAL, where it is another one.
    pub wal_disk: Option<DiskCounters>,
    pub memory: Memory,
    pub paging: Paging,
    /// Pressure on processor, memory and devices.
    pub pressure: [Pressure; 3],
    /// Processes of the server.
    pub processes: CpuOfProcesses,
    /// The LSN at which WAL is inserted next.
    pub insert_lsn: Option<u64>,
    /// Up to where it is flushed.
    pub flush_lsn: Option<u64>,
}

impl Snapshot {
    /// Writes down what happened since `before`, this many nanoseconds ago, and how things stand now.
    pub fn since(&self, before: &Self, interval_ns: u64, figures: &mut Figures) {
        let moved = |field: fn(&Self) -> Option<u64>| field(self)?.checked_sub(field(before)?);
        figures.set(Figure::WalBytes, moved(|s| s.insert_lsn));
        figures.set(Figure::WalFlushedBytes, moved(|s| s.flush_lsn));
        let kilobytes = |field| moved(field).and_then(|n| n.checked_mul(1024));
        figures.set(Figure::PgpginBytes, kilobytes(|s| s.paging.pgpgin));
        figures.set(Figure::PgpgoutBytes, kilobytes(|s| s.paging.pgpgout));
        figures.set(Figure::PswpinPages, moved(|s| s.paging.pswpin));
        figures.set(Figure::PswpoutPages, moved(|s| s.paging.pswpout));
        figures.set(Figure::Pgmajfault, moved(|s| s.paging.pgmajfault));
        let ms = |field| moved(field).map(|ns| ns as f64 / 1e6);
        figures.set_real(Figure::ClientCpuMs, ms(|s| s.processes.clients));
        figures.set_real(Figure::CheckpointerCpuMs, ms(|s| s.processes.checkpointer));
        figures.set_real(Figure::WalwriterCpuMs, ms(|s| s.processes.walwriter));
        figures.set_real(Figure::BgwriterCpuMs, ms(|s| s.processes.bgwriter));
        self.memory(figures);
        self.processors(before, figures);
        self.pressure(before, interval_ns, figures);
        self.devices(before, interval_ns as f64 / 1e6, figures);
    }

    fn memory(&self, figures: &mut Figures) {
        let memory = &self.memory;
        figures.set(Figure::MemoryFreeBytes, memory.free);
        figures.set(Figure::MemoryAvailableBytes, memory.available);
        figures.set(Figure::CachedBytes, memory.cached);
        figures.set(Figure::DirtyBytes, memory.dirty);
        figures.set(Figure::WritebackBytes, memory.writeback);
    }

    fn processors(&self, before: &Self, figures: &mut Figures) {
        let shares = self.cpu.zip(before.cpu);
        let Some(shares) = shares.and_then(|(now, before)| now.since(&before)) else {
            return;
        };
        for (figure, percent) in [
            (Figure::CpuUsrPercent, Some(shares.usr)),
            (Figure::CpuNicePercent, Some(shares.nice)),
            (Figure::CpuSysPercent, Some(shares.sys)),
            (Figure::CpuIowaitPercent, shares.iowait),
            (Figure::CpuIrqPercent, shares.irq),
            (Figure::CpuSoftPercent, shares.soft),
            (Figure::CpuStealPercent, shares.steal),
            (Figure::CpuIdlePercent, Some(shares.idle)),
        ] {
            figures.set_real(figure, percent);
        }
    }

    fn pressure(&self, before: &Self, interval_ns: u64, figures: &mut Figures) {
        let percent = |now: Option<u64>, before: Option<u64>| {
            let us = now?.checked_sub(before?)?;
            Some(us as f64 * 1000.0 * 100.0 / interval_ns as f64)
        };
        for (i, some, full) in [
            (0, Figure::PressureCpuSomePercent, None),
            (
                1,
                Figure::PressureMemorySomePercent,
                Some(Figure::PressureMemoryFullPercent),
            ),
            (
                2,
                Figure::PressureIoSomePercent,
                Some(Figure::PressureIoFullPercent),
            ),
        ] {
            let (now, before) = (self.pressure[i], before.pressure[i]);
            figures.set_real(some, percent(now.some, before.some));
            if let Some(full) = full {
                figures.set_real(full, percent(now.full, before.full));
            }
        }
    }

    fn devices(&self, before: &Self, interval_ms: f64, figures: &mut Figures) {
        let did = |now: Option<DiskCounters>, before: Option<DiskCounters>| {
            now?.since(&before?, interval_ms)
        };
        if let Some(disk) = did(self.disk, before.disk) {
            figures.set(Figure::DeviceReads, Some(disk.reads));
            figures.set(Figure::DeviceWrites, Some(disk.writes));
            figures.set(Figure::DeviceFlushes, disk.flushes);
            figures.set(Figure::DeviceReadBytes, Some(disk.read_bytes));
            figures.set(Figure::DeviceWriteBytes, Some(disk.write_bytes));
            figures.set_real(Figure::DeviceRAwaitMs, disk.r_await_ms);
            figures.set_real(Figure::DeviceWAwaitMs, disk.w_await_ms);
            figures.set_real(Figure::DeviceFAwaitMs, disk.f_await_ms);
            figures.set_real(Figure::DeviceAquSz, disk.aqu_sz);
            figures.set_real(Figure::DeviceUtilPercent, disk.util_percent);
        }
        if let Some(disk) = did(self.wal_disk, before.wal_disk) {
            figures.set(Figure::WalDeviceWrites, Some(disk.writes));
            figures.set(Figure::WalDeviceFlushes, disk.flushes);
            figures.set(Figure::WalDeviceWriteBytes, Some(disk.write_bytes));
            figures.set_real(Figure::WalDeviceWAwaitMs, disk.w_await_ms);
            figures.set_real(Figure::WalDeviceFAwaitMs, disk.f_await_ms);
            figures.set_real(Figure::WalDeviceUtilPercent, disk.util_percent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proc::{
        parse_cpu_times, parse_diskstats, parse_memory, parse_paging, parse_pressure,
    };

    fn moment(n: u64) -> Snapshot {
        let disk = parse_diskstats(
            &format!("8 0 sda {n} 0 {n} {n} {n} 0 {n} {n} 0 {n} {n} 0 0 0 0 {n} {n}\n"),
            (8, 0),
        );
        Snapshot {
            cpu: parse_cpu_times(&format!("cpu {n} 0 {n} {n} {n} 0 0 0 0 0\n")),
            disk,
            wal_disk: disk,
            memory: parse_memory(&format!(
                "MemFree: {n} kB\nMemAvailable: {n} kB\nCached: {n} kB\nDirty: {n} kB\nWriteback: {n} kB\n"
            )),
            paging: parse_paging(&format!(
                "pgpgin {n}\npgpgout {n}\npswpin {n}\npswpout {n}\npgmajfault {n}\n"
            )),
            pressure: [parse_pressure(&format!("some total={n}\nfull total={n}\n")); 3],
            processes: CpuOfProcesses {
                clients: Some(n * 1_000_000),
                checkpointer: Some(n),
                walwriter: Some(n),
                bgwriter: Some(n),
            },
            insert_lsn: Some(n << 30),
            flush_lsn: Some(n),
        }
    }

    fn figures(before: &Snapshot, now: &Snapshot) -> Figures {
        let mut figures = Figures::new();
        now.since(before, 1_000_000_000, &mut figures);
        figures
    }

    /// Figures that are not from the clients' own counters.
    fn known(figures: &Figures) -> Vec<&'static str> {
        let known = Figure::ALL.iter().filter(|f| figures.get(**f).is_some());
        known.map(|f| f.column()).collect()
    }

    #[test]
    fn everything_is_told_where_everything_is_known() {
        let figures = figures(&moment(1000), &moment(1100));
        let own = Figure::ALL.iter().filter(|f| {
            // And what pg_stat_io counts.
            let others = ["client_wal", "client_block", "io_"];
            others.iter().any(|start| f.column().starts_with(start))
        });
        let unknown: Vec<&str> = Figure::ALL
            .iter()
            .filter(|f| figures.get(**f).is_none())
            .map(|f| f.column())
            .collect();
        assert_eq!(unknown, own.map(|f| f.column()).collect::<Vec<_>>());
        for (figure, value) in [
            (Figure::WalBytes, 100.0 * (1 << 30) as f64),
            (Figure::ClientCpuMs, 100.0),
            (Figure::DirtyBytes, 1100.0 * 1024.0),
            (Figure::PgpgoutBytes, 100.0 * 1024.0),
            (Figure::PressureIoFullPercent, 0.01),
            (Figure::CpuIowaitPercent, 25.0),
            (Figure::DeviceWriteBytes, 51200.0),
            (Figure::DeviceUtilPercent, 10.0),
            (Figure::WalDeviceFlushes, 100.0),
        ] {
            assert_eq!(figures.get(figure), Some(value), "{figure:?}");
        }
    }

    #[test]
    fn what_one_moment_does_not_know_is_unknown() {
        let empty = Snapshot::default();
        assert_eq!(known(&figures(&empty, &empty)), Vec::<&str>::new());
        let memory = [
            "memory_free_bytes",
            "memory_available_bytes",
            "cached_bytes",
            "dirty_bytes",
            "writeback_bytes",
        ];
        assert_eq!(known(&figures(&empty, &moment(5))), memory);
        assert_eq!(known(&figures(&moment(5), &empty)), Vec::<&str>::new());
    }

    #[test]
    fn one_missing_file_hides_nothing_else() {
        let (before, now) = (moment(1000), moment(1100));
        let all = known(&figures(&before, &now)).len();
        let without = |now: Snapshot| all - known(&figures(&before, &now)).len();
        assert_eq!(without(Snapshot { cpu: None, ..now }), 8);
        assert_eq!(without(Snapshot { disk: None, ..now }), 10);
        assert_eq!(
            without(Snapshot {
                wal_disk: None,
                ..now
            }),
            6
        );
        assert_eq!(
            without(Snapshot {
                pressure: [Pressure::default(); 3],
                ..now
            }),
            5
        );
        assert_eq!(
            without(Snapshot {
                memory: Memory::default(),
                ..now
            }),
            5
        );
        assert_eq!(
            without(Snapshot {
                paging: Paging::default(),
                ..now
            }),
            5
        );
        assert_eq!(
            without(Snapshot {
                processes: CpuOfProcesses::default(),
                ..now
            }),
            4
        );
    }

    #[test]
    fn what_went_back_is_unknown() {
        let figures = figures(&moment(1100), &moment(1000));
        assert_eq!(figures.get(Figure::WalBytes), None);
        assert_eq!(figures.get(Figure::DeviceReads), None);
        assert_eq!(figures.get(Figure::ClientCpuMs), None);
        assert_eq!(figures.get(Figure::PressureIoSomePercent), None);
        assert_eq!(figures.get(Figure::CpuUsrPercent), None);
    }
}
