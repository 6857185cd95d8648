//! Options of a layout of md or LVM.

use serde::{Deserialize, Serialize};

use super::{Layout, Maker};
use crate::refusal::{Refusal, quoted};

/// Options of an array of md or LVM; what is not given is as [`LayoutOptions::chunk_bytes`] and mdadm have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LayoutOptions {
    /// Size of a chunk, such as 256k.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk: Option<String>,
    /// Whether md notes in a bitmap which parts are being written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitmap: Option<Bitmap>,
    /// How parity is kept consistent over a crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency_policy: Option<Consistency>,
    /// Places of the copies of raid10: near, far or offset, and their number, such as f2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<String>,
}

/// Whether md notes in a bitmap which parts are being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bitmap {
    None,
    Internal,
}

/// How parity is kept consistent over a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consistency {
    /// By a resync of all of it.
    Resync,
    /// By a log of partial parity on the members.
    Ppl,
}

/// The chunk of an array of md that names none, in bytes: that of mdadm.
const CHUNK: u64 = 512 << 10;
/// The chunk of LVM that names none, in bytes: that of lvcreate.
const CHUNK_OF_LVM: u64 = 64 << 10;

/// Smallest and largest chunk, in bytes.
const CHUNKS: std::ops::RangeInclusive<u64> = 4 << 10..=64 << 20;
/// The largest chunk of LVM, in bytes: an extent.
const LARGEST_OF_LVM: u64 = 4 << 20;

impl LayoutOptions {
    /// Bytes of a chunk; None for a layout that has none.
    pub fn chunk_bytes(&self, layout: Layout) -> Option<u64> {
        let given = self.chunk.as_deref().and_then(chunk_bytes);
        let default = match layout.maker() {
            Maker::Lvm => CHUNK_OF_LVM,
            _ => CHUNK,
        };
        layout.has_chunks().then(|| given.unwrap_or(default))
    }

    /// Whether there is a bitmap. mdadm's own choice depends on the size, so the helper makes one only where it is asked for.
    pub fn bitmap(&self) -> Bitmap {
        self.bitmap.unwrap_or(Bitmap::None)
    }

    /// The number of copies of raid10, where it is given.
    pub fn copies(&self) -> Option<usize> {
        self.copies.as_deref()?.get(1..)?.parse().ok()
    }

    /// The near copies of raid10: one of `f2` and `o2`, and two where `copies` is not given, as mdadm has it.
    fn near_copies(&self) -> usize {
        match &self.copies {
            Some(copies) if !copies.starts_with('n') => 1,
            _ => self.copies().unwrap_or(2),
        }
    }

    /// Chunks in the width of a stripe over these members, as the kernel has it. For raid10, md divides the members by the near copies if that leaves
    /// no remainder, and takes all members otherwise.
    pub fn stripe_chunks(&self, layout: Layout, members: usize) -> usize {
        match (layout, self.near_copies()) {
            (Layout::Raid10, near @ 1..) if members.is_multiple_of(near) => members / near,
            (Layout::Raid10, _) => members,
            _ => layout.data_members(members),
        }
    }

    /// Options of `mdadm --create` for an array of this layout.
    pub fn mdadm_options(&self, layout: Layout, members: usize) -> Vec<String> {
        let mut options = vec![
            format!("--level={}", layout.word()),
            format!("--raid-devices={members}"),
        ];
        if let Some(bytes) = self.chunk_bytes(layout) {
            options.push(format!("--chunk={}K", bytes >> 10));
        }
        if let Some(copies) = &self.copies {
            options.push(format!("--layout={copies}"));
        }
        if layout.has_sync() {
            options.push(match (self.consistency_policy, self.bitmap()) {
                (Some(Consistency::Ppl), _) => "--consistency-policy=ppl".into(),
                (_, Bitmap::None) => "--bitmap=none".into(),
                (_, Bitmap::Internal) => "--bitmap=internal".into(),
            });
        }
        options
    }

    /// Refuses options that the layout does not take, and invalid values.
    pub(crate) fn check(&self, layout: Layout) -> Result<(), Refusal> {
        let given = [
            ("chunk", self.chunk.is_some(), layout.has_chunks()),
            (
                "bitmap",
                self.bitmap.is_some(),
                layout.has_sync() && layout.maker() == Maker::Md,
            ),
            (
                "consistency_policy",
                self.consistency_policy.is_some(),
                matches!(layout, Layout::Raid5 | Layout::Raid6),
            ),
            ("copies", self.copies.is_some(), layout == Layout::Raid10),
        ];
        let misplaced = given.iter().find(|(_, given, fits)| *given && !fits);
        if let Some((name, ..)) = misplaced {
            return Err(Refusal::argument(format!(
                "layout {} takes no {name} in layout_options",
                quoted(layout.name())
            ))
            .detail("Layouts raid0, raid5, raid6 and raid10, and lvm-stripe, lvm-raid5, lvm-raid6 and lvm-raid10 take chunk; raid1, raid5, raid6 and raid10 take bitmap; raid5 and raid6 take consistency_policy; raid10 takes copies.")
            .hint("Leave it out."));
        }
        if let Some(chunk) = &self.chunk
            && !chunk_bytes(chunk)
                .is_some_and(|bytes| CHUNKS.contains(&bytes) && bytes.is_power_of_two())
        {
            return Err(invalid("chunk", chunk)
                .detail("It is a power of two from 4k to 64m.")
                .hint("Give a size such as 64k, 256k or 1m."));
        }
        if layout.maker() == Maker::Lvm
            && self.chunk_bytes(layout) > Some(LARGEST_OF_LVM)
            && let Some(chunk) = &self.chunk
        {
            return Err(invalid("chunk", chunk)
                .detail("A chunk of LVM has at most 4m, the size of an extent.")
                .hint("Give a size such as 64k, 256k or 1m."));
        }
        if let Some(copies) = &self.copies
            && !matches!(copies.as_bytes(), [b'n' | b'f' | b'o', b'2'..=b'4'])
        {
            return Err(invalid("copies", copies)
                .detail("It is n (near), f (far) or o (offset) with the number of copies, 2 to 4.")
                .hint("Give n2, f2 or o2."));
        }
        if self.consistency_policy == Some(Consistency::Ppl) {
            if layout != Layout::Raid5 {
                return Err(invalid("consistency_policy", "ppl")
                    .detail("Only raid5 has a log of partial parity.")
                    .hint("Leave it out."));
            }
            if self.bitmap() == Bitmap::Internal {
                return Err(invalid("bitmap", "internal")
                    .detail("An array with a log of partial parity has no bitmap.")
                    .hint("Leave one of the two out."));
            }
        }
        Ok(())
    }
}

fn invalid(name: &str, value: &str) -> Refusal {
    Refusal::argument(format!(
        "invalid {name} {} in layout_options",
        quoted(value)
    ))
}

/// The bytes of 256k or 1m.
fn chunk_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "k" | "K" => 10,
        "m" | "M" => 20,
        _ => return None,
    };
    let is_short = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| is_short)?;
    Some(number << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check::style;

    #[test]
    fn options_belong_to_layouts_of_md() {
        for (layout, json, words) in [
            (
                Layout::Raid10,
                r#"{"chunk": "256k", "bitmap": "none", "copies": "f2"}"#,
                "",
            ),
            (Layout::Raid5, r#"{"consistency_policy": "ppl"}"#, ""),
            (Layout::Raid1, r#"{"chunk": "256k"}"#, "takes no chunk"),
            (
                Layout::Raid0,
                r#"{"bitmap": "internal"}"#,
                "takes no bitmap",
            ),
            (Layout::Raid5, r#"{"copies": "n2"}"#, "takes no copies"),
            (Layout::BtrfsRaid0, r#"{"chunk": "64k"}"#, "takes no chunk"),
            (Layout::Raid0, r#"{"chunk": "100k"}"#, "invalid chunk"),
            (Layout::Raid0, r#"{"chunk": "2k"}"#, "invalid chunk"),
            (Layout::Raid0, r#"{"chunk": "64"}"#, "invalid chunk"),
            (Layout::Raid0, r#"{"chunk": "9999999m"}"#, "invalid chunk"),
            (Layout::Raid0, r#"{"chunk": "é"}"#, "invalid chunk"),
            (Layout::Raid10, r#"{"copies": "n9"}"#, "invalid copies"),
            (Layout::LvmStripe, r#"{"chunk": "4m"}"#, ""),
            (Layout::LvmStripe, r#"{"chunk": "8m"}"#, "invalid chunk"),
            (Layout::LvmRaid1, r#"{"bitmap": "none"}"#, "takes no bitmap"),
            (Layout::LvmLinear, r#"{"chunk": "64k"}"#, "takes no chunk"),
            (
                Layout::Raid6,
                r#"{"consistency_policy": "ppl"}"#,
                "invalid consistency_policy",
            ),
            (
                Layout::Raid5,
                r#"{"consistency_policy": "ppl", "bitmap": "internal"}"#,
                "invalid bitmap",
            ),
        ] {
            let options: LayoutOptions = serde_json::from_str(json).unwrap();
            match (words, options.check(layout)) {
                ("", outcome) => assert_eq!(outcome, Ok(()), "{json}"),
                (words, outcome) => {
                    let refusal = outcome.expect_err(json);
                    assert!(refusal.message.contains(words), "{refusal}");
                    style(&refusal);
                }
            }
        }
        assert!(serde_json::from_str::<LayoutOptions>(r#"{"level": "5"}"#).is_err());
        let given: LayoutOptions = serde_json::from_str(r#"{"chunk": "1m"}"#).unwrap();
        assert_eq!(given.chunk_bytes(Layout::Raid5), Some(1 << 20));
        assert_eq!(given.chunk_bytes(Layout::Raid1), None);
        let plain = LayoutOptions::default();
        assert_eq!(plain.chunk_bytes(Layout::Raid0), Some(512 << 10));
        assert_eq!(plain.chunk_bytes(Layout::LvmRaid5), Some(64 << 10));
        assert_eq!(plain.chunk_bytes(Layout::LvmRaid1), None);
        assert_eq!(plain.bitmap(), Bitmap::None);
    }

    #[test]
    fn copies_are_counted() {
        let copies = |copies: &str| {
            let options = LayoutOptions {
                copies: Some(copies.into()),
                ..LayoutOptions::default()
            };
            options.copies()
        };
        assert_eq!((copies("n3"), copies("f2")), (Some(3), Some(2)));
        assert_eq!((copies(""), copies("é2"), copies("nx")), (None, None, None));
        assert_eq!(LayoutOptions::default().copies(), None);
    }

    #[test]
    fn a_stripe_of_raid10_is_as_wide_as_the_kernel_makes_it() {
        for (copies, members, chunks) in [
            (None, 4, 2),
            (None, 5, 5),
            (Some("n2"), 4, 2),
            (Some("n2"), 5, 5),
            (Some("n3"), 4, 4),
            (Some("n4"), 4, 1),
            (Some("f2"), 4, 4),
            (Some("o2"), 4, 4),
            (Some("n0"), 4, 4),
        ] {
            let options = LayoutOptions {
                copies: copies.map(str::to_owned),
                ..LayoutOptions::default()
            };
            let found = options.stripe_chunks(Layout::Raid10, members);
            assert_eq!(found, chunks, "{copies:?} over {members}");
        }
        let options = LayoutOptions::default();
        for (layout, chunks) in [
            (Layout::Raid0, 4),
            (Layout::Raid5, 3),
            (Layout::LvmRaid10, 2),
        ] {
            assert_eq!(options.stripe_chunks(layout, 4), chunks, "{layout:?}");
        }
    }
}
