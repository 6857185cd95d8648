//! The five transaction types: their weights, and the times that a terminal waits before and after each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    random::Stream,
    workload::mix::{Mix, Type},
};

/// A transaction type. Its number is its place in counters and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    NewOrder = 0,
    Payment = 1,
    OrderStatus = 2,
    Delivery = 3,
    StockLevel = 4,
}

impl Kind {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 5] = [
        Self::NewOrder,
        Self::Payment,
        Self::OrderStatus,
        Self::Delivery,
        Self::StockLevel,
    ];

    /// The name in results and in the option `mix`.
    pub fn name(self) -> &'static str {
        [
            "new-order",
            "payment",
            "order-status",
            "delivery",
            "stock-level",
        ][self as usize]
    }

    /// Seconds that a terminal needs for the keys, before the transaction (clause 5.2.5.7).
    pub fn keying_seconds(self) -> f64 {
        [18.0, 3.0, 2.0, 2.0, 2.0][self as usize]
    }

    /// Mean of the seconds that a terminal waits after the transaction (clause 5.2.5.4 has their distribution).
    pub fn thinking_seconds(self) -> f64 {
        [12.0, 12.0, 10.0, 5.0, 5.0][self as usize]
    }

    /// The largest 90th percentile of the response time that the specification allows, in seconds (clause 5.2.5.3).
    pub fn limit_seconds(self) -> f64 {
        match self {
            Self::StockLevel => 20.0,
            _ => 5.0,
        }
    }

    /// A random thinking time: exponential, and at most ten times its mean.
    pub fn thinking_ns(self, random: &mut Stream) -> u64 {
        let mean = self.thinking_seconds();
        (random.exponential(mean).min(10.0 * mean) * 1e9) as u64
    }

    /// The keying time.
    pub fn keying_ns(self) -> u64 {
        (self.keying_seconds() * 1e9) as u64
    }
}

/// Weights of the transaction types. Each transaction is drawn by them, independently of those before it.
/// As JSON it is an object with the weights by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<String, u32>", from = "BTreeMap<String, u32>")]
pub struct Weights(pub [u32; 5]);

impl From<Weights> for BTreeMap<String, u32> {
    fn from(weights: Weights) -> Self {
        let names = Kind::ALL.into_iter().map(|kind| kind.name().to_owned());
        names.zip(weights.0).collect()
    }
}

impl From<BTreeMap<String, u32>> for Weights {
    /// A type that is not named has the weight 0.
    fn from(weights: BTreeMap<String, u32>) -> Self {
        let weight = |kind: Kind| weights.get(kind.name()).copied().unwrap_or(0);
        Self(Kind::ALL.map(weight))
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self([45, 43, 4, 4, 4])
    }
}

impl Weights {
    /// The types as results have them, with the limits of response time.
    pub fn mix(&self) -> Mix {
        let of_kind = |(kind, weight): (Kind, u32)| Type {
            name: kind.name().into(),
            weight,
            limit_ns: Some((kind.limit_seconds() * 1e9) as u64),
            commands: Vec::new(),
        };
        Mix {
            types: Kind::ALL.into_iter().zip(self.0).map(of_kind).collect(),
            counts_rollbacks: true,
        }
    }

    /// The type of the next transaction.
    pub fn choose(&self, random: &mut Stream) -> Kind {
        let total: u32 = self.0.iter().sum();
        let mut drawn = random.range(0, i64::from(total) - 1);
        for (kind, weight) in Kind::ALL.into_iter().zip(self.0) {
            drawn -= i64::from(weight);
            if drawn < 0 {
                return kind;
            }
        }
        Kind::NewOrder
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn types_are_drawn_by_their_weights() {
        let mut random = Stream::new(3, 0, Purpose::Measure);
        let mut counts = [0u32; 5];
        for _ in 0..100_000 {
            counts[Weights::default().choose(&mut random) as usize] += 1;
        }
        for (count, weight) in counts.into_iter().zip(Weights::default().0) {
            assert!(count.abs_diff(weight * 1000) < 600, "{counts:?}");
        }
        let only = Weights([0, 0, 0, 7, 0]);
        assert!((0..100).all(|_| only.choose(&mut random) == Kind::Delivery));
    }

    #[test]
    fn thinking_is_exponential_and_cut() {
        let mut random = Stream::new(3, 0, Purpose::Pacing);
        let drawn: Vec<f64> = (0..100_000)
            .map(|_| Kind::Delivery.thinking_ns(&mut random) as f64 / 1e9)
            .collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
        assert!(drawn.iter().all(|seconds| *seconds <= 50.0));
    }

    #[test]
    fn a_terminal_with_waits_makes_at_most_1_286_new_orders_a_minute() {
        let cycle: f64 = (Kind::ALL.into_iter().zip([45.0, 43.0, 4.0, 4.0, 4.0]))
            .map(|(kind, percent)| {
                (kind.keying_seconds() + kind.thinking_seconds()) * percent / 100.0
            })
            .sum();
        let most = 60.0 / cycle * 0.45 * 10.0;
        assert!(
            (most - super::super::MOST_NOTPM_PER_WAREHOUSE).abs() < 0.01,
            "{most}"
        );
    }
}
