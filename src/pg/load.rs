//! Fast loading of a table that no other session can see: frozen tuples, as COPY FREEZE makes them, without the detour over text. Rows of one length are
//! written by pages, others by heap_multi_insert; primary keys are written by pages, from the rows in their order.

use std::ops::Range;

use pgfsbench_core::{
    btree::{Column, Place},
    loading::{Cell, Model, Row},
};
use pgrx::pg_sys;

use crate::{
    errors::{Fault, sqlstate},
    pg::{
        index_pages::Index,
        pages::{self, Layout},
        process, relation, scan_version as version,
    },
};

/// Rows in one call of heap_multi_insert; COPY's own batch.
const BATCH: usize = 1000;

/// Rows of one length: copies of a row.
#[derive(Clone, Copy)]
pub struct Copies<'a> {
    /// Table in schema public.
    pub table: &'a str,
    /// Values of its columns. Those of fixed width stand first.
    pub model: &'a [Model],
}

impl Copies<'_> {
    /// Loads this many copies by way of shared buffers, in the current transaction, which must have created the table. `patch` changes each: it gets
    /// its number, from 0, and its data, in which columns of varying length must stay as they are. `progress` gets the rows done so far.
    pub fn load(
        self,
        rows: u64,
        patch: impl FnMut(u64, &mut [u8]),
        progress: impl FnMut(u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        // SAFETY: no other session can see the table, which is what makes frozen tuples right.
        unsafe { fill(self, rows, patch, progress) }
    }

    /// Writes the pages of a part of the table. In a transaction, after [`pages::reserve`], which has made the files. The table must be in a database
    /// that no session reads before all parts are loaded, and that is dropped when one of them fails.
    pub fn write_pages(
        self,
        part: pages::Part,
        patch: impl FnMut(u64, &mut [u8]),
        progress: impl FnMut(u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        // SAFETY: the tuple is made of the table that is open. No session reads the table before all of it is there, or it is dropped, which is what makes
        // frozen tuples right.
        unsafe {
            let make = |relation| tuple(relation, self.model);
            pages::fill(self.table, part, make, patch, progress)
        }
    }
}

/// Stores how many rows a table that was written by pages and its primary key have, as a primary key that is added at last has it stored: ANALYZE
/// estimates both. In a transaction.
pub fn set_size(table: &str, key: &str, layout: Layout) -> Result<(), Fault> {
    let lock = pg_sys::ShareUpdateExclusiveLock;
    let blocks = layout.blocks() as u32;
    // SAFETY: both are open; VACUUM has found their pages as they were written.
    unsafe {
        let table = relation::open(table, lock)?;
        version::set_size(table, blocks, layout.rows, blocks);
        pg_sys::table_close(table, pg_sys::NoLock as i32);
        let key = relation::open_index(key, lock)?;
        let main = pg_sys::ForkNumber::MAIN_FORKNUM;
        let blocks = pg_sys::RelationGetNumberOfBlocksInFork(key, main);
        version::set_size(key, blocks, layout.rows, 0);
        pg_sys::index_close(key, pg_sys::NoLock as i32);
    }
    Ok(())
}

/// A primary key whose columns are whole numbers: the name of its index, and the places of its columns among those of the table.
pub struct Key<'a> {
    pub index: &'a str,
    pub columns: &'a [(usize, Column)],
    /// The part of it that the rows are; None for all of it, which the current transaction has created.
    pub part: Option<Part<'a>>,
}

/// A part of a primary key, in an index with a reserved file.
pub struct Part<'a> {
    /// Blocks of its leaves.
    pub leaves: Range<u32>,
    /// First key of the next part.
    pub next: Option<&'a [i64]>,
}

/// Rows that are written to a table together, and their keys.
struct Batch<'a> {
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
    part: Option<Part<'a>>,
}

impl<'a> Batch<'a> {
    /// # Safety
    /// In a transaction, which has created the table.
    unsafe fn open(table: &str, key: Option<Key<'a>>) -> Result<Self, Fault> {
        let columns = key.as_ref().map_or(&[][..], |key| key.columns);
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
                index: key
                    .as_ref()
                    .map(|key| match &key.part {
                        Some(part) => Index::open_leaves(key.index, &types, part.leaves.clone()),
                        None => Index::open(key.index, &types),
                    })
                    .transpose()?,
                part: key.and_then(|key| key.part),
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
                (pg_sys::HEAP_INSERT_SKIP_FSM | pg_sys::HEAP_INSERT_FROZEN) as _,
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
            match (self.index, self.part) {
                (Some(mut index), Some(part)) => {
                    index.finish_part(part.next)?;
                    index.close_part();
                }
                (Some(index), None) => index.finish()?,
                (None, _) => {}
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

/// Loads rows into a new table, and writes their part of its primary key, in the current transaction. The table must be in a database that no session reads
/// before all of it is loaded, and that is dropped if that fails. `make` calls what it gets with each row, in the order of the key.
pub fn rows(
    table: &str,
    key: Option<Key>,
    make: impl FnOnce(&mut dyn FnMut(&Row) -> Result<(), Fault>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut values, mut nulls) = (Vec::new(), Vec::new());
    // SAFETY: no session reads the table before all of it is there, or it is dropped, which is what makes frozen tuples right.
    unsafe {
        let mut batch = Batch::open(table, key)?;
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

/// Fills a table of schema public with copies of one row.
///
/// # Safety
/// In a transaction. No session may read the table before it is complete, or known to be dropped.
unsafe fn fill(
    copies: Copies,
    all: u64,
    mut patch: impl FnMut(u64, &mut [u8]),
    mut progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // SAFETY: every tuple is made once by the server's own function from the table's descriptor, and owned by its
    // slot. The batch's memory is reset after each call. On errors the transaction's abort frees all of it.
    unsafe {
        let relation = relation::open(copies.table, pg_sys::RowExclusiveLock)?;
        let descriptor = (*relation).rd_att;
        let mut slots: Vec<*mut pg_sys::TupleTableSlot> = Vec::with_capacity(BATCH);
        let mut rows: Vec<&mut [u8]> = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            let tuple = tuple(relation, copies.model)?;
            let header = (*(*tuple).t_data).t_hoff as usize;
            let data = ((*tuple).t_data as *mut u8).add(header);
            let length = (*tuple).t_len as usize - header;
            rows.push(std::slice::from_raw_parts_mut(data, length));
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
            for (n, row) in (next..next + count).zip(&mut rows) {
                patch(n, row);
            }
            let before = pg_sys::MemoryContextSwitchTo(memory);
            pg_sys::heap_multi_insert(
                relation,
                slots.as_mut_ptr(),
                count as i32,
                command,
                (pg_sys::HEAP_INSERT_SKIP_FSM | pg_sys::HEAP_INSERT_FROZEN) as _,
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

/// A tuple with these values. Refused if they do not fit the columns.
///
/// # Safety
/// In a transaction; an open table.
unsafe fn tuple(relation: pg_sys::Relation, model: &[Model]) -> Result<pg_sys::HeapTuple, Fault> {
    // SAFETY: an open table; as many values as it has columns, each of the width of its column.
    unsafe {
        let descriptor = (*relation).rd_att;
        if model.len() != (*descriptor).natts as usize {
            let message = format!("a row has {} values", model.len());
            return Err(Fault::new(sqlstate::INTERNAL, message));
        }
        let mut values = Vec::with_capacity(model.len());
        for (column, value) in (1..).zip(model) {
            let (datum, length) = match value {
                Model::Int => (pg_sys::Datum::from(0_i32), 4),
                Model::BigInt => (pg_sys::Datum::from(0_i64), 8),
                Model::Bytes(bytes) => (varying(bytes), -1),
                Model::Null => {
                    values.push(pg_sys::Datum::null());
                    continue;
                }
            };
            let type_ = pg_sys::get_atttype((*relation).rd_id, column);
            if pg_sys::get_typlen(type_) != length {
                let message = format!("column {column} cannot be {value:?}");
                return Err(Fault::new(sqlstate::INTERNAL, message));
            }
            values.push(datum);
        }
        let mut nulls: Vec<bool> = model.iter().map(|value| *value == Model::Null).collect();
        Ok(pg_sys::heap_form_tuple(
            descriptor,
            values.as_mut_ptr(),
            nulls.as_mut_ptr(),
        ))
    }
}

/// A value of varying length.
///
/// # Safety
/// In a transaction.
unsafe fn varying(bytes: &[u8]) -> pg_sys::Datum {
    let length = bytes.len() + pg_sys::VARHDRSZ;
    // SAFETY: the memory is as long as header and bytes.
    unsafe {
        let value = pg_sys::palloc0(length) as *mut u8;
        pgrx::set_varsize_4b(value as *mut pg_sys::varlena, length as i32);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.add(pg_sys::VARHDRSZ), bytes.len());
        pg_sys::Datum::from(value)
    }
}
