//! Bars from 0, one below the other, each with the spread of its repeats.

use serde::Deserialize;

use super::{Spread, Style, cell, cut, number, short, wrap};

#[derive(Clone, Debug, Deserialize)]
pub struct Bar {
    /// Text to the left of it.
    pub label: String,
    /// The values that it stands for; none: no bar.
    pub values: Vec<f64>,
    /// Text to the right of it, after its median.
    pub remark: String,
}

/// The widest label.
const LABEL: usize = 24;

/// Draws them, on one scale.
pub fn bars(title: &str, bars: &[Bar], style: Style) -> Vec<String> {
    let style = style.bounded();
    let glyphs = style.glyphs();
    let mut lines = wrap(title, style.width);
    let spreads: Vec<Option<Spread>> = bars
        .iter()
        .map(|bar| Spread::of(bar.values.iter().copied().filter(|value| value.is_finite())))
        .collect();
    let highest = spreads.iter().flatten().map(|spread| spread.high);
    let top = number::round_up(highest.fold(0.0, f64::max));
    let width_of = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let label = width_of(&mut bars.iter().map(|bar| bar.label.chars().count()))
        .min(LABEL)
        .min(style.width / 3);
    let says: Vec<String> = bars
        .iter()
        .zip(&spreads)
        .map(|(bar, spread)| {
            let median = spread.map_or("none".into(), |spread| short(spread.median));
            cut(
                format!("{median} {}", bar.remark).trim_end(),
                style.width / 2,
            )
        })
        .collect();
    let says_width = width_of(&mut says.iter().map(|text| text.chars().count()));
    let room = style.width.saturating_sub(label + says_width + 3).max(1);
    for ((bar, spread), says) in bars.iter().zip(&spreads).zip(&says) {
        let in_cells = |value: f64| value.max(0.0) / top * room as f64;
        let cells: String = (0..room)
            .map(|column| match spread {
                None => ' ',
                Some(spread) => {
                    let spread = Spread {
                        low: in_cells(spread.low),
                        median: in_cells(spread.median),
                        high: in_cells(spread.high),
                    };
                    cell(column, spread, &glyphs.growing, glyphs)
                }
            })
            .collect();
        let name = cut(&bar.label, label);
        let pad = " ".repeat(label - name.chars().count());
        lines.push(format!("{pad}{name} {}{cells} {says}", glyphs.one));
    }
    if bars.iter().any(|bar| bar.values.len() > 1) {
        let text = format!(
            "{} up to the lowest, {} to the median, {} to the highest",
            glyphs.growing[8], glyphs.to_median, glyphs.to_highest
        );
        lines.extend(wrap(&text, style.width));
    }
    lines
}
