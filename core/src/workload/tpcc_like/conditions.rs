//! The twelve consistency conditions of clause 3.3.2, and the orders of each client: named checks, and what they have found.

use serde::{Deserialize, Serialize};

use crate::refusal::{Kind, Refusal};

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
const NOT_MADE: &str =
    "not made: it reads every customer or order; the option \"conditions\": \"all\" asks for it";

/// Contents of the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    pub conditions: Vec<Counted>,
    /// Orders of each client that has some.
    pub orders: Vec<Orders>,
}

/// Rows that a condition was checked for, and those for which it does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Its number, from 1.
    pub condition: usize,
    pub checked: u64,
    pub wrong: u64,
}

/// Orders of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    pub client: usize,
    pub orders: u64,
}

/// A named check. One that was not made has no counts, and a note that says why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub checked: Option<u64>,
    pub wrong: Option<u64>,
    pub passed: Option<bool>,
    pub note: Option<&'static str>,
}

impl Check {
    fn of(name: &'static str, checked: u64, wrong: u64) -> Self {
        Self {
            name,
            checked: Some(checked),
            wrong: Some(wrong),
            passed: Some(wrong == 0),
            note: None,
        }
    }

    fn not_made(name: &'static str) -> Self {
        Self {
            name,
            checked: None,
            wrong: None,
            passed: None,
            note: Some(NOT_MADE),
        }
    }
}

impl Found {
    fn condition(&self, number: usize) -> Option<&Counted> {
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

/// All checks, given the New-Orders that each client has committed. The refusal names each check that fails.
pub fn verify(found: &Found, committed: &[u64]) -> Result<Vec<Check>, Refusal> {
    let mut checks = Vec::new();
    let mut problems = Vec::new();
    for (number, (name, data)) in (1..).zip(CONDITIONS) {
        let Some(counted) = found.condition(number) else {
            checks.push(Check::not_made(name));
            continue;
        };
        checks.push(Check::of(name, counted.checked, counted.wrong));
        if counted.wrong > 0 {
            problems.push(format!(
                "{name} (clause 3.3.2.{number}) fails for {} of {}: {data}",
                counted.wrong, counted.checked
            ));
        }
    }
    let differences = found.differences(committed);
    let clients = committed.len() as u64;
    checks.push(Check::of(ORDERS, clients, differences.len() as u64));
    problems.extend(differences.into_iter().take(3));
    match problems.is_empty() {
        true => Ok(checks),
        false => Err(refusal("the data does not agree with what was measured")
            .detail(format!("After the run {}.", problems.join("; ")))),
    }
}

/// Checks condition 11 in the form that holds right after the load.
pub fn verify_loaded(found: &Counted) -> Result<(), Refusal> {
    match found.wrong {
        0 => Ok(()),
        wrong => Err(
            refusal("the data does not agree with what was loaded").detail(format!(
                "After the load condition 11 (clause 3.3.2.11) fails for {wrong} of {} districts.",
                found.checked
            )),
        ),
    }
}

fn refusal(message: &str) -> Refusal {
    Refusal::new(Kind::WrongData, message)
        .hint("Do not trust this storage, or report a bug in pgfsbench.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    fn found(orders: &[(usize, u64)]) -> Found {
        let counted = |condition| Counted {
            condition,
            checked: 40,
            wrong: 0,
        };
        Found {
            conditions: (1..=12).map(counted).collect(),
            orders: (orders.iter())
                .map(|&(client, orders)| Orders { client, orders })
                .collect(),
        }
    }

    #[test]
    fn agreeing_data_pass_thirteen_checks() {
        let checks = verify(&found(&[(1, 7)]), &[0, 7]).unwrap();
        assert_eq!(checks.len(), 13);
        assert!(checks.iter().all(|check| check.passed == Some(true)));
    }

    #[test]
    fn each_condition_is_named_when_it_fails() {
        for number in 1..=12 {
            let mut found = found(&[]);
            found.conditions[number - 1].wrong = 3;
            let refusal = verify(&found, &[]).unwrap_err();
            check::style(&refusal);
            let detail = refusal.detail.unwrap();
            let wanted = format!("condition {number} (clause 3.3.2.{number}) fails for 3 of 40: ");
            assert!(detail.contains(&wanted), "{detail}");
        }
    }

    #[test]
    fn conditions_that_were_not_made_are_neither_passed_nor_failed() {
        let mut found = found(&[]);
        found.conditions.retain(|counted| counted.condition != 10);
        let checks = verify(&found, &[]).unwrap();
        assert_eq!((checks[9].passed, checks[9].checked), (None, None));
        assert!(checks[9].note.is_some() && checks[8].note.is_none());
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
            let refusal = verify(&found(there), committed).unwrap_err();
            check::style(&refusal);
            assert!(refusal.detail.unwrap().contains(wanted));
        }
    }

    #[test]
    fn a_wrong_load_is_refused() {
        let counted = |wrong| Counted {
            condition: 11,
            checked: 10,
            wrong,
        };
        assert_eq!(verify_loaded(&counted(0)), Ok(()));
        let refusal = verify_loaded(&counted(2)).unwrap_err();
        check::style(&refusal);
        assert!(refusal.detail.unwrap().contains("2 of 10 districts"));
    }
}
