//! Arguments that are JSON objects: `settings`, and the members of `options`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::values;
use crate::refusal::{Refusal, quoted};

/// Names and values of session settings: names in lower case, values as text, true and false as on and off. Whether a
/// setting exists and may be set is for the server to say.
pub fn settings(value: Option<&Value>) -> Result<BTreeMap<String, String>, Refusal> {
    let mut settings = BTreeMap::new();
    for (name, value) in object(
        "settings",
        value,
        r#"'{"synchronous_commit": "off", "work_mem": "64MB"}'"#,
    )? {
        let setting = setting_name(name)?;
        let value = setting_value(&setting, value)?;
        if settings.insert(setting, value).is_some() {
            return Err(Refusal::argument(format!(
                "setting {} is given more than once",
                quoted(name)
            ))
            .detail("Names of settings are the same in upper and lower case.")
            .hint("Give each setting once."));
        }
    }
    Ok(settings)
}

/// The members of an object; none when it is not given.
pub fn object<'v>(
    name: &str,
    value: Option<&'v Value>,
    example: &str,
) -> Result<impl Iterator<Item = (&'v String, &'v Value)> + use<'v>, Refusal> {
    let map = match value {
        None => None,
        Some(Value::Object(map)) => Some(map),
        Some(other) => {
            return Err(Refusal::argument(format!("{name} is not a JSON object"))
                .detail(format!("It is {}.", values::kind(other)))
                .hint(format!("Give an object such as {example}.")));
        }
    };
    Ok(map.into_iter().flatten())
}

fn setting_name(name: &str) -> Result<String, Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(name.to_ascii_lowercase());
    }
    Err(
        Refusal::argument(format!("invalid name of a setting {}", quoted(name)))
            .detail("Names of settings consist of letters, digits and underscores.")
            .hint("See the view pg_settings for all names."),
    )
}

fn setting_value(name: &str, value: &Value) -> Result<String, Refusal> {
    match value {
        Value::Bool(true) => Ok("on".into()),
        Value::Bool(false) => Ok("off".into()),
        Value::Number(n) => Ok(n.to_string()),
        Value::String(text) if !text.contains('\0') => Ok(text.clone()),
        other => Err(Refusal::argument(format!("invalid value of setting {}", quoted(name)))
            .detail(format!("It is {}.", values::kind(other)))
            .hint("Give a text, a number, true or false; leave a setting out to keep its default.")),
    }
}
