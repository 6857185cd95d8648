//! The layout of pgfsbench's shared memory: who asks for what, which run is active, how far it is.
//!
//! There is one writer for each field at any moment, and it is named in the field's comment. Everything is atomics, so
//! that reading is always safe; a request is claimed, answered and freed under the one lock ([`crate::pg::shmem::locked`]).
//! All bytes zero is the valid empty state. The process that changes the state of a request or the phase of a run wakes the
//! others with [`crate::pg::shmem::announce`].

mod for_experiment;
pub mod outcome;
mod request;
mod request_texts;
mod requests;

use std::sync::atomic::{
    AtomicI32, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use pgfsbench_core::board::{CheckpointRing, ExperimentSlots, SampleRing, TextCell};

pub use for_experiment::{start_for_experiment, starts_for_experiment};
pub use pgfsbench_core::run::{
    phase::Phase,
    request::{Cancel, CoordinatorTask, RequestState},
};
pub use request::Request;
pub use request_texts::RequestTexts;

/// Number of this layout. The library that made the memory and the one that reads it must agree.
pub const LAYOUT: u32 = 17;

/// Runs that can wait for their turn at the same time; `pgfsbench.max_queued` may say fewer.
pub const MOST_QUEUED: usize = 4000;
/// Requests that can be made or carried out at the same time: those that have texts.
const AT_HAND: usize = 16;
/// All requests: waiting ones, running ones, and finished ones whose caller does not know it yet.
const REQUESTS: usize = MOST_QUEUED + 6 * AT_HAND;

/// `start_ns` of a run: its coordinator waits for the start.
pub const AWAITS_START: u64 = 1;
/// `stop` of a run: its clients end.
pub const STOP_CLIENTS: u32 = 1;
/// `stop` of a run: all that it has launched ends.
pub const STOP_ALL: u32 = 2;

/// Everything but the slots of the clients, which follow it in memory.
#[repr(C)]
pub struct Board {
    /// [`LAYOUT`]. Written at server start.
    pub layout: AtomicU32,
    /// The janitor's pid, 0 while there is none. Written by the janitor.
    pub janitor_pid: AtomicI32,
    /// 1 once the janitor has cleared up after the last stop of the server. Written by the janitor.
    pub recovered: AtomicU32,
    /// The database that the janitor has a worker sweep. Written by the janitor.
    pub sweep_database: AtomicU32,
    /// 1 when that worker also has to look after databases that are gone. Written by the janitor.
    pub sweep_orphans: AtomicU32,
    /// 1 once that worker has done it. Cleared by the janitor, set by the worker.
    pub sweep_done: AtomicU32,
    /// 1 once a database was seen to have the extension. Cleared by the janitor, set by that worker.
    pub sweep_extension: AtomicU32,
    /// Pid of the worker that puts requests of a database into the queue and takes them out of it, one after the other; 0 when there
    /// is none. Written by that worker, under the lock; one that was killed leaves it as it is.
    pub queue_worker: AtomicI32,
    /// That database. Written as the pid.
    pub queue_worker_database: AtomicU32,
    /// 1 while there is no worker slot for one, so that the coordinator of the run that is on has to do it. Written by the janitor.
    pub no_slot: AtomicU32,
    /// The last ticket given out; a ticket orders requests. Written by callers under the lock.
    pub tickets: AtomicU64,
    /// The requests of callers.
    pub requests: [Request; REQUESTS],
    /// The texts of those that are at hand.
    texts: [RequestTexts; AT_HAND],
    /// The databases that have experiments.
    pub experiment_slots: ExperimentSlots,
    /// The active run.
    pub run: RunArea,
    /// The server's checkpoints. Written by the checkpointer, as long as the server lives.
    pub checkpoints: CheckpointRing<256>,
    /// Where tests hold processes. Written by sessions of tests under the lock, and by the processes that come to a point.
    #[cfg(debug_assertions)]
    pub points: pgfsbench_core::board::Points,
}

/// The active run: orders of its coordinator, and reports of its workers.
#[repr(C)]
pub struct RunArea {
    /// Index of its request plus 1; 0 when no run is active. Written by the coordinator; cleared by it, the recovery
    /// worker, or the janitor.
    pub request: AtomicU32,
    /// Tells the processes of this run from late ones of an earlier run. Raised by the coordinator that takes the area, and
    /// by the process that clears up after a dead coordinator.
    pub serial: AtomicU32,
    phase: AtomicU32,
    /// Monotonic clock of the phase's start. Written by the coordinator.
    pub phase_started_ns: AtomicU64,
    /// Steps done in this phase (rows, seconds, …). Written by the worker in `load`, by the coordinator else.
    pub done: AtomicU64,
    /// Steps in this phase; 0 when unknown. Written by the coordinator.
    pub total: AtomicU64,
    /// The work database. Written by the coordinator.
    pub work_database: AtomicU32,
    /// The segment with the document of the run; 0 without. Written by the coordinator, before it launches the worker.
    pub document: AtomicU32,
    /// The segment with the counters of clients and transaction types; 0 where all transactions are counted together. Written by the
    /// coordinator, before it launches clients.
    pub counters: AtomicU32,
    /// The segment with further counts of clients. Written by the coordinator, before it launches clients.
    pub words: AtomicU32,
    /// The role whose sessions run statements of the caller. Written by the coordinator, before it launches the worker.
    pub session_role: AtomicU32,
    /// 1 when the clients may start; in a run with several windows, the number of the one that is on. Written by the
    /// coordinator.
    pub go: AtomicU32,
    /// Start of a run that begins together with those of other servers: 0 before it is ready, [`AWAITS_START`] while it waits, then the monotonic
    /// clock of its start. Written by the coordinator when it is ready, then by the session of the server that starts all of them.
    pub start_ns: AtomicU64,
    /// [`STOP_CLIENTS`] when these must end, [`STOP_ALL`] when the sampler must end, too. Written by the coordinator, or by the
    /// janitor when that died.
    pub stop: AtomicU32,
    /// Monotonic clocks: transactions that start from here on are measured. Written by the coordinator before `go`; in a run that
    /// writes and syncs a file 0 until all writers are ready for the window.
    pub measure_start_ns: AtomicU64,
    /// Monotonic clock of the start of the first second that is sampled, 0 while it is not known. Written by the coordinator.
    pub sampled_from_ns: AtomicU64,
    /// No transaction starts from here on; `u64::MAX` when the number of transactions ends the run. Written by the coordinator before `go`.
    pub end_ns: AtomicU64,
    /// In a search for the sustainable rate: transactions per second of all clients in the window that is on, f64 bits; 0 for as many
    /// as they can. Written by the coordinator, before `go`, or by that of a remote run.
    pub rate_bits: AtomicU64,
    /// The probe that this window belongs to; 0 for none. Written as the rate.
    pub probe: AtomicU32,
    /// A number that the worker's task takes. Written by the coordinator, before it launches the worker.
    pub task_number: AtomicU32,
    /// Rows and pages of the table before the first measurement, and its pages that are visible to all. Written by the worker.
    pub table_rows: AtomicU64,
    pub table_blocks: AtomicU64,
    pub table_unchanged: AtomicU64,
    /// 1 while the worker does what the run measures. Written by the worker.
    pub worker_is_measured: AtomicU32,
    /// Bytes that parallel workers of the worker have asked the kernel for in that time, and had it read from storage. Each of them adds
    /// its own.
    pub workers_requested_bytes: AtomicU64,
    pub workers_read_bytes: AtomicU64,
    /// How many parallel workers have added theirs.
    pub workers_told: AtomicU32,
    /// A longer report of the worker than its cell holds, JSON. Written by the worker.
    pub task_report: TextCell<65536>,
    /// How many clients read files in the window that is on. Written by the coordinator, before `go`.
    pub readers: AtomicU32,
    /// Bytes of each of their reads. Written by the coordinator, before `go`.
    pub read_bytes: AtomicU64,
    /// The next part of the work that clients share. Set by the coordinator, before `go`; each client adds what it takes.
    pub next_share: AtomicU64,
    /// The mark of the file beside the WAL that the run writes. Written by the coordinator, before it launches clients.
    pub wal_file: TextCell<64>,
    /// Transactions per second of the last second, f64 bits; not a number while there was no such second. Written by the sampler, or
    /// by the coordinator of a remote run.
    pub tps_bits: AtomicU64,
    /// 99th percentile of latency of the last second. Written by the sampler, or by the coordinator of a remote run.
    pub latency_p99_ns: AtomicU64,
    /// 1 when the run is on another server: the phase, `done` and `phase_tps_bits` are what that says. Written by the coordinator.
    pub remote: AtomicU32,
    /// Transactions per second of a remote run's phase so far, f64 bits. Written by the coordinator.
    pub phase_tps_bits: AtomicU64,
    /// Processes of the server whose processor time is wanted, 0 where there is none: checkpointer, walwriter, background
    /// writer. Written by the coordinator, before it launches the sampler.
    pub server_pids: [AtomicI32; 3],
    pub sampler: TaskCell,
    pub worker: TaskCell,
    /// The sampler's records on their way to the coordinator.
    pub samples: SampleRing<256>,
}

impl RunArea {
    pub fn phase(&self) -> Phase {
        Phase::from_u32(self.phase.load(Acquire))
    }

    /// Enters a phase. By the coordinator.
    pub fn enter(&self, phase: Phase, now_ns: u64, total: u64) {
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
        self.phase_started_ns.store(now_ns, Relaxed);
        self.phase.store(phase as u32, Release);
    }

    /// Whether clients and worker of that serial number are told to end, or are left over from an earlier run.
    pub fn stopped(&self, serial: u32) -> bool {
        self.stop.load(Acquire) != 0 || !self.is_current(serial)
    }

    /// Whether no process of that serial number has work left: for the sampler, which sees clients come and go.
    pub fn is_over(&self, serial: u32) -> bool {
        self.stop.load(Acquire) == STOP_ALL || !self.is_current(serial)
    }

    /// Whether the area still belongs to the run of that serial number.
    pub fn is_current(&self, serial: u32) -> bool {
        self.serial.load(Acquire) == serial
    }

    /// From here on, processes launched earlier are late ones. Gives the number for those to come.
    pub fn next_serial(&self) -> u32 {
        self.serial
            .fetch_add(1, std::sync::atomic::Ordering::AcqRel)
            .wrapping_add(1)
    }

    /// Clears the area for the next run. By the coordinator that takes it.
    pub fn reset(&self) {
        for word in [
            &self.phase,
            &self.work_database,
            &self.document,
            &self.counters,
            &self.words,
            &self.session_role,
            &self.go,
            &self.stop,
            &self.remote,
            &self.task_number,
            &self.worker_is_measured,
            &self.workers_told,
            &self.readers,
            &self.probe,
        ] {
            word.store(0, Relaxed);
        }
        for word in [
            &self.start_ns,
            &self.phase_started_ns,
            &self.done,
            &self.total,
            &self.measure_start_ns,
            &self.sampled_from_ns,
            &self.end_ns,
            &self.latency_p99_ns,
            &self.phase_tps_bits,
            &self.workers_requested_bytes,
            &self.workers_read_bytes,
            &self.read_bytes,
            &self.next_share,
            &self.table_rows,
            &self.table_blocks,
            &self.table_unchanged,
            &self.rate_bits,
        ] {
            word.store(0, Relaxed);
        }
        self.tps_bits.store(f64::NAN.to_bits(), Relaxed);
        for pid in &self.server_pids {
            pid.store(0, Relaxed);
        }
        self.wal_file.clear();
        self.task_report.clear();
        self.sampler.reset();
        self.worker.reset();
        self.samples.reset();
    }
}

/// A helper process of the run: how it is, and why it failed. Written by that process, reset by the coordinator.
#[repr(C)]
pub struct TaskCell {
    /// Process ID; 0 before the process runs.
    pub pid: AtomicI32,
    /// A [`TaskState`].
    state: AtomicU32,
    /// JSON of [`crate::errors::Fault`] when it failed.
    pub fault: TextCell<2048>,
    /// Report of the process, JSON.
    pub report: TextCell<16384>,
}

/// How a helper process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum TaskState {
    /// Not there yet.
    Absent = 0,
    /// At work.
    Running = 1,
    /// Ended well.
    Done = 2,
    /// Ended with an error.
    Failed = 3,
}

impl TaskCell {
    /// How the process is.
    pub fn state(&self) -> TaskState {
        match self.state.load(Acquire) {
            1 => TaskState::Running,
            2 => TaskState::Done,
            3 => TaskState::Failed,
            _ => TaskState::Absent,
        }
    }

    /// Says how this process is.
    pub fn set_state(&self, state: TaskState) {
        self.state.store(state as u32, Release);
    }

    /// Clears the cell. By the coordinator, before it launches the process.
    pub fn reset(&self) {
        self.pid.store(0, Relaxed);
        self.fault.clear();
        self.report.clear();
        self.set_state(TaskState::Absent);
    }
}
