//! Verification: each client has numbered the rows that it has committed from 1 on, so that each of them has to be there once, and none
//! else.

use serde::{Deserialize, Serialize};

use crate::verification::Check;

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
}

/// The checks that the table holds each committed row and no other, given the number of committed transactions, and the transactions of
/// each client where they are known.
pub fn checks(found: &Rows, committed: u64, by_client: Option<&[u64]>) -> Vec<Check> {
    let rows = Check::compared("rows", &committed, &found.rows, || {
        format!(
            "the table holds {} rows, and {committed} transactions were counted ({:+})",
            found.rows,
            found.rows as i64 - committed as i64
        )
    });
    let numbers = Check::compared(
        "clients_with_wrong_numbers",
        &0,
        &found.wrong_clients,
        || {
            format!(
                "of {} of {} clients the rows are not those that it has inserted one after the other",
                found.wrong_clients, found.clients
            )
        },
    );
    let name = "rows_by_client";
    let owners = match by_client {
        _ if rows.has_failed() || numbers.has_failed() => {
            Check::not_made(name, None, "Rows are missing, wrong, or too many.")
        }
        None => Check::not_made(
            name,
            None,
            "Only the sum of all clients' transactions is known after a crash.",
        ),
        Some(by_client) => {
            let expected = Rows::of(by_client);
            let of = |rows: &Rows| (rows.clients, rows.rows_by_client);
            let (wanted, there) = (of(&expected), of(found));
            let shown = |(clients, rows): (u64, u64)| format!("{clients} clients, {rows}");
            Check::compared(name, &shown(wanted), &shown(there), || {
                "a client has rows of another one".into()
            })
        }
    };
    vec![rows, numbers, owners]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::{differences, refusal};

    fn of_run(found: &Rows, committed: &[u64]) -> Vec<Check> {
        checks(found, committed.iter().sum(), Some(committed))
    }

    fn detail(found: &Rows, committed: &[u64]) -> String {
        let refusal = refusal(&of_run(found, committed)).unwrap();
        crate::refusal::check::style(&refusal);
        refusal.detail.unwrap()
    }

    fn after_crash(found: &Rows, committed: u64) -> Option<String> {
        differences(&checks(found, committed, None))
    }

    #[test]
    fn each_row_once_is_right() {
        for committed in [&[][..], &[0, 0], &[3, 5], &[7, 0, 1]] {
            assert_eq!(differences(&of_run(&Rows::of(committed), committed)), None);
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
        assert_eq!(after_crash(&found, 7), None);
        assert!(after_crash(&found, 8).is_some());
    }

    #[test]
    fn rows_of_another_client_are_noticed() {
        assert!(detail(&Rows::of(&[4, 4]), &[3, 5]).contains("of another one"));
        assert!(detail(&Rows::of(&[8, 0]), &[0, 8]).contains("of another one"));
    }

    #[test]
    fn the_owners_of_rows_are_not_checked_after_a_crash() {
        let found = Rows::of(&[4, 4]);
        let checks = checks(&found, 8, None);
        assert_eq!(checks[2].passed, None);
        assert!(checks[2].note.is_some());
    }

    #[test]
    fn a_number_that_comes_twice_is_noticed() {
        let found = Rows {
            wrong_clients: 1,
            ..Rows::of(&[3, 5])
        };
        assert!(detail(&found, &[3, 5]).contains("of 1 of 2 clients"));
        assert!(after_crash(&found, 8).is_some());
    }
}
