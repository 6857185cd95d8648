//! Findings: limits and ranges of the specification that a run has missed.

use serde::Deserialize;

use super::{MOST_NOTPM_PER_WAREHOUSE, options::TpccLikeOptions};
use crate::{
    finding_row::{Finding, Severity},
    texts::finding::tpcc_like::{self as text, Input, Missed},
};

/// An input outside its range is a finding if chance makes it less often than once in so many runs.
const RARE: f64 = 1e9;

/// Facts of a run, as `facts.sql` reads them from the tables of results.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub options: TpccLikeOptions,
    pub warehouses: Option<u32>,
    /// Committed New-Orders a minute.
    pub notpm: Option<f64>,
    /// Types with a limit of the 90th percentile.
    pub types: Vec<ResponseTime>,
    pub orders: u64,
    pub wrong_orders: u64,
    pub lines: u64,
    pub remote_lines: u64,
    pub payments: u64,
    pub remote_payments: u64,
    pub payments_by_name: u64,
}

/// The 90th percentile of the response time of a transaction type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ResponseTime {
    pub transaction: String,
    pub p90_ms: f64,
    pub limit_ms: f64,
}

/// Findings by these facts.
pub fn judge(facts: &Facts) -> Vec<Finding> {
    [slow(facts), not_paced(facts), unlike(facts)]
        .into_iter()
        .flatten()
        .collect()
}

/// Clause 5.2.5.3.
fn slow(facts: &Facts) -> Option<Finding> {
    let over: Vec<_> = (facts.types.iter())
        .filter(|of| of.p90_ms > of.limit_ms)
        .map(|of| (of.transaction.as_str(), of.p90_ms, of.limit_ms))
        .collect();
    (!over.is_empty()).then(|| Finding::new(Severity::Warning, text::response_time_limit(&over)))
}

/// Ten terminals of a warehouse that wait cannot do more.
fn not_paced(facts: &Facts) -> Option<Finding> {
    let per_warehouse = facts.notpm? / f64::from(facts.warehouses.filter(|count| *count > 0)?);
    let is_over = !facts.options.waits && per_warehouse > MOST_NOTPM_PER_WAREHOUSE;
    is_over.then(|| {
        let text = text::not_paced(per_warehouse, MOST_NOTPM_PER_WAREHOUSE);
        Finding::new(Severity::Info, text)
    })
}

/// An input that clause 9.2.2.5 has a range for.
struct Range {
    input: Input,
    low: f64,
    high: f64,
    /// The range of one draw: 0 and 100 for a share in percent.
    draw: (f64, f64),
    /// The expected value.
    mean: f64,
}

const fn share(input: Input, low: f64, mean: f64, high: f64) -> Range {
    Range {
        input,
        low,
        high,
        draw: (0.0, 100.0),
        mean,
    }
}

const ROLLBACKS: Range = share(Input::Rollbacks, 0.9, 1.0, 1.1);
const LINES: Range = Range {
    input: Input::Lines,
    low: 9.5,
    high: 10.5,
    draw: (5.0, 15.0),
    mean: 10.0,
};
const REMOTE_LINES: Range = share(Input::RemoteLines, 0.95, 1.0, 1.05);
const REMOTE_PAYMENTS: Range = share(Input::RemotePayments, 14.0, 15.0, 16.0);
const BY_NAME: Range = share(Input::ByName, 57.0, 60.0, 63.0);

impl Range {
    /// The value and the range, if the value is outside and chance does not explain that. `sum` is that of `count` draws.
    fn missed(&self, sum: f64, count: u64) -> Option<Missed> {
        if count == 0 {
            return None;
        }
        let value = sum / count as f64;
        let (least, most) = self.draw;
        let part = |value: f64| ((value - least) / (most - least)).clamp(0.0, 1.0);
        let is_missed = !(self.low..=self.high).contains(&value)
            && exponent(part(value), part(self.mean)) * count as f64 > (2.0 * RARE).ln();
        is_missed.then_some(Missed {
            input: self.input,
            value,
            low: self.low,
            high: self.high,
        })
    }
}

/// The bound of Chernoff and Hoeffding: the mean of n independent draws between 0 and 1 that should be `mean` reaches `value` with a
/// probability of at most exp(-n * exponent), on one side.
fn exponent(value: f64, mean: f64) -> f64 {
    let term = |value: f64, mean: f64| match value > 0.0 {
        true => value * (value / mean).ln(),
        false => 0.0,
    };
    term(value, mean) + term(1.0 - value, 1.0 - mean)
}

/// Clause 9.2.2.5. One warehouse has no remote inputs.
fn unlike(facts: &Facts) -> Option<Finding> {
    let percent = |part: u64| part as f64 * 100.0;
    let mut missed = vec![
        ROLLBACKS.missed(percent(facts.wrong_orders), facts.orders),
        LINES.missed(facts.lines as f64, facts.orders),
        BY_NAME.missed(percent(facts.payments_by_name), facts.payments),
    ];
    if facts.warehouses > Some(1) {
        missed.push(REMOTE_LINES.missed(percent(facts.remote_lines), facts.lines));
        missed.push(REMOTE_PAYMENTS.missed(percent(facts.remote_payments), facts.payments));
    }
    let missed: Vec<Missed> = missed.into_iter().flatten().collect();
    (!missed.is_empty()).then(|| {
        let text = text::inputs_out_of_range(&missed, facts.options.remote);
        Finding::new(Severity::Warning, text)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        random::{Purpose, Stream},
        workload::tpcc_like::{Constants, Drawn, Inputs, Kind, Terminal},
    };

    fn findings(facts: &Value) -> Vec<Finding> {
        judge(&serde_json::from_value(facts.clone()).unwrap())
    }

    fn told(facts: Value) -> Vec<(String, bool, String)> {
        let found = findings(&facts).into_iter();
        found
            .map(|f| (f.code, f.severity == Severity::Warning, f.message))
            .collect()
    }

    #[test]
    fn a_type_over_its_limit_is_named() {
        let types = |order: f64, level: f64| {
            json!({"types": [{"transaction": "new-order", "p90_ms": order, "limit_ms": 5000},
                {"transaction": "stock-level", "p90_ms": level, "limit_ms": 20000}]})
        };
        assert_eq!(told(types(5000.0, 20_000.0)), []);
        assert_eq!(
            told(types(6100.0, 6100.0)),
            [(
                "response_time_limit".into(),
                true,
                "the 90th percentile of the response time is over its limit: new-order 6.1 s (at most 5 s)".into()
            )]
        );
        assert_eq!(
            told(types(100.0, 21_000.0))[0].2,
            "the 90th percentile of the response time is over its limit: stock-level 21 s (at most 20 s)"
        );
    }

    #[test]
    fn a_run_without_waits_is_not_paced() {
        let run = |notpm: f64, waits: bool| {
            told(json!({"options": {"waits": waits}, "warehouses": 10, "notpm": notpm}))
        };
        assert_eq!(run(128.6, false), []);
        assert_eq!(run(1200.0, true), []);
        let found = run(1200.0, false);
        assert_eq!((found[0].0.as_str(), found[0].1), ("not_paced", false));
        assert!(
            found[0].2.starts_with("120 New-Orders a minute"),
            "{found:?}"
        );
        assert_eq!(told(json!({"notpm": 1200.0})), []);
        assert_eq!(told(json!({"warehouses": 0, "notpm": 1200.0})), []);
    }

    /// The probability that of `count` draws at least `least` succeed.
    fn tail(count: u32, least: u32, mean: f64) -> f64 {
        let mut term = (1.0 - mean).powi(count as i32);
        let mut below = 0.0;
        for successes in 0..least {
            below += term;
            term *= f64::from(count - successes) / f64::from(successes + 1) * mean / (1.0 - mean);
        }
        1.0 - below
    }

    #[test]
    fn the_bound_is_above_the_binomial_tail() {
        for (count, mean) in [(200, 0.01), (500, 0.15), (100, 0.6)] {
            for least in (count as f64 * mean) as u32 + 1..count {
                let value = f64::from(least) / f64::from(count);
                let bound = (-exponent(value, mean) * f64::from(count)).exp();
                let exact = tail(count, least, mean);
                assert!(
                    exact <= bound + 1e-12,
                    "{count} {mean} {least}: {exact} {bound}"
                );
            }
        }
    }

    #[test]
    fn chance_makes_no_finding() {
        // Each is outside its range, and of so few draws that this happens by itself.
        assert_eq!(ROLLBACKS.missed(400.0, 100), None);
        assert_eq!(ROLLBACKS.missed(0.0, 2000), None);
        assert_eq!(LINES.missed(30.0, 2), None);
        assert_eq!(BY_NAME.missed(7000.0, 100), None);
        for seed in 0..20 {
            let mut random = Stream::new(seed, 0, Purpose::Measure);
            let inputs = Inputs {
                warehouses: 4,
                constants: Constants::of_seed(1),
                remote: true,
            };
            let mut sum = [0; Drawn::COUNTS];
            for _ in 0..500 {
                for kind in [Kind::NewOrder, Kind::Payment] {
                    let input = inputs.draw(kind, Terminal::of_number(3), &mut random);
                    for (sum, count) in sum.iter_mut().zip(Drawn::of(&input).counts()) {
                        *sum += count;
                    }
                    assert_eq!(unlike(&facts_of(Drawn::of_counts(sum))), None);
                }
            }
        }
    }

    fn facts_of(drawn: Drawn) -> Facts {
        Facts {
            warehouses: Some(4),
            orders: drawn.orders,
            wrong_orders: drawn.wrong_orders,
            lines: drawn.lines,
            remote_lines: drawn.remote_lines,
            payments: drawn.payments,
            remote_payments: drawn.remote_payments,
            payments_by_name: drawn.payments_by_name,
            ..Facts::default()
        }
    }

    #[test]
    fn inputs_that_chance_does_not_make_are_named_with_their_ranges() {
        let good = json!({"warehouses": 4, "orders": 1_000_000, "wrong_orders": 10_000, "lines": 10_000_000, "remote_lines": 100_000,
            "payments": 1_000_000, "remote_payments": 150_000, "payments_by_name": 600_000});
        assert_eq!(told(good.clone()), []);
        for (name, value, said) in [
            ("wrong_orders", 12_000, "rollbacks 1.2 % (0.9 to 1.1)"),
            (
                "payments_by_name",
                560_000,
                "payments by last name 56 % (57 to 63)",
            ),
            ("remote_lines", 90_000, "remote lines 0.9 % (0.95 to 1.05)"),
            (
                "remote_payments",
                170_000,
                "remote payments 17 % (14 to 16)",
            ),
        ] {
            let mut changed = good.clone();
            changed[name] = json!(value);
            let message = format!("inputs are outside the ranges of the specification: {said}");
            assert_eq!(
                told(changed),
                [("inputs_out_of_range".into(), true, message)]
            );
        }
        let mut long = good.clone();
        long["lines"] = json!(11_000_000);
        long["remote_lines"] = json!(110_000);
        assert!(
            told(long)[0]
                .2
                .ends_with(": lines of an order 11 (9.5 to 10.5)")
        );
        // Without remote inputs; one warehouse has none.
        let mut near = good;
        near["remote_lines"] = json!(0);
        near["remote_payments"] = json!(0);
        near["options"] = json!({"remote": false});
        let found = findings(&near);
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .message
                .ends_with("remote lines 0 % (0.95 to 1.05), remote payments 0 % (14 to 16)")
        );
        assert!(found[0].hint.contains("{\"remote\": false}"));
        near["warehouses"] = json!(1);
        assert_eq!(told(near), []);
    }
}
