//! Settings of target servers: whatever names files, programs or other servers is refused.

use std::collections::BTreeMap;

use pgfsbench_core::{refusal::quoted, server_setting};
use serde_json::Value;

use super::invalid;
use crate::{
    errors::Fault,
    pg::{guc, sql},
};

/// Settings of the server, as text. With `known_here` names and values have to be those of this version.
pub fn check(settings: &Value, known_here: bool) -> Result<BTreeMap<String, String>, Fault> {
    let wrong = |message: String, detail: &str| {
        Err(invalid(message)
            .detail(detail)
            .hint("Give an object of names and values, like {\"shared_buffers\": \"1GB\"}."))
    };
    let Some(object) = settings.as_object() else {
        return wrong(
            "settings is no JSON object".into(),
            "It holds the settings of the target server.",
        );
    };
    let mut checked = BTreeMap::new();
    for (name, value) in object {
        let lower = server_setting::check_name(name)?;
        let known = sql::read(
            "SELECT 1 FROM pg_catalog.pg_settings WHERE lower(name) = $1 AND context <> 'internal'",
            &[Some(&lower)],
        )?;
        if known_here && known.is_none() {
            return wrong(
                format!(
                    "unrecognized configuration parameter {} in settings",
                    quoted(name)
                ),
                "A target takes settings of the server.",
            );
        }
        let text = match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => value.to_string(),
            _ => {
                return wrong(
                    format!(
                        "the value of setting {} is no text, number or boolean",
                        quoted(name)
                    ),
                    "A setting has one value.",
                );
            }
        };
        if text.chars().any(char::is_control) {
            return wrong(
                format!(
                    "the value of setting {} contains a control character",
                    quoted(name)
                ),
                "It would break the configuration file.",
            );
        }
        if known_here {
            guc::check_of_server(&lower, &text).map_err(|fault| match fault.hint {
                Some(_) => fault,
                None => fault.hint("See min_val, max_val, unit and enumvals of pg_settings."),
            })?;
        }
        checked.insert(lower, text);
    }
    Ok(checked)
}
