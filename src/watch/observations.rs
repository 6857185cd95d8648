//! Facts that are only known while a run is on: observed before, at the start of, during and at the end of its window.

use pgfsbench_core::{
    environment::{self, Environment},
    finding::WalFacts,
    run::{
        checkpoint_watch::{self, Position},
        cost::BlocksWritten,
        promises::{DurabilitySettings, Promises},
    },
    spec::{Spec, Stage},
    statistics::Timing,
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    clock,
    errors::{Fault, read_json},
    host::{environment as of_host, files},
    pg::{session, sql, xact},
    watch::{
        cost, promises,
        surroundings::{OldXmin, Surroundings},
        wal_segments,
    },
};

/// Facts that are only known while the run is on.
#[derive(Default)]
pub struct Observations {
    /// The environment of the run, before anything was made.
    pub environment: Environment,
    pub xid_at_start: u64,
    pub xid_at_end: Option<u64>,
    pub data_bytes: Option<u64>,
    work_database: u32,
    pub start_lsn: u64,
    pub end_lsn: u64,
    wal_at_start: Option<wal_segments::Snapshot>,
    wal_at_end: Option<wal_segments::Snapshot>,
    blocks_at_start: Option<BlocksWritten>,
    blocks_at_end: Option<BlocksWritten>,
    pub old_xmin: OldXmin,
    /// Start of the window, seconds since 1970.
    pub measured_from: f64,
    /// Start of the window, monotonic clock.
    pub measure_start_ns: u64,
    /// End of the window, monotonic clock; None when the number of transactions ends it.
    pub measure_end_ns: Option<u64>,
    /// Duration of a reading of the clock.
    pub clock_read_ns: Option<f64>,
    /// Loading, vacuuming and keys.
    pub load_ms: Option<f64>,
    /// Durability that a COMMIT of the clients promises.
    pub promises: Option<Promises>,
    /// The settings that decide about durability, as this process had them before the clients.
    in_force_before: Option<DurabilitySettings>,
    /// Other activity during the run.
    pub surroundings: Surroundings,
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
    read_json("answer", &text.unwrap_or_default())
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

impl Observations {
    /// Before anything is made: environment and transaction ids.
    pub fn before_provision(&mut self) -> Result<(), Fault> {
        self.xid_at_start = xact::next_xid();
        self.environment = xact::transaction(of_host::collect)?;
        self.clock_read_ns = Some(clock::read_cost_ns());
        Ok(())
    }

    /// Ends the transaction ids of the workload: maintenance is no part of it.
    pub fn before_maintenance(&mut self) {
        self.xid_at_end = Some(xact::next_xid());
    }

    /// Takes the worker's report: the promises of a COMMIT, the tables of the run, and the file of the largest one.
    pub fn of_work_database(&mut self, report: &str) -> Result<(), Fault> {
        let report: Value = read_json("report", report)?;
        environment::settings_of_clients(&mut self.environment.settings, &report);
        self.in_force_before = Some(promises::in_force()?);
        self.promises = Promises::deserialize(&report["promises"]).ok();
        let file = report["file"].as_str();
        self.environment.data_file_attributes =
            file.and_then(|file| files::attributes(&session::data_directory().join(file)));
        self.surroundings.of_tables(&report["tables"]);
        Ok(())
    }

    /// Looks at the settings that decide about durability, while the run is on. Syncs that are measured by themselves do not depend on them.
    fn see_promises(&mut self) -> Result<(), Fault> {
        let looked = self.in_force_before.as_ref();
        if let (Some(before), Some(promises)) = (looked, self.promises.as_mut()) {
            promises.see(before, &promises::in_force()?);
        }
        Ok(())
    }

    /// Syncs that are measured by themselves are real, whatever the server's settings say.
    pub fn of_syncs(&mut self) {
        self.promises = Some(Promises::of_syncs());
    }

    /// Whether the clients' settings have times taken.
    pub fn timing(&self, spec: &Spec) -> Option<Timing> {
        self.promises
            .as_ref()
            .map(|promises| promises.timing(&spec.settings))
    }

    /// When everything is loaded: its size, and the attributes of the segment that WAL is written to.
    pub fn before_clients(&mut self, spec: &Spec, work_database: Option<u32>) -> Result<(), Fault> {
        self.surroundings.before_clients(spec.stage != Stage::Whole);
        let segment = "SELECT pg_walfile_name(pg_current_wal_insert_lsn())";
        let segment = xact::transaction(|| sql::read(segment, &[]))?;
        let in_wal = |segment: String| session::data_directory().join("pg_wal").join(segment);
        self.environment.pg_wal_file_attributes =
            segment.and_then(|segment| files::attributes(&in_wal(segment)));
        let Some(work_database) = work_database else {
            return Ok(());
        };
        self.work_database = work_database;
        let size = xact::transaction(|| {
            sql::read(
                "SELECT pg_database_size($1::oid)",
                &[Some(&work_database.to_string())],
            )
        })?;
        self.data_bytes = size.and_then(|size| size.parse().ok());
        Ok(())
    }

    /// The first thing at the start of the window: where WAL is then.
    pub fn mark_start(&mut self, checkpoints: &mut checkpoint_watch::Watch) -> Result<(), Fault> {
        let position = position()?;
        self.start_lsn = position.lsn;
        self.wal_at_start = Some(wal_segments::read()?);
        checkpoints.at_start(position);
        Ok(())
    }

    /// At the start of the window. Nothing that takes long: after a warm-up the clients work already, and tell the statistics
    /// nothing for a second only. All processes and the machine are [`Surroundings::at_start`].
    pub fn at_start(&mut self) -> Result<(), Fault> {
        self.blocks_at_start = cost::blocks_written()?;
        self.old_xmin.poll(self.work_database)
    }

    /// In each second of the window.
    pub fn each_second(&mut self, checkpoints: &mut checkpoint_watch::Watch) -> Result<(), Fault> {
        let position = position()?;
        checkpoints.see(position);
        self.see_promises()?;
        let work_database = self.work_database.to_string();
        let vacuums = xact::transaction(|| {
            sql::read(
                "SELECT count(*) FROM pg_stat_progress_vacuum WHERE datid = $1::oid",
                &[Some(&work_database)],
            )
        })?;
        self.surroundings
            .each_second(vacuums.and_then(|n| n.parse().ok()).unwrap_or(0));
        self.old_xmin.poll(self.work_database)
    }

    /// At the end of the window.
    pub fn at_end(&mut self, checkpoints: &mut checkpoint_watch::Watch) -> Result<(), Fault> {
        let position = position()?;
        self.see_promises()?;
        self.end_lsn = position.lsn;
        self.wal_at_end = Some(wal_segments::read()?);
        checkpoints.see(position);
        self.blocks_at_end = cost::blocks_written()?;
        self.surroundings.at_end();
        self.old_xmin.poll(self.work_database)
    }

    /// Segments of WAL in the window; checkpoints have renamed so many files in it.
    pub fn wal(&self, recycled: Option<u64>) -> WalFacts {
        wal_segments::facts(self.wal_at_start, self.wal_at_end, recycled)
    }

    /// The figures of the window, from which the cost of this many transactions is computed.
    pub fn window(&self, transactions: u64) -> cost::Window<'_> {
        cost::Window {
            transactions,
            wal_bytes: self.end_lsn - self.start_lsn,
            blocks: (self.blocks_at_start.as_ref(), self.blocks_at_end.as_ref()),
            block_bytes: u64::from(pgrx::pg_sys::BLCKSZ),
        }
    }
}
