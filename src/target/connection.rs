//! How another server is reached: keywords and values of libpq, checked by libpq itself, without a secret among them.

use pgfsbench_core::refusal::quoted;

use super::invalid;
use crate::{
    errors::Fault,
    pg::conninfo::{self, Parameter},
};

/// Keywords that a run sets by itself, that make another kind of connection, or that have libpq write its keys to a file.
const REFUSED: [&str; 4] = [
    "application_name",
    "client_encoding",
    "replication",
    "sslkeylogfile",
];

/// Secrets that libpq does not mark as such.
const SECRETS: [&str; 3] = [
    "oauth_client_secret",
    "scram_client_key",
    "scram_server_key",
];

/// Whether a password may be in a value. libpq takes a dbname apart that is a whole connection string, and people give such a
/// string wherever they can.
fn may_hide_a_password(parameter: &Parameter) -> bool {
    let value = parameter.value.trim_start().to_ascii_lowercase();
    let is_uri = ["postgresql://", "postgres://"]
        .iter()
        .any(|scheme| value.starts_with(scheme));
    is_uri
        || match parameter.keyword.as_str() {
            "dbname" => value.contains('='),
            "options" => value.contains("password"),
            _ => false,
        }
}

/// The parameters of a connection; refused with a secret among them, since the tables and every dump of them have readers.
pub fn check(text: &str) -> Result<Vec<Parameter>, Fault> {
    let refused = |message: String, detail: String| {
        invalid(message).detail(detail).hint(
            "Give keywords and values of libpq, such as 'service=bench' or 'host=db2 dbname=bench user=bench'.",
        )
    };
    let parameters = conninfo::parse(text).map_err(|said| {
        refused(
            "invalid connection of a target".into(),
            format!("libpq says: {said}."),
        )
    })?;
    if let Some(secret) = parameters
        .iter()
        .find(|p| p.is_secret || SECRETS.contains(&p.keyword.as_str()))
    {
        return Err(invalid(format!(
            "a connection of a target cannot contain {}",
            quoted(&secret.keyword)
        ))
        .detail("Whoever reads the table of targets, or a dump of it, would read it too.")
        .hint("Put it into the service file or the password file of this server's operating system user, and give service or passfile."));
    }
    if let Some(other) = parameters.iter().find(|p| may_hide_a_password(p)) {
        return Err(refused(
            format!("invalid {} in the connection of a target", other.keyword),
            "It holds a connection string of its own, or a password, which each reader of the table of targets would see.".into(),
        ));
    }
    if let Some(other) = parameters
        .iter()
        .find(|p| REFUSED.contains(&p.keyword.as_str()))
    {
        return Err(refused(
            format!(
                "a connection of a target cannot contain {}",
                quoted(&other.keyword)
            ),
            "A run sets it by itself, or it would write the keys of the connection to a file."
                .into(),
        ));
    }
    if parameters.is_empty() {
        return Err(refused(
            "a connection of a target cannot be empty".into(),
            "It would lead to wherever this server's environment points.".into(),
        ));
    }
    Ok(parameters)
}
