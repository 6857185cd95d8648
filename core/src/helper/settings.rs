//! Settings of a block device's queue and of the kernel's write-back that a target may ask for.

use serde::{Deserialize, Serialize};

use crate::refusal::{Refusal, quoted};

/// The state of the device before a filesystem is made on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SsdState {
    /// The whole device is discarded before mkfs.
    Trimmed,
    /// Nothing is discarded, not even by mkfs.
    AsIs,
}

/// Settings of the queue of the target's disk; what is not given stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BlockSettings {
    /// The I/O scheduler, by the kernel's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Read-ahead in kilobytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_kb: Option<u64>,
    /// Requests that the queue holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u64>,
}

impl BlockSettings {
    /// Refuses what no kernel would take; or would take as something else than was written.
    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(name) = &self.scheduler {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
            if !(1..=16).contains(&name.len()) || !name.chars().all(plain) {
                return Err(
                    Refusal::argument(format!("invalid I/O scheduler {}", quoted(name)))
                        .detail("Its name has 1 to 16 lower case letters, digits, \"-\" and \"_\".")
                        .hint("Give one that /sys/block/DISK/queue/scheduler lists, such as none or mq-deadline."),
                );
            }
        }
        // The kernel rounds down to whole pages.
        if let Some(kb) = self.read_ahead_kb
            && (kb % 4 != 0 || kb > 1 << 20)
        {
            return Err(out_of_range(
                "read_ahead_kb",
                kb,
                "It is a multiple of 4 from 0 to 1048576.",
            ));
        }
        if let Some(n) = self.nr_requests
            && !(4..=65_536).contains(&n)
        {
            return Err(out_of_range(
                "nr_requests",
                n,
                "It is a number from 4 to 65536.",
            ));
        }
        Ok(())
    }

    /// True if nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Settings of the whole machine's write-back, in /proc/sys/vm; what is not given stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KernelSettings {
    /// From here on who writes has to write back himself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_bytes: Option<u64>,
    /// From here on the kernel writes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_background_bytes: Option<u64>,
    /// Alternative to dirty_bytes: percent of the available memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_ratio: Option<u64>,
    /// Alternative to dirty_background_bytes: percent of the available memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_background_ratio: Option<u64>,
    /// Hundredths of a second after which dirty memory is written back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_expire_centisecs: Option<u64>,
    /// Hundredths of a second between the kernel's looks for it; 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty_writeback_centisecs: Option<u64>,
}

impl KernelSettings {
    /// The settings that are asked for, by the names of their files in /proc/sys/vm.
    pub fn requested(&self) -> Vec<(&'static str, u64)> {
        [
            ("dirty_background_bytes", self.dirty_background_bytes),
            ("dirty_background_ratio", self.dirty_background_ratio),
            ("dirty_bytes", self.dirty_bytes),
            ("dirty_ratio", self.dirty_ratio),
            ("dirty_expire_centisecs", self.dirty_expire_centisecs),
            ("dirty_writeback_centisecs", self.dirty_writeback_centisecs),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }

    /// True if nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses what no kernel would take.
    pub fn check(&self) -> Result<(), Refusal> {
        for (bytes, ratio, name) in [
            (self.dirty_bytes, self.dirty_ratio, "dirty"),
            (
                self.dirty_background_bytes,
                self.dirty_background_ratio,
                "dirty_background",
            ),
        ] {
            if bytes.is_some() && ratio.is_some() {
                return Err(Refusal::argument(format!(
                    "{name}_bytes and {name}_ratio exclude each other"
                ))
                .detail("The kernel knows only the one that was written last.")
                .hint("Give one of them."));
            }
        }
        for (name, value) in self.requested() {
            // Bytes: two pages at least; in all, what fits the kernel's numbers.
            let (range, words) = match name.rsplit('_').next() {
                Some("bytes") => (
                    8192..=1 << 46,
                    "It is a number of bytes from 8192 to 64 TB.",
                ),
                Some("ratio") => (1..=100, "It is a number of percent from 1 to 100."),
                _ if name == "dirty_expire_centisecs" => (
                    1..=i32::MAX as u64,
                    "It is a number of hundredths of a second from 1 to 2147483647.",
                ),
                _ => (
                    0..=i32::MAX as u64,
                    "It is a number of hundredths of a second from 0 to 2147483647.",
                ),
            };
            if !range.contains(&value) {
                return Err(out_of_range(name, value, words));
            }
        }
        if let (Some(all), Some(background)) = (self.dirty_bytes, self.dirty_background_bytes)
            && background >= all
        {
            return Err(
                Refusal::argument("dirty_background_bytes is not less than dirty_bytes")
                    .detail("The kernel would use half of dirty_bytes instead.")
                    .hint("Give less for the background."),
            );
        }
        if let (Some(all), Some(background)) = (self.dirty_ratio, self.dirty_background_ratio)
            && background >= all
        {
            return Err(
                Refusal::argument("dirty_background_ratio is not less than dirty_ratio")
                    .detail("The kernel would use half of dirty_ratio instead.")
                    .hint("Give less for the background."),
            );
        }
        Ok(())
    }
}

fn out_of_range(name: &str, value: u64, words: &str) -> Refusal {
    Refusal::argument(format!("{name} = {value} is not accepted"))
        .detail(words)
        .hint(format!("Give another value for {name}, or leave it out."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    fn block(json: &str) -> BlockSettings {
        serde_json::from_str(json).unwrap()
    }

    fn kernel(json: &str) -> KernelSettings {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_a_kernel_takes() {
        for json in [
            "{}",
            r#"{"scheduler": "mq-deadline", "read_ahead_kb": 0, "nr_requests": 64}"#,
            r#"{"read_ahead_kb": 4096, "scheduler": null}"#,
        ] {
            assert_eq!(block(json).check(), Ok(()));
        }
        for json in [
            "{}",
            r#"{"dirty_bytes": 268435456, "dirty_background_bytes": 134217728}"#,
            r#"{"dirty_ratio": 20, "dirty_background_bytes": 134217728, "dirty_writeback_centisecs": 0}"#,
        ] {
            assert_eq!(kernel(json).check(), Ok(()));
        }
        assert!(block(r#"{"scheduler": null}"#).is_empty());
        assert!(kernel("{}").is_empty() && !kernel(r#"{"dirty_ratio": 1}"#).is_empty());
    }

    #[test]
    fn what_it_does_not_take() {
        for json in [
            r#"{"scheduler": ""}"#,
            r#"{"scheduler": "none\nkyber"}"#,
            r#"{"scheduler": "../../x"}"#,
            r#"{"read_ahead_kb": 5}"#,
            r#"{"read_ahead_kb": 18446744073709551612}"#,
            r#"{"nr_requests": 3}"#,
        ] {
            check::style(&block(json).check().expect_err(json));
        }
        for json in [
            r#"{"dirty_bytes": 0}"#,
            r#"{"dirty_bytes": 4096}"#,
            r#"{"dirty_ratio": 0}"#,
            r#"{"dirty_ratio": 101}"#,
            r#"{"dirty_bytes": 1000000, "dirty_ratio": 10}"#,
            r#"{"dirty_background_bytes": 1000000, "dirty_background_ratio": 10}"#,
            r#"{"dirty_bytes": 1000000, "dirty_background_bytes": 1000000}"#,
            r#"{"dirty_ratio": 10, "dirty_background_ratio": 20}"#,
            r#"{"dirty_expire_centisecs": 0}"#,
            r#"{"dirty_writeback_centisecs": 2147483648}"#,
        ] {
            check::style(&kernel(json).check().expect_err(json));
        }
        assert!(serde_json::from_str::<KernelSettings>(r#"{"swappiness": 1}"#).is_err());
        assert!(serde_json::from_str::<BlockSettings>(r#"{"write_cache": "x"}"#).is_err());
    }

    proptest! {
        #[test]
        fn an_accepted_scheduler_is_one_plain_word(name in "(mq-deadline|[a-zA-Z0-9_]{0,6})([./@ \\[\0\n-]?[a-z0-9]{0,4}){0,2}|\\PC{0,3}") {
            let settings = BlockSettings { scheduler: Some(name.clone()), ..Default::default() };
            if settings.check().is_ok() {
                prop_assert!(!name.contains(['/', '.', '\n', ' ', '[', '\0']) && !name.is_empty());
            }
        }
    }
}
