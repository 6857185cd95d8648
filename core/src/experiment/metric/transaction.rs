//! Metrics of one kind of transaction, for workloads that have several: `latency_p99_ms of order`.

use super::{ALL, MeasuredBy, Metric, kept};
use crate::{escape::is_refused, refusal::Refusal, refusal::quoted};

/// Stands between the figure and the name of the transaction.
const OF: &str = " of ";
/// Characters of a name.
const LONGEST_NAME: usize = 63;
/// Figures of a histogram, which each kind of transaction has.
const FIGURES: [&str; 8] = [
    "tps",
    "latency_p50_ms",
    "latency_p90_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_p999_ms",
    "commit_p50_ms",
    "commit_p99_ms",
];

/// The metric of that name, if it has the form of one. Whether a run has such a transaction is known to the run alone.
pub(super) fn member(name: &str) -> Option<Metric> {
    let (figure, transaction) = name.split_once(OF)?;
    let is_name = (1..=LONGEST_NAME).contains(&transaction.chars().count())
        && !transaction.chars().any(is_refused);
    let whole = (ALL.iter()).find(|metric| metric.name == figure && FIGURES.contains(&figure))?;
    is_name.then(|| Metric {
        name: kept(name),
        noun: kept(&format!("{}{OF}{transaction}", whole.noun)),
        measured_by: MeasuredBy::Transaction(kept(transaction)),
        ..*whole
    })
}

/// The form of these metrics, for people.
pub(super) fn form() -> String {
    format!(
        "{}{OF}NAME (a script or another kind of transaction)",
        FIGURES[4]
    )
}

/// The figure in the name of a metric, without the kind of transaction.
pub(super) fn figure(name: &str) -> &str {
    name.split_once(OF).map_or(name, |(figure, _)| figure)
}

impl Metric {
    /// Refuses a metric of a transaction that is not among these, unless none is known.
    pub fn is_among(self, transactions: &[String]) -> Result<(), Refusal> {
        match self.measured_by {
            MeasuredBy::Transaction(name)
                if !transactions.is_empty() && !transactions.iter().any(|known| known == name) =>
            {
                let known: Vec<String> = transactions.iter().map(|name| quoted(name)).collect();
                Err(Refusal::argument(format!(
                    "metric {} is of no transaction of these runs",
                    quoted(self.name)
                ))
                .detail(format!("No transaction is called {}.", quoted(name)))
                .hint(format!("Behind \"of\" give one of {}.", known.join(", "))))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, find};
    use super::*;
    use crate::refusal::check;

    #[test]
    fn a_metric_of_a_transaction_is_compared_as_that_of_all() {
        let metric = find("latency_p99_ms of new-order").unwrap();
        assert_eq!(metric.noun, "p99 latency of new-order");
        assert_eq!(metric.measured_by, MeasuredBy::Transaction("new-order"));
        assert_eq!(metric.kind, Kind::Latency(Some(99.0)));
        assert_eq!(metric.unit(), Some(("ms", 1.0)));
        assert!(metric.decides(false).is_err() && metric.decides(true).is_ok());
        let tps = find("tps of end of day").unwrap();
        assert_eq!(tps.measured_by, MeasuredBy::Transaction("end of day"));
        assert!(tps.more_is_better && tps.decides(false).is_ok() && tps.unit().is_none());
        assert_eq!(tps.superlative(), "most tps of end of day");
    }

    #[test]
    fn other_names_do_not_exist() {
        let long = format!("tps of {}", "x".repeat(64));
        for name in [
            "tps of ",
            "tps of",
            "speed of order",
            "load_ms of order",
            "latency_avg_ms of order",
            "tps of a\u{202e}b",
            "tps of a\nb",
            &long,
        ] {
            let refusal = find(name).unwrap_err();
            check::style(&refusal);
            assert!(refusal.hint.unwrap().contains(" of NAME"), "{name:?}");
        }
    }

    #[test]
    fn a_name_that_is_not_there_is_refused_with_those_that_are() {
        let names = ["order".to_owned(), "stock".to_owned()];
        let metric = find("tps of stocks").unwrap();
        let refusal = metric.is_among(&names).unwrap_err();
        check::style(&refusal);
        assert!(refusal.hint.unwrap().contains("\"order\", \"stock\""));
        metric.is_among(&[]).unwrap();
        find("tps of stock").unwrap().is_among(&names).unwrap();
        find("tps").unwrap().is_among(&names).unwrap();
    }
}
