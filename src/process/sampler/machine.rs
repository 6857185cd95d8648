//! The files on the machine that the sampler reads each second. They stay open and are read again from their start; one that is
//! missing or cannot be read is unknown, and nothing else suffers.

use std::{fs::File, os::unix::fs::FileExt, sync::atomic::Ordering::Acquire};

use pgfsbench_core::{
    board::ClientSlot,
    proc::{self, CpuOfProcesses, Snapshot},
};

use crate::host::disk_counters::{Device, Devices, WalDevice};
use crate::{board::RunArea, pg::usage};

/// Length of the first line of /proc/stat: the rest is not needed, and grows with the machine.
const FIRST_LINE: usize = 256;
/// A length that none of these files reaches: a longer one has no end.
const LONGEST: usize = 1 << 22;

/// An open file of /proc, or none.
struct Source(Option<File>);

impl Source {
    fn open(path: &str) -> Self {
        Self(File::open(path).ok())
    }

    /// Text in `buffer`, which keeps its size between calls; None when it cannot be read.
    fn read<'b>(&self, buffer: &'b mut Vec<u8>) -> Option<std::borrow::Cow<'b, str>> {
        let file = self.0.as_ref()?;
        let mut length = 0;
        loop {
            if length == buffer.len() {
                buffer.resize((length * 2).max(4096), 0);
            }
            match file.read_at(&mut buffer[length..], length as u64) {
                Ok(0) => break,
                Ok(n) => length += n,
                Err(_) => return None,
            }
            if length > LONGEST {
                return None;
            }
        }
        Some(String::from_utf8_lossy(&buffer[..length]))
    }
}

/// A process whose processor time is wanted.
struct Process {
    stat: Source,
}

impl Process {
    fn of(pid: i32) -> Self {
        let stat = match pid {
            0 => Source(None),
            pid => Source::open(&format!("/proc/{pid}/stat")),
        };
        Self { stat }
    }

    fn cpu_ns(&self, buffer: &mut Vec<u8>, tick_ns: u64) -> Option<u64> {
        let text = self.stat.read(buffer)?;
        proc::parse_cpu_ticks(&text)?.checked_mul(tick_ns)
    }
}

/// Everything that is read, opened once.
pub struct Machine<'a> {
    slots: &'a [ClientSlot],
    stat: Source,
    diskstats: Source,
    meminfo: Source,
    vmstat: Source,
    pressure: [Source; 3],
    devices: Devices,
    clients: Vec<Process>,
    /// Checkpointer, walwriter, background writer.
    servers: [Process; 3],
    tick_ns: u64,
    buffer: Vec<u8>,
}

impl<'a> Machine<'a> {
    /// When the clients and the server's processes have their pids on the board.
    pub fn open(run: &RunArea, slots: &'a [ClientSlot]) -> Self {
        let clients = slots.iter().map(|slot| slot.pid.load(Acquire));
        let servers = [0, 1, 2].map(|i| Process::of(run.server_pids[i].load(Acquire)));
        Self {
            slots,
            stat: Source::open(proc::STAT),
            diskstats: Source::open(proc::DISKSTATS),
            meminfo: Source::open(proc::MEMINFO),
            vmstat: Source::open(proc::VMSTAT),
            pressure: proc::PRESSURE.map(Source::open),
            devices: Devices::find(),
            clients: clients.map(Process::of).collect(),
            servers,
            tick_ns: 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1),
            buffer: Vec::new(),
        }
    }

    /// How everything stands now.
    pub fn snapshot(&mut self) -> Snapshot {
        let (insert_lsn, flush_lsn) = usage::lsns();
        let processes = self.processes();
        let buffer = &mut self.buffer;
        let disks = self.diskstats.read(buffer);
        let counters = |device: Option<Device>| device?.counters(disks.as_deref()?);
        let disk = counters(self.devices.data);
        let wal_disk = match self.devices.wal {
            WalDevice::Other(device) => counters(Some(device)),
            WalDevice::Same | WalDevice::Unknown => None,
        };
        let pressure = [0, 1, 2].map(|i| {
            let text = self.pressure[i].read(buffer);
            text.map(|text| proc::parse_pressure(&text))
                .unwrap_or_default()
        });
        let memory = self.meminfo.read(buffer);
        let memory = memory.map(|text| proc::parse_memory(&text));
        let paging = self.vmstat.read(buffer);
        let paging = paging.map(|text| proc::parse_paging(&text));
        Snapshot {
            cpu: self.cpu(),
            disk,
            wal_disk,
            memory: memory.unwrap_or_default(),
            paging: paging.unwrap_or_default(),
            pressure,
            processes,
            insert_lsn: Some(insert_lsn),
            flush_lsn: Some(flush_lsn),
        }
    }

    fn cpu(&self) -> Option<proc::CpuTimes> {
        let mut line = [0; FIRST_LINE];
        let length = self.stat.0.as_ref()?.read_at(&mut line, 0).ok()?;
        let text = String::from_utf8_lossy(&line[..length]);
        // Not a last line that was cut.
        let (whole, _) = text.rsplit_once('\n')?;
        proc::parse_cpu_times(whole)
    }

    fn processes(&mut self) -> CpuOfProcesses {
        let (buffer, tick_ns) = (&mut self.buffer, self.tick_ns);
        // A client that has ended has left its time in its slot.
        let mut of_client = |(process, slot): (&Process, &ClientSlot)| {
            let ended = Some(slot.cpu_ns.load(Acquire)).filter(|ns| *ns > 0);
            ended.or_else(|| {
                let alive = process.cpu_ns(buffer, tick_ns);
                // It may have ended just now.
                alive.or_else(|| Some(slot.cpu_ns.load(Acquire)).filter(|ns| *ns > 0))
            })
        };
        let clients = self.clients.iter().zip(self.slots).map(&mut of_client);
        let clients = clients.reduce(|sum, one| Some(sum? + one?)).flatten();
        let [checkpointer, walwriter, bgwriter] =
            [0, 1, 2].map(|i| self.servers[i].cpu_ns(&mut self.buffer, tick_ns));
        CpuOfProcesses {
            clients,
            checkpointer,
            walwriter,
            bgwriter,
        }
    }
}
