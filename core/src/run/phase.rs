//! The phases of a run.

/// The phases of a run, in their order. What comes after `Cleanup` is the status of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Phase {
    /// Waits for its turn.
    Queued = 0,
    /// Makes the work database.
    Provision = 1,
    /// Loads the tables.
    Load = 2,
    /// VACUUM and ANALYZE.
    Vacuum = 3,
    /// Makes segments of WAL ready.
    FillWal = 4,
    /// CHECKPOINT and sync, so that every run starts alike.
    Checkpoint = 5,
    /// Transactions that are not measured.
    Warmup = 6,
    /// Transactions that are.
    Measure = 7,
    /// Compares the balances; before scans, counts the rows.
    Verify = 8,
    /// Bulk load, index build, VACUUM and CHECKPOINT, timed.
    Maintenance = 9,
    /// The server of the target is crashed and recovers.
    Recovery = 10,
    /// Stores the result.
    Collect = 11,
    /// Drops what was made.
    Cleanup = 12,
}

impl Phase {
    /// Name in `fsbench.progress` and `run_log.phases`.
    pub fn as_str(self) -> &'static str {
        [
            "queued",
            "provision",
            "load",
            "vacuum",
            "fill_wal",
            "checkpoint",
            "warmup",
            "measure",
            "verify",
            "maintenance",
            "recovery",
            "collect",
            "cleanup",
        ][self as usize]
    }

    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Queued,
        Self::Provision,
        Self::Load,
        Self::Vacuum,
        Self::FillWal,
        Self::Checkpoint,
        Self::Warmup,
        Self::Measure,
        Self::Verify,
        Self::Maintenance,
        Self::Recovery,
        Self::Collect,
        Self::Cleanup,
    ];

    /// The phase of this number; of one that is none, [`Phase::Queued`].
    pub fn from_u32(value: u32) -> Self {
        Self::ALL
            .get(value as usize)
            .copied()
            .unwrap_or(Self::Queued)
    }

    /// The phase of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_read_as_they_are_written() {
        for (n, phase) in (0..).zip(Phase::ALL) {
            assert_eq!(phase as u32, n);
            assert_eq!(Phase::from_u32(n), phase);
            assert_eq!(Phase::parse(phase.as_str()), Some(phase));
        }
        assert_eq!(
            (Phase::from_u32(99), Phase::parse("x")),
            (Phase::Queued, None)
        );
    }
}
