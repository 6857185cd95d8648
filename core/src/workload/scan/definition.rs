//! The definition of the workload.

use serde_json::{Map, Value};

use super::{MOST_DEGREE, Payload, ScanOptions, cache, findings, options};
use crate::{
    finding_row::Finding,
    refusal::Refusal,
    spec::{
        Act, Bound, Cache, Chosen, ClientsDo, Estimate, Facts, Given, Lack, Limit, Names, Options,
        OwnMetric, OwnOption, Parameters, Plan, ResultTable, Results, RunArguments, Spec, Step,
    },
    units,
};

/// Scale when neither that nor a size is given: ten million rows.
const CHOSEN_SCALE: u32 = 10;

/// The speed at the degree at which it is highest.
const FASTEST: &str = "scan_bytes_per_s";

pub struct Scans;

impl Parameters for Scans {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["scale", "size", "settings", "keep", "data", "database"]
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &["unlogged", "sample", "data", "cache"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &options::OPTIONS
    }

    fn lacks(&self, name: &str) -> (&'static str, &'static str) {
        let hint = match name {
            "clients" => {
                r#"Leave it out, and say how many workers scan at the same time by options => '{"degrees": [1, 2, 4]}'."#
            }
            "duration" | "transactions" => {
                r#"Leave it out, and say how often each degree is measured by options => '{"repeats": 5}'."#
            }
            _ => "Leave it out.",
        };
        (
            "It scans a table at several degrees, and runs no transactions.",
            hint,
        )
    }

    fn clients_come_from(&self) -> Option<&'static str> {
        None
    }

    fn scale(
        &self,
        arguments: &RunArguments,
        options: &Options,
        facts: &Facts,
    ) -> Result<Option<u32>, Refusal> {
        options::scale(arguments, options.own::<ScanOptions>().payload(), facts)
    }

    /// It ends when all scans are made.
    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        let own = options.own::<ScanOptions>();
        own.check_table(options, given)?;
        let own = own.chosen(options.sample, given, names);
        options.set_own(&own);
        let least = if given.is_on_own { 1 } else { CHOSEN_SCALE };
        let scale = given.loaded_or_given_scale().unwrap_or(least);
        let bytes = (!given.is_on_own).then(|| own.payload().bytes(scale));
        own.check(options, given, bytes)?;
        Ok(Chosen {
            clients: own.clients(),
            scale,
            bound: Bound::Transactions(u64::from(own.repeats.unwrap_or(1))),
            warmup_ms: 0,
        })
    }

    fn shown(&self, spec: &Spec) -> Vec<String> {
        let own: ScanOptions = spec.options.own();
        let mut parts = Vec::new();
        if let Some(table) = own.own_table() {
            parts.push(format!("table {table}"));
        } else if !spec.is_chosen_remotely("scale") {
            parts.push(units::format_bytes(spec.data_bytes()));
        }
        if !spec.is_chosen_remotely("degrees") {
            let degrees: Vec<String> = own.degrees.iter().map(u32::to_string).collect();
            parts.push(format!("degrees {}", degrees.join(" ")));
        }
        let repeats = u64::from(own.repeats.unwrap_or(1));
        parts.push(units::format_count(repeats, "repeat"));
        let cache = match spec.options.cache {
            Cache::Warm => "warm page cache",
            Cache::Cold => "cold cache",
            Cache::SharedBuffers => "warm shared buffers",
        };
        parts.push(cache.into());
        parts
    }

    fn contents(&self, spec: &Spec) -> String {
        format!(
            "scan, {}",
            spec.options.own::<ScanOptions>().payload().name()
        )
    }
}

impl Estimate for Scans {
    fn workers(&self, spec: &Spec) -> u32 {
        let own: ScanOptions = spec.options.own();
        let (workers, beside) = own.workers(spec.options.sample);
        workers + beside
    }

    fn data_bytes(&self, spec: &Spec) -> u64 {
        let own: ScanOptions = spec.options.own();
        match own.table {
            Some(_) => 0,
            None => own.payload().bytes(spec.scale),
        }
    }

    fn bytes_at(&self, scale: u32, options: &Value) -> u64 {
        let payload: Option<Payload> = serde_json::from_value(options["payload"].clone()).ok();
        payload.unwrap_or_default().bytes(scale)
    }
}

impl Plan for Scans {
    fn writes(&self) -> bool {
        false
    }

    fn clients_do(&self) -> ClientsDo {
        ClientsDo::Visits
    }

    fn measures_writes(&self) -> bool {
        false
    }

    /// Data in memory are what was asked for.
    fn reads_storage(&self) -> bool {
        false
    }

    fn sets_cache(&self) -> bool {
        true
    }

    fn check_cache(
        &self,
        spec: &Spec,
        filesystem: &str,
        is_cached_below: bool,
    ) -> Result<(), Refusal> {
        cache::check_cache(spec.options.cache, filesystem, is_cached_below)
    }

    fn check_buffers(&self, spec: &Spec, shared_buffers_bytes: u64) -> Result<(), Refusal> {
        match spec.options.cache {
            // The size of a user's table is known in the copy.
            Cache::SharedBuffers if !spec.is_on_own() => {
                cache::check_fits(spec.options.cache, spec.data_bytes(), shared_buffers_bytes)
            }
            _ => Ok(()),
        }
    }

    fn server_settings(&self, spec: &Spec) -> Vec<(&'static str, String)> {
        let own: ScanOptions = spec.options.own();
        vec![("max_parallel_workers", own.largest().to_string())]
    }

    fn loads_on_own(&self, _spec: &Spec) -> bool {
        false
    }

    /// The first scan would else set hint bits and write pages.
    fn vacuums_own(&self) -> bool {
        true
    }

    fn steps(&self) -> &'static [Step] {
        const {
            &[
                Step::new(Act::Load, "create and fill the table"),
                Step::new(Act::Vacuum, "VACUUM (ANALYZE) it"),
                Step::CHECKPOINT,
                Step::new(
                    Act::Verify,
                    "count the rows, and look whether pages have changed",
                ),
                Step::new(
                    Act::Launch,
                    "launch the sampler, and look at the server and its neighbours",
                ),
                Step::new(
                    Act::Measure,
                    "put the table into the cache or out of it, and SELECT count(*) of it: at each degree, as often as it is repeated; then read its files",
                ),
            ]
        }
    }
}

impl Results for Scans {
    fn when_saturated(&self) -> &'static str {
        "The processors were the limit, not the storage: look at the lower degrees, and at fsbench.scan_read."
    }

    fn tables(&self) -> &'static [ResultTable] {
        const DEGREE: Limit = Limit::Range("1", "1024");
        const MS: Limit = Limit::Range("1e-9", "1e18");
        const {
            &[
                ResultTable::new("scan", "scan").limits(&[
                    ("bytes", Limit::COUNT),
                    ("degree", DEGREE),
                    ("ms", MS),
                    ("plan", Limit::Document),
                    ("repeat", DEGREE),
                    // Each look at a knee takes all of them, a thousand times.
                    ("scan", Limit::Range("1", "10000")),
                    ("wait_events", Limit::Document),
                ]),
                ResultTable::new("scan_read", "readers, block_bytes").limits(&[
                    ("bytes", Limit::COUNT),
                    ("ms", MS),
                    ("readers", DEGREE),
                ]),
            ]
        }
    }

    fn metrics(&self) -> &'static [OwnMetric] {
        const SPEED: &str = "It is the speed of parallel scans.";
        const DEGREE: &str = "N (a degree)";
        const {
            &[
                OwnMetric::new(
                    FASTEST,
                    "scan speed",
                    SPEED,
                    "(SELECT 1e9 * max(d.gb) FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) AS gb \
                     FROM fsbench.scan s WHERE s.run_id = $1 AND s.used GROUP BY s.degree) d)",
                )
                .shown_in("GB/s", 1e9)
                .sharing_level(),
                OwnMetric::new(
                    "scan_gb_per_s_at_",
                    "scan speed at degree ",
                    SPEED,
                    "(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) FROM fsbench.scan s \
                     WHERE s.run_id = $1 AND s.used AND s.degree = PARAMETER::integer)",
                )
                .with(DEGREE, is_degree)
                .shown_in("GB/s", 1.0)
                .lacking(lacks_degree),
                OwnMetric::new(
                    "scan_ms_at_",
                    "time of a scan at degree ",
                    SPEED,
                    "(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms) FROM fsbench.scan s \
                     WHERE s.run_id = $1 AND s.used AND s.degree = PARAMETER::integer)",
                )
                .with(DEGREE, is_degree)
                .less_is_better()
                .only_in_studies(),
                OwnMetric::new(
                    "load_gb_per_s",
                    "speed of loading",
                    SPEED,
                    "(SELECT max(s.bytes) / 1e6 / nullif(max(r.load_ms), 0) \
                     FROM fsbench.scan s JOIN fsbench.run_log r USING (run_id) WHERE s.run_id = $1)",
                )
                .only_in_studies(),
            ]
        }
    }

    fn metric(&self) -> Option<&'static str> {
        Some(FASTEST)
    }

    fn facts_query(&self) -> Option<&'static str> {
        Some(include_str!("facts.sql"))
    }

    fn findings(&self, facts: &str) -> serde_json::Result<Vec<Finding>> {
        Ok(findings::judge(&serde_json::from_str(facts)?))
    }

    fn details(&self, run_id: i64) -> String {
        format!(
            "each scan is in fsbench.scan, the curve is fsbench.scan_curve({run_id}), \
             and its knee fsbench.scan_knee({run_id})"
        )
    }
}

/// Whether this is a degree, as a number is usually written.
fn is_degree(text: &str) -> bool {
    let degree = text.parse::<u32>();
    degree.is_ok_and(|n| (1..=MOST_DEGREE).contains(&n) && n.to_string() == text)
}

/// Which degrees are chosen depends on the machine.
fn lacks_degree(options: &Map<String, Value>, degree: &str) -> Option<Lack> {
    let given = options.get("degrees").and_then(Value::as_array);
    let wanted: Option<u64> = degree.parse().ok();
    let is_it = |given: &Value| given.as_u64() == wanted;
    let is_among = given.is_some_and(|degrees| degrees.iter().any(is_it));
    (!is_among).then(|| Lack {
        option: "option \"degrees\" with its degree",
        detail: "A run has the degrees that are given, else those that its machine is good for.",
        example: format!("{{\"degrees\": [{degree}]}}"),
    })
}
