//! Settings of target servers: whatever names files, programs or other servers is refused.

use std::collections::BTreeMap;

use pgfsbench_core::refusal::quoted;
use serde_json::Value;

use super::invalid;
use crate::{
    errors::Fault,
    pg::{guc, sql},
};

/// Parts of the names of settings that name programs, libraries or other servers, or that pgfsbench sets itself.
const REFUSED_PARTS: [&str; 12] = [
    "_command",
    "_directories",
    "_libraries",
    "archive_",
    "control_path",
    "jit_provider",
    "library_path",
    "log_destination",
    "logging_collector",
    "primary_",
    "synchronous_standby_names",
    "unix_socket_",
];
/// Ends of names of settings that name files.
const REFUSED_ENDS: [&str; 4] = ["_directory", "_dir", "_file", "keyfile"];
/// The same, as whole names.
const REFUSED: [&str; 7] = [
    "cluster_name",
    "listen_addresses",
    "max_worker_processes",
    "port",
    "restore_command",
    "ssl",
    "shared_preload_libraries",
];

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
        let lower = name.to_ascii_lowercase();
        let refused = REFUSED.contains(&lower.as_str())
            || REFUSED_PARTS.iter().any(|part| lower.contains(part))
            || REFUSED_ENDS.iter().any(|end| lower.ends_with(end));
        if refused {
            return Err(invalid(format!(
                "setting {} cannot be set for a target",
                quoted(name)
            ))
            .detail("It names files, programs or other servers, or is set by pgfsbench.")
            .hint("Leave it out."));
        }
        if !lower
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
        {
            return wrong(
                format!("{} is no name of a setting", quoted(name)),
                "Names of settings have letters, digits, underscores and dots.",
            );
        }
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
