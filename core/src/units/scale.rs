//! The size of pgbench's tables at a scale, computed from the layout of tuples and pages.

use crate::refusal::Refusal;

/// The largest scale: about 14 TB, and below the limits of a table (32 TB) and of an int4 `tid`.
pub const MAX_SCALE: u32 = 1_000_000;

/// Bytes of a page, of data or of WAL, as PostgreSQL is usually built.
pub const PAGE: u64 = 8192;
const PAGE_HEADER: u64 = 24;
const LINE_POINTER: u64 = 4;
/// Accounts of one branch, which is one unit of scale.
pub const ACCOUNTS: u64 = 100_000;
/// Tellers of one branch.
pub const TELLERS: u64 = 10;
/// Heap tuples with header and alignment, from pgbench's column types (the fillers of branches and tellers are NULL). A
/// bigint aid fits the alignment of accounts' tuples.
const ACCOUNT_TUPLE: u64 = 128;
const TELLER_TUPLE: u64 = 40;
const BRANCH_TUPLE: u64 = 32;

/// Bytes of pgbench's freshly loaded tables and their primary keys at this scale, with fillfactor 100; history is empty.
/// 15 MB at scale 1.
pub fn bytes_for_scale(scale: u32) -> u64 {
    bytes_for_scale_at(scale, 100)
}

/// [`bytes_for_scale`] with a fillfactor in percent (10 to 100) of the three tables; keys are not affected, as in pgbench.
pub fn bytes_for_scale_at(scale: u32, fillfactor: u8) -> u64 {
    let branches = u64::from(scale);
    let tables = [
        (branches * ACCOUNTS, ACCOUNT_TUPLE),
        (branches * TELLERS, TELLER_TUPLE),
        (branches, BRANCH_TUPLE),
    ];
    let pages = tables.map(|(rows, tuple)| heap_pages(rows, tuple, fillfactor) + key_pages(rows));
    pages.iter().sum::<u64>() * PAGE
}

/// The smallest scale whose tables ([`bytes_for_scale`]) are at least this large; at least 1. Refuses
/// (`InvalidArgument`) a size that needs more than [`MAX_SCALE`].
pub fn scale_for_size(bytes: u64) -> Result<u32, Refusal> {
    if bytes > bytes_for_scale(MAX_SCALE) {
        let most = super::format_bytes(bytes_for_scale(MAX_SCALE));
        return Err(
            Refusal::argument(format!("size {} is too large", super::format_bytes(bytes)))
                .detail(format!("The largest scale, {MAX_SCALE}, takes {most}."))
                .hint(format!("Ask for at most {most}.")),
        );
    }
    let (mut low, mut high) = (1, MAX_SCALE);
    while low < high {
        let middle = low + (high - low) / 2;
        if bytes_for_scale(middle) >= bytes {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

/// Pages of a heap, with at least one row a page.
fn heap_pages(rows: u64, tuple: u64, fillfactor: u8) -> u64 {
    rows.div_ceil(rows_per_page(tuple, fillfactor))
}

/// Rows on a page of pgbench_accounts with this fillfactor in percent.
pub fn accounts_per_page(fillfactor: u8) -> u64 {
    rows_per_page(ACCOUNT_TUPLE, fillfactor)
}

/// Rows on a page that is full up to the fillfactor; their tuples with header and alignment.
pub fn rows_per_page(tuple: u64, fillfactor: u8) -> u64 {
    let reserved = PAGE * (100 - u64::from(fillfactor.min(100))) / 100;
    let usable = (PAGE - PAGE_HEADER).saturating_sub(reserved);
    (usable / (tuple + LINE_POINTER)).max(1)
}

/// Pages of a btree over an int4 or int8 that was built from sorted input: 366 entries a leaf (fillfactor 90), 285
/// entries an inner page (70), and the meta page.
fn key_pages(rows: u64) -> u64 {
    let mut level = rows.div_ceil(366);
    let mut pages = 1 + level;
    while level > 1 {
        level = level.div_ceil(285);
        pages += level;
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    /// relpages after `pgbench -i` of PostgreSQL 15.
    #[test]
    fn pages_are_those_of_pgbench() {
        for (scale, fillfactor, accounts, key) in [
            (1, 100, 1640, 276),
            (7, 100, 11476, 1922),
            (20, 100, 32787, 5487),
            (3, 50, 10000, 825),
        ] {
            let rows = scale * ACCOUNTS;
            assert_eq!(
                heap_pages(rows, ACCOUNT_TUPLE, fillfactor),
                accounts,
                "scale {scale}"
            );
            assert_eq!(key_pages(rows), key, "scale {scale}");
        }
        let (tellers, key) = (heap_pages(200, TELLER_TUPLE, 100), key_pages(200));
        assert_eq!((tellers, key, heap_pages(20, BRANCH_TUPLE, 100)), (2, 2, 1));
        assert_eq!(bytes_for_scale(20), (32787 + 5487 + 2 + 2 + 1 + 2) * PAGE);
    }

    #[test]
    fn known_sizes() {
        assert_eq!(super::super::format_bytes(bytes_for_scale(1)), "15 MB");
        assert_eq!(super::super::format_bytes(bytes_for_scale(100)), "1495 MB");
        assert!(bytes_for_scale(u32::MAX) > bytes_for_scale(MAX_SCALE));
    }

    #[test]
    fn too_large_a_size_is_refused() {
        assert_eq!(scale_for_size(bytes_for_scale(MAX_SCALE)), Ok(MAX_SCALE));
        let refusal = scale_for_size(u64::MAX).unwrap_err();
        check::style(&refusal);
    }

    #[test]
    fn a_small_size_is_scale_one() {
        assert_eq!((scale_for_size(0), scale_for_size(1)), (Ok(1), Ok(1)));
    }

    /// Counted on pages of pgbench -i -F.
    #[test]
    fn rows_on_a_page_of_accounts() {
        assert_eq!([100, 75, 10].map(accounts_per_page), [61, 46, 6]);
    }

    proptest! {
        #[test]
        fn a_scale_is_found_back_from_its_size(scale in 1..=MAX_SCALE) {
            let bytes = bytes_for_scale(scale);
            prop_assert_eq!(scale_for_size(bytes), Ok(scale));
            prop_assert!(bytes_for_scale(scale + 1) > bytes);
        }

        #[test]
        fn a_lower_fillfactor_takes_more(scale in 1..=MAX_SCALE, fillfactor in 10u8..=99) {
            prop_assert!(bytes_for_scale_at(scale, fillfactor) >= bytes_for_scale_at(scale, fillfactor + 1));
        }
    }
}
