//! Values of JSON as options take them, or why they are not.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::refusal::{Refusal, quoted};

pub fn whole_number(name: &str, value: &Value, least: u64, most: u64) -> Result<u64, Refusal> {
    value
        .as_u64()
        .filter(|n| (least..=most).contains(n))
        .ok_or_else(|| {
            let text = match value {
                Value::Number(n) => format!("It is {n}."),
                other => format!("It is {}.", kind(other)),
            };
            Refusal::argument(format!("invalid value of option \"{name}\""))
                .detail(text)
                .hint(format!("Give a whole number between {least} and {most}."))
        })
}

pub fn number(name: &str, value: &Value, least: f64, most: f64) -> Result<f64, Refusal> {
    let number = value.as_f64().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| {
        let text = match value {
            Value::Number(n) => format!("It is {n}."),
            other => format!("It is {}.", kind(other)),
        };
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(text)
            .hint(format!("Give a number between {least} and {most}."))
    })
}

/// Different whole numbers from 1 to `most`, at least this many of them, in ascending order.
pub fn numbers(name: &str, value: &Value, fewest: usize, most: u32) -> Result<Vec<u32>, Refusal> {
    let parse = |item: &Value| {
        let number = item.as_u64().and_then(|n| u32::try_from(n).ok());
        let number = number.filter(|n| (1..=most).contains(n));
        number.ok_or_else(|| match item {
            Value::Number(n) => format!("It holds {n}."),
            other => format!("It holds {}.", kind(other)),
        })
    };
    let each_once = |items: &[Value]| {
        let mut set = BTreeSet::new();
        for item in items {
            let number = parse(item)?;
            if !set.insert(number) {
                return Err(format!("It holds {number} twice."));
            }
        }
        Ok(set)
    };
    let given = list(value, fewest).and_then(each_once);
    given.map(|set| set.into_iter().collect()).map_err(|detail| {
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(detail)
            .hint(format!(
                "Give an array of different whole numbers between 1 and {most}, such as [1, 2, 4, 8]."
            ))
    })
}

/// The items of an array that has enough; else what is wrong.
pub fn list(value: &Value, fewest: usize) -> Result<&[Value], String> {
    match value {
        Value::Array(items) if items.len() < fewest => Err("It is an empty array.".into()),
        Value::Array(items) => Ok(items),
        other => Err(format!("It is {}.", kind(other))),
    }
}

pub fn boolean(name: &str, value: &Value) -> Result<bool, Refusal> {
    value.as_bool().ok_or_else(|| {
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(format!("It is {}.", kind(value)))
            .hint("Give true or false, without quotes.")
    })
}

/// One of some words.
pub fn word<T: DeserializeOwned>(name: &str, value: &Value, words: &[&str]) -> Result<T, Refusal> {
    let known = value.as_str().is_some_and(|text| words.contains(&text));
    let parsed = known.then(|| serde_json::from_value(value.clone()).ok());
    parsed.flatten().ok_or_else(|| {
        let text = match value {
            Value::String(text) => format!("It is {}.", quoted(text)),
            other => format!("It is {}.", kind(other)),
        };
        let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        Refusal::argument(format!("invalid value of option \"{name}\""))
            .detail(text)
            .hint(format!("Give one of {}.", words.join(", ")))
    })
}

pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
