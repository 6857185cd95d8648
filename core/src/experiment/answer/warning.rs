//! Warnings of a target's runs: codes with values.

use serde::Deserialize;

use crate::{experiment::throttled::Step, texts::steps::changed_between_blocks, wording};

/// A finding that is a warning, and how many of a target's runs have it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WarningCount {
    pub code: String,
    pub with_it: u64,
    /// All of its runs that count.
    pub runs: u64,
}

/// A warning about a target's runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    Found(WarningCount),
    /// These have changed between its blocks.
    Changed(String),
    /// Flushes have become slower or faster, and stay so.
    Throttled(Step),
    /// Remains of the run before on the device may show.
    CarryOver,
}

impl WarningCount {
    /// In which of the runs it is.
    pub fn in_which(&self) -> String {
        match self.with_it < self.runs {
            true => format!("{} of {} runs", self.with_it, self.runs),
            false => "all runs".into(),
        }
    }
}

impl Warning {
    /// The code alone.
    pub fn code(&self) -> &str {
        match self {
            Self::Found(found) => &found.code,
            Self::Changed(_) => "changed",
            Self::Throttled(_) => "throttled",
            Self::CarryOver => "carry_over",
        }
    }

    fn says(&self) -> String {
        wording::say(self.code(), || match self {
            Self::Found(found) if found.with_it < found.runs => {
                format!("{} ({})", found.code, found.in_which())
            }
            Self::Changed(names) => changed_between_blocks(names),
            Self::Throttled(step) => step.why(),
            Self::Found(_) | Self::CarryOver => self.code().to_owned(),
        })
    }
}

/// A list of warnings in words; None where there are none.
pub fn in_words(warnings: &[Warning]) -> Option<String> {
    let words: Vec<String> = warnings.iter().map(Warning::says).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The findings that [`in_words`] would list so, for tables of tests.
#[cfg(test)]
pub fn listed(text: &str) -> Vec<Warning> {
    let found = |words: &str| {
        let (code, runs) = words.split_once(" (").unwrap_or((words, "1 of 1 runs)"));
        let (with_it, runs) = runs.trim_end_matches(" runs)").split_once(" of ").unwrap();
        let (with_it, runs) = (with_it.parse().unwrap(), runs.parse().unwrap());
        Warning::Found(WarningCount {
            code: code.into(),
            with_it,
            runs,
        })
    };
    text.split(", ").map(found).collect()
}
