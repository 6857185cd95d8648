//! The workload `scan`: one table, and `SELECT count(*)` of it. The run loads the table, or it is one of a user's own in a copy of the user's server.

use std::{fs::File, path::PathBuf};

use pgfsbench_core::{
    loading::Model,
    random::{Purpose, Stream},
    spec::{Cache, Spec, Stage},
    workload::scan::{FoundTable, Named, Parts, Payload, ROWS, ScanOptions, TableName, check_fits},
};

use crate::{
    errors::{Fault, read_json},
    host::machine,
    pg::{
        config, extents,
        load::Copies,
        pages::{self, Layout, Part},
        relation, sql, xact,
    },
    workload::script,
};

/// The table, in schema public of the work database.
pub const TABLE: &str = "fsbench_scan";
/// Name of the table with its schema.
const QUALIFIED: &str = "public.fsbench_scan";

/// The statement that is run after loading.
const VACUUM: &str = "VACUUM (ANALYZE) public.fsbench_scan";

/// Random rows are the same in all runs, whatever their seed: so they are loaded once for all of them.
const PAYLOAD_SEED: u64 = 1;

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

/// Makes the files of the table as long as they will be, for this many loaders. In the transaction that has created it if one loads, else in a later one:
/// with wal_level minimal, the end of the first one may read the empty pages into shared buffers, where they stay.
pub fn reserve(spec: &Spec, loaders: u32) -> Result<(), Fault> {
    pages::reserve(TABLE, layout(spec), needs_no_recovery(spec, loaders))
}

/// Whether a crash may lose pages of the table. A server that only loads is thrown away with all of it if it fails, and shut down and synced if not.
fn needs_no_recovery(spec: &Spec, loaders: u32) -> bool {
    loaders == 1 || spec.stage == Stage::LoadOnly
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
    let files: Vec<File> = files(spec)?
        .iter()
        .map(pages::open)
        .collect::<Result<_, _>>()?;
    let part = Part {
        files: &files,
        layout,
        blocks,
        needs_no_recovery: needs_no_recovery(spec, loaders),
    };
    let copies = Copies {
        table: TABLE,
        model: &model(payload),
    };
    match payload {
        Payload::Named(Named::Bit200) => copies.write_pages(part, |_, _| {}, progress),
        Payload::Named(Named::Accounts) => copies.write_pages(part, number_account, progress),
        Payload::Bytes(length) => {
            let randomize = randomize(length, layout.rows_per_page);
            copies.write_pages(part, randomize, progress)
        }
    }
}

/// A row of the table.
fn model(payload: Payload) -> Vec<Model> {
    match payload {
        // A bit string is its length in bits, and its bits.
        Payload::Named(Named::Bit200) => {
            let mut bits = 200_i32.to_ne_bytes().to_vec();
            bits.extend([0xaa; 25]);
            vec![Model::Bytes(bits)]
        }
        Payload::Named(Named::Accounts) => {
            let blanks = Model::Bytes(vec![b' '; 84]);
            vec![Model::BigInt, Model::Int, Model::Int, blanks]
        }
        Payload::Bytes(length) => vec![Model::Bytes(vec![0; length as usize])],
    }
}

/// Number and branch of the row `n`, as in pgbench_accounts.
fn number_account(n: u64, row: &mut [u8]) {
    row[..8].copy_from_slice(&(n as i64 + 1).to_ne_bytes());
    row[8..12].copy_from_slice(&((n / 100_000) as i32 + 1).to_ne_bytes());
}

/// Random bytes of this length. Each block has its own stream: a row has the same bytes, however many processes load.
fn randomize(length: u32, per_page: u64) -> impl FnMut(u64, &mut [u8]) {
    let stream = |block: u64| Stream::new(PAYLOAD_SEED.wrapping_add(block), 0, Purpose::Payload);
    let mut random = stream(0);
    let header = if length <= SHORT { 1 } else { 4 };
    move |n, row| {
        if n % per_page == 0 {
            random = stream(n / per_page);
        }
        for part in row[header..][..length as usize].chunks_mut(8) {
            part.copy_from_slice(&random.bits().to_le_bytes()[..part.len()]);
        }
    }
}

/// The name of the table in a statement.
pub fn name(spec: &Spec) -> String {
    own(spec)
        .own_table()
        .map_or_else(|| QUALIFIED.to_owned(), |table| table.sql())
}

/// The table, or the partitions of it that have rows. Refuses a table of a user's own that cannot be scanned. In a transaction.
pub fn parts(spec: &Spec) -> Result<Parts, Fault> {
    match own(spec).own_table() {
        Some(table) => parts_of_own(spec, &table),
        None => Ok(Parts {
            parts: vec![(relation::oid_of(TABLE)?, QUALIFIED.to_owned())],
            bytes: blocks(spec) * pages::PAGE as u64,
        }),
    }
}

fn parts_of_own(spec: &Spec, table: &TableName) -> Result<Parts, Fault> {
    let role = match &spec.stage {
        Stage::OnOwn {
            role: Some(role), ..
        } => Some(script::asking_role(role)?),
        _ => None,
    };
    let found = sql::read(
        include_str!("queries/own_table.sql"),
        &[Some(&table.sql()), role.as_deref()],
    )?;
    let found: FoundTable = read_json("facts of a table", &found.unwrap_or_default())?;
    Ok(found.parts(table)?)
}

/// The role that scans a table of a user's own; None for a table of the run. In a transaction.
pub fn reader(spec: &Spec) -> Result<Option<u32>, Fault> {
    if own(spec).own_table().is_none() {
        return Ok(None);
    }
    let asking = match &spec.stage {
        Stage::OnOwn { role, .. } => role.as_ref(),
        _ => None,
    };
    script::role_on_copy(asking).map(Some)
}

/// The statements that VACUUM the table before its scans. A user's table has to fit where the run wants it.
pub fn vacuum(spec: &Spec) -> Result<Vec<String>, Fault> {
    if own(spec).own_table().is_none() {
        return Ok(vec![VACUUM.to_owned()]);
    }
    let parts = xact::transaction(|| {
        let parts = parts(spec)?;
        let cache = spec.options.cache;
        let room = match cache {
            Cache::SharedBuffers => config::bytes("shared_buffers")?,
            Cache::Warm | Cache::Cold => machine::usable().memory_bytes,
        };
        check_fits(cache, parts.bytes, room.unwrap_or(0))?;
        Ok(parts)
    })?;
    // Statistics are not needed, and would call the user's functions in indexes. VACUUM alone calls them in BRIN indexes, for ranges without a summary.
    let vacuum = |(_, name): (u32, String)| format!("VACUUM (PROCESS_TOAST false) {name}");
    Ok(parts.parts.into_iter().map(vacuum).collect())
}

/// Makes the table one that this many workers may scan: what was copied may have been loaded for others. In a transaction.
pub fn allow_workers(spec: &Spec, most: u32) -> Result<(), Fault> {
    for (_, name) in parts(spec)?.parts {
        let alter = format!("ALTER TABLE {name} SET (parallel_workers = {most})");
        sql::write(&alter, &[])?;
    }
    Ok(())
}

/// The files of the table, in order. In a transaction.
pub fn files(spec: &Spec) -> Result<Vec<PathBuf>, Fault> {
    let mut files = Vec::new();
    for (_, name) in parts(spec)?.parts {
        files.extend(pages::files(&name)?);
    }
    Ok(files)
}

/// How many extents its files have; None where the filesystem does not tell.
pub fn extents(spec: &Spec) -> Result<Option<u64>, Fault> {
    let files = xact::transaction(|| files(spec))?;
    let each = files
        .iter()
        .map(|path| extents::count(&pages::open(path).ok()?).ok());
    Ok(each.sum())
}
