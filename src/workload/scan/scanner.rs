//! The work in the work database of a run of the workload `scan`: by its worker (put the table into the cache or out of
//! it, and scan it), and by its clients (load the table, and read its files without the executor).

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::PathBuf,
    sync::atomic::Ordering::{Acquire, Relaxed, Release},
};

use pgfsbench_core::{spec::Spec, units::format_count, workload::scan::Report};
use serde::Serialize;

use crate::{
    board::{Board, Phase},
    clock,
    errors::{Fault, sqlstate},
    pg::{
        config, guc, pages, process,
        scan::{self, ScanFigures},
        sql,
        usage::{self, Wait},
        xact,
    },
    workload::{
        ClientContext,
        scan::{cache, storage::ReadCounters, table},
    },
};

/// Bytes that a reader takes at a time for itself, as the processes of a parallel scan do.
const REGION: u64 = 16 << 20;

/// Counts the rows before the first scan, by as many workers as there will be at most: reads all of the table. A table of a user's own
/// then has to stay as it is found here.
pub fn verify(board: &Board, spec: &Spec) -> Result<(), Fault> {
    let own = table::own(spec);
    apply_settings(spec, own.largest())?;
    let scanned = xact::transaction(|| scan::count(&table::name(spec)))?;
    let expected = match own.own_table() {
        Some(_) => {
            let (blocks, unchanged) = xact::transaction(|| unchanged_blocks(spec))?;
            Contents {
                rows: scanned.rows as u64,
                blocks,
                unchanged,
            }
        }
        None => Contents {
            rows: table::rows(spec),
            blocks: table::blocks(spec),
            unchanged: table::blocks(spec),
        },
    };
    let run = &board.run;
    run.table_rows.store(expected.rows, Relaxed);
    run.table_blocks.store(expected.blocks, Relaxed);
    run.table_unchanged.store(expected.unchanged, Release);
    check_rows(&expected, &scanned, spec)?;
    check_untouched(&expected, spec)
}

/// The contents of the table as every scan has to find them.
struct Contents {
    rows: u64,
    blocks: u64,
    /// Blocks that the visibility map has as visible to all.
    unchanged: u64,
}

impl Contents {
    fn of(board: &Board) -> Self {
        let run = &board.run;
        Self {
            unchanged: run.table_unchanged.load(Acquire),
            blocks: run.table_blocks.load(Relaxed),
            rows: run.table_rows.load(Relaxed),
        }
    }
}

/// Blocks of the table, and those that the visibility map has as visible to all. In a transaction.
fn unchanged_blocks(spec: &Spec) -> Result<(u64, u64), Fault> {
    let (mut blocks, mut unchanged) = (0, 0);
    for (oid, _) in table::parts(spec)?.parts {
        let part = scan::unchanged_blocks(oid)?;
        (blocks, unchanged) = (blocks + part.0, unchanged + part.1);
    }
    Ok((blocks, unchanged))
}

fn check_rows(expected: &Contents, scanned: &ScanFigures, spec: &Spec) -> Result<(), Fault> {
    let expected = expected.rows;
    if scanned.rows as u64 == expected {
        return Ok(());
    }
    let detail = format!(
        "A scan with {} counted {} of {expected} rows.",
        format_count(scanned.launched.into(), "worker"),
        scanned.rows
    );
    Err(other_rows(spec, detail))
}

/// Whether the table still has the rows that were counted, and no others. Nothing of it is read for that, which would warm what is to
/// be cold and take as long as a scan.
fn check_untouched(expected: &Contents, spec: &Spec) -> Result<(), Fault> {
    let (blocks, unchanged) = xact::transaction(|| unchanged_blocks(spec))?;
    if blocks != expected.blocks {
        let detail = format!(
            "It has {}; it had {} before the first scan.",
            format_count(blocks, "page"),
            format_count(expected.blocks, "page")
        );
        return Err(other_rows(spec, detail));
    }
    if unchanged == expected.unchanged {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "another session has changed rows of the table while it was scanned",
    )
    .detail(format!(
        "Only {unchanged} of its {} are as they were before the first scan.",
        format_count(expected.unchanged, "page")
    ))
    .hint(KEEP_OUT))
}

const KEEP_OUT: &str = "Keep everybody out of the work database while the run is on.";

fn other_rows(spec: &Spec, detail: String) -> Fault {
    let message = match table::own(spec).own_table().is_some() {
        true => "the table does not have the rows that were counted before the first scan",
        false => "the table does not have the rows that were loaded",
    };
    Fault::new(sqlstate::CORRUPTED, message)
        .detail(detail)
        .hint(format!(
            "{KEEP_OUT} If no session was in it, do not trust this filesystem or what is below it."
        ))
}

/// Makes the table's files ready for the next read; by the worker, which reports what the cache holds.
pub fn prepare(board: &Board, spec: &Spec) -> Result<(), Fault> {
    let state = cache::prepare_files(spec)?;
    report(board, &state)
}

/// Makes the table ready, and scans it at the degree that the coordinator has set; by the worker.
pub fn scan(board: &Board, spec: &Spec) -> Result<(), Fault> {
    let degree = board.run.task_number.load(Acquire);
    apply_settings(spec, degree)?;
    // A new session is to be as one that has been there for a while. Without need the compiler stays out: each parallel worker
    // would load it, too, because its leader has.
    let name = table::name(spec);
    let by = xact::transaction(|| scan::compiled_by(&name))?;
    if !by.is_empty() {
        load_compiler(&by)?;
    }
    // First, since a session that changes its rows would be waited for when shared buffers are emptied.
    let expected = Contents::of(board);
    check_untouched(&expected, spec)?;
    let state = cache::prepare(spec)?;
    let is_timed = xact::transaction(|| config::shown("track_io_timing"))?.as_deref() == Some("on");
    let started_at = xact::transaction(|| sql::read("SELECT clock_timestamp()", &[]))?;
    let before = ReadCounters::read(board)?;
    board.run.worker_is_measured.store(1, Release);
    let scanned = xact::transaction(|| scan::count(&name));
    board.run.worker_is_measured.store(0, Release);
    let scanned = scanned?;
    let after = ReadCounters::read(board)?;
    check_rows(&expected, &scanned, spec)?;
    let by_processes = after.by_processes(
        &before,
        scanned.launched,
        scanned.read * pgfsbench_core::units::PAGE,
    );
    let ms = |ns: u64| ns as f64 / 1e6;
    let ScanFigures {
        worker_blocks,
        leader_blocks,
        plan,
        ..
    } = scanned;
    report(
        board,
        &Report {
            started_at: started_at.unwrap_or_default(),
            ms: ms(scanned.ns),
            planning_ms: ms(scanned.planning_ns),
            rows: scanned.rows as u64,
            bytes: state.bytes,
            planned: scanned.planned,
            launched: scanned.launched,
            hit: scanned.hit,
            read: scanned.read,
            read_ms: is_timed.then(|| ms(scanned.read_ns)),
            worker_blocks,
            leader_blocks,
            plan,
            state,
            process_read_bytes: by_processes.storage,
            others_read_bytes: by_processes.for_others,
            device_read_bytes: after.by_device(&before),
            // Not before the scan: that would read what the filesystem keeps of the files.
            extents: table::extents(spec)?,
        },
    )
}

/// Loads the compiler of expressions: the first query that is compiled does that, and takes a while. In a session of psql's it
/// is there after the first scan. The query is one of the same shape and compiled in the same way, so that all of the compiler
/// that the scan needs has run.
fn load_compiler(by: &[&str]) -> Result<(), Fault> {
    let costs = xact::transaction(|| {
        by.iter()
            .map(|name| Ok((name, config::shown(name)?.unwrap_or_default())))
            .collect::<Result<Vec<_>, Fault>>()
    })?;
    for name in by {
        guc::apply(name, "0")?;
    }
    xact::transaction(|| sql::read("SELECT count(*) FROM pg_catalog.pg_attribute", &[]))?;
    costs
        .iter()
        .try_for_each(|(name, cost)| guc::apply(name, cost))
}

/// Applies the settings that make the server plan that many workers, and the run's own settings, which win.
fn apply_settings(spec: &Spec, degree: u32) -> Result<(), Fault> {
    let degree = degree.to_string();
    for (name, value) in [
        ("track_io_timing", "on"),
        ("parallel_setup_cost", "0"),
        ("parallel_tuple_cost", "0"),
        ("min_parallel_table_scan_size", "0"),
        ("enable_indexonlyscan", "off"),
    ] {
        guc::apply(name, value)?;
    }
    for (name, value) in &spec.settings {
        guc::apply(name, value)?;
    }
    let leader = if table::own(spec).leader == Some(false) {
        "off"
    } else {
        "on"
    };
    guc::apply("parallel_leader_participation", leader)?;
    guc::apply("max_parallel_workers_per_gather", &degree)
}

fn report(board: &Board, what: &impl Serialize) -> Result<(), Fault> {
    let text =
        serde_json::to_string(what).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))?;
    board.run.task_report.set(&text);
    Ok(())
}

/// A client of such a run: in the load it loads its share of the table; later it reads the files in each window that has
/// this many readers.
pub fn take_part(context: &ClientContext, spec: &Spec) -> Result<(), Fault> {
    let run = &context.board.run;
    if run.phase() == Phase::Load {
        let loaders = table::own(spec).loaders.unwrap_or(1);
        return context.load_share(loaders, |progress| {
            table::load(spec, context.index, loaders, progress)
        });
    }
    process::become_undisturbed_owner(context.request.owner.load(Acquire))?;
    let files = xact::transaction(|| table::files(spec))?;
    let read_along = || {
        context.each_window(|_| {
            if context.index < run.readers.load(Acquire) {
                read(context, &files)?;
            }
            Ok(())
        })
    };
    xact::catch(read_along).and_then(|result| result)
}

/// Reads the files from their beginning to their end, together with the other readers. One file is open at a time: a user's table may have more of them
/// than a process may open.
fn read(context: &ClientContext, files: &[PathBuf]) -> Result<(), Fault> {
    let (run, slot) = (&context.board.run, context.slot);
    let block = run.read_bytes.load(Acquire);
    let mut buffer = vec![0; block as usize];
    let mut lengths = Vec::with_capacity(files.len());
    for path in files {
        lengths.push(path.metadata().map_err(|e| unreadable(&e))?.len());
    }
    let mut open: Option<(usize, File)> = None;
    slot.started_ns.store(clock::now_ns(), Relaxed);
    let mut bytes = 0;
    let next = || region_of(run.next_share.fetch_add(REGION, Relaxed), &lengths);
    while let Some((number, mut from)) = next() {
        let file = match open.take() {
            Some((of, file)) if of == number => file,
            _ => pages::open(&files[number])?,
        };
        let to = (from + REGION).min(lengths[number]);
        while from < to {
            let wanted = block.min(to - from) as usize;
            let read = || file.read_exact_at(&mut buffer[..wanted], from);
            usage::shown_as_waiting(Wait::DataFileRead, read).map_err(|e| unreadable(&e))?;
            from += wanted as u64;
            bytes += wanted as u64;
        }
        open = Some((number, file));
        process::check_interrupts();
        if context.stopped() {
            break;
        }
    }
    slot.measured.store(bytes, Relaxed);
    slot.finished_ns.store(clock::now_ns(), Relaxed);
    Ok(())
}

/// The file and the place in it of a region, by the regions of all files one after the other. The last region of a file may be shorter.
fn region_of(place: u64, lengths: &[u64]) -> Option<(usize, u64)> {
    let mut region = place / REGION;
    for (file, length) in lengths.iter().enumerate() {
        let regions = length.div_ceil(REGION);
        if region < regions {
            return Some((file, region * REGION));
        }
        region -= regions;
    }
    None
}

fn unreadable(error: &std::io::Error) -> Fault {
    Fault::new(
        sqlstate::SYSTEM,
        format!("could not read a file of the table: {error}"),
    )
}
