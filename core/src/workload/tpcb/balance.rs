//! Verification: what pgbench's tables must hold after a run, whatever happened in it.

use serde::{Deserialize, Serialize};

use super::Script;
use crate::{
    refusal::{Kind, Refusal},
    spec::Plan,
};

/// The contents of the tables after a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Balances {
    /// Sum of the accounts' balances.
    pub accounts: i64,
    /// Sum of the tellers' balances.
    pub tellers: i64,
    /// Sum of the branches' balances.
    pub branches: i64,
    /// Sum of the history's deltas.
    pub history: i64,
    /// Rows of the history.
    pub history_rows: i64,
    /// Hash over all accounts that are not 0: tells whether two runs left the same balances.
    pub fingerprint: String,
}

/// Checks what every run must leave: equal sums, and one history row for each transaction that committed (none for
/// `select-only`). The refusal names each difference.
pub fn verify(script: Script, balances: &Balances, committed: u64) -> Result<(), Refusal> {
    let expected_rows = if script.writes() { committed as i64 } else { 0 };
    let mut wrong = Vec::new();
    if balances.history_rows != expected_rows {
        wrong.push(format!(
            "pgbench_history holds {} rows, and {expected_rows} transactions were counted ({:+})",
            balances.history_rows,
            balances.history_rows - expected_rows
        ));
    }
    // The other workloads leave these at 0, whatever the history says.
    let other = if script == Script::Tpcb {
        balances.history
    } else {
        0
    };
    for (table, sum, expected) in [
        ("pgbench_accounts", balances.accounts, balances.history),
        ("pgbench_tellers", balances.tellers, other),
        ("pgbench_branches", balances.branches, other),
    ] {
        if sum != expected {
            wrong.push(format!(
                "the balances of {table} sum up to {sum}, and not to {expected} ({:+})",
                sum - expected
            ));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::WrongData,
        "the data does not agree with what was measured",
    )
    .detail(format!("After the run {}.", wrong.join("; ")))
    .hint("Do not trust this storage, or report a bug in pgfsbench."))
}

/// The difference between the transactions committed before a crash and those found after it; None if all are found.
pub fn difference(script: Script, found: &Balances, committed: u64) -> Option<String> {
    let refusal = verify(script, found, committed).err()?;
    Some(refusal.detail.unwrap_or(refusal.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreed() -> Balances {
        Balances {
            accounts: -17,
            tellers: -17,
            branches: -17,
            history: -17,
            history_rows: 5,
            fingerprint: "0".into(),
        }
    }

    fn detail(script: Script, balances: &Balances, committed: u64) -> String {
        verify(script, balances, committed)
            .unwrap_err()
            .detail
            .unwrap()
    }

    #[test]
    fn equal_sums_and_counted_rows_are_right() {
        assert_eq!(verify(Script::Tpcb, &agreed(), 5), Ok(()));
        let simple = Balances {
            tellers: 0,
            branches: 0,
            ..agreed()
        };
        assert_eq!(verify(Script::SimpleUpdate, &simple, 5), Ok(()));
        let untouched = Balances {
            accounts: 0,
            history: 0,
            history_rows: 0,
            ..simple
        };
        assert_eq!(verify(Script::SelectOnly, &untouched, 1000), Ok(()));
    }

    #[test]
    fn a_lost_transaction_is_noticed() {
        let text = detail(Script::Tpcb, &agreed(), 6);
        assert!(
            text.contains("5 rows, and 6 transactions were counted (-1)"),
            "{text}"
        );
    }

    #[test]
    fn each_table_is_noticed_with_its_difference() {
        for (table, balances) in [
            (
                "pgbench_accounts",
                Balances {
                    accounts: -16,
                    ..agreed()
                },
            ),
            (
                "pgbench_tellers",
                Balances {
                    tellers: -16,
                    ..agreed()
                },
            ),
            (
                "pgbench_branches",
                Balances {
                    branches: -16,
                    ..agreed()
                },
            ),
        ] {
            let text = detail(Script::Tpcb, &balances, 5);
            assert!(
                text.contains(&format!("{table} sum up to -16, and not to -17 (+1)")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_a_workload_does_not_write_stays_untouched() {
        let text = detail(Script::SimpleUpdate, &agreed(), 5);
        assert!(
            text.contains("pgbench_tellers sum up to -17, and not to 0"),
            "{text}"
        );
        let text = detail(Script::SelectOnly, &agreed(), 5);
        assert!(text.contains("0 transactions were counted (+5)"), "{text}");
    }

    #[test]
    fn what_was_lost_is_told() {
        let found = agreed();
        let rows = found.history_rows as u64;
        assert_eq!(difference(Script::Tpcb, &found, rows), None);
        let problem = difference(Script::Tpcb, &found, rows + 2).unwrap();
        let lost = format!("{rows} rows, and {} transactions", rows + 2);
        assert!(problem.contains(&lost), "{problem}");
    }
}
