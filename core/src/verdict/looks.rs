//! The looks at the runs: when they are made, and how sure one has to be at each.

use serde::{Deserialize, Serialize};

use super::Reason;

/// Blocks after which there is a look, unless the experiment ends between two of them.
pub const LOOKS: [u32; 7] = [3, 4, 6, 8, 12, 16, 24];
/// Blocks of an experiment that says nothing else.
pub const DEFAULT_MAX_BLOCKS: u32 = 12;
/// Fewest blocks that can be decided.
pub const FEWEST_BLOCKS: u32 = 3;

/// The share of experiments in which a look may err: the five up to 12 blocks are 0.05 together, those at 16 and 24 are on top.
pub fn level(blocks: u32) -> f64 {
    if blocks <= 12 { 0.01 } else { 0.005 }
}

/// A metric alone has the level of a look.
fn alone() -> u32 {
    1
}

/// One look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// It is after this block.
    pub blocks: u32,
    /// The one of [`LOOKS`] whose place and level it has.
    pub place: u32,
    /// The most blocks that were planned for then.
    pub horizon: u32,
    /// The number of metrics that share its level: 1 for the declared metric.
    #[serde(skip, default = "alone")]
    pub metrics: u32,
}

impl Look {
    /// The share of errors that is allowed at it.
    pub fn level(self) -> f64 {
        self.level_at(self.place)
    }

    /// The level of the look after this many blocks.
    pub fn level_at(self, blocks: u32) -> f64 {
        level(blocks) / f64::from(self.metrics)
    }
}

/// The looks of an experiment, and why it ended before the last one that was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    /// In order.
    pub looks: Vec<Look>,
    /// Why it ended early.
    pub ended: Option<Reason>,
}

impl Looks {
    /// The looks of an experiment of at most this many blocks, which is one of [`LOOKS`].
    pub fn planned(max_blocks: u32) -> Option<Self> {
        let empty = Self {
            looks: Vec::new(),
            ended: None,
        };
        LOOKS
            .contains(&max_blocks)
            .then(|| empty.extended(0, max_blocks))
    }

    /// It ends after a block: where that is no look it takes the place and the level of the next one, which is then gone. Before
    /// the third block there is no look.
    pub fn ended(mut self, after: u32, reason: Reason) -> Self {
        self.ended = Some(reason);
        let done = self.looks.iter().filter(|l| l.blocks <= after).count();
        let just_looked = done > 0 && self.looks[done - 1].blocks == after;
        if !just_looked && after >= FEWEST_BLOCKS && done < self.looks.len() {
            self.looks[done].blocks = after;
            self.looks.truncate(done + 1);
        } else {
            self.looks.truncate(done);
        }
        self
    }

    /// It goes on up to this many blocks, `done` of which are over: with the look after the last one that has been used.
    pub fn extended(mut self, done: u32, max_blocks: u32) -> Self {
        self.ended = None;
        let used = self.looks.last().map_or(0, |look| look.place);
        for look in &mut self.looks {
            if look.blocks > done {
                look.horizon = max_blocks;
            }
        }
        let more = LOOKS
            .iter()
            .filter(|place| (used + 1..=max_blocks).contains(place));
        self.looks.extend(more.map(|&place| Look {
            blocks: place,
            place,
            horizon: max_blocks,
            metrics: alone(),
        }));
        self
    }

    /// The looks at one of this many undeclared metrics: together they are wrong as rarely as the declared one. None is given up, which would save no
    /// runs.
    pub fn among(mut self, metrics: usize) -> Self {
        for look in &mut self.looks {
            look.metrics = (metrics as u32).max(1);
            look.horizon = look.blocks;
        }
        self
    }

    /// The reason why a verdict is open when this many blocks are there.
    pub(super) fn why_open(&self, blocks: u32) -> Reason {
        match self.ended {
            Some(reason) => reason,
            None if self.looks.last().is_some_and(|l| l.blocks > blocks) => Reason::Running,
            None => Reason::MaxBlocks,
        }
    }
}
