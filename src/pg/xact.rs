//! Transactions of background workers, and errors as values.

use std::{
    panic::AssertUnwindSafe,
    sync::atomic::{
        AtomicBool, AtomicPtr,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

use pgrx::{
    PgLogLevel, PgTryBuilder, direct_function_call, pg_guard, pg_sys, pg_sys::panic::ErrorReport,
};

use crate::errors::{self, Fault, sqlstate};

/// Runs `f`; an error that PostgreSQL raises in it comes back as a value. The transaction, if there is one, is then
/// broken, and the caller has to abort it ([`abort`]).
pub fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Fault> {
    errors::forget_reported();
    PgTryBuilder::new(AssertUnwindSafe(|| Ok(f())))
        .catch_others(|caught| Err(Fault::from(caught)))
        .catch_rust_panic(|caught| Err(Fault::from(caught)))
        .execute()
}

/// Rolls back whatever transaction there is.
pub fn abort() {
    // SAFETY: allowed at any time outside of a critical section; it does nothing without a transaction.
    unsafe { pg_sys::AbortCurrentTransaction() }
}

/// Begins a transaction in a background worker.
#[inline]
pub fn begin() {
    // SAFETY: in a process with a database connection and outside of a transaction, as the callers of this module are.
    unsafe {
        pg_sys::SetCurrentStatementStartTimestamp();
        pg_sys::StartTransactionCommand();
    }
}

/// Commits it.
#[inline]
pub fn commit() {
    // SAFETY: in a transaction that `begin` started.
    unsafe { pg_sys::CommitTransactionCommand() }
}

/// Runs `f` with a new snapshot.
#[inline]
pub fn with_snapshot<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: in a transaction; pushed and popped in pairs, and on errors by the abort of the transaction.
    unsafe {
        pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        let result = f();
        pg_sys::PopActiveSnapshot();
        result
    }
}

/// Runs `f` with a snapshot that sees what this transaction has just written, too.
pub fn seeing_own_changes<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: in a transaction, between two statements.
    unsafe { pg_sys::CommandCounterIncrement() };
    with_snapshot(f)
}

/// Runs `f` in a transaction of its own with a snapshot, in a background worker: committed when it succeeds, else rolled back.
pub fn transaction<R>(f: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
    let result = catch(|| {
        begin();
        let result = with_snapshot(f);
        if result.is_ok() {
            commit();
        }
        result
    })
    .and_then(|result| result);
    if result.is_err() {
        abort();
    }
    result
}

/// Sends this backend's statistics to the shared ones, at once or when it is time.
#[inline]
pub fn report_statistics(at_once: bool) {
    // SAFETY: outside of a transaction, in a process with a database connection.
    unsafe {
        pg_sys::pgstat_report_stat(at_once);
    }
}

/// The next transaction id, with its epoch.
pub fn next_xid() -> u64 {
    // SAFETY: reads shared memory under the server's own lock.
    unsafe { pg_sys::ReadNextFullTransactionId().value }
}

/// When the session's transaction began: tells it from the others of this session.
pub fn started_at() -> i64 {
    // SAFETY: reads a variable of this backend.
    unsafe { pg_sys::GetCurrentTransactionStartTimestamp() }
}

/// Refuses what a READ ONLY transaction is not to do, with PostgreSQL's own error; `what` is a function. On a standby every
/// transaction is one, and other errors say more.
pub fn check_may_write(what: &std::ffi::CStr) {
    if !in_recovery() {
        // SAFETY: only raises an error; the text lives as long as the process.
        unsafe { pg_sys::PreventCommandIfReadOnly(what.as_ptr()) }
    }
}

/// Whether the session's transaction has a transaction id already.
pub fn has_xid() -> bool {
    // SAFETY: reads this backend's state.
    unsafe { pg_sys::GetTopTransactionIdIfAny() != pg_sys::InvalidTransactionId }
}

/// How a transaction of this server, or a part of one since a savepoint, stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Also after PREPARE TRANSACTION.
    InProgress,
    Committed,
    RolledBack,
    /// It is so long ago that the server does not know any more.
    Unknown,
}

/// The transaction that is on, or its part since the last savepoint. It gets an id if it has none.
pub fn current_id() -> u64 {
    // SAFETY: in a transaction of this backend.
    unsafe { pg_sys::GetCurrentFullTransactionId() }.value
}

/// How a transaction of this server stands that [`current_id`] has named. In a transaction; needs no database.
pub fn state_of(id: u64) -> State {
    // SAFETY: reads shared memory.
    let next = unsafe { pg_sys::ReadNextFullTransactionId() }.value;
    // After a crash the id may not have been given yet, which is an error there.
    if id >= next {
        return State::RolledBack;
    }
    // It knows how far back the log of commits goes, which TransactionIdDidCommit does not.
    // SAFETY: the function of that name, with its one argument.
    let status: Option<&str> = unsafe {
        let id = Some(pg_sys::Datum::from(id));
        direct_function_call(pg_sys::pg_xact_status, &[id])
    };
    match status {
        Some("in progress") => State::InProgress,
        Some("committed") => State::Committed,
        Some(_) => State::RolledBack,
        None => State::Unknown,
    }
}

/// Has what this transaction has written so far survive a crash of the server: no other transaction gets its id after that.
pub fn flush_wal() {
    // SAFETY: in a transaction of this backend, whose last record ends there.
    unsafe { pg_sys::XLogFlush(pg_sys::XactLastRecEnd) }
}

/// Whether the session's transaction keeps one snapshot (REPEATABLE READ or SERIALIZABLE).
pub fn keeps_one_snapshot() -> bool {
    // SAFETY: reads a variable of this backend.
    unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
}

/// Whether the server is in recovery (a standby).
pub fn in_recovery() -> bool {
    // SAFETY: reads shared memory.
    unsafe { pg_sys::RecoveryInProgress() }
}

/// Runs `f`, which only reads, in a subtransaction that is rolled back: what it raises ends nothing else. In a transaction.
pub fn attempt<R>(f: impl FnOnce() -> R) -> Result<R, Fault> {
    // SAFETY: a subtransaction that is rolled back, whether `f` raised an error or not; what `f` gives is Rust's own memory.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        let result = catch(f);
        pg_sys::RollbackAndReleaseCurrentSubTransaction();
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}

/// Runs `f`, which only reads, and gives back the locks that it took: a session that waits for hours must not hold up DROP
/// EXTENSION. In a transaction.
pub fn without_keeping_locks<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: a subtransaction that is rolled back at once; what `f` gives is Rust's own memory. An error in `f` ends the
    // whole transaction, and this with it.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        let result = f();
        pg_sys::RollbackAndReleaseCurrentSubTransaction();
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}

/// The function given to [`on_commit`]. Written by this process.
static ON_COMMIT: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// Whether the transaction that is on has asked for it. Written by this process.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Has `f` called when the transaction that is on commits, and not when it rolls back. One function in a process; it must not raise
/// errors.
pub fn on_commit(f: fn()) {
    if ON_COMMIT.swap(f as *mut (), AcqRel).is_null() {
        // SAFETY: the callback stays as long as the process, as does the library.
        unsafe { pg_sys::RegisterXactCallback(Some(at_end), std::ptr::null_mut()) }
    }
    IS_ASKED.store(true, Release);
}

#[pg_guard]
unsafe extern "C-unwind" fn at_end(
    event: pg_sys::XactEvent::Type,
    _argument: *mut std::ffi::c_void,
) {
    use pg_sys::XactEvent::{XACT_EVENT_ABORT, XACT_EVENT_COMMIT, XACT_EVENT_PRE_PREPARE};
    if event == XACT_EVENT_PRE_PREPARE && IS_ASKED.load(Acquire) {
        // Another session may commit it, at any time, and knows nothing of this.
        cannot_prepare();
    }
    if ![XACT_EVENT_COMMIT, XACT_EVENT_ABORT].contains(&event) {
        return;
    }
    let asked = IS_ASKED.swap(false, AcqRel);
    let f = ON_COMMIT.load(Relaxed);
    if asked && event == XACT_EVENT_COMMIT && !f.is_null() {
        // SAFETY: only `on_commit` stores there, and what it stores is such a function.
        let f: fn() = unsafe { std::mem::transmute(f) };
        f();
    }
}

/// Raises the error.
fn cannot_prepare() {
    let fault = Fault::new(
        sqlstate::NOT_SUPPORTED,
        "cannot PREPARE a transaction that has started or changed an experiment",
    )
    .detail("It goes on by itself as soon as that is committed, and only the session that has started or changed it says so.")
    .hint("End the transaction with COMMIT.");
    ErrorReport::from(fault).report(PgLogLevel::ERROR);
}
