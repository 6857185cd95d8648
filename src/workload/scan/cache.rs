//! Puts the table where it is to be before a scan: only on the device, in the kernel's page cache, or in shared buffers; and proves
//! it.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::PathBuf,
    time::{Duration, Instant},
};

use pgfsbench_core::{
    spec::{Cache, Spec},
    units::format_bytes,
    workload::scan::State,
};
use rustix::fs::{Advice, fadvise};

use crate::{
    errors::{Fault, of_file, sqlstate},
    pg::{page_cache, pages, process, scan, xact},
    workload::scan::table as workload,
};

/// A cold table may have at most this share in the page cache; a warm one may miss at most this share.
const TOLERATED: f64 = 0.002;
/// How often it is tried at least to have the table in a cache, and for how long: what took it out may not be over.
const TRIES_TO_PLACE: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the kernel is asked to forget pages: one that is just being written cannot be.
const FORGETTINGS: u32 = 20;
/// From one try to the next.
const PAUSE: Duration = Duration::from_millis(50);

fn state_of(files: &[PathBuf]) -> Result<State, Fault> {
    let mut state = State::default();
    for path in files {
        let file = pages::open(path)?;
        let length = file.metadata().map_err(|e| of_file("look at", path, &e))?;
        state.bytes += length.len();
        state.cached_bytes +=
            page_cache::cached_bytes(&file).map_err(|e| of_file("look at", path, &e))?;
    }
    Ok(state)
}

fn missing(state: &State) -> u64 {
    state.bytes.saturating_sub(state.cached_bytes)
}

fn tolerated(state: &State) -> u64 {
    (state.bytes as f64 * TOLERATED) as u64
}

/// Puts the table where the run wants it, and looks whether it is there.
pub fn prepare(spec: &Spec) -> Result<State, Fault> {
    let files = xact::transaction(|| workload::files(spec))?;
    if spec.options.cache == Cache::SharedBuffers {
        fill_buffers(spec)?;
        return state_of(&files);
    }
    // The next scan would find the blocks that the last one has left in them.
    xact::transaction(|| {
        let mut parts = workload::parts(spec)?.parts.into_iter();
        parts.try_for_each(|(oid, _)| scan::empty_buffers(oid))
    })?;
    match spec.options.cache {
        Cache::Cold => forget(&files),
        Cache::Warm | Cache::SharedBuffers => remember(&files),
    }
}

/// Puts the table into the cache for reads without the executor. These pass by shared buffers, so the files are in the page cache, too.
pub fn prepare_files(spec: &Spec) -> Result<State, Fault> {
    let state = prepare(spec)?;
    match spec.options.cache {
        Cache::Warm | Cache::Cold => Ok(state),
        Cache::SharedBuffers => remember(&xact::transaction(|| workload::files(spec))?),
    }
}

/// Tries until it is so; gives whether it is.
fn try_until(mut is_so: impl FnMut() -> Result<bool, Fault>) -> Result<bool, Fault> {
    let began = Instant::now();
    let mut tries = 1;
    loop {
        if is_so()? {
            return Ok(true);
        }
        if tries >= TRIES_TO_PLACE && began.elapsed() >= PATIENCE {
            return Ok(false);
        }
        tries += 1;
        process::wait(PAUSE);
    }
}

/// All in shared buffers: the second time, every block must be found there.
fn fill_buffers(spec: &Spec) -> Result<(), Fault> {
    let (mut blocks, mut found) = (0, 0);
    let are_full = try_until(|| {
        xact::transaction(|| fill_all(spec))?;
        (blocks, found) = xact::transaction(|| fill_all(spec))?;
        Ok(found >= blocks)
    })?;
    if are_full {
        return Ok(());
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "the table does not stay in shared buffers",
    )
    .detail(format!(
        "After it was read several times, {found} of its {blocks} blocks were there."
    ))
    .hint("Keep other sessions away, which need shared buffers too; else raise shared_buffers, use a smaller scale, or the option \"cache\": \"warm\"."))
}

/// Reads all of the table into shared buffers; gives how many blocks it has, and how many of them were there already. In a transaction.
fn fill_all(spec: &Spec) -> Result<(u64, u64), Fault> {
    let (mut blocks, mut found) = (0, 0);
    for (oid, _) in workload::parts(spec)?.parts {
        let part = scan::fill_buffers(oid)?;
        (blocks, found) = (blocks + part.0, found + part.1);
    }
    Ok((blocks, found))
}

/// On the device, and nowhere else: written, and forgotten by the kernel.
fn forget(files: &[PathBuf]) -> Result<State, Fault> {
    let mut state = State::default();
    for _ in 0..FORGETTINGS {
        for path in files {
            let file = pages::open(path)?;
            file.sync_all().map_err(|e| of_file("sync", path, &e))?;
            fadvise(&file, 0, None, Advice::DontNeed)
                .map_err(|e| of_file("forget", path, &e.into()))?;
        }
        state = state_of(files)?;
        if state.cached_bytes <= tolerated(&state) {
            return Ok(state);
        }
        process::wait(PAUSE);
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "the page cache cannot be emptied of the table",
    )
    .detail(format!(
        "{} of {} are still in it after fsync and POSIX_FADV_DONTNEED.",
        format_bytes(state.cached_bytes),
        format_bytes(state.bytes)
    ))
    .hint("Use a target on a filesystem of its own, or the option \"cache\": \"warm\"."))
}

/// Puts the files into the page cache. Another process may have it emptied just then.
fn remember(files: &[PathBuf]) -> Result<State, Fault> {
    let mut state = state_of(files)?;
    if missing(&state) <= tolerated(&state) {
        return Ok(state);
    }
    let is_there = try_until(|| {
        for path in files {
            let file = pages::open(path)?;
            read_through(&file).map_err(|e| of_file("read", path, &e))?;
        }
        state = state_of(files)?;
        Ok(missing(&state) <= tolerated(&state))
    })?;
    if is_there {
        return Ok(state);
    }
    Err(Fault::new(
        sqlstate::NOT_IN_THIS_STATE,
        "the table does not stay in the page cache",
    )
    .detail(format!(
        "After it was read several times, {} of {} are in it, as the kernel says; of filesystems with a cache of their own it does not know.",
        format_bytes(state.cached_bytes),
        format_bytes(state.bytes)
    ))
    .hint("Leave more memory free, and keep away who empties it; else use a smaller scale, or the option \"cache\": \"shared_buffers\" or \"cold\"."))
}

fn read_through(file: &File) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    let mut from = 0;
    loop {
        match file.read_at(&mut buffer, from)? {
            0 => return Ok(()),
            read => from += read as u64,
        }
        process::check_interrupts();
    }
}
