//! Write amplification: what transactions change, what the server writes for it, and what then goes to the device.

use crate::spec::Workload;

impl Workload {
    /// Bytes of user data that one transaction changes: the columns that it sets, by their types, without headers,
    /// padding and indexes. `wide_aid` is whether account numbers are bigint. None for what changes no rows.
    ///
    /// The statements and tables are those of pgbench's built-in scripts (src/bin/pgbench/pgbench.c, `builtin_script` and
    /// `initCreateTables`): each balance is an int of 4 bytes; a row of history has tid, bid and delta of 4 bytes each, aid
    /// of 4 or 8, mtime of 8, and a filler that is NULL.
    pub fn changed_bytes(self, wide_aid: bool) -> Option<u64> {
        const BALANCE: u64 = 4;
        let history = 3 * 4 + if wide_aid { 8 } else { 4 } + 8;
        match self {
            Self::Tpcb => Some(3 * BALANCE + history),
            Self::TpcbSimpleUpdate => Some(BALANCE + history),
            _ => None,
        }
    }
}

/// Bytes that were written in a measured window, at each level; None where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Written {
    /// What transactions changed.
    pub changed: Option<f64>,
    /// WAL, and blocks of data.
    pub server: Option<f64>,
    /// What went to the devices of data and WAL.
    pub device: Option<f64>,
}

impl Written {
    /// Bytes of the server for each byte that was changed.
    pub fn by_server(&self) -> Option<f64> {
        ratio(self.server, self.changed)
    }

    /// Bytes of the device for each byte of the server.
    pub fn by_filesystem(&self) -> Option<f64> {
        ratio(self.device, self.server)
    }

    /// Bytes of the device for each byte that was changed.
    pub fn in_all(&self) -> Option<f64> {
        ratio(self.device, self.changed)
    }
}

/// Blocks that a server has written in a window: those of its own processes, and those of others, which the statistics of the
/// server tell late. The clients are some of these, and count themselves: no fewer than they have.
pub fn blocks(own: u64, others: u64, clients: u64) -> u64 {
    own + others.max(clients)
}

/// A ratio; None where a part of it is not known or nothing is divided by.
pub fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let (part, whole) = (part?, whole?);
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_pgbenchs_transactions() {
        assert_eq!(Workload::Tpcb.changed_bytes(false), Some(36));
        assert_eq!(Workload::Tpcb.changed_bytes(true), Some(40));
        assert_eq!(Workload::TpcbSimpleUpdate.changed_bytes(false), Some(28));
        assert_eq!(Workload::SelectOnly.changed_bytes(false), None);
    }

    #[test]
    fn blocks_of_others_are_those_of_the_clients_and_more() {
        // Autovacuum, beside the clients; and statistics that come late.
        assert_eq!(blocks(100, 30, 20), 130);
        assert_eq!(blocks(100, 0, 20), 120);
    }

    #[test]
    fn levels_multiply() {
        let written = Written {
            changed: Some(100.0),
            server: Some(1000.0),
            device: Some(1500.0),
        };
        assert_eq!(written.by_server(), Some(10.0));
        assert_eq!(written.by_filesystem(), Some(1.5));
        assert_eq!(written.in_all(), Some(15.0));
    }

    #[test]
    fn what_is_not_known_makes_no_ratio() {
        let written = Written {
            changed: None,
            server: Some(0.0),
            device: Some(1500.0),
        };
        assert_eq!(
            (
                written.by_server(),
                written.by_filesystem(),
                written.in_all()
            ),
            (None, None, None)
        );
    }
}
