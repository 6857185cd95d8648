//! What a device holds, as far as can be known.

use crate::exec::{self, Outcome};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Zeros, where signatures and file headers are.
    Empty,
    /// A partition table.
    Table(String),
    /// A filesystem, swap space, member of a RAID or volume group, ...
    Signature {
        kind: String,
        label: Option<String>,
        uuid: Option<String>,
    },
    /// Something without a signature that is known, or with several.
    Unknown(String),
}

impl std::fmt::Display for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Contents::Empty => f.write_str("nothing"),
            Contents::Table(kind) => write!(f, "a partition table ({kind})"),
            Contents::Signature { kind, label, uuid } => {
                write!(f, "{kind}")?;
                if let Some(label) = label {
                    write!(f, ", label {}", pgfsbench_core::refusal::quoted(label))?;
                }
                match uuid {
                    Some(uuid) => write!(f, ", UUID {uuid}"),
                    None => Ok(()),
                }
            }
            Contents::Unknown(what) => f.write_str(what),
        }
    }
}

/// What blkid says, as KEY=value.
pub fn blkid(device: &Path) -> Result<(Outcome, HashMap<String, String>), Refusal> {
    let blkid = exec::require("blkid", "util-linux")?;
    let argv = [
        blkid.display().to_string(),
        "-p".into(),
        "-o".into(),
        "export".into(),
        device.display().to_string(),
    ];
    let outcome = exec::run(&argv, exec::SHORT)?;
    let facts = outcome
        .output
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.replace('\\', "")))
        .collect();
    Ok((outcome, facts))
}

/// What is on it. That nothing could be read is never taken for nothing being there.
pub fn look(device: &Path) -> Result<Contents, Refusal> {
    let (outcome, facts) = blkid(device)?;
    let is_blank = is_blank(device).map_err(|e| {
        Refusal::new(Kind::System, format!("could not read {}", device.display()))
            .detail(format!("{e}."))
    })?;
    judge(outcome.exit_code, &facts, is_blank).ok_or_else(|| outcome.refusal())
}

/// blkid: 0 something found, 2 nothing found (or not readable), 8 several things that exclude each other.
fn judge(
    exit_code: Option<i32>,
    facts: &HashMap<String, String>,
    is_blank: bool,
) -> Option<Contents> {
    let get = |key: &str| facts.get(key).cloned();
    if !matches!(exit_code, Some(0 | 2 | 8)) {
        return None;
    }
    if exit_code == Some(8) {
        return Some(Contents::Unknown("several signatures at once".into()));
    }
    if let Some(table) = get("PTTYPE") {
        return Some(Contents::Table(table));
    }
    if let Some(kind) = get("TYPE") {
        return Some(Contents::Signature {
            kind,
            label: get("LABEL"),
            uuid: get("UUID"),
        });
    }
    Some(match is_blank {
        true => Contents::Empty,
        false => Contents::Unknown("data without a known signature".into()),
    })
}

fn is_blank(device: &Path) -> std::io::Result<bool> {
    const EDGE: u64 = 1 << 20;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32)
        .open(device)?;
    let end = file.seek(SeekFrom::End(0))?;
    let mut buffer = Vec::new();
    for start in [0, end.saturating_sub(EDGE)] {
        file.seek(SeekFrom::Start(start))?;
        buffer.clear();
        (&mut file).take(EDGE).read_to_end(&mut buffer)?;
        if buffer.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(exit_code: Option<i32>, facts: &[(&str, &str)], blank: bool) -> Option<String> {
        let facts = facts
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        judge(exit_code, &facts, blank).map(|contents| contents.to_string())
    }

    #[test]
    fn what_blkid_says_and_does_not_say() {
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(judged(Some(2), &[], true), said("nothing"));
        assert_eq!(
            judged(Some(2), &[], false),
            said("data without a known signature")
        );
        assert_eq!(
            judged(Some(8), &[], true),
            said("several signatures at once")
        );
        assert_eq!(judged(Some(4), &[], true), None);
        assert_eq!(judged(None, &[], true), None);
        assert_eq!(
            judged(Some(0), &[("PTTYPE", "gpt")], false),
            said("a partition table (gpt)")
        );
        assert_eq!(
            judged(Some(0), &[("PART_ENTRY_UUID", "x")], true),
            said("nothing")
        );
        assert_eq!(
            judged(
                Some(0),
                &[("TYPE", "xfs"), ("UUID", "1-2"), ("LABEL", "a\nb")],
                false
            ),
            said("xfs, label \"a\\nb\", UUID 1-2")
        );
    }
}
