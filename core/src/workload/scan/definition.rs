//! The definition of the workload.

use serde_json::Value;

use super::{Payload, ScanOptions, cache, findings, options};
use crate::{
    finding_row::Finding,
    refusal::Refusal,
    spec::{
        Act, Bound, Cache, Chosen, ClientsDo, Estimate, Facts, Given, Limit, Names, Options,
        OwnOption, Parameters, Plan, ResultTable, Results, RunArguments, Spec, Step,
    },
    units,
};

/// Scale when neither that nor a size is given: ten million rows.
const CHOSEN_SCALE: u32 = 10;

pub struct Scans;

impl Parameters for Scans {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["scale", "size", "settings", "keep"]
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
        let own = options
            .own::<ScanOptions>()
            .chosen(options.sample, given, names);
        options.set_own(&own);
        let scale = given.loaded_or_given_scale().unwrap_or(CHOSEN_SCALE);
        own.check(options, given, own.payload().bytes(scale))?;
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
        if !spec.is_chosen_remotely("scale") {
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
        spec.options
            .own::<ScanOptions>()
            .payload()
            .bytes(spec.scale)
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
            Cache::SharedBuffers => {
                cache::check_fits(spec.options.cache, spec.data_bytes(), shared_buffers_bytes)
            }
            Cache::Warm | Cache::Cold => Ok(()),
        }
    }

    fn server_settings(&self, spec: &Spec) -> Vec<(&'static str, String)> {
        let own: ScanOptions = spec.options.own();
        vec![("max_parallel_workers", own.largest().to_string())]
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

    fn metric(&self) -> Option<&'static str> {
        Some("scan_bytes_per_s")
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
