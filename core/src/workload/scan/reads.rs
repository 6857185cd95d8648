//! Reads of processes, and the part of them that was for a scan: in PostgreSQL 18 with io_method = worker other processes of the
//! server read on request, and only their sums tell for which process that was.

use crate::proc::Reads;

/// Bytes that may be read besides the blocks of a scan without anybody else reading: files of the kernel's, catalogs.
const BESIDES: u64 = 256 << 10;

/// Bytes that the server's I/O workers read for others than the scan. The scan's processes read `own` themselves and took `blocks` bytes of blocks
/// from outside of shared buffers, so that the I/O workers read the rest of these for it. None when that is nothing, or too little to
/// matter.
pub fn read_for_others(own: Reads, io_workers: Reads, blocks: u64) -> Option<u64> {
    let others = own.plus(io_workers).requested.saturating_sub(blocks);
    Some(others.min(io_workers.requested)).filter(|&others| others > BESIDES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn requested(requested: u64) -> Reads {
        Reads {
            requested,
            storage: 0,
        }
    }

    #[test]
    fn what_the_scan_did_not_take_was_for_others() {
        // The I/O workers read all of it, some of it, nothing of it.
        for own in [0, 40 * MB, 100 * MB] {
            let io_workers = requested(100 * MB - own);
            assert_eq!(read_for_others(requested(own), io_workers, 100 * MB), None);
            let more = io_workers.plus(requested(10 * MB));
            assert_eq!(
                read_for_others(requested(own), more, 100 * MB),
                Some(10 * MB)
            );
        }
        // Other reads of the scan's own processes are theirs.
        assert_eq!(read_for_others(requested(100 * MB), requested(0), 0), None);
        assert_eq!(
            read_for_others(requested(1000), requested(8192), 8192),
            None
        );
    }
}
