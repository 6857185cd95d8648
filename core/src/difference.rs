//! Compares what is stored of two runs, and tells which differences are likely to matter.
//!
//! [`between`] is a pure function of two documents, each an object of `run` (its `target` and `status`), `definition` (of the
//! target), `used` (the specification) and `environment` (the row of that table, null where nothing is stored). A value that a
//! document lacks is unknown, and is reported as unknown, never as an error.

mod fields;
mod rules;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::texts::difference::Why;

pub use rules::{OF_ONE_SERVER, pattern_of_places};

/// How likely it is that a difference changes the figures; ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Matters {
    /// A name, or what has nothing to do with storage.
    Hardly,
    /// It may show.
    Maybe,
    /// It can decide by itself.
    Much,
}

impl Matters {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hardly => "hardly",
            Self::Maybe => "maybe",
            Self::Much => "much",
        }
    }
}

/// The kinds of differences, in the order of their output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    Run,
    Parameters,
    Target,
    Durability,
    Filesystem,
    Mount,
    Device,
    Settings,
    Version,
    Kernel,
    Host,
}

impl Area {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Parameters => "parameters",
            Self::Target => "target",
            Self::Durability => "durability",
            Self::Filesystem => "filesystem",
            Self::Mount => "mount",
            Self::Device => "device",
            Self::Settings => "settings",
            Self::Version => "version",
            Self::Kernel => "kernel",
            Self::Host => "host",
        }
    }

    /// True if a missing value is unknown. In other areas it was not given, or is the default.
    fn has_unknown(self) -> bool {
        !matches!(
            self,
            Self::Run | Self::Parameters | Self::Target | Self::Mount | Self::Settings
        )
    }
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub area: Area,
    /// The name of a column, parameter, setting or mount option.
    pub name: String,
    /// The value of the first run. None: nothing, the default, or unknown.
    pub a: Option<String>,
    /// The value of the second run.
    pub b: Option<String>,
    pub matters: Matters,
    pub why: Why,
}

/// The differences of two runs: those first that matter most, then by area and name.
pub fn between(a: &Value, b: &Value) -> Vec<Difference> {
    let (fields_a, fields_b) = (fields::of(a), fields::of(b));
    let names: BTreeSet<_> = fields_a.keys().chain(fields_b.keys()).collect();
    let knows_both = ![a, b]
        .iter()
        .any(|document| document["environment"].is_null());
    let mut differences = of_runs(a, b);
    for key @ (area, name) in names {
        let (was, is) = (fields_a.get(key), fields_b.get(key));
        if was == is || rules::is_close(name, was, is) {
            continue;
        }
        let is_of_environment =
            area.has_unknown() || *area == Area::Mount || *area == Area::Settings;
        if is_of_environment && !knows_both {
            continue;
        }
        let (mut matters, mut why) = rules::weigh(*area, name, was, is);
        if area.has_unknown() && (was.is_none() || is.is_none()) {
            (matters, why) = (matters.min(Matters::Maybe), Why::Unknown);
        }
        let (a, b) = (was.cloned(), is.cloned());
        differences.push(Difference {
            area: *area,
            name: name.clone(),
            a,
            b,
            matters,
            why,
        });
    }
    differences.sort_by(|x, y| (y.matters, x.area, &x.name).cmp(&(x.matters, y.area, &y.name)));
    differences
}

/// Names and texts of those settings, as a run stores them, that may change figures.
pub fn settings_that_matter(settings: &Value) -> BTreeMap<String, String> {
    let fields = fields::of_settings(settings).into_iter();
    let matter = fields.filter(|((area, name), text)| {
        let (matters, _) = rules::weigh(*area, name, Some(text), None);
        matters != Matters::Hardly
    });
    matter.map(|((_, name), text)| (name, text)).collect()
}

/// Told also when both runs have it: that a run is not done, for instance.
fn of_runs(a: &Value, b: &Value) -> Vec<Difference> {
    let texts =
        |name: &str| [a, b].map(|document| document["run"][name].as_str().map(str::to_owned));
    let row = |name: &str, [a, b]: [Option<String>; 2], matters, why| Difference {
        area: Area::Run,
        name: name.into(),
        a,
        b,
        matters,
        why,
    };
    let mut rows = Vec::new();
    let [target_a, target_b] = texts("target");
    if target_a != target_b {
        let why = Why::TargetName;
        rows.push(row("target", [target_a, target_b], Matters::Hardly, why));
    }
    let states = texts("status");
    if states.iter().any(|state| state.as_deref() != Some("done")) {
        rows.push(row("status", states, Matters::Much, Why::NotDone));
    }
    let stored =
        [a, b].map(|document| (!document["environment"].is_null()).then(|| "stored".to_owned()));
    if stored.contains(&None) {
        rows.push(row("environment", stored, Matters::Much, Why::NotStored));
    }
    rows
}

#[cfg(test)]
mod tests;
