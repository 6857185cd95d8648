//! The history of acknowledged commits, which clients keep outside of the target: a file for each client, with the time of each
//! acknowledgment. A client numbers its commits from 1, so that the place in the file is the number.

/// Acknowledgments that a client keeps at most: 8 MB.
pub const MOST_ACKNOWLEDGMENTS: usize = 1 << 20;

/// Times of acknowledgments of all clients, in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History(Vec<Vec<u64>>);

impl History {
    /// The history of clients with these times.
    pub fn of(clients: Vec<Vec<u64>>) -> Self {
        Self(clients)
    }

    /// Reads the file of each client: numbers of 64 bits, the lowest byte first.
    pub fn read(files: &[Vec<u8>]) -> Self {
        let times = |bytes: &Vec<u8>| {
            bytes
                .as_chunks()
                .0
                .iter()
                .copied()
                .map(u64::from_le_bytes)
                .collect()
        };
        Self(files.iter().map(times).collect())
    }

    /// Acknowledged commits of all clients.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|times| times.len() as u64).sum()
    }

    /// Whether no commit was acknowledged.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a client has kept as many as it can, so that later ones are not known.
    pub fn is_cut_short(&self) -> bool {
        self.0
            .iter()
            .any(|times| times.len() >= MOST_ACKNOWLEDGMENTS)
    }

    /// The time in which all acknowledgments are known; None without any.
    pub fn window(&self) -> Option<(u64, u64)> {
        let from = self.0.iter().filter_map(|times| times.first()).min()?;
        let full = |times: &&Vec<u64>| times.len() >= MOST_ACKNOWLEDGMENTS;
        let first_full = self
            .0
            .iter()
            .filter(full)
            .filter_map(|times| times.last())
            .min();
        let last = self.0.iter().filter_map(|times| times.last()).max()?;
        Some((*from, *first_full.unwrap_or(last)))
    }

    /// Commits of each client that were acknowledged before a moment.
    pub fn before(&self, ns: u64) -> Vec<u64> {
        let count = |times: &Vec<u64>| times.partition_point(|time| *time < ns) as u64;
        self.0.iter().map(count).collect()
    }

    /// When a commit of a client was acknowledged, by its number from 1.
    pub fn time(&self, client: u32, number: u64) -> Option<u64> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.0.get(client as usize)?.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_are_written() {
        let bytes = |times: &[u64]| times.iter().flat_map(|time| time.to_le_bytes()).collect();
        let mut torn: Vec<u8> = bytes(&[5]);
        torn.extend([1, 2, 3]);
        let read = History::read(&[bytes(&[10, 20, 30]), Vec::new(), torn]);
        assert_eq!(read, History::of(vec![vec![10, 20, 30], vec![], vec![5]]));
        assert_eq!((read.len(), read.window()), (4, Some((5, 30))));
    }

    #[test]
    fn an_acknowledgment_at_the_moment_of_the_cut_does_not_count() {
        let history = History::of(vec![vec![10, 20, 30], vec![], vec![20]]);
        assert_eq!(history.before(20), [1, 0, 0]);
        assert_eq!(history.before(21), [2, 0, 1]);
        assert_eq!((history.time(0, 3), history.time(0, 4)), (Some(30), None));
        assert_eq!((history.time(1, 1), history.time(0, 0)), (None, None));
    }

    #[test]
    fn without_acknowledgments_there_is_no_window() {
        assert_eq!(History::of(vec![vec![], vec![]]).window(), None);
        assert!(History::default().is_empty());
    }

    #[test]
    fn the_window_ends_where_a_client_keeps_no_more() {
        let full: Vec<u64> = (1..=MOST_ACKNOWLEDGMENTS as u64).collect();
        let history = History::of(vec![full, vec![5, 9_000_000]]);
        assert!(history.is_cut_short());
        assert_eq!(history.window(), Some((1, MOST_ACKNOWLEDGMENTS as u64)));
    }
}
