//! Verification: what pgbench's tables must hold after a run, whatever happened in it.

use serde::{Deserialize, Serialize};

use super::Script;
use crate::{spec::Plan, verification::Check};

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

/// The checks of what every run must leave: equal sums, and one history row for each transaction that committed (none for
/// `select-only`).
pub fn checks(script: Script, balances: &Balances, committed: u64) -> Vec<Check> {
    let rows = balances.history_rows;
    let expected_rows = if script.writes() { committed as i64 } else { 0 };
    let history = Check::compared("history_rows", &expected_rows, &rows, || {
        format!(
            "pgbench_history holds {rows} rows, and {expected_rows} transactions were counted ({:+})",
            rows - expected_rows
        )
    });
    // The other workloads leave these at 0, whatever the history says.
    let other = if script == Script::Tpcb {
        balances.history
    } else {
        0
    };
    let sums = [
        ("accounts", balances.accounts, balances.history),
        ("tellers", balances.tellers, other),
        ("branches", balances.branches, other),
    ];
    let sums = sums.map(|(table, sum, expected)| {
        Check::compared(&format!("sum_of_{table}"), &expected, &sum, || {
            format!(
                "the balances of pgbench_{table} sum up to {sum}, and not to {expected} ({:+})",
                sum - expected
            )
        })
    });
    [history].into_iter().chain(sums).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::{differences, refusal};

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
        refusal(&checks(script, balances, committed))
            .unwrap()
            .detail
            .unwrap()
    }

    #[test]
    fn equal_sums_and_counted_rows_are_right() {
        assert_eq!(differences(&checks(Script::Tpcb, &agreed(), 5)), None);
        let simple = Balances {
            tellers: 0,
            branches: 0,
            ..agreed()
        };
        assert_eq!(differences(&checks(Script::SimpleUpdate, &simple, 5)), None);
        let untouched = Balances {
            accounts: 0,
            history: 0,
            history_rows: 0,
            ..simple
        };
        assert_eq!(
            differences(&checks(Script::SelectOnly, &untouched, 1000)),
            None
        );
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
        assert_eq!(differences(&checks(Script::Tpcb, &found, rows)), None);
        let problem = differences(&checks(Script::Tpcb, &found, rows + 2)).unwrap();
        let lost = format!("{rows} rows, and {} transactions", rows + 2);
        assert!(problem.contains(&lost), "{problem}");
    }
}
