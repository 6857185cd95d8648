//! Fast loading of a table that this transaction has created: frozen tuples by heap_multi_insert, as COPY FREEZE makes them,
//! without the detour over text.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::{
    errors::{Fault, sqlstate},
    pg::process,
};

/// Rows in one call of heap_multi_insert; COPY's own batch.
const BATCH: usize = 1000;

/// How the rows of `pgbench_accounts` differ: everything else in them is constant.
#[derive(Clone, Copy)]
pub struct Accounts {
    /// Rows of one branch.
    pub per_branch: u64,
    /// Rows in all.
    pub rows: u64,
    /// Whether aid is bigint.
    pub wide: bool,
}

/// Loads pgbench_accounts in the current transaction, which must have created it. `progress` gets the rows done so far.
pub fn accounts(
    table: &str,
    accounts: Accounts,
    mut progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let name = CString::new(table).map_err(|e| Fault::new(sqlstate::INTERNAL, e.to_string()))?;
    // SAFETY: in a transaction that has created the table and that nobody else can see, which is what makes frozen tuples
    // right. Every tuple is made once by the server's own function from the table's descriptor (int4 or int8, int4, int4,
    // char(84): the fixed-width columns stand first and none is null, so that their places are known), and owned by its
    // slot. The batch's memory is reset after each call. On errors the transaction's abort frees all of it.
    unsafe {
        let oid = pg_sys::get_relname_relid(
            name.as_ptr(),
            pg_sys::get_namespace_oid(c"public".as_ptr(), false),
        );
        let relation = pg_sys::table_open(oid, pg_sys::RowExclusiveLock as i32);
        let descriptor = (*relation).rd_att;
        let mut slots: Vec<*mut pg_sys::TupleTableSlot> = Vec::with_capacity(BATCH);
        let mut rows: Vec<*mut u8> = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            let tuple = row(descriptor, accounts.wide);
            let data = (*tuple).t_data as *mut u8;
            rows.push(data.add((*(*tuple).t_data).t_hoff as usize));
            let slot =
                pg_sys::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsHeapTuple);
            pg_sys::ExecStoreHeapTuple(tuple, slot, true);
            slots.push(slot);
        }
        let bulk = pg_sys::GetBulkInsertState();
        let memory = pg_sys::AllocSetContextCreateInternal(
            pg_sys::CurrentMemoryContext,
            c"pgfsbench load".as_ptr(),
            pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        );
        let command = pg_sys::GetCurrentCommandId(true);
        let mut done = 0;
        while done < accounts.rows {
            let count = (accounts.rows - done).min(BATCH as u64);
            for (i, row) in rows.iter().take(count as usize).enumerate() {
                let n = done + i as u64;
                let bid = (n / accounts.per_branch) as i32 + 1;
                if accounts.wide {
                    (*row as *mut i64).write(n as i64 + 1);
                    (row.add(8) as *mut i32).write(bid);
                } else {
                    (*row as *mut i32).write(n as i32 + 1);
                    (row.add(4) as *mut i32).write(bid);
                }
            }
            let before = pg_sys::MemoryContextSwitchTo(memory);
            pg_sys::heap_multi_insert(
                relation,
                slots.as_mut_ptr(),
                count as i32,
                command,
                (pg_sys::HEAP_INSERT_SKIP_FSM | pg_sys::HEAP_INSERT_FROZEN) as i32,
                bulk,
            );
            pg_sys::MemoryContextSwitchTo(before);
            pg_sys::MemoryContextReset(memory);
            done += count;
            process::check_interrupts();
            progress(done)?;
        }
        pg_sys::FreeBulkInsertState(bulk);
        for slot in slots {
            pg_sys::ExecDropSingleTupleTableSlot(slot);
        }
        pg_sys::MemoryContextDelete(memory);
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
    }
    Ok(())
}

/// A row with aid and bid 0, abalance 0 and a filler of blanks.
///
/// # Safety
/// `descriptor` must be that of pgbench_accounts.
unsafe fn row(descriptor: pg_sys::TupleDesc, wide: bool) -> pg_sys::HeapTuple {
    let blanks = super::plan::text_datum(&" ".repeat(84));
    let aid = if wide {
        pg_sys::Datum::from(0_i64)
    } else {
        pg_sys::Datum::from(0_i32)
    };
    let zero = pg_sys::Datum::from(0_i32);
    let mut values = [aid, zero, zero, blanks];
    let mut nulls = [false; 4];
    // SAFETY: four values for the four columns; bpchar and text have the same form.
    unsafe { pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr()) }
}
