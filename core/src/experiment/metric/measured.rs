//! Which runs have a metric: by their workload and their options.

use serde_json::{Map, Value};

use super::Metric;
use crate::{
    refusal::Refusal,
    spec::{DEFAULT_TARGET, OwnMetric, Workload},
};

/// The runs that have a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeasuredBy {
    /// Runs of transactions, or of syncs.
    Operations,
    /// Runs of transactions.
    Transactions,
    /// Runs of transactions whose seconds are sampled.
    Seconds,
    /// Runs of transactions that write.
    Writes,
    /// Runs whose data are loaded where they are measured.
    Loading,
    /// Runs with this option.
    Option(&'static str),
    /// Runs that search for a rate.
    Search,
    /// Runs of the workload that declares it; with the parameter in its name.
    Own(&'static OwnMetric, &'static str),
    /// Runs with a transaction of this name, among others.
    Transaction(&'static str),
}

/// A run that is to be made.
pub struct PlannedRun<'a> {
    pub workload: Workload,
    /// Options, as given.
    pub options: &'a Map<String, Value>,
    pub target: &'a str,
    /// Names of its kinds of transactions, if it has several.
    pub transactions: &'a [String],
    /// Whether it loads tables into a copy of a user's server.
    pub loads_on_own: bool,
}

impl PlannedRun<'_> {
    fn has(&self, option: &str, value: &Value) -> bool {
        self.options.get(option) == Some(value)
    }

    fn is_sampled(&self) -> bool {
        !self.has("sample", &false.into())
    }

    /// Whether each of its runs loads data itself: on a target they are copied there unless an option says otherwise.
    fn loads(&self) -> bool {
        let is_here = self.target == DEFAULT_TARGET;
        let is_asked = self.loads_on_own || self.has("data", &"loaded".into());
        is_here || is_asked || !self.workload.takes_option("data")
    }
}

impl Metric {
    /// Refuses a run that does not measure it: the experiment would end without a value.
    pub fn is_measured_by(&self, run: &PlannedRun) -> Result<(), Refusal> {
        let transactions = run.workload.runs_transactions();
        match self.measured_by {
            MeasuredBy::Operations if transactions || run.workload.counts_operations() => Ok(()),
            MeasuredBy::Operations => Err(self.not_of(run, "It runs no transactions.")),
            MeasuredBy::Own(own, _) if !run.workload.metrics().contains(own) => {
                Err(self.not_of(run, own.measures))
            }
            MeasuredBy::Own(own, parameter) => match (own.lack)(run.options, parameter) {
                None => Ok(()),
                Some(lack) => Err(self.needs(lack.option, lack.detail, &lack.example)),
            },
            MeasuredBy::Loading if !run.workload.loads_tables() => {
                Err(self.not_of(run, "It loads no tables."))
            }
            MeasuredBy::Loading if !run.loads() => Err(self.needs(
                "option \"data\"",
                "Data are loaded once, and copied to each target.",
                "{\"data\": \"loaded\"}",
            )),
            MeasuredBy::Loading => Ok(()),
            _ if !transactions => Err(self.not_of(run, "It runs no transactions.")),
            MeasuredBy::Writes if !run.workload.writes() => {
                Err(self.not_of(run, "Its transactions change nothing."))
            }
            MeasuredBy::Seconds | MeasuredBy::Writes if !run.is_sampled() => {
                Err(Refusal::argument(format!(
                    "metric \"{}\" needs all seconds of a run",
                    self.name
                ))
                .detail("The option \"sample\" leaves them out.")
                .hint("Leave this option out, or use another metric."))
            }
            MeasuredBy::Option(option) => self.has_option(option, run),
            MeasuredBy::Transaction(_) if run.transactions.is_empty() => {
                Err(self.not_of(run, "Its transactions have no names."))
            }
            MeasuredBy::Transaction(_) => self.is_among(run.transactions),
            // Whether there is a search is looked at for itself.
            MeasuredBy::Transactions
            | MeasuredBy::Seconds
            | MeasuredBy::Writes
            | MeasuredBy::Search => Ok(()),
        }
    }

    fn has_option(&self, option: &str, run: &PlannedRun) -> Result<(), Refusal> {
        if !run.workload.takes_option(option) {
            return Err(self.not_of(run, &format!("It has no option \"{option}\".")));
        }
        match run.has(option, &true.into()) {
            true => Ok(()),
            false => Err(self.needs(
                &format!("option \"{option}\""),
                "Without it no run measures that.",
                &format!("{{\"{option}\": true}}"),
            )),
        }
    }

    fn not_of(&self, run: &PlannedRun, detail: &str) -> Refusal {
        Refusal::argument(format!(
            "metric \"{}\" is not measured by workload \"{}\"",
            self.name,
            run.workload.as_str()
        ))
        .detail(detail)
        .hint("Use another metric, or a workload that has it.")
    }

    fn needs(&self, what: &str, detail: &str, options: &str) -> Refusal {
        Refusal::argument(format!("metric \"{}\" needs {what}", self.name))
            .detail(detail)
            .hint(format!(
                "Give options => '{options}', or use another metric."
            ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ALL, find};
    use super::*;
    use crate::{refusal::check, workload};
    use serde_json::json;

    fn refusal_of(metric: &str, workload: &str, options: Value, target: &str) -> Option<String> {
        let scripts = ["order".to_owned(), "stock".to_owned()];
        let arguments = PlannedRun {
            workload: Workload::parse(workload).unwrap(),
            options: options.as_object().unwrap(),
            target,
            transactions: match workload {
                "script" => &scripts,
                _ => &[],
            },
            loads_on_own: false,
        };
        let refusal = find(metric).unwrap().is_measured_by(&arguments).err()?;
        check::style(&refusal);
        Some(refusal.message)
    }

    #[test]
    fn a_metric_that_no_run_would_have_is_refused() {
        for (metric, workload, options, why) in [
            (
                "tps",
                "scan",
                json!({}),
                "is not measured by workload \"scan\"",
            ),
            (
                "tps_cv",
                "fsync",
                json!({}),
                "is not measured by workload \"fsync\"",
            ),
            (
                "tps_cv",
                "tpcb",
                json!({"sample": false}),
                "needs all seconds",
            ),
            ("commit_p99_ms", "fsync", json!({}), "is not measured by"),
            (
                "write_amplification",
                "select-only",
                json!({}),
                "is not measured by",
            ),
            ("notpm", "tpcb", json!({}), "is not measured by"),
            ("recovery_ms", "tpcb", json!({}), "needs option \"crash\""),
            (
                "recovery_ms",
                "tpcb",
                json!({"crash": false}),
                "needs option \"crash\"",
            ),
            ("recovery_ms", "scan", json!({}), "is not measured by"),
            (
                "maintenance_ms",
                "tpcb",
                json!({"crash": true}),
                "needs option \"maintenance\"",
            ),
            ("maintenance_ms", "commit", json!({}), "is not measured by"),
            ("load_ms", "tpcb", json!({}), "needs option \"data\""),
            ("load_ms", "fsync", json!({}), "is not measured by"),
            (
                "scan_bytes_per_s",
                "tpcb",
                json!({}),
                "is not measured by workload \"tpcb\"",
            ),
            (
                "scan_gb_per_s_at_4",
                "scan",
                json!({}),
                "needs option \"degrees\"",
            ),
            (
                "scan_gb_per_s_at_4",
                "scan",
                json!({"degrees": [1, 2]}),
                "needs option \"degrees\"",
            ),
            (
                "fsync_ops_fsync",
                "tpcb",
                json!({}),
                "is not measured by workload \"tpcb\"",
            ),
            ("iops", "tpcb", json!({}), "is not measured by"),
            (
                "read_mb_per_s",
                "io",
                json!({"pattern": "write"}),
                "needs another option \"pattern\"",
            ),
            (
                "write_mb_per_s",
                "io",
                json!({"pattern": "randread"}),
                "needs another option \"pattern\"",
            ),
            ("sync_p99_ms", "io", json!({}), "needs an option to sync"),
            (
                "fsync_ops_fsync",
                "fsync",
                json!({"methods": ["fdatasync"]}),
                "needs option \"methods\"",
            ),
            (
                "tps of order",
                "tpcb",
                json!({}),
                "is not measured by workload \"tpcb\"",
            ),
            ("tps of order", "scan", json!({}), "is not measured by"),
            (
                "latency_p99_ms of orders",
                "script",
                json!({}),
                "is of no transaction",
            ),
        ] {
            let refusal_of = refusal_of(metric, workload, options, "t").unwrap_or_default();
            assert!(
                refusal_of.contains(why),
                "{metric} of {workload}: {refusal_of}"
            );
        }
    }

    #[test]
    fn and_one_that_they_have_is_not() {
        for (metric, workload, options) in [
            ("tps", "fsync", json!({})),
            ("tps_cv", "commit", json!({"sample": true})),
            ("recovery_ms", "commit", json!({"crash": true})),
            ("maintenance_ms", "tpcb", json!({"maintenance": true})),
            ("load_ms", "tpcb", json!({"data": "loaded"})),
            ("load_ms", "scan", json!({"data": "loaded"})),
            ("load_ms", "commit", json!({})),
            ("scan_bytes_per_s", "scan", json!({})),
            ("scan_gb_per_s_at_4", "scan", json!({"degrees": [4, 8]})),
            ("read_mb_per_s", "io", json!({})),
            ("write_mb_per_s", "io", json!({"pattern": "randrw"})),
            ("sync_p99_ms", "io", json!({"fdatasync_every": 1})),
            ("fsync_ops_fsync", "fsync", json!({})),
            ("fsync_ops_fsync", "fsync", json!({"methods": ["fsync"]})),
            ("latency_p99_ms of order", "script", json!({})),
            ("tps of stock", "script", json!({})),
        ] {
            assert_eq!(
                refusal_of(metric, workload, options, "t"),
                None,
                "{metric} of {workload}"
            );
        }
        assert_eq!(
            refusal_of("load_ms", "tpcb", json!({}), DEFAULT_TARGET),
            None
        );
    }

    #[test]
    fn tables_that_are_made_in_a_copy_are_loaded() {
        let is_refused = |loads_on_own| {
            let run = PlannedRun {
                workload: Workload::parse("tpcb").unwrap(),
                options: &Map::new(),
                target: "t",
                transactions: &[],
                loads_on_own,
            };
            find("load_ms").unwrap().is_measured_by(&run).is_err()
        };
        assert!(is_refused(false) && !is_refused(true));
    }

    /// The metric that an experiment takes when none is named.
    #[test]
    fn every_workload_has_its_own_metric() {
        let options = Map::new();
        for workload in workload::ALL {
            let arguments = PlannedRun {
                workload: *workload,
                options: &options,
                target: "t",
                transactions: &[],
                loads_on_own: false,
            };
            let own = find(super::super::of_workload(Some(*workload), false)).unwrap();
            own.is_measured_by(&arguments).unwrap();
            let is_of_all = ALL.contains(&own);
            assert!(
                is_of_all
                    || matches!(own.measured_by, MeasuredBy::Own(own, "") if own.shares_level)
            );
        }
    }
}
