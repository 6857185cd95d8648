//! A run of the workload `scan`: load the table with many loaders, scan it at all degrees in a random order, read its files
//! without the executor, and store each scan.

use std::{
    collections::BTreeMap,
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::{Duration, Instant},
};

use pgfsbench_core::{
    run::row::Measured,
    spec::{Act, Cache},
    workload::scan::{self, JudgedScan, READ_BYTES, Reading, Report, Row, Scan, State, Waiting},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ALLOW_WORKERS, CREATE, LOAD, PREPARE, SCAN, VACUUM, VERIFY, storage, table};
use crate::{
    bench::{self, Run, epoch, finish, windows::span_ns},
    board::{Phase, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    pg::{process, scan::each_wait, shmem, usage::wait_name},
    store,
    watch::cost,
};

/// Time between two looks at the wait events of the processes of a scan.
const LOOK: Duration = Duration::from_millis(10);

/// A wait event as it is stored with a scan.
fn named((event, times): (u32, u64)) -> (String, u64) {
    if event == 0 {
        return ("none".into(), times);
    }
    let (kind, name) = wait_name(event);
    (format!("{kind}:{name}"), times)
}

/// From an empty database to the result of a run of scans, step by step of the plan.
pub fn carry_out(run: &mut Run) -> Result<Outcome, Fault> {
    let (mut made, mut readings) = (Vec::new(), Vec::new());
    while let Some(act) = run.next_step() {
        match act {
            Act::Load => load(run)?,
            Act::Vacuum => {
                run.enter(Phase::Vacuum, 0);
                run.have_done(VACUUM)?;
            }
            Act::Leave => return run.leave_loaded(),
            Act::Verify => {
                run.have_done(ALLOW_WORKERS)?;
                run.enter(Phase::Verify, 0);
                run.have_done(VERIFY)?;
            }
            Act::Launch => launch(run)?,
            Act::Measure => (made, readings) = measure(run)?,
            Act::Store => {
                run.enter(Phase::Collect, 0);
                run.observed.load_ms = run.load_ms();
                let phases = run.phase_times();
                return store_all(run, &made, &readings, phases);
            }
            other => run.carry_out_step(other)?,
        }
    }
    Err(run.stored_nothing())
}

/// One loader creates and fills the table in one transaction, which need not log it where wal_level is minimal. Several
/// fill a table that is there, each in a transaction of its own.
fn load(run: &mut Run) -> Result<(), Fault> {
    run.enter(Phase::Load, table::rows(&run.spec));
    let loaders = table::own(&run.spec).loaders.unwrap_or(1);
    if loaders == 1 {
        return run.have_done(LOAD);
    }
    run.have_done(CREATE)?;
    run.have_loaded(loaders).map(drop)
}

fn launch(run: &mut Run) -> Result<(), Fault> {
    let work_database = run.entry.as_ref().map(|entry| entry.work_database_oid);
    run.observed.before_clients(&run.spec, work_database)?;
    run.have_sampler()
}

fn measure(run: &mut Run) -> Result<(Vec<JudgedScan>, Vec<Reading>), Fault> {
    let own = table::own(&run.spec);
    let repeats = own.repeats.unwrap_or(scan::REPEATS);
    let scans = scan::order(&own.degrees, repeats, run.spec.seed);
    let readers = own.readers.unwrap_or_default();
    let steps = scans.len() + readers.len() * READ_BYTES.len();
    run.observed.surroundings.at_start();
    run.begin_statistics()?;
    run.observed.measured_from = epoch();
    run.observed.measure_start_ns = clock::now_ns();
    run.begin_sampling(run.observed.measure_start_ns);
    run.enter(Phase::Measure, steps as u64);
    run.observed.at_start()?;
    run.observed.mark_start(&mut run.checkpoints)?;
    run.watch_seconds();
    let mut made = Vec::with_capacity(scans.len());
    for scan in scans {
        scan_until_it_counts(run, scan, &mut made)?;
        run.board.run.done.fetch_add(1, Relaxed);
    }
    let readings = if readers.is_empty() {
        Vec::new()
    } else {
        read_files(run, &readers)?
    };
    run.observed.measure_end_ns = Some(clock::now_ns());
    run.end_window()?;
    run.dismiss_all()?;
    run.end_statistics()?;
    Ok((made, readings))
}

/// A scan whose table was not in the cache all the time, or was where it should not be, says nothing: it is made again, some
/// times.
fn scan_until_it_counts(
    run: &mut Run,
    scan: Scan,
    made: &mut Vec<JudgedScan>,
) -> Result<(), Fault> {
    let cache = run.spec.options.cache;
    let tells = cache != Cache::Cold || !storage::is_compressed(&run.observed.environment);
    for _ in 0..scan::TRIES {
        let (report, waits) = scan_once(run, scan.degree)?;
        let judged = JudgedScan::judge(scan, report, waits, cache, tells);
        let is_again = judged.is_spoiled;
        made.push(judged);
        if !is_again {
            break;
        }
    }
    Ok(())
}

/// A worker of its own for each scan, as each is a session of its own in digoal's study of 2016.
fn scan_once(run: &mut Run, degree: u32) -> Result<(Report, Waiting), Fault> {
    let area = &run.board.run;
    area.worker_is_measured.store(0, Release);
    area.task_report.clear();
    area.task_number.store(degree, Release);
    run.processes.launch_worker(SCAN)?;
    let mut waiting = BTreeMap::new();
    let mut next = Instant::now();
    loop {
        if run.processes.worker_is_done()? {
            break;
        }
        if Instant::now() >= next {
            next = Instant::now() + bench::LOOK;
            run.check_interrupts()?;
            run.processes.sampler_is_there()?;
        }
        if area.worker_is_measured.load(Acquire) == 1 {
            each_wait(area.worker.pid.load(Acquire), |event| {
                *waiting.entry(event).or_insert(0) += 1;
            });
        }
        process::wait(LOOK);
    }
    Ok((report(run)?, waiting.into_iter().map(named).collect()))
}

/// Reads the worker's report.
fn report<T: DeserializeOwned>(run: &Run) -> Result<T, Fault> {
    serde_json::from_str(&run.board.run.task_report.get())
        .map_err(|e| Fault::new(sqlstate::INTERNAL, format!("unreadable report: {e}")))
}

fn read_files(run: &mut Run, readers: &[u32]) -> Result<Vec<Reading>, Fault> {
    run.have_clients()?;
    let mut readings = Vec::new();
    for &block_bytes in &READ_BYTES {
        for &readers in readers {
            readings.push(read_once(
                run,
                readers,
                block_bytes,
                readings.len() as u32 + 1,
            )?);
            run.board.run.done.fetch_add(1, Relaxed);
        }
    }
    run.dismiss_clients()?;
    Ok(readings)
}

fn read_once(run: &mut Run, readers: u32, block_bytes: u64, window: u32) -> Result<Reading, Fault> {
    run.board.run.task_report.clear();
    run.have_done(PREPARE)?;
    let state: State = report(run)?;
    let area = &run.board.run;
    area.readers.store(readers, Relaxed);
    area.read_bytes.store(block_bytes, Relaxed);
    area.next_share.store(0, Relaxed);
    let before = storage::device_read_bytes();
    let slots = &shmem::clients()[..readers as usize];
    run.open_window(window);
    run.wait_for_window(window, slots, |_| ())?;
    let device = before.zip(storage::device_read_bytes());
    Ok(Reading {
        readers,
        block_bytes,
        bytes: slots.iter().map(|slot| slot.measured.load(Acquire)).sum(),
        ms: span_ns(slots) as f64 / 1e6,
        cached_bytes: state.cached_bytes,
        device_read_bytes: device.map(|(before, after)| after.saturating_sub(before)),
        ..Reading::default()
    }
    .timed())
}

fn store_all(
    run: &mut Run,
    made: &[JudgedScan],
    readings: &[Reading],
    phases: Value,
) -> Result<Outcome, Fault> {
    let run_id = run.run_id;
    run.close_checkpoints(run.observed.measure_end_ns.unwrap_or(0));
    let measured_ms = clock::ms(
        run.observed.measure_start_ns,
        run.observed.measure_end_ns.unwrap_or(0),
    );
    let leads = table::own(&run.spec).leader != Some(false);
    // On a filesystem that compresses, bytes not read from storage say nothing of the page cache.
    let knows_cache = !storage::is_compressed(&run.observed.environment);
    let scans: Vec<Row> = (1..)
        .zip(made)
        .map(|(number, made)| made.to_row(number, leads, knows_cache))
        .collect();
    let measured = Measured {
        measured_ms,
        cost: cost::of_machine(&run.samples),
        ..Measured::default()
    };
    finish::finish(run, measured, phases, || {
        store::insert_samples(run_id, &run.samples, false)?;
        store::insert_waits(run_id, &run.samples)?;
        store::insert(run_id, &scans)?;
        store::insert(run_id, readings)
    })
}
