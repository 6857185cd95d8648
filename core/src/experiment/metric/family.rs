//! Metrics of one workload: New-Orders, and those of which there is one for each degree of a scan, or for each way to sync.

use serde_json::{Value, json};

use super::{MeasuredBy, Metric, kept, ratio};
use crate::workload;

/// Committed New-Orders a minute. It is no metric of all transactions, and shares no level with them.
const NOTPM: &str = "notpm";
/// Median speed of the scans at a degree, which follows.
const SCAN: &str = "scan_gb_per_s_at_";
/// Operations per second of a way to sync, which follows: of one write, by as few writers as were tested.
const FSYNC: &str = "fsync_ops_";

/// The metric of that name.
pub(super) fn member(name: &str) -> Option<Metric> {
    if name == NOTPM {
        return Some(ratio(NOTPM, true, "NOTPM", MeasuredBy::NewOrders));
    }
    let (by, noun) = match (name.strip_prefix(SCAN), name.strip_prefix(FSYNC)) {
        (Some(degree), _) => {
            let degree = whole_number(degree).filter(|n| is_known("degrees", &json!([n])))?;
            (
                MeasuredBy::Degree(degree),
                format!("scan speed at degree {degree}"),
            )
        }
        (None, Some(method)) if is_known("methods", &json!([method])) => {
            let noun = format!("operations per second of {method}");
            (MeasuredBy::Method(kept(method)), noun)
        }
        _ => return None,
    };
    Some(ratio(kept(name), true, kept(&noun), by))
}

/// A whole number as it is usually written.
fn whole_number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Whether a workload takes an option with such a value.
fn is_known(option: &str, value: &Value) -> bool {
    let mut workloads = workload::ALL.iter();
    let known = workloads.find_map(|workload| workload.own_option(option));
    known.is_some_and(|known| (known.check)(option, value).is_ok())
}

/// The names of all of them, for people.
pub(super) fn names() -> [String; 3] {
    [
        NOTPM.to_owned(),
        format!("{SCAN}N (a degree)"),
        format!("{FSYNC}METHOD (as wal_sync_method, or none)"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    #[test]
    fn there_is_one_for_each_degree_and_each_way_to_sync() {
        for (name, by, noun) in [
            (
                "scan_gb_per_s_at_8",
                MeasuredBy::Degree(8),
                "scan speed at degree 8",
            ),
            (
                "fsync_ops_open_datasync",
                MeasuredBy::Method("open_datasync"),
                "operations per second of open_datasync",
            ),
        ] {
            let metric = find(name).unwrap();
            assert_eq!(
                (metric.name, metric.measured_by, metric.noun),
                (name, by, noun)
            );
            assert!(metric.more_is_better && metric.decides(false).is_ok());
            // It is the same text the next time.
            let again = find(name).unwrap();
            assert!(std::ptr::eq(metric.name, again.name) && std::ptr::eq(metric.noun, again.noun));
        }
    }

    #[test]
    fn new_orders_are_a_metric() {
        let metric = find("notpm").unwrap();
        assert!(metric.more_is_better && metric.decides(false).is_ok());
        assert_eq!(metric.superlative(), "highest NOTPM");
    }

    #[test]
    fn others_do_not_exist() {
        for name in [
            "scan_gb_per_s_at_",
            "scan_gb_per_s_at_0",
            "scan_gb_per_s_at_08",
            "scan_gb_per_s_at_+8",
            "scan_gb_per_s_at_x",
            "scan_gb_per_s_at_99999",
            "scan_gb_per_s_at_99999999999",
            "fsync_ops_",
            "fsync_ops_fsync_writethrough",
            "fsync_ops_FSYNC",
        ] {
            let refusal = find(name).unwrap_err();
            assert!(refusal.hint.unwrap().contains("fsync_ops_METHOD"), "{name}");
        }
    }
}
