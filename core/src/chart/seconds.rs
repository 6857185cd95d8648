//! A figure by second of a run, with its checkpoints and stalls below.

use serde::Deserialize;

use super::{Spread, Style, cell, number, short, truncate, wrap};
use crate::series;

/// The series to be drawn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Seconds {
    /// Title above the chart.
    pub title: String,
    /// The figure of each second from the first; None where there is none.
    pub values: Vec<Option<f64>>,
    /// Checkpoints, each from a second to another, both from the start of the window.
    pub checkpoints: Vec<(f64, f64)>,
    /// Transactions a second, which decide which seconds are stalls; empty where none can be.
    pub tps: Vec<Option<f64>>,
}

/// Width of what stands left of the axis: `checkpoints`.
const LABEL: usize = 11;
/// Steps of the time axis in seconds.
const STEPS: [usize; 18] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400,
];
/// Columns that a label of the time axis takes, with what keeps it from the next.
const TIME_LABEL: usize = 9;
/// A second is drawn at most so wide: ten seconds are no page.
const WIDEST_SECOND: usize = 4;

/// Columns of the plot, and which seconds each stands for.
struct Columns {
    count: usize,
    seconds: usize,
}

impl Columns {
    fn new(seconds: usize, room: usize) -> Self {
        let count = if seconds <= room {
            seconds * (room / seconds.max(1)).clamp(1, WIDEST_SECOND)
        } else {
            room
        };
        Self { count, seconds }
    }

    /// The seconds of a column, from one up to before another.
    fn seconds_of(&self, column: usize) -> std::ops::Range<usize> {
        let from = column * self.seconds / self.count;
        let to = ((column + 1) * self.seconds).div_ceil(self.count);
        from..to.min(self.seconds)
    }

    fn column_of(&self, second: usize) -> usize {
        (second * self.count).div_ceil(self.seconds)
    }

    /// How many seconds a column stands for, if more than one.
    fn thinned(&self) -> Option<f64> {
        (self.seconds > self.count).then(|| self.seconds as f64 / self.count as f64)
    }
}

/// Draws it: the title, the plot, its time axis, then checkpoints and stalls where there are any.
pub fn seconds(chart: &Seconds, style: Style) -> Vec<String> {
    let style = style.bounded();
    let known = chart.values.iter().flatten().copied();
    let Some(all) = Spread::of(known.filter(|value| value.is_finite())) else {
        let mut lines = wrap(&chart.title, style.width);
        lines.push("no second has this figure".into());
        return lines;
    };
    let title = format!(
        "{}: lowest {}, median {}, highest {}",
        chart.title,
        short(all.low),
        short(all.median),
        short(all.high)
    );
    let mut lines = wrap(&title, style.width);
    let columns = Columns::new(chart.values.len(), style.width - LABEL - 2);
    lines.extend(plot(chart, &columns, all.high, style));
    lines.extend(time_axis(&columns, style));
    lines.extend(marks(chart, &columns, style));
    if let Some(each) = columns.thinned() {
        let glyphs = style.glyphs();
        let text = format!(
            "each column is {} s: {} up to the lowest second, {} to the median, {} to the highest",
            short(each),
            glyphs.rising[8],
            glyphs.to_median,
            glyphs.to_highest
        );
        lines.extend(wrap(&text, style.width));
    }
    lines
}

fn plot(chart: &Seconds, columns: &Columns, highest: f64, style: Style) -> Vec<String> {
    let glyphs = style.glyphs();
    let top = number::round_up(highest);
    let in_cells = |value: f64| (value.max(0.0) / top) * style.height as f64;
    let spreads: Vec<Option<Spread>> = (0..columns.count)
        .map(|column| {
            let values = chart.values[columns.seconds_of(column)].iter().flatten();
            let values = values.copied().filter(|value| value.is_finite());
            Spread::of(values.map(in_cells))
        })
        .collect();
    let row = |row: usize| {
        let label = match row {
            row if row + 1 == style.height => short(top),
            row if style.height >= 4 && row + 1 == style.height / 2 => {
                short(top * (row + 1) as f64 / style.height as f64)
            }
            _ => String::new(),
        };
        let cells: String = spreads
            .iter()
            .map(|spread| spread.map_or(' ', |spread| cell(row, spread, &glyphs.rising, glyphs)))
            .collect();
        format!("{label:>LABEL$} {}{cells}", glyphs.axis)
            .trim_end()
            .to_owned()
    };
    (0..style.height).rev().map(row).collect()
}

fn time_axis(columns: &Columns, style: Style) -> [String; 2] {
    let glyphs = style.glyphs();
    let step = STEPS
        .into_iter()
        .find(|step| step * columns.count / columns.seconds >= TIME_LABEL)
        .unwrap_or(columns.seconds.max(1));
    let mut line = vec![glyphs.floor; columns.count];
    let mut labels = String::new();
    for second in (0..columns.seconds).step_by(step) {
        let column = columns.column_of(second);
        let label = match second {
            0 => "0".into(),
            s if step >= 3600 => format!("{} h", s / 3600),
            s if step >= 60 => format!("{} min", s / 60),
            s => format!("{s} s"),
        };
        if column >= columns.count || column + label.len() > columns.count.max(label.len()) {
            break;
        }
        line[column] = glyphs.tick;
        labels.push_str(&" ".repeat(column.saturating_sub(labels.chars().count())));
        labels.push_str(&label);
    }
    let line: String = line.into_iter().collect();
    [
        format!("{:>LABEL$} {}{line}", "0", glyphs.corner),
        format!("{:LABEL$}  {labels}", ""),
    ]
}

impl Seconds {
    /// The seconds that are stalls, as the finding of that name counts them.
    fn stalls(&self) -> Vec<usize> {
        let known: Vec<f64> = self.tps.iter().flatten().copied().collect();
        let is_stall = series::stall_rule(series::median(&known).unwrap_or(0.0));
        let seconds = self.tps.iter().enumerate();
        seconds
            .filter_map(|(second, tps)| tps.filter(|tps| is_stall(*tps)).map(|_| second))
            .collect()
    }
}

fn marks(chart: &Seconds, columns: &Columns, style: Style) -> Vec<String> {
    let stalls = chart.stalls();
    let glyphs = style.glyphs();
    let line = |label: &str, glyph: char, is_marked: &dyn Fn(std::ops::Range<usize>) -> bool| {
        let cells: String = (0..columns.count)
            .map(|column| {
                if is_marked(columns.seconds_of(column)) {
                    glyph
                } else {
                    ' '
                }
            })
            .collect();
        let text = format!("{label:>LABEL$}  {cells}");
        truncate(text.trim_end(), style.width)
    };
    let during = |seconds: std::ops::Range<usize>| {
        let (from, to) = (seconds.start as f64, seconds.end as f64);
        chart.checkpoints.iter().any(|(a, b)| *a < to && *b > from)
    };
    let stalled =
        |seconds: std::ops::Range<usize>| stalls.iter().any(|second| seconds.contains(second));
    let mut lines = Vec::new();
    if !chart.checkpoints.is_empty() {
        lines.push(line("checkpoints", glyphs.during, &during));
    }
    if !stalls.is_empty() {
        lines.push(line("stalls", glyphs.stall, &stalled));
    }
    lines
}
