//! The options of the workload.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::mix::{Kind, Weights};
use crate::{
    refusal::{Refusal, quoted},
    spec::{OwnOption, values},
    units::format_count,
    workload::mix::{GRACE, GRACE_MS},
};

const WAITS: OwnOption = OwnOption {
    name: "waits",
    depends_on_machine: false,
    check: boolean,
};
const MIX: OwnOption = OwnOption {
    name: "mix",
    depends_on_machine: false,
    check: mix,
};
const REMOTE: OwnOption = OwnOption {
    name: "remote",
    depends_on_machine: false,
    check: boolean,
};
const FOREIGN_KEYS: OwnOption = OwnOption {
    name: "foreign_keys",
    depends_on_machine: false,
    check: boolean,
};
const CONDITIONS: OwnOption = OwnOption {
    name: "conditions",
    depends_on_machine: false,
    check: |name, value| {
        values::word::<String>(name, value, &["all", "cheap"]).map(|word| json!(word))
    },
};

const MOST_LOADERS: u64 = 256;
const LOADERS: OwnOption = OwnOption {
    name: "loaders",
    depends_on_machine: false,
    check: |name, value| Ok(json!(values::whole_number(name, value, 1, MOST_LOADERS)?)),
};

pub const OPTIONS: [OwnOption; 7] = [WAITS, MIX, REMOTE, FOREIGN_KEYS, CONDITIONS, LOADERS, GRACE];

fn boolean(name: &str, value: &Value) -> Result<Value, Refusal> {
    values::boolean(name, value).map(|value| json!(value))
}

/// The options of this workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TpccLikeOptions {
    /// Whether clients are terminals that wait before and after transactions.
    pub waits: bool,
    pub mix: Weights,
    /// Whether lines and payments may be of another warehouse.
    pub remote: bool,
    pub foreign_keys: bool,
    /// `all` or `cheap`.
    pub conditions: String,
    /// Processes that load at the same time. The loaded tables do not depend on their number.
    pub loaders: u32,
    pub grace_ms: u64,
}

impl Default for TpccLikeOptions {
    fn default() -> Self {
        Self {
            waits: false,
            mix: Weights::default(),
            remote: true,
            foreign_keys: true,
            conditions: "all".into(),
            loaders: 1,
            grace_ms: GRACE_MS,
        }
    }
}

impl TpccLikeOptions {
    /// Whether conditions are checked that read every customer and every order.
    pub fn checks_all(&self) -> bool {
        self.conditions == "all"
    }

    /// Refuses more loaders than clients, in whose places they run, or than warehouses.
    pub fn check_loaders(&self, clients: u32, warehouses: u32) -> Result<(), Refusal> {
        let message = |run_has: String| {
            format!(
                "option \"loaders\" is {}, and the run has {run_has}",
                self.loaders
            )
        };
        if self.loaders > clients {
            let clients = format_count(clients.into(), "client");
            return Err(Refusal::argument(message(clients))
                .detail("Loaders have the worker slots of the clients.")
                .hint("Give fewer loaders, or more clients."));
        }
        if self.loaders > warehouses {
            let warehouses = format_count(warehouses.into(), "warehouse");
            return Err(Refusal::argument(message(warehouses))
                .detail("Each loader fills warehouses of its own.")
                .hint("Give fewer loaders, or a larger scale."));
        }
        Ok(())
    }
}

/// Weights by the names of the transaction types; a type that is not named has the weight 0.
fn mix(name: &str, value: &Value) -> Result<Value, Refusal> {
    const HINT: &str = r#"Give weights by name, such as {"new-order": 45, "payment": 43, "order-status": 4, "delivery": 4, "stock-level": 4}."#;
    let invalid = |detail: String| {
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(detail)
            .hint(HINT)
    };
    let Value::Object(given) = value else {
        return Err(invalid(format!("It is {}.", values::kind(value))));
    };
    let mut weights = [0; 5];
    for (type_name, weight) in given {
        let is_it = |kind: &Kind| kind.name() == type_name;
        let Some(kind) = Kind::ALL.into_iter().find(is_it) else {
            return Err(invalid(format!(
                "Transaction type {} does not exist.",
                quoted(type_name)
            )));
        };
        let number = weight.as_u64().filter(|weight| *weight <= 1000);
        let Some(number) = number else {
            return Err(invalid(format!(
                "The weight of \"{type_name}\" is not a whole number between 0 and 1000."
            )));
        };
        weights[kind as usize] = number as u32;
    }
    if weights.iter().all(|weight| *weight == 0) {
        return Err(invalid("All weights are 0.".into()));
    }
    Ok(json!(Weights(weights)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_given_by_name() {
        let given = json!({"new-order": 10, "stock-level": 1});
        let stored = mix("mix", &given).unwrap();
        // The server of a target takes what is stored as an argument.
        assert_eq!(mix("mix", &stored).unwrap(), stored);
        let own: TpccLikeOptions = serde_json::from_value(json!({"mix": stored})).unwrap();
        assert_eq!(own.mix, Weights([10, 0, 0, 0, 1]));
    }

    #[test]
    fn wrong_weights_are_refused() {
        for (given, detail) in [
            (json!([1]), "It is an array."),
            (json!({}), "All weights are 0."),
            (
                json!({"pay": 1}),
                "Transaction type \"pay\" does not exist.",
            ),
            (
                json!({"payment": -1}),
                "The weight of \"payment\" is not a whole number between 0 and 1000.",
            ),
            (
                json!({"payment": 1001}),
                "The weight of \"payment\" is not a whole number between 0 and 1000.",
            ),
        ] {
            let refusal = mix("mix", &given).unwrap_err();
            assert_eq!(refusal.detail.as_deref(), Some(detail));
        }
    }
}
