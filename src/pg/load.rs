//! Fast loading of a table that no other session can see: frozen tuples by heap_multi_insert, as COPY FREEZE makes them, without the detour over
//! text.

use pgfsbench_core::{
    random::{Purpose, Stream},
    workload::{
        scan::{Named, Payload},
        tpcc_like::{Cell, Row},
    },
};
use pgrx::pg_sys;

use crate::{
    errors::{Fault, sqlstate},
    pg::{
        pages::{self, Part},
        process, relation,
    },
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
    progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: the columns are int4 or int8, int4, int4, char(84): the fixed-width columns stand first and none is null, so that
    // their places are known. No other session can see the table, which is what makes frozen tuples right.
    unsafe {
        fill(
            table,
            accounts.rows,
            |descriptor| account(descriptor, accounts.wide),
            |n, row| {
                let bid = (n / accounts.per_branch) as i32 + 1;
                if accounts.wide {
                    (row as *mut i64).write(n as i64 + 1);
                    (row.add(8) as *mut i32).write(bid);
                } else {
                    (row as *mut i32).write(n as i32 + 1);
                    (row.add(4) as *mut i32).write(bid);
                }
            },
            progress,
        )
    }
}

/// Loads pgbench_branches or pgbench_tellers in the current transaction, which must have created it: N columns of type int, whose
/// values `numbers` gives for each row, and a filler of nulls.
pub fn numbered<const N: usize>(
    table: &str,
    rows: u64,
    numbers: impl Fn(u64) -> [i32; N],
) -> Result<(), Fault> {
    let make = |descriptor| {
        let mut values = vec![pg_sys::Datum::from(0_i32); N + 1];
        let mut nulls = vec![false; N];
        nulls.push(true);
        // SAFETY: as many values as the tables have columns, the last of which is null.
        unsafe { pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr()) }
    };
    // SAFETY: the columns of four bytes stand first and none is null, so that their places are known. No other session can see the
    // table, which is what makes frozen tuples right.
    unsafe {
        fill(
            table,
            rows,
            make,
            |n, row| (row as *mut [i32; N]).write(numbers(n)),
            |_| Ok(()),
        )
    }
}

/// Loads rows into a table, in the current transaction, which must have created it. `make` calls what it gets with each row.
pub fn rows(
    table: &str,
    make: impl FnOnce(&mut dyn FnMut(&Row) -> Result<(), Fault>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: no other session can see the table, which is what makes frozen tuples right. Tuples are made by the server's own function
    // from the table's descriptor, in memory that is reset when they are written and their slots are cleared. On errors the
    // transaction's abort frees all of it.
    unsafe {
        let relation = relation::open(table, pg_sys::RowExclusiveLock)?;
        let descriptor = (*relation).rd_att;
        let mut slots: Vec<*mut pg_sys::TupleTableSlot> = (0..BATCH)
            .map(|_| {
                pg_sys::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsHeapTuple)
            })
            .collect();
        let bulk = pg_sys::GetBulkInsertState();
        let memory = batch_memory();
        let command = pg_sys::GetCurrentCommandId(true);
        let mut filled = 0;
        let mut values = Vec::new();
        let mut nulls = Vec::new();
        let write = |slots: &mut [*mut pg_sys::TupleTableSlot]| {
            let before = pg_sys::MemoryContextSwitchTo(memory);
            pg_sys::heap_multi_insert(
                relation,
                slots.as_mut_ptr(),
                slots.len() as i32,
                command,
                (pg_sys::HEAP_INSERT_SKIP_FSM | pg_sys::HEAP_INSERT_FROZEN) as i32,
                bulk,
            );
            pg_sys::MemoryContextSwitchTo(before);
            for slot in slots {
                pg_sys::ExecClearTuple(*slot);
            }
            pg_sys::MemoryContextReset(memory);
            process::check_interrupts();
        };
        make(&mut |row| {
            let before = pg_sys::MemoryContextSwitchTo(memory);
            values.clear();
            nulls.clear();
            for cell in &row.cells {
                values.push(datum(cell, &row.text));
                nulls.push(*cell == Cell::Null);
            }
            if values.len() != (*descriptor).natts as usize {
                return Err(Fault::new(
                    sqlstate::INTERNAL,
                    format!("a row of table {table} has {} values", values.len()),
                ));
            }
            let tuple =
                pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
            pg_sys::ExecStoreHeapTuple(tuple, slots[filled], false);
            pg_sys::MemoryContextSwitchTo(before);
            filled += 1;
            if filled == BATCH {
                write(&mut slots);
                filled = 0;
            }
            Ok(())
        })?;
        if filled > 0 {
            write(&mut slots[..filled]);
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

/// A value in the current memory context. Its column must have a type of its kind.
///
/// # Safety
/// In a transaction.
unsafe fn datum(cell: &Cell, text: &[u8]) -> pg_sys::Datum {
    match cell {
        Cell::Int(value) => pg_sys::Datum::from(*value),
        // SAFETY: the server's own functions; the text lives until the call returns.
        Cell::Decimal(value, decimals) => unsafe {
            pg_sys::Datum::from(pg_sys::int64_div_fast_to_numeric(
                *value,
                i32::from(*decimals),
            ))
        },
        Cell::Text(place) => {
            let text = &text[place.clone()];
            // SAFETY: as above.
            unsafe {
                pg_sys::Datum::from(pg_sys::cstring_to_text_with_len(
                    text.as_ptr().cast(),
                    text.len() as i32,
                ))
            }
        }
        // Microseconds since the beginning of 2000.
        Cell::Loaded => pg_sys::Datum::from(0_i64),
        Cell::Null => pg_sys::Datum::null(),
    }
}

/// Memory of a batch of rows.
///
/// # Safety
/// In a transaction; the caller deletes it.
unsafe fn batch_memory() -> pg_sys::MemoryContext {
    // SAFETY: the server's own function; the name lives as long as the process.
    unsafe {
        pg_sys::AllocSetContextCreateInternal(
            pg_sys::CurrentMemoryContext,
            c"pgfsbench load".as_ptr(),
            pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        )
    }
}

/// Loads some pages of the table of the workload `scan`: with others that load other pages in transactions of their own, or alone.
/// In a transaction, after [`pages::reserve`], which has made the files. The table must be in a database that no session reads
/// before all of them have ended, and that is dropped when one of them fails.
pub fn scanned(
    table: &str,
    payload: Payload,
    part: Part,
    seed: i64,
    progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // Each block has its own stream: a row has the same bytes, however many processes load.
    let stream = |block: u64| Stream::new((seed as u64).wrapping_add(block), 0, Purpose::Payload);
    let mut random = stream(part.blocks.start);
    let per_page = part.layout.rows_per_page;
    // SAFETY: the tables have the columns of `Payload::columns`, of which nothing is null. No session reads the table before all
    // of it is there, or it is dropped, which is what makes frozen tuples right.
    unsafe {
        match payload {
            Payload::Named(Named::Bit200) => pages::fill(
                table,
                part,
                |descriptor| bits(descriptor),
                |_, _| {},
                progress,
            ),
            Payload::Named(Named::Accounts) => pages::fill(
                table,
                part,
                |descriptor| account(descriptor, true),
                |n, row| {
                    (row as *mut i64).write(n as i64 + 1);
                    (row.add(8) as *mut i32).write((n / 100_000) as i32 + 1);
                },
                progress,
            ),
            Payload::Bytes(length) => {
                let header = if length <= 126 { 1 } else { 4 };
                pages::fill(
                    table,
                    part,
                    |descriptor| bytes(descriptor, length),
                    |n, row| {
                        if n % per_page == 0 {
                            random = stream(n / per_page);
                        }
                        let data = std::slice::from_raw_parts_mut(row.add(header), length as usize);
                        for part in data.chunks_mut(8) {
                            part.copy_from_slice(&random.bits().to_le_bytes()[..part.len()]);
                        }
                    },
                    progress,
                )
            }
        }
    }
}

/// Fills a table of schema public with copies of one row, each changed by `patch`, which gets its number and its data.
///
/// # Safety
/// In a transaction. `make` must give a tuple of the table, and `patch` must write within its data. No session may read the table
/// before it is complete, or known to be dropped.
unsafe fn fill(
    table: &str,
    all: u64,
    make: impl Fn(pg_sys::TupleDesc) -> pg_sys::HeapTuple,
    mut patch: impl FnMut(u64, *mut u8),
    mut progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: every tuple is made once by the server's own function from the table's descriptor, and owned by its
    // slot. The batch's memory is reset after each call. On errors the transaction's abort frees all of it.
    unsafe {
        let relation = relation::open(table, pg_sys::RowExclusiveLock)?;
        let descriptor = (*relation).rd_att;
        let mut slots: Vec<*mut pg_sys::TupleTableSlot> = Vec::with_capacity(BATCH);
        let mut rows: Vec<*mut u8> = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            let tuple = make(descriptor);
            let data = (*tuple).t_data as *mut u8;
            rows.push(data.add((*(*tuple).t_data).t_hoff as usize));
            let slot =
                pg_sys::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsHeapTuple);
            pg_sys::ExecStoreHeapTuple(tuple, slot, true);
            slots.push(slot);
        }
        let bulk = pg_sys::GetBulkInsertState();
        let memory = batch_memory();
        let command = pg_sys::GetCurrentCommandId(true);
        let mut next = 0;
        while next < all {
            let count = (all - next).min(BATCH as u64);
            for (i, row) in rows.iter().take(count as usize).enumerate() {
                patch(next + i as u64, *row);
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
            next += count;
            process::check_interrupts();
            progress(next)?;
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
unsafe fn account(descriptor: pg_sys::TupleDesc, wide: bool) -> pg_sys::HeapTuple {
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

/// A row with 200 bits.
///
/// # Safety
/// `descriptor` must be that of one column bit(200).
unsafe fn bits(descriptor: pg_sys::TupleDesc) -> pg_sys::HeapTuple {
    let mut content = 200_i32.to_ne_bytes().to_vec();
    content.extend([0xaa; 25]);
    // SAFETY: a bit string is its length in bits and its bits behind the header of all values of varying length.
    unsafe { one_value(descriptor, &content) }
}

/// A row with this many bytes.
///
/// # Safety
/// `descriptor` must be that of one column bytea.
unsafe fn bytes(descriptor: pg_sys::TupleDesc, length: u32) -> pg_sys::HeapTuple {
    // SAFETY: a bytea is its bytes behind that header.
    unsafe { one_value(descriptor, &vec![0; length as usize]) }
}

/// A row with one value of varying length.
///
/// # Safety
/// `descriptor` must be that of one column of such a type, and `content` what its values hold behind the header.
unsafe fn one_value(descriptor: pg_sys::TupleDesc, content: &[u8]) -> pg_sys::HeapTuple {
    let length = content.len() + pg_sys::VARHDRSZ;
    // SAFETY: the memory is as long as header and content; it is freed with the transaction.
    unsafe {
        let value = pg_sys::palloc0(length) as *mut u8;
        pgrx::set_varsize_4b(value as *mut pg_sys::varlena, length as i32);
        std::ptr::copy_nonoverlapping(content.as_ptr(), value.add(pg_sys::VARHDRSZ), content.len());
        let mut values = [pg_sys::Datum::from(value)];
        let mut nulls = [false];
        pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr())
    }
}
