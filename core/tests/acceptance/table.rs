//! The table: what is required of verdicts, by setting.

use std::fmt;

use super::{baseline, course, goal_best, nights, rates};

/// How much is simulated.
#[derive(Clone, Copy, PartialEq)]
pub enum Effort {
    /// A few settings, in a second.
    Little,
    /// All, in minutes.
    All,
}

impl Effort {
    /// Experiments that are simulated for one setting.
    pub fn experiments(self) -> usize {
        match self {
            Self::Little => 400,
            Self::All => 2000,
        }
    }

    /// The first ones when it is to be quick, else all.
    pub fn some<T: Clone>(self, few: usize, of: &[T]) -> Vec<T> {
        match self {
            Self::Little => of[..few].to_vec(),
            Self::All => of.to_vec(),
        }
    }
}

/// The required bound of a figure.
#[derive(Clone, Copy)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// A figure of the table.
pub struct Figure {
    pub row: &'static str,
    pub setting: String,
    pub what: &'static str,
    pub value: f64,
    pub bound: Bound,
}

impl Figure {
    pub fn holds(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.value <= most,
            Bound::AtLeast(least) => self.value >= least,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, bound) = match self.bound {
            Bound::AtMost(most) => ("at most", most),
            Bound::AtLeast(least) => ("at least", least),
        };
        let met = if self.holds() { "met" } else { "SHORT" };
        let Self {
            row,
            setting,
            what,
            value,
            ..
        } = self;
        write!(
            f,
            "{row} | {setting} | {what} | {value:.4} | {word} {bound} | {met}"
        )
    }
}

/// The figures of a row.
type Simulation = fn(Effort) -> Vec<Figure>;

/// Rows.
pub const ROWS: [(&str, Simulation); 25] = [
    ("1", baseline::normal_noise),
    ("2", baseline::slow_runs),
    ("3", baseline::clock_states),
    ("4", baseline::drift),
    ("5", baseline::unequal_noise),
    ("6", baseline::exactly_the_margin),
    ("7", baseline::same_at_half_a_percent),
    ("8", baseline::same_at_one_and_a_half),
    ("9", baseline::five_percent),
    ("10", baseline::ten_percent_at_three),
    ("11", baseline::much_noise),
    ("12", baseline::power_with_slow_runs),
    ("13", baseline::hopeless),
    ("14", baseline::intervals),
    ("15", goal_best::in_the_answer),
    ("15a", goal_best::wrongly),
    ("15b", goal_best::close),
    ("15c", goal_best::runs),
    ("16", rates::searches),
    ("17", nights::changes),
    ("18", course::carried_over),
    ("19", course::ended_early),
    ("20", nights::bad_nights),
    ("21", rates::keeping),
    ("22", baseline::runs_saved),
];
