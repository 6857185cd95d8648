//! The two arguments that are JSON objects: `settings` and `options`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Kind, Options, Workload, check, scan, values};
use crate::{
    fsync::{MOST_WRITERS, Method},
    refusal::{Refusal, quoted},
};

/// A week.
const LONGEST_WAIT_MS: u64 = 7 * 24 * 3_600_000;
/// It is renewed twice a second.
const SHORTEST_LEASE_MS: u64 = 2_000;

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

/// The options, each checked; what is not given has its default.
pub fn options(value: Option<&Value>, workload: Workload) -> Result<Options, Refusal> {
    let mut options = Options::default();
    for (name, value) in object("options", value, r#"'{"fillfactor": 90}'"#)? {
        if !Kind::is_option(name) {
            return Err(unknown_option(name));
        }
        if !workload.kind().takes_option(name) {
            return Err(check::not_of_workload(workload, "option", name));
        }
        match name.as_str() {
            "fillfactor" => options.fillfactor = values::whole_number(name, value, 10, 100)? as u8,
            "unlogged" => options.unlogged = values::boolean(name, value)?,
            "sample" => options.sample = values::boolean(name, value)?,
            "sample_alternately" => options.sample_alternately = values::boolean(name, value)?,
            "maintenance" => options.maintenance = values::boolean(name, value)?,
            "data" => options.data = values::word(name, value, &["copied", "loaded"])?,
            "cache" if workload == Workload::Scan => {
                options.cache = values::word(name, value, &["warm", "shared_buffers", "cold"])?;
            }
            "crash" => options.crash = values::boolean(name, value)?,
            "cache" => options.cache = values::word(name, value, &["warm", "cold"])?,
            "degrees" => options.degrees = scan::degrees(name, value)?,
            "repeats" => options.repeats = Some(scan::repeats(name, value)?),
            "leader" => options.leader = Some(values::boolean(name, value)?),
            "payload" => options.payload = Some(scan::payload(name, value)?),
            "loaders" => options.loaders = Some(scan::loaders(name, value)?),
            "readers" => options.readers = Some(scan::readers(name, value)?),
            "wait_for_helper_ms" => {
                options.wait_for_helper_ms = values::whole_number(name, value, 0, LONGEST_WAIT_MS)?;
            }
            "lease_ms" => {
                options.lease_ms =
                    values::whole_number(name, value, SHORTEST_LEASE_MS, LONGEST_WAIT_MS)?;
            }
            "wait_turn" => options.wait_turn = values::boolean(name, value)?,
            "methods" => options.methods = methods(name, value)?,
            "writers" => options.writers = values::numbers(name, value, 1, MOST_WRITERS)?,
            _ => return Err(unknown_option(name)),
        }
    }
    if options.sample_alternately && !options.sample {
        return Err(
            Refusal::argument("option \"sample_alternately\" needs option \"sample\"")
                .detail("Of every four seconds two are sampled then; without a sampler none is.")
                .hint("Leave out one of them."),
        );
    }
    Ok(options)
}

fn unknown_option(name: &str) -> Refusal {
    let known: Vec<String> = Kind::all_options()
        .into_iter()
        .map(|name| format!("\"{name}\""))
        .collect();
    let known = match known.as_slice() {
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
        [] => String::new(),
    };
    Refusal::argument(format!("option {} does not exist", quoted(name)))
        .detail("Names of options are in lower case.")
        .hint(match name.to_lowercase().as_str() {
            "script" | "scripts" | "file" | "sql" => check::OWN_SCRIPTS.to_owned(),
            _ => format!("Known options are {known}."),
        })
}

/// The members of an object; none when it is not given.
fn object<'v>(
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

/// Ways to sync, each once, in pg_test_fsync's order.
fn methods(name: &str, value: &Value) -> Result<Vec<Method>, Refusal> {
    let known = Method::ALL.map(Method::as_str);
    let given: Vec<Method> = values::list(value, 1)
        .and_then(|items| {
            let parse = |item: &Value| {
                let method = item.as_str().and_then(Method::parse);
                method.ok_or_else(|| match item.as_str() {
                    Some("fsync_writethrough") => "Linux has no fsync_writethrough.".to_owned(),
                    Some(text) => format!("It holds {}.", quoted(text)),
                    None => format!("It holds {}.", values::kind(item)),
                })
            };
            items.iter().map(parse).collect()
        })
        .map_err(|detail| {
            Refusal::argument(format!("invalid value of option \"{name}\""))
                .detail(detail)
                .hint(format!("Give an array of names: {}.", known.join(", ")))
        })?;
    let wanted = |method: &Method| given.contains(method);
    Ok(Method::ALL.into_iter().filter(wanted).collect())
}
