//! The checkpointer's own figures of each checkpoint, copied to shared memory when it logs that it is complete.
//!
//! The server calls its log hook for each message that will be logged, in every process, in the middle of its logging: here
//! nothing is allocated, locked or raised, and processes that make no checkpoints leave at once. A message that would not be
//! logged (log_checkpoints off, log_min_messages above log) is not even made, and the hook not called.

use std::ffi::{CStr, c_char};

use pgfsbench_core::checkpoint::{self, Checkpoint, Event, OpenCheckpoint};
use pgrx::{PgLogLevel, pg_sys};

use crate::{
    clock,
    pg::{shmem, version},
};

static mut PREVIOUS: pg_sys::emit_log_hook_type = None;

/// Seconds from 1970 to 2000, where PostgreSQL's times begin.
const EPOCH_US: i64 = 946_684_800_000_000;

/// Looks at the messages of the server from now on. From `_PG_init`, while shared libraries are preloaded.
pub fn install_hook() {
    // SAFETY: the postmaster is single-threaded here, and hooks are meant to be chained like this.
    unsafe {
        PREVIOUS = pg_sys::emit_log_hook;
        pg_sys::emit_log_hook = Some(on_message);
    }
}

/// No guard of pgrx's around it: nothing in it panics or raises errors; should the previous hook raise one, it passes a frame
/// that has nothing to drop.
unsafe extern "C-unwind" fn on_message(message: *mut pg_sys::ErrorData) {
    // SAFETY: the server gives a message that stays until this returns; the previous hook was set by another library.
    unsafe {
        if pg_sys::MyBackendType == pg_sys::BackendType::B_CHECKPOINTER && !message.is_null() {
            look_at(&*message);
        }
        if let Some(previous) = PREVIOUS {
            previous(message);
        }
    }
}

/// The bytes of a text; none of a null pointer.
///
/// # Safety
/// It is null, or ends with a null byte and stays for as long as the bytes are used.
unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the caller's duty.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// # Safety
/// In a message of the server's, in the checkpointer.
unsafe fn look_at(message: &pg_sys::ErrorData) {
    let Some(board) = shmem::board() else { return };
    let ring = &board.checkpoints;
    if message.elevel >= PgLogLevel::ERROR as i32 {
        // The checkpoint that it began has failed.
        return ring.give_up();
    }
    // SAFETY: texts of the message.
    let (id, text) = unsafe { (bytes(message.message_id), bytes(message.message)) };
    let Some(event) = checkpoint::event(id) else {
        return;
    };
    // SAFETY: a variable of this process, of plain numbers.
    let stats = unsafe { pg_sys::CheckpointStats };
    match event {
        Event::Starting { is_restartpoint } => ring.begin(&OpenCheckpoint {
            is_restartpoint,
            cause: checkpoint::cause(text),
            started_us: stats.ckpt_start_t + EPOCH_US,
            start_ns: clock::now_ns(),
        }),
        Event::Complete { is_restartpoint } => {
            let cause = ring.going().map_or(0, |going| going.cause);
            ring.complete(&figures(&stats, is_restartpoint, cause, text));
        }
    }
}

/// Computes them as the server's LogCheckpointEnd does.
fn figures(
    stats: &pg_sys::CheckpointStatsData,
    is_restartpoint: bool,
    cause: u32,
    text: &[u8],
) -> Checkpoint {
    let ms = |from: i64, to: i64| to.saturating_sub(from).max(0).unsigned_abs().div_ceil(1000);
    let us_to_ms = |us: u64| us.div_ceil(1000);
    let count = |n: i32| u64::from(n.max(0).unsigned_abs());
    let sync_files = count(stats.ckpt_sync_rels);
    let end_ns = clock::now_ns();
    let total_us = stats
        .ckpt_end_t
        .saturating_sub(stats.ckpt_start_t)
        .max(0)
        .unsigned_abs();
    let (distance_kb, estimate_kb) = checkpoint::distance_and_estimate(text);
    Checkpoint {
        is_restartpoint,
        cause,
        started_us: stats.ckpt_start_t + EPOCH_US,
        ended_us: stats.ckpt_end_t + EPOCH_US,
        start_ns: end_ns.saturating_sub(total_us.saturating_mul(1000)),
        end_ns,
        write_ms: ms(stats.ckpt_write_t, stats.ckpt_sync_t),
        sync_ms: ms(stats.ckpt_sync_t, stats.ckpt_sync_end_t),
        total_ms: ms(stats.ckpt_start_t, stats.ckpt_end_t),
        buffers: count(stats.ckpt_bufs_written),
        slru: version::slru_written(stats).map(|n| n.max(0).unsigned_abs()),
        sync_files,
        longest_ms: us_to_ms(stats.ckpt_longest_sync),
        average_ms: us_to_ms(
            stats
                .ckpt_agg_sync_time
                .checked_div(sync_files)
                .unwrap_or(0),
        ),
        sync_sum_us: stats.ckpt_agg_sync_time,
        wal_added: count(stats.ckpt_segs_added),
        wal_removed: count(stats.ckpt_segs_removed),
        wal_recycled: count(stats.ckpt_segs_recycled),
        distance_kb,
        estimate_kb,
    }
}
