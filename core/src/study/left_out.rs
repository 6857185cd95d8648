//! What of a study is not tried here, and what would bring it: known before anything is made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    asked::Asked,
    definition::{Claim, Length, Need, Question, Study, Variant},
};
use crate::{
    helper::{Filesystem, IMAGES, line_that_allows, options::check_kernel},
    units::{bytes_for_scale, parse_size},
};

/// The machine and the server, as they were when the study was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Facts {
    /// Release of the kernel.
    pub kernel: String,
    pub server_version_num: i32,
    pub memory_bytes: u64,
    pub processors: u32,
    /// Filesystems that cannot be made and mounted here.
    pub missing: BTreeMap<String, Why>,
    /// What the helper's configuration would have to allow first: names of its lines.
    pub not_allowed: Vec<String>,
    /// The server's max_wal_size.
    pub max_wal_bytes: u64,
    /// Room that is left for others: pgfsbench.reserved_space.
    pub reserved_bytes: u64,
}

/// Why something is not tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Why {
    pub why: String,
    /// What would bring it; None where nothing does.
    pub brings: Option<String>,
}

impl Why {
    fn of(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            brings: None,
        }
    }

    fn brought_by(self, brings: impl Into<String>) -> Self {
        Self {
            brings: Some(brings.into()),
            ..self
        }
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.brings {
            Some(brings) => write!(f, "{}; to have it: {brings}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// A study as it was asked for on a machine.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Here<'a> {
    pub study: &'a Study,
    pub asked: &'a Asked,
    pub facts: &'a Facts,
}

impl Here<'_> {
    /// Why a variant is not tried; None if it is.
    pub fn variant(&self, variant: &Variant) -> Option<Why> {
        if let Some(why) = &variant.not_tested {
            return Some(Why::of(why));
        }
        if let Some(name) = &variant.filesystem {
            if let Some(missing) = self.facts.missing.get(name) {
                return Some(missing.clone());
            }
            if let Some(why) = self.gone(variant, name) {
                return Some(why);
            }
        }
        if variant.second_build && self.asked.bindir.is_none() {
            return self.need(&Need::Bindir, None);
        }
        if variant.misaligned && self.asked.misaligned_device.is_none() {
            return Some(
                Why::of("it is on a partition that is misaligned on purpose")
                    .brought_by("misaligned_device => '/dev/...', on the disk of device"),
            );
        }
        if variant.log_size.is_some()
            && self.asked.device.is_some()
            && self.asked.log_device.is_none()
        {
            return Some(
                Why::of("its log is on a second device").brought_by("log_device => '/dev/...'"),
            );
        }
        self.not_allowed(variant)
            .or_else(|| variant.needs.iter().find_map(|need| self.need(need, None)))
    }

    /// What is not the target's alone, the helper does only where its configuration says so.
    fn not_allowed(&self, variant: &Variant) -> Option<Why> {
        if self.asked.image_size.is_some()
            && self.facts.not_allowed.iter().any(|name| name == IMAGES)
        {
            let why = Why::of("the helper's configuration names no directory for images");
            return Some(why.brought_by(
                "pgfsbench-helper setup --allow-images DIRECTORY, or device => '/dev/...'",
            ));
        }
        let asked = [
            ("kernel_settings", variant.kernel_settings.is_some()),
            ("drop_caches", variant.drop_caches == Some(true)),
        ];
        let is_refused = |line: &str| self.facts.not_allowed.iter().any(|name| name == line);
        let (line, _) = asked
            .into_iter()
            .find(|(line, is_asked)| *is_asked && is_refused(line))?;
        let why = Why::of(format!("the helper's configuration does not allow {line}"));
        Some(why.brought_by(format!("add to it {}", line_that_allows(line))))
    }

    fn gone(&self, variant: &Variant, filesystem: &str) -> Option<Why> {
        let filesystem = Filesystem::of_name(filesystem).ok()?;
        let options = variant.mount_options.as_deref().unwrap_or("");
        let refusal = check_kernel(filesystem, options, &self.facts.kernel).err()?;
        let since = refusal.detail.unwrap_or_default();
        let why = Why::of(format!(
            "{}: {}",
            refusal.message,
            since.trim_end_matches('.')
        ));
        Some(why.brought_by("an older kernel"))
    }

    /// Why a question is not asked; None if it is.
    pub fn question(&self, question: &Question) -> Option<Why> {
        if !self.asked.has_part(self.study, &question.part) {
            let brings = format!("part => '{}'", question.part);
            return Some(Why::of(format!("it is of part {}", question.part)).brought_by(brings));
        }
        let needs = &question.needs;
        if let Some(why) = needs
            .iter()
            .find_map(|need| self.need(need, Some(question)))
        {
            return Some(why);
        }
        let variant = |name: &str| self.study.variant(name).and_then(|v| self.variant(v));
        if let Some(why) = variant(&question.baseline) {
            return Some(Why {
                why: format!(
                    "its baseline {} is not tried: {}",
                    question.baseline, why.why
                ),
                ..why
            });
        }
        let others = question
            .variants
            .iter()
            .filter(|v| **v != question.baseline);
        let mut reasons = others.map(|name| variant(name));
        match reasons.clone().any(|why| why.is_none()) {
            true => None,
            false => reasons.find_map(|why| why).map(|why| Why {
                why: format!("there is nothing to compare with: {}", why.why),
                ..why
            }),
        }
    }

    /// The variants of a question that are tried.
    pub fn variants<'a>(&'a self, question: &'a Question) -> Vec<&'a Variant> {
        let found = (question.variants.iter()).filter_map(|name| self.study.variant(name));
        found.filter(|v| self.variant(v).is_none()).collect()
    }

    /// Why a claim is not tried; None if it is.
    pub fn claim(&self, claim: &Claim) -> Option<Why> {
        if let Some(why) = &claim.not_tested {
            return Some(Why::of(why));
        }
        let decision = claim.decision.as_ref()?;
        let question = self.study.question(&decision.question)?;
        // What is wrong with a variant tells more than what follows from it for the question.
        let names = [Some(&decision.variant), decision.with.as_ref()];
        for name in names.into_iter().flatten() {
            let why = self.study.variant(name).and_then(|v| self.variant(v));
            if let Some(why) = why {
                return Some(Why {
                    why: format!("{name} is not tried: {}", why.why),
                    ..why
                });
            }
        }
        self.question(question)
            .or_else(|| (claim.needs.iter()).find_map(|need| self.need(need, Some(question))))
    }

    fn need(&self, need: &Need, question: Option<&Question>) -> Option<Why> {
        let (is_met, why, brings) = match need {
            Need::FullSize => (
                question.is_none_or(|q| self.is_full(q)),
                "it needs data and windows of full size".to_owned(),
                "quick, scale and duration left out".to_owned(),
            ),
            Need::Device => (
                self.asked.image_size.is_none(),
                "on an image it would tell of the disk of the host".into(),
                "device => '/dev/disk/by-id/...'".into(),
            ),
            Need::Bindir => (
                self.asked.bindir.is_some(),
                "it compares two builds of the server".into(),
                "bindir => '/usr/lib/postgresql/.../bin'".into(),
            ),
            Need::Server(major) => (
                self.facts.server_version_num / 10_000 >= *major as i32,
                format!(
                    "it needs PostgreSQL {major}, and this is {}",
                    self.facts.server_version_num / 10_000
                ),
                format!("a server of PostgreSQL {major}"),
            ),
            Need::Kernel(major, minor) => (
                release(&self.facts.kernel).is_some_and(|r| r >= (*major, *minor)),
                format!(
                    "it needs Linux {major}.{minor}, and this is {}",
                    self.facts.kernel
                ),
                format!("Linux {major}.{minor}"),
            ),
            Need::Processors(n) => (
                self.facts.processors > *n,
                format!(
                    "it needs more than {n} processors, and this machine has {}",
                    self.facts.processors
                ),
                "a larger machine".into(),
            ),
        };
        (!is_met).then(|| Why::of(why).brought_by(brings))
    }

    /// The length of a question's runs, as it was asked for.
    pub fn length(&self, question: &Question) -> Length {
        let mut length = match self.asked.is_quick() {
            true => question.quick.clone(),
            false => question.full.clone(),
        };
        if let Some(scale) = self.asked.scale
            && (length.scale.is_some() || length.size.is_some())
        {
            (length.scale, length.size) = (Some(scale), None);
        }
        let has_window = length.duration_seconds.is_some() || length.cycle_seconds.is_some();
        if let Some(us) = self.asked.duration_us.filter(|_| has_window) {
            length.duration_seconds = Some(us as f64 / 1e6);
        }
        if let Some(blocks) = self.asked.blocks {
            length.max_blocks = blocks;
        }
        length
    }

    /// Whether data and windows of a question are as large as published.
    pub fn is_full(&self, question: &Question) -> bool {
        let (full, here) = (&question.full, self.length(question));
        let window = |length: &Length| {
            let cycles = length.cycle_seconds.map(|cycle| 3.0 * cycle);
            length.duration_seconds.or(cycles).unwrap_or(0.0)
        };
        !self.asked.is_quick()
            && self.bytes(&here) >= self.bytes(full)
            && window(&here) >= window(full)
    }

    /// Bytes of data, to compare lengths with each other.
    fn bytes(&self, length: &Length) -> u64 {
        match (length.scale, &length.size) {
            (Some(scale), _) => bytes_for_scale(u32::try_from(scale).unwrap_or(0)),
            (None, Some(size)) => parse_size(size, self.facts.memory_bytes).unwrap_or(0),
            (None, None) => 0,
        }
    }
}

/// `6.1.0-13-amd64` is 6.1.
fn release(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(['.', '-', '+']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::builtin;

    fn facts() -> Facts {
        let missing = |why: &str| Why::of(why).brought_by("make lab");
        Facts {
            kernel: "6.18.4".into(),
            server_version_num: 150_019,
            memory_bytes: 24 << 30,
            processors: 2,
            missing: BTreeMap::from([("jfs".into(), missing("this kernel has no jfs"))]),
            not_allowed: Vec::new(),
            max_wal_bytes: 1 << 30,
            reserved_bytes: 512 << 20,
        }
    }

    #[test]
    fn what_this_machine_has_not_is_left_out_by_name() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let asked = Asked {
            image_size: Some("4GB".into()),
            part: Some("all".into()),
            ..Asked::default()
        };
        let facts = facts();
        let here = Here {
            study: &study,
            asked: &asked,
            facts: &facts,
        };
        let variant = |name: &str| {
            here.variant(study.variant(name).unwrap())
                .map(|why| why.to_string())
        };
        assert_eq!(variant("xfs"), None);
        assert_eq!(
            variant("jfs").unwrap(),
            "this kernel has no jfs; to have it: make lab"
        );
        // By the kernel's release alone.
        assert!(variant("reiserfs").unwrap().contains("since 6.13"));
        let question = |name: &str| here.question(study.question(name).unwrap());
        assert_eq!(question("cycles"), None);
        assert!(
            question("barriers")
                .unwrap()
                .brings
                .unwrap()
                .contains("device")
        );
        assert!(question("reiserfs").unwrap().why.contains("baseline"));
    }

    #[test]
    fn what_the_helper_does_not_allow_is_left_out_by_name() {
        let study = builtin::find("smith-2011").unwrap().unwrap();
        let asked = Asked {
            image_size: Some("4GB".into()),
            ..Asked::default()
        };
        let left_out = |not_allowed: &[&str]| -> Vec<String> {
            let facts = Facts {
                not_allowed: not_allowed.iter().map(|name| (*name).into()).collect(),
                ..facts()
            };
            let here = Here {
                study: &study,
                asked: &asked,
                facts: &facts,
            };
            let all = study.variants.iter();
            all.filter(|v| v.kernel_settings.is_some() && here.variant(v).is_some())
                .map(|v| format!("{}: {}", v.variant, here.variant(v).unwrap()))
                .collect()
        };
        assert_eq!(left_out(&["drop_caches"]), [""; 0]);
        let why = "the helper's configuration does not allow kernel_settings; to have it: add to it the line: kernel_settings = true, \
            above its first line in brackets; then restart pgfsbench-helper";
        assert_eq!(
            left_out(&["kernel_settings"]),
            [format!("ext3-dirty: {why}"), format!("xfs-dirty: {why}")]
        );
        let without_images = Facts {
            not_allowed: vec![IMAGES.into()],
            ..facts()
        };
        let here = Here {
            study: &study,
            asked: &asked,
            facts: &without_images,
        };
        let refusal = crate::study::plan::plan(&here).unwrap_err();
        let said = format!("{refusal:?}");
        assert!(said.contains("names no directory for images"), "{said}");
        assert!(said.contains("--allow-images"), "{said}");
        let on_device = Asked {
            image_size: None,
            device: Some("/dev/sdx".into()),
            ..asked.clone()
        };
        let here = Here {
            asked: &on_device,
            ..here
        };
        assert!(crate::study::plan::plan(&here).is_ok());
    }

    #[test]
    fn what_is_shrunk_is_not_of_full_size() {
        let study = builtin::find("heron-2010").unwrap().unwrap();
        let facts = facts();
        let question = study.question("cycles").unwrap();
        let full = |asked: Asked| {
            Here {
                study: &study,
                asked: &asked,
                facts: &facts,
            }
            .is_full(question)
        };
        assert!(full(Asked::default()));
        assert!(full(Asked {
            scale: Some(100),
            blocks: Some(3),
            ..Asked::default()
        }));
        assert!(!full(Asked {
            scale: Some(10),
            ..Asked::default()
        }));
        assert!(!full(Asked {
            quick: Some(true),
            ..Asked::default()
        }));
        assert!(!full(Asked {
            duration_us: Some(10_000_000),
            ..Asked::default()
        }));
    }
}
