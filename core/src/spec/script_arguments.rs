//! The arguments of `run` that are about scripts. The workload `script` says what they mean.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Scripts and how they are run, as they were given; None is NULL or not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScriptArguments {
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

impl ScriptArguments {
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
}
