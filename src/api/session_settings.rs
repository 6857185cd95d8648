//! The argument `settings`: what a session may set, checked with the caller's rights.

use std::collections::BTreeMap;

use crate::{
    errors::{Fault, sqlstate},
    pg::{guc, session, sql},
    target,
};

/// Settings that a session may set, but that would break the workload or have no effect in its clients.
const REFUSED: [&str; 18] = [
    "application_name",
    "client_encoding",
    "default_table_access_method",
    "default_tablespace",
    "default_transaction_read_only",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "local_preload_libraries",
    "role",
    "search_path",
    "session_authorization",
    "session_preload_libraries",
    "statement_timeout",
    "temp_tablespaces",
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
    "transaction_timeout",
];

fn is_refused(name: &str) -> bool {
    REFUSED.contains(&name) || name.starts_with("pgfsbench.")
}

/// Checks names and values; PostgreSQL's own errors for wrong values and missing rights. A run on a target has a server of
/// its own, which can have settings too that need a restart.
pub fn check(settings: &BTreeMap<String, String>, owner: u32, here: bool) -> Result<(), Fault> {
    for (name, value) in settings {
        let context = session::with_rights_of(owner, || {
            sql::read(
                "SELECT context FROM pg_catalog.pg_settings WHERE lower(name) = $1",
                &[Some(name)],
            )
        })?;
        let refusal = |message: String| Fault::new(sqlstate::INVALID_PARAMETER, message);
        match context.as_deref() {
            None => {
                return Err(refusal(format!(
                    "unrecognized configuration parameter \"{name}\" in settings"
                ))
                .detail(
                    "The argument settings takes settings of the server that a session may set.",
                )
                .hint("See the view pg_settings, context user or superuser."));
            }
            Some("user" | "superuser") if !is_refused(name) => {}
            Some("postmaster" | "sighup") if !here => {
                let given = serde_json::json!({ name: value });
                session::with_rights_of(owner, || target::check_settings(&given, true))?;
                continue;
            }
            Some(context) => {
                return Err(
                    refusal(format!("setting \"{name}\" cannot be set for a run"))
                        .detail(if is_refused(name) {
                            "It would change what the clients do, or have no effect.".to_owned()
                        } else {
                            format!("Its context is \"{context}\", and not that of a session.")
                        })
                        .hint(if is_refused(name) || context == "internal" {
                            "Leave it out."
                        } else {
                            "Set it in the server's configuration, and start the run then; or run on a target that has a server of its own."
                        }),
                );
            }
        }
        guc::check(name, value)?;
    }
    Ok(())
}
