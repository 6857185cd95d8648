//! What a run comes to: facts gathered along the way, and the rows that are stored at its end.

use std::sync::atomic::Ordering::Acquire;

use pgfsbench_core::{
    balance::Balances,
    board::ClientSlot,
    finding::{self, Finding, XminHolder, XminHolderKind},
    hist::Histogram,
    spec::Spec,
    statistics::Timing,
    stats,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    checkpoints::{self, Position},
    clock,
    coordinator::Run,
    cost::{self, BlocksWritten},
    durability,
    environment::{self, Environment},
    errors::{Fault, sqlstate},
    journal::Entry,
    judgement,
    outcome::Row,
    pg::{sql, xact},
    statistics, store,
    surroundings::{self, Surroundings},
    workload::maintenance::Step,
};

/// Under this many transactions there is no 99.9th percentile.
const P999_TRANSACTIONS: u64 = 10_000;
/// Transactions that hold the xmin back at least this many ids are old.
const OLD_XMIN_AGE: i64 = 10_000;

/// 128 random bits in hexadecimal: the mark of a work database.
pub fn random_mark() -> String {
    let mut bits = [0; 16];
    // Linux gives 16 bytes at once, never fewer.
    let _ = rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty());
    bits.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A random seed that is not negative, for runs that were given none.
pub fn random_seed() -> i64 {
    let mut bits = [0; 4];
    let _ = rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty());
    i64::from(u32::from_le_bytes(bits))
}

/// Facts that can only be seen while the run is on.
#[derive(Default)]
pub struct Seen {
    /// Where the run happens, as it was before anything was made.
    pub environment: Environment,
    xid_at_start: u64,
    xid_at_end: Option<u64>,
    data_bytes: Option<u64>,
    work_database: u32,
    start_lsn: u64,
    end_lsn: u64,
    blocks_at_start: Option<BlocksWritten>,
    blocks_at_end: Option<BlocksWritten>,
    xmin_holders: Vec<XminHolder>,
    /// Start of the window, seconds since 1970.
    pub measured_from: f64,
    /// Start of the window, monotonic clock.
    pub measure_start_ns: u64,
    /// End of the window, monotonic clock; None when the number of transactions ends it.
    pub measure_end_ns: Option<u64>,
    /// What a reading of the clock costs.
    clock_read_ns: Option<f64>,
    /// Loading, vacuuming and keys.
    pub load_ms: Option<f64>,
    /// What was timed after the window.
    pub maintenance: Vec<Step>,
    /// The settings that decide about durability, as the clients have them before the run's own.
    durability: Option<Durability>,
    /// What else was going on.
    pub surroundings: Surroundings,
}

#[derive(Clone, Debug, Deserialize)]
struct Durability {
    fsync: bool,
    full_page_writes: bool,
    synchronous_commit: String,
    timing: Timing,
}

/// The settings that decide about durability, JSON. In the work database, where the clients work: settings of the home
/// database do not hold there.
fn durability() -> Result<String, Fault> {
    let text = sql::read(
        &format!(
            "SELECT jsonb_build_object('fsync', current_setting('fsync')::bool, \
               'full_page_writes', current_setting('full_page_writes')::bool, \
               'synchronous_commit', current_setting('synchronous_commit'), 'timing', {})",
            statistics::TIMING
        ),
        &[],
    )?;
    Ok(text.unwrap_or_default())
}

/// What the worker reports before the clients, JSON: [`durability`], and the tables of the run.
pub fn report_before_clients() -> Result<String, Fault> {
    let durability: Value = serde_json::from_str(&durability()?).map_err(unreadable)?;
    let tables: Value = serde_json::from_str(&surroundings::tables()?).map_err(unreadable)?;
    Ok(json!({"durability": durability, "tables": tables}).to_string())
}

/// An answer of this server that is not what was asked for.
pub fn unreadable(e: serde_json::Error) -> Fault {
    Fault::new(sqlstate::INTERNAL, format!("unreadable answer: {e}"))
}

fn position() -> Result<Position, Fault> {
    let text = xact::transaction(|| {
        sql::read(
            "SELECT jsonb_build_object('lsn', pg_current_wal_insert_lsn() - '0/0'::pg_lsn, \
               'redo', redo_lsn - '0/0'::pg_lsn, 'checkpoint', checkpoint_lsn - '0/0'::pg_lsn, \
               'log_checkpoints', current_setting('log_checkpoints')::bool) FROM pg_control_checkpoint()",
            &[],
        )
    })?;
    serde_json::from_str(&text.unwrap_or_default()).map_err(unreadable)
}

/// Checkpointer, walwriter and background writer, 0 where there is none.
pub fn server_pids() -> Result<[i32; 3], Fault> {
    let text = xact::transaction(|| {
        sql::read(
            "SELECT jsonb_agg(coalesce(pid, 0) ORDER BY n) \
             FROM unnest(ARRAY['checkpointer', 'walwriter', 'background writer']) WITH ORDINALITY AS t (type, n) \
               LEFT JOIN pg_stat_activity ON backend_type = type",
            &[],
        )
    })?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

impl Seen {
    /// Before anything is made: environment and transaction ids.
    pub fn before_provision(&mut self) -> Result<(), Fault> {
        self.xid_at_start = xact::next_xid();
        self.environment = xact::transaction(environment::collect)?;
        self.clock_read_ns = Some(clock::read_cost_ns());
        Ok(())
    }

    /// What follows is no part of the workload.
    pub fn before_maintenance(&mut self) {
        self.xid_at_end = Some(xact::next_xid());
    }

    /// What the worker has reported; see [`report_before_clients`].
    pub fn of_work_database(&mut self, report: &str) {
        let report: Value = serde_json::from_str(report).unwrap_or_default();
        self.durability = Durability::deserialize(&report["durability"]).ok();
        self.surroundings.of_tables(&report["tables"]);
    }

    /// Syncs that are measured by themselves are real, whatever the server's settings say.
    pub fn of_syncs(&mut self) {
        self.durability = Some(Durability {
            fsync: true,
            full_page_writes: true,
            synchronous_commit: "on".into(),
            timing: Timing::default(),
        });
    }

    /// Whether the clients' settings have times taken.
    pub fn timing(&self, spec: &Spec) -> Option<Timing> {
        let is_on = |name: &str, otherwise: bool| match spec.settings.get(name) {
            None => otherwise,
            Some(value) => is_true(value),
        };
        self.durability.as_ref().map(|of_database| Timing {
            io: is_on("track_io_timing", of_database.timing.io),
            wal: is_on("track_wal_io_timing", of_database.timing.wal),
        })
    }

    /// When everything is loaded: its size.
    pub fn before_clients(&mut self, entry: Option<&Entry>) -> Result<(), Fault> {
        self.surroundings.before_clients();
        let Some(entry) = entry else { return Ok(()) };
        self.work_database = entry.work_database_oid;
        let size = xact::transaction(|| {
            sql::read(
                "SELECT pg_database_size($1::oid)",
                &[Some(&entry.work_database_oid.to_string())],
            )
        })?;
        self.data_bytes = size.and_then(|size| size.parse().ok());
        Ok(())
    }

    /// At the start of the window.
    pub fn at_start(&mut self, checkpoints: &mut checkpoints::Watch) -> Result<(), Fault> {
        let position = position()?;
        self.start_lsn = position.lsn;
        checkpoints.at_start(position);
        self.blocks_at_start = BlocksWritten::now()?;
        self.surroundings.at_start();
        self.look_for_old_xmin()
    }

    /// In each second of the window.
    pub fn each_second(&mut self, checkpoints: &mut checkpoints::Watch) -> Result<(), Fault> {
        let position = position()?;
        checkpoints.see(position);
        let work_database = self.work_database.to_string();
        let vacuums = xact::transaction(|| {
            sql::read(
                "SELECT count(*) FROM pg_stat_progress_vacuum WHERE datid = $1::oid",
                &[Some(&work_database)],
            )
        })?;
        self.surroundings
            .each_second(vacuums.and_then(|n| n.parse().ok()).unwrap_or(0));
        self.look_for_old_xmin()
    }

    /// At the end of the window.
    pub fn at_end(&mut self, checkpoints: &mut checkpoints::Watch) -> Result<(), Fault> {
        let position = position()?;
        self.end_lsn = position.lsn;
        checkpoints.see(position);
        self.blocks_at_end = BlocksWritten::now()?;
        self.surroundings.at_end();
        self.look_for_old_xmin()
    }

    /// Who keeps dead rows of the work database from being pruned: a transaction id in whatever database, a slot, a
    /// prepared transaction, a standby. A snapshot without a transaction id in another database does not.
    fn look_for_old_xmin(&mut self) -> Result<(), Fault> {
        let work_database = self.work_database;
        #[derive(Deserialize)]
        struct Holder {
            kind: XminHolderKind,
            name: String,
            age: u64,
        }
        let text = xact::transaction(|| {
            sql::read(
                "SELECT jsonb_agg(h) FROM ( \
                   SELECT 'session' AS kind, 'process ' || pid || coalesce(' in database ' || datname, '') AS name, \
                          age(backend_xid) AS age \
                   FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND backend_type NOT LIKE 'fsbench%' \
                     AND datid IS DISTINCT FROM $2::oid \
                 UNION ALL SELECT 'walsender', coalesce(application_name, '') || ' process ' || pid, age(backend_xmin) \
                   FROM pg_stat_replication WHERE backend_xmin IS NOT NULL \
                 UNION ALL SELECT 'slot', slot_name, age(xmin) FROM pg_replication_slots WHERE xmin IS NOT NULL \
                 UNION ALL SELECT 'prepared_transaction', gid, age(transaction) FROM pg_prepared_xacts) h \
                 WHERE age > $1::bigint",
                &[
                    Some(&OLD_XMIN_AGE.to_string()),
                    Some(&work_database.to_string()),
                ],
            )
        })?;
        let Some(text) = text else { return Ok(()) };
        let holders: Vec<Holder> = serde_json::from_str(&text).map_err(unreadable)?;
        for holder in holders {
            let known = self
                .xmin_holders
                .iter_mut()
                .find(|known| known.kind == holder.kind && known.name == holder.name);
            match known {
                Some(known) => known.age = known.age.max(Some(holder.age)),
                None => self.xmin_holders.push(XminHolder {
                    kind: holder.kind,
                    name: holder.name,
                    age: Some(holder.age),
                }),
            }
        }
        Ok(())
    }
}

/// The clients' slots, added up.
struct Totals {
    measured: u64,
    outside: u64,
    skipped: u64,
    late: u64,
    failed: u64,
    finished_ns: u64,
    latency: Histogram,
    service: Histogram,
    commit: Histogram,
}

impl Totals {
    fn of(slots: &[ClientSlot]) -> Self {
        let sum = |field: fn(&ClientSlot) -> u64| slots.iter().map(field).sum::<u64>();
        let measured = sum(|slot| slot.measured.load(Acquire));
        let mut totals = Self {
            measured,
            outside: sum(|slot| slot.committed.load(Acquire)) - measured,
            skipped: sum(|slot| slot.skipped.load(Acquire)),
            late: sum(|slot| slot.late.load(Acquire)),
            failed: sum(|slot| slot.failed.load(Acquire)),
            finished_ns: slots
                .iter()
                .map(|slot| slot.finished_ns.load(Acquire))
                .max()
                .unwrap_or(0),
            latency: Histogram::new(),
            service: Histogram::new(),
            commit: Histogram::new(),
        };
        for slot in slots {
            slot.latency.read_into(&mut totals.latency);
            slot.service.read_into(&mut totals.service);
            slot.commit.read_into(&mut totals.commit);
        }
        totals
    }
}

/// Stores everything in one transaction, the row as `done`, and gives the narrow row.
pub fn store(
    run: &mut Run,
    slots: &[ClientSlot],
    balances: Option<&Balances>,
    phases: Value,
) -> Result<Row, Fault> {
    let totals = Totals::of(slots);
    // The window goes on until its last transaction has ended, and is over when it is over, even if nothing was due.
    let end_ns = totals.finished_ns.max(run.seen.measure_end_ns.unwrap_or(0));
    let measured_ms = clock::ms(run.seen.measure_start_ns, end_ns);
    run.close_checkpoints(end_ns);
    let tps = (measured_ms > 0.0).then(|| totals.measured as f64 * 1000.0 / measured_ms);
    let seconds: Vec<f64> = full_seconds(run);
    let stalls = (!seconds.is_empty()).then(|| stats::stalls(&seconds));
    let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
    let latency = |p| ms(totals.latency.percentile(p));
    let commit = |p| ms(totals.commit.percentile(p));
    let max = |h: &Histogram| ms(h.max().map(|ns| ns as f64));
    let row = Row {
        run_id: run.run_id,
        target: run.spec.target.clone(),
        filesystem: run.seen.environment.filesystem.clone(),
        workload: run.spec.workload.as_str().into(),
        tps,
        latency_p99_ms: latency(0.99),
        latency_max_ms: max(&totals.latency),
        commit_p99_ms: commit(0.99),
        stall_seconds: stalls.as_ref().map(|stalls| stalls.stall_seconds as i32),
        findings: String::new(),
    };
    let mut columns = json!({
        "measured_ms": measured_ms,
        "transactions_total": totals.measured, "transactions_outside": totals.outside, "skipped": totals.skipped,
        "late": totals.late, "failed": totals.failed, "tps": tps,
        "latency_avg_ms": ms(totals.latency.mean_ns()), "latency_stddev_ms": ms(totals.latency.stddev_ns()),
        "latency_p50_ms": latency(0.5), "latency_p90_ms": latency(0.9), "latency_p95_ms": latency(0.95),
        "latency_p99_ms": row.latency_p99_ms,
        "latency_p999_ms": latency(0.999).filter(|_| totals.measured >= P999_TRANSACTIONS),
        "latency_max_ms": row.latency_max_ms,
        "commit_avg_ms": ms(totals.commit.mean_ns()), "commit_p50_ms": commit(0.5), "commit_p99_ms": row.commit_p99_ms,
        "commit_max_ms": max(&totals.commit),
        "stall_seconds": row.stall_seconds, "zero_seconds": stalls.map(|stalls| stalls.zero_seconds),
        "balances": balances,
    });
    let window = cost::Window {
        transactions: totals.measured,
        wal_bytes: run.seen.end_lsn - run.seen.start_lsn,
        blocks: (
            run.seen.blocks_at_start.as_ref(),
            run.seen.blocks_at_end.as_ref(),
        ),
        block_bytes: u64::from(pgrx::pg_sys::BLCKSZ),
    };
    let cost = cost::columns(&run.spec, slots, &run.samples, &window);
    if let (Value::Object(columns), Value::Object(cost)) = (&mut columns, cost) {
        columns.extend(cost);
    }
    finish(run, row, columns, phases, || {
        let id = run.run_id;
        store::insert_samples(id, &run.samples)?;
        store::insert_waits(id, &run.samples)?;
        store::insert_histogram(id, run.spec.workload.as_str(), &totals.latency)?;
        store::insert_histogram(id, "commit", &totals.commit)?;
        let steps = run.seen.maintenance.iter().map(|step| step.to_row(id));
        store::insert_rows("maintenance", &steps.collect::<Vec<_>>())?;
        if run.spec.rate.is_some() {
            store::insert_histogram(id, "service", &totals.service)?;
        }
        Ok(())
    })
}

/// Stores the result of a run of whatever workload, as `done`, in one transaction: the columns that its workload has
/// found (an object), those that every run has, the rows of `measured`, the environment and the findings. Gives the narrow
/// row, with the findings in words.
pub fn finish(
    run: &Run,
    row: Row,
    columns: Value,
    phases: Value,
    measured: impl FnOnce() -> Result<(), Fault>,
) -> Result<Row, Fault> {
    let mut columns = columns;
    columns["status"] = json!("done");
    columns["used"] = json!(run.spec);
    columns["phases"] = phases;
    columns["kept"] = json!(run.spec.keep);
    columns["load_ms"] = json!(run.seen.load_ms);
    columns["data_bytes"] = json!(run.seen.data_bytes);
    columns["xids_used"] =
        json!(run.seen.xid_at_end.unwrap_or_else(xact::next_xid) - run.seen.xid_at_start);
    columns["wal_bytes"] = json!(run.seen.end_lsn - run.seen.start_lsn);
    columns["wal_start_lsn"] = json!(lsn(run.seen.start_lsn));
    columns["wal_end_lsn"] = json!(lsn(run.seen.end_lsn));
    let checkpoints = run.checkpoints.outcome.as_ref();
    if let Some(outcome) = checkpoints {
        let (timed, requested) = outcome.timed_and_requested().unzip();
        columns["complete_checkpoints"] = json!(outcome.complete);
        columns["checkpoints_timed"] = json!(timed);
        columns["checkpoints_requested"] = json!(requested);
        columns["checkpoints_logged"] = json!(outcome.logged);
    }
    let difference = run.statistics.difference.as_ref();
    let counted =
        difference.and_then(|difference| pgfsbench_core::statistics::checkpoints(&difference.rows));
    if let Some((timed, requested)) = counted
        && columns["checkpoints_timed"].is_null()
    {
        columns["checkpoints_timed"] = json!(timed);
        columns["checkpoints_requested"] = json!(requested);
    }
    let timing = run.statistics.clients();
    columns["track_io_timing"] = json!(timing.map(|timing| timing.io));
    columns["track_wal_io_timing"] = json!(timing.map(|timing| timing.wal));
    columns["clock_read_ns"] = json!(run.seen.clock_read_ns);
    columns["facts"] = facts(run);
    let environment = finished_environment(run);
    let findings = xact::transaction(|| {
        let id = run.run_id;
        store::update_run(id, &columns)?;
        store::set_times(id, run.seen.measured_from)?;
        store::insert_environment(id, &environment)?;
        if let Some(outcome) = checkpoints {
            store::insert_checkpoints(id, &outcome.of_window.rows)?;
        }
        if let Some(difference) = difference {
            store::insert_rows_of(id, "statistic", &difference.rows)?;
        }
        store::insert_rows_of(id, "statement", &run.statements.rows)?;
        measured()?;
        judgement::store(id)
    })?;
    Ok(Row {
        findings: findings_text(&findings),
        ..row
    })
}

/// As PostgreSQL writes it.
fn lsn(position: u64) -> String {
    format!("{:X}/{:X}", position >> 32, position as u32)
}

/// Number of findings and the worst, in words, as `store::outcome_of` has it.
fn findings_text(findings: &[Finding]) -> String {
    match finding::worst(findings) {
        None => "none".into(),
        Some(worst) => format!(
            "{} ({}: {})",
            findings.len(),
            worst.severity.as_str(),
            worst.code
        ),
    }
}

/// Transactions per second of each second, without a last one that is shorter than half a second.
fn full_seconds(run: &Run) -> Vec<f64> {
    run.samples
        .iter()
        .filter(|sample| sample.interval_ns >= 500_000_000)
        .map(|sample| sample.tps())
        .collect()
}

/// A setting that is on or off, as the server reads it.
fn is_true(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let is_start_of = |word: &str| !value.is_empty() && word.starts_with(&value);
    value == "on" || value == "1" || is_start_of("true") || is_start_of("yes")
}

/// As SHOW would show it in the clients.
fn synchronous_commit(run: &Run, durability: &Durability) -> String {
    let setting = run.spec.settings.get("synchronous_commit");
    let value = setting.unwrap_or(&durability.synchronous_commit);
    match value.to_ascii_lowercase().as_str() {
        "off" | "false" | "no" | "0" => "off".into(),
        "on" | "true" | "yes" | "1" => "on".into(),
        other => other.into(),
    }
}

/// The environment, with what is known of it at the end.
pub fn finished_environment(run: &Run) -> Environment {
    let durability = run.seen.durability.as_ref().map(|durability| {
        let commit = synchronous_commit(run, durability);
        let mut off = Vec::new();
        if !durability.fsync {
            off.push("fsync off");
        }
        if commit == "off" {
            off.push("synchronous_commit off");
        }
        if !durability.full_page_writes {
            off.push("full_page_writes off");
        }
        if run.spec.options.unlogged {
            off.push("unlogged tables");
        }
        let mut below: Vec<String> = [environment::data_location(), environment::wal_location()]
            .iter()
            .flatten()
            .flat_map(durability::reasons)
            .collect();
        below.sort();
        below.dedup();
        off.extend(below.iter().map(String::as_str));
        if off.is_empty() {
            "durable by the server's settings".into()
        } else {
            format!("not durable: {}", off.join(", "))
        }
    });
    Environment {
        durability,
        ..run.seen.environment.clone()
    }
}

/// What is seen of a run and has no column of its own; by the names of the facts that the findings are judged by.
fn facts(run: &Run) -> Value {
    let durability = run.seen.durability.as_ref();
    let place = |location: Option<environment::Location>| location.and_then(|l| l.place());
    let mut facts = json!({
        "reset_views": run.statistics.difference.as_ref().map(|difference| &difference.reset),
        "statements": run.statements.recorded,
        "log_checkpoints": run.checkpoints.outcome.as_ref().map(|outcome| outcome.log_checkpoints),
        "fsync": durability.map(|d| d.fsync),
        "full_page_writes": durability.map(|d| d.full_page_writes),
        "synchronous_commit": durability.map(|d| synchronous_commit(run, d)),
        "xmin_holders": run.seen.xmin_holders,
        "data_place": place(environment::data_location()),
        "wal_place": place(environment::wal_location()),
    });
    if let (Value::Object(facts), Value::Object(around)) =
        (&mut facts, run.seen.surroundings.facts())
    {
        facts.extend(around);
    }
    facts
}
