//! Which runs have a metric: by their workload and their options.

use serde_json::{Map, Value};

use super::Metric;
use crate::{
    refusal::Refusal,
    spec::{DEFAULT_TARGET, Workload},
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
    /// Scans.
    Scans,
    /// Runs that make New-Orders.
    NewOrders,
    /// Scans at this degree, among others.
    Degree(u32),
    /// Runs of syncs by this method, among others.
    Method(&'static str),
    /// Runs with a transaction of this name, among others.
    Transaction(&'static str),
    /// Runs of fio that do this with their files.
    Files(Files),
}

/// Operations on files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Files {
    Reads,
    Writes,
    /// Reads or writes.
    Operations,
    Syncs,
}

/// A run that is to be made.
pub struct PlannedRun<'a> {
    pub workload: Workload,
    /// Options, as given.
    pub options: &'a Map<String, Value>,
    pub target: &'a str,
    /// Names of its kinds of transactions, if it has several.
    pub transactions: &'a [String],
}

impl PlannedRun<'_> {
    fn has(&self, option: &str, value: &Value) -> bool {
        self.options.get(option) == Some(value)
    }

    fn syncs(&self) -> bool {
        self.workload.takes_option("methods")
    }

    fn scans(&self) -> bool {
        self.workload.takes_option("degrees")
    }

    fn makes_new_orders(&self) -> bool {
        self.workload.takes_option("foreign_keys")
    }

    fn is_sampled(&self) -> bool {
        !self.has("sample", &false.into())
    }

    /// Whether each of its runs loads data itself: on a target they are copied there unless an option says otherwise.
    fn loads(&self) -> bool {
        let is_here = self.target == DEFAULT_TARGET;
        is_here || !self.workload.takes_option("data") || self.has("data", &"loaded".into())
    }

    /// Whether a list among its options, if it is given, has this value. `if_not`: what holds when it is not.
    fn lists(&self, option: &str, value: &Value, if_not: bool) -> bool {
        let given = self.options.get(option).and_then(Value::as_array);
        given.map_or(if_not, |values| values.contains(value))
    }
}

impl Metric {
    /// Refuses a run that does not measure it: the experiment would end without a value.
    pub fn is_measured_by(&self, run: &PlannedRun) -> Result<(), Refusal> {
        let transactions = run.workload.runs_transactions();
        match self.measured_by {
            MeasuredBy::Operations if transactions || run.syncs() => Ok(()),
            MeasuredBy::Operations => Err(self.not_of(run, "It runs no transactions.")),
            MeasuredBy::Scans | MeasuredBy::Degree(_) if !run.scans() => {
                Err(self.not_of(run, "It is the speed of parallel scans."))
            }
            MeasuredBy::Method(_) if !run.syncs() => {
                Err(self.not_of(run, "It is how fast a file is written and synced."))
            }
            MeasuredBy::Files(_) if !run.workload.takes_option("pattern") => {
                Err(self.not_of(run, "It is how fast fio reads and writes files."))
            }
            MeasuredBy::Files(files) => self.has_files(files, run),
            MeasuredBy::Scans => Ok(()),
            MeasuredBy::NewOrders if !run.makes_new_orders() => {
                Err(self.not_of(run, "It is the number of New-Order transactions."))
            }
            MeasuredBy::NewOrders => Ok(()),
            // Which degrees are chosen depends on the machine.
            MeasuredBy::Degree(degree) => match run.lists("degrees", &degree.into(), false) {
                true => Ok(()),
                false => Err(self.needs(
                    "option \"degrees\" with its degree",
                    "A run has the degrees that are given, else those that its machine is good for.",
                    &format!("{{\"degrees\": [{degree}]}}"),
                )),
            },
            MeasuredBy::Method(method) => match run.lists("methods", &method.into(), true) {
                true => Ok(()),
                false => Err(self.needs(
                    "option \"methods\" with its method",
                    "Those that are given do not have it among them.",
                    &format!("{{\"methods\": [\"{method}\"]}}"),
                )),
            },
            MeasuredBy::Loading if !transactions && !run.scans() => {
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
            MeasuredBy::Seconds | MeasuredBy::Writes if !run.is_sampled() => Err(Refusal::argument(format!(
                "metric \"{}\" needs all seconds of a run",
                self.name
            ))
            .detail("The option \"sample\" leaves them out.")
            .hint("Leave this option out, or use another metric.")),
            MeasuredBy::Option(option) => self.has_option(option, run),
            MeasuredBy::Transaction(_) if run.transactions.is_empty() => {
                Err(self.not_of(run, "Its transactions have no names."))
            }
            MeasuredBy::Transaction(_) => self.is_among(run.transactions),
            // Whether there is a search is looked at for itself.
            MeasuredBy::Transactions | MeasuredBy::Seconds | MeasuredBy::Writes | MeasuredBy::Search => Ok(()),
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

    fn has_files(&self, files: Files, run: &PlannedRun) -> Result<(), Refusal> {
        let pattern = run.options.get("pattern").and_then(Value::as_str);
        let is_on = |option| run.options.get(option).and_then(Value::as_u64) > Some(0);
        // The jobs of a job file are looked at when it is parsed.
        let does = run.options.contains_key("job_file")
            || match files {
                Files::Operations => true,
                Files::Reads => !matches!(pattern, Some("write" | "randwrite")),
                Files::Writes => !matches!(pattern, Some("read" | "randread")),
                Files::Syncs => is_on("fsync_every") || is_on("fdatasync_every"),
            };
        match (does, files) {
            (true, _) => Ok(()),
            (false, Files::Syncs) => Err(self.needs(
                "an option to sync",
                "Without it fio only reads and writes.",
                "{\"fdatasync_every\": 1}",
            )),
            (false, _) => Err(self.needs(
                "another option \"pattern\"",
                "The pattern that is given has no such operations.",
                "{\"pattern\": \"randrw\"}",
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
            };
            let own = find(super::super::of_workload(Some(*workload), false)).unwrap();
            own.is_measured_by(&arguments).unwrap();
            assert!(ALL.contains(&own));
        }
    }
}
