//! A `SELECT count(*)` as psql's would be: parsed, planned and executed by the server's own functions, with parallel workers,
//! and without instrumentation, which would cost time in each row. What is known of it comes from what the executor keeps anyway.

use std::ffi::{CStr, CString};

use pgrx::{pg_guard, pg_sys};

use crate::{
    clock,
    errors::{Fault, sqlstate},
    pg::{process, scan_version, version},
};

/// The figures of a scan.
#[derive(Clone, Debug, Default)]
pub struct ScanFigures {
    /// Rows that it counted.
    pub rows: i64,
    /// From the text of the statement to its end.
    pub ns: u64,
    /// Part of it: parsing and planning.
    pub planning_ns: u64,
    /// Workers of the plan.
    pub planned: u32,
    /// Workers that there were.
    pub launched: u32,
    /// Blocks found in shared buffers, by all processes.
    pub hit: u64,
    /// Blocks read into shared buffers, by all processes.
    pub read: u64,
    /// Time of these reads, all processes added up; 0 unless track_io_timing is on.
    pub read_ns: u64,
    /// Blocks of each worker, whether found or read.
    pub worker_blocks: Vec<u64>,
    /// Blocks of the process that leads them.
    pub leader_blocks: u64,
    /// The plan, JSON.
    pub plan: String,
}

/// The beginning of the server's own structure of this name (execParallel.h), which pgrx does not know; the same from 15 to 18.
#[repr(C)]
struct ParallelExecutorInfo {
    planstate: *mut pg_sys::PlanState,
    context: *mut pg_sys::ParallelContext,
    buffer_usage: *mut pg_sys::BufferUsage,
}

/// Takes the only row. That is when the workers have ended, and what they have counted is still there.
#[repr(C)]
struct Receiver {
    base: pg_sys::DestReceiver,
    gather: *mut pg_sys::GatherState,
    scanned: *mut ScanFigures,
}

#[pg_guard]
unsafe extern "C-unwind" fn receive(
    slot: *mut pg_sys::TupleTableSlot,
    receiver: *mut pg_sys::DestReceiver,
) -> bool {
    // SAFETY: the executor gives back the receiver that `count` has made, and a row of one bigint; the shared memory with the
    // workers' counters stays until the executor ends.
    unsafe {
        let receiver = &mut *(receiver as *mut Receiver);
        let scanned = &mut *receiver.scanned;
        if ((*slot).tts_nvalid as i32) < 1 {
            pg_sys::slot_getsomeattrs_int(slot, 1);
        }
        scanned.rows = (*(*slot).tts_values).value() as i64;
        if !receiver.gather.is_null() {
            let gather = &*receiver.gather;
            scanned.launched = gather.nworkers_launched as u32;
            let info = gather.pei as *const ParallelExecutorInfo;
            if !info.is_null() && !(*info).buffer_usage.is_null() {
                scanned.worker_blocks = (0..scanned.launched as usize)
                    .map(|worker| blocks(&*(*info).buffer_usage.add(worker)))
                    .collect();
            }
        }
    }
    true
}

#[pg_guard]
unsafe extern "C-unwind" fn start_up(
    _receiver: *mut pg_sys::DestReceiver,
    _operation: i32,
    _row: pg_sys::TupleDesc,
) {
}

#[pg_guard]
unsafe extern "C-unwind" fn shut_down(_receiver: *mut pg_sys::DestReceiver) {}

fn blocks(usage: &pg_sys::BufferUsage) -> u64 {
    (usage.shared_blks_hit + usage.shared_blks_read) as u64
}

fn statement(table: &str) -> Result<CString, Fault> {
    CString::new(format!("SELECT count(*) FROM {table}"))
        .map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))
}

/// Parses and plans a query.
///
/// # Safety
/// In a transaction with an active snapshot; what it gives lives as long as the memory context.
unsafe fn planned_statement(text: &CStr) -> *mut pg_sys::PlannedStmt {
    // SAFETY: as exec_simple_query does it.
    unsafe {
        let trees = pg_sys::pg_parse_query(text.as_ptr());
        let tree = (*(*trees).elements).ptr_value as *mut pg_sys::RawStmt;
        let queries = pg_sys::pg_analyze_and_rewrite_fixedparams(
            tree,
            text.as_ptr(),
            std::ptr::null(),
            0,
            std::ptr::null_mut(),
        );
        let query = (*(*queries).elements).ptr_value as *mut pg_sys::Query;
        pg_sys::pg_plan_query(
            query,
            text.as_ptr(),
            pg_sys::CURSOR_OPT_PARALLEL_OK as i32,
            std::ptr::null_mut(),
            #[cfg(since = "19")]
            std::ptr::null_mut(),
        )
    }
}

/// Only plans the query of [`count`], and gives those settings of costs by which its expressions are to be compiled, inlined and
/// optimized; none where they are interpreted. In a transaction with a snapshot.
pub fn compiled_by(table: &str) -> Result<Vec<&'static str>, Fault> {
    let text = statement(table)?;
    // SAFETY: in a transaction with a snapshot, the caller's duty.
    let flags = unsafe { (*planned_statement(&text)).jitFlags } as u32;
    let settings = [
        (pg_sys::PGJIT_PERFORM, "jit_above_cost"),
        (pg_sys::PGJIT_INLINE, "jit_inline_above_cost"),
        (pg_sys::PGJIT_OPT3, "jit_optimize_above_cost"),
    ];
    let set = settings.into_iter().filter(|(flag, _)| flags & flag != 0);
    Ok(set.map(|(_, name)| name).collect())
}

/// Runs `SELECT count(*) FROM table`. In a transaction with a snapshot, outside of SPI.
pub fn count(table: &str) -> Result<ScanFigures, Fault> {
    let text = statement(table)?;
    let mut scanned = ScanFigures::default();
    let mut receiver = Receiver {
        base: pg_sys::DestReceiver {
            receiveSlot: Some(receive),
            rStartup: Some(start_up),
            rShutdown: Some(shut_down),
            rDestroy: Some(shut_down),
            mydest: pg_sys::CommandDest::DestNone,
        },
        gather: std::ptr::null_mut(),
        scanned: &raw mut scanned,
    };
    // SAFETY: as exec_simple_query does it: in a transaction with an active snapshot, everything allocated in the memory of the
    // transaction. The receiver lives until the executor has ended; on errors the abort of the transaction ends it,
    // and its workers.
    unsafe {
        let (before, read_before) = (pg_sys::pgBufferUsage, version::block_io_times().0);
        let began = clock::now_ns();
        let plan = planned_statement(&text);
        let planned = clock::now_ns();
        let running = pg_sys::CreateQueryDesc(
            plan,
            text.as_ptr(),
            pg_sys::GetActiveSnapshot(),
            std::ptr::null_mut(),
            &raw mut receiver.base,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            0,
        );
        pg_sys::ExecutorStart(running, 0);
        receiver.gather = gather_below((*running).planstate);
        scan_version::executor_run(running);
        pg_sys::ExecutorFinish(running);
        let finished = clock::now_ns();
        if !receiver.gather.is_null() {
            let gather = (*receiver.gather).ps.plan as *const pg_sys::Gather;
            scanned.planned = (*gather).num_workers as u32;
        }
        let (after, read_after) = (pg_sys::pgBufferUsage, version::block_io_times().0);
        scanned.plan = explain(running);
        let explained = clock::now_ns();
        pg_sys::ExecutorEnd(running);
        pg_sys::FreeQueryDesc(running);
        let ended = clock::now_ns();
        scanned.planning_ns = planned - began;
        scanned.ns = (finished - began) + (ended - explained);
        scanned.hit = (after.shared_blks_hit - before.shared_blks_hit) as u64;
        scanned.read = (after.shared_blks_read - before.shared_blks_read) as u64;
        scanned.read_ns = read_after.saturating_sub(read_before);
    }
    let by_workers: u64 = scanned.worker_blocks.iter().sum();
    scanned.leader_blocks = (scanned.hit + scanned.read).saturating_sub(by_workers);
    Ok(scanned)
}

/// The first Gather on the way down; null when the plan is not parallel.
///
/// # Safety
/// A plan that the executor has initialized.
unsafe fn gather_below(mut state: *mut pg_sys::PlanState) -> *mut pg_sys::GatherState {
    // SAFETY: nodes of a tree, each of the type that its tag says.
    unsafe {
        while !state.is_null() {
            if (*state).type_ == pg_sys::NodeTag::T_GatherState {
                return state as *mut pg_sys::GatherState;
            }
            state = (*state).lefttree;
        }
    }
    std::ptr::null_mut()
}

/// The plan, as EXPLAIN (FORMAT JSON) shows it.
///
/// # Safety
/// The query runs, and has not ended.
unsafe fn explain(running: *mut pg_sys::QueryDesc) -> String {
    // SAFETY: as ExplainOnePlan does it, without instrumentation.
    unsafe {
        let state = pg_sys::NewExplainState();
        (*state).costs = true;
        (*state).format = pg_sys::ExplainFormat::EXPLAIN_FORMAT_JSON;
        pg_sys::ExplainBeginOutput(state);
        pg_sys::ExplainOpenGroup(c"Query".as_ptr(), std::ptr::null(), true, state);
        pg_sys::ExplainPrintPlan(state, running);
        pg_sys::ExplainCloseGroup(c"Query".as_ptr(), std::ptr::null(), true, state);
        pg_sys::ExplainEndOutput(state);
        CStr::from_ptr((*(*state).str_).data)
            .to_string_lossy()
            .into_owned()
    }
}

/// Writes out what shared buffers hold of a table, and has them forget it. In a transaction.
pub fn empty_buffers(table: u32) -> Result<(), Fault> {
    // SAFETY: no page is lost: all that were changed are written first, and the lock keeps everybody else from changing
    // them. It is not the strongest one, which would be logged and take a transaction id; readers, of which the lock does not keep anybody,
    // are not there in a database of our own, and would only be waited for.
    unsafe {
        let relation = pg_sys::table_open(table.into(), pg_sys::ExclusiveLock as i32);
        pg_sys::FlushRelationBuffers(relation);
        let storage = pg_sys::RelationGetSmgr(relation);
        let mut fork = pg_sys::ForkNumber::MAIN_FORKNUM;
        let mut from: pg_sys::BlockNumber = 0;
        scan_version::drop_relation_buffers(storage, &raw mut fork, &raw mut from);
        pg_sys::table_close(relation, pg_sys::ExclusiveLock as i32);
    }
    Ok(())
}

/// Reads all blocks of a table into shared buffers, as pg_prewarm does; gives how many there are, and how many
/// of them were there already. In a transaction.
pub fn fill_buffers(table: u32) -> Result<(u64, u64), Fault> {
    // SAFETY: each buffer is released as soon as it is read; closed in the end, or by the transaction's abort.
    unsafe {
        let hit = pg_sys::pgBufferUsage.shared_blks_hit;
        let relation = pg_sys::table_open(table.into(), pg_sys::AccessShareLock as i32);
        let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
        let blocks = pg_sys::RelationGetNumberOfBlocksInFork(relation, fork);
        for block in 0..blocks {
            let buffer = pg_sys::ReadBufferExtended(
                relation,
                fork,
                block,
                pg_sys::ReadBufferMode::RBM_NORMAL,
                std::ptr::null_mut(),
            );
            pg_sys::ReleaseBuffer(buffer);
            process::check_interrupts();
        }
        pg_sys::table_close(relation, pg_sys::AccessShareLock as i32);
        let found = pg_sys::pgBufferUsage.shared_blks_hit - hit;
        Ok((u64::from(blocks), found as u64))
    }
}

/// How many blocks a table has, and on how many of them no row has come, gone or changed since vacuum. The server
/// takes a page out of the visibility map in the moment in which it does that, whether or not it is committed, and only vacuum puts
/// it back. Who only locks a row leaves the page in it. In a transaction.
pub fn unchanged_blocks(table: u32) -> Result<(u64, u64), Fault> {
    let mut visible = 0;
    // SAFETY: an open table, closed again, or by the transaction's abort.
    unsafe {
        let relation = pg_sys::table_open(table.into(), pg_sys::AccessShareLock as i32);
        let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
        let blocks = pg_sys::RelationGetNumberOfBlocksInFork(relation, fork);
        pg_sys::visibilitymap_count(relation, &raw mut visible, std::ptr::null_mut());
        pg_sys::table_close(relation, pg_sys::AccessShareLock as i32);
        Ok((u64::from(blocks), u64::from(visible)))
    }
}

/// Wait events of the processes of a parallel query at this moment, its leader and its workers: `wait_event_info` each, 0
/// for those that work.
pub fn each_wait(leader: i32, mut see: impl FnMut(u32)) {
    // SAFETY: entries in shared memory that stays; what is read may be a moment old. A leader without workers leads no group.
    unsafe {
        let leader = pg_sys::BackendPidGetProc(leader);
        if leader.is_null() {
            return;
        }
        let all = &*pg_sys::ProcGlobal;
        for index in 0..all.allProcCount as usize {
            let proc = all.allProcs.add(index);
            let is_of_it = proc == leader || (*proc).lockGroupLeader == leader;
            if is_of_it && (*proc).pid != 0 {
                see(std::ptr::read_volatile(&raw const (*proc).wait_event_info));
            }
        }
    }
}
