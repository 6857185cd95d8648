//! A run of the workload `io`: fio writes the files, then runs its jobs on them, and its document becomes rows.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering::{Relaxed, Release},
};

use pgfsbench_core::{
    run::row,
    spec::{Act, Bound},
    workload::io::{
        self, Row, Total,
        document::Measured,
        job::{self, Job},
        series::{Logs, Seconds, log_files},
    },
};
use serde_json::Value;

use super::fio::{Fio, MOST_LOG};
use crate::{
    bench::{Run, epoch, finish},
    board::{Phase, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    host::fio,
    pg::{session, shmem},
    run::{
        journal::{self, Entry},
        own_directory::OwnDirectory,
    },
    store,
    watch::cost,
};

/// Figures of the jobs and their seconds.
struct Figures {
    jobs: Vec<Job>,
    measured: Vec<Measured>,
    seconds: Seconds,
}

/// From an empty journal to the result, step by step of the plan.
pub fn carry_out(run: &mut Run) -> Result<Outcome, Fault> {
    // Before anything is made.
    let program = fio::find()?;
    let jobs = io::jobs_of(&run.spec);
    let mut directory = None;
    let mut figures = None;
    while let Some(act) = run.next_step() {
        match (act, &directory, &figures) {
            (Act::MakeFile, ..) => directory = Some(make_files(run, &program, &jobs)?),
            (Act::Checkpoint, ..) => settle_storage(run)?,
            (Act::Launch, ..) => run.have_sampler()?,
            (Act::Measure, Some(directory), _) => {
                figures = Some(measure(run, &program, directory, &jobs)?);
            }
            (Act::Store, _, Some(figures)) => {
                run.enter(Phase::Collect, 0);
                let phases = run.phase_times();
                return store_all(run, figures, phases);
            }
            (other, ..) => run.carry_out_step(other)?,
        }
    }
    Err(run.stored_nothing())
}

/// Has fio write the files of all jobs, so that none of them measures that.
fn make_files(run: &mut Run, program: &Path, jobs: &[Job]) -> Result<PathBuf, Fault> {
    run.enter(Phase::Provision, 0);
    run.observed.before_provision()?;
    run.board.run.total.store(job::file_bytes(jobs), Relaxed);
    let own = OwnDirectory::new();
    let directory = own.path();
    let entry = Entry {
        directory: Some(own.clone()),
        ..Entry::on_target(session::database(), run.run_id)
    };
    journal::write(&entry)?;
    run.entry = Some(entry);
    own.make()?;
    let mut fio = Fio::start(program, &directory, &job::file_that_makes_files(jobs))?;
    run.wait_until(|run| {
        run.board.run.done.store(bytes_in(&directory), Relaxed);
        fio.has_ended()
    })?;
    fio.check()?;
    Ok(directory)
}

/// Bytes of the files in a directory. fio makes each as large as it will be, and then fills it.
fn bytes_in(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = |file: fs::DirEntry| file.metadata().map_or(0, |facts| facts.blocks() * 512);
    files.map(bytes).sum()
}

/// Nothing that was written before comes to disk during the jobs.
fn settle_storage(run: &mut Run) -> Result<(), Fault> {
    run.enter(Phase::Checkpoint, 0);
    // The worker needs some database, and there is none of the run's own.
    let extension_database = session::database();
    run.board
        .run
        .work_database
        .store(extension_database, Release);
    run.have_own_checkpoint()
}

fn measure(
    run: &mut Run,
    program: &Path,
    directory: &Path,
    jobs: &[Job],
) -> Result<Figures, Fault> {
    if jobs.iter().all(|job| job.runtime_ms.is_none()) {
        run.fit_quick_look();
    }
    let Bound::DurationMs(ms) = run.spec.bound else {
        return Err(Fault::new(
            sqlstate::INTERNAL,
            "operations of fio are not counted",
        ));
    };
    let each_ms = ms / job::count_groups(jobs).max(1);
    let text = job::job_file(jobs, each_ms, run.spec.seed);
    run.observed.surroundings.at_start();
    run.observed.measured_from = epoch();
    run.observed.measure_start_ns = clock::now_ns();
    let start_ms = (run.observed.measured_from * 1000.0) as u64;
    let mut fio = Fio::start(program, directory, &text)?;
    // The sampler takes fio for the client of the run.
    shmem::clients()[0].pid.store(fio.pid(), Release);
    run.begin_sampling(run.observed.measure_start_ns);
    run.enter(Phase::Measure, job::total_ms(jobs, each_ms).div_ceil(1000));
    run.observed.at_start()?;
    run.observed.mark_start(&mut run.checkpoints)?;
    run.watch_seconds();
    let began = clock::now_ns();
    let ended = run.wait_until(|run| {
        let seconds = clock::ms(began, clock::now_ns()) as u64 / 1000;
        run.board.run.done.store(seconds, Relaxed);
        fio.has_ended()
    });
    // This process id may soon be that of another process.
    shmem::clients()[0].pid.store(0, Release);
    ended?;
    run.observed.measure_end_ns = Some(clock::now_ns());
    run.end_window()?;
    run.dismiss_sampler()?;
    let measured = fio.measured(jobs)?;
    let text = |name: &String| -> Result<String, Fault> {
        let bytes = fio.read(name, MOST_LOG)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let seconds = Seconds::read(start_ms, || {
        log_files(jobs).map(|(job, [bandwidth, operations])| {
            Ok::<Logs, Fault>(Logs {
                job,
                bandwidth: text(&bandwidth)?,
                operations: text(&operations)?,
            })
        })
    })?;
    Ok(Figures {
        jobs: jobs.to_vec(),
        measured,
        seconds,
    })
}

fn store_all(run: &mut Run, figures: &Figures, phases: Value) -> Result<Outcome, Fault> {
    run.observed.of_syncs();
    run.close_checkpoints(run.observed.measure_end_ns.unwrap_or(0));
    let total = Total::of(&figures.measured);
    let measured_ms = clock::ms(
        run.observed.measure_start_ns,
        run.observed.measure_end_ns.unwrap_or(0),
    );
    let percentile = |share| total.latency.percentile(share).map(|ns| ns / 1e6);
    let columns = row::Measured {
        measured_ms,
        tps: total.per_second(),
        latencies: row::Latencies {
            latency_avg_ms: total.latency.mean_ns().map(|ns| ns / 1e6),
            latency_stddev_ms: total.latency.stddev_ns().map(|ns| ns / 1e6),
            latency_p50_ms: percentile(0.5),
            latency_p90_ms: percentile(0.9),
            latency_p95_ms: percentile(0.95),
            latency_p99_ms: percentile(0.99),
            latency_p999_ms: percentile(0.999).filter(|_| total.latency.count() >= 10_000),
            latency_max_ms: total.latency.max().map(|ns| ns as f64 / 1e6),
            ..row::Latencies::default()
        },
        cost: cost::of_machine(&run.samples),
        ..row::Measured::default()
    };
    run.observed.data_bytes = Some(job::file_bytes(&figures.jobs));
    let id = run.run_id;
    let (jobs, seconds) = (&figures.jobs, &figures.seconds);
    let measured = figures.measured.iter();
    let rows: Vec<Row> = measured
        .clone()
        .filter_map(|m| m.to_row(jobs, seconds))
        .collect();
    let histograms: Vec<_> = measured.filter_map(|m| m.to_histogram(jobs)).collect();
    finish::finish(run, columns, phases, || {
        store::insert_operations(id, &run.samples, |from, to| seconds.operations(from, to))?;
        store::insert(id, &rows)?;
        store::insert(id, &seconds.to_rows(jobs))?;
        store::insert(id, &histograms)
    })
}
