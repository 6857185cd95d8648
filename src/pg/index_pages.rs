//! An index that is written by pages, from rows in the order of their keys: no scan of the table and no sort, as CREATE INDEX has them. The server has made
//! the index without rows before, and no session reads it before all pages are written. Several processes can write it: each the leaves of its rows, and one
//! the pages above them, which follow from the keys alone.

use std::ops::Range;

use pgfsbench_core::btree::{Column, Page, Place, Root, Tree};
use pgrx::pg_sys;

use crate::{
    errors::{Fault, sqlstate},
    pg::{
        pages::{Fork, Pages},
        process, relation, scan_version as version,
    },
};

/// Pages that are logged and written together.
const BATCH: usize = 32;
/// First word of the page of an index that tells where its root is, behind the page's header of 24 bytes.
const MAGIC: u32 = 0x0005_3162;
const META: usize = 24;

/// An index that is being written.
pub struct Index {
    tree: Tree,
    writer: Writer,
}

struct Writer {
    fork: Fork,
    pages: Box<Pages>,
    blocks: Vec<pg_sys::BlockNumber>,
    /// Blocks that this process writes.
    own: Range<u32>,
}

/// Makes the file of an index long enough for its leaves: processes that write parts of it do not make segments of the file at the same time. Not in
/// the transaction that has created the index: with wal_level minimal, its end reads the empty pages into shared buffers, where they stay.
pub fn reserve(name: &str, leaves: u32) -> Result<(), Fault> {
    let mut pages = Pages::new();
    // SAFETY: no session reads the index yet; the last leaf is written by its loader later. The storage manager makes all segments before the last one.
    unsafe {
        let index = relation::open_index(name, pg_sys::RowExclusiveLock)?;
        let storage = pg_sys::RelationGetSmgr(index);
        let zeros = pages.0[0].as_mut_ptr().cast();
        let main = pg_sys::ForkNumber::MAIN_FORKNUM;
        pg_sys::smgrextend(storage, main, leaves, zeros, false);
        pg_sys::index_close(index, pg_sys::NoLock as pg_sys::LOCKMODE);
    }
    Ok(())
}

impl Index {
    /// Opens an index of schema public with these columns, which the current transaction has created and which has no row in it yet.
    pub fn open(name: &str, columns: &[Column]) -> Result<Self, Fault> {
        let lock = pg_sys::AccessExclusiveLock;
        Self::with_tree(name, lock, Tree::new(columns), 1..u32::MAX, true)
    }

    /// Opens an index to write these leaves of it, after [`reserve`]. No session reads it before all of it is written.
    pub fn open_leaves(name: &str, columns: &[Column], leaves: Range<u32>) -> Result<Self, Fault> {
        let tree = Tree::in_parts(columns, leaves.start, leaves.end - 1);
        let lock = pg_sys::RowExclusiveLock;
        Self::with_tree(name, lock, tree, leaves, false)
    }

    /// Opens an index to write the pages above its leaves, after [`reserve`]. It needs all keys, and no places.
    pub fn open_above(name: &str, columns: &[Column], leaves: u32) -> Result<Self, Fault> {
        let tree = Tree::in_parts(columns, 1, leaves);
        let lock = pg_sys::RowExclusiveLock;
        Self::with_tree(name, lock, tree, leaves + 1..u32::MAX, false)
    }

    fn with_tree(
        name: &str,
        lock: u32,
        tree: Tree,
        own: Range<u32>,
        is_new: bool,
    ) -> Result<Self, Fault> {
        // SAFETY: on errors the transaction's abort closes the index.
        let fork = unsafe {
            let relation = relation::open_index(name, lock)?;
            Fork::of(relation, pg_sys::ForkNumber::MAIN_FORKNUM, is_new)
        };
        Ok(Self {
            tree,
            writer: Writer {
                fork,
                pages: Pages::new(),
                blocks: Vec::with_capacity(BATCH),
                own,
            },
        })
    }

    /// Adds the entry of a row, whose key is above all others.
    pub fn push(&mut self, key: &[i64], place: Place) -> Result<(), Fault> {
        let writer = &mut self.writer;
        self.tree
            .push(key, place, &mut |block, page| writer.add(block, page))
    }

    /// Adds a key to the pages above the leaves.
    pub fn push_key(&mut self, key: &[i64]) -> Result<(), Fault> {
        let place = Place {
            block: 0,
            number: 1,
        };
        self.push(key, place)
    }

    /// Ends a part, before the part that begins with this key; None behind the last one.
    pub fn finish_part(&mut self, next: Option<&[i64]>) -> Result<(), Fault> {
        let writer = &mut self.writer;
        self.tree
            .finish_part(next, &mut |block, page| writer.add(block, page))
    }

    /// Writes what is left of a part, and has it on disk if the server syncs.
    pub fn close_part(mut self) {
        self.writer.flush();
        // SAFETY: the index is open, and is closed last.
        unsafe {
            self.writer.sync();
            let relation = self.writer.fork.relation;
            pg_sys::index_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        }
    }

    /// Writes what is left, has all of it on disk if the server syncs, and tells the server how large the index is.
    pub fn finish(mut self) -> Result<(), Fault> {
        let writer = &mut self.writer;
        let root = self
            .tree
            .finish(&mut |block, page| writer.add(block, page))?;
        writer.flush();
        // SAFETY: the index is open, and is closed last.
        unsafe {
            if let Some(root) = root {
                writer.sync();
                writer.set_root(root)?;
            }
            version::set_size(
                writer.fork.relation,
                self.tree.blocks(),
                self.tree.rows(),
                0,
            );
            pg_sys::index_close(writer.fork.relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        }
        Ok(())
    }
}

impl Writer {
    fn add(&mut self, block: u32, page: &Page) -> Result<(), Fault> {
        if !self.own.contains(&block) {
            return Ok(());
        }
        self.pages.0[self.blocks.len()] = *page;
        self.blocks.push(block);
        if self.blocks.len() == BATCH {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        let pages = &mut self.pages.0[..self.blocks.len()];
        // SAFETY: an open index, whose main fork the server has made; the pages live until the calls return. A block may come after one behind it:
        // the file has a hole meanwhile.
        unsafe {
            self.fork.log(pages, &self.blocks);
            for (page, block) in pages.iter_mut().zip(&self.blocks) {
                let storage = pg_sys::RelationGetSmgr(self.fork.relation);
                let data = page.as_mut_ptr().cast();
                pg_sys::smgrextend(storage, self.fork.number, *block, data, true);
            }
        }
        self.blocks.clear();
        process::check_interrupts();
    }

    /// As the server's own index builds do: the checkpointer does not know of pages that were written past shared buffers.
    ///
    /// # Safety
    /// The index is open.
    unsafe fn sync(&self) {
        // SAFETY: the caller's duty.
        unsafe {
            let storage = pg_sys::RelationGetSmgr(self.fork.relation);
            pg_sys::smgrimmedsync(storage, self.fork.number);
        }
    }

    /// Tells the server where the root is. The page is in shared buffers, since foreign keys have had it read.
    ///
    /// # Safety
    /// The index is open.
    unsafe fn set_root(&self, root: Root) -> Result<(), Fault> {
        // SAFETY: the page belongs to this process while it has the lock; its contents are those of the server's BTMetaPageData: magic and version, then
        // root and level, then both of the fast root.
        unsafe {
            let buffer = pg_sys::ReadBufferExtended(
                self.fork.relation,
                self.fork.number,
                0,
                pg_sys::ReadBufferMode::RBM_NORMAL,
                std::ptr::null_mut(),
            );
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_EXCLUSIVE as _);
            let words = pg_sys::BufferGetPage(buffer).add(META).cast::<u32>();
            let found = words.read();
            if found == MAGIC {
                // A failure between the change and its record of WAL must not leave the change.
                pg_sys::CritSectionCount += 1;
                for (word, value) in [root.block, root.level, root.block, root.level]
                    .into_iter()
                    .enumerate()
                {
                    words.add(2 + word).write(value);
                }
                pg_sys::MarkBufferDirty(buffer);
                if self.fork.is_logged {
                    pg_sys::log_newpage_buffer(buffer, true);
                }
                pg_sys::CritSectionCount -= 1;
            }
            pg_sys::UnlockReleaseBuffer(buffer);
            match found {
                MAGIC => Ok(()),
                other => Err(Fault::new(
                    sqlstate::INTERNAL,
                    format!("an index begins with {other:#x}"),
                )),
            }
        }
    }
}
