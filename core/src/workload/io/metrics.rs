//! Figures of runs of fio by which experiments can decide.

use serde_json::{Map, Value};

use crate::spec::{Lack, OwnMetric};

/// Reads, writes and trims together.
pub const OPERATIONS: &str = "iops";

const MEASURES: &str = "It is how fast fio reads and writes files.";

pub const METRICS: [OwnMetric; 4] = [
    OwnMetric::new(
        "read_mb_per_s",
        "bandwidth of reads",
        MEASURES,
        "(SELECT sum(j.bytes) / 1e3 / nullif(sum(j.runtime_ms), 0) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'read')",
    )
    .sharing_level()
    .lacking(|options, _| lacks_pattern(options, &["write", "randwrite"])),
    OwnMetric::new(
        "write_mb_per_s",
        "bandwidth of writes",
        MEASURES,
        "(SELECT sum(j.bytes) / 1e3 / nullif(sum(j.runtime_ms), 0) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'write')",
    )
    .sharing_level()
    .lacking(|options, _| lacks_pattern(options, &["read", "randread"])),
    OwnMetric::new(
        OPERATIONS,
        "operations per second of fio",
        MEASURES,
        "(SELECT r.tps FROM fsbench.run_log r WHERE r.run_id = $1 AND EXISTS (SELECT FROM fsbench.io_job j WHERE j.run_id = r.run_id))",
    )
    .sharing_level(),
    OwnMetric::new(
        "sync_p99_ms",
        "p99 time of a sync",
        MEASURES,
        "(SELECT max(j.latency_p99_ms) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'sync')",
    )
    .less_is_better()
    .shown_in("ms", 1.0)
    .sharing_level()
    .lacking(|options, _| lacks_syncs(options)),
];

/// The jobs of a job file are known when it is parsed.
fn has_job_file(options: &Map<String, Value>) -> bool {
    options.contains_key("job_file")
}

/// The missing option where all operations are of the other direction.
fn lacks_pattern(options: &Map<String, Value>, others: &[&str]) -> Option<Lack> {
    let pattern = options.get("pattern").and_then(Value::as_str);
    let is_other = pattern.is_some_and(|pattern| others.contains(&pattern));
    (is_other && !has_job_file(options)).then(|| Lack {
        option: "another option \"pattern\"",
        detail: "The pattern that is given has no such operations.",
        example: "{\"pattern\": \"randrw\"}".into(),
    })
}

fn lacks_syncs(options: &Map<String, Value>) -> Option<Lack> {
    let is_on = |option| options.get(option).and_then(Value::as_u64) > Some(0);
    let syncs = is_on("fsync_every") || is_on("fdatasync_every");
    (!syncs && !has_job_file(options)).then(|| Lack {
        option: "an option to sync",
        detail: "Without it fio only reads and writes.",
        example: "{\"fdatasync_every\": 1}".into(),
    })
}
