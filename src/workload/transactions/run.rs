//! A run of transactions: from an empty database to what its clients and the server counted in the measured window.

use std::{
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
    time::Duration,
};

use pgfsbench_core::{
    board::ClientState,
    run::{rate_search::RateSearch, row::Maintenance},
    spec::{Act, Bound, Spec},
    verification::{self, Moment},
    workload::mix::{CutOff, Mix, Results, grace_ns},
};
use serde_json::Value;

use super::{
    LOAD, MAINTAIN, Transactions, VACUUM, VERIFY,
    result::{self, OtherResults},
    search,
};
use crate::{
    bench::{QUIET_NS, Run, epoch},
    board::{AWAITS_START, Phase, STOP_ALL, outcome::Outcome},
    clock,
    errors::{Fault, read_json, sqlstate},
    pg::{points::point, segment::Segment, shmem, xact},
    store,
    workload::OwnChecks,
};

/// How long the clients may take to tell the statistics what they did in the warm-up; after that the first of them tell more.
const REPORTS_NS: u64 = QUIET_NS / 10 * 9;

/// From an empty database to the result, step by step of the plan.
pub fn carry_out(workload: &impl Transactions, run: &mut Run) -> Result<Outcome, Fault> {
    let mut balances = None;
    let mut maintenance = Vec::new();
    let mut search = RateSearch::of(&run.spec);
    let kept = workload.begin(run)?;
    let mut types = None;
    while let Some(act) = run.next_step() {
        match act {
            Act::Load => load(workload, run)?,
            Act::Vacuum => vacuum(workload, run)?,
            Act::Leave => return run.leave_loaded(),
            Act::Launch => {
                workload.before_clients(run)?;
                types = Types::of(workload, run, &kept)?;
                launch(run)?;
            }
            Act::AwaitStart => await_start(run)?,
            Act::WarmUp => warm_up(run, search.is_some())?,
            Act::Measure => measure(run, search.as_mut(), grace_ns(&run.spec))?,
            Act::Verify => balances = Some(verify(workload, run, &kept)?),
            Act::Maintain => maintenance = maintain(workload, run)?,
            Act::Store => {
                let own = workload.own_results(run, &kept);
                let other = OtherResults {
                    own: own.as_ref(),
                    balances: balances.as_ref(),
                    maintenance: &maintenance,
                    types: types.as_ref().map(|types| types.results(&run.spec)),
                };
                return store(run, other, search.as_ref());
            }
            other => run.carry_out_step(other)?,
        }
    }
    Err(run.stored_nothing())
}

/// Transaction types that are counted apart, and the segment where clients count them.
struct Types {
    mix: Mix,
    counters: Segment,
}

impl Types {
    /// The types of a workload that has several.
    fn of(
        workload: &impl Transactions,
        run: &Run,
        kept: &[Segment],
    ) -> Result<Option<Self>, Fault> {
        let Some(mut mix) = workload.mix(&run.spec, kept)? else {
            return Ok(None);
        };
        let limit_of_all = run.spec.latency_limit_ns();
        for type_ in &mut mix.types {
            type_.limit_ns = type_.limit_ns.or(limit_of_all);
        }
        let counters = Segment::of_counters(&mix.shape(run.spec.clients))?;
        let (shape, all) = counters.counters();
        for client in 0..shape.clients {
            for (type_, counters) in mix.types.iter().zip(&all.types[shape.types_of(client)]) {
                let limit_ns = type_.limit_ns.unwrap_or(0);
                counters.limit_ns.store(limit_ns, Relaxed);
            }
        }
        run.board.run.counters.store(counters.handle(), Release);
        Ok(Some(Self { mix, counters }))
    }

    /// Results from the counters of all clients.
    fn results(&self, spec: &Spec) -> Results {
        let (shape, all) = self.counters.counters();
        Results::of(&self.mix, &shape, &all, spec.workload.transaction())
    }
}

fn store(
    run: &mut Run,
    other: OtherResults,
    search: Option<&RateSearch>,
) -> Result<Outcome, Fault> {
    run.enter(Phase::Collect, 0);
    run.observed.load_ms = run.load_ms();
    let phases = run.phase_times();
    result::store(run, other, search, phases)
}

fn load(workload: &impl Transactions, run: &mut Run) -> Result<(), Fault> {
    let rows = workload.rows(&run.spec);
    run.enter(Phase::Load, rows);
    run.have_done(LOAD)?;
    match workload.loaders(&run.spec) {
        1 => {}
        loaders => {
            run.have_loaded(loaders)?;
        }
    }
    workload.after_loading(run)
}

fn vacuum(workload: &impl Transactions, run: &mut Run) -> Result<(), Fault> {
    let statements = workload.after_load(&run.spec).len() as u64;
    run.enter(Phase::Vacuum, statements);
    match workload.loaders(&run.spec) {
        1 => {}
        loaders => {
            run.board.run.next_share.store(0, Release);
            let done = run.have_loaded(loaders)?;
            if done != statements {
                let message = format!("{done} of {statements} statements after the load were run");
                return Err(Fault::new(sqlstate::INTERNAL, message));
            }
        }
    }
    run.have_done(VACUUM)?;
    let checks = workload.checks_of_load(&run.board.run.worker.report.get())?;
    if checks.is_empty() {
        return Ok(());
    }
    xact::transaction(|| store::insert_checks(run.run_id, Moment::Load, &checks))?;
    verification::refusal(&checks).map_or(Ok(()), |refusal| Err(refusal.into()))
}

fn launch(run: &mut Run) -> Result<(), Fault> {
    run.have_sampler()?;
    run.have_clients()?;
    let work_database = run.entry.as_ref().map(|entry| entry.work_database_oid);
    run.observed.before_clients(&run.spec, work_database)?;
    run.fit_quick_look();
    Ok(())
}

/// Waits for the moment at which the runs of all servers of a target begin. The clients are ready.
fn await_start(run: &mut Run) -> Result<(), Fault> {
    run.board.run.start_ns.store(AWAITS_START, Release);
    shmem::announce();
    run.wait_until(|run| match run.board.run.start_ns.load(Acquire) {
        AWAITS_START => Ok(false),
        start_ns => {
            run.alarm_ns = start_ns;
            Ok(clock::now_ns() >= start_ns)
        }
    })
}

/// Says when the window begins and ends, after the warm-up; of a search, its first cycle.
fn set_window(run: &mut Run, is_search: bool) {
    let area = &run.board.run;
    let warmup_ns = run.spec.warmup_ms * 1_000_000;
    let start = clock::now_ns() + warmup_ns;
    let end = match run.spec.bound {
        Bound::DurationMs(ms) => start + ms * 1_000_000,
        Bound::Transactions(_) => u64::MAX,
    };
    area.measure_start_ns.store(start, Relaxed);
    area.end_ns.store(end, Relaxed);
    run.observed.measured_from = epoch() + Duration::from_nanos(warmup_ns).as_secs_f64();
    run.observed.measure_start_ns = start;
    // The end of a search is not known beforehand.
    run.observed.measure_end_ns = Some(end).filter(|&end| end != u64::MAX && !is_search);
    run.alarm_ns = start;
}

/// Lets the clients begin.
fn let_go(run: &mut Run) {
    run.begin_sampling(run.observed.measure_start_ns);
    run.board.run.go.store(1, Release);
    run.processes.wake();
}

fn warm_up(run: &mut Run, is_search: bool) -> Result<(), Fault> {
    let work_database = run.board.run.work_database.load(Acquire);
    run.statements.begin(work_database)?;
    set_window(run, is_search);
    run.enter(Phase::Warmup, run.spec.warmup_ms);
    let_go(run);
    let start = run.observed.measure_start_ns;
    run.wait_until(|run| {
        Ok(run.processes.clients_are(ClientState::Done)? || clock::now_ns() >= start)
    })
}

fn measure(
    run: &mut Run,
    search: Option<&mut RateSearch>,
    grace_ns: Option<u64>,
) -> Result<(), Fault> {
    let area = &run.board.run;
    let work_database = area.work_database.load(Acquire);
    let is_warm = run.spec.warmup_ms > 0;
    if !is_warm {
        run.observed.surroundings.at_start();
        run.observed.at_start()?;
        run.begin_statistics()?;
        run.observed.mark_start(&mut run.checkpoints)?;
        set_window(run, search.is_some());
        let_go(run);
    }
    let (start, end) = (run.observed.measure_start_ns, area.end_ns.load(Acquire));
    let total = match run.spec.bound {
        _ if search.is_some() => RateSearch::most_cycles(),
        Bound::DurationMs(ms) => ms,
        Bound::Transactions(n) => n * u64::from(run.spec.clients),
    };
    run.enter(Phase::Measure, total);
    if is_warm {
        run.observed.mark_start(&mut run.checkpoints)?;
        run.statements.begin_again(work_database)?;
        run.observed.at_start()?;
        wait_for_reports(run, start)?;
        run.statistics.begin(work_database)?;
        if run.processes.may_have_reported_again() {
            run.statistics.begin_late();
        }
        // It looks at all processes, and nothing is to be late for it.
        run.observed.surroundings.at_start();
    }
    run.alarm_ns = run.observed.measure_end_ns.unwrap_or(0);
    run.watch_seconds();
    point!("coordinator in the window");
    match search {
        Some(search) => search::carry_out(run, search, start, end, grace_ns)?,
        None => wait_for_clients(run, CutOff::new(end, grace_ns))?,
    }
    run.end_window()?;
    area.stop.store(STOP_ALL, Release);
    run.processes.wake();
    point!("coordinator after the window");
    run.wait_for_sampler()?;
    run.observed.surroundings.after_clients();
    area.stop.store(0, Release);
    match run.spec.options.crash {
        // Verification would end them, and comes after the crash.
        true => run.end_statistics(),
        false => Ok(()),
    }
}

/// Waits for the end of all clients. Statements that go on for too long are cut off.
fn wait_for_clients(run: &mut Run, mut cut_off: CutOff) -> Result<(), Fault> {
    run.wait_until(|run| {
        let now = clock::now_ns();
        if let Some(order) = cut_off.order(now) {
            run.processes.cut_off(order, |_| true);
        }
        // Under a low rate the clients know before the end that nothing more is due.
        let over = now >= run.observed.measure_end_ns.unwrap_or(0);
        Ok(run.processes.clients_are(ClientState::Done)? && over)
    })
}

/// Waits until the clients have sent the statistics what they did in the warm-up. They do so before their first measured
/// transaction, and not again for a second ([`QUIET_NS`]), so that what is read meanwhile is the start of the window.
fn wait_for_reports(run: &mut Run, start_ns: u64) -> Result<(), Fault> {
    let deadline = start_ns + REPORTS_NS;
    run.wait_until(|run| {
        run.alarm_ns = clock::now_ns() + 5_000_000;
        run.processes.clients_are(ClientState::Running)?;
        Ok(run.processes.have_reported() || clock::now_ns() >= deadline)
    })
}

fn verify(workload: &impl Transactions, run: &mut Run, kept: &[Segment]) -> Result<Value, Fault> {
    run.enter(Phase::Verify, 0);
    // Before anybody works in the database again; the window is over, and is not prolonged by it.
    run.end_statistics()?;
    run.have_done(VERIFY)?;
    let mut found: Value = read_json("balances", &run.board.run.worker.report.get())?;
    if let Some(tables) = found
        .as_object_mut()
        .and_then(|found| found.remove("tables"))
    {
        run.observed.surroundings.of_tables_at_end(&tables);
    }
    let slots = run.client_slots().iter();
    let committed: Vec<u64> = slots.map(|slot| slot.committed.load(Acquire)).collect();
    let mut checks = workload.checks(&run.spec, &found, &committed)?;
    let refusal = verification::refusal(&checks);
    let own = match refusal {
        None => workload.own_checks(run, kept, &found)?,
        Some(_) => OwnChecks::default(),
    };
    checks.extend(own.checks);
    // Before a failed check ends the run: the others tell what is right.
    xact::transaction(|| store::insert_checks(run.run_id, Moment::Window, &checks))?;
    match refusal.map(Fault::from).or(own.fault) {
        None => Ok(found),
        Some(fault) => Err(fault),
    }
}

/// After the tables were verified: the bulk load is not to be among the reasons why they could differ.
fn maintain(workload: &impl Transactions, run: &mut Run) -> Result<Vec<Maintenance>, Fault> {
    run.observed.before_maintenance();
    run.enter(Phase::Maintenance, workload.maintenance().len() as u64);
    run.have_done(MAINTAIN)?;
    read_json("steps", &run.board.run.worker.report.get())
}
