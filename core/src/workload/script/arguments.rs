//! The arguments of `run` that are about scripts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Document, Settings};
use crate::{
    refusal::{Refusal, quoted},
    script::{Program, Protocol},
};

/// Names of scripts in the line that shows a run.
const LONGEST_NAMES: usize = 100;

/// The arguments as they were given; None is NULL or not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Arguments {
    /// A script, or a JSON array of scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scripts: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init_script: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tries: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_on_error: Option<bool>,
    /// Hash of the document, which the server has computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Arguments {
    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The arguments without texts, which can be long: a run finds them by their hash.
    pub fn without_texts(&self) -> Self {
        Self {
            scripts: None,
            variables: None,
            init_script: None,
            checks: None,
            ..self.clone()
        }
    }

    /// Checks all arguments and compiles the scripts.
    pub fn settings(&self) -> Result<Settings, Refusal> {
        let document = Document::of(self)?;
        let (name, protocol) = self.protocol()?;
        Program::compile(&document.texts(), &document.given(), protocol)
            .map_err(|error| document.refusal(&error))?;
        document.init()?;
        let names: Vec<&str> = (document.scripts.iter())
            .map(|script| script.name.as_str())
            .collect();
        let names: String = names.join(" + ").chars().take(LONGEST_NAMES).collect();
        Ok(Settings {
            sha256: self.sha256.clone().unwrap_or_default(),
            names,
            has_init: document.init_script.is_some(),
            has_checks: !document.checks.is_empty(),
            protocol: name.into(),
            max_tries: self.max_tries()?,
            continue_on_error: self.continue_on_error.unwrap_or(false),
        })
    }

    fn protocol(&self) -> Result<(&'static str, Protocol), Refusal> {
        match self.protocol.as_deref() {
            None | Some("prepared") => Ok(("prepared", Protocol::Prepared)),
            Some("simple") => Ok(("simple", Protocol::Simple)),
            Some(other) => Err(Refusal::argument(format!(
                "protocol {} does not exist",
                quoted(other)
            ))
            .detail("Statements get variables as parameters (prepared) or as text (simple).")
            .hint("Give 'prepared' or 'simple'.")),
        }
    }

    fn max_tries(&self) -> Result<u32, Refusal> {
        match self.max_tries.unwrap_or(1) {
            tries @ 1.. => Ok(tries.cast_unsigned()),
            wrong => Err(Refusal::argument("max_tries is out of range")
                .detail(format!(
                    "It is {wrong}; a transaction is tried once at least."
                ))
                .hint("Give 1 for no retries, or more.")),
        }
    }
}
