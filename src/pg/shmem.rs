//! Shared memory: one [`Board`], the clients' slots, a lock and a condition variable.
//!
//! pgrx's own shared-memory types pass the value by value, which overflows the postmaster's stack at a few megabytes; here
//! the memory is zeroed where it lies, and all bytes zero is the valid empty state of everything in it.

use std::{
    ffi::c_long,
    mem::{align_of, size_of},
    ptr,
    sync::atomic::{
        AtomicPtr,
        Ordering::{Acquire, Release},
    },
    time::Duration,
};

use pgfsbench_core::board::ClientSlot;
use pgrx::{pg_guard, pg_sys};

use crate::{
    board::{Board, LAYOUT, Request},
    pg::settings,
};

/// The start of our shared memory. Written by the postmaster at start only; the condition variable has its own lock.
#[repr(C)]
struct Header {
    changed: pg_sys::ConditionVariable,
    clients: u32,
}

/// Address of our shared memory; null if the library was not preloaded. Written once by the postmaster, inherited by fork.
static HEADER: AtomicPtr<Header> = AtomicPtr::new(ptr::null_mut());
/// The lock under which requests are claimed. Written once by the postmaster.
static LOCK: AtomicPtr<pg_sys::LWLock> = AtomicPtr::new(ptr::null_mut());
static mut PREVIOUS_REQUEST: pg_sys::shmem_request_hook_type = None;
static mut PREVIOUS_STARTUP: pg_sys::shmem_startup_hook_type = None;

const NAME: &std::ffi::CStr = c"pgfsbench";

const fn up(offset: usize, align: usize) -> usize {
    offset.next_multiple_of(align)
}
const BOARD_OFFSET: usize = up(size_of::<Header>(), align_of::<ClientSlot>());
const CLIENTS_OFFSET: usize = BOARD_OFFSET + up(size_of::<Board>(), align_of::<ClientSlot>());

fn size(clients: usize) -> usize {
    // ShmemInitStruct aligns to a cache line of 128 bytes, which is the alignment of a slot; one more in case it does not.
    CLIENTS_OFFSET + clients * size_of::<ClientSlot>() + align_of::<ClientSlot>()
}

/// Asks for the memory when the server starts. From `_PG_init`, while shared libraries are preloaded.
pub fn install_hooks() {
    // SAFETY: the postmaster is single-threaded here, and these hooks are meant to be chained like this.
    unsafe {
        PREVIOUS_REQUEST = pg_sys::shmem_request_hook;
        pg_sys::shmem_request_hook = Some(request);
        PREVIOUS_STARTUP = pg_sys::shmem_startup_hook;
        pg_sys::shmem_startup_hook = Some(startup);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn request() {
    // SAFETY: called by the postmaster in its request hook, the place for these calls; the previous hook was set by the
    // server or by another library.
    unsafe {
        if let Some(previous) = PREVIOUS_REQUEST {
            pg_sys::ffi::pg_guard_ffi_boundary(|| previous());
        }
        pg_sys::RequestAddinShmemSpace(size(settings::max_clients() as usize));
        pg_sys::RequestNamedLWLockTranche(NAME.as_ptr(), 1);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn startup() {
    // SAFETY: called in the startup hook; the struct is as large as was asked for, is zeroed before anybody else can see
    // it, and the pointers stay valid as long as the server lives.
    unsafe {
        if let Some(previous) = PREVIOUS_STARTUP {
            pg_sys::ffi::pg_guard_ffi_boundary(|| previous());
        }
        let clients = settings::max_clients() as usize;
        let mut found = false;
        let start = pg_sys::ShmemInitStruct(NAME.as_ptr(), size(clients), &mut found) as *mut u8;
        let start = start.add(start.align_offset(align_of::<ClientSlot>()));
        let header = start as *mut Header;
        if !found {
            ptr::write_bytes(start, 0, size(clients) - align_of::<ClientSlot>());
            pg_sys::ConditionVariableInit(&raw mut (*header).changed);
            (*header).clients = clients as u32;
            (*(start.add(BOARD_OFFSET) as *const Board))
                .layout
                .store(LAYOUT, Release);
        }
        LOCK.store(
            &raw mut (*pg_sys::GetNamedLWLockTranche(NAME.as_ptr())).lock,
            Release,
        );
        HEADER.store(header, Release);
    }
}

/// The board; None when the library is not preloaded, or was made by another version.
pub fn board() -> Option<&'static Board> {
    let start = HEADER.load(Acquire) as *const u8;
    if start.is_null() {
        return None;
    }
    // SAFETY: set by `startup`, which has put a board there; it is made of atomics only and lives as long as the server.
    let board = unsafe { &*(start.add(BOARD_OFFSET) as *const Board) };
    (board.layout.load(Acquire) == LAYOUT).then_some(board)
}

/// The slots of the clients; empty when the library is not preloaded.
pub fn clients() -> &'static [ClientSlot] {
    let header = HEADER.load(Acquire);
    if header.is_null() {
        return &[];
    }
    // SAFETY: `startup` has zeroed that many slots at this place, which is a valid state of them; they are atomics only.
    unsafe {
        std::slice::from_raw_parts(
            (header as *const u8).add(CLIENTS_OFFSET) as *const ClientSlot,
            (*header).clients as usize,
        )
    }
}

/// Runs `f` while holding the lock under which requests are claimed. `f` must be short and must not raise errors.
pub fn locked<R>(f: impl FnOnce() -> R) -> R {
    let lock = LOCK.load(Acquire);
    assert!(!lock.is_null(), "pgfsbench is not preloaded");
    // SAFETY: the pointer is the server's own lock; it is released right after `f`, and by the server's error handling if
    // that should raise an error nevertheless.
    unsafe {
        pg_sys::LWLockAcquire(lock, pg_sys::LWLockMode::LW_EXCLUSIVE);
        let result = f();
        pg_sys::LWLockRelease(lock);
        result
    }
}

/// Wakes everybody who waits for a change of the board.
pub fn announce() {
    let header = HEADER.load(Acquire);
    if !header.is_null() {
        // SAFETY: the condition variable was initialised in `startup`.
        unsafe { pg_sys::ConditionVariableBroadcast(&raw mut (*header).changed) }
    }
}

/// Waits until `ready` says so, the time is over (then false), or an interrupt raises an error.
pub fn wait_for_change(timeout: Duration, ready: impl Fn() -> bool) -> bool {
    let header = HEADER.load(Acquire);
    assert!(!header.is_null(), "pgfsbench is not preloaded");
    let deadline = std::time::Instant::now() + timeout;
    // SAFETY: the condition variable was initialised in `startup`; the sleep is cancelled on the way out, and by the
    // server's transaction abort when an interrupt raises an error.
    unsafe {
        let changed = &raw mut (*header).changed;
        pg_sys::ConditionVariablePrepareToSleep(changed);
        let result = loop {
            if ready() {
                break true;
            }
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                break false;
            }
            pg_sys::ConditionVariableTimedSleep(
                changed,
                left.as_millis().max(1) as c_long,
                pg_sys::PG_WAIT_EXTENSION,
            );
        };
        pg_sys::ConditionVariableCancelSleep();
        result
    }
}

/// The request of the active run.
pub fn active_request() -> Option<&'static Request> {
    let board = board()?;
    let index = board.run.request.load(Acquire).checked_sub(1)?;
    board.requests.get(index as usize)
}
