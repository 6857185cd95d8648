//! Why an experiment leaves something open, and what to do about it: a code with values, from which all sentences are made.

use serde::Serialize;

use super::{Cause, Row};
use crate::{
    experiment::{
        neighbours::{self, Busy},
        plan::MOST_BLOCKS,
        state::{OthersSeen, State},
        steps::{self, End, Next},
    },
    texts::answer::open as text,
    verdict::{
        Reason,
        looks::{FEWEST_BLOCKS, LOOKS},
    },
    wording,
};

/// A reason, with its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum OpenReason {
    /// Neighbours disturbed runs, and the machine was taken as it is.
    BusyMachine(Busy),
    /// The work of neighbours could not be seen, or only the least of it.
    NeighboursNotSeen { seen: OthersSeen },
    /// The windows have fewer checkpoint cycles than a verdict takes.
    WindowsTooShort {
        window_seconds: Option<f64>,
        cycle_seconds: Option<f64>,
    },
    /// The experiment ended before the first look.
    TooFewBlocks {
        blocks: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        ended_by: Option<Reason>,
    },
    /// A user cancelled the experiment, or its time was over, before a decision.
    EndedEarly {
        target: String,
        blocks: u32,
        ended_by: Reason,
    },
    /// Runs differ so much that a decision takes more blocks.
    Noise { target: String, blocks: u32 },
    /// A decision would take more blocks than an experiment can have.
    TooManyBlocks { target: String },
    /// A target was given up: more blocks up to the last one would hardly have decided it.
    GivenUp { target: String },
    /// Something that was not declared differs between targets.
    Differs { target: String, what: String },
    /// Two names of one target differ as much.
    NoiseFloor,
    /// Targets were set aside, so that nothing is left to compare with; without `why`, the baseline cannot keep the rate.
    NoReference {
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
}

impl OpenReason {
    /// True if runs differ too much: neighbours may be the cause.
    fn is_noise(&self) -> bool {
        matches!(
            self,
            Self::Noise { .. }
                | Self::TooManyBlocks { .. }
                | Self::GivenUp { .. }
                | Self::NoiseFloor
        )
    }

    /// In words.
    pub fn says(&self) -> String {
        wording::say("open", || self.in_words())
    }

    fn in_words(&self) -> String {
        match self {
            Self::BusyMachine(busy) => busy.says(),
            Self::NeighboursNotSeen { seen } => {
                text::neighbours_not_seen(*seen == OthersSeen::Least)
            }
            Self::WindowsTooShort {
                window_seconds,
                cycle_seconds,
            } => text::windows_too_short(window_seconds.zip(*cycle_seconds)),
            Self::TooFewBlocks { blocks, ended_by } => text::too_few_blocks(*blocks, *ended_by),
            Self::EndedEarly {
                target,
                blocks,
                ended_by,
            } => text::ended_early(target, *blocks, *ended_by),
            Self::Noise { target, blocks } => text::noise(target, *blocks),
            Self::TooManyBlocks { target } => text::too_many_blocks(target, MOST_BLOCKS),
            Self::GivenUp { target } => text::given_up(target),
            Self::Differs { target, what } => format!("{target}: {what}"),
            Self::NoiseFloor => text::noise_floor(),
            Self::NoReference { why } => text::no_reference(why.as_deref()),
        }
    }
}

/// The reason why an answer is open, and how to go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Open {
    pub reasons: Vec<OpenReason>,
    /// The blocks to extend the experiment to; None where more blocks would not help.
    pub next_blocks: Option<u32>,
}

impl Open {
    /// The statement that extends the experiment of this name, or repeats it where others disturbed it too much; or, where neither would decide it, a
    /// comment on what would.
    pub fn advice(&self, experiment: &str) -> Option<String> {
        if let Some(blocks) = self.next_blocks {
            return Some(text::extend(experiment, blocks));
        }
        let is_noise = |why: &OpenReason| {
            matches!(
                why,
                OpenReason::TooManyBlocks { .. } | OpenReason::GivenUp { .. }
            )
        };
        let is_busy = |why: &OpenReason| matches!(why, OpenReason::BusyMachine(_));
        if self.reasons.iter().any(is_noise) && self.reasons.iter().any(is_busy) {
            return Some(text::in_a_quieter_hour(experiment));
        }
        let comment = |why: &OpenReason| match why {
            OpenReason::WindowsTooShort { .. } => Some(text::WINDOWS_OF_TWO_CYCLES),
            OpenReason::NoReference { why: Some(_) } => Some(text::MEND_TARGETS),
            OpenReason::NoReference { why: None } => Some(text::LOWER_RATE),
            why if is_noise(why) => Some(text::LONGER_WINDOWS),
            _ => None,
        };
        self.reasons.iter().find_map(comment).map(str::to_owned)
    }

    /// The reasons but that of a busy machine, which an answer begins with.
    pub fn others(&self) -> impl Iterator<Item = &OpenReason> {
        let reasons = self.reasons.iter();
        reasons.filter(|why| !matches!(why, OpenReason::BusyMachine(_)))
    }
}

/// The reasons why an experiment that is over has left something open. Nothing where all is decided, or where it is not over.
pub fn of(state: &State, answers: &[Row]) -> Open {
    let e = &state.experiment;
    let is_over = matches!(e.status.as_str(), "done" | "cancelled");
    let is_control = |row: &Row| e.control == Some(row.number);
    let is_open = |row: &Row| row.is_open() || row.is_inconclusive();
    let open: Vec<&Row> = (answers.iter())
        .filter(|row| is_over && is_open(row) && !row.is_set_aside() && !is_control(row))
        .collect();
    if open.is_empty() {
        return Open::default();
    }
    let mut reasons: Vec<OpenReason> = neighbours::busy(state)
        .map(OpenReason::BusyMachine)
        .into_iter()
        .collect();
    for row in &open {
        let why = reason(state, row);
        if let Some(why) = why.filter(|why| !reasons.contains(why)) {
            reasons.push(why);
        }
    }
    let seen = neighbours::seen(state);
    if seen != OthersSeen::All && reasons.iter().any(OpenReason::is_noise) {
        reasons.push(OpenReason::NeighboursNotSeen { seen });
    }
    Open {
        next_blocks: next_blocks(state, &reasons),
        reasons,
    }
}

/// The reason why a row decides nothing.
pub fn reason(state: &State, row: &Row) -> Option<OpenReason> {
    let e = &state.experiment;
    let target = || row.target.clone();
    let reason = row.reason.as_ref();
    let is = |of: Reason| reason == Some(&Cause::Arithmetic(of));
    let blocks = steps::next(state, "", "").blocks;
    if reason == Some(&Cause::TooShort) {
        Some(OpenReason::WindowsTooShort {
            window_seconds: e.window_seconds,
            cycle_seconds: e.cycle_seconds,
        })
    } else if is(Reason::NoReference) {
        let why = match steps::next(state, "", "").next {
            Next::End(End::NoReference(why)) => Some(why),
            _ => None,
        };
        Some(OpenReason::NoReference { why })
    } else if is(Reason::NoiseFloor) {
        Some(OpenReason::NoiseFloor)
    } else if is(Reason::TooNoisy) {
        Some(OpenReason::GivenUp { target: target() })
    } else if let Some(differs @ (Cause::Differs(_) | Cause::AnotherDevice)) = reason {
        Some(OpenReason::Differs {
            target: target(),
            what: differs.says(),
        })
    } else if blocks < FEWEST_BLOCKS {
        Some(OpenReason::TooFewBlocks {
            blocks,
            ended_by: e.ended_by.filter(|by| ends_early(*by)),
        })
    } else if row.needs_too_many {
        Some(OpenReason::TooManyBlocks { target: target() })
    } else {
        // An answer that is nearly decided gets as many blocks as a decision takes.
        let blocks = row.further_blocks.unwrap_or(1);
        Some(match reason {
            Some(&Cause::Arithmetic(ended_by)) if ends_early(ended_by) => OpenReason::EndedEarly {
                target: target(),
                blocks,
                ended_by,
            },
            _ => OpenReason::Noise {
                target: target(),
                blocks,
            },
        })
    }
}

/// Whether an experiment that this has ended may have been decided by the blocks that were planned.
fn ends_early(by: Reason) -> bool {
    matches!(by, Reason::Cancelled | Reason::MaxDuration)
}

/// The first look that has as many blocks as a decision takes, where more of them can help.
fn next_blocks(state: &State, reasons: &[OpenReason]) -> Option<u32> {
    let e = &state.experiment;
    let further = |why: &OpenReason| match why {
        OpenReason::Noise { blocks, .. } | OpenReason::EndedEarly { blocks, .. } => Some(*blocks),
        OpenReason::TooFewBlocks { blocks, .. } => Some(FEWEST_BLOCKS - blocks),
        _ => None,
    };
    let further = reasons.iter().filter_map(further).max()?;
    let made = steps::next(state, "", "").blocks;
    // The look after the last one that was used.
    let used = e.looks.last().map_or(0, |look| look.place);
    let used = match e.ended_by {
        Some(_) => used,
        None => used.max(e.max_blocks),
    };
    let wanted = |look: &u32| *look > used && *look >= made + further;
    LOOKS.into_iter().find(wanted)
}
