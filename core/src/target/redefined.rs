//! The message when a target is defined otherwise than when its results were measured.

use serde::Deserialize;
use serde_json::Value;

use crate::units::format_count;

/// The results of a target's name.
#[derive(Clone, Debug, Deserialize)]
pub struct Results {
    /// Results of that name.
    pub results: u64,
    /// Results with the present definition.
    pub same: u64,
    /// The number of that definition, or which one it will have.
    pub version: u32,
    /// The definition of now.
    pub definition: Value,
    /// The definition of the last result.
    pub last: Option<Value>,
}

impl Results {
    /// The message after a target was created or changed: the results that its next runs will be compared with, and a hint. `before` is the old
    /// definition; an equal one makes no message.
    pub fn in_words(&self, target: &str, before: Option<&Value>) -> Option<(String, String)> {
        let is_new = self.results > 0 && before != Some(&self.definition);
        is_new.then(|| self.told(target))
    }

    fn told(&self, target: &str) -> (String, String) {
        let label = match self.version {
            1 => target.to_owned(),
            version => format!("{target}#{version}"),
        };
        if self.same > 0 {
            let results = format_count(self.same, "earlier result");
            return (
                format!("target \"{target}\" is defined as it was for {results}"),
                format!("What it measures from now on is \"{label}\" in fsbench.result again."),
            );
        }
        let results = format_count(self.results, "earlier result");
        let changed = changed(self.last.as_ref().unwrap_or(&Value::Null), &self.definition);
        (
            format!(
                "target \"{target}\" is not defined as for its last result: {}",
                changed.join(", ")
            ),
            format!(
                "What it measures from now on is \"{label}\" in fsbench.result, apart from {results}."
            ),
        )
    }
}

/// Names of what two definitions do not have alike.
fn changed<'a>(a: &'a Value, b: &'a Value) -> Vec<&'a str> {
    let names = |value: &'a Value| value.as_object().into_iter().flatten();
    let mut changed: Vec<&str> = names(a)
        .chain(names(b))
        .map(|(name, _)| name.as_str())
        .filter(|name| a.get(name) != b.get(name))
        .collect();
    changed.sort_unstable();
    changed.dedup();
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn results(results: u64, same: u64, version: u32) -> Results {
        Results {
            results,
            same,
            version,
            definition: json!({"kind": "image", "filesystem": "xfs"}),
            last: Some(json!({"kind": "image", "filesystem": "ext4", "settings": {}})),
        }
    }

    #[test]
    fn what_has_no_results_or_is_not_changed_is_not_told() {
        assert_eq!(results(0, 0, 1).in_words("x", None), None);
        let same = results(3, 0, 2);
        assert_eq!(same.in_words("x", Some(&same.definition)), None);
    }

    #[test]
    fn what_is_new_is_named_and_what_was_there_before_too() {
        let (message, hint) = results(3, 0, 2).in_words("x", None).unwrap();
        assert!(
            message.ends_with("for its last result: filesystem, settings"),
            "{message}"
        );
        assert!(
            hint.contains("\"x#2\"") && hint.contains("3 earlier results"),
            "{hint}"
        );
        let (message, hint) = results(3, 1, 1).in_words("x", None).unwrap();
        assert!(
            message.ends_with("as it was for 1 earlier result"),
            "{message}"
        );
        assert!(hint.contains("\"x\""), "{hint}");
    }
}
