//! Write amplification: what transactions change, what the server writes for it, and what then goes to the device.

/// Bytes that were written in a measured window, at each level; None where that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WrittenBytes {
    /// Bytes that transactions changed.
    pub changed: Option<f64>,
    /// WAL, and blocks of data.
    pub server: Option<f64>,
    /// Bytes written to the devices of data and WAL.
    pub device: Option<f64>,
}

impl WrittenBytes {
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
    fn blocks_of_others_are_those_of_the_clients_and_more() {
        // Autovacuum writes, too; and statistics come late.
        assert_eq!(blocks(100, 30, 20), 130);
        assert_eq!(blocks(100, 0, 20), 120);
    }

    #[test]
    fn levels_multiply() {
        let written = WrittenBytes {
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
        let written = WrittenBytes {
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
