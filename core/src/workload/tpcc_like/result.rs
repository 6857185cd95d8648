//! Counts of clients, and the rows that are made of them.

use serde::Serialize;

use super::{input::Drawn, random::Constants};
use crate::rows;

/// Counts of each client: its committed New-Orders, those of the warm-up among them, and the inputs of the window.
pub const WORDS: usize = 1 + Drawn::COUNTS;

/// A client of a run, a row of `fsbench.tpcc_client`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClientResult {
    pub client: usize,
    pub new_orders: u64,
    pub orders: u64,
    pub wrong_orders: u64,
    pub lines: u64,
    pub remote_lines: u64,
    pub payments: u64,
    pub remote_payments: u64,
    pub payments_by_name: u64,
    pub c_last_name: i64,
    pub c_customer: i64,
    pub c_item: i64,
}

impl rows::Row for ClientResult {
    const TABLE: &'static str = "tpcc_client";
}

impl ClientResult {
    /// The row of a client with these counts.
    pub fn of(client: usize, words: [u64; WORDS], constants: Constants) -> Self {
        let [new_orders, drawn @ ..] = words;
        let drawn = Drawn::of_counts(drawn);
        Self {
            client,
            new_orders,
            orders: drawn.orders,
            wrong_orders: drawn.wrong_orders,
            lines: drawn.lines,
            remote_lines: drawn.remote_lines,
            payments: drawn.payments,
            remote_payments: drawn.remote_payments,
            payments_by_name: drawn.payments_by_name,
            c_last_name: constants.last_name,
            c_customer: constants.customer,
            c_item: constants.item,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_has_its_column() {
        let constants = Constants::of_seed(1);
        let row = ClientResult::of(3, [1, 2, 3, 4, 5, 6, 7, 8], constants);
        let expected = ClientResult {
            client: 3,
            new_orders: 1,
            orders: 2,
            wrong_orders: 3,
            lines: 4,
            remote_lines: 5,
            payments: 6,
            remote_payments: 7,
            payments_by_name: 8,
            c_last_name: constants.last_name,
            c_customer: constants.customer,
            c_item: constants.item,
        };
        assert_eq!(row, expected);
    }
}
