//! Ratios to a baseline with their intervals, as dots and whiskers on a log axis, against the margin.

use serde::Deserialize;

use super::{Style, truncate, wrap};

/// A row.
#[derive(Clone, Debug, Deserialize)]
pub struct Interval {
    /// Text to the left of it.
    pub label: String,
    /// Ratio to the baseline; None: not known yet.
    pub ratio: Option<f64>,
    /// The ends of its interval.
    pub low: Option<f64>,
    /// See `low`.
    pub high: Option<f64>,
    /// Text to the right of it, such as the verdict.
    pub remark: String,
}

/// The widest label.
const LABEL: usize = 24;
/// The axis reaches at most so far from 1, as a factor: what lies beyond is marked by an arrow.
const FARTHEST: f64 = 100.0;

/// A log axis.
struct Axis {
    low: f64,
    high: f64,
    columns: usize,
}

impl Axis {
    fn new(rows: &[Interval], margin: f64, columns: usize) -> Self {
        let ends = rows.iter().flat_map(|row| [row.ratio, row.low, row.high]);
        let ends = ends.flatten().filter(|end| end.is_finite() && *end > 0.0);
        let farthest = ends
            .map(|end| end.ln().abs())
            .fold((1.0 + margin).ln() * 2.0, f64::max)
            .min(FARTHEST.ln());
        // Seen ratios may all lie on one side; the axis then shows little of the other.
        let of_side = |sign: f64| {
            let ends = rows.iter().flat_map(|row| [row.ratio, row.low, row.high]);
            let ends = ends.flatten().filter(|end| end.is_finite() && *end > 0.0);
            ends.map(|end| end.ln() * sign)
                .fold((1.0 + margin).ln() * 2.0, f64::max)
                .min(farthest)
        };
        Self {
            low: -of_side(-1.0) * 1.03,
            high: of_side(1.0) * 1.03,
            columns,
        }
    }

    /// The column of a ratio; below 0 or beyond the last where it is off the axis.
    fn column(&self, ratio: f64) -> i64 {
        let share = (ratio.ln() - self.low) / (self.high - self.low);
        (share * (self.columns - 1) as f64).round() as i64
    }
}

/// Draws them: the title, a row for each, and the axis with 1 and the margin.
pub fn intervals(
    title: &str,
    rows: &[Interval],
    margin: f64,
    reference: &str,
    style: Style,
) -> Vec<String> {
    let style = style.bounded();
    let glyphs = style.glyphs();
    let mut lines = wrap(title, style.width);
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let label = longest(&mut rows.iter().map(|row| row.label.chars().count()))
        .min(LABEL)
        .min(style.width / 3);
    let says: Vec<String> = rows
        .iter()
        .map(|row| truncate(&row.remark, style.width / 3))
        .collect();
    let says_width = longest(&mut says.iter().map(|text| text.chars().count()));
    let room = style.width.saturating_sub(label + says_width + 2).max(10);
    let axis = Axis::new(rows, margin, room);
    for (row, says) in rows.iter().zip(&says) {
        let mut cells = background(&axis, margin, style);
        draw(row, &axis, &mut cells, style);
        let cells: String = cells.into_iter().collect();
        let name = truncate(&row.label, label);
        let pad = " ".repeat(label - name.chars().count());
        lines.push(format!("{name}{pad} {cells} {says}").trim_end().to_owned());
    }
    lines.push(format!("{:label$} {}", "", ticks(&axis, margin)));
    let text = format!(
        "{}{}{} ratio with its interval; {} within the margin of {} %; {} {reference}",
        glyphs.low_end,
        glyphs.point,
        glyphs.high_end,
        glyphs.band,
        super::short(margin * 100.0),
        glyphs.one
    );
    lines.extend(wrap(&text, style.width));
    lines
}

fn background(axis: &Axis, margin: f64, style: Style) -> Vec<char> {
    let glyphs = style.glyphs();
    let band = axis.column(1.0 / (1.0 + margin))..=axis.column(1.0 + margin);
    let one = axis.column(1.0);
    (0..axis.columns as i64)
        .map(|column| match column {
            column if column == one => glyphs.one,
            column if band.contains(&column) => glyphs.band,
            _ => ' ',
        })
        .collect()
}

fn draw(row: &Interval, axis: &Axis, cells: &mut [char], style: Style) {
    let glyphs = style.glyphs();
    let last = cells.len() as i64 - 1;
    let column = |value: Option<f64>| {
        let value = value.filter(|value| *value > 0.0 && !value.is_nan());
        value.map(|value| axis.column(value))
    };
    let mut put = |at: i64, glyph: char| {
        let shown = match at {
            at if at < 0 => glyphs.beyond_low,
            at if at > last => glyphs.beyond_high,
            _ => glyph,
        };
        cells[at.clamp(0, last) as usize] = shown;
    };
    if let (Some(low), Some(high)) = (column(row.low), column(row.high)) {
        for at in low.max(0)..=high.min(last) {
            put(at, glyphs.whisker);
        }
        put(low, glyphs.low_end);
        put(high, glyphs.high_end);
    }
    if let Some(ratio) = column(row.ratio) {
        put(ratio, glyphs.point);
    }
}

/// The numbers below: 1, the ends of the margin and of the axis, where they do not overlap.
fn ticks(axis: &Axis, margin: f64) -> String {
    let mut line = vec![' '; axis.columns];
    let mut taken: Vec<(i64, i64)> = Vec::new();
    let ends = [axis.low.exp(), axis.high.exp()];
    for ratio in [1.0, ends[0], ends[1], 1.0 / (1.0 + margin), 1.0 + margin] {
        let text = if ratio == 1.0 {
            "1".into()
        } else {
            format!("{ratio:.2}")
        };
        let width = text.len() as i64;
        let last = axis.columns as i64 - width;
        let from = (axis.column(ratio) - width / 2).clamp(0, last.max(0));
        let is_free = taken
            .iter()
            .all(|(start, end)| from + width < *start || from > *end);
        if is_free && last >= 0 {
            taken.push((from, from + width));
            for (offset, c) in text.chars().enumerate() {
                line[from as usize + offset] = c;
            }
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}
