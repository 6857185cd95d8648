//! Targets that an experiment makes of others: the same with other values of some parameters.

use serde_json::{Map, Value};

pub use crate::target::parameter::{VariedValue, takes};

use crate::refusal::{Refusal, quoted};

/// Longest name of a target.
const LONGEST_NAME: usize = 63;
/// Longest part of a name within another name.
const LONGEST_PART: usize = 40;

/// Whether a factor among these makes targets.
pub fn are_made(factors: Option<&Value>) -> bool {
    let names = factors.and_then(Value::as_object);
    names.is_some_and(|factors| factors.keys().any(|name| takes(name).is_some()))
}

/// A target that is to be made of another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Name in `fsbench.target`.
    pub name: String,
    /// Name of the target that it varies.
    pub of: String,
    /// Names of factors, and their values.
    pub values: Vec<(String, Value)>,
}

impl Variant {
    /// The arguments of `create_target`, from those of the other one. Refused if that has a value of its own for what is varied.
    pub fn arguments(&self, mut of: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        for (factor, value) in &self.values {
            let is_free = match (takes(factor), factor.split_once('.')) {
                (Some(VariedValue::Member(argument)), Some((_, member))) => {
                    set_member(&mut of, argument, member, value)
                }
                // Several devices need one, so the target has a value already.
                _ if of.contains_key(factor) && factor != "layout" => false,
                // Without a layout, create_target decides on the devices.
                _ if value.as_str() == Some("") => {
                    of.remove(factor);
                    true
                }
                _ => {
                    of.insert(factor.clone(), value.clone());
                    true
                }
            };
            if !is_free {
                return Err(contradicts(factor, &self.of));
            }
        }
        Ok(of)
    }
}

/// Sets a member of an object among the arguments; false if it is there already.
fn set_member(of: &mut Map<String, Value>, argument: &str, member: &str, value: &Value) -> bool {
    let object = of
        .entry(argument)
        .or_insert_with(|| Value::Object(Map::new()));
    let Some(object) = object.as_object_mut() else {
        return false;
    };
    object.insert(member.into(), value.clone()).is_none()
}

/// A target has a value of its own for what is varied.
pub fn contradicts(factor: &str, target: &str) -> Refusal {
    Refusal::argument(format!(
        "factor {} contradicts target {}",
        quoted(factor),
        quoted(target)
    ))
    .detail("The target has a value of its own, which the factor would change without a word.")
    .hint("Leave the factor out, or take the value back with fsbench.alter_target(), argument reset, or compare a target without it.")
}

/// Refuses settings of a candidate's runs that its target has, too.
pub fn check_settings(
    own: &Map<String, Value>,
    target: &str,
    settings: Option<&Value>,
) -> Result<(), Refusal> {
    let varied = own.get("settings").and_then(Value::as_object);
    let given = settings.and_then(Value::as_object);
    let (Some(varied), Some(given)) = (varied, given) else {
        return Ok(());
    };
    let is_given = |name: &&String| given.keys().any(|given| given.eq_ignore_ascii_case(name));
    match varied.keys().find(is_given) {
        Some(name) => Err(contradicts(&format!("settings.{name}"), target)),
        None => Ok(()),
    }
}

/// A name for a target of an experiment: the experiment's as far as there is room, a period, and this.
pub fn name_of_target(experiment: &str, rest: &str) -> String {
    let plain: String = experiment
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '-',
        })
        .collect();
    let room = LONGEST_NAME.saturating_sub(rest.len() + 1);
    let plain: String = plain.trim_matches('-').chars().take(room).collect();
    match plain.is_empty() {
        true => rest.to_owned(),
        false => format!("{plain}.{rest}"),
    }
}

/// The beginning of a name that may be any text, as it can stand in the name of a target.
pub fn part(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    let plain = name.chars().map(|c| if fits(c) { c } else { '-' });
    plain.take(LONGEST_PART).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use serde_json::json;

    fn variant(values: &[(&str, Value)]) -> Variant {
        Variant {
            name: "e.t.1".into(),
            of: "t".into(),
            values: values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        }
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_variant_is_its_target_with_other_values() {
        let of = object(
            json!({"filesystem": "ext4", "image_size": "1GB", "kernel_settings": {"dirty_ratio": 5}, "settings": {"work_mem": "8MB"}}),
        );
        let values = [
            ("mount_options", json!("noatime")),
            ("mkfs_options", json!("")),
            ("kernel_settings.dirty_background_ratio", json!(1)),
            ("target_settings.shared_buffers", json!("1GB")),
            ("data_checksums", json!(false)),
        ];
        let arguments = variant(&values).arguments(of.clone()).unwrap();
        assert_eq!(
            arguments,
            object(
                json!({"filesystem": "ext4", "image_size": "1GB", "mount_options": "noatime", "data_checksums": false,
                    "kernel_settings": {"dirty_ratio": 5, "dirty_background_ratio": 1}, "settings": {"work_mem": "8MB", "shared_buffers": "1GB"}})
            )
        );
    }

    #[test]
    fn the_layout_of_several_devices_is_varied() {
        let of = object(json!({"filesystem": "xfs", "image_count": 4, "layout": "raid10"}));
        let values = [
            ("layout", json!("raid0")),
            ("layout_options.chunk", json!("64k")),
        ];
        let arguments = variant(&values).arguments(of).unwrap();
        assert_eq!(arguments["layout"], "raid0");
        assert_eq!(arguments["layout_options"], json!({"chunk": "64k"}));
    }

    #[test]
    fn a_variant_without_a_layout_does_not_keep_that_of_its_target() {
        let of = object(json!({"filesystem": "xfs", "image_count": 4, "layout": "raid10"}));
        let arguments = variant(&[("layout", json!(""))]).arguments(of).unwrap();
        assert_eq!(
            arguments,
            object(json!({"filesystem": "xfs", "image_count": 4}))
        );
    }

    #[test]
    fn a_value_of_the_target_is_not_changed_without_a_word() {
        let of = object(
            json!({"filesystem": "ext4", "mount_options": "noatime", "settings": {"work_mem": "8MB"}}),
        );
        for (factor, value) in [
            ("mount_options", json!("nobarrier")),
            ("mount_options", json!("")),
            ("target_settings.work_mem", json!("8MB")),
        ] {
            let refusal = variant(&[(factor, value)])
                .arguments(of.clone())
                .unwrap_err();
            assert_eq!(
                refusal.message,
                format!("factor \"{factor}\" contradicts target \"t\"")
            );
            check::style(&refusal);
        }
    }

    #[test]
    fn so_it_is_with_settings_of_its_runs() {
        let own = object(json!({"settings": {"work_mem": "1MB"}, "clients": 1}));
        let check = |settings: Value| check_settings(&own, "t", Some(&settings));
        assert_eq!(check_settings(&own, "t", None), Ok(()));
        assert_eq!(check(json!({"wal_compression": "on"})), Ok(()));
        let refusal = check(json!({"Work_Mem": "2MB"})).unwrap_err();
        assert_eq!(
            refusal.message,
            "factor \"settings.work_mem\" contradicts target \"t\""
        );
    }

    #[test]
    fn names_fit_and_say_whose_they_are() {
        assert_eq!(name_of_target("New disk!", "ext4"), "new-disk.ext4");
        assert_eq!(name_of_target("é", "xfs.1"), "xfs.1");
        assert_eq!(part("xfs tuned/ü"), "xfs-tuned--");
        let long = name_of_target(&"x".repeat(63), &format!("{}.24", part(&"y".repeat(63))));
        assert_eq!(long.len(), 63);
        assert!(long.ends_with(".24"), "{long}");
    }

    #[test]
    fn what_a_target_is_made_of_is_no_factor() {
        for name in [
            "filesystem",
            "device",
            "image_size",
            "directory",
            "connection",
            "target",
            "power_loss_protected",
            "kernel_settings",
            "kernel_settings.",
            "settings.work_mem",
        ] {
            assert_eq!(takes(name), None, "{name}");
        }
        assert!(are_made(Some(
            &json!({"clients": [1, 2], "log_size": ["", "128MB"]})
        )));
        assert!(!are_made(Some(&json!({"clients": [1, 2]}))));
        assert!(!are_made(None));
    }
}
