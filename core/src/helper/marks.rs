//! The marks that tell a device from any other, whatever its path leads to.

use serde::{Deserialize, Serialize};

use crate::refusal::{Kind, Refusal, quoted};

/// The marks of a device, as far as it has them; or the marks that a user requires.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marks {
    /// Serial number of the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// World Wide Name of the disk, or the UUID that a volume manager has given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wwn: Option<String>,
    /// UUID of the partition in its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_uuid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Longer than any that hardware has.
const LONGEST: usize = 256;

impl Marks {
    fn all(&self) -> [(&'static str, Option<String>); 4] {
        [
            ("serial", self.serial.clone()),
            ("wwn", self.wwn.clone()),
            ("partition_uuid", self.partition_uuid.clone()),
            ("bytes", self.bytes.map(|bytes| bytes.to_string())),
        ]
    }

    /// Refuses marks that no device has.
    pub fn check(&self) -> Result<(), Refusal> {
        for (name, value) in self.all() {
            let fits = value.is_none_or(|text| {
                (1..=LONGEST).contains(&text.len()) && !text.chars().any(char::is_control)
            });
            if !fits {
                return Err(Refusal::argument(format!("invalid {name} of a device"))
                    .detail(format!(
                        "It has 1 to {LONGEST} characters, none of them a control character."
                    ))
                    .hint("Use what pgfsbench-helper describe says of the device."));
            }
        }
        Ok(())
    }

    /// Refuses a device that lacks one of these marks, or has another: `whose` says who wants them, `what_to_do` what if the
    /// other device is the right one.
    pub fn require(
        &self,
        found: &Marks,
        path: &str,
        whose: &str,
        what_to_do: &str,
    ) -> Result<(), Refusal> {
        for ((name, wanted), (_, found)) in self.all().into_iter().zip(found.all()) {
            let Some(wanted) = wanted else {
                continue;
            };
            if found.as_ref() == Some(&wanted) {
                continue;
            }
            let has = match found {
                Some(found) => format!("it has {name} {}", quoted(&found)),
                None => format!("it has no {name}"),
            };
            return Err(Refusal::new(
                Kind::NotAllowed,
                format!("device {path} is not the one that was meant"),
            )
            .detail(format!(
                "By {whose} it should have {name} {}; {has}.",
                quoted(&wanted)
            ))
            .hint(what_to_do));
        }
        Ok(())
    }

    /// Refuses marks that contradict each other before any device is opened.
    pub fn agree(&self, other: &Marks, path: &str) -> Result<(), Refusal> {
        for ((name, here), (_, there)) in self.all().into_iter().zip(other.all()) {
            if let (Some(here), Some(there)) = (here, there)
                && here != there
            {
                return Err(Refusal::new(
                    Kind::NotAllowed,
                    format!("device {path} is not the one that the target was created for"),
                )
                .detail(format!(
                    "The target has {name} {}, and the helper's configuration {}.",
                    quoted(&there),
                    quoted(&here)
                ))
                .hint("Look at both devices; create the target again, or put the configuration right."));
            }
        }
        Ok(())
    }

    /// The line of the configuration that is missing for this device, if it has a mark of which there is none in `known`: the
    /// partition's own where it has one, since its disk's do not tell it from its neighbours.
    pub fn missing_in(&self, known: &Marks) -> Option<String> {
        let line = |name: &str, value: &str| format!("{name} = {}", toml_text(value));
        if let Some(uuid) = &self.partition_uuid {
            return known
                .partition_uuid
                .is_none()
                .then(|| line("partition_uuid", uuid));
        }
        if known.serial.is_some() || known.wwn.is_some() {
            return None;
        }
        match (&self.wwn, &self.serial) {
            (Some(wwn), _) => Some(line("wwn", wwn)),
            (None, Some(serial)) => Some(line("serial", serial)),
            (None, None) => None,
        }
    }

    /// True if only its size is known.
    pub fn is_anonymous(&self) -> bool {
        self.serial.is_none() && self.wwn.is_none() && self.partition_uuid.is_none()
    }
}

/// A basic string of TOML.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    fn marks(serial: &str, wwn: &str, uuid: &str) -> Marks {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Marks {
            serial: some(serial),
            wwn: some(wwn),
            partition_uuid: some(uuid),
            bytes: None,
        }
    }

    fn any_marks() -> impl Strategy<Value = Marks> {
        let text = || prop::option::of("[ab]{1,2}");
        (text(), text(), text(), prop::option::of(1u64..3)).prop_map(
            |(serial, wwn, partition_uuid, bytes)| Marks {
                serial,
                wwn,
                partition_uuid,
                bytes,
            },
        )
    }

    #[test]
    fn a_difference_names_both_values() {
        let (wanted, found) = (marks("S1", "", ""), marks("S2", "W", ""));
        let refusal = wanted
            .require(&found, "/dev/x", "the configuration", "Look.")
            .unwrap_err();
        check::style(&refusal);
        assert_eq!(
            refusal.detail.unwrap(),
            "By the configuration it should have serial \"S1\"; it has serial \"S2\"."
        );
        let gone = wanted
            .require(&marks("", "W", ""), "/dev/x", "the target", "Look.")
            .unwrap_err();
        assert!(gone.detail.unwrap().ends_with("it has no serial."));
        check::style(&wanted.agree(&found, "/dev/x").unwrap_err());
        assert_eq!(wanted.agree(&marks("", "W", ""), "/dev/x"), Ok(()));
    }

    #[test]
    fn what_the_configuration_has_to_name() {
        let line = |device: Marks, known: Marks| device.missing_in(&known);
        assert_eq!(line(marks("", "", ""), marks("", "", "")), None);
        assert_eq!(
            line(marks("S\"1", "", ""), marks("", "", "")).as_deref(),
            Some("serial = \"S\\\"1\"")
        );
        assert_eq!(
            line(marks("S", "W", ""), marks("", "", "")).as_deref(),
            Some("wwn = \"W\"")
        );
        assert_eq!(line(marks("S", "W", ""), marks("S", "", "")), None);
        // The disk's serial number is that of all its partitions.
        assert_eq!(
            line(marks("S", "W", "P"), marks("S", "W", "")).as_deref(),
            Some("partition_uuid = \"P\"")
        );
    }

    #[test]
    fn marks_that_no_device_has() {
        for text in ["", "a\nb", &"x".repeat(LONGEST + 1)] {
            let bad = Marks {
                serial: Some(text.into()),
                ..Marks::default()
            };
            check::style(&bad.check().unwrap_err());
        }
    }

    proptest! {
        #[test]
        fn only_a_device_that_has_all_of_them_is_accepted(wanted in any_marks(), found in any_marks()) {
            let accepted = wanted.require(&found, "/dev/x", "x", "X.").is_ok();
            let has = |w: &Option<String>, f: &Option<String>| w.is_none() || w == f;
            prop_assert_eq!(
                accepted,
                has(&wanted.serial, &found.serial)
                    && has(&wanted.wwn, &found.wwn)
                    && has(&wanted.partition_uuid, &found.partition_uuid)
                    && (wanted.bytes.is_none() || wanted.bytes == found.bytes)
            );
            // Two marks that accept the same device do not contradict each other.
            if accepted && found.require(&wanted, "/dev/x", "x", "X.").is_ok() {
                prop_assert!(wanted.agree(&found, "/dev/x").is_ok());
            }
            prop_assert_eq!(found.missing_in(&found), None);
        }
    }
}
