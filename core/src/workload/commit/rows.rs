//! Verification: each client has numbered the rows that it has committed from 1 on, so that each of them has to be there once, and none
//! else.

use serde::{Deserialize, Serialize};

use crate::refusal::{Kind, Refusal};

/// The contents of the table after a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// Rows of all clients.
    pub rows: u64,
    /// Clients that have rows.
    pub clients: u64,
    /// Clients whose rows are not numbered from 1 on, each number once.
    pub wrong_clients: u64,
    /// The sum of each client's number, counted from 1, times its rows: tells whose they are.
    pub rows_by_client: u64,
}

impl Rows {
    /// The contents that are left by this many committed transactions of each client.
    fn of(committed: &[u64]) -> Self {
        let by_client = (1..).zip(committed).map(|(client, rows)| client * rows);
        Self {
            rows: committed.iter().sum(),
            clients: committed.iter().filter(|rows| **rows > 0).count() as u64,
            wrong_clients: 0,
            rows_by_client: by_client.sum(),
        }
    }

    /// Describes how the contents differ from those that this many committed transactions leave; None if they do not.
    pub fn difference(&self, committed: u64) -> Option<String> {
        let mut wrong = Vec::new();
        if self.rows != committed {
            wrong.push(format!(
                "the table holds {} rows, and {committed} transactions were counted ({:+})",
                self.rows,
                self.rows as i64 - committed as i64
            ));
        }
        if self.wrong_clients > 0 {
            wrong.push(format!(
                "of {} of {} clients the rows are not those that it has inserted one after the other",
                self.wrong_clients, self.clients
            ));
        }
        (!wrong.is_empty()).then(|| format!("After the run {}.", wrong.join("; ")))
    }
}

/// Checks that the table holds each committed row, given the transactions of each client, and no other.
pub fn verify(found: &Rows, committed: &[u64]) -> Result<(), Refusal> {
    let expected = Rows::of(committed);
    let detail = match found.difference(expected.rows) {
        None if *found == expected => return Ok(()),
        None => "After the run a client has rows of another one.".to_owned(),
        Some(detail) => detail,
    };
    Err(Refusal::new(
        Kind::WrongData,
        "the data does not agree with what was measured",
    )
    .detail(detail)
    .hint("Do not trust this storage, or report a bug in pgfsbench."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    fn detail(found: &Rows, committed: &[u64]) -> String {
        let refusal = verify(found, committed).unwrap_err();
        check::style(&refusal);
        refusal.detail.unwrap()
    }

    #[test]
    fn each_row_once_is_right() {
        for committed in [&[][..], &[0, 0], &[3, 5], &[7, 0, 1]] {
            assert_eq!(verify(&Rows::of(committed), committed), Ok(()));
        }
    }

    #[test]
    fn a_lost_row_and_one_too_many_are_noticed() {
        let found = Rows::of(&[3, 4]);
        let lost = detail(&found, &[3, 5]);
        assert!(
            lost.contains("7 rows, and 8 transactions were counted (-1)"),
            "{lost}"
        );
        let more = detail(&found, &[3, 3]);
        assert!(
            more.contains("7 rows, and 6 transactions were counted (+1)"),
            "{more}"
        );
        assert_eq!(found.difference(7), None);
        assert!(found.difference(8).is_some());
    }

    #[test]
    fn rows_of_another_client_are_noticed() {
        assert!(detail(&Rows::of(&[4, 4]), &[3, 5]).contains("of another one"));
        assert!(detail(&Rows::of(&[8, 0]), &[0, 8]).contains("of another one"));
    }

    #[test]
    fn a_number_that_comes_twice_is_noticed() {
        let found = Rows {
            wrong_clients: 1,
            ..Rows::of(&[3, 5])
        };
        assert!(detail(&found, &[3, 5]).contains("of 1 of 2 clients"));
        assert!(found.difference(8).is_some());
    }
}
