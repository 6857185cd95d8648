//! Loading of a table by pages that are built in memory and written to its files directly: each loader has blocks of its own,
//! so that several do not wait for each other, and the table is the same however many there were.
//!
//! The pages are those that COPY FREEZE makes: full of frozen rows, and known as all-visible, so that vacuum has nothing to do.

use std::{
    fs::File,
    io,
    ops::Range,
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::PathBuf,
    ptr,
};

use pgfsbench_core::{btree::Place, units::rows_per_page};
use pgrx::pg_sys;

use crate::{
    errors::{self, Fault, of_file, sqlstate},
    pg::{process, relation, scan_version as version, session, sql},
};

/// Bytes of a page; all that comes here has PostgreSQL's usual size.
pub const PAGE: usize = pg_sys::BLCKSZ as usize;
/// Bytes of a page's header, after which the map of visible blocks begins.
const HEADER: usize = 24;
/// Blocks that a page of that map tells of, four a byte.
const MAPPED: u64 = (PAGE as u64 - HEADER as u64) * 4;
/// Pages that are built and written together.
const BATCH: usize = 128;
/// Pages that are logged together: what one record of WAL holds.
const RECORD: usize = 32;
/// Blocks of a file of a table.
const SEGMENT: u64 = pg_sys::RELSEG_SIZE as u64;

/// Memory for some pages, aligned as direct I/O wants it.
#[repr(C, align(4096))]
pub struct Pages(pub [[u8; PAGE]; BATCH]);

impl Pages {
    pub fn new() -> Box<Self> {
        // SAFETY: bytes of which zero is a valid value.
        unsafe { Box::<Self>::new_zeroed().assume_init() }
    }
}

/// How the rows of a table lie on its pages.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Rows of the table.
    pub rows: u64,
    /// Rows on a full page.
    pub rows_per_page: u64,
}

impl Layout {
    /// Pages of the table.
    pub fn blocks(self) -> u64 {
        self.rows.div_ceil(self.rows_per_page)
    }

    /// Place of a row, from 0.
    pub fn place(self, row: u64) -> Place {
        Place {
            block: (row / self.rows_per_page) as u32,
            number: (row % self.rows_per_page) as u16 + 1,
        }
    }
}

/// The files of a table, in their order. In a transaction.
pub fn files(qualified: &str) -> Result<Vec<PathBuf>, Fault> {
    let path = sql::read(
        "SELECT pg_relation_filepath($1::regclass)",
        &[Some(qualified)],
    )?;
    let first = session::data_directory().join(path.unwrap_or_default());
    let mut files = Vec::new();
    for segment in 0.. {
        let mut path = first.clone().into_os_string();
        if segment > 0 {
            path.push(format!(".{segment}"));
        }
        let path = PathBuf::from(path);
        // One more may be there, and be empty.
        match path.metadata() {
            Ok(file) if file.len() > 0 => files.push(path),
            _ => break,
        }
    }
    Ok(files)
}

/// Opens a file of a table; for writing, since the kernel tells what it has cached of it only to those who may write.
pub fn open(path: &PathBuf) -> Result<File, Fault> {
    File::options()
        .read(true)
        .write(true)
        .open(path)
        .map_err(|e| of_file("open", path, &e))
}

/// The part of the table that one loader writes.
pub struct Part<'a> {
    /// The files of the table, in their order.
    pub files: &'a [File],
    /// How its rows lie on its pages.
    pub layout: Layout,
    /// The blocks that are this loader's.
    pub blocks: Range<u64>,
    /// Whether a crash may lose the pages: the table was created in the same transaction, or goes with its server. WAL of it is only for its readers,
    /// and wal_level tells whether there may be any.
    pub needs_no_recovery: bool,
}

/// A fork of a table or an index that is written.
pub struct Fork {
    pub relation: pg_sys::Relation,
    pub number: pg_sys::ForkNumber::Type,
    pub is_logged: bool,
}

impl Fork {
    /// # Safety
    /// An open relation, whose storage has that fork.
    pub unsafe fn of(
        relation: pg_sys::Relation,
        number: pg_sys::ForkNumber::Type,
        needs_no_recovery: bool,
    ) -> Self {
        // SAFETY: an open relation, the caller's duty; a setting of the server.
        unsafe {
            let is_permanent = (*(*relation).rd_rel).relpersistence as u8 == b'p';
            // As RelationNeedsWAL: wal_level minimal logs nothing of a table that is created in the same transaction.
            let is_logged = is_permanent && (!needs_no_recovery || pg_sys::wal_level > 0);
            Self {
                relation,
                number,
                is_logged,
            }
        }
    }

    /// Logs pages of these blocks, if it has to be, and makes them ready to be written.
    ///
    /// # Safety
    /// As [`Self::of`].
    pub unsafe fn log(&self, pages: &mut [[u8; PAGE]], blocks: &[pg_sys::BlockNumber]) {
        // SAFETY: the pages live until the calls return.
        unsafe {
            if self.is_logged {
                for (pages, blocks) in pages.chunks_mut(RECORD).zip(blocks.chunks(RECORD)) {
                    let mut addresses = [ptr::null_mut(); RECORD];
                    let mut numbers = [0; RECORD];
                    for (i, page) in pages.iter_mut().enumerate() {
                        addresses[i] = page.as_mut_ptr().cast();
                        numbers[i] = blocks[i];
                    }
                    version::log_pages(
                        self.relation,
                        self.number,
                        &mut numbers[..blocks.len()],
                        &mut addresses[..blocks.len()],
                    );
                }
            }
            for (page, block) in pages.iter_mut().zip(blocks) {
                pg_sys::PageSetChecksumInplace(page.as_mut_ptr().cast(), *block);
            }
        }
    }
}

/// The files of a table, one after the other. Many pages are written in one go, which the server's own functions do not do in all
/// versions.
struct Segments<'a>(&'a [File]);

impl Segments<'_> {
    /// Writes pages, and has the kernel begin to write them out, if the server syncs at all: a disk that begins only when memory is
    /// full of them waits until then.
    fn write(&self, mut pages: &[[u8; PAGE]], mut first: u64) -> io::Result<()> {
        while !pages.is_empty() {
            let block = first % SEGMENT;
            let (now, later) = pages.split_at(pages.len().min((SEGMENT - block) as usize));
            let file = self.of(first)?;
            let bytes = now.as_flattened();
            let offset = block * PAGE as u64;
            file.write_all_at(bytes, offset)?;
            // SAFETY: a file that is open.
            unsafe { pg_sys::pg_flush_data(file.as_raw_fd(), offset as i64, bytes.len() as i64) };
            pages = later;
            first += now.len() as u64;
        }
        Ok(())
    }

    /// Waits until the disk has all of these blocks, if the server syncs.
    fn sync(&self, blocks: Range<u64>) -> io::Result<()> {
        let segments = blocks.start / SEGMENT..blocks.end.div_ceil(SEGMENT);
        for segment in segments {
            let file = self.of(segment * SEGMENT)?;
            // SAFETY: a file that is open.
            if unsafe { pg_sys::pg_fsync(file.as_raw_fd()) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    fn of(&self, block: u64) -> io::Result<&File> {
        let file = self.0.get((block / SEGMENT) as usize);
        file.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn not_written(error: &io::Error) -> Fault {
    Fault::new(
        errors::sqlstate_of(error),
        format!("could not write a file of the table: {error}"),
    )
}

/// Makes the files of a new, empty table as long as they will be, and tells that all of its pages will be visible to everybody. In
/// the transaction that has created it only if the same one fills it. `needs_no_recovery` is that of [`Part`].
pub fn reserve(table: &str, layout: Layout, needs_no_recovery: bool) -> Result<(), Fault> {
    let blocks = layout.blocks();
    if blocks == 0 {
        return Ok(());
    }
    let mut pages = Pages::new();
    // SAFETY: no other session sees the table, or reads it before it is loaded; the last page is written by its loader later. All
    // segments before the last one are made by the storage manager.
    unsafe {
        let relation = relation::open(table, pg_sys::RowExclusiveLock)?;
        let storage = pg_sys::RelationGetSmgr(relation);
        let last = (blocks - 1) as pg_sys::BlockNumber;
        let zeros = pages.0[0].as_mut_ptr().cast();
        pg_sys::smgrextend(
            storage,
            pg_sys::ForkNumber::MAIN_FORKNUM,
            last,
            zeros,
            false,
        );
        let map = pg_sys::ForkNumber::VISIBILITYMAP_FORKNUM;
        pg_sys::smgrcreate(storage, map, false);
        let fork = Fork::of(relation, map, needs_no_recovery);
        for number in 0..blocks.div_ceil(MAPPED) {
            let page = &mut pages.0[0];
            pg_sys::PageInit(page.as_mut_ptr().cast(), PAGE, 0);
            let told = (blocks - number * MAPPED).min(MAPPED) as usize;
            // Two bits each: all-visible, and all-frozen.
            page[HEADER..HEADER + told / 4].fill(0xff);
            if !told.is_multiple_of(4) {
                page[HEADER + told / 4] = (1 << (2 * (told % 4))) - 1;
            }
            let block = number as pg_sys::BlockNumber;
            fork.log(&mut pages.0[..1], &[block]);
            let data = pages.0[0].as_mut_ptr().cast();
            // Looked up anew, since it may be closed meanwhile.
            let storage = pg_sys::RelationGetSmgr(relation);
            pg_sys::smgrextend(storage, map, block, data, false);
        }
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
    }
    Ok(())
}

/// Writes some pages of the table, with copies of one row, each changed by `patch`, which gets its number and its data; they are on
/// disk in the end, if the server syncs.
///
/// # Safety
/// In a transaction, after [`reserve`]. `make` must give a tuple of the table. No session may read the table before all of it is loaded.
pub unsafe fn fill(
    table: &str,
    part: Part,
    make: impl FnOnce(pg_sys::Relation) -> Result<pg_sys::HeapTuple, Fault>,
    mut patch: impl FnMut(u64, &mut [u8]),
    mut progress: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Part {
        files,
        layout,
        blocks,
        needs_no_recovery,
    } = part;
    let files = Segments(files);
    let mut model = [0u8; PAGE];
    let mut pages = Pages::new();
    // SAFETY: the model is a page that the server's own functions have made; places within it are those of its own line pointers.
    unsafe {
        let relation = relation::open(table, pg_sys::RowExclusiveLock)?;
        let fork = Fork::of(
            relation,
            pg_sys::ForkNumber::MAIN_FORKNUM,
            needs_no_recovery,
        );
        let tuple = make(relation)?;
        let aligned = u64::from((*tuple).t_len).next_multiple_of(8);
        let fit = rows_per_page(aligned, 100);
        if layout.rows_per_page > fit {
            let message = format!("{fit} rows fit a page, not {}", layout.rows_per_page);
            return Err(Fault::new(sqlstate::INTERNAL, message));
        }
        freeze(tuple);
        let data = (*(*tuple).t_data).t_hoff as usize;
        let length = (*tuple).t_len as usize - data;
        let first = blocks.start * layout.rows_per_page;
        let mut next = blocks.start;
        let mut filled = 0;
        while next < blocks.end {
            let count = (blocks.end - next).min(BATCH as u64) as usize;
            for (i, page) in pages.0[..count].iter_mut().enumerate() {
                let block = next + i as u64;
                let from = block * layout.rows_per_page;
                let rows = (layout.rows - from).min(layout.rows_per_page);
                if rows != filled {
                    model_page(&mut model, tuple, rows as usize);
                    filled = rows;
                }
                page.copy_from_slice(&model);
                for row in 0..rows as usize {
                    let tuple = page.as_mut_ptr().add(offset_of(&model, row));
                    let place = &raw mut (*(tuple as *mut pg_sys::HeapTupleHeaderData)).t_ctid;
                    (*place).ip_blkid.bi_hi = (block >> 16) as u16;
                    (*place).ip_blkid.bi_lo = block as u16;
                    (*place).ip_posid = row as u16 + 1;
                    let data = std::slice::from_raw_parts_mut(tuple.add(data), length);
                    patch(from + row as u64, data);
                }
            }
            let numbers: Vec<_> = (next as pg_sys::BlockNumber..).take(count).collect();
            fork.log(&mut pages.0[..count], &numbers);
            files
                .write(&pages.0[..count], next)
                .map_err(|e| not_written(&e))?;
            next += count as u64;
            process::check_interrupts();
            progress((next * layout.rows_per_page).min(layout.rows) - first)?;
        }
        // Before the commit, as in the server's own bulk writes: until then a crash may take the pages.
        files.sync(blocks).map_err(|e| not_written(&e))?;
        pg_sys::heap_freetuple(tuple);
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
    }
    Ok(())
}

/// Freezes a tuple as heap_prepare_insert does with HEAP_INSERT_FROZEN, but sets no transaction id, since none is read any more.
///
/// # Safety
/// The tuple was made by heap_form_tuple.
unsafe fn freeze(tuple: pg_sys::HeapTuple) {
    // SAFETY: the caller's duty.
    unsafe {
        let header = (*tuple).t_data;
        (*header).t_infomask &= !(pg_sys::HEAP_XACT_MASK as u16);
        (*header).t_infomask2 &= !(pg_sys::HEAP2_XACT_MASK as u16);
        (*header).t_infomask |= (pg_sys::HEAP_XMAX_INVALID | pg_sys::HEAP_XMIN_FROZEN) as u16;
        let fields = &raw mut (*header).t_choice.t_heap;
        (*fields).t_xmin = pg_sys::FrozenTransactionId;
        (*fields).t_xmax = pg_sys::InvalidTransactionId;
        (*fields).t_field3.t_cid = 0;
    }
}

/// A page with this many copies of a tuple.
///
/// # Safety
/// The copies must fit.
unsafe fn model_page(model: &mut [u8; PAGE], tuple: pg_sys::HeapTuple, rows: usize) {
    // SAFETY: the server's own functions on memory of a page.
    unsafe {
        let page = model.as_mut_ptr().cast();
        pg_sys::PageInit(page, PAGE, 0);
        for _ in 0..rows {
            pg_sys::PageAddItemExtended(
                page,
                (*tuple).t_data.cast(),
                (*tuple).t_len as usize,
                pg_sys::InvalidOffsetNumber,
                pg_sys::PAI_IS_HEAP as i32,
            );
        }
        let header = page as *mut pg_sys::PageHeaderData;
        (*header).pd_flags |= pg_sys::PD_ALL_VISIBLE as u16;
    }
}

/// Offset of a row on a page: the low 15 bits of its line pointer.
fn offset_of(page: &[u8; PAGE], row: usize) -> usize {
    let at = HEADER + row * 4;
    let pointer = u32::from_ne_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]);
    (pointer & 0x7fff) as usize
}
