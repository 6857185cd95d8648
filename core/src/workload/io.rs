//! The workload `io`: jobs of fio on files beside the database. The jobs follow from options, or from a job file that is parsed and
//! written anew; the figures come from fio's own document and logs.

pub mod document;
pub mod failure;
pub mod job;
mod job_file;
mod metrics;
mod options;
mod row;
pub mod series;
pub mod setting;

use super::syncs_and_commits;
use crate::{
    finding_row::Finding,
    refusal::Refusal,
    spec::{
        Act, Chosen, ClientsDo, Estimate, Given, Limit, Names, Options, OwnMetric, OwnOption,
        Parameters, Plan, ResultTable, Results, Spec, Step, check,
    },
};

pub use options::IoOptions;
pub use row::{Row, Total};

pub struct Io;

/// The jobs of a run.
pub fn jobs_of(spec: &Spec) -> Vec<job::Job> {
    spec.options.own::<IoOptions>().to_jobs()
}

impl Parameters for Io {
    fn name(&self) -> &'static str {
        "io"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["duration"]
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &["sample"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &options::OPTIONS
    }

    fn lacks(&self, name: &str) -> (&'static str, &'static str) {
        let hint = match name {
            "clients" => {
                r#"Leave it out, and say how many jobs run at the same time by options => '{"jobs": 8}'."#
            }
            "size" | "scale" => {
                r#"Leave it out, and say how large the files are by options => '{"size": "2x ram"}'."#
            }
            "rate" => {
                r#"Leave it out, and limit the operations per second by options => '{"rate": 500}'."#
            }
            _ => "Leave it out.",
        };
        (
            "It has fio read and write files, and runs no transactions.",
            hint,
        )
    }

    fn clients_come_from(&self) -> Option<&'static str> {
        None
    }

    /// No client takes part. The one slot is fio's, so that the sampler sees its processor time.
    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        let own = options.own::<IoOptions>().chosen(given.facts, names)?;
        let bound = own.bound(given.bound)?;
        own.check_memory(bound)?;
        own.check_steady(bound)?;
        options.set_own(&own);
        check::client_slots(0, "client", given.facts)?;
        Ok(Chosen {
            clients: 1,
            scale: 0,
            bound,
            warmup_ms: 0,
        })
    }

    fn shown(&self, spec: &Spec) -> Vec<String> {
        vec![job::shown(&jobs_of(spec))]
    }
}

impl Estimate for Io {
    fn workers(&self, _spec: &Spec) -> u32 {
        crate::spec::OVERHEAD_WORKERS
    }

    fn data_bytes(&self, spec: &Spec) -> u64 {
        job::file_bytes(&jobs_of(spec))
    }

    fn added_bytes(&self, _spec: &Spec, _transactions: f64) -> u64 {
        0
    }
}

impl Plan for Io {
    fn uses_database(&self) -> bool {
        false
    }

    fn writes(&self) -> bool {
        false
    }

    fn clients_do(&self) -> ClientsDo {
        ClientsDo::Parts
    }

    fn syncs_itself(&self) -> bool {
        true
    }

    /// Patterns that follow each other differ; each job is judged by itself.
    fn has_unlike_parts(&self, spec: &Spec) -> bool {
        jobs_of(spec).len() > 1
    }

    fn steps(&self) -> &'static [Step] {
        const {
            &[
                Step::new(
                    Act::MakeFile,
                    "fio writes the files of all jobs into a directory of the run, in base/pgsql_tmp",
                ),
                Step::CHECKPOINT,
                Step::new(Act::Launch, "launch the sampler"),
                Step::new(
                    Act::Measure,
                    "fio runs its jobs on these files, one pattern after the other",
                ),
            ]
        }
    }
}

impl Results for Io {
    fn when_saturated(&self) -> &'static str {
        "The processors were the limit, not the storage: use files beyond RAM, or fewer jobs."
    }

    fn tables(&self) -> &'static [ResultTable] {
        const {
            &[
                ResultTable::new("io_job", "job, direction").limits(&[
                    ("access", Limit::NAME),
                    ("bytes", Limit::COUNT),
                    ("copies", Limit::NUMBER),
                    ("direction", Limit::OneOf(&["read", "write", "sync"])),
                    ("file_bytes", Limit::COUNT),
                    ("fio_steady_seconds", Limit::NUMBER),
                    ("job", Limit::NAME),
                    ("operations", Limit::COUNT),
                    ("position", Limit::NUMBER),
                    ("sync_call", Limit::NAME),
                    ("sync_every", Limit::COUNT),
                ]),
                ResultTable::new("io_second", "second, job, direction").limits(&[
                    ("bytes", Limit::COUNT),
                    ("direction", Limit::OneOf(&["read", "write"])),
                    ("job", Limit::NAME),
                    ("operations", Limit::COUNT),
                ]),
            ]
        }
    }

    fn metrics(&self) -> &'static [OwnMetric] {
        &metrics::METRICS
    }

    fn metric(&self) -> Option<&'static str> {
        Some(metrics::OPERATIONS)
    }

    fn facts_query(&self) -> Option<&'static str> {
        Some(syncs_and_commits::QUERY)
    }

    fn findings(&self, facts: &str) -> serde_json::Result<Vec<Finding>> {
        syncs_and_commits::findings(facts)
    }

    fn details(&self, _run_id: i64) -> String {
        "each job is in fsbench.io_job, and each of its seconds in fsbench.io_second".into()
    }
}
