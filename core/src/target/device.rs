//! A block device as `fsbench.device` has it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::units::format_bytes;

/// A device; names as in the view.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    pub path: String,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub size_bytes: Option<u64>,
    pub contents: Option<String>,
    pub usable: bool,
    pub why_not: Option<String>,
    pub wwn: Option<String>,
    pub partition_uuid: Option<String>,
    pub node: Option<String>,
    pub hint: Option<String>,
    pub seen_at: String,
}

impl Device {
    /// Lasting properties that recognize it when it is used. None for a device that the helper has not seen: it has no marks that the helper would
    /// read in the same way.
    pub fn identity(&self) -> Option<Value> {
        self.contents.as_ref()?;
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let marks = [
            ("serial", text(&self.serial)),
            ("wwn", text(&self.wwn)),
            ("partition_uuid", text(&self.partition_uuid)),
            ("bytes", self.size_bytes.map(Value::from)),
        ];
        let known = marks.into_iter();
        let known = known.filter_map(|(name, mark)| Some((name.to_owned(), mark?)));
        Some(Value::Object(known.collect::<Map<_, _>>()))
    }

    /// Model, serial number, size and contents.
    pub fn in_words(&self) -> String {
        let serial = self.serial.as_ref();
        let contents = match &self.contents {
            Some(contents) => format!("holds {contents}"),
            None => "what it holds is known when pgfsbench-helper has looked at it".into(),
        };
        let why_not = self.why_not.as_ref();
        let parts = [
            self.model.clone(),
            serial.map(|serial| format!("serial number {serial}")),
            self.size_bytes.map(format_bytes),
            Some(contents),
            why_not.map(|why_not| format!("not usable now: {why_not}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_that_nobody_has_looked_at_has_no_identity() {
        let mut device = Device {
            serial: Some("S1".into()),
            size_bytes: Some(1 << 30),
            ..Device::default()
        };
        assert_eq!(device.identity(), None);
        assert_eq!(
            device.in_words(),
            "serial number S1, 1024 MB, what it holds is known when pgfsbench-helper has looked at it"
        );
        device.contents = Some("nothing".into());
        let marks = json!({"serial": "S1", "bytes": 1_u64 << 30});
        assert_eq!(device.identity(), Some(marks));
    }

    #[test]
    fn what_keeps_it_from_being_used_is_said() {
        let device = Device {
            model: Some("M".into()),
            contents: Some("ext4".into()),
            why_not: Some("it is mounted".into()),
            ..Device::default()
        };
        assert_eq!(
            device.in_words(),
            "M, holds ext4, not usable now: it is mounted"
        );
    }
}
