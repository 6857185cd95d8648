//! Reasons for which a part of a study is not tried, each with a remedy.

use serde::{Deserialize, Serialize};

use crate::wording;

/// Why something is not tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkipReason {
    pub why: String,
    /// The remedy; None where nothing helps.
    pub brings: Option<String>,
}

impl SkipReason {
    /// A reason without a remedy, from another text.
    pub fn of(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            brings: None,
        }
    }

    fn before(self, before: &str) -> Self {
        Self {
            why: format!("{before}: {}", self.why),
            ..self
        }
    }
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.brings {
            Some(brings) => write!(f, "{}; to have it: {brings}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

fn why(why: impl Into<String>, brings: impl Into<String>) -> SkipReason {
    SkipReason {
        why: wording::say("not_tested", || why.into()),
        brings: Some(wording::say("not_tested", || brings.into())),
    }
}

pub fn misaligned() -> SkipReason {
    why(
        "it is on a partition that is misaligned on purpose",
        "misaligned_device => '/dev/...', on the disk of device",
    )
}

/// A workload whose runs do not work in a copy of a user's database.
pub fn no_own_data(workload: &str) -> SkipReason {
    why(
        format!("workload {workload} makes its own data"),
        "leave out data and database",
    )
}

pub fn fixed_size() -> SkipReason {
    why(
        "its figures are for data of a fixed size",
        "leave out data and database",
    )
}

pub fn checksums_of_original() -> SkipReason {
    why(
        "a copy has checksums as the server had that was copied",
        "leave out data and database",
    )
}

pub fn second_device() -> SkipReason {
    why("its log is on a second device", "log_device => '/dev/...'")
}

/// A layout, the fewest devices that it takes, and those that the study has.
pub fn too_few_devices(layout: &str, fewest: usize, here: usize) -> SkipReason {
    why(
        format!("layout {layout} takes {fewest} devices, and the study has {here}"),
        format!("devices => '{{…}}', or image_count => {fewest} beside image_size"),
    )
}

pub fn on_an_image() -> SkipReason {
    why(
        "on an image it would tell of the disk of the host",
        "device => '/dev/disk/by-id/...'",
    )
}

/// A value that this build of the server does not know, and those that it knows.
pub fn not_taken(setting: &str, value: &str, known: &[String]) -> SkipReason {
    let known = known.join(", ");
    why(
        format!("of {setting} this server has only {known}"),
        format!("a build of PostgreSQL that has {value}"),
    )
}

pub fn no_images() -> SkipReason {
    why(
        "the helper's configuration names no directory for images",
        "pgfsbench-helper setup --allow-images DIRECTORY, or device => '/dev/...'",
    )
}

/// A line that the helper's configuration lacks, by its name and in full.
pub fn not_allowed(name: &str, line: &str) -> SkipReason {
    why(
        format!("the helper's configuration does not allow {name}"),
        format!("add to it {line}"),
    )
}

/// The message of a refusal of this kernel, and its detail.
pub fn gone(message: &str, detail: &str) -> SkipReason {
    let detail = detail.trim_end_matches('.');
    why(format!("{message}: {detail}"), "an older kernel")
}

pub fn another_part(part: &str) -> SkipReason {
    why(format!("it is of part {part}"), format!("part => '{part}'"))
}

/// The question that asks the same with the settings of today.
pub fn asked_twice(first: &str) -> SkipReason {
    why(
        format!("it would be question {first} once more: both with today's settings"),
        "period left out",
    )
}

pub fn baseline_not_tried(baseline: &str, reason: SkipReason) -> SkipReason {
    reason.before(&format!("its baseline {baseline} is not tried"))
}

pub fn nothing_to_compare_with(reason: SkipReason) -> SkipReason {
    reason.before("there is nothing to compare with")
}

pub fn variant_not_tried(variant: &str, reason: SkipReason) -> SkipReason {
    reason.before(&format!("{variant} is not tried"))
}

pub fn full_size() -> SkipReason {
    why(
        "it needs data and windows of full size",
        "quick, scale and duration left out",
    )
}

pub fn second_build() -> SkipReason {
    why(
        "it compares two builds of the server",
        "bindir => '/usr/lib/postgresql/.../bin'",
    )
}

/// Major versions of PostgreSQL.
pub fn server(needed: u32, here: i32) -> SkipReason {
    why(
        format!("it needs PostgreSQL {needed}, and this is {here}"),
        format!("a server of PostgreSQL {needed}"),
    )
}

pub fn kernel(needed: (u32, u32), here: &str) -> SkipReason {
    let needed = format!("Linux {}.{}", needed.0, needed.1);
    why(format!("it needs {needed}, and this is {here}"), needed)
}

pub fn processors(more_than: u32, here: u32) -> SkipReason {
    why(
        format!("it needs more than {more_than} processors, and this machine has {here}"),
        "a larger machine",
    )
}
