//! The input of a specification: the caller's arguments, and facts of the server.

use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::Value;

use super::{ScriptArguments, Stage};

/// The arguments of `run` and `start`, by their names in SQL. None is NULL or not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arguments {
    pub target: Option<String>,
    pub workload: Option<String>,
    pub scale: Option<i32>,
    pub size: Option<String>,
    pub clients: Option<i32>,
    /// Microseconds, as [`RunArguments::duration_us`].
    pub duration: Option<i64>,
    pub transactions: Option<i64>,
    /// Microseconds.
    pub warmup: Option<i64>,
    #[serde(deserialize_with = "any_float")]
    pub rate: Option<f64>,
    #[serde(deserialize_with = "any_float")]
    pub latency_limit_ms: Option<f64>,
    pub seed: Option<i64>,
    #[serde(deserialize_with = "any_document")]
    pub settings: Option<Value>,
    #[serde(deserialize_with = "any_document")]
    pub options: Option<Value>,
    pub label: Option<String>,
    pub keep: Option<bool>,
    pub force: Option<bool>,
    pub scripts: Option<String>,
    #[serde(deserialize_with = "any_document")]
    pub variables: Option<Value>,
    pub init_script: Option<String>,
    #[serde(deserialize_with = "any_document")]
    pub checks: Option<Value>,
    pub protocol: Option<String>,
    pub max_tries: Option<i32>,
    pub continue_on_error: Option<bool>,
    pub data: Option<String>,
    pub database: Option<String>,
}

/// A number of SQL's, of which JSON does not have all: NaN and infinity come as text.
pub(crate) fn any_float<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => text.parse().map(Some).map_err(D::Error::custom),
        number => Ok(number.as_f64()),
    }
}

/// A document that is given, also one that holds nothing but null.
fn any_document<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl From<Arguments> for RunArguments {
    fn from(arguments: Arguments) -> Self {
        Self {
            target: arguments.target,
            workload: arguments.workload,
            scale: arguments.scale,
            size: arguments.size,
            clients: arguments.clients,
            duration_us: arguments.duration,
            transactions: arguments.transactions,
            warmup_us: arguments.warmup,
            rate: arguments.rate,
            latency_limit_ms: arguments.latency_limit_ms,
            seed: arguments.seed,
            settings: arguments.settings,
            options: arguments.options,
            stage: Stage::Whole,
            label: arguments.label,
            keep: arguments.keep.unwrap_or(false),
            force: arguments.force.unwrap_or(false),
            script: ScriptArguments {
                scripts: arguments.scripts,
                variables: arguments.variables,
                init_script: arguments.init_script,
                checks: arguments.checks,
                protocol: arguments.protocol,
                max_tries: arguments.max_tries,
                continue_on_error: arguments.continue_on_error,
                sha256: None,
            },
            data: arguments.data,
            database: arguments.database,
        }
    }
}

/// The arguments of `run` and `start`, and the part of the run that this server does. They are kept with the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunArguments {
    /// Name of the target; default `default`.
    pub target: Option<String>,
    /// Name of the workload; default `tpcb`.
    pub workload: Option<String>,
    /// pgbench's scale.
    pub scale: Option<i32>,
    /// Size of the data instead of a scale; see [`crate::units::parse_size`].
    pub size: Option<String>,
    pub clients: Option<i32>,
    /// Length of the measured window in microseconds.
    pub duration_us: Option<i64>,
    /// Transactions per client, instead of a duration.
    pub transactions: Option<i64>,
    /// Length of the warm-up in microseconds.
    pub warmup_us: Option<i64>,
    /// Transactions a second of all clients together.
    #[serde(deserialize_with = "any_float")]
    pub rate: Option<f64>,
    /// Latency limit in milliseconds.
    #[serde(deserialize_with = "any_float")]
    pub latency_limit_ms: Option<f64>,
    /// Seed of the random numbers.
    pub seed: Option<i64>,
    /// Settings of the clients' sessions: a JSON object.
    pub settings: Option<serde_json::Value>,
    /// Options of the workload: a JSON object; see [`super::Options`].
    pub options: Option<serde_json::Value>,
    /// Which part of the run this server does; only pgfsbench itself asks for less than the whole.
    #[serde(skip_serializing_if = "is_whole")]
    pub stage: Stage,
    /// A text of the caller's.
    pub label: Option<String>,
    /// Whether the work database is kept.
    pub keep: bool,
    /// Whether the run is done although it may harm others on this server.
    pub force: bool,
    /// Scripts and how they are run; with the run without their texts.
    #[serde(skip_serializing_if = "ScriptArguments::is_empty")]
    pub script: ScriptArguments,
    /// Name of prepared data that are a copy of a user's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The database in that copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
}

fn is_whole(stage: &Stage) -> bool {
    *stage == Stage::Whole
}

/// Facts of the server when a run is specified.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Processors of the machine.
    pub processors: u32,
    /// The setting `server_version_num`.
    pub server_version_num: i64,
    /// RAM in bytes: what `ram` in a size means.
    pub memory_bytes: u64,
    /// `shared_buffers` in bytes. Not used to choose anything yet.
    pub shared_buffers_bytes: u64,
    /// Background worker slots that are free in the server right now.
    pub free_worker_slots: u32,
    /// The setting `max_worker_processes`.
    pub max_worker_processes: u32,
    /// The setting `max_parallel_workers`.
    pub max_parallel_workers: u32,
    /// Whether the run is made by another server than the one that is asked.
    pub server_is_another: bool,
    /// The setting `checkpoint_timeout` in milliseconds.
    pub checkpoint_timeout_ms: u64,
    /// The setting `pgfsbench.max_clients`: the slots in shared memory.
    pub max_clients: u32,
    /// Free bytes on the data directory's filesystem. Whether they suffice is checked elsewhere.
    pub data_free_bytes: u64,
    /// Names of the targets other than `default`.
    pub targets: Vec<String>,
    /// The seed of a run that was given none.
    pub random_seed: i64,
    /// Whether the target is a server that is reached by a connection: another machine, with facts of its own.
    pub by_connection: bool,
    /// The prepared data that the argument `data` names; None if there are none of that name.
    pub own_data: Option<OwnData>,
}

/// Prepared data that are a copy of a user's server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnData {
    pub bytes: u64,
    /// Databases that a run can work in; None where the data were made by a version that did not note them.
    pub databases: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_what_is_asked_for() {
        let arguments: Arguments = serde_json::from_value(json!({
            "target": "default", "scale": 3, "options": null, "duration": 1500, "rate": "NaN", "latency_limit_ms": 2, "keep": true,
        }))
        .unwrap();
        let arguments = RunArguments::from(arguments);
        assert_eq!(
            (
                arguments.scale,
                arguments.duration_us,
                arguments.latency_limit_ms,
                arguments.keep
            ),
            (Some(3), Some(1500), Some(2.0), true)
        );
        assert!(arguments.rate.is_some_and(f64::is_nan));
        // Which is refused, and not the same as no document.
        assert_eq!(
            (arguments.options, arguments.settings),
            (Some(Value::Null), None)
        );
        assert_eq!(
            RunArguments::from(Arguments::default()),
            RunArguments::default()
        );
        serde_json::from_value::<Arguments>(json!({"size_of": 1})).unwrap_err();
    }
}
