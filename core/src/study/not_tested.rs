//! The parts of a study that cannot be tried here, each with a remedy. They are known before anything is made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    arguments::StudyArguments,
    definition::{Claim, Length, Need, Question, Study, Variant},
};
use crate::{
    helper::{
        Filesystem, IMAGES, Layout, layout::Maker, line_that_allows, missing_line,
        options::check_kernel,
    },
    spec::Workload,
    texts::study::not_tested as text,
    units::parse_size,
};

pub use text::SkipReason;

/// The machine and the server, as they were when the study was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Release of the kernel.
    pub kernel: String,
    pub server_version_num: i32,
    pub memory_bytes: u64,
    pub processors: u32,
    /// Filesystems that cannot be made and mounted here.
    pub missing: BTreeMap<String, SkipReason>,
    /// Drivers of layouts that this machine lacks, md or lvm, each with the reason.
    pub without_driver: BTreeMap<String, SkipReason>,
    /// Why the program fio cannot be run here; None if it can.
    pub without_fio: Option<SkipReason>,
    /// Lines that the helper's configuration lacks.
    pub not_allowed: Vec<String>,
    /// The server's max_wal_size.
    pub max_wal_bytes: u64,
    /// Room that is left for others: pgfsbench.reserved_space.
    pub reserved_bytes: u64,
    /// The values that this server takes, of those settings of the study that take one of a list.
    pub enums: BTreeMap<String, Vec<String>>,
    /// Recorded targets of the study that are on images.
    pub on_images: BTreeMap<String, OnImage>,
}

/// Options of a target on an image that concern the disk below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OnImage {
    pub mount_options: Option<String>,
    pub pool_properties: Option<String>,
    pub block_settings: Option<Map<String, Value>>,
}

/// Mount options by which a filesystem flushes its disk, or tells it what is free.
const OF_THE_DISK: [&str; 4] = ["barrier", "nobarrier", "discard", "nodiscard"];
/// Words that a setting with a list of values takes as well.
const BOOLEANS: [&str; 8] = ["on", "off", "true", "false", "yes", "no", "1", "0"];

/// A study as it was asked for on a machine.
#[derive(Clone, Copy, Debug)]
pub struct StudyContext<'a> {
    pub study: &'a Study,
    pub arguments: &'a StudyArguments,
    pub facts: &'a Facts,
}

impl<'a> StudyContext<'a> {
    pub fn new(study: &'a Study, arguments: &'a StudyArguments, facts: &'a Facts) -> Self {
        Self {
            study,
            arguments,
            facts,
        }
    }
}

impl StudyContext<'_> {
    /// Why a variant is not tried, whatever is asked of it; None if it is.
    pub fn variant(&self, variant: &Variant) -> Option<SkipReason> {
        if let Some(why) = &variant.not_tested {
            return Some(SkipReason::of(why));
        }
        // The values that another build takes are not known here.
        let settings = variant.settings.as_ref().filter(|_| !variant.second_build);
        if let Some(why) = settings.and_then(|settings| self.not_taken(settings)) {
            return Some(why);
        }
        if let Some(name) = &variant.filesystem {
            if let Some(missing) = self.facts.missing.get(name) {
                return Some(missing.clone());
            }
            if let Some(why) = self.gone(variant, name) {
                return Some(why);
            }
        }
        if variant.second_build && self.arguments.bindir.is_none() {
            return self.need(&Need::Bindir, None);
        }
        if variant.misaligned && self.arguments.misaligned_device.is_none() {
            return Some(text::misaligned());
        }
        if let Some(why) = variant.layout.as_deref().and_then(|name| self.layout(name)) {
            return Some(why);
        }
        if variant.log_size.is_some()
            && self.arguments.first_device().is_some()
            && self.arguments.log_device.is_none()
        {
            return Some(text::second_device());
        }
        let need = |need: &Need| match need {
            Need::Device if self.is_on_image(variant) => Some(text::on_an_image()),
            need => self.need(need, None),
        };
        self.not_allowed(variant)
            .or_else(|| variant.needs.iter().find_map(need))
    }

    /// Why a layout is not tried; None if it is.
    fn layout(&self, name: &str) -> Option<SkipReason> {
        let layout = Layout::of_name(name).ok()?;
        let (fewest, members) = (layout.fewest_members(), self.arguments.members());
        if members < fewest {
            return Some(text::too_few_devices(name, fewest, members));
        }
        let driver = match layout.maker() {
            Maker::Md => "md",
            Maker::Lvm => "lvm",
            Maker::Btrfs | Maker::Zfs => return None,
        };
        self.facts.without_driver.get(driver).cloned()
    }

    /// Why a variant is not tried in a question; None if it is.
    pub fn variant_of(&self, question: &Question, variant: &Variant) -> Option<SkipReason> {
        let is_of_the_disk = || self.is_of_the_disk(question, variant);
        self.variant(variant)
            .or_else(|| is_of_the_disk().then(text::on_an_image))
    }

    /// Whether a variant is made on an image, or was.
    fn is_on_image(&self, variant: &Variant) -> bool {
        match &variant.target {
            Some(target) => self.facts.on_images.contains_key(target),
            None => variant.filesystem.is_some() && self.arguments.image_size.is_some(),
        }
    }

    /// Whether what makes a variant, on an image, is what it has the disk do: flushes and discards, if something is written; its queue.
    fn is_of_the_disk(&self, question: &Question, variant: &Variant) -> bool {
        if !self.is_on_image(variant) {
            return false;
        }
        let recorded = variant.target.as_ref().map(|t| &self.facts.on_images[t]);
        let (options, pool, queue) = match recorded {
            Some(there) => (
                &there.mount_options,
                &there.pool_properties,
                &there.block_settings,
            ),
            None => (
                &variant.mount_options,
                &variant.pool_properties,
                &variant.block_settings,
            ),
        };
        let writes = Workload::parse(&question.workload).is_some_and(|w| w.measures_writes());
        let is_of_the_disk = |option: &str| {
            let name = option.split('=').next().unwrap_or(option).trim();
            OF_THE_DISK.contains(&name) || option.contains("=nobarrier")
        };
        let mut options = options.as_deref().unwrap_or("").split(',');
        let trims = || pool.as_ref().is_some_and(|pool| pool.contains("autotrim"));
        queue.as_ref().is_some_and(|queue| !queue.is_empty())
            || (writes && (options.any(is_of_the_disk) || trims()))
    }

    /// Why this server does not take one of these settings: a value that it was built without.
    fn not_taken(&self, settings: &Map<String, Value>) -> Option<SkipReason> {
        settings.iter().find_map(|(name, value)| {
            let (known, value) = (
                self.facts.enums.get(&name.to_lowercase())?,
                value.as_str()?.trim(),
            );
            let is_it = |known: &str| known.eq_ignore_ascii_case(value);
            let takes = known.iter().any(|known| is_it(known)) || BOOLEANS.iter().any(|b| is_it(b));
            (!takes).then(|| text::not_taken(name, value, known))
        })
    }

    /// The helper changes other parts of the machine only where its configuration allows it.
    fn not_allowed(&self, variant: &Variant) -> Option<SkipReason> {
        if self.arguments.image_size.is_some()
            && self.facts.not_allowed.iter().any(|name| name == IMAGES)
        {
            return Some(text::no_images());
        }
        let has_kernel_settings = variant.kernel_settings.is_some();
        let line = missing_line(
            has_kernel_settings,
            variant.drop_caches,
            &self.facts.not_allowed,
        )?;
        Some(text::not_allowed(line, &line_that_allows(line)))
    }

    fn gone(&self, variant: &Variant, filesystem: &str) -> Option<SkipReason> {
        let filesystem = Filesystem::of_name(filesystem).ok()?;
        let options = variant.mount_options.as_deref().unwrap_or("");
        let refusal = check_kernel(filesystem, options, &self.facts.kernel).err()?;
        let since = refusal.detail.unwrap_or_default();
        Some(text::gone(&refusal.message, &since))
    }

    /// Why a question is not asked; None if it is.
    pub fn question(&self, question: &Question) -> Option<SkipReason> {
        if !self.arguments.has_part(self.study, &question.part) {
            return Some(text::another_part(&question.part));
        }
        if let (Some(first), Some(false)) = (&question.today_of, self.arguments.period) {
            return Some(text::asked_twice(first));
        }
        if let Some(why) = self.not_on_own_data(question) {
            return Some(why);
        }
        let needs = &question.needs;
        if let Some(why) = needs
            .iter()
            .find_map(|need| self.need(need, Some(question)))
        {
            return Some(why);
        }
        if Workload::parse(&question.workload).is_some_and(|w| w.takes_option("job_file"))
            && let Some(why) = &self.facts.without_fio
        {
            return Some(why.clone());
        }
        let settings = [&question.settings, &self.own_length(question).settings];
        if let Some(why) = settings.iter().find_map(|s| self.not_taken(s)) {
            return Some(why);
        }
        let variant = |name: &str| {
            let variant = self.study.variant(name)?;
            self.variant_of(question, variant)
        };
        if let Some(why) = variant(&question.baseline) {
            return Some(text::baseline_not_tried(&question.baseline, why));
        }
        let others = question
            .variants
            .iter()
            .filter(|v| **v != question.baseline);
        let mut reasons = others.map(|name| variant(name));
        match reasons.clone().any(|why| why.is_none()) {
            true => None,
            false => reasons
                .find_map(|why| why)
                .map(text::nothing_to_compare_with),
        }
    }

    /// Why a question is not asked on a copy of a user's server; None if it is, or if there is none.
    fn not_on_own_data(&self, question: &Question) -> Option<SkipReason> {
        self.arguments.data.as_ref()?;
        let workload = Workload::parse(&question.workload)?;
        // A scan on a copy reads a table of the copy, and a study has none to name.
        if !workload.takes("data") || workload.takes_option("table") {
            return Some(text::no_own_data(workload.as_str()));
        }
        if question.is_published || question.needs.contains(&Need::FullSize) {
            return Some(text::fixed_size());
        }
        let mut variants = question.variants.iter();
        let sets_checksums = variants.any(|name| {
            let variant = self.study.variant(name);
            variant.is_some_and(|variant| variant.data_checksums.is_some())
        });
        sets_checksums.then(text::checksums_of_original)
    }

    /// The variants of a question that are tried.
    pub fn variants<'a>(&'a self, question: &'a Question) -> Vec<&'a Variant> {
        let found = (question.variants.iter()).filter_map(|name| self.study.variant(name));
        found
            .filter(|v| self.variant_of(question, v).is_none())
            .collect()
    }

    /// Why a claim is not tried; None if it is.
    pub fn claim(&self, claim: &Claim) -> Option<SkipReason> {
        if let Some(why) = &claim.not_tested {
            return Some(SkipReason::of(why));
        }
        let decision = claim.decision.as_ref()?;
        let question = self.study.question(&decision.question)?;
        let names = [Some(&decision.variant), decision.with.as_ref()];
        let not_tried = |why: &dyn Fn(&Variant) -> Option<SkipReason>| {
            names.into_iter().flatten().find_map(|name| {
                let found = why(self.study.variant(name)?)?;
                Some(text::variant_not_tried(name, found))
            })
        };
        // A variant's own fault says more than its consequence for the question.
        not_tried(&|variant| self.variant(variant))
            .or_else(|| self.question(question))
            .or_else(|| not_tried(&|variant| self.variant_of(question, variant)))
            .or_else(|| (claim.needs.iter()).find_map(|need| self.need(need, Some(question))))
    }

    fn need(&self, need: &Need, question: Option<&Question>) -> Option<SkipReason> {
        let server = self.facts.server_version_num / 10_000;
        let processors = self.facts.processors;
        let (is_met, why) = match *need {
            Need::FullSize => (question.is_none_or(|q| self.is_full(q)), text::full_size()),
            Need::Device => {
                let mut variants = question
                    .map_or(&[] as &[String], |q| q.variants.as_slice())
                    .iter();
                let is_on_image =
                    |name: &String| (self.study.variant(name)).is_some_and(|v| self.is_on_image(v));
                let on_images = self.arguments.image_size.is_some() || variants.any(is_on_image);
                (!on_images, text::on_an_image())
            }
            Need::Bindir => (self.arguments.bindir.is_some(), text::second_build()),
            Need::Server(major) => (server >= major as i32, text::server(major, server)),
            Need::Kernel(major, minor) => {
                let needed = (major, minor);
                (
                    release(&self.facts.kernel).is_some_and(|r| r >= needed),
                    text::kernel(needed, &self.facts.kernel),
                )
            }
            Need::Processors(n) => (processors > n, text::processors(n, processors)),
        };
        (!is_met).then_some(why)
    }

    /// The length of a question's runs, as the study has it.
    fn own_length<'q>(&self, question: &'q Question) -> &'q Length {
        match self.arguments.is_quick() {
            true => &question.quick,
            false => &question.full,
        }
    }

    /// Whether it is a time that ends a question's runs, so that there can be another one.
    pub fn has_window(&self, question: &Question) -> bool {
        let length = self.own_length(question);
        length.duration_seconds.is_some() || length.cycle_seconds.is_some()
    }

    /// The length of a question's runs, as it was asked for.
    pub fn length(&self, question: &Question) -> Length {
        let mut length = self.own_length(question).clone();
        if let Some(scale) = self.arguments.scale
            && (length.scale.is_some() || length.size.is_some())
        {
            (length.scale, length.size) = (Some(scale), None);
        }
        let has_window = self.has_window(question);
        if let Some(us) = self.arguments.duration_us.filter(|_| has_window) {
            length.duration_seconds = Some(us as f64 / 1e6);
        }
        if let Some(blocks) = self.arguments.blocks {
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
        !self.arguments.is_quick()
            && self.data_bytes(question, &here) >= self.data_bytes(question, full)
            && window(&here) >= window(full)
    }

    /// Bytes of the data of a question's runs: what a scale is depends on the workload. The files of fio have the size of an option.
    pub fn data_bytes(&self, question: &Question, length: &Length) -> u64 {
        let options = Value::Object(question.options_at(length));
        let at = |scale: i32| {
            let workload = Workload::parse(&question.workload)?;
            Some(workload.bytes_at(u32::try_from(scale).ok()?, &options))
        };
        let of_files = options.get("size").and_then(Value::as_str);
        match (length.scale, length.size.as_deref().or(of_files)) {
            (Some(scale), _) => at(scale).unwrap_or(0),
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
mod tests;
