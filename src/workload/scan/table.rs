//! The workload `scan`: one table, and `SELECT count(*)` of it.

use std::{fs::File, path::PathBuf};

use pgfsbench_core::{
    spec::{Spec, Stage},
    workload::scan::{Payload, ROWS, ScanOptions},
};

use crate::{
    errors::Fault,
    pg::{
        extents, load,
        pages::{self, Layout, Part},
        sql, xact,
    },
};

/// The table, in schema public of the work database.
pub const TABLE: &str = "fsbench_scan";
/// The name with its schema.
pub const QUALIFIED: &str = "public.fsbench_scan";

/// Statements that are run after loading.
pub const VACUUM: [&str; 1] = ["VACUUM (ANALYZE) public.fsbench_scan"];

/// Random rows are the same in all runs, whatever their seed: so they are loaded once for all of them.
const PAYLOAD_SEED: i64 = 1;

/// Up to this length, PostgreSQL itself packs a value behind a header of one byte; a longer one must not be packed or moved away.
const SHORT: u32 = 126;

/// The options of the workload.
pub fn own(spec: &Spec) -> ScanOptions {
    spec.options.own()
}

/// Rows of the table.
pub fn rows(spec: &Spec) -> u64 {
    u64::from(spec.scale) * ROWS
}

/// Pages of the table.
pub fn blocks(spec: &Spec) -> u64 {
    layout(spec).blocks()
}

/// Creates the table. In a transaction.
pub fn create(spec: &Spec) -> Result<(), Fault> {
    let payload = own(spec).payload();
    let unlogged = if spec.options.unlogged {
        "UNLOGGED "
    } else {
        ""
    };
    sql::write(
        &format!(
            "CREATE {unlogged}TABLE {QUALIFIED} ({}) WITH (autovacuum_enabled = off)",
            payload.columns()
        ),
        &[],
    )?;
    if let Payload::Bytes(length) = payload {
        let storage = if length <= SHORT { "EXTERNAL" } else { "PLAIN" };
        sql::write(
            &format!("ALTER TABLE {QUALIFIED} ALTER COLUMN payload SET STORAGE {storage}"),
            &[],
        )?;
    }
    Ok(())
}

fn layout(spec: &Spec) -> Layout {
    Layout {
        rows: rows(spec),
        rows_per_page: own(spec).payload().rows_per_page(),
    }
}

/// Makes the files of the table as long as they will be. In the transaction that has created it.
pub fn reserve(spec: &Spec) -> Result<(), Fault> {
    pages::reserve(TABLE, layout(spec))
}

/// Loads the share of one of this many loaders. In a transaction, which has created the table if there is only one.
pub fn load(
    spec: &Spec,
    loader: u32,
    loaders: u32,
    progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let layout = layout(spec);
    let share = |n: u32| (u128::from(layout.blocks()) * u128::from(n) / u128::from(loaders)) as u64;
    let blocks = share(loader)..share(loader + 1);
    let payload = own(spec).payload();
    let files: Vec<File> = files()?.iter().map(pages::open).collect::<Result<_, _>>()?;
    let part = Part {
        files: &files,
        layout,
        blocks,
        // A server that only loads is thrown away with all of it if it fails, and shut down and synced if not.
        needs_no_recovery: loaders == 1 || spec.stage == Stage::LoadOnly,
    };
    load::scanned(TABLE, payload, part, PAYLOAD_SEED, progress)
}

/// Makes the table one that this many workers may scan: what was copied may have been loaded for others. In a transaction.
pub fn allow_workers(most: u32) -> Result<(), Fault> {
    sql::write(
        &format!("ALTER TABLE {QUALIFIED} SET (parallel_workers = {most})"),
        &[],
    )?;
    Ok(())
}

/// The files of the table, in order. In a transaction.
pub fn files() -> Result<Vec<PathBuf>, Fault> {
    pages::files(QUALIFIED)
}

/// How many extents its files have; None where the filesystem does not tell.
pub fn extents() -> Result<Option<u64>, Fault> {
    let files = xact::transaction(files)?;
    let each = files
        .iter()
        .map(|path| extents::count(&pages::open(path).ok()?).ok());
    Ok(each.sum())
}
