//! Orders to clients whose statements go on after the end of a window.

use super::GRACE_MS;

/// Nanoseconds between two orders.
const PAUSE_NS: u64 = 1_000_000_000;
/// Least nanoseconds from the first cancel to the end of a session.
const LEAST_NS: u64 = GRACE_MS * 1_000_000;

/// An order to the clients that are not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Cancel the statement.
    Cancel,
    /// End the session, which has ignored all cancels.
    Terminate,
}

/// The orders of one window.
#[derive(Clone, Copy, Debug)]
pub struct CutOff {
    next_ns: u64,
    terminate_ns: u64,
}

impl CutOff {
    /// Orders for a window that ends then; none without a grace.
    pub fn new(end_ns: u64, grace_ns: Option<u64>) -> Self {
        let next_ns = grace_ns.map_or(u64::MAX, |grace_ns| end_ns.saturating_add(grace_ns));
        let second_ns = grace_ns.unwrap_or(0).max(LEAST_NS);
        Self {
            next_ns,
            terminate_ns: next_ns.saturating_add(second_ns),
        }
    }

    /// Time of the next order; `u64::MAX` for none.
    pub fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// The order that is due, at most one each second: a statement can catch its cancel and go on.
    pub fn order(&mut self, now_ns: u64) -> Option<Order> {
        if now_ns < self.next_ns {
            return None;
        }
        self.next_ns = now_ns.saturating_add(PAUSE_NS);
        Some(match now_ns >= self.terminate_ns {
            true => Order::Terminate,
            false => Order::Cancel,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn cancels_are_repeated_each_second_and_end_with_the_session() {
        let mut cut_off = CutOff::new(5 * SECOND, Some(2 * SECOND));
        let tenths = (0..200).map(|tenth| tenth * SECOND / 10);
        let orders: Vec<_> = tenths
            .filter_map(|now| cut_off.order(now).map(|order| (now / SECOND, order)))
            .collect();
        let cancels = (7..17).map(|second| (second, Order::Cancel));
        let ends = (17..20).map(|second| (second, Order::Terminate));
        assert_eq!(orders, cancels.chain(ends).collect::<Vec<_>>());
    }

    #[test]
    fn a_long_grace_is_granted_twice() {
        let mut cut_off = CutOff::new(0, Some(60 * SECOND));
        assert_eq!(cut_off.next_ns(), 60 * SECOND);
        assert_eq!(cut_off.order(119 * SECOND), Some(Order::Cancel));
        assert_eq!(cut_off.order(120 * SECOND), Some(Order::Terminate));
    }

    #[test]
    fn nothing_is_cut_off_without_a_grace_or_an_end() {
        assert_eq!(CutOff::new(0, None).order(u64::MAX - 1), None);
        assert_eq!(CutOff::new(u64::MAX, Some(0)).order(u64::MAX - 1), None);
    }
}
