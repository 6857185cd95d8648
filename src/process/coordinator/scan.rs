//! A run of the workload `scan`: load the table with many loaders, scan it at all degrees in a random order, read its files
//! without the executor, and store each scan.

use std::{
    collections::BTreeMap,
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::{
    scan::{self, READ_BYTES, Scan},
    spec::Cache,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Run, epoch, windows::span_ns};
use crate::{
    board::{Phase, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    pg::{process, scan::each_wait, shmem, usage::wait_name},
    process::{coordinator::finish, worker::Task},
    store,
    watch::cost,
    workload::scan::{cache::State, scanner::Report, storage, table as workload},
};

/// How often it is looked what the processes of a scan wait for.
const LOOK: Duration = Duration::from_millis(10);

/// How often processes were seen to wait for what; to work, under the name `none`.
type Waiting = BTreeMap<String, u64>;

/// A scan that was made.
struct Made {
    scan: Scan,
    report: Report,
    waits: Waiting,
    /// Why it does not count.
    why_not: Option<String>,
}

/// A wait event as it is stored with a scan.
fn named((event, times): (u32, u64)) -> (String, u64) {
    if event == 0 {
        return ("none".into(), times);
    }
    let (kind, name) = wait_name(event);
    (format!("{kind}:{name}"), times)
}

/// A reading of the files without the executor.
struct Reading {
    readers: u32,
    block_bytes: u64,
    bytes: u64,
    ms: f64,
    state: State,
    device_read_bytes: Option<u64>,
}

impl Run {
    /// From an empty database to the result of a run of scans.
    pub(super) fn carry_out_scans(&mut self) -> Result<Outcome, Fault> {
        let load = |run: &mut Self| {
            run.load_scanned()?;
            run.enter(Phase::Vacuum, workload::VACUUM.len() as u64);
            run.have_done(Task::Vacuum)
        };
        if !self.have_data(load)? {
            return self.leave_loaded();
        }
        self.have_done(Task::AllowWorkers)?;
        self.enter(Phase::Verify, 0);
        self.have_done(Task::Verify)?;
        let (made, readings) = self.measure_scans()?;
        self.enter(Phase::Collect, 0);
        self.seen.load_ms = self.load_ms();
        let phases = self.phase_times();
        self.store_scans(&made, &readings, phases)
    }

    /// One loader creates and fills the table in one transaction, which need not log it where wal_level is minimal. Several
    /// fill a table that is there, each in a transaction of its own.
    fn load_scanned(&mut self) -> Result<(), Fault> {
        self.enter(Phase::Load, workload::rows(&self.spec));
        let loaders = self.spec.options.loaders.unwrap_or(1);
        if loaders == 1 {
            return self.have_done(Task::Load);
        }
        self.have_done(Task::Create)?;
        self.have_clients()?;
        let slots = &shmem::clients()[..loaders as usize];
        self.open_window(1);
        self.wait_for_window(1, slots, |run| {
            let rows = slots.iter().map(|slot| slot.committed.load(Relaxed)).sum();
            run.board.run.done.store(rows, Relaxed);
        })?;
        self.dismiss_clients()
    }

    fn measure_scans(&mut self) -> Result<(Vec<Made>, Vec<Reading>), Fault> {
        let options = &self.spec.options;
        let scans = scan::order(
            &options.degrees,
            options.repeats.unwrap_or(scan::REPEATS),
            self.spec.seed,
        );
        let readers = options.readers.clone().unwrap_or_default();
        let steps = scans.len() + readers.len() * READ_BYTES.len();
        let work_database = self.entry.as_ref().map(|entry| entry.work_database_oid);
        self.seen.before_clients(&self.spec, work_database)?;
        self.have_sampler()?;
        self.seen.surroundings.at_start();
        self.begin_statistics()?;
        self.seen.measured_from = epoch();
        self.seen.measure_start_ns = clock::now_ns();
        self.begin_sampling(self.seen.measure_start_ns);
        self.enter(Phase::Measure, steps as u64);
        self.seen.at_start()?;
        self.seen.mark_start(&mut self.checkpoints)?;
        self.watch_seconds();
        let mut made = Vec::with_capacity(scans.len());
        for scan in scans {
            self.scan_until_it_counts(scan, &mut made)?;
            self.board.run.done.fetch_add(1, Relaxed);
        }
        let readings = if readers.is_empty() {
            Vec::new()
        } else {
            self.read_files(&readers)?
        };
        self.seen.measure_end_ns = Some(clock::now_ns());
        self.end_window()?;
        self.dismiss_all()?;
        self.end_statistics()?;
        Ok((made, readings))
    }

    /// A scan whose table was not in the cache all the time, or was where it should not be, says nothing: it is made again, some
    /// times.
    fn scan_until_it_counts(&mut self, scan: Scan, made: &mut Vec<Made>) -> Result<(), Fault> {
        let cache = self.spec.options.cache;
        let tells = cache != Cache::Cold || !storage::is_compressed();
        for _ in 0..scan::TRIES {
            let (report, waits) = self.scan(scan.degree)?;
            let missing = report.workers_missing(scan.degree);
            let wrong = report.blocks_from().wrong(cache).filter(|_| tells);
            let spoiled = wrong.and_then(|wrong| wrong.why_not(cache));
            let is_again = missing.is_none() && spoiled.is_some();
            made.push(Made {
                scan,
                report,
                waits,
                why_not: missing.or(spoiled),
            });
            if !is_again {
                break;
            }
        }
        Ok(())
    }

    /// A worker of its own for each scan, as each is a session of its own in study 4.
    fn scan(&mut self, degree: u32) -> Result<(Report, Waiting), Fault> {
        let run = &self.board.run;
        run.scanning.store(0, Release);
        run.scan_report.clear();
        run.scan_degree.store(degree, Release);
        self.crew.launch_worker(Task::Scan)?;
        let mut waiting = BTreeMap::new();
        let mut next = Instant::now();
        loop {
            if self.crew.worker_is_done()? {
                break;
            }
            if Instant::now() >= next {
                next = Instant::now() + super::LOOK;
                self.look_around()?;
                self.crew.sampler_is_there()?;
            }
            if run.scanning.load(Acquire) == 1 {
                each_wait(run.worker.pid.load(Acquire), |event| {
                    *waiting.entry(event).or_insert(0) += 1;
                });
            }
            process::wait(LOOK);
        }
        Ok((self.report()?, waiting.into_iter().map(named).collect()))
    }

    /// What the worker has reported.
    fn report<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        serde_json::from_str(&self.board.run.scan_report.get())
            .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable report: {e}")))
    }

    fn read_files(&mut self, readers: &[u32]) -> Result<Vec<Reading>, Fault> {
        self.have_clients()?;
        let mut readings = Vec::new();
        for &block_bytes in &READ_BYTES {
            for &readers in readers {
                readings.push(self.read_once(readers, block_bytes, readings.len() as u32 + 1)?);
                self.board.run.done.fetch_add(1, Relaxed);
            }
        }
        self.dismiss_clients()?;
        Ok(readings)
    }

    fn read_once(&mut self, readers: u32, block_bytes: u64, window: u32) -> Result<Reading, Fault> {
        self.board.run.scan_report.clear();
        self.have_done(Task::Prepare)?;
        let state: State = self.report()?;
        let run = &self.board.run;
        run.readers.store(readers, Relaxed);
        run.read_bytes.store(block_bytes, Relaxed);
        run.next_read.store(0, Relaxed);
        let before = storage::device_read_bytes();
        let slots = &shmem::clients()[..readers as usize];
        self.open_window(window);
        self.wait_for_window(window, slots, |_| ())?;
        let device = before.zip(storage::device_read_bytes());
        Ok(Reading {
            readers,
            block_bytes,
            bytes: slots.iter().map(|slot| slot.measured.load(Acquire)).sum(),
            ms: span_ns(slots) as f64 / 1e6,
            state,
            device_read_bytes: device.map(|(before, after)| after.saturating_sub(before)),
        })
    }

    fn store_scans(
        &mut self,
        made: &[Made],
        readings: &[Reading],
        phases: Value,
    ) -> Result<Outcome, Fault> {
        let run_id = self.run_id;
        self.close_checkpoints(self.seen.measure_end_ns.unwrap_or(0));
        let measured_ms = clock::ms(
            self.seen.measure_start_ns,
            self.seen.measure_end_ns.unwrap_or(0),
        );
        let leads = self.spec.options.leader != Some(false);
        let mut scans: Vec<Value> = made
            .iter()
            .enumerate()
            .map(|(i, made)| made.to_row(i + 1, leads))
            .collect();
        if storage::is_compressed() {
            // What was not read from storage says nothing of the page cache.
            scans
                .iter_mut()
                .for_each(|scan| scan["page_cache_bytes"] = Value::Null);
        }
        let readings: Vec<Value> = readings.iter().map(|r| r.to_row()).collect();
        let mut columns = cost::of_machine(&self.samples);
        columns["measured_ms"] = json!(measured_ms);
        finish::finish(self, columns, phases, || {
            store::insert_samples(run_id, &self.samples, false)?;
            store::insert_waits(run_id, &self.samples)?;
            store::insert_rows(run_id, "scan", &scans)?;
            store::insert_rows(run_id, "scan_read", &readings)
        })
    }
}

impl Made {
    fn to_row(&self, scan: usize, leads: bool) -> Value {
        let r = &self.report;
        let blocks = r.blocks_from();
        let degree = self.scan.degree;
        let seconds = r.ms / 1000.0;
        // The leader is one of those who share the table, if it takes part.
        let mut shares = r.worker_blocks.clone();
        if leads {
            shares.push(r.leader_blocks);
        }
        let most = shares.iter().max().copied().unwrap_or(0);
        let mean = shares.iter().sum::<u64>() as f64 / shares.len().max(1) as f64;
        json!({
            "scan": scan, "degree": degree, "repeat": self.scan.repeat,
            "started_at": r.started_at,
            "workers_planned": r.planned, "workers_launched": r.launched,
            "used": self.why_not.is_none(), "why_not": self.why_not,
            "ms": r.ms, "planning_ms": r.planning_ms, "rows": r.rows, "bytes": r.bytes,
            "gb_per_second": r.bytes as f64 / 1e9 / seconds, "rows_per_second": r.rows as f64 / seconds,
            "buffers_hit": r.hit, "buffers_read": r.read, "io_ms": r.read_ms,
            "worker_buffers": r.worker_blocks, "leader_buffers": r.leader_blocks,
            "skew": (mean > 0.0).then(|| most as f64 / mean),
            "cached_bytes": r.state.cached_bytes,
            "process_read_bytes": r.process_read_bytes,
            "device_read_bytes": r.device_read_bytes,
            "page_cache_bytes": blocks.read().map(|read| blocks.outside.saturating_sub(read)),
            "wait_events": self.waits,
            "plan": serde_json::from_str::<Value>(&r.plan).ok(),
        })
    }
}

impl Reading {
    fn to_row(&self) -> Value {
        json!({
            "readers": self.readers, "block_bytes": self.block_bytes, "bytes": self.bytes,
            "ms": self.ms,
            "gb_per_second": (self.ms > 0.0).then(|| self.bytes as f64 / 1e6 / self.ms),
            "cached_bytes": self.state.cached_bytes, "device_read_bytes": self.device_read_bytes,
        })
    }
}
