//! The origin of the blocks of a scan, and whether it is the wanted one: shared buffers, the kernel's cache, or
//! the device.

use serde::{Deserialize, Serialize};

use crate::spec::Cache;

/// Share of the table that may come from elsewhere.
const TOLERATED: f64 = 0.01;
/// Bytes that others may have read from the same device, if only the sum of the device is known.
const OTHERS_READ: u64 = 1 << 20;

/// Bytes and blocks that were read while a table was scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlocksFrom {
    /// Bytes of the table.
    pub bytes: u64,
    /// Bytes that were not in shared buffers.
    pub outside: u64,
    /// Bytes that the kernel read from storage for the processes of the scan; None if that is not known.
    pub storage: Option<u64>,
    /// Bytes that the device read, for any process; None if no single device is known.
    pub device: Option<u64>,
}

/// The part that came from elsewhere than it should.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnexpectedReads {
    /// The share of the table that was not in shared buffers when it was to be there; else that came from storage.
    pub share: f64,
    /// False when others may have read it: the scan counts then.
    pub is_certain: bool,
}

/// This share of the table, in words. It is above 1 if blocks were read again, or ahead in vain.
pub fn part_of_table(share: f64) -> String {
    if share < 1.0 {
        format!("{:.2} % of the table", 100.0 * share)
    } else {
        "all of the table".into()
    }
}

impl UnexpectedReads {
    /// Why the scan does not count; None when it does.
    pub fn why_not(&self, cache: Cache) -> Option<String> {
        let percent = part_of_table(self.share);
        self.is_certain.then(|| match cache {
            Cache::Cold => format!("only {percent} came from storage"),
            Cache::Warm => format!("{percent} came from storage, and not from the page cache"),
            Cache::SharedBuffers => format!("{percent} was not in shared buffers"),
        })
    }
}

impl BlocksFrom {
    /// The bytes from storage that tell most: of the processes themselves, else of the device.
    pub fn read(&self) -> Option<u64> {
        self.storage.or(self.device)
    }

    /// The part that came from elsewhere than it should: at most 1 % of a table that was to be in the cache may have come from elsewhere, and at least 99 %
    /// of one that was to be cold must have come from storage. None also if the origin is not known.
    pub fn wrong(&self, cache: Cache) -> Option<UnexpectedReads> {
        let read = match cache {
            Cache::SharedBuffers => self.outside,
            Cache::Warm | Cache::Cold => self.read()?,
        };
        if self.bytes == 0 {
            return None;
        }
        let share = read as f64 / self.bytes as f64;
        // Others only add to what the device reads.
        let is_certain = cache != Cache::Warm || self.storage.is_some();
        let is_wrong = match cache {
            Cache::Cold => share < 1.0 - TOLERATED,
            Cache::Warm | Cache::SharedBuffers => {
                share > TOLERATED && (is_certain || read > OTHERS_READ)
            }
        };
        is_wrong.then_some(UnexpectedReads { share, is_certain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u64 = 100 << 20;

    fn read(storage: Option<u64>, device: Option<u64>) -> BlocksFrom {
        BlocksFrom {
            bytes: TABLE,
            outside: TABLE,
            storage,
            device,
        }
    }

    fn certainly(share: f64) -> Option<UnexpectedReads> {
        Some(UnexpectedReads {
            share,
            is_certain: true,
        })
    }

    #[test]
    fn what_is_warm_is_not_read_and_what_is_cold_is() {
        let wrong = |read: BlocksFrom| (read.wrong(Cache::Warm), read.wrong(Cache::Cold));
        assert_eq!(wrong(read(Some(0), Some(0))), (None, certainly(0.0)));
        assert_eq!(
            wrong(read(Some(TABLE), Some(TABLE))),
            (certainly(1.0), None)
        );
        assert_eq!(
            wrong(read(Some(TABLE / 2), None)),
            (certainly(0.5), certainly(0.5))
        );
        assert_eq!(wrong(read(Some(TABLE / 100), None)).0, None);
        assert_eq!(wrong(read(Some(TABLE / 100 * 99 + 1), None)).1, None);
        assert_eq!(wrong(read(None, None)), (None, None));
        let empty = BlocksFrom {
            bytes: 0,
            ..read(Some(1), None)
        };
        assert_eq!(wrong(empty), (None, None));
    }

    /// Reads of others from the device at the same time are not the scan's.
    #[test]
    fn the_processes_know_better_than_the_device() {
        assert_eq!(read(Some(0), Some(TABLE)).wrong(Cache::Warm), None);
        assert_eq!(
            read(Some(TABLE / 4), Some(TABLE)).wrong(Cache::Cold),
            certainly(0.25)
        );
        let small = |device| BlocksFrom {
            bytes: 20 << 20,
            ..read(None, Some(device))
        };
        assert_eq!(small(1 << 20).wrong(Cache::Warm), None);
        let perhaps = UnexpectedReads {
            share: 0.1,
            is_certain: false,
        };
        assert_eq!(small(2 << 20).wrong(Cache::Warm), Some(perhaps));
        assert_eq!(small(2 << 20).wrong(Cache::Cold), certainly(0.1));
    }

    #[test]
    fn why_a_scan_does_not_count() {
        let why_not = |cache| certainly(0.25).and_then(|wrong| wrong.why_not(cache));
        assert_eq!(
            [Cache::Cold, Cache::Warm, Cache::SharedBuffers].map(|cache| why_not(cache).unwrap()),
            [
                "only 25.00 % of the table came from storage",
                "25.00 % of the table came from storage, and not from the page cache",
                "25.00 % of the table was not in shared buffers"
            ]
        );
        assert_eq!(
            certainly(1.5)
                .and_then(|wrong| wrong.why_not(Cache::Warm))
                .unwrap(),
            "all of the table came from storage, and not from the page cache"
        );
        let perhaps = UnexpectedReads {
            share: 0.25,
            is_certain: false,
        };
        assert_eq!(perhaps.why_not(Cache::Warm), None);
    }

    #[test]
    fn what_is_in_shared_buffers_is_not_asked_for_elsewhere() {
        let wrong = |outside| {
            let blocks = BlocksFrom {
                outside,
                ..read(Some(0), None)
            };
            blocks.wrong(Cache::SharedBuffers)
        };
        assert_eq!(wrong(TABLE / 100), None);
        assert_eq!(wrong(TABLE / 20), certainly(0.05));
    }
}
