//! A study as it is written down. Field names are those of the files in `studies/`, and of `fsbench.define_study(jsonb)`; a field that
//! is not here is refused, and so is a missing one that is no `Option`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Name, such as heron-2010.
    pub study: String,
    pub title: String,
    pub author: String,
    pub year: u32,
    pub source: String,
    /// The author's machine.
    pub machine: String,
    /// More facts for the reader.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The part that is made when none is asked for.
    pub part: String,
    pub claims: Vec<Claim>,
    pub variants: Vec<Variant>,
    pub questions: Vec<Question>,
    pub published: Vec<Figure>,
}

/// The author's statement about a variant, compared with another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub claim: String,
    pub says: String,
    /// The author's observation.
    pub seen: String,
    /// The reason why this study cannot try it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_tested: Option<String>,
    /// How it is decided; of a claim that cannot be tried, nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    #[serde(default)]
    pub needs: Vec<Need>,
}

/// How a claim is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub question: String,
    pub variant: String,
    /// The variant that it is compared with; none for a knee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    pub metric: String,
    pub expected: Expected,
    /// The least factor of `more`, the largest of `less`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    pub by: DecidedBy,
    /// Degree of a knee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degree: Option<u32>,
}

/// The expected relation of the variant to the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    More,
    Less,
    /// Within the margin of the question.
    Same,
    /// The curve stops rising at that degree.
    Knee,
}

/// The arithmetic that decides a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The interval of the experiment, on its declared metric.
    Interval,
    /// All runs of one above all runs of the other: for what can be zero, and for extremes, which have no ratio with an interval.
    Ranges,
    /// The knee of the curve of scans.
    Knee,
}

/// A requirement of a claim, a question or a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Need {
    /// Data and windows as published.
    FullSize,
    /// A device: of an image it would be the host's.
    Device,
    /// A second build of the server.
    Bindir,
    /// A server of that major version or later.
    Server(u32),
    /// A Linux of that version or later.
    Kernel(u32, u32),
    /// More processors than that.
    Processors(u32),
}

/// One of what is compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub variant: String,
    /// Description of its figures, where the name is not enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The filesystem that is made; absent where a target or a reason is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// A target that is recorded already, in place of a filesystem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Why it cannot be made any more, or here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_tested: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mkfs_options: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_options: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_properties: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset_properties: Option<String>,
    /// How the devices or images become one place, as in `fsbench.create_target`: the arguments devices or image_count give them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout_options: Option<Map<String, Value>>,
    /// Size of an external log next to the image. On a device it needs the argument log_device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_size: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_settings: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_settings: Option<Map<String, Value>>,
    /// Settings of its server. A value such as `25% ram` is that share of this machine's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_checksums: Option<bool>,
    /// Whether it is on the partition that is misaligned on purpose, which is the argument misaligned_device.
    #[serde(default, skip_serializing_if = "is_false")]
    pub misaligned: bool,
    /// Whether its server is of the second build.
    #[serde(default, skip_serializing_if = "is_false")]
    pub second_build: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_caches: Option<bool>,
    /// Options of the author that no longer exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<RemovedOption>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// An option that the author gave, and that there is no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemovedOption {
    pub option: String,
    pub since: String,
    pub instead: String,
}

/// A question: one experiment with a baseline of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub question: String,
    /// The part of the study that it belongs to.
    pub part: String,
    pub asks: String,
    pub variants: Vec<String>,
    pub baseline: String,
    pub workload: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    pub metric: String,
    pub margin: f64,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// Whether it has a published table: then it has the settings of its time, unless asked otherwise.
    pub is_published: bool,
    /// The published question that it asks once more, with the settings of today. Not to be given: each of these has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today_of: Option<String>,
    #[serde(default)]
    pub needs: Vec<Need>,
    /// As published.
    pub full: Length,
    /// An hour's worth in ten minutes.
    pub quick: Length,
}

/// How large and how long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Length {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<i64>,
    /// Checkpoint cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_seconds: Option<f64>,
    pub max_blocks: i32,
    /// In place of those of the question.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    /// In place of those of the question.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub variant: String,
    /// The author's measure, in his words where it is none of ours.
    pub metric: String,
    pub value: f64,
    pub unit: String,
    /// Each run, where they were published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// Where it differs from that of the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The question with results to compare, and their column of fsbench.result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Whether less of it is better.
    #[serde(default, skip_serializing_if = "is_false")]
    pub less_is_better: bool,
}

/// Suffix of a question and its part that are repeated with the settings of today.
const SECOND_PASS: &str = "-today";

impl Question {
    /// The options of its runs of that length.
    pub fn options_at(&self, length: &Length) -> Map<String, Value> {
        let mut options = self.options.clone();
        options.extend(length.options.clone());
        options
    }

    /// The name of the part in which it is asked once more.
    pub fn second_part(&self) -> String {
        format!("{}{SECOND_PASS}", self.part)
    }

    /// This question with the settings of today.
    fn of_today(&self) -> Self {
        Self {
            question: format!("{}{SECOND_PASS}", self.question),
            part: self.second_part(),
            asks: format!("{}; with the settings of today", self.asks),
            is_published: false,
            today_of: Some(self.question.clone()),
            ..self.clone()
        }
    }
}

impl Study {
    /// This study, where each published question is asked once more with the settings of today. These passes are made only on request.
    #[must_use]
    pub fn with_second_pass(mut self) -> Self {
        self.questions
            .retain(|question| question.today_of.is_none());
        let published = self.questions.iter().filter(|q| q.is_published);
        let again: Vec<Question> = published.map(Question::of_today).collect();
        self.questions.extend(again);
        self
    }

    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|v| v.variant == name)
    }

    /// The question of that name.
    pub fn question(&self, name: &str) -> Option<&Question> {
        self.questions.iter().find(|q| q.question == name)
    }

    /// The published figures to compare with results of a question.
    pub fn figures_of(&self, question: &Question) -> impl Iterator<Item = &Figure> {
        let of_it = |f: &&Figure| f.question.as_ref() == Some(&question.question);
        self.published.iter().filter(of_it)
    }

    /// The parts, in the order of the questions.
    pub fn parts(&self) -> Vec<&str> {
        let mut parts: Vec<&str> = Vec::new();
        for question in &self.questions {
            if !parts.contains(&question.part.as_str()) {
                parts.push(&question.part);
            }
        }
        parts
    }

    /// Whether all of its variants are targets that a user has recorded, so that it needs no place of its own.
    pub fn has_its_targets(&self) -> bool {
        let made = |v: &Variant| v.target.is_none() && v.not_tested.is_none();
        !self.variants.iter().any(made)
    }
}

/// The settings of before 9.6, which had no writing back that PostgreSQL asks for, and spread checkpoints over half of their time.
pub fn of_the_period() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        ("backend_flush_after", "0"),
        ("bgwriter_flush_after", "0"),
        ("checkpoint_completion_target", "0.5"),
        ("checkpoint_flush_after", "0"),
    ])
}
