//! Whether a scan found the table where it was to be: in the cache, or nowhere but on the device.

use serde::{Deserialize, Serialize};

/// By so large a share of the table may more or less have come from storage than was asked for.
const TOLERATED: f64 = 0.01;
/// So many bytes can others have read from the same device, where only those of the device are known.
const OTHERS_READ: u64 = 1 << 20;

/// What was read from storage while a table was scanned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FromStorage {
    /// Bytes of the table.
    pub bytes: u64,
    /// Bytes that those who scanned had the kernel read; None where the kernel does not count them.
    pub processes: Option<u64>,
    /// Bytes that the device read, for whomever; None where no one device is known.
    pub device: Option<u64>,
}

impl FromStorage {
    /// The bytes that tell most: of the processes themselves, else of the device.
    pub fn known(&self) -> Option<u64> {
        self.processes.or(self.device)
    }

    /// The share of the table that came from storage, if that is not as it was to be: up to 1 % of what was to be in the cache, and at
    /// least 99 % of what was not (`cold`). None, too, where it is not known.
    pub fn wrong_share(&self, cold: bool) -> Option<f64> {
        let read = self.known().filter(|_| self.bytes > 0)?;
        let share = read as f64 / self.bytes as f64;
        let by_others = self.processes.is_none() && read <= OTHERS_READ;
        let is_wrong = match cold {
            true => share < 1.0 - TOLERATED,
            false => share > TOLERATED && !by_others,
        };
        is_wrong.then_some(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u64 = 100 << 20;

    fn read(processes: Option<u64>, device: Option<u64>) -> FromStorage {
        FromStorage {
            bytes: TABLE,
            processes,
            device,
        }
    }

    #[test]
    fn what_is_warm_is_not_read_and_what_is_cold_is() {
        let wrong = |read: FromStorage| (read.wrong_share(false), read.wrong_share(true));
        assert_eq!(wrong(read(Some(0), Some(0))), (None, Some(0.0)));
        assert_eq!(wrong(read(Some(TABLE), Some(TABLE))), (Some(1.0), None));
        assert_eq!(wrong(read(Some(TABLE / 2), None)), (Some(0.5), Some(0.5)));
        assert_eq!(wrong(read(Some(TABLE / 100), None)).0, None);
        assert_eq!(wrong(read(Some(TABLE / 100 * 99 + 1), None)).1, None);
        assert_eq!(wrong(read(None, None)), (None, None));
        assert_eq!(
            wrong(FromStorage {
                bytes: 0,
                ..read(Some(1), None)
            }),
            (None, None)
        );
    }

    /// What others read from the device at the same time is not the scan's; where only the device is known, a little of it is let pass.
    #[test]
    fn the_processes_know_better_than_the_device() {
        assert_eq!(read(Some(0), Some(TABLE)).wrong_share(false), None);
        assert_eq!(
            read(Some(TABLE / 4), Some(TABLE)).wrong_share(true),
            Some(0.25)
        );
        let small = |bytes| FromStorage {
            bytes: 20 << 20,
            ..read(None, Some(bytes))
        };
        assert_eq!(small(1 << 20).wrong_share(false), None);
        assert_eq!(small(2 << 20).wrong_share(false), Some(0.1));
    }
}
