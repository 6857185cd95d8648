//! The workload of five transaction types on nine tables that TPC-C describes (revision 5.11). It is derived from TPC-C, and its results are not
//! comparable to published TPC-C results.
//!
//! Arguments that are not given are chosen as by all workloads of transactions, and besides: 4 warehouses, or with the option `waits` one;
//! with it, ten clients for each warehouse, which are its terminals.

mod conditions;
mod finding;
mod input;
mod mix;
mod options;
mod random;
mod result;
mod rows;

use serde_json::{Map, Value};

use super::{mix as mix_of_all, transactions};
use crate::{
    finding_row::Finding,
    refusal::Refusal,
    spec::{
        Act, Chosen, Estimate, Facts, Given, Limit, Names, Options, OwnMetric, OwnOption,
        Parameters, Plan, ResultTable, Results, RunArguments, Spec, Step, check,
    },
    units,
};

pub use conditions::{ConditionCount, TableContents, checks, checks_of_load};
pub use input::{Customer, Drawn, Input, Inputs, Line, NewOrder, Payment, Terminal};
pub use mix::{Kind, Weights};
pub use options::TpccLikeOptions;
pub use random::{Constants, LAST_NAME_LOADED};
pub use result::{ClientResult, WORDS};
pub use rows::{KeyPart, Table, warehouses_of_loader};

/// Districts of a warehouse.
pub const DISTRICTS: i64 = 10;
/// Customers of a district.
pub const CUSTOMERS: i64 = 3000;
/// Orders of a district after the load.
pub const ORDERS: i64 = 3000;
/// Orders of a district that are not delivered after the load.
pub const NEW_ORDERS: i64 = 900;
/// Items of all warehouses, and rows of stock of each.
pub const ITEMS: i64 = 100_000;

/// The most committed New-Orders a minute that the terminals of a warehouse can make with keying and thinking times.
pub const MOST_NOTPM_PER_WAREHOUSE: f64 = 12.86;

/// Bytes of the tables and keys of one warehouse, and of the items.
const WAREHOUSE_BYTES: u64 = 105_000_000;
const ITEM_BYTES: u64 = 13_000_000;
/// Bytes that a transaction of the usual mix adds to tables and keys: 0.45 orders with ten lines each, and 0.43 rows of history.
const ADDED_BYTES: f64 = 900.0;
const UNIT_OF_SCALE: &str = "One unit of scale is a warehouse, about 100 MB.";
/// Scale that is chosen.
const CHOSEN_SCALE: u32 = 4;

pub struct TpccLike;

impl Parameters for TpccLike {
    fn name(&self) -> &'static str {
        "tpcc-like"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &transactions::PARAMETERS
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &[
            "unlogged",
            "sample",
            "data",
            "cache",
            "crash",
            "sustain",
            "wal_segments",
        ]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &options::OPTIONS
    }

    /// Warehouses, given as such or as the size of all tables.
    fn scale(
        &self,
        arguments: &RunArguments,
        _options: &Options,
        facts: &Facts,
    ) -> Result<Option<u32>, Refusal> {
        match (arguments.scale, arguments.size.as_deref()) {
            (Some(scale), _) => check::scale(scale, UNIT_OF_SCALE).map(Some),
            (None, Some(size)) => {
                let bytes = units::parse_size(size, facts.memory_bytes)?;
                let scale = bytes.saturating_sub(ITEM_BYTES).div_ceil(WAREHOUSE_BYTES);
                check::scale(scale.clamp(1, i32::MAX as u64) as i32, UNIT_OF_SCALE).map(Some)
            }
            (None, None) => Ok(None),
        }
    }

    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        _names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        let own: TpccLikeOptions = options.own();
        options.set_own(&own);
        if !own.waits {
            let chosen = transactions::choose(given, options, u32::MAX)?;
            let scale = given.loaded_or_given_scale().unwrap_or(CHOSEN_SCALE);
            own.check_loaders(chosen.clients, scale)?;
            return Ok(Chosen { scale, ..chosen });
        }
        if given.rate.is_some() || options.sustain > 0.0 {
            return Err(rate_of_terminals());
        }
        let scale = given.loaded_or_given_scale().unwrap_or(1);
        let terminals = scale.saturating_mul(DISTRICTS as u32);
        match given.clients {
            Some(clients) if clients != terminals => Err(not_the_terminals(clients, terminals)),
            _ => {
                let given = Given {
                    clients: Some(terminals),
                    ..*given
                };
                let chosen = transactions::choose(&given, options, u32::MAX)?;
                own.check_loaders(chosen.clients, scale)?;
                Ok(Chosen { scale, ..chosen })
            }
        }
    }

    /// Foreign keys are made when the data are loaded.
    fn contents(&self, spec: &Spec) -> String {
        match spec.options.own::<TpccLikeOptions>().foreign_keys {
            true => "tpcc-like".into(),
            false => "tpcc-like without foreign keys".into(),
        }
    }
}

impl Estimate for TpccLike {
    fn data_bytes(&self, spec: &Spec) -> u64 {
        bytes_of(spec.scale)
    }

    fn bytes_at(&self, scale: u32, _options: &Value) -> u64 {
        bytes_of(scale)
    }

    fn added_bytes(&self, spec: &Spec, transactions: f64) -> u64 {
        (transactions * ADDED_BYTES) as u64 + self.data_bytes(spec) / 4
    }
}

impl Plan for TpccLike {
    fn writes(&self) -> bool {
        true
    }

    fn steps(&self) -> &'static [Step] {
        const {
            &[
                Step::new(
                    Act::Load,
                    "create and fill the nine tables of each warehouse",
                ),
                Step::new(
                    Act::Vacuum,
                    "add keys, VACUUM (ANALYZE) the tables, and check them",
                ),
                Step::FILL_WAL,
                Step::CHECKPOINT,
                Step::LAUNCH,
                Step::new(Act::WarmUp, "transactions of five types, by all clients"),
                Step::new(Act::Measure, "transactions of five types, by all clients"),
                Step::new(
                    Act::Verify,
                    "check the consistency conditions, and compare the orders of each client",
                ),
            ]
        }
    }
}

impl Results for TpccLike {
    fn tables(&self) -> &'static [ResultTable] {
        const {
            &[
                mix_of_all::TRANSACTION_RESULT,
                mix_of_all::TRANSACTION_FAILURE,
                ResultTable::new("tpcc_client", "client").limits(&[
                    ("c_customer", Limit::COUNT),
                    ("c_item", Limit::COUNT),
                    ("c_last_name", Limit::COUNT),
                    ("client", Limit::COUNT),
                    ("lines", Limit::COUNT),
                    ("new_orders", Limit::COUNT),
                    ("orders", Limit::COUNT),
                    ("payments", Limit::COUNT),
                    ("payments_by_name", Limit::COUNT),
                    ("remote_lines", Limit::COUNT),
                    ("remote_payments", Limit::COUNT),
                    ("wrong_orders", Limit::COUNT),
                ]),
            ]
        }
    }

    /// Committed New-Orders a minute.
    fn metrics(&self) -> &'static [OwnMetric] {
        const {
            &[OwnMetric::new(
                "notpm",
                "NOTPM",
                "It is the number of New-Order transactions.",
                "(SELECT t.notpm FROM fsbench.tpcc t WHERE t.run_id = $1)",
            )]
        }
    }

    /// The transaction types with a weight.
    fn transaction_names(
        &self,
        _arguments: &RunArguments,
        options: &Map<String, Value>,
    ) -> Vec<String> {
        // A wrong mix is refused by the specification of a run.
        let given = options.get("mix").cloned();
        let weights: Weights = given
            .and_then(|mix| serde_json::from_value(mix).ok())
            .unwrap_or_default();
        let kinds = Kind::ALL.into_iter().zip(weights.0);
        let chosen = kinds.filter(|(_, weight)| *weight > 0);
        chosen.map(|(kind, _)| kind.name().to_owned()).collect()
    }

    fn facts_query(&self) -> Option<&'static str> {
        Some(include_str!("tpcc_like/facts.sql"))
    }

    fn findings(&self, facts: &str) -> serde_json::Result<Vec<Finding>> {
        Ok(finding::judge(&serde_json::from_str(facts)?))
    }

    fn details(&self, _run_id: i64) -> String {
        "NOTPM is in fsbench.tpcc, each transaction type in fsbench.tpcc_transaction, each second in fsbench.sample".into()
    }

    fn verified_after_crash(&self) -> &'static str {
        "check the consistency conditions, and compare the orders of each client with those that it has committed"
    }
}

fn bytes_of(warehouses: u32) -> u64 {
    u64::from(warehouses) * WAREHOUSE_BYTES + ITEM_BYTES
}

fn not_the_terminals(clients: u32, terminals: u32) -> Refusal {
    Refusal::argument(format!(
        "argument \"clients\" is {clients}, and the scale has {terminals} terminals"
    ))
    .detail("With the option \"waits\" each warehouse has ten terminals, and each client is one.")
    .hint(format!(
        "Leave out the argument \"clients\", or give {terminals}."
    ))
}

fn rate_of_terminals() -> Refusal {
    Refusal::argument("option \"waits\" and a rate exclude each other")
        .detail("A client of the specification keys and thinks by itself. No rate schedules it.")
        .hint("Leave out the rate and the option \"sustain\", or the option \"waits\"; more warehouses (scale) make more transactions.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workload::{
        resolve,
        tests::{facts, resolved},
    };

    fn with_options(options: Value) -> RunArguments {
        RunArguments {
            workload: Some("tpcc-like".into()),
            options: Some(options),
            ..RunArguments::default()
        }
    }

    #[test]
    fn chosen_values() {
        let spec = resolved(with_options(json!({})));
        assert_eq!((spec.scale, spec.clients), (4, 8));
        assert_eq!(
            spec.options.own::<TpccLikeOptions>(),
            TpccLikeOptions::default()
        );
        assert_eq!(spec.data_bytes(), 433_000_000);
        let sized = RunArguments {
            size: Some("1GB".into()),
            ..with_options(json!({}))
        };
        assert_eq!(resolved(sized).scale, 11);
    }

    #[test]
    fn terminals_wait() {
        let spec = resolved(with_options(json!({"waits": true})));
        assert_eq!((spec.scale, spec.clients), (1, 10));
        let wrong = RunArguments {
            clients: Some(9),
            scale: Some(2),
            ..with_options(json!({"waits": true}))
        };
        let refusal = resolve(&wrong, &facts()).unwrap_err();
        crate::refusal::check::style(&refusal);
        assert_eq!(
            refusal.hint.as_deref(),
            Some("Leave out the argument \"clients\", or give 20.")
        );
        for paced in [
            RunArguments {
                rate: Some(5.0),
                ..with_options(json!({"waits": true}))
            },
            RunArguments {
                latency_limit_ms: Some(20.0),
                ..with_options(json!({"waits": true, "sustain": 99}))
            },
        ] {
            let refusal = resolve(&paced, &facts()).unwrap_err();
            crate::refusal::check::style(&refusal);
            assert!(refusal.message.contains("exclude each other"));
        }
        let scale = RunArguments {
            scale: Some(0),
            ..with_options(json!({}))
        };
        let hint = resolve(&scale, &facts()).unwrap_err().hint.unwrap();
        assert_eq!(hint, "One unit of scale is a warehouse, about 100 MB.");
    }

    #[test]
    fn loaders_have_places_of_clients() {
        let with = |clients, loaders| RunArguments {
            clients: Some(clients),
            ..with_options(json!({"loaders": loaders}))
        };
        assert_eq!(
            resolved(with(2, 2))
                .options
                .own::<TpccLikeOptions>()
                .loaders,
            2
        );
        let refusal = resolve(&with(2, 3), &facts()).unwrap_err();
        crate::refusal::check::style(&refusal);
        assert_eq!(
            refusal.message,
            "option \"loaders\" is 3, and the run has 2 clients"
        );
        let refusal = resolve(&with(20, 5), &facts()).unwrap_err();
        crate::refusal::check::style(&refusal);
        assert_eq!(
            refusal.message,
            "option \"loaders\" is 5, and the run has 4 warehouses"
        );
    }

    #[test]
    fn transactions_have_the_names_of_their_types() {
        let names = |options: Value| {
            let options = options.as_object().cloned().unwrap_or_default();
            TpccLike.transaction_names(&RunArguments::default(), &options)
        };
        let all = Kind::ALL.map(Kind::name);
        assert_eq!(names(json!({})), all);
        assert_eq!(
            names(json!({"mix": {"delivery": 1, "payment": 0}})),
            ["delivery"]
        );
        assert_eq!(names(json!({"mix": "wrong"})), all);
    }

    #[test]
    fn the_server_of_a_target_gets_the_same_options() {
        let given = json!({
            "mix": {"new-order": 1}, "remote": false, "foreign_keys": false, "conditions": "all"
        });
        let spec = resolved(with_options(given));
        let argument = spec.options.to_argument(spec.workload);
        let again = resolved(with_options(argument));
        assert_eq!(again.options, spec.options);
        assert_eq!(
            spec.workload.contents(&spec),
            "tpcc-like without foreign keys"
        );
    }
}
