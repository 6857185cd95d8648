//! A run of the workload `fsync`: a file next to the WAL, and one test after the other on it.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use pgfsbench_core::{
    board::{ClientSlot, ClientState},
    hist::{Histogram, Measure},
    run::row,
    spec::{Act, Bound},
    workload::fsync::{Measured, Method, Row, Test, tests_of},
};
use serde_json::Value;

use super::KIND;
use crate::{
    bench::{Run, epoch, finish, windows::span_ns},
    board::{Phase, outcome::Outcome},
    clock,
    errors::{Fault, sqlstate},
    pg::{config, session, shmem, xact},
    run::{
        journal::{self, Entry},
        wal_file::WalFile,
    },
    store,
    watch::cost,
};

/// From the order to the start of a test, when all writers have the file open: they wake meanwhile.
const LEAD_NS: u64 = 5_000_000;
/// From an empty journal to the result of a workload that writes and syncs a file, step by step of the plan.
pub fn carry_out(run: &mut Run) -> Result<Outcome, Fault> {
    let mut file = None;
    let mut measured = Vec::new();
    while let Some(act) = run.next_step() {
        match (act, &file) {
            (Act::MakeFile, _) => file = Some(make_wal_file(run)?),
            (Act::Checkpoint, _) => settle_storage(run)?,
            (Act::Launch, _) => {
                run.have_sampler()?;
                run.have_clients()?;
            }
            (Act::Measure, Some(file)) => measured = measure(run, file)?,
            (Act::Store, _) => {
                run.enter(Phase::Collect, 0);
                let phases = run.phase_times();
                return store_all(run, &measured, phases);
            }
            (other, _) => run.carry_out_step(other)?,
        }
    }
    Err(run.stored_nothing())
}

fn make_wal_file(run: &mut Run) -> Result<WalFile, Fault> {
    run.enter(Phase::Provision, 0);
    run.observed.before_provision()?;
    let bytes = xact::transaction(|| config::bytes("wal_segment_size"))?.unwrap_or(16 << 20);
    run.board.run.total.store(bytes, Relaxed);
    let file = WalFile::new(KIND);
    let entry = Entry {
        wal_file: Some(file.clone()),
        ..Entry::on_target(session::database(), run.run_id)
    };
    journal::write(&entry)?;
    run.entry = Some(entry);
    file.make(bytes, |done| {
        run.board.run.done.store(done, Relaxed);
        run.check_interrupts()
    })?;
    run.board.run.wal_file.set(file.mark());
    Ok(file)
}

/// Nothing that others have written is to come to disk during the tests.
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

fn measure(run: &mut Run, file: &WalFile) -> Result<Vec<Measured>, Fault> {
    run.fit_quick_look();
    let tests = tests_of(&run.spec);
    let Bound::DurationMs(ms) = run.spec.bound else {
        return Err(Fault::new(sqlstate::INTERNAL, "syncs are not counted"));
    };
    let each_ns = ms * 1_000_000 / tests.len().max(1) as u64;
    run.observed.surroundings.at_start();
    run.observed.measured_from = epoch();
    run.observed.measure_start_ns = clock::now_ns();
    run.begin_sampling(run.observed.measure_start_ns);
    run.enter(Phase::Measure, tests.len() as u64);
    run.observed.at_start()?;
    run.observed.mark_start(&mut run.checkpoints)?;
    run.watch_seconds();
    let mut measured = Vec::with_capacity(tests.len());
    for (index, test) in tests.iter().enumerate() {
        let direct = test.method.syncs_each_write() && file.open(test.method)?.direct;
        measured.push(measure_test(run, index, *test, direct, each_ns)?);
        run.board.run.done.store(index as u64 + 1, Relaxed);
    }
    run.observed.measure_end_ns = Some(clock::now_ns());
    run.end_window()?;
    run.dismiss_all()?;
    Ok(measured)
}

fn measure_test(
    run: &mut Run,
    index: usize,
    test: Test,
    direct: bool,
    each_ns: u64,
) -> Result<Measured, Fault> {
    let window = index as u32 + 1;
    run.board.run.measure_start_ns.store(0, Relaxed);
    run.open_window(window);
    let slots = &shmem::clients()[..test.writers as usize];
    run.wait_until(|run| {
        let ready = |slot: &ClientSlot| slot.ready_for.load(Acquire) == u64::from(window);
        Ok(run.processes.clients_are(ClientState::Ready)? && slots.iter().all(ready))
    })?;
    let start = clock::now_ns() + LEAD_NS;
    let area = &run.board.run;
    area.end_ns.store(start + each_ns, Relaxed);
    area.measure_start_ns.store(start, Release);
    run.processes.wake();
    run.wait_for_window(window, slots, |_| ())?;
    let mut syncs = Histogram::new();
    slots
        .iter()
        .for_each(|slot| slot.latency.read_into(&mut syncs));
    Ok(Measured {
        test,
        direct,
        syncs,
        ns: span_ns(slots),
    })
}

fn store_all(run: &mut Run, measured: &[Measured], phases: Value) -> Result<Outcome, Fault> {
    run.observed.of_syncs();
    run.close_checkpoints(run.observed.measure_end_ns.unwrap_or(0));
    let server_uses = xact::transaction(|| config::shown("wal_sync_method"))?;
    let server_uses = server_uses.and_then(|name| Method::parse(&name));
    let main = Measured::main(measured, server_uses);
    let measured_ms = clock::ms(
        run.observed.measure_start_ns,
        run.observed.measure_end_ns.unwrap_or(0),
    );
    let of_main = |f: fn(&Measured) -> Option<f64>| main.and_then(f);
    let columns = row::Measured {
        measured_ms,
        tps: of_main(Measured::per_second),
        latencies: row::Latencies {
            latency_avg_ms: of_main(|m| m.syncs.mean_ns().map(|ns| ns / 1e6)),
            latency_stddev_ms: of_main(|m| m.syncs.stddev_ns().map(|ns| ns / 1e6)),
            latency_p50_ms: of_main(|m| m.percentile_ms(0.5)),
            latency_p90_ms: of_main(|m| m.percentile_ms(0.9)),
            latency_p95_ms: of_main(|m| m.percentile_ms(0.95)),
            latency_p99_ms: of_main(|m| m.percentile_ms(0.99)),
            latency_p999_ms: of_main(Measured::p999_ms),
            latency_max_ms: of_main(|m| m.syncs.max().map(|ns| ns as f64 / 1e6)),
            ..row::Latencies::default()
        },
        cost: cost::of_machine(&run.samples),
        ..row::Measured::default()
    };
    let id = run.run_id;
    let rows: Vec<Row> = (0..)
        .zip(measured)
        .map(|(position, m)| m.to_row(position))
        .collect();
    finish::finish(run, columns, phases, || {
        store::insert_samples(id, &run.samples, false)?;
        store::insert_waits(id, &run.samples)?;
        store::insert(id, &rows)?;
        main.map_or(Ok(()), |m| {
            store::insert_histogram(
                id,
                run.spec.workload.transaction(),
                Measure::Latency,
                &m.syncs,
            )
        })
    })
}
