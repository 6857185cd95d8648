//! What else was going on while a run was measured: in the server, on the machine, on the disk. What cannot be found out is
//! left out, and never an error.

mod fill;
mod old_xmin;

use std::{
    fs,
    sync::atomic::Ordering::Acquire,
    time::{Duration, Instant},
};

use pgfsbench_core::{
    finding::{FlushFacts, MachineFacts, ServerFacts, StorageFacts},
    proc::{self, CpuTimes, DirtyPages, Member, parse_cpu_times, parse_member},
    sys,
};
use rustix::process::getppid;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    errors::Fault,
    host::{
        flush_probe,
        location::{self, Location},
        storage,
        tree::ThisMachine,
    },
    pg::{process, shmem, sql, version, xact},
};

use fill::Fill;
pub use old_xmin::{OLD_XMIN_AGE, OldXmin};

/// The kernel's own threads are children of this process.
const KTHREADD: (i32, &str) = (2, "kthreadd");
/// The kernel's thread that writes the tables of a new ext4.
const LAZY_INIT: &str = "ext4lazyinit";
/// That thread also reads bitmaps ahead after each mount of newer kernels (seen on Linux 6.18 for 4.5 s, whatever mkfs has
/// written); it has ended in this time.
const BITMAPS: Duration = Duration::from_secs(10);

/// As much is always being written by somebody.
const QUIET_BYTES: u64 = 1 << 20;

/// The server at one moment.
#[derive(Clone, Deserialize)]
struct Server {
    started: f64,
    statistics_since: Option<f64>,
    autovacuum: bool,
    archiving: bool,
    walsenders: u64,
    slots: u64,
    synchronous_standbys: bool,
}

/// `{since}`: when which statistics were last set to 0, one row each.
const SERVER: &str = "SELECT jsonb_build_object('started', extract(epoch FROM pg_postmaster_start_time()), \
      'statistics_since', (SELECT extract(epoch FROM max(stats_reset)) FROM ({since}) s), \
      'autovacuum', current_setting('autovacuum')::bool, 'archiving', current_setting('archive_mode') <> 'off', \
      'walsenders', (SELECT count(*) FROM pg_stat_replication), 'slots', (SELECT count(*) FROM pg_replication_slots), \
      'synchronous_standbys', current_setting('synchronous_standby_names') <> '')";

/// The tables of the run, as the statistics of their database have them.
#[derive(Clone, Copy, Deserialize)]
struct Tables {
    vacuums: u64,
    dead_rows: u64,
}

/// What the statistics say of the tables of the run, JSON. In the work database.
pub fn tables() -> Result<String, Fault> {
    let text = sql::read(
        "SELECT jsonb_build_object('vacuums', coalesce(sum(vacuum_count + autovacuum_count), 0), \
           'dead_rows', coalesce(sum(n_dead_tup), 0)) FROM pg_stat_user_tables",
        &[],
    )?;
    Ok(text.unwrap_or_default())
}

/// What the processors have done so far.
#[derive(Clone, Copy)]
struct Processors {
    times: Option<CpuTimes>,
    /// Ticks in this server's processes and the kernel's threads. None where the latter are not seen: what they do for the run
    /// would be somebody else's.
    known: Option<u64>,
}

impl Processors {
    fn of(processes: &[(i32, Member)]) -> Self {
        let text = fs::read_to_string(proc::STAT).ok();
        Self {
            times: text.and_then(|text| parse_cpu_times(&text)),
            known: sees_kernel(processes).then(|| known_ticks(processes)),
        }
    }

    fn since(&self, before: &Self) -> Option<Load> {
        let (times, times_before) = (self.times?, before.times?);
        let ((busy, all), (busy_before, all_before)) =
            (times.busy_and_all(), times_before.busy_and_all());
        let all = all.checked_sub(all_before).filter(|&all| all > 0)?;
        let busy = busy.saturating_sub(busy_before);
        let known = self.known.zip(before.known);
        let known = known.map(|(now, before)| now.saturating_sub(before));
        let share = |ticks: u64| ticks as f64 / all as f64;
        Some(Load {
            all,
            busy: share(busy),
            others: known.map(|known| share(busy.saturating_sub(known))),
            steal: times.since(&times_before)?.steal / 100.0,
        })
    }
}

/// The machine at one moment.
struct Machine {
    at: Instant,
    mhz: Option<f64>,
    throttled: Option<u64>,
    processors: Processors,
    sampler_ticks: Option<u64>,
    has_lazy_init: Option<bool>,
    free_bytes: Option<u64>,
    is_resyncing: Option<bool>,
}

impl Machine {
    fn look() -> Self {
        let seen = sys::machine(&ThisMachine);
        let processes = processes();
        let data = location::data_location();
        let layers = storage::Device::of(data.as_ref(), None).layers;
        Self {
            at: Instant::now(),
            mhz: seen.mhz_max,
            throttled: seen.throttled,
            processors: Processors::of(&processes),
            sampler_ticks: sampler_ticks(&processes),
            has_lazy_init: lazy_init_among(&processes),
            free_bytes: data
                .as_ref()
                .and_then(Location::space)
                .map(|(free, _)| free),
            is_resyncing: layers
                .map(|layers| layers.iter().any(|layer| layer.busy_with().is_some())),
        }
    }
}

/// What the machine does in some time: shares of all processors, 0 to 1.
pub struct Load {
    /// Ticks of all processors.
    all: u64,
    /// In programs.
    pub busy: f64,
    /// In programs that are none of this server; None where that cannot be told.
    pub others: Option<f64>,
    /// Taken away by the host.
    pub steal: f64,
}

/// Looks at the machine for that long.
pub fn load(time: Duration) -> Option<Load> {
    let before = Processors::of(&processes());
    let until = Instant::now() + time;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        process::wait(left);
    }
    Processors::of(&processes()).since(&before)
}

/// Whether the kernel's threads are seen: not from within many containers.
fn sees_kernel(processes: &[(i32, Member)]) -> bool {
    processes
        .iter()
        .any(|(pid, member)| (*pid, member.name.as_str()) == KTHREADD)
}

fn lazy_init_among(processes: &[(i32, Member)]) -> Option<bool> {
    let is_it = |(_, member): &(i32, Member)| member.name == LAZY_INIT;
    sees_kernel(processes).then(|| processes.iter().any(is_it))
}

/// Whether the kernel writes tables of some ext4, or reads ahead of one that was mounted a few seconds ago.
pub fn has_lazy_init() -> Option<bool> {
    lazy_init_among(&processes())
}

fn processes() -> Vec<(i32, Member)> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, parse_member(&String::from_utf8_lossy(&text))?))
    })
    .collect()
}

/// Ticks of the server's processes, those that have ended included, and of the kernel's threads.
fn known_ticks(processes: &[(i32, Member)]) -> u64 {
    let postmaster = getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    let ticks = processes.iter().map(|(pid, member)| match *pid {
        pid if pid == postmaster => member.ticks + member.ticks_of_dead_children,
        _ if member.parent == postmaster || member.parent == KTHREADD.0 => member.ticks,
        _ => 0,
    });
    ticks.sum()
}

fn sampler_ticks(processes: &[(i32, Member)]) -> Option<u64> {
    let sampler = shmem::board()?.run.sampler.pid.load(Acquire);
    let mut all = processes.iter();
    let (_, member) = all.find(|(pid, _)| *pid == sampler && sampler != 0)?;
    Some(member.ticks)
}

/// What is seen around a run.
#[derive(Default)]
pub struct Surroundings {
    server: Option<(Server, Option<Server>)>,
    machine: Option<(Machine, Option<Machine>)>,
    tables: Option<(Tables, Option<Tables>)>,
    vacuum_seconds: u64,
    /// When most of what may be dirty was.
    dirty: Option<DirtyPages>,
    flush: FlushFacts,
    /// Before the clients and after them.
    fill: [Option<Fill>; 2],
}

fn server() -> Option<Server> {
    let since: Vec<String> = version::SHARED_STATISTICS
        .iter()
        .chain(version::STAT_IO)
        .map(|view| format!("SELECT stats_reset FROM {view}"))
        .collect();
    let query = SERVER.replace("{since}", &since.join(" UNION ALL "));
    let text = xact::transaction(|| sql::read(&query, &[])).ok()??;
    serde_json::from_str(&text).ok()
}

/// Whether nothing goes to the disk that was begun before: neither checkpoint nor writeback.
fn is_quiet() -> bool {
    let idle = "SELECT wait_event = 'CheckpointerMain' FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
    let checkpointer = xact::transaction(|| sql::read(idle, &[])).ok().flatten();
    let memory = fs::read_to_string(proc::MEMINFO).unwrap_or_default();
    let writeback = proc::parse_memory(&memory).writeback.unwrap_or(0);
    checkpointer.as_deref() == Some("t") && writeback <= QUIET_BYTES
}

impl Surroundings {
    /// What the worker says of the tables before the clients; see [`tables`].
    pub fn of_tables(&mut self, report: &Value) {
        self.tables = Tables::deserialize(report)
            .ok()
            .map(|tables| (tables, None));
    }

    /// And after them.
    pub fn of_tables_at_end(&mut self, report: &Value) {
        if let Some((_, end)) = &mut self.tables {
            *end = Tables::deserialize(report).ok();
        }
    }

    /// Before the clients begin; `of_target` on a server that a target has been given.
    pub fn before_clients(&mut self, of_target: bool) {
        self.flush.before_us = flush_probe::median_us();
        self.fill[0] = Fill::look_if(of_target);
    }

    /// At the start of the window.
    pub fn at_start(&mut self) {
        self.server = server().map(|server| (server, None));
        self.machine = Some((Machine::look(), None));
        self.look_at_dirty();
    }

    /// In each second, how many of the tables of the run are being vacuumed.
    pub fn each_second(&mut self, vacuums: u32) {
        self.vacuum_seconds += u64::from(vacuums > 0);
        self.look_at_dirty();
    }

    fn look_at_dirty(&mut self) {
        let text = fs::read_to_string(proc::VMSTAT).unwrap_or_default();
        if let Some(now) = proc::parse_dirty(&text)
            && self.dirty.is_none_or(|dirty| now.share() > dirty.share())
        {
            self.dirty = Some(now);
        }
    }

    /// At the end of the window.
    pub fn at_end(&mut self) {
        if let Some((_, end)) = &mut self.machine {
            *end = Some(Machine::look());
        }
        if let Some((_, end)) = &mut self.server {
            *end = server();
        }
    }

    /// When the clients and the sampler are done.
    pub fn after_clients(&mut self) {
        // What still goes to the disk would pass for a change of it.
        let was_quiet = is_quiet();
        let after_us = flush_probe::median_us();
        self.flush.after_us = after_us.filter(|_| was_quiet && is_quiet());
        self.fill[1] = Fill::look_if(self.fill[0].is_some());
    }

    /// All that was seen, by the names of the facts that the findings are judged by.
    pub fn facts(&self) -> Value {
        json!({
            "server": self.of_server(), "machine": self.of_machine(), "storage": self.of_storage(), "flush": self.flush,
        })
    }

    fn of_server(&self) -> ServerFacts {
        let server = self.server.as_ref().map(|(start, _)| start);
        let ends = self
            .server
            .as_ref()
            .and_then(|(start, end)| Some((start, end.as_ref()?)));
        let tables = self
            .tables
            .as_ref()
            .and_then(|(start, end)| Some((start, end.as_ref()?)));
        ServerFacts {
            autovacuum: server.map(|s| s.autovacuum),
            vacuums: tables.map(|(start, end)| end.vacuums.saturating_sub(start.vacuums)),
            vacuum_seconds: Some(self.vacuum_seconds),
            dead_rows_at_start: self.tables.as_ref().map(|(start, _)| start.dead_rows),
            statistics_reset: ends
                .map(|(start, end)| start.statistics_since != end.statistics_since),
            restarted: ends.map(|(start, end)| start.started != end.started),
            archiving: server.map(|s| s.archiving),
            walsenders: server.map(|s| s.walsenders),
            slots: server.map(|s| s.slots),
            synchronous_standbys: server.map(|s| s.synchronous_standbys),
        }
    }

    fn of_machine(&self) -> MachineFacts {
        let Some((start, Some(end))) = &self.machine else {
            return MachineFacts::default();
        };
        let load = end.processors.since(&start.processors);
        let sampler = end.sampler_ticks.zip(start.sampler_ticks);
        let sampler = sampler.map(|(end, start)| end.saturating_sub(start) as f64);
        let page = rustix::param::page_size() as u64;
        MachineFacts {
            mhz: start.mhz,
            mhz_at_end: end.mhz,
            throttled: end
                .throttled
                .zip(start.throttled)
                .map(|(end, start)| end.saturating_sub(start)),
            cpu_others: load.as_ref().and_then(|load| load.others),
            cpu_sampler: sampler
                .zip(load)
                .map(|(sampler, load)| sampler / load.all as f64),
            dirty_peak_bytes: self.dirty.map(|dirty| dirty.pages * page),
            dirty_peak_limit_bytes: self.dirty.map(|dirty| dirty.limit * page),
            ..MachineFacts::default()
        }
    }

    fn of_storage(&self) -> StorageFacts {
        let Some((start, end)) = &self.machine else {
            return StorageFacts::default();
        };
        let end = end.as_ref();
        StorageFacts {
            lazy_init: end.and_then(|end| {
                let outlasts_reads = end.at.duration_since(start.at) >= BITMAPS;
                Some(start.has_lazy_init? && end.has_lazy_init? && outlasts_reads)
            }),
            free_bytes_at_end: end.and_then(|end| end.free_bytes),
            used_bytes: self.fill[0].map(|fill| fill.used),
            used_bytes_at_end: self.fill[1].map(|fill| fill.used),
            files_bytes: self.fill[0].map(|fill| fill.files),
            files_bytes_at_end: self.fill[1].map(|fill| fill.files),
            resync_at_end: end.and_then(|end| end.is_resyncing),
            ..StorageFacts::default()
        }
    }
}
