//! The seconds of a run as they are stored: what was counted in each, and what the clients were seen waiting for.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::{
    board::{Figures, Sample},
    rows::Row,
};

/// A shorter second at the end of a window is none.
pub const SHORTEST_NS: u64 = 500_000_000;

/// A row of `fsbench.sample`; its columns say what they are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Second {
    pub second: u32,
    pub interval_ms: f64,
    pub transactions: Option<u64>,
    pub skipped: Option<u64>,
    pub late: Option<u64>,
    pub failed: Option<u64>,
    pub latency_avg_ms: Option<f64>,
    pub latency_p50_ms: Option<f64>,
    pub latency_p95_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    pub latency_max_ms: Option<f64>,
    pub commit_p99_ms: Option<f64>,
    #[serde(flatten)]
    pub figures: Figures,
}

impl Row for Second {
    const TABLE: &'static str = "sample";
}

impl Second {
    /// A record of a second. A run without transactions has no counts of them, and a second without transactions no latency.
    pub fn of(sample: &Sample, has_transactions: bool) -> Self {
        let ms = |ns: u64| ns as f64 / 1e6;
        let latency = |ns: u64| (sample.transactions > 0).then(|| ms(ns));
        let count = |n: u64| has_transactions.then_some(n);
        Self {
            second: sample.second,
            interval_ms: ms(sample.interval_ns),
            transactions: count(sample.transactions),
            skipped: count(sample.skipped),
            late: count(sample.late),
            failed: count(sample.failed),
            latency_avg_ms: latency(sample.mean_ns),
            latency_p50_ms: latency(sample.p50_ns),
            latency_p95_ms: latency(sample.p95_ns),
            latency_p99_ms: latency(sample.p99_ns),
            latency_max_ms: latency(sample.max_ns),
            commit_p99_ms: latency(sample.commit_p99_ns),
            figures: sample.figures,
        }
    }
}

impl Second {
    /// A record of a second in which operations were counted that are no transactions, and have no latency of each second. None: not known.
    pub fn of_operations(sample: &Sample, operations: Option<f64>) -> Self {
        Self {
            transactions: operations.map(|operations| operations.round() as u64),
            ..Self::of(sample, false)
        }
    }
}

/// A row of `fsbench.wait_event`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Wait {
    /// Second of the window.
    pub second: u32,
    /// Type of the wait event.
    pub wait_event_type: String,
    pub wait_event: String,
    /// How often it was seen.
    pub samples: u64,
}

impl Row for Wait {
    const TABLE: &'static str = "wait_event";
}

/// Wait events of the clients in each second. `name` gives type and name of a wait event, and is asked once for each;
/// None is all the events that were not told apart.
pub fn waits(
    samples: &[Sample],
    mut name: impl FnMut(Option<u32>) -> (String, String),
) -> Vec<Wait> {
    let mut names = HashMap::new();
    // Two numbers can have the same name, as those that no version knows.
    let mut counts = BTreeMap::new();
    for sample in samples {
        for (event, n) in sample.waits.iter() {
            let name = names.entry(event).or_insert_with(|| name(event));
            *counts.entry((sample.second, name.clone())).or_insert(0) += n;
        }
    }
    let row = |((second, (wait_event_type, wait_event)), samples)| Wait {
        second,
        wait_event_type,
        wait_event,
        samples,
    };
    counts.into_iter().map(row).collect()
}

/// Transactions per second of each second, without a last one that is too short.
pub fn rates(samples: &[Sample]) -> Vec<f64> {
    samples
        .iter()
        .filter(|sample| sample.interval_ns >= SHORTEST_NS)
        .map(Sample::tps)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Figure, Waits};
    use serde_json::{json, to_value};

    fn sample(second: u32, transactions: u64) -> Sample {
        Sample {
            second,
            transactions,
            interval_ns: 1_000_000_000,
            p99_ns: 2_500_000,
            ..Sample::default()
        }
    }

    #[test]
    fn what_there_was_not_is_null() {
        let row = |n, has| to_value(Second::of(&sample(3, n), has)).unwrap();
        let busy = row(7, true);
        assert_eq!(
            (&busy["second"], &busy["transactions"]),
            (&json!(3), &json!(7))
        );
        assert_eq!(busy["latency_p99_ms"], json!(2.5));
        let idle = row(0, true);
        assert_eq!(
            (&idle["transactions"], &idle["latency_p99_ms"]),
            (&json!(0), &json!(null))
        );
        assert_eq!(row(0, false)["transactions"], json!(null));
    }

    #[test]
    fn every_figure_is_a_column_known_or_not() {
        let mut sample = sample(0, 1);
        sample.figures.set(Figure::DeviceReads, Some(5));
        let row = to_value(Second::of(&sample, true)).unwrap();
        for figure in Figure::ALL {
            let expected = match figure {
                Figure::DeviceReads => json!(5),
                _ => json!(null),
            };
            assert_eq!(row.get(figure.column()), Some(&expected), "{figure:?}");
        }
    }

    #[test]
    fn events_of_the_same_name_are_one_row() {
        let mut first = sample(0, 1);
        let mut second = sample(1, 1);
        first.waits = Waits::new();
        for event in [5, 5, 9, 0] {
            first.waits.add(event);
        }
        second.waits.add(5);
        let mut asked = Vec::new();
        let rows = waits(&[first, second], |event| {
            asked.push(event);
            match event {
                Some(0) => ("CPU".into(), "CPU".into()),
                _ => ("IO".into(), "Unknown".into()),
            }
        });
        let seen: Vec<_> = rows
            .iter()
            .map(|row| (row.second, row.wait_event_type.as_str(), row.samples))
            .collect();
        assert_eq!(seen, [(0, "CPU", 1), (0, "IO", 3), (1, "IO", 1)]);
        assert_eq!(asked.len(), 3, "each event is asked for once");
    }

    #[test]
    fn a_short_last_second_has_no_rate() {
        let mut last = sample(2, 9);
        last.interval_ns = SHORTEST_NS - 1;
        assert_eq!(rates(&[sample(0, 5), sample(1, 0), last]), [5.0, 0.0]);
    }
}
