//! `/proc/PID/io`: what a process had the kernel read from storage. Own code: procfs-core's parser can panic, and this is read where
//! nothing may.

/// Bytes that the process had the kernel read from storage: not those that it found in the page cache, and with what the kernel
/// read ahead for it. None when the text does not tell.
pub fn parse_read_bytes(text: &str) -> Option<u64> {
    // A number that ends the text may have been cut.
    let (_, rest) = text.split_once("\nread_bytes: ")?;
    rest.split_once('\n')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECORDED: &str = "rchar: 3237\nwchar: 0\nsyscr: 9\nsyscw: 0\nread_bytes: 421888\nwrite_bytes: 0\ncancelled_write_bytes: 0\n";

    #[test]
    fn what_came_from_storage() {
        assert_eq!(parse_read_bytes(RECORDED), Some(421_888));
        for text in [
            "",
            "rchar: 1\n",
            "wchar: 1\nread_bytes: x\n",
            "wchar: 1\nread_bytes: 42",
        ] {
            assert_eq!(parse_read_bytes(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(length in 0usize..=RECORDED.len(), other in ".*") {
            if let Some(bytes) = parse_read_bytes(&RECORDED[..length]) {
                prop_assert_eq!(bytes, 421_888);
            }
            prop_assert_eq!(parse_read_bytes(&other), None);
        }
    }
}
