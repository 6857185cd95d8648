//! The settings of a target server: what the asking server has, what the target says, and what a benchmark needs.

use std::collections::BTreeMap;

use pgfsbench_core::target::carried_over::COPIED;
pub use pgfsbench_core::target::settings::{Settings, cluster_name, needed};

use crate::{errors::Fault, pg::sql};

/// The settings of a run that only a session can have.
pub fn of_session(settings: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Fault> {
    let of_server = of_server(settings)?;
    let mut of_session = settings.clone();
    of_session.retain(|name, _| !of_server.contains_key(name));
    Ok(of_session)
}

/// The settings of a run that only a whole server can have. In a transaction.
pub fn of_server(settings: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Fault> {
    let text = sql::read(
        "SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each_text($1::jsonb) \
         WHERE EXISTS (SELECT FROM pg_settings WHERE lower(name) = key AND context IN ('postmaster', 'sighup'))",
        &[Some(&serde_json::json!(settings).to_string())],
    )?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

/// Settings of a target, overridden by those of a run that only a whole server can have. In a transaction.
pub fn of_target(
    target: &BTreeMap<String, String>,
    run: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Fault> {
    let mut settings = target.clone();
    settings.extend(of_server(run)?);
    Ok(settings)
}

/// The settings of this server that a target server gets too. In a transaction, with the owner's rights.
pub fn copied() -> Result<BTreeMap<String, String>, Fault> {
    let text = sql::read(
        "SELECT jsonb_object_agg(name, current_setting(name)) FROM pg_settings \
         WHERE name = ANY (string_to_array($1, ',')) AND source IN ('configuration file', 'command line', 'environment variable')",
        &[Some(&COPIED.join(","))],
    )?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}
