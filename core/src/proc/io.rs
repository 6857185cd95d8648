//! `/proc/PID/io`: what a process has read. Own code: procfs-core's parser can panic, and this is read where nothing may.

/// Bytes that processes have read, in all or over an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Bytes that they asked the kernel for.
    pub requested: u64,
    /// Bytes that the kernel read from storage for them: with what it read ahead, without what it had.
    pub storage: u64,
}

impl Reads {
    /// The reads since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            requested: self.requested.saturating_sub(before.requested),
            storage: self.storage.saturating_sub(before.storage),
        }
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            requested: self.requested + other.requested,
            storage: self.storage + other.storage,
        }
    }
}

/// The reads of a process so far. None if the text does not tell.
pub fn parse_reads(text: &str) -> Option<Reads> {
    Some(Reads {
        requested: number(text, "rchar: ")?,
        storage: number(text, "read_bytes: ")?,
    })
}

fn number(text: &str, name: &str) -> Option<u64> {
    // A number that ends the text may have been cut.
    let whole = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let mut values = whole.filter_map(|line| line.strip_prefix(name));
    values.find_map(|value| value.trim_end().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RECORDED: &str = "rchar: 3237\nwchar: 0\nsyscr: 9\nsyscw: 0\nread_bytes: 421888\nwrite_bytes: 0\ncancelled_write_bytes: 0\n";
    const READS: Reads = Reads {
        requested: 3237,
        storage: 421_888,
    };

    #[test]
    fn what_was_asked_for_and_what_came_from_storage() {
        assert_eq!(parse_reads(RECORDED), Some(READS));
        for text in [
            "",
            "rchar: 1\n",
            "rchar: 1\nwchar: 1\nread_bytes: x\n",
            "rchar: 1\nwchar: 1\nread_bytes: 42",
            "wchar: 1\nread_bytes: 42\n",
        ] {
            assert_eq!(parse_reads(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_odd_line_costs_that_line() {
        let odd = format!("\u{fffd}\nrchar: x\nwchar: -1\nread_bytes:\nsyscr\n{RECORDED}rchar: 9");
        assert_eq!(parse_reads(&odd), Some(READS));
    }

    #[test]
    fn only_what_was_read_meanwhile_counts() {
        let reads = |requested, storage| Reads { requested, storage };
        assert_eq!(reads(10, 5).since(reads(4, 5)), reads(6, 0));
        assert_eq!(reads(1, 1).since(reads(4, 5)), reads(0, 0));
    }

    proptest! {
        #[test]
        fn never_panics(length in 0usize..=RECORDED.len(), other in ".*") {
            if let Some(reads) = parse_reads(&RECORDED[..length]) {
                prop_assert_eq!(reads, READS);
            }
            prop_assert_eq!(parse_reads(&other), None);
        }
    }
}
