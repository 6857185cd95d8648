//! Limits what is read from a remote server: enough for the result of any run, and no more.

/// Bytes that a run may come to however short it was: statements, plans of scans, histograms.
const BASE: u64 = 256 << 20;
/// Bytes for each of its seconds: some times what the rows of one take.
const PER_SECOND: u64 = 16 << 10;
/// An answer counts for no less, so that their number has an end too.
const LEAST: u64 = 64 << 10;

/// Bytes that may still be read.
#[derive(Debug)]
pub struct Allowance {
    all: u64,
    left: u64,
}

impl Allowance {
    /// The allowance of a run that has lasted so long.
    pub fn of_seconds(seconds: u64) -> Self {
        let all = BASE.saturating_add(seconds.saturating_mul(PER_SECOND));
        Self { all, left: all }
    }

    /// Takes an answer of this many bytes; false when that is more than is left.
    #[must_use]
    pub fn take(&mut self, bytes: usize) -> bool {
        let bytes = (bytes as u64).max(LEAST);
        let rest = self.left.checked_sub(bytes);
        self.left = rest.unwrap_or(0);
        rest.is_some()
    }

    /// All of it, in bytes.
    pub fn bytes(&self) -> u64 {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes answers of this many bytes until no more is allowed.
    fn answers(seconds: u64, bytes: usize) -> u64 {
        let mut allowance = Allowance::of_seconds(seconds);
        let mut taken = 0;
        while allowance.take(bytes) {
            taken += 1;
        }
        assert!(!allowance.take(0), "once it is used up, it is");
        taken
    }

    #[test]
    fn whatever_is_sent_comes_to_an_end() {
        assert_eq!(answers(0, 0), BASE / LEAST);
        assert_eq!(answers(0, 1 << 20), BASE >> 20);
        assert_eq!(answers(4, 1), BASE / LEAST + 1);
        assert_eq!(answers(0, usize::MAX), 0);
        assert_eq!(Allowance::of_seconds(u64::MAX).bytes(), u64::MAX);
    }

    #[test]
    fn a_day_of_seconds_has_room() {
        // In slices of 10,000 rows: a row of samples and a dozen of waits a second.
        let mut allowance = Allowance::of_seconds(86_400);
        let bytes_of_slice = [2_500, 150];
        for (rows_per_second, bytes) in [1, 12].into_iter().zip(bytes_of_slice) {
            for _ in 0..(86_400 * rows_per_second) / 10_000 + 1 {
                assert!(allowance.take(10_000 * bytes));
            }
        }
    }
}
