//! Scripts of pgbench's language, on pgbench's tables or on tables that a script of the caller's makes.
//!
//! A run refers to its texts by their hash: [`Document`] has the texts, [`Settings`] is what the specification keeps.

mod answers;
mod arguments;
mod document;
mod failure;
mod remarks;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    mix::{self, Tries},
    tpcb, transactions,
};
use crate::{
    refusal::Refusal,
    spec::{
        Act, Chosen, DocumentTable, Estimate, Given, Limit, Names, Options, OwnOption, Parameters,
        Plan, Remark, ResultTable, Results, RunArguments, ScriptArguments, Spec, Step, values,
    },
    units,
};

pub use answers::Answers;
pub use document::{Check, Document, Named, located};
pub use failure::Origin;

/// The role whose sessions the clients are on a server that was made for the run.
pub const ROLE_ON_TARGETS: &str = "fsbench_script";
/// Bytes of the counters of all commands that a run may take.
const MOST_BYTES: usize = 1 << 30;
/// Scale of pgbench's tables that is chosen, at least.
const CHOSEN_SCALE: u32 = 10;

pub struct Script;

/// Settings of scripts in a specification, as member `script` of its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Hash of the document with the texts.
    pub sha256: String,
    /// Names of the scripts, as far as they fit into a line.
    pub names: String,
    /// Whether a script of the caller's makes the tables.
    pub has_init: bool,
    /// Whether queries of the caller's check the result.
    pub has_checks: bool,
    /// `prepared` or `simple`.
    pub protocol: String,
    pub max_tries: u32,
    pub continue_on_error: bool,
}

/// Members of `options` that are the workload's own. What is not read here stays as it was given.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ScriptOptions {
    script: Settings,
    /// Whether each command is measured by itself; None is yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<bool>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl ScriptOptions {
    fn measures_commands(&self) -> bool {
        self.commands.unwrap_or(true)
    }
}

/// Whether each command of a run of scripts is measured by itself.
pub fn measures_commands(spec: &Spec) -> bool {
    spec.options.own::<ScriptOptions>().measures_commands()
}

impl Settings {
    /// The settings of a run of scripts.
    pub fn of(spec: &Spec) -> Self {
        spec.options.own::<ScriptOptions>().script
    }

    pub fn tries(&self) -> Tries {
        Tries {
            most: self.max_tries,
            retryable: Tries::OF_PGBENCH,
            continue_on_error: self.continue_on_error,
        }
    }

    pub fn protocol(&self) -> crate::script::Protocol {
        match self.protocol.as_str() {
            "simple" => crate::script::Protocol::Simple,
            _ => crate::script::Protocol::Prepared,
        }
    }
}

impl Parameters for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &[
            "scale",
            "size",
            "clients",
            "duration",
            "transactions",
            "warmup",
            "rate",
            "latency_limit_ms",
            "settings",
            "keep",
            "scripts",
            "variables",
            "init_script",
            "checks",
            "protocol",
            "max_tries",
            "continue_on_error",
            "data",
            "database",
        ]
    }

    fn shared_options(&self) -> &'static [&'static str] {
        &[
            "fillfactor",
            "unlogged",
            "sample",
            "data",
            "cache",
            "crash",
            "sustain",
            "wal_segments",
        ]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        const OPTIONS: &[OwnOption] = &[
            mix::GRACE,
            OwnOption {
                name: "commands",
                depends_on_machine: false,
                check: |name, value| Ok(values::boolean(name, value)?.into()),
            },
        ];
        OPTIONS
    }

    fn lacks(&self, name: &str) -> (&'static str, &'static str) {
        match name {
            "maintenance" => (
                "Which tables scripts have, and what they leave in them, is not known.",
                "Use workload tpcb for it.",
            ),
            _ => ("Other workloads have it.", "Leave it out."),
        }
    }

    fn choose(
        &self,
        given: &Given,
        options: &mut Options,
        _names: &mut Names,
    ) -> Result<Chosen, Refusal> {
        let (script, mix) = arguments::settings(given.script)?;
        let chosen = transactions::choose(given, options, u32::MAX)?;
        let own = ScriptOptions {
            script,
            ..options.own()
        };
        let mut shape = mix.shape(chosen.clients);
        if !own.measures_commands() {
            shape.commands = 0;
        }
        check_bytes(shape)?;
        let least = if own.script.has_init || given.is_on_own {
            1
        } else {
            chosen.clients.max(CHOSEN_SCALE)
        };
        options.set_own(&own);
        Ok(Chosen {
            scale: given.loaded_or_given_scale().unwrap_or(least),
            ..chosen
        })
    }

    fn document(&self, arguments: &RunArguments) -> Result<Option<String>, Refusal> {
        if arguments.script.scripts.is_none() {
            return Ok(None);
        }
        let document = serde_json::to_string(&Document::of(&arguments.script)?);
        document
            .map(Some)
            .map_err(|error| Refusal::argument(format!("the scripts are no JSON: {error}")))
    }

    fn shown(&self, spec: &Spec) -> Vec<String> {
        vec![Settings::of(spec).names]
    }

    fn check_varied(&self, arguments: &RunArguments, varied: &[&str]) -> Result<(), Refusal> {
        remarks::check_varied(&arguments.script, varied)
    }

    fn remarks(&self, arguments: &RunArguments) -> Vec<Remark> {
        remarks::of(&arguments.script)
    }

    /// Data that a script has made are another script's only if both are in the same document.
    fn contents(&self, spec: &Spec) -> String {
        let script = Settings::of(spec);
        match script.has_init {
            true => format!("script {}", script.sha256),
            false => tpcb::Script::Tpcb.contents(spec),
        }
    }
}

impl Estimate for Script {
    fn data_bytes(&self, spec: &Spec) -> u64 {
        match Settings::of(spec).has_init || spec.is_on_own() {
            true => 0,
            false => units::bytes_for_scale_at(spec.scale, spec.options.fillfactor),
        }
    }
}

impl Plan for Script {
    fn writes(&self) -> bool {
        true
    }

    fn loads_on_own(&self, spec: &Spec) -> bool {
        Settings::of(spec).has_init
    }

    fn document_hash(&self, spec: &Spec) -> Option<String> {
        Some(Settings::of(spec).sha256).filter(|hash| !hash.is_empty())
    }

    fn arguments_of_document(
        &self,
        spec: &Spec,
        document: &str,
    ) -> serde_json::Result<ScriptArguments> {
        let (settings, document) = (
            Settings::of(spec),
            serde_json::from_str::<Document>(document)?,
        );
        let given = |is_given: bool, value: Value| is_given.then_some(value);
        Ok(ScriptArguments {
            scripts: Some(json!(document.scripts).to_string()),
            variables: given(!document.variables.is_empty(), json!(document.variables)),
            init_script: document.init_script,
            checks: given(!document.checks.is_empty(), json!(document.checks)),
            protocol: Some(settings.protocol),
            max_tries: i32::try_from(settings.max_tries).ok(),
            continue_on_error: Some(settings.continue_on_error),
            sha256: None,
        })
    }

    fn steps(&self) -> &'static [Step] {
        const {
            &[
                Step::new(
                    Act::Load,
                    "create and fill the tables, as pgbench -i or the init script does",
                ),
                Step::new(Act::Vacuum, "VACUUM (ANALYZE) them"),
                Step::FILL_WAL,
                Step::CHECKPOINT,
                Step::LAUNCH,
                Step::new(Act::WarmUp, "transactions of all clients"),
                Step::new(Act::Measure, "transactions of all clients"),
                Step::new(
                    Act::Verify,
                    "compare what the checks find with what they expect",
                ),
            ]
        }
    }
}

impl Results for Script {
    fn tables(&self) -> &'static [ResultTable] {
        const {
            &[
                mix::TRANSACTION_RESULT,
                mix::TRANSACTION_FAILURE,
                ResultTable::new("command_result", "position, command").limits(&[
                    ("command", Limit::NUMBER),
                    ("executions", Limit::COUNT),
                    ("failures", Limit::COUNT),
                    ("kind", Limit::NAME),
                    ("line", Limit::NUMBER),
                    ("position", Limit::NUMBER),
                ]),
            ]
        }
    }

    fn document_table(&self) -> Option<DocumentTable> {
        Some(DocumentTable {
            name: "script",
            option: "script",
            texts: &["scripts", "variables", "init_script", "checks"],
        })
    }

    fn operator_routines(&self) -> &'static [&'static str] {
        &["script_from_statements"]
    }

    fn transaction_names(
        &self,
        arguments: &RunArguments,
        _options: &Map<String, Value>,
    ) -> Vec<String> {
        // A wrong argument is refused by the specification of a run.
        let document = Document::of(&arguments.script).unwrap_or_default();
        let chosen = document.scripts.into_iter().filter(|s| s.weight > 0);
        chosen.map(|script| script.name).collect()
    }

    fn details(&self, _run_id: i64) -> String {
        "each script is in fsbench.transaction_result, each command in fsbench.command_result, each second in fsbench.sample".into()
    }

    fn verified_after_crash(&self) -> &'static str {
        "compare what the checks find with what they expect"
    }
}

/// Refuses counters that would take too much memory.
fn check_bytes(shape: mix::Shape) -> Result<(), Refusal> {
    match shape.bytes() {
        Some(bytes) if bytes <= MOST_BYTES => Ok(()),
        _ if shape.commands == 0 => Err(Refusal::argument("there are too many scripts")
            .detail(format!(
                "{} clients would measure {} scripts each, and the figures of all may take {} MB of shared memory.",
                shape.clients,
                shape.types,
                MOST_BYTES >> 20
            ))
            .hint("Give fewer scripts or fewer clients.")),
        _ => Err(Refusal::argument("the scripts have too many commands")
            .detail(format!(
                "{} clients would measure {} commands each, and the figures of all may take {} MB of shared memory.",
                shape.clients,
                shape.commands,
                MOST_BYTES >> 20
            ))
            .hint("Measure whole scripts only, with options => '{\"commands\": false}', or give fewer clients.")),
    }
}
