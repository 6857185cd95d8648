//! Its options one by one, and what is chosen of them: all methods; 1, 2, 4 and 8 writers, as far as they fit the free worker slots and
//! `pgfsbench.max_clients`; 1 s for each test, but at most 40 s.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{MOST_WRITERS, Method, SHORTEST_TEST_MS, count};
use crate::{
    refusal::{Refusal, quoted},
    spec::{Bound, Facts, Names, OVERHEAD_WORKERS, OwnOption, check, values},
    units,
};

/// A test when no bound is given, all of them together at most, and the writers that are chosen.
const QUICK_TEST_MS: u64 = 1_000;
const QUICK_TESTS_MS: u64 = 40_000;
const CHOSEN_WRITERS: [u32; 4] = [1, 2, 4, 8];

const METHODS: OwnOption = OwnOption {
    name: "methods",
    depends_on_machine: false,
    check: methods,
};
const WRITERS: OwnOption = OwnOption {
    name: "writers",
    depends_on_machine: true,
    check: |name, value| Ok(json!(values::numbers(name, value, 1, MOST_WRITERS)?)),
};

pub const OPTIONS: [OwnOption; 2] = [METHODS, WRITERS];

/// The options of this workload. Empty: not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FsyncOptions {
    /// The methods to be tested.
    pub methods: Vec<Method>,
    /// How many write at the same time, in ascending order.
    pub writers: Vec<u32>,
}

impl FsyncOptions {
    /// With what was not given.
    pub(super) fn chosen(mut self, facts: &Facts, names: &mut Names) -> Self {
        if self.methods.is_empty() {
            self.methods = Method::ALL.to_vec();
            names.add(&METHODS, facts);
        }
        if self.writers.is_empty() {
            let most = facts.free_worker_slots.saturating_sub(OVERHEAD_WORKERS);
            let most = most.min(facts.max_clients).max(1);
            let fit = CHOSEN_WRITERS.into_iter().filter(|&n| n <= most);
            self.writers = fit.collect();
            names.add(&WRITERS, facts);
        }
        self
    }

    /// How long the tests of a quick look take.
    pub(super) fn quick_ms(&self) -> u64 {
        (count(&self.methods, &self.writers) * QUICK_TEST_MS).min(QUICK_TESTS_MS)
    }

    /// The most writers, which have slots as clients have; and whether each test has time enough.
    pub(super) fn check(&self, bound: Option<Bound>, facts: &Facts) -> Result<u32, Refusal> {
        let most = self.writers.iter().copied().max().unwrap_or(1);
        check::slots("writers", most, facts)?;
        let tests = count(&self.methods, &self.writers);
        let needed = tests * SHORTEST_TEST_MS;
        match bound {
            Some(Bound::DurationMs(ms)) if ms < needed => Err(Refusal::argument(format!(
                "duration {} is too short for {}",
                units::format_seconds(ms as f64 / 1000.0),
                units::format_count(tests, "test")
            ))
            .detail(format!(
                "They share it, and each takes at least {SHORTEST_TEST_MS} ms."
            ))
            .hint(format!(
                "Give at least {}, or fewer methods and writers in the argument \"options\".",
                units::format_seconds(needed as f64 / 1000.0)
            ))),
            _ => Ok(most),
        }
    }
}

/// Ways to sync, each once, in pg_test_fsync's order.
fn methods(name: &str, value: &Value) -> Result<Value, Refusal> {
    let known = Method::ALL.map(Method::as_str);
    let given: Vec<Method> = values::list(value, 1)
        .and_then(|items| {
            let parse = |item: &Value| {
                let method = item.as_str().and_then(Method::parse);
                method.ok_or_else(|| match item.as_str() {
                    Some("fsync_writethrough") => "Linux has no fsync_writethrough.".to_owned(),
                    Some(text) => format!("It holds {}.", quoted(text)),
                    None => format!("It holds {}.", values::kind(item)),
                })
            };
            items.iter().map(parse).collect()
        })
        .map_err(|detail| {
            Refusal::argument(format!("invalid value of option \"{name}\""))
                .detail(detail)
                .hint(format!("Give an array of names: {}.", known.join(", ")))
        })?;
    let wanted = |method: &Method| given.contains(method);
    let in_order: Vec<Method> = Method::ALL.into_iter().filter(wanted).collect();
    Ok(json!(in_order))
}
