//! Fast loading of a table that no other session can see: frozen tuples, as COPY FREEZE makes them, without the detour over text. Rows of one length are
//! written by pages, others by heap_multi_insert; primary keys are written by pages, from the rows in their order.

use pgfsbench_core::{
    btree::{Column, Place},
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
        index_pages::Index,
        pages::{self, Layout, Part},
        process, relation, scan_version as version,
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

impl Accounts {
    /// Writes number and branch of a row, from 0, into its data.
    ///
    /// # Safety
    /// `row` must be the data of a row of pgbench_accounts: its columns of fixed width stand first and none is null, so that their places are known.
    unsafe fn patch(self, n: u64, row: *mut u8) {
        let bid = (n / self.per_branch) as i32 + 1;
        // SAFETY: the caller's duty.
        unsafe {
            if self.wide {
                (row as *mut i64).write(n as i64 + 1);
                (row.add(8) as *mut i32).write(bid);
            } else {
                (row as *mut i32).write(n as i32 + 1);
                (row.add(4) as *mut i32).write(bid);
            }
        }
    }
}

/// Loads a table like pgbench_accounts by way of shared buffers, in the current transaction, which must have created it. `progress` gets the rows
/// done so far.
pub fn accounts(
    table: &str,
    accounts: Accounts,
    progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: the columns are int4 or int8, int4, int4, char(84). No other session can see the table, which is what makes frozen tuples right.
    unsafe {
        fill(
            table,
            accounts.rows,
            |descriptor| account(descriptor, accounts.wide),
            |n, row| accounts.patch(n, row),
            progress,
        )
    }
}

/// Writes pgbench_accounts and its primary key by pages, in the current transaction, which must have created both. `progress` gets the rows done
/// so far.
pub fn accounts_and_key(
    accounts: Accounts,
    layout: Layout,
    progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    const TABLE: &str = "pgbench_accounts";
    pages::reserve(TABLE, layout)?;
    let files = pages::files("public.pgbench_accounts")?;
    let files: Vec<_> = files.iter().map(pages::open).collect::<Result<_, _>>()?;
    let part = Part {
        files: &files,
        layout,
        blocks: 0..layout.blocks(),
        needs_no_recovery: true,
    };
    // SAFETY: as in `accounts`; the layout has as many rows on a page as fit.
    unsafe {
        pages::fill(
            TABLE,
            part,
            |descriptor| account(descriptor, accounts.wide),
            |n, row| accounts.patch(n, row),
            progress,
        )?;
    }
    let column = match accounts.wide {
        true => Column::BigInt,
        false => Column::Integer,
    };
    let mut key = Index::open("pgbench_accounts_pkey", &[column])?;
    for row in 0..accounts.rows {
        key.push(&[row as i64 + 1], layout.place(row))?;
    }
    key.finish()
}

/// Stores how many rows pgbench_accounts and its primary key have, as a primary key that is added at last has it stored: ANALYZE estimates both. In a
/// transaction.
pub fn tell_accounts(layout: Layout) -> Result<(), Fault> {
    let lock = pg_sys::ShareUpdateExclusiveLock;
    let blocks = layout.blocks() as u32;
    // SAFETY: both are open; VACUUM has found their pages as they were written.
    unsafe {
        let table = relation::open("pgbench_accounts", lock)?;
        version::set_size(table, blocks, layout.rows, blocks);
        pg_sys::table_close(table, pg_sys::NoLock as i32);
        let key = relation::open_index("pgbench_accounts_pkey", lock)?;
        let main = pg_sys::ForkNumber::MAIN_FORKNUM;
        let blocks = pg_sys::RelationGetNumberOfBlocksInFork(key, main);
        version::set_size(key, blocks, layout.rows, 0);
        pg_sys::index_close(key, pg_sys::NoLock as i32);
    }
    Ok(())
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

/// A primary key whose columns are whole numbers: the name of its index, and the places of its columns among those of the table.
pub struct Key<'a> {
    pub index: &'a str,
    pub columns: &'a [(usize, Column)],
}

/// Rows that are written to a table together, and their keys.
struct Batch {
    relation: pg_sys::Relation,
    slots: Vec<*mut pg_sys::TupleTableSlot>,
    bulk: pg_sys::BulkInsertState,
    memory: pg_sys::MemoryContext,
    command: pg_sys::CommandId,
    filled: usize,
    /// Places of the key's columns.
    columns: Vec<usize>,
    /// Keys of the rows, one behind the other.
    keys: Vec<i64>,
    index: Option<Index>,
}

impl Batch {
    /// # Safety
    /// In a transaction, which has created the table.
    unsafe fn open(table: &str, key: Option<&Key>) -> Result<Self, Fault> {
        let columns = key.map_or(&[][..], |key| key.columns);
        let types: Vec<Column> = columns.iter().map(|(_, column)| *column).collect();
        // SAFETY: the server's own functions; on errors the transaction's abort frees what they have made.
        unsafe {
            let relation = relation::open(table, pg_sys::RowExclusiveLock)?;
            let kind = &raw const pg_sys::TTSOpsHeapTuple;
            let slot = |_| pg_sys::MakeSingleTupleTableSlot((*relation).rd_att, kind);
            Ok(Self {
                relation,
                slots: (0..BATCH).map(slot).collect(),
                bulk: pg_sys::GetBulkInsertState(),
                memory: batch_memory(),
                command: pg_sys::GetCurrentCommandId(true),
                filled: 0,
                columns: columns.iter().map(|(place, _)| *place).collect(),
                keys: Vec::with_capacity(BATCH * columns.len()),
                index: key.map(|key| Index::open(key.index, &types)).transpose()?,
            })
        }
    }

    /// Adds a row. `values` and `nulls` are memory that is used again.
    ///
    /// # Safety
    /// As [`Self::open`].
    unsafe fn add(
        &mut self,
        row: &Row,
        values: &mut Vec<pg_sys::Datum>,
        nulls: &mut Vec<bool>,
    ) -> Result<(), Fault> {
        // SAFETY: tuples are made by the server's own function from the table's descriptor, in memory that is reset when they are written and
        // their slots are cleared.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.memory);
            values.clear();
            nulls.clear();
            for cell in &row.cells {
                values.push(datum(cell, &row.text));
                nulls.push(*cell == Cell::Null);
            }
            let descriptor = (*self.relation).rd_att;
            if values.len() != (*descriptor).natts as usize {
                return Err(Fault::new(
                    sqlstate::INTERNAL,
                    format!("a row has {} values", values.len()),
                ));
            }
            let tuple =
                pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
            pg_sys::ExecStoreHeapTuple(tuple, self.slots[self.filled], false);
            pg_sys::MemoryContextSwitchTo(before);
            for &column in &self.columns {
                match row.cells[column] {
                    Cell::Int(value) => self.keys.push(value),
                    ref other => {
                        let message = format!("a column of a key is {other:?}");
                        return Err(Fault::new(sqlstate::INTERNAL, message));
                    }
                }
            }
            self.filled += 1;
            match self.filled == BATCH {
                true => self.write(),
                false => Ok(()),
            }
        }
    }

    /// Writes the rows, and the entries of their keys.
    ///
    /// # Safety
    /// As [`Self::open`].
    unsafe fn write(&mut self) -> Result<(), Fault> {
        let slots = &mut self.slots[..self.filled];
        // SAFETY: as in `add`; the server stores in each slot where its row is.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.memory);
            pg_sys::heap_multi_insert(
                self.relation,
                slots.as_mut_ptr(),
                slots.len() as i32,
                self.command,
                (pg_sys::HEAP_INSERT_SKIP_FSM | pg_sys::HEAP_INSERT_FROZEN) as i32,
                self.bulk,
            );
            pg_sys::MemoryContextSwitchTo(before);
            if let Some(index) = &mut self.index {
                let keys = self.keys.chunks_exact(self.columns.len());
                for (slot, key) in slots.iter().zip(keys) {
                    index.push(key, place(&(**slot).tts_tid))?;
                }
            }
            for slot in slots {
                pg_sys::ExecClearTuple(*slot);
            }
            pg_sys::MemoryContextReset(self.memory);
        }
        self.keys.clear();
        self.filled = 0;
        process::check_interrupts();
        Ok(())
    }

    /// Writes what is left, and ends the index.
    ///
    /// # Safety
    /// As [`Self::open`].
    unsafe fn close(mut self) -> Result<(), Fault> {
        // SAFETY: what was opened is closed once.
        unsafe {
            if self.filled > 0 {
                self.write()?;
            }
            if let Some(index) = self.index {
                index.finish()?;
            }
            pg_sys::FreeBulkInsertState(self.bulk);
            for slot in self.slots {
                pg_sys::ExecDropSingleTupleTableSlot(slot);
            }
            pg_sys::MemoryContextDelete(self.memory);
            pg_sys::table_close(self.relation, pg_sys::NoLock as i32);
        }
        Ok(())
    }
}

fn place(tid: &pg_sys::ItemPointerData) -> Place {
    let block = tid.ip_blkid;
    Place {
        block: u32::from(block.bi_hi) << 16 | u32::from(block.bi_lo),
        number: tid.ip_posid,
    }
}

/// Loads rows into a table, and writes its primary key, in the current transaction, which must have created both. `make` calls what it gets with each
/// row, in the order of the key.
pub fn rows(
    table: &str,
    key: Option<Key>,
    make: impl FnOnce(&mut dyn FnMut(&Row) -> Result<(), Fault>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut values, mut nulls) = (Vec::new(), Vec::new());
    // SAFETY: the caller's transaction has created the table. No other session can see it, which is what makes frozen tuples right.
    unsafe {
        let mut batch = Batch::open(table, key.as_ref())?;
        make(&mut |row| batch.add(row, &mut values, &mut nulls))?;
        batch.close()
    }
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
