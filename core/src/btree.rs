//! Pages of a B-tree index, made from keys that come in their order: the bytes that CREATE INDEX writes (`_bt_buildadd` in nbtsort.c), without its scan of
//! the table and without its sort.
//!
//! Columns are whole numbers and never null, and no two rows have the same key. So a page has no duplicates to merge, and the tree needs no comparison
//! but that of a key with the one before.

#[cfg(test)]
mod tests;

/// Bytes of a page.
pub const PAGE: usize = 8192;
/// A page.
pub type Page = [u8; PAGE];

/// Bytes of a page's header.
const HEADER: usize = 24;
/// Bytes of a line pointer.
const POINTER: usize = 4;
/// Start of the special space: the two neighbours, the level and the flags of a page.
const SPECIAL: usize = PAGE - 16;
/// Bytes of an entry's header: the place of its row or of a page below, and its length.
const ENTRY: usize = 8;
/// Most bytes of an entry: four columns of eight bytes.
const MOST: usize = ENTRY + 32;
/// The entry of a page that is the upper bound of its keys. The rightmost page of a level has none.
const HIGH_KEY: usize = 1;
/// The first entry of a page that has a high key.
const FIRST: usize = 2;
/// Free bytes of a leaf that is full: fillfactor 90.
const LEAF_FREE: usize = PAGE * (100 - 90) / 100;
/// Free bytes of an inner page that is full: 70 percent, as in all B-trees.
const INNER_FREE: usize = PAGE * (100 - 70) / 100;
/// A leaf keeps room for the place of a row in its high key.
const LEAF_RESERVE: usize = 8;
/// Flags of a page.
const IS_LEAF: u16 = 1;
const IS_ROOT: u16 = 2;
/// Flag in an entry's length: the entry is a bound, and its place has the number of its columns.
const IS_BOUND: u16 = 0x2000;
/// Line pointer of an entry that is in use.
const IN_USE: u32 = 1;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    SmallInt = 2,
    Integer = 4,
    BigInt = 8,
}

/// Place of a row in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub block: u32,
    /// Number on its page, from 1.
    pub number: u16,
}

/// Root of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    pub block: u32,
    /// Levels below it.
    pub level: u32,
}

/// An entry of a page.
#[derive(Clone, Copy)]
struct Entry {
    bytes: [u8; MOST],
    length: usize,
}

impl Entry {
    fn of(bytes: &[u8]) -> Self {
        let mut entry = Self {
            bytes: [0; MOST],
            length: bytes.len(),
        };
        entry.bytes[..bytes.len()].copy_from_slice(bytes);
        entry
    }

    /// The bound below all keys, which leads to a page.
    fn below_all(block: u32) -> Self {
        let mut entry = Self::of(&[0; ENTRY]);
        entry.set_block(block);
        entry.set_bound(0);
        entry
    }

    fn set_block(&mut self, block: u32) {
        self.bytes[..2].copy_from_slice(&((block >> 16) as u16).to_ne_bytes());
        self.bytes[2..4].copy_from_slice(&(block as u16).to_ne_bytes());
    }

    fn block(&self) -> u32 {
        let half = |at: usize| u32::from(u16_at(&self.bytes, at));
        half(0) << 16 | half(2)
    }

    fn set_number(&mut self, number: u16) {
        self.bytes[4..6].copy_from_slice(&number.to_ne_bytes());
    }

    fn set_info(&mut self, flags: u16) {
        let info = self.length as u16 | flags;
        self.bytes[6..8].copy_from_slice(&info.to_ne_bytes());
    }

    /// Makes it a bound of this many columns.
    fn set_bound(&mut self, columns: u16) {
        self.set_number(columns);
        self.set_info(IS_BOUND);
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Offsets of columns behind the header of an entry, and the length of an entry that has the first of them only.
struct Layout {
    columns: Vec<(Column, usize)>,
}

impl Layout {
    fn new(columns: &[Column]) -> Self {
        let mut end = 0_usize;
        let columns = columns.iter().map(|&column| {
            let offset = end.next_multiple_of(column as usize);
            end = offset + column as usize;
            (column, offset)
        });
        Self {
            columns: columns.collect(),
        }
    }

    /// Bytes of an entry with this many columns.
    fn length(&self, columns: usize) -> usize {
        let end = columns.checked_sub(1).map_or(0, |last| {
            let (column, offset) = self.columns[last];
            offset + column as usize
        });
        (ENTRY + end).next_multiple_of(8)
    }

    fn entry(&self, key: &[i64], place: Place) -> Entry {
        let mut entry = Entry::of(&[0; MOST][..self.length(key.len())]);
        entry.set_block(place.block);
        entry.set_number(place.number);
        entry.set_info(0);
        for (&value, &(column, offset)) in key.iter().zip(&self.columns) {
            let place = &mut entry.bytes[ENTRY + offset..][..column as usize];
            match column {
                Column::SmallInt => place.copy_from_slice(&(value as i16).to_ne_bytes()),
                Column::Integer => place.copy_from_slice(&(value as i32).to_ne_bytes()),
                Column::BigInt => place.copy_from_slice(&value.to_ne_bytes()),
            }
        }
        entry
    }

    /// The shortest bound between two entries of a leaf that follow each other (`_bt_truncate`).
    fn bound(&self, left: &[u8], right: &[u8]) -> Entry {
        let differs = |&(column, offset): &(Column, usize)| {
            let place = ENTRY + offset..ENTRY + offset + column as usize;
            left[place.clone()] != right[place]
        };
        let equal = self.columns.iter().position(differs);
        let columns = equal.map_or(self.columns.len(), |equal| equal + 1);
        let mut entry = Entry::of(&right[..self.length(columns)]);
        // Bytes between the last column and the end belong to columns that are cut off.
        let (column, offset) = self.columns[columns - 1];
        let end = ENTRY + offset + column as usize;
        entry.bytes[end..].fill(0);
        entry.set_bound(columns as u16);
        entry
    }
}

/// The rightmost page of a level, to which entries are added.
struct Level {
    page: Box<Page>,
    block: u32,
    level: u32,
    /// Its last entry; [`HIGH_KEY`] while it has none.
    last: usize,
    /// Bound from which its keys go upwards: that of the page before.
    low: Option<Entry>,
}

impl Level {
    fn new(level: u32, block: u32) -> Self {
        let mut new = Self {
            page: Box::new([0; PAGE]),
            block,
            level,
            last: HIGH_KEY,
            low: None,
        };
        new.clear();
        new
    }

    /// Makes the page an empty one, with a line pointer for its high key.
    fn clear(&mut self) {
        self.page.fill(0);
        self.set_lower(HEADER + POINTER);
        self.set_upper(SPECIAL);
        self.put_u16(16, SPECIAL as u16);
        // Bytes of a page, and the version of its layout.
        self.put_u16(18, PAGE as u16 | 4);
        self.put_u32(SPECIAL + 8, self.level);
        self.put_u16(SPECIAL + 12, if self.is_leaf() { IS_LEAF } else { 0 });
        self.last = HIGH_KEY;
    }

    fn is_leaf(&self) -> bool {
        self.level == 0
    }

    fn put_u16(&mut self, at: usize, value: u16) {
        self.page[at..at + 2].copy_from_slice(&value.to_ne_bytes());
    }

    fn put_u32(&mut self, at: usize, value: u32) {
        self.page[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    }

    fn lower(&self) -> usize {
        u16_at(&self.page[..], 12).into()
    }

    fn upper(&self) -> usize {
        u16_at(&self.page[..], 14).into()
    }

    fn set_lower(&mut self, lower: usize) {
        self.put_u16(12, lower as u16);
    }

    fn set_upper(&mut self, upper: usize) {
        self.put_u16(14, upper as u16);
    }

    /// Free bytes besides a further line pointer.
    fn free(&self) -> usize {
        (self.upper() - self.lower()).saturating_sub(POINTER)
    }

    /// Whether an entry of this length has to go to the next page.
    fn is_full_for(&self, length: usize) -> bool {
        let (reserve, least) = match self.is_leaf() {
            true => (LEAF_RESERVE, LEAF_FREE),
            false => (0, INNER_FREE),
        };
        let free = self.free();
        free < length + reserve || free < least && self.last > FIRST
    }

    /// Adds an entry behind the last one. The first entry of an inner page has no columns: all keys of the page are above it.
    fn append(&mut self, entry: &Entry) {
        let number = self.last + 1;
        let is_first_inner = !self.is_leaf() && number == FIRST;
        let entry = match is_first_inner {
            true => Entry::below_all(entry.block()),
            false => *entry,
        };
        let offset = self.upper() - entry.length;
        self.page[offset..offset + entry.length].copy_from_slice(entry.bytes());
        self.set_pointer(number, offset, entry.length);
        self.set_upper(offset);
        self.set_lower(HEADER + POINTER * number);
        self.last = number;
    }

    fn pointer(number: usize) -> usize {
        HEADER + POINTER * (number - 1)
    }

    fn set_pointer(&mut self, number: usize, offset: usize, length: usize) {
        let pointer = offset as u32 | IN_USE << 15 | (length as u32) << 17;
        self.put_u32(Self::pointer(number), pointer);
    }

    fn entry(&self, number: usize) -> &[u8] {
        let pointer = u32_at(&self.page[..], Self::pointer(number));
        let (offset, length) = (pointer & 0x7fff, pointer >> 17);
        &self.page[offset as usize..][..length as usize]
    }

    /// Takes the last entry away: it becomes the bound of the page, and is the first one of the next page. Gives it, and the bound.
    fn close(&mut self, layout: &Layout, next: u32) -> (Entry, Entry) {
        let entry = Entry::of(self.entry(self.last));
        let bound = match self.is_leaf() {
            true => layout.bound(self.entry(self.last - 1), entry.bytes()),
            false => entry,
        };
        // It was added last, and so lies lowest.
        let offset = self.upper() + entry.length - bound.length;
        self.put_bound(&bound, offset, next);
        self.put_u32(Self::pointer(self.last), 0);
        self.set_lower(self.lower() - POINTER);
        (entry, bound)
    }

    /// Puts the bound of the page at this offset, below all entries, and tells which page is next.
    fn put_bound(&mut self, bound: &Entry, offset: usize, next: u32) {
        self.page[offset..offset + bound.length].copy_from_slice(bound.bytes());
        self.set_pointer(HIGH_KEY, offset, bound.length);
        self.set_upper(offset);
        self.put_u32(SPECIAL + 4, next);
    }

    /// Moves all line pointers one place forward: the rightmost page of a level has no high key.
    fn drop_high_key(&mut self) {
        let lower = self.lower();
        self.page.copy_within(HEADER + POINTER..lower, HEADER);
        self.set_lower(lower - POINTER);
    }
}

/// Leaves that this many rows take, one behind the other.
pub fn leaves(columns: &[Column], rows: u64) -> u32 {
    let length = Layout::new(columns).length(columns.len());
    let mut page = Level::new(0, 0);
    let entry = Entry::of(&[0; MOST][..length]);
    while !page.is_full_for(length) {
        page.append(&entry);
    }
    // A full page gives its last entry to the next page.
    let kept = (page.last - FIRST) as u64;
    match rows {
        0 => 0,
        _ => (rows - 1).div_ceil(kept).max(1) as u32,
    }
}

/// A tree that is being built.
pub struct Tree {
    layout: Layout,
    levels: Vec<Level>,
    /// The first block that is not used yet. Block 0 is the server's.
    next: u32,
    /// The first unused block for pages above the leaves; None: they have blocks among the leaves.
    next_inner: Option<u32>,
    /// The key that was added last.
    key: Vec<i64>,
    rows: u64,
}

impl Tree {
    /// An empty tree.
    pub fn new(columns: &[Column]) -> Self {
        assert!((1..=4).contains(&columns.len()), "one to four columns");
        Self {
            layout: Layout::new(columns),
            levels: Vec::new(),
            next: 1,
            next_inner: None,
            key: Vec::new(),
            rows: 0,
        }
    }

    /// A tree that several processes write, each a part of the leaves, and one the pages above them. This one begins with leaf `first`; behind the last one,
    /// `leaves`, stand the pages above.
    pub fn in_parts(columns: &[Column], first: u32, leaves: u32) -> Self {
        Self {
            next: first,
            next_inner: Some(leaves + 1),
            ..Self::new(columns)
        }
    }

    /// Rows that were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Blocks of the index, with the server's.
    pub fn blocks(&self) -> u32 {
        self.next_inner.unwrap_or(self.next)
    }

    /// Adds the entry of a row; panics when its key is not above the one before, which would make an index that is not sound. `write` gets
    /// pages that are complete, each with its block.
    pub fn push<E>(
        &mut self,
        key: &[i64],
        place: Place,
        write: &mut impl FnMut(u32, &Page) -> Result<(), E>,
    ) -> Result<(), E> {
        assert_eq!(key.len(), self.layout.columns.len(), "columns of a key");
        assert!(
            *key > self.key[..],
            "keys of an index are out of order: {key:?} after {:?}",
            self.key
        );
        self.key.clear();
        self.key.extend_from_slice(key);
        self.rows += 1;
        let entry = self.layout.entry(key, place);
        self.add(0, &entry, write)
    }

    /// Writes the pages that are left. None for an index without rows.
    pub fn finish<E>(
        &mut self,
        write: &mut impl FnMut(u32, &Page) -> Result<(), E>,
    ) -> Result<Option<Root>, E> {
        let mut root = None;
        let mut at = 0;
        while at < self.levels.len() {
            let is_root = at + 1 == self.levels.len();
            let level = &mut self.levels[at];
            let block = level.block;
            match (is_root, level.low) {
                (false, Some(mut low)) => {
                    low.set_block(block);
                    self.add(at + 1, &low, write)?;
                }
                _ => {
                    let flags = if level.is_leaf() { IS_LEAF } else { 0 } | IS_ROOT;
                    level.put_u16(SPECIAL + 12, flags);
                    root = Some(Root {
                        block,
                        level: level.level,
                    });
                }
            }
            let level = &mut self.levels[at];
            level.drop_high_key();
            write(block, &level.page)?;
            at += 1;
        }
        Ok(root)
    }

    /// Completes the last leaf of a part. `next` is the first key of the next part, None behind the last one. The tree of all parts ends with
    /// [`Self::finish`], which completes the leaf of its last part.
    pub fn finish_part<E>(
        &mut self,
        next: Option<&[i64]>,
        write: &mut impl FnMut(u32, &Page) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(key) = next else {
            return match self.levels.first_mut() {
                Some(leaf) => {
                    leaf.drop_high_key();
                    write(leaf.block, &leaf.page)
                }
                None => Ok(()),
            };
        };
        let first = self.layout.entry(
            key,
            Place {
                block: 0,
                number: 0,
            },
        );
        let block = self.block(0);
        let leaf = &mut self.levels[0];
        let bound = self.layout.bound(leaf.entry(leaf.last), first.bytes());
        let offset = leaf.upper() - bound.length;
        leaf.put_bound(&bound, offset, block);
        self.turn_page(0, bound, block, write)
    }

    fn add<E>(
        &mut self,
        at: usize,
        entry: &Entry,
        write: &mut impl FnMut(u32, &Page) -> Result<(), E>,
    ) -> Result<(), E> {
        if at == self.levels.len() {
            let block = self.block(at);
            let mut level = Level::new(at as u32, block);
            if at == 0 {
                // The first leaf of a part follows the last one of the part before.
                level.put_u32(SPECIAL, block - 1);
            }
            self.levels.push(level);
        }
        if self.levels[at].is_full_for(entry.length) {
            self.begin_page(at, write)?;
        }
        let level = &mut self.levels[at];
        level
            .low
            .get_or_insert_with(|| Entry::below_all(level.block));
        level.append(entry);
        Ok(())
    }

    /// Completes the page of a level, tells the level above, and begins the next page.
    fn begin_page<E>(
        &mut self,
        at: usize,
        write: &mut impl FnMut(u32, &Page) -> Result<(), E>,
    ) -> Result<(), E> {
        let next = self.block(at);
        let (first, bound) = self.levels[at].close(&self.layout, next);
        self.turn_page(at, bound, next, write)?;
        self.levels[at].append(&first);
        Ok(())
    }

    /// Writes the page of a level, which ends with this bound, tells the level above, and has an empty page follow.
    fn turn_page<E>(
        &mut self,
        at: usize,
        bound: Entry,
        next: u32,
        write: &mut impl FnMut(u32, &Page) -> Result<(), E>,
    ) -> Result<(), E> {
        let level = &mut self.levels[at];
        let before = level.block;
        write(before, &level.page)?;
        let low = level.low.replace(bound);
        if let Some(mut low) = low {
            low.set_block(before);
            self.add(at + 1, &low, write)?;
        }
        let level = &mut self.levels[at];
        level.clear();
        level.block = next;
        level.put_u32(SPECIAL, before);
        Ok(())
    }

    fn block(&mut self, at: usize) -> u32 {
        let next = match (&mut self.next_inner, at) {
            (Some(inner), 1..) => inner,
            _ => &mut self.next,
        };
        *next += 1;
        *next - 1
    }
}
