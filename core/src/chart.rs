//! Charts of characters, for a terminal: what psql can show at once.
//!
//! Lines are at most as wide as was asked. A column that stands for several values has the lowest, the median and the highest of
//! them, each with a shade of its own: none is dropped. With [`Style::ascii`], no line has a character beyond ASCII.

mod intervals;
mod number;
mod seconds;
#[cfg(test)]
mod tests;

pub use intervals::{Interval, intervals};
pub use number::short;
pub use seconds::{Seconds, seconds};

use serde::Deserialize;

use crate::series::median;

/// The narrowest and the widest chart.
pub const WIDTHS: std::ops::RangeInclusive<usize> = 40..=500;
/// The lowest and the highest one, in rows of the plot.
pub const HEIGHTS: std::ops::RangeInclusive<usize> = 2..=100;

/// How a chart is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Characters in a line, at most; in [`WIDTHS`].
    pub width: usize,
    /// Rows of the plot where that is free; in [`HEIGHTS`].
    pub height: usize,
    /// No character beyond ASCII.
    pub ascii: bool,
}

/// A chart, as SQL gives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    /// A figure by second.
    Seconds(Seconds),
    /// Ratios to a baseline.
    Intervals {
        /// Title above the chart.
        title: String,
        /// From the top down.
        rows: Vec<Interval>,
        /// The largest share that counts as no difference: 0.05.
        margin: f64,
        /// Name of the side that the ratios are relative to.
        reference: String,
    },
}

impl Chart {
    pub fn draw(&self, style: Style) -> Vec<String> {
        match self {
            Self::Seconds(chart) => seconds(chart, style),
            Self::Intervals {
                title,
                rows,
                margin,
                reference,
            } => intervals(title, rows, *margin, reference, style),
        }
    }
}

/// The characters of a chart.
struct Glyphs {
    /// A cell that is filled by so many eighths from the bottom.
    rising: [char; 9],
    /// From the lowest value to the median.
    to_median: char,
    /// From the median to the highest.
    to_highest: char,
    axis: char,
    corner: char,
    floor: char,
    tick: char,
    during: char,
    stall: char,
    low_end: char,
    high_end: char,
    whisker: char,
    point: char,
    band: char,
    one: char,
    beyond_low: char,
    beyond_high: char,
}

const BLOCKS: Glyphs = Glyphs {
    rising: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
    to_median: '▒',
    to_highest: '░',
    axis: '┤',
    corner: '└',
    floor: '─',
    tick: '┴',
    during: '━',
    stall: '▲',
    low_end: '├',
    high_end: '┤',
    whisker: '─',
    point: '●',
    band: '░',
    one: '│',
    beyond_low: '◂',
    beyond_high: '▸',
};

const ASCII: Glyphs = Glyphs {
    rising: [' ', '_', '_', '_', '#', '#', '#', '#', '#'],
    to_median: '+',
    to_highest: ':',
    axis: '|',
    corner: '+',
    floor: '-',
    tick: '+',
    during: '=',
    stall: '^',
    low_end: '[',
    high_end: ']',
    whisker: '-',
    point: 'o',
    band: '.',
    one: '|',
    beyond_low: '<',
    beyond_high: '>',
};

impl Style {
    fn glyphs(&self) -> &'static Glyphs {
        if self.ascii { &ASCII } else { &BLOCKS }
    }

    /// Clamps width and height to what can be drawn: a chart is drawn in any case.
    fn bounded(self) -> Self {
        Self {
            width: self.width.clamp(*WIDTHS.start(), *WIDTHS.end()),
            height: self.height.clamp(*HEIGHTS.start(), *HEIGHTS.end()),
            ..self
        }
    }
}

/// Lowest, median and highest of the values that a column or a bar stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    low: f64,
    median: f64,
    high: f64,
}

impl Spread {
    /// Computes them; None if there is no value.
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        Some(Self {
            low: *values.first()?,
            median: median(&values)?,
            high: *values.last()?,
        })
    }
}

/// The character in cell `cell` of a bar that grows from 0, given in cells.
fn cell(cell: usize, spread: Spread, filled: &[char; 9], glyphs: &Glyphs) -> char {
    let start = cell as f64;
    let full = |value: f64| value >= start + 1.0 - 1e-9;
    let reaches = |value: f64| value > start + 0.5;
    if full(spread.low) {
        filled[8]
    } else if reaches(spread.median) && spread.median - spread.low > 0.5 {
        glyphs.to_median
    } else if reaches(spread.high) && spread.high - spread.low > 0.5 {
        glyphs.to_highest
    } else {
        let eighths = ((spread.median - start).clamp(0.0, 1.0) * 8.0).round() as usize;
        filled[eighths.min(8)]
    }
}

/// A text cut to so many characters, which ends in `...` if it was.
fn truncate(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{kept}...").chars().take(most).collect()
}

/// A title in lines of at most so many characters, broken between its words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line from the start");
        let used = line.chars().count();
        if used > 0 && used + 1 + word.chars().count() > width {
            lines.push(truncate(word, width));
        } else {
            if used > 0 {
                line.push(' ');
            }
            line.push_str(&truncate(word, width));
        }
    }
    lines
}
