//! Finds out what a device holds: from blkid, which knows most signatures and their places, from wipefs, which names all of them
//! at once, and by reading it, since both take an unreadable device for an empty one.

use super::blank;
use crate::exec::{self, Outcome};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fd::AsFd;
use std::collections::HashMap;
use std::path::Path;

/// A signature on a device.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// ext4, linux_raid_member, ...
    pub kind: String,
    pub label: Option<String>,
    pub uuid: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Zeros, where signatures and file headers are.
    Empty,
    /// A partition table.
    Table(String),
    /// Partitions that the kernel knows of, without a table that can be found: a program announced them, or the device held another medium then.
    Partitions,
    /// A filesystem, swap space, member of a RAID or volume group, ...
    Signature(Signature),
    /// More than one of these.
    Several(Vec<Signature>),
    /// Something without a signature that is known.
    Unknown(String),
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(label) = &self.label {
            write!(f, ", label {}", quoted(label))?;
        }
        match &self.uuid {
            Some(uuid) => write!(f, ", UUID {uuid}"),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Contents::Empty => f.write_str("nothing"),
            Contents::Table(kind) => write!(f, "a partition table ({kind})"),
            Contents::Partitions => {
                f.write_str("partitions, of which the kernel knows without a table")
            }
            Contents::Signature(signature) => write!(f, "{signature}"),
            Contents::Several(signatures) => {
                let all: Vec<String> = signatures.iter().map(Signature::to_string).collect();
                write!(f, "several signatures at once ({})", all.join("; "))
            }
            Contents::Unknown(what) => f.write_str(what),
        }
    }
}

impl Contents {
    /// Every signature that is there.
    pub fn signatures(&self) -> &[Signature] {
        match self {
            Contents::Signature(signature) => std::slice::from_ref(signature),
            Contents::Several(signatures) => signatures,
            _ => &[],
        }
    }
}

/// The output of blkid, KEY=value.
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

/// The UUID of a device's contents, if these are of this kind.
pub fn uuid_of(device: &Path, kind: &str) -> Result<Option<String>, Refusal> {
    Ok(uuid_in(blkid(device)?.1, kind))
}

fn uuid_in(mut facts: HashMap<String, String>, kind: &str) -> Option<String> {
    let is_it = facts.get("TYPE").is_some_and(|found| found == kind);
    facts.remove("UUID").filter(|_| is_it)
}

/// All signatures that wipefs finds: type, usage and UUID.
fn wipefs(device: &Path) -> Result<Vec<[String; 3]>, Refusal> {
    let wipefs = exec::require("wipefs", "util-linux")?;
    let argv = [
        wipefs.display().to_string(),
        "--no-act".into(),
        "--parsable".into(),
        "--output=OFFSET,TYPE,USAGE,UUID".into(),
        device.display().to_string(),
    ];
    let outcome = exec::run(&argv, exec::SHORT)?;
    match outcome.succeeded() {
        true => Ok(parse_wipefs(&outcome.output)),
        false => Err(outcome.refusal()),
    }
}

/// Lines that do not begin with an offset are titles. A signature in a line that is not understood would be missed here, but not by
/// blkid and by reading the device, since a device is empty only if all three say so.
fn parse_wipefs(output: &str) -> Vec<[String; 3]> {
    let lines = output.lines().filter(|line| line.starts_with("0x"));
    lines
        .map(|line| {
            let mut fields = line.split(',').skip(1).map(str::to_owned);
            std::array::from_fn(|_| fields.next().unwrap_or_default())
        })
        .collect()
}

/// The contents of a device. A device that cannot be read is never taken for an empty one. `path` leads to what `file` is open on,
/// and `node` is its name.
pub fn read(path: &Path, file: impl AsFd, node: &Path) -> Result<Contents, Refusal> {
    let (outcome, facts) = blkid(path)?;
    let found = wipefs(path)?;
    let is_blank = blank::is_blank(file).map_err(|e| {
        Refusal::new(Kind::System, format!("could not read {}", node.display()))
            .detail(format!("{e}."))
            .hint("What cannot be read is not erased: look at the kernel's log (dmesg).")
    })?;
    judge(outcome.exit_code, &facts, &found, is_blank).ok_or_else(|| outcome.refusal())
}

/// blkid: 0 something found, 2 nothing found (or not readable), 8 several things that exclude each other.
fn judge(
    exit_code: Option<i32>,
    facts: &HashMap<String, String>,
    found: &[[String; 3]],
    is_blank: bool,
) -> Option<Contents> {
    if !matches!(exit_code, Some(0 | 2 | 8)) {
        return None;
    }
    let get = |key: &str| facts.get(key).cloned();
    let table = found
        .iter()
        .find(|[_, usage, _]| usage == "partition-table");
    if let Some(kind) = get("PTTYPE").or(table.map(|[kind, ..]| kind.clone())) {
        return Some(Contents::Table(kind));
    }
    let mut signatures: Vec<Signature> = Vec::new();
    if let Some(kind) = get("TYPE") {
        signatures.push(Signature {
            kind,
            label: get("LABEL"),
            // The UUID of a log is that of its filesystem.
            uuid: get("UUID").or(get("LOGUUID")),
        });
    }
    for [kind, _, uuid] in found {
        let uuid = (!uuid.is_empty()).then(|| uuid.clone());
        let is_known = |s: &Signature| s.kind == *kind && (uuid.is_none() || s.uuid == uuid);
        if !signatures.iter().any(is_known) {
            signatures.push(Signature {
                kind: kind.clone(),
                label: None,
                uuid,
            });
        }
    }
    Some(match (signatures.len(), is_blank) {
        (0 | 1, _) if exit_code == Some(8) => {
            Contents::Unknown("several signatures at once".into())
        }
        (0, true) => Contents::Empty,
        (0, false) => Contents::Unknown("data without a known signature".into()),
        (1, _) => Contents::Signature(signatures.remove(0)),
        _ => Contents::Several(signatures),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(
        exit_code: Option<i32>,
        facts: &[(&str, &str)],
        wipefs: &str,
        blank: bool,
    ) -> Option<String> {
        let facts = facts
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        judge(exit_code, &facts, &parse_wipefs(wipefs), blank).map(|contents| contents.to_string())
    }

    #[test]
    fn what_blkid_and_wipefs_say_and_do_not_say() {
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(judged(Some(2), &[], "", true), said("nothing"));
        assert_eq!(
            judged(Some(2), &[], "", false),
            said("data without a known signature")
        );
        assert_eq!(
            judged(Some(8), &[], "", true),
            said("several signatures at once")
        );
        assert_eq!(judged(Some(4), &[], "", true), None);
        assert_eq!(judged(None, &[], "", true), None);
        assert_eq!(
            judged(Some(0), &[("PTTYPE", "gpt")], "", false),
            said("a partition table (gpt)")
        );
        assert_eq!(
            judged(Some(0), &[("PART_ENTRY_UUID", "x")], "", true),
            said("nothing")
        );
        let xfs = [("TYPE", "xfs"), ("UUID", "1-2"), ("LABEL", "a\nb")];
        assert_eq!(
            judged(Some(0), &xfs, "0x0,xfs,filesystem,1-2\n", false),
            said("xfs, label \"a\\nb\", UUID 1-2")
        );
    }

    #[test]
    fn a_uuid_of_another_kind_does_not_count() {
        let facts = |kind: &str| {
            let facts = [("TYPE", kind), ("UUID", "1-2")];
            HashMap::from(facts.map(|(key, value)| (key.to_owned(), value.to_owned())))
        };
        assert_eq!(uuid_in(facts("nilfs2"), "nilfs2"), Some("1-2".into()));
        assert_eq!(uuid_in(facts("jfs"), "nilfs2"), None);
        assert_eq!(uuid_in(HashMap::new(), "nilfs2"), None);
    }

    #[test]
    fn a_table_counts_before_anything_else_and_one_signature_hides_no_other() {
        let said = |text: &str| Some(text.to_owned());
        let both =
            "# offset,type,usage,uuid\n0x1fe,dos,partition-table,\n0x438,ext4,filesystem,1\n";
        for exit_code in [0, 2, 8] {
            assert_eq!(
                judged(Some(exit_code), &[], both, false),
                said("a partition table (dos)")
            );
        }
        let raid = "0x438,ext4,filesystem,1\n0x13ff0000,linux_raid_member,raid,2\n";
        assert_eq!(
            judged(
                Some(0),
                &[("TYPE", "linux_raid_member"), ("UUID", "2")],
                raid,
                false
            ),
            said("several signatures at once (linux_raid_member, UUID 2; ext4, UUID 1)")
        );
        // A signature that only wipefs sees counts, too.
        assert_eq!(
            judged(Some(2), &[], "0x1000,LVM2_member,raid,x\n", true),
            said("LVM2_member, UUID x")
        );
    }
}
