//! The twelve consistency conditions of clause 3.3.2, and the orders of each client: named checks, and what they have found.

use serde::{Deserialize, Serialize};

use crate::verification::Check;

/// The conditions in the order of their clauses: a name, and the data that agree when it holds.
const CONDITIONS: [(&str, &str); 12] = [
    ("condition 1", "w_ytd and the sum of d_ytd"),
    (
        "condition 2",
        "d_next_o_id, the largest o_id and the largest no_o_id",
    ),
    (
        "condition 3",
        "the range of no_o_id and the rows of new_order",
    ),
    (
        "condition 4",
        "the sum of o_ol_cnt and the rows of order_line",
    ),
    (
        "condition 5",
        "orders without o_carrier_id and the rows of new_order",
    ),
    (
        "condition 6",
        "o_ol_cnt and the rows of order_line of each order",
    ),
    ("condition 7", "ol_delivery_d and o_carrier_id"),
    ("condition 8", "w_ytd and the sum of h_amount"),
    ("condition 9", "d_ytd and the sum of h_amount"),
    (
        "condition 10",
        "c_balance, delivered ol_amount and h_amount of each customer",
    ),
    (
        "condition 11",
        "the orders, the rows of new_order and the deliveries since the load",
    ),
    (
        "condition 12",
        "c_balance, c_ytd_payment and delivered ol_amount of each customer",
    ),
];
/// The check of the orders of each client.
const ORDERS: &str = "orders of clients";
/// Why an expensive condition has no result.
const NOT_MADE: &str = "not made: the option \"conditions\" of the run is \"cheap\"";

/// Contents of the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableContents {
    pub conditions: Vec<ConditionCount>,
    /// Orders of each client that has some.
    pub orders: Vec<Orders>,
}

/// Rows that a condition was checked for, and those for which it does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionCount {
    /// Number, from 1.
    pub condition: usize,
    pub checked: u64,
    pub wrong: u64,
}

impl ConditionCount {
    fn note(&self) -> String {
        format!("checked for {} rows", self.checked)
    }
}

/// Orders of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    pub client: usize,
    pub orders: u64,
}

impl TableContents {
    fn condition(&self, number: usize) -> Option<&ConditionCount> {
        (self.conditions.iter()).find(|counted| counted.condition == number)
    }

    fn orders_of(&self, client: usize) -> u64 {
        let orders = self.orders.iter().find(|orders| orders.client == client);
        orders.map_or(0, |orders| orders.orders)
    }

    /// Differences of the orders of clients from those that they have committed.
    fn differences(&self, committed: &[u64]) -> Vec<String> {
        let beyond = self.orders.iter().map(|orders| orders.client + 1).max();
        let clients = committed.len().max(beyond.unwrap_or(0));
        let expected = |client: usize| committed.get(client).copied().unwrap_or(0);
        (0..clients)
            .filter(|client| self.orders_of(*client) != expected(*client))
            .map(|client| {
                format!(
                    "client {client} has {} orders, and committed {}",
                    self.orders_of(client),
                    expected(client)
                )
            })
            .collect()
    }
}

/// All checks, given the New-Orders that each client has committed.
pub fn checks(found: &TableContents, committed: &[u64]) -> Vec<Check> {
    let of_condition = |(number, (name, data)): (usize, (&str, &str))| {
        let Some(counted) = found.condition(number) else {
            return Check::not_made(name, Some("0".into()), NOT_MADE);
        };
        Check::compared(name, &0, &counted.wrong, || {
            format!(
                "{name} (clause 3.3.2.{number}) fails for {} of {}: {data}",
                counted.wrong, counted.checked
            )
        })
        .with_note(counted.note())
    };
    let mut checks: Vec<Check> = (1..).zip(CONDITIONS).map(of_condition).collect();
    let differences = found.differences(committed);
    let wrong = differences.len() as u64;
    checks.push(Check::compared(ORDERS, &0, &wrong, || {
        let shown: Vec<String> = differences.into_iter().take(3).collect();
        shown.join("; ")
    }));
    checks
}

/// Condition 11 in the form that holds right after the load.
pub fn checks_of_load(found: &ConditionCount) -> Vec<Check> {
    let check = Check::compared("condition 11", &0, &found.wrong, || {
        format!(
            "condition 11 (clause 3.3.2.11) fails after the load for {} of {}",
            found.wrong, found.checked
        )
    });
    vec![check.with_note(found.note())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::refusal;

    fn found(orders: &[(usize, u64)]) -> TableContents {
        let counted = |condition| ConditionCount {
            condition,
            checked: 40,
            wrong: 0,
        };
        TableContents {
            conditions: (1..=12).map(counted).collect(),
            orders: (orders.iter())
                .map(|&(client, orders)| Orders { client, orders })
                .collect(),
        }
    }

    fn detail(found: &TableContents, committed: &[u64]) -> String {
        let refusal = refusal(&checks(found, committed)).unwrap();
        crate::refusal::check::style(&refusal);
        refusal.detail.unwrap()
    }

    #[test]
    fn agreeing_data_pass_thirteen_checks() {
        let checks = checks(&found(&[(1, 7)]), &[0, 7]);
        assert_eq!(checks.len(), 13);
        assert!(checks.iter().all(|check| check.passed == Some(true)));
        assert_eq!(checks[0].note.as_deref(), Some("checked for 40 rows"));
    }

    #[test]
    fn each_condition_is_named_when_it_fails() {
        for number in 1..=12 {
            let mut found = found(&[]);
            found.conditions[number - 1].wrong = 3;
            let detail = detail(&found, &[]);
            let wanted = format!("condition {number} (clause 3.3.2.{number}) fails for 3 of 40: ");
            assert!(detail.contains(&wanted), "{detail}");
        }
    }

    #[test]
    fn conditions_that_were_not_made_are_neither_passed_nor_failed() {
        let mut found = found(&[]);
        found.conditions.retain(|counted| counted.condition != 10);
        let checks = checks(&found, &[]);
        assert_eq!((checks[9].passed, checks[9].found.clone()), (None, None));
        assert_eq!(checks[9].note.as_deref(), Some(NOT_MADE));
    }

    #[test]
    fn a_lost_order_is_named_with_its_client() {
        for (there, committed, wanted) in [
            (
                &[(0, 4), (1, 7)][..],
                &[5, 7][..],
                "client 0 has 4 orders, and committed 5",
            ),
            (&[(0, 4)], &[4, 1], "client 1 has 0 orders, and committed 1"),
            (
                &[(0, 4), (2, 1)],
                &[4],
                "client 2 has 1 orders, and committed 0",
            ),
        ] {
            let detail = detail(&found(there), committed);
            assert!(detail.contains(wanted), "{detail}");
        }
    }

    #[test]
    fn a_wrong_load_is_refused() {
        let counted = |wrong| ConditionCount {
            condition: 11,
            checked: 10,
            wrong,
        };
        assert_eq!(refusal(&checks_of_load(&counted(0))), None);
        let refusal = refusal(&checks_of_load(&counted(2))).unwrap();
        assert!(refusal.detail.unwrap().contains("for 2 of 10"));
    }
}
