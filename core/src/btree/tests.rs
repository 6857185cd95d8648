use std::collections::BTreeMap;

use super::*;

/// The pages of an index, and its root.
struct Built {
    pages: BTreeMap<u32, Box<Page>>,
    root: Root,
    blocks: u32,
}

/// An entry as it stands on a page: place, number of columns of a bound, and data.
struct Found<'a> {
    block: u32,
    number: u16,
    is_bound: bool,
    data: &'a [u8],
}

fn build(columns: &[Column], keys: impl Iterator<Item = Vec<i64>>) -> Built {
    let mut pages = BTreeMap::new();
    let mut tree = Tree::new(columns);
    let mut write = |block: u32, page: &Page| -> Result<(), ()> {
        assert!(
            pages.insert(block, Box::new(*page)).is_none(),
            "block {block} is written once"
        );
        Ok(())
    };
    let mut rows = 0;
    for (n, key) in keys.enumerate() {
        tree.push(&key, place(n), &mut write).unwrap();
        rows += 1;
    }
    let root = tree.finish(&mut write).unwrap().expect("a root");
    assert_eq!(tree.rows(), rows);
    Built {
        pages,
        root,
        blocks: tree.blocks(),
    }
}

fn place(n: usize) -> Place {
    Place {
        block: n as u32 / 61,
        number: n as u16 % 61 + 1,
    }
}

fn entries(page: &Page) -> Vec<Found<'_>> {
    let lower = usize::from(u16_at(page, 12));
    let pointers = page[HEADER..lower].chunks_exact(POINTER);
    let entry = |pointer: &[u8]| {
        let pointer = u32_at(pointer, 0);
        assert_eq!(pointer >> 15 & 3, IN_USE);
        let bytes = &page[(pointer & 0x7fff) as usize..][..(pointer >> 17) as usize];
        let info = u16_at(bytes, 6);
        assert_eq!(usize::from(info & 0x1fff), bytes.len());
        Found {
            block: u32::from(u16_at(bytes, 0)) << 16 | u32::from(u16_at(bytes, 2)),
            number: u16_at(bytes, 4),
            is_bound: info & IS_BOUND != 0,
            data: &bytes[ENTRY..],
        }
    };
    pointers.map(entry).collect()
}

fn right_of(page: &Page) -> u32 {
    u32_at(page, SPECIAL + 4)
}

impl Built {
    fn page(&self, block: u32) -> &Page {
        &self.pages[&block]
    }

    /// The blocks of a level, from the left.
    fn level(&self, level: u32) -> Vec<u32> {
        let mut block = self.root.block;
        for above in (level + 1..=self.root.level).rev() {
            let page = self.page(block);
            assert_eq!(u32_at(page, SPECIAL + 8), above);
            let is_rightmost = right_of(page) == 0;
            block = entries(page)[usize::from(!is_rightmost)].block;
        }
        let mut blocks = Vec::new();
        while block != 0 {
            let page = self.page(block);
            assert_eq!(u32_at(page, SPECIAL), blocks.last().copied().unwrap_or(0));
            blocks.push(block);
            block = right_of(page);
        }
        blocks
    }

    /// The place that a search from the root finds for a key of integers.
    fn find(&self, key: &[i32]) -> Option<(u32, u16)> {
        let mut block = self.root.block;
        for _ in 0..self.root.level {
            let page = self.page(block);
            let is_rightmost = right_of(page) == 0;
            let entries = entries(page);
            let below = &entries[usize::from(!is_rightmost)..];
            if !is_rightmost {
                assert!(ints(&entries[0]) > key.to_vec(), "the key is on this page");
            }
            let child = below.iter().rfind(|entry| ints(entry) <= key.to_vec());
            block = child.expect("a page below").block;
        }
        let page = self.page(block);
        let has_bound = right_of(page) != 0;
        let entries = entries(page);
        let mut rows = entries[usize::from(has_bound)..].iter();
        let row = rows.find(|entry| ints(entry) == key.to_vec());
        row.map(|entry| (entry.block, entry.number))
    }
}

/// The three integers of an entry; of a bound, those that it has.
fn ints(entry: &Found) -> Vec<i32> {
    let all = entry.data.chunks_exact(4);
    let all = all.map(|bytes| i32::from_ne_bytes(bytes.try_into().unwrap()));
    match entry.is_bound {
        true => all.take(entry.number.into()).collect(),
        false => all.take(3).collect(),
    }
}

#[test]
fn leaves_have_all_rows_in_their_order() {
    let built = build(
        &[Column::BigInt],
        (0..200_000).map(|n| vec![n * 3 - 300_000]),
    );
    let mut n = 0;
    for block in built.level(0) {
        let page = built.page(block);
        let has_bound = right_of(page) != 0;
        let found = entries(page);
        if has_bound {
            assert!(found[0].is_bound && found[0].number == 1);
        }
        for entry in &found[usize::from(has_bound)..] {
            assert!(!entry.is_bound);
            let place = place(n);
            assert_eq!((entry.block, entry.number), (place.block, place.number));
            let key = (n as i64 * 3 - 300_000).to_ne_bytes();
            assert_eq!(entry.data, key);
            n += 1;
        }
    }
    assert_eq!(n, 200_000);
}

/// Sizes that `units` reckons with: 366 entries on a leaf, 285 on an inner page.
#[test]
fn pages_are_as_full_as_those_of_create_index() {
    for (rows, leaves, inner) in [
        (1, 1, vec![]),
        (366, 1, vec![]),
        (100_000, 274, vec![1]),
        (366 * 286, 286, vec![2, 1]),
    ] {
        let built = build(&[Column::Integer], (1..=rows).map(|n| vec![n]));
        assert_eq!(built.root.level as usize, inner.len(), "{rows}");
        assert_eq!(built.level(0).len(), leaves, "{rows}");
        for (level, pages) in (1..).zip(&inner) {
            assert_eq!(built.level(level).len(), *pages, "{rows}");
        }
        // Block 0 is the server's, and no block is left out.
        let blocks: Vec<u32> = built.pages.keys().copied().collect();
        assert_eq!(blocks, (1..built.blocks).collect::<Vec<_>>());
        let flags = u16_at(built.page(built.root.block), SPECIAL + 12);
        assert_eq!(flags & IS_ROOT, IS_ROOT);
    }
}

#[test]
fn every_key_is_found_from_the_root() {
    let keys = |n: i32| [n / 3000 + 1, n / 30 % 100, n % 30 - 7];
    let all = 0..20_000;
    let columns = [Column::Integer; 3];
    let built = build(
        &columns,
        all.clone().map(|n| keys(n).map(i64::from).to_vec()),
    );
    assert!(built.root.level >= 1);
    for n in all {
        let place = place(n as usize);
        let found = built.find(&keys(n));
        assert_eq!(found, Some((place.block, place.number)), "{:?}", keys(n));
    }
    assert_eq!(built.find(&[1, 1, 1000]), None);
}

#[test]
fn bounds_have_no_more_columns_than_tell_two_pages_apart() {
    let built = build(
        &[Column::Integer, Column::SmallInt, Column::Integer],
        (0..50_000).map(|n| vec![n / 10, 5, n % 10]),
    );
    let mut lengths = BTreeMap::new();
    for block in built.level(0) {
        let page = built.page(block);
        if right_of(page) != 0 {
            let bound = &entries(page)[0];
            assert_eq!(bound.data.len(), if bound.number == 1 { 8 } else { 16 });
            *lengths.entry(bound.number).or_insert(0) += 1;
        }
    }
    let found: Vec<u16> = lengths.keys().copied().collect();
    assert_eq!(found, [1, 3], "the second column never tells them apart");
}

#[test]
fn an_index_without_rows_has_no_root() {
    let mut tree = Tree::new(&[Column::Integer]);
    let root = tree.finish(&mut |_, _| -> Result<(), ()> { Err(()) });
    assert_eq!((root, tree.blocks()), (Ok(None), 1));
}

#[test]
fn an_error_of_the_writer_is_handed_on() {
    let mut tree = Tree::new(&[Column::Integer]);
    let mut pushed = (1..1000).map(|n| tree.push(&[n], place(0), &mut |_, _| Err("full")));
    assert!(pushed.any(|pushed| pushed == Err("full")));
}

#[test]
#[should_panic(expected = "out of order")]
fn keys_out_of_order_are_a_bug() {
    build(&[Column::Integer], [5, 4].into_iter().map(|n| vec![n]));
}

#[test]
#[should_panic(expected = "out of order")]
fn equal_keys_are_a_bug() {
    build(&[Column::Integer], [5, 5].into_iter().map(|n| vec![n]));
}

/// As several processes write it: each its part of the leaves, and one the pages above them.
fn build_in_parts(columns: &[Column], keys: &[Vec<i64>], ends: &[usize]) -> Built {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let parts: Vec<_> = starts.zip(ends.iter().copied()).collect();
    let of_part = |&(start, end): &(usize, usize)| leaves(columns, (end - start) as u64);
    let all = parts.iter().map(of_part).sum();
    let mut pages = BTreeMap::new();
    let mut above = Tree::in_parts(columns, 1, all);
    let mut write_above = BTreeMap::new();
    let mut first = 1;
    for (number, &(start, end)) in parts.iter().enumerate() {
        let own = first..first + of_part(&parts[number]);
        let next = keys.get(end).map(Vec::as_slice);
        let mut part = Tree::in_parts(columns, first, all);
        let mut write = |block: u32, page: &Page| -> Result<(), ()> {
            if block <= all {
                assert!(own.contains(&block), "block {block} is another part's");
                assert!(pages.insert(block, Box::new(*page)).is_none());
            }
            Ok(())
        };
        let mut write_above = |block: u32, page: &Page| -> Result<(), ()> {
            if block > all {
                write_above.insert(block, Box::new(*page));
            }
            Ok(())
        };
        for (n, key) in (start..end).zip(&keys[start..end]) {
            part.push(key, place(n), &mut write).unwrap();
            above.push(key, place(0), &mut write_above).unwrap();
        }
        part.finish_part(next, &mut write).unwrap();
        if next.is_some() {
            above.finish_part(next, &mut write_above).unwrap();
        }
        first = own.end;
    }
    let root = above.finish(&mut |block, page| -> Result<(), ()> {
        if block > all {
            write_above.insert(block, Box::new(*page));
        }
        Ok(())
    });
    assert_eq!(pages.len(), all as usize, "each leaf is written");
    pages.extend(write_above);
    assert_eq!(above.rows(), keys.len() as u64);
    Built {
        pages,
        root: root.unwrap().expect("a root"),
        blocks: above.blocks(),
    }
}

#[test]
fn parts_of_several_processes_are_one_index() {
    let columns = [Column::Integer; 3];
    let keys = |n: i32| [n / 3000 + 1, n / 30 % 100, n % 30 - 7];
    let all: Vec<Vec<i64>> = (0..60_000)
        .map(|n| keys(n).map(i64::from).to_vec())
        .collect();
    // Parts of one row, of a leaf that is just full, of one row more, and of many leaves.
    let fit = (1..1000)
        .find(|rows| leaves(&columns, rows + 1) == 2)
        .unwrap() as usize;
    for ends in [
        vec![60_000],
        vec![1, 60_000],
        vec![59_999, 60_000],
        vec![fit, 2 * fit + 1, 20_000, 20_001, 60_000],
    ] {
        let built = build_in_parts(&columns, &all, &ends);
        let blocks: Vec<u32> = built.pages.keys().copied().collect();
        assert_eq!(blocks, (1..built.blocks).collect::<Vec<_>>(), "{ends:?}");
        let mut found = 0;
        for block in built.level(0) {
            let page = built.page(block);
            let has_bound = right_of(page) != 0;
            found += entries(page).len() - usize::from(has_bound);
            assert_eq!(u16_at(page, SPECIAL + 12), IS_LEAF);
        }
        assert_eq!(found, all.len(), "{ends:?}");
        for n in (0..60_000)
            .step_by(7)
            .chain([1, fit as i32, 20_000, 59_999])
        {
            let place = place(n as usize);
            assert_eq!(
                built.find(&keys(n)),
                Some((place.block, place.number)),
                "{ends:?}: {n}"
            );
        }
    }
}

#[test]
fn leaves_are_counted_before_they_are_written() {
    for columns in [
        &[Column::Integer][..],
        &[Column::Integer, Column::SmallInt],
        &[Column::BigInt; 4],
    ] {
        let key = |n: i64| vec![n; columns.len()];
        for rows in (1..800).chain([100_000]) {
            let built = build(columns, (1..=rows as i64).map(key));
            assert_eq!(
                built.level(0).len(),
                leaves(columns, rows) as usize,
                "{rows}"
            );
        }
        assert_eq!(leaves(columns, 0), 0);
    }
}
