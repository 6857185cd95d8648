//! Checkpoint cycle, windows and blocks that fit into a time: for a budget, and for the rows of a plan for half an hour, a night and a weekend.

use super::{Length, RunsBefore, SHORTEST_CYCLE_SECONDS, blocks_within, looks};
use crate::{
    refusal::Refusal,
    texts::plan as text,
    units::{format_count, format_seconds},
    verdict::looks::{DEFAULT_MAX_BLOCKS, FEWEST_BLOCKS},
};

/// Cycles that are tried below the one of the server, seconds.
const CYCLES: [f64; 7] = [1800.0, 900.0, 600.0, 300.0, 180.0, 120.0, 60.0];
/// Blocks for which a shorter cycle is chosen: with fewer the intervals are wide.
const PREFERRED_BLOCKS: u32 = 4;
/// Cycles of a window.
const CYCLES_OF_WINDOW: f64 = 3.0;
/// Fewest cycles of a window that a verdict takes.
const FEWEST_CYCLES: f64 = 2.0;

/// An experiment that is to fit into a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BudgetRequest {
    /// Targets without the control.
    pub targets: u32,
    pub control: bool,
    /// A run as it would be made with the server's own cycle, or the one that was given.
    pub length: Length,
    /// Whether cycle and windows may be chosen.
    pub may_choose: bool,
    /// Whether the warm-up was given.
    pub has_warmup: bool,
    pub burn_in: bool,
    pub has_share: bool,
    /// Whether a verdict takes windows of whole checkpoint cycles.
    pub has_cycles: bool,
    /// Whether a run of one cycle of each target comes first where the windows are of such cycles.
    pub pilot_cycle: bool,
    /// The number of blocks, where it was given.
    pub blocks: Option<u32>,
    /// Power cuts of each target before the first block.
    pub power_cuts: Option<u32>,
}

/// Length and blocks that fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetPlan {
    pub length: Length,
    /// The cycle, where it is another than that of the server.
    pub cycle_seconds: Option<f64>,
    /// The last look.
    pub blocks: u32,
}

impl BudgetPlan {
    /// In words.
    pub fn says(&self) -> String {
        text::fit(self.cycle_seconds, self.length.window_seconds, self.blocks)
    }
}

impl BudgetRequest {
    /// Runs of a block.
    pub fn runs(&self) -> usize {
        self.targets as usize + usize::from(self.control)
    }

    /// Runs before the first block.
    pub fn before(&self) -> RunsBefore {
        RunsBefore::planned(self.burn_in, self.has_share, self.pilot_cycle, self.targets)
            .with_power_cuts(self.power_cuts, self.targets)
    }

    /// A run with a cycle, and a window of this many cycles.
    fn with_cycle(&self, cycle_seconds: f64, cycles: f64) -> Length {
        Length {
            warmup_seconds: match self.has_warmup {
                true => self.length.warmup_seconds,
                false => cycle_seconds,
            },
            window_seconds: cycles * cycle_seconds,
            cycle_seconds,
            ..self.length
        }
    }

    /// Runs that may be made, the one that is liked best first.
    fn lengths(&self) -> Vec<Length> {
        if !self.may_choose {
            return vec![self.length];
        }
        let own = self.length.cycle_seconds;
        let shorter = CYCLES.into_iter().filter(|cycle| *cycle < own);
        let shortest = Some(SHORTEST_CYCLE_SECONDS).filter(|shortest| *shortest < own);
        let cycles = std::iter::once(own).chain(shorter).chain(shortest);
        cycles
            .map(|cycle| self.with_cycle(cycle, CYCLES_OF_WINDOW))
            .collect()
    }

    /// The shortest run that decides something.
    fn least(&self) -> Length {
        match self.may_choose {
            true => {
                let cycle = self.length.cycle_seconds.min(SHORTEST_CYCLE_SECONDS);
                self.with_cycle(cycle, FEWEST_CYCLES)
            }
            false => self.length,
        }
    }

    /// Length and blocks that fit into these seconds. It takes the longest cycle, up to the server's own, that leaves room for four blocks, else
    /// three; then as many blocks as fit. Where windows of three cycles do not fit, it tries two. None if these do not fit either.
    pub fn fit(&self, seconds: f64) -> Option<BudgetPlan> {
        let fits = |length: Length, fewest: u32| {
            let blocks = blocks_within(seconds, self.runs(), length, self.before());
            let most = self.blocks.unwrap_or(DEFAULT_MAX_BLOCKS);
            let last = looks(most).into_iter().map(|look| look.blocks);
            let last = last.filter(|look| *look <= blocks).max()?;
            (last >= fewest).then_some(BudgetPlan {
                length,
                cycle_seconds: Some(length.cycle_seconds)
                    .filter(|cycle| self.may_choose && *cycle != self.length.cycle_seconds),
                blocks: last,
            })
        };
        let fewest = match self.blocks {
            Some(blocks) => vec![blocks],
            None => vec![PREFERRED_BLOCKS, FEWEST_BLOCKS],
        };
        let lengths = self.lengths();
        let with_whole = (fewest.iter())
            .flat_map(|fewest| lengths.iter().map(move |length| (*length, *fewest)))
            .find_map(|(length, fewest)| fits(length, fewest));
        let last = fewest.last().copied().unwrap_or(FEWEST_BLOCKS);
        with_whole.or_else(|| fits(self.least(), last))
    }

    /// The seconds that the least experiment takes.
    pub fn least_seconds(&self) -> f64 {
        let blocks = self.blocks.unwrap_or(FEWEST_BLOCKS);
        let (length, runs) = (self.least(), self.runs() as f64);
        super::seconds_of(f64::from(blocks) * runs, length) + self.before().seconds(length)
    }

    /// The most of its targets that fit into this many seconds; None if not even two do.
    pub fn targets_that_fit(&self, seconds: f64) -> Option<u32> {
        (2..self.targets).rev().find(|targets| {
            let fewer = Self {
                targets: *targets,
                ..*self
            };
            fewer.fit(seconds).is_some()
        })
    }

    /// In words: how many targets, or how much time, would fit instead.
    pub fn instead(&self, seconds: f64) -> String {
        let blocks = self.blocks.unwrap_or(FEWEST_BLOCKS);
        text::instead(self.targets_that_fit(seconds), blocks)
    }

    /// Spends a budget, or says why nothing fits.
    pub fn spend(&self, seconds: f64) -> Result<BudgetPlan, Refusal> {
        if !self.may_choose && self.has_cycles && self.length.is_too_short() {
            return Err(Refusal::argument(
                "budget and the length of the windows contradict each other",
            )
            .detail(format!(
                "A verdict takes windows of two checkpoint cycles, and {} are less than two of {}.",
                format_seconds(self.length.window_seconds),
                format_seconds(self.length.cycle_seconds)
            ))
            .hint("Leave duration and cycle out, so that the budget chooses them."));
        }
        self.fit(seconds).ok_or_else(|| {
            let needed = self.least_seconds();
            // Whole minutes.
            let enough = (needed / 60.0).ceil() as u64;
            let run = format_seconds(self.least().run_seconds());
            Refusal::argument(format!(
                "budget is too short for {}",
                format_count(self.targets.into(), "target")
            ))
            .detail(format!(
                "{} of {} of {run}, with what comes before and between them, take {}.",
                format_count(self.blocks.unwrap_or(FEWEST_BLOCKS).into(), "block"),
                format_count(self.runs() as u64, "run"),
                format_seconds(needed)
            ))
            .hint(format!(
                "Give budget => '{enough} min', or compare fewer targets: into {} {}.",
                format_seconds(seconds),
                self.instead(seconds)
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 3600.0;

    /// Targets with the server's cycle of five minutes.
    fn wish(targets: u32) -> BudgetRequest {
        BudgetRequest {
            targets,
            length: Length {
                warmup_seconds: 300.0,
                window_seconds: 900.0,
                data_bytes: 0,
                cycle_seconds: 300.0,
            },
            may_choose: true,
            has_cycles: true,
            pilot_cycle: true,
            ..BudgetRequest::default()
        }
    }

    #[test]
    fn the_longest_cycle_with_four_blocks_is_chosen() {
        let says = |targets, seconds| wish(targets).fit(seconds).map(|fit| fit.says());
        for (targets, seconds, expected) in [
            (
                2,
                20.0 * MINUTE,
                "checkpoint cycles of 30 s, windows of 1 min 30 s, 3 blocks",
            ),
            (
                2,
                30.0 * MINUTE,
                "checkpoint cycles of 30 s, windows of 1 min 30 s, 4 blocks",
            ),
            (
                2,
                HOUR,
                "checkpoint cycles of 1 min, windows of 3 min, 4 blocks",
            ),
            (3, 8.0 * HOUR, "windows of 15 min, 6 blocks"),
            (3, 60.0 * HOUR, "windows of 15 min, 12 blocks"),
            // Three do with windows of two cycles.
            (
                3,
                20.0 * MINUTE,
                "checkpoint cycles of 30 s, windows of 1 min, 3 blocks",
            ),
        ] {
            assert_eq!(
                says(targets, seconds).as_deref(),
                Some(expected),
                "{targets} in {seconds} s"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let refused = wish(4).spend(15.0 * MINUTE).unwrap_err();
        check::style(&refused);
        assert_eq!(refused.message, "budget is too short for 4 targets");
        let hint = refused.hint.as_deref().unwrap_or_default();
        assert!(
            hint.ends_with("into 15 min 2 targets, 3 blocks fit."),
            "{hint}"
        );
        // The request fits into the budget that the hint names.
        let enough = hint
            .split('\'')
            .nth(1)
            .and_then(|text| text.split(' ').next());
        let enough: f64 = enough.and_then(|text| text.parse().ok()).unwrap();
        assert!(wish(4).fit(enough * MINUTE).is_some(), "{hint}");
        let none = wish(4).spend(MINUTE).unwrap_err();
        let hint = none.hint.unwrap_or_default();
        assert!(hint.ends_with("two targets do not fit either."), "{hint}");
    }

    #[test]
    fn what_was_given_is_kept_or_refused() {
        let given = BudgetRequest {
            may_choose: false,
            ..wish(2)
        };
        assert_eq!(
            given.fit(8.0 * HOUR).map(|fit| fit.cycle_seconds),
            Some(None)
        );
        check::style(&given.spend(HOUR).unwrap_err());
        let short = BudgetRequest {
            length: Length {
                window_seconds: 10.0,
                ..given.length
            },
            ..given
        };
        let refused = short.spend(8.0 * HOUR).unwrap_err();
        check::style(&refused);
        assert!(refused.message.contains("contradict"), "{refused:?}");
        let blocks = |blocks| BudgetRequest {
            blocks: Some(blocks),
            ..wish(2)
        };
        assert_eq!(blocks(3).fit(HOUR).map(|fit| fit.blocks), Some(3));
        assert_eq!(
            blocks(8)
                .fit(HOUR)
                .map(|fit| (fit.blocks, fit.length.cycle_seconds)),
            Some((8, 30.0))
        );
        check::style(&blocks(24).spend(HOUR).unwrap_err());
    }

    proptest! {
        /// A fit has enough windows and blocks for a verdict, and ends in time.
        #[test]
        fn what_fits_ends_in_time_and_can_decide(
            targets in 2u32..20, control: bool, burn_in: bool, seconds in 60.0..1e6f64, cycle in 30.0..7200.0f64, data in 0u64..(1 << 40),
        ) {
            let wish = BudgetRequest {
                control,
                burn_in,
                length: Length { warmup_seconds: cycle, window_seconds: 3.0 * cycle, cycle_seconds: cycle, data_bytes: data },
                ..wish(targets)
            };
            match wish.fit(seconds) {
                Some(fit) => {
                    prop_assert!(fit.blocks >= FEWEST_BLOCKS && !fit.length.is_too_short());
                    prop_assert!(fit.length.cycle_seconds <= cycle);
                    let runs = f64::from(fit.blocks) * wish.runs() as f64;
                    prop_assert!(runs * fit.length.run_seconds() + wish.before().seconds(fit.length) <= seconds);
                    // More time never means fewer blocks of cycles as long.
                    let more = wish.fit(seconds * 2.0).unwrap();
                    prop_assert!(more.length.cycle_seconds >= fit.length.cycle_seconds);
                }
                None => prop_assert!(wish.least_seconds() > seconds),
            }
        }
    }
}
