//! Other activity while a run was measured: in the server, on the machine, on the disk. Facts that are not known are
//! left out, and never an error.

mod arrays;
mod fill;
mod old_xmin;

use std::{
    fs,
    sync::atomic::Ordering::Acquire,
    time::{Duration, Instant},
};

use pgfsbench_core::{
    finding::{FlushFacts, MachineFacts, RunFacts, ServerFacts, StorageFacts},
    proc::{self, DirtyPages, Member, parse_cpu_times, parse_member},
    run::surroundings::{self, Fill, Load, Machine, Processes, Processors, SharedDisk},
    sys::{
        self,
        cgroup::{Cgroups, IoWatch},
    },
};
use rustix::process::getppid;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    clock,
    errors::Fault,
    host::{
        flush_probe,
        location::{self, Location},
        storage,
        tree::{self, ThisMachine},
    },
    pg::{process, shmem, sql, version, xact},
};

use arrays::Arrays;
pub use old_xmin::OldXmin;

/// Bytes under writeback at which a machine still counts as quiet.
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
const SERVER: &str = include_str!("queries/surroundings.sql");

/// The tables of the run, as the statistics of their database have them.
#[derive(Clone, Copy, Deserialize)]
struct Tables {
    vacuums: u64,
    dead_rows: u64,
}

/// Statistics of the tables of the run, JSON. In the work database.
pub fn tables() -> Result<String, Fault> {
    let text = sql::read(
        "SELECT jsonb_build_object('vacuums', coalesce(sum(vacuum_count + autovacuum_count), 0), \
           'dead_rows', coalesce(sum(n_dead_tup), 0)) FROM pg_stat_user_tables",
        &[],
    )?;
    Ok(text.unwrap_or_default())
}

/// Time that the processors have spent since boot.
fn processors(processes: &Processes) -> Processors {
    let text = tree::text(proc::STAT);
    let times = text.and_then(|text| parse_cpu_times(&text));
    let postmaster = getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    Processors::of(times, processes, postmaster)
}

/// The machine now.
fn read() -> Machine {
    let seen = sys::machine(&ThisMachine);
    let processes = processes();
    let data = location::data_location();
    let layers = storage::read(data.as_ref(), None).layers;
    let text = tree::text(proc::DISKSTATS);
    let of_disks = || Some((layers.as_deref()?, text.as_deref()?));
    Machine {
        at_ns: clock::now_ns(),
        mhz: seen.mhz_max,
        throttled: seen.throttled,
        processors: processors(&processes),
        sampler_ticks: sampler_ticks(&processes),
        has_lazy_init: surroundings::has_lazy_init(&processes),
        free_bytes: data
            .as_ref()
            .and_then(Location::space)
            .map(|(free, _)| free),
        disk: of_disks().and_then(|(layers, text)| SharedDisk::of(layers, text)),
        discarded_bytes: of_disks()
            .and_then(|(layers, text)| surroundings::discarded(layers, text)),
        limits: Cgroups::find(&ThisMachine).counters(&ThisMachine),
    }
}

/// Looks at the machine for that long.
pub fn load(time: Duration) -> Option<Load> {
    let before = processors(&processes());
    let until = Instant::now() + time;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        process::wait(left);
    }
    processors(&processes()).since(&before)
}

/// Whether the kernel writes tables of some ext4, or reads ahead of one that was mounted a few seconds ago.
pub fn has_lazy_init() -> Option<bool> {
    surroundings::has_lazy_init(&processes())
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

fn sampler_ticks(processes: &Processes) -> Option<u64> {
    let sampler = shmem::board()?.run.sampler.pid.load(Acquire);
    let mut all = processes.iter();
    let (_, member) = all.find(|(pid, _)| *pid == sampler && sampler != 0)?;
    Some(member.ticks)
}

/// Observations around a run.
#[derive(Default)]
pub struct Surroundings {
    server: Option<(Server, Option<Server>)>,
    machine: Option<(Machine, Option<Machine>)>,
    tables: Option<(Tables, Option<Tables>)>,
    vacuum_seconds: u64,
    /// When most of what may be dirty was.
    dirty: Option<DirtyPages>,
    /// The cgroups of the server, from the start of the window on.
    cgroups: Cgroups,
    io: IoWatch,
    arrays: Arrays,
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
    let memory = tree::text(proc::MEMINFO).unwrap_or_default();
    // A kernel that does not report writeback is not known to be quiet.
    let writeback = proc::parse_memory(&memory).writeback;
    checkpointer.as_deref() == Some("t") && writeback.is_some_and(|bytes| bytes <= QUIET_BYTES)
}

impl Surroundings {
    /// Takes the worker's report on the tables before the clients; see [`tables`].
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
        self.fill[0] = fill::read_if(of_target);
    }

    /// At the start of the window.
    pub fn at_start(&mut self) {
        self.server = server().map(|server| (server, None));
        self.machine = Some((read(), None));
        self.cgroups = Cgroups::find(&ThisMachine);
        self.arrays = Arrays::find();
        self.look_at_io();
        self.look_at_dirty();
    }

    /// In each second, how many of the tables of the run are being vacuumed.
    pub fn each_second(&mut self, vacuums: u32) {
        self.vacuum_seconds += u64::from(vacuums > 0);
        self.arrays.look();
        self.look_at_io();
        self.look_at_dirty();
    }

    fn look_at_io(&mut self) {
        let counters = self.cgroups.io_counters(&ThisMachine);
        self.io.see(clock::now_ns(), counters);
    }

    fn look_at_dirty(&mut self) {
        let text = tree::text(proc::VMSTAT).unwrap_or_default();
        if let Some(now) = proc::parse_dirty(&text)
            && self.dirty.is_none_or(|dirty| now.share() > dirty.share())
        {
            self.dirty = Some(now);
        }
    }

    /// At the end of the window.
    pub fn at_end(&mut self) {
        self.arrays.look();
        self.look_at_io();
        if let Some((_, end)) = &mut self.machine {
            *end = Some(read());
        }
        if let Some((_, end)) = &mut self.server {
            *end = server();
        }
    }

    /// When the clients and the sampler are done.
    pub fn after_clients(&mut self) {
        // Data that are still being written would count as growth.
        let was_quiet = is_quiet();
        let after_us = flush_probe::median_us();
        let is_quiet = was_quiet && is_quiet();
        self.flush.quiet_after = Some(is_quiet);
        self.flush.after_us = after_us.filter(|_| is_quiet);
        self.fill[1] = fill::read_if(self.fill[0].is_some());
    }

    /// All that was seen.
    pub fn facts(&self) -> RunFacts {
        RunFacts {
            server: self.of_server(),
            machine: self.of_machine(),
            storage: self.of_storage(),
            flush: self.flush.clone(),
            ..RunFacts::default()
        }
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
            // The environment tells.
            extends_by_fallocate: None,
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
        let page = rustix::param::page_size() as u64;
        let mut facts = surroundings::machine_facts(start, end, self.dirty, page);
        facts.limits.io = self.io.felt();
        facts
    }

    fn of_storage(&self) -> StorageFacts {
        let machine = self.machine.as_ref();
        machine.map_or_else(StorageFacts::default, |(start, end)| StorageFacts {
            array_work: end.as_ref().and_then(|_| self.arrays.work.clone()),
            ..surroundings::storage_facts(start, end.as_ref(), self.fill)
        })
    }
}
